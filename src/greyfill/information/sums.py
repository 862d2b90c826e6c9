"""Sums that no order of their terms changes, so that parts of a table add up to the whole.

Each term is rounded to a step of its own, and whole numbers of steps are added, without rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from greyfill.table import Bools, Floats, Ints

STEPS = 2.0**30
BLOCK = 4_096
"""Rows that are counted at a time: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Numbers as ``high`` steps of 2⁻³⁰ and ``low`` ones of 2⁻⁶⁰.

    Terms between −1 and 1 can be added up to eight thousand million times.

    >>> thirds = Steps.of_columns(np.full((3, 1), 1 / 3))
    >>> (thirds + thirds).floats
    array([2.])
    """

    high: Ints
    low: Ints

    @classmethod
    def of(cls, values: Floats) -> "Steps":
        """Each of the numbers."""
        steps = values * STEPS
        whole = np.floor(steps)
        rest = np.rint((steps - whole) * STEPS)
        return cls(whole.astype(np.int64), rest.astype(np.int64))

    @classmethod
    def of_columns(cls, values: Floats) -> "Steps":
        """The sum of each column."""
        total = cls(*np.zeros((2, values.shape[1]), dtype=np.int64))
        for start in range(0, len(values), BLOCK):
            total = total + cls.of(values[start : start + BLOCK]).sum(axis=0)
        return total

    @classmethod
    def stack(cls, parts: "Sequence[Steps]") -> "Steps":
        """Several of one length, as the rows of a table."""
        return cls(np.array([p.high for p in parts]), np.array([p.low for p in parts]))

    def rows(self, chosen: Bools) -> "Steps":
        """Some rows."""
        return Steps(self.high[chosen], self.low[chosen])

    def __add__(self, other: "Steps") -> "Steps":
        return Steps(self.high + other.high, self.low + other.low)

    def sum(self, axis: int) -> "Steps":
        """The sums along an axis."""
        return Steps(self.high.sum(axis=axis), self.low.sum(axis=axis))

    def by(self, groups: Ints, n: int) -> "Steps":
        """The sum of each of n groups of terms."""
        high, low = np.zeros((2, n), dtype=np.int64)
        np.add.at(high, groups, self.high)
        np.add.at(low, groups, self.low)
        return Steps(high, low)

    @property
    def floats(self) -> Floats:
        """The numbers themselves, rounded once."""
        return np.asarray(self.high / STEPS + self.low / STEPS**2)


def exponents(values: Floats, axis: int) -> Ints:
    """The least e with |x| ≤ 2ᵉ for all x along an axis; scaling by 2ᵉ is exact.

    >>> exponents(np.array([[1.0, -3.0], [0.5, 0.25]]), axis=1)
    array([ 2, -1], dtype=int32)
    """
    mantissa, exponent = np.frexp(np.abs(values).max(axis=axis, initial=0.0))
    return np.asarray(exponent - (mantissa == 0.5))


def steady_sums(values: Floats) -> Floats:
    """The sum of each row, the same in every order of its columns.

    >>> steady_sums(np.array([[1e300, 2e300, 0.0], [0.5, 2.0**52, 0.5]])).tolist()
    [3e+300, 4503599627370497.0]
    """
    exponent = exponents(values, axis=1)
    steps = Steps.of(np.ldexp(values, -exponent[:, None]))
    return np.asarray(np.ldexp(steps.sum(axis=1).floats, exponent))
