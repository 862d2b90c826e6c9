"""The cells of a column as text → its type, and how it writes its values.

Evidence is gathered part by part, so that a file of any length can be typed in little memory; a
column that is read at once is one part. For each type that a column may have, a `TypeFit` counts
the cells that are of it. Texts that are dates, times or numbers in a form that is not read as such
have a `Form`, which tells what to write instead.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.guesses import Guess
from greyfill.files.styles import Amount, Calendar, Day, Style, Text, in_notation, typed
from greyfill.files.type_fits import (
    OFFSET,
    AmountFit,
    CalendarFit,
    MomentFit,
    NumberFit,
    TruthFit,
    TypeFit,
    calendar_fits,
    number_pattern,
)
from greyfill.files.words import FEW, WordEvidence, bare, mean_missing
from greyfill.table import Bools

ChooseTypes = Callable[[tuple[str, ...]], tuple[Sequence[str], Sequence[str]]]
"""All names of columns → those of text, and those of numbers."""

LONGEST_WHOLE = 18
"""Longer whole numbers do not fit 64 bits: they are identifiers."""

_IDENTIFIER = rf"^([+-]?0[0-9]+|[+-]?[0-9]{{{LONGEST_WHOLE + 1},}})$"

_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$"
"""Numbers whose mark may as well be a sign of thousands: 1.234."""

_TEXT = Text()

_LIKE_FORMS = r"^[+-]?([$€£¥]|[A-Z]{3})?\s?[+-]?[0-9]"
"""How dates and amounts begin, as people write them."""

_ORDERS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, by the style of its cells, and what the user should know of it.

    A column without an observed cell is empty; a model may have learned how its cells are written.
    The words of ``missing`` are holes of this column. Cells that are not of its type are an error,
    unless they are ``strays``, which only `greyfill inspect` reads over.
    """

    found: Style = _TEXT
    is_empty: bool = False
    note: str = ""
    learned: Style | None = None
    missing: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()
    strays: dict[str, int] | None = None

    @property
    def style(self) -> Style:
        """How new cells are written."""
        return self.learned or self.found

    @property
    def is_text(self) -> bool:
        """Whether the cells stay as they are."""
        return isinstance(self.found, Text) and not self.is_empty

    def observed(self, cells: pl.Series) -> pl.Series:
        """A part of the column, with nulls for the words that mean missing in it."""
        words = [*self.missing, *(self.strays or ())]
        return cells.set(bare(cells).is_in(words), None) if words else cells

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


SECOND_HEAD = "If the row has units or more names, delete it: it is no row of the table"


class StrayCellsError(Exception):
    """Some cells of a column are not of its type."""

    def __init__(self, fit: TypeFit) -> None:
        super().__init__()
        self.fit = fit

    def words_in(self, cells: pl.Series, strict: bool = False) -> Counter[str]:
        """Such cells in a part of the column that are no words for missing either."""
        words = bare(cells.drop_nulls())
        strays = words.filter(~self.fit.fitting(words))
        return Counter((strays if strict else strays.filter(~mean_missing(strays))).to_list())

    def row_in(self, cells: pl.Series) -> int | None:
        """The first such cell in a part of the column."""
        words = bare(cells)
        rows = np.flatnonzero((words.is_not_null() & ~self.fit.fitting(words)).to_numpy())
        return int(rows[0]) if len(rows) else None

    def for_user(
        self,
        place: str,
        column: str,
        words: Counter[str],
        *,
        is_learned: bool = False,
        is_first: bool = False,
    ) -> InvalidDataError:
        """The error with the first such cell, perhaps of the first row.

        Of a learned column the type is fixed.
        """
        (word, *others), count = words, words.total()
        more = f" and {count - 1:,} more do not" if count > 1 else " does not"
        name, plainly = self.fit.name, ""
        if isinstance(self.fit, NumberFit) and any(sign.isdigit() for sign in word):
            plainly = " If it is a number, write it plainly, as 74 or 1234.5."
        elif is_first and count == 1:
            plainly = f" {SECOND_HEAD}."
        also = f" (also {', '.join(map(repr, others[:MOST_WORDS]))})" if others else ""
        text = f"if the column is text, say so (--categorical {column!r})"
        if is_learned:
            text = (
                f"the imputer learned {name} from this column; if it is text, learn again with "
                f"--categorical {column!r} (greyfill fit)"
            )
        return InvalidDataError(
            f"{place}: the column holds {name}, but this cell{more}: {word!r}{also}.{plainly} "
            f"If it stands for a missing value, say so (--na-values {word!r}); {text}. "
            "greyfill inspect shows all such cells and the options for them."
        )


MOST_WORDS = 5


class ColumnEvidence:
    """The cells of a column so far, counted by the types that they fit.

    A strict one knows only the forms of computers, and no word for missing.
    """

    def __init__(
        self, name: str, marks: str = ".", *, is_text: bool = False, strict: bool = False
    ) -> None:
        self.name = name
        self.marks: Counter[str] = Counter()
        self.sure_marks: Counter[str] = Counter()
        self.n_seen = 0
        self._may_be_quoted = True
        self._words = WordEvidence(name)
        self._is_text, self._strict = is_text, strict
        self._has_identifiers = False
        self._n_like_forms = 0
        self._numbers = {mark: NumberFit(mark) for mark in marks}
        days = TypeFit("dates", r"^\d{4}-\d\d-\d\d$", Day())
        self._others = [TruthFit(), days, MomentFit(""), MomentFit("Z")]
        self._calendars: list[CalendarFit] = []
        self._amounts = AmountFit()
        if not strict:
            self._others.append(MomentFit(OFFSET))
            self._calendars = list(calendar_fits())

    def add(self, cells: pl.Series) -> None:
        """Count some more cells; nulls are holes."""
        observed = bare(cells.drop_nulls()).alias("word")
        counts = observed.value_counts()
        words = counts["word"]
        self.n_seen += len(observed)
        self._words.add(counts)
        if len(self._numbers) > 1:
            for mark in self._numbers:
                with_mark = words.str.contains(rf"^[+-]?[0-9]*[{mark}][0-9]+$")
                self.marks[mark] += int(counts.filter(with_mark)["count"].sum())
                is_sure = with_mark & ~words.str.contains(_THOUSANDS)
                self.sure_marks[mark] += int(counts.filter(is_sure)["count"].sum())
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
        if are_numbers:
            self._n_like_forms += len(observed)
        elif not self._strict:
            like_forms = words.str.contains(_LIKE_FORMS)
            self._n_like_forms += int(counts.filter(like_forms)["count"].sum())

    @property
    def is_quoted(self) -> bool:
        """Whether there are observed cells, and all of them are in quotes."""
        n_words = 0 if self._is_text else self._n_missing
        return self.n_seen > n_words and self._may_be_quoted

    def add_quotes(self, cells: pl.Series, in_quotes: Bools) -> None:
        """Tell which of some more cells are in quotes; words for missing need none.

        In a column that is named as text no word means missing.
        """
        if self._may_be_quoted:
            plain = bare(cells.filter(~in_quotes).drop_nulls())
            parts = (plain.head(FEW), plain)  # the first tell, nearly always
            free = (part == "" if self._is_text else mean_missing(part) for part in parts)
            self._may_be_quoted = all(bool(part.all()) for part in free)

    def may_have_form(self, mark: str) -> bool:
        """Whether the cells, which are of no type of computers, may be dates or amounts of people.

        If so, all of them must be looked at again.
        """
        if self._is_text or self._strict or not self._n_like_forms:
            return False
        is_typed = any(self._is_whole(fit) for fit in (self._numbers[mark], *self._others))
        return not is_typed and self._n_like_forms == self.n_seen - self._n_missing

    def look_again(self, cells: pl.Series) -> None:
        """Count dates and amounts, as people write them, among some more cells."""
        counts = bare(cells.drop_nulls()).alias("word").value_counts()
        for fit in (*self._calendars, self._amounts):
            fit.add(counts, may_fit=True)

    @property
    def orders(self) -> list[str]:
        """The orders of day, month and year in which all cells are dates."""
        return [fit.order for fit in self._calendars if fit.count and self._is_whole(fit)]

    def column_type(
        self, mark: str = ".", order: str = "dmy", *, must_be_numbers: bool = False
    ) -> ColumnType:
        """The type of the column; cells that are not of it are an error.

        ``mark`` and ``order`` are those of the file, for cells that can be read in two ways.
        """
        if not self.n_seen:
            return ColumnType(is_empty=True)
        numbers = self._numbers[mark]
        if self._is_text or (self._has_identifiers and not must_be_numbers):
            return self._text(is_number=numbers.count == self.n_seen)
        calendars = sorted(self._calendars, key=lambda fit: fit.order != order)
        fits = [numbers] if must_be_numbers else [numbers, *self._others, *calendars]
        for fit in fits:
            if self._is_whole(fit):
                return self._typed(fit)
        if self._amounts.settle(mark, self.n_seen - self._n_missing):
            return self._typed(self._amounts)
        for fit in fits:
            if must_be_numbers or fit.are_mistakes(self.n_seen):
                raise StrayCellsError(fit)
        return self._text()

    @property
    def _n_missing(self) -> int:
        return 0 if self._strict else self._words.counts.total()

    def _is_whole(self, fit: TypeFit) -> bool:
        """Whether all cells are of a type, but for words that mean missing among them."""
        return self.n_seen - fit.count == (self._n_missing if fit.count else 0)

    def _text(self, is_number: bool = False) -> ColumnType:
        words = () if self._is_text or self._strict else self._words.in_text()
        note = (
            f"Column {self.name!r} was taken as text: it has numbers with leading zeros, "
            "or with more than 18 digits. If they are quantities, say so: --numeric "
            f"{self.name!r}."
        )
        n_missing = sum(self._words.counts[word] for word in words)
        return ColumnType(
            is_empty=n_missing == self.n_seen,
            note=note if is_number and not self._is_text else "",
            missing=words,
            guesses=self._guesses(words),
        )

    def _typed(self, fit: TypeFit) -> ColumnType:
        words = () if self._strict else tuple(self._words.counts)
        return ColumnType(fit.style, missing=words, guesses=self._guesses(words, fit))

    def over_strays(self, fit: TypeFit, words: Mapping[str, int]) -> ColumnType:
        """The type of a column that has some cells of another one."""
        return replace(self._typed(fit), strays=dict(words))

    def _guesses(self, words: tuple[str, ...], fit: TypeFit | None = None) -> tuple[Guess, ...]:
        guesses = []
        style = None if fit is None else fit.style
        if isinstance(style, Calendar | Amount):
            kind = "dates" if isinstance(style, Calendar) else "amounts"
            sample = datetime(2025, 12, 31, 9, 30) if kind == "dates" else 1234.5
            detail = f"as {style.spell(sample)!r}"  # type: ignore[arg-type]
            undo = "If they are categories: --categorical COLUMN."
            if isinstance(style, Calendar) and style.order != "ymd":
                other = {"dmy": "mdy", "mdy": "dmy"}[style.order]
                detail = f"{_ORDERS[style.order]} {detail}"
                if style.mark_between != "." and other in self.orders:
                    undo = f"No cell tells the order; the other one is --date-order {other}."
            guesses.append(Guess(kind, detail, undo, self.name, fit.count))  # type: ignore[union-attr]
        if words:
            shown = ", ".join(map(repr, sorted(words)))
            undo = "If it is a value there: --categorical COLUMN, or --strict."
            cells = sum(self._words.counts[word] for word in words)
            guesses.append(Guess("missing", shown, undo, self.name, cells))
        return tuple(guesses)

    def notes(self, column_type: ColumnType) -> Iterator[str]:
        """Sentences for the user about a column of this type."""
        if column_type.note:
            yield column_type.note


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
        "dates that are stored as texts",
        rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ]{_TIME}(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?$",
        "To have them read as dates, convert the file to CSV, or to Parquet with a column of dates",
    ),
    Form(
        "dates that are not all YYYY-MM-DD",
        rf"^({_SMALL}[./-]{_SMALL}[./-]([0-9]{{4}}|[0-9]{{2}})|"
        rf"[0-9]{{4}}[./-]{_SMALL}[./-]{_SMALL})([T ]{_TIME}.*)?$",
        "To have them read as dates, write each of them so",
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
    'dates that are not all YYYY-MM-DD'
    >>> form_of(pl.Series(["2020-01-28", "2020-02-04"])).name
    'dates that are stored as texts'
    >>> form_of(pl.Series(["$1,234", "$87", "512"])).name
    'amounts'
    >>> form_of(pl.Series(["007", "008"]))
    >>> form_of(pl.Series([*map(str, range(30)), "absent"]))
    """
    words = bare(texts.drop_nulls()).unique()
    others = words.filter(~words.str.contains(number_pattern(".")))
    return next(
        (
            form
            for form in FORMS
            if others.str.contains(form.pattern).any() and _share(words, form.pattern) >= NEARLY_ALL
        ),
        None,
    )


def _share(words: pl.Series, pattern: str) -> float:
    return float(words.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]
