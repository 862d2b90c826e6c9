"""Levels that differ only by blanks around them or by capitals, taken as one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw

from greyfill.exceptions import InvalidParameterError

Folds = Mapping[str, Mapping[str, str]]
"""For each column the spelling of a level, by the level without blanks and capitals."""


def find_folds(
    frame: Any,
    names: Iterable[str],
    parameter: str,
    where: str = "",
    missing_values: Iterable[Any] = (),
) -> Folds:
    """The most frequent spelling of each level of some columns.

    Words for missing are no levels, here as below.

    >>> import polars as pl
    >>> find_folds(pl.DataFrame({"sex": ["m", "M ", "m", "F"]}), ["sex"], "fold")
    {'sex': {'f': 'F', 'm': 'm'}}
    """
    folds, words = {}, _words(missing_values)
    for name in names:
        column = nw.from_native(frame, eager_only=True)[name]
        if column.dtype != nw.String:
            raise InvalidParameterError(
                f"{where}the column {name!r} holds {column.dtype}, not text: there are no levels "
                f"to take as one ({parameter}). Make it text first."
            )
        counts = Counter(
            level for level in column.to_list() if isinstance(level, str) and level not in words
        )
        folds[name] = {_bare(level): level for level, _ in reversed(counts.most_common())}
    return folds


def with_folds(frame: Any, folds: Folds, missing_values: Iterable[Any] = ()) -> Any:
    """A frame in which levels that differ by blanks and capitals have one spelling."""
    if not folds:
        return frame
    table = nw.from_native(frame, eager_only=True)
    known = [table[name] for name in folds if name in table.columns]
    words = _words(missing_values)
    return table.with_columns(
        *(_folded(column, folds[column.name], words) for column in known)
    ).to_native()


def _folded(
    column: nw.Series[Any], spellings: Mapping[str, str], words: list[str]
) -> nw.Series[Any]:
    cells = [
        (cell if cell in words else spellings.get(_bare(cell), cell))
        if isinstance(cell, str)
        else None
        for cell in column.to_list()
    ]
    return nw.new_series(column.name, cells, nw.String, backend=column.implementation)


def as_written(
    filled: Any, frame: Any, folds: Iterable[str], missing_values: Iterable[Any] = ()
) -> Any:
    """A filled frame in which every observed cell of folded columns is spelled as it was."""
    names = list(folds)
    if not names:
        return filled
    after, before = (nw.from_native(one, eager_only=True) for one in (filled, frame))
    words = _words(missing_values)
    spelled = [
        before[name].zip_with(~_is_hole(before[name], words), after[name])
        for name in names
        if name in before.columns and name in after.columns
    ]
    return after.with_columns(*spelled).to_native()


def _words(missing_values: Iterable[Any]) -> list[str]:
    return [word for word in missing_values if isinstance(word, str)]


def _is_hole(column: nw.Series[Any], words: list[str]) -> nw.Series[Any]:
    """Which cells are null or a word for missing; pyarrow looks for none in an empty list."""
    return column.is_null() | column.is_in(words) if words else column.is_null()


def _bare(level: str) -> str:
    return level.strip().lower()
