"""Uncertainty: intervals from held-out cells, and draws for multiple imputation."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import FittedGrey, new_queries, posterior, predict
from greyfill._grey.outcomes import Forecast, draw_places
from greyfill._grey.selection import LARGE
from greyfill.table import Bools, Floats, Ints, Table

FOLDS = 5
MAX_HELD = 1_000
"""Rows of a large table that are held out, all at once."""

CLOSEST = 0.2
"""The share of the held-out cells, of the rows that lack least besides a query's holes."""

BLOCK_ROWS = 4_096


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

    def cells(self, target: int, rng: np.random.Generator) -> Ints:
        """Some of the held-out rows with an observed target."""
        observed = ~self.fitted.donors.table.missing[:, target] & (self.fold_of >= 0)
        return rng.permutation(np.flatnonzero(observed))[: self.fitted.n_cells]

    def forecast(self, target: int, rows: Ints, missing: Bools) -> Forecast:
        """Predictions of a column in some rows, if these also lack what ``missing`` marks."""
        own = Queries.of(self.fitted.donors, rows).without(target)
        no_rows = np.full(len(rows), -1, np.intp)
        queries = replace(own, missing=own.missing | missing, own_rows=no_rows, _features={})
        parts = []
        for fold in np.unique(self.fold_of[rows]).tolist():
            here = np.flatnonzero(self.fold_of[rows] == fold)
            parts.append((here, predict(self._without(fold), target, queries.part(here))))
        if not parts:
            return predict(self.fitted, target, queries)
        return Forecast.joined(parts, len(rows))

    def residuals(self, target: int, rows: Ints, missing: Bools) -> Floats:
        """Residuals of a column in some rows, if these also lack what ``missing`` marks.

        For numbers true minus predicted, for categories one minus the probability of the true
        level.
        """
        truth = self.fitted.donors.table.values[rows, target]
        return self.forecast(target, rows, missing).residuals(truth)

    def _without(self, fold: int) -> FittedGrey:
        """The same panels, where the rows of a fold are no donors."""
        if fold not in self._parts:
            fitted, table = self.fitted, self.fitted.donors.table
            lacking = table.missing | (self.fold_of == fold)[:, np.newaxis]
            donors = replace(fitted.donors, table=Table(table.values, lacking, table.columns))
            self._parts[fold] = replace(fitted, donors=donors, _models={})
        return self._parts[fold]

    def like_holes(self, target: int, y_is_known: bool) -> tuple[Ints, Bools]:
        """Rows to hold a column out of, and what each is to lack: what the rows with holes lack.

        ``y_is_known`` says whether the class, or the response, is given.
        """
        fitted, table = self.fitted, self.fitted.donors.table
        rng = np.random.default_rng([fitted.random_state or 0, target])
        cells = self.cells(target, rng)
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


def similar_rows(missing: Bools, held: Bools, rng: np.random.Generator) -> Ints:
    """For each query a held-out row, drawn from those that lack least besides the query's holes.

    A row that lacks nothing else can be made to lack just what the query lacks.
    """
    n_near = int(np.ceil(CLOSEST * len(held)))
    out = np.empty(len(missing), dtype=np.intp)
    for start in range(0, len(missing), BLOCK_ROWS):
        observed = (~missing[start : start + BLOCK_ROWS]).astype(np.float32)
        more = observed @ held.T.astype(np.float32)
        order = np.argsort(more + rng.random(more.shape, dtype=np.float32), axis=1)
        picked = rng.integers(n_near, size=len(order))
        out[start : start + BLOCK_ROWS] = order[np.arange(len(order)), picked]
    return out


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

    Conformal: with m residuals r of held-out cells, a number lies within the ⌈(m + 1) · level⌉-th
    smallest |r| of the prediction, and a level belongs to the set if one minus its probability is
    at most that of so many true levels. Cells are held out twice: when panels were compared, and
    here, in rows that lack what the rows with holes lack, and the class or response where ``y``
    does not give it. The wider margin counts.
    """
    queries, held = new_queries(fitted, table, y), HeldOutRows.of(fitted)
    y_is_known = _y_is_known(fitted, queries)
    for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
        rows = np.flatnonzero(table.missing[:, j])
        forecast = predict(fitted, j, queries.part(rows))
        yield _range(held, j, rows, forecast, y_is_known[rows], level)


def _range(
    held: HeldOutRows, target: int, rows: Ints, forecast: Forecast, y_is_known: Bools, level: float
) -> CellRange:
    """The limits of some predictions of a column."""
    margin = _margins(held, target, y_is_known, level)
    if held.fitted.donors.table.is_categorical[target]:
        sets = _sets(forecast, margin, held.fitted.donors.levels(target))
        return CellRange(target, rows, np.zeros(0), np.zeros(0), sets)
    low, high = forecast.predicted[:, 0] - margin, forecast.predicted[:, 0] + margin
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


def overimpute(fitted: FittedGrey, target: int, level: float = 0.9) -> HeldOutCells:
    """Held-out observed cells of a column, each predicted as the cell of a new row without y.

    The rows lack what the rows with holes in the column lack. Empty where nothing was observed.
    """
    held, donors = HeldOutRows.of(fitted), fitted.donors
    rows, missing = held.like_holes(target, y_is_known=donors.table.n_columns == fitted.n_columns)
    forecast, truth = held.forecast(target, rows, missing), donors.table.values[rows, target]
    found = _range(held, target, rows, forecast, np.zeros(len(rows), dtype=bool), level)
    right = np.zeros(0)
    if donors.table.is_categorical[target]:
        right = 1.0 - forecast.residuals(truth)
    parts = found.column, rows, found.low, found.high, found.sets
    return HeldOutCells(*parts, truth, donors.fills(target, forecast), right)


def _sets(forecast: Forecast, margin: Floats, all_levels: Ints) -> tuple[Ints, ...]:
    """The levels that are probable enough, and the most probable one.

    One array serves all rows that exclude no level.
    """
    shares, levels = forecast.shares(), forecast.outcomes.levels
    inside = 1.0 - shares <= margin[:, np.newaxis]
    inside[np.arange(len(margin)), shares[:, : levels.shape[1]].argmax(axis=1)] = True
    levels = np.broadcast_to(levels, (len(margin), levels.shape[1]))
    return tuple(
        all_levels if row[-1] and forecast.outcomes.n_others else codes[row[: len(codes)]]
        for row, codes in zip(inside, levels, strict=True)
    )


def _y_is_known(fitted: FittedGrey, queries: Queries) -> Bools:
    """Which rows have a class or response; all, if there is none to have."""
    if queries.missing.shape[1] == fitted.n_columns:
        return np.ones(len(queries.missing), dtype=bool)
    return np.asarray(~queries.missing[:, -1])


def _margins(held: HeldOutRows, target: int, y_is_known: Bools, level: float) -> Floats:
    """The wider margin of each row, with y or without it."""
    compared = held.fitted.model(target)[0].residuals
    is_untuned = target not in held.fitted.choices  # no cell was compared: only like_holes counts
    out = np.full(len(y_is_known), 0.0 if is_untuned else _margin(compared, level))
    for known in np.unique(y_is_known):
        here = y_is_known == known
        out[here] = np.maximum(
            out[here], _margin(held.residuals(target, *held.like_holes(target, bool(known))), level)
        )
    return out


def _margin(residuals: Floats, level: float) -> float:
    """The conformal quantile of |residuals|; everything where there are too few."""
    needed = int(np.ceil((len(residuals) + 1) * level))
    if needed > len(residuals):
        return 1.0
    return float(np.sort(np.abs(residuals))[needed - 1])


def draws(
    fitted: FittedGrey, table: Table, y: Floats | None, n: int, seed: int | None
) -> Iterator[Floats]:
    """Tables whose holes are drawn: a Bayesian bootstrap of the donors, then a residual or level.

    Donors count by Dirichlet weights, so that what was learned varies from draw to draw. Column
    after column, each given those that were drawn before, a number takes the residual of a
    held-out cell whose row lacks as much, and a category a level by its probability. Where ``y``
    does not give the class, each draw first draws the class.
    """
    rng = np.random.default_rng(seed)
    queries, held = new_queries(fitted, table, y), HeldOutRows.of(fitted)
    unlabeled = np.flatnonzero(~_y_is_known(fitted, queries))
    shares = None
    if fitted.donors.splits and len(unlabeled):
        shares = posterior(fitted, queries.part(unlabeled))
    for _ in range(n):
        known = queries
        if shares is not None:
            known = queries.with_labels(fitted.donors, draw_places(shares, rng), unlabeled)
        drawn = _draw_holes(held, table, known, rng)[:, : table.n_columns]
        yield np.where(table.missing, fitted.scaler.unscale(drawn), table.values)


def _draw_holes(
    held: HeldOutRows, table: Table, queries: Queries, rng: np.random.Generator
) -> Floats:
    """The values of the queries with a draw in every hole, columns with the fewest holes first."""
    values, missing = queries.values.copy(), queries.missing.copy()
    multipliers = rng.exponential(size=held.fitted.donors.table.n_rows)
    holes = table.missing.sum(axis=0)
    for j in np.argsort(holes, kind="stable")[(holes == 0).sum() :].tolist():
        rows = np.flatnonzero(table.missing[:, j])
        known = replace(queries, values=values, missing=missing, _features={}).part(rows)
        choice, predictor = held.fitted.model(j)
        forecast = choice.predict(replace(predictor, multipliers=multipliers, _made={}), known)
        values[rows, j] = _draw_column(held, j, forecast, known.missing, rng)
        missing[rows, j] = False
    return values


def _draw_column(
    held: HeldOutRows, target: int, forecast: Forecast, missing: Bools, rng: np.random.Generator
) -> Floats:
    """A level by its probability, or a prediction with a residual, within the seen range."""
    donors = held.fitted.donors
    if donors.table.is_categorical[target]:
        return forecast.draw(donors.levels(target), rng).astype(float)
    predicted, seen = forecast.predicted[:, 0], donors.seen_values(target)
    if len(seen) == 0:
        return predicted
    cells = held.cells(target, rng)
    cells = cells[similar_rows(missing, donors.table.missing[cells], rng)]
    drawn = predicted + held.residuals(target, cells, missing)
    return np.asarray(np.clip(drawn, seen.min(), seen.max()))
