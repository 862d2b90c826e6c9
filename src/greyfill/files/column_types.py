"""The cells of a column as text → its type, and how it writes its values.

Evidence is gathered part by part, so that a file of any length can be typed in little memory; a
column that is read at once is one part. For each type that a column may have, a `TypeFit` counts
the cells that are of it. Texts that are dates, times or numbers in a form that is not read as such
have a `Form`, which tells what to write instead.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.styles import (
    MISSING_WORDS,
    NO_CATEGORIES,
    Day,
    Fixed,
    Moment,
    Scientific,
    Style,
    Text,
    Truth,
    Whole,
    bare,
    in_notation,
    typed,
)

FEW_WORDS = 3
"""So many different words among numbers are taken for mistakes, not for a column of text."""

MOST_NUMBERS = 0.95
"""With this share of numbers, all other words are taken for mistakes."""

LONGEST_WHOLE = 18
"""Longer whole numbers do not fit 64 bits: they are identifiers."""

_IDENTIFIER = rf"^([+-]?0[0-9]+|[+-]?[0-9]{{{LONGEST_WHOLE + 1},}})$"

_TEXT = Text()

Counts = pl.DataFrame
"""Different words, without blanks around them, and how often each occurs: word, count."""


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, by the style of its cells, and a note for the user.

    A column without an observed cell is empty; a model may have learned how its cells are written.
    """

    found: Style = _TEXT
    is_empty: bool = False
    note: str = ""
    learned: Style | None = None

    @property
    def style(self) -> Style:
        """How new cells are written."""
        return self.learned or self.found

    @property
    def is_text(self) -> bool:
        """Whether the cells stay as they are."""
        return isinstance(self.found, Text) and not self.is_empty

    def parse(self, cells: pl.Series) -> pl.Series:
        """The typed cells of a part of the column, with nulls in its holes."""
        if self.is_empty:
            values = pl.Series(cells.name, [None] * len(cells), dtype=pl.Null)
        else:
            values = cells if self.is_text else self.found.parse(bare(cells))
        return values if self.learned is None else typed(values, self.learned)

    def with_style(self, style: Style | None, mark: str) -> "ColumnType":
        """The type with the style that a model learned, in the notation of the file."""
        if style is None:
            return self
        found = style if self.is_empty else self.found
        return replace(self, learned=in_notation(style, found, mark))


class TypeFit:
    """How many cells of a column are of one type, how they are written, and some that are not.

    ``name`` says in a message what such a column holds. Its cells match the pattern, though not
    all that match can be read, and ``reader`` reads all of them.
    """

    def __init__(self, name: str, pattern: str, reader: Style) -> None:
        self.name, self._pattern, self._reader = name, pattern, reader
        self.count = 0
        self._strays: set[str] = set()
        self._strays_mean_missing = True

    @property
    def style(self) -> Style:
        """How new cells of the column are written, if it is of this type."""
        return self._reader

    def measure(self, counts: Counts) -> None:
        """Gather how some more words of this type are written."""

    def add(self, counts: Counts, *, may_fit: bool) -> None:
        """Count some more words."""
        words = counts["word"]
        fits = self.fitting(words) if may_fit else words.is_null()
        if fits.any():
            found = counts.filter(fits)
            self.count += int(found["count"].sum())
            self.measure(found)
        if len(self._strays) <= FEW_WORDS or self._strays_mean_missing:
            strays = words.filter(~fits)
            self._strays.update(strays.head(FEW_WORDS + 1).to_list())
            if self._strays_mean_missing:
                usual = strays.str.to_lowercase().is_in(list(MISSING_WORDS))
                self._strays_mean_missing = bool(usual.all())

    def fitting(self, words: pl.Series) -> pl.Series:
        """Which words are of this type."""
        matching = words.set(~words.str.contains(self._pattern), None)
        return self._reader.parse(matching).is_not_null()

    def are_mistakes(self, n_seen: int) -> bool:
        """Whether the words that do not fit are so few, or such words, that the user must look."""
        share = self.count / n_seen
        if share == 0.0:
            return False
        few = len(self._strays) <= FEW_WORDS
        return share >= MOST_NUMBERS or (share > 0.5 and few) or self._strays_mean_missing


class NumberFit(TypeFit):
    """Whole and decimal numbers with this decimal mark; they get the most decimals of a column."""

    def __init__(self, mark: str) -> None:
        super().__init__("numbers", _number(mark), Fixed(0, mark))
        self._mark, self._decimals = mark, 0
        self._are_whole, self._has_exponents = True, False

    @property
    def style(self) -> Style:
        """Whole numbers stay whole; others get the most decimals of the column."""
        if self._are_whole:
            return Whole()
        return (Scientific if self._has_exponents else Fixed)(self._decimals, self._mark)

    def measure(self, counts: Counts) -> None:
        """Whether all are whole, the most decimals, and whether any has an exponent."""
        words = counts["word"]
        are_whole = self._are_whole and bool(words.str.contains(r"^[+-]?[0-9]+$").all())
        self._are_whole = are_whole and not Whole().parse(words).has_nulls()
        self._decimals = max(self._decimals, _most_decimals(words, self._mark))
        self._has_exponents = self._has_exponents or bool(words.str.contains("[eE]").any())


class TruthFit(TypeFit):
    """True or false, in any case."""

    def __init__(self) -> None:
        super().__init__("true or false", r"^(?i:true|false)$", Truth())
        self._words: Counter[str] = Counter()

    @property
    def style(self) -> Style:
        """The usual words; a word that does not occur is written like the other one."""
        yes = _usual({w: n for w, n in self._words.items() if w.lower() == "true"})
        no = _usual({w: n for w, n in self._words.items() if w.lower() == "false"})
        return Truth(yes or _like(no, "true"), no or _like(yes, "false"))

    def measure(self, counts: Counts) -> None:
        """How often each word occurs."""
        self._words.update(dict(counts.iter_rows()))


class MomentFit(TypeFit):
    """ISO dates with times, all with this end: Z for UTC, or nothing."""

    def __init__(self, end: str) -> None:
        pattern = rf"^\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{{1,9}})?)?{end}$"
        super().__init__("dates with times", pattern, Moment(end=end))
        self._end, self._decimals, self._has_seconds = end, 0, False
        self._betweens: Counter[str] = Counter()

    @property
    def style(self) -> Style:
        """The usual letter between date and time, the finest time of the column."""
        between = _usual(self._betweens) or "T"
        return Moment(between, self._has_seconds, min(self._decimals, 6), self._end)

    def measure(self, counts: Counts) -> None:
        """What stands between date and time, and how fine the times are."""
        words = counts["word"]
        letters = counts.group_by(words.str.slice(10, 1).alias("letter"))
        self._betweens.update(dict(letters.agg(pl.col("count").sum()).iter_rows()))
        self._has_seconds = self._has_seconds or bool(words.str.contains(r":\d\d:").any())
        self._decimals = max(self._decimals, _most_decimals(words, "."))


def _number(mark: str) -> str:
    """The pattern of numbers with this decimal mark."""
    point = {".": r"\.", ",": ","}[mark]
    return rf"^[+-]?([0-9]+({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$"


def _most_decimals(words: pl.Series, mark: str) -> int:
    digits = words.str.extract(rf"[{mark}](\d+)")
    return int(digits.str.len_chars().max() or 0)  # type: ignore[arg-type]


def _usual(words: dict[str, int]) -> str:
    """The most frequent word; the first in the alphabet of equally frequent ones."""
    return min(words, key=lambda word: (-words[word], word), default="")


def _like(example: str, word: str) -> str:
    """A word in the case of an example.

    >>> _like("TRUE", "false"), _like("True", "false")
    ('FALSE', 'False')
    """
    if example.isupper():
        return word.upper()
    return word.title() if example.istitle() else word


class StrayCellsError(Exception):
    """Some cells of a column are not of its type."""

    def __init__(self, fit: TypeFit, count: int) -> None:
        super().__init__()
        self._fit, self._count = fit, count

    def row_in(self, cells: pl.Series) -> int | None:
        """The first such cell in a part of the column."""
        words = bare(cells)
        rows = np.flatnonzero((words.is_not_null() & ~self._fit.fitting(words)).to_numpy())
        return int(rows[0]) if len(rows) else None

    def for_user(
        self, place: str, column: str, word: str, is_learned: bool = False
    ) -> InvalidDataError:
        """The error with the first such cell; of a learned column the type is fixed."""
        more = f" and {self._count - 1:,} more do not" if self._count > 1 else " does not"
        name, plainly = self._fit.name, ""
        if isinstance(self._fit, NumberFit) and any(sign.isdigit() for sign in word):
            plainly = " If it is a number, write it plainly, as 74 or 1234.5."
        text = f"if the column is text, say so (--categorical {column!r}, text_columns=)"
        if is_learned:
            text = (
                f"the imputer learned {name} from this column; if it is text, learn again with "
                f"--categorical {column!r} (greyfill fit)"
            )
        return InvalidDataError(
            f"{place}: the column holds {name}, but this cell{more}: {word!r}.{plainly} "
            f"If it stands for a missing value, say so (--na-values {word!r}, na_values=); {text}."
        )


class ColumnEvidence:
    """The cells of a column so far, counted by the types that they fit."""

    def __init__(self, name: str, marks: str = ".", *, is_text: bool = False) -> None:
        self.name = name
        self.marks: Counter[str] = Counter()
        self._n_seen = 0
        self._missing_words: Counter[str] = Counter()
        self._is_text = is_text
        self._has_identifiers = False
        self._numbers = {mark: NumberFit(mark) for mark in marks}
        days = TypeFit("dates", r"^\d{4}-\d\d-\d\d$", Day())
        self._others = [TruthFit(), days, MomentFit(""), MomentFit("Z")]

    def add(self, cells: pl.Series) -> None:
        """Count some more cells; nulls are holes."""
        observed = bare(cells.drop_nulls()).alias("word")
        counts = observed.value_counts()
        words = counts["word"]
        self._n_seen += len(observed)
        mean_missing = words.str.to_lowercase().is_in(list(NO_CATEGORIES))
        self._missing_words.update(dict(counts.filter(mean_missing).iter_rows()))
        if len(self._numbers) > 1:
            for mark in self._numbers:
                with_mark = words.str.contains(rf"^[+-]?[0-9]*[{mark}][0-9]+$")
                self.marks[mark] += int(counts.filter(with_mark)["count"].sum())
        if self._is_text or not len(words):
            return
        identifiers = words.str.contains(_IDENTIFIER)
        self._has_identifiers = self._has_identifiers or bool(identifiers.any())
        are_numbers = False
        for fit in self._numbers.values():
            before = fit.count
            fit.add(counts, may_fit=True)
            are_numbers = are_numbers or fit.count - before == len(observed)
        for other in self._others:
            other.add(counts, may_fit=not are_numbers)

    def column_type(self, mark: str = ".", *, must_be_numbers: bool = False) -> ColumnType:
        """The type of the column; cells that are not of it are an error."""
        if not self._n_seen or self._is_text:
            return ColumnType(is_empty=not self._n_seen)
        numbers = self._numbers[mark]
        if self._has_identifiers and not must_be_numbers:
            if numbers.count < self._n_seen:
                return ColumnType()
            return ColumnType(
                note=f"Column {self.name!r} was taken as text: it has numbers with leading zeros, "
                "or with more than 18 digits. If they are quantities, say so: --numeric "
                "(numeric_columns=)."
            )
        for fit in [numbers] if must_be_numbers else [numbers, *self._others]:
            strays = self._n_seen - fit.count
            if not strays:
                return ColumnType(fit.style)
            if must_be_numbers or fit.are_mistakes(self._n_seen):
                raise StrayCellsError(fit, strays)
        return ColumnType()

    def notes(self, column_type: ColumnType) -> Iterator[str]:
        """Sentences for the user about a column of this type."""
        if column_type.note:
            yield column_type.note
        for word, count in sorted(self._missing_words.items()) if column_type.is_text else ():
            yield (
                f"Column {self.name!r}: {word!r} ({count} cells) was taken as a category. "
                f"If it means missing, say so: --na-values {word!r} (na_values=)."
            )


NEARLY_ALL = 0.95
"""The share of the different texts of a column that must have a form."""


@dataclass(frozen=True)
class Form:
    """What texts look like, and what to write instead."""

    name: str
    pattern: str
    remedy: str


_PLAIN = r"[0-9]+([.,][0-9]+)?"
_GROUPED = r"[0-9]{1,3}([,.' ][0-9]{3})+([.,][0-9]+)?"
_AMOUNT = rf"({_GROUPED}|{_PLAIN})"
_CURRENCY = "([$€£¥]|USD|EUR|GBP|CHF|JPY)"
_SMALL = "(0?[1-9]|[12][0-9]|3[01])"
"""The number of a day or a month."""
_TIME = r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?( ?[AaPp][Mm])?"

FORMS = (
    Form(
        "dates in another form",
        rf"^({_SMALL}[./-]{_SMALL}[./-]([0-9]{{4}}|[0-9]{{2}})|"
        rf"[0-9]{{4}}[./-]{_SMALL}[./-]{_SMALL})([T ]{_TIME}.*)?$",
        "To have them read as dates, write them as YYYY-MM-DD",
    ),
    Form(
        "times of day",
        rf"^{_TIME}$",
        "To have them read as numbers, write plain ones, such as minutes since midnight",
    ),
    Form(
        "percentages",
        rf"^[+-]?{_PLAIN} ?%$",
        "To have them read as numbers, write plain ones, such as 74",
    ),
    Form(
        "amounts",
        rf"^[+-]?({_CURRENCY} ?[+-]?{_AMOUNT}|{_AMOUNT}( ?{_CURRENCY})?)$",
        "To have them read as numbers, write plain ones, such as 1234.5",
    ),
)


def form_of(texts: pl.Series) -> Form | None:
    """The form that nearly all different texts of a column have, if there is one.

    Numbers that are written plainly have none, though there may be some among amounts.

    >>> form_of(pl.Series(["28/01/2020", "04/02/2020"])).name
    'dates in another form'
    >>> form_of(pl.Series(["$1,234", "$87", "512"])).name
    'amounts'
    >>> form_of(pl.Series(["007", "008"]))
    """
    words = bare(texts.drop_nulls()).unique()
    if not len(words) or words.str.contains(_number(".")).all():
        return None
    return next((form for form in FORMS if _share(words, form.pattern) >= NEARLY_ALL), None)


def _share(words: pl.Series, pattern: str) -> float:
    return float(words.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]
