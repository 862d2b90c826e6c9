"""Numbers to [0, 1] and back, equation (34) without its reflection."""

from dataclasses import dataclass

import numpy as np

from greyfill.table import Bools, Floats, Table


@dataclass(frozen=True, eq=False)
class RangeScaler:
    """Observed range of each numeric or ordinal column; categories pass through.

    The reflection max − x of equation (34) changes no distance, so x − min is used. A constant
    column has range 1. Everything is halved before it is subtracted, so that a range beyond the
    largest float does not overflow. Both ways make one copy and work in place.
    """

    low: Floats
    high: Floats
    is_categorical: Bools

    @classmethod
    def learn(cls, table: Table) -> "RangeScaler":
        """Take the ranges from the observed cells of a table."""
        low = np.where(table.missing, np.inf, table.values).min(axis=0)
        high = np.where(table.missing, -np.inf, table.values).max(axis=0)
        empty = table.missing.all(axis=0)
        return cls(np.where(empty, 0.0, low), np.where(empty, 0.0, high), table.is_categorical)

    @property
    def half_range(self) -> Floats:
        """Half of max − min; a half where a column is constant."""
        half = self.high * 0.5 - self.low * 0.5
        return np.where(half > 0.0, half, 0.5)

    def scale(self, table: Table) -> Table:
        """Numbers on [0, 1]; a value outside the learned range takes the nearer end."""
        scaled = np.clip(table.values, self.low, self.high)  # first, lest the quotient overflow
        scaled *= 0.5
        scaled -= self.low * 0.5
        scaled /= self.half_range
        scaled[:, self.is_categorical] = table.values[:, self.is_categorical]
        scaled[table.missing] = 0.0
        return table.with_values(np.ascontiguousarray(scaled))

    def unscale(self, scaled: Floats) -> Floats:
        """Back to the units of the table, never outside the learned range."""
        with np.errstate(over="ignore"):  # an average may pass 1 by a bit, and the largest float so
            values = scaled * self.half_range
            values += self.low * 0.5
            values *= 2.0
        np.clip(values, self.low, self.high, out=values)
        values[:, self.is_categorical] = scaled[:, self.is_categorical]
        return values


def to_share(values: Floats, low: float, high: float) -> Floats:
    """Where numbers lie in a range, from 0 to 1, however long it is; 0 in a range of one number.

    >>> to_share(np.array([-1.5e308, 0.0, 1.5e308]), -1.5e308, 1.5e308)
    array([0. , 0.5, 1. ])
    """
    half = high / 2 - low / 2
    return np.asarray((values / 2 - low / 2) / (half if half > 0.0 else 1.0))


def from_share(shares: Floats, low: float, high: float) -> Floats:
    """The numbers at these places of a range, never outside it.

    >>> from_share(np.array([0.0, 0.5, 1.0]), -1.5e308, 1.5e308)
    array([-1.5e+308,  0.0e+000,  1.5e+308])
    """
    with np.errstate(over="ignore"):  # by rounding, at the largest floats
        values = 2 * (low / 2 + shares * (high / 2 - low / 2))
    return np.clip(values, low, high)
