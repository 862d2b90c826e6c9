"""Candidates predict held-out observed cells of a column; the panel of the best is kept."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from time import monotonic
from typing import Any

import numpy as np

from greyfill._grey import candidates as grid
from greyfill._grey.candidates import ALL_DONORS, COMMON_RIDGE, MEAN_OF_ALL, Candidate, Place, Plan
from greyfill._grey.donor_table import FORMS, DonorTable, Queries
from greyfill._grey.outcomes import Forecast, Outcomes
from greyfill._grey.predictor import ColumnPredictor, Neighborhood
from greyfill._neighbors.links import map_threads
from greyfill.table import Floats, Ints

MAX_DONORS = 2_000
"""Donors of neighbor fits while candidates are compared."""

BLOCK_ROWS = 256
"""Rows that a panel predicts at a time, and that one thread takes."""

PANEL = 8
"""The most candidates whose predictions are averaged."""

LARGE = 5_000
"""With more rows, one candidate is kept: the cheapest within one standard error of the best."""

REGRESSED = 3
"""Pairs of relevance and scope, the best by neighbor means, that also try a local regression."""

FIRST_NUMBERS, FIRST_VOTES = 48, 80
"""Cells that every candidate meets; a right or wrong level tells less than a distance."""

ENOUGH = 4
"""Features for each donor of a class, at most, that the class has a regression of its own."""

OF_FAMILY = 2
"""Regressions of a family that meet the other cells; means cost little."""

SHARPNESS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Powers that calibrate probabilities."""

KINDS = {
    "common": "regressions on all donors",
    "mean": "means of neighbors",
    "local": "regressions on neighbors",
}
"""Kinds of candidates in words."""

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

    @property
    def optimism(self) -> float:
        """By what factor the panel errs more on numbers that did not choose it; 1 if unknown."""
        if len(self.residuals) == 0 or not self.error > 0:
            return 1.0
        return max(float(np.sqrt(np.mean(self.residuals**2) / self.error)), 1.0)

    def predictor(self, donors: DonorTable, n_jobs: int | None) -> ColumnPredictor:
        """What predicts this column from a donor table."""
        rows = donors.observed_rows(self.target)
        how = self.predictors, self.weights, self.class_weight
        return ColumnPredictor(donors, self.target, rows, *how, n_jobs)

    def predict(self, predictor: ColumnPredictor, queries: Queries) -> Forecast:
        """The mean of the panel's predictions, some rows at a time.

        A candidate that predicts nothing is left out; where all are, all donors' mean counts.
        """
        n = len(queries.values)
        if n <= BLOCK_ROWS:
            return self._predict(predictor, queries)
        blocks = [np.arange(a, min(a + BLOCK_ROWS, n)) for a in range(0, n, BLOCK_ROWS)]
        # the first alone: it makes what all of them need
        first = self._predict(predictor, queries.part(blocks[0]))
        others = map_threads(
            lambda rows: self._predict(predictor, queries.part(rows)), blocks[1:], predictor.n_jobs
        )
        return Forecast.joined(list(zip(blocks, [first, *others], strict=True)), n)

    def _predict(self, predictor: ColumnPredictor, queries: Queries) -> Forecast:
        outcomes, found = predictor.predict(self.panel, queries)
        there = ~np.isnan(found)
        total, count = np.where(there, found, 0.0).sum(axis=0), there.sum(axis=0)
        mean = predictor.overall_mean(outcomes)
        return Forecast(np.where(count > 0, total / np.maximum(count, 1), mean), outcomes)

    def described(self, scale: Callable[[float], float], **more: Any) -> dict[str, Any]:
        """The panel in words, its error and that of every candidate, on a scale for people."""
        tried = {str(candidate): scale(error) for candidate, error in self.errors}
        panel = [str(candidate) for candidate in self.panel]
        described = {"panel": panel, "error": scale(self.error), **more, "tried": tried}
        return described | ({"left_out": left} if (left := self._left_out()) else {})

    def _left_out(self) -> list[str]:
        """Kinds of candidates that a column with candidates had no time for."""
        kinds = {candidate.kind for candidate, _ in self.errors}
        is_wide = self.errors and self.errors[0][0] == MEAN_OF_ALL
        return [] if is_wide or not kinds else [KINDS[k] for k in KINDS if k not in kinds]


@dataclass(frozen=True, eq=False)
class Round:
    """What some candidates predicted of held-out cells, and what they lost on each.

    ``found`` has the shape (candidate, cell, outcome), ``losses`` (candidate, cell).
    """

    names: list[Candidate]
    outcomes: Outcomes
    truth: Floats
    found: Floats
    losses: Floats

    def joined(self, other: "Round") -> "Round":
        """With more candidates on the same cells."""
        found, losses = (self.found, other.found), (self.losses, other.losses)
        names = self.names + other.names
        return replace(
            self, names=names, found=np.concatenate(found), losses=np.concatenate(losses)
        )

    def followed(self, other: "Round") -> "Round":
        """The candidates of another round, with its cells after these."""
        known = {name: place for place, name in enumerate(self.names)}
        places = [known[name] for name in other.names]
        return Round(
            other.names, self.outcomes,
            np.concatenate([self.truth, other.truth]),
            np.concatenate([self.found[places], other.found], axis=1),
            np.concatenate([self.losses[places], other.losses], axis=1),
        )  # fmt: skip

    def ranked(self) -> list[int]:
        """The candidates that predict every cell, the best first."""
        means = self.losses.mean(axis=1)
        return [int(i) for i in np.argsort(means, kind="stable") if np.isfinite(means[i])]


@dataclass(frozen=True, eq=False)
class CellTrial:
    """Predictions of held-out cells, by neighbors among few donors or by regressions on all."""

    predictor: ColumnPredictor
    few: ColumnPredictor
    loss: str

    @classmethod
    def of(cls, predictor: ColumnPredictor, loss: str, rng: np.random.Generator) -> "CellTrial":
        """At most `MAX_DONORS` donors are neighbors."""
        rows = predictor.donor_rows
        if len(rows) <= MAX_DONORS:
            return cls(predictor, predictor, loss)
        rows = np.sort(rng.permutation(rows)[:MAX_DONORS])
        return cls(predictor, replace(predictor, donor_rows=rows, _made={}), loss)

    def queries(self, cells: Ints) -> Queries:
        """The rows of some cells, as if they lacked the target."""
        return Queries.of(self.predictor.donors, cells).without(self.predictor.target)

    def round(
        self,
        names: list[Candidate],
        queries: Queries,
        near: dict[Place, Neighborhood] | None = None,
    ) -> Round:
        """What some candidates of one kind lose on some cells."""
        p = self.predictor if all(c.kind == "common" for c in names) else self.few
        outcomes, found = p.predict(names, queries, near=near, leave_out=True)
        truth = outcomes.truth(queries.values[:, p.target])
        losses = np.where(
            np.isnan(found).any(axis=2), np.inf, outcomes.loss(found, truth, self.loss)
        )
        return Round(names, outcomes, truth, found, losses)

    def mixed_round(self, names: list[Candidate], queries: Queries) -> Round:
        """The same of candidates of several kinds."""
        common = [c for c in names if c.kind == "common"]
        others = [c for c in names if c.kind != "common"]
        rounds = [self.round(some, queries) for some in (common, others) if some]
        return rounds[0].joined(rounds[1]) if len(rounds) > 1 else rounds[0]


def choose_panel(
    predictor: ColumnPredictor,
    n_cells: int,
    rng: np.random.Generator,
    loss: str = "square",
    until: float = np.inf,
) -> PanelChoice:
    """Compare candidates on held-out cells and keep a panel of the best.

    All of them meet the first cells, and those that may still join the panel the others. After
    the moment ``until`` no other kind of candidate is tried.
    """
    p = predictor
    plain = PanelChoice(p.target, p.predictors, p.weights, p.class_weight, (MEAN_OF_ALL,))
    if len(p.donor_rows) < 4 or len(p.predictors) == 0:
        return plain
    cells = rng.permutation(p.donor_rows)[:n_cells]
    trial = CellTrial.of(p, loss, rng)
    if p.donors.is_wide(p.target):
        race = early = _wide_round(trial, trial.queries(cells))
    else:
        n_first = FIRST_VOTES if p.donors.table.is_categorical[p.target] else FIRST_NUMBERS
        n_first = n_first if len(cells) >= 1.5 * n_first else len(cells)
        race = early = _first_round(trial, trial.queries(cells[:n_first]), until)
        left = _survivors(early)
        if left and n_first < len(cells) and monotonic() < until:
            race = early.followed(trial.mixed_round(left, trial.queries(cells[n_first:])))
    if not race.ranked():
        return plain
    n_rows = p.donors.table.n_rows
    panel = _best_panel(race, slice(None), n_rows)
    mean = race.found[panel].mean(axis=0)

    def log_loss(power: float) -> float:
        return float(race.outcomes.loss(mean, race.truth, "log", power).mean())

    sharpness = min(SHARPNESS, key=log_loss) if loss == "log" else 1.0
    tried = dict(zip(early.names, early.losses.mean(axis=1).tolist(), strict=True))
    tried |= dict(zip(race.names, race.losses.mean(axis=1).tolist(), strict=True))
    return replace(
        plain,
        panel=tuple(race.names[i] for i in panel),
        sharpness=sharpness,
        error=float(race.outcomes.loss(mean, race.truth, loss, sharpness).mean()),
        errors=tuple(tried.items()),
        residuals=_cross_residuals(race, n_rows) if len(race.truth) > 1 else np.zeros(0),
    )


def _wide_round(trial: CellTrial, queries: Queries) -> Round:
    """Means of neighbors, and of all donors: a regression for each level would cost too much."""
    found = trial.round([MEAN_OF_ALL, *_means(trial.few)], queries)
    votes = np.where(np.isnan(found.found), found.found[0], found.found)
    losses = found.outcomes.loss(votes, found.truth, trial.loss)
    return replace(found, found=votes, losses=losses)


def _means(predictor: ColumnPredictor) -> list[Candidate]:
    """Means of neighbors."""
    ks = _small(grid.KS, predictor)
    grids = product(predictor.weights, predictor.scopes, ks, grid.KERNELS)
    return [Candidate(*place, np.inf, "values") for place in grids]


def _small(ks: tuple[int, ...], predictor: ColumnPredictor) -> tuple[int, ...]:
    """The numbers of neighbors that are worth a trial."""
    return ks if len(predictor.donor_rows) > grid.MANY_DONORS else ks[:-1]


def _first_round(trial: CellTrial, queries: Queries, until: float) -> Round:
    """All candidates while there is time, the most promising kinds first.

    Regressions on neighbors are tried at the best places alone.
    """
    common = _common_ridges(trial.predictor)
    plain = [c for c in common if c.place == COMMON_RIDGE.place]
    found = trial.round(plain, queries)
    if monotonic() > until:
        return found
    means, few = _means(trial.few), trial.few
    near = few.neighborhoods(Plan.of(tuple(means)), queries)
    of_means = trial.round(means, queries, near)
    found = found.joined(of_means)
    if monotonic() < until and len(plain) < len(common):
        others = [c for c in common if c.place != COMMON_RIDGE.place]
        found = found.joined(trial.round(others, queries))
    ks = _small(grid.LOCAL_KS, few)
    tried: tuple[tuple[int, float], ...] = tuple(product(ks, grid.LOCAL_RIDGES))
    for place in _best_places(of_means):
        if monotonic() > until:
            break
        local = [Candidate(*place, k, "uniform", ridge, "values") for k, ridge in tried]
        more = trial.round(local, queries, {place: near[place]})
        if order := more.ranked():  # other places try the best of the first place alone
            tried = ((local[order[0]].k, local[order[0]].ridge),)
        found = found.joined(more)
    return found


def _common_ridges(predictor: ColumnPredictor) -> list[Candidate]:
    """Regressions on all donors."""
    relevances = sorted({"pair", "equal"} & set(predictor.weights))
    table = predictor.donors
    n_features = len(table.feature_map.places(predictor.predictors)[0])
    needed = table.n_classes * n_features / ENOUGH
    scopes = predictor.scopes if len(predictor.donor_rows) >= needed else ("soft",)
    out = []
    for relevance, scope, form in product(relevances, scopes, FORMS):
        ridges: tuple[float, ...] = grid.COMMON_RIDGES
        if relevance == "equal" and form == "values":
            ridges = (*ridges, np.inf)  # the mean, which needs no weights
        like = relevance, scope, ALL_DONORS, "uniform"
        out += [Candidate(*like, ridge, form) for ridge in ridges]
    return out


def _best_places(means: Round) -> list[Place]:
    """The pairs of relevance and scope with the least error of a neighbor mean."""
    squares = means.outcomes.loss(means.found, means.truth, "square").mean(axis=1)
    least: dict[Place, float] = {}
    for candidate, error in zip(means.names, np.nan_to_num(squares, nan=np.inf), strict=True):
        known = least.get(candidate.place, np.inf)
        least[candidate.place] = min(float(error), known)
    return sorted(least, key=lambda place: least[place])[:REGRESSED]


def _survivors(early: Round) -> list[Candidate]:
    """Means, and the best two regressions of each family, unless clearly worse than the best."""
    order = early.ranked()
    if not order:
        return []
    gaps = early.losses[order] - early.losses[order[0]]
    errors = gaps.std(axis=1) / np.sqrt(gaps.shape[1])
    kept: dict[Any, list[Candidate]] = {}
    for i, gap, error in zip(order, gaps.mean(axis=1), errors, strict=True):
        family = kept.setdefault(early.names[i].family, [])
        is_cheap = early.names[i].kind == "mean"
        if gap <= 2.0 * error + 1e-15 and (is_cheap or len(family) < OF_FAMILY):
            family.append(early.names[i])
    return [c for family in kept.values() for c in family]


def _best_panel(race: Round, cells: Any, n_rows: int) -> list[int]:
    """The best of each family that is not clearly worse than the best of all, on some cells.

    Clearly worse: by more than two standard errors of the difference. In large tables, where the
    errors are estimated well and every candidate costs time, the cheapest within one.
    """
    names, losses = race.names, race.losses[:, cells]
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


def _cross_residuals(race: Round, n_rows: int) -> Floats:
    """Residuals of cells under a panel that the other half of the cells chose."""
    even = np.arange(len(race.truth)) % 2 == 0
    out = np.empty(len(race.truth))
    for half in (even, ~even):
        panel = _best_panel(race, ~half, n_rows)
        mean = race.found[panel][:, half].mean(axis=0)
        out[half] = race.outcomes.part(half).residuals(mean, race.truth[half])
    return out[np.isfinite(out)]
