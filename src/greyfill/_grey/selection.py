"""Leave-one-out errors of all candidates on observed cells, and the panel that is kept."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from greyfill._grey.candidates import (
    COMMON_RIDGES,
    EVERYONE,
    KERNELS,
    KS,
    LARGE_RIDGES,
    LOCAL_KS,
    LOCAL_RIDGES,
    Candidate,
    Forecast,
    Outcomes,
)
from greyfill._grey.donor_table import FORMS, DonorTable, Queries
from greyfill._grey.predictor import (
    ColumnPredictor,
    Neighborhood,
    ballot,
    frequencies,
    shortlist,
    votes,
)
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
class PanelChoice:
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

    def asker(self, ground: DonorTable, n_jobs: int | None) -> ColumnPredictor:
        """Who predicts this column from a ground."""
        donors = np.flatnonzero(~ground.table.missing[:, self.target])
        place = self.predictors, self.weights, self.class_weight
        return ColumnPredictor(ground, self.target, donors, *place, n_jobs)

    def predict(self, asker: ColumnPredictor, queries: Queries) -> Forecast:
        """The mean of the panel's predictions.

        A candidate without an answer is left out, and where none has one, all donors' mean counts.
        """
        is_wide = asker.ground.is_wide(self.target)
        outcomes, answers = (ballot if is_wide else _regressed)(asker, self.panel, queries)
        shape = len(queries.values), outcomes.width
        total, count = np.zeros(shape), np.zeros(shape)
        for found in answers:  # one after another, so that a batch gives what a row gives
            there = ~np.isnan(found)
            total += np.where(there, found, 0.0)
            count += there
        mean = frequencies(asker, outcomes) if is_wide else asker.plain()
        return Forecast(np.where(count > 0, total / np.maximum(count, 1), mean), outcomes)


def _regressed(
    asker: ColumnPredictor, panel: tuple[Candidate, ...], queries: Queries
) -> tuple[Outcomes, Iterator[Floats]]:
    """What is predicted of a column with few levels, or of numbers, and each candidate's answer."""
    answers = (asker.predict(candidate, queries) for candidate in panel)
    return asker.ground.outcomes(asker.target), answers


def choose(
    asker: ColumnPredictor, n_cells: int, rng: np.random.Generator, loss: str = "square"
) -> PanelChoice:
    """Compare all candidates on left-out cells and keep a panel of the best."""
    plain = PanelChoice(asker.target, asker.predictors, asker.weights, asker.class_weight, (PLAIN,))
    if len(asker.donors) < 4 or len(asker.predictors) == 0:
        return plain
    cells = rng.permutation(asker.donors)[:n_cells]
    queries = _left_out(asker.ground, cells, asker.target)
    outcomes, tried = _predictions(asker, queries, rng)
    truth = outcomes.truth(asker.ground.table.values[cells, asker.target])
    names, found = list(tried), np.stack(list(tried.values()))
    losses = np.where(np.isnan(found).any(axis=2), np.inf, outcomes.loss(found, truth, loss))
    if not np.isfinite(losses).all(axis=1).any():
        return plain
    n_rows = asker.ground.table.n_rows
    panel = _panel(names, losses, n_rows)
    mean = found[panel].mean(axis=0)
    sharpness = _sharpness(outcomes, mean, truth) if loss == "log" else 1.0
    return replace(
        plain,
        panel=tuple(names[i] for i in panel),
        sharpness=sharpness,
        error=float(outcomes.loss(mean, truth, loss, sharpness).mean()),
        errors=tuple(zip(names, losses.mean(axis=1).tolist(), strict=True)),
        residuals=_fair_residuals(names, found, losses, outcomes, truth, n_rows),
    )


def _left_out(ground: DonorTable, cells: Ints, target: int) -> Queries:
    queries = Queries.of(ground, cells)
    missing = queries.missing.copy()
    missing[:, target] = True
    return replace(queries, missing=missing)


def _predictions(
    asker: ColumnPredictor, queries: Queries, rng: np.random.Generator
) -> tuple[Outcomes, dict[Candidate, Floats]]:
    """What is predicted of the left-out cells, and every candidate with its predictions."""
    near = replace(asker, donors=_some(asker, rng), _pools={}, _sums={})
    hoods = {
        (relevance, scope): near.neighborhood(queries, relevance, scope)
        for relevance in asker.weights
        for scope in asker.scopes
    }
    own = asker.ground.table.values[queries.own_rows, asker.target]
    if asker.ground.is_wide(asker.target):
        return _voted(asker, near, hoods, own)
    outcomes = asker.ground.outcomes(asker.target)
    means = {
        Candidate(*place, k, kernel, np.inf, "values"): near.mean(hood, k, kernel)
        for place, hood in hoods.items()
        for k in KS
        for kernel in KERNELS
    }
    found = dict(means)
    for place in _best_places(outcomes, means, outcomes.truth(own)):
        found.update(_local(near, queries, place, hoods[place]))
    return outcomes, {**found, **dict(_common(asker, queries))}


def _voted(
    asker: ColumnPredictor,
    near: ColumnPredictor,
    hoods: dict[tuple[str, str], Neighborhood],
    own: Floats,
) -> tuple[Outcomes, dict[Candidate, Floats]]:
    """Lists of many levels, and votes for them; all donors vote where a row has no neighbors."""
    outcomes = shortlist(near, list(hoods.values()), len(own))
    plain = frequencies(asker, outcomes, own)
    tried = {PLAIN: plain}
    for place, hood in hoods.items():
        for k in KS:
            for kernel in KERNELS:
                found = votes(near, hood, k, kernel, outcomes)
                candidate = Candidate(*place, k, kernel, np.inf, "values")
                tried[candidate] = np.where(np.isnan(found), plain, found)
    return outcomes, tried


def _local(
    asker: ColumnPredictor, queries: Queries, place: tuple[str, str], hood: Neighborhood
) -> Iterator[tuple[Candidate, Floats]]:
    """Regressions on neighbors."""
    for k in LOCAL_KS:
        like = Candidate(*place, k, "uniform", 1.0, "values")
        found = asker.local(queries, hood, like, np.array(LOCAL_RIDGES))
        for r, ridge in enumerate(LOCAL_RIDGES):
            yield replace(like, ridge=ridge), found[:, r]


def _common(asker: ColumnPredictor, queries: Queries) -> Iterator[tuple[Candidate, Floats]]:
    """Regressions on all donors."""
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


def _some(asker: ColumnPredictor, rng: np.random.Generator) -> Ints:
    """At most 2 000 donors."""
    if len(asker.donors) <= MAX_DONORS:
        return asker.donors
    return np.sort(rng.permutation(asker.donors)[:MAX_DONORS])


def _best_places(
    outcomes: Outcomes, means: dict[Candidate, Floats], truth: Floats
) -> list[tuple[str, str]]:
    """The pairs of relevance and scope with the least error of a neighbor mean."""
    least: dict[tuple[str, str], float] = {}
    for candidate, found in means.items():
        error = float(np.nan_to_num(outcomes.loss(found, truth, "square"), nan=np.inf).mean())
        place = candidate.relevance, candidate.scope
        least[place] = min(error, least.get(place, np.inf))
    return sorted(least, key=lambda place: least[place])[:REGRESSED]


def _sharpness(outcomes: Outcomes, found: Floats, truth: Floats) -> float:
    """The power in SHARPNESS with the least log loss."""
    return min(SHARPNESS, key=lambda power: float(outcomes.loss(found, truth, "log", power).mean()))


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
    names: list[Candidate],
    found: Floats,
    losses: Floats,
    outcomes: Outcomes,
    truth: Floats,
    n_rows: int,
) -> Floats:
    """What panels miss on cells that did not choose them: each half judges the other's panel."""
    first = np.arange(len(truth)) % 2 == 0
    if len(truth) < 2:
        return np.zeros(0)
    out = np.empty(len(truth))
    for judges in (first, ~first):
        panel = _panel(names, losses[:, ~judges], n_rows)
        mean = found[panel][:, judges].mean(axis=0)
        out[judges] = outcomes.part(judges).residuals(mean, truth[judges])
    return out[np.isfinite(out)]
