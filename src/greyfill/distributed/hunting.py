"""Blocks look for donors: part after part of the pools, a bounded number of donors at a time."""

from collections.abc import Iterator

import numpy as np

from greyfill.distributed.blocks import Plan
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.meeting import Hunt, meet, open_meetings, survey
from greyfill.distributed.pools import (
    Census,
    PartPlan,
    Pool,
    build_part,
    collect,
    plan_parts,
    plan_rounds,
)
from greyfill.table import Bools, Ints


class Grounds:
    """The pools of a table in partitions, cut into parts that fit a worker."""

    def __init__(
        self,
        cluster: Cluster,
        blocks: list[Task],
        pools: list[Pool],
        plan: Plan,
        census: list[Census],
        most: int,
    ) -> None:
        self.cluster, self.blocks, self.pools, self.plan = cluster, blocks, pools, plan
        self.givers = np.array([c.givers for c in census]).reshape(len(blocks), len(pools))
        self.n_holes = sum(c.holes for c in census)
        shared = np.array([c.shared_holes for c in census], dtype=np.intp)
        self.first_holes = np.cumsum(shared) - shared
        self._parts = [
            part
            for place in range(len(pools))
            for part in plan_parts(place, self.givers[:, place], most)
        ]
        self._rounds = list(plan_rounds(self._parts, most))
        self._built: list[Task] | None = None

    def available(self, k: int, own: Bools) -> Ints:
        """How many donors each row can have, by pool and group of weights; never itself."""
        return np.asarray(np.minimum(k, self.givers.sum(axis=0)[:, np.newaxis] - own))

    def hunt(self, takers: list[Task], hunt: Hunt) -> list[Task]:
        """The meetings of blocks of takers with every part of their pools."""
        meetings = [self.cluster.task(open_meetings, block, hunt) for block in takers]
        for part in self._in_parts():
            built = self._build([part])[0]
            meetings = self._keep_all(
                self.cluster.task(survey, met, block, hunt, part.pool, built)
                for met, block in zip(meetings, takers, strict=True)
            )
        for parts, built in self._laid_out():
            places = [part.pool for part in parts]
            meetings = self._keep_all(
                self.cluster.task(meet, met, block, hunt, places, built)
                for met, block in zip(meetings, takers, strict=True)
            )
        return meetings

    def leave(self) -> None:
        """Let the pools go."""
        self._built = None

    def _in_parts(self) -> list[PartPlan]:
        """The parts of pools that have several: what one part must know, all must tell first."""
        several = {p.pool for p in self._parts if sum(q.pool == p.pool for q in self._parts) > 1}
        return [part for part in self._parts if part.pool in several]

    def _laid_out(self) -> Iterator[tuple[list[PartPlan], list[Task]]]:
        """Round after round of parts; those of a single round are built once and kept."""
        for parts in self._rounds:
            built = self._built or self._build(parts)
            if len(self._rounds) == 1:
                self._built = built
            yield parts, built

    def _build(self, parts: list[PartPlan]) -> list[Task]:
        return self.cluster.keep([self.cluster.task(build_part, self._collect(part), self.plan)
                                  for part in parts])  # fmt: skip

    def _collect(self, part: PartPlan) -> list[Task]:
        return [
            self.cluster.task(
                collect, self.blocks[b], self.pools[part.pool], first, last,
                int(self.first_holes[b]),
            )
            for b, first, last in part.shares
        ]  # fmt: skip

    def _keep_all(self, tasks: Iterator[Task]) -> list[Task]:
        """Do a round to its end, so that its parts can leave before the next ones come."""
        kept = self.cluster.keep(list(tasks))
        self.cluster.wait(kept, "searching donors")
        return kept
