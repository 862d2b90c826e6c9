"""Estimates of filled tables with their intervals, and the shift at which they tip."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from greyfill import frames
from greyfill.pooling import pool
from greyfill.table import Floats
from greyfill.targets import Meaning, Target


@dataclass(frozen=True, eq=False)
class Estimate:
    """A function of a filled table that gives an estimate and its variance, NaN where unknown.

    ``df`` are the degrees of freedom that it would have without holes.
    """

    what: str
    measure: Callable[[Floats], tuple[float, float]]
    df: float | None = None

    def pooled(
        self, tables: list[Floats], confidence: float
    ) -> tuple[float, float | None, float | None]:
        """The mean over some filled tables, and the limits of its interval where there are any."""
        estimates, variances = np.transpose([self.measure(values) for values in tables])
        if len(tables) == 1 or not np.isfinite([estimates, variances]).all():
            return float(np.mean(estimates)), None, None
        pooled = pool(estimates, variances, df_complete=self.df)
        return pooled.estimate, *pooled.interval(confidence)


def usual_estimate(j: int, code: int | None, known: Target, about: frames.Field) -> Estimate:
    """The contrast of the two largest classes, the slope of a continuous y, or the column's mean.

    Of a category it is that of the indicator of a level.
    """

    def cells(values: Floats) -> Floats:
        return values[:, j] if code is None else (values[:, j] == code).astype(float)

    what = f"mean of {about.name}" if code is None else f"share of {about.levels[code]}"
    if known.meaning is Meaning.RESPONSE:
        observed, y = known.codes >= 0, known.response
        on = about.name if code is None else f"{about.name} = {about.levels[code]}"
        return Estimate(
            f"slope of y on {on}",
            lambda values: _slope(cells(values)[observed], y[observed]),
            max(float(observed.sum() - 2), 1.0),
        )
    if len(known.classes) < 2:
        return Estimate(what, lambda values: _mean(cells(values)), len(known.codes) - 1.0)
    sizes = np.bincount(known.codes[known.codes >= 0], minlength=len(known.classes))
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2])

    def contrast(values: Floats) -> tuple[float, float]:
        (a, of_a), (b, of_b) = (_mean(cells(values)[known.codes == c]) for c in (first, second))
        return b - a, of_a + of_b

    names = f"{what}: {known.classes[second]} − {known.classes[first]}"
    return Estimate(names, contrast, max(float(sizes[first] + sizes[second] - 2), 1.0))


def _mean(cells: Floats) -> tuple[float, float]:
    """The mean and its variance, NaN of fewer than two cells."""
    n = len(cells)
    return float(np.mean(cells)), float(np.var(cells, ddof=1)) / n if n > 1 else np.nan


def _slope(x: Floats, y: Floats) -> tuple[float, float]:
    """The slope of least squares and its variance, NaN where x does not vary."""
    x, y = x - x.mean(), y - y.mean()
    square = float(x @ x)
    if square == 0.0:
        return np.nan, np.nan
    slope, df = float(x @ y) / square, len(x) - 2
    return slope, float(((y - slope * x) ** 2).sum()) / df / square if df > 0 else np.nan


def own_estimate(estimate: Callable[[Any, Any], Any], origin: frames.Origin, y: Any) -> Estimate:
    """A user's estimate, of the filled table in the library that it came in."""
    n_columns = len(origin.schema.fields)

    def measure(values: Floats) -> tuple[float, float]:
        found = estimate(frames.decode(values[:, :n_columns], origin), y)
        value, variance = found if isinstance(found, tuple) else (found, np.nan)
        return float(value), float(variance)

    return Estimate("your estimate", measure)


def tipping_point(deltas: ArrayLike, estimates: ArrayLike, threshold: float) -> float | None:
    """The δ nearest to 0 at which the estimate reaches or crosses the threshold.

    >>> tipping_point(np.array([-1.0, 0.0, 1.0]), np.array([4.0, 3.0, -1.0]), 0.0)
    0.75
    >>> tipping_point(np.array([-1.0, 0.0, 1.0]), np.array([4.0, 3.0, 2.0]), 0.0)
    """
    deltas, gaps = np.asarray(deltas), np.asarray(estimates) - threshold
    left, right = gaps[:-1], gaps[1:]
    at = np.flatnonzero(left * right < 0.0)
    crossings = deltas[at] + np.diff(deltas)[at] * left[at] / (left - right)[at]
    return min([*deltas[gaps == 0.0].tolist(), *crossings.tolist()], key=abs, default=None)


def interval_tipping_point(table: pl.DataFrame, threshold: float) -> float | None:
    """The δ nearest to 0 at which the interval reaches the threshold.

    >>> limits = {"delta": [0.0, 1.0], "estimate": [3.0, 1.0], "low": [2.0, -2.0], "high": [4.0, 4]}
    >>> interval_tipping_point(pl.DataFrame(limits), 0.0), interval_tipping_point(
    ...     pl.DataFrame(limits), 2.5
    ... )
    (0.5, 0.0)
    """
    if table["low"].null_count():
        return None
    start = table.row(table["delta"].to_list().index(0.0), named=True)
    if start["low"] <= threshold <= start["high"]:
        return 0.0
    near = "low" if start["low"] > threshold else "high"
    return tipping_point(table["delta"], table[near], threshold)
