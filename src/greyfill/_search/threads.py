"""Work shared out among threads, as many as joblib grants, or to a backend that joblib names."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_threads(
    work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> list[Result]:
    """What ``work`` makes of every item, in their order, on threads of this process.

    >>> map_threads(abs, [-1, 2, -3], n_jobs=2)
    [1, 2, 3]
    """
    n_threads = _threads(n_jobs) if len(items) > 1 else 1
    done = dict(_on_threads(work, items, min(n_threads or 1, len(items))))
    return [done[place] for place in range(len(items))]


def as_ready(
    work: Callable[..., Result], calls: Iterable[tuple[Any, ...]], n_calls: int, n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """The number and the result of every call of ``work``, as they get ready.

    Where ``joblib.parallel_config`` names a backend without shared memory, the calls go there.

    >>> sorted(as_ready(pow, [(2, 3), (3, 2)], 2, n_jobs=2))
    [(0, 8), (1, 9)]
    """
    n_threads = _threads(n_jobs) if n_calls > 1 else 1
    if n_threads is None:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        return enumerate(parallel(delayed(work)(*call) for call in calls))
    return _on_threads(lambda call: work(*call), calls, min(n_threads, n_calls))


def _threads(n_jobs: int | None) -> int | None:
    """How many threads ``n_jobs`` means here and now; None where a backend has other memory."""
    if n_jobs == 1:
        return 1
    backend, configured = get_active_backend(prefer="threads")
    if not getattr(backend, "supports_sharedmem", False):
        return None
    return int(backend.effective_n_jobs(configured if n_jobs is None else n_jobs))


def _on_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[tuple[int, Result]]:
    """Number and result of every item, as they get ready.

    The caller's own thread is one of the threads, and none of them polls: until
    ``joblib.Parallel`` notices an end, some of this work could be done.
    """
    if n_threads <= 1:
        yield from enumerate(map(work, items))
        return
    waiting, lock = enumerate(items), Lock()
    ready: deque[tuple[int, Result]] = deque()

    def take() -> tuple[int, Item] | None:
        with lock:
            return next(waiting, None)

    def work_on() -> Iterator[None]:
        nonlocal waiting
        try:
            while (taken := take()) is not None:
                ready.append((taken[0], work(taken[1])))
                yield
        finally:
            with lock:
                waiting = enumerate(())  # after an error no thread begins anything else

    with ThreadPoolExecutor(n_threads - 1) as helpers:
        started = [helpers.submit(deque, work_on(), 0) for _ in range(n_threads - 1)]
        for _ in work_on():
            while ready:
                yield ready.popleft()
        for helper in started:
            helper.result()
    yield from ready
