"""Where tasks run: the workers of a Dask client, or the threads of this process."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from dask.base import compute, persist
from dask.delayed import Delayed, delayed
from dask.utils import funcname

from greyfill.exceptions import ClusterError, GreyfillError

Task = Any
"""A call that has not been made, a value that a worker has or will have, or a lazy partition."""

OUT_OF_MEMORY = (
    "Most often a worker ran out of memory. Give the workers more of it, cut the table into more "
    "partitions (repartition), or learn from fewer donors."
)
GONE = (
    "The scheduler went away, or cannot be reached. Nothing was written. Start the cluster again "
    "and run once more."
)


CLOSED = (
    "What was learned lies on workers whose client was closed, or whose scheduler went away. "
    "Compute, persist or write a lazy result before you close the client. Now, fit again; imputer_ "
    "is in this process and still fills frames of one machine."
)


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a pure function; arguments may be tasks, or lists of tasks."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Cluster:
    """Runs pure functions on workers; results stay there until they are fetched.

    Lost results are computed anew from what they were made of, so a worker may die at any time.
    With a client, calls are submitted to it and results are its futures; without one, both are
    Dask's delayed values.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = _default_client() if client is None else client

    @property
    def is_remote(self) -> bool:
        """Whether work goes on elsewhere while this process does something else."""
        return self.client is not None

    def task(self, function: Callable[..., Any], *arguments: Any) -> Task:
        """A call that has not been made yet."""
        return Call(function, arguments)

    def lazily(self, function: Callable[..., Any], *arguments: Any) -> Task:
        """A call that Dask makes when what depends on it is computed."""
        known = arguments if self.client is None else map(_with_future, arguments)
        return delayed(function, pure=False)(*known)

    def keep(self, tasks: Sequence[Task]) -> list[Task]:
        """Have the calls made and their values kept where they are."""
        with naming_faults("starting the work"):
            return self._start(tasks)

    def fetch(self, tasks: Sequence[Task], doing: str) -> list[Any]:
        """The values themselves, in this process."""
        with naming_faults(doing):
            kept = self._start(tasks)
            if self.client is None:
                return list(compute(*kept, scheduler="threads"))
            return list(self.client.gather(kept))

    def _start(self, tasks: Sequence[Task]) -> list[Task]:
        """Have all calls made, those of a client by one graph: each one costs a round trip."""
        if self.client is None:
            lazy = _resolved(list(tasks), {}, lambda call, arguments: self.lazily(call, *arguments))
            return list(persist(*lazy, scheduler="threads"))
        read = list({id(task): task for task in _reading(tasks)}.values())
        lazy = [
            task if isinstance(task, Delayed) else self.lazily(task.function, *task.arguments)
            for task in read
        ]
        futures = self.client.compute(lazy) if read else []
        made = {id(task): future for task, future in zip(read, futures, strict=True)}
        graph: dict[str, Any] = {}

        def submit(function: Callable[..., Any], arguments: list[Any]) -> str:
            key = f"{funcname(function)}-{uuid4()}"
            graph[key] = (function, *arguments)
            return key

        wanted = _resolved(list(tasks), made, submit)
        keys = [key for key in wanted if isinstance(key, str)]
        futures = self.client.get(graph, keys, sync=False) if graph else []
        found = dict(zip(keys, futures, strict=True))
        return [found[key] if isinstance(key, str) else key for key in wanted]


def _reading(task: Task) -> Iterator[Call | Delayed]:
    """The calls that read a lazy partition, which go with all that it is made of."""
    if isinstance(task, Delayed):
        yield task
    elif isinstance(task, Call):
        if any(isinstance(argument, Delayed) for argument in task.arguments):
            yield task
        else:
            yield from _reading(task.arguments)
    elif isinstance(task, list | tuple):
        for each in task:
            yield from _reading(each)


def _resolved(task: Task, made: dict[int, Task], make: Callable[..., Task]) -> Any:
    """What ``make`` makes of a call, once, after all that it needs; other values as they are."""
    if isinstance(task, list):
        return [_resolved(each, made, make) for each in task]
    if id(task) not in made:
        if not isinstance(task, Call):
            return _held(task)
        made[id(task)] = make(task.function, _resolved(list(task.arguments), made, make))
    return made[id(task)]


def _with_future(argument: Any) -> Any:
    """A value of a worker as a part of a lazy graph; anything else as it is."""
    if not _is_future(argument):
        return argument
    return Delayed(argument.key, Held({argument.key: argument}))


class Held(dict[str, Any]):
    """A graph of values that workers hold; an error when they do not any more."""

    def __iter__(self) -> Iterator[str]:
        for value in self.values():
            _held(value)
        return super().__iter__()

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self.items()),)  # on a worker, futures are of another kind


def _held(argument: Any) -> Any:
    """The argument, unless it is a value of a worker that cannot be reached any more."""
    if _is_future(argument) and argument.status == "cancelled":
        raise ClusterError(CLOSED)
    return argument


def _is_future(argument: Any) -> bool:
    try:
        from distributed import Future
    except ImportError:
        return False
    return isinstance(argument, Future)


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
    with suppress(ImportError, ValueError):  # not installed, or no client was made
        from distributed import default_client

        return default_client()
    return None
