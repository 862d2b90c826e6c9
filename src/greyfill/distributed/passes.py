"""Nearest donors → passes over the holes of a block → all that a fitted method keeps."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.donors import CompleteRows, RowPool
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._neighbors.recipe import Fill, Recipe
from greyfill._neighbors.schedule import digest
from greyfill.distributed.blocks import Block, BlockPlan
from greyfill.distributed.partitions import Arrays, Sized
from greyfill.distributed.pools import ByPool, NearestDonors, Pool
from greyfill.table import Bools, Floats, Ints, RangeScaler, Table


@dataclass(frozen=True, eq=False)
class DonorValues(Arrays):
    """Holes, by their place in the block: what their donors give, and with which weights.

    ``given`` is right for the first pass. Where ``holes`` is not −1, it changes with that hole.
    """

    places: Ints
    given: Floats
    holes: Ints
    weights: Floats

    @property
    def moving(self) -> "DonorValues":
        """Those with a hole among what their donors give."""
        return self.take(np.flatnonzero((self.holes >= 0).any(axis=1)))


@dataclass(frozen=True, eq=False)
class Means(Sized):
    """Holes of numbers with a hole among what their donors give.

    Hole c is ``constants[c]``, what the donors before the first hole give, and the terms of
    ``[ends[c - 1] : ends[c]]``, those of one machine in their order: the current value of
    ``holes`` times ``factors``, or where there is no hole (−1), the factor alone.
    """

    places: Ints
    constants: Floats
    ends: Ints
    holes: Ints
    factors: Floats

    @classmethod
    def of(cls, donors: DonorValues) -> "Means":
        """Add up what will never change, as far as the order of the donors allows."""
        is_hole = donors.holes >= 0
        later = np.logical_or.accumulate(is_hole, axis=1)
        return cls(
            donors.places,
            averages(np.where(later, 0.0, donors.given), donors.weights),
            np.cumsum(later.sum(axis=1), dtype=np.intp),
            donors.holes[later],
            np.where(is_hole, donors.weights, donors.weights * donors.given)[later],
        )

    def refill(self, fills: Floats, changed: Bools, current: Floats, moved: Bools) -> float:
        """Write a new value for each hole that takes from one that moved; the largest change."""
        from greyfill._search import kernels

        return float(
            kernels.refill(
                self.constants, self.ends, self.holes, self.factors, current, moved, self.places,
                fills, changed,
            )
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Votes(Sized):
    """Holes of categories with a hole among what their donors give."""

    donors: DonorValues
    n_levels: int

    def refill(self, fills: Floats, changed: Bools, current: Floats, moved: Bools) -> float:
        """Write a new value for each hole that takes from one that moved; 1 if any changed."""
        holes, is_hole = self.donors.holes, self.donors.holes >= 0
        cells = np.flatnonzero((moved[holes] & is_hole).any(axis=1))
        given = np.where(is_hole, current[holes], self.donors.given)[cells]
        places = self.donors.places[cells]
        fresh = winners(given, self.donors.weights[cells], self.n_levels)
        changed[places] = fresh != fills[places]
        fills[places] = fresh
        return float(changed[places].any())


def averages(given: Floats, weights: Floats) -> Floats:
    """Σ_l w_l v_l of each row, added up from the nearest donor on."""
    from greyfill._search import kernels

    means: Floats = kernels.average_rows(given, weights)
    return means


def winners(given: Floats, weights: Floats, n_levels: int) -> Floats:
    """The category with the largest sum of weights of each row."""
    from greyfill._search import kernels

    n, k = given.shape
    if n == 0:
        return np.zeros(0)
    cells, column = np.arange(n), np.zeros(n, dtype=np.intp)
    donors = np.arange(n * k).reshape(n, k)
    votes: Floats = kernels.vote_cells(
        given.reshape(-1, 1), cells, column, donors, weights, n_levels
    )
    return votes


@dataclass(frozen=True, eq=False)
class Pass(Sized):
    """The holes of a block after a pass, which of them moved, and how far at most."""

    fills: Floats
    moved: Bools
    change: float


@dataclass(frozen=True, eq=False)
class LinkedHoles(Sized):
    """All that the passes of a block need: the first pass, and the holes that may move later.

    ``shared`` are the holes of donors. They are numbered throughout the table, those of this block
    from ``first_hole`` on.
    """

    first: Pass
    moving: tuple[Means | Votes, ...]
    shared: Ints
    first_hole: int


@dataclass(frozen=True, eq=False)
class MovedHoles(Arrays):
    """The holes of donors that moved in a pass: their numbers and their values."""

    numbers: Ints
    values: Floats


@dataclass(frozen=True, eq=False)
class Passes(Sized):
    """A pass of several blocks; ``current`` are the holes of all donors that it read.

    Blocks that are all there are need none of it: they have these holes.
    """

    blocks: list[Pass]
    current: Floats

    def __getitem__(self, place: int) -> Pass:
        return self.blocks[place]


def link_holes(block: Block, by_pool: ByPool, plan: BlockPlan, first_hole: int) -> LinkedHoles:
    """Turn the distances of the nearest donors into weights, and fill by their start values."""
    rows, columns = np.nonzero(block.holes)
    numbers = np.full(block.holes.shape, -1, dtype=np.intp)
    numbers[rows, columns] = np.arange(len(rows))
    start = block.values[rows, columns]
    fills, moving = start.copy(), list[Means | Votes]()
    for nearest in by_pool.values():
        means, votes = _by_kind(nearest, numbers, plan.is_categorical, plan.recipe.fill)
        fills[means.places] = averages(means.given, means.weights)
        fills[votes.places] = winners(votes.given, votes.weights, plan.n_levels)
        moving += [Means.of(means.moving)] if len(means.places) else []
        moving += [Votes(votes.moving, plan.n_levels)] if len(votes.places) else []
    gaps = np.abs(fills - start)
    change = np.where(plan.is_categorical[columns], gaps > 0.0, gaps).max(initial=0.0)
    first = Pass(fills, np.ones(len(fills), dtype=bool), float(change))
    return LinkedHoles(first, tuple(moving), np.flatnonzero(block.is_donor[rows]), first_hole)


def _by_kind(
    nearest: NearestDonors, numbers: Ints, is_categorical: Bools, fill: Fill
) -> tuple[DonorValues, DonorValues]:
    """The holes of numbers, and those of categories."""
    by_number, by_vote = fill.weigh(nearest.distances)
    places = numbers[nearest.rows[nearest.slots], nearest.columns]
    votes = is_categorical[nearest.columns]

    def some(wanted: Bools, weights: Floats) -> DonorValues:
        cells = slice(None) if wanted.all() else np.flatnonzero(wanted)  # lest all be copied
        given, holes = nearest.given[cells], nearest.holes[cells]
        return DonorValues(places[cells], given, holes, weights[nearest.slots[cells]])

    return some(~votes, by_number), some(votes, by_vote)


def next_pass(linked: LinkedHoles, before: Pass, current: Floats, moved: Bools) -> Pass:
    """Fill those holes of a block again that take from a hole that moved in the pass before."""
    fills, changed = before.fills.copy(), np.zeros(len(before.fills), dtype=bool)
    changes = [cells.refill(fills, changed, current, moved) for cells in linked.moving]
    return Pass(fills, changed, max(changes, default=0.0))


def next_passes(
    blocks: list[LinkedHoles], before: Passes | None, parts: list[MovedHoles]
) -> Passes:
    """One pass of several blocks, after ``parts`` of the holes of donors have moved.

    In the first one, after None, every hole counts as moved.
    """
    if before is None:
        return Passes([linked.first for linked in blocks], np.zeros(0))
    n_shared = len(before.current) or sum(len(part.numbers) for part in parts)
    current = before.current.copy() if len(before.current) else np.empty(n_shared)
    moved = np.zeros(n_shared, dtype=bool)
    for part in parts:
        current[part.numbers] = part.values
        moved[part.numbers] = True
    pairs = zip(blocks, before.blocks, strict=True)
    return Passes([next_pass(linked, last, current, moved) for linked, last in pairs], current)


def passes_alone(blocks: list[LinkedHoles], before: list[Passes], size: int) -> list[Passes]:
    """Several passes of blocks that are all there are, after those before, if any."""
    found = before[-1:] or [next_passes(blocks, None, [])]
    n_shared = sum(len(linked.shared) for linked in blocks)
    current, moved = np.empty(n_shared), np.empty(n_shared, dtype=bool)
    for _ in range(size - (not before)):
        pairs = list(zip(blocks, found[-1].blocks, strict=True))
        for linked, last in pairs:
            own = slice(linked.first_hole, linked.first_hole + len(linked.shared))
            np.take(last.fills, linked.shared, out=current[own], mode="clip")
            np.take(last.moved, linked.shared, out=moved[own], mode="clip")
        after = [next_pass(linked, last, current, moved) for linked, last in pairs]
        found.append(Passes(after, np.zeros(0)))
    return found[-size:]


def moved_holes(blocks: list[LinkedHoles], passes: Passes) -> MovedHoles:
    """What other blocks need of a pass."""
    parts = []
    for linked, after in zip(blocks, passes.blocks, strict=True):
        numbers = np.flatnonzero(after.moved[linked.shared])
        fills = after.fills[linked.shared[numbers]]
        parts.append(MovedHoles(linked.first_hole + numbers, fills))
    return MovedHoles.join(parts)


Outcome = tuple[int, float, bytes]
"""Of a block: its number, its largest change and its digest."""


def outcomes_of(passes: list[Passes], numbers: list[int]) -> list[list[Outcome]]:
    """What the loop reads of each pass; a task of its own, so that no pass waits for digests."""
    return [
        [
            (n, block.change, digest(block.fills))
            for n, block in zip(numbers, each.blocks, strict=True)
        ]
        for each in passes
    ]


def join_outcomes(outcomes: list[Outcome]) -> tuple[float, bytes]:
    """The largest change of all blocks, and one digest."""
    digests = b"".join(digest for _, _, digest in sorted(outcomes))
    return max(o[1] for o in outcomes), hashlib.blake2b(digests, digest_size=16).digest()


def as_group(blocks: list[LinkedHoles]) -> list[LinkedHoles]:
    """Blocks that make their passes together, on one worker."""
    return blocks


def unscaled(block: Block, after: Pass, scaler: RangeScaler) -> Floats:
    """The fills of a block in the units of the table, hole by hole."""
    columns = np.nonzero(block.holes)[1]
    of_holes = RangeScaler(
        scaler.low[columns], scaler.high[columns], scaler.is_categorical[columns]
    )
    return np.asarray(of_holes.unscale(after.fills[np.newaxis])[0])


def row_pools(pools: list[Pool], class_counts: Ints) -> tuple[RowPool, ...]:
    """One pool for each class, or a single one, as the engine has them; without rows yet."""
    no_rows = np.zeros(0, dtype=np.intp)
    if all(pool.query_labels is None for pool in pools):
        return (RowPool(no_rows, no_rows),)
    small = {label for pool in pools if pool.fallback for label in pool.query_labels or ()}
    return tuple(
        RowPool(no_rows, no_rows, int(label), fallback=int(label) in small)
        for label in np.flatnonzero(class_counts)
    )


def filled_donors(block: Block, after: Pass) -> Block:
    """The donors of a block, with their final fills."""
    values = block.values.copy()
    values[block.holes] = after.fills
    filled = replace(block, values=values, holes=block.holes[:, :0])  # none is left to travel
    return filled if block.is_donor.all() else filled.take(np.flatnonzero(block.is_donor))


def with_donors(blocks: list[Block], light: FittedRecipe) -> FittedRecipe:
    """A fitted method that has no donors yet, with all of them."""
    donors = Block.join(blocks)
    return replace(
        light,
        donors=Table(donors.values, donors.missing, light.donors.columns),
        rows=donors.rows,
        labels=None if light.labels is None else donors.labels,
        pools=tuple(_pool_with_donors(pool, donors, light.recipe) for pool in light.pools),
        _layouts={},  # not those of ``light``, which are empty
        _late_weights={},
    )


def _pool_with_donors(pool: RowPool, donors: Block, recipe: Recipe) -> RowPool:
    if pool.label >= 0 and not pool.fallback:
        return replace(pool, givers=np.flatnonzero(donors.labels == pool.label))
    if isinstance(recipe.donors, CompleteRows):
        return replace(pool, givers=np.flatnonzero(~donors.missing.any(axis=1)))
    return replace(pool, givers=np.arange(len(donors.labels)))
