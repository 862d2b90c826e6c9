"""The state of the loop on a cluster: what a schedule asks for, a few passes ahead."""

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from greyfill.distributed import passing
from greyfill.distributed.cluster import FAN_IN, Task
from greyfill.distributed.hunting import Grounds
from greyfill.distributed.meeting import Hunt
from greyfill.table import Bools, Ints

AHEAD = 3
"""So many passes are under way on workers when the first of them is judged; after the very first
pass, which may be the only one. The last ones may be in vain."""


@dataclass(frozen=True)
class Started:
    """A pass under way: for each group of blocks, where its fills and its outcome will be."""

    passes: list[Task]
    moved: list[Task]
    outcomes: list[Task]


class ClusterWork:
    """The holes of every block, on the workers.

    Blocks that one worker holds make their passes together: a pass then is one task for each
    worker, and one that tells the others which holes of donors moved.
    """

    missing: Bools = np.zeros((0, 0), dtype=bool)

    def __init__(self, grounds: Grounds, hunt: Hunt) -> None:
        self._cluster, self._hunt, self._grounds = grounds.cluster, hunt, grounds
        self._linked: list[Task] = []
        self._groups: list[list[int]] = []
        self._started: deque[Started] = deque()
        self._last: Started | None = None
        self._digest = b""

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""
        if not self._linked:
            self._linked = self._link()
            self._groups = self._cluster.together(self._linked)
        ahead = AHEAD if self._cluster.is_remote and self._last is not None else 1
        while len(self._started) < ahead:
            self._started.append(
                self._start_pass(self._started[-1] if self._started else self._last)
            )
        self._last = self._started.popleft()
        found = self._cluster.fetch(self._last.outcomes, "filling holes")
        change, self._digest = passing.join_outcomes([o for outcomes in found for o in outcomes])
        return change

    def state(self) -> bytes:
        """A digest of the current values of the holes."""
        return self._digest

    def solve_numbers(self) -> float:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def fill_for_good(self, takers: Ints) -> None:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def block_passes(self) -> list[Task]:
        """The last pass of each block."""
        assert self._last is not None
        found: dict[int, Task] = {}
        for group, passes in zip(self._groups, self._last.passes, strict=True):
            for place, block in enumerate(group):
                found[block] = self._cluster.task(passing.pass_of, passes, place)
        return [found[block] for block in sorted(found)]

    def fallbacks(self) -> Counter[str]:
        """Cells that could not be filled by the rule."""
        counts = [self._cluster.task(passing.fallbacks_of, linked) for linked in self._linked]
        total: Counter[str] = Counter()
        for found in self._cluster.fetch(counts, "counting fallbacks"):
            total.update(found)
        return total

    def _link(self) -> list[Task]:
        meetings = self._grounds.hunt(self._grounds.blocks, self._hunt)
        self._grounds.leave()
        linked = self._cluster.keep(
            [
                self._cluster.task(passing.settle, block, met, self._hunt, int(first))
                for block, met, first in zip(
                    self._grounds.blocks, meetings, self._grounds.first_holes, strict=True
                )
            ]
        )
        self._cluster.wait(linked, "weighing donors")
        return linked

    def _start_pass(self, before: Started | None) -> Started:
        """Have a pass made after the one before, without waiting for either."""
        task, passes, moved, outcomes = self._cluster.task, [], [], []
        for place, group in enumerate(self._groups):
            linked = [self._linked[block] for block in group]
            last, parts = (before.passes[place], before.moved) if before else (None, None)
            passes.append(task(passing.next_passes, linked, last, parts))
            moved.append(task(passing.moved_cells, linked, passes[-1]))
            outcomes.append(task(passing.outcomes_of, passes[-1], group))
        while len(moved) > FAN_IN:
            moved = [
                task(passing.join_moved, moved[start : start + FAN_IN])
                for start in range(0, len(moved), FAN_IN)
            ]
        kept = self._cluster.keep([*passes, *moved, *outcomes])
        n = len(passes)
        return Started(kept[:n], kept[n:-n], kept[-n:])
