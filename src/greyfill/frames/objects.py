"""Reading columns of Python objects, whose types only the cells themselves know."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Complex, Integral, Real
from operator import attrgetter
from typing import Any

import narwhals as nw
import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.frames.cells import Array, Cells, equal_to_any, microseconds, with_blanks
from greyfill.frames.schema import Family
from greyfill.table import Bools

BOOLEANS = (bool, np.bool_)


def read_objects(cells: Array, name: str, sentinels: tuple[Any, ...]) -> Cells:
    """Read a column of objects: all numbers → numbers, all text → text, else categories as is."""
    missing = null_cells(cells)
    _refuse_nested(cells[~missing], name)
    values = with_blanks(cells, missing)
    missing |= equal_to_any(values, sentinels)
    values[missing] = None
    observed = values[~missing]
    family = _family_of(observed)
    unboxed = _unboxed(values, observed, missing, family)
    is_long = family is Family.INTEGER and unboxed.dtype.kind == "f"
    return Cells(unboxed, missing, family, boxed=True, ticks=values if is_long else None)


def null_cells(cells: Array) -> Bools:
    """Which objects are None, NaN, NaT or NA; pandas knows its own, and only if it is loaded."""
    pandas = nw.dependencies.get_pandas()
    if pandas is not None:
        return np.asarray(pandas.isna(cells), dtype=bool)
    return np.fromiter((c is None or _differs_from_itself(c) for c in cells), bool, len(cells))


def _differs_from_itself(cell: Any) -> bool:
    differs = cell != cell  # noqa: PLR0124  (true of NaN only)
    return differs is True or (isinstance(differs, np.bool_) and bool(differs))


def _refuse_nested(observed: Array, name: str) -> None:
    types = set(map(type, observed.tolist()))
    nested = [t.__name__ for t in types if t.__hash__ is None or issubclass(t, np.void)]
    if nested:
        raise InvalidDataError(
            f"Column {name!r} holds cells of type {nested[0]}. Only single values can be "
            "imputed: spread the column over several, or drop it."
        )
    if any(issubclass(t, Complex) and not issubclass(t, Real) for t in types):
        raise InvalidDataError(
            f"Complex data not supported: column {name!r} holds complex numbers."
        )


def _family_of(observed: Array) -> Family:
    types = set(map(type, observed.tolist()))

    def every(*bases: type) -> bool:
        return all(issubclass(t, bases) for t in types)

    if not types:
        return Family.EMPTY
    if any(issubclass(t, BOOLEANS) for t in types):
        return Family.BOOLEAN if every(*BOOLEANS) else Family.MIXED
    if every(datetime):
        zoned = any(map(attrgetter("tzinfo"), observed.tolist()))
        return Family.MIXED if zoned else Family.DATETIME
    for family, bases in _BASES.items():
        if every(*bases):
            return family
    return Family.MIXED


_BASES: dict[Family, tuple[type, ...]] = {
    Family.TEXT: (str,),
    Family.DURATION: (timedelta, np.timedelta64),  # first: numpy counts the latter as Integral
    Family.INTEGER: (Integral,),
    Family.DECIMAL: (Decimal,),
    Family.FLOAT: (Real, Decimal),
    Family.DATE: (date,),
}


def _unboxed(values: Array, observed: Array, missing: Bools, family: Family) -> Array:
    """The objects as a typed array where the family has one."""
    if family in (Family.TEXT, Family.MIXED):
        return values
    typed = _typed(observed, family)
    result = np.zeros(len(values), dtype=typed.dtype)
    result[~missing] = typed
    return result


def _typed(observed: Array, family: Family) -> Array:
    if family is Family.BOOLEAN:
        return observed.astype(bool)
    if family in (Family.DATE, Family.DATETIME):
        return np.asarray(microseconds(observed.astype("M8[us]")))
    if family is Family.DURATION:
        return np.asarray(microseconds(observed.astype("m8[us]")))
    if family is Family.INTEGER:
        try:
            return observed.astype(np.int64)
        except OverflowError:
            return _floats(observed)
    return _floats(observed)


def _floats(observed: Array) -> Array:
    """Numbers as floats; one beyond the largest float is infinite, and refused as such."""
    try:
        return observed.astype(np.float64)
    except OverflowError:
        largest = float(np.finfo(np.float64).max)  # as a float of Python, compared exactly
        return np.array([float(x) if abs(x) <= largest else np.inf for x in observed])
