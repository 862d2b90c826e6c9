"""The way out: filled numbers → the table as it was given, with values in its holes.

`decode` writes a table, `cell_values` gives the values of some cells of a column. Both find the
level or number behind a filled cell (`values_of`), and then round it to what the column can store
(`storable`, or `as_objects` for a column of Python objects).
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np

from greyfill.frames.columns import NANOSECONDS, Backend, backend_of, convert
from greyfill.frames.schema import MEANING, Array, Extent, Family, Field, Origin
from greyfill.frames.validation import TABLES, refusing
from greyfill.table import Bools, Floats, Kind

MISSING_TEXT = "missing_value"
MOMENTS = frozenset({Family.DATE, Family.DATETIME, Family.DURATION})
OBJECTS = frozenset({Family.TEXT, Family.CATEGORY, Family.MIXED})
PLAIN_NUMBERS = frozenset({Family.FLOAT, Family.INTEGER, Family.BOOLEAN})
"""Families that a column of nothing but None takes from `fit`: a model behind needs numbers."""
FLOAT64 = np.dtype(np.float64)
NEW_DTYPES: dict[Family, np.dtype[Any]] = {
    Family.INTEGER: np.dtype(np.int64),
    Family.DATE: np.dtype("M8[D]"),
    Family.DATETIME: np.dtype("M8[us]"),
    Family.DURATION: np.dtype("m8[us]"),
}
"""The numpy dtypes of new columns and objects; float64 for others."""
DAY = 864e8
"""Microseconds of a day."""
YEARS = (-719_161 * DAY, 2_932_895 * DAY)
"""Microseconds of the years 1 … 9999, a day within them: a time zone must not lead out."""


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
        What `encode` kept of the table.
    kept
        Mask of the columns to keep; all by default.
    indicators
        Masks to add as boolean columns under these names; 0 and 1 in a numpy array.
    library
        ``"numpy"``, ``"pandas"``, ``"polars"`` or ``"pyarrow"``; that of the input by default.

    Numbers move into the bounds and to the grid of their field. Integers are rounded half to even
    and stay in the range of their dtype, ordinals are rounded to the nearest level, dates to their
    own unit. A list of rows comes back as an array.

    >>> import polars as pl
    >>> from greyfill.frames import encode
    >>> table, origin = encode(pl.DataFrame({"age": [30, None], "sex": ["f", "m"]}))
    >>> decode(np.array([[0.0, 0.0], [34.6, 0.0]]), origin).rows()
    [(30, 'f'), (35, 'm')]
    """
    is_array = isinstance(origin.container, np.ndarray)
    result: Any = _filled_array(filled, origin) if is_array else _filled_frame(filled, origin)
    names = origin.schema.names
    if kept is not None and np.count_nonzero(kept) < len(kept):
        names = tuple(names[j] for j in np.flatnonzero(kept))
        result = result[:, kept] if is_array else _backend(result).keep(result, kept)
    result = convert(result, names, library)
    if not indicators:
        return result
    if isinstance(result, np.ndarray):
        flags = (m.astype(np.uint8).astype(result.dtype) for m in indicators.values())
        return np.column_stack([result, *flags])
    return _backend(result).append(result, dict(indicators))


def _backend(native: Any) -> Backend:
    return backend_of(nw.from_native(native, eager_only=True))


def _filled_frame(filled: Floats, origin: Origin) -> Any:
    backend, changed = _backend(origin.container), {}
    columns = backend.columns(origin.container)
    for j in np.flatnonzero(origin.missing.any(axis=0)).tolist():
        with refusing(f"The holes of column {origin.schema.names[j]!r} cannot be written"):
            changed[j] = _filled_column(columns[j], filled[:, j], origin, j, backend)
    return backend.replace(origin.container, changed)


def _filled_column(native: Any, filled: Floats, origin: Origin, j: int, backend: Backend) -> Any:
    """One column with its holes filled; one that cannot hold the fills is built anew."""
    is_boxed = origin.boxed[j]
    field, family, missing = origin.schema.fields[j], origin.families[j], origin.missing[:, j]
    takes_numbers = family is Family.EMPTY and field.family in PLAIN_NUMBERS and not field.boxed
    if takes_numbers or (not is_boxed and missing.all() and not _can_hold(family, field)):
        family = Family.FLOAT if field.family is Family.EMPTY else field.family
        values = values_of(filled, field, family)
        return backend.build(storable(values, family, NEW_DTYPES.get(family, FLOAT64)))
    if is_boxed:
        return backend.patch(native, missing, _boxed(filled[missing], field, family))
    levels: tuple[Any, ...] = ()
    if family is Family.CATEGORY and not field.levels:
        levels = backend.categories(native)[1]
    declared = tuple(level for level in levels if level not in origin.schema.missing_values)
    values = values_of(filled[missing], field, family, declared)
    if family not in OBJECTS:
        plain = backend.plain(native)
        dtype = _stored_dtype(native, family) if plain is None else plain.dtype
        values = storable(values, family, dtype, field.extent_of(family))
    return backend.patch(native, missing, values)


def _stored_dtype(native: Any, family: Family) -> np.dtype[Any]:
    return stored_dtype(nw.from_native(native, series_only=True).dtype, family)


def _can_hold(family: Family, field: Field) -> bool:
    """Whether a column of holes has a dtype that can take the values of its field."""
    if family is Family.EMPTY:
        return False
    if family is field.family or field.family is Family.EMPTY:
        return True
    if family is Family.CATEGORY:
        return field.kind is not Kind.NUMERIC
    return MEANING[family] == field.meaning


def _filled_array(filled: Floats, origin: Origin) -> Array:
    result, missing = origin.container.copy(order="K"), origin.missing
    dtype: np.dtype[Any] = result.dtype
    if dtype.kind == "f" and origin.schema.all_free:
        result[missing] = real_numbers(filled[missing], dtype)
        return np.asarray(result)
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        field, family, holes = origin.schema.fields[j], origin.families[j], missing[:, j]
        is_new = not origin.boxed[j] and holes.all() and not _can_hold(family, field)
        if is_new or origin.boxed[j]:
            values = _boxed(filled[holes, j], field, family)
        else:
            values = values_of(filled[holes, j], field, family)
            values = storable(values, family, dtype, field.extent_of(family))
        result = result.astype(object) if is_new else _with_room(result, values)
        result[holes, j] = values
    return np.asarray(result)


def _with_room(array: Array, values: Array) -> Array:
    """The array, with longer cells if it holds text of a fixed length."""
    if array.dtype.kind not in "US":
        return array
    return array.astype(np.result_type(array.dtype, values.astype(array.dtype.kind)))


def _boxed(filled: Floats, field: Field, family: Family) -> Array:
    """New objects of the family of `fit`, unless it saw none."""
    box = family if field.family is Family.EMPTY else field.family
    return as_objects(values_of(filled, field, family), box, field.extent_of(box))


def cell_values(filled: Floats, field: Field) -> list[Any]:
    """Filled numbers or codes of a column as plain values: numbers, levels, dates.

    >>> cell_values(np.array([0.2, 0.8]), Field("size", Kind.ORDINAL, Family.TEXT, ("S", "M")))
    ['S', 'M']
    >>> cell_values(np.array([86_400e6]), Field("day", Kind.NUMERIC, Family.DATE))
    [datetime.date(1970, 1, 2)]
    >>> cell_values(np.array([0.0]), Field("day", Kind.CATEGORICAL, Family.DATE, (86_400e6,)))
    [datetime.date(1970, 1, 2)]
    """
    values = values_of(filled, field, field.family)
    if not field.levels or field.family in MOMENTS | {Family.TIME}:
        values = as_objects(
            np.asarray(values, dtype=np.float64), field.family, field.extent_of(field.family)
        )
    return in_zone(list(values.tolist()), field.zone)


def in_zone(moments: list[Any], zone: str | None) -> list[Any]:
    """Moments in UTC as those of a time zone, if there is one; others as they are.

    >>> in_zone([datetime(2020, 1, 1, 23)], "+02:00")[0].isoformat()
    '2020-01-02T01:00:00+02:00'
    """
    if zone is None:
        return moments
    known = time_zone(zone)
    # Years that no datetime has came as whole numbers.
    return [_moved(m, known) if isinstance(m, datetime) else m for m in moments]


def _moved(moment: datetime, zone: tzinfo) -> datetime:
    known = moment.replace(tzinfo=UTC)
    with suppress(OverflowError):  # a zone must not lead out of the years 1 … 9999
        return known.astimezone(zone)
    return known


@lru_cache(maxsize=64)
def time_zone(name: str) -> tzinfo:
    """The zone of a name or an offset; UTC for one that is not known here.

    >>> time_zone("Europe/Berlin"), time_zone("tzlocal()")
    (zoneinfo.ZoneInfo(key='Europe/Berlin'), datetime.timezone.utc)
    """
    offset = name.removeprefix("UTC")
    with suppress(ValueError):
        if offset[:1] in ("+", "-"):
            return datetime.fromisoformat(f"2000-01-01T00:00{offset}").tzinfo or UTC
    with suppress(KeyError, ValueError, OSError):
        return UTC if not offset else ZoneInfo(name)
    return UTC


def values_of(
    filled: Floats, field: Field, family: Family, declared: tuple[Any, ...] = ()
) -> Array:
    """The numbers or levels behind the filled numbers or codes of a column.

    A column without any value in `fit` has no levels: then it is 0, False, the first level
    that its dtype declares, or a word that says so.
    """
    if field.kind is Kind.NUMERIC and not (field.family is Family.EMPTY and family in OBJECTS):
        return filled if field.is_free else field.settle(filled)
    if field.levels:
        codes = np.clip(np.rint(filled), 0, len(field.levels) - 1).astype(np.intp)
        return boxed_array(field.levels)[codes]
    default = (declared or (MISSING_TEXT,))[0] if family in OBJECTS else 0
    return boxed_array((default,))[np.zeros(len(filled), dtype=np.intp)]


def boxed_array(items: Any) -> Array:
    """A 1-D array of objects, even if the objects are sequences."""
    return np.fromiter(items, dtype=object, count=len(items))


def as_objects(values: Array, family: Family, extent: Extent = None) -> Array:
    """The values as Python objects, for a column that holds such."""
    if family is Family.INTEGER and extent is not None and not _fits(extent, NEW_DTYPES[family]):
        return boxed_array([min(max(round(v), extent[0]), extent[1]) for v in values.tolist()])
    if family is Family.DECIMAL:
        return boxed_array([Decimal(repr(v)) for v in values.astype(np.float64).tolist()])
    return storable(values, family, NEW_DTYPES.get(family, FLOAT64), extent).astype(object)


def storable(values: Array, family: Family, dtype: np.dtype[Any], extent: Extent = None) -> Array:
    """The values as a typed column of this family and numpy dtype stores them.

    Rounding carries no whole number and no moment out of the extent. Decimals are left as floats:
    only their library has their scale.
    """
    if family in OBJECTS:
        return values
    if family is Family.INTEGER:
        return within(whole_numbers(values, dtype), extent)
    numbers: Floats = values.astype(np.float64)
    if family in MOMENTS:
        return moments(numbers, dtype, extent)
    if family is Family.BOOLEAN:
        return np.rint(numbers).astype(bool)
    if family is Family.TIME:
        epoch, whole = datetime(1970, 1, 1), np.clip(np.rint(numbers), 0, DAY - 1)
        return boxed_array([(epoch + timedelta(microseconds=us)).time() for us in whole.tolist()])
    return real_numbers(numbers, dtype)


def stored_dtype(dtype: Any, family: Family) -> np.dtype[Any]:
    """The numpy dtype in which cells of a narwhals dtype are stored; 128 bits are served by 64.

    >>> stored_dtype(nw.Duration("ms"), Family.DURATION)
    dtype('<m8[ms]')
    """
    if family is Family.INTEGER:
        return np.dtype(str(dtype).lower().replace("128", "64"))
    if family in MOMENTS:
        letter = "m" if family is Family.DURATION else "M"
        return np.dtype(f"{letter}8[{getattr(dtype, 'time_unit', 'D')}]")
    return np.dtype(np.float32) if dtype == nw.Float32 else FLOAT64


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


def moments(values: Floats, dtype: np.dtype[Any], extent: Extent = None) -> Array:
    """Microseconds as dates or durations of numpy, rounded to their unit.

    >>> moments(np.array([1_600_000.0]), np.dtype("m8[s]"))
    array([2], dtype='timedelta64[s]')
    """
    if dtype.kind == "M":  # a regression may reach years that no library can write
        seen = YEARS if extent is None else (extent[0] / 1e3, extent[1] / 1e3)
        values = np.clip(values, min(YEARS[0], seen[0]), max(YEARS[1], seen[1]))
    unit, count = np.datetime_data(dtype)
    if unit not in NANOSECONDS:  # months and years have no fixed length
        return _ticks(values).view(f"{dtype.kind}8[us]").astype(dtype)
    tick = count * NANOSECONDS[unit]
    ticks = _ticks(values / (tick / 1e3))
    return within(ticks, extent, tick, NANOSECONDS["us"]).view(dtype)


def _ticks(values: Floats) -> Array:
    """Whole numbers of 64 bits, without the least of them: numpy reads it as a hole."""
    return np.maximum(whole_numbers(values, np.dtype(np.int64)), 1 - 2**63)
