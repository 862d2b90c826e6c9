"""Matrices on one thread.

Our own threads work on rows and columns, and the matrices of one cell are small: a library of
linear algebra that splits each of them over all cores takes several times the work, and the time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_LIMITED = Lock()


@cache
def _libraries() -> Any:
    """The libraries of linear algebra, looked up once, which takes milliseconds."""
    # what compiled code calls: only a library that is loaded can be found
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra on one thread, and then as it was; works as a decorator, too.

    The number is one of the process. So who comes while it is limited leaves it alone: it would
    remember 1 as what to restore.
    """
    if not _LIMITED.acquire(blocking=False):
        yield
        return
    try:
        limit = _libraries().limit(limits=1)
        try:
            yield
        finally:
            limit.restore_original_limits()
    finally:
        _LIMITED.release()
