"""How kernels are compiled."""

from typing import Any

from numba import njit


def _compile(**flags: Any) -> Any:
    """Decorate with ``njit``; without a writable cache folder, compile anew in each process."""

    def decorate(function: Any) -> Any:
        options = {"nogil": True, "error_model": "numpy", **flags}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no place to write its cache
            return njit(**options)(function)

    return decorate


exact = _compile()
"""Floating point as written, so that results equal the reference bit for bit."""

fast = _compile(fastmath=True)
"""Sums may be reordered. No value inside is ever NaN or infinite."""
