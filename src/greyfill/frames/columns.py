"""One column of any library → `Cells`: its raw values, its holes and its family.

```
read_series   a column of a frame, as an array where its library has one, else by narwhals
read_column   a column of an array, by its dtype
read_objects  a column of Python objects, by the types of its cells
read_matrix   all columns of an array of numbers at once
```

Sentinels, the extra values that count as missing, become holes here.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from numbers import Complex, Integral, Real
from operator import attrgetter
from string import digits
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np

from greyfill.checks import check_choice, check_installed
from greyfill.exceptions import InvalidDataError
from greyfill.frames.schema import Array, Cells, Family
from greyfill.frames.validation import Frame, refusing
from greyfill.table import Bools, Floats, Ints


class Backend(Protocol):
    """What narwhals cannot do for a library: read the holes fast, and write them in place."""

    def plain(self, series: Any) -> Array | None:
        """The cells as numpy has them, if numpy can hold them all; the short way past narwhals."""

    def columns(self, frame: Any) -> list[Any]:
        """All columns."""

    def family(self, series: Any) -> Family | None:
        """Text or category, if the dtype is one of the library's own for them."""

    def matrix(self, frame: Any) -> Array | None:
        """All cells as one array of numbers, if all columns are numbers of one dtype."""

    def zone(self, series: Any) -> str | None:
        """The name of the time zone of a column of moments, if its dtype has one."""

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


def library_of(table: Any) -> str:
    """The library of a table: numpy for arrays.

    >>> library_of(np.zeros((1, 1)))
    'numpy'
    """
    if isinstance(table, np.ndarray):
        return "numpy"
    return str(nw.from_native(table, eager_only=True).implementation.value)


def long_frame(columns: dict[str, list[Any]], library: str) -> Any:
    """A long table in a library; polars for arrays, in whose columns mixed cells are texts.

    >>> long_frame({"row": [0, 1], "low": [2.5, "mild"]}, "numpy").rows()
    [(0, '2.5'), (1, 'mild')]
    """
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    import polars as pl

    frame = pl.DataFrame({name: _of_one_type(cells) for name, cells in columns.items()})
    return frame.to_arrow() if library == "pyarrow" else frame


def interval_frame(found: dict[str, list[Any]], library: str) -> Any:
    """What an imputer's ``intervals`` found, as a long table: row, column, low, high, levels."""
    limits = {name: found[name] for name in ("low", "high", "levels")}
    return long_frame({"row": found["rows"], "column": found["columns"], **limits}, library)


def _of_one_type(cells: list[Any]) -> list[Any]:
    """Truths or numbers, or else texts; several levels are one text."""
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, BOOLEANS) for cell in known):
        return cells
    if all(isinstance(c, int | float | np.number) and not isinstance(c, bool) for c in known):
        is_whole = all(isinstance(cell, int) for cell in known)
        return cells if is_whole else [None if cell is None else float(cell) for cell in cells]
    texts = (", ".join(map(str, cell)) if isinstance(cell, list) else str(cell) for cell in cells)
    return [None if cell is None else text for cell, text in zip(cells, texts, strict=True)]


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


BOOLEANS = (bool, np.bool_)
NUMBERS = (int, float, np.number, Decimal, Fraction)
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
               "D": 86_400 * 10**9, "W": 7 * 86_400 * 10**9}  # fmt: skip
"""Nanoseconds of each unit of numpy that has a fixed length."""

FAMILIES = {
    "f": Family.FLOAT,
    "i": Family.INTEGER,
    "u": Family.INTEGER,
    "b": Family.BOOLEAN,
    "M": Family.DATETIME,
    "m": Family.DURATION,
}
"""The family of each kind of numpy dtype; all others hold objects."""

_SERIES_FAMILIES = {
    "Float": Family.FLOAT,
    "Int": Family.INTEGER,
    "UInt": Family.INTEGER,
    "Decimal": Family.DECIMAL,
    "Boolean": Family.BOOLEAN,
    "String": Family.TEXT,
    "Categorical": Family.CATEGORY,
    "Enum": Family.CATEGORY,
    "Date": Family.DATE,
    "Datetime": Family.DATETIME,
    "Duration": Family.DURATION,
    "Time": Family.TIME,
    "Unknown": Family.EMPTY,
}
"""The family of each narwhals dtype, by its name without bits."""

_OBJECT_FAMILIES: dict[Family, tuple[type, ...]] = {
    Family.TEXT: (str,),
    Family.DURATION: (timedelta, np.timedelta64),  # first: numpy counts the latter as Integral
    Family.INTEGER: (Integral,),
    Family.DECIMAL: (Decimal,),
    Family.FLOAT: (Real, Decimal),
    Family.DATE: (date,),
}
"""The types that all objects of a family have."""


def read_series(series: nw.Series[Any], name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read one column of a frame: its family follows from its dtype."""
    backend, native = backend_of(series), series.to_native()
    array = backend.plain(native)
    if array is not None:
        return read_column(array, name, sentinels)
    family = _SERIES_FAMILIES.get(type(series.dtype).__name__.rstrip(digits))
    if family is None or (family is Family.EMPTY and not series.is_null().all()):
        dtype = getattr(native, "dtype", None) or native.type  # narwhals has no word for each
        raise InvalidDataError(
            f"Column {name!r} has dtype {dtype}, which cannot be imputed. Only single numbers, "
            "texts, categories and dates can: convert the column (a sparse one by "
            "X[name].sparse.to_dense()), or drop it."
        )
    if family in (Family.CATEGORY, Family.TEXT):
        return read_levels(native, family, sentinels, backend)
    values, missing = _series_array(series, family), series.is_null().to_numpy().astype(bool)
    if family is Family.FLOAT:
        missing |= np.isnan(values)
    return _without_sentinels(_typed_cells(values, missing, family), sentinels)


def read_levels(native: Any, family: Family, sentinels: tuple[Any, ...], backend: Backend) -> Cells:
    """Read one column of text or categories: the places of its cells among their levels."""
    codes, declared, ordered = backend.categories(native)
    missing = codes < 0
    cells = Cells(np.where(missing, 0, codes), missing, family, declared, ordered)
    return _without_sentinels(cells, sentinels)


def _series_array(series: nw.Series[Any], family: Family) -> Array:
    """The cells as numpy has them, with anything in the holes."""
    if family in (Family.DATE, Family.DATETIME, Family.DURATION):
        return _series_moments(series, family)
    if family is Family.TIME:
        return _microseconds_of_day(series)
    if family is Family.BOOLEAN:
        return series.fill_null(False).to_numpy().astype(bool)
    if family is Family.EMPTY:
        return np.zeros(len(series))
    if family is Family.INTEGER and series.dtype not in (nw.Int128, nw.UInt128):
        return series.fill_null(0).to_numpy()
    return series.fill_null(0).cast(nw.Float64).to_numpy()


def _series_moments(series: nw.Series[Any], family: Family) -> Array:
    """Dates and durations of numpy, in the unit in which narwhals counts them without loss."""
    unit: Any = getattr(series.dtype, "time_unit", "us")
    if family is not Family.DURATION:
        unit = "ms" if unit == "s" else unit
        return series.dt.timestamp(unit).fill_null(0).to_numpy().astype(f"M8[{unit}]")
    if unit == "ns":
        return series.dt.total_nanoseconds().fill_null(0).to_numpy().astype("m8[ns]")
    return series.dt.total_microseconds().fill_null(0).to_numpy().astype("m8[us]")


def _microseconds_of_day(series: nw.Series[Any]) -> Array:
    if series.implementation.is_pandas():  # which leaves the times of Arrow to Arrow
        import pyarrow as pa

        series = nw.from_native(pa.chunked_array([series.to_arrow()]), series_only=True)
    parts = series.dt.hour(), series.dt.minute(), series.dt.second(), series.dt.nanosecond()
    hours, minutes, seconds, nanos = (part.fill_null(0).to_numpy().astype(float) for part in parts)
    return np.asarray(((hours * 60 + minutes) * 60 + seconds) * 1e6 + np.rint(nanos / 1e3))


def read_column(column: Array, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read one column of an array of any dtype."""
    kind = column.dtype.kind
    if kind not in FAMILIES:
        return read_objects(column.astype(object), name, sentinels)
    missing = np.isnan(column) if kind in "fMm" else np.zeros(len(column), dtype=bool)
    return _without_sentinels(_typed_cells(column, missing, FAMILIES[kind]), sentinels)


def _typed_cells(values: Array, missing: Bools, family: Family) -> Cells:
    """Cells of a typed array; moments become microseconds, with exact ticks beside them."""
    if values.dtype.kind not in "Mm":
        return Cells(_with_blanks(values, missing), missing, family)
    rounded = _with_blanks(_microseconds(values), missing)
    unit, count = np.datetime_data(values.dtype)
    # Months and years have no fixed length, and float64 holds every day exactly.
    if unit not in NANOSECONDS or family is Family.DATE:
        return Cells(rounded, missing, family)
    ticks, tick = values.astype(np.int64), count * NANOSECONDS[unit]
    return Cells(rounded, missing, family, ticks=ticks, tick=tick)


def _microseconds(moments: Any) -> Any:
    """Dates or durations of numpy as float64 microseconds."""
    return moments.astype(f"{moments.dtype.kind}8[us]").astype(np.int64).astype(np.float64)


def read_objects(cells: Array, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read a column of objects: all numbers → numbers, all text → text, else categories as is."""
    missing = null_cells(cells)
    _refuse_nested(cells[~missing], name)
    values = _with_blanks(cells, missing)
    if sentinels:
        missing |= np.fromiter((is_sentinel(v, sentinels) for v in values), bool, len(values))
    values[missing] = None
    observed = values[~missing]
    family = _object_family(observed)
    if family in (Family.TEXT, Family.MIXED):
        return Cells(values, missing, family, boxed=True)
    typed = _typed_objects(observed, family)
    unboxed = np.zeros(len(values), dtype=typed.dtype)
    unboxed[~missing] = typed
    is_long = family is Family.INTEGER and typed.dtype.kind == "f"
    return Cells(unboxed, missing, family, boxed=True, ticks=values if is_long else None)


def null_cells(cells: Array) -> Bools:
    """Which objects are None, NaN, NaT or NA; pandas finds its own, and only if it is loaded."""
    pandas = nw.dependencies.get_pandas()
    if pandas is not None:
        return np.asarray(pandas.isna(cells), dtype=bool)
    return np.fromiter((c is None or _differs_from_itself(c) for c in cells), bool, len(cells))


def _differs_from_itself(cell: Any) -> bool:
    differs = cell != cell  # noqa: PLR0124  (true of NaN only)
    return isinstance(differs, BOOLEANS) and bool(differs)


def _refuse_nested(observed: Array, name: str) -> None:
    types = set(map(type, observed.tolist()))
    nested = [t.__name__ for t in types if t.__hash__ is None or issubclass(t, np.void)]
    if nested:
        raise InvalidDataError(
            f"Column {name!r} holds cells of type {nested[0]}. Only single values can be "
            "imputed: spread the column over several, or drop it."
        )
    if any(issubclass(t, Complex) and not issubclass(t, Real) for t in types):
        raise InvalidDataError(
            f"Complex data not supported: column {name!r} holds complex numbers."
        )


def _object_family(observed: Array) -> Family:
    types = set(map(type, observed.tolist()))

    def every(*bases: type) -> bool:
        return all(issubclass(t, bases) for t in types)

    if not types:
        return Family.EMPTY
    if any(issubclass(t, BOOLEANS) for t in types):
        return Family.BOOLEAN if every(*BOOLEANS) else Family.MIXED
    if every(datetime):
        zoned = any(map(attrgetter("tzinfo"), observed.tolist()))
        return Family.MIXED if zoned else Family.DATETIME
    fitting = (family for family, bases in _OBJECT_FAMILIES.items() if every(*bases))
    return next(fitting, Family.MIXED)


def _typed_objects(observed: Array, family: Family) -> Array:
    """Numbers and moments as a typed array; what no float can hold is infinite, and refused."""
    if family is Family.BOOLEAN:
        return observed.astype(bool)
    if family in (Family.DATE, Family.DATETIME):
        return np.asarray(_microseconds(observed.astype("M8[us]")))
    if family is Family.DURATION:
        return np.asarray(_microseconds(observed.astype("m8[us]")))
    for dtype in (np.int64, np.float64) if family is Family.INTEGER else (np.float64,):
        try:
            return observed.astype(dtype)
        except OverflowError:
            continue
    largest = float(np.finfo(np.float64).max)  # as a float of Python, compared exactly
    return np.array([float(x) if abs(x) <= largest else np.inf for x in observed])


def read_matrix(array: Array, sentinels: tuple[Any, ...]) -> tuple[Floats, Bools]:
    """Read an array of numbers as a whole: float64 values with 0 in the holes, and the holes."""
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
        values = array.astype(np.float64, order="C")
    missing = np.isnan(values)
    if sentinels:
        missing |= _equal_to_any(array, _number_sentinels(sentinels))
    values[missing] = 0.0
    return values, missing


def _without_sentinels(cells: Cells, sentinels: tuple[Any, ...]) -> Cells:
    """The same cells, with those that equal a sentinel turned into holes."""
    if not sentinels:
        return cells
    if cells.declared is not None:
        hits = np.array([is_sentinel(level, sentinels) for level in cells.declared], dtype=bool)
        hit = hits[cells.values] if len(hits) else np.zeros(len(cells.values), dtype=bool)
    else:
        hit = _equal_to_any(cells.values, _fitting(sentinels, cells))
    missing = cells.missing | hit
    return replace(cells, values=_with_blanks(cells.values, missing), missing=missing)


def _fitting(sentinels: tuple[Any, ...], cells: Cells) -> tuple[Any, ...]:
    """The sentinels of a type that these cells can hold, as the cells hold them."""
    if cells.family is Family.BOOLEAN:
        return tuple(s for s in sentinels if isinstance(s, BOOLEANS))
    if cells.meaning == "numbers":
        return _number_sentinels(sentinels)
    types, held = _MOMENTS.get(cells.meaning, ((), float))
    return tuple(held(s) for s in sentinels if isinstance(s, types))


def as_held(levels: tuple[Any, ...], cells: Cells) -> tuple[Any, ...]:
    """Levels as these cells hold them: dates, durations and times as microseconds."""
    types, held = _MOMENTS.get(cells.meaning, ((), float))
    return tuple(held(level) if isinstance(level, types) else level for level in levels)


def _number_sentinels(sentinels: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sentinels that a column of numbers may hold; True is not 1 here."""
    return tuple(s for s in sentinels if isinstance(s, NUMBERS) and not isinstance(s, bool))


def _since_epoch(moment: Any) -> float:
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)  # numpy knows no zones
    return float(_microseconds(np.datetime64(moment)))


def _since_midnight(moment: time) -> float:
    return (datetime.combine(date.min, moment) - datetime.min) / timedelta(microseconds=1)


_MOMENTS: dict[str, tuple[tuple[type, ...], Callable[[Any], float]]] = {
    "dates": ((date, np.datetime64), _since_epoch),
    "durations": ((timedelta, np.timedelta64), lambda s: _microseconds(np.timedelta64(s))),
    "times of day": ((time,), _since_midnight),
}
"""The types of moments that a user names, and how cells hold them."""


def is_sentinel(cell: Any, sentinels: tuple[Any, ...]) -> bool:
    """Whether a cell means missing; True is not 1 here.

    >>> is_sentinel(0, (0, "?")), is_sentinel(False, (0, "?"))
    (True, False)
    """
    is_truth = isinstance(cell, BOOLEANS)
    return any(isinstance(s, BOOLEANS) == is_truth and bool(cell == s) for s in sentinels)


def _equal_to_any(values: Array, sentinels: tuple[Any, ...]) -> Bools:
    hit = np.zeros(values.shape, dtype=bool)
    for sentinel in sentinels:
        hit |= np.asarray(values == sentinel, dtype=bool)
    return hit


def _with_blanks(values: Array, missing: Bools) -> Array:
    """The same values, with 0 or None in the holes."""
    blank = np.array([None]) if values.dtype == object else np.zeros(1, values.dtype)
    return np.where(missing, blank, values)
