"""The loop for training rows, as a list of named steps."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from greyfill._kernels.pool import DonorPool, build_pool
from greyfill._neighbors.choose_k import (
    SAMPLE_ROWS,
    best_k,
    by_classification,
    by_hidden_cells,
)
from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.explaining import spreads
from greyfill._neighbors.linking import Links, informed, link
from greyfill._neighbors.prepared import Prepared, available, capped
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.scaling import Scaler
from greyfill._neighbors.schedule import Report, digest
from greyfill._neighbors.serving import Fitted, Spreads, serve
from greyfill._neighbors.solving import NumberMap
from greyfill._neighbors.start import column_centers
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Floats, Ints, Table

K_RULES = ("auto", "cv", "masked")


def _quiet(message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Settings:
    """What a caller may set besides the recipe."""

    n_neighbors: int | str = "auto"
    unlabeled: str = "soft"
    n_jobs: int | None = None
    random_state: int | None = 0
    max_donors: int | None = None
    report: Report = field(default=_quiet)


def run(
    recipe: Recipe, table: Table, labels: Ints | None, settings: Settings
) -> tuple[Floats, Fitted]:
    """Fill a training table; return its values without holes and what serves new rows.

    ``labels`` are class codes, −1 where unknown. When the recipe uses labels, rows without one
    neither give nor teach: they are filled afterwards like new rows.
    """
    taught = _taught_rows(recipe, labels, table.n_rows)
    known_cells = evidence(table, taught)
    scaler = Scaler.learn(known_cells)
    centers = column_centers(scaler.scale(known_cells))
    training = scaler.scale(_only(table, taught))
    known = labels[taught] if labels is not None else None
    prepared, empty_cells = _prepare(recipe, training, known, centers, settings)
    k, scores = _choose_k(prepared, settings)
    work = TrainingWork(prepared, k, settings.report)
    trace = recipe.schedule.run(work, settings.report)
    work.fallbacks["class_without_value"] += empty_cells
    kept = np.flatnonzero(prepared.may_give)
    rows, columns, spread = work.spreads()
    fitted = Fitted(
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
    recipe: Recipe, training: Table, labels: Ints | None, centers: Floats, settings: Settings
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


def _choose_k(prepared: Prepared, settings: Settings) -> tuple[int, dict[int, float]]:
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
        self._spreads: list[Spreads] = []
        self._pools = prepared.pools(self.missing)

    def one_pass(self) -> float:
        """Fill every hole from the current values; return the largest change."""
        if not self._links or self.prepared.recipe.distance.holes == "filled":
            self._link_all()
        return self._apply(self._links)

    def solve_numbers(self) -> float:
        """Put every numeric hole at the limit of the passes; return the largest change."""
        self._link_all()
        numbers = NumberMap.of(self._links, self.values, self.prepared.table.is_categorical)
        solution = numbers.solve()
        self.values[numbers.rows, numbers.columns] = solution
        return float(np.abs(solution - numbers.now).max(initial=0.0))

    def state(self) -> bytes:
        """A digest of the current values of the holes."""
        return digest(self.values[self.missing])

    def fill_for_good(self, takers: Ints) -> None:
        """Fill some rows once and let them give from now on, as if they had been complete."""
        links = [
            piece
            for pool in self._pools
            for piece in self._link(pool, np.intersect1d(takers, pool.takers))
        ]
        self._apply(links)
        self._spreads += [self._spread(piece) for piece in links]
        self.open_holes[takers] = False

    def spreads(self) -> Spreads:
        """Row, column and disagreement of the donors of every hole that had any."""
        pieces = self._spreads + [self._spread(piece) for piece in self._links]
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
        self._links = [piece for pool in self._pools for piece in self._link(pool, pool.takers)]

    def _link(self, pool: RowPool, takers: Ints) -> Iterator[Links]:
        """Find the donors of all holes of some takers of a pool."""
        takers = takers[self.missing[takers].any(axis=1)]
        if len(takers) == 0:
            return
        if pool.fallback:
            self.fallbacks["class_too_small"] += int(self.missing[takers].sum())
        givers = self._givers(pool)
        holes = self.prepared.visible(self.open_holes)
        donors = build_pool(
            self.values[givers],
            holes[givers],
            self.prepared.table.is_categorical,
            self.prepared.overall_weights,
        )
        for weights, cells in self.prepared.weight_groups(self.missing[takers]):
            piece = self._link_group(donors, givers, takers, cells, weights)
            if piece is not None:
                yield piece

    def _givers(self, pool: RowPool) -> Ints:
        """The pool's givers, and its takers that have been filled for good."""
        joined = pool.takers[~self.open_holes[pool.takers].any(axis=1)]
        return np.union1d(pool.givers, joined[self.prepared.may_give[joined]])

    def _link_group(
        self, donors: DonorPool, givers: Ints, takers: Ints, cells: Bools, weights: Floats
    ) -> Links | None:
        some = cells.any(axis=1)
        matched = some & informed(self.prepared.visible(self.open_holes)[takers], weights)
        self.fallbacks["row_without_match"] += int(cells[some & ~matched].sum())
        rows = takers[matched]
        taking = self.prepared.taking(rows, givers, self.values[rows], self.open_holes[rows])
        k = available(taking, givers, self.k)
        if k < 1 or len(rows) == 0:
            self.fallbacks["no_donor"] += int(cells[matched].sum())
            return None
        recipe = self.prepared.recipe
        return link(recipe.distance, recipe.fill, donors, givers, taking, cells[matched], weights,
                    k, self.prepared.n_jobs, self._report)  # fmt: skip

    def _apply(self, links: list[Links]) -> float:
        """Compute every new value from the old ones, then write them; return the largest change."""
        is_categorical = self.prepared.table.is_categorical
        n_levels = self.prepared.n_levels
        fresh = [piece.values(self.values, is_categorical, n_levels) for piece in links]
        largest = 0.0
        for piece, new in zip(links, fresh, strict=True):
            cells = piece.rows[piece.slots], piece.columns
            change = np.abs(new - self.values[cells])
            change = np.where(is_categorical[piece.columns], change > 0.0, change)
            largest = max(largest, float(change.max(initial=0.0)))
            self.values[cells] = new
        return largest


def _assemble(
    fitted: Fitted, table: Table, taught: Ints, values: Floats, settings: Settings
) -> Floats:
    """Training rows from the loop, rows without a label by the rule for new rows."""
    filled = np.empty_like(table.values)
    filled[taught] = fitted.scaler.unscale(values)
    others = np.setdiff1d(np.arange(table.n_rows), taught)
    if len(others):
        filled[others] = serve(fitted, table.rows(others), settings.n_jobs)
    return np.where(table.missing, filled, table.values)
