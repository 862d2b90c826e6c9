"""How a column writes its values: imputed cells are written like those above and below them.

A style is a frozen dataclass with two methods: ``spell`` makes the text of a cell from a value, and
``parse`` the values of a column from its texts. A model keeps the styles of the table that it
learned from as plain data; new rows are read and written by them, as `LearnedTypes`.
"""

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, get_type_hints

import numpy as np
import polars as pl

from greyfill.exceptions import PersistenceError


def without_nan(column: pl.Series) -> pl.Series:
    """A column with null for what is not a number among its numbers."""
    return column.fill_nan(None) if column.dtype.is_float() else column


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
    is_capital: bool = False

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Scientific(2).spell(0.00012345), Scientific(1, ",", True).spell(250)
        ('1.23e-04', '2,5E+02')
        """
        text = f"{value:.{self.decimals}e}".replace(".", self.mark)
        return text.upper() if self.is_capital else text


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


CURRENCIES = r"[$€£¥]|USD|EUR|GBP|CHF|JPY"
UNITS = rf"%|‰|°|°C|°F|{CURRENCIES}|[mcµk]?g|[mck]?m|[mc]?l|kWh|kW|mmHg|bpm"
"""What may stand beside a number without a blank between them."""

_BLANK = "[ \u00a0\u202f]"
AMOUNT = (
    rf"^([+-]?)((?:{CURRENCIES}){_BLANK}?)?([+-]?)"
    rf"([0-9](?:[0-9.,'’ \u00a0\u202f]*[0-9])?)"
    rf"({_BLANK}?(?:{UNITS})|{_BLANK}[A-Za-zµ°/%²³]{{1,10}})?$"
)
"""Sign, what stands before it, sign, number, what stands behind."""


def grouped_number(group: str, mark: str) -> str:
    """The pattern of numbers without a sign, in groups of three digits or in none."""
    end = rf"({re.escape(mark)}[0-9]+)?$"
    groups = rf"^[1-9][0-9]{{0,2}}({re.escape(group)}[0-9]{{3}})+{end}"
    return rf"{groups}|^(0|[1-9][0-9]*){end}"


@dataclass(frozen=True)
class Amount(Style):
    """Numbers with signs of a unit around them, or of thousands within: 4.196,72 € or 12 %."""

    decimals: int
    mark: str = "."
    group: str = ""
    before: str = ""
    after: str = ""

    def spell(self, value: Any) -> str:
        """The text of a cell with this value.

        >>> Amount(2, ",", ".", after=" €").spell(4196.719), Amount(0, ".", ",", "$").spell(-1234)
        ('4.196,72 €', '-$1,234')
        """
        text = Fixed(self.decimals).spell(abs(value))
        whole, _, rest = text.partition(".")
        text = f"{int(whole):,}".replace(",", self.group) + (self.mark + rest if rest else "")
        sign = "-" if value < 0 and any(digit in "123456789" for digit in text) else ""
        return sign + self.before + text + self.after

    def parse(self, words: pl.Series) -> pl.Series:
        """Numbers as they stand: 12 % is 12."""
        parts = words.str.extract_groups(AMOUNT).struct.unnest()
        core = parts.to_series(3)
        core = core.set(~core.str.contains(grouped_number(self.group or "!", self.mark)), None)
        plain = core.str.replace_all(self.group, "", literal=True) if self.group else core
        values = plain.str.replace(self.mark, ".", literal=True).cast(pl.Float64, strict=False)
        is_negative = (parts.to_series(0) == "-") ^ (parts.to_series(2) == "-")
        return (
            values * pl.select(pl.when(is_negative).then(-1.0).otherwise(1.0)).to_series()
        ).alias(words.name)


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
class Calendar(Style):
    """Dates as people write them, in an order of day, month and year, perhaps with a time.

    ``clock`` is 0 without a time, 1 with minutes, 2 with seconds; a short year counts from 1930.
    """

    order: str = "dmy"
    mark_between: str = "."
    is_padded: bool = True
    has_short_year: bool = False
    clock: int = 0

    @property
    def pattern(self) -> str:
        """What such texts match, the parts of the date and the time in groups."""
        day, year = (
            "([0-9]{1,2})",
            "([0-9]{4})" if self.mark_between == "-" else "([0-9]{4}|[0-9]{2})",
        )
        parts = {"dmy": (day, day, year), "mdy": (day, day, year), "ymd": ("([0-9]{4})", day, day)}
        between = re.escape(self.mark_between)
        return (
            f"^{between.join(parts[self.order])}(?:[T ]([0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?))?$"
        )

    def spell(self, value: date) -> str:
        """The text of a cell with this value.

        >>> Calendar().spell(date(2025, 2, 9)), Calendar("mdy", "/", False).spell(date(2025, 2, 9))
        ('09.02.2025', '2/9/2025')
        """
        if self.clock and isinstance(value, datetime):
            rounded = Moment(" ", has_seconds=self.clock == 2).spell(value.replace(tzinfo=None))
            day, _, time = rounded.partition(" ")
        else:
            day, time = Day().spell(value), ""
        year, month, day = day.split("-")
        if not self.is_padded:
            month, day = month.lstrip("0"), day.lstrip("0")
        parts = {"y": year[-2:] if self.has_short_year else year, "m": month, "d": day}
        return self.mark_between.join(parts[part] for part in self.order) + (time and f" {time}")

    def parse(self, words: pl.Series) -> pl.Series:
        """Dates of the calendar, or moments if the column has times."""
        parts = words.str.extract_groups(self.pattern).struct.unnest()
        found = {part: parts.to_series(j).str.zfill(2) for j, part in enumerate(self.order)}
        is_late = found["y"].str.to_integer(strict=False) >= 30  # as spreadsheets read short years
        century = pl.select(pl.when(is_late).then(pl.lit("19")).otherwise(pl.lit("20"))).to_series()
        long = found["y"].str.len_bytes() == 4
        year = found["y"].zip_with(long.fill_null(True), century + found["y"])
        days = (year + "-" + found["m"] + "-" + found["d"]).alias(words.name)
        if not self.clock:
            return days.str.to_date("%Y-%m-%d", strict=False)
        times = parts.to_series(3).fill_null("00:00").str.zfill(5)
        times = times.str.replace(r"^(\d\d?:\d\d)$", "$1:00")
        return (days + " " + times).str.to_datetime(
            "%Y-%m-%d %H:%M:%S", time_unit="us", strict=False
        )


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
        if self._is_local:
            value = value.astimezone(datetime.fromisoformat(f"2000-01-01T00{self.end}").tzinfo)
        step = 10 ** (6 - self.decimals) if self.has_seconds else 60_000_000
        past = (value.second * 1_000_000 + value.microsecond) % step
        value += timedelta(microseconds=step - past if 2 * past >= step else -past)
        text = value.strftime("%H:%M:%S" if self.has_seconds else "%H:%M")
        if self.decimals:
            text += f".{value.microsecond:06d}"[: self.decimals + 1]
        return value.date().isoformat() + self.between + text + self.end

    def parse(self, words: pl.Series) -> pl.Series:
        """Moments to the microsecond; in UTC if they end with Z or an offset, else without zone."""
        plain = words.str.replace("T", " ", literal=True)
        if self._is_local:
            full = plain.str.replace("Z$", "+0000").str.replace(r"^(.{16})([+-].*)$", "$1:00$2")
            form = "%Y-%m-%d %H:%M:%S%.f%z"
            return full.str.to_datetime(form, time_unit="us", strict=False, time_zone="UTC")
        plain = plain.str.strip_suffix(self.end)
        full = plain.str.replace(r"^(.{16})$", "$1:00")
        values = full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        return values.dt.replace_time_zone("UTC") if self.end else values

    @property
    def _is_local(self) -> bool:
        """Whether the end is an offset from UTC, such as +01:00."""
        return self.end not in ("", "Z")


MOST_DECIMALS = 400
KINDS: dict[type[Any], str] = {
    **dict.fromkeys((Whole, Fixed, Scientific, Shortest, Amount), "numbers"),
    **dict.fromkeys((Day, Moment, Calendar), "dates"),
    Truth: "truths",
    Text: "text",
}
"""What the cells of a style stand for."""

_STYLES = {kind.__name__: kind for kind in KINDS}
_SOUND = {"order": "dmy|mdy|ymd", "end": r"Z?|[+-]\d\d:?\d\d"}
"""What fields of a style must look like, or its methods fail."""


@dataclass(frozen=True)
class LearnedTypes:
    """The columns of a model, their styles where they are known, and its words for missing.

    Such a word need not occur in new rows; ``words`` are those that count in one column only.
    """

    columns: tuple[str, ...] = ()
    styles: Mapping[str, Style] = field(default_factory=dict)
    na_values: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def all_words(self) -> tuple[str, ...]:
        """The words as a user would name them, those of one column as ``column=word``."""
        own = [f"{name}={word}" for name, words in self.words.items() for word in words]
        return (*self.na_values, *own)

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
    if isinstance(style, Amount) and isinstance(found, Amount):
        return replace(found, decimals=style.decimals)
    if isinstance(style, Amount | Calendar) or isinstance(found, Amount | Calendar):
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
        fits = fits and all(re.fullmatch(p, values[f]) for f, p in _SOUND.items() if f in values)
    except (TypeError, LookupError):
        fits = False
    if not fits:
        raise PersistenceError(f"the style of the cells of a column is damaged: {plain!r:.100}")
    return style
