"""Uncertainty: intervals from left-out cells, and draws for multiple imputation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.tuned.choosing import as_shares
from greyfill._neighbors.tuned.engine import Tuned, ask, posterior, predict
from greyfill._neighbors.tuned.ground import Queries
from greyfill.table import Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class CellRange:
    """Limits of one column's holes: ``low`` and ``high`` for numbers, ``sets`` of levels else."""

    column: int
    rows: Ints
    low: Floats
    high: Floats
    sets: tuple[Ints, ...]


def ranges(tuned: Tuned, table: Table, labels: Ints | None, level: float) -> Iterator[CellRange]:
    """For every column with holes, what holds the true value with probability ``level``.

    Split conformal: with the m residuals r of left-out cells, a number lies within the
    ⌈(m + 1) · level⌉-th smallest |r| of the prediction, and a level belongs to the set if one minus
    its probability is at most that of so many true levels.
    """
    queries = _with_labels(tuned, ask(tuned, table), labels)
    for j in np.flatnonzero(table.missing.any(axis=0)):
        rows = np.flatnonzero(table.missing[:, j])
        found = _predict(tuned, int(j), queries.part(rows), labels is not None)
        margin = _margin(tuned.choice(int(j)).residuals, level)
        if table.is_categorical[j]:
            shares = as_shares(found)
            inside = 1.0 - shares <= margin
            inside[np.arange(len(rows)), shares.argmax(axis=1)] = True
            sets = tuple(np.flatnonzero(row) for row in inside)
            yield CellRange(int(j), rows, np.zeros(0), np.zeros(0), sets)
        else:
            low, high = found[:, 0] - margin, found[:, 0] + margin
            yield CellRange(int(j), rows, np.clip(low, 0, 1), np.clip(high, 0, 1), ())


def _margin(residuals: Floats, level: float) -> float:
    """The conformal quantile of |residuals|; everything where there are too few."""
    needed = int(np.ceil((len(residuals) + 1) * level))
    if needed > len(residuals):
        return 1.0
    return float(np.sort(np.abs(residuals))[needed - 1])


def draws(
    tuned: Tuned, table: Table, labels: Ints | None, n: int, seed: int | None
) -> Iterator[Floats]:
    """Tables whose holes are drawn: a Bayesian bootstrap of the donors, then a residual or level.

    Donors count by Dirichlet weights, so that what was learned varies from draw to draw; then a
    number takes a random residual of the left-out cells, a category a level by its probability.
    Where labels are unknown, each draw first draws the class.
    """
    rng = np.random.default_rng(seed)
    queries = ask(tuned, table)
    shares = posterior(tuned, queries) if tuned.ground.has_classes and labels is None else None
    for _ in range(n):
        classes = labels if shares is None else _pick(shares, rng)
        known = _with_labels(tuned, queries, classes)
        multipliers = rng.exponential(size=tuned.ground.table.n_rows)
        values = queries.values[:, : table.n_columns].copy()
        for j in np.flatnonzero(table.missing.any(axis=0)):
            rows = np.flatnonzero(table.missing[:, j])
            choice = tuned.choice(int(j))
            asker = replace(tuned.asker(int(j)), multipliers=multipliers, _sums={})
            found = choice.predict(asker, known.part(rows))
            values[rows, j] = _draw(tuned, int(j), found, choice.residuals, rng)
        yield np.where(table.missing, tuned.scaler.unscale(values), table.values)


def _draw(
    tuned: Tuned, target: int, found: Floats, residuals: Floats, rng: np.random.Generator
) -> Floats:
    table = tuned.ground.table
    if table.is_categorical[target]:
        return _pick(np.clip(found, 0.0, None), rng).astype(float)
    known = table.values[~table.missing[:, target], target]
    misses = residuals if len(residuals) else known - known.mean() if len(known) else np.zeros(1)
    drawn = found[:, 0] + rng.choice(misses, size=len(found))
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    return np.asarray(np.clip(drawn, low, high))


def _pick(shares: Floats, rng: np.random.Generator) -> Ints:
    """A column of each row by its share."""
    sums = np.cumsum(shares, axis=1)
    place = rng.random((len(shares), 1)) * sums[:, -1:]
    return np.asarray((place >= sums).sum(axis=1).clip(max=shares.shape[1] - 1), dtype=np.intp)


def _with_labels(tuned: Tuned, queries: Queries, labels: Ints | None) -> Queries:
    """The same rows with known classes."""
    if labels is None or not tuned.ground.has_classes:
        return queries
    values, missing = queries.values.copy(), queries.missing.copy()
    values[:, -1], missing[:, -1] = labels, labels < 0
    return replace(queries, values=values, missing=missing, labels=labels)


def _predict(tuned: Tuned, target: int, queries: Queries, labeled: bool) -> Floats:
    if labeled:
        return tuned.choice(target).predict(tuned.asker(target), queries)
    return predict(tuned, target, queries)
