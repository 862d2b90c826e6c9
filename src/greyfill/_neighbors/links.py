"""The unit of work: a block of incomplete rows and a donor pool give the donors of each hole."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from greyfill._neighbors.recipe import Distance, Fill
from greyfill._neighbors.schedule import Report
from greyfill._search.pool import NO_HINTS, DonorPool, Hints
from greyfill._search.threads import as_ready
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
        from greyfill._search import kernels

        return np.asarray(
            kernels.fill_cells(
                donor_values, is_categorical, self.slots, self.columns, self.donors,
                self.number_weights, self.vote_weights, n_levels,
            )
        )  # fmt: skip

    def moving(self, missing: Bools) -> "Links":
        """Only the holes with a donor that was filled itself; the others stay as they are."""
        from greyfill._search import kernels

        some = kernels.any_missing(missing, self.slots, self.columns, self.donors)
        return replace(self, slots=self.slots[some], columns=self.columns[some])

    def cut(self, size: int) -> Iterator["Links"]:
        """The same holes in pieces of at most ``size``."""
        for start in range(0, len(self.slots), size):
            part = slice(start, start + size)
            yield replace(self, slots=self.slots[part], columns=self.columns[part])

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

    def only(self, wanted: Ints | Bools) -> "Taking":
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


@dataclass(frozen=True, eq=False)
class Search:
    """Rows that look for their k nearest donors in a pool; hints come from its other parts."""

    pool: DonorPool
    taking: Taking
    weights: Floats
    k: int
    hints: Hints = NO_HINTS

    def parts(self) -> Iterator[Ints]:
        """Which rows one thread searches at a time.

        Rows that are donors themselves are searched in the order in which the pool stores them,
        others by their heaviest column: near rows follow each other and find what they need in the
        cache.
        """
        n_rows = len(self.taking.rows)
        order = np.arange(n_rows) if n_rows <= BLOCK_ROWS else self._near_together()
        for start in range(0, n_rows, BLOCK_ROWS):
            yield order[start : start + BLOCK_ROWS]

    def _near_together(self) -> Ints:
        heaviest = self.taking.values[:, int(np.argmax(self.weights))]
        return np.lexsort((heaviest, _places(self.pool)[self.taking.own_rows]))


def search(
    distance: Distance,
    pool: DonorPool,
    taking: Taking,
    weights: Floats,
    k: int,
    n_jobs: int | None,
    hints: Hints = NO_HINTS,
) -> tuple[Ints, Floats]:
    """Rows and distances of the k nearest donors of every row."""
    return search_all(distance, [Search(pool, taking, weights, k, hints)], n_jobs)[0]


def search_all(
    distance: Distance,
    searches: list[Search],
    n_jobs: int | None,
    report: Report | None = None,
) -> list[tuple[Ints, Floats]]:
    """Rows and distances of the k nearest donors for every row of every search.

    All searches are cut into blocks, which ``n_jobs`` threads share; ``joblib.parallel_config``
    may send them elsewhere.
    """
    found = [_room(s) for s in searches]
    shared = [Shared(s.pool) for s in searches]
    parts = [(place, part) for place, s in enumerate(searches) for part in s.parts()]
    calls = (
        (distance, shared[place], s.taking.only(part), s.weights, s.k, s.hints.only(part))
        for place, part in parts
        for s in [searches[place]]
    )
    told = _Progress(sum(len(part) for _, part in parts), report)
    for number, (rows, distances) in as_ready(_search_block, calls, len(parts), n_jobs):
        place, part = parts[number]
        found[place][0][part], found[place][1][part] = rows, distances
        told.tell(len(part))
    return found


def _search_block(
    distance: Distance, shared: Shared, block: Taking, weights: Floats, k: int, hints: Hints
) -> tuple[Ints, Floats]:
    queries = (shared.pool, block.values, block.missing, block.own_rows, weights, k)
    # A distance of the user's own need not know hints.
    return distance.search(*queries) if hints.are_none else distance.search(*queries, hints)


class _Progress:
    """Tells from time to time how many rows of a long search are done."""

    def __init__(self, n_rows: int, report: Report | None) -> None:
        self._n_rows, self._report = n_rows, report
        self._done, self._told = 0, monotonic()

    def tell(self, n_rows: int) -> None:
        """Count some rows more."""
        self._done += n_rows
        if self._report is not None and monotonic() - self._told >= REPORT_SECONDS:
            self._told = monotonic()
            self._report(f"donors found for {self._done:,} of {self._n_rows:,} rows")


def _room(search: Search) -> tuple[Ints, Floats]:
    shape = len(search.taking.rows), search.k
    return np.empty(shape, dtype=np.intp), np.empty(shape)


def _places(pool: DonorPool) -> Ints:
    """Where the pool stores each donor; one more place at the end for rows that are none (−1)."""
    places = np.full(len(pool.rows) + 1, len(pool.rows))
    places[pool.rows] = np.arange(len(pool.rows))
    return places


@dataclass(frozen=True, eq=False)
class Request:
    """Holes of the rows of a search; ``givers`` are the row numbers of the pool's donors."""

    search: Search
    givers: Ints
    holes: Bools

    def links(self, fill: Fill, found: tuple[Ints, Floats]) -> Links:
        """The donors of every hole."""
        donors, distances = found
        slots, columns = map(np.ascontiguousarray, np.nonzero(self.holes))
        number_weights, vote_weights = fill.weigh(distances)
        return Links(
            self.search.taking.rows, slots, columns, self.givers[donors], distances,
            number_weights, vote_weights,
        )  # fmt: skip


def link(distance: Distance, fill: Fill, request: Request, n_jobs: int | None) -> Links:
    """Find the donors of every hole of one request."""
    return request.links(fill, search_all(distance, [request.search], n_jobs)[0])


def link_all(
    distance: Distance,
    fill: Fill,
    requests: Iterable[Request],
    n_jobs: int | None,
    together: int,
    report: Report,
) -> Iterator[Links]:
    """Find the donors of every hole of every request, for about ``together`` rows at once.

    Small requests keep all threads busy only together; too many of them would need much memory.
    """
    for batch in _batches(requests, together):
        found = search_all(distance, [request.search for request in batch], n_jobs, report)
        for request, one in zip(batch, found, strict=True):
            yield request.links(fill, one)


def _batches(requests: Iterable[Request], together: int) -> Iterator[list[Request]]:
    batch: list[Request] = []
    for request in requests:
        batch.append(request)
        if sum(len(r.search.taking.rows) for r in batch) >= together:
            yield batch
            batch = []
    if batch:
        yield batch


def informed(missing: Bools, weights: Floats) -> Bools:
    """Rows with at least one observed cell in a column that counts."""
    return np.asarray((~missing & (weights > 0.0)).any(axis=1))
