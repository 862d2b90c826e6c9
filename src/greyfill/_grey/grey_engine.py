"""Passes over the columns of a training table, and new rows."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from greyfill._grey.candidates import EVERYONE, Candidate, Forecast
from greyfill._grey.donor_table import DonorTable, FeatureMap, Queries
from greyfill._grey.predictor import ColumnPredictor
from greyfill._grey.relevance import Relevance
from greyfill._grey.selection import LARGE, PLAIN, PanelChoice, choose
from greyfill._neighbors.engine import training_cells
from greyfill._neighbors.new_rows import Spreads
from greyfill._neighbors.schedule import Report
from greyfill._neighbors.start import ClassStart, column_centers
from greyfill.information import normalize
from greyfill.ranges import RangeScaler, to_share
from greyfill.table import MANY_LEVELS, Column, Floats, Ints, Kind, Table

CHOOSING_PASSES = 2
"""In the first passes the fills still move much, so panels are chosen anew."""

FIRST = Candidate("equal", "soft", EVERYONE, "uniform", 1e-2, "values")
"""The first pass of a large table, whose columns are tuned once, after it."""

BLOCK_ROWS = 256
"""New rows that are filled at a time."""

NEGLIGIBLE = 0.01
"""Classes less likely than this share of the likeliest give nothing to a row without a label."""


def _quiet(message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class GreySettings:
    """What a caller may set."""

    n_cells: int = 250
    max_iter: int = 4
    tol: float = 1e-4
    n_jobs: int | None = None
    random_state: int | None = 0
    report: Report = field(default=_quiet)


@dataclass(frozen=True, eq=False)
class FittedGrey:
    """All that a self-tuned imputer remembers."""

    scaler: RangeScaler
    ground: DonorTable
    rows: Ints
    choices: dict[int, PanelChoice]
    history: tuple[float, ...]
    converged: bool
    spreads: Spreads
    n_cells: int
    n_jobs: int | None
    random_state: int | None
    _askers: dict[int, ColumnPredictor] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_askers": {}}

    def choice(self, target: int) -> PanelChoice:
        """How a column is filled; tuned now if it had no hole in ``fit``."""
        if target not in self.choices:
            relevance = Relevance(self.ground, self.random_state)
            tuning = GreySettings(self.n_cells, random_state=self.random_state)
            self.choices[target] = _choose(self.ground, relevance, target, tuning, 0)
        return self.choices[target]

    def complete(self) -> "FittedGrey":
        """The same with all columns tuned that new rows may ask for, in the order of the table."""
        needed = [*range(len(self.scaler.low))]
        needed += [self.ground.class_column] if self.ground.has_classes else []
        Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(self.choice)(j) for j in needed)
        return replace(self, choices=dict(sorted(self.choices.items())))

    def asker(self, target: int) -> ColumnPredictor:
        """Who predicts a column, with its donors laid out once."""
        if target not in self._askers:
            self._askers[target] = self.choice(target).asker(self.ground, self.n_jobs)
        return self._askers[target]


def tune(
    table: Table, labels: Ints | None, response: Floats | None, tuning: GreySettings
) -> tuple[Floats, FittedGrey]:
    """Fill a training table; return its values without holes and what serves new rows.

    ``labels`` are class codes, −1 where unknown: such rows neither give nor teach. ``response`` is
    a continuous target instead, NaN where unknown.
    """
    taught = np.arange(table.n_rows) if labels is None else np.flatnonzero(labels >= 0)
    if len(taught) == 0:
        labels, taught = None, np.arange(table.n_rows)
    taught = taught[_content_order(table.rows(taught), labels, response, taught)]
    known_cells = training_cells(table, taught)
    scaler = RangeScaler.learn(known_cells)
    scaled = scaler.scale(table.rows(taught))
    codes = np.zeros(len(taught), dtype=np.intp) if labels is None else labels[taught]
    start, _ = ClassStart().fill(scaled, _groups(codes))
    start = np.where(scaled.missing.all(axis=0), column_centers(scaler.scale(known_cells)), start)
    known = None if response is None else response[taught]
    ground = _ground(scaled.with_values(start), codes, known)
    targets = _by_holes(ground.table)  # a response with holes is filled too
    relevance = Relevance(ground, tuning.random_state)
    choices: dict[int, PanelChoice] = {}
    history: list[float] = []
    spreads: list[Spreads] = []
    for number in range(tuning.max_iter if targets else 0):
        if number == 0 and table.n_rows > LARGE and tuning.max_iter > 1:
            choices = {j: _untuned(ground, relevance, j) for j in targets}
        elif number < CHOOSING_PASSES:
            found = Parallel(n_jobs=tuning.n_jobs, prefer="threads")(
                delayed(_choose)(ground, relevance, j, tuning, number) for j in targets
            )
            choices = dict(zip(targets, found, strict=True))
        change, spreads = _one_pass(ground, targets, choices, tuning)
        history.append(change)
        tuning.report(f"pass {number + 1}: largest change {history[-1]:.2g}")
        if history[-1] < tuning.tol:
            break
    converged = not history or history[-1] < tuning.tol
    tuned = FittedGrey(
        scaler, ground, taught, choices, tuple(history), converged,
        _joined(spreads, taught, table.n_columns),
        tuning.n_cells, tuning.n_jobs, tuning.random_state,
    )  # fmt: skip
    values = table.values.copy()
    filled = scaler.unscale(ground.table.values[:, : table.n_columns])
    values[taught] = np.where(table.missing[taught], filled, table.values[taught])
    others = np.setdiff1d(np.arange(table.n_rows), taught)
    if len(others):
        values[others] = fill_by_panels(tuned, table.rows(others))
    return values, tuned


def teach(
    table: Table, labels: Ints | None, response: Floats | None, tuning: GreySettings
) -> FittedGrey:
    """Learn to predict the labels, or the response, of rows with holes.

    Holes of the donors are filled without a look at the labels, so that a filled cell does not
    give its row's label away.
    """
    values, blind = tune(table, None, None, tuning)
    filled = Table(values, np.zeros_like(table.missing), table.columns)
    scaled = table.with_values(blind.scaler.scale(filled).values)
    codes = np.zeros(table.n_rows, dtype=np.intp) if labels is None else labels
    rows = blind.rows
    ground = _ground(scaled.rows(rows), codes[rows], None if response is None else response[rows])
    return replace(blind, ground=ground, choices={}, _askers={})


def fill_by_panels(tuned: FittedGrey, table: Table) -> Floats:
    """The values of new rows without holes, in the units of the table; block by block."""
    starts = range(0, max(table.n_rows, 1), BLOCK_ROWS)
    blocks = [table.rows(np.arange(a, min(a + BLOCK_ROWS, table.n_rows))) for a in starts]
    return np.concatenate([_serve_block(tuned, block) for block in blocks])


def _serve_block(tuned: FittedGrey, table: Table) -> Floats:
    queries = ask(tuned, table)
    values = queries.values[:, : table.n_columns].copy()
    for j in np.flatnonzero(table.missing.any(axis=0)):
        rows = np.flatnonzero(table.missing[:, j])
        forecast = predict(tuned, int(j), queries.part(rows))
        values[rows, j] = settle(tuned.ground, int(j), forecast)
    return np.where(table.missing, tuned.scaler.unscale(values), table.values)


def ask(tuned: FittedGrey, table: Table, told: Floats | None = None) -> Queries:
    """New rows in the columns of the ground; an unseen category tells nothing, like a hole.

    ``told`` are class codes, or numbers on the scale of the response; NaN where unknown.
    """
    scaled = tuned.scaler.scale(table)
    extra = tuned.ground.table.n_columns - table.n_columns
    values = np.pad(scaled.values, ((0, 0), (0, extra)))
    missing = np.pad(table.missing | table.unseen, ((0, 0), (0, extra)), constant_values=True)
    nobody = np.full(table.n_rows, -1, dtype=np.intp)
    labels = np.zeros(table.n_rows, dtype=np.intp)
    if told is not None and extra:
        known = ~np.isnan(told)
        values[known, -1], missing[known, -1] = told[known], False
        if tuned.ground.splits:
            labels[known] = told[known].astype(np.intp)
    return Queries(values, missing, labels, nobody)


def posterior(tuned: FittedGrey, queries: Queries) -> Floats:
    """P(class | observed cells) of new rows, shape (row, class)."""
    forecast, shares = _classes(tuned, queries)
    if not forecast.outcomes.n_others:
        return shares
    whole = np.repeat(shares[:, -1:], tuned.ground.n_classes, axis=1)
    np.put_along_axis(whole, forecast.outcomes.levels, shares[:, :-1], axis=1)
    return whole


def likeliest(tuned: FittedGrey, queries: Queries) -> Ints:
    """The likeliest class of new rows."""
    forecast, shares = _classes(tuned, queries)
    return forecast.outcomes.codes(shares[:, : forecast.outcomes.levels.shape[1]].argmax(axis=1))


def _classes(tuned: FittedGrey, queries: Queries) -> tuple[Forecast, Floats]:
    """Predictions of the class of new rows, and calibrated probabilities."""
    column = tuned.ground.class_column
    choice = tuned.choice(column)
    forecast = choice.predict(tuned.asker(column), queries)
    return forecast, forecast.shares(choice.sharpness)


def predict(tuned: FittedGrey, target: int, queries: Queries) -> Forecast:
    """Predictions; for rows without a label those of each class, mixed by its probability."""
    choice, asker, ground = tuned.choice(target), tuned.asker(target), tuned.ground
    is_unknown = queries.missing[:, ground.class_column]
    if not ground.splits or target == ground.class_column or not is_unknown.any():
        return choice.predict(asker, queries)
    mixed = _of_likeliest_class if ground.is_wide(target) else _mixed
    parts = [(np.flatnonzero(is_unknown), mixed(tuned, target, queries.part(is_unknown)))]
    if not is_unknown.all():
        own = choice.predict(asker, queries.part(~is_unknown))
        parts.append((np.flatnonzero(~is_unknown), own))
    return Forecast.joined(parts, len(is_unknown))


def _mixed(tuned: FittedGrey, target: int, queries: Queries) -> Forecast:
    """Predictions of each class, mixed by its probability."""
    choice, asker = tuned.choice(target), tuned.asker(target)
    shares = posterior(tuned, queries)
    shares = np.where(shares < NEGLIGIBLE * shares.max(axis=1, keepdims=True), 0.0, shares)
    shares /= shares.sum(axis=1, keepdims=True)
    outcomes = tuned.ground.outcomes(target)
    out = np.zeros((len(shares), outcomes.width))
    for label in range(tuned.ground.n_classes):
        rows = np.flatnonzero(shares[:, label] > 0)
        if len(rows) == 0:
            continue
        forecast = choice.predict(asker, queries.part(rows).with_class(tuned.ground, label))
        out[rows] += shares[rows, label, np.newaxis] * forecast.found
    return Forecast(out, outcomes)


def _of_likeliest_class(tuned: FittedGrey, target: int, queries: Queries) -> Forecast:
    """Predictions of the likeliest class alone: each class would list other levels."""
    choice, asker = tuned.choice(target), tuned.asker(target)
    labels = likeliest(tuned, queries)
    parts = []
    for label in np.unique(labels).tolist():
        rows = np.flatnonzero(labels == label)
        known = queries.part(rows).with_class(tuned.ground, label)
        parts.append((rows, choice.predict(asker, known)))
    return Forecast.joined(parts, len(labels))


def settle(ground: DonorTable, target: int, forecast: Forecast) -> Floats:
    """A value for each prediction: the likeliest level, or a number within the observed range."""
    if ground.table.is_categorical[target]:
        return forecast.likeliest().astype(float)
    known = ground.table.values[~ground.table.missing[:, target], target]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    return np.clip(forecast.found[:, 0], low, high)


def _groups(codes: Ints) -> Ints:
    """Classes that split the donors: the classes, or one of all where there are very many."""
    return codes if codes.max(initial=0) < MANY_LEVELS else np.zeros_like(codes)


def _ground(table: Table, codes: Ints, response: Floats | None) -> DonorTable:
    """A filled table with its classes or the response as a last column."""
    n_classes = int(codes.max(initial=0)) + 1
    values, columns, missing = table.values, table.columns, table.missing
    extra = None
    if n_classes > 1:
        extra = codes.astype(float), np.zeros(table.n_rows, dtype=bool)
        columns = (*columns, Column("class", Kind.CATEGORICAL, n_classes))
    elif response is not None:
        unknown = np.isnan(response)
        scaled = to_share(response, np.nanmin(response), np.nanmax(response))
        extra = np.where(unknown, np.nanmean(scaled), scaled), unknown
        columns = (*columns, Column("response", Kind.NUMERIC))
    if extra is not None:
        values = np.column_stack([values, extra[0]])
        missing = np.column_stack([missing, extra[1]])
    whole = Table(np.ascontiguousarray(values), missing, columns)
    return DonorTable(whole, _groups(codes), n_classes, FeatureMap.learn(whole))


def _content_order(table: Table, labels: Ints | None, response: Floats | None, rows: Ints) -> Ints:
    """An order of the rows by their content, so that the order they came in does not matter."""
    keys = [*table.values.T, *table.missing.T]
    keys += [extra[rows] for extra in (labels, response) if extra is not None]
    return np.lexsort(keys)


def _by_holes(table: Table) -> list[int]:
    """Columns with holes and with observed cells, fewest holes first."""
    holes = table.missing.sum(axis=0)
    some = np.flatnonzero((holes > 0) & (holes < table.n_rows))
    return [int(j) for j in some[np.argsort(holes[some], kind="stable")]]


def _untuned(ground: DonorTable, relevance: Relevance, target: int) -> PanelChoice:
    predictors = relevance.predictors(target)
    equal = normalize(np.zeros(len(predictors)))
    panel = (PLAIN if ground.is_wide(target) else FIRST,)
    return PanelChoice(target, predictors, {"equal": equal}, 0.0, panel)


def _choose(
    ground: DonorTable, relevance: Relevance, target: int, tuning: GreySettings, number: int
) -> PanelChoice:
    predictors = relevance.predictors(target)
    weights, class_weight = relevance.weights(target, predictors)
    donors = np.flatnonzero(~ground.table.missing[:, target])
    asker = ColumnPredictor(ground, target, donors, predictors, weights, class_weight)
    seed = [0 if tuning.random_state is None else tuning.random_state, target, number]
    of_class = ground.has_classes and target == ground.class_column
    n_cells = int(np.clip(5_000 // max(len(predictors), 1), 40, tuning.n_cells))
    return choose(asker, n_cells, np.random.default_rng(seed), "log" if of_class else "square")


def _one_pass(
    ground: DonorTable, targets: list[int], choices: dict[int, PanelChoice], tuning: GreySettings
) -> tuple[float, list[Spreads]]:
    """Fill every hole once, column after column; return the largest change, and how sure it is."""
    largest, spreads = 0.0, []
    for j in targets:
        rows = np.flatnonzero(ground.table.missing[:, j])
        choice = choices[j]
        forecast = choice.predict(choice.asker(ground, tuning.n_jobs), Queries.of(ground, rows))
        largest = max(largest, ground.fill(rows, j, settle(ground, j, forecast)))
        spreads.append((rows, np.full(len(rows), j), _spread(choice, forecast)))
    return largest, spreads


def _spread(choice: PanelChoice, forecast: Forecast) -> Floats:
    """One minus the probability of the likeliest level, or the usual error of a number."""
    if forecast.outcomes.width > 1:
        return np.asarray(1.0 - forecast.shares().max(axis=1))
    usual = np.sqrt(np.mean(choice.residuals**2)) if len(choice.residuals) else np.nan
    return np.full(len(forecast.found), usual)


def _joined(spreads: list[Spreads], taught: Ints, n_columns: int) -> Spreads:
    """Spreads of all columns of the table that was given, with its row numbers."""
    if not spreads:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)
    rows, columns, found = (np.concatenate(part) for part in zip(*spreads, strict=True))
    own = columns < n_columns  # a response was filled beside them
    return taught[rows[own]], columns[own], found[own]
