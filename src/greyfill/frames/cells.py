"""The cells of one column, read out of any library: raw values, holes, family."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greyfill.exceptions import InvalidDataError
from greyfill.frames.schema import COUNTABLE, Extent, Family, meaning
from greyfill.table import Bools, Column, Floats

Array = NDArray[Any]
_NUMBERS = (int, float, np.number, Decimal, Fraction)
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
               "D": 86_400 * 10**9, "W": 7 * 86_400 * 10**9}  # fmt: skip
"""Nanoseconds of each unit of numpy that has a fixed length."""


@dataclass(frozen=True, eq=False)
class Cells:
    """One column: ``values`` hold 0 or None in the holes.

    Dates, durations and times are float64 microseconds. A category holds the positions of its
    cells in ``declared``, the levels of its dtype; so does text of a typed column, among its
    distinct values. ``boxed`` cells are Python objects. ``ticks`` are moments or whole numbers that
    ``values`` hold only rounded, in steps of ``tick`` nanoseconds or of one.
    """

    values: Array
    missing: Bools
    family: Family
    declared: tuple[Any, ...] | None = None
    ordered: bool = False
    boxed: bool = False
    ticks: Array | None = None
    tick: int = 1

    @property
    def meaning(self) -> str:
        """What the cells stand for."""
        return meaning(self.family, self.declared or ())

    @property
    def is_empty(self) -> bool:
        """Whether every cell is a hole."""
        return bool(self.missing.all())

    @property
    def extent(self) -> Extent:
        """The exact least and largest observed whole number, or nanosecond of a moment."""
        whole = self.ticks if self.ticks is not None else self.values
        if self.is_empty or (self.ticks is None and whole.dtype.kind not in "iu"):
            return None
        observed = whole[~self.missing]
        return int(observed.min()) * self.tick, int(observed.max()) * self.tick

    def numbers(self) -> Floats:
        """The cells as float64, 0 in the holes and where there is no number to be had."""
        if self.meaning not in COUNTABLE:
            return np.zeros(len(self.values))
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
            return self.values.astype(np.float64)

    def uniques(self) -> tuple[Any, ...]:
        """The distinct observed values, sorted."""
        if self.declared is not None:
            return sorted_levels(self.declared)
        return sorted_levels(dict.fromkeys(self.values[~self.missing].tolist()))

    def codes(self, lookup: dict[Any, int]) -> Floats:
        """The code of each cell, −1 for a value that the lookup does not know."""
        if self.declared is not None:
            codes = np.fromiter((lookup.get(level, -1) for level in self.declared), np.float64)
            return codes[self.values] if len(codes) else np.full(len(self.values), -1.0)
        values = self.values.tolist()
        return np.fromiter(map(lookup.get, values, repeat(-1)), np.float64, len(values))


def sorted_levels(levels: Any) -> tuple[Any, ...]:
    """Levels in ascending order, by type and then by value when they cannot be compared.

    >>> sorted_levels(["b", 10, "a", 9])
    (9, 10, 'a', 'b')
    """
    keys = (None, lambda v: (type(v).__name__, v), lambda v: (type(v).__name__, repr(v)))
    for key in keys:
        try:
            return tuple(sorted(levels, key=key))
        except TypeError:
            continue
    raise AssertionError("text can always be sorted")  # pragma: no cover


def without_sentinels(cells: Cells, sentinels: tuple[Any, ...]) -> Cells:
    """The same cells, with those that equal a sentinel turned into holes."""
    if not sentinels:
        return cells
    if cells.declared is not None:
        hits = np.array([level in sentinels for level in cells.declared], dtype=bool)
        hit = hits[cells.values] if len(hits) else np.zeros(len(cells.values), dtype=bool)
    else:
        hit = equal_to_any(cells.values, _fitting(sentinels, cells))
    missing = cells.missing | hit
    values = with_blanks(cells.values, missing)
    return replace(cells, values=values, missing=missing)


def with_blanks(values: Array, missing: Bools) -> Array:
    """The same values, with 0 or None in the holes."""
    blank = np.array([None]) if values.dtype == object else np.zeros(1, values.dtype)
    return np.where(missing, blank, values)


def equal_to_any(values: Array, sentinels: tuple[Any, ...]) -> Bools:
    """Which values equal one of the sentinels."""
    hit = np.zeros(values.shape, dtype=bool)
    for sentinel in sentinels:
        hit |= np.asarray(values == sentinel, dtype=bool)
    return hit


def number_sentinels(sentinels: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sentinels that a column of numbers may hold; True is not 1 here."""
    return tuple(s for s in sentinels if isinstance(s, _NUMBERS) and not isinstance(s, bool))


def _fitting(sentinels: tuple[Any, ...], cells: Cells) -> tuple[Any, ...]:
    """The sentinels of a type that these cells can hold, as the cells hold them."""
    if cells.family is Family.BOOLEAN:
        return tuple(s for s in sentinels if isinstance(s, bool | np.bool_))
    if cells.meaning == "numbers":
        return number_sentinels(sentinels)
    if cells.meaning in _MOMENTS:
        types, as_held = _MOMENTS[cells.meaning]
        return tuple(as_held(s) for s in sentinels if isinstance(s, types))
    if cells.meaning == "text":
        return tuple(s for s in sentinels if isinstance(s, str))
    return ()


def microseconds(moments: Any) -> Any:
    """Dates or durations of numpy as float64 microseconds."""
    letter = moments.dtype.kind
    return moments.astype(f"{letter}8[us]").astype(np.int64).astype(np.float64)


_MOMENTS: dict[str, tuple[tuple[type, ...], Callable[[Any], float]]] = {
    "dates": ((date, np.datetime64), lambda s: microseconds(np.datetime64(s))),
    "durations": ((timedelta, np.timedelta64), lambda s: microseconds(np.timedelta64(s))),
    "times of day": ((time,), lambda s: _since_midnight(s) / timedelta(microseconds=1)),
}
"""The types of a sentinel among moments, and how cells hold them."""


def _since_midnight(moment: time) -> timedelta:
    return datetime.combine(date.min, moment) - datetime.min


def check_finite(values: Floats, columns: tuple[Column, ...]) -> None:
    """Refuse infinite numbers and say where the first one stands."""
    if np.isfinite(values).all():
        return
    row, column = (int(index[0]) for index in np.nonzero(~np.isfinite(values)))
    raise InvalidDataError(
        f"Input X contains infinity: column {columns[column].name!r} is infinite in row {row}. "
        "Replace it by a finite number, or by a missing value to have it imputed."
    )
