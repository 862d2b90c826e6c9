"""What is refused, and in which words.

`open_table` refuses what is no table, `categorical_positions` and `ordinal_orders` refuse a choice
of columns that does not fit it. `refusing` turns what a library raises into an `InvalidDataError`
with a remedy, and `read_or_refuse` adds the column and the row.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.checks import is_number, is_whole
from greyfill.exceptions import (
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
    InvalidTypeError,
)
from greyfill.frames.schema import Array, Bounds, Field
from greyfill.table import Kind

Frame = nw.DataFrame[Any]
Names = tuple[str, ...]

CONVERT = "Convert the column to numbers, text, categories or dates, or drop it."
REPLACE = (
    "Replace that value, convert the column to numbers, text, categories or dates, or drop it."
)
TABLES = "Pass a frame of pandas, polars or pyarrow, an array of two dimensions, or a list of rows."
ONE_DIMENSION = (
    "Expected 2D array, got 1D array instead:\narray={}.\nReshape your data either using "
    "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
    "contains a single sample."
)
LONGEST = 60
"""Characters of a cell in an error."""


@contextmanager
def refusing(what: str | Callable[[], str], remedy: str = CONVERT) -> Iterator[None]:
    """Turn what a library raises into an error that says what could not be done.

    >>> with refusing("Column 'a' cannot be read"):
    ...     float("x")
    Traceback (most recent call last):
    greyfill.exceptions.InvalidDataError: Column 'a' cannot be read (ValueError: could not ...
    """
    try:
        yield
    except BaseException as error:
        if not _is_refusal(error):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        words = what if isinstance(what, str) else what()
        raise InvalidDataError(f"{words} ({reason}). {remedy}") from error


def _is_refusal(error: BaseException) -> bool:
    """Whether a library could not do it; a panic of polars is no Exception."""
    if isinstance(error, GreyfillError | MemoryError | Warning):
        return False
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def read_or_refuse(read: Callable[[Any], Any], column: Any, name: str) -> Any:
    """Read a column, or name it and the first row that stands in the way."""
    with refusing(partial(_unreadable, read, column, name), REPLACE):
        return read(column)


def _unreadable(read: Callable[[Any], Any], column: Any, name: str) -> str:
    """Where a column ceases to be readable: the last row of its shortest unreadable beginning."""
    readable, unreadable = 0, len(column)
    while unreadable - readable > 1:
        middle = (readable + unreadable) // 2
        try:
            with refusing(""):
                read(column[:middle])
            readable = middle
        except InvalidDataError:
            unreadable = middle
    cell = "a value that cannot be shown"
    with suppress(Exception):
        cells = column.to_list() if isinstance(column, nw.Series) else column
        cell = shown(cells[readable])
    return f"Column {name!r} cannot be read: row {readable} holds {cell}"


def shown(cell: Any) -> str:
    """A cell in a few characters, or its type: some texts are long, and some cells have none.

    >>> shown(2.5), shown(np.str_("yes")), shown("x" * 1000)
    ('2.5', "'yes'", 'a value of type str')
    """
    with suppress(Exception):
        is_plain = isinstance(cell, np.generic) and cell.dtype.kind not in "mM"
        text = repr(cell.item() if is_plain else cell)
        if len(text) <= LONGEST:
            return text
    return f"a value of type {type(cell).__name__}"


@refusing("X cannot be read as a table", TABLES)
def open_table(X: Any) -> Array | Frame:
    """Return X as a numpy array or a narwhals frame of two dimensions, or say what is wrong."""
    if type(X) is np.ndarray:
        return _checked_array(X)
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InvalidDataError(
            f"Column names must be unique: rename or drop the repeated ones. {error}"
        ) from None
    if isinstance(frame, nw.DataFrame):
        _refuse_no_cells(frame.shape)
        others = [name for name in frame.columns if not isinstance(name, str)]
        if 0 < len(others) < len(frame.columns):
            raise InvalidTypeError(
                f"Some column names are text, others are not, such as {others[0]!r}. Rename them: "
                "X.columns = X.columns.astype(str)."
            )
        return frame
    if isinstance(frame, nw.LazyFrame):
        raise InvalidDataError(
            f"A lazy frame ({type(X).__module__}.{type(X).__name__}) has no rows yet. "
            "Collect it first, for example with X.collect(), or X.compute() of Dask; "
            "greyfill.scan and greyfill.distributed fill it without."
        )
    if isinstance(frame, nw.Series):
        raise InvalidDataError(
            f"Expected 2D array, got 1D array instead: a series {frame.name!r} of {len(frame)} "
            "cells. For a table of one column pass a frame, such as frame[['column']]; for a "
            "table of one row, such as frame[3:4]."
        )
    if hasattr(X, "__arrow_c_array__") or hasattr(X, "__dataframe__"):
        raise InvalidDataError(
            f"{type(X).__module__}.{type(X).__name__} is not supported. "
            "Convert it to a table of pandas, polars or pyarrow."
        )
    _refuse_no_table(X)
    return _checked_array(_as_array(X))


def with_text_names(table: Any) -> tuple[Any, Any]:
    """A table whose names are text, and the names that it had if they were none, as pandas may.

    >>> import pandas as pd
    >>> table, names = with_text_names(pd.DataFrame([[1, 2]]))
    >>> list(table.columns), list(with_names(table, names).columns)
    (['0', '1'], [0, 1])
    """
    names = getattr(table, "columns", ())
    if not hasattr(table, "set_axis") or all(isinstance(name, str) for name in names):
        return table, None
    return table.set_axis([str(name) for name in names], axis=1), names


def with_names(table: Any, names: Any) -> Any:
    """A table with the names that `with_text_names` found; columns behind them keep theirs."""
    if names is None:
        return table
    more = list(table.columns)[len(names) :]
    return table.set_axis([*names, *more] if more else names, axis=1)


def has_names(frame: Frame, names: list[str]) -> bool:
    """Whether these are the columns of a frame, in this order, and scikit-learn sees them, too."""
    implementation = frame.implementation
    return (implementation.is_pandas() or implementation.is_polars()) and frame.columns == names


def _refuse_no_table(X: Any) -> None:
    """Refuse what people pass for a table by mistake, and say how to make one of it."""
    if X is None:
        raise InvalidDataError("X is None. Pass a table: a frame, an array or a list of rows.")
    if isinstance(X, str | os.PathLike):
        raise InvalidDataError(
            f"X is a name, {str(X)!r}, not a table. Read the file first, for example with "
            "polars.read_csv, or fill it with the command greyfill impute."
        )
    # Before mappings: scipy's dok_array is both.
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InvalidTypeError(
            f"Sparse data was passed ({type(X).__name__}), but holes and zeros must be told "
            "apart, so dense data is required. Use X.toarray()."
        )
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        what = "a dict" if isinstance(X, Mapping) else "a list of dicts"
        library = "pandas" if "pandas" in sys.modules else "polars"
        raise InvalidDataError(f"X is {what}. Make a frame of it: {library}.DataFrame(X).")


def _as_array(X: Any) -> Array:
    """A sequence of rows as an array; numbers beside texts stay numbers."""
    if isinstance(X, np.ma.MaskedArray):
        raise InvalidDataError("Masked arrays are not supported. Use X.filled(numpy.nan).")
    try:
        array = np.asarray(X)
        is_plain = isinstance(X, np.ndarray) or array.dtype.kind in "fiubc"
        return array if is_plain else np.array(X, dtype=object)
    except ValueError as error:
        raise InvalidDataError(f"Expected 2D array, got rows of unequal length: {error}") from None


def _checked_array(array: Array) -> Array:
    if array.dtype.kind == "c":
        raise InvalidDataError(f"Complex data not supported\n{array}\n")
    if array.dtype.kind == "V":
        raise InvalidDataError("Structured arrays are not supported. Use pandas.DataFrame(X).")
    if array.ndim == 0:
        raise InvalidDataError(f"Expected 2D array, got scalar array instead:\narray={array}.")
    if array.ndim == 1:
        raise InvalidDataError(ONE_DIMENSION.format(array))
    if array.ndim > 2:
        raise InvalidDataError(f"Found array with dim {array.ndim}. Expected 2 dimensions.")
    _refuse_no_cells(array.shape)
    return array


def _refuse_no_cells(shape: tuple[int, ...]) -> None:
    for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise InvalidDataError(
                f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is "
                "required."
            )


def is_auto(categorical_features: Any) -> bool:
    """Whether the dtypes alone say which columns are categorical."""
    is_text = isinstance(categorical_features, str)  # arrays compare cell by cell
    return categorical_features is None or (is_text and categorical_features == "auto")


def categorical_positions(categorical_features: Any, names: Names) -> frozenset[int]:
    """The positions of the columns that are categorical whatever their dtype says.

    >>> sorted(categorical_positions(["sex", 0], ("age", "sex", "pay")))
    [0, 1]
    """
    if is_auto(categorical_features):
        return frozenset()
    return frozenset(column_positions(categorical_features, names, "categorical_features"))


def column_positions(given: Any, names: Names, parameter: str) -> list[int]:
    """The positions of the columns that a parameter lists by name, by position or by a mask."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameterError(
            f"{parameter} must be 'auto' or a list of columns, got {given!r}."
        )
    return _positions(list(given), names, parameter)


def ordinal_orders(ordinal_features: Any, names: Names) -> dict[int, tuple[Any, ...] | None]:
    """The positions of the ordinal columns, each with its levels in order if they were given.

    >>> ordinal_orders({"size": ["S", "M", "L"]}, ("size", "pay"))
    {0: ('S', 'M', 'L')}
    """
    if ordinal_features is None:
        return {}
    if isinstance(ordinal_features, str) or not isinstance(ordinal_features, Iterable):
        raise InvalidParameterError(
            f"ordinal_features must be a list or a dict of columns, got {ordinal_features!r}."
        )
    positions = _positions(list(ordinal_features), names, "ordinal_features")
    if not isinstance(ordinal_features, Mapping):
        return dict.fromkeys(positions)
    for column, levels in ordinal_features.items():
        if isinstance(levels, str) or not isinstance(levels, Iterable):
            raise InvalidParameterError(
                f"ordinal_features gives {levels!r} as the levels of column {column!r}. List them, "
                "lowest first; or pass a list of columns, whose levels are then taken as sorted."
            )
    return dict(zip(positions, map(tuple, ordinal_features.values()), strict=True))


def check_bounds(
    bounds: Any, fields: tuple[Field, ...], parameter: str = "bounds"
) -> dict[int, Bounds]:
    """Bounds by the positions of their columns, or an error in words."""
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise InvalidParameterError(
            f"{parameter} must be a dict of column to (low, high), such as {{'age': (0, 120)}}, "
            f"not {bounds!r}"
        )
    places = column_positions(list(bounds), tuple(f.name for f in fields), parameter)
    pairs = zip(places, bounds.values(), strict=True)
    return {j: _bounds(fields[j], given, parameter) for j, given in pairs}


def _bounds(field: Field, given: Any, parameter: str) -> Bounds:
    what = f"{parameter}: column {field.name!r}"
    if field.kind is not Kind.NUMERIC or field.meaning not in ("numbers", "anything"):
        raise InvalidParameterError(
            f"{what} holds no plain numbers ({field.family}), so it has no bounds"
        )
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    if not is_pair or not all(v is None or (is_number(v) and not np.isnan(v)) for v in given):
        raise InvalidParameterError(
            f"{what} needs a pair of numbers (low, high), with None for no limit, not {given!r}"
        )
    low, high = (None if v is None or np.isinf(v) else float(v) for v in given)
    if low is not None and high is not None and low > high:
        raise InvalidParameterError(
            f"{what} has {low:g} as its least and {high:g} as its largest number: exchange them"
        )
    return low, high


def _positions(selection: list[Any], names: Names, parameter: str) -> list[int]:
    """The positions of columns given by name, by position from either end, or by a mask."""
    n = len(names)
    if selection and all(isinstance(item, bool | np.bool_) for item in selection):
        if len(selection) != n:
            raise InvalidParameterError(
                f"{parameter} is a mask of {len(selection)} columns, but the table has {n}."
            )
        return np.flatnonzero(selection).tolist()
    places: dict[Any, int] = {j: j % n for j in range(-n, n)} | {c: j for j, c in enumerate(names)}
    keys = [int(i) if is_whole(i) else str(i) for i in selection]
    unknown = [item for item, key in zip(selection, keys, strict=True) if key not in places]
    if unknown:
        raise InvalidParameterError(
            f"{parameter} names columns that are not in the table: {_listed(unknown)}. "
            f"Its {n} columns are {_listed(names)}."
        )
    for key in keys:
        meant, named = places[key], places.get(str(key))
        if named not in (None, meant):  # as in a frame of pandas with the columns 1, 2, 3
            raise InvalidParameterError(
                f"{parameter} lists {key}, which is the place of column {names[meant]!r} and the "
                f"name of another. Write {names[meant]!r} or {str(key)!r}, in quotes."
            )
    return [places[key] for key in keys]


def _listed(items: Any, most: int = 10) -> str:
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))
