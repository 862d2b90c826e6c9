"""Uncertainty: intervals from held-out cells, and draws for multiple imputation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.tuned.engine import Tuned, ask, posterior, predict
from greyfill._neighbors.tuned.ground import Queries
from greyfill._neighbors.tuned.holding import HeldOut, alike, misses
from greyfill._neighbors.tuned.outcomes import Forecast, pick
from greyfill.table import Bools, Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class CellRange:
    """Limits of one column's holes: ``low`` and ``high`` for numbers, ``sets`` of levels else."""

    column: int
    rows: Ints
    low: Floats
    high: Floats
    sets: tuple[Ints, ...]


def ranges(tuned: Tuned, table: Table, told: Floats | None, level: float) -> Iterator[CellRange]:
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


def _is_told(tuned: Tuned, queries: Queries) -> Bools:
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
    tuned: Tuned, table: Table, told: Floats | None, n: int, seed: int | None
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
