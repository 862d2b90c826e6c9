"""The unit of work: a block of incomplete rows and a donor pool give the donors of each hole.

A `SearchedTable` says which holes a distance sees and how much columns count; `Prepared` is the
one of training rows. Rows that look for donors are `QueryRows`, a `Search` finds the nearest donors
of them, and a `HoleSearch` makes `Links` of these: the donors of every hole with their weights.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.recipe import Distance, Fill, Recipe
from greyfill._neighbors.schedule import Report
from greyfill._search.pool import DonorPool, build_pool
from greyfill.table import Bools, Floats, Ints, Table

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_threads(
    work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> list[Result]:
    """What ``work`` makes of every item, in their order, on threads of this process.

    >>> map_threads(abs, [-1, 2, -3], n_jobs=2)
    [1, 2, 3]
    """
    n_threads = _threads(n_jobs) if len(items) > 1 else 1
    done = dict(_on_threads(work, items, min(n_threads or 1, len(items))))
    return [done[place] for place in range(len(items))]


def as_ready(
    work: Callable[..., Result], calls: Iterable[tuple[Any, ...]], n_calls: int, n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """The number and the result of every call of ``work``, as they get ready.

    Where ``joblib.parallel_config`` names a backend without shared memory, the calls go there.

    >>> sorted(as_ready(pow, [(2, 3), (3, 2)], 2, n_jobs=2))
    [(0, 8), (1, 9)]
    """
    n_threads = _threads(n_jobs) if n_calls > 1 else 1
    if n_threads is None:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        return enumerate(parallel(delayed(work)(*call) for call in calls))
    return _on_threads(lambda call: work(*call), calls, min(n_threads, n_calls))


def _threads(n_jobs: int | None) -> int | None:
    """How many threads ``n_jobs`` means here and now; None where a backend has other memory."""
    if n_jobs == 1:
        return 1
    backend, configured = get_active_backend(prefer="threads")
    if not getattr(backend, "supports_sharedmem", False):
        return None
    return int(backend.effective_n_jobs(configured if n_jobs is None else n_jobs))


def _on_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[tuple[int, Result]]:
    """Number and result of every item, as they get ready.

    The caller's own thread is one of the threads, and none of them polls: until
    ``joblib.Parallel`` notices an end, some of this work could be done.
    """
    if n_threads <= 1:
        yield from enumerate(map(work, items))
        return
    waiting, lock = enumerate(items), Lock()
    ready: deque[tuple[int, Result]] = deque()

    def take() -> tuple[int, Item] | None:
        with lock:
            return next(waiting, None)

    def work_on() -> Iterator[None]:
        nonlocal waiting
        try:
            while (taken := take()) is not None:
                ready.append((taken[0], work(taken[1])))
                yield
        finally:
            with lock:
                waiting = enumerate(())  # after an error no thread begins anything else

    with ThreadPoolExecutor(n_threads - 1) as helpers:
        started = [helpers.submit(deque, work_on(), 0) for _ in range(n_threads - 1)]
        for _ in work_on():
            while ready:
                yield ready.popleft()
        for helper in started:
            helper.result()
    yield from ready


CHUNK = 2**17
"""Numbers held at once: 1 MB, which stays in a core's cache."""

BLOCK_ROWS = 256
"""Incomplete rows that one thread searches at a time."""

REPORT_SECONDS = 2.0
"""A long search reports so often how far it is."""


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
        donors, distances = self.donors[:, :k], self.distances[:, :k]
        numbers, votes = fill.weigh(distances)
        return Links(self.rows, self.slots, self.columns, donors, distances, numbers, votes)


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Rows that look for donors in a pool, and which donor is the row itself (−1: none)."""

    rows: Ints
    values: Floats
    missing: Bools
    own_rows: Ints

    @classmethod
    def new(cls, rows: Ints, values: Floats, missing: Bools) -> "QueryRows":
        """Rows that are no donors."""
        return cls(rows, values, missing, np.full(len(rows), -1, dtype=np.intp))

    def only(self, wanted: Ints | Bools) -> "QueryRows":
        """Some of the rows."""
        return QueryRows(
            self.rows[wanted], self.values[wanted], self.missing[wanted], self.own_rows[wanted]
        )

    def available(self, givers: Ints, k: int) -> int:
        """How many donors each row can have: at most k, never itself."""
        return min(k, len(givers) - int((self.own_rows >= 0).any()))


class SearchedTable:
    """Donors of a recipe, with labels and weights of their columns.

    ``weights`` has one row for all target columns, or one row for each column in ``targets``.
    """

    recipe: Recipe
    donors: Table
    labels: Ints | None
    weights: Floats
    targets: Ints

    @property
    def n_levels(self) -> int:
        """The largest number of levels of any column."""
        return max((c.n_levels for c in self.donors.columns), default=0)

    @property
    def overall_weights(self) -> Floats:
        """One row of weights for searches of whole rows, such as for their class."""
        return overall_weights(self.weights)

    def visible(self, missing: Bools) -> Bools:
        """The holes that a distance sees: none where it takes fills for values; all identifiers."""
        holes = missing if self.recipe.distance.holes == "mask" else np.zeros_like(missing)
        heard = self.donors.predicts
        return holes if heard.all() else holes | ~heard

    def column_weights(self, target: int) -> Floats:
        """Weights for one target column."""
        row = np.searchsorted(self.targets, target) if self.recipe.weights.by_target else 0
        return np.asarray(self.weights[row])

    def weight_groups(self, holes: Bools) -> Iterator[tuple[Floats, Bools]]:
        """Weights, and the holes that are filled with them: all at once, or column by column."""
        if not self.recipe.weights.by_target:
            yield self.column_weights(0), holes
            return
        for target in np.flatnonzero(holes.any(axis=0)).tolist():
            yield self.column_weights(target), only_column(holes, target)

    def lay_out(self, values: Floats, missing: Bools) -> DonorPool:
        """Some donors, laid out for the search."""
        is_categorical = self.donors.is_categorical
        return build_pool(values, self.visible(missing), is_categorical, self.overall_weights)


@dataclass(frozen=True, eq=False)
class Prepared(SearchedTable):
    """A recipe, the scaled training table with its start fill, labels and column weights.

    ``may_give`` tells which rows a cap on donors leaves; usually all.
    """

    recipe: Recipe
    donors: Table
    start: Floats
    labels: Ints | None
    weights: Floats
    targets: Ints
    may_give: Bools
    n_jobs: int | None = None

    def pools(self, missing: Bools) -> list[RowPool]:
        """Which rows give to which, under the cap on donors."""
        pools = self.recipe.donors.pools(self.labels, missing)
        return [replace(pool, givers=pool.givers[self.may_give[pool.givers]]) for pool in pools]

    def queries(self, rows: Ints, givers: Ints, values: Floats, missing: Bools) -> QueryRows:
        """Rows of the training table that take from ``givers`` (sorted row numbers)."""
        return QueryRows(rows, values, self.visible(missing), places_among(givers, rows))


def places_among(givers: Ints, rows: Ints) -> Ints:
    """The place of each row among givers in rising order; −1 where it is none of them.

    >>> places_among(np.array([2, 5, 9]), np.array([5, 3, -1]))
    array([ 1, -1, -1])
    """
    if len(givers) == 0:
        return np.full(len(rows), -1, dtype=np.intp)
    places = np.minimum(np.searchsorted(givers, rows), len(givers) - 1)
    return np.where(givers[places] == rows, places, -1).astype(np.intp)


def overall_weights(weights: Floats) -> Floats:
    """The mean row of weights; equal weights where there is no row."""
    if len(weights) == 0:
        return np.full(weights.shape[1], 1.0 / weights.shape[1])
    return np.asarray(weights.mean(axis=0))


def only_column(holes: Bools, column: int) -> Bools:
    """The holes of one column."""
    kept = np.zeros_like(holes)
    kept[:, column] = holes[:, column]
    return kept


def searchable(missing: Bools, weights: Floats) -> Bools:
    """Rows with at least one observed cell in a column that counts: others match every donor."""
    return np.asarray((~missing & (weights > 0.0)).any(axis=1))


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
    """Rows that look for their k nearest donors in a pool, with Δmin and Δmax of their own."""

    pool: DonorPool
    queries: QueryRows
    weights: Floats
    k: int
    extremes: Floats | None = None

    def run(self, distance: Distance, n_jobs: int | None) -> tuple[Ints, Floats]:
        """Rows and distances of the k nearest donors of every row."""
        if len(self.queries.rows) <= BLOCK_ROWS:  # for one thread
            asked = self.queries, self.weights, self.k, self.extremes
            return _search_block(distance, Shared(self.pool), *asked)
        return search_all(distance, [self], n_jobs)[0]

    def parts(self) -> Iterator[Ints]:
        """Which rows one thread searches at a time.

        Rows that are donors themselves are searched in the order in which the pool stores them,
        others by their heaviest column: near rows follow each other and find what they need in the
        cache.
        """
        n_rows, n_donors = len(self.queries.rows), len(self.pool.rows)
        order = np.arange(n_rows)
        if n_rows > BLOCK_ROWS:
            places = np.full(n_donors + 1, n_donors)  # the last is that of rows that are no donors
            places[self.pool.rows] = np.arange(n_donors)
            heaviest = self.queries.values[:, int(np.argmax(self.weights))]
            order = np.lexsort((heaviest, places[self.queries.own_rows]))
        for start in range(0, n_rows, BLOCK_ROWS):
            yield order[start : start + BLOCK_ROWS]


def search_all(
    distance: Distance, searches: list[Search], n_jobs: int | None, report: Report | None = None
) -> list[tuple[Ints, Floats]]:
    """Rows and distances of the k nearest donors for every row of every search.

    All searches are cut into blocks, which ``n_jobs`` threads share; ``joblib.parallel_config``
    may send them elsewhere.
    """
    shapes = [(len(s.queries.rows), s.k) for s in searches]
    found = [(np.empty(shape, dtype=np.intp), np.empty(shape)) for shape in shapes]
    shared = [Shared(s.pool) for s in searches]
    parts = [(place, part) for place, s in enumerate(searches) for part in s.parts()]
    calls = (
        (
            distance,
            shared[place],
            s.queries.only(part),
            s.weights,
            s.k,
            None if s.extremes is None else s.extremes[part],
        )
        for place, part in parts
        for s in [searches[place]]
    )
    done, total, reported = 0, sum(n_rows for n_rows, _ in shapes), monotonic()
    for number, (rows, distances) in as_ready(_search_block, calls, len(parts), n_jobs):
        place, part = parts[number]
        found[place][0][part], found[place][1][part] = rows, distances
        done += len(part)
        if report is not None and monotonic() - reported >= REPORT_SECONDS:
            reported = monotonic()
            report(f"donors found for {done:,} of {total:,} rows")
    return found


def _search_block(
    distance: Distance,
    shared: Shared,
    block: QueryRows,
    weights: Floats,
    k: int,
    extremes: Floats | None,
) -> tuple[Ints, Floats]:
    queries = (shared.pool, block.values, block.missing, block.own_rows, weights, k)
    # A distance of the user's own need not take extremes.
    return distance.search(*queries) if extremes is None else distance.search(*queries, extremes)


@dataclass(frozen=True, eq=False)
class HoleSearch:
    """Holes of the rows of a search; ``givers`` are the row numbers of the pool's donors."""

    search: Search
    givers: Ints
    holes: Bools

    def run(self, recipe: Recipe, n_jobs: int | None) -> Links:
        """Find the donors of every hole."""
        return self.links(recipe.fill, self.search.run(recipe.distance, n_jobs))

    def links(self, fill: Fill, found: tuple[Ints, Floats]) -> Links:
        """The donors of every hole, as a search found them."""
        donors, distances = self.givers[found[0]], found[1]
        slots, columns = map(np.ascontiguousarray, np.nonzero(self.holes))
        rows = self.search.queries.rows
        return Links(rows, slots, columns, donors, distances, *fill.weigh(distances))


def find_links(
    recipe: Recipe,
    searches: Iterable[HoleSearch],
    n_jobs: int | None,
    together: int,
    report: Report,
) -> Iterator[Links]:
    """Find the donors of every hole of every search, for about ``together`` rows at once.

    Small searches keep all threads busy only together; too many of them would need much memory.
    """
    for batch in _batches(searches, together):
        found = search_all(recipe.distance, [holes.search for holes in batch], n_jobs, report)
        for holes, one in zip(batch, found, strict=True):
            yield holes.links(recipe.fill, one)


def _batches(searches: Iterable[HoleSearch], together: int) -> Iterator[list[HoleSearch]]:
    batch: list[HoleSearch] = []
    for one in searches:
        batch.append(one)
        if sum(len(holes.search.queries.rows) for holes in batch) >= together:
            yield batch
            batch = []
    if batch:
        yield batch


def spreads(links: Links, values: Floats, is_categorical: Bools) -> Floats:
    """How much the donors of each hole disagree.

    Numbers: the weighted standard deviation of their values, on the [0, 1] scale. Categories: one
    minus the winner's share of the votes.
    """
    out = np.empty(len(links.slots))
    votes = is_categorical[links.columns]
    k = links.donors.shape[1]
    for cells in _chunks(np.flatnonzero(~votes), k):
        given, weights = _given(links, cells, values, links.number_weights)
        means = (given * weights).sum(axis=1, keepdims=True)
        out[cells] = np.sqrt(((given - means) ** 2 * weights).sum(axis=1))
    for cells in _chunks(np.flatnonzero(votes), k * k):
        given, weights = _given(links, cells, values, links.vote_weights)
        same = given[:, :, np.newaxis] == given[:, np.newaxis, :]
        sums = np.where(same, weights[:, np.newaxis, :], 0.0).sum(axis=2).max(axis=1, initial=0.0)
        out[cells] = 1.0 - sums / np.maximum(weights.sum(axis=1), 1e-300)
    return out


def _chunks(cells: Ints, numbers_each: int) -> Iterator[Ints]:
    step = max(CHUNK // numbers_each, 1)
    for start in range(0, len(cells), step):
        yield cells[start : start + step]


def _given(links: Links, cells: Ints, values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """What the donors of some holes give, and the weights of the donors."""
    slots, columns = links.slots[cells], links.columns[cells]
    return values[links.donors[slots], columns[:, np.newaxis]], weights[slots]
