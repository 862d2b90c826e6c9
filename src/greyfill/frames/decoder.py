"""The way out: filled numbers → the table as it was given, with values in its holes."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.frames.backends import Dialect, convert, dialect_of
from greyfill.frames.cells import NANOSECONDS, Array
from greyfill.frames.schema import MEANING, Extent, Family, Field, Origin
from greyfill.frames.validation import TABLES, refusing
from greyfill.table import Bools, Floats, Kind

MISSING_TEXT = "missing_value"
MOMENTS = frozenset({Family.DATE, Family.DATETIME, Family.DURATION})
OBJECTS = frozenset({Family.TEXT, Family.CATEGORY, Family.MIXED})
DAY = 864e8
"""Microseconds of a day."""


def values_of(filled: Floats, field: Field, family: Family, declared: tuple[Any, ...]) -> Array:
    """The numbers or levels behind the filled numbers or codes of a column.

    A column that `fit` saw no value of has no levels: then it is 0, False, the first level
    that its dtype declares, or a word that says so.
    """
    if field.kind is Kind.NUMERIC and not (field.family is Family.EMPTY and family in OBJECTS):
        return filled
    if field.levels:
        codes = np.clip(np.rint(filled), 0, len(field.levels) - 1).astype(np.intp)
        return boxed_array(field.levels)[codes]
    default = (declared or (MISSING_TEXT,))[0] if family in OBJECTS else 0
    return boxed_array((default,))[np.zeros(len(filled), dtype=np.intp)]


def boxed_array(items: Any) -> Array:
    """A 1-D array of objects, even if the objects are sequences."""
    return np.fromiter(items, dtype=object, count=len(items))


def storable(values: Array, family: Family, dtype: Any, extent: Extent = None) -> Array:
    """The values as a typed column of this family and narwhals dtype stores them.

    Rounding carries no whole number and no moment out of the extent. Decimals are left as floats:
    only their library knows their scale.
    """
    if family in OBJECTS:
        return values
    if family is Family.INTEGER:
        return within(whole_numbers(values, integer_dtype(dtype)), extent)
    if family in MOMENTS:
        return moments(values.astype(np.float64), moment_dtype(dtype), extent)
    return _STORERS.get(family, floats)(values.astype(np.float64), dtype)


BOXED_DTYPES: dict[Family, Any] = {
    Family.INTEGER: nw.Int64(),
    Family.DATETIME: nw.Datetime("us"),
    Family.DURATION: nw.Duration("us"),
}


def as_objects(values: Array, family: Family, extent: Extent = None) -> Array:
    """The values as Python objects, for a column that holds such."""
    if family is Family.INTEGER and extent is not None and not _fits(extent, np.dtype(np.int64)):
        whole = (min(max(round(value), extent[0]), extent[1]) for value in values.tolist())
        return np.fromiter(whole, dtype=object, count=len(values))
    if family is Family.DECIMAL:
        numbers = (Decimal(repr(value)) for value in values.astype(np.float64).tolist())
        return np.fromiter(numbers, dtype=object, count=len(values))
    return storable(values, family, BOXED_DTYPES.get(family), extent).astype(object)


def cell_values(filled: Floats, field: Field) -> list[Any]:
    """Filled numbers or codes of a column as plain values: numbers, levels, dates.

    >>> cell_values(np.array([0.2, 0.8]), Field("size", Kind.ORDINAL, Family.TEXT, ("S", "M")))
    ['S', 'M']
    >>> cell_values(np.array([86_400e6]), Field("day", Kind.NUMERIC, Family.DATE))
    [datetime.date(1970, 1, 2)]
    """
    values = values_of(filled, field, field.family, ())
    if not field.levels:
        values = as_objects(values, field.family, field.extent_of(field.family))
    return list(values.tolist())


def whole_numbers(values: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers rounded half to even and clipped into an integer dtype.

    >>> whole_numbers(np.array([0.5, 1.5, 1e9]), np.dtype("int8"))
    array([  0,   2, 127], dtype=int8)
    """
    info = np.iinfo(dtype)
    if values.dtype == object:
        return np.clip(values, info.min, info.max).astype(dtype)
    most = float(info.max)
    most = most if int(most) <= info.max else float(np.nextafter(most, 0.0))
    return np.clip(np.rint(values), info.min, most).astype(dtype)


def within(whole: Array, extent: Extent, tick: int = 1, grain: int = 0) -> Array:
    """Whole numbers that rounding alone has carried out of an extent, moved to its ends.

    The extent is in units of which ``tick`` make one of ``whole``; float64 and ``grain`` rounded.

    >>> within(np.array([2**53, 2**53 + 4, 7]), (2**53 + 1, 2**53 + 3)).tolist()
    [9007199254740993, 9007199254740995, 7]
    """
    if extent is None:
        return whole
    low, high = -(-extent[0] // tick), extent[1] // tick
    if low > high or not _fits((low, high), whole.dtype):
        return whole
    slack = (2 * int(np.spacing(float(max(map(abs, extent))))) + grain) // tick
    info = np.iinfo(whole.dtype)
    is_below = (whole < low) & (whole >= max(low - slack, int(info.min)))
    is_above = (whole > high) & (whole <= min(high + slack, int(info.max)))
    limits = np.array([low, high], dtype=whole.dtype)
    return np.where(is_below, limits[0], np.where(is_above, limits[1], whole))


def _fits(extent: tuple[int, int], dtype: np.dtype[Any]) -> bool:
    info = np.iinfo(dtype)
    return bool(info.min <= extent[0] and extent[1] <= info.max)


def real_numbers(values: Floats, dtype: np.dtype[Any]) -> Array:
    """Numbers in a float dtype, clipped into its range: no hole is filled with infinity.

    >>> real_numbers(np.array([0.5, 1e99]), np.dtype("float16")).tolist()
    [0.5, 65504.0]
    """
    if dtype.itemsize >= 8:
        return values.astype(dtype)
    info = np.finfo(dtype)
    return np.clip(values, float(info.min), float(info.max)).astype(dtype)


def integer_dtype(dtype: Any) -> np.dtype[Any]:
    """The numpy dtype of a narwhals integer; 128 bits are served by 64."""
    return np.dtype(str(dtype).lower().replace("128", "64"))


def floats(values: Floats, dtype: Any) -> Array:
    """Numbers in the range of a narwhals float."""
    return real_numbers(values, np.dtype(np.float32)) if dtype == nw.Float32 else values


def truths(values: Floats, dtype: Any) -> Array:
    """Numbers as booleans."""
    return np.rint(values).astype(bool)


def times_of_day(values: Floats, dtype: Any) -> Array:
    """Microseconds since midnight as times."""
    midnight = datetime(1970, 1, 1)
    whole = np.clip(np.rint(values), 0, DAY - 1)
    times = ((midnight + timedelta(microseconds=us)).time() for us in whole.tolist())
    return np.fromiter(times, dtype=object, count=len(values))


def moment_dtype(dtype: Any) -> np.dtype[Any]:
    """The numpy dtype of a narwhals date or duration.

    >>> moment_dtype(nw.Duration("ms"))
    dtype('<m8[ms]')
    """
    letter = "m" if dtype == nw.Duration else "M"
    return np.dtype(f"{letter}8[{getattr(dtype, 'time_unit', 'D')}]")


def moments(values: Floats, dtype: np.dtype[Any], extent: Extent = None) -> Array:
    """Microseconds as dates or durations of numpy, rounded to their unit.

    >>> moments(np.array([1_600_000.0]), np.dtype("m8[s]"))
    array([2], dtype='timedelta64[s]')
    """
    unit, count = np.datetime_data(dtype)
    if unit not in NANOSECONDS:  # months and years have no fixed length
        return np.rint(values).astype(np.int64).view(f"{dtype.kind}8[us]").astype(dtype)
    tick = count * NANOSECONDS[unit]
    ticks = whole_numbers(values / (tick / 1e3), np.dtype(np.int64))
    return within(ticks, extent, tick, NANOSECONDS["us"]).view(dtype)


_STORERS: dict[Family, Callable[[Floats, Any], Array]] = {
    Family.BOOLEAN: truths,
    Family.TIME: times_of_day,
}


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
