"""Passes over the columns of a training table: its holes are filled, and panels are chosen.

The first pass is plain, by one regression. On what it filled, all candidates meet few cells; the
early panels fill the holes again, and what is left of the candidates meets all cells. The panels
that are chosen then fill the holes for good. If no row may see its own y, two plain passes without
any y fill the holes and panels are chosen once: early panels know the classes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from greyfill._grey.candidates import COMMON_RIDGE, UNTUNED, Candidate
from greyfill._grey.donor_table import DonorTable, Queries, donor_table, splitting
from greyfill._grey.predictor import ColumnPredictor
from greyfill._grey.relevance import CLASS_WEIGHT, Relevance, predictors_of
from greyfill._grey.selection import LARGE, EarlyChoice, PanelChoice, choose_early, choose_panel
from greyfill._neighbors.engine import training_cells
from greyfill._neighbors.k_selection import capped
from greyfill._neighbors.links import map_threads
from greyfill._neighbors.new_rows import Spreads
from greyfill._neighbors.schedule import Report
from greyfill._neighbors.start import ClassStart, column_centers
from greyfill.information import normalize
from greyfill.progress import Clock, Meter
from greyfill.table import Floats, Ints, RangeScaler, Table

PASSES_BEFORE = 2
"""Passes before panels are chosen on what these filled; in large tables one."""

MOST_CELLS = 20_000
"""Held-out cells of all columns; each has 40 at least."""

ORDER = (1, 1, 1)
"""Of the seed of the donors' order, which is no seed of held-out rows."""

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class GreySettings:
    """What a caller may set."""

    n_cells: int = 250
    max_iter: int = 3
    tol: float = 1e-4
    n_jobs: int | None = None
    random_state: int | None = 0
    max_donors: int | None = None
    crosses: bool = False
    time_budget: float | None = None
    report: Report = lambda message: None
    meter: Meter = field(default_factory=lambda: Meter(None))


@dataclass(frozen=True, eq=False)
class FilledDonors:
    """What the passes leave; ``crosses`` says that they filled without a look at y."""

    scaler: RangeScaler
    rows: Ints
    donors: DonorTable
    relevance: Relevance
    choices: dict[int, PanelChoice]
    history: tuple[float, ...]
    converged: bool | None
    spreads: Spreads
    crosses: bool


def run_passes(
    table: Table,
    labels: Ints | None,
    response: Floats | None,
    settings: GreySettings,
    clock: Clock,
) -> FilledDonors:
    """Fill the donors' holes until they stay; panels of the columns with holes are chosen."""
    scaler, rows, donors = _start(table, labels, response, settings)
    relevance = Relevance(donors, settings.random_state)
    targets, p = donors.targets, table.n_columns
    crosses = settings.crosses and donors.table.n_columns > p
    n = settings.max_iter if targets else 0
    passes = _Passes(settings, clock, n, len(targets))
    n_before = min(1 if table.n_rows > LARGE else PASSES_BEFORE, max(n - 1, 0))
    plain = _without_y(donors, p) if crosses else donors
    for panel in ((COMMON_RIDGE,), UNTUNED)[: n_before if crosses else min(n_before, 1)]:
        passes.fill(plain, untuned_panels(plain, plain.targets, panel))
    donors.table.values[:, :p] = plain.table.values[:, :p]
    n_cells, early = dict.fromkeys(targets, settings.n_cells), dict[int, EarlyChoice]()
    clock.reserve(n_before - len(passes.history) + 1)
    if len(passes.history) < n_before:
        settings.meter.begin("early panels", len(targets), ahead=n * len(targets))
        early = choose_early_panels(donors, relevance, n_cells, settings, clock)
        passes.fill(donors, {j: found.choice for j, found in early.items()})
    settings.meter.begin("panels", len(targets), ahead=(n - n_before) * len(targets))
    choices = choose_panels(donors, relevance, n_cells, settings, clock, n_before, early=early)
    filled = {j: choice for j, choice in choices.items() if j >= p or not crosses}
    spreads, converged = passes.repeat(donors, filled)
    return FilledDonors(
        scaler, rows, replace(donors, _is_open=False), relevance, choices, tuple(passes.history),
        converged if targets else True, joined_spreads(spreads, rows, p), crosses,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Passes:
    """At most n passes over some columns, and the largest change of each."""

    settings: GreySettings
    clock: Clock
    n: int
    n_targets: int
    history: list[float] = field(default_factory=list)

    def fill(self, donors: DonorTable, choices: dict[int, PanelChoice]) -> list[Spreads]:
        """Fill all holes once more."""
        number = len(self.history) + 1
        ahead = (self.n - number) * self.n_targets
        self.settings.meter.begin(f"pass {number} of {self.n}", len(choices), ahead)
        change, spreads = _one_pass(donors, choices, self.settings)
        self.history.append(change)
        self.clock.end_pass()
        self.settings.report(f"pass {number}: largest change {change:.2g}")
        return spreads

    def repeat(
        self, donors: DonorTable, choices: dict[int, PanelChoice]
    ) -> tuple[list[Spreads], bool | None]:
        """Fill until the cells stay; return the last spreads, and whether they do, if known."""
        before, spreads = len(self.history), list[Spreads]()
        while choices and len(self.history) < self.n:
            spreads = self.fill(donors, choices)
            if self.history[-1] < self.settings.tol:
                break
        # What came before led up to the panels; only a pass that repeats them can leave cells.
        is_repeated = len(self.history) - before > 1
        return spreads, self.history[-1] < self.settings.tol if is_repeated else None


def _without_y(donors: DonorTable, n_columns: int) -> DonorTable:
    """A copy of the donors, to be filled as if there were no y."""
    cells = donors.table.select(np.arange(donors.table.n_columns) < n_columns)
    return donor_table(cells, np.zeros_like(donors.labels), None, is_open=True)


def _start(
    table: Table, labels: Ints | None, response: Floats | None, settings: GreySettings
) -> tuple[RangeScaler, Ints, DonorTable]:
    """The scale, the rows that are donors, and the donor table with start values in its holes."""
    rows = np.arange(table.n_rows) if labels is None else np.flatnonzero(labels >= 0)
    if len(rows) == 0:
        labels, rows = None, np.arange(table.n_rows)
    # By content, so that the order in which the rows came does not matter; then at random, since
    # neighbors that are equally near go by their order, which must not tell what they have.
    keys = [*table.values[rows].T, *table.missing[rows].T]
    known_y = [extra[rows] for extra in (labels, response) if extra is not None]
    rows = rows[np.lexsort([*known_y, *keys])]
    rows = np.random.default_rng([settings.random_state or 0, *ORDER]).permutation(rows)
    known = training_cells(table, rows)
    scaler = RangeScaler.learn(known)
    of_rows = None if labels is None else labels[rows]
    rows = rows[capped(of_rows, len(rows), settings.max_donors, settings.random_state)]
    scaled = scaler.scale(table.rows(rows))
    codes = np.zeros(len(rows), dtype=np.intp) if labels is None else labels[rows]
    start, _ = ClassStart().fill(scaled, 0 * codes if settings.crosses else splitting(codes))
    start = np.where(scaled.missing.all(axis=0), column_centers(scaler.scale(known)), start)
    y = None if response is None else response[rows]
    return scaler, rows, donor_table(scaled.with_values(start), codes, y, is_open=True)


def _one_pass(
    donors: DonorTable, choices: dict[int, PanelChoice], settings: GreySettings
) -> tuple[float, list[Spreads]]:
    """Fill every hole once, column after column; return the largest change, and the spreads."""
    largest, spreads = 0.0, []
    for j, choice in choices.items():
        rows = np.flatnonzero(donors.table.missing[:, j])
        forecast = choice.predict(
            choice.predictor(donors, settings.n_jobs), Queries.of(donors, rows)
        )
        largest = max(largest, donors.fill(rows, j, donors.fills(j, forecast)))
        if forecast.outcomes.width > 1:
            spread = np.asarray(1.0 - forecast.shares().max(axis=1))
        else:
            usual = np.sqrt(np.mean(choice.residuals**2)) if len(choice.residuals) else np.nan
            spread = np.full(len(rows), usual)
        spreads.append((rows, np.full(len(rows), j), spread))
        settings.meter.advance()
    return largest, spreads


def joined_spreads(spreads: list[Spreads], donor_rows: Ints, n_columns: int) -> Spreads:
    """Spreads of all columns of the training table, with its row numbers."""
    nothing = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)
    joined = zip(nothing, *spreads, strict=True)
    rows, columns, found = (np.concatenate(part) for part in joined)
    own = columns < n_columns  # a response was filled beside them
    return donor_rows[rows[own]], columns[own], found[own]


def choose_early_panels(
    donors: DonorTable,
    relevance: Relevance,
    n_cells: dict[int, int],
    settings: GreySettings,
    clock: Clock,
) -> dict[int, EarlyChoice]:
    """Panels of some columns by their first cells; later ones shall have as much time again."""

    def choose(predictor: ColumnPredictor, cells: int, until: float) -> EarlyChoice:
        rng = np.random.default_rng([settings.random_state or 0, predictor.target, 0])
        return choose_early(predictor, cells, rng, until)

    return _by_column(donors, relevance, n_cells, settings, clock, choose, len(n_cells))


def choose_panels(
    donors: DonorTable,
    relevance: Relevance,
    n_cells: dict[int, int],
    settings: GreySettings,
    clock: Clock,
    number: int = 0,
    discriminates: bool = False,
    early: Mapping[int, EarlyChoice] = MappingProxyType({}),
) -> dict[int, PanelChoice]:
    """Panels of some columns in a pass, by at most so many held-out cells of each."""

    def choose(predictor: ColumnPredictor, cells: int, until: float) -> PanelChoice:
        target = predictor.target
        rng = np.random.default_rng([settings.random_state or 0, target, number])
        of_class = donors.has_classes and target == donors.y_column
        how = "log" if of_class else "square", until, discriminates and of_class
        return choose_panel(predictor, cells, rng, *how, early.get(target))

    return _by_column(donors, relevance, n_cells, settings, clock, choose)


def _by_column(
    donors: DonorTable,
    relevance: Relevance,
    n_cells: dict[int, int],
    settings: GreySettings,
    clock: Clock,
    choose: Callable[[ColumnPredictor, int, float], Choice],
    n_later: int = 0,
) -> dict[int, Choice]:
    """What is chosen of each column, by its cells and until its share of the time is over."""
    predictors = predictors_of(donors, n_cells)
    share, waiting = MOST_CELLS // max(len(n_cells), 1), list(n_cells)

    def choose_one(target: int) -> Choice:
        how = predictors[target], *relevance.weights(target, predictors[target])
        predictor = ColumnPredictor(donors, target, donors.observed_rows(target), *how)
        most = min(5_000 // max(len(predictors[target]), 1), share)
        until = clock.until(len(waiting) + n_later)
        waiting.pop()  # one column less to share the time
        choice = choose(predictor, int(np.clip(most, 40, n_cells[target])), until)
        settings.meter.advance()
        return choice

    found = map_threads(choose_one, list(n_cells), settings.n_jobs)
    return dict(zip(n_cells, found, strict=True))


def untuned_panels(
    donors: DonorTable, targets: Iterable[int], panel: tuple[Candidate, ...]
) -> dict[int, PanelChoice]:
    """A panel that needs no comparison, with equal weights."""
    out = {}
    for j, predictors in predictors_of(donors, targets).items():
        equal = {"equal": normalize(np.zeros(len(predictors)))}
        out[j] = PanelChoice(j, predictors, equal, CLASS_WEIGHT, panel, borrows=True)
    return out
