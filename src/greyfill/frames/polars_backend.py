"""Columns of polars, written back in their own dtype."""

from typing import Any

import numpy as np
import polars as pl

from greyfill.frames.schema import Array, Family, sorted_levels
from greyfill.table import Bools, Ints

WHOLE_DTYPES = frozenset({pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16,
                          pl.UInt32, pl.UInt64})  # fmt: skip
SHORT = 256
"""Below so many cells Python is done before polars has planned its query."""


def plain(series: Any) -> Array | None:
    """The cells as numpy has them, if numpy marks all their holes."""
    dtype = series.dtype
    in_numpy = dtype.is_float() or dtype in WHOLE_DTYPES
    if dtype == pl.Object or (in_numpy and series.null_count() == 0):
        return np.asarray(series.to_numpy())
    return None


def columns(frame: Any) -> list[Any]:
    return list(frame.get_columns())


def family(series: Any) -> Family | None:
    if series.dtype == pl.String:
        return Family.TEXT
    return Family.CATEGORY if series.dtype in (pl.Categorical, pl.Enum) else None


def matrix(frame: Any) -> Array | None:
    """All cells as one array, if all columns are floats of one dtype; nulls become NaN."""
    dtypes = set(frame.dtypes)
    is_matrix = len(dtypes) == 1 and dtypes.pop().is_float()
    return np.asarray(frame.to_numpy()) if is_matrix else None


def zone(series: Any) -> str | None:
    return getattr(series.dtype, "time_zone", None)


def categories(series: Any) -> tuple[Ints, tuple[Any, ...], bool]:
    """An Enum declares its levels, a Categorical has the observed ones; neither is ordered."""
    if len(series) < SHORT:
        cells = series.cast(pl.String).to_list()
        declared = series.dtype.categories.to_list() if series.dtype == pl.Enum else None
        levels = (
            sorted_levels({c for c in cells if c is not None}) if declared is None else declared
        )
        places = {level: place for place, level in enumerate(levels)}
        codes = np.array([-1 if c is None else places[c] for c in cells], dtype=np.intp)
        return codes, tuple(levels), False
    if series.dtype != pl.Enum:
        levels = sorted_levels(series.cast(pl.String).drop_nulls().unique().to_list())
        series = series.cast(pl.String).cast(pl.Enum(levels))
    codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return codes.astype(np.intp), tuple(series.dtype.categories.to_list()), False


def patch(series: Any, missing: Bools, values: Array) -> Any:
    if series.dtype == pl.Object:
        cells = series.to_numpy().copy()
        cells[missing] = values
        return pl.Series(series.name, cells.tolist(), dtype=pl.Object)
    if series.dtype == pl.Categorical:
        return patch(series.cast(pl.String), missing, values).cast(series.dtype)
    if series.dtype == pl.Enum:
        levels = dict.fromkeys([*series.dtype.categories.to_list(), *values.tolist()])
        series = series.cast(pl.Enum(list(levels)))
    fills = _column(values, series.dtype)
    places = np.maximum(np.cumsum(missing) - 1, 0)
    return series.zip_with(pl.Series(~missing), fills.gather(places))


def build(values: Array) -> Any:
    return _column(values, None)


def replace(frame: Any, columns: dict[int, Any]) -> Any:
    names = frame.columns
    return frame.with_columns([c.alias(names[position]) for position, c in columns.items()])


def keep(frame: Any, kept: Bools) -> Any:
    return frame[:, np.flatnonzero(kept).tolist()]


def append(frame: Any, columns: dict[str, Bools]) -> Any:
    added = [pl.Series(name, mask) for name, mask in columns.items()]
    return frame.with_columns(added) if frame.width else pl.DataFrame(added)


def from_array(array: Array, names: tuple[str, ...]) -> Any:
    columns = (array[:, j] for j in range(array.shape[1]))
    return pl.DataFrame([_column(c, None).alias(n) for c, n in zip(columns, names, strict=True)])


def _column(values: Array, dtype: Any) -> Any:
    """A series from numpy; moments are ticks of their own unit, in UTC."""
    if dtype in (pl.Datetime, pl.Duration):
        return pl.Series(values.view(np.int64)).cast(dtype)
    if values.dtype == object:
        return pl.Series(values.tolist(), dtype=dtype, strict=dtype is not None)
    series = pl.Series(np.ascontiguousarray(values))
    return series if dtype is None else series.cast(dtype)
