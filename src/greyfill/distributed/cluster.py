"""Where tasks run: the workers of a Dask client, or the threads of this process."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dask.base import compute, persist
from dask.delayed import delayed

from greyfill.exceptions import ClusterError, GreyfillError

Task = Any
"""A value that a worker has, or will compute."""

THREADS = 4
"""Blocks make their passes in so many groups when there are no workers."""

FAN_IN = 8
"""So many values are combined by one task of a reduction."""

OUT_OF_MEMORY = (
    "Most often a worker ran out of memory. Give the workers more of it, cut the table into more "
    "partitions (repartition), or bound the donors: pool_rows (the result stays exact) or "
    "max_donors (a sample)."
)
GONE = (
    "The scheduler went away, or cannot be reached. Nothing was written. Start the cluster again "
    "and run once more."
)


class Cluster:
    """Runs pure functions on workers; results stay there until somebody asks for them.

    Lost results are computed anew from what they were made of, so a worker may die at any time.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = _default_client() if client is None else client

    @property
    def least_memory(self) -> int | None:
        """Bytes that the smallest worker may use, where somebody set a limit."""
        if self.client is None:
            return None
        with naming_faults("asking for the workers"):
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [int(worker["memory_limit"] or 0) for worker in workers]
        return min((limit for limit in limits if limit > 0), default=None)

    def task(self, function: Callable[..., Any], *arguments: Any) -> Task:
        """A call that has not been made yet."""
        return delayed(function, pure=False)(*arguments)

    def keep(self, tasks: Sequence[Task]) -> list[Task]:
        """Have the calls made and their values kept where they are."""
        with naming_faults("starting the work"):
            if self.client is None:
                return list(persist(*tasks, scheduler="threads"))
            return list(self.client.persist(list(tasks)))

    def wait(self, tasks: Sequence[Task], doing: str) -> None:
        """Wait until values that are kept are there, or say what went wrong."""
        if self.client is None:
            return  # threads of this process are waited for anyway
        from distributed import futures_of, wait

        with naming_faults(doing), self.client.as_current():
            futures = futures_of(list(tasks))
            for future in wait(futures).done:
                if future.status != "finished":
                    raise future.exception() or ConnectionError(f"{future.key} was {future.status}")

    def together(self, tasks: Sequence[Task]) -> list[list[int]]:
        """Which values that are kept lie on the same worker, by their numbers."""
        if self.client is None:
            return [list(range(start, len(tasks), THREADS)) for start in range(THREADS)][
                : len(tasks)
            ]
        from distributed import futures_of

        groups: dict[str, list[int]] = {}
        with naming_faults("asking where values are"), self.client.as_current():
            futures = [futures_of([task])[0] for task in tasks]
            places = self.client.who_has(futures)
        for number, future in enumerate(futures):
            groups.setdefault(min(places.get(future.key) or ("",)), []).append(number)
        return list(groups.values())

    def fetch(self, tasks: Sequence[Task], doing: str) -> list[Any]:
        """The values themselves, in this process."""
        with naming_faults(doing):
            if self.client is None:
                return list(compute(*tasks, scheduler="threads"))
            return list(self.client.gather(self.client.compute(list(tasks))))

    def reduce(self, tasks: Sequence[Task], doing: str) -> Any:
        """The sum of values that can be added, by a tree of tasks."""
        level = list(tasks)
        while len(level) > 1:
            level = [
                self.task(add_all, level[start : start + FAN_IN])
                for start in range(0, len(level), FAN_IN)
            ]
        return self.fetch(level, doing)[0]


def add_all(values: list[Any]) -> Any:
    """The sum, from left to right.

    >>> add_all([1, 2, 3])
    6
    """
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


@contextmanager
def naming_faults(doing: str) -> Iterator[None]:
    """Turn what a cluster throws into an error that says what happened and what to do."""
    try:
        yield
    except GreyfillError:
        raise
    except Exception as error:
        raise ClusterError(f"{doing} failed: {_in_words(error)}") from error


def _in_words(error: BaseException) -> str:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "KilledWorker" in kinds:
        return f"workers died again and again ({error}). {OUT_OF_MEMORY}"
    if kinds & {"CommClosedError", "CancelledError", "TimeoutError", "ConnectionError"}:
        return f"{type(error).__name__}: {error}. {GONE}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {OUT_OF_MEMORY}"
    return f"{type(error).__name__}: {error}"


def _default_client() -> Any:
    """The client that the user made, if there is one."""
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None
