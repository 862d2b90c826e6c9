"""The unit of work: a block of incomplete rows and a donor pool give the donors of each hole."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from joblib import Parallel, delayed

from greyfill._kernels.pool import DonorPool
from greyfill._neighbors.hints import NO_HINTS, Hints
from greyfill._neighbors.recipe import Distance, Fill
from greyfill._neighbors.schedule import Report
from greyfill.table import Bools, Floats, Ints

BLOCK_ROWS = 256
"""Incomplete rows that one thread searches at a time."""

REPORT_SECONDS = 2.0
"""A long search tells so often how far it is."""


@dataclass(frozen=True, eq=False)
class Links:
    """The donors of some holes: hole c lies in row ``rows[slots[c]]`` and column ``columns[c]``.

    ``donors[s]`` are the rows that give to slot s, nearest first, with their ``distances``, their
    weights for numbers and their weights for votes.
    """

    rows: Ints
    slots: Ints
    columns: Ints
    donors: Ints
    distances: Floats
    number_weights: Floats
    vote_weights: Floats

    def values(self, donor_values: Floats, is_categorical: Bools, n_levels: int) -> Floats:
        """One value for each hole from the donors' current values."""
        from greyfill._kernels import compiled

        out = np.empty(len(self.slots))
        votes = is_categorical[self.columns]
        out[~votes] = compiled.average_cells(
            donor_values, self.slots[~votes], self.columns[~votes], self.donors, self.number_weights
        )
        if votes.any():
            out[votes] = compiled.vote_cells(
                donor_values, self.slots[votes], self.columns[votes], self.donors,
                self.vote_weights, n_levels,
            )  # fmt: skip
        return out

    def nearest(self, k: int, fill: Fill) -> "Links":
        """The same holes with at most the k nearest donors, weighed anew."""
        distances = self.distances[:, :k]
        number_weights, vote_weights = fill.weigh(distances)
        return replace(
            self,
            donors=self.donors[:, :k],
            distances=distances,
            number_weights=number_weights,
            vote_weights=vote_weights,
        )


@dataclass(frozen=True, eq=False)
class Taking:
    """Rows that take from a pool, and which donor is the row itself (−1: none)."""

    rows: Ints
    values: Floats
    missing: Bools
    own_rows: Ints

    def only(self, wanted: Bools | Ints) -> "Taking":
        """Some of the rows."""
        return Taking(
            self.rows[wanted], self.values[wanted], self.missing[wanted], self.own_rows[wanted]
        )


@dataclass(frozen=True, eq=False)
class Shared:
    """A pool that all blocks share: a backend of joblib that moves data moves it only once.

    Such a backend looks at the size of an argument, and whether it can be referred to weakly.
    """

    pool: DonorPool

    def __sizeof__(self) -> int:
        return int(self.pool.values.nbytes + self.pool.leaves.nbytes)


def search(
    distance: Distance,
    pool: DonorPool,
    taking: Taking,
    weights: Floats,
    k: int,
    n_jobs: int | None,
    report: Report | None = None,
    hints: Hints = NO_HINTS,
) -> tuple[Ints, Floats]:
    """The k nearest donors of every row, block by block, on ``n_jobs`` threads.

    Rows that are donors themselves are searched in the order in which the pool stores them, others
    by their heaviest column: near rows follow each other and find what they need in the cache.
    ``joblib.parallel_config`` sends the blocks elsewhere. Hints come from other parts of the pool.
    """
    blocks = list(_cut(len(taking.rows)))
    if len(blocks) == 1:
        return _search_block(distance, Shared(pool), taking, weights, k, hints)
    shared = Shared(pool)
    heaviest = taking.values[:, int(np.argmax(weights))]
    order = np.lexsort((heaviest, _places(pool)[taking.own_rows]))
    parts = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_search_block)(
            distance, shared, taking.only(order[b]), weights, k, hints.only(order[b])
        )
        for b in blocks
    )
    found = list(parts if report is None else _telling(parts, len(order), report))
    rows = np.empty((len(order), k), dtype=np.intp)
    distances = np.empty((len(order), k))
    rows[order] = np.concatenate([part for part, _ in found])
    distances[order] = np.concatenate([part for _, part in found])
    return rows, distances


def _search_block(
    distance: Distance, shared: Shared, block: Taking, weights: Floats, k: int, hints: Hints
) -> tuple[Ints, Floats]:
    queries = (shared.pool, block.values, block.missing, block.own_rows, weights, k)
    # A distance of the user's own need not know hints.
    return distance.search(*queries) if hints.are_none else distance.search(*queries, hints)


def _telling(
    parts: Iterable[tuple[Ints, Floats]], n_rows: int, report: Report
) -> Iterator[tuple[Ints, Floats]]:
    """Hand on the parts of a search, and tell from time to time how many rows are done."""
    done, told = 0, monotonic()
    for part in parts:
        done += len(part[0])
        if monotonic() - told >= REPORT_SECONDS:
            told = monotonic()
            report(f"donors found for {done:,} of {n_rows:,} rows")
        yield part


def _places(pool: DonorPool) -> Ints:
    """Where the pool stores each donor; one more place at the end for rows that are none (−1)."""
    places = np.full(len(pool.rows) + 1, len(pool.rows))
    places[pool.rows] = np.arange(len(pool.rows))
    return places


def link(
    distance: Distance,
    fill: Fill,
    pool: DonorPool,
    givers: Ints,
    taking: Taking,
    holes: Bools,
    weights: Floats,
    k: int,
    n_jobs: int | None,
    report: Report | None = None,
) -> Links:
    """Find the donors of every hole of the taking rows; ``givers`` are the pool's row numbers."""
    donors, distances = search(distance, pool, taking, weights, k, n_jobs, report)
    slots, columns = np.nonzero(holes)
    number_weights, vote_weights = fill.weigh(distances)
    return Links(
        taking.rows, slots, columns, givers[donors], distances, number_weights, vote_weights
    )


def informed(missing: Bools, weights: Floats) -> Bools:
    """Rows with at least one observed cell in a column that counts."""
    return np.asarray((~missing & (weights > 0.0)).any(axis=1))


def _cut(n_rows: int) -> Iterator[slice]:
    for start in range(0, max(n_rows, 1), BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, n_rows))
