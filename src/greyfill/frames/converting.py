"""From one library to another, for callers that ask for it."""

from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.checks import check_choice
from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import Array
from greyfill.frames.dialects import dialect_named
from greyfill.frames.refusing import refusing

STAY = "Convert the column, or keep the library of the input: set_output(transform='default')."
LIBRARIES = ("numpy", "pandas", "polars", "pyarrow")


def convert(table: Any, names: tuple[str, ...], library: str | None) -> Any:
    """The same table in another library, with dtypes as they come there.

    >>> convert(np.array([[1.0, 2.0]]), ("age", "pay"), "polars").columns
    ['age', 'pay']
    """
    if library is None:
        return table
    check_choice("library", library, LIBRARIES)
    if isinstance(table, np.ndarray):
        return table if library == "numpy" else dialect_named(library).from_array(table, names)
    frame = nw.from_native(table, eager_only=True)
    if frame.implementation is nw.Implementation.from_string(library):
        return table
    with refusing(partial(_unknown_there, frame, names, library), STAY):
        return _TARGETS[library](frame, names)


def _unknown_there(frame: nw.DataFrame[Any], names: tuple[str, ...], library: str) -> str:
    """Which column the other library refuses."""
    for j, name in enumerate(names):
        try:
            with refusing(""):
                _TARGETS[library](frame[:, [j]], (name,))
        except InvalidDataError:
            dtype = frame[:, j].dtype
            return f"Column {name!r} of dtype {dtype} cannot become a column of {library}"
    return f"The filled table cannot become a table of {library}"


def _to_numpy(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> Array:
    """A plain matrix if all columns are numbers, else an array of objects."""
    columns = [series.to_numpy() for series in frame.iter_columns()]
    if all(column.dtype.kind in "fiub" for column in columns):
        return np.column_stack(columns)
    return np.column_stack([column.astype(object) for column in columns])


def _to_pandas(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> Any:
    return frame.to_pandas()


def _to_polars(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> Any:
    return _labeled(frame, names).to_polars()


def _to_pyarrow(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> Any:
    return _labeled(frame, names).to_arrow()


def _labeled(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> nw.DataFrame[Any]:
    """The frame with text as column names, and without the index that only pandas has."""
    if not frame.implementation.is_pandas():
        return frame
    native = frame.to_native().reset_index(drop=True).set_axis(list(names), axis=1)
    return nw.from_native(native, eager_only=True)


_TARGETS = {
    "numpy": _to_numpy,
    "pandas": _to_pandas,
    "polars": _to_polars,
    "pyarrow": _to_pyarrow,
}
