"""The unit of work on a worker: a block meets parts of pools and keeps the nearest donors."""

from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.hints import Hints
from greyfill._neighbors.linking import Taking, search
from greyfill.distributed.blocks import Block, Plan, matched
from greyfill.distributed.pools import Part, Pool
from greyfill.distributed.sizes import Sized
from greyfill.table import Floats, Ints


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

    plan: Plan
    pools: list[Pool]
    k: Ints

    def taking(self, block: Block, met: Met, part: Part) -> Taking:
        """The rows of a block that look for donors."""
        rows = met.rows
        own = part.own_rows(block.rows[rows])
        return Taking(rows, block.values[rows], block.missing[rows], own)


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


def _extremes(hunt: Hunt, taking: Taking, part: Part, known: Floats | None) -> Floats | None:
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
    taking = hunt.taking(block, met, part)
    found, distances = search(
        hunt.plan.recipe.distance, part.layout, taking, weights, k, 1, hints=hints
    )
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
