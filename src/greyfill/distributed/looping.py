"""The state of the loop on a cluster: what a schedule asks for, a few passes ahead."""

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from greyfill.distributed import passing
from greyfill.distributed.cluster import Task
from greyfill.distributed.hunting import Grounds
from greyfill.distributed.meeting import Hunt
from greyfill.table import Bools, Ints

AHEAD = 3
"""So many passes are under way before the first of them is judged; the last ones may be in vain."""


@dataclass(frozen=True)
class Outcome:
    """A pass that was made: where its fills are, its largest change, and a digest of its state."""

    passes: list[Task]
    change: float
    digest: bytes


class ClusterWork:
    """The holes of every block, on the workers.

    Blocks that one worker holds make their passes together: a pass then is one task for each
    worker, and one that joins the holes of donors for the next.
    """

    missing: Bools = np.zeros((0, 0), dtype=bool)

    def __init__(self, grounds: Grounds, hunt: Hunt) -> None:
        self._cluster, self._hunt, self._grounds = grounds.cluster, hunt, grounds
        self._linked: list[Task] = []
        self._groups: list[list[int]] = []
        self._last: list[Task] = []
        self._current: Task = None
        self._made: deque[Outcome] = deque()
        self._now: Outcome | None = None

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""
        if not self._linked:
            self._linked = self._link()
            self._groups = self._cluster.together(self._linked)
            self._make_passes(1)
        elif not self._made:
            self._make_passes(AHEAD)
        self._now = self._made.popleft()
        return self._now.change

    def state(self) -> bytes:
        """A digest of the current values of the holes."""
        assert self._now is not None
        return self._now.digest

    def solve_numbers(self) -> float:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def fill_for_good(self, takers: Ints) -> None:
        """Not on a cluster."""
        raise NotImplementedError("schedules that need this are refused before the work begins")

    def block_passes(self) -> list[Task]:
        """The last pass of each block."""
        assert self._now is not None
        found: dict[int, Task] = {}
        for group, passes in zip(self._groups, self._now.passes, strict=True):
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
                self._cluster.task(passing.settle, block, met, self._hunt)
                for block, met in zip(self._grounds.blocks, meetings, strict=True)
            ]
        )
        self._cluster.wait(linked, "weighing donors")
        return linked

    def _make_passes(self, count: int) -> None:
        """Have some passes made, one after the other, without asking in between."""
        task, kept, outcomes = self._cluster.task, [], []
        for _ in range(count):
            self._last = [
                task(
                    passing.next_passes,
                    [self._linked[block] for block in group],
                    self._last[place] if self._last else None,
                    self._current,
                )
                for place, group in enumerate(self._groups)
            ]
            shares = [
                task(passing.shared_cells, [self._linked[b] for b in group], group, passes)
                for group, passes in zip(self._groups, self._last, strict=True)
            ]
            joined = task(passing.join_cells, shares)
            self._current = task(passing.only_cells, joined)
            kept.append([*self._last, self._current, task(passing.only_outcome, joined)])
        flat = self._cluster.keep([each for tasks in kept for each in tasks])
        size = len(self._groups) + 2
        rounds = [flat[start : start + size] for start in range(0, len(flat), size)]
        self._last, self._current = rounds[-1][:-2], rounds[-1][-2]
        outcomes = self._cluster.fetch([tasks[-1] for tasks in rounds], "filling holes")
        for tasks, (change, digest) in zip(rounds, outcomes, strict=True):
            self._made.append(Outcome(tasks[:-2], float(change), digest))
