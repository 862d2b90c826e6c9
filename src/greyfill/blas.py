"""Matrices on one thread.

Our own threads work on rows and columns, and the matrices of one cell are small: a library of
linear algebra that splits each of them over all cores takes several times the work, and the time,
and the last digits of a result depend on how many cores there are.
"""

from collections.abc import Callable
from contextlib import ContextDecorator
from dataclasses import dataclass, field
from functools import cache, partial
from threading import Lock
from typing import Any


@cache
def _libraries() -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    """How the libraries' numbers of threads are read and set; looked up once: it takes long."""
    # what compiled code calls: only a library that is loaded can be found
    import scipy.linalg.cython_lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [
        _functions(lib) for lib in ThreadpoolController().select(user_api="blas").lib_controllers
    ]


def _functions(library: Any) -> tuple[Callable[[], int], Callable[[int], Any]]:
    """Those of the library itself where it counts for the whole process, else threadpoolctl's."""
    if getattr(library, "threading_layer", "") == "pthreads":
        names = "openblas_get_num_threads", "openblas_set_num_threads"
        read, write = map(getattr(library, "_get_symbol", lambda name: None), names)
        if read is not None and write is not None:
            return read, write
    return library.get_num_threads, partial(_set_threads, library)


def _set_threads(library: Any, n: int) -> None:
    """Set a library's number, whichever thread has set it before.

    threadpoolctl 3.8 and later listen to one thread alone until it is released.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n)
    release(force=True)


@dataclass(eq=False)
class _Limit:
    """How many limit the libraries now, and what the first of them found.

    An object, as Python forgets what it knows of a class whenever an attribute of it changes.
    """

    lock: Any = field(default_factory=Lock)
    n_within: int = 0
    before: list[tuple[Callable[[int], Any], int]] = field(default_factory=list)


LIMIT = _Limit()


class one_blas_thread(ContextDecorator):
    """Linear algebra on one thread, and then as it was; works as a decorator, too.

    The number is one of the process. Of several that limit it at a time, the first remembers it and
    the last restores it. The libraries are asked directly: a limit of threadpoolctl takes longer,
    which counts where one row is predicted.
    """

    def __enter__(self) -> None:
        with LIMIT.lock:
            if LIMIT.n_within == 0:
                LIMIT.before = [(write, n) for read, write in _libraries() if (n := read()) > 1]
                for write, _ in LIMIT.before:
                    write(1)
            LIMIT.n_within += 1

    def __exit__(self, *_: object) -> None:
        with LIMIT.lock:
            LIMIT.n_within -= 1
            if LIMIT.n_within == 0:
                for write, n in LIMIT.before:
                    write(n)
