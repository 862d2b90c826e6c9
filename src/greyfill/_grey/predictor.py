"""A target column predicted from its donors: means, votes and ridge regressions of neighbors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from greyfill._grey.candidates import ALL_DONORS, RELEVANCES, Candidate, Plan, RidgeFamily
from greyfill._grey.donor_fits import arranged
from greyfill._grey.donor_table import DonorLayout, DonorTable, Queries
from greyfill._grey.outcomes import Forecast, Outcomes, class_doubt
from greyfill._neighbors.distance import Grey
from greyfill._neighbors.links import QueryRows, Search, places_among, searchable
from greyfill._search.pool import DonorPool, build_pool
from greyfill.table import MANY_LEVELS, Floats, Ints

SOFTENING = 1e-6
"""Added to d² in the inverse kernel, so that an exact match does not outweigh all others."""

FREQUENT = 20
"""Of very many levels, the most frequent ones, which every row lists before its neighbors'."""

SWEPT = 4_096
"""So many donors are swept for each query; the boxes of a pool pay off where there are more."""

ENOUGH = 4
"""Features for each donor of a class, at most, that the class has a regression of its own."""

MOST_DOUBT = 30.0
"""A class of so many donors may go alone, though its mean is that of all: its noise may not be."""

GREY = Grey()
NOBODY, NO_ROWS, NO_TARGETS = np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros((0, 0))
NOTHING = -1e300
"""What kernels give where a candidate predicts nothing."""

ONE_ROW = np.arange(1), np.ones(1), 1
"""The mixture of one query alone."""

UNMIXED = NOBODY, NO_ROWS, NOBODY, 0
"""What a kernel is given where each candidate's own predictions are wanted."""

Mixture = tuple[Ints, Floats, int]
"""The row and the share of each query, and the number of rows."""

Made = TypeVar("Made")


class Neighborhood(NamedTuple):
    """The nearest donors of some queries: rows of the donor table, and their distances.

    Both have the shape (query, place, k). Empty places have row 0 and distance infinity.
    """

    rows: Ints
    distances: Floats


NO_NEIGHBORS = Neighborhood(NO_ROWS.reshape(0, 0, 0), NOBODY.reshape(0, 0, 0))
"""Of candidates that take all donors."""


@dataclass(frozen=True, eq=False)
class ColumnPredictor:
    """A target column, the donors with an observed target, and the weights of its predictors.

    ``donor_rows`` rise. ``multipliers`` make rows of the donor table count more or less, as in a
    bootstrap; None: all alike. Small classes borrow from all, unless an older file did not know it.
    """

    donors: DonorTable
    target: int
    donor_rows: Ints
    predictors: Ints
    weights: dict[str, Floats]
    class_weight: float
    n_jobs: int | None = None
    multipliers: Floats | None = None
    borrows: bool = True
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def _once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What depends on the donors alone, made at its first use."""
        try:
            made: Made = self._made[key]
        except KeyError:
            made = self._made[key] = make()
        return made

    @property
    def splits(self) -> bool:
        """Whether donors may be those of a class alone."""
        return self.donors.splits and self.target != self.donors.y_column

    @property
    def scopes(self) -> tuple[str, ...]:
        """Which donors a candidate may use."""
        return ("split", "soft") if self.splits else ("soft",)

    @property
    def is_swept(self) -> bool:
        """Whether the donors are few enough to look at all of them for each query."""
        return len(self.donor_rows) <= SWEPT

    def columns(self, scope: str) -> Ints:
        """The columns that count: the predictors, and the class where donors are of all classes."""
        if scope == "split" or not self.splits:
            return self.predictors
        return np.append(self.predictors, self.donors.y_column)

    def column_weights(self, relevance: str, scope: str, label: int) -> Floats:
        """Weights of these columns in the distance of a row of some class."""
        weights = self.weights[relevance]
        if scope == "split" or not self.splits:
            return weights
        of_class = self.class_weight * self.layout().trust[label]
        return np.append(weights * (1 - of_class), of_class)

    def predict(
        self, candidates: Sequence[Candidate], queries: Queries, *, leave_out: bool = False
    ) -> tuple[Outcomes, Floats]:
        """What is predicted of some rows, and each candidate's predictions of it.

        Predictions have the shape (candidate, query, outcome), NaN where the candidate predicts
        nothing. With ``leave_out`` each query is a donor, and its own row is left out of
        regressions on all donors; it is never its own neighbor.
        """
        plan = Plan.of(tuple(candidates))
        which = plan.everything
        near = self.neighborhood(plan, queries, which)
        outcomes = self.outcomes(near, len(queries.values))
        if not outcomes.n_others:
            return outcomes, self.trials(plan, queries, near, which, leave_out)
        out = np.empty((len(candidates), len(queries.values), outcomes.width))
        own = queries.values[:, self.target] if leave_out else None
        for number, c in enumerate(candidates):
            if c.k == ALL_DONORS:
                out[number] = self.overall_mean(outcomes, own)
            else:
                out[number] = self.votes(near, plan.places.index(c.place), c, outcomes)
        return outcomes, out

    def trials(
        self, plan: Plan, queries: Queries, near: Neighborhood, which: Ints, leave_out: bool
    ) -> Floats:
        """What some candidates of a plan predict, shape (candidate, query, outcome), or NaN."""
        found = self._fitted(plan, queries, near, which, leave_out)
        return np.where(found > 0.5 * NOTHING, found, np.nan).swapaxes(0, 1)

    def mean(self, plan: Plan, queries: Queries, mixture: Mixture | None = None) -> Forecast:
        """The mean of what all candidates of a plan predict, or a mixture of it.

        One that predicts nothing is left out; where all are, all donors' mean counts.
        """
        made = self._once(("mean", plan), lambda: self._arrange_mean(plan))
        if made is None:
            return self._mean_of_listed(plan, queries)
        predictions, owners, splits, fits, outcomes = made
        near = self.neighborhood(plan, queries, plan.everything) if plan.k else NO_NEIGHBORS
        if mixture is None:
            n = len(queries.values)
            mixture = ONE_ROW if n == 1 else (np.arange(n), np.ones(n), n)
        rows, donors = self._of_rows(near.rows)
        mixed = predictions(
            queries.features(self.donors), queries.missing, owners,
            queries.groups(self.donors, splits), NO_TARGETS, plan.everything, len(plan.everything),
            rows, near.distances, *donors, SOFTENING, *fits, *mixture,
        )  # fmt: skip
        return Forecast(mixed[:, 0], outcomes)

    def _arrange_mean(self, plan: Plan) -> tuple[Any, ...] | None:
        """The kernel that predicts, and what it reads of the donors; None: levels are too many."""
        from greyfill._search import panel

        if self.donors.is_wide(self.target):
            return None
        outcomes, owners = self.donors.outcomes(self.target), self.donors.feature_map.owners
        fits = plan.means, *self._fits(plan, plan.everything), self.overall_mean(outcomes)
        return panel.panel_predictions, owners, self.splits, fits, outcomes

    def _mean_of_listed(self, plan: Plan, queries: Queries) -> Forecast:
        """The mean where each row lists levels of its own."""
        outcomes, found = self.predict(plan.candidates, queries)
        total, count = np.nansum(found, axis=0), (~np.isnan(found)).sum(axis=0)
        mean = self.overall_mean(outcomes)
        return Forecast(np.where(count > 0, total / np.maximum(count, 1), mean), outcomes)

    def _fitted(
        self, plan: Plan, queries: Queries, near: Neighborhood, which: Ints, leave_out: bool
    ) -> Floats:
        """What some candidates predict, shape (query, candidate, outcome), or `NOTHING`."""
        from greyfill._search import panel

        slots = which
        if which is not plan.everything:
            slots = np.full(len(plan.candidates), -1)
            slots[which] = np.arange(len(which))
        rows, donors = self._of_rows(near.rows)
        own = NO_TARGETS
        if leave_out:
            own = self.donors.outcomes(self.target).truth(queries.values[:, self.target])
        fits: tuple[Any, ...] = *self._fits(plan, slots), *UNMIXED
        found = panel.panel_predictions(
            queries.features(self.donors), queries.missing, self.donors.feature_map.owners,
            queries.groups(self.donors, self.splits), own, slots, len(which), rows, near.distances,
            *donors, SOFTENING, plan.means, *fits,
        )  # fmt: skip
        return np.asarray(found)

    def layout(self) -> DonorLayout:
        """The donors and predictors as the sweep reads them."""
        return self._once("layout", self._lay_out)

    def _lay_out(self) -> DonorLayout:
        table, labels = self.donors.table, self.donors.labels[self.donor_rows]
        if not self.splits:
            labels = np.zeros_like(labels)
        by_class = np.argsort(labels, kind="stable")
        n_groups = self.donors.n_classes if self.splits else 1
        starts = np.searchsorted(labels[by_class], np.arange(n_groups + 1))
        counts, doubt = np.diff(starts), self.class_doubt() if self.borrows else 0.0
        features = self.borrows * self.donors.feature_map.widths[self.predictors].sum()
        needed = np.array([[doubt], [max(doubt, features / ENOUGH)]])
        near, regressed = np.where(
            ((counts > 0) & (counts >= needed)) | (not self.borrows),
            np.stack([starts[:-1], starts[1:]])[:, np.newaxis],
            np.array([0, len(labels)])[:, np.newaxis, np.newaxis],
        ).transpose(1, 2, 0)
        is_categorical = self.donors.is_categorical
        order = np.argsort(is_categorical[self.predictors], kind="stable")
        columns = self.predictors[order]
        rows = self.donor_rows[by_class]
        donor_of = np.full(table.n_rows + 1, -1)
        donor_of[rows] = np.arange(len(rows))
        n_numbers = int((~is_categorical[columns]).sum())
        cells, limits = np.zeros((0, 0)), np.zeros((2, n_numbers))
        if self.is_swept:
            cells = np.ascontiguousarray(table.values[rows][:, columns].T)
        if self.is_swept and len(rows):
            limits = np.stack([cells[:n_numbers].min(axis=1), cells[:n_numbers].max(axis=1)])
        weights = np.zeros((len(RELEVANCES), len(columns)))
        for name, given in self.weights.items():
            weights[RELEVANCES.index(name)] = given[order]
        trust = counts / (counts + doubt) if doubt else np.ones(n_groups)
        return DonorLayout(
            rows, starts, np.ascontiguousarray(near), np.ascontiguousarray(regressed), trust,
            self.class_weight * trust, donor_of, columns, limits, weights, cells,
        )  # fmt: skip

    def class_doubt(self) -> float:
        """How many donors a class must have to be believed as much as all donors."""
        if not self.splits or self.donors.is_wide(self.target):
            return 1.0
        truth, labels = self._truth()[self.donor_rows], self.donors.labels[self.donor_rows]
        return min(class_doubt(truth, labels, self.donors.n_classes), MOST_DOUBT)

    def neighborhood(self, plan: Plan, queries: Queries, which: Ints) -> Neighborhood:
        """The donors of each place that some candidates of a plan need, for their largest k."""
        is_whole = which is plan.everything
        k = plan.k if is_whole else int(plan.ks[which].max(initial=0))
        k, relevances = min(k, len(self.donor_rows)), plan.relevances
        if k == 0:
            nobody = len(queries.values), len(plan.places), 0
            return Neighborhood(NO_ROWS.reshape(nobody), NOBODY.reshape(nobody))
        if not is_whole:
            relevances = np.full(len(plan.places) + 1, -1)  # one more for those without a place
            relevances[plan.place_of[which]] = 0
            relevances = np.where(relevances[:-1] < 0, -1, plan.relevances)
        if not self.is_swept:
            return self._searched(queries, plan, relevances, k)
        return self._swept(queries, plan, relevances, k)

    def _swept(self, queries: Queries, plan: Plan, relevances: Ints, k: int) -> Neighborhood:
        """The k nearest donors for each place, all of one sweep."""
        neighbor_lists, columns, donor_of, donors = self._once("sweep", self._arrange_sweep)
        rows, distances = neighbor_lists(
            queries.values, queries.missing, columns, donor_of.take(queries.own_rows),
            queries.groups(self.donors, self.splits), queries.sources, *donors, relevances,
            plan.splits, GREY.rho, k,
        )  # fmt: skip
        return Neighborhood(rows, distances)

    def _arrange_sweep(self) -> tuple[Any, ...]:
        """The kernel that sweeps, and what it reads of the donors."""
        from greyfill._search import lists

        to = self.layout()
        donors = to.cells, to.limits, to.rows, to.starts, to.weights, to.class_weights, to.near
        return lists.neighbor_lists, to.columns, to.donor_of, donors

    def _searched(self, queries: Queries, plan: Plan, relevances: Ints, k: int) -> Neighborhood:
        """The k nearest donors for each place by the search of pools."""
        shape = len(queries.values), len(plan.places), k
        rows, distances = np.zeros(shape, dtype=np.intp), np.full(shape, np.inf)
        for number in np.flatnonzero(relevances >= 0).tolist():
            found = self._searched_place(queries, *plan.places[number], k)
            rows[:, number], distances[:, number] = found
        return Neighborhood(rows, distances)

    def _searched_place(
        self, queries: Queries, relevance: str, scope: str, k: int
    ) -> tuple[Ints, Floats]:
        columns = self.columns(scope)
        missing = np.ascontiguousarray(queries.missing[:, columns])
        neighbors = np.zeros((len(missing), k), dtype=np.intp)
        distances = np.full((len(missing), k), np.inf)
        extremes = self._extremes(queries) if scope == "split" else None
        for label, group in enumerate(self.donor_groups(scope)):
            weights = self.column_weights(relevance, scope, label)
            able = searchable(missing, weights) & ((queries.labels == label) | (not self.splits))
            rows = np.flatnonzero(able)
            if len(rows) == 0 or len(group) == 0:
                continue
            name = -1 if group is self.donor_rows else label
            pool = self._pool(relevance, scope, name, group)
            own = places_among(group, queries.own_rows[rows])
            block = QueryRows(rows, queries.values[np.ix_(rows, columns)], missing[rows], own)
            size = min(k, len(group))
            ends = None if extremes is None else extremes[rows]
            found, far = Search(pool, block, weights, size, ends).run(GREY, 1)
            share = np.where(missing[rows], 0.0, weights).sum(axis=1)
            there = np.isfinite(far)
            neighbors[rows, :size] = group[np.where(there, found, 0)]
            distances[rows, :size] = np.where(
                there, GREY.over_observed(np.where(there, far, 1.0), share), np.inf
            )
        return neighbors, distances

    def _extremes(self, queries: Queries) -> Floats:
        """Δmin and Δmax of each query over all donors, as in the sweep, whatever the scope."""
        relevance = next(iter(self.weights))
        pool = self._pool(relevance, "soft", -1, self.donor_rows)
        columns = self.columns("soft")
        own = places_among(self.donor_rows, queries.own_rows)
        values, missing = queries.values[:, columns], queries.missing[:, columns]
        return GREY.survey(pool, np.ascontiguousarray(values), np.ascontiguousarray(missing), own)

    def _pool(self, relevance: str, scope: str, label: int, group: Ints) -> DonorPool:
        return self._once(
            ("pool", relevance, scope, label), lambda: self._build_pool(relevance, scope, group)
        )

    def _build_pool(self, relevance: str, scope: str, group: Ints) -> DonorPool:
        columns, table = self.columns(scope), self.donors.table
        values = table.values[np.ix_(group, columns)]
        weights = self.column_weights(relevance, scope, int(self.donors.labels[group[0]]))
        return build_pool(
            values, np.zeros(values.shape, bool), self.donors.is_categorical[columns], weights
        )

    def donor_groups(self, scope: str, *, regressed: bool = False) -> list[Ints]:
        """The donors that rows of each class take as neighbors, or for a regression on all."""
        to = self.layout()
        ranges = to.regressed if regressed else to.near
        if scope != "split":
            ranges = np.broadcast_to([0, len(to.rows)], ranges.shape)
        # all of them as they rise, not class after class
        return [
            to.rows[first:last] if last - first < len(to.rows) else self.donor_rows
            for first, last in ranges.tolist()
        ]

    def donor_weights(self, near: Neighborhood, place: int, k: int, kernel: str) -> Floats:
        """Weights of the k nearest by the kernel and the multipliers; they sum to 1, or to 0."""
        distances = near.distances[:, place, :k]
        there = np.isfinite(distances)
        squared = np.where(there, distances, 0.0) ** 2
        raw = there / (squared + SOFTENING) if kernel == "inverse" else there.astype(float)
        if self.multipliers is not None:
            raw = raw * self.multipliers[near.rows[:, place, :k]]
        total = raw.sum(axis=1, keepdims=True)
        return np.asarray(raw / np.where(total > 0, total, 1.0))

    def _of_rows(self, rows: Ints) -> tuple[Ints, tuple[Floats, Floats, Floats]]:
        """Rows, and features, multipliers and targets; of many donors, those of rows that occur."""
        if self.is_swept or rows.size == 0:
            return rows, self._once("donors", self._all_donors)
        used, places = np.unique(rows, return_inverse=True)
        truth = self.donors.outcomes(self.target).truth(self.donors.table.values[used, self.target])
        few = NOBODY if self.multipliers is None else self.multipliers[used]
        found = self.donors.features[0][used], few, truth
        return places.reshape(rows.shape).astype(np.intp), found

    def _all_donors(self) -> tuple[Floats, Floats, Floats]:
        """Features, multipliers and targets of all rows; no targets where donors are many."""
        multipliers = NOBODY if self.multipliers is None else self.multipliers
        truth = self._truth() if self.is_swept else self._truth()[:0]
        return self.donors.features[0], multipliers, truth

    def _truth(self) -> Floats:
        """The targets of all rows; kept where they are few."""
        if not self.is_swept:
            return self.donors.truth(self.target)
        return self._once("truth", lambda: self.donors.truth(self.target))

    def _fits(self, plan: Plan, slots: Ints) -> tuple[Any, ...]:
        """The families of a plan as the kernel reads them, on all donors those with a slot."""
        needed = plan.common_firsts
        if slots is not plan.everything:
            taken = slots[plan.fits[:, 0]] >= 0
            needed = frozenset(f.first for f in plan.common if taken[f.first : f.last].any())
        made, arrays = self._made.get(plan, (frozenset(), ()))
        if not arrays or not needed <= made:
            needed |= made
            arrays = self._arranged(plan, [f for f in plan.common if f.first in needed])
            self._made[plan] = needed, arrays
        return tuple(arrays)

    def _arranged(self, plan: Plan, common: list[RidgeFamily]) -> tuple[Any, ...]:
        to, families = self.layout(), (*plan.local, *common)
        read = {family.like.place: self.scales(family.like) for family in families}
        multipliers = NOBODY if self.multipliers is None else self.multipliers
        donors = self.donors.features, self._truth(), to.rows, to.regressed, multipliers
        return arranged(plan, common, read, donors)

    def scales(self, like: Candidate) -> tuple[Ints, Floats]:
        """Which features count, and their √(w / max w), for a class the root of its trust."""
        return self._once(("scales", like.relevance, like.scope), lambda: self._make_scales(like))

    def _make_scales(self, like: Candidate) -> tuple[Ints, Floats]:
        weights = self.weights[like.relevance]
        scales = np.sqrt(weights / max(weights.max(initial=0.0), 1e-300))
        columns = self.columns(like.scope)
        places, owners = self._once(
            ("places", like.scope), lambda: self.donors.feature_map.places(columns)
        )
        if len(columns) == len(weights):
            return places, scales[owners]
        levels = self.donors.feature_map.columns[self.donors.y_column].levels
        of_classes = np.sqrt(self.layout().trust[levels])
        return places, np.append(scales[owners[owners < len(weights)]], of_classes)

    def votes(self, near: Neighborhood, place: int, like: Candidate, outcomes: Outcomes) -> Floats:
        """The votes of the k nearest donors for the levels that each row lists."""
        from greyfill._search import lists

        weights = self.donor_weights(near, place, like.k, like.kernel)
        rows = np.ascontiguousarray(near.rows[:, place, : like.k])
        found = lists.local_votes(rows, weights, self.target_codes(), outcomes.levels)
        return np.where(weights.sum(axis=1, keepdims=True) > 0, found, np.nan)

    def overall_mean(self, outcomes: Outcomes, left_out: Floats | None = None) -> Floats:
        """The mean of all donors' targets, or the shares of listed levels among them.

        These are without a row's own code in ``left_out``.
        """
        if not outcomes.n_others:
            return self._once("mean", self._mean_of_all)
        counts, levels = self._level_counts(), self.donors.levels(self.target)
        listed, total = counts[np.searchsorted(levels, outcomes.levels)], counts.sum()
        if left_out is not None:
            listed, total = listed - (outcomes.levels == left_out[:, np.newaxis]), total - 1.0
        shares = listed / (total if total > 0 else 1.0)
        return np.column_stack([shares, np.maximum(1.0 - shares.sum(axis=1), 0.0)])

    def _mean_of_all(self) -> Floats:
        values = self.donors.table.values[:, self.target]
        given = values[self.donor_rows] if len(self.donor_rows) else values
        return np.asarray(self.donors.outcomes(self.target).truth(given).mean(axis=0))

    def outcomes(self, near: Neighborhood, n_queries: int) -> Outcomes:
        """What is predicted; where levels are very many, a short list of them for each row.

        It has the most frequent levels, those of the row's neighbors, the nearest first, and more.
        """
        from greyfill._search import lists

        if not self.donors.is_wide(self.target):
            return self.donors.outcomes(self.target)
        codes, levels = self.target_codes(), self.donors.levels(self.target)
        given = np.where(np.isfinite(near.distances), codes[near.rows], -1)
        by_rank = np.ascontiguousarray(given.swapaxes(1, 2)).reshape(n_queries, -1)
        frequent = levels[np.argsort(-self._level_counts(), kind="stable")]
        listed = lists.shortlists(by_rank, frequent, FREQUENT, MANY_LEVELS)
        return Outcomes(listed, len(levels) - MANY_LEVELS)

    def target_codes(self) -> Ints:
        """The target of all rows of the donor table as codes of levels."""
        return self.donors.table.values[:, self.target].astype(np.intp)

    def _level_counts(self) -> Floats:
        """How many donors have each level of the target, or what they count together."""
        levels = self.donors.levels(self.target)
        places = np.searchsorted(levels, self.target_codes()[self.donor_rows])
        counts = None if self.multipliers is None else self.multipliers[self.donor_rows]
        return np.bincount(places, counts, len(levels)).astype(float)
