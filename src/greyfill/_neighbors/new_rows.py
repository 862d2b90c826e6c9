"""Fill new rows: each on its own, without labels, from the donors of ``fit`` only."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.filling import WeightedFill
from greyfill._neighbors.links import (
    Links,
    QueryRows,
    Search,
    SearchedTable,
    places_among,
    searchable,
    spreads,
)
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Trace
from greyfill._search.pool import DonorPool
from greyfill.table import Bools, Floats, Ints, RangeScaler, Table, indicators

UNLABELED_RULES = ("soft", "all")

Spreads = tuple[Ints, Ints, Floats]
"""Rows, columns, and how much the donors of these cells disagree."""

POSTERIOR_NEIGHBORS = 10
"""The class of a row is judged by at least this many neighbors, whatever k the fill uses."""


@dataclass(frozen=True, eq=False)
class FittedRecipe(SearchedTable):
    """All that a fitted method keeps.

    ``donors`` is the scaled, filled training table; its mask tells which cells still count as
    holes in a distance. ``rows`` are the numbers of its rows in the table that was given.
    ``crosses`` says that training rows were filled like new ones, none by its own label.
    """

    recipe: Recipe
    scaler: RangeScaler
    donors: Table
    rows: Ints
    labels: Ints | None
    pools: tuple[RowPool, ...]
    weights: Floats
    targets: Ints
    centers: Floats
    n_neighbors: int
    unlabeled: str
    trace: Trace
    k_scores: dict[int, float]
    fallbacks: dict[str, int]
    spreads: Spreads
    crosses: bool = False
    _layouts: dict[int, DonorPool] = field(default_factory=dict, repr=False)
    _late_weights: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_layouts": {}, "_late_weights": {}}

    @property
    def all_rows(self) -> RowPool:
        """One pool of all donors."""
        rows = np.arange(self.donors.n_rows)
        return RowPool(rows, rows)

    def layout(self, pool: RowPool | None = None) -> DonorPool:
        """The donors of a class, or all of them, laid out for the search once."""
        label = -1 if pool is None or pool.fallback else pool.label
        if label not in self._layouts:
            givers = slice(None) if pool is None else pool.givers
            self._layouts[label] = self.lay_out(
                self.donors.values[givers], self.donors.missing[givers]
            )
        return self._layouts[label]

    def column_weights(self, target: int) -> Floats:
        """Weights for one target column, also when it had no hole in ``fit``."""
        if not self.recipe.weights.by_target or target in self.targets:
            return super().column_weights(target)
        if target not in self._late_weights:
            alone = self.recipe.weigh_columns(self.donors, self.labels, np.array([target]))
            self._late_weights[target] = np.asarray(alone[0])
        return self._late_weights[target]


def fill_new_rows(
    fitted: FittedRecipe, table: Table, n_jobs: int | None, labels: Ints | None = None
) -> Floats:
    """The values of a table without holes, in the units of the table.

    ``labels`` are class codes, −1 where unknown; None where none is known.
    """
    nobody = np.full(table.n_rows, -1, dtype=np.intp)
    return fill_rows(fitted, table, nobody, n_jobs, labels=labels)


def fill_rows(
    fitted: FittedRecipe,
    table: Table,
    own: Ints,
    n_jobs: int | None,
    spread: Floats | None = None,
    labels: Ints | None = None,
) -> Floats:
    """The same for rows that may be the donors ``own`` (−1: none) of others, not of themselves.

    ``spread`` is told how much the donors of each hole disagree.
    """
    scaled = fitted.scaler.scale(table)
    values = np.where(table.missing, fitted.centers, scaled.values)
    rows = np.flatnonzero(table.missing.any(axis=1))
    has_others = len(fitted.rows) > 1 or (own < 0).all()
    if len(rows) and has_others and any(len(pool.givers) for pool in fitted.pools):
        part = table.rows(rows)
        known = np.full(len(rows), -1) if labels is None else labels[rows]
        values[rows] = _fill_rows(
            fitted, values[rows], part, own[rows], known, n_jobs, spread, rows
        )
    return np.where(table.missing, fitted.scaler.unscale(values), table.values)


def _fill_rows(
    fitted: FittedRecipe,
    values: Floats,
    table: Table,
    own: Ints,
    labels: Ints,
    n_jobs: int | None,
    spread: Floats | None,
    numbers: Ints,
) -> Floats:
    """Fill incomplete rows; where fills count as values, again until each row is stable.

    An unseen category tells no donor from another, so the search treats it like a hole.
    """
    missing, unseen = table.missing, table.unseen
    posterior = _shares(fitted, values, missing | unseen, own, labels, n_jobs)
    schedule, donors = fitted.recipe.schedule, fitted.donors
    active, values = np.arange(len(values)), values.copy()
    for _ in range(schedule.max_iter if fitted.recipe.distance.holes == "filled" else 1):
        old, new = values[active], values[active]
        hidden = fitted.visible(missing[active]) | unseen[active]
        for weights, holes in fitted.weight_groups(missing[active]):
            rows = np.flatnonzero(holes.any(axis=1) & searchable(hidden, weights))
            if len(rows) == 0:
                continue
            queries = QueryRows(rows, old[rows], hidden[rows], own[active[rows]])
            shares = posterior[active[rows]]
            links = mixed_links(fitted, queries, holes[rows], weights, shares, n_jobs)
            fills = links.values(donors.values, donors.is_categorical, fitted.n_levels)
            cells = links.rows[links.slots]
            new[cells, links.columns] = fills
            if spread is not None:
                found = spreads(links, donors.values, donors.is_categorical)
                spread[numbers[active[cells]], links.columns] = found
        change = np.abs(new - old).max(axis=1, initial=0.0)
        values[active] = new
        # Also with tol 0 a row is done when a pass leaves it as it is.
        active = active[change >= max(schedule.tol, 1e-15)]
        if len(active) == 0:
            break
    return values


def _class_pools(fitted: FittedRecipe) -> list[RowPool]:
    """The pools whose fills are mixed: one for each class, or a single one."""
    if len(fitted.pools) == 1:
        return [replace(fitted.pools[0], label=0)]
    return [fitted.all_rows] if fitted.unlabeled == "all" else list(fitted.pools)


def _shares(
    fitted: FittedRecipe,
    values: Floats,
    missing: Bools,
    own: Ints,
    labels: Ints,
    n_jobs: int | None,
) -> Floats:
    """`class_shares` of rows without a label; those with one are of their class alone."""
    pools, unknown = _class_pools(fitted), np.flatnonzero(labels < 0)
    if len(pools) == 1 or len(unknown) == len(labels):
        return class_shares(fitted, values, missing, own, n_jobs)
    shares = indicators(labels, np.array([pool.label for pool in pools]))
    if len(unknown):
        some = values[unknown], missing[unknown], own[unknown]
        shares[unknown] = class_shares(fitted, *some, n_jobs)
    return shares


def class_shares(
    fitted: FittedRecipe, values: Floats, missing: Bools, own: Ints, n_jobs: int | None
) -> Floats:
    """P(class | observed cells) of each row for each class pool, from its neighbors by 1/d²."""
    pools = _class_pools(fitted)
    if len(pools) == 1:
        return np.ones((len(values), 1))
    assert fitted.labels is not None
    labels, weights, distance = fitted.labels, fitted.overall_weights, fitted.recipe.distance
    out = np.zeros((len(values), len(pools)))
    matched = searchable(missing, weights)
    if not matched.all():
        out[~matched] = [np.mean(labels == pool.label) for pool in pools]
    rows = np.flatnonzero(matched)
    if len(rows) == 0:
        return out
    queries = QueryRows(rows, values[rows], missing[rows], own[rows])
    k = queries.available(fitted.rows, max(fitted.n_neighbors, POSTERIOR_NEIGHBORS))
    search = Search(fitted.layout(), queries, weights, k)
    found, distances = search.run(distance, n_jobs)
    share = np.where(missing[rows], 0.0, weights).sum(axis=1)
    closeness, _ = WeightedFill().weigh(distance.over_observed(distances, share))
    for place, pool in enumerate(pools):
        out[rows, place] = np.where(labels[found] == pool.label, closeness, 0.0).sum(axis=1)
        if len(pool.givers) == 1:  # who is the only donor of a class takes from the others
            out[own == pool.givers[0], place] = 0.0
    total = out.sum(axis=1, keepdims=True)
    return np.where(own[:, np.newaxis] < 0, out, out / np.where(total > 0.0, total, 1.0))


def mixed_links(
    fitted: FittedRecipe,
    queries: QueryRows,
    holes: Bools,
    weights: Floats,
    posterior: Floats,
    n_jobs: int | None,
) -> Links:
    """Donors of every class side by side, their weights shared out by the posterior."""
    slots, columns = map(np.ascontiguousarray, np.nonzero(holes))

    def of_class(pool: RowPool, share: Floats) -> Links:
        """Donors of one class for the rows that may belong to it; weightless ones for others."""
        shape = len(share), min(fitted.n_neighbors, len(pool.givers))
        donors, distances = np.zeros(shape, dtype=np.intp), np.full(shape, np.inf)
        numbers, votes = np.zeros((2, *shape))
        own = places_among(pool.givers, queries.own_rows)
        for is_donor in (False, True):  # a donor has one donor less than others
            wanted = np.flatnonzero((share > 0.0) & ((own >= 0) == is_donor))
            k = min(shape[1], len(pool.givers) - is_donor)
            if len(wanted) == 0 or k == 0:
                continue
            asked = replace(queries.only(wanted), own_rows=own[wanted])
            search = Search(fitted.layout(pool), asked, weights, k)
            found, distances[wanted, :k] = search.run(fitted.recipe.distance, n_jobs)
            donors[wanted, :k] = pool.givers[found]
            mean, vote = fitted.recipe.fill.weigh(distances[wanted, :k])
            part = share[wanted, np.newaxis]
            numbers[wanted, :k] = mean * part
            votes[wanted, :k] = vote / vote.sum(axis=1, keepdims=True) * part
        return Links(queries.rows, slots, columns, donors, distances, numbers, votes)

    shared = zip(_class_pools(fitted), posterior.T, strict=True)
    pieces = [of_class(pool, share) for pool, share in shared if share.any()]
    if len(pieces) == 1:
        return pieces[0]

    def joined(name: str) -> Any:
        return np.concatenate([getattr(piece, name) for piece in pieces], axis=1)

    order = np.argsort(joined("distances"), axis=1, kind="stable")
    every = np.arange(len(order))[:, np.newaxis]
    # One after another: all four side by side would be the peak of memory.
    names = ("donors", "distances", "number_weights", "vote_weights")
    nearest_first = {name: joined(name)[every, order] for name in names}
    return replace(pieces[0], **nearest_first)
