"""Whether a value from a file is what a field or an attribute is declared to hold."""

import types
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Union, get_args, get_origin

import numpy as np

from greyfill.exceptions import PersistenceError
from greyfill.persistence.arrays import KINDS

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
