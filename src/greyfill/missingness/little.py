"""Little's test of missingness completely at random.

Cells are standardized, rows grouped by pattern, mean and covariance estimated by EM, and the means
of the patterns compared with them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import pinvh
from scipy.special import chdtrc

from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Kind, Table, indicators


@dataclass(frozen=True)
class LittleResult:
    """The χ² statistic, its degrees of freedom, its p-value, and the number of patterns.

    >>> LittleResult(statistic=15.45, dof=10, p_value=0.1165, n_patterns=3).dof
    10
    """

    statistic: float
    dof: int
    p_value: float
    n_patterns: int


def little_test(table: Table, *, max_iter: int = 1000, tol: float = 1e-6) -> LittleResult:
    """Test whether the holes of a table came completely at random (Little, 1988).

    d² = Σ_g n_g (x̄_g − μ̂_g)ᵀ Σ̂_g⁻¹ (x̄_g − μ̂_g) over the patterns g of observed columns, μ̂ and
    Σ̂ the maximum-likelihood estimates under normality by EM. Under (4) it is about χ² with
    Σ_g rank(Σ̂_g) − rank(Σ̂) degrees of freedom.

    Ordinal columns enter as their codes, categorical ones as indicators of all levels but the
    first; a singular Σ̂ is inverted on its range. The test assumes normality and large
    patterns: hold its p-value loosely for many categories or many small patterns. A table
    with a single pattern gives d² = 0 and p = 1. Rows and columns without any observed cell
    are left out.

    Parameters
    ----------
    table
        The table with its holes.
    max_iter, tol
        EM stops when no standardized estimate moves by more than ``tol``.

    >>> from greyfill.table import Column
    >>> x = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0], [10.0, 0.0], [11.0, 0.0]])
    >>> holes = np.zeros((6, 2), bool)
    >>> holes[4:, 1] = True
    >>> columns = (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC))
    >>> result = little_test(Table(x, holes, columns))
    >>> round(result.statistic, 3), result.dof, round(result.p_value, 3), result.n_patterns
    (5.637, 1, 0.018, 2)
    """
    if not isinstance(table, Table):
        raise InvalidDataError(
            f"expected a greyfill.table.Table, not {type(table).__name__}. Make one of a frame or "
            "an array by greyfill.frames.encode(X)[0]."
        )
    cells, seen = _standardized_cells(table)
    patterns = _patterns(cells, seen)
    mean, cov = _em(patterns, cells.T @ cells / len(cells), max_iter, tol)
    statistic, ranks = 0.0, 0
    for g in patterns:
        inverse, rank = _inverse(cov[np.ix_(g.seen, g.seen)])
        gap = g.mean - mean[g.seen]
        statistic += g.n * float(gap @ inverse @ gap)
        ranks += rank
    dof = ranks - _inverse(cov)[1]
    if dof <= 0:
        return LittleResult(0.0, 0, 1.0, len(patterns))
    return LittleResult(statistic, dof, float(chdtrc(dof, statistic)), len(patterns))


def _standardized_cells(table: Table) -> tuple[Floats, Bools]:
    """Columns with mean 0 and deviation 1 over their observed cells, and which are observed.

    A category becomes the indicators of all its observed levels but the first.
    """
    parts, masks = [], []
    for j in np.flatnonzero(~table.missing.all(axis=0)).tolist():
        values, seen = table.values[:, [j]], ~table.missing[:, [j]]
        if table.columns[j].kind is Kind.CATEGORICAL:
            levels = np.unique(values[seen])
            values = indicators(values[:, 0], levels[min(1, len(levels) - 1) :])
        parts.append(values)
        masks.append(np.broadcast_to(seen, values.shape))
    if not parts:
        raise InvalidDataError("the table has no observed cell to test")
    cells, seen = np.hstack(parts), np.hstack(masks)
    count = seen.sum(axis=0)
    _, size = np.frexp(np.abs(cells).max(axis=0, where=seen, initial=0.0))
    cells = np.ldexp(cells, -2 - size)  # a power of two changes no digit, and no square overflows
    low = np.min(cells, axis=0, where=seen, initial=np.inf)
    varies = seen & (np.max(cells, axis=0, where=seen, initial=-np.inf) > low)
    # only there: the mean of equal cells may be rounded
    centered = np.where(varies, cells - np.sum(cells, axis=0, where=seen) / count, 0.0)
    sd = np.sqrt(np.sum(centered**2, axis=0) / count)
    return centered / np.where(sd > 0, sd, 1.0), seen


@dataclass(frozen=True)
class _Pattern:
    """Rows with the same cells observed, by their sufficient statistics."""

    seen: Bools
    n: int
    mean: Floats
    scatter: Floats


def _patterns(cells: Floats, seen: Bools) -> list[_Pattern]:
    """Group the rows that have an observed cell by their pattern."""
    cells, seen = cells[seen.any(axis=1)], seen[seen.any(axis=1)]
    kinds, group = np.unique(seen, axis=0, return_inverse=True)
    patterns = []
    for g, kind in enumerate(kinds):
        rows = cells[group.ravel() == g][:, kind]
        gaps = rows - rows.mean(axis=0)
        patterns.append(_Pattern(kind, len(rows), rows.mean(axis=0), gaps.T @ gaps))
    return patterns


def _em(patterns: list[_Pattern], cov: Floats, max_iter: int, tol: float) -> tuple[Floats, Floats]:
    """Estimate mean and covariance of a normal sample with holes by maximum likelihood.

    Each pass takes the expected moments of the complete table for the next estimates. Starting from
    the mean-filled covariance keeps exact linear ties between columns exact.
    """
    mean, n = np.zeros(len(cov)), sum(g.n for g in patterns)
    for _ in range(max_iter):
        first, second = np.zeros_like(mean), np.zeros_like(cov)
        for g in patterns:
            gap = g.mean - mean[g.seen]
            expand = cov[:, g.seen] @ _inverse(cov[np.ix_(g.seen, g.seen)])[0]
            expand[g.seen] = np.eye(len(gap))
            rest = cov - expand @ cov[g.seen]
            rest[g.seen], rest[:, g.seen] = 0.0, 0.0
            first += g.n * expand @ gap
            second += expand @ (g.scatter + g.n * np.outer(gap, gap)) @ expand.T + g.n * rest
        shift = first / n
        new_cov = second / n - np.outer(shift, shift)
        move = max(np.abs(shift).max(), np.abs(new_cov - cov).max())
        mean, cov = mean + shift, new_cov
        if move < tol:
            break
    return mean, cov


def _inverse(cov: Floats) -> tuple[Floats, int]:
    """Inverse on the range of a symmetric matrix, and its rank."""
    inverse, rank = pinvh(cov, rtol=1e-8, return_rank=True)
    return np.asarray(inverse, dtype=np.float64), int(rank)
