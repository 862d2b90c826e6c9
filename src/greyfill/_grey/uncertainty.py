"""Uncertainty: intervals from held-out cells, and draws for multiple imputation."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from greyfill._grey.candidates import Forecast, pick
from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import FittedGrey, ask, posterior, predict
from greyfill._grey.selection import LARGE
from greyfill.table import Bools, Floats, Ints, Table

FOLDS = 5
MAX_HELD = 1_000
"""Rows of a large table that are held out, all at once."""

CLOSEST = 0.2
"""The share of the held cells whose rows lack least beside what is asked for."""

BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows of the ground in folds, −1 where a row is never held out.

    A cell is predicted without any row of its fold, as a new row would be.
    """

    tuned: FittedGrey
    fold_of: Ints
    _parts: dict[int, FittedGrey] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, tuned: FittedGrey) -> "HeldOut":
        """Five folds; one of some rows where there are many."""
        n_rows = tuned.ground.table.n_rows
        order = np.random.default_rng(tuned.random_state).permutation(n_rows)
        if n_rows > LARGE:
            return cls(tuned, np.where(order < MAX_HELD, 0, -1))
        return cls(tuned, order % FOLDS)

    def cells(self, target: int, rng: np.random.Generator) -> Ints:
        """Some of the held rows that know a column."""
        known = ~self.tuned.ground.table.missing[:, target] & (self.fold_of >= 0)
        return rng.permutation(np.flatnonzero(known))[: self.tuned.n_cells]

    def missed(self, target: int, rows: Ints, missing: Bools) -> Floats:
        """What is missed in cells of a column, if their rows also lack what ``missing`` says.

        For numbers true minus predicted, for categories one minus the probability of the true
        level.
        """
        table = self.tuned.ground.table
        lacking = table.missing[rows] | missing
        lacking[:, target] = True
        labels = self.tuned.ground.labels[rows]
        queries = Queries(table.values[rows], lacking, labels, np.full(len(rows), -1, np.intp))
        out = np.empty(len(rows))
        for fold in np.unique(self.fold_of[rows]):
            here = self.fold_of[rows] == fold
            found = predict(self._without(int(fold), target), target, queries.part(here))
            out[here] = found.residuals(table.values[rows[here], target])
        return out

    def _without(self, fold: int, target: int) -> FittedGrey:
        """The same, where the rows of a fold know nothing that they could give."""
        tuned, ground = self.tuned, self.tuned.ground
        for column in (target, ground.class_column):  # tuned on all rows, before any is left out
            if column == target or ground.splits:
                tuned.choice(column)
        if fold not in self._parts:
            silent = ground.table.missing | (self.fold_of == fold)[:, np.newaxis]
            table = Table(ground.table.values, silent, ground.table.columns)
            self._parts[fold] = replace(tuned, ground=replace(ground, table=table), _askers={})
        return self._parts[fold]


def alike(asked: Bools, held: Bools, rng: np.random.Generator) -> Ints:
    """For each row that is asked for a held one, drawn from those that lack least beside its holes.

    A row that lacks nothing else can be made to lack just what the asked one lacks.
    """
    n_near = int(np.ceil(CLOSEST * len(held)))
    out = np.empty(len(asked), dtype=np.intp)
    for start in range(0, len(asked), BLOCK_ROWS):
        known = (~asked[start : start + BLOCK_ROWS]).astype(np.float32)
        more = known @ held.T.astype(np.float32)
        order = np.argsort(more + rng.random(more.shape, dtype=np.float32), axis=1)
        picked = rng.integers(n_near, size=len(order))
        out[start : start + BLOCK_ROWS] = order[np.arange(len(order)), picked]
    return out


def misses(held: HeldOut, target: int, is_told: bool) -> Floats:
    """What is missed in cells of a column, in rows that lack what the column's holes' rows lack.

    ``is_told`` says whether the class, or the response, is known.
    """
    tuned = held.tuned
    table = tuned.ground.table
    rng = np.random.default_rng([tuned.random_state or 0, target])
    cells = held.cells(target, rng)
    holes = np.flatnonzero(table.missing[:, target])
    missing = table.missing[cells]
    if len(holes) and len(cells):
        missing = _shared_out(missing, table.missing[np.resize(rng.permutation(holes), len(cells))])
    if table.n_columns > len(tuned.scaler.low):
        missing = missing.copy()
        missing[:, -1] = not is_told
    return held.missed(target, cells, missing)


def _shared_out(held: Bools, like: Bools) -> Bools:
    """A pattern of holes for each held row, each used once, so that few rows lack more than it."""
    more = held.astype(np.float32) @ (~like).T.astype(np.float32)
    return np.asarray(like[linear_sum_assignment(more)[1]])


@dataclass(frozen=True, eq=False)
class CellRange:
    """Limits of one column's holes: ``low`` and ``high`` for numbers, ``sets`` of levels else."""

    column: int
    rows: Ints
    low: Floats
    high: Floats
    sets: tuple[Ints, ...]


def ranges(
    tuned: FittedGrey, table: Table, told: Floats | None, level: float
) -> Iterator[CellRange]:
    """For every column with holes, what holds the true value with probability ``level``.

    Conformal: with the m misses r of held-out cells, a number lies within the ⌈(m + 1) · level⌉-th
    smallest |r| of the prediction, and a level belongs to the set if one minus its probability is
    at most that of so many true levels. Cells are held out twice: when panels were compared, and
    here, in rows that lack what the rows with holes lack, and the class or response if it is not
    ``told``. The wider margin counts.
    """
    queries, held = ask(tuned, table, told), HeldOut.of(tuned)
    for j in np.flatnonzero(table.missing.any(axis=0)):
        rows = np.flatnonzero(table.missing[:, j])
        forecast = predict(tuned, int(j), queries.part(rows))
        margin = _margins(held, int(j), _is_told(tuned, queries)[rows], level)
        if table.is_categorical[j]:
            sets = _sets(forecast, margin, tuned.ground.levels(int(j)))
            yield CellRange(int(j), rows, np.zeros(0), np.zeros(0), sets)
        else:
            low, high = forecast.found[:, 0] - margin, forecast.found[:, 0] + margin
            yield CellRange(int(j), rows, np.clip(low, 0, 1), np.clip(high, 0, 1), ())


def _sets(forecast: Forecast, margin: Floats, everything: Ints) -> tuple[Ints, ...]:
    """The levels that are likely enough, and the likeliest; one array serves all that lack none."""
    shares, levels = forecast.shares(), forecast.outcomes.levels
    inside = 1.0 - shares <= margin[:, np.newaxis]
    inside[np.arange(len(margin)), shares[:, : levels.shape[1]].argmax(axis=1)] = True
    levels = np.broadcast_to(levels, (len(margin), levels.shape[1]))
    return tuple(
        everything if row[-1] and forecast.outcomes.n_others else codes[row[: len(codes)]]
        for row, codes in zip(inside, levels, strict=True)
    )


def _is_told(tuned: FittedGrey, queries: Queries) -> Bools:
    """Whose class or response is known; all rows, if there is none to know."""
    if queries.missing.shape[1] == len(tuned.scaler.low):
        return np.ones(len(queries.missing), dtype=bool)
    return np.asarray(~queries.missing[:, -1])


def _margins(held: HeldOut, target: int, is_told: Bools, level: float) -> Floats:
    out = np.full(len(is_told), _margin(held.tuned.choice(target).residuals, level))
    for told in np.unique(is_told):
        here = is_told == told
        out[here] = np.maximum(out[here], _margin(misses(held, target, bool(told)), level))
    return out


def _margin(residuals: Floats, level: float) -> float:
    """The conformal quantile of |residuals|; everything where there are too few."""
    needed = int(np.ceil((len(residuals) + 1) * level))
    if needed > len(residuals):
        return 1.0
    return float(np.sort(np.abs(residuals))[needed - 1])


def draws(
    tuned: FittedGrey, table: Table, told: Floats | None, n: int, seed: int | None
) -> Iterator[Floats]:
    """Tables whose holes are drawn: a Bayesian bootstrap of the donors, then a residual or level.

    Donors count by Dirichlet weights, so that what was learned varies from draw to draw. Column
    after column, each given those that were drawn before, a number takes what was missed in a
    held-out cell whose row lacks as much, and a category a level by its probability. Where the
    class is not ``told``, each draw first draws the class.
    """
    rng = np.random.default_rng(seed)
    queries, held = ask(tuned, table, told), HeldOut.of(tuned)
    nameless = np.flatnonzero(~_is_told(tuned, queries))
    shares = None
    if tuned.ground.splits and len(nameless):
        shares = posterior(tuned, queries.part(nameless))
    for _ in range(n):
        values, missing = queries.values.copy(), queries.missing.copy()
        known = replace(queries, values=values, missing=missing, labels=queries.labels.copy())
        if shares is not None:
            known.labels[nameless] = pick(shares, rng)
            values[nameless, -1], missing[nameless, -1] = known.labels[nameless], False
        _draw_holes(held, table, known, rng)
        drawn = tuned.scaler.unscale(values[:, : table.n_columns])
        yield np.where(table.missing, drawn, table.values)


def _draw_holes(held: HeldOut, table: Table, known: Queries, rng: np.random.Generator) -> None:
    """Write a draw into every hole of ``known``, the columns with the fewest holes first."""
    tuned = held.tuned
    multipliers = rng.exponential(size=tuned.ground.table.n_rows)
    holes = table.missing.sum(axis=0)
    for j in np.argsort(holes, kind="stable")[(holes == 0).sum() :].tolist():
        rows = np.flatnonzero(table.missing[:, j])
        asker = replace(tuned.asker(j), multipliers=multipliers, _sums={})
        forecast = tuned.choice(j).predict(asker, known.part(rows))
        known.values[rows, j] = _draw(held, j, forecast, known.missing[rows], rng)
        known.missing[rows, j] = False


def _draw(
    held: HeldOut, target: int, forecast: Forecast, missing: Bools, rng: np.random.Generator
) -> Floats:
    table = held.tuned.ground.table
    if table.is_categorical[target]:
        return forecast.drawn(held.tuned.ground.levels(target), rng).astype(float)
    known = table.values[~table.missing[:, target], target]
    if len(known) == 0:
        return forecast.found[:, 0]
    cells = held.cells(target, rng)
    cells = cells[alike(missing, table.missing[cells], rng)]
    drawn = forecast.found[:, 0] + held.missed(target, cells, missing)
    return np.asarray(np.clip(drawn, known.min(), known.max()))
