"""The grid of a column of numbers: whole numbers, tens, steps of 0.25, or a few levels.

`Grid.of` gathers what the observed cells of a column say; the grids of two parts of a column
`merge` to that of the whole. A fill moves to the nearest point (`nearest`), a limit to the
outermost point that is within (`inside`).

A step is the largest number that all are multiples of: the greatest common divisor of their counts
of the last decimal. It needs evidence: numbers of a finer one would all lie on it by chance with a
probability of (finer / step) to the power of how many different ones there are, which must be at
most 1 in 10 000. Whole numbers are so common that three different ones among five are enough.
Moments lie on days, hours, minutes or seconds; of them no evidence is asked.
"""

import math
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
CHANCE = 10_000
MOST_KEPT = 14
"""Different numbers that are kept as evidence: 14 even ones are no chance, (1/2)¹⁴ < 10⁻⁴."""
FOR_TENS = 4
"""Different numbers that show a step ten times another: 10⁻⁴."""
FOR_WHOLE, SEEN_WHOLE = 3, 5
FINEST, NOISE = 1e9, 1e-12
"""Steps that the largest number may count, and how far, as a share of a number, noise moves it."""
FINEST_SINGLE, NOISE_SINGLE = 1e4, 2.5e-7
"""The same for numbers of 32 bits."""
MEANT = 1e-9
"""A limit so near to a point is meant to be it."""
COARSEST = 6
MOST_TIMES = 10**12
SAMPLE = 200
UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
"""Microseconds of a day, an hour, a minute and a second."""


@dataclass(frozen=True)
class Grid:
    """What the numbers of a column show.

    All are multiples of ``times`` 10 to the power of ``decade`` (None: of none; ``times`` is 0 if
    all are 0). ``numbers`` are the different ones, None if they are too many;
    ``low`` and ``high`` the least and the largest.

    >>> Grid.of(np.array([0.1 + 0.2, 0.5, 1.1, 2.4])).step
    0.1
    >>> Grid.of(np.arange(30) * 0.005).step, Grid.of(np.sqrt(np.arange(30))).step
    (0.005, None)
    >>> Grid.of(np.arange(30) * 0.25).step, Grid.of(np.arange(30) * 12).step
    (0.25, 12.0)
    >>> Grid.of(np.array([1.0, 2.0, 8.0] * 5)).nearest(np.array([1.4, 6.1]))
    array([1., 8.])
    """

    n_seen: int
    decade: int | None
    times: int
    numbers: tuple[float, ...] | None
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, *, single: bool = False) -> "Grid":
        """From observed cells, which may have come as numbers of 32 bits."""
        most = float(np.abs(values).max(initial=0.0))
        if not np.isfinite(most):
            return cls(len(values), None, 1, None, 0.0, 0.0)
        decade = _decade(values, most, single)
        times = 1 if decade is None else _common_divisor(values, decade)
        return cls(len(values), decade, times, _different(values), *_ends(values))

    @classmethod
    def of_moments(cls, values: Floats) -> "Grid":
        """From observed moments in microseconds: whole days, hours, minutes or seconds."""
        fitting = (unit for unit in UNITS if len(values) and not (values % unit).any())
        unit = next(fitting, None)
        return cls(len(values), None if unit is None else 0, unit or 1, None, *_ends(values))

    def checked(self) -> "Grid":
        """Itself, unless no column could have shown it."""
        numbers, decade = self.numbers or (), self.decade
        is_rising = len(numbers) <= MOST_KEPT and all(a < b for a, b in pairwise(numbers))
        fits = self.n_seen >= 0 and 0 <= self.times <= MOST_TIMES
        if not fits or not is_rising or (decade is not None and abs(decade) > 300):
            raise InvalidDataError("a grid that no column shows")
        return self

    def merge(self, other: "Grid") -> "Grid":
        """The grid of both parts of a column."""
        parts = [part for part in (self, other) if part.n_seen]
        if len(parts) < 2:
            return parts[0] if parts else self
        decade, times = None, 1
        low, high = min(self.low, other.low), max(self.high, other.high)
        if self.decade is not None and other.decade is not None:
            decade = min(self.decade, other.decade)
            shares = [p.times * 10 ** ((p.decade or 0) - decade) for p in parts]
            times = math.gcd(*shares)
            if max(-low, high) > FINEST * times * 10.0**decade:
                decade, times = None, 1
        numbers = None
        if self.numbers is not None and other.numbers is not None:
            numbers = tuple(sorted({*self.numbers, *other.numbers}))
            numbers = None if len(numbers) > MOST_KEPT else numbers
        return Grid(self.n_seen + other.n_seen, decade, times, numbers, low, high)

    @cached_property
    def levels(self) -> Floats | None:
        """The few numbers that the column holds, each of them often."""
        few = self.numbers or ()
        if not 2 <= len(few) <= MOST_LEVELS or self.n_seen < OFTEN * len(few):
            return None
        return np.array(few)

    @cached_property
    def _unit(self) -> tuple[int, int] | None:
        """How often which power of ten makes a step, as far as there is evidence for one."""
        n_different = MOST_KEPT + 1 if self.numbers is None else len(self.numbers)
        if self.decade is None:
            return None
        if n_different < FOR_TENS or self.decade == 0:
            is_whole = n_different >= FOR_WHOLE and self.n_seen >= SEEN_WHOLE
            if self.times not in UNITS and not (is_whole and self.decade >= 0):
                return None
        if n_different < FOR_TENS:
            return 1, 0
        return (self.times if self.times**n_different >= CHANCE else 1), self.decade

    @cached_property
    def step(self) -> float | None:
        """The step of the grid, as far as there is evidence for one."""
        if self._unit is None:
            return None
        times, decade = self._unit
        return times * 10.0**decade if decade >= 0 else times / 10.0**-decade

    def nearest(self, values: Floats) -> Floats:
        """The points of the grid nearest to numbers; the numbers where there is no grid."""
        if self.levels is not None:
            middles = (self.levels[:-1] + self.levels[1:]) / 2
            return np.asarray(self.levels[np.searchsorted(middles, values)])
        if self.step is None:
            return values
        moved = self._at(np.rint(self._steps_in(values)))
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
            least = np.ceil(self._steps_in(low) - MEANT)
            largest = np.floor(self._steps_in(high) + MEANT)
            is_none = least > largest
            lowest, highest = self._at(least), self._at(largest)
        middle = self.nearest(low / 2 + high / 2)
        return np.where(is_none, middle, lowest), np.where(is_none, middle, highest)

    def _steps_in(self, values: Floats) -> Floats:
        times, decade = self._unit or (1, 0)
        with np.errstate(over="ignore"):  # no limit is the largest float
            if decade >= 0:
                return values / (times * 10.0**decade)
            return values * 10.0**-decade / times

    def _at(self, counts: Floats) -> Floats:
        """Whole numbers over whole numbers give each decimal exactly."""
        times, decade = self._unit or (1, 0)
        whole = counts * times
        return np.asarray(whole * 10.0**decade if decade >= 0 else whole / 10.0**-decade)


def _ends(values: Floats) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _decade(values: Floats, most: float, single: bool) -> int | None:
    """The largest power of ten of which all numbers are multiples."""
    if most == 0.0:
        return COARSEST
    if not 1e-200 < most < 1e200:
        return None
    finest = int(np.ceil(np.log10(most / (FINEST_SINGLE if single else FINEST))))
    decade = COARSEST
    for some in (values[:SAMPLE], values):  # a sample tells most columns of measurements
        while decade >= finest and not _divides(decade, some, single):
            decade -= 1
        if decade < finest:
            return None
    return decade


def _counts(values: Floats, decade: int) -> Floats:
    """How often a power of ten is in numbers."""
    return values / 10.0**decade if decade >= 0 else values * 10.0**-decade


def _divides(decade: int, values: Floats, single: bool) -> bool:
    """Whether numbers are multiples of a power of ten, but for noise."""
    counts = _counts(values, decade)
    off = np.abs(counts - np.rint(counts))
    return bool((off <= (NOISE_SINGLE if single else NOISE) * np.abs(counts)).all())


def _common_divisor(values: Floats, decade: int) -> int:
    """The largest number that divides all counts of a power of ten."""
    for some in (values[:SAMPLE], values):
        found = int(np.gcd.reduce(np.rint(_counts(some, decade)).astype(np.int64)))
        if found == 1:
            break
    return found


def _different(values: Floats) -> tuple[float, ...] | None:
    """The different numbers, unless they are too many."""
    if len(np.unique(values[:SAMPLE])) > MOST_KEPT:
        return None
    different = np.unique(values)
    return tuple(different.tolist()) if len(different) <= MOST_KEPT else None
