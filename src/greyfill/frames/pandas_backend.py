"""Columns of pandas, written back in their own dtype, index and labels."""

from typing import Any

import numpy as np
import pandas as pd

from greyfill.frames.schema import Array, Family
from greyfill.table import Bools, Ints

LIBRARY_DTYPES = (pd.PeriodDtype, pd.IntervalDtype)
LIBRARY_CELLS = (pd.Period, pd.Interval)
MASKED_DTYPES = (
    pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype,
    pd.UInt32Dtype, pd.UInt64Dtype, pd.Float32Dtype, pd.Float64Dtype, pd.BooleanDtype,
)  # fmt: skip
# Before copy-on-write, a shallow copy would write through to the input of the user.
SHARES_MEMORY = int(pd.__version__.split(".")[0]) < 3

SHORT = 256
"""Below so many cells Python is done before pandas has asked for the dtype."""


def plain(series: Any) -> Array | None:
    """The cells as numpy has them, if the dtype is one of numpy or of pandas alone."""
    if isinstance(series.dtype, np.dtype):
        return np.asarray(series.to_numpy())
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        return np.asarray(series.to_numpy(dtype=f"M8[{series.dtype.unit}]"))
    if isinstance(series.dtype, LIBRARY_DTYPES):
        return np.asarray(series.to_numpy(dtype=object))
    if isinstance(series.dtype, MASKED_DTYPES) and not series.hasnans:
        return np.asarray(series.to_numpy(dtype=series.dtype.numpy_dtype))
    return None


def columns(frame: Any) -> list[Any]:
    return [column for _, column in frame.items()]


def family(series: Any) -> Family | None:
    if isinstance(series.dtype, pd.StringDtype):
        return Family.TEXT
    return Family.CATEGORY if isinstance(series.dtype, pd.CategoricalDtype) else None


def matrix(frame: Any) -> Array | None:
    """All cells as one array, if all columns are numbers of one numpy dtype."""
    dtypes = set(frame.dtypes)
    dtype = dtypes.pop()
    is_matrix = not dtypes and isinstance(dtype, np.dtype) and dtype.kind in "fiu"
    return np.asarray(frame.to_numpy()) if is_matrix else None


def zone(series: Any) -> str | None:
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        return getattr(dtype.pyarrow_dtype, "tz", None)
    return str(dtype.tz) if isinstance(dtype, pd.DatetimeTZDtype) else None


def categories(series: Any) -> tuple[Ints, tuple[Any, ...], bool]:
    if isinstance(series.dtype, pd.ArrowDtype):
        from greyfill.frames import arrow_backend

        return arrow_backend.categories(_chunks(series))
    if isinstance(series.dtype, pd.StringDtype) and len(series) < SHORT:
        places: dict[str, int] = {}
        cells = (c if isinstance(c, str) else None for c in series.array)
        found = [-1 if c is None else places.setdefault(c, len(places)) for c in cells]
        return np.array(found, dtype=np.intp), tuple(places), False
    if not isinstance(series.dtype, pd.CategoricalDtype):
        codes, levels = series.factorize()
        return codes.astype(np.intp), tuple(levels.tolist()), False
    codes = series.cat.codes.to_numpy().astype(np.intp)
    return codes, tuple(series.cat.categories.tolist()), bool(series.cat.ordered)


def patch(series: Any, missing: Bools, values: Array) -> Any:
    if isinstance(series.dtype, pd.ArrowDtype):
        from greyfill.frames import arrow_backend

        chunks = arrow_backend.patch(_chunks(series), missing, values)
        return pd.Series(pd.arrays.ArrowExtensionArray(chunks), index=series.index, copy=False)
    if isinstance(series.dtype, np.dtype):
        cells = series.to_numpy(copy=True)
        cells[missing] = values
        return pd.Series(cells, index=series.index, dtype=series.dtype, copy=False)
    array = series.array.copy()
    if isinstance(series.dtype, pd.CategoricalDtype):
        distinct = dict.fromkeys(values.tolist())
        if new := [v for v in distinct if v not in array.categories]:
            array = array.add_categories(new)
        places = array.categories.get_indexer(values)
        if places.min(initial=0) >= 0:  # quicker than to let pandas look for the codes
            codes = array.codes.copy()
            codes[missing] = places
            array = pd.Categorical.from_codes(codes, dtype=array.dtype)
            return pd.Series(array, index=series.index, copy=False)
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        values = pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(series.dtype.tz).array
    if isinstance(series.dtype, LIBRARY_DTYPES) and not isinstance(values[0], LIBRARY_CELLS):
        return pd.Series(values, index=series.index)  # no period is known that could be filled in
    array[missing] = values
    return pd.Series(array, index=series.index, copy=False)


def build(values: Array) -> Any:
    return pd.Series(values)


def replace(frame: Any, columns: dict[int, Any]) -> Any:
    result = frame.copy(deep=SHARES_MEMORY)
    for position, column in columns.items():
        result.isetitem(position, column.set_axis(frame.index))
    return result


def keep(frame: Any, kept: Bools) -> Any:
    return frame.iloc[:, np.flatnonzero(kept)]


def append(frame: Any, columns: dict[str, Bools]) -> Any:
    # A table of another library that lost all columns has lost its rows.
    if not frame.shape[1] and not len(frame):
        frame = pd.DataFrame(index=range(len(next(iter(columns.values())))))
    return pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1)


def from_array(array: Array, names: tuple[str, ...]) -> Any:
    return pd.DataFrame(array, columns=list(names)).infer_objects()


def _chunks(series: Any) -> Any:
    import pyarrow as pa

    array = pa.array(series.array)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
