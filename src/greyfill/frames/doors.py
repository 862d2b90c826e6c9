"""The door in: let tables pass, and tell everybody else what a table is."""

import os
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.exceptions import InvalidDataError, InvalidTypeError
from greyfill.frames.cells import Array
from greyfill.frames.refusing import TABLES, refusing

Frame = nw.DataFrame[Any]

ONE_DIMENSION = (
    "Expected 2D array, got 1D array instead:\narray={}.\nReshape your data either using "
    "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
    "contains a single sample."
)


@refusing("X cannot be read as a table", TABLES)
def open_table(X: Any) -> Array | Frame:
    """Return X as a numpy array or a narwhals frame of two dimensions, or say what is wrong."""
    if type(X) is np.ndarray:
        return _checked_array(X)
    _refuse_sparse(X)
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InvalidDataError(
            f"Column names must be unique: rename or drop the repeated ones. {error}"
        ) from None
    if isinstance(frame, nw.DataFrame):
        _refuse_no_cells(frame.shape)
        _refuse_mixed_names(frame.columns)
        return frame
    if isinstance(frame, nw.LazyFrame):
        raise InvalidDataError(
            f"A lazy frame ({type(X).__module__}.{type(X).__name__}) has no rows yet. "
            "Collect it first, for example with X.collect()."
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


def _refuse_no_table(X: Any) -> None:
    """Refuse what people pass for a table by mistake, and say how to make one of it."""
    if X is None:
        raise InvalidDataError("X is None. Pass a table: a frame, an array or a list of rows.")
    if isinstance(X, str | os.PathLike):
        raise InvalidDataError(
            f"X is a name, {str(X)!r}, not a table. Read the file first, for example with "
            "polars.read_csv, or fill it with the command greyfill impute."
        )
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        what = "a dict" if isinstance(X, Mapping) else "a list of dicts"
        raise InvalidDataError(f"X is {what}. Make a frame of it: polars.DataFrame(X).")


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


def _refuse_mixed_names(names: list[Any]) -> None:
    """Refuse texts beside other names, as scikit-learn does."""
    others = [name for name in names if not isinstance(name, str)]
    if 0 < len(others) < len(names):
        raise InvalidTypeError(
            f"Some column names are text, others are not, such as {others[0]!r}. Rename them: "
            "X.columns = X.columns.astype(str)."
        )


def _refuse_sparse(X: Any) -> None:
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InvalidTypeError(
            f"Sparse data was passed ({type(X).__name__}), but holes and zeros must be told "
            "apart, so dense data is required. Use X.toarray()."
        )
