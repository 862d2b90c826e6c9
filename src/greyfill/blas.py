"""Matrices on one thread.

Our own threads work on rows and columns, and the matrices of one cell are small: a library of
linear algebra that splits each of them over all cores takes several times the work, and the time,
and the last digits of a result depend on how many cores there are.
"""

from contextlib import ContextDecorator
from functools import cache
from threading import Lock
from typing import Any, ClassVar


@cache
def _libraries() -> list[Any]:
    """The libraries of linear algebra, looked up once, which takes milliseconds."""
    # what compiled code calls: only a library that is loaded can be found
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _set_threads(library: Any, n: int) -> None:
    """Set a library's number, whichever thread has set it before.

    threadpoolctl 3.8 and later listen to one thread alone until it is released.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n)
    release(force=True)


class one_blas_thread(ContextDecorator):
    """Linear algebra on one thread, and then as it was; works as a decorator, too.

    The number is one of the process. Of several that limit it at a time, the first remembers it and
    the last restores it. The libraries are asked directly: a limit of threadpoolctl takes longer,
    which counts where one row is predicted.
    """

    _lock: ClassVar[Any] = Lock()
    _n_within: ClassVar[int] = 0
    _before: ClassVar[list[tuple[Any, int]]] = []

    def __enter__(self) -> None:
        cls = one_blas_thread
        with cls._lock:
            if cls._n_within == 0:
                cls._before = [(lib, n) for lib in _libraries() if (n := lib.get_num_threads()) > 1]
                for library, _ in cls._before:
                    _set_threads(library, 1)
            cls._n_within += 1

    def __exit__(self, *_: object) -> None:
        cls = one_blas_thread
        with cls._lock:
            cls._n_within -= 1
            if cls._n_within == 0:
                for library, n in cls._before:
                    _set_threads(library, n)
