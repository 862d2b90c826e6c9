"""The grid of a column of numbers: whole numbers, tens, steps of 0.005, or a few levels.

`Grid.of` gathers what the observed cells of a column say; the grids of two parts of a column
`merge` to that of the whole. A fill moves to the nearest point (`nearest`), a limit to the
outermost point that is within (`inside`).

Steps are 1, 2 or 5 times a power of ten. A step needs evidence: numbers of a finer one would all
lie on it by chance with a probability of (finer / step) to the power of how many different ones
there are, which must be at most 1 in 10 000. Whole numbers are so common that three different ones
among five are enough.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats

MOST_LEVELS = 12
"""A column of at most so many different numbers gets only such numbers."""
OFTEN = 5
"""How often each of few levels must occur, on average: else they may be a sample of many."""
MOST_KEPT = 14
"""Different numbers that are kept as evidence: 14 even ones are no chance, (1/2)¹⁴ < 10⁻⁴."""
FOR_TENS, FOR_FIVES = 4, 6
"""Different numbers that show a step ten or five times another: 10⁻⁴, (1/5)⁶ < 10⁻⁴."""
FOR_WHOLE, SEEN_WHOLE = 3, 5
FINEST, NOISE = 1e9, 1e-12
"""Steps that the largest number may count, and how far, as a share of a number, noise moves it."""
FINEST_SINGLE, NOISE_SINGLE = 1e4, 2.5e-7
"""The same for numbers of 32 bits."""
MEANT = 1e-9
"""A limit so near to a point is meant to be it."""
COARSEST = 6
SAMPLE = 200


@dataclass(frozen=True)
class Grid:
    """What the numbers of a column show.

    All are multiples of 10 to the power of ``decade`` (None: of none), of two or five times that
    if ``by_two`` or ``by_five``. ``numbers`` are the different ones, None if they are too many;
    ``low`` and ``high`` the least and the largest.

    >>> Grid.of(np.array([0.1 + 0.2, 0.5, 1.1, 2.4])).step
    0.1
    >>> Grid.of(np.arange(30) * 0.005).step, Grid.of(np.sqrt(np.arange(30))).step
    (0.005, None)
    >>> Grid.of(np.array([1.0, 2.0, 8.0] * 5)).nearest(np.array([1.4, 6.1]))
    array([1., 8.])
    """

    n_seen: int
    decade: int | None
    by_two: bool
    by_five: bool
    numbers: tuple[float, ...] | None
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, *, single: bool = False) -> "Grid":
        """From observed cells, which may have come as numbers of 32 bits."""
        most = float(np.abs(values).max(initial=0.0))
        if not np.isfinite(most):
            return cls(len(values), None, False, False, None, 0.0, 0.0)
        decade = _decade(values, most, single)
        by_two = decade is not None and _divides(2, decade, values, single)
        by_five = decade is not None and _divides(5, decade, values, single)
        ends = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        return cls(len(values), decade, by_two, by_five, _different(values), *ends)

    def checked(self) -> "Grid":
        """Itself, unless no column could have shown it."""
        numbers, decade = self.numbers or (), self.decade
        is_rising = len(numbers) <= MOST_KEPT and all(a < b for a, b in pairwise(numbers))
        if self.n_seen < 0 or not is_rising or (decade is not None and abs(decade) > 300):
            raise InvalidDataError("a grid that no column shows")
        return self

    def merge(self, other: "Grid") -> "Grid":
        """The grid of both parts of a column."""
        parts = [part for part in (self, other) if part.n_seen]
        if len(parts) < 2:
            return parts[0] if parts else self
        decade = None
        if self.decade is not None and other.decade is not None:
            decade = min(self.decade, other.decade)
        low, high = min(self.low, other.low), max(self.high, other.high)
        coarser = [part for part in parts if part.decade == decade]
        if decade is not None and max(-low, high) > FINEST * 10.0**decade:
            decade = None
        numbers = None
        if self.numbers is not None and other.numbers is not None:
            numbers = tuple(sorted({*self.numbers, *other.numbers}))
        return Grid(
            n_seen=self.n_seen + other.n_seen,
            decade=decade,
            by_two=decade is not None and all(part.by_two for part in coarser),
            by_five=decade is not None and all(part.by_five for part in coarser),
            numbers=None if numbers is None or len(numbers) > MOST_KEPT else numbers,
            low=low,
            high=high,
        )

    @cached_property
    def levels(self) -> Floats | None:
        """The few numbers that the column holds, each of them often."""
        few = self.numbers or ()
        if not 2 <= len(few) <= MOST_LEVELS or self.n_seen < OFTEN * len(few):
            return None
        return np.array(few)

    @cached_property
    def step(self) -> float | None:
        """The step of the grid, as far as there is evidence for one."""
        n_different = MOST_KEPT + 1 if self.numbers is None else len(self.numbers)
        decade = self.decade
        if decade is None:
            return None
        if n_different < FOR_TENS or decade == 0:
            is_whole = decade >= 0 and n_different >= FOR_WHOLE and self.n_seen >= SEEN_WHOLE
            if not is_whole or decade > 0:
                return 1.0 if is_whole else None
        if self.by_five and n_different >= FOR_FIVES:
            return 5 * 10.0**decade if decade >= 0 else 5 / 10.0**-decade
        if self.by_two and n_different >= MOST_KEPT:
            return 2 * 10.0**decade if decade >= 0 else 2 / 10.0**-decade
        return 10.0**decade if decade >= 0 else 1 / 10.0**-decade

    def nearest(self, values: Floats) -> Floats:
        """The points of the grid that are nearest to numbers; the numbers where there is no grid.

        A step below 1 divides 1, so whole numbers over whole numbers give each decimal exactly.
        """
        if self.levels is not None:
            middles = (self.levels[:-1] + self.levels[1:]) / 2
            return np.asarray(self.levels[np.searchsorted(middles, values)])
        if self.step is None:
            return values
        moved = _at(np.rint(_steps_in(values, self.step)), self.step)
        # Noise of the observed numbers must not carry a fill out of their range.
        moved = np.where(
            (values >= self.low) & (values <= self.high), np.clip(moved, self.low, self.high), moved
        )
        return np.where(np.isfinite(moved), moved, values)

    def inside(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The outermost points within limits; where there is none, the one nearest to them."""
        if self.levels is None and self.step is None:
            return low, high
        if self.levels is not None:
            last = len(self.levels) - 1
            first = np.searchsorted(self.levels, low - MEANT * np.abs(low))
            final = np.searchsorted(self.levels, high + MEANT * np.abs(high), side="right") - 1
            is_none: Bools = first > final
            lowest, highest = (
                self.levels[np.minimum(first, last)],
                self.levels[np.maximum(final, 0)],
            )
        else:
            assert self.step is not None
            least = np.ceil(_steps_in(low, self.step) - MEANT)
            largest = np.floor(_steps_in(high, self.step) + MEANT)
            is_none = least > largest
            lowest, highest = _at(least, self.step), _at(largest, self.step)
        middle = self.nearest(low / 2 + high / 2)
        return np.where(is_none, middle, lowest), np.where(is_none, middle, highest)


def _steps_in(values: Floats, step: float) -> Floats:
    with np.errstate(over="ignore"):  # no limit is the largest float
        return values / step if step >= 1.0 else values * round(1 / step)


def _at(counts: Floats, step: float) -> Floats:
    return np.asarray(counts * step if step >= 1.0 else counts / round(1 / step))


def _decade(values: Floats, most: float, single: bool) -> int | None:
    """The largest power of ten of which all numbers are multiples."""
    if not 1e-200 < most < 1e200:
        return None
    finest = int(np.ceil(np.log10(most / (FINEST_SINGLE if single else FINEST))))
    decade = COARSEST
    for some in (values[:SAMPLE], values):  # a sample tells most columns of measurements
        while decade >= finest and not _divides(1, decade, some, single):
            decade -= 1
        if decade < finest:
            return None
    return decade


def _divides(times: int, decade: int, values: Floats, single: bool) -> bool:
    """Whether numbers are multiples of so many times a power of ten, but for noise."""
    counts = values / (times * 10.0**decade) if decade >= 0 else values * 10.0**-decade / times
    off = np.abs(counts - np.rint(counts))
    return bool((off <= (NOISE_SINGLE if single else NOISE) * np.abs(counts)).all())


def _different(values: Floats) -> tuple[float, ...] | None:
    """The different numbers, unless they are too many."""
    if len(np.unique(values[:SAMPLE])) > MOST_KEPT:
        return None
    different = np.unique(values)
    return tuple(different.tolist()) if len(different) <= MOST_KEPT else None
