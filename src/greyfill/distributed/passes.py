"""Blocks after the last pass → all that a fitted method remembers."""

import hashlib
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.donors import CompleteRows, RowPool
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._neighbors.recipe import Fill
from greyfill._neighbors.schedule import Trace, digest
from greyfill.distributed.blocks import Block, BlockPlan, matched
from greyfill.distributed.partitions import Sized
from greyfill.distributed.pools import Hunt, Meetings, Met, Pool
from greyfill.ranges import RangeScaler
from greyfill.table import Bools, Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class Piece(Sized):
    """Holes, by their place in the block: what their donors give, and with which weights.

    ``given`` is right for the first pass. Where ``holes`` is not −1, it changes with that hole.
    """

    places: Ints
    given: Floats
    holes: Ints
    weights: Floats

    @property
    def moving(self) -> "Piece":
        """Those with a hole among what their donors give."""
        some = np.flatnonzero((self.holes >= 0).any(axis=1))
        return Piece(self.places[some], self.given[some], self.holes[some], self.weights[some])


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
    def of(cls, piece: Piece) -> "Means":
        """Add up what will never change, as far as the order of the donors allows."""
        takes = piece.holes >= 0
        later = np.logical_or.accumulate(takes, axis=1)
        return cls(
            piece.places,
            averages(np.where(later, 0.0, piece.given), piece.weights),
            np.cumsum(later.sum(axis=1), dtype=np.intp),
            piece.holes[later],
            np.where(takes, piece.weights, piece.weights * piece.given)[later],
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

    piece: Piece
    n_levels: int

    def refill(self, fills: Floats, changed: Bools, current: Floats, moved: Bools) -> float:
        """Write a new value for each hole that takes from one that moved; 1 if any changed."""
        holes, takes = self.piece.holes, self.piece.holes >= 0
        cells = np.flatnonzero((moved[holes] & takes).any(axis=1))
        given = np.where(takes, current[holes], self.piece.given)[cells]
        places = self.piece.places[cells]
        fresh = winners(given, self.piece.weights[cells], self.n_levels)
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
class Linked(Sized):
    """All that the passes of a block need.

    Its holes at the start and after the first pass, those of them that move later, which are
    categories, and which of them donors share. Shared holes are numbered throughout the table,
    those of this block from ``first_hole`` on.
    """

    start: Floats
    first_fills: Floats
    moving: tuple[Means | Votes, ...]
    votes: Bools
    shared: Ints
    first_hole: int
    fallbacks: Counter[str]


@dataclass(frozen=True, eq=False)
class Pass(Sized):
    """The holes of a block after a pass, which of them moved, and how far at most."""

    fills: Floats
    moved: Bools
    change: float


@dataclass(frozen=True, eq=False)
class Moved(Sized):
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


def settle(block: Block, meetings: Meetings, hunt: Hunt, first_hole: int) -> Linked:
    """Turn the donors that were met into weights, make the first pass, count what found none."""
    rows, columns = np.nonzero(block.holes)
    numbers = np.full(block.holes.shape, -1, dtype=np.intp)
    numbers[rows, columns] = np.arange(len(rows))
    plan, start = hunt.plan, block.values[rows, columns]
    fills, moving = start.copy(), list[Means | Votes]()
    for met in meetings.values():
        means, votes = _pieces(met, numbers, plan.is_categorical, plan.recipe.fill)
        fills[means.places] = averages(means.given, means.weights)
        fills[votes.places] = winners(votes.given, votes.weights, plan.n_levels)
        moving += [Means.of(means.moving)] if len(means.places) else []
        moving += [Votes(votes.moving, plan.n_levels)] if len(votes.places) else []
    return Linked(
        start,
        fills,
        tuple(moving),
        plan.is_categorical[columns],
        np.flatnonzero(block.may_give[rows]),
        first_hole,
        _fallbacks(block, hunt),
    )


def _pieces(met: Met, numbers: Ints, is_categorical: Bools, fill: Fill) -> tuple[Piece, Piece]:
    """The holes of numbers, and those of categories."""
    by_number, by_vote = fill.weigh(met.distances)
    places = numbers[met.rows[met.slots], met.columns]
    votes = is_categorical[met.columns]

    def piece(wanted: Bools, weights: Floats) -> Piece:
        cells = slice(None) if wanted.all() else np.flatnonzero(wanted)  # lest all be copied
        return Piece(places[cells], met.given[cells], met.holes[cells], weights[met.slots[cells]])

    return piece(~votes, by_number), piece(votes, by_vote)


def _fallbacks(block: Block, hunt: Hunt) -> Counter[str]:
    found: Counter[str] = Counter()
    for place, pool in enumerate(hunt.pools):
        takes = pool.takes(block)
        for group, (weights, cells) in enumerate(hunt.plan.groups(block.holes)):
            some = cells.any(axis=1) & takes
            has_match = matched(block, cells, weights)
            found["row_without_match"] += int(cells[some & ~has_match].sum())
            if hunt.k[place, group] < 1:
                found["no_donor"] += int(cells[some & has_match].sum())
    return found


def first_pass(linked: Linked) -> Pass:
    """What donors with their start fills give to a block."""
    fills = linked.first_fills
    gaps = np.abs(fills - linked.start)
    gaps[linked.votes] = gaps[linked.votes] > 0.0
    everyone = np.ones(len(fills), dtype=bool)
    return Pass(fills, everyone, float(gaps.max(initial=0.0)))


def next_pass(linked: Linked, before: Pass, current: Floats, moved: Bools) -> Pass:
    """Fill those holes of a block again that take from a hole that moved in the pass before."""
    fills, changed = before.fills.copy(), np.zeros(len(before.fills), dtype=bool)
    changes = [cells.refill(fills, changed, current, moved) for cells in linked.moving]
    return Pass(fills, changed, max(changes, default=0.0))


def next_passes(blocks: list[Linked], before: Passes | None, parts: list[Moved]) -> Passes:
    """One pass of several blocks, after ``parts`` of the holes of donors have moved.

    The first pass starts from the start fill; in it every hole counts as moved.
    """
    if before is None:
        return Passes([first_pass(linked) for linked in blocks], np.zeros(0))
    n_shared = len(before.current) or sum(len(part.numbers) for part in parts)
    current = before.current.copy() if len(before.current) else np.empty(n_shared)
    moved = np.zeros(n_shared, dtype=bool)
    for part in parts:
        current[part.numbers] = part.values
        moved[part.numbers] = True
    pairs = zip(blocks, before.blocks, strict=True)
    return Passes([next_pass(linked, last, current, moved) for linked, last in pairs], current)


def passes_alone(blocks: list[Linked], before: list[Passes], size: int) -> list[Passes]:
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


def moved_cells(blocks: list[Linked], passes: Passes) -> Moved:
    """What other blocks need of a pass."""
    return join_moved(
        [
            Moved(linked.first_hole + numbers, after.fills[linked.shared[numbers]])
            for linked, after in zip(blocks, passes.blocks, strict=True)
            for numbers in [np.flatnonzero(after.moved[linked.shared])]
        ]
    )


def join_moved(parts: list[Moved]) -> Moved:
    """All that moved."""
    return Moved(
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


Outcome = tuple[int, float, bytes]
"""Of a block: its number, its largest change and its digest."""


def outcomes_of(passes: list[Passes], numbers: list[int]) -> list[list[Outcome]]:
    """What the loop asks for of each pass; no pass has to wait for the digests."""
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


def pass_of(passes: Passes, place: int) -> Pass:
    """The pass of one block."""
    return passes.blocks[place]


def nth(passes: list[Passes], number: int) -> Passes:
    """One of several passes."""
    return passes[number]


def as_group(blocks: list[Linked]) -> list[Linked]:
    """Blocks that make their passes together, on one worker."""
    return blocks


def fallbacks_of(linked: Linked) -> Counter[str]:
    """Cells of a block that could not be filled by the rule."""
    return linked.fallbacks


def unscaled(block: Block, after: Pass, scaler: RangeScaler) -> Floats:
    """The fills of a block in the units of the table, hole by hole."""
    columns = np.nonzero(block.holes)[1]
    of_holes = RangeScaler(
        scaler.low[columns], scaler.high[columns], scaler.is_categorical[columns]
    )
    return np.asarray(of_holes.unscale(after.fills[np.newaxis])[0])


@dataclass(frozen=True, eq=False)
class Summary:
    """What a fitted method remembers besides its donors."""

    plan: BlockPlan
    scaler: RangeScaler
    centers: Floats
    k: int
    scores: dict[int, float]
    trace: Trace
    fallbacks: dict[str, int]
    unlabeled: str
    has_labels: bool
    pools: tuple[RowPool, ...]

    @property
    def alone(self) -> FittedRecipe:
        """A fitted method without any donor: little enough to travel with every task."""
        nothing, nobody = np.zeros((0, len(self.plan.columns))), np.zeros(0, dtype=np.intp)
        holes = nothing.astype(bool)
        return assemble([Block(nothing, holes, holes, nobody, nobody, holes[:, 0])], self)


def row_pools(pools: list[Pool], class_counts: Ints) -> tuple[RowPool, ...]:
    """One pool for each class, or a single one, as the engine has them; without rows yet."""
    nobody = np.zeros(0, dtype=np.intp)
    if all(pool.takers is None for pool in pools):
        return (RowPool(nobody, nobody),)
    small = {label for pool in pools if pool.fallback for label in pool.takers or ()}
    return tuple(
        RowPool(nobody, nobody, int(label), fallback=int(label) in small)
        for label in np.flatnonzero(class_counts)
    )


def donor_rows(block: Block, after: Pass) -> Block:
    """The rows of a block that give, with their final fills."""
    values = block.values.copy()
    values[block.holes] = after.fills
    filled = replace(block, values=values)
    return filled if block.may_give.all() else filled.only(np.flatnonzero(block.may_give))


def assemble(blocks: list[Block], summary: Summary) -> FittedRecipe:
    """All that serves new rows."""
    values, missing, labels, rows = (
        np.concatenate([getattr(block, name) for block in blocks])
        for name in ("values", "missing", "labels", "rows")
    )
    plan, nowhere = summary.plan, np.zeros(0, dtype=np.intp)
    complete_only = isinstance(plan.recipe.donors, CompleteRows)
    return FittedRecipe(
        recipe=plan.recipe,
        scaler=summary.scaler,
        donors=Table(values, missing, plan.columns),
        rows=rows,
        labels=labels if summary.has_labels else None,
        pools=tuple(_with_givers(p, labels, missing, complete_only) for p in summary.pools),
        weights=plan.weights,
        targets=plan.targets,
        centers=summary.centers,
        n_neighbors=summary.k,
        unlabeled=summary.unlabeled,
        trace=summary.trace,
        k_scores=summary.scores,
        fallbacks=summary.fallbacks,
        spreads=(nowhere, nowhere, np.zeros(0)),
    )


def _with_givers(pool: RowPool, labels: Ints, missing: Bools, complete_only: bool) -> RowPool:
    if pool.label >= 0 and not pool.fallback:
        return replace(pool, givers=np.flatnonzero(labels == pool.label))
    if complete_only:
        return replace(pool, givers=np.flatnonzero(~missing.any(axis=1)))
    return replace(pool, givers=np.arange(len(labels)))
