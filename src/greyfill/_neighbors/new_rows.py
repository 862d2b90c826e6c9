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
    searchable,
)
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Trace
from greyfill._search.pool import DonorPool
from greyfill.table import Bools, Floats, Ints, RangeScaler, Table

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
            alone = self.recipe.weights.weigh(self.donors, self.labels, np.array([target]))
            self._late_weights[target] = np.asarray(alone[0])
        return self._late_weights[target]


def fill_new_rows(fitted: FittedRecipe, table: Table, n_jobs: int | None) -> Floats:
    """The values of a table without holes, in the units of the table."""
    scaled = fitted.scaler.scale(table)
    values = np.where(table.missing, fitted.centers, scaled.values)
    rows = np.flatnonzero(table.missing.any(axis=1))
    if len(rows):
        part = table.rows(rows)
        values[rows] = _fill_rows(fitted, values[rows], part.missing, part.unseen, n_jobs)
    return np.where(table.missing, fitted.scaler.unscale(values), table.values)


def _fill_rows(
    fitted: FittedRecipe, values: Floats, missing: Bools, unseen: Bools, n_jobs: int | None
) -> Floats:
    """Fill incomplete rows; where fills count as values, again until each row is stable.

    An unseen category tells no donor from another, so the search treats it like a hole.
    """
    if all(len(pool.givers) == 0 for pool in fitted.pools):
        return values
    posterior = _posterior(fitted, values, missing | unseen, n_jobs)
    schedule, donors = fitted.recipe.schedule, fitted.donors
    active, values = np.arange(len(values)), values.copy()
    for _ in range(schedule.max_iter if fitted.recipe.distance.holes == "filled" else 1):
        old, new = values[active], values[active]
        hidden = fitted.visible(missing[active]) | unseen[active]
        for weights, holes in fitted.weight_groups(missing[active]):
            rows = np.flatnonzero(holes.any(axis=1) & searchable(hidden, weights))
            if len(rows) == 0:
                continue
            queries = QueryRows.new(rows, old[rows], hidden[rows])
            shares = posterior[active[rows]]
            links = _mixed_links(fitted, queries, holes[rows], weights, shares, n_jobs)
            fills = links.values(donors.values, donors.is_categorical, fitted.n_levels)
            new[links.rows[links.slots], links.columns] = fills
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


def _posterior(fitted: FittedRecipe, values: Floats, missing: Bools, n_jobs: int | None) -> Floats:
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
    queries = QueryRows.new(rows, values[rows], missing[rows])
    k = min(max(fitted.n_neighbors, POSTERIOR_NEIGHBORS), fitted.donors.n_rows)
    search = Search(fitted.layout(), queries, weights, k)
    found, distances = search.run(distance, n_jobs)
    share = np.where(missing[rows], 0.0, weights).sum(axis=1)
    closeness, _ = WeightedFill().weigh(distance.over_observed(distances, share))
    for place, pool in enumerate(pools):
        out[rows, place] = np.where(labels[found] == pool.label, closeness, 0.0).sum(axis=1)
    return out


def _mixed_links(
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
        k, wanted = min(fitted.n_neighbors, len(pool.givers)), share > 0.0
        asked = queries if wanted.all() else queries.only(wanted)
        search = Search(fitted.layout(pool), asked, weights, k)
        found, distances = search.run(fitted.recipe.distance, n_jobs)
        numbers, votes = fitted.recipe.fill.weigh(distances)

        def spread(values: Any, blank: float) -> Any:
            if asked is queries:
                return values
            whole = np.full((len(wanted), k), blank, dtype=values.dtype)
            whole[wanted] = values
            return whole

        return Links(
            queries.rows, slots, columns, spread(pool.givers[found], 0), spread(distances, np.inf),
            number_weights=spread(numbers, 0.0) * share[:, np.newaxis],
            vote_weights=spread(votes / votes.sum(axis=1, keepdims=True), 0.0)
            * share[:, np.newaxis],
        )  # fmt: skip

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
