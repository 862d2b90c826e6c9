"""Reading one column of a dataframe through narwhals."""

from collections.abc import Callable
from typing import Any, Literal

import narwhals as nw
import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.frames.arrays import read_column
from greyfill.frames.cells import NANOSECONDS, Array, Cells, with_blanks, without_sentinels
from greyfill.frames.dialects import dialect_of
from greyfill.frames.schema import Family

Series = nw.Series[Any]

_UNITS: dict[str, Literal["ns", "us", "ms"]] = {"s": "ms", "ms": "ms", "us": "us", "ns": "ns"}
"""The unit in which narwhals counts each unit of moments without loss."""


def read_series(series: Series, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read one column: its family follows from its dtype."""
    array = dialect_of(series).plain(series.to_native())
    if array is not None:
        return read_column(array, name, sentinels)
    family = _family_of(series, name)
    if family in (Family.CATEGORY, Family.TEXT):
        return without_sentinels(_read_levels(series, family), sentinels)
    missing = series.is_null().to_numpy().astype(bool)
    if family is Family.EMPTY and not missing.all():
        raise _unusable(series, name)
    values = _READERS[family](series)
    if family is Family.FLOAT:
        missing |= np.isnan(values)
    ticks, tick = _ticks(series, family)
    cells = Cells(with_blanks(values, missing), missing, family, ticks=ticks, tick=tick)
    return without_sentinels(cells, sentinels)


def _family_of(series: Series, name: str) -> Family:
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
        return _floats(series)
    return series.fill_null(0).to_numpy()


def _floats(series: Series) -> Array:
    return series.fill_null(0).cast(nw.Float64).to_numpy()


def _booleans(series: Series) -> Array:
    return series.fill_null(False).to_numpy().astype(bool)


def _moments(series: Series) -> Array:
    return series.dt.timestamp("us").to_numpy().astype(np.float64)


def _spans(series: Series) -> Array:
    return series.dt.total_microseconds().to_numpy().astype(np.float64)


def _ticks(series: Series, family: Family) -> tuple[Array | None, int]:
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
    Family.FLOAT: _floats,
    Family.INTEGER: _integers,
    Family.DECIMAL: _floats,
    Family.BOOLEAN: _booleans,
    Family.DATE: _moments,
    Family.DATETIME: _moments,
    Family.DURATION: _spans,
    Family.TIME: _times,
    Family.EMPTY: _nothing,
}
