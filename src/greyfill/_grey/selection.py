"""Candidates predict held-out observed cells of a column; the panel of the best is kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from greyfill._grey import candidates as grid
from greyfill._grey.candidates import ALL_DONORS, MEAN_OF_ALL, Candidate
from greyfill._grey.donor_table import FORMS, DonorTable, Queries
from greyfill._grey.outcomes import Forecast, Outcomes
from greyfill._grey.predictor import ColumnPredictor, Neighborhood
from greyfill.table import Floats, Ints

MAX_DONORS = 2_000
"""Donors of neighbor fits while candidates are compared."""

PANEL = 8
"""The most candidates whose predictions are averaged."""

LARGE = 5_000
"""With more rows, one candidate is kept: the cheapest within one standard error of the best."""

REGRESSED = 3
"""Pairs of relevance and scope, the best by neighbor means, that also try a local regression."""

SHARPNESS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Powers that calibrate probabilities."""

COSTS = {"common": 0, "mean": 1, "local": 2}


@dataclass(frozen=True, eq=False)
class PanelChoice:
    """How one column is predicted.

    ``panel`` are the candidates whose predictions are averaged, ``error`` their mean squared error
    on held-out cells, ``errors`` those of all candidates, and ``residuals`` those of a panel that
    was chosen without their cells: true minus predicted for numbers, one minus the probability of
    the true level for categories. ``sharpness`` is the power of probabilities that makes held-out
    labels most probable.
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

    def predictor(self, donors: DonorTable, n_jobs: int | None) -> ColumnPredictor:
        """What predicts this column from a donor table."""
        rows = donors.observed_rows(self.target)
        how = self.predictors, self.weights, self.class_weight
        return ColumnPredictor(donors, self.target, rows, *how, n_jobs)

    def predict(self, predictor: ColumnPredictor, queries: Queries) -> Forecast:
        """The mean of the panel's predictions.

        A candidate that predicts nothing is left out; where all are, all donors' mean counts.
        """
        outcomes, predicted = predictor.predict(self.panel, queries)
        shape = len(queries.values), outcomes.width
        total, count = np.zeros(shape), np.zeros(shape)
        for found in predicted:  # one after another, so that a batch gives what a row gives
            there = ~np.isnan(found)
            total += np.where(there, found, 0.0)
            count += there
        mean = predictor.overall_mean(outcomes)
        return Forecast(np.where(count > 0, total / np.maximum(count, 1), mean), outcomes)

    def described(self, scale: Callable[[float], float], **more: Any) -> dict[str, Any]:
        """The panel in words, its error and that of every candidate, on a scale for people."""
        tried = {str(candidate): scale(error) for candidate, error in self.errors}
        panel = [str(candidate) for candidate in self.panel]
        return {"panel": panel, "error": scale(self.error), **more, "tried": tried}


def choose_panel(
    predictor: ColumnPredictor, n_cells: int, rng: np.random.Generator, loss: str = "square"
) -> PanelChoice:
    """Compare all candidates on held-out cells and keep a panel of the best."""
    p = predictor
    plain = PanelChoice(p.target, p.predictors, p.weights, p.class_weight, (MEAN_OF_ALL,))
    if len(p.donor_rows) < 4 or len(p.predictors) == 0:
        return plain
    cells = rng.permutation(p.donor_rows)[:n_cells]
    queries = Queries.of(p.donors, cells).without(p.target)
    outcomes, tried = _try_candidates(p, queries, rng)
    truth = outcomes.truth(p.donors.table.values[cells, p.target])
    names, found = list(tried), np.stack(list(tried.values()))
    losses = np.where(np.isnan(found).any(axis=2), np.inf, outcomes.loss(found, truth, loss))
    if not np.isfinite(losses).all(axis=1).any():
        return plain
    n_rows = p.donors.table.n_rows
    panel = _best_panel(names, losses, n_rows)
    mean = found[panel].mean(axis=0)

    def log_loss(power: float) -> float:
        return float(outcomes.loss(mean, truth, "log", power).mean())

    sharpness = min(SHARPNESS, key=log_loss) if loss == "log" else 1.0
    residuals = np.zeros(0)
    if len(truth) > 1:
        residuals = _cross_residuals(names, found, losses, outcomes, truth, n_rows)
    return replace(
        plain,
        panel=tuple(names[i] for i in panel),
        sharpness=sharpness,
        error=float(outcomes.loss(mean, truth, loss, sharpness).mean()),
        errors=tuple(zip(names, losses.mean(axis=1).tolist(), strict=True)),
        residuals=residuals,
    )


def _try_candidates(
    predictor: ColumnPredictor, queries: Queries, rng: np.random.Generator
) -> tuple[Outcomes, dict[Candidate, Floats]]:
    """What is predicted of the held-out cells, and every candidate with its predictions."""
    rows, donors, target = predictor.donor_rows, predictor.donors, predictor.target
    if len(rows) > MAX_DONORS:
        rows = np.sort(rng.permutation(rows)[:MAX_DONORS])
    few = replace(predictor, donor_rows=rows, _pools={}, _moments={})
    neighborhoods = {
        place: few.neighborhood(queries, *place)
        for place in product(predictor.weights, predictor.scopes)
    }
    own = donors.table.values[queries.own_rows, target]
    outcomes = few.outcomes(list(neighborhoods.values()), len(own))
    found: dict[Candidate, Floats] = {}
    if outcomes.n_others:
        found[MEAN_OF_ALL] = predictor.overall_mean(outcomes, own)
    for (place, near), k, kernel in product(neighborhoods.items(), grid.KS, grid.KERNELS):
        means = few.neighbor_mean(near, k, kernel, outcomes)
        if outcomes.n_others:  # all donors vote where a row has no neighbors
            means = np.where(np.isnan(means), found[MEAN_OF_ALL], means)
        found[Candidate(*place, k, kernel, np.inf, "values")] = means
    if outcomes.n_others:  # a regression for each level would cost too much
        return outcomes, found
    for place in _best_places(outcomes, found, outcomes.truth(own)):
        found.update(_local_ridges(few, queries, place, neighborhoods[place]))
    return outcomes, {**found, **dict(_common_ridges(predictor, queries))}


def _local_ridges(
    predictor: ColumnPredictor, queries: Queries, place: tuple[str, str], near: Neighborhood
) -> Iterator[tuple[Candidate, Floats]]:
    """Regressions on neighbors."""
    for k in grid.LOCAL_KS:
        like = Candidate(*place, k, "uniform", 1.0, "values")
        found = predictor.local_ridge(queries, near, like, np.array(grid.LOCAL_RIDGES))
        for r, ridge in enumerate(grid.LOCAL_RIDGES):
            yield replace(like, ridge=ridge), found[:, r]


def _common_ridges(
    predictor: ColumnPredictor, queries: Queries
) -> Iterator[tuple[Candidate, Floats]]:
    """Regressions on all donors."""
    relevances = sorted({"pair", "equal"} & set(predictor.weights))
    for relevance, scope, form in product(relevances, predictor.scopes, FORMS):
        like = Candidate(relevance, scope, ALL_DONORS, "uniform", np.inf, form)
        ridges = grid.LARGE_RIDGES if predictor.donors.table.n_rows > LARGE else grid.COMMON_RIDGES
        if relevance == "equal" and form == "values":
            ridges = (*ridges, np.inf)  # the mean, which needs no weights
        found = predictor.common_ridge(queries, like, np.array(ridges), leave_out=True)
        for r, ridge in enumerate(ridges):
            yield replace(like, ridge=ridge), found[:, r]


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


def _best_panel(names: list[Candidate], losses: Floats, n_rows: int) -> list[int]:
    """The best of each family that is not clearly worse than the best of all.

    Clearly worse: by more than two standard errors of the difference. In large tables, where the
    errors are estimated well and every candidate costs time, the cheapest within one.
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


def _cross_residuals(
    names: list[Candidate],
    found: Floats,
    losses: Floats,
    outcomes: Outcomes,
    truth: Floats,
    n_rows: int,
) -> Floats:
    """Residuals of cells under a panel that the other half of the cells chose."""
    even = np.arange(len(truth)) % 2 == 0
    out = np.empty(len(truth))
    for half in (even, ~even):
        panel = _best_panel(names, losses[:, ~half], n_rows)
        mean = found[panel][:, half].mean(axis=0)
        out[half] = outcomes.part(half).residuals(mean, truth[half])
    return out[np.isfinite(out)]
