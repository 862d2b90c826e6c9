"""Donor pools in parts: who gives to whom, which rows make a part, and one part laid out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from greyfill._kernels.pool import DonorPool, build_pool
from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.prepared import overall_weights
from greyfill._neighbors.recipe import Recipe
from greyfill.distributed.blocks import Block, Plan, matched
from greyfill.distributed.sizes import Sized
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
    def of(cls, block: Block, pools: list[Pool], plan: Plan) -> "Census":
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


def build_part(givers: list[Givers], plan: Plan) -> Part:
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
