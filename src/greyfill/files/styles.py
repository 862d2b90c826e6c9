"""How a column writes its values: imputed cells are written like those above and below them.

A style is a frozen dataclass with two methods: ``spell`` makes the text of a cell from a value, and
``parse`` the values of a column from its texts. A model keeps the styles of the table that it
learned from as plain data; new rows are read and written by them, as `LearnedTypes`. A hole is
written by a word that means missing: one that the user named, or none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import date, datetime, timedelta
from math import isfinite
from typing import Any, get_type_hints

import numpy as np
import polars as pl

from greyfill.exceptions import PersistenceError

MISSING_WORDS = frozenset(
    ("?", "*", "-", "--", ".", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "null", "none",
     "nil", "missing", "unknown", "undefined")
)  # fmt: skip
"""Words that often stand for a missing value, in small letters."""

NO_CATEGORIES = MISSING_WORDS - {"none", "unknown"}
"""Those of them that are hardly ever a category of their own."""


def bare(cells: pl.Series) -> pl.Series:
    """The cells without the blanks around them, which count for nothing."""
    return cells.str.strip_chars(" \t")


def without_sentinels(values: pl.Series, words: Sequence[str]) -> pl.Series:
    """A column of numbers, null where it holds one of the words as a number; others unchanged.

    >>> without_sentinels(pl.Series([1, -999, None]), ["-999.0", "?"]).to_list()
    [1, None, None]
    """
    if not words or not values.dtype.is_numeric():
        return values
    is_sentinel = values.cast(pl.Float64).is_in(list(_numbers_among(words).values()))
    return values.set(is_sentinel.fill_null(False), None)


def without_nan(column: pl.Series) -> pl.Series:
    """A column with null for what is not a number among its numbers."""
    return column.fill_nan(None) if column.dtype.is_float() else column


class UnusedWords:
    """The named words that were in no cell so far, as text or as the number that they stand for."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(dict.fromkeys(words))

    def update(self, cells: pl.Series) -> None:
        """Drop the words that are among some more cells, texts or numbers."""
        is_text = cells.dtype == pl.String
        if not self._words or not (is_text or cells.dtype.is_numeric()):
            return
        found: set[str] = set()
        if is_text:
            cells = bare(cells)
            found = set(cells.filter(cells.is_in(self._words)).unique().to_list())
        numbers = {w: n for w, n in _numbers_among(self._words).items() if isfinite(n)}
        if numbers:
            plain = cells.str.replace(",", ".", literal=True) if is_text else cells
            values = plain.cast(pl.Float64, strict=False)
            held = set(values.filter(values.is_in(list(numbers.values()))).unique().to_list())
            found |= {word for word, number in numbers.items() if number in held}
        self._words = [word for word in self._words if word not in found]

    def notes(self) -> Iterator[str]:
        """A sentence for the user about each word that is left."""
        for word in self._words:
            parts = [part.strip() for part in word.split(",") if part.strip()]
            yield f"No cell is {word!r} (--na-values, na_values=), so it changed nothing. " + (
                "It has a comma, at which these words are not split: give the option once for "
                "each value, " + " ".join(f"--na-values {part}" for part in parts) + "."
                if len(parts) > 1
                else "Look how it is written in the file, and give the option once for each value."
            )


def _numbers_among(words: Sequence[str]) -> dict[str, float]:
    """The words that are numbers, as numbers."""
    cast = pl.Series(list(words), dtype=pl.String).cast(pl.Float64, strict=False).to_list()
    return {word: number for word, number in zip(words, cast, strict=True) if number is not None}


class Style:
    """How the cells of one column are written."""

    def spell(self, value: Any) -> str:
        """The text of a cell with this value."""
        return str(value)

    def parse(self, words: pl.Series) -> pl.Series:
        """The values of texts without blanks around them; null where a text stands for none."""
        return words


@dataclass(frozen=True)
class Text(Style):
    """Text as it is; any other value as Python shows it."""


@dataclass(frozen=True)
class Whole(Style):
    """Whole numbers stay whole."""

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Whole().spell(3.9999)
        '4'
        """
        return str(round(value))

    def parse(self, words: pl.Series) -> pl.Series:
        """Whole numbers of 64 bits."""
        return words.cast(pl.Int64, strict=False)


class _WithMark(Style):
    """Numbers with a decimal mark."""

    mark: str

    def parse(self, words: pl.Series) -> pl.Series:
        """Finite numbers."""
        plain = words if self.mark == "." else words.str.replace(self.mark, ".", literal=True)
        values = plain.cast(pl.Float64, strict=False)
        return values.set(values.is_infinite(), None)


@dataclass(frozen=True)
class Fixed(_WithMark):
    """Numbers with so many decimals."""

    decimals: int
    mark: str = "."

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Fixed(2).spell(1.5), Fixed(1, ",").spell(-0.01)
        ('1.50', '0,0')
        """
        text = f"{value:.{self.decimals}f}"
        if text.startswith("-") and not text.strip("-0."):
            text = text[1:]
        return text.replace(".", self.mark)


@dataclass(frozen=True)
class Scientific(_WithMark):
    """Numbers with an exponent, and so many decimals before it."""

    decimals: int
    mark: str = "."

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Scientific(2).spell(0.00012345)
        '1.23e-04'
        """
        return f"{value:.{self.decimals}e}".replace(".", self.mark)


@dataclass(frozen=True)
class Shortest(_WithMark):
    """Numbers with all digits that tell them apart from other numbers."""

    mark: str = "."

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Shortest().spell(0.25), Shortest(",").spell(61.0)
        ('0.25', '61,0')
        """
        return str(value).replace(".", self.mark)


@dataclass(frozen=True)
class Truth(Style):
    """The two words for true and false."""

    true: str = "true"
    false: str = "false"

    def spell(self, value: Any) -> str:
        """The text of a cell with this value."""
        return self.true if value else self.false

    def parse(self, words: pl.Series) -> pl.Series:
        """True for ``true`` in any case."""
        return words.str.to_lowercase() == "true"


@dataclass(frozen=True)
class Day(Style):
    """Dates as 2024-02-29."""

    def spell(self, value: date) -> str:
        """The text of a cell with this value, a moment rounded to a day half to even.

        >>> Day().spell(datetime(2024, 2, 29, 18))
        '2024-03-01'
        """
        if isinstance(value, datetime):
            days = (value.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1)
            value = date(1970, 1, 1) + timedelta(days=round(days))
        return value.isoformat()

    def parse(self, words: pl.Series) -> pl.Series:
        """Dates of the calendar."""
        return words.str.to_date("%Y-%m-%d", strict=False)


@dataclass(frozen=True)
class Moment(Style):
    """Dates with a time: what stands between them, how fine the time is, and what ends it."""

    between: str = "T"
    has_seconds: bool = True
    decimals: int = 0
    end: str = ""

    def spell(self, value: datetime) -> str:
        """The text of a cell with this value, rounded to the precision of the column.

        >>> Moment(" ", decimals=1).spell(datetime(2024, 2, 29, 23, 59, 59, 960_000))
        '2024-03-01 00:00:00.0'
        """
        step = 10 ** (6 - self.decimals) if self.has_seconds else 60_000_000
        past = (value.second * 1_000_000 + value.microsecond) % step
        value += timedelta(microseconds=step - past if 2 * past >= step else -past)
        text = value.strftime("%H:%M:%S" if self.has_seconds else "%H:%M")
        if self.decimals:
            text += f".{value.microsecond:06d}"[: self.decimals + 1]
        return value.date().isoformat() + self.between + text + self.end

    def parse(self, words: pl.Series) -> pl.Series:
        """Moments to the microsecond, in UTC if they end with Z, else without a zone."""
        plain = words.str.replace("T", " ", literal=True).str.strip_suffix(self.end)
        full = plain.str.replace(r"^(.{16})$", "$1:00")
        values = full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        return values.dt.replace_time_zone("UTC") if self.end else values


MOST_DECIMALS = 400
KINDS: dict[type[Any], str] = {
    **dict.fromkeys((Whole, Fixed, Scientific, Shortest), "numbers"),
    **dict.fromkeys((Day, Moment), "dates"),
    Truth: "truths",
    Text: "text",
}
"""What the cells of a style stand for."""

_STYLES = {kind.__name__: kind for kind in KINDS}


@dataclass(frozen=True)
class LearnedTypes:
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
        >>> after = LearnedTypes(styles={"n": Whole()}).rounded(before, before.fill_null(61.3))
        >>> after["n"].to_list()
        [8.5, 61.0]
        """
        names = [
            name
            for name, style in self.styles.items()
            if isinstance(style, Whole) and name in after.columns and after[name].dtype.is_float()
        ]
        return after.with_columns(_rounded(before[name], after[name]) for name in names)


def _rounded(before: pl.Series, after: pl.Series) -> pl.Series:
    whole = pl.Series(after.name, np.rint(after.to_numpy()), dtype=after.dtype)
    holes = without_nan(before).is_null()
    return whole.zip_with(holes & after.is_not_null(), after)


def typed(column: pl.Series, style: Style) -> pl.Series:
    """A column with the type of a style, where that can hold all its cells.

    >>> typed(pl.Series([1, None]), Fixed(2)).dtype, typed(pl.Series([1.5, None]), Whole()).dtype
    (Float64, Float64)
    """
    wanted = style.parse(pl.Series([], dtype=pl.String)).dtype
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
        kind = _STYLES[plain[0]]
        style: Style = kind(*plain[1:])
        values = vars(style)
        fits = all(type(values[name]) is hint for name, hint in get_type_hints(kind).items())
        fits = fits and 0 <= values.get("decimals", 0) <= MOST_DECIMALS
    except (TypeError, LookupError):
        fits = False
    if not fits:
        raise PersistenceError(f"the style of the cells of a column is damaged: {plain!r:.100}")
    return style
