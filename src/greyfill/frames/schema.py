"""How columns are described.

`Family` is how cells are stored, `Cells` is one column as it was read, `Field` and `Schema` are
what `fit` learned of one column and of all, and `Origin` is what one call keeps to write its
table back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greyfill.frames.grid import MEANT, Grid
from greyfill.table import LARGEST, Bools, Column, Floats, Kind

Array = NDArray[Any]
Extent = tuple[int, int] | None
"""The least and the largest, exactly."""
Bounds = tuple[float | None, float | None]
"""The least and the largest number that a fill may be; None: no limit."""


class Family(StrEnum):
    """How the cells of a column are stored, whatever the library calls it."""

    FLOAT = "float"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    DURATION = "duration"
    TIME = "time"
    TEXT = "text"
    CATEGORY = "category"
    MIXED = "mixed"
    EMPTY = "empty"


# Columns of one meaning can stand in for each other between fit and transform.
MEANING = {
    Family.FLOAT: "numbers",
    Family.INTEGER: "numbers",
    Family.DECIMAL: "numbers",
    Family.BOOLEAN: "numbers",
    Family.DATE: "dates",
    Family.DATETIME: "dates",
    Family.DURATION: "durations",
    Family.TIME: "times of day",
    Family.TEXT: "text",
    Family.EMPTY: "anything",
    Family.MIXED: "anything",
}
COUNTABLE = frozenset({"numbers", "dates", "durations", "times of day"})


def meaning(family: Family, levels: tuple[Any, ...]) -> str:
    """What the cells stand for; a category stands for its levels.

    >>> meaning(Family.INTEGER, ()), meaning(Family.CATEGORY, ("no", "yes"))
    ('numbers', 'text')
    """
    if family is not Family.CATEGORY:
        return MEANING[family]
    return "text" if levels and all(isinstance(level, str) for level in levels) else "anything"


@dataclass(frozen=True, eq=False)
class Cells:
    """One column: ``values`` hold 0 or None in the holes.

    Dates, durations and times are float64 microseconds. A category holds the positions of its
    cells in ``declared``, the levels of its dtype; so does text of a typed column, among its
    distinct values. ``boxed`` cells are Python objects. ``ticks`` are moments or whole numbers that
    ``values`` hold only rounded, in steps of ``tick`` nanoseconds or of one. ``zone`` is the name
    of the time zone of a typed column; its moments are counted in UTC.
    """

    values: Array
    missing: Bools
    family: Family
    declared: tuple[Any, ...] | None = None
    ordered: bool = False
    boxed: bool = False
    ticks: Array | None = None
    tick: int = 1
    zone: str | None = None

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
        """The code of each cell, −1 for a value that is not in the lookup."""
        if self.declared is not None:
            codes = np.fromiter((lookup.get(level, -1) for level in self.declared), np.float64)
            return codes[self.values] if len(codes) else np.full(len(self.values), -1.0)
        values = self.values.tolist()
        return np.fromiter(map(lookup.get, values, repeat(-1)), np.float64, len(values))


def sorted_levels(levels: Iterable[Any]) -> tuple[Any, ...]:
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


@dataclass(frozen=True)
class Field:
    """One column as `fit` saw it: name, kind, family, and its levels in the order of the codes.

    ``extent`` is the exact least and largest whole number, or nanosecond of a moment: float64
    rounds beyond 2⁵³, and a fill must not leave the range for that. ``boxed`` columns held Python
    objects. Fills of numbers stay within ``bounds`` and on the ``grid``, where there are any.
    Moments are told in the time zone called ``zone``, if the column had one.
    """

    name: str
    kind: Kind
    family: Family
    levels: tuple[Any, ...] = ()
    extent: Extent = None
    boxed: bool = False
    grid: Grid | None = None
    bounds: Bounds | None = None
    zone: str | None = None

    @property
    def meaning(self) -> str:
        """What the cells of this column stand for."""
        return meaning(self.family, self.levels)

    @property
    def is_untyped(self) -> bool:
        """Whether no cell shows what the column holds: all are None, or missing texts."""
        is_text = self.family is Family.TEXT and not self.levels
        return self.family is Family.EMPTY or is_text

    def extent_of(self, family: Family) -> Extent:
        """The extent in the units of a family: whole numbers, or nanoseconds."""
        alike = self.meaning == MEANING.get(family)
        return self.extent if alike and family is not Family.BOOLEAN else None

    @cached_property
    def is_free(self) -> bool:
        """Whether a fill may be any number: the column has no bounds, no grid, no whole numbers."""
        has_grid = self.grid is not None and (
            self.grid.levels is not None or self.grid.step is not None
        )
        return not (has_grid or self.bounds or self.family is Family.INTEGER)

    def settle(self, values: Floats) -> Floats:
        """Fills within the bounds of the column and on its grid; whole ones if it has been whole.

        >>> age = Field("age", Kind.NUMERIC, Family.INTEGER, bounds=(0, 99.5))
        >>> age.settle(np.array([3.2, 999]))
        array([ 3., 99.])
        """
        if self.is_free:
            return values
        near = values if self.grid is None else self.grid.nearest(values)
        near = np.rint(near) if self.family is Family.INTEGER else near
        if not self.bounds:
            return near
        low, high = self.limits
        return np.clip(near, *self.inside(np.array([low]), np.array([high])))

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds as numbers."""
        low, high = self.bounds or (None, None)
        return -LARGEST if low is None else low, LARGEST if high is None else high

    def inside(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The outermost values of the column within limits; the nearest where there is none."""
        first, last = np.clip(low, *self.limits), np.clip(high, *self.limits)
        if self.grid is not None:
            first, last = self.grid.inside(first, last)
        if self.family is not Family.INTEGER:
            return first, last
        first, last = np.ceil(first - MEANT), np.floor(last + MEANT)
        middle = np.rint(low / 2 + high / 2)
        return np.where(first > last, middle, first), np.where(first > last, middle, last)

    @cached_property
    def codes(self) -> dict[Any, int]:
        """The code of each level."""
        return {level: code for code, level in enumerate(self.levels)}


@dataclass(frozen=True)
class Schema:
    """All columns as `fit` saw them, and the extra values that count as missing.

    It holds plain data and no reference to the frame, so it can be stored with the model and
    gives new rows the codes of the old ones.
    """

    fields: tuple[Field, ...]
    missing_values: tuple[Any, ...] = ()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a `Table` under this schema."""
        return tuple(Column(f.name, f.kind, len(f.levels)) for f in self.fields)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, as text."""
        return tuple(field.name for field in self.fields)

    def limited(self, *, to_grid: bool, bounds: dict[int, Bounds]) -> "Schema":
        """The schema whose fills keep to these bounds, and to the grids of the columns or not."""
        fields = [
            replace(f, grid=f.grid if to_grid else None, bounds=bounds.get(j))
            for j, f in enumerate(self.fields)
        ]
        return Schema(tuple(fields), self.missing_values)

    def without(self, left: Bools) -> "Schema":
        """The schema in which some columns may hold anything: nothing of them is kept."""
        if not left.any():
            return self
        fields = [
            Field(f.name, Kind.CATEGORICAL, Family.EMPTY) if is_left else f
            for f, is_left in zip(self.fields, left.tolist(), strict=True)
        ]
        return Schema(tuple(fields), self.missing_values)

    @cached_property
    def all_numbers(self) -> bool:
        """Whether each column is a plain number, so that a matrix needs no look at its columns."""
        return all(f.kind is Kind.NUMERIC and f.meaning == "numbers" for f in self.fields)

    @cached_property
    def all_free(self) -> bool:
        """Whether, besides, any number may fill any of them."""
        return self.all_numbers and all(field.is_free for field in self.fields)


@dataclass(frozen=True, eq=False)
class Origin:
    """The table as it was given, its holes, and how each of its columns is stored.

    ``boxed`` says which columns are Python objects. Only `decode` of the same call needs it.
    """

    schema: Schema
    container: Any
    missing: Bools
    families: tuple[Family, ...]
    boxed: tuple[bool, ...]
