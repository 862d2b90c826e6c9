"""Uncertainty: intervals from held-out cells, and draws for multiple imputation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from greyfill._grey.calibration import ENOUGH, Scores, Spread
from greyfill._grey.donor_table import DonorTable, Queries
from greyfill._grey.grey_engine import FittedGrey, new_queries, posterior, predict
from greyfill._grey.outcomes import Forecast, Outcomes, draw_places
from greyfill._grey.selection import LARGE
from greyfill.table import Bools, Floats, Ints, Table, indicators

FOLDS = 5
MAX_HELD = 1_000
"""Rows of a large table that are held out, all at once."""

CLOSEST = 0.2
"""The share of the held-out cells, of the rows that lack least besides a query's holes."""

BLOCK_ROWS = 4_096
NO_LEVEL = -1


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows of the donor table in folds, −1 where a row is never held out.

    A cell is predicted without any row of its fold, as a new row would be.
    """

    fitted: FittedGrey
    fold_of: Ints
    _parts: dict[int, FittedGrey] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, fitted: FittedGrey) -> "HeldOutRows":
        """Five folds; one of some rows where there are many."""
        n_rows = fitted.donors.table.n_rows
        order = np.random.default_rng(fitted.random_state).permutation(n_rows)
        if n_rows > LARGE:
            return cls(fitted, np.where(order < MAX_HELD, 0, -1))
        return cls(fitted, order % FOLDS)

    def cells(self, target: int, rng: np.random.Generator, most: int | None = None) -> Ints:
        """Some of the held-out rows with an observed target."""
        observed = ~self.fitted.donors.table.missing[:, target] & (self.fold_of >= 0)
        return rng.permutation(np.flatnonzero(observed))[: most or self.fitted.n_cells]

    def queries(self, target: int, rows: Ints, missing: Bools) -> Queries:
        """Some rows as new ones that lack a column, and also what ``missing`` marks."""
        own, no_rows = Queries.of(self.fitted.donors, rows), np.full(len(rows), -1, np.intp)
        lacking = own.without(target).missing | missing
        queries = replace(own, missing=lacking, own_rows=no_rows, _features={})
        if not self.fitted.donors.splits or not lacking[:, -1].any():
            return queries
        shares = np.empty((len(rows), self.fitted.donors.n_classes))
        for here, fitted in self._folds(rows):
            shares[here] = posterior(fitted, queries.part(here))
        return replace(queries, shares=shares)

    def forecast(self, target: int, rows: Ints, queries: Queries) -> Forecast:
        """Predictions of a column for such queries, each without the fold of its row."""
        parts = [
            (here, predict(fitted, target, queries.part(here)))
            for here, fitted in self._folds(rows)
        ]
        return Forecast.joined(parts, len(rows)) if parts else predict(self.fitted, target, queries)

    def _folds(self, rows: Ints) -> Iterator[tuple[Ints, FittedGrey]]:
        """The places of the rows of each fold, and what predicts without it."""
        for fold in np.unique(self.fold_of[rows]).tolist():
            yield np.flatnonzero(self.fold_of[rows] == fold), self._without(fold)

    def _without(self, fold: int) -> FittedGrey:
        """The same panels, where the rows of a fold are no donors."""
        if fold not in self._parts:
            fitted, table = self.fitted, self.fitted.donors.table
            lacking = table.missing | (self.fold_of == fold)[:, np.newaxis]
            donors = replace(fitted.donors, table=Table(table.values, lacking, table.columns))
            self._parts[fold] = replace(fitted, donors=donors, _models={}, _held={})
        return self._parts[fold]

    def like_holes(
        self, target: int, y_is_known: bool, most: int | None = None
    ) -> tuple[Ints, Bools]:
        """Rows to hold a column out of, and what each is to lack: what the rows with holes lack.

        ``y_is_known`` says whether the class, or the response, is given.
        """
        fitted, table = self.fitted, self.fitted.donors.table
        rng = np.random.default_rng([fitted.random_state or 0, target])
        cells = self.cells(target, rng, most)
        holes = np.flatnonzero(table.missing[:, target])
        missing = table.missing[cells]
        if len(holes) and len(cells):
            patterns = table.missing[np.resize(rng.permutation(holes), len(cells))]
            # each pattern is used once, so that few rows lack more than it
            more = missing.astype(np.float32) @ (~patterns).T.astype(np.float32)
            missing = patterns[linear_sum_assignment(more)[1]]
        if table.n_columns > fitted.n_columns:
            missing = missing.copy()
            missing[:, -1] = not y_is_known
        return cells, missing


@dataclass(frozen=True, eq=False)
class Calibration:
    """Held-out cells of a column, what was predicted of them, and how far that missed.

    ``queries`` are their rows, with places in ``rows`` as own rows. ``scores`` are |residual| /
    spread in groups of a class, or one minus the probability of the true level in groups of that
    level; categories have no ``spread``. ``spreads`` are those of the cells.
    """

    rows: Ints
    queries: Queries
    forecast: Forecast
    spread: Spread | None
    spreads: Floats
    scores: Scores

    @classmethod
    def of(cls, held: HeldOutRows, target: int, y_is_known: bool) -> "Calibration":
        """That of a fitted column, made once; ``y_is_known``: the class or response is given."""
        made = held.fitted._held
        if (target, y_is_known) not in made:
            made[target, y_is_known] = cls._make(held, target, y_is_known)
        found: Calibration = made[target, y_is_known]
        return found

    @classmethod
    def _make(cls, held: HeldOutRows, target: int, y_is_known: bool) -> "Calibration":
        donors = held.fitted.donors
        rows, missing = held.like_holes(target, y_is_known)
        queries = held.queries(target, rows, missing)
        forecast, truth = held.forecast(target, rows, queries), donors.table.values[rows, target]
        queries = replace(queries, own_rows=np.arange(len(rows)))
        sizes = np.abs(forecast.residuals(truth))
        if donors.table.is_categorical[target]:
            groups = truth.astype(np.intp)
            return cls(rows, queries, forecast, None, np.ones(len(rows)), Scores.of(sizes, groups))
        spread, spreads = Spread.learn(held.fitted.model(target)[1], rows, queries, sizes)
        scores = sizes * _optimism(held.fitted, target) / spreads
        scores[is_beyond(truth, donors.seen_values(target))] = np.inf
        return cls(rows, queries, forecast, spread, spreads, Scores.of(scores, donors.labels[rows]))

    def margins(
        self, queries: Queries, outcomes: Outcomes, level: float, spreads: Floats | None = None
    ) -> Floats:
        """How far the truth may lie from what is predicted of rows; by level for categories."""
        if self.spread is None:
            n_others = int(outcomes.n_others > 0)
            levels = np.pad(outcomes.levels, ((0, 0), (0, n_others)), constant_values=NO_LEVEL)
            return self.scores.of_groups(levels, level)
        if len(queries.shares):
            quantiles = self.scores.mixed(queries.shares, level)
        else:
            quantiles = self.scores.of_groups(queries.labels, level)
        spreads = self.spread.of(queries) if spreads is None else spreads
        return np.minimum(quantiles * spreads, 1.0)[:, np.newaxis]


def _optimism(fitted: FittedGrey, target: int) -> float:
    """By what factor holes err more than held-out cells, some of which chose the panel."""
    choice, predictor = fitted.model(target)
    chose = min(len(choice.residuals) / max(len(predictor.donor_rows), 1), 1.0)
    return 1.0 + chose * (choice.optimism - 1.0)


def is_beyond(truth: Floats, seen: Floats) -> Bools:
    """Which values lie outside the range of all others: no limits within it can hold them."""
    is_least, is_most = seen == seen.min(initial=np.inf), seen == seen.max(initial=-np.inf)
    ends = [seen[ends][0] for ends in (is_least, is_most) if ends.sum() == 1]
    return np.isin(truth, ends)


@dataclass(frozen=True, eq=False)
class CellRange:
    """Limits of one column's holes: ``low`` and ``high`` for numbers, ``sets`` of levels else."""

    column: int
    rows: Ints
    low: Floats
    high: Floats
    sets: tuple[Ints, ...]


def ranges(fitted: FittedGrey, table: Table, y: Floats | None, level: float) -> Iterator[CellRange]:
    """For every column with holes, what holds the true value with probability ``level``.

    Conformal, by observed cells that are held out in rows that lack what the rows with holes lack,
    and the class or response where ``y`` does not give it. With m residuals r of cells of the same
    class and their predicted spreads s, a number lies within s times the ⌈(m + 1) · level⌉-th
    smallest |r| / s of the prediction; without a class those of all count by its probabilities. A
    level belongs to the set if one minus its probability is at most that of so many cells of it.
    """
    queries, held = new_queries(fitted, table, y), HeldOutRows.of(fitted)
    y_is_known = _y_is_known(fitted, queries)
    if fitted.donors.splits and not y_is_known.all():
        shares = posterior(fitted, queries)
        of_label = indicators(queries.labels, np.arange(fitted.donors.n_classes))
        shares = np.where(y_is_known[:, np.newaxis], of_label, shares)
        queries = replace(queries, shares=shares)
    for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
        rows = np.flatnonzero(table.missing[:, j])
        here, known = queries.part(rows), y_is_known[rows]
        forecast = predict(fitted, j, here)
        margin = np.empty((len(rows), forecast.outcomes.width))
        for is_known in np.unique(known).tolist():
            some, calibration = known == is_known, Calibration.of(held, j, is_known)
            outcomes = forecast.outcomes.part(some)
            margin[some] = calibration.margins(here.part(some), outcomes, level)
        yield _range(fitted.donors, j, rows, forecast, margin)


def _range(
    donors: DonorTable, target: int, rows: Ints, forecast: Forecast, margin: Floats
) -> CellRange:
    """The limits of some predictions of a column."""
    if donors.table.is_categorical[target]:
        sets = _sets(forecast, margin, donors.levels(target))
        return CellRange(target, rows, np.zeros(0), np.zeros(0), sets)
    low, high = (forecast.predicted - margin)[:, 0], (forecast.predicted + margin)[:, 0]
    return CellRange(target, rows, np.clip(low, 0, 1), np.clip(high, 0, 1), ())


@dataclass(frozen=True, eq=False)
class HeldOutCells(CellRange):
    """Observed cells of a column that were held out: the truth, the prediction and its limits.

    ``rows`` are rows of the donor table. Numbers are on its scale; of categories ``truth`` and
    ``predicted`` are codes, and ``probabilities`` those of the true level (none for numbers).
    """

    truth: Floats
    predicted: Floats
    probabilities: Floats


def overimpute(
    fitted: FittedGrey, target: int, level: float = 0.9, y_is_known: bool = False
) -> HeldOutCells:
    """Held-out observed cells of a column, each predicted as the cell of a new row.

    The rows lack what the rows with holes in the column lack, and y unless ``y_is_known``. Empty
    where nothing was observed.
    """
    held, donors = HeldOutRows.of(fitted), fitted.donors
    y_is_known = y_is_known or donors.table.n_columns == fitted.n_columns
    found = Calibration.of(held, target, y_is_known)
    forecast, truth = found.forecast, donors.table.values[found.rows, target]
    margin = found.margins(found.queries, forecast.outcomes, level, found.spreads)
    cells = _range(donors, target, found.rows, forecast, margin)
    is_category = donors.table.is_categorical[target]
    right = 1.0 - forecast.residuals(truth) if is_category else np.zeros(0)
    predicted = donors.fills(target, forecast)
    return HeldOutCells(
        cells.column, cells.rows, cells.low, cells.high, cells.sets, truth, predicted, right
    )


def _sets(forecast: Forecast, margin: Floats, all_levels: Ints) -> tuple[Ints, ...]:
    """The levels that are probable enough, and the most probable one.

    One array serves all rows that exclude no level.
    """
    shares, levels = forecast.shares(), forecast.outcomes.levels
    inside = 1.0 - shares <= margin
    inside[np.arange(len(shares)), shares[:, : levels.shape[1]].argmax(axis=1)] = True
    levels = np.broadcast_to(levels, (len(shares), levels.shape[1]))
    return tuple(
        all_levels if row[-1] and forecast.outcomes.n_others else codes[row[: len(codes)]]
        for row, codes in zip(inside, levels, strict=True)
    )


def _y_is_known(fitted: FittedGrey, queries: Queries) -> Bools:
    """Which rows have a class or response; all, if there is none to have."""
    if queries.missing.shape[1] == fitted.n_columns:
        return np.ones(len(queries.missing), dtype=bool)
    return np.asarray(~queries.missing[:, -1])


Numbers = Callable[..., Any]
"""Random numbers for a step of a draw, which is named by whole numbers."""


@dataclass(frozen=True, eq=False)
class CommonNumbers:
    """Random numbers of one row, which all rows get alike: each is drawn as if it were alone."""

    rng: np.random.Generator

    def random(self, shape: Any, dtype: Any = np.float64) -> Floats:
        """Uniform numbers; ``shape`` begins with the number of rows."""
        _, *rest = np.atleast_1d(shape)
        return np.broadcast_to(self.rng.random((1, *rest), dtype=dtype), shape)

    def integers(self, high: int, size: int) -> Ints:
        """The same whole number for each row."""
        return np.full(size, self.rng.integers(high))


def draws(
    fitted: FittedGrey,
    table: Table,
    y: Floats | None,
    n: int,
    seed: int | None,
    alone: bool = False,
) -> Iterator[Floats]:
    """Tables whose holes are drawn: a Bayesian bootstrap of the donors, then a residual or level.

    Donors count by Dirichlet weights, so that what was learned varies from draw to draw. Column
    after column, each given those that were drawn before, a number takes the residual of a
    held-out cell of the same class whose row lacks as much, by the ratio of the spreads of both,
    and a category a level by its probability. Where ``y``
    does not give the class, each draw first draws the class. With ``alone`` the draw of a row does
    not depend on other rows; then all rows share their luck, so they must not be pooled.
    """
    queries, held = new_queries(fitted, table, y), HeldOutRows.of(fitted)
    unlabeled = np.flatnonzero(~_y_is_known(fitted, queries))
    shares = None
    if fitted.donors.splits and len(unlabeled):
        shares = posterior(fitted, queries.part(unlabeled))
    for rng, numbers in _streams(np.random.default_rng(seed), n, alone):
        known = queries
        if shares is not None:
            places = draw_places(shares, numbers(table.n_columns + 1))
            known = queries.with_labels(fitted.donors, places, unlabeled)
        multipliers = rng.exponential(size=fitted.donors.table.n_rows)
        drawn = _draw_holes(held, table, known, multipliers, numbers)[:, : table.n_columns]
        yield np.where(table.missing, fitted.scaler.unscale(drawn), table.values)


def _streams(
    rng: np.random.Generator, n: int, alone: bool
) -> Iterator[tuple[np.random.Generator, Numbers]]:
    """For each draw what reweighs the donors, and the numbers of its later steps.

    Rows that are drawn as if alone skip the steps that they do not need, so each step has a
    generator of its own.
    """
    if not alone:
        yield from n * [(rng, lambda *_: rng)]
        return
    for draw in rng.integers(2**31, size=n).tolist():
        yield (
            np.random.default_rng(draw),
            lambda *step, draw=draw: CommonNumbers(np.random.default_rng([draw, *step])),
        )


def _draw_holes(
    held: HeldOutRows, table: Table, queries: Queries, multipliers: Floats, numbers: Numbers
) -> Floats:
    """The values of the queries with a draw in every hole, by the holes of the donors' columns."""
    values, missing = queries.values.copy(), queries.missing.copy()
    holes = held.fitted.donors.table.missing[:, : table.n_columns].sum(axis=0)
    for j in np.argsort(holes, kind="stable").tolist():
        rows = np.flatnonzero(table.missing[:, j])
        if len(rows) == 0:
            continue
        known = replace(queries, values=values, missing=missing, _features={}).part(rows)
        choice, predictor = held.fitted.model(j)
        forecast = choice.predict(replace(predictor, multipliers=multipliers, _made={}), known)
        values[rows, j] = _draw_column(held, j, forecast, known, partial(numbers, j + 1))
        missing[rows, j] = False
    return values


def _draw_column(
    held: HeldOutRows, target: int, forecast: Forecast, queries: Queries, numbers: Numbers
) -> Floats:
    """A level by its probability, or a prediction with a residual, within the seen range."""
    donors = held.fitted.donors
    if donors.table.is_categorical[target]:
        return forecast.draw(donors.levels(target), numbers()).astype(float)
    predicted, seen = forecast.predicted[:, 0], donors.seen_values(target)
    if len(seen) == 0:
        return predicted
    found = Calibration.of(held, target, y_is_known=True)
    assert found.spread is not None
    places = _alike(queries, donors.table.missing[found.rows], donors.labels[found.rows], numbers)
    rows = found.rows[places]
    own = held.queries(target, rows, queries.missing)
    residuals = held.forecast(target, rows, own).residuals(donors.table.values[rows, target])
    spreads = found.spread.of(replace(own, own_rows=places), leave_out=True)
    scales = _optimism(held.fitted, target) * found.spread.of(queries) / spreads
    drawn = predicted + residuals * scales
    return np.asarray(np.clip(drawn, seen.min(), seen.max()))


def _alike(queries: Queries, held: Bools, labels: Ints, numbers: Numbers) -> Ints:
    """For each query a held-out cell of its class, whose row lacks little else.

    A class of fewer cells than `ENOUGH` takes one of any class in the place of each that it lacks.
    """
    counts = np.bincount(labels, minlength=queries.labels.max(initial=0) + 1)
    is_own = numbers().random(len(queries.labels)) * ENOUGH < counts[queries.labels]
    out = np.empty(len(is_own), dtype=np.intp)
    for label in np.unique(np.where(is_own, queries.labels, -1)).tolist():
        here = is_own & (queries.labels == label) if label >= 0 else ~is_own
        cells = np.flatnonzero(labels == label) if label >= 0 else np.arange(len(labels))
        step = partial(numbers, label + 2)  # zeros at the end of a seed do not count
        out[here] = cells[similar_rows(queries.missing[here], held[cells], step)]
    return out


def similar_rows(missing: Bools, held: Bools, numbers: Numbers) -> Ints:
    """For each query a held-out row, drawn from those that lack least besides the query's holes.

    A row that lacks nothing else can be made to lack just what the query lacks.
    """
    n_near = int(np.ceil(CLOSEST * len(held)))
    out = np.empty(len(missing), dtype=np.intp)
    for start in range(0, len(missing), BLOCK_ROWS):
        observed = (~missing[start : start + BLOCK_ROWS]).astype(np.float32)
        more, rng = observed @ held.T.astype(np.float32), numbers()
        order = np.argsort(more + rng.random(more.shape, dtype=np.float32), axis=1)
        picked = rng.integers(n_near, size=len(order))
        out[start : start + BLOCK_ROWS] = order[np.arange(len(order)), picked]
    return out
