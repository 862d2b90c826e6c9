"""The loop for training rows: the recipe step by step, its passes, and where the passes lead.

`run_recipe` is the straight line. `TrainingWork` holds the state of the loop and fills the holes;
`NumberMap` is one pass over the numeric holes as a linear map, whose fixed point `Direct` solves
for.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import bicgstab, splu

from greyfill._neighbors.descent import best_fills, choices, objective
from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.k_selection import capped, choose_k
from greyfill._neighbors.links import (
    HoleSearch,
    Links,
    Prepared,
    Search,
    find_links,
    map_threads,
    places_among,
    searchable,
    spreads,
)
from greyfill._neighbors.new_rows import FittedRecipe, Spreads, fill_new_rows, fill_rows
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Report, Trace, digest
from greyfill._neighbors.start import column_centers
from greyfill._search.pool import DonorPool
from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Ints, RangeScaler, Table

CUT = 8_192
"""Holes that one thread fills at a time; fewer than these are not worth a second thread."""


def _quiet(message: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class RecipeSettings:
    """What a caller may set besides the recipe."""

    n_neighbors: int | str = "auto"
    unlabeled: str = "soft"
    n_jobs: int | None = None
    random_state: int | None = 0
    max_donors: int | None = None
    crosses: bool = False
    report: Report = field(default=_quiet)


def run_recipe(
    recipe: Recipe, table: Table, labels: Ints | None, settings: RecipeSettings
) -> tuple[Floats, FittedRecipe]:
    """Fill a training table; return its values without holes and what new rows are filled by.

    ``labels`` are class codes, −1 where unknown. When the recipe uses labels, rows without one are
    no training rows: they are filled afterwards like new rows.
    """
    rows = _training_rows(recipe, labels, table.n_rows)
    learned_from = training_cells(table, rows)
    scaler = RangeScaler.learn(learned_from)
    scaled = scaler.scale(learned_from)
    centers = column_centers(scaled)
    training = scaled if learned_from is table else scaler.scale(table.rows(rows))
    known = labels[rows] if labels is not None else None
    prepared, empty_cells = _prepare(recipe, training, known, centers, settings)
    k, scores = choose_k(prepared, settings.n_neighbors, settings.random_state, settings.report)
    work = TrainingWork(prepared, k, settings.report)
    trace = recipe.schedule.run(work, settings.report)
    work.fallbacks["class_without_value"] += empty_cells
    kept = np.flatnonzero(prepared.may_give)
    donors = Table(work.values, work.open_holes, table.columns)
    at_rows, columns, spread = work.spreads()
    fitted = FittedRecipe(
        recipe=recipe,
        scaler=scaler,
        donors=donors if len(kept) == len(rows) else donors.rows(kept),
        rows=rows[kept],
        labels=None if known is None else known[kept],
        pools=tuple(pool.among(kept) for pool in prepared.pools(work.open_holes)),
        weights=prepared.weights,
        targets=prepared.targets,
        centers=centers,
        n_neighbors=k,
        unlabeled=settings.unlabeled,
        trace=trace,
        k_scores=scores,
        fallbacks=dict(work.fallbacks),
        spreads=(rows[at_rows], columns, spread),
        crosses=settings.crosses,
    )
    if settings.crosses:
        return _crossed(fitted, table, settings.n_jobs)
    filled = scaler.unscale(work.values)
    return _with_other_rows(fitted, table, rows, filled, settings.n_jobs), fitted


def _training_rows(recipe: Recipe, labels: Ints | None, n_rows: int) -> Ints:
    """All rows, or those with a label where the recipe uses labels."""
    if not recipe.uses_labels:
        return np.arange(n_rows)
    if labels is None:
        raise InvalidDataError("this method needs class labels y; pass them, or set labels='none'")
    labeled = np.flatnonzero(labels >= 0)
    if len(labeled) == 0:
        raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
    return labeled


def training_cells(table: Table, training_rows: Ints) -> Table:
    """The table with other rows masked, save in columns without a value in any training row."""
    if len(training_rows) == table.n_rows:
        return table
    other = np.ones(table.n_rows, dtype=bool)
    other[training_rows] = False
    known = ~table.missing[training_rows].all(axis=0)
    return Table(table.values, table.missing | (other[:, np.newaxis] & known), table.columns)


def _prepare(
    recipe: Recipe, training: Table, labels: Ints | None, centers: Floats, settings: RecipeSettings
) -> tuple[Prepared, int]:
    """Start fill and column weights, and how many cells have no value in their class.

    A column without a value in any training row starts at its center.
    """
    start, empty_cells = recipe.start.fill(training, labels)
    start = np.where(training.missing.all(axis=0), centers, start)
    targets = np.flatnonzero(training.missing.any(axis=0))
    weights = recipe.weigh_columns(training, labels, targets)
    may_give = capped(labels, training.n_rows, settings.max_donors, settings.random_state)
    prepared = Prepared(
        recipe, training, start, labels, weights, targets, may_give, settings.n_jobs
    )
    return prepared, empty_cells


def _with_other_rows(
    fitted: FittedRecipe, table: Table, rows: Ints, values: Floats, n_jobs: int | None
) -> Floats:
    """Fills of training rows, and of all other rows by the rule for new rows."""
    filled = values
    if len(rows) < table.n_rows:
        other = np.ones(table.n_rows, dtype=bool)
        other[rows] = False
        filled = np.empty_like(table.values)
        filled[rows] = values
        filled[other] = fill_new_rows(fitted, table.rows(other), n_jobs)
    return np.where(table.missing, filled, table.values)


def _crossed(fitted: FittedRecipe, table: Table, n_jobs: int | None) -> tuple[Floats, FittedRecipe]:
    """Fills of all rows by the rule for new rows: none sees its own label, or itself."""
    spread, own = np.full(table.values.shape, np.nan), np.arange(table.n_rows)
    values = fill_rows(fitted, table, places_among(fitted.rows, own), n_jobs, spread)
    rows, columns = np.nonzero(~np.isnan(spread))
    return values, replace(fitted, spreads=(rows, columns, spread[rows, columns]))


class TrainingWork:
    """The state of the loop: current values, and which cells still count as holes."""

    def __init__(self, prepared: Prepared, k: int, report: Report = _quiet) -> None:
        self.prepared = prepared
        self.k = k
        self._report = report
        self.values = prepared.start.copy()
        self.missing = prepared.donors.missing
        self.open_holes = self.missing.copy()
        self.fallbacks: Counter[str] = Counter()
        self._links: list[Links] = []
        self._moving: list[Links] | None = None
        self._applied: tuple[list[Links], list[Floats]] = [], []
        self._all_filled = False
        self._spreads: list[Spreads] = []
        self._pools = prepared.pools(self.missing)

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change.

        After the first pass, only holes that take from holes can change.
        """
        if not self._links or self.prepared.recipe.distance.holes == "filled":
            self._find_links()
        change = self._apply(self._find_moving() if self._all_filled else self._links)
        self._all_filled = True
        return change

    def solve_numbers(self) -> float:
        """Put every numeric hole at the limit of the passes; return the largest change."""
        self._find_links()
        numbers = NumberMap.of(self._links, self.values, self.prepared.donors.is_categorical)
        solution = numbers.solve()
        self.values[numbers.rows, numbers.columns] = solution
        return float(np.abs(solution - numbers.now).max(initial=0.0))

    def state(self) -> bytes:
        """A digest of the current values of the holes that a further pass may change."""
        moving, (applied, cells) = self._find_moving(), self._applied
        if applied is not moving:
            cells = [self.values[p.rows[p.slots], p.columns] for p in moving]
        return digest(np.concatenate(cells) if cells else np.zeros(0))

    def fill_for_good(self, takers: Ints) -> None:
        """Fill some rows once and let them give from now on, as if they had been complete."""
        wanted = np.zeros(len(self.values), dtype=bool)
        wanted[takers] = True
        links = self._links_of(wanted)
        self._apply(links)
        self._spreads += [self._spread(piece) for piece in links]
        self.open_holes[takers] = False

    def descend(self, tol: float, max_iter: int, both_ways: bool) -> Trace:
        """Lower the objective of opt.knn from the start fill and from one by neighbors."""
        distance = replace(self.prepared.recipe.distance, holes="mask")  # type: ignore[type-var]
        masked = replace(self.prepared, recipe=replace(self.prepared.recipe, distance=distance))
        first = TrainingWork(masked, self.k)
        first.one_pass()
        ends = []
        for values in (self.prepared.start, first.values):
            self.values = values.copy()
            trace = self._descend(tol, max_iter, both_ways)
            ends.append((trace.history[-1], self.values, trace))
        _, self.values, trace = min(ends, key=lambda end: end[0])
        self._find_links()
        return trace

    def _descend(self, tol: float, max_iter: int, both_ways: bool) -> Trace:
        """Donors anew, then every hole where the objective is least, again and again."""
        is_categorical, n_levels = self.prepared.donors.is_categorical, self.prepared.n_levels
        history: list[float] = []
        for _ in range(max_iter):
            self._find_links()
            chosen = choices(self._links, len(self.values))
            self.values = best_fills(
                chosen, self.values, self.missing, is_categorical, n_levels, both_ways
            )
            history.append(objective(chosen, self.values, is_categorical))
            self._report(f"step {len(history)}: objective {history[-1]:.6g}")
            if len(history) > 1 and history[-2] - history[-1] <= tol * history[-2]:
                return Trace(tuple(history), converged=True)
        return Trace(tuple(history), converged=False)

    def spreads(self) -> Spreads:
        """Row, column and disagreement of the donors of every hole that had any."""
        n_jobs = self.prepared.n_jobs
        pieces = self._spreads + map_threads(self._spread, self._links, n_jobs)
        if not pieces:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)
        rows, columns, found = (np.concatenate(part) for part in zip(*pieces, strict=True))
        return rows, columns, found

    def _spread(self, piece: Links) -> Spreads:
        found = spreads(piece, self.values, self.prepared.donors.is_categorical)
        return piece.rows[piece.slots], piece.columns, found

    def _find_links(self) -> None:
        """Find the donors of all holes."""
        self.fallbacks.clear()
        self._links = self._links_of(np.ones(len(self.values), dtype=bool))
        self._moving, self._all_filled = None, False

    def _find_moving(self) -> list[Links]:
        """The holes whose donors may still change: fills of holes, or donors found anew."""
        if self.prepared.recipe.distance.holes == "filled":
            return self._links
        if self._moving is None:
            moving = [piece.moving(self.missing) for piece in self._links]
            self._moving = [part for piece in moving for part in piece.cut(CUT)]
        return self._moving

    def _links_of(self, wanted: Bools) -> list[Links]:
        """Find the donors of all holes of the wanted rows."""
        prepared, wanted = self.prepared, wanted & self.missing.any(axis=1)
        taking = [(pool, pool.takers[wanted[pool.takers]]) for pool in self._pools]
        taking = [(pool, takers) for pool, takers in taking if len(takers)]
        givers = [self._givers(pool) for pool, _ in taking]
        layouts = map_threads(
            lambda rows: prepared.lay_out(self.values[rows], self.open_holes[rows]),
            givers,
            prepared.n_jobs,
        )
        searches = (
            search
            for (pool, takers), rows, layout in zip(taking, givers, layouts, strict=True)
            for search in self._searches(pool, takers, rows, layout)
        )
        together = len(self.values)
        return list(find_links(prepared.recipe, searches, prepared.n_jobs, together, self._report))

    def _givers(self, pool: RowPool) -> Ints:
        """The pool's givers, and its takers that have been filled for good."""
        joined = pool.takers[~self.open_holes[pool.takers].any(axis=1)]
        gives = np.zeros(len(self.values), dtype=bool)
        gives[pool.givers] = True
        gives[joined[self.prepared.may_give[joined]]] = True
        return np.flatnonzero(gives)

    def _searches(
        self, pool: RowPool, takers: Ints, givers: Ints, layout: DonorPool
    ) -> Iterator[HoleSearch]:
        """One search for each group of weights; cells without a donor are counted."""
        missing = self.missing[takers]
        if pool.fallback:
            self.fallbacks["class_too_small"] += int(missing.sum())
        for weights, cells in self.prepared.weight_groups(missing):
            some = cells.any(axis=1)
            matched = some & searchable(self.prepared.visible(self.open_holes[takers]), weights)
            self.fallbacks["row_without_match"] += int(cells[some & ~matched].sum())
            rows = takers[matched]
            queries = self.prepared.queries(rows, givers, self.values[rows], self.open_holes[rows])
            k = queries.available(givers, self.k)
            if k < 1 or len(rows) == 0:
                self.fallbacks["no_donor"] += int(cells[matched].sum())
                continue
            yield HoleSearch(Search(layout, queries, weights, k), givers, cells[matched])

    def _apply(self, links: list[Links]) -> float:
        """Compute every new value from the old ones, then write them; return the largest change."""
        from greyfill._search import kernels

        is_categorical, n_levels = self.prepared.donors.is_categorical, self.prepared.n_levels
        fresh = map_threads(
            lambda piece: piece.values(self.values, is_categorical, n_levels),
            links,
            self.prepared.n_jobs if sum(len(piece.slots) for piece in links) > CUT else 1,
        )
        self._applied = links, fresh
        changes = [
            kernels.write_cells(
                self.values, is_categorical, piece.rows, piece.slots, piece.columns, new
            )
            for piece, new in zip(links, fresh, strict=True)
        ]
        return max(changes, default=0.0)


FAINT = 1e-12
"""A donor of less weight than this is lost in rounding and counts as none."""

FACTORED = 5_000
"""Up to this many holes a column is solved by LU factors; beyond it they could fill the memory."""


@dataclass(frozen=True, eq=False)
class NumberMap:
    """One pass over the numeric holes: x ← ``among`` · x + ``given``.

    Hole c lies in row ``rows[c]`` and column ``columns[c]``; ``now`` are the current values.
    ``among[c, d]`` is the weight that hole c gives to hole d, and ``outside[c]`` that of all donors
    whose cell is no such hole, which together give ``given[c]``.
    """

    rows: Ints
    columns: Ints
    now: Floats
    among: sparse.csr_array
    outside: Floats
    given: Floats

    @classmethod
    def of(cls, links: Iterable[Links], values: Floats, is_categorical: Bools) -> "NumberMap":
        """The map of all numeric holes that have donors."""
        none, n_holes = np.zeros(0, dtype=np.intp), 0
        parts: list[tuple[Ints, Ints, Ints, Ints, Floats]] = [(none,) * 4 + (np.zeros(0),)]
        for piece in links:
            rows, columns, holes, donors, shares = _numeric_cells(piece, is_categorical)
            parts.append((rows, columns, n_holes + holes, donors, shares))
            n_holes += len(rows)
        rows, columns, takers, givers, weights = map(np.concatenate, zip(*parts, strict=True))
        place = np.full(values.shape, -1, dtype=np.int32)
        place[rows, columns] = np.arange(n_holes)
        source = place[givers, columns[takers]]
        inner = source >= 0
        among = sparse.coo_array(
            (weights[inner], (takers[inner].astype(np.int32), source[inner])),
            shape=(n_holes, n_holes),
        ).tocsr()
        outer, share = takers[~inner], weights[~inner]
        lent = values[givers[~inner], columns[outer]]
        return cls(
            rows=rows,
            columns=columns,
            now=values[rows, columns],
            among=among,
            outside=np.asarray(np.bincount(outer, share, n_holes), dtype=np.float64),
            given=np.asarray(np.bincount(outer, share * lent, n_holes), dtype=np.float64),
        )

    def solve(self) -> Floats:
        """The fixed point to which the passes lead.

        Holes that give to themselves only, in sets that nothing observed enters, keep the mean of
        their current values under the stationary distribution of their weights. All others are
        (I − A)⁻¹ b, with the former counted among what is given.
        """
        solution = self.now.copy()
        closed, label = self.closed_sets()
        for members in _groups(closed, label):
            within = self.among[members][:, members]
            solution[members] = _stationary_mean(within, self.now[members])
        known = self.given + self.among @ np.where(closed, solution, 0.0)
        for holes in _groups(~closed, self.columns):
            solution[holes] = _solve(self.among[holes][:, holes], known[holes], self.now[holes])
        return solution

    def closed_sets(self) -> tuple[Bools, Ints]:
        """Holes in sets that take from themselves only, and a number for each such set."""
        n_sets, label = csgraph.connected_components(self.among, connection="strong")
        edges = self.among.tocoo()
        taker, giver = edges.row, edges.col
        leaves = np.zeros(n_sets, dtype=bool)
        leaves[label[self.outside > 0.0]] = True
        leaves[label[taker[label[taker] != label[giver]]]] = True
        return ~leaves[label], label


def _numeric_cells(piece: Links, is_categorical: Bools) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Rows and columns of a piece's numeric holes; hole, donor and weight of each of its links."""
    numeric = ~is_categorical[piece.columns]
    slots, columns = piece.slots[numeric], piece.columns[numeric]
    weights = np.where(piece.number_weights < FAINT, 0.0, piece.number_weights)[slots]
    weights = weights / weights.sum(axis=1, keepdims=True)
    hole, place = np.nonzero(weights)
    return piece.rows[slots], columns, hole, piece.donors[slots[hole], place], weights[hole, place]


def _groups(chosen: Bools, label: Ints) -> list[Ints]:
    """The chosen members of each label."""
    members = np.flatnonzero(chosen)
    members = members[np.argsort(label[members], kind="stable")]
    return np.split(members, np.flatnonzero(np.diff(label[members])) + 1) if len(members) else []


def _solve(among: sparse.csr_array, known: Floats, guess: Floats) -> Floats:
    """(I − A)⁻¹ b: by LU factors, or for a large A by BiCGSTAB to near machine precision.

    Where rounding has made the system singular, the guess is as good as any answer.
    """
    system = (sparse.eye_array(len(known)) - among).tocsc()
    if len(known) > FACTORED:
        return np.asarray(bicgstab(system, known, x0=guess, rtol=1e-14)[0])
    try:
        return np.asarray(splu(system).solve(known))
    except RuntimeError:
        return guess


def _stationary_mean(stochastic: sparse.csr_array, values: Floats) -> float:
    """π · values for π = π P, Σ π = 1, of an irreducible stochastic matrix P."""
    if np.ptp(values) == 0.0:
        return float(values[0])
    size = len(values)
    balance = (sparse.eye_array(size) - stochastic.T).tolil()
    balance[size - 1] = np.ones(size)
    unit = np.zeros(size)
    unit[-1] = 1.0
    return float(splu(balance.tocsc()).solve(unit) @ values)
