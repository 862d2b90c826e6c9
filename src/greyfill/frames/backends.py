"""From one library to another, for callers that ask for it."""

from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np

from greyfill.checks import check_choice, check_installed
from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import Array
from greyfill.frames.validation import refusing
from greyfill.table import Bools, Ints


class Dialect(Protocol):
    """What narwhals cannot do for a library: read the holes fast, and write them in place."""

    def plain(self, series: Any) -> Array | None:
        """The cells as numpy has them, if numpy knows them all; the short way past narwhals."""

    def matrix(self, frame: Any) -> Array | None:
        """All cells as one array of numbers, if all columns are numbers of one dtype."""

    def dtype(self, series: Any) -> Any:
        """The dtype in the words of narwhals."""

    def categories(self, series: Any) -> tuple[Ints, tuple[Any, ...], bool]:
        """Positions of the cells among the levels (−1 for holes), the levels, their order."""

    def patch(self, series: Any, missing: Bools, values: Array) -> Any:
        """The same column, with values in the holes."""

    def build(self, values: Array) -> Any:
        """A new column."""

    def replace(self, frame: Any, columns: dict[int, Any]) -> Any:
        """The same frame with some columns exchanged, by position."""

    def keep(self, frame: Any, kept: Bools) -> Any:
        """The same frame with only some columns."""

    def append(self, frame: Any, columns: dict[str, Bools]) -> Any:
        """The same frame with boolean columns added at its end."""

    def from_array(self, array: Array, names: tuple[str, ...]) -> Any:
        """A frame from a numpy array."""


MODULES = {
    nw.Implementation.PANDAS: "pandas_backend",
    nw.Implementation.POLARS: "polars_backend",
    nw.Implementation.PYARROW: "arrow_backend",
}


def dialect_of(narwhals_object: Any) -> Dialect:
    """The dialect of a narwhals frame or series; its module is imported on first use."""
    implementation = narwhals_object.implementation
    if implementation not in MODULES:
        raise InvalidDataError(
            f"Tables of {implementation} are not supported. "
            "Convert them to pandas, polars or pyarrow, for example with X.to_pandas()."
        )
    return _load(MODULES[implementation])


def dialect_named(library: str) -> Dialect:
    """The dialect of a library by its name.

    >>> dialect_named("polars").__name__
    'greyfill.frames.polars_backend'
    """
    check_installed(library, f"A table of {library}")
    return _load(MODULES[nw.Implementation.from_string(library)])


def _load(module: str) -> Dialect:
    return cast(Dialect, import_module(f"greyfill.frames.{module}"))


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
