"""Donor pools in parts that fit a worker, and the nearest donors of every hole in them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.links import QueryRows, Search, overall_weights, places_among
from greyfill._neighbors.recipe import Recipe
from greyfill._search.pool import DonorPool, Hints, build_pool
from greyfill.distributed.blocks import Block, BlockPlan, matched
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.partitions import Arrays, Sized
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Floats, Ints


@dataclass(frozen=True)
class Pool:
    """The class of the donors (None: all), and the classes of the rows they fill (None: all)."""

    label: int | None = None
    query_labels: tuple[int, ...] | None = None
    complete_only: bool = False
    fallback: bool = False

    def donors(self, block: Block) -> Bools:
        """The rows of a block that are donors of this pool."""
        donors = block.is_donor
        if self.label is not None:
            donors = donors & (block.labels == self.label)
        return donors & ~block.missing.any(axis=1) if self.complete_only else donors

    def queries(self, block: Block) -> Bools:
        """The rows of a block that are filled from this pool."""
        if self.query_labels is None:
            return np.ones(len(block.labels), dtype=bool)
        return np.isin(block.labels, self.query_labels)


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
    return [*pools, Pool(query_labels=small, fallback=True)] if small else pools


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """Counts of a block: donors of each pool, holes, holes of donors, holes of small classes.

    ``own`` marks the pools and groups of weights in which a row is among its own donors.
    """

    donors: Ints
    holes: int
    shared_holes: int
    own: Bools
    small_class_holes: int

    @classmethod
    def of(cls, block: Block, pools: list[Pool], plan: BlockPlan) -> "BlockCounts":
        """Count one block."""
        own = np.zeros((len(pools), plan.n_groups), dtype=bool)
        for place, pool in enumerate(pools):
            inside = pool.donors(block) & pool.queries(block)
            for group, (weights, cells) in enumerate(plan.groups(block.holes)):
                own[place, group] = (inside & matched(block, cells, weights)).any()
        return cls(
            np.array([int(pool.donors(block).sum()) for pool in pools], dtype=np.intp),
            int(block.holes.sum()),
            int(block.missing[block.is_donor].sum()),
            own,
            sum(int(block.holes[p.queries(block)].sum()) for p in pools if p.fallback),
        )


@dataclass(frozen=True)
class PartPlan:
    """A part of a pool: for each block that has a share in it, the ranks of its donors."""

    pool: int
    size: int
    shares: tuple[tuple[int, int, int], ...]


def plan_parts(pool: int, donors: Ints, most: int) -> list[PartPlan]:
    """Cut a pool into parts of at most ``most`` donors, in the order of their rows.

    ``donors`` is the number of donors in each block.

    >>> [part.shares for part in plan_parts(0, np.array([3, 2]), 4)]
    [((0, 0, 3), (1, 0, 1)), ((1, 1, 2),)]
    """
    ends = np.cumsum(donors)
    starts = ends - donors
    parts = []
    for low in range(0, int(donors.sum()), most):
        high = min(low + most, int(ends[-1]))
        shares = tuple(
            (int(b), int(max(low - starts[b], 0)), int(min(high - starts[b], donors[b])))
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
class DonorRows(Arrays):
    """Donors out of one block: their rows, and the number of the first hole of each."""

    values: Floats
    missing: Bools
    rows: Ints
    first_holes: Ints


def collect_donors(block: Block, pool: Pool, first: int, last: int, first_hole: int) -> DonorRows:
    """The donors of a block with ranks first … last; holes of donors are numbered throughout."""
    chosen = np.flatnonzero(pool.donors(block))[first:last]
    counts = np.where(block.is_donor, block.missing.sum(axis=1), 0)
    before = first_hole + np.cumsum(counts) - counts
    return DonorRows(
        block.values[chosen], block.missing[chosen], block.rows[chosen], before[chosen]
    )


@dataclass(frozen=True, eq=False)
class Part(Sized):
    """A part of a pool, laid out for the search; rows rise, so ties go to the first of them."""

    layout: DonorPool
    rows: Ints
    first_holes: Ints

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


def build_part(donors: list[DonorRows], plan: BlockPlan) -> Part:
    """Lay out the donors of several blocks."""
    all_rows = DonorRows.join(donors)
    layout = build_pool(
        all_rows.values, all_rows.missing, plan.is_categorical, overall_weights(plan.weights)
    )
    return Part(layout, all_rows.rows, all_rows.first_holes)


@dataclass(frozen=True, eq=False)
class NearestDonors(Sized):
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

    def merge(self, other: "NearestDonors", k: int) -> "NearestDonors":
        """The k nearest donors of two parts, ties by row number."""
        donors = np.concatenate([self.donors, other.donors], axis=1)
        distances = np.concatenate([self.distances, other.distances], axis=1)
        order = np.lexsort((donors, distances), axis=1)[:, :k]
        by_cell = order[self.slots]
        given = np.concatenate([self.given, other.given], axis=1)
        holes = np.concatenate([self.holes, other.holes], axis=1)
        return replace(
            self,
            donors=np.take_along_axis(donors, order, axis=1),
            distances=np.take_along_axis(distances, order, axis=1),
            given=np.take_along_axis(given, by_cell, axis=1),
            holes=np.take_along_axis(holes, by_cell, axis=1),
        )


ByPool = dict[tuple[int, int], NearestDonors]
"""By pool and group of weights."""


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What is searched: pools, and how many donors in each for each group of weights."""

    plan: BlockPlan
    pools: list[Pool]
    k: Ints

    def start(self, block: Block) -> ByPool:
        """No donors yet; rows without an observed value that counts are left out."""
        nearest: ByPool = {}
        for place, pool in enumerate(self.pools):
            for group, (weights, cells) in enumerate(self.plan.groups(block.holes)):
                rows = np.flatnonzero(matched(block, cells, weights) & pool.queries(block))
                if self.k[place, group] < 1 or len(rows) == 0:
                    continue
                slots, columns = np.nonzero(cells[rows])
                nearest[place, group] = NearestDonors(
                    rows,
                    slots,
                    columns,
                    donors=np.zeros((len(rows), 0), dtype=np.intp),
                    distances=np.zeros((len(rows), 0)),
                    given=np.zeros((len(slots), 0)),
                    holes=np.zeros((len(slots), 0), dtype=np.intp),
                )
        return nearest

    def taking(self, block: Block, nearest: NearestDonors, part: Part) -> QueryRows:
        """The rows of a block for which donors are searched."""
        rows = nearest.rows
        own = places_among(part.rows, block.rows[rows])
        return QueryRows(rows, block.values[rows], block.missing[rows], own)

    def find_extremes(self, before: ByPool, block: Block, pool: int, part: Part) -> ByPool:
        """Δmin and Δmax over one more part of a pool, which the search of every part needs."""
        after = dict(before)
        for (place, group), nearest in before.items():
            if place == pool:
                extremes = self._extremes(self.taking(block, nearest, part), part, nearest.extremes)
                after[place, group] = replace(nearest, extremes=extremes)
        return after

    def _extremes(self, taking: QueryRows, part: Part, before: Floats | None) -> Floats | None:
        distance = self.plan.recipe.distance
        here = distance.survey(  # type: ignore[attr-defined]  # checked before the work began
            part.layout, taking.values, taking.missing, taking.own_rows
        )
        if here is None or before is None:
            return None if here is None else np.asarray(here)
        low, high = np.minimum(here[:, 0], before[:, 0]), np.maximum(here[:, 1], before[:, 1])
        return np.column_stack([low, high])

    def search_parts(
        self, before: ByPool, block: Block, pools: list[int], parts: list[Part]
    ) -> ByPool:
        """Search some parts of pools and keep the k nearest donors of all parts so far."""
        after = dict(before)
        for pool, part in zip(pools, parts, strict=True):
            for group in range(self.plan.n_groups):
                if (pool, group) in after:
                    weights, k = self.plan.weights[group], int(self.k[pool, group])
                    nearest = after[pool, group]
                    after[pool, group] = self._search_part(nearest, block, part, weights, k)
        return after

    def _search_part(
        self, before: NearestDonors, block: Block, part: Part, weights: Floats, wanted: int
    ) -> NearestDonors:
        k, known = min(wanted, len(part.rows)), before.distances.shape[1]
        # Once k donors are known, the search may skip all that are farther than the last of them.
        hints = Hints(before.extremes, before.distances[:, -1] if known == wanted else None)
        taking = self.taking(block, before, part)
        search = Search(part.layout, taking, weights, k, hints)
        found, distances = search.run(self.plan.recipe.distance, 1)
        given, holes = part.given(found[before.slots], before.columns)
        rows = np.where(found < 0, -1, part.rows[found])
        here = replace(before, donors=rows, distances=distances, given=given, holes=holes)
        return before.merge(here, wanted) if known else here

    def fallbacks(self, block: Block) -> Counter[str]:
        """Cells of a block without any donor, by the reason."""
        counts: Counter[str] = Counter()
        for place, pool in enumerate(self.pools):
            queries = pool.queries(block)
            for group, (weights, cells) in enumerate(self.plan.groups(block.holes)):
                some = cells.any(axis=1) & queries
                has_match = matched(block, cells, weights)
                counts["row_without_match"] += int(cells[some & ~has_match].sum())
                if self.k[place, group] < 1:
                    counts["no_donor"] += int(cells[some & has_match].sum())
        return counts


class DonorParts:
    """The pools of a table in partitions, cut into parts that fit a worker."""

    def __init__(
        self,
        cluster: Cluster,
        blocks: list[Task],
        pools: list[Pool],
        plan: BlockPlan,
        counts: list[BlockCounts],
        most: int,
    ) -> None:
        self.cluster, self.blocks, self.pools, self.plan = cluster, blocks, pools, plan
        self.donors = np.array([c.donors for c in counts]).reshape(len(blocks), len(pools))
        self.n_holes = sum(c.holes for c in counts)
        shared = np.array([c.shared_holes for c in counts], dtype=np.intp)
        self.first_holes = np.cumsum(shared) - shared
        by_pool = [plan_parts(place, self.donors[:, place], most) for place in range(len(pools))]
        parts = [part for own in by_pool for part in own]
        # What the search of one part must know of the others is collected before any is searched.
        self._surveyed = [part for own in by_pool if len(own) > 1 for part in own]
        self._rounds = list(plan_rounds(parts, most))
        self._built: list[Task] | None = None

    def search_plan(self, plan: BlockPlan, k: int, own: Bools) -> SearchPlan:
        """Search k donors, or all there are, by pool and group of weights; never the row itself."""
        available = self.donors.sum(axis=0)[:, np.newaxis] - own
        return SearchPlan(plan, self.pools, np.asarray(np.minimum(k, available)))

    def search(self, blocks: list[Task], plan: SearchPlan) -> list[Task]:
        """The nearest donors of the rows of these blocks over every part of their pools."""
        nearest = [self.cluster.task(plan.start, block) for block in blocks]
        for part in self._surveyed:
            built = self._build([part])[0]
            nearest = self._finish(
                self.cluster.task(plan.find_extremes, before, block, part.pool, built)
                for before, block in zip(nearest, blocks, strict=True)
            )
        for parts in self._rounds:
            laid_out = self._built or self._build(parts)
            if len(self._rounds) == 1:
                self._built = laid_out  # the search of k and that of the fills share them
            places = [part.pool for part in parts]
            nearest = self._finish(
                self.cluster.task(plan.search_parts, before, block, places, laid_out)
                for before, block in zip(nearest, blocks, strict=True)
            )
        return nearest

    def release(self) -> None:
        """Free the memory of the parts."""
        self._built = None

    def _build(self, parts: list[PartPlan]) -> list[Task]:
        task = self.cluster.task
        collected = [
            [
                task(collect_donors, self.blocks[b], self.pools[part.pool], first, last,
                     int(self.first_holes[b]))
                for b, first, last in part.shares
            ]
            for part in parts
        ]  # fmt: skip
        return self.cluster.keep([task(build_part, donors, self.plan) for donors in collected])

    def _finish(self, tasks: Iterator[Task]) -> list[Task]:
        """Run a round to its end, so that its parts are freed before the next ones are built."""
        kept = self.cluster.keep(list(tasks))
        self.cluster.wait(kept, "searching donors")
        return kept
