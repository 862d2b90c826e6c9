"""Bring columns to [−1, 1], so that no square overflows and float32 keeps its digits."""

from dataclasses import dataclass

import numpy as np

from greyfill.table import Floats, Table

LARGEST = float(np.finfo(np.float64).max)

FAR = 1e6
"""Scaled cells of new rows stop here: a million half-ranges from the middle."""


@dataclass(frozen=True, eq=False)
class Scaler:
    """Middle and half-range of the observed cells of each column: (v − center) / scale.

    Where ``low`` and ``high`` are known, rounding carries no value out of them on the way back.

    >>> from greyfill.table import Column, Kind
    >>> values = np.array([[2.0], [6.0], [0.0]])
    >>> table = Table(values, values == 0.0, (Column("a", Kind.NUMERIC),))
    >>> Scaler.learn(table).scale(values)
    array([[-1.],
           [ 1.],
           [-2.]])
    """

    center: Floats
    half_range: Floats
    low: Floats | None = None
    high: Floats | None = None

    @classmethod
    def learn(cls, table: Table) -> "Scaler":
        """From the observed cells; a column without any, or with one value, has half-range 1."""
        low = np.where(table.missing, np.inf, table.values).min(axis=0, initial=np.inf)
        high = np.where(table.missing, -np.inf, table.values).max(axis=0, initial=-np.inf)
        seen = low <= high
        low, high = np.where(seen, low, 0.0), np.where(seen, high, 0.0)
        half_range = high / 2 - low / 2
        return cls(low / 2 + high / 2, np.where(half_range > 0.0, half_range, 1.0), low, high)

    def scale(self, values: Floats) -> Floats:
        """All columns, scaled and kept within ±FAR."""
        with np.errstate(over="ignore"):
            scaled = values / self.half_range - self.center / self.half_range
        return np.asarray(np.clip(scaled, -FAR, FAR))

    def column(self, j: int) -> "Scaler":
        """The scaler of one column, for arrays of one dimension."""
        if self.low is None or self.high is None:
            return Scaler(self.center[j], self.half_range[j])
        return Scaler(self.center[j], self.half_range[j], self.low[j], self.high[j])

    def unscale(self, scaled: Floats) -> Floats:
        """Back to the units of the table."""
        with np.errstate(over="ignore"):
            values = np.asarray(scaled * self.half_range + self.center)
        # Where no limits are known, a draw may lie outside of the range, but must be finite.
        low = -LARGEST if self.low is None else self.low
        high = LARGEST if self.high is None else self.high
        return np.asarray(np.clip(values, low, high))
