"""Arrays as bytes and back: numpy's own format, and no object ever."""

import io
from typing import Any

import numpy as np
from numpy.lib import format as npy

from greyfill.exceptions import PersistenceError

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
