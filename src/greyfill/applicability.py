"""Columns that do not apply to some rows: which rows, and a level of their own for them."""

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from greyfill import frames
from greyfill.exceptions import InvalidParameterError
from greyfill.exclusion import inapplicable_rows
from greyfill.table import Bools


def find_inapplicable(
    X: Any, chosen: Collection[str], parameter: str, missing_values: Any = None
) -> dict[str, Bools]:
    """The rows to which chosen columns do not apply."""
    if not chosen:
        return {}
    table, origin = frames.encode(X, missing_values=missing_values)
    names = origin.schema.names
    places = frames.column_positions(list(chosen), names, parameter)
    return {names[j]: inapplicable_rows(table.missing, j) for j in places}


def with_levels(
    frame: Any, levels: Mapping[str, str | None], rows: Mapping[str, Bools], parameter: str
) -> Any:
    """A frame in which some rows of columns of text have a level of their own."""
    if all(level is None for level in levels.values()):
        return frame
    for name, level in levels.items():
        if level is not None and not str(level).strip():
            raise InvalidParameterError(
                f"{parameter}: the level for column {name!r} is empty. Name one, or name the "
                "column alone to keep the cells empty."
            )
        if level is not None and not isinstance(level, str):
            raise InvalidParameterError(
                f"{parameter}: the level {level!r} for column {name!r} is no text. Write it in "
                f"quotes ({str(level)!r}), or name the column alone to keep the cells empty."
            )
    if isinstance(frame, np.ndarray):
        raise InvalidParameterError(
            f"{parameter}: only a frame has columns of text that can get a level, and this is an "
            "array. Name the columns without levels to keep the cells empty."
        )
    table = nw.from_native(frame, eager_only=True)
    for name, level in levels.items():
        if level is None:
            continue
        text = _as_text(table[name], level, parameter)
        given = nw.new_series(name, [level] * len(text), nw.String, backend=text.implementation)
        named = given.zip_with(flags(rows[name], text), text)
        table = table.with_columns(named.alias(name))
    return table.to_native()


def _as_text(column: nw.Series[Any], level: str, parameter: str) -> nw.Series[Any]:
    """A column of text; refuse other cells, which would change if they were made text."""
    if column.dtype == nw.String:
        return column
    holds = str(column.dtype)
    if column.dtype in (nw.Categorical, nw.Object):
        others = (c for c in column.drop_nulls().to_list() if not isinstance(c, str))
        other = next(others, None)
        if other is None:  # older versions of pandas would write "None" into holes
            return column.cast(nw.String)
        holds = f"{other!r}, which is no text"
    raise InvalidParameterError(
        f"{parameter}: column {column.name!r} holds {holds}, so {level!r} cannot be a level of it. "
        "Leave the level away to keep the cells empty."
    )


def flags(rows: Bools, like: nw.Series[Any]) -> nw.Series[Any]:
    """A mask of rows in the library of a column; narwhals gives it the column's index."""
    return nw.new_series("rows", rows, nw.Boolean, backend=like.implementation)
