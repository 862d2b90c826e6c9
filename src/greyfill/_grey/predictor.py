"""A target column predicted from its donors: means, votes and ridge regressions of neighbors."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from greyfill._grey.candidates import ALL_DONORS, KS, Candidate
from greyfill._grey.donor_table import DonorTable, Queries
from greyfill._grey.outcomes import Outcomes
from greyfill._neighbors.distance import Grey
from greyfill._neighbors.links import QueryRows, Search, places_among, searchable
from greyfill._search.pool import DonorPool, build_pool
from greyfill.table import MANY_LEVELS, Bools, Floats, Ints

SOFTENING = 1e-6
"""Added to d² in the inverse kernel, so that an exact match does not outweigh all others."""

FEWEST = 3
"""Donors that a regression needs at least; with fewer a candidate predicts nothing."""

FREQUENT = 20
"""Of very many levels, the most frequent ones, which every row lists before its neighbors'."""

GREY = Grey()


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The nearest donors of some queries: rows of the donor table, and their distances.

    Empty places have row 0 and distance infinity.
    """

    rows: Ints
    distances: Floats

    def first(self, k: int) -> "Neighborhood":
        """The k nearest of them."""
        return Neighborhood(self.rows[:, :k], self.distances[:, :k])


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
    _pools: dict[tuple[str, str, int], DonorPool] = field(default_factory=dict, repr=False)
    _moments: dict[tuple[bool, str], tuple[Floats, ...]] = field(default_factory=dict, repr=False)

    @property
    def scopes(self) -> tuple[str, ...]:
        """Which donors a candidate may use."""
        splits = self.donors.splits and self.target != self.donors.y_column
        return ("split", "soft") if splits else ("soft",)

    def columns(self, scope: str) -> Ints:
        """The columns that count: the predictors, and the class where donors are of all classes."""
        if scope == "split" or "split" not in self.scopes:
            return self.predictors
        return np.append(self.predictors, self.donors.y_column)

    def column_weights(self, relevance: str, scope: str) -> Floats:
        """Weights of these columns in the distance."""
        weights = self.weights[relevance]
        if len(self.columns(scope)) == len(weights):
            return weights
        return np.append(weights * (1 - self.class_weight), self.class_weight)

    def predict(
        self, panel: tuple[Candidate, ...], queries: Queries
    ) -> tuple[Outcomes, Iterator[Floats]]:
        """What is predicted of some rows, and each candidate's predictions of it.

        Predictions have the shape (query, outcome), NaN where the candidate predicts nothing.
        """
        near = self._neighborhoods(panel, queries)
        outcomes = self.outcomes([n for n in near if n], len(queries.values))
        pairs = zip(panel, near, strict=True)
        return outcomes, (self._predict_one(c, queries, n, outcomes) for c, n in pairs)

    def _predict_one(
        self, candidate: Candidate, queries: Queries, near: Neighborhood | None, outcomes: Outcomes
    ) -> Floats:
        ridges = np.array([candidate.ridge])
        if near is None and outcomes.n_others:
            return self.overall_mean(outcomes)
        if near is None:
            return self.common_ridge(queries, candidate, ridges, leave_out=False)[:, 0]
        if np.isinf(candidate.ridge) or outcomes.n_others:
            return self.neighbor_mean(near, candidate.k, candidate.kernel, outcomes)
        return self.local_ridge(queries, near, candidate, ridges)[:, 0]

    def _neighborhoods(
        self, panel: tuple[Candidate, ...], queries: Queries
    ) -> list[Neighborhood | None]:
        """The neighbors of each candidate; one search for all of the same weights and scope."""
        ks: dict[tuple[str, str], int] = {}
        for c in panel:
            ks[c.relevance, c.scope] = max(c.k, ks.get((c.relevance, c.scope), ALL_DONORS))
        found = {place: self.neighborhood(queries, *place, k) for place, k in ks.items() if k}
        return [found[c.relevance, c.scope].first(c.k) if c.k else None for c in panel]

    def neighborhood(
        self, queries: Queries, relevance: str, scope: str, k: int = max(KS)
    ) -> Neighborhood:
        """The k nearest donors of every query, by grey distance over its observed columns."""
        weights, columns = self.column_weights(relevance, scope), self.columns(scope)
        missing = np.ascontiguousarray(queries.missing[:, columns])
        able = searchable(missing, weights)
        neighbors = np.zeros((len(missing), k), dtype=np.intp)
        distances = np.full((len(missing), k), np.inf)
        for label, group in self.donor_groups(scope):
            rows = np.flatnonzero(able & ((queries.labels == label) | (scope != "split")))
            if len(rows) == 0 or len(group) == 0:
                continue
            pool = self._pool(relevance, scope, label, group)
            own = places_among(group, queries.own_rows[rows])
            block = QueryRows(rows, queries.values[np.ix_(rows, columns)], missing[rows], own)
            size = min(k, len(group))
            found, far = Search(pool, block, weights, size).run(GREY, self.n_jobs)
            share = np.where(missing[rows], 0.0, weights).sum(axis=1)
            there = np.isfinite(far)
            neighbors[rows, :size] = group[np.where(there, found, 0)]
            distances[rows, :size] = np.where(
                there, GREY.over_observed(np.where(there, far, 1.0), share), np.inf
            )
        return Neighborhood(neighbors, distances)

    def donor_weights(self, near: Neighborhood, k: int, kernel: str) -> Floats:
        """Weights of the k nearest by the kernel and the multipliers; they sum to 1, or to 0."""
        distances = near.distances[:, :k]
        there = np.isfinite(distances)
        squared = np.where(there, distances, 0.0) ** 2
        raw = there / (squared + SOFTENING) if kernel == "inverse" else there.astype(float)
        weights = _to_shares(raw)
        if self.multipliers is None:
            return weights
        return _to_shares(weights * self.multipliers[near.rows[:, :k]])

    def neighbor_mean(self, near: Neighborhood, k: int, kernel: str, outcomes: Outcomes) -> Floats:
        """The weighted mean of the k nearest donors' targets, or their votes for listed levels."""
        from greyfill._search import ridge as kernels

        rows, weights = near.rows[:, :k], self.donor_weights(near, k, kernel)
        if outcomes.n_others:
            found = kernels.local_votes(rows, weights, self.target_codes(), outcomes.levels)
        else:
            found = kernels.local_means(rows, weights, self.donors.truth(self.target))
        return np.where(weights.sum(axis=1, keepdims=True) > 0, found, np.nan)

    def overall_mean(self, outcomes: Outcomes, left_out: Floats | None = None) -> Floats:
        """The mean of all donors' targets, or the shares of listed levels among them.

        These are without a row's own code in ``left_out``.
        """
        if not outcomes.n_others:
            truth = self.donors.truth(self.target)
            return np.asarray(
                (truth[self.donor_rows] if len(self.donor_rows) else truth).mean(axis=0)
            )
        counts, levels = self._level_counts(), self.donors.levels(self.target)
        listed, total = counts[np.searchsorted(levels, outcomes.levels)], counts.sum()
        if left_out is not None:
            listed, total = listed - (outcomes.levels == left_out[:, np.newaxis]), total - 1.0
        shares = listed / (total if total > 0 else 1.0)
        return np.column_stack([shares, np.maximum(1.0 - shares.sum(axis=1), 0.0)])

    def outcomes(self, neighborhoods: list[Neighborhood], n_queries: int) -> Outcomes:
        """What is predicted; where levels are very many, a short list of them for each row.

        It has the most frequent levels, those of the row's neighbors, the nearest first, and more.
        """
        from greyfill._search import ridge as kernels

        if not self.donors.is_wide(self.target):
            return self.donors.outcomes(self.target)
        codes, levels = self.target_codes(), self.donors.levels(self.target)
        ranks = [np.arange(near.rows.shape[1]) for near in neighborhoods]
        order = np.argsort(np.concatenate([np.zeros(0), *ranks]), kind="stable")
        given = [np.where(np.isfinite(n.distances), codes[n.rows], -1) for n in neighborhoods]
        near = np.concatenate([np.zeros((n_queries, 0), dtype=np.intp), *given], axis=1)[:, order]
        frequent = levels[np.argsort(-self._level_counts(), kind="stable")]
        listed = kernels.shortlists(np.ascontiguousarray(near), frequent, FREQUENT, MANY_LEVELS)
        return Outcomes(listed, len(levels) - MANY_LEVELS)

    def local_ridge(
        self, queries: Queries, near: Neighborhood, like: Candidate, ridges: Floats
    ) -> Floats:
        """Ridge regressions on the k nearest donors, shape (query, ridge, outcome)."""
        from greyfill._search import ridge as kernels

        columns, rows = self.columns(like.scope), near.rows[:, : like.k]
        weights, truth = (
            self.donor_weights(near, like.k, like.kernel),
            self.donors.truth(self.target),
        )
        found = kernels.local_ridge(
            *self.query_features(queries, like), rows, weights, self.donors.features(like.form),
            self.donors.feature_map.places(columns), truth, ridges,
        )  # fmt: skip
        low, high = (limit[:, np.newaxis] for limit in kernels.local_limits(rows, weights, truth))
        margin = np.maximum((high - low) / 2, 0.0)  # a regression may leave its donors by so much
        enough = (weights > 0).sum(axis=1) >= FEWEST
        found = np.clip(found, low - margin, high + margin)
        return np.where(enough[:, np.newaxis, np.newaxis], found, np.nan)

    def common_ridge(
        self, queries: Queries, like: Candidate, ridges: Floats, *, leave_out: bool
    ) -> Floats:
        """One ridge regression on all donors of the scope, shape (query, ridge, outcome).

        With ``leave_out`` each query is a donor, and its own row is left out.
        """
        from greyfill._search import ridge as kernels

        is_split, truth = like.scope == "split", self.donors.truth(self.target)
        moments = self._group_moments(like)
        groups = queries.labels if is_split else np.zeros(len(queries.labels), dtype=np.intp)
        enough = moments[0][np.maximum(groups, 0)] - leave_out >= FEWEST
        enough &= groups >= 0
        part = queries.part(enough)
        own = truth[part.own_rows] if leave_out else np.zeros((len(part.values), truth.shape[1]))
        finite = np.where(np.isinf(ridges), 1e12, ridges)
        out = np.full((len(groups), len(ridges), truth.shape[1]), np.nan)
        out[enough] = kernels.common_ridge(
            *self.query_features(part, like), own, groups[enough], *moments, finite, leave_out
        )
        return out

    def _group_moments(self, like: Candidate) -> tuple[Floats, ...]:
        """Counts, sums and products of the donors' features and targets in each group, once."""
        from greyfill._search import ridge as kernels

        is_split, n = like.scope == "split", len(self.donor_rows)
        if (is_split, like.form) not in self._moments:
            self._moments[is_split, like.form] = kernels.moments(
                self.donors.features(like.form),
                self.donors.feature_map.places(self.columns(like.scope)),
                self.donors.truth(self.target),
                self.donor_rows,
                np.ones(n) if self.multipliers is None else self.multipliers[self.donor_rows],
                self.donors.labels[self.donor_rows] if is_split else np.zeros(n, dtype=np.intp),
                self.donors.n_classes if is_split else 1,
            )
        return self._moments[is_split, like.form]

    def query_features(self, queries: Queries, like: Candidate) -> tuple[Floats, Bools, Floats]:
        """Features of the queries, which are observed, and their √(w / max w), 1 for the class."""
        columns, weights = self.columns(like.scope), self.weights[like.relevance]
        owners = self.donors.feature_map.owners(columns)
        scales = np.sqrt(weights / max(weights.max(initial=0.0), 1e-300))
        if len(columns) > len(weights):
            scales = np.append(scales, 1.0)
        features = self.donors.feature_map.of(queries.values, columns, like.form)
        usable = np.ascontiguousarray(~queries.missing[:, columns][:, owners])
        return features, usable, np.asarray(scales[owners])

    def donor_groups(self, scope: str) -> list[tuple[int, Ints]]:
        """The donors of each class, or all of them under −1."""
        if scope != "split":
            return [(-1, self.donor_rows)]
        labels = self.donors.labels[self.donor_rows]
        return [(c, self.donor_rows[labels == c]) for c in range(self.donors.n_classes)]

    def _pool(self, relevance: str, scope: str, label: int, group: Ints) -> DonorPool:
        key = relevance, scope, label
        if key not in self._pools:
            columns, table = self.columns(scope), self.donors.table
            values, weights = table.values[np.ix_(group, columns)], self.column_weights(*key[:2])
            self._pools[key] = build_pool(
                values, np.zeros(values.shape, bool), table.is_categorical[columns], weights
            )
        return self._pools[key]

    def target_codes(self) -> Ints:
        """The target of all rows of the donor table as codes of levels."""
        return self.donors.table.values[:, self.target].astype(np.intp)

    def _level_counts(self) -> Floats:
        """How many donors have each level of the target, or what they count together."""
        levels = self.donors.levels(self.target)
        places = np.searchsorted(levels, self.target_codes()[self.donor_rows])
        counts = None if self.multipliers is None else self.multipliers[self.donor_rows]
        return np.bincount(places, counts, len(levels)).astype(float)


def _to_shares(weights: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))
