"""Fills → partitions of the frame that came in; and new partitions by a fitted imputer."""

import copy
from typing import Any

import numpy as np

from greyfill import frames
from greyfill._neighbors.serving import Fitted, serve
from greyfill.distributed.aligning import Dtypes, aligned
from greyfill.distributed.reading import class_codes, naming_partition
from greyfill.table import Floats


def with_donors(imputer: Any, fitted: Fitted) -> Any:
    """The imputer as it was fitted, donors and all."""
    whole = copy.copy(imputer)
    whole._fitted = fitted
    return whole


def outlined(meta: Any, imputer: Any) -> Any:
    """An empty frame with the columns and dtypes that come out of one with those of ``meta``."""
    kept = meta if imputer.keep_empty_features else meta.iloc[:, np.flatnonzero(imputer._kept)]
    flags = imputer._flag_names(list(imputer._schema.names))
    return kept.assign(**{name: np.zeros(0, dtype=bool) for name in flags})


def fill_partition(
    frame: Any, imputer: Any, fitted: Fitted, dtypes: Dtypes, meta: Any, number: int
) -> Any:
    """New rows of these dtypes without holes; each is filled on its own."""
    if len(frame) == 0:
        return meta
    frame = aligned(frame, dtypes, number)
    with naming_partition(number):
        filled = with_donors(imputer, fitted).transform(frame)
    return aligned(filled, dict(meta.dtypes), number)


def fills_of_partition(
    frame: Any, y: Any, fills: Floats, imputer: Any, fitted: Fitted, classes: tuple[Any, ...]
) -> Floats:
    """The fills of all holes of training rows; rows without a label are filled like new ones."""
    if len(frame) == 0:
        return fills
    table, _ = frames.encode(frame, schema=imputer._schema)
    part = table.select(imputer._kept)
    taught = class_codes(y, len(frame), classes) >= 0
    values = part.values.copy()
    values[part.missing & taught[:, np.newaxis]] = fills
    if not taught.all():
        values[~taught] = serve(fitted, part.rows(~taught), 1)
    return np.asarray(values[part.missing])


def restore_partition(frame: Any, fills: Floats, imputer: Any, meta: Any, number: int) -> Any:
    """Training rows of a Dask frame with their fills."""
    if len(frame) == 0:
        return meta
    return aligned(put_fills(frame, fills, imputer), dict(meta.dtypes), number)


def put_fills(frame: Any, fills: Floats, imputer: Any) -> Any:
    """A frame of any library with its holes filled, in the order of rows and then columns."""
    table, origin = frames.encode(frame, schema=imputer._schema)
    part = table.select(imputer._kept)
    values = part.values.copy()
    values[part.missing] = fills
    filled = table.values.copy()
    filled[:, imputer._kept] = values
    return imputer._restore(origin, table.missing, filled)


def with_columns_of(table: Any, filled: Any) -> Any:
    """An Arrow table with the columns that another has of it; one of nothing gets their type."""
    for name in filled.column_names:
        place = table.column_names.index(name)
        field = table.schema.field(place).with_type(filled[name].type)
        table = table.set_column(place, field, filled[name])
    return table
