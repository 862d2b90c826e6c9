"""Passes after the search: only the holes of donors move, the table stays where it is."""

import hashlib
from collections import Counter
from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.recipe import Fill
from greyfill._neighbors.scaling import Scaler
from greyfill._neighbors.schedule import digest
from greyfill.distributed.blocks import Block, matched
from greyfill.distributed.meeting import Hunt, Meetings, Met
from greyfill.table import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Piece:
    """Holes that are filled alike: what their donors give, and with which weights.

    ``places`` number the holes within the block. ``given`` is right for the first pass; later
    ``open_places`` of it take the current values of the holes ``open_holes``.
    """

    places: Ints
    votes: Bools
    given: Floats
    weights: Floats
    open_places: Ints
    open_holes: Ints

    def values(self, current: Floats | None, n_levels: int) -> Floats:
        """A new value for each hole; ``current`` are the values of the donors' holes."""
        given = self.given
        if current is not None:
            given = given.copy()
            given.ravel()[self.open_places] = current[self.open_holes]
        if not self.votes.any():
            return averages(given, self.weights)
        out = np.empty(len(self.places))
        out[~self.votes] = averages(given[~self.votes], self.weights[~self.votes])
        out[self.votes] = winners(given[self.votes], self.weights[self.votes], n_levels)
        return out


def averages(given: Floats, weights: Floats) -> Floats:
    """Σ_l w_l v_l of each row, added up from the nearest donor on."""
    from greyfill._kernels import compiled

    means: Floats = compiled.average_rows(given, weights)
    return means


def winners(given: Floats, weights: Floats, n_levels: int) -> Floats:
    """The category with the largest sum of weights of each row."""
    from greyfill._kernels import compiled

    n, k = given.shape
    if n == 0:
        return np.zeros(0)
    cells, column = np.arange(n), np.zeros(n, dtype=np.intp)
    donors = np.arange(n * k).reshape(n, k)
    votes: Floats = compiled.vote_cells(
        given.reshape(-1, 1), cells, column, donors, weights, n_levels
    )
    return votes


@dataclass(frozen=True, eq=False)
class Linked:
    """All that the passes of a block need: its pieces, and which of its holes donors share."""

    pieces: tuple[Piece, ...]
    start: Floats
    votes: Bools
    shared: Ints
    n_levels: int
    fallbacks: Counter[str]


@dataclass(frozen=True, eq=False)
class Pass:
    """The holes of a block after a pass, the largest change in it, and a digest of them."""

    fills: Floats
    change: float = 0.0
    digest: bytes = b""


def settle(block: Block, meetings: Meetings, hunt: Hunt) -> Linked:
    """Turn the donors that were met into weights; count what found none."""
    rows, columns = np.nonzero(block.holes)
    numbers = np.full(block.holes.shape, -1, dtype=np.intp)
    numbers[rows, columns] = np.arange(len(rows))
    plan, fill = hunt.plan, hunt.plan.recipe.fill
    is_categorical = plan.is_categorical
    return Linked(
        tuple(
            piece
            for met in meetings.values()
            for piece in _pieces(met, numbers, is_categorical, fill)
        ),
        block.values[rows, columns],
        is_categorical[columns],
        np.flatnonzero(block.may_give[rows]),
        plan.n_levels,
        _fallbacks(block, hunt),
    )


def _pieces(met: Met, numbers: Ints, is_categorical: Bools, fill: Fill) -> list[Piece]:
    """The holes with a hole among what their donors give, and those that the first pass settles."""
    by_number, by_vote = fill.weigh(met.distances)
    places = numbers[met.rows[met.slots], met.columns]
    votes = is_categorical[met.columns]
    moves = (met.holes >= 0).any(axis=1)
    found = []
    for cells in (np.flatnonzero(moves), np.flatnonzero(~moves)):
        slots, holes, by_votes = met.slots[cells], met.holes[cells], votes[cells, np.newaxis]
        weights = np.where(by_votes, by_vote[slots], by_number[slots])
        opened = np.flatnonzero(holes >= 0)
        found.append(
            Piece(places[cells], votes[cells], met.given[cells], weights, opened,
                  holes.ravel()[opened])
        )  # fmt: skip
    return found


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


def next_pass(linked: Linked, before: Pass, current: Floats | None) -> Pass:
    """Fill every hole of a block from the values before the pass."""
    fills = before.fills.copy()
    for piece in linked.pieces:
        if current is None or len(piece.open_places):
            fills[piece.places] = piece.values(current, linked.n_levels)
    change = np.abs(fills - before.fills)
    change = np.where(linked.votes, change > 0.0, change)
    return Pass(fills, float(change.max(initial=0.0)), digest(fills))


def next_passes(
    blocks: list[Linked], before: list[Pass] | None, current: Floats | None
) -> list[Pass]:
    """One pass of several blocks; the first one starts from their start fill."""
    starts = [Pass(linked.start) for linked in blocks] if before is None else before
    pairs = zip(blocks, starts, strict=True)
    return [next_pass(linked, start, current) for linked, start in pairs]


Shares = list[tuple[int, Floats, float, bytes]]
"""Of each block: its number, the holes of its donors, its largest change and its digest."""


def shared_cells(blocks: list[Linked], numbers: list[int], passes: list[Pass]) -> Shares:
    """What other blocks need of a pass."""
    return [
        (number, after.fills[linked.shared], after.change, after.digest)
        for linked, number, after in zip(blocks, numbers, passes, strict=True)
    ]


def join_cells(shares: list[Shares]) -> tuple[Floats, float, bytes]:
    """The holes of all donors in the order of the table, the largest change, and one digest."""
    ordered = sorted((each for group in shares for each in group), key=lambda each: each[0])
    cells = np.concatenate([each[1] for each in ordered])
    together = hashlib.blake2b(b"".join(each[3] for each in ordered), digest_size=16).digest()
    return cells, max(each[2] for each in ordered), together


def pass_of(passes: list[Pass], place: int) -> Pass:
    """The pass of one block."""
    return passes[place]


def only_cells(joined: tuple[Floats, float, bytes]) -> Floats:
    """What the next pass reads."""
    return joined[0]


def only_outcome(joined: tuple[Floats, float, bytes]) -> tuple[float, bytes]:
    """What the loop asks for."""
    return joined[1:]


def fallbacks_of(linked: Linked) -> Counter[str]:
    """Cells of a block that could not be filled by the rule."""
    return linked.fallbacks


def unscaled(block: Block, after: Pass, scaler: Scaler) -> Floats:
    """The fills of a block in the units of the table, hole by hole."""
    values = block.values.copy()
    values[block.holes] = after.fills
    return np.asarray(scaler.unscale(values)[block.holes])
