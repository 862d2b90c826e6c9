"""Class information of a table that is never in one place: tallies of its parts are added up.

Two rounds: the `Moments` of all parts fix a grid for each column of numbers, and the counts of
every part on these grids, or in the tables of the categories, add up to what one estimate needs.
The result is that of `class_information` on the whole table, but for the order of sums.
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
from greyfill.information.windows import silverman
from greyfill.table import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, range, mean and sum of squared deviations of the known cells of each column."""

    n: Floats
    low: Floats
    high: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, values: Floats, known: Bools) -> "Moments":
        """The moments of one part of a table.

        >>> one = Moments.of(np.array([[1.0], [3.0]]), np.ones((2, 1), dtype=bool))
        >>> two = Moments.of(np.array([[5.0]]), np.ones((1, 1), dtype=bool))
        >>> (one + two).mean, (one + two).squares
        (array([3.]), array([8.]))
        """
        n = known.sum(axis=0).astype(np.float64)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n, 1.0)
        squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        return cls(n, low, high, mean, squares)

    def __add__(self, other: "Moments") -> "Moments":
        n = self.n + other.n
        share = other.n / np.maximum(n, 1.0)
        step = other.mean - self.mean
        return Moments(
            n,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + step * share,
            self.squares + other.squares + step**2 * self.n * share,
        )


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
    deviation = np.sqrt(moments.squares[column] / (n - 1))
    width = float(deviation * silverman(np.asarray(n), 1))
    length = (high - low) / width * CELLS_PER_WINDOW
    if not length <= longest_grid(n_classes) - 2:
        raise OverflowError("the tails of this column are too heavy for a grid")
    return Grid(float(low), width, int(length) + 2)


__all__ = ["Grid", "Moments", "information_of_counts", "make_grid"]
