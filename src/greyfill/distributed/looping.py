"""The state of the loop on a cluster: what a schedule asks for, a few passes ahead."""

from collections import Counter, deque
from dataclasses import dataclass
from itertools import chain

import numpy as np

from greyfill.distributed import passing
from greyfill.distributed.cluster import FAN_IN, Task
from greyfill.distributed.hunting import Grounds
from greyfill.distributed.meeting import Hunt
from greyfill.table import Bools, Ints

BUNCH = 4
"""So many passes are started and judged at once, since a round trip costs as much as a pass; after
the very first pass, which may be the only one. Two bunches are under way, the last in vain."""

FEW_HOLES = 800_000
"""A pass over so many holes takes one worker less time than several need to tell each other what
moved."""


@dataclass(frozen=True)
class Bunch:
    """Passes under way: for each of them, where the fills of each group of blocks will be.

    ``onward`` is what the next bunch must know besides the last of them: which holes moved, or,
    with a single group, all passes. ``outcomes`` is how all of them ended.
    """

    passes: list[list[Task]]
    onward: list[Task]
    outcomes: list[Task]


@dataclass(frozen=True)
class Judged:
    """A pass that is over: the fills of each group of blocks, its largest change, its digest."""

    passes: list[Task]
    change: float
    digest: bytes


class ClusterWork:
    """The holes of every block, on the workers.

    Blocks that one worker holds make their passes together: a pass then is one task for each
    worker, and one that tells the others which holes of donors moved. A table with few holes goes
    to one worker for its passes, where several of them are one task.
    """

    missing: Bools = np.zeros((0, 0), dtype=bool)

    def __init__(self, grounds: Grounds, hunt: Hunt) -> None:
        self._cluster, self._hunt, self._grounds = grounds.cluster, hunt, grounds
        self._linked: list[Task] = []
        self._fallbacks: list[Task] = []
        self._groups: list[list[int]] = []
        self._grouped: list[Task] = []
        self._started: deque[Bunch] = deque()
        self._newest: Bunch | None = None
        self._judged: deque[Judged] = deque()
        self._last: Judged | None = None

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""
        if not self._linked:
            self._linked = self._link()
            self._groups = self._group()
            self._grouped = self._cluster.keep(
                [
                    self._cluster.task(passing.as_group, [self._linked[block] for block in group])
                    for group in self._groups
                ]
            )
        if not self._judged:
            self._judged.extend(self._judge())
        self._last = self._judged.popleft()
        return self._last.change

    def state(self) -> bytes:
        """A digest of the current values of the holes."""
        assert self._last is not None
        return self._last.digest

    def solve_numbers(self) -> float:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def fill_for_good(self, takers: Ints) -> None:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def block_passes(self) -> list[Task]:
        """The last pass of each block; those that were started after it are called off."""
        assert self._last is not None
        self._started.clear()
        self._newest = None
        self._judged.clear()
        found: dict[int, Task] = {}
        for group, passes in zip(self._groups, self._last.passes, strict=True):
            for place, block in enumerate(group):
                found[block] = self._cluster.task(passing.pass_of, passes, place)
        return [found[block] for block in sorted(found)]

    def fallbacks(self) -> Counter[str]:
        """Cells that could not be filled by the rule."""
        total: Counter[str] = Counter()
        for found in self._cluster.fetch(self._fallbacks, "counting fallbacks"):
            total.update(found)
        return total

    def _link(self) -> list[Task]:
        meetings = self._grounds.hunt(self._grounds.blocks, self._hunt)
        self._grounds.leave()
        task = self._cluster.task
        linked = [
            task(passing.settle, block, met, self._hunt, int(first))
            for block, met, first in zip(
                self._grounds.blocks, meetings, self._grounds.first_holes, strict=True
            )
        ]
        kept = self._cluster.keep([*linked, *(task(passing.fallbacks_of, one) for one in linked)])
        linked, self._fallbacks = kept[: len(linked)], kept[len(linked) :]
        self._cluster.wait(linked, "weighing donors")
        return linked

    def _judge(self) -> list[Judged]:
        """Wait for a bunch of passes while the next one is under way."""
        size, ahead = (BUNCH, 2) if self._cluster.is_remote and self._last is not None else (1, 1)
        while len(self._started) < ahead:
            self._newest = self._start(size, self._newest)
            self._started.append(self._newest)
        bunch = self._started.popleft()
        found = zip(*self._cluster.fetch(bunch.outcomes, "filling holes"), strict=True)
        return [
            Judged(passes, *passing.join_outcomes(list(chain.from_iterable(outcomes))))
            for passes, outcomes in zip(bunch.passes, found, strict=True)
        ]

    def _start(self, size: int, before: Bunch | None) -> Bunch:
        """Have some passes made after those before, without waiting for any of them."""
        if len(self._groups) == 1:
            return self._start_alone(size, before)
        task = self._cluster.task
        states: list[Task] = before.passes[-1] if before else [None] * len(self._groups)
        moved: list[Task] = before.onward if before else []
        passes = []
        for _ in range(size):
            pairs = zip(self._grouped, states, strict=True)
            states = [task(passing.next_passes, blocks, last, moved) for blocks, last in pairs]
            pairs = zip(self._grouped, states, strict=True)
            moved = self._join([task(passing.moved_cells, *pair) for pair in pairs])
            passes.append(states)
        outcomes = [
            task(passing.outcomes_of, list(own), group)
            for own, group in zip(zip(*passes, strict=True), self._groups, strict=True)
        ]
        kept = self._cluster.keep([*chain.from_iterable(passes), *moved, *outcomes])
        n = len(self._groups)
        return Bunch(
            [kept[first : first + n] for first in range(0, size * n, n)],
            kept[size * n : -n],
            kept[-n:],
        )

    def _start_alone(self, size: int, before: Bunch | None) -> Bunch:
        """The same where all blocks are on one worker."""
        task, last = self._cluster.task, before.onward[0] if before else []
        run = task(passing.passes_alone, self._grouped[0], last, size)
        run, outcomes = self._cluster.keep([run, task(passing.outcomes_of, run, self._groups[0])])
        return Bunch([[task(passing.nth, run, n)] for n in range(size)], [run], [outcomes])

    def _group(self) -> list[list[int]]:
        """Which blocks make their passes together."""
        if self._cluster.is_remote and self._grounds.n_holes <= FEW_HOLES:
            return [list(range(len(self._linked)))]
        return self._cluster.together(self._linked)

    def _join(self, moved: list[Task]) -> list[Task]:
        """What moved on many workers, by a tree of tasks."""
        while len(moved) > FAN_IN:
            moved = [
                self._cluster.task(passing.join_moved, moved[start : start + FAN_IN])
                for start in range(0, len(moved), FAN_IN)
            ]
        return moved
