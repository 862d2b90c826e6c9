"""Candidates predict held-out observed cells of a column; the panel of the best is kept."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from time import monotonic
from typing import Any

import numpy as np

from greyfill._grey import candidates as grid
from greyfill._grey.candidates import ALL_DONORS, COMMON_RIDGE, MEAN_OF_ALL, Candidate, Plan
from greyfill._grey.discriminant import Discriminant, choose_discriminant
from greyfill._grey.donor_table import FORMS, DonorTable, Queries
from greyfill._grey.outcomes import Forecast, Outcomes
from greyfill._grey.predictor import ENOUGH, ColumnPredictor, Neighborhood
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

OF_FAMILY = 2
"""Regressions of a family that meet the other cells; means cost little."""

SHARPNESS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Powers that calibrate probabilities."""

IN_WORDS = {
    "common": "regressions on all donors",
    "mean": "means of neighbors",
    "local": "regressions on neighbors",
}
"""Kinds of candidates in words."""


_in_words = lru_cache(maxsize=1_024)(str)


@dataclass(frozen=True, eq=False)
class PanelChoice:
    """How one column is predicted.

    ``panel`` are the candidates whose predictions are averaged, ``error`` their mean squared error
    on held-out cells, ``errors`` those of all candidates, and ``residuals`` those of a panel that
    was chosen without their cells: true minus predicted for numbers, one minus the probability of
    the true level for categories. ``sharpness`` is the power of probabilities that makes held-out
    labels most probable. ``borrows``: small classes borrow from all, which older files do not know.
    ``discriminant`` is what predicts the class beside the panel.
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
    borrows: bool = False
    discriminant: Discriminant | None = None

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
        return ColumnPredictor(donors, self.target, rows, *how, n_jobs, borrows=self.borrows)

    def predict(self, predictor: ColumnPredictor, queries: Queries) -> Forecast:
        """The mean of the panel's predictions, some rows at a time.

        A candidate that predicts nothing is left out; where all are, all donors' mean counts.
        """
        n, plan = len(queries.values), Plan.of(self.panel)
        if n <= BLOCK_ROWS:
            return self.forecast(predictor, plan, queries)
        blocks = [np.arange(a, min(a + BLOCK_ROWS, n)) for a in range(0, n, BLOCK_ROWS)]
        # the first alone: it makes what all of them need
        first = self.forecast(predictor, plan, queries.part(blocks[0]))
        others = map_threads(
            lambda rows: self.forecast(predictor, plan, queries.part(rows)),
            blocks[1:],
            predictor.n_jobs,
        )
        return Forecast.joined(list(zip(blocks, [first, *others], strict=True)), n)

    def forecast(self, predictor: ColumnPredictor, plan: Plan, queries: Queries) -> Forecast:
        """The same of few rows, by the panel as a plan; of a class with the discriminant."""
        how = self.discriminant
        found = predictor.mean(plan, queries)
        return found if how is None else how.mixed(predictor, queries, found)

    def described(self, scale: Callable[[float], float], **more: Any) -> dict[str, Any]:
        """The panel in words, its error and that of every candidate, on a scale for people."""
        tried = {_in_words(candidate): scale(error) for candidate, error in self.errors}
        ways = self.panel if self.discriminant is None else (self.discriminant, *self.panel)
        panel = [_in_words(way) for way in ways]
        described = {"panel": panel, "error": scale(self.error), **more, "tried": tried}
        return described | ({"left_out": left} if (left := self._left_out()) else {})

    def _left_out(self) -> list[str]:
        """Kinds of candidates that a column with candidates had no time for."""
        kinds = {candidate.kind for candidate, _ in self.errors}
        is_wide = self.errors and self.errors[0][0] == MEAN_OF_ALL
        return [] if is_wide or not kinds else [IN_WORDS[k] for k in IN_WORDS if k not in kinds]


@dataclass(frozen=True, eq=False)
class Round:
    """What some candidates of a plan predicted of held-out cells, and what they lost on each.

    ``which`` are the numbers of the candidates, ``found`` has the shape (candidate, cell, outcome),
    ``losses`` (candidate, cell).
    """

    plan: Plan
    which: Ints
    outcomes: Outcomes
    truth: Floats
    found: Floats
    losses: Floats

    def joined(self, other: "Round") -> "Round":
        """With more candidates on the same cells."""
        which = np.concatenate([self.which, other.which])
        found = np.concatenate([self.found, other.found])
        losses = np.concatenate([self.losses, other.losses])
        return Round(self.plan, which, self.outcomes, self.truth, found, losses)

    def followed(self, other: "Round") -> "Round":
        """The candidates of another round, with its cells after these."""
        places = np.empty(len(self.plan.candidates), dtype=np.intp)
        places[self.which] = np.arange(len(self.which))
        places = places[other.which]
        return Round(
            self.plan, other.which, self.outcomes,
            np.concatenate([self.truth, other.truth]),
            np.concatenate([self.found[places], other.found], axis=1),
            np.concatenate([self.losses[places], other.losses], axis=1),
        )  # fmt: skip

    def ranked(self) -> Ints:
        """The places of the candidates with finite losses, the best first."""
        means = self.losses.mean(axis=1)
        order = np.argsort(means, kind="stable")
        return np.asarray(order[np.isfinite(means[order])])

    def errors(self) -> dict[Candidate, float]:
        """The mean loss of every candidate."""
        names = [self.plan.candidates[i] for i in self.which.tolist()]
        return dict(zip(names, self.losses.mean(axis=1).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class CellTrial:
    """Predictions of held-out cells, by neighbors among few donors or by regressions on all."""

    predictor: ColumnPredictor
    few: ColumnPredictor
    plan: Plan
    loss: str

    @classmethod
    def of(cls, predictor: ColumnPredictor, loss: str, rng: np.random.Generator) -> "CellTrial":
        """At most `MAX_DONORS` donors are neighbors."""
        rows, few = predictor.donor_rows, predictor
        if len(rows) > MAX_DONORS:
            few = replace(
                predictor, donor_rows=np.sort(rng.permutation(rows)[:MAX_DONORS]), _made={}
            )
        return cls(predictor, few, _trial_plan(predictor), loss)

    def numbers(self, candidates: tuple[Candidate, ...]) -> Ints:
        """The numbers of some candidates in the plan, as far as it has them."""
        known = self.plan.numbers
        return np.array([known[c] for c in candidates if c in known], dtype=np.intp)

    def queries(self, cells: Ints) -> Queries:
        """The rows of some cells, as if they lacked the target."""
        return Queries.of(self.predictor.donors, cells).without(self.predictor.target)

    def round(self, which: Ints, queries: Queries, near: Neighborhood | None = None) -> Round:
        """What some candidates lose on some cells."""
        if near is None:
            near = self.few.neighborhood(self.plan, queries, which)
        p = self.predictor
        outcomes = p.donors.outcomes(p.target)
        truth = outcomes.truth(queries.values[:, p.target])
        found = p.trials(self.plan, queries, near, which, leave_out=True)
        # Where a row lacks all that a candidate goes by, its fill is the mean of the other donors.
        # In a panel it counts as that here, while a fill averages those that predict.
        n = len(p.donor_rows)
        others = (n * p.overall_mean(outcomes) - truth) / max(n - 1, 1)
        found = np.where(np.isnan(found), others, found)
        losses = outcomes.loss(found, truth, self.loss)
        return Round(self.plan, which, outcomes, truth, found, losses)


@dataclass(frozen=True, eq=False)
class EarlyChoice:
    """A panel by the first cells alone, and all candidates that are not clearly worse."""

    choice: PanelChoice
    left: tuple[Candidate, ...] = ()


def choose_early(
    predictor: ColumnPredictor, n_cells: int, rng: np.random.Generator, until: float = np.inf
) -> EarlyChoice:
    """Let all candidates meet the first cells: enough to fill holes before the panel is chosen."""
    plain = _plain(predictor)
    if not _can_compare(predictor):
        return EarlyChoice(plain)
    cells = rng.permutation(predictor.donor_rows)[:n_cells]
    trial = CellTrial.of(predictor, "square", rng)
    first = _first_round(trial, cells, until)
    if not len(first.ranked()):
        return EarlyChoice(plain)
    choice, names = _with_panel(plain, trial, first), first.plan.candidates
    if predictor.donors.is_wide(predictor.target):
        return EarlyChoice(choice)
    return EarlyChoice(choice, tuple(names[i] for i in _survivors(first).tolist()))


def choose_panel(
    predictor: ColumnPredictor,
    n_cells: int,
    rng: np.random.Generator,
    loss: str = "square",
    until: float = np.inf,
    discriminates: bool = False,
    early: EarlyChoice | None = None,
) -> PanelChoice:
    """Compare candidates on held-out cells and keep a panel of the best.

    All of them meet the first cells, and those that may still join the panel the others; if an
    earlier choice left some, these alone are compared. After the moment ``until`` no other kind of
    candidate is tried. ``discriminates`` says that the panel of classes may be mixed with a
    discriminant.
    """
    if early is not None and monotonic() > until:
        return early.choice
    plain = _plain(predictor)
    if not _can_compare(predictor):
        return plain
    cells = rng.permutation(predictor.donor_rows)[:n_cells]
    trial = CellTrial.of(predictor, loss, rng)
    if early is not None and (left := trial.numbers(early.left)).size:
        race, errors = trial.round(left, trial.queries(cells)), dict(early.choice.errors)
    else:
        race = first = _first_round(trial, cells, until)
        left, n_first, errors = _survivors(first), first.losses.shape[1], first.errors()
        if len(left) and n_first < len(cells) and monotonic() < until:
            race = first.followed(trial.round(left, trial.queries(cells[n_first:])))
    if not len(race.ranked()):
        return plain
    queries = None
    if discriminates and monotonic() < until and not race.outcomes.n_others:
        queries = trial.queries(cells[: len(race.truth)])
    found = _with_panel(plain, trial, race, queries)
    return replace(found, errors=tuple((errors | dict(found.errors)).items()))


def _plain(predictor: ColumnPredictor) -> PanelChoice:
    """The mean of all donors."""
    p = predictor
    how = p.predictors, p.weights, p.class_weight
    return PanelChoice(p.target, *how, (MEAN_OF_ALL,), borrows=p.borrows)


def _can_compare(predictor: ColumnPredictor) -> bool:
    return len(predictor.donor_rows) >= 4 and len(predictor.predictors) > 0


def _with_panel(
    plain: PanelChoice, trial: CellTrial, race: Round, of_class: Queries | None = None
) -> PanelChoice:
    """The best panel of a race, its error and what it leaves of held-out cells.

    With the queries ``of_class`` a discriminant may join the panel.
    """
    n_rows, loss = trial.predictor.donors.table.n_rows, trial.loss
    panel = _best_panel(race, slice(None), n_rows)
    found, how, sharpness = Forecast(race.found[panel].mean(axis=0), race.outcomes), None, 1.0
    if of_class is not None:
        powers = np.array(SHARPNESS)
        how, found = choose_discriminant(trial.predictor, of_class, found, race.truth, powers)

    def log_loss(power: float) -> float:
        return float(race.outcomes.loss(found.predicted, race.truth, "log", power).mean())

    if loss == "log":
        sharpness = min(SHARPNESS, key=log_loss)
    names = race.plan.candidates
    return replace(
        plain,
        panel=tuple(names[i] for i in race.which[panel].tolist()),
        sharpness=sharpness,
        error=float(race.outcomes.loss(found.predicted, race.truth, loss, sharpness).mean()),
        errors=tuple(race.errors().items()),
        residuals=_cross_residuals(race, n_rows) if len(race.truth) > 1 else np.zeros(0),
        discriminant=how,
    )


def _wide_round(trial: CellTrial, queries: Queries) -> Round:
    """Means of neighbors, and of all donors: a regression for each level would cost too much."""
    p = trial.few
    means = [c for c in trial.plan.candidates if c.kind == "mean"]
    plan = Plan.of((MEAN_OF_ALL, *means))
    outcomes, found = p.predict(plan.candidates, queries, leave_out=True)
    truth = outcomes.truth(queries.values[:, p.target])
    votes = np.where(np.isnan(found), found[0], found)
    losses = outcomes.loss(votes, truth, trial.loss)
    return Round(plan, np.arange(len(plan.candidates)), outcomes, truth, votes, losses)


def _trial_plan(predictor: ColumnPredictor) -> Plan:
    """All candidates of a column."""
    table, columns = predictor.donors, predictor.predictors
    needed = table.n_classes * int(table.feature_map.widths[columns].sum()) / ENOUGH
    splits = predictor.splits and len(predictor.donor_rows) >= needed
    has_numbers = not table.is_categorical[columns].all()
    few = min(len(predictor.donor_rows), MAX_DONORS)
    names = tuple(predictor.weights)
    return _all_candidates(names, predictor.scopes, splits, has_numbers, few > grid.MANY_DONORS)


@lru_cache(maxsize=256)
def _all_candidates(
    relevances: tuple[str, ...],
    scopes: tuple[str, ...],
    classes_regress: bool,
    has_numbers: bool,
    has_many: bool,
) -> Plan:
    """Regressions on all donors, means of neighbors, and regressions on them.

    Ranks of categories are no other features than the categories.
    """
    ks, local_ks = (ks if has_many else ks[:-1] for ks in (grid.KS, grid.LOCAL_KS))
    out = []
    of_all = scopes if classes_regress else ("soft",)
    forms = FORMS if has_numbers else FORMS[:1]
    for relevance, scope, form in product(sorted({"pair", "equal"} & {*relevances}), of_all, forms):
        ridges: tuple[float, ...] = grid.COMMON_RIDGES
        if relevance == "equal" and form == "values":
            ridges = (*ridges, np.inf)  # the mean, which needs no weights
        out += [Candidate(relevance, scope, ALL_DONORS, "uniform", r, form) for r in ridges]
    for relevance, scope, k, kernel in product(relevances, scopes, ks, grid.KERNELS):
        out.append(Candidate(relevance, scope, k, kernel, np.inf, "values"))
    for relevance, scope, k, ridge in product(relevances, scopes, local_ks, grid.LOCAL_RIDGES):
        out.append(Candidate(relevance, scope, k, "uniform", ridge, "values"))
    return Plan.of(tuple(out))


def _first_round(trial: CellTrial, cells: Ints, until: float) -> Round:
    """The first cells, or all where they are few; of very many levels always all."""
    p = trial.predictor
    if p.donors.is_wide(p.target):
        return _wide_round(trial, trial.queries(cells))
    n_first = FIRST_VOTES if p.donors.is_categorical[p.target] else FIRST_NUMBERS
    some = cells[:n_first] if len(cells) >= 1.5 * n_first else cells
    return _all_meet(trial, trial.queries(some), until)


def _all_meet(trial: CellTrial, queries: Queries, until: float) -> Round:
    """All candidates while there is time, the most promising kinds first.

    Regressions on neighbors are tried at the best places alone.
    """
    plan = trial.plan
    common, means, local = (np.flatnonzero(plan.kinds == kind) for kind in range(3))
    near = None
    if until < np.inf:
        plain = [i for i in common if plan.candidates[i].place == COMMON_RIDGE.place]
        common = np.setdiff1d(common, plain)
        found = trial.round(np.array(plain), queries)
        if monotonic() > until:
            return found
    near = trial.few.neighborhood(plan, queries, means)
    some = trial.round(np.concatenate([common, means]), queries, near)
    found = found.joined(some) if until < np.inf else some
    places, best = _best_places(some), local[:0]
    if monotonic() < until:
        more = trial.round(local[plan.place_of[local] == places[0]], queries, near)
        found = found.joined(more)
        best = more.ranked()[:1]
    if monotonic() < until and len(best):  # other places try the best of the first place alone
        others = [local[plan.place_of[local] == place][best] for place in places[1:]]
        if others:
            found = found.joined(trial.round(np.concatenate(others), queries, near))
    return found


def _best_places(race: Round) -> list[int]:
    """The places with the least error of a neighbor mean."""
    means = np.flatnonzero(race.plan.kinds[race.which] == 1)
    squares = race.outcomes.loss(race.found[means], race.truth, "square").mean(axis=1)
    least = np.full(len(race.plan.places), np.inf)
    np.fmin.at(least, race.plan.place_of[race.which[means]], squares)
    return [int(place) for place in np.argsort(least, kind="stable")[:REGRESSED]]


def _survivors(early: Round) -> Ints:
    """Means, and the best two regressions of each family, unless clearly worse than the best."""
    order = early.ranked()
    if not len(order):
        return order
    gaps = early.losses[order] - early.losses[order[0]]
    near = gaps.mean(axis=1) <= 2.0 * gaps.std(axis=1) / np.sqrt(gaps.shape[1]) + 1e-15
    which = early.which[order[near]]
    kinds, families = early.plan.kinds[which].tolist(), early.plan.families[which].tolist()
    taken: dict[int, int] = {}
    kept = []
    for i, kind, family in zip(which.tolist(), kinds, families, strict=True):
        taken[family] = taken.get(family, 0) + 1
        if kind == 1 or taken[family] <= OF_FAMILY:
            kept.append(i)
    return np.sort(np.array(kept))


def _best_panel(race: Round, cells: Any, n_rows: int) -> list[int]:
    """The best of each family that is not clearly worse than the best of all, on some cells.

    Clearly worse: by more than two standard errors of the difference. In large tables, where the
    errors are estimated well and every candidate costs time, the cheapest within one.
    """
    losses, plan = race.losses[:, cells], race.plan
    means = losses.mean(axis=1)
    best = int(means.argmin())
    usable = np.flatnonzero(np.isfinite(means))
    gaps = losses[usable] - losses[best]
    errors = gaps.std(axis=1) / np.sqrt(losses.shape[1])
    allowed = 1.0 if n_rows > LARGE else 2.0
    near = usable[gaps.mean(axis=1) <= allowed * errors + 1e-15]
    near = near[np.argsort(means[near], kind="stable")]
    if n_rows > LARGE:
        return [int(near[plan.kinds[race.which[near]].argmin()])]
    winners: dict[int, int] = {}
    for i, family in zip(near.tolist(), plan.families[race.which[near]].tolist(), strict=True):
        winners.setdefault(family, i)
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
