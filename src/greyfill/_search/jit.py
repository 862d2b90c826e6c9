"""How kernels are compiled, and kept in files that are used only as they were written.

A kernel is decorated by `exact` or `fast`, or by `exact_inner` or `fast_inner` where only kernels
call it. Files of compiled code are sealed by a hash; where one is damaged or cannot be written, the
kernel is compiled in this process instead.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core import caching

NUMBA_FILE: Any = getattr(caching, "IndexDataCacheFile", object)
NEEDED = ("load", "save", "_load_index", "_load_data", "_open_for_write", "_index_path")
"""What is extended here; a numba without it keeps its files as it likes."""


class SealedFile(NUMBA_FILE):  # type: ignore[misc]
    """Index and data files of numba that end with the SHA-256 of all bytes before.

    What does not fit its seal counts as absent, so it is compiled and written again. Data also
    hold the key that they were saved under: two processes may give two signatures the same file.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep a compiled kernel under its signature."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """The kernel of a signature, or None."""
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self) -> Any:
        return super()._load_index() if is_sealed(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if is_sealed(self._data_path(name)) else None

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(path) as stream:  # writes beside and renames
            stream.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def is_sealed(path: str) -> bool:
    """Whether a file exists and ends with the SHA-256 of all bytes before."""
    try:
        raw = Path(path).read_bytes()
    except OSError:
        return False
    size = hashlib.sha256().digest_size
    return hashlib.sha256(raw[:-size]).digest() == raw[-size:]


def seal(cache: Any) -> None:
    """Let a kernel's cache keep sealed files, where numba keeps them in the way that is known."""
    file = getattr(cache, "_cache_file", None)
    if type(file) is NUMBA_FILE and all(hasattr(file, name) for name in NEEDED):
        file.__class__ = SealedFile  # it has the place, the names and the stamp already


def _compile(**flags: Any) -> Any:
    """Decorate with ``njit``; without a cache that works, compile anew in each process."""

    def decorate(function: Any) -> Any:
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **flags}
        try:
            kernel = njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no place to write its cache
            return njit(**options)(function)
        cache = getattr(kernel, "_cache", None)
        seal(cache)
        for name in ("load_overload", "save_overload"):
            if hasattr(cache, name):
                setattr(cache, name, _OptionalStep(getattr(cache, name)))
        return kernel

    return decorate


class _OptionalStep:
    """A function of the cache that does nothing where the cache is broken."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        try:
            return self._function(*args)
        except Warning:  # a kernel that cannot be cached, where warnings are errors
            raise
        except Exception:  # full disks, damaged files, withdrawn permissions: compile instead
            return None


exact = _compile()
"""Floating point as written, so that results equal the reference bit for bit."""

fast = _compile(fastmath=True)
"""Sums may be reordered. No value inside is ever NaN or infinite."""

exact_inner = _compile(no_cpython_wrapper=True)
"""Like `exact`, but only for kernels to call: what a call from Python needs is not compiled."""

fast_inner = _compile(no_cpython_wrapper=True, fastmath=True)
"""Like `fast`, but only for kernels to call."""

ZERO: Any = np.intp(0)
"""A zero that is no literal: for each literal that a kernel is given it is compiled once more."""
