"""Class information of a table that is never in one place: tallies of its parts are added up.

Two rounds: the `Moments` of all parts fix a grid for each column of numbers, and the counts of
every part on these grids, or in the tables of the categories, add up to what one estimate needs.
The result is that of `class_information` on the whole table, to the bit.
"""

from dataclasses import dataclass

import numpy as np

from greyfill.information.entropy import information_of_counts, without_rounding
from greyfill.information.parzen import (
    CELLS_PER_WINDOW,
    class_counts,
    information_on_grid,
    longest_grid,
)
from greyfill.information.sums import Steps
from greyfill.information.windows import deviation, silverman
from greyfill.table import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, range, sum and sum of squares of the known cells of each column, all of [0, 1]."""

    n: Floats
    low: Floats
    high: Floats
    sums: Steps
    squares: Steps

    @classmethod
    def of(cls, values: Floats, known: Bools) -> "Moments":
        """The moments of one part of a table.

        >>> one = Moments.of(np.array([[0.0], [0.5]]), np.ones((2, 1), dtype=bool))
        >>> two = Moments.of(np.array([[1.0]]), np.ones((1, 1), dtype=bool))
        >>> (one + two).sums.floats, (one + two).squares.floats, (one + two).sd
        (array([1.5]), array([1.25]), array([0.5]))
        """
        n = known.sum(axis=0).astype(np.float64)
        told = np.where(known, values, 0.0)
        low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        return cls(n, low, high, Steps.of_columns(told), Steps.of_columns(told**2))

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.n + other.n,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.sums + other.sums,
            self.squares + other.squares,
        )

    @property
    def sd(self) -> Floats:
        """Sample deviation (ddof = 1) of each column."""
        return deviation(self.n, self.sums, self.squares)


@dataclass(frozen=True)
class Grid:
    """The grid of one column of numbers: cell = (x − low) / width · cells_per_window."""

    low: float
    width: float
    n_cells: int

    def counts(self, x: Floats, codes: Ints, n_classes: int) -> Floats:
        """Points of each class in each cell."""
        position = (x - self.low) / self.width * CELLS_PER_WINDOW
        return class_counts(position, codes, n_classes, self.n_cells)

    def information(self, counts: Floats, n: int) -> float:
        """What the column tells about the class."""
        found = information_on_grid(counts, float(CELLS_PER_WINDOW), n)
        return float(without_rounding(np.asarray(found)))


def make_grid(moments: Moments, column: int, n_classes: int) -> Grid | None:
    """A grid for a column; None where it is constant, so that it tells nothing.

    A column whose grid would be too long raises OverflowError: heavy tails need the points
    themselves.
    """
    n, low, high = moments.n[column], moments.low[column], moments.high[column]
    if n < 2 or not high > low:
        return None
    width = float(moments.sd[column] * silverman(np.asarray(n), 1))
    length = (high - low) / width * CELLS_PER_WINDOW
    if not length <= longest_grid(n_classes) - 2:
        raise OverflowError("the tails of this column are too heavy for a grid")
    return Grid(float(low), width, int(length) + 2)


__all__ = ["Grid", "Moments", "information_of_counts", "make_grid"]
