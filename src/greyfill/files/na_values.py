"""Words that mean missing, as the user said, and that no cell holds."""

from collections.abc import Iterator, Sequence
from math import isfinite

import polars as pl

from greyfill.files import patterns


def numbers_among(words: Sequence[str]) -> dict[str, float]:
    """The words that are numbers, as numbers.

    >>> numbers_among(["-999", "?"])
    {'-999': -999.0}
    """
    cast = pl.Series(list(words), dtype=pl.String).cast(pl.Float64, strict=False).to_list()
    return {word: number for word, number in zip(words, cast, strict=True) if number is not None}


def without_sentinels(values: pl.Series, words: Sequence[str]) -> pl.Series:
    """A column of numbers, null where it holds one of the words as a number; others unchanged.

    >>> without_sentinels(pl.Series([1, -999, None]), ["-999.0", "?"]).to_list()
    [1, None, None]
    """
    if not words or not values.dtype.is_numeric():
        return values
    is_sentinel = values.cast(pl.Float64).is_in(list(numbers_among(words).values()))
    return values.set(is_sentinel.fill_null(False), None)


def without_nan(column: pl.Series) -> pl.Series:
    """A column with null for what is not a number among its numbers."""
    return column.fill_nan(None) if column.dtype.is_float() else column


class Unfound:
    """The words that were in no cell so far; one that is a number is found as that number too."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(dict.fromkeys(words))

    def look(self, cells: pl.Series) -> None:
        """Look at some more cells, texts or numbers."""
        if not self._words or not (cells.dtype == pl.String or cells.dtype.is_numeric()):
            return
        found: set[str] = set()
        if cells.dtype == pl.String:
            cells = patterns.bare(cells)
            found = set(cells.filter(cells.is_in(self._words)).unique().to_list())
        numbers = {w: n for w, n in numbers_among(self._words).items() if isfinite(n)}
        if numbers:
            plain = cells.str.replace(",", ".", literal=True) if cells.dtype == pl.String else cells
            values = plain.cast(pl.Float64, strict=False)
            held = set(values.filter(values.is_in(list(numbers.values()))).unique().to_list())
            found |= {word for word, number in numbers.items() if number in held}
        self._words = [word for word in self._words if word not in found]

    def notes(self) -> Iterator[str]:
        """Tell the user about the words that are left."""
        for word in self._words:
            yield f"No cell is {word!r} (--na-values, na_values=), so it changed nothing. " + (
                "It has a comma, at which these words are not split: give the option once for "
                "each value, " + " ".join(f"--na-values {part}" for part in _parts(word)) + "."
                if len(_parts(word)) > 1
                else "Look how it is written in the file, and give the option once for each value."
            )


def _parts(word: str) -> list[str]:
    return [part.strip() for part in word.split(",") if part.strip()]
