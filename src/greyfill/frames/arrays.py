"""Numpy arrays: as a whole matrix where all cells are numbers, else column by column."""

from typing import Any

import numpy as np

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
from greyfill.frames.objects import read_objects
from greyfill.frames.schema import Family
from greyfill.table import Bools, Floats

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
