"""How kernels are compiled."""

from typing import Any

import numpy as np
from numba import njit

from greyfill._kernels.sealing import seal


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
        _forgive(cache)
        return kernel

    return decorate


def _forgive(cache: Any) -> None:
    """Let a kernel do without its cache when that cannot be read or written."""
    for name in ("load_overload", "save_overload"):
        original = getattr(cache, name, None)
        if original is not None:
            setattr(cache, name, _Forgiving(original))


class _Forgiving:
    """A function that does nothing where the cache is broken."""

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
