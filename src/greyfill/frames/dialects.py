"""The three libraries that columns come from and go back to, behind one set of functions."""

from importlib import import_module
from typing import Any, Protocol, cast

import narwhals as nw

from greyfill.checks import check_installed
from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import Array
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
    nw.Implementation.PANDAS: "pandas_dialect",
    nw.Implementation.POLARS: "polars_dialect",
    nw.Implementation.PYARROW: "arrow_dialect",
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
    'greyfill.frames.polars_dialect'
    """
    check_installed(library, f"A table of {library}")
    return _load(MODULES[nw.Implementation.from_string(library)])


def _load(module: str) -> Dialect:
    return cast(Dialect, import_module(f"greyfill.frames.{module}"))
