"""The cells of a column as text → its type, and how it spells its values.

Evidence is gathered part by part, so that a file of any length can be judged in little memory; a
column that is read at once is one part.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files import patterns
from greyfill.files.column_types import LOOKS, Counts, Look, Numbers, Spelling
from greyfill.files.styles import Style, Text, in_notation, typed

FEW_WORDS = 3
"""So many different words among numbers are taken for mistakes, not for a column of text."""

MOST_NUMBERS = 0.95
"""With this share of numbers, all other words are taken for mistakes."""


@dataclass(frozen=True)
class ColumnType:
    """The type of a column: its spelling, or None for text; and a note for the user."""

    spelling: Spelling | None = None
    is_empty: bool = False
    note: str = ""
    learned: Style | None = None

    @property
    def style(self) -> Style:
        """How new cells are written."""
        found = Text() if self.spelling is None else self.spelling.style
        return self.learned or found

    @property
    def is_text(self) -> bool:
        """Whether the cells stay as they are."""
        return self.spelling is None and not self.is_empty

    def parse(self, cells: pl.Series) -> pl.Series:
        """The typed cells of a part of the column, with nulls in its holes."""
        values = self._values(cells)
        return values if self.learned is None else typed(values, self.learned)

    def taught(self, style: Style | None, mark: str) -> "ColumnType":
        """The verdict with the style that a model learned, in the notation of the file."""
        if style is None:
            return self
        found = style if self.is_empty else self.style
        return replace(self, learned=in_notation(style, found, mark))

    def _values(self, cells: pl.Series) -> pl.Series:
        if self.is_empty:
            return pl.Series(cells.name, [None] * len(cells), dtype=pl.Null)
        if self.spelling is None:
            return cells
        return self.spelling.parse(patterns.bare(cells)).alias(cells.name)


@dataclass
class Fit:
    """How many cells have one look, how they are spelled, and some of those that have not."""

    look: Look
    count: int = 0
    spelling: Spelling | None = None
    strays: set[str] = field(default_factory=set)
    are_missing_words: bool = True

    def add(self, counts: Counts, may_match: bool) -> None:
        """Look at some more words."""
        words = counts["word"]
        fits = self.fitting(words) if may_match else words.is_null()
        if fits.any():
            found = counts.filter(fits)
            self.count += int(found["count"].sum())
            spelling = self.look.spelling(found)
            self.spelling = spelling if self.spelling is None else self.spelling | spelling
        if len(self.strays) <= FEW_WORDS or self.are_missing_words:
            self._add_strays(words.filter(~fits))

    def fitting(self, words: pl.Series) -> pl.Series:
        """Which words are of this type."""
        matching = words.set(~words.str.contains(self.look.pattern), None)
        return self.look.reader.parse(matching).is_not_null()

    def _add_strays(self, strays: pl.Series) -> None:
        self.strays.update(strays.head(FEW_WORDS + 1).to_list())
        usual = strays.str.to_lowercase().is_in(list(patterns.MISSING_WORDS))
        self.are_missing_words = self.are_missing_words and bool(usual.all())

    def are_mistakes(self, n_seen: int) -> bool:
        """Whether the words that do not fit are so few, or such words, that somebody must look."""
        share = self.count / n_seen
        if share == 0.0:
            return False
        few = len(self.strays) <= FEW_WORDS
        return share >= MOST_NUMBERS or (share > 0.5 and few) or self.are_missing_words


class StrayCellsError(Exception):
    """Some cells of a column are not of its type."""

    def __init__(self, fit: Fit, count: int) -> None:
        super().__init__()
        self.fit, self.count = fit, count

    def row_in(self, cells: pl.Series) -> int | None:
        """The first such cell in a part of the column."""
        bare = patterns.bare(cells)
        rows = np.flatnonzero((bare.is_not_null() & ~self.fit.fitting(bare)).to_numpy())
        return int(rows[0]) if len(rows) else None

    def in_words(
        self, place: str, column: str, word: str, *, is_learned: bool = False
    ) -> InvalidDataError:
        """The message for the user; of a learned column the type is fixed."""
        more = f" and {self.count - 1:,} more do not" if self.count > 1 else " does not"
        name, plainly = self.fit.look.name, ""
        if isinstance(self.fit.look, Numbers) and any(sign.isdigit() for sign in word):
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


class CellEvidence:
    """What the cells of a column say about its type, so far."""

    def __init__(self, name: str, marks: str = ".", *, is_text: bool = False) -> None:
        self.name = name
        self.seen = 0
        self.marks: Counter[str] = Counter()
        self.doubtful: Counter[str] = Counter()
        self._is_text = is_text
        self._has_identifiers = False
        self._numbers = {mark: Fit(Numbers(mark)) for mark in marks}
        self._others = [Fit(look) for look in LOOKS]

    def add(self, cells: pl.Series) -> None:
        """Look at some more cells; nulls are holes."""
        bare = patterns.bare(cells.drop_nulls()).alias("word")
        counts = bare.value_counts()
        words = counts["word"]
        self.seen += len(bare)
        doubtful = words.str.to_lowercase().is_in(list(patterns.DOUBTFUL_WORDS))
        self.doubtful.update(dict(counts.filter(doubtful).iter_rows()))
        if len(self._numbers) > 1:
            for mark in self._numbers:
                shown = counts.filter(words.str.contains(patterns.with_mark(mark)))
                self.marks[mark] += int(shown["count"].sum())
        if self._is_text or not len(words):
            return
        identifiers = words.str.contains(patterns.IDENTIFIER)
        self._has_identifiers = self._has_identifiers or bool(identifiers.any())
        before = {mark: fit.count for mark, fit in self._numbers.items()}
        for fit in self._numbers.values():
            fit.add(counts, may_match=True)
        are_numbers = any(f.count - before[m] == len(bare) for m, f in self._numbers.items())
        for fit in self._others:
            fit.add(counts, may_match=not are_numbers)

    def judge(self, mark: str = ".", *, must_be_numbers: bool = False) -> ColumnType:
        """The type of the column; cells that spoil it are an error."""
        if not self.seen or self._is_text:
            return ColumnType(is_empty=not self.seen)
        numbers = self._numbers[mark]
        if self._has_identifiers and not must_be_numbers:
            return ColumnType(note=self._identifiers() if numbers.count == self.seen else "")
        for fit in [numbers] if must_be_numbers else [numbers, *self._others]:
            strays = self.seen - fit.count
            if not strays:
                return ColumnType(fit.spelling)
            if must_be_numbers or fit.are_mistakes(self.seen):
                raise StrayCellsError(fit, strays)
        return ColumnType()

    def notes(self, verdict: ColumnType) -> Iterator[str]:
        """What the user should know about a column that was judged."""
        if verdict.note:
            yield verdict.note
        for word, count in sorted(self.doubtful.items()) if verdict.is_text else ():
            yield (
                f"Column {self.name!r}: {word!r} ({count} cells) was taken as a category. "
                f"If it means missing, say so: --na-values {word!r} (na_values=)."
            )

    def _identifiers(self) -> str:
        """A note: all cells are numbers, and only leading zeros or many digits speak against it."""
        return (
            f"Column {self.name!r} was taken as text: it has numbers with leading zeros, or with "
            "more than 18 digits. If they are quantities, say so: --numeric (numeric_columns=)."
        )
