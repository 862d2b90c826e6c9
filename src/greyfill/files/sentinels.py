"""Numbers that stand for a missing value, among words that the user gave."""

from collections.abc import Sequence

import polars as pl


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
