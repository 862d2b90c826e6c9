"""Columns of polars, written back in their own dtype."""

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from greyfill.frames.schema import Array, sorted_levels
from greyfill.table import Bools, Ints


def plain(series: Any) -> Array | None:
    """The cells as numpy has them, if numpy can tell all their holes."""
    if series.dtype == pl.Object or (series.dtype.is_float() and series.null_count() == 0):
        return np.asarray(series.to_numpy())
    return None


def matrix(frame: Any) -> Array | None:
    """All cells as one array, if all columns are floats of one dtype; nulls become NaN."""
    dtypes = set(frame.dtypes)
    is_matrix = len(dtypes) == 1 and dtypes.pop().is_float()
    return np.asarray(frame.to_numpy()) if is_matrix else None


def dtype(series: Any) -> Any:
    """The dtype in the words of narwhals."""
    return nw.from_native(series, series_only=True).dtype


def categories(series: Any) -> tuple[Ints, tuple[Any, ...], bool]:
    """Positions of the cells among the levels, the levels, and whether they are ordered.

    An Enum declares its levels. A Categorical does not, so its levels are the observed ones.
    Neither says whether its order means anything, so neither counts as ordered.
    """
    if series.dtype != pl.Enum:
        levels = sorted_levels(series.cast(pl.String).drop_nulls().unique().to_list())
        series = series.cast(pl.String).cast(pl.Enum(levels))
    codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return codes.astype(np.intp), tuple(series.dtype.categories.to_list()), False


def patch(series: Any, missing: Bools, values: Array) -> Any:
    """The same column, with values in the holes."""
    if series.dtype == pl.Object:
        cells = series.to_numpy().copy()
        cells[missing] = values
        return pl.Series(series.name, cells.tolist(), dtype=pl.Object)
    if series.dtype == pl.Categorical:
        return patch(series.cast(pl.String), missing, values).cast(series.dtype)
    if series.dtype == pl.Enum:
        series = series.cast(_with_levels(series.dtype, values))
    fills = _column(values, series.dtype)
    places = np.maximum(np.cumsum(missing) - 1, 0)
    return series.zip_with(pl.Series(~missing), fills.gather(places))


def build(values: Array) -> Any:
    """A new column."""
    return _column(values, None)


def replace(frame: Any, columns: dict[int, Any]) -> Any:
    """The same frame with some columns exchanged, by position."""
    names = frame.columns
    return frame.with_columns([c.alias(names[position]) for position, c in columns.items()])


def append(frame: Any, columns: dict[str, Bools]) -> Any:
    """The same frame with boolean columns added at its end."""
    added = [pl.Series(name, mask) for name, mask in columns.items()]
    return frame.with_columns(added) if frame.width else pl.DataFrame(added)


def from_array(array: Array, names: tuple[str, ...]) -> Any:
    """A frame from a numpy array."""
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


def _with_levels(dtype: Any, values: Array) -> Any:
    """The same Enum, and those of the values that are not among its levels."""
    known = dtype.categories.to_list()
    new = [value for value in dict.fromkeys(values.tolist()) if value not in set(known)]
    return pl.Enum(known + new) if new else dtype
