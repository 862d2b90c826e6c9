"""Columns of very many levels: each row lists some, and its neighbors vote for them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from greyfill._grey.candidates import EVERYONE, KS, Candidate, Outcomes
from greyfill._grey.donor_table import DonorTable, Queries
from greyfill._neighbors.distance import Grey
from greyfill._neighbors.links import QueryRows, Search, searchable
from greyfill._search.pool import DonorPool, build_pool
from greyfill.table import MANY_LEVELS, Bools, Floats, Ints

SOFTENING = 1e-6
"""Added to d² in the inverse kernel, so that an exact match does not silence all others."""

FEWEST = 3
"""Donors that a regression needs at least; with fewer a candidate has no answer."""

GREY = Grey()


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The nearest donors of some queries: rows of the ground (0 in empty places) and distances.

    Empty places have distance infinity.
    """

    donors: Ints
    distances: Floats

    def weights(self, k: int, kernel: str) -> Floats:
        """Weights of the k nearest, which sum to 1, or to 0 where there is no donor."""
        distances = self.distances[:, :k]
        there = np.isfinite(distances)
        squared = np.where(there, distances, 0.0) ** 2
        raw = there / (squared + SOFTENING) if kernel == "inverse" else there.astype(float)
        total = raw.sum(axis=1, keepdims=True)
        return np.asarray(raw / np.where(total > 0, total, 1.0))


@dataclass(frozen=True, eq=False)
class ColumnPredictor:
    """A target column, the donors that know it, and the weights of its predictors.

    ``multipliers`` make rows of the ground count more or less, as in a bootstrap; None: all alike.
    """

    ground: DonorTable
    target: int
    donors: Ints
    predictors: Ints
    weights: dict[str, Floats]
    class_weight: float
    n_jobs: int | None = None
    multipliers: Floats | None = None
    _pools: dict[tuple[str, str, int], DonorPool] = field(default_factory=dict, repr=False)
    _sums: dict[tuple[bool, str], tuple[Floats, ...]] = field(default_factory=dict, repr=False)

    @property
    def scopes(self) -> tuple[str, ...]:
        """Where donors may be sought."""
        splits = self.ground.splits and self.target != self.ground.class_column
        return ("split", "soft") if splits else ("soft",)

    def columns(self, scope: str) -> Ints:
        """The columns that count: the predictors, and the class where donors are of all classes."""
        if scope == "split" or "split" not in self.scopes:
            return self.predictors
        return np.append(self.predictors, self.ground.class_column)

    def column_weights(self, relevance: str, scope: str) -> Floats:
        """Weights of these columns in the distance."""
        weights = self.weights[relevance]
        if len(self.columns(scope)) == len(weights):
            return weights
        return np.append(weights * (1 - self.class_weight), self.class_weight)

    def predict(self, candidate: Candidate, queries: Queries) -> Floats:
        """Predictions of shape (query, target); NaN where the candidate has no answer."""
        ridges = np.array([candidate.ridge])
        if candidate.k == EVERYONE:
            place = candidate.relevance, candidate.scope, candidate.form
            return self.common(queries, *place, ridges, False)[:, 0]
        near = self.neighborhood(queries, candidate.relevance, candidate.scope, candidate.k)
        if np.isinf(candidate.ridge):
            return self.mean(near, candidate.k, candidate.kernel)
        return self.local(queries, near, candidate, ridges)[:, 0]

    def neighborhood(
        self, queries: Queries, relevance: str, scope: str, k: int = max(KS)
    ) -> Neighborhood:
        """The k nearest donors of every query, by grey distance over its observed columns."""
        weights, columns = self.column_weights(relevance, scope), self.columns(scope)
        missing = np.ascontiguousarray(queries.missing[:, columns])
        able = searchable(missing, weights)
        donors = np.zeros((len(missing), k), dtype=np.intp)
        distances = np.full((len(missing), k), np.inf)
        for label, givers in self.givers(scope):
            rows = np.flatnonzero(able & ((queries.labels == label) | (scope != "split")))
            if len(rows) == 0 or len(givers) == 0:
                continue
            pool = self._pool(relevance, scope, label, givers)
            own = _places_among(givers, queries.own_rows[rows])
            taking = QueryRows(rows, queries.values[np.ix_(rows, columns)], missing[rows], own)
            size = min(k, len(givers))
            found, far = Search(pool, taking, weights, size).run(GREY, self.n_jobs)
            share = np.where(missing[rows], 0.0, weights).sum(axis=1)
            there = np.isfinite(far)
            donors[rows, :size] = givers[np.where(there, found, 0)]
            distances[rows, :size] = np.where(
                there, GREY.over_observed(np.where(there, far, 1.0), share), np.inf
            )
        return Neighborhood(donors, distances)

    def donor_weights(self, near: Neighborhood, k: int, kernel: str) -> Floats:
        """Weights of the k nearest by the kernel and the multipliers; they sum to 1, or to 0."""
        weights = near.weights(k, kernel)
        if self.multipliers is None:
            return weights
        weights = weights * self.multipliers[near.donors[:, :k]]
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(weights / np.where(total > 0, total, 1.0))

    def mean(self, near: Neighborhood, k: int, kernel: str) -> Floats:
        """The weighted mean of the k nearest donors' targets."""
        from greyfill._search import ridge as kernels

        weights, targets = self.donor_weights(near, k, kernel), self.ground.targets(self.target)
        found = kernels.local_means(near.donors[:, :k], weights, targets)
        return np.where(weights.sum(axis=1, keepdims=True) > 0, found, np.nan)

    def plain(self) -> Floats:
        """The mean of all donors' targets."""
        targets = self.ground.targets(self.target)
        return np.asarray((targets[self.donors] if len(self.donors) else targets).mean(axis=0))

    def local(
        self, queries: Queries, near: Neighborhood, like: Candidate, ridges: Floats
    ) -> Floats:
        """Ridge regressions on the k nearest donors, shape (query, ridge, target)."""
        from greyfill._search import ridge as kernels

        columns = self.columns(like.scope)
        weights, donors = self.donor_weights(near, like.k, like.kernel), near.donors[:, : like.k]
        targets = self.ground.targets(self.target)
        found = kernels.local_ridge(
            self.ground.feature_map.of(queries.values, columns, like.form),
            self.usable(queries, columns),
            self.scales(like.relevance, like.scope),
            donors,
            weights,
            self.ground.features(like.form),
            self.ground.feature_map.places(columns),
            targets,
            ridges,
        )
        low, high = kernels.local_limits(donors, weights, targets)
        low, high = low[:, np.newaxis], high[:, np.newaxis]
        margin = np.maximum((high - low) / 2, 0.0)
        enough = (weights > 0).sum(axis=1) >= FEWEST
        found = np.clip(found, low - margin, high + margin)
        return np.where(enough[:, np.newaxis, np.newaxis], found, np.nan)

    def common(
        self,
        queries: Queries,
        relevance: str,
        scope: str,
        form: str,
        ridges: Floats,
        leave_out: bool,
    ) -> Floats:
        """One ridge regression on all donors of the scope, shape (query, ridge, target)."""
        from greyfill._search import ridge as kernels

        columns = self.columns(scope)
        split = scope == "split"
        moments = self._moments(columns, split, form)
        groups = queries.labels if split else np.zeros(len(queries.labels), dtype=np.intp)
        own = self.ground.targets(self.target)[queries.own_rows] if leave_out else np.zeros((0, 0))
        enough = moments[0][np.maximum(groups, 0)] - leave_out >= FEWEST
        enough &= groups >= 0
        part = queries.part(enough)
        some = self.ground.targets(self.target).shape[1]
        out = np.full((len(groups), len(ridges), some), np.nan)
        finite = np.where(np.isinf(ridges), 1e12, ridges)
        out[enough] = kernels.common_ridge(
            self.ground.feature_map.of(part.values, columns, form),
            self.usable(part, columns),
            self.scales(relevance, scope),
            own[enough] if leave_out else np.zeros((len(part.values), some)),
            groups[enough],
            *moments,
            finite,
            leave_out,
        )
        return out

    def _moments(self, columns: Ints, split: bool, form: str) -> tuple[Floats, ...]:
        """Counts, sums and products of the donors' features and targets in each group, once."""
        from greyfill._search import ridge as kernels

        if (split, form) not in self._sums:
            n = len(self.donors)
            self._sums[split, form] = kernels.moments(
                self.ground.features(form),
                self.ground.feature_map.places(columns),
                self.ground.targets(self.target),
                self.donors,
                np.ones(n) if self.multipliers is None else self.multipliers[self.donors],
                self.ground.labels[self.donors] if split else np.zeros(n, dtype=np.intp),
                self.ground.n_classes if split else 1,
            )
        return self._sums[split, form]

    def scales(self, relevance: str, scope: str) -> Floats:
        """√(w / max w) for the features of each column; 1 for the class."""
        weights = self.weights[relevance]
        scales = np.sqrt(weights / max(weights.max(initial=0.0), 1e-300))
        columns = self.columns(scope)
        if len(columns) > len(weights):
            scales = np.append(scales, 1.0)
        return np.asarray(scales[self.ground.feature_map.owners(columns)])

    def usable(self, queries: Queries, columns: Ints) -> Bools:
        """Which features of some columns each query has."""
        known = ~queries.missing[:, columns]
        return np.ascontiguousarray(known[:, self.ground.feature_map.owners(columns)])

    def givers(self, scope: str) -> list[tuple[int, Ints]]:
        """The donors of each class, or all of them under −1."""
        if scope != "split":
            return [(-1, self.donors)]
        labels = self.ground.labels[self.donors]
        return [(c, self.donors[labels == c]) for c in range(self.ground.n_classes)]

    def _pool(self, relevance: str, scope: str, label: int, givers: Ints) -> DonorPool:
        key = relevance, scope, label
        if key not in self._pools:
            columns = self.columns(scope)
            values = self.ground.table.values[np.ix_(givers, columns)]
            category = self.ground.table.is_categorical[columns]
            weights = self.column_weights(relevance, scope)
            self._pools[key] = build_pool(values, np.zeros(values.shape, bool), category, weights)
        return self._pools[key]


def _places_among(rows: Ints, wanted: Ints) -> Ints:
    """Where each wanted row stands among rising rows; −1 if it does not."""
    places = np.searchsorted(rows, wanted)
    there = (wanted >= 0) & (places < len(rows))
    there &= rows[np.minimum(places, len(rows) - 1)] == wanted
    return np.where(there, places, -1)


FREQUENT = 20
"""Levels that every row lists, the most frequent ones, before those of its neighbors."""


def ballot(
    asker: ColumnPredictor, panel: tuple[Candidate, ...], queries: Queries
) -> tuple[Outcomes, Iterator[Floats]]:
    """The lists of some rows, and the votes of each candidate's neighbors, or of all donors."""
    hoods = [
        None if c.k == EVERYONE else asker.neighborhood(queries, c.relevance, c.scope, c.k)
        for c in panel
    ]
    outcomes = shortlist(asker, [h for h in hoods if h is not None], len(queries.values))
    answers = (
        frequencies(asker, outcomes)
        if near is None
        else votes(asker, near, c.k, c.kernel, outcomes)
        for c, near in zip(panel, hoods, strict=True)
    )
    return outcomes, answers


def shortlist(asker: ColumnPredictor, hoods: list[Neighborhood], n_queries: int) -> Outcomes:
    """The most frequent levels, those of each row's neighbors, the nearest first, and more."""
    from greyfill._search import ridge as kernels

    codes, ranks = _codes(asker), [np.arange(hood.donors.shape[1]) for hood in hoods]
    given = [np.where(np.isfinite(hood.distances), codes[hood.donors], -1) for hood in hoods]
    order = np.argsort(np.concatenate([np.zeros(0), *ranks]), kind="stable")
    near = np.concatenate([np.zeros((n_queries, 0), dtype=np.intp), *given], axis=1)[:, order]
    levels = asker.ground.levels(asker.target)
    listed = kernels.shortlists(
        np.ascontiguousarray(near),
        levels[np.argsort(-_counts(asker), kind="stable")],
        FREQUENT,
        MANY_LEVELS,
    )
    return Outcomes(listed, len(levels) - MANY_LEVELS)


def votes(
    asker: ColumnPredictor, near: Neighborhood, k: int, kernel: str, outcomes: Outcomes
) -> Floats:
    """The weights of the k nearest donors, summed by level."""
    from greyfill._search import ridge as kernels

    weights = asker.donor_weights(near, k, kernel)
    found = kernels.local_votes(near.donors[:, :k], weights, _codes(asker), outcomes.levels)
    return np.where(weights.sum(axis=1, keepdims=True) > 0, found, np.nan)


def frequencies(
    asker: ColumnPredictor, outcomes: Outcomes, left_out: Floats | None = None
) -> Floats:
    """The share of each level among all donors, without a row's own code in ``left_out``."""
    counts, levels = _counts(asker), asker.ground.levels(asker.target)
    listed, total = counts[np.searchsorted(levels, outcomes.levels)], counts.sum()
    if left_out is not None:
        listed, total = listed - (outcomes.levels == left_out[:, np.newaxis]), total - 1.0
    shares = listed / (total if total > 0 else 1.0)
    return np.column_stack([shares, np.maximum(1.0 - shares.sum(axis=1), 0.0)])


def _codes(asker: ColumnPredictor) -> Ints:
    return asker.ground.table.values[:, asker.target].astype(np.intp)


def _counts(asker: ColumnPredictor) -> Floats:
    """How many donors have each level of the target, or what they count together."""
    levels = asker.ground.levels(asker.target)
    places = np.searchsorted(levels, _codes(asker)[asker.donors])
    counts = None if asker.multipliers is None else asker.multipliers[asker.donors]
    return np.bincount(places, counts, len(levels)).astype(float)
