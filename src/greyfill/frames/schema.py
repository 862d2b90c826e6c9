"""What `fit` learned about the columns, and what one call must remember to write them back."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from greyfill.table import Bools, Column, Kind

Extent = tuple[int, int] | None
"""The least and the largest, exactly."""


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


@dataclass(frozen=True)
class Field:
    """One column as `fit` saw it: name, kind, family, and its levels in the order of the codes.

    ``extent`` is the exact least and largest whole number, or nanosecond of a moment: float64
    rounds beyond 2⁵³, and a fill must not leave the range for that. ``boxed`` columns held Python
    objects.
    """

    name: str
    kind: Kind
    family: Family
    levels: tuple[Any, ...] = ()
    extent: Extent = None
    boxed: bool = False

    @property
    def meaning(self) -> str:
        """What the cells of this column stand for."""
        return meaning(self.family, self.levels)

    @property
    def is_silent(self) -> bool:
        """Whether nothing tells what the cells are: all are None, or missing texts."""
        is_text = self.family is Family.TEXT and not self.levels
        return self.family is Family.EMPTY or is_text

    def extent_of(self, family: Family) -> Extent:
        """The extent in the units of a family: whole numbers, or nanoseconds."""
        alike = self.meaning == MEANING.get(family)
        return self.extent if alike and family is not Family.BOOLEAN else None

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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, as text."""
        return tuple(field.name for field in self.fields)

    @cached_property
    def all_numbers(self) -> bool:
        """Whether each column is a plain number, so that a matrix needs no look at its columns."""
        return all(f.kind is Kind.NUMERIC and f.meaning == "numbers" for f in self.fields)


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
