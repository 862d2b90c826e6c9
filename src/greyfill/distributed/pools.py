"""Donor pools in parts: who gives to whom, which rows make a part, and one part laid out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.links import QueryRows, Search, overall_weights
from greyfill._neighbors.recipe import Recipe
from greyfill._search.pool import DonorPool, Hints, build_pool
from greyfill.distributed.blocks import Block, BlockPlan, matched
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.partitions import Sized
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Floats, Ints


@dataclass(frozen=True)
class Pool:
    """Who gives: a class, or everybody (None); and the classes that take, or everybody (None)."""

    label: int | None = None
    takers: tuple[int, ...] | None = None
    complete_only: bool = False
    fallback: bool = False

    def givers(self, block: Block) -> Bools:
        """The rows of a block that give."""
        givers = block.may_give if self.label is None else self._members(block)
        if self.complete_only:
            return np.asarray(givers & ~block.missing.any(axis=1))
        return givers

    def takes(self, block: Block) -> Bools:
        """The rows of a block that may take."""
        if self.takers is None:
            return np.ones(len(block.labels), dtype=bool)
        return np.isin(block.labels, self.takers)

    def _members(self, block: Block) -> Bools:
        return np.asarray(block.may_give & (block.labels == self.label))


def plan_pools(recipe: Recipe, class_counts: Ints) -> list[Pool]:
    """The pools of a recipe; classes that are too small for one of their own share that of all."""
    donors = recipe.donors
    if isinstance(donors, AllRows):
        return [Pool()]
    if isinstance(donors, CompleteRows):
        return [Pool(complete_only=True)]
    if not isinstance(donors, SameClass):
        raise InvalidParameterError(
            f"on a cluster, donors must be AllRows, CompleteRows or SameClass, not {donors!r}"
        )
    present = np.flatnonzero(class_counts)
    large = class_counts[present] - 1 >= donors.min_donors
    pools = [Pool(int(label), (int(label),)) for label in present[large]]
    small = tuple(int(label) for label in present[~large])
    return [*pools, Pool(takers=small, fallback=True)] if small else pools


@dataclass(frozen=True, eq=False)
class Census:
    """What the client must know of a block: givers of each pool, holes, and those of givers.

    ``own`` tells for each pool and group of weights whether any row takes from a pool that it
    is itself in.
    """

    givers: Ints
    holes: int
    shared_holes: int
    own: Bools
    small_class_holes: int

    @classmethod
    def of(cls, block: Block, pools: list[Pool], plan: BlockPlan) -> "Census":
        """Count one block."""
        own = np.zeros((len(pools), plan.n_groups), dtype=bool)
        for place, pool in enumerate(pools):
            inside = pool.givers(block) & pool.takes(block)
            for group, (weights, cells) in enumerate(plan.groups(block.holes)):
                own[place, group] = (inside & matched(block, cells, weights)).any()
        return cls(
            np.array([int(pool.givers(block).sum()) for pool in pools], dtype=np.intp),
            int(block.holes.sum()),
            int(block.missing[block.may_give].sum()),
            own,
            sum(int(block.holes[p.takes(block)].sum()) for p in pools if p.fallback),
        )


@dataclass(frozen=True)
class PartPlan:
    """A part of a pool: for each block that has a share in it, the ranks of its givers."""

    pool: int
    size: int
    shares: tuple[tuple[int, int, int], ...]


def plan_parts(pool: int, givers: Ints, most: int) -> list[PartPlan]:
    """Cut a pool into parts of at most ``most`` donors, in the order of their rows.

    ``givers`` is the number of donors in each block.

    >>> [part.shares for part in plan_parts(0, np.array([3, 2]), 4)]
    [((0, 0, 3), (1, 0, 1)), ((1, 1, 2),)]
    """
    ends = np.cumsum(givers)
    starts = ends - givers
    parts = []
    for low in range(0, int(ends[-1]) if len(ends) else 0, most):
        high = min(low + most, int(ends[-1]))
        shares = tuple(
            (int(b), int(max(low - starts[b], 0)), int(min(high - starts[b], givers[b])))
            for b in np.flatnonzero((starts < high) & (ends > low))
        )
        parts.append(PartPlan(pool, high - low, shares))
    return parts


def plan_rounds(parts: list[PartPlan], most: int) -> Iterator[list[PartPlan]]:
    """Parts that are on the workers at the same time: at most ``most`` donors."""
    current: list[PartPlan] = []
    for part in parts:
        if current and sum(p.size for p in current) + part.size > most:
            yield current
            current = []
        current.append(part)
    if current:
        yield current


@dataclass(frozen=True, eq=False)
class Givers(Sized):
    """Donors out of one block: their rows, and the number of the first hole of each."""

    values: Floats
    missing: Bools
    rows: Ints
    first_holes: Ints


def collect(block: Block, pool: Pool, first: int, last: int, first_hole: int) -> Givers:
    """The donors of a block with ranks first … last; holes of donors are numbered throughout."""
    chosen = np.flatnonzero(pool.givers(block))[first:last]
    before = np.cumsum(np.where(block.may_give, block.missing.sum(axis=1), 0))
    counts = block.missing[chosen].sum(axis=1)
    return Givers(
        block.values[chosen],
        block.missing[chosen],
        block.rows[chosen],
        first_hole + before[chosen] - counts,
    )


@dataclass(frozen=True, eq=False)
class Part(Sized):
    """A part of a pool, laid out for the search; rows rise, so ties go to the first of them."""

    layout: DonorPool
    rows: Ints
    first_holes: Ints

    def own_rows(self, rows: Ints) -> Ints:
        """The place of each row among the donors, −1 where it is none."""
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, places, -1).astype(np.intp)

    def given(self, donors: Ints, columns: Ints) -> tuple[Floats, Ints]:
        """Values of donors in these columns, and the number of the hole where it is one, else −1.

        ``donors`` has a row of places for each column; a place of −1 stands for no donor.
        """
        column = columns[:, np.newaxis]
        holes = np.full(donors.shape, -1, dtype=np.intp)
        cells, places = np.nonzero(self.layout.missing[donors, column] & (donors >= 0))
        who, where = donors[cells, places], columns[cells]
        earlier = np.arange(self.layout.missing.shape[1]) < where[:, np.newaxis]
        holes[cells, places] = self.first_holes[who] + (self.layout.missing[who] & earlier).sum(1)
        return self.layout.values[donors, column], holes


def build_part(givers: list[Givers], plan: BlockPlan) -> Part:
    """Lay out the donors of several blocks."""
    return Part(
        build_pool(
            np.concatenate([g.values for g in givers]),
            np.concatenate([g.missing for g in givers]),
            plan.is_categorical,
            overall_weights(plan.weights),
        ),
        np.concatenate([g.rows for g in givers]),
        np.concatenate([g.first_holes for g in givers]),
    )


@dataclass(frozen=True, eq=False)
class Met(Sized):
    """The nearest donors so far of the rows of one block in one pool, for one group of weights.

    ``rows`` are places in the block; hole c lies in row ``rows[slots[c]]`` and column
    ``columns[c]``. ``given`` are the values of its donors, ``holes`` the numbers of those values
    that are holes themselves (−1: observed). ``extremes`` are Δmin and Δmax over all parts, where
    the distance needs them.
    """

    rows: Ints
    slots: Ints
    columns: Ints
    donors: Ints
    distances: Floats
    given: Floats
    holes: Ints
    extremes: Floats | None = None


Meetings = dict[tuple[int, int], Met]
"""By pool and group of weights."""


@dataclass(frozen=True, eq=False)
class Hunt:
    """What is looked for: pools, and how many donors in each for each group of weights."""

    plan: BlockPlan
    pools: list[Pool]
    k: Ints

    def taking(self, block: Block, met: Met, part: Part) -> QueryRows:
        """The rows of a block that look for donors."""
        rows = met.rows
        own = part.own_rows(block.rows[rows])
        return QueryRows(rows, block.values[rows], block.missing[rows], own)


def open_meetings(block: Block, hunt: Hunt) -> Meetings:
    """Nobody has met anybody yet; rows without a chance to find a donor do not take part."""
    meetings: Meetings = {}
    for place, pool in enumerate(hunt.pools):
        for group, (weights, cells) in enumerate(hunt.plan.groups(block.holes)):
            rows = np.flatnonzero(matched(block, cells, weights) & pool.takes(block))
            if hunt.k[place, group] < 1 or len(rows) == 0:
                continue
            slots, columns = np.nonzero(cells[rows])
            meetings[place, group] = Met(
                rows,
                slots,
                columns,
                donors=np.zeros((len(rows), 0), dtype=np.intp),
                distances=np.zeros((len(rows), 0)),
                given=np.zeros((len(slots), 0)),
                holes=np.zeros((len(slots), 0), dtype=np.intp),
            )
    return meetings


def survey(meetings: Meetings, block: Block, hunt: Hunt, pool: int, part: Part) -> Meetings:
    """Learn from one part of a pool what the search of every part must know."""
    found = dict(meetings)
    for (place, group), met in meetings.items():
        if place == pool:
            extremes = _extremes(hunt, hunt.taking(block, met, part), part, met.extremes)
            found[place, group] = replace(met, extremes=extremes)
    return found


def _extremes(hunt: Hunt, taking: QueryRows, part: Part, known: Floats | None) -> Floats | None:
    distance = hunt.plan.recipe.distance
    here = distance.survey(  # type: ignore[attr-defined]  # checked before the work began
        part.layout, taking.values, taking.missing, taking.own_rows
    )
    if here is None or known is None:
        return None if here is None else np.asarray(here)
    low, high = np.minimum(here[:, 0], known[:, 0]), np.maximum(here[:, 1], known[:, 1])
    return np.column_stack([low, high])


def meet(
    meetings: Meetings, block: Block, hunt: Hunt, pools: list[int], parts: list[Part]
) -> Meetings:
    """Search some parts of pools and keep the k nearest donors of all that were met."""
    found = dict(meetings)
    for pool, part in zip(pools, parts, strict=True):
        for group in range(hunt.plan.n_groups):
            if (pool, group) in found:
                weights, k = hunt.plan.weights[group], int(hunt.k[pool, group])
                found[pool, group] = _meet_part(found[pool, group], block, hunt, part, weights, k)
    return found


def _meet_part(met: Met, block: Block, hunt: Hunt, part: Part, weights: Floats, wanted: int) -> Met:
    k, known = min(wanted, len(part.rows)), met.distances.shape[1]
    hints = Hints(met.extremes, met.distances[:, -1] if known == wanted else None)
    search = Search(part.layout, hunt.taking(block, met, part), weights, k, hints)
    found, distances = search.run(hunt.plan.recipe.distance, 1)
    given, holes = part.given(found[met.slots], met.columns)
    new = replace(met, donors=np.where(found < 0, -1, part.rows[found]), distances=distances,
                  given=given, holes=holes)  # fmt: skip
    return _nearest_of_both(met, new, wanted) if known else new


def _nearest_of_both(one: Met, other: Met, k: int) -> Met:
    """The k nearest donors of two parts, ties by row number."""
    donors = np.concatenate([one.donors, other.donors], axis=1)
    distances = np.concatenate([one.distances, other.distances], axis=1)
    order = np.lexsort((donors, distances), axis=1)[:, :k]
    by_cell = order[one.slots]
    given = np.concatenate([one.given, other.given], axis=1)
    holes = np.concatenate([one.holes, other.holes], axis=1)
    return replace(
        one,
        donors=np.take_along_axis(donors, order, axis=1),
        distances=np.take_along_axis(distances, order, axis=1),
        given=np.take_along_axis(given, by_cell, axis=1),
        holes=np.take_along_axis(holes, by_cell, axis=1),
    )


class Grounds:
    """The pools of a table in partitions, cut into parts that fit a worker."""

    def __init__(
        self,
        cluster: Cluster,
        blocks: list[Task],
        pools: list[Pool],
        plan: BlockPlan,
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
