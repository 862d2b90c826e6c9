"""How large a value is: schedulers look at it before they move or spill one."""

import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


class Sized:
    """A dataclass whose size is that of all that it holds.

    Dask asks ``sys.getsizeof``, which would see an object and not its arrays: it would take a
    pool of donors for a few bytes, and move it like that.
    """

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_of(_values(self))


def bytes_of(value: Any) -> int:
    """Bytes of arrays, and of dataclasses and containers of them; of little else.

    >>> bytes_of({"a": (np.zeros(3), np.zeros(2, dtype=bool))})
    26
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return bytes_of(value.values())
    if isinstance(value, str | bytes) or value is None:
        return sys.getsizeof(value)
    if isinstance(value, Iterable):
        return sum(map(bytes_of, value))
    if is_dataclass(value):
        return bytes_of(_values(value))
    return 0


def _values(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value)]
