"""How far a long work is: what a callback gets, the meter that calls it, and bars for people.

``GreyImputer(progress=function)`` calls ``function(Progress)`` while it works, at most twenty times
a second, from whichever thread has just done a step, never from two at once. An exception that it
raises ends the work. With ``verbose=1`` a bar is shown in a terminal or a notebook (by tqdm if it
is installed, else by rich); elsewhere the ends of stages are logged under the name ``greyfill``.
"""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from threading import RLock
from time import monotonic
from typing import Any, Protocol

from greyfill.text import clean

LOGGER = logging.getLogger("greyfill")
LEAST_SECONDS = 0.05  # between two calls of a callback


@dataclass(frozen=True)
class Progress:
    """The stage of a work, how many of its steps are done, and the time spent and left.

    ``seconds`` count from the start of the work; ``left`` is an estimate for all stages, None
    until a step is done.

    >>> str(Progress("pass 2 of 4", 7, 19, 3.2, 8.9))
    'pass 2 of 4, 7 of 19, 3 s, about 9 s left'
    """

    stage: str
    done: int
    total: int
    seconds: float
    left: float | None

    def __str__(self) -> str:
        left = "" if self.left is None else f", {in_time(self.left)}"
        return f"{self.stage}, {self.done} of {self.total}, {self.seconds:.0f} s{left}"


Callback = Callable[[Progress], None]


class Display(Protocol):
    """Where a person sees what is worked on: a terminal, or the page."""

    def working(self, message: str) -> AbstractContextManager[Any]:
        """Show a work; what this yields, if anything, takes a message or a `Progress`."""


def in_time(left: float) -> str:
    """An estimate of the time left.

    >>> in_time(8.9), in_time(200.0)
    ('about 9 s left', 'about 3 min left')
    """
    return f"about {left:.0f} s left" if left < 100 else f"about {left / 60:.0f} min left"


class Meter:
    """Counts the steps of a work and tells a callback; without one it does nothing.

    Threads may call it at once. The time left follows from the time that the steps until now
    took, over the rest of this stage and the steps ``ahead`` in later ones.

    >>> meter = Meter(print)
    >>> meter.begin("pass 1 of 1", total=1)
    pass 1 of 1, 0 of 1, 0 s
    >>> meter.advance()
    pass 1 of 1, 1 of 1, 0 s, about 0 s left
    """

    def __init__(self, callback: Callback | None, clock: Callable[[], float] = monotonic) -> None:
        self._callback, self._clock, self._lock = callback, clock, RLock()
        self._started, self._told = clock(), float("-inf")
        self._stage, self._total, self._done, self._before, self._ahead = "", 0, 0, 0, 0

    def begin(self, stage: str, total: int, ahead: int = 0) -> None:
        """Go on to a stage of so many steps, with so many expected after it."""
        if self._callback is None:
            return
        with self._lock:
            self._before += self._done
            self._stage, self._total, self._done, self._ahead = stage, total, 0, ahead
            self._tell(is_last=False)

    def advance(self, steps: int = 1) -> None:
        """Count steps that are done."""
        if self._callback is None:
            return
        with self._lock:
            was_complete = self._done >= self._total
            self._done = min(self._done + steps, self._total)
            self._tell(is_last=self._done == self._total and not was_complete)

    def _tell(self, *, is_last: bool) -> None:
        now = self._clock()
        if self._callback is None or not (is_last or now - self._told >= LEAST_SECONDS):
            return
        self._told, seconds, steps = now, now - self._started, self._before + self._done
        rest = self._total - self._done + self._ahead
        left = seconds / steps * rest if steps else None
        self._callback(Progress(self._stage, self._done, self._total, seconds, left))


_watch: list[Callable[[bool], None]] = []


def watch_compiling(tell: Callable[[bool], None] | None) -> None:
    """Have a function called when the next kernel is compiled, with whether it will be kept."""
    _watch[:] = [] if tell is None else [tell]


def tell_of_compiling(*, is_kept: bool) -> None:
    """Tell whoever watches, once."""
    while _watch:
        _watch.pop()(is_kept)


@contextmanager
def metered(name: str, *callbacks: Callback | None, verbose: int | bool = 0) -> Iterator[Meter]:
    """A meter for the work of ``name`` that tells all callbacks and, if ``verbose``, a bar."""
    with ExitStack() as shown:
        told = [callback for callback in callbacks if callback is not None]
        if verbose:
            told.append(shown.enter_context(bar(name)))

        def tell(progress: Progress) -> None:
            for callback in told:
                callback(progress)

        yield Meter(tell if told else None)


@contextmanager
def bar(name: str) -> Iterator[Callback]:
    """Show progress to whoever works in Python; outside of terminals and notebooks, log it."""
    from rich.console import Console

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield lambda progress: _log(name, progress)
        return
    shown = _tqdm_bar(name) if find_spec("tqdm") else rich_bar(name, console)
    with shown as show:
        yield show


@contextmanager
def rich_bar(name: str, console: Any) -> Iterator[Callable[[Progress | str], None]]:
    """A bar on a console of rich; it swings to and fro while all that comes are messages."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    what = TextColumn("{task.description}", markup=False)  # a name may hold brackets
    rest = TextColumn("{task.fields[left]}", markup=False)
    title = clean(name)
    with RichProgress(
        what, BarColumn(), TimeElapsedColumn(), rest, console=console, transient=True
    ) as shown:
        task = shown.add_task(title, total=None, left="")

        def show(state: Progress | str) -> None:
            if isinstance(state, str):
                shown.update(task, description=f"{title}: {clean(state)}")
                return
            left = "" if state.left is None else in_time(state.left)
            description = f"{title}: {clean(state.stage)}"
            shown.update(
                task, description=description, completed=state.done, total=state.total, left=left
            )

        yield show


@contextmanager
def _tqdm_bar(name: str) -> Iterator[Callback]:
    """A bar of tqdm, which knows how each notebook shows one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a notebook without widgets gets letters
        from tqdm.auto import tqdm
    with tqdm(desc=name, leave=False) as shown:

        def show(progress: Progress) -> None:
            if shown.total != progress.total:
                shown.reset(progress.total)
            shown.n = progress.done
            shown.set_description_str(f"{name}: {progress.stage}")

        yield show


def _log(name: str, progress: Progress) -> None:
    if progress.done == progress.total:
        LOGGER.info("[%s] %s", name, progress)


RESERVED = 6.0
"""A pass with panels takes so many times as long as a plain one, at most."""


class Clock:
    """The time that tuning may take."""

    def __init__(self, budget: float | None) -> None:
        self._last = self._passed = self.now()
        self._deadline = inf if budget is None else self._passed + budget

    @staticmethod
    def now() -> float:
        """Seconds of a clock that never goes back."""
        return monotonic()

    def end_pass(self) -> None:
        """A pass over the columns is done."""
        self._last, self._passed = self._passed, self.now()

    def reserve(self, n_passes: int) -> None:
        """Keep time for passes with panels, which take longer than the plain one before.

        At most half of what is left: the first pass of a process also loads the kernels.
        """
        left = max(self._deadline - self._passed, 0.0)
        if left < inf:
            self._deadline -= min(n_passes * RESERVED * (self._passed - self._last), left / 2)

    def until(self, n_left: int) -> float:
        """When the next of so many columns has had its share."""
        now = self.now()
        return float(now + (self._deadline - now) / max(n_left, 1))
