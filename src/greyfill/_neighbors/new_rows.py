"""Fill new rows: each on its own, without labels, from the donors of ``fit`` only."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.filling import WeightedFill
from greyfill._neighbors.links import Links, Request, Search, Taking, informed, link, search
from greyfill._neighbors.preparation import overall_weights, visible, weight_groups
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Trace
from greyfill._search.pool import DonorPool, build_pool
from greyfill.ranges import RangeScaler
from greyfill.table import Bools, Floats, Ints, Table

UNLABELED_RULES = ("soft", "all")

Spreads = tuple[Ints, Ints, Floats]
"""Rows, columns, and how much the donors of these cells disagree."""

POSTERIOR_NEIGHBORS = 10
"""The class of a row is judged by at least this many neighbors, whatever k the fill uses."""


@dataclass(frozen=True, eq=False)
class FittedRecipe:
    """All that a fitted method remembers.

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
    def everyone(self) -> Ints:
        """All donor rows."""
        return np.arange(self.donors.n_rows)

    def layout(self, label: int, givers: Ints) -> DonorPool:
        """The donors of a class (−1: all of them), laid out for the scan, once."""
        if label not in self._layouts:
            holes = visible(self.recipe, self.donors.missing)
            self._layouts[label] = build_pool(
                self.donors.values[givers],
                holes[givers],
                self.donors.is_categorical,
                overall_weights(self.weights),
            )
        return self._layouts[label]

    def column_weights(self, target: int) -> Floats:
        """Weights for one target column, also when it had no hole in ``fit``."""
        if not self.recipe.weights.by_target:
            return np.asarray(self.weights[0])
        known = np.flatnonzero(self.targets == target)
        if len(known):
            return np.asarray(self.weights[known[0]])
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
    schedule = fitted.recipe.schedule
    moving = fitted.recipe.distance.holes == "filled"
    active = np.arange(len(values))
    values = values.copy()
    for _ in range(schedule.max_iter if moving else 1):
        new = _one_pass(
            fitted, values[active], missing[active], unseen[active], posterior[active], n_jobs
        )
        change = np.abs(new - values[active]).max(axis=1, initial=0.0)
        values[active] = new
        active = active[change >= max(schedule.tol, 1e-15)]
        if len(active) == 0:
            break
    return values


def _one_pass(
    fitted: FittedRecipe,
    values: Floats,
    missing: Bools,
    unseen: Bools,
    posterior: Floats,
    n_jobs: int | None,
) -> Floats:
    out = values.copy()
    hidden = visible(fitted.recipe, missing) | unseen
    n_levels = max((c.n_levels for c in fitted.donors.columns), default=0)
    for weights, holes in weight_groups(fitted, missing):
        rows = np.flatnonzero(holes.any(axis=1) & informed(hidden, weights))
        if len(rows) == 0:
            continue
        taking = Taking(rows, values[rows], hidden[rows], np.full(len(rows), -1, dtype=np.intp))
        links = _mixed_links(fitted, taking, holes[rows], weights, posterior[rows], n_jobs)
        cells = links.rows[links.slots], links.columns
        out[cells] = links.values(fitted.donors.values, fitted.donors.is_categorical, n_levels)
    return out


def _class_pools(fitted: FittedRecipe) -> list[RowPool]:
    """The pools whose fills are mixed: one for each class, or a single one."""
    if len(fitted.pools) == 1:
        return [replace(fitted.pools[0], label=0)]
    if fitted.unlabeled == "all":
        return [RowPool(fitted.everyone, fitted.everyone)]
    return list(fitted.pools)


def _posterior(fitted: FittedRecipe, values: Floats, missing: Bools, n_jobs: int | None) -> Floats:
    """P(class | observed cells) of each row for each class pool, from its neighbors by 1/d²."""
    pools = _class_pools(fitted)
    if len(pools) == 1:
        return np.ones((len(values), 1))
    assert fitted.labels is not None
    labels, weights = fitted.labels, overall_weights(fitted.weights)
    out = np.zeros((len(values), len(pools)))
    matched = informed(missing, weights)
    if not matched.all():
        out[~matched] = [np.mean(labels == pool.label) for pool in pools]
    rows = np.flatnonzero(matched)
    if len(rows) == 0:
        return out
    taking = Taking(rows, values[rows], missing[rows], np.full(len(rows), -1, dtype=np.intp))
    k = min(max(fitted.n_neighbors, POSTERIOR_NEIGHBORS), fitted.donors.n_rows)
    everyone = fitted.layout(-1, fitted.everyone)
    found, distances = search(fitted.recipe.distance, everyone, taking, weights, k, n_jobs)
    share = np.where(missing[rows], 0.0, weights).sum(axis=1)
    closeness, _ = WeightedFill().weigh(fitted.recipe.distance.over_observed(distances, share))
    for place, pool in enumerate(pools):
        out[rows, place] = np.where(labels[found] == pool.label, closeness, 0.0).sum(axis=1)
    return out


def _mixed_links(
    fitted: FittedRecipe,
    taking: Taking,
    holes: Bools,
    weights: Floats,
    posterior: Floats,
    n_jobs: int | None,
) -> Links:
    """Donors of every class side by side, their weights shared out by the posterior."""
    pieces = [
        _class_links(fitted, pool, taking, holes, weights, posterior[:, place], n_jobs)
        for place, pool in enumerate(_class_pools(fitted))
    ]
    if len(pieces) == 1:
        return pieces[0]
    distances = np.concatenate([piece.distances for piece in pieces], axis=1)
    order = np.argsort(distances, axis=1, kind="stable")

    def side_by_side(name: str) -> Any:
        joined = np.concatenate([getattr(piece, name) for piece in pieces], axis=1)
        return np.take_along_axis(joined, order, axis=1)

    return replace(
        pieces[0],
        donors=side_by_side("donors"),
        distances=side_by_side("distances"),
        number_weights=side_by_side("number_weights"),
        vote_weights=side_by_side("vote_weights"),
    )


def _class_links(
    fitted: FittedRecipe,
    pool: RowPool,
    taking: Taking,
    holes: Bools,
    weights: Floats,
    share: Floats,
    n_jobs: int | None,
) -> Links:
    """Donors of one class for the rows that may belong to it; the others get weightless ones."""
    k = min(fitted.n_neighbors, len(pool.givers))
    wanted = share > 0.0
    part = taking.only(wanted)
    layout = fitted.layout(pool.label if not pool.fallback else -1, pool.givers)
    request = Request(Search(layout, part, weights, k), pool.givers, holes[wanted])
    found = link(fitted.recipe.distance, fitted.recipe.fill, request, n_jobs)
    votes = found.vote_weights / found.vote_weights.sum(axis=1, keepdims=True)
    slots, columns = map(np.ascontiguousarray, np.nonzero(holes))

    def spread(values: Any, blank: float) -> Any:
        whole = np.full((len(wanted), k), blank, dtype=values.dtype)
        whole[wanted] = values
        return whole

    return Links(
        rows=taking.rows,
        slots=slots,
        columns=columns,
        donors=spread(found.donors, 0),
        distances=spread(found.distances, np.inf),
        number_weights=spread(found.number_weights, 0.0) * share[:, np.newaxis],
        vote_weights=spread(votes, 0.0) * share[:, np.newaxis],
    )
