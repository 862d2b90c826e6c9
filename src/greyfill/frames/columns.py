"""Reading one column of a dataframe through narwhals."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Complex, Integral, Real
from operator import attrgetter
from typing import Any, Literal

import narwhals as nw
import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.frames.backends import dialect_of
from greyfill.frames.cells import (
    NANOSECONDS,
    Array,
    Cells,
    equal_to_any,
    microseconds,
    number_sentinels,
    with_blanks,
    without_sentinels,
)
from greyfill.frames.schema import Family
from greyfill.table import Bools, Floats

BOOLEANS = (bool, np.bool_)


def read_objects(cells: Array, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read a column of objects: all numbers → numbers, all text → text, else categories as is."""
    missing = null_cells(cells)
    _refuse_nested(cells[~missing], name)
    values = with_blanks(cells, missing)
    missing |= equal_to_any(values, sentinels)
    values[missing] = None
    observed = values[~missing]
    family = _family_of(observed)
    unboxed = _unboxed(values, observed, missing, family)
    is_long = family is Family.INTEGER and unboxed.dtype.kind == "f"
    return Cells(unboxed, missing, family, boxed=True, ticks=values if is_long else None)


def null_cells(cells: Array) -> Bools:
    """Which objects are None, NaN, NaT or NA; pandas knows its own, and only if it is loaded."""
    pandas = nw.dependencies.get_pandas()
    if pandas is not None:
        return np.asarray(pandas.isna(cells), dtype=bool)
    return np.fromiter((c is None or _differs_from_itself(c) for c in cells), bool, len(cells))


def _differs_from_itself(cell: Any) -> bool:
    differs = cell != cell  # noqa: PLR0124  (true of NaN only)
    return differs is True or (isinstance(differs, np.bool_) and bool(differs))


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


def _family_of(observed: Array) -> Family:
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
    for family, bases in _BASES.items():
        if every(*bases):
            return family
    return Family.MIXED


_BASES: dict[Family, tuple[type, ...]] = {
    Family.TEXT: (str,),
    Family.DURATION: (timedelta, np.timedelta64),  # first: numpy counts the latter as Integral
    Family.INTEGER: (Integral,),
    Family.DECIMAL: (Decimal,),
    Family.FLOAT: (Real, Decimal),
    Family.DATE: (date,),
}


def _unboxed(values: Array, observed: Array, missing: Bools, family: Family) -> Array:
    """The objects as a typed array where the family has one."""
    if family in (Family.TEXT, Family.MIXED):
        return values
    typed = _typed(observed, family)
    result = np.zeros(len(values), dtype=typed.dtype)
    result[~missing] = typed
    return result


def _typed(observed: Array, family: Family) -> Array:
    if family is Family.BOOLEAN:
        return observed.astype(bool)
    if family in (Family.DATE, Family.DATETIME):
        return np.asarray(microseconds(observed.astype("M8[us]")))
    if family is Family.DURATION:
        return np.asarray(microseconds(observed.astype("m8[us]")))
    if family is Family.INTEGER:
        try:
            return observed.astype(np.int64)
        except OverflowError:
            return _floats(observed)
    return _floats(observed)


def _floats(observed: Array) -> Array:
    """Numbers as floats; one beyond the largest float is infinite, and refused as such."""
    try:
        return observed.astype(np.float64)
    except OverflowError:
        largest = float(np.finfo(np.float64).max)  # as a float of Python, compared exactly
        return np.array([float(x) if abs(x) <= largest else np.inf for x in observed])


FAMILIES = {
    "f": Family.FLOAT,
    "i": Family.INTEGER,
    "u": Family.INTEGER,
    "b": Family.BOOLEAN,
    "M": Family.DATETIME,
    "m": Family.DURATION,
}


def read_matrix(array: Array, sentinels: tuple[Any, ...]) -> tuple[Floats, Bools]:
    """Read an array of numbers as a whole: float64 values with 0 in the holes, and the holes."""
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
        values = array.astype(np.float64, order="C")
    missing = np.isnan(values)
    if sentinels:
        missing |= equal_to_any(array, number_sentinels(sentinels))
    values[missing] = 0.0
    return values, missing


def read_column(column: Array, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read one column of an array of any dtype."""
    kind = column.dtype.kind
    if kind not in FAMILIES:
        return read_objects(column.astype(object), name, sentinels)
    missing = np.isnan(column) if kind in "fMm" else np.zeros(len(column), dtype=bool)
    values = np.asarray(microseconds(column)) if kind in "Mm" else column
    ticks, tick = _ticks(column) if kind in "Mm" else (None, 1)
    cells = Cells(with_blanks(values, missing), missing, FAMILIES[kind], ticks=ticks, tick=tick)
    return without_sentinels(cells, sentinels)


def _ticks(moments: Array) -> tuple[Array | None, int]:
    """Moments as whole numbers, and the nanoseconds of one; None for months and years."""
    unit, count = np.datetime_data(moments.dtype)
    if unit not in NANOSECONDS:
        return None, 1
    return moments.astype(np.int64), count * NANOSECONDS[unit]


Series = nw.Series[Any]

_UNITS: dict[str, Literal["ns", "us", "ms"]] = {"s": "ms", "ms": "ms", "us": "us", "ns": "ns"}
"""The unit in which narwhals counts each unit of moments without loss."""


def read_series(series: Series, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read one column: its family follows from its dtype."""
    array = dialect_of(series).plain(series.to_native())
    if array is not None:
        return read_column(array, name, sentinels)
    family = _series_family(series, name)
    if family in (Family.CATEGORY, Family.TEXT):
        return without_sentinels(_read_levels(series, family), sentinels)
    missing = series.is_null().to_numpy().astype(bool)
    if family is Family.EMPTY and not missing.all():
        raise _unusable(series, name)
    values = _READERS[family](series)
    if family is Family.FLOAT:
        missing |= np.isnan(values)
    ticks, tick = _series_ticks(series, family)
    cells = Cells(with_blanks(values, missing), missing, family, ticks=ticks, tick=tick)
    return without_sentinels(cells, sentinels)


def _series_family(series: Series, name: str) -> Family:
    """The family of the dtype of narwhals, or an error that names the column."""
    for family, belongs in _FAMILIES.items():
        if belongs(series.dtype):
            return family
    raise _unusable(series, name)


def _unusable(series: Series, name: str) -> InvalidDataError:
    """Narwhals does not know every dtype, so the one of the library is told."""
    native = series.to_native()
    dtype = getattr(native, "dtype", None) or native.type
    return InvalidDataError(
        f"Column {name!r} has dtype {dtype}, which cannot be imputed. Only single numbers, "
        "texts, categories and dates can: convert the column (a sparse one by "
        "X[name].sparse.to_dense()), or drop it."
    )


def _read_levels(series: Series, family: Family) -> Cells:
    codes, declared, ordered = dialect_of(series).categories(series.to_native())
    missing = codes < 0
    return Cells(np.where(missing, 0, codes), missing, family, declared, ordered)


def _integers(series: Series) -> Array:
    if series.dtype in (nw.Int128, nw.UInt128):
        return _series_floats(series)
    return series.fill_null(0).to_numpy()


def _series_floats(series: Series) -> Array:
    return series.fill_null(0).cast(nw.Float64).to_numpy()


def _booleans(series: Series) -> Array:
    return series.fill_null(False).to_numpy().astype(bool)


def _moments(series: Series) -> Array:
    return series.dt.timestamp("us").to_numpy().astype(np.float64)


def _spans(series: Series) -> Array:
    return series.dt.total_microseconds().to_numpy().astype(np.float64)


def _series_ticks(series: Series, family: Family) -> tuple[Array | None, int]:
    """Moments as whole numbers in their own unit, and the nanoseconds of one."""
    if family is Family.DATETIME:
        unit = _UNITS[series.dtype.time_unit]  # type: ignore[attr-defined]
        return series.dt.timestamp(unit).fill_null(0).to_numpy(), NANOSECONDS[unit]
    if family is Family.DURATION:
        if series.dtype.time_unit == "ns":  # type: ignore[attr-defined]
            return series.dt.total_nanoseconds().fill_null(0).to_numpy(), 1
        return series.dt.total_microseconds().fill_null(0).to_numpy(), NANOSECONDS["us"]
    return None, 1


def _times(series: Series) -> Array:
    if series.implementation.is_pandas():  # which leaves the times of Arrow to Arrow
        import pyarrow as pa

        series = nw.from_native(pa.chunked_array([series.to_arrow()]), series_only=True)
    parts = series.dt.hour(), series.dt.minute(), series.dt.second(), series.dt.nanosecond()
    hours, minutes, seconds, nanos = (part.fill_null(0).to_numpy().astype(float) for part in parts)
    return np.asarray(((hours * 60 + minutes) * 60 + seconds) * 1e6 + np.rint(nanos / 1e3))


def _nothing(series: Series) -> Array:
    return np.zeros(len(series))


_FAMILIES: dict[Family, Callable[[Any], bool]] = {
    Family.FLOAT: lambda dtype: dtype.is_float(),
    Family.INTEGER: lambda dtype: dtype.is_integer(),
    Family.DECIMAL: lambda dtype: dtype.is_decimal(),
    Family.BOOLEAN: lambda dtype: dtype == nw.Boolean,
    Family.TEXT: lambda dtype: dtype == nw.String,
    Family.CATEGORY: lambda dtype: dtype in (nw.Categorical, nw.Enum),
    Family.DATE: lambda dtype: dtype == nw.Date,
    Family.DATETIME: lambda dtype: dtype == nw.Datetime,
    Family.DURATION: lambda dtype: dtype == nw.Duration,
    Family.TIME: lambda dtype: dtype == nw.Time,
    Family.EMPTY: lambda dtype: dtype == nw.Unknown,
}

_READERS: dict[Family, Callable[[Series], Array]] = {
    Family.FLOAT: _series_floats,
    Family.INTEGER: _integers,
    Family.DECIMAL: _series_floats,
    Family.BOOLEAN: _booleans,
    Family.DATE: _moments,
    Family.DATETIME: _moments,
    Family.DURATION: _spans,
    Family.TIME: _times,
    Family.EMPTY: _nothing,
}
