"""The library of a table: what its backend must do, which one it is, and the way to another.

Each backend is a module with the functions of `Backend`, imported when the first table of its
library arrives.
"""

from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np

from greyfill.checks import check_choice, check_installed
from greyfill.exceptions import InvalidDataError
from greyfill.frames.schema import Array
from greyfill.frames.validation import Frame, refusing
from greyfill.table import Bools, Ints


class Backend(Protocol):
    """What narwhals cannot do for a library: read the holes fast, and write them in place."""

    def plain(self, series: Any) -> Array | None:
        """The cells as numpy has them, if numpy can hold them all; the short way past narwhals."""

    def matrix(self, frame: Any) -> Array | None:
        """All cells as one array of numbers, if all columns are numbers of one dtype."""

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
LIBRARIES = ("numpy", "pandas", "polars", "pyarrow")
STAY = "Convert the column, or keep the library of the input: set_output(transform='default')."


def backend_of(narwhals_object: Any) -> Backend:
    """The backend of a narwhals frame or series."""
    implementation = narwhals_object.implementation
    if implementation not in MODULES:
        raise InvalidDataError(
            f"Tables of {implementation} are not supported. "
            "Convert them to pandas, polars or pyarrow, for example with X.to_pandas()."
        )
    return _load(implementation)


def _load(implementation: nw.Implementation) -> Backend:
    return cast(Backend, import_module(f"greyfill.frames.{MODULES[implementation]}"))


def convert(table: Any, names: tuple[str, ...], library: str | None) -> Any:
    """The same table in another library, with dtypes as they come there.

    >>> convert(np.array([[1.0, 2.0]]), ("age", "pay"), "polars").columns
    ['age', 'pay']
    """
    if library is None:
        return table
    check_choice("library", library, LIBRARIES)
    if isinstance(table, np.ndarray):
        if library == "numpy":
            return table
        check_installed(library, f"A table of {library}")
        return _load(nw.Implementation.from_string(library)).from_array(table, names)
    frame = nw.from_native(table, eager_only=True)
    if frame.implementation is nw.Implementation.from_string(library):
        return table
    with refusing(partial(_refused_column, frame, names, library), STAY):
        return _converted(frame, names, library)


def _converted(frame: Frame, names: tuple[str, ...], library: str) -> Any:
    """A frame in another library, in which column names are text and no index exists."""
    if library == "pandas":
        return frame.to_pandas()
    if library == "numpy":
        columns = [series.to_numpy() for series in frame.iter_columns()]
        is_matrix = all(column.dtype.kind in "fiub" for column in columns)
        return np.column_stack(columns if is_matrix else [c.astype(object) for c in columns])
    if frame.implementation.is_pandas():
        native = frame.to_native().reset_index(drop=True).set_axis(list(names), axis=1)
        frame = nw.from_native(native, eager_only=True)
    return frame.to_polars() if library == "polars" else frame.to_arrow()


def _refused_column(frame: Frame, names: tuple[str, ...], library: str) -> str:
    """Which column the other library refuses."""
    for j, name in enumerate(names):
        try:
            with refusing(""):
                _converted(frame[:, [j]], (name,), library)
        except InvalidDataError:
            dtype = frame[:, j].dtype
            return f"Column {name!r} of dtype {dtype} cannot become a column of {library}"
    return f"The filled table cannot become a table of {library}"
