"""How often and in which order holes are filled: the schedule part of a recipe."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from greyfill.checks import check_number, check_whole
from greyfill.table import Bools, Floats, Ints


class Work(Protocol):
    """What the engine offers to a schedule."""

    missing: Bools

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""

    def solve_numbers(self) -> float:
        """Put every numeric hole at the limit of the passes; return the largest change."""

    def state(self) -> bytes:
        """A digest of the current values of the holes."""

    def fill_for_good(self, takers: Ints) -> None:
        """Fill some rows once and let them give from now on, as if they had been complete."""

    def descend(self, tol: float, max_iter: int, both_ways: bool) -> "Trace":
        """Lower the objective of opt.knn until a step lowers it by less than a share of it."""


@dataclass(frozen=True)
class Trace:
    """What happened: the largest change of each pass, and whether the last one was small enough."""

    history: tuple[float, ...]
    converged: bool


Report = Callable[[str], None]

DIGESTED = 8_192
"""So many values are rounded at a time: they stay in the cache."""

NOISE = 1e-12
"""A change below this is rounding, whatever ``tol`` says."""


@dataclass(frozen=True)
class Once:
    """One pass: donors give their observed value, or their start fill.

    >>> from greyfill import NeighborImputer
    >>> X = [[1.0, None], [1.1, None], [1.2, 7.0], [5.0, 9.0]]
    >>> NeighborImputer(2, labels="none", schedule=Once()).fit(X).n_iter_
    1
    """

    tol: ClassVar[float] = 0.0
    max_iter: ClassVar[int] = 1

    def run(self, work: Work, report: Report) -> Trace:
        """Fill every hole once."""
        return Trace((work.one_pass(),), converged=True)


@dataclass(frozen=True)
class UntilStable:
    """Passes over all holes until no cell moves by ``tol`` or more, equation (15).

    A pass reads only the values of the pass before it, so the order of rows does not matter apart
    from ties between donors. A changed category counts as a change of 1. The loop also ends at
    ``max_iter`` passes, or when a state comes back (categories can cycle); then ``converged_`` is
    False.

    >>> from greyfill import NeighborImputer
    >>> X = [[1.0, None], [1.1, None], [1.2, 7.0], [5.0, 9.0]]
    >>> imputer = NeighborImputer(2, labels="none", schedule=UntilStable(tol=1e-6)).fit(X)
    >>> imputer.converged_, imputer.history_[-1] < 1e-6
    (True, True)
    """

    tol: float = 1e-4
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_whole("max_iter", self.max_iter)
        check_number("tol", self.tol)

    def run(self, work: Work, report: Report) -> Trace:
        """Fill every hole until the table stays as it is."""
        history: list[float] = []
        seen: set[bytes] = set()
        enough = max(self.tol, NOISE)
        for _ in range(self.max_iter):
            history.append(work.one_pass())
            report(f"pass {len(history)}: largest change {history[-1]:.2g}")
            if history[-1] < enough:
                return Trace(tuple(history), converged=True)
            state = work.state()
            if state in seen:
                break
            seen.add(state)
        return Trace(tuple(history), converged=False)


@dataclass(frozen=True)
class Direct:
    """The limit of the passes: numbers from a sparse linear system, categories by passes.

    While donors stay the same, a pass over the numeric holes is x ← A x + b, and its limit is
    x* = (I − A)⁻¹ b. This solves for x* instead of walking there, so that no ``tol`` is left in the
    numbers. Votes are no linear map: categories are then filled by passes as in `UntilStable`, and
    since no number depends on a category, both end where the passes would. The passes also check
    the solution, and carry on from it should rounding have left it short of ``tol``.

    Holes that take only from each other, with nothing observed among their donors, settle on one
    mean of their start fills; where the passes would swap such fills forever, on the mean of
    the circle. Distances that take fills for values (``holes="filled"``) move the donors in
    every pass and are refused.

    ``history_`` begins with how far the solution lies from the start fill.

    Parameters
    ----------
    tol : float
        What a pass may still move in a solution that counts as found.
    max_iter : int
        The largest number of passes over the categories.

    >>> from greyfill import NeighborImputer
    >>> X = [[0.0, 1.0], [1.0, None], [None, 3.0], [3.0, 4.0]]
    >>> imputer = NeighborImputer(2, schedule=Direct()).fit(X, [0, 0, 0, 0])
    >>> imputer.converged_
    True
    """

    tol: float = 1e-9
    max_iter: int = 100

    def __post_init__(self) -> None:
        UntilStable(self.tol, self.max_iter)  # the same parameters, the same complaints

    def run(self, work: Work, report: Report) -> Trace:
        """Solve for the numbers, then let the categories vote until they stay as they are."""
        moved = work.solve_numbers()
        report(f"numbers solved: largest change {moved:.2g}")
        passes = UntilStable(self.tol, self.max_iter).run(work, report)
        return Trace((moved, *passes.history), passes.converged)


@dataclass(frozen=True)
class Sequential:
    """Rows with fewer holes first; a filled row joins the donors (Kim et al. 2004).

    Rows with equally many holes are filled together from the same donors, so the order of rows
    does not matter apart from ties between donors.

    >>> from greyfill import CompleteRows, NeighborImputer
    >>> X = [[1.0, 7.0], [1.1, None], [5.0, 9.0]]
    >>> imputer = NeighborImputer(
    ...     1, labels="none", donors=CompleteRows(), schedule=Sequential()
    ... )
    >>> imputer.fit_transform(X)[1].tolist()
    [1.1, 7.0]
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


@dataclass(frozen=True)
class Descent:
    """Block descent of opt.knn (Bertsimas, Pawlowski and Zhuo 2018).

    c = Σ_i Σ_j z_ij d²(i, j) over incomplete rows i and their K neighbors j falls in every step:
    donors are found anew, then every hole is put where c is least for these donors. From the start
    fill and from a fill by the nearest neighbors; the fills of least c are kept.

    Parameters
    ----------
    tol : float
        Descents end when a step lowers c by less than this share of it.
    max_iter : int
        The largest number of steps of a descent.
    both_ways : bool
        Whether the rows that chose a row count for it like those that it chose. Without them a step
        is that of IKNN, and c may rise.

    >>> from greyfill import NeighborImputer, Heom, PlainFill
    >>> X = [[0.0, 1.0], [1.0, None], [None, 3.0], [3.0, 4.0]]
    >>> imputer = NeighborImputer(
    ...     2, distance=Heom("filled"), weights="equal", donors="all_rows", fill=PlainFill(),
    ...     start="global", schedule=Descent(), labels="none",
    ... ).fit(X)
    >>> imputer.history_ == sorted(imputer.history_, reverse=True)
    True
    """

    tol: float = 1e-4
    max_iter: int = 100
    both_ways: bool = True

    def __post_init__(self) -> None:
        UntilStable(self.tol, self.max_iter)  # the same parameters, the same complaints

    def run(self, work: Work, report: Report) -> Trace:
        """Descend; the trace has c after each step."""
        return work.descend(self.tol, self.max_iter, self.both_ways)


def digest(cells: Floats) -> bytes:
    """A digest of values with rounding noise taken out: equal states have equal digests.

    >>> digest(np.array([0.1, 0.0])) == digest(np.array([0.1 + 1e-13, -0.0]))
    True
    """
    found = hashlib.sha256()  # in the processor, where it has instructions for it
    for first in range(0, len(cells), DIGESTED):
        rounded = np.rint(cells[first : first + DIGESTED] * 1e9)
        rounded += 0.0  # no negative zeros
        found.update(rounded.data)
    return found.digest()
