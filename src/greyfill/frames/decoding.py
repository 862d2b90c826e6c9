"""The way out: filled numbers → the table as it was given, with values in its holes."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.frames.cells import Array
from greyfill.frames.converting import convert
from greyfill.frames.dialects import Dialect, dialect_of
from greyfill.frames.refusing import TABLES, refusing
from greyfill.frames.schema import MEANING, Extent, Family, Field, Origin
from greyfill.frames.storing import (
    BOXED_DTYPES,
    MOMENTS,
    as_objects,
    moments,
    real_numbers,
    storable,
    values_of,
    whole_numbers,
    within,
)
from greyfill.table import Bools, Floats, Kind

PLAIN_NUMBERS = frozenset({Family.FLOAT, Family.INTEGER, Family.BOOLEAN})
"""Families that a column of nothing but None takes from `fit`: a model behind needs numbers."""


@refusing("The filled table cannot be written", TABLES)
def decode(
    filled: Floats,
    origin: Origin,
    *,
    kept: Bools | None = None,
    indicators: Mapping[str, Bools] | None = None,
    library: str | None = None,
) -> Any:
    """Write the filled numbers into the holes of the original table, and nothing else.

    Parameters
    ----------
    filled
        The numbers and codes of a complete table; only those of the holes are looked at.
    origin
        What `encode` remembered of the table.
    kept
        Mask of the columns to keep; all by default.
    indicators
        Masks to add as boolean columns under these names; 0 and 1 in a numpy array.
    library
        ``"numpy"``, ``"pandas"``, ``"polars"`` or ``"pyarrow"``; that of the input by default.

    Integers are rounded half to even and stay in the range of their dtype, ordinals are
    rounded to the nearest level, dates to their own unit. A list of rows comes back as an array.

    >>> import polars as pl
    >>> from greyfill.frames import encode
    >>> table, origin = encode(pl.DataFrame({"age": [30, None], "sex": ["f", "m"]}))
    >>> decode(np.array([[0.0, 0.0], [34.6, 0.0]]), origin).rows()
    [(30, 'f'), (35, 'm')]
    """
    if isinstance(origin.container, np.ndarray):
        result: Any = _filled_array(filled, origin)
    else:
        result = _filled_frame(filled, origin)
    names = origin.schema.names
    if kept is not None and not kept.all():
        names = tuple(name for name, keep in zip(names, kept, strict=True) if keep)
        result = _kept(result, kept)
    result = convert(result, names, library)
    return _with_indicators(result, indicators) if indicators else result


def _filled_frame(filled: Floats, origin: Origin) -> Any:
    frame = nw.from_native(origin.container, eager_only=True)
    dialect = dialect_of(frame)
    changed = {}
    for j in np.flatnonzero(origin.missing.any(axis=0)).tolist():
        with refusing(f"The holes of column {origin.schema.names[j]!r} cannot be written"):
            changed[j] = _filled_column(frame[:, j], filled[:, j], origin, j, dialect)
    return dialect.replace(origin.container, changed)


def _filled_column(
    series: nw.Series[Any], filled: Floats, origin: Origin, j: int, dialect: Dialect
) -> Any:
    """One column with its holes filled; one that cannot hold the fills is built anew."""
    field, family, missing = origin.schema.fields[j], origin.families[j], origin.missing[:, j]
    native = series.to_native()
    if family is Family.EMPTY and field.family in PLAIN_NUMBERS and not field.boxed:
        return dialect.build(_new_values(filled, field))
    if origin.boxed[j]:
        values = _boxed(filled[missing], field, family)
    elif missing.all() and not _can_hold(family, field):
        return dialect.build(_new_values(filled, field))
    else:
        declared = () if field.levels else _declared(native, family, origin, dialect)
        values = values_of(filled[missing], field, family, declared)
        values = storable(values, family, dialect.dtype(native), field.extent_of(family))
    return dialect.patch(native, missing, values)


def _declared(native: Any, family: Family, origin: Origin, dialect: Dialect) -> tuple[Any, ...]:
    """The levels that the dtype declares and that are not sentinels."""
    if family is not Family.CATEGORY:
        return ()
    levels = dialect.categories(native)[1]
    return tuple(level for level in levels if level not in origin.schema.missing_values)


def _boxed(filled: Floats, field: Field, family: Family) -> Array:
    """New objects of the family of `fit`, unless it saw none."""
    box = family if field.family is Family.EMPTY else field.family
    return as_objects(values_of(filled, field, family, ()), box, field.extent_of(box))


def _can_hold(family: Family, field: Field) -> bool:
    """Whether a column of holes has a dtype that can take the values of its field."""
    if family is Family.EMPTY:
        return False
    if family is field.family or field.family is Family.EMPTY:
        return True
    if family is Family.CATEGORY:
        return field.kind is not Kind.NUMERIC
    return MEANING[family] == field.meaning


def _new_values(filled: Floats, field: Field) -> Array:
    family = Family.FLOAT if field.family is Family.EMPTY else field.family
    values = values_of(filled, field, family, ())
    return storable(values, family, BOXED_DTYPES.get(family))


def _filled_array(filled: Floats, origin: Origin) -> Array:
    array: Array = origin.container
    missing = origin.missing
    if array.dtype.kind in "fiu" and origin.schema.all_numbers:
        return _filled_matrix(filled, array, origin)
    result = array.copy()
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        field, family, holes = origin.schema.fields[j], origin.families[j], missing[:, j]
        if origin.boxed[j]:
            values = _boxed(filled[holes, j], field, family)
        elif holes.all() and not _can_hold(family, field):
            result, values = result.astype(object), _boxed(filled[holes, j], field, family)
        else:
            values = values_of(filled[holes, j], field, family, ())
            values = _array_values(values, family, array.dtype, field.extent_of(family))
        result = _with_room(result, values)
        result[holes, j] = values
    return result


def _filled_matrix(filled: Floats, matrix: Array, origin: Origin) -> Array:
    result, missing = matrix.copy(order="K"), origin.missing
    if matrix.dtype.kind == "f":
        result[missing] = real_numbers(filled[missing], matrix.dtype)
        return result
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        holes, extent = missing[:, j], origin.schema.fields[j].extent_of(Family.INTEGER)
        result[holes, j] = within(whole_numbers(filled[holes, j], matrix.dtype), extent)
    return result


def _array_values(values: Array, family: Family, dtype: np.dtype[Any], extent: Extent) -> Array:
    if family is Family.INTEGER:
        return within(whole_numbers(values, dtype), extent)
    if family is Family.FLOAT:
        return real_numbers(values.astype(np.float64), dtype)
    if family in MOMENTS:
        return moments(values.astype(np.float64), dtype, extent)
    return storable(values, family, BOXED_DTYPES.get(family)).astype(dtype)


def _with_room(array: Array, values: Array) -> Array:
    """The array, with longer cells if it holds text of a fixed length."""
    if array.dtype.kind not in "US":
        return array
    return array.astype(np.result_type(array.dtype, values.astype(array.dtype.kind)))


def _kept(table: Any, kept: Bools) -> Any:
    if isinstance(table, np.ndarray):
        return table[:, kept]
    return dialect_of(nw.from_native(table, eager_only=True)).keep(table, kept)


def _with_indicators(table: Any, indicators: Mapping[str, Bools]) -> Any:
    if isinstance(table, np.ndarray):
        masks = np.column_stack(list(indicators.values())).astype(table.dtype)
        return np.hstack([table, masks])
    return dialect_of(nw.from_native(table, eager_only=True)).append(table, dict(indicators))
