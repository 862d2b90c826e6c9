"""Words and numbers that stand for a missing value: those a user names, and those found out.

Among numbers, dates and truths any of `MISSING_WORDS` means missing, since it can mean nothing
else there. A column of text is another matter: ``none`` or ``unknown`` may be a level, so only
`TEXT_WORDS` count, and ``NA`` does not among codes, where it is Namibia, a region or a ticker. A
number such as -999 is taken if nothing else explains it (`find_sentinels`), else only told.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from shlex import quote
from types import MappingProxyType

import numpy as np
import polars as pl

from greyfill.files.guesses import Guess, sentences
from greyfill.files.vocabulary import MISSING_WORDS, NO_CATEGORIES, TEXT_WORDS
from greyfill.text import Note

CODES = r"^[A-Z]{1,5}$"
MANY_CODES = 8
"""With so many different short words in capitals, a column holds codes such as tickers."""

FEW = 100
"""So many words are told sooner by Python than by a query of polars."""

_CODE_NAMES = re.compile("country|region|state|continent|ticker|symbol|iso|code|land", re.I)


LIMIT = re.compile(r"\s*[<>≤≥]=?\s*[-+]?\d[\d.,]*\s*")
"""A number that is known by one side only, such as one below what a device can measure."""


def is_reading(word: str) -> bool:
    """Whether a word among numbers has a number of its own, and is no limit.

    >>> is_reading("12a"), is_reading("<0.5"), is_reading("n.b.")
    (True, False, False)
    """
    return any(letter.isdigit() for letter in word) and not LIMIT.fullmatch(word)


def bare(cells: pl.Series) -> pl.Series:
    """The cells without the blanks and zero bytes around them, which count for nothing."""
    if len(cells) <= FEW:
        stripped = [cell and cell.strip(" \t\0") for cell in cells.to_list()]
        return pl.Series(cells.name, stripped, dtype=pl.String)
    return cells.str.strip_chars(" \t\0")


def mean_missing(words: pl.Series) -> pl.Series:
    """Which words, without blanks around them, often stand for a missing value."""
    if len(words) <= FEW:
        found = [word.lower() in MISSING_WORDS for word in words.to_list()]
        return pl.Series(words.name, found, dtype=pl.Boolean)
    return words.str.to_lowercase().is_in(list(MISSING_WORDS))


class WordEvidence:
    """The words for missing among the cells of a column so far, and whether the others are codes.

    >>> evidence = WordEvidence("group")
    >>> evidence.add(pl.DataFrame({"word": ["NA", "low", "none"], "count": [3, 8, 1]}))
    >>> evidence.in_text(), evidence.counts
    (('NA',), Counter({'NA': 3, 'none': 1}))
    """

    def __init__(self, name: str) -> None:
        self.counts: Counter[str] = Counter()
        self._name = name
        self._codes: set[str] = set()
        self._are_codes, self._are_pairs = True, True

    def add(self, counts: pl.DataFrame) -> None:
        """Count some more different words: word, count."""
        others = counts["word"]
        are_missing = mean_missing(others)
        if are_missing.any():
            self.counts.update(dict(counts.filter(are_missing).iter_rows()))
            others = others.filter(~are_missing)
        self._are_codes = self._are_codes and bool(others.str.contains(CODES).all())
        if self._are_codes and len(others):
            self._are_pairs = self._are_pairs and bool((others.str.len_bytes() == 2).all())
            if len(self._codes) < MANY_CODES:
                self._codes.update(others.head(MANY_CODES).to_list())

    def in_text(self) -> tuple[str, ...]:
        """The words that mean missing if the column is one of text."""
        is_code = self._has_codes()
        return tuple(w for w in self.counts if w in TEXT_WORDS and not (w == "NA" and is_code))

    def _has_codes(self) -> bool:
        """Whether the other words are codes: of two letters, or many, or by the column's name."""
        if not self._are_codes or not self._codes:
            return False
        is_named = _CODE_NAMES.search(self._name) is not None
        return self._are_pairs or is_named or len(self._codes) >= MANY_CODES


SENTINELS = tuple(
    sign * number for number in (9.0, 99.0, 999.0, 9999.0, 99999.0) for sign in (-1, 1)
)
FAR = 2.0
"""So many ranges of the other values away, -999 is taken for missing."""

FEW_VALUES = 5
"""Fewer different other values tell little of their range: a positive number must be `FAR` off,
and none is taken for missing, only told."""


@dataclass(frozen=True)
class Sentinel:
    """A number that may stand for a missing value: how often, and where how many others lie."""

    value: float
    count: int
    low: float
    high: float
    n_others: int

    @property
    def is_overwhelming(self) -> bool:
        """Whether it is -999 or alike, twice or more, and far from all of many others."""
        is_usual = self.value <= -999 and self.count > 1 and self.n_others >= FEW_VALUES
        return is_usual and self.low - self.value >= FAR * (self.high - self.low)

    @property
    def word(self) -> str:
        """The number as one writes it."""
        return f"{self.value:g}"


def find_sentinels(values: pl.Series) -> list[Sentinel]:
    """The usual numbers for missing that stand apart from the rest of a column.

    They lie outside the range of all other values, by half of it or more, or are its only
    negative value. Two other values at least tell a range.

    >>> [s.word for s in find_sentinels(pl.Series([-999, 1, 2, 3, 4, 5, 99, 99, -999]))]
    ['99', '-999']
    """
    if not values.dtype.is_numeric():
        return []
    numbers = values.drop_nulls().cast(pl.Float64)
    plain = numbers.to_numpy()
    counts = Counter(plain[np.isin(plain, SENTINELS)].tolist())
    if not counts:
        return []
    others = numbers.filter(~numbers.is_in(list(counts)))
    found = []
    for value, count in sorted(counts.items(), key=lambda item: abs(item[0])):
        n_others = others.n_unique()
        if n_others > 1 and _stands_apart(value, count, others, n_others):
            low, high = float(others.min()), float(others.max())  # type: ignore[arg-type]
            found.append(Sentinel(value, count, low, high, n_others))
        else:  # a value like any other, also to larger ones
            others = others.extend(pl.Series(others.name, [value] * count, dtype=others.dtype))
    return found


def _stands_apart(value: float, count: int, others: pl.Series, n_others: int) -> bool:
    low, high = float(others.min()), float(others.max())  # type: ignore[arg-type]
    gap = max(low - value, value - high)
    is_only_negative = value < 0 <= low
    ranges = 0.5 if n_others >= FEW_VALUES else FAR
    return gap > 0 and (is_only_negative or (count > 1 and gap >= ranges * (high - low)))


KEPT = "If it does: --na-values 'COLUMN=WORD', or 'WORD' for all columns."


@dataclass(frozen=True)
class Doubt:
    """A word or number that was kept as a value, though it may mean missing.

    ``others`` are the least and the largest of the other numbers, None for a word. One that
    ``is_likely`` is hardly ever a value of its own.
    """

    column: str
    word: str
    count: int
    others: tuple[float, float] | None = None
    is_likely: bool = True


def find_doubts(
    frame: pl.DataFrame,
    chosen: Callable[[tuple[str, ...]], Iterable[Sequence[str]]] | None = None,
    sure: Iterable[str] = (),
) -> tuple[Doubt, ...]:
    """What was taken as a value, though it may mean missing: words in text, numbers far apart.

    Of columns whose type the user named nothing is in doubt.

    >>> [(d.word, d.count) for d in find_doubts(pl.DataFrame({"sex": ["m", "-", "w", "-"]}))]
    [('-', 2)]
    """
    named = [] if chosen is None else chosen(tuple(frame.columns))
    told = {*sure, *(name for names in named for name in names)}
    columns = (column for column in frame if column.name not in told)
    return tuple(doubt for column in columns for doubt in _doubts_of(column))


def _doubts_of(column: pl.Series) -> Iterator[Doubt]:
    name = column.name
    for found in find_sentinels(column):
        yield Doubt(name, found.word, found.count, (found.low, found.high))
    if column.dtype != pl.String:
        return
    texts = bare(column.drop_nulls())
    counts = Counter(texts.filter(mean_missing(texts)).to_list())
    likely = {word for word in counts if word.lower() in NO_CATEGORIES}
    if "-" in likely and texts.str.contains(r"^\++$").any():  # of a test, beside + and ++
        likely.discard("-")
    if counts.total() == len(texts):  # a column needs a value that is none of them
        counts = Counter(
            {w: n for w, n in counts.items() if w in likely and len(likely) < len(counts)}
        )
    for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield Doubt(name, word, n, is_likely=word in likely)


def notes_on_kept(doubts: Iterable[Doubt]) -> list[Note]:
    """What the user should know of values that hardly ever are one.

    >>> notes_on_kept(find_doubts(pl.DataFrame({"sex": ["m", "-", "w", "-"]})))[0]
    "Kept as a value, though it may mean missing: '-' in 'sex' (2). If it does: ...
    """
    return sentences(
        Guess("kept", repr(d.word) if d.others is None else d.word, KEPT, d.column, d.count)
        for d in doubts
        if d.is_likely
    )


def without_sentinels(values: pl.Series, words: Sequence[str]) -> pl.Series:
    """A column of numbers, null where it holds one of the words as a number; others unchanged.

    >>> without_sentinels(pl.Series([1, -999, None]), ["-999.0", "?"]).to_list()
    [1, None, None]
    """
    if not words or not values.dtype.is_numeric():
        return values
    numbers = _numbers_among(words)
    is_sentinel = values.cast(pl.Float64).is_in(list(numbers.values()))
    if not values.dtype.is_float():  # of whole numbers, several may be one float
        exact = {Decimal(word) for word in numbers}
        found = values.filter(is_sentinel).unique().to_list()
        is_sentinel = values.is_in([value for value in found if value in exact])
    return values.set(is_sentinel.fill_null(False), None)


def without_words(column: pl.Series, words: Sequence[str]) -> pl.Series:
    """A column, null where it holds one of the words, as text or as the number it stands for."""
    if words and _has_words(column):
        is_word = bare(column.cast(pl.String)).is_in(list(words))
        return pl.select(pl.when(~is_word).then(column).alias(column.name)).to_series()
    return without_sentinels(column, words)


def _has_words(column: pl.Series) -> bool:
    """Whether the cells are texts, or categories, which have texts for names."""
    return column.dtype in (pl.String, pl.Categorical, pl.Enum)


def words_by_column(
    given: Sequence[str], names: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The words for all columns, and those for one: ``age=-9`` where a column is called age.

    >>> words_by_column(["?", "age=-9", "age=<=5", "a=b"], ["age", "sex"])
    (('?', 'a=b'), {'age': ('-9', '<=5')})
    """
    everywhere, somewhere = [], dict[str, tuple[str, ...]]()
    for word in given:
        ends = [n for n, letter in enumerate(word) if letter == "=" and word[:n] in names]
        if ends:  # both names and words may have a =
            name, rest = word[: ends[-1]], word[ends[-1] + 1 :]
            somewhere[name] = (*somewhere.get(name, ()), rest.strip(" \t"))
        else:
            everywhere.append(word)
    return tuple(everywhere), somewhere


class UnusedWords:
    """The named words that were in no cell so far, as text or as the number that they stand for.

    ``words`` count in all columns, those of ``by_column`` in one.
    """

    def __init__(
        self, words: Sequence[str], by_column: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> None:
        self._words = list(dict.fromkeys(words))
        self._by_column = {name: list(dict.fromkeys(own)) for name, own in by_column.items()}

    def update(self, cells: pl.Series) -> None:
        """Drop the words that are among some more cells, texts or numbers."""
        own = self._by_column.get(cells.name, [])
        if not self._words and not own:
            return
        found = _words_among(cells, [*self._words, *own])
        self._words = [word for word in self._words if word not in found]
        if own:
            self._by_column[cells.name] = [word for word in own if word not in found]

    def notes(self) -> Iterator[str]:
        """A sentence for the user about each word that is left."""
        for word in self._words:
            yield _about_unused("No cell", word)
        for name, words in self._by_column.items():
            for word in words:
                yield _about_unused(f"No cell of the column {name!r}", word, f"{name}=")


def with_holes(
    frame: pl.DataFrame, given: Sequence[str], remembered: Sequence[str] = ()
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A whole table, null where it holds the words, and sentences about those that it has not.

    >>> frame, unused = with_holes(pl.DataFrame({"age": [-9, 5]}), ["age=-9", "-"])
    >>> frame.null_count().row(0), unused[0][:12]
    ((1,), "No cell is '")
    """
    everywhere, somewhere = words_by_column(given, frame.columns)
    unused = UnusedWords(everywhere, somewhere)
    for column in frame:
        unused.update(column)
    everywhere, somewhere = words_by_column((*given, *remembered), frame.columns)
    columns = [without_words(c, (*everywhere, *somewhere.get(c.name, ()))) for c in frame]
    return pl.DataFrame(columns), tuple(unused.notes())


def _words_among(cells: pl.Series, words: list[str]) -> set[str]:
    """Which words are among cells, texts or numbers."""
    is_text = _has_words(cells)
    if not (is_text or cells.dtype.is_numeric()):
        return set()
    found: set[str] = set()
    if is_text:
        cells = bare(cells.cast(pl.String))
        found = set(cells.filter(cells.is_in(words)).unique().to_list())
    numbers = {w: n for w, n in _numbers_among(words).items() if isfinite(n)}
    if numbers:
        plain = cells.str.replace(",", ".", literal=True) if is_text else cells
        values = plain.cast(pl.Float64, strict=False)
        held = set(values.filter(values.is_in(list(numbers.values()))).unique().to_list())
        found |= {word for word, number in numbers.items() if number in held}
    return found


def _about_unused(what: str, word: str, column: str = "") -> str:
    parts = [part.strip() for part in word.split(",") if part.strip()]
    return f"{what} is {word!r} (--na-values), so it changed nothing. " + (
        "It has a comma, at which these words are not split: give the option once for "
        "each value, " + " ".join(f"--na-values {quote(column + part)}" for part in parts) + "."
        if len(parts) > 1
        else "Look how it is written in the file, and give the option once for each value."
    )


def _numbers_among(words: Sequence[str]) -> dict[str, float]:
    """The words that are numbers, as numbers."""
    cast = pl.Series(list(words), dtype=pl.String).cast(pl.Float64, strict=False).to_list()
    return {word: number for word, number in zip(words, cast, strict=True) if number is not None}
