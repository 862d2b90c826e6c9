"""Leave-one-out errors of all candidates on observed cells, and the panel that is kept."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from greyfill._neighbors.tuned.asking import Asker
from greyfill._neighbors.tuned.candidates import (
    COMMON_RIDGES,
    EVERYONE,
    KERNELS,
    KS,
    LARGE_RIDGES,
    LOCAL_KS,
    LOCAL_RIDGES,
    Candidate,
)
from greyfill._neighbors.tuned.features import FORMS
from greyfill._neighbors.tuned.ground import Ground, Queries
from greyfill.table import Floats, Ints

MAX_DONORS = 2_000
"""Donors of neighbor fits while candidates are compared."""

PANEL = 8
"""The most candidates whose predictions are averaged."""

LARGE = 5_000
"""With more rows, one candidate is kept: the cheapest within one standard error of the best."""

REGRESSED = 3
"""Pairs of relevance and scope, the best by neighbor means, that also try a local regression."""

PLAIN = Candidate("equal", "soft", EVERYONE, "uniform", np.inf, "values")
"""The mean of all donors: what is left where nothing can be compared."""

SHARPNESS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Powers that calibrate probabilities."""

COSTS = {"common": 0, "mean": 1, "local": 2}


@dataclass(frozen=True, eq=False)
class Choice:
    """How one column is filled.

    ``panel`` are the candidates whose predictions are averaged, ``error`` their mean squared error
    on left-out cells, ``errors`` those of all candidates, and ``residuals`` what a panel chosen
    without them missed: true minus predicted for numbers, one minus the probability of the true
    level for categories. ``sharpness`` is the power of probabilities that makes left-out labels
    likeliest.
    """

    target: int
    predictors: Ints
    weights: dict[str, Floats]
    class_weight: float
    panel: tuple[Candidate, ...]
    error: float = np.nan
    errors: tuple[tuple[Candidate, float], ...] = ()
    sharpness: float = 1.0
    residuals: Floats = field(default_factory=lambda: np.zeros(0))

    def asker(self, ground: Ground, n_jobs: int | None) -> Asker:
        """Who predicts this column from a ground."""
        donors = np.flatnonzero(~ground.table.missing[:, self.target])
        place = self.predictors, self.weights, self.class_weight
        return Asker(ground, self.target, donors, *place, n_jobs)

    def predict(self, asker: Asker, queries: Queries) -> Floats:
        """The mean of the panel's predictions, shape (query, target).

        A candidate without an answer is left out, and where none has one, all donors' mean counts.
        """
        shape = len(queries.values), asker.ground.targets(self.target).shape[1]
        total, count = np.zeros(shape), np.zeros(shape)
        for candidate in self.panel:  # one after another, so that a batch gives what a row gives
            found = asker.predict(candidate, queries)
            there = ~np.isnan(found)
            total += np.where(there, found, 0.0)
            count += there
        targets = asker.ground.targets(self.target)
        mean = (targets[asker.donors] if len(asker.donors) else targets).mean(axis=0)
        return np.asarray(np.where(count > 0, total / np.maximum(count, 1), mean))


def choose(asker: Asker, n_cells: int, rng: np.random.Generator, loss: str = "square") -> Choice:
    """Compare all candidates on left-out cells and keep a panel of the best."""
    plain = Choice(asker.target, asker.predictors, asker.weights, asker.class_weight, (PLAIN,))
    if len(asker.donors) < 4 or len(asker.predictors) == 0:
        return plain
    cells = rng.permutation(asker.donors)[:n_cells]
    queries = _left_out(asker.ground, cells, asker.target)
    truth = asker.ground.targets(asker.target)[cells]
    tried = dict(_predictions(asker, queries, rng))
    names = list(tried)
    found = np.stack([tried[name] for name in names])
    losses = np.where(np.isnan(found).any(axis=2), np.inf, _loss(found, truth, loss))
    if not np.isfinite(losses).all(axis=1).any():
        return plain
    n_rows = asker.ground.table.n_rows
    panel = _panel(names, losses, n_rows)
    mean = found[panel].mean(axis=0)
    sharpness = _sharpness(mean, truth) if loss == "log" else 1.0
    return replace(
        plain,
        panel=tuple(names[i] for i in panel),
        sharpness=sharpness,
        error=float(_loss(mean, truth, loss, sharpness).mean()),
        errors=tuple(zip(names, losses.mean(axis=1).tolist(), strict=True)),
        residuals=_fair_residuals(names, found, losses, truth, n_rows),
    )


def _left_out(ground: Ground, cells: Ints, target: int) -> Queries:
    queries = Queries.of(ground, cells)
    missing = queries.missing.copy()
    missing[:, target] = True
    return replace(queries, missing=missing)


def _predictions(asker: Asker, queries: Queries, rng: np.random.Generator) -> Any:
    """Every candidate with its predictions of the left-out cells."""
    near = replace(asker, donors=_some(asker, queries.own_rows, rng), _pools={}, _sums={})
    hoods, means = {}, {}
    for relevance in asker.weights:
        for scope in asker.scopes:
            hood = hoods[relevance, scope] = near.neighborhood(queries, relevance, scope)
            for k in KS:
                for kernel in KERNELS:
                    mean = near.mean(hood, k, kernel)
                    means[Candidate(relevance, scope, k, kernel, np.inf, "values")] = mean
    yield from means.items()
    truth = asker.ground.targets(asker.target)[queries.own_rows]
    for relevance, scope in _best_places(means, truth):
        for k in LOCAL_KS:
            like = Candidate(relevance, scope, k, "uniform", 1.0, "values")
            found = near.local(queries, hoods[relevance, scope], like, np.array(LOCAL_RIDGES))
            for r, ridge in enumerate(LOCAL_RIDGES):
                yield replace(like, ridge=ridge), found[:, r]
    for relevance in sorted({"pair", "equal"} & set(asker.weights)):
        for scope in asker.scopes:
            for form in FORMS:
                like = Candidate(relevance, scope, EVERYONE, "uniform", np.inf, form)
                ridges = LARGE_RIDGES if asker.ground.table.n_rows > LARGE else COMMON_RIDGES
                if relevance == "equal" and form == "values":
                    ridges = (*ridges, np.inf)  # the mean, which needs no weights
                found = asker.common(queries, relevance, scope, form, np.array(ridges), True)
                for r, ridge in enumerate(ridges):
                    yield replace(like, ridge=ridge), found[:, r]


def _some(asker: Asker, cells: Ints, rng: np.random.Generator) -> Ints:
    """At most 2 000 donors."""
    if len(asker.donors) <= MAX_DONORS:
        return asker.donors
    return np.sort(rng.permutation(asker.donors)[:MAX_DONORS])


def _best_places(means: dict[Candidate, Floats], truth: Floats) -> list[tuple[str, str]]:
    """The pairs of relevance and scope with the least error of a neighbor mean."""
    least: dict[tuple[str, str], float] = {}
    for candidate, found in means.items():
        error = float(np.nan_to_num(_loss(found, truth, "square"), nan=np.inf).mean())
        place = candidate.relevance, candidate.scope
        least[place] = min(error, least.get(place, np.inf))
    return sorted(least, key=lambda place: least[place])[:REGRESSED]


def _loss(found: Floats, truth: Floats, loss: str, sharpness: float = 1.0) -> Floats:
    if loss == "square":
        return np.asarray(((found - truth) ** 2).sum(axis=-1))
    shares = as_shares(found, sharpness)
    return np.asarray(-np.log((shares * truth).sum(axis=-1)))


def _sharpness(found: Floats, truth: Floats) -> float:
    """The power in SHARPNESS with the least log loss."""
    return min(SHARPNESS, key=lambda power: float(_loss(found, truth, "log", power).mean()))


def as_shares(found: Floats, sharpness: float = 1.0) -> Floats:
    """Probabilities from predicted indicators, p ∝ p̂^sharpness with p̂ at least 1e-2."""
    powers = np.clip(found, 1e-2, 1.0) ** sharpness
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _panel(names: list[Candidate], losses: Floats, n_rows: int) -> list[int]:
    """The best of each family that is not clearly worse than the best of all.

    Clearly worse: by more than two standard errors of the difference. In large tables, where the
    errors are known well and every candidate costs time, the cheapest within one.
    """
    means = losses.mean(axis=1)
    best = int(means.argmin())
    usable = np.flatnonzero(np.isfinite(means))
    gaps = losses[usable] - losses[best]
    errors = gaps.std(axis=1) / np.sqrt(losses.shape[1])
    allowed = 1.0 if n_rows > LARGE else 2.0
    near = usable[gaps.mean(axis=1) <= allowed * errors + 1e-15]
    if n_rows > LARGE:
        return [min(near, key=lambda i: (COSTS[names[i].kind], means[i]))]
    winners: dict[Any, int] = {}
    for i in sorted(near, key=lambda i: means[i]):
        winners.setdefault(names[i].family, int(i))
    return list(winners.values())[:PANEL]


def _fair_residuals(
    names: list[Candidate], found: Floats, losses: Floats, truth: Floats, n_rows: int
) -> Floats:
    """What panels miss on cells that did not choose them: each half judges the other's panel."""
    first = np.arange(len(truth)) % 2 == 0
    if len(truth) < 2:
        return np.zeros(0)
    out = np.empty(len(truth))
    for judges in (first, ~first):
        panel = _panel(names, losses[:, ~judges], n_rows)
        out[judges] = residuals_of(found[panel][:, judges].mean(axis=0), truth[judges])
    return out[np.isfinite(out)]


def residuals_of(mean: Floats, truth: Floats) -> Floats:
    """True minus predicted numbers, or one minus the probability of the true level."""
    if truth.shape[1] == 1:
        return np.asarray((truth - mean)[:, 0])
    return np.asarray(1.0 - (as_shares(mean) * truth).sum(axis=1))
