"""What must hold within a saved table and its schema."""

from collections.abc import Callable
from typing import Any

import numpy as np

from greyfill.frames.learning import CATEGORICAL_FAMILIES
from greyfill.frames.objects import null_cells
from greyfill.frames.schema import COUNTABLE, Family, Field, Schema
from greyfill.persistence.requirements import MOST_LEVELS, require
from greyfill.table import Column, Kind


def _column(column: Column) -> None:
    levels = column.n_levels
    require(0 <= levels <= MOST_LEVELS, f"column {column.name!r} has {levels} levels")
    require(column.kind is not Kind.NUMERIC or column.n_levels == 0, "a number with levels")


NUMBERS: tuple[type, ...] = (int, float, np.number)
TYPES: dict[Family, tuple[type, ...]] = {
    Family.TEXT: (str,),
    Family.BOOLEAN: (bool, np.bool_),
    Family.CATEGORY: (),
    Family.MIXED: (),
}
"""What the levels of a family must be, numbers by default; of two it may be anything."""

DAY = 86_400_000_000
MOMENTS = {
    Family.DATE: (-719_162 * DAY, 2_932_897 * DAY),  # the years 1 … 9999
    Family.DATETIME: (-719_162 * DAY, 2_932_897 * DAY),
    Family.TIME: (0, DAY),
    Family.DURATION: (-(2**63), 2**63),
}
"""The microseconds that libraries can turn into moments."""


def check_moments(field: Field, values: Any, tick: int = 1) -> None:
    """Moments that exist, in microseconds or so many ticks of one; other numbers may be any."""
    low, high = MOMENTS.get(field.family, (-np.inf, np.inf))
    inside = all(low * tick <= value <= high * tick for value in values)
    require(inside, f"column {field.name!r} holds a moment that does not exist")


def _field(field: Field) -> None:
    name = f"column {field.name!r}"
    numeric = field.kind is Kind.NUMERIC
    require(not numeric or field.family not in CATEGORICAL_FAMILIES, f"{name} counts no numbers")
    require(not (numeric and field.levels), f"{name} is a number with levels")
    require(not (field.family is Family.EMPTY and field.levels), f"{name} is empty and has levels")
    if field.extent is not None:
        require(field.meaning in COUNTABLE, f"{name} has a range")
        require(field.extent[0] <= field.extent[1], f"{name} has no range")
        check_moments(field, field.extent, tick=1000)
    _check_levels(field)


def _check_levels(field: Field) -> None:
    """Levels of the type of their family, each once, and none that is a hole."""
    levels, name = field.levels, f"column {field.name!r}"
    types = TYPES.get(field.family, NUMBERS)
    fits = not types or all(isinstance(level, types) for level in levels)
    require(fits, f"{name} has levels of another type")
    is_hole = null_cells(np.fromiter(levels, dtype=object, count=len(levels)))
    require(not is_hole.any(), f"{name} lacks a level")
    require(len(field.codes) == len(levels), f"{name} has a level twice")
    if types is NUMBERS:
        check_moments(field, levels)


def _schema(schema: Schema) -> None:
    require(schema.fields, "there is no column")


TABLE_RULES: dict[type, Callable[[Any], None]] = {
    Column: _column,
    Field: _field,
    Schema: _schema,
}
