"""How often and in which order holes are filled: the schedule part of a recipe."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Floats, Ints


class Work(Protocol):
    """What a schedule may ask of the engine."""

    values: Floats
    missing: Bools

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""

    def fill_for_good(self, takers: Ints) -> None:
        """Fill some rows once and let them give from now on, as if they had been complete."""


@dataclass(frozen=True)
class Trace:
    """What happened: the largest change of each pass, and whether the last one was small enough."""

    history: tuple[float, ...]
    converged: bool


Report = Callable[[str], None]


@dataclass(frozen=True)
class Once:
    """One pass: donors give their observed value, or their start fill."""

    tol: ClassVar[float] = 0.0
    max_iter: ClassVar[int] = 1

    def run(self, work: Work, report: Report) -> Trace:
        """Fill every hole once."""
        return Trace((work.one_pass(),), converged=True)


@dataclass(frozen=True)
class UntilStable:
    """Passes over all holes until no cell moves by ``tol`` or more, equation (15).

    A pass reads only the values of the pass before it, so the order of rows does not matter. A
    changed category counts as a change of 1. The loop also ends at ``max_iter`` passes, or when a
    state comes back (categories can cycle); then ``converged_`` is False.
    """

    tol: float = 1e-4
    max_iter: int = 100

    def __post_init__(self) -> None:
        if self.max_iter < 1:
            raise InvalidParameterError(f"max_iter must be at least 1, not {self.max_iter!r}")
        if not self.tol >= 0.0:
            raise InvalidParameterError(f"tol must not be negative: {self.tol!r}")

    def run(self, work: Work, report: Report) -> Trace:
        """Fill every hole until the table stays as it is."""
        history: list[float] = []
        seen = _States(resolution=max(self.tol, 1e-12))
        for _ in range(self.max_iter):
            history.append(work.one_pass())
            report(f"pass {len(history)}: largest change {history[-1]:.2g}")
            if history[-1] < self.tol or history[-1] == 0.0:
                return Trace(tuple(history), converged=True)
            if seen.repeats(work.values[work.missing]):
                break
        return Trace(tuple(history), converged=False)


@dataclass(frozen=True)
class Sequential:
    """Rows with fewer holes first; a filled row joins the donors (Kim et al. 2004).

    Rows with equally many holes are filled together from the same donors, so the order of rows
    does not matter.
    """

    tol: ClassVar[float] = 0.0
    max_iter: ClassVar[int] = 1

    def run(self, work: Work, report: Report) -> Trace:
        """Fill every hole once, easiest rows first."""
        holes = work.missing.sum(axis=1)
        for count in np.unique(holes[holes > 0]):
            work.fill_for_good(np.flatnonzero(holes == count))
            report(f"rows with {count} holes: filled")
        return Trace((), converged=True)


@dataclass
class _States:
    """Remembers a digest of every state of the holes, rounded to the stop rule's resolution."""

    resolution: float
    seen: set[bytes] = field(default_factory=set)

    def repeats(self, cells: Floats) -> bool:
        """Tell whether this state was met before."""
        rounded = np.round(cells / self.resolution) + 0.0  # no negative zeros
        state = hashlib.blake2b(rounded.tobytes(), digest_size=16).digest()
        if state in self.seen:
            return True
        self.seen.add(state)
        return False
