"""What rules require of numbers in a saved file: ranges, orders, codes, shares."""

import io
import types
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Union, get_args, get_origin

import numpy as np
from numpy.lib import format as npy

from greyfill.exceptions import PersistenceError
from greyfill.table import Column, Floats, Ints, Kind

KINDS = "biufUSMm"
"""Kinds of dtypes that a file may hold: none that needs a pickle, none with parts."""

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_array(array: Any) -> bytes:
    """The bytes of an array without objects."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def read_array(content: bytes) -> Any:
    """The array of such bytes; its size is compared with theirs before any memory is taken.

    >>> read_array(write_array(np.arange(3)))
    array([0, 1, 2])
    """
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise PersistenceError(f"an array in a format of its own, {version}")
    shape, is_fortran, dtype = HEADERS[version](stream)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise PersistenceError(f"an array of {dtype}: files hold numbers, texts and moments only")
    start, size = stream.tell(), dtype.itemsize * _product(shape)
    if min(shape, default=0) < 0 or size != len(content) - start:
        raise PersistenceError(f"an array of shape {shape} in {len(content) - start} bytes")
    flat = np.frombuffer(content, dtype, count=_product(shape), offset=start)
    return flat.reshape(shape, order="F" if is_fortran else "C").copy(order="C")


def _product(shape: tuple[int, ...]) -> int:
    """The number of cells, exactly."""
    product = 1
    for size in shape:
        product *= int(size)
    return product


PLAIN = (bool, int, float, str, bytes, date, datetime, time, timedelta, Decimal, np.generic)
"""Types of the values that people put into tables and parameters."""

NUMBERS: dict[Any, tuple[type, ...]] = {
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    bool: (bool, np.bool_),
}
"""What may stand for a number of Python."""

Parts = dict[Any, tuple[type, ...]]


def conform(value: Any, hint: Any, where: str, parts: Parts) -> Any:
    """The value, arrays in C order, if it is of the declared type; an error that says where else.

    ``parts`` are the types that may stand where a protocol is declared.

    >>> conform([1, 2], list[int], "history_", {})
    [1, 2]
    >>> conform([1, "2"], list[int], "history_", {})
    Traceback (most recent call last):
    greyfill.exceptions.PersistenceError: history_ holds '2' where int belongs
    """
    if hint is Any:
        return _plain(value, where)
    if hint in parts:
        return _of_type(value, parts[hint], hint, where)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _any_of(value, hint, where, parts)
    if origin is np.ndarray:
        return _array(value, get_args(get_args(hint)[1])[0], where)
    if origin in CONTAINERS:
        return CONTAINERS[origin](value, get_args(hint), where, parts)
    return _scalar(value, hint, where)


def _refuse(value: Any, hint: Any, where: str) -> PersistenceError:
    name = getattr(hint, "__name__", str(hint))
    return PersistenceError(f"{where} holds {_short(value)} where {name} belongs")


def _short(value: Any) -> str:
    """Some words for a value, which may be of any size."""
    if isinstance(value, str | int | float | None) and len(text := repr(value)[:40]) < 40:
        return text
    return f"a {type(value).__name__}"


def _of_type(value: Any, kinds: tuple[type, ...], hint: Any, where: str) -> Any:
    if type(value) not in kinds:
        raise _refuse(value, hint, where)
    return value


def _any_of(value: Any, hint: Any, where: str, parts: Parts) -> Any:
    for choice in get_args(hint):
        try:
            return conform(value, choice, where, parts)
        except PersistenceError:
            continue
    raise _refuse(value, hint, where)


def _scalar(value: Any, hint: Any, where: str) -> Any:
    """One number, text, record or enumeration; True is no number, and no whole one is huge."""
    is_truth = isinstance(value, bool) and hint is not bool
    if is_truth or not isinstance(value, NUMBERS.get(hint, hint)):
        raise _refuse(value, hint, where)
    if isinstance(value, int) and not abs(value) < 2**100:
        raise _refuse(value, hint, where)
    return value


def _array(value: Any, dtype: Any, where: str) -> Any:
    """An array of exactly this dtype; a declared array may also be a single number of it."""
    if dtype is Any:
        return _of_type(_plain(value, where), (np.ndarray,), np.ndarray, where)
    wanted = np.dtype(dtype)
    if isinstance(value, np.generic) and value.dtype == wanted:
        return value
    if not isinstance(value, np.ndarray) or value.dtype != wanted or not value.dtype.isnative:
        raise PersistenceError(f"{where} is no array of {wanted}")
    if wanted.hasobject:
        _plain(value, where)
    return np.ascontiguousarray(value) if value.ndim else value


def refuse_not_finite(value: Any, where: str) -> None:
    """Refuse NaN and infinity in a number, an array or a container of them."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for part in value:
            refuse_not_finite(part, where)
    elif isinstance(value, float | np.floating | np.ndarray) and not _is_finite(value):
        raise PersistenceError(f"{where} holds a number that is not finite")


def _is_finite(value: Any) -> bool:
    numbers = np.asarray(value)
    return numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())


def _tuple(value: Any, hints: tuple[Any, ...], where: str, parts: Parts) -> Any:
    if not isinstance(value, tuple):
        raise _refuse(value, tuple, where)
    if hints[-1] is Ellipsis:
        return tuple(conform(part, hints[0], where, parts) for part in value)
    if len(value) != len(hints):
        raise PersistenceError(f"{where} has {len(value)} parts, not {len(hints)}")
    both = zip(value, hints, strict=True)
    return tuple(conform(part, hint, where, parts) for part, hint in both)


def _list(value: Any, hints: tuple[Any, ...], where: str, parts: Parts) -> Any:
    if not isinstance(value, list):
        raise _refuse(value, list, where)
    return [conform(part, hints[0], where, parts) for part in value]


def _dict(value: Any, hints: tuple[Any, ...], where: str, parts: Parts) -> Any:
    if not isinstance(value, dict):
        raise _refuse(value, dict, where)
    return {
        conform(key, hints[0], where, parts): conform(item, hints[1], where, parts)
        for key, item in value.items()
    }


CONTAINERS: dict[Any, Callable[..., Any]] = {tuple: _tuple, list: _list, dict: _dict}


def _plain(value: Any, where: str) -> Any:
    """Refuse records of ours and other objects among what a user may have given."""
    if value is None or (isinstance(value, PLAIN) and not isinstance(value, Enum)):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            _plain(part, where)
        return value
    if isinstance(value, dict):
        for part in (*value.keys(), *value.values()):
            _plain(part, where)
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        return value
    if isinstance(value, np.ndarray) and value.dtype == object:
        for part in value.ravel():
            _plain(part, where)
        return value
    raise PersistenceError(f"{where} holds a {type(value).__name__}, which is no plain value")


MOST_PASSES = 10_000
MOST_PERMUTATIONS = 1_000
MOST_TREES = 10_000
MOST_THREADS = 1_024
MOST_LEVELS = 10**7
"""More of them than anybody uses: a file must not keep a machine busy for ever."""

SMALLEST, LARGEST = 1e-100, 1e250
"""Divisors below, and coefficients beyond, could overflow in a sum."""

ROUNDING = 1e-6
"""How far averages on the [0, 1] scale may lie outside of it, or shares from a sum of 1."""


def require(holds: Any, what: str) -> None:
    """Refuse a file in which something does not hold."""
    if not holds:
        raise PersistenceError(what)


def check_rows(rows: Ints, n: int, what: str) -> None:
    """Row or column numbers below n, one array of them."""
    require(rows.ndim == 1, f"{what} are no list")
    require(len(rows) == 0 or (rows.min() >= 0 and rows.max() < n), f"{what} lie outside")


def check_rising(rows: Ints, n: int, what: str) -> None:
    """Row or column numbers below n, each once and in order."""
    check_rows(rows, n, what)
    require((np.diff(rows) > 0).all(), f"{what} do not rise")


def check_order(order: Ints, n: int) -> None:
    """Every row number below n once."""
    require(order.shape == (n,) and (np.sort(order) == np.arange(n)).all(), "rows are out of order")


def check_codes(codes: Floats, n_levels: int, what: str) -> None:
    """Codes of levels that exist."""
    whole = (codes == np.rint(codes)) & (codes >= 0) & (codes < max(n_levels, 1))
    require(whole.all(), f"{what} holds a code of no level")


def check_scaled(values: Floats, columns: tuple[Column, ...]) -> None:
    """Numbers on the [0, 1] scale, and codes of levels that exist."""
    for j, column in enumerate(columns):
        if column.kind is Kind.CATEGORICAL:
            check_codes(values[..., j], column.n_levels, f"column {column.name!r}")
        else:
            cells = values[..., j]
            inside = (cells >= -ROUNDING) & (cells <= 1.0 + ROUNDING)
            require(inside.all(), f"column {column.name!r} is not scaled")


def check_values(values: Floats, column: Column) -> None:
    """Values that a column of a table in its own units may hold."""
    if column.kind is not Kind.NUMERIC:
        check_codes(values, column.n_levels, f"column {column.name!r}")


def check_weights(weights: Floats, n: int) -> None:
    """Rows of shares of n columns that sum to 1."""
    require(weights.shape[-1:] == (n,) and (weights >= 0.0).all(), "weights do not fit the columns")
    sums = weights.sum(axis=-1)
    require(n == 0 or (np.abs(sums - 1.0) <= ROUNDING).all(), "weights do not sum to 1")


def check_spreads(spreads: tuple[Ints, Ints, Floats]) -> None:
    """Rows, columns and spreads of the same cells."""
    rows, columns, found = spreads
    require(rows.ndim == 1 and rows.shape == columns.shape == found.shape, "spreads do not fit")
    require((rows >= 0).all() and (columns >= 0).all(), "spreads of cells outside of the table")


def check_jobs(n_jobs: Any) -> None:
    """A number of threads that a machine may have."""
    fits = n_jobs is None or (n_jobs != 0 and abs(n_jobs) <= MOST_THREADS)
    require(fits, f"n_jobs is {n_jobs}")
