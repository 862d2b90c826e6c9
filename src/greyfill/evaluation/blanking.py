"""Write holes into a table of any library; its dtypes stay where they can hold a hole."""

from typing import Any

import narwhals as nw
import numpy as np

from greyfill.frames import open_table
from greyfill.frames.cells import Array
from greyfill.frames.dialects import dialect_of
from greyfill.table import Bools


def blank(X: Any, mask: Bools) -> Any:
    """The same table, with holes where ``mask`` is true.

    >>> import polars as pl
    >>> blank(pl.DataFrame({"age": [30, 40]}), np.array([[True], [False]]))["age"].to_list()
    [None, 40]
    """
    table = open_table(X)
    if not isinstance(table, nw.DataFrame):
        return _blank_array(table, mask)
    changed = {
        j: _WRITERS[table.implementation](table[:, j].to_native(), mask[:, j])
        for j in np.flatnonzero(mask.any(axis=0)).tolist()
    }
    return dialect_of(table).replace(table.to_native(), changed)


def _blank_array(array: Array, mask: Bools) -> Array:
    """Integers become float64; booleans and text become objects, for None."""
    kind = array.dtype.kind
    if kind in "fmM":
        result = array.copy()
        result[mask] = np.array("NaT", array.dtype) if kind in "mM" else np.nan
    elif kind in "iu":
        result = np.where(mask, np.nan, array)
    else:
        result = array.astype(object)
        result[mask] = None
    return result


def _blank_pandas(series: Any, mask: Bools) -> Any:
    return series.where(~mask)


def _blank_polars(series: Any, mask: Bools) -> Any:
    import polars as pl

    places = pl.Series(np.arange(len(mask), dtype=np.uint32))
    return series.gather(places.zip_with(pl.Series(~mask), pl.Series([None], dtype=pl.UInt32)))


def _blank_arrow(series: Any, mask: Bools) -> Any:
    import pyarrow as pa

    return series.take(pa.array(np.arange(len(mask)), mask=mask))


_WRITERS = {
    nw.Implementation.PANDAS: _blank_pandas,
    nw.Implementation.POLARS: _blank_polars,
    nw.Implementation.PYARROW: _blank_arrow,
}
