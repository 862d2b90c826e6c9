"""What a model knows about the columns of new rows, above all how their new cells are written.

The style of a cell is told by the table that was learned from, so that a row gets the same bytes
whatever stands beside it. With a model it is kept as plain data: a name and some numbers and words.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any, get_type_hints

import numpy as np
import polars as pl

from greyfill.exceptions import PersistenceError
from greyfill.files.sentinels import without_nan
from greyfill.files.styles import (
    Day,
    Fixed,
    Moment,
    Scientific,
    Shortest,
    Style,
    Text,
    Truth,
    Whole,
)

MOST_DECIMALS = 400
NUMBERS = (Whole, Fixed, Scientific, Shortest)
KINDS: dict[type[Any], str] = {
    **dict.fromkeys(NUMBERS, "numbers"),
    **dict.fromkeys((Day, Moment), "dates"),
    Truth: "truths",
    Text: "text",
}
"""What the cells of a style stand for."""

STYLES = {kind.__name__: kind for kind in KINDS}


@dataclass(frozen=True)
class Learned:
    """The columns of a model, their styles where they are known, and its words for missing.

    Such a word need not occur in new rows.
    """

    columns: tuple[str, ...] = ()
    styles: Mapping[str, Style] = field(default_factory=dict)
    na_values: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """The decimal mark, for a file that shows none."""
        marks = [getattr(style, "mark", ".") for style in self.styles.values()]
        return next((mark for mark in marks if mark != "."), ".")

    def typed(self, column: pl.Series) -> pl.Series:
        """A column with the type of its learned style, where that can hold all its cells."""
        style = self.styles.get(column.name)
        return column if style is None else typed(column, style)

    def rounded(self, before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
        """Filled rows, with whole numbers in what were holes of columns of whole numbers.

        >>> before = pl.DataFrame({"n": [8.5, None]})
        >>> after = Learned(styles={"n": Whole()}).rounded(before, before.fill_null(61.3))
        >>> after["n"].to_list()
        [8.5, 61.0]
        """
        names = [
            name
            for name, style in self.styles.items()
            if isinstance(style, Whole) and name in after.columns and after[name].dtype.is_float()
        ]
        return after.with_columns(_rounded(before[name], after[name]) for name in names)


def typed(column: pl.Series, style: Style) -> pl.Series:
    """A column with the type of a style, where that can hold all its cells.

    >>> typed(pl.Series([1, None]), Fixed(2)).dtype, typed(pl.Series([1.5, None]), Whole()).dtype
    (Float64, Float64)
    """
    wanted = _dtype(style)
    is_wider = (column.dtype.is_integer() and wanted == pl.Float64) or (
        column.dtype == pl.Date and wanted == pl.Datetime
    )
    return column.cast(wanted) if is_wider or column.dtype == pl.Null else column


def in_notation(style: Style, found: Style, mark: str) -> Style:
    """A learned style as a file writes it: with its decimal mark, and its zone of moments.

    Where the cells of the file are of another kind, they tell the style.

    >>> in_notation(Fixed(2), Whole(), ","), in_notation(Truth("True", "False"), Whole(), ".")
    (Fixed(decimals=2, mark=','), Whole())
    """
    if KINDS[type(style)] != KINDS[type(found)]:
        return found
    if isinstance(style, Fixed | Scientific | Shortest):
        return replace(style, mark=mark)
    if isinstance(style, Moment) and isinstance(found, Moment):
        return replace(style, end=found.end)
    return style


def as_plain(style: Style) -> tuple[Any, ...]:
    """A style as plain data.

    >>> as_plain(Fixed(2))
    ('Fixed', 2, '.')
    """
    return (type(style).__name__, *astuple(style))  # type: ignore[call-overload]


def from_plain(plain: Any) -> Style:
    """A style from plain data; a file that was tampered with is refused.

    >>> from_plain(("Fixed", 2, "."))
    Fixed(decimals=2, mark='.')
    """
    try:
        kind = STYLES[plain[0]]
        style: Style = kind(*plain[1:])
        values = vars(style)
        fits = all(type(values[name]) is hint for name, hint in get_type_hints(kind).items())
        fits = fits and 0 <= values.get("decimals", 0) <= MOST_DECIMALS
    except (TypeError, LookupError):
        fits = False
    if not fits:
        raise PersistenceError(f"the style of the cells of a column is damaged: {plain!r:.100}")
    return style


def _dtype(style: Style) -> Any:
    if isinstance(style, Moment):
        return pl.Datetime("us", "UTC" if style.end else None)
    kinds = {Whole: pl.Int64, Truth: pl.Boolean, Day: pl.Date, Text: pl.String}
    return kinds.get(type(style), pl.Float64)


def _rounded(before: pl.Series, after: pl.Series) -> pl.Series:
    whole = pl.Series(after.name, np.rint(after.to_numpy()), dtype=after.dtype)
    holes = without_nan(before).is_null()
    return whole.zip_with(holes & after.is_not_null(), after)
