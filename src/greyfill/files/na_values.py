"""Words that mean missing: those that the user named, and those that often do."""

from collections.abc import Iterator, Sequence
from math import isfinite

import polars as pl

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
