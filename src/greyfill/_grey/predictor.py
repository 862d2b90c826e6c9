"""A target column predicted from its donors: means, votes and ridge regressions of neighbors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from greyfill._grey.candidates import ALL_DONORS, RELEVANCES, Candidate, Place, Plan, Regressions
from greyfill._grey.donor_table import DonorTable, Queries
from greyfill._grey.outcomes import Outcomes
from greyfill._neighbors.distance import Grey
from greyfill._neighbors.links import QueryRows, Search, places_among, searchable
from greyfill._search.pool import NO_HINTS, DonorPool, Hints, build_pool
from greyfill.table import MANY_LEVELS, Floats, Ints

SOFTENING = 1e-6
"""Added to d² in the inverse kernel, so that an exact match does not outweigh all others."""

FREQUENT = 20
"""Of very many levels, the most frequent ones, which every row lists before its neighbors'."""

SWEPT = 4_096
"""So many donors are swept for each query; the boxes of a pool pay off where there are more."""

GREY = Grey()
NOBODY, NO_TARGETS = np.zeros(0), np.zeros((0, 0))

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The nearest donors of some queries: rows of the donor table, and their distances.

    Empty places have row 0 and distance infinity.
    """

    rows: Ints
    distances: Floats


@dataclass(frozen=True, eq=False)
class DonorLayout:
    """The donors of a target, class after class, and its predictors, numbers before categories.

    ``cells`` has shape (predictor, donor), donor i is row ``rows[i]`` of the donor table, and
    ``starts`` are the first donors of the classes. ``places`` are the donors in rising order of
    their rows, ``limits`` the least and the largest value of each number, and ``weights`` those of
    the relevances, with rows of zeros for those that are not there.
    """

    rows: Ints
    starts: Ints
    places: Ints
    columns: Ints
    limits: Floats
    weights: Floats
    cells: Floats


@dataclass(frozen=True, eq=False)
class CommonFit:
    """Regressions on all donors of each group, as `ridge.common_ridges` reads them."""

    places: Ints
    scales: Floats
    ridges: tuple[float, ...]
    arrays: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class ColumnPredictor:
    """A target column, the donors with an observed target, and the weights of its predictors.

    ``donor_rows`` rise. ``multipliers`` make rows of the donor table count more or less, as in a
    bootstrap; None: all alike.
    """

    donors: DonorTable
    target: int
    donor_rows: Ints
    predictors: Ints
    weights: dict[str, Floats]
    class_weight: float
    n_jobs: int | None = None
    multipliers: Floats | None = None
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def _once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What depends on the donors alone, made at its first use."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
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

    def column_weights(self, relevance: str, scope: str) -> Floats:
        """Weights of these columns in the distance."""
        weights = self.weights[relevance]
        if scope == "split" or not self.splits:
            return weights
        return np.append(weights * (1 - self.class_weight), self.class_weight)

    def predict(
        self,
        candidates: Sequence[Candidate],
        queries: Queries,
        *,
        near: dict[Place, Neighborhood] | None = None,
        leave_out: bool = False,
    ) -> tuple[Outcomes, Floats]:
        """What is predicted of some rows, and each candidate's predictions of it.

        Predictions have the shape (candidate, query, outcome), NaN where the candidate predicts
        nothing. With ``leave_out`` each query is a donor, and its own row is left out of
        regressions on all donors; it is never its own neighbor.
        """
        plan = Plan.of(tuple(candidates))
        if near is None:
            near = self.neighborhoods(plan, queries)
        outcomes = self.outcomes(list(near.values()), len(queries.values))
        out = np.empty((len(queries.values), len(candidates), outcomes.width))
        if outcomes.n_others:
            own = queries.values[:, self.target] if leave_out else None
            for place, c in enumerate(candidates):
                if c.k == ALL_DONORS:
                    out[:, place] = self.overall_mean(outcomes, own)
                else:
                    out[:, place] = self.votes(near[c.place], c, outcomes)
            return outcomes, out.swapaxes(0, 1)
        if plan.means:
            out[:, plan.means.which] = self._means(plan, near)
        for some in plan.local:
            out[:, some.which] = self._local_ridges(some, queries, near)
        for some in plan.common:
            out[:, some.which] = self._common_ridges(some, queries, leave_out)
        out[out < -1e299] = np.nan
        return outcomes, out.swapaxes(0, 1)

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
        order = np.argsort(table.is_categorical[self.predictors], kind="stable")
        columns = self.predictors[order]
        rows = self.donor_rows[by_class]
        places = np.empty(len(rows), dtype=np.intp)
        places[by_class] = np.arange(len(rows))
        n_numbers = int((~table.is_categorical[columns]).sum())
        cells, limits = np.zeros((0, 0)), np.zeros((2, n_numbers))
        if self.is_swept:
            cells = np.ascontiguousarray(table.values[rows][:, columns].T)
        if self.is_swept and len(rows):
            limits = np.stack([cells[:n_numbers].min(axis=1), cells[:n_numbers].max(axis=1)])
        weights = np.zeros((len(RELEVANCES), len(columns)))
        for place, name in enumerate(self.weights):
            weights[place] = self.weights[name][order]
        return DonorLayout(rows, starts, places, columns, limits, weights, cells)

    def neighborhoods(self, plan: Plan, queries: Queries) -> dict[Place, Neighborhood]:
        """The donors of each relevance and scope that some candidate needs, for its largest k."""
        if not self.is_swept:
            return {place: self._searched(queries, *place, plan.k) for place in plan.places}
        if not plan.places:
            return {}
        rows, distances = self._swept(queries, plan.places, plan.k)
        return {p: Neighborhood(rows[:, i], distances[:, i]) for i, p in enumerate(plan.places)}

    def _swept(self, queries: Queries, places: tuple[Place, ...], k: int) -> tuple[Ints, Floats]:
        """The k nearest donors for each place, all of one sweep; shape (query, place, k)."""
        from greyfill._search import lists

        to = self.layout()
        names = list(self.weights)
        own = places_among(self.donor_rows, queries.own_rows)
        if len(to.rows):
            own = np.where(own >= 0, to.places[own], -1)
        labels = queries.groups(self.donors) if self.splits else queries.no_labels
        rows, distances = lists.neighbor_lists(
            np.ascontiguousarray(queries.values[:, to.columns]),
            np.ascontiguousarray(queries.missing[:, to.columns]),
            own, labels, queries.sources, to.cells, to.limits, to.rows, to.starts, to.weights,
            self.class_weight,
            np.array([names.index(relevance) for relevance, _ in places]),
            np.array([scope == "split" for _, scope in places]),
            GREY.rho, min(k, max(len(to.rows), 1)),
        )  # fmt: skip
        return rows, distances

    def _searched(self, queries: Queries, relevance: str, scope: str, k: int) -> Neighborhood:
        """The k nearest donors of every query by the search of a pool."""
        weights, columns = self.column_weights(relevance, scope), self.columns(scope)
        missing = np.ascontiguousarray(queries.missing[:, columns])
        able = searchable(missing, weights)
        neighbors = np.zeros((len(missing), k), dtype=np.intp)
        distances = np.full((len(missing), k), np.inf)
        extremes = self._extremes(queries) if scope == "split" else None
        for label, group in self.donor_groups(scope):
            rows = np.flatnonzero(able & ((queries.labels == label) | (scope != "split")))
            if len(rows) == 0 or len(group) == 0:
                continue
            pool = self._pool(relevance, scope, label, group)
            own = places_among(group, queries.own_rows[rows])
            block = QueryRows(rows, queries.values[np.ix_(rows, columns)], missing[rows], own)
            hints = NO_HINTS if extremes is None else Hints(extremes=extremes[rows])
            size = min(k, len(group))
            found, far = Search(pool, block, weights, size, hints).run(GREY, 1)
            share = np.where(missing[rows], 0.0, weights).sum(axis=1)
            there = np.isfinite(far)
            neighbors[rows, :size] = group[np.where(there, found, 0)]
            distances[rows, :size] = np.where(
                there, GREY.over_observed(np.where(there, far, 1.0), share), np.inf
            )
        return Neighborhood(neighbors, distances)

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
        values, weights = (
            table.values[np.ix_(group, columns)],
            self.column_weights(relevance, scope),
        )
        return build_pool(
            values, np.zeros(values.shape, bool), table.is_categorical[columns], weights
        )

    def donor_groups(self, scope: str) -> list[tuple[int, Ints]]:
        """The donors of each class, or all of them under −1."""
        if scope != "split":
            return [(-1, self.donor_rows)]
        to = self.layout()
        return [(c, to.rows[to.starts[c] : to.starts[c + 1]]) for c in range(len(to.starts) - 1)]

    def donor_weights(self, near: Neighborhood, k: int, kernel: str) -> Floats:
        """Weights of the k nearest by the kernel and the multipliers; they sum to 1, or to 0."""
        distances = near.distances[:, :k]
        there = np.isfinite(distances)
        squared = np.where(there, distances, 0.0) ** 2
        raw = there / (squared + SOFTENING) if kernel == "inverse" else there.astype(float)
        if self.multipliers is not None:
            raw = raw * self.multipliers[near.rows[:, :k]]
        total = raw.sum(axis=1, keepdims=True)
        return np.asarray(raw / np.where(total > 0, total, 1.0))

    def _means(self, plan: Plan, near: dict[Place, Neighborhood]) -> Floats:
        from greyfill._search import lists

        assert plan.means is not None
        rows = np.stack([near[place].rows for place in plan.places], axis=1)
        distances = np.stack([near[place].distances for place in plan.places], axis=1)
        compact, targets, multipliers = self._of_rows(rows)
        which = plan.means.pairs, plan.means.ks, plan.means.by_distance
        found = lists.list_means(compact, distances, multipliers, targets, *which, SOFTENING)
        return np.asarray(found)

    def _of_rows(self, rows: Ints) -> tuple[Ints, Floats, Floats]:
        """Rows with their targets and multipliers; of many donors, of the rows that occur alone."""
        multipliers = NOBODY if self.multipliers is None else self.multipliers
        if self.is_swept:
            return rows, self._once("truth", lambda: self.donors.truth(self.target)), multipliers
        used, places = np.unique(rows, return_inverse=True)
        truth = self.donors.outcomes(self.target).truth(self.donors.table.values[used, self.target])
        few = multipliers[used] if len(multipliers) else NOBODY
        return places.reshape(rows.shape).astype(np.intp), truth, few

    def _local_ridges(
        self, some: Regressions, queries: Queries, near: dict[Place, Neighborhood]
    ) -> Floats:
        from greyfill._search import ridge as kernels

        like, here = some.like, near[some.like.place]
        k = int(some.ks[-1])
        places, scales = self.scales(like)
        rows = np.ascontiguousarray(here.rows[:, :k])
        compact, targets, multipliers = self._of_rows(rows)
        features = self.donors.features(like.form)
        if compact is not rows:
            features = features[np.unique(rows)]
        found = kernels.local_ridges(
            queries.features(self.donors, like.form), queries.usable(self.donors), features, places,
            scales, compact, np.ascontiguousarray(here.distances[:, :k]), multipliers, targets,
            some.ks, some.ridges,
        )  # fmt: skip
        return np.asarray(found)

    def _common_ridges(self, some: Regressions, queries: Queries, leave_out: bool) -> Floats:
        from greyfill._search import ridge as kernels

        like, ridges = some.like, some.ridges
        key = "fit", *like.family
        if key not in self._made or not set(ridges) <= set(self._made[key].ridges):
            self._made[key] = self._fit_all(like, ridges)
        fit: CommonFit = self._made[key]
        which = np.array([fit.ridges.index(ridge) for ridge in ridges])
        groups = queries.groups(self.donors) if like.scope == "split" else queries.one_group
        outcomes = self.donors.outcomes(self.target)
        own = NO_TARGETS
        if leave_out:
            own = outcomes.truth(queries.values[:, self.target])
        found = kernels.common_ridges(
            queries.features(self.donors, like.form), queries.usable(self.donors), fit.places,
            fit.scales, groups, own, which, *fit.arrays,
        )  # fmt: skip
        return np.asarray(found)

    def _fit_all(self, like: Candidate, ridges: Floats) -> CommonFit:
        """Regressions on all donors of each group."""
        from greyfill._search import ridge as kernels

        counts, middles, centers, products, cross = self._once(
            ("moments", like.scope, like.form), lambda: self._moments(like)
        )
        places, scales = self.scales(like)
        kept = np.flatnonzero(scales > 0)
        if len(kept) < len(scales):
            products, cross = products[:, kept][:, :, kept], cross[:, kept]
            middles, places, scales = middles[:, kept], places[kept], scales[kept]
        sums = counts, np.ascontiguousarray(middles), np.ascontiguousarray(centers)
        fits = kernels.ridge_inverses(counts, products, cross, scales, ridges)
        return CommonFit(places, scales, tuple(ridges), (*sums, *fits))

    def _moments(self, like: Candidate) -> tuple[Floats, ...]:
        from greyfill._search import ridge as kernels

        to = self.layout()
        truth = self.donors.truth(self.target)
        found: tuple[Floats, ...] = kernels.moments(
            self.donors.features(like.form),
            self.donors.feature_map.places(self.columns(like.scope))[0],
            truth,
            to.rows,
            NOBODY if self.multipliers is None else self.multipliers,
            to.starts if like.scope == "split" else np.array([0, len(to.rows)]),
        )
        return found

    def scales(self, like: Candidate) -> tuple[Ints, Floats]:
        """Which features count, and their √(w / max w), 1 for the class."""
        return self._once(("scales", like.relevance, like.scope), lambda: self._make_scales(like))

    def _make_scales(self, like: Candidate) -> tuple[Ints, Floats]:
        columns, weights = self.columns(like.scope), self.weights[like.relevance]
        scales = np.sqrt(weights / max(weights.max(initial=0.0), 1e-300))
        if len(columns) > len(weights):
            scales = np.append(scales, 1.0)
        places, owners = self.donors.feature_map.places(columns)
        return places, scales[owners]

    def votes(self, near: Neighborhood, like: Candidate, outcomes: Outcomes) -> Floats:
        """The votes of the k nearest donors for the levels that each row lists."""
        from greyfill._search import lists

        weights = self.donor_weights(near, like.k, like.kernel)
        rows = np.ascontiguousarray(near.rows[:, : like.k])
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

    def outcomes(self, neighborhoods: list[Neighborhood], n_queries: int) -> Outcomes:
        """What is predicted; where levels are very many, a short list of them for each row.

        It has the most frequent levels, those of the row's neighbors, the nearest first, and more.
        """
        from greyfill._search import lists

        if not self.donors.is_wide(self.target):
            return self.donors.outcomes(self.target)
        codes, levels = self.target_codes(), self.donors.levels(self.target)
        ranks = [np.arange(near.rows.shape[1]) for near in neighborhoods]
        order = np.argsort(np.concatenate([np.zeros(0), *ranks]), kind="stable")
        given = [np.where(np.isfinite(n.distances), codes[n.rows], -1) for n in neighborhoods]
        near = np.concatenate([np.zeros((n_queries, 0), dtype=np.intp), *given], axis=1)[:, order]
        frequent = levels[np.argsort(-self._level_counts(), kind="stable")]
        listed = lists.shortlists(np.ascontiguousarray(near), frequent, FREQUENT, MANY_LEVELS)
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
