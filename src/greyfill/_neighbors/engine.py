"""The loop for training rows, as a list of named steps."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import bicgstab, splu

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.k_selection import SAMPLE_ROWS, best_k, by_classification, by_hidden_cells
from greyfill._neighbors.links import Links, Request, Search, informed, link_all
from greyfill._neighbors.new_rows import FittedRecipe, Spreads, fill_new_rows
from greyfill._neighbors.preparation import Prepared, available, capped, weight_groups
from greyfill._neighbors.provenance import spreads
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Report, digest
from greyfill._neighbors.start import column_centers
from greyfill._search.pool import DonorPool, build_pool
from greyfill._search.threads import map_threads
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.ranges import RangeScaler
from greyfill.table import Bools, Floats, Ints, Table

K_RULES = ("auto", "cv", "masked")

CUT = 8_192
"""Holes that one thread fills at a time; fewer than these are not worth a second thread."""


def _quiet(message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class RecipeSettings:
    """What a caller may set besides the recipe."""

    n_neighbors: int | str = "auto"
    unlabeled: str = "soft"
    n_jobs: int | None = None
    random_state: int | None = 0
    max_donors: int | None = None
    report: Report = field(default=_quiet)


def run_recipe(
    recipe: Recipe, table: Table, labels: Ints | None, settings: RecipeSettings
) -> tuple[Floats, FittedRecipe]:
    """Fill a training table; return its values without holes and what serves new rows.

    ``labels`` are class codes, −1 where unknown. When the recipe uses labels, rows without one
    neither give nor teach: they are filled afterwards like new rows.
    """
    taught = _taught_rows(recipe, labels, table.n_rows)
    known_cells = evidence(table, taught)
    scaler = RangeScaler.learn(known_cells)
    scaled = scaler.scale(known_cells)
    centers = column_centers(scaled)
    training = scaled if known_cells is table else scaler.scale(table.rows(taught))
    known = labels[taught] if labels is not None else None
    prepared, empty_cells = _prepare(recipe, training, known, centers, settings)
    k, scores = _choose_k(prepared, settings)
    work = TrainingWork(prepared, k, settings.report)
    trace = recipe.schedule.run(work, settings.report)
    work.fallbacks["class_without_value"] += empty_cells
    kept = np.flatnonzero(prepared.may_give)
    rows, columns, spread = work.spreads()
    fitted = FittedRecipe(
        recipe=recipe,
        scaler=scaler,
        donors=_only(Table(work.values, work.open_holes, table.columns), kept),
        rows=taught[kept],
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
        spreads=(taught[rows], columns, spread),
    )
    return _assemble(fitted, table, taught, work.values, settings), fitted


def _only(table: Table, rows: Ints) -> Table:
    """Some rows of a table in their order; without a copy where they are all."""
    return table if len(rows) == table.n_rows else table.rows(rows)


def _taught_rows(recipe: Recipe, labels: Ints | None, n_rows: int) -> Ints:
    if not recipe.uses_labels:
        return np.arange(n_rows)
    if labels is None:
        raise InvalidDataError("this method needs class labels y; pass them, or set labels='none'")
    taught = np.flatnonzero(labels >= 0)
    if len(taught) == 0:
        raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
    return taught


def evidence(table: Table, taught: Ints) -> Table:
    """The table with other rows blanked out, save in columns that no taught row knows."""
    if len(taught) == table.n_rows:
        return table
    silent = np.ones(table.n_rows, dtype=bool)
    silent[taught] = False
    known = ~table.missing[taught].all(axis=0)
    return Table(table.values, table.missing | (silent[:, np.newaxis] & known), table.columns)


def _prepare(
    recipe: Recipe, training: Table, labels: Ints | None, centers: Floats, settings: RecipeSettings
) -> tuple[Prepared, int]:
    """Start fill and column weights; a column that no training row knows starts at its center."""
    start, empty_cells = recipe.start.fill(training, labels)
    start = np.where(training.missing.all(axis=0), centers, start)
    targets = np.flatnonzero(training.missing.any(axis=0))
    weights = recipe.weights.weigh(training, labels, targets)
    may_give = capped(labels, training.n_rows, settings.max_donors, settings.random_state)
    prepared = Prepared(
        recipe, training, start, labels, weights, targets, may_give, settings.n_jobs
    )
    return prepared, empty_cells


def _choose_k(prepared: Prepared, settings: RecipeSettings) -> tuple[int, dict[int, float]]:
    """A fixed k, or the best one with the error of each k that was tried."""
    wanted, labels = settings.n_neighbors, prepared.labels
    rule = k_rule(wanted, None if labels is None else set(labels.tolist()) - {-1})
    if rule is None:
        return int(wanted), {}
    if rule == "cv" and labels is not None:
        if len(labels) > SAMPLE_ROWS:
            settings.report(f"k is chosen on a stratified sample of {SAMPLE_ROWS} rows")
        errors = by_classification(prepared, labels, settings.random_state)
    else:
        pools = prepared.pools(prepared.table.missing)
        errors = by_hidden_cells(prepared, pools, settings.random_state)
    scores = {k: float(error) for k, error in enumerate(errors, start=1)}
    chosen = best_k(scores)
    settings.report(f"k = {chosen}, the best of {len(scores)} tried")
    return chosen, scores


def k_rule(wanted: int | str, classes: set[int] | None) -> str | None:
    """How k is chosen: "cv", "masked", or not at all (None); ``classes`` is None without labels."""
    if not isinstance(wanted, str):
        if wanted < 1:
            raise InvalidParameterError(f"n_neighbors must be at least 1, not {wanted!r}")
        return None
    if wanted not in K_RULES:
        raise InvalidParameterError(
            f"n_neighbors must be a positive integer or one of {K_RULES}, not {wanted!r}"
        )
    if wanted == "cv" and classes is None:
        raise InvalidParameterError(
            "n_neighbors='cv' chooses k by classifying y, but there are no classes: y is None, "
            "continuous, or unused because labels='none'; set n_neighbors to a number or "
            "'masked'"
        )
    return "cv" if wanted != "masked" and classes is not None and len(classes) > 1 else "masked"


class TrainingWork:
    """The state of the loop: current values, and which cells still count as holes."""

    def __init__(self, prepared: Prepared, k: int, report: Report = _quiet) -> None:
        self.prepared = prepared
        self.k = k
        self._report = report
        self.values = prepared.start.copy()
        self.missing = prepared.table.missing
        self.open_holes = self.missing.copy()
        self.fallbacks: Counter[str] = Counter()
        self._links: list[Links] = []
        self._moving: list[Links] | None = None
        self._all_filled = False
        self._spreads: list[Spreads] = []
        self._pools = prepared.pools(self.missing)

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change.

        After the first pass, only holes that take from holes can change.
        """
        if not self._links or self.prepared.recipe.distance.holes == "filled":
            self._link_all()
        change = self._apply(self._find_moving() if self._all_filled else self._links)
        self._all_filled = True
        return change

    def solve_numbers(self) -> float:
        """Put every numeric hole at the limit of the passes; return the largest change."""
        self._link_all()
        numbers = NumberMap.of(self._links, self.values, self.prepared.table.is_categorical)
        solution = numbers.solve()
        self.values[numbers.rows, numbers.columns] = solution
        return float(np.abs(solution - numbers.now).max(initial=0.0))

    def state(self) -> bytes:
        """A digest of the current values of the holes that a further pass may change."""
        cells = [self.values[p.rows[p.slots], p.columns] for p in self._find_moving()]
        return digest(np.concatenate(cells) if cells else np.zeros(0))

    def fill_for_good(self, takers: Ints) -> None:
        """Fill some rows once and let them give from now on, as if they had been complete."""
        links = self._link([(pool, np.intersect1d(takers, pool.takers)) for pool in self._pools])
        self._apply(links)
        self._spreads += [self._spread(piece) for piece in links]
        self.open_holes[takers] = False

    def spreads(self) -> Spreads:
        """Row, column and disagreement of the donors of every hole that had any."""
        n_jobs = self.prepared.n_jobs
        pieces = self._spreads + map_threads(self._spread, self._links, n_jobs)
        if not pieces:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)
        rows, columns, found = (np.concatenate(part) for part in zip(*pieces, strict=True))
        return rows, columns, found

    def _spread(self, piece: Links) -> Spreads:
        found = spreads(piece, self.values, self.prepared.table.is_categorical)
        return piece.rows[piece.slots], piece.columns, found

    def _link_all(self) -> None:
        """Find the donors of all holes."""
        self.fallbacks.clear()
        self._links = self._link([(pool, pool.takers) for pool in self._pools])
        self._moving, self._all_filled = None, False

    def _find_moving(self) -> list[Links]:
        """The holes whose donors may still change: fills of holes, or donors found anew."""
        if self.prepared.recipe.distance.holes == "filled":
            return self._links
        if self._moving is None:
            moving = [piece.moving(self.missing) for piece in self._links]
            self._moving = [part for piece in moving for part in piece.cut(CUT)]
        return self._moving

    def _link(self, taking: list[tuple[RowPool, Ints]]) -> list[Links]:
        """Find the donors of all holes of some takers of some pools."""
        incomplete = np.asarray(self.missing.any(axis=1))
        taking = [(pool, takers[incomplete[takers]]) for pool, takers in taking]
        taking = [(pool, takers) for pool, takers in taking if len(takers)]
        givers = [self._givers(pool) for pool, _ in taking]
        donors = map_threads(self._lay_out, givers, self.prepared.n_jobs)
        requests = (
            request
            for (pool, takers), rows, layout in zip(taking, givers, donors, strict=True)
            for request in self._requests(pool, takers, rows, layout)
        )
        recipe, n_jobs = self.prepared.recipe, self.prepared.n_jobs
        together = len(self.values)
        return list(
            link_all(recipe.distance, recipe.fill, requests, n_jobs, together, self._report)
        )

    def _lay_out(self, givers: Ints) -> DonorPool:
        return build_pool(
            self.values[givers],
            self.prepared.visible(self.open_holes[givers]),
            self.prepared.table.is_categorical,
            self.prepared.overall_weights,
        )

    def _requests(
        self, pool: RowPool, takers: Ints, givers: Ints, donors: DonorPool
    ) -> Iterator[Request]:
        if pool.fallback:
            self.fallbacks["class_too_small"] += int(self.missing[takers].sum())
        for weights, cells in weight_groups(self.prepared, self.missing[takers]):
            request = self._request(donors, givers, takers, cells, weights)
            if request is not None:
                yield request

    def _givers(self, pool: RowPool) -> Ints:
        """The pool's givers, and its takers that have been filled for good."""
        joined = pool.takers[~self.open_holes[pool.takers].any(axis=1)]
        gives = np.zeros(len(self.values), dtype=bool)
        gives[pool.givers] = True
        gives[joined[self.prepared.may_give[joined]]] = True
        return np.flatnonzero(gives)

    def _request(
        self, donors: DonorPool, givers: Ints, takers: Ints, cells: Bools, weights: Floats
    ) -> Request | None:
        some = cells.any(axis=1)
        matched = some & informed(self.prepared.visible(self.open_holes[takers]), weights)
        self.fallbacks["row_without_match"] += int(cells[some & ~matched].sum())
        rows = takers[matched]
        taking = self.prepared.taking(rows, givers, self.values[rows], self.open_holes[rows])
        k = available(taking, givers, self.k)
        if k < 1 or len(rows) == 0:
            self.fallbacks["no_donor"] += int(cells[matched].sum())
            return None
        return Request(Search(donors, taking, weights, k), givers, cells[matched])

    def _apply(self, links: list[Links]) -> float:
        """Compute every new value from the old ones, then write them; return the largest change."""
        from greyfill._search import kernels

        is_categorical = self.prepared.table.is_categorical
        n_levels = self.prepared.n_levels
        fresh = map_threads(
            lambda piece: piece.values(self.values, is_categorical, n_levels),
            links,
            self.prepared.n_jobs if sum(len(piece.slots) for piece in links) > CUT else 1,
        )
        changes = [
            kernels.write_cells(
                self.values, is_categorical, piece.rows, piece.slots, piece.columns, new
            )
            for piece, new in zip(links, fresh, strict=True)
        ]
        return max(changes, default=0.0)


def _assemble(
    fitted: FittedRecipe, table: Table, taught: Ints, values: Floats, settings: RecipeSettings
) -> Floats:
    """Training rows from the loop, rows without a label by the rule for new rows."""
    filled = fitted.scaler.unscale(values)
    if len(taught) < table.n_rows:
        untaught = np.ones(table.n_rows, dtype=bool)
        untaught[taught] = False
        known, filled = filled, np.empty_like(table.values)
        filled[taught] = known
        filled[untaught] = fill_new_rows(fitted, table.rows(untaught), settings.n_jobs)
    return np.where(table.missing, filled, table.values)


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
        cells = [_numeric_cells(piece, is_categorical) for piece in links]
        rows, columns, takers, givers, weights = _joined(cells)
        n_holes = len(rows)
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
        """Holes in sets that take from nobody but themselves, and a number for each such set."""
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


def _joined(
    cells: list[tuple[Ints, Ints, Ints, Ints, Floats]],
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """The holes and links of all pieces, holes numbered through."""
    if not cells:
        nobody = np.zeros(0, dtype=np.intp)
        return nobody, nobody, nobody, nobody, np.zeros(0)
    firsts = np.cumsum([0, *(len(part[0]) for part in cells[:-1])])
    takers = np.concatenate([part[2] + first for part, first in zip(cells, firsts, strict=True)])
    rows, columns, givers, weights = (
        np.concatenate([part[i] for part in cells]) for i in (0, 1, 3, 4)
    )
    return rows, columns, takers, givers, weights


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
