"""Masks of cells to hide: completely at random, at random, and not at random, eqs (4)–(6).

A mechanism scores the cells (`design`, `standardize`), and a `Draw` hides those with the highest
score plus noise, so many as the rate wants. `split_cells` sets predictors apart where every column
may get holes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit

from greyfill.checks import is_number
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table, indicators

Seed = int | np.random.Generator | None


def mcar(
    table: Table,
    rate: float,
    columns: Sequence[str | int] | None = None,
    *,
    exact: bool = True,
    keep_one: bool = True,
    random_state: Seed = None,
) -> Bools:
    """Hide cells completely at random: P(D | X) = P(D)  (4).

    Parameters
    ----------
    table
        The table; its own holes are never chosen.
    rate
        Share of the observed cells of each chosen column to hide, in [0, 1).
    columns
        Names or positions of the columns that get holes; all by default.
    exact
        Hide round(rate · observed cells) in each column, else each cell with P = rate.
    keep_one
        Never hide the last observed cell of a row or column. Rows that would be emptied
        hand one hole on to another row, which bends the mechanism slightly at high rates.
    random_state
        Seed or generator.

    >>> from greyfill.table import Column, Kind
    >>> table = Table(np.arange(20.0).reshape(10, 2), np.zeros((10, 2), bool),
    ...               (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC)))
    >>> mcar(table, 0.3, random_state=0).sum(axis=0)
    array([3, 3])
    """
    draw = Draw(rate, exact, keep_one)
    eligible = _only(~table.missing, positions(table, columns, "columns"))
    rng = np.random.default_rng(random_state)
    return draw.holes(np.zeros(table.values.shape), eligible, eligible, ~table.missing, rng)


def mar(
    table: Table,
    rate: float,
    columns: Sequence[str | int] | None = None,
    predictors: Sequence[str | int] | None = None,
    *,
    coefficients: ArrayLike | None = None,
    strength: float = 1.0,
    exact: bool = True,
    keep_one: bool = True,
    random_state: Seed = None,
) -> Bools:
    """Hide cells at random: P(D | X) = P(D | X_obs)  (5), by a logistic model as (40), (41).

    P(cell ij is hidden) = e^η / (1 + e^η), η = c_j + Σ_l β_jl z_il over predictors l, with z
    standardized numbers and centered category indicators, and c_j solved for the rate (the
    paper's D marks observed cells, so its coefficients have the other sign).
    Predictors get no holes. Where they have natural holes those cells count as average.

    When every column may get holes (neither ``columns`` nor ``predictors`` spares one), each row
    first draws at random which of its cells may be hidden (half of them, more above a rate of
    1/4), and the others stay observed and are the predictors of that row. So the missingness of
    a cell depends only on cells that are still seen afterwards, as ``ampute`` in R's mice does.

    Parameters
    ----------
    table, rate, columns, exact, keep_one, random_state
        As in :func:`mcar`.
    predictors
        Names or positions of columns that decide; all columns but ``columns`` by default.
    coefficients
        Β, one row for each number or category level of the predictors in table order
        and one column for each column that gets holes, or one vector for all. Used as given;
        by default drawn from N(0, 1) and scaled so that η has deviation ``strength``.
    strength
        Standard deviation of η; 0 gives MCAR.

    >>> from greyfill.table import Column, Kind
    >>> x = np.arange(12.0)
    >>> table = Table(np.column_stack([x, x]), np.zeros((12, 2), bool),
    ...               (Column("age", Kind.NUMERIC), Column("income", Kind.NUMERIC)))
    >>> mask = mar(table, 0.25, ["income"], ["age"], coefficients=[50.0], random_state=0)
    >>> np.flatnonzero(mask[:, 1])
    array([ 9, 10, 11])
    """
    draw, strength = Draw(rate, exact, keep_one), _finite(strength)
    targets, sources = _roles(table, columns, predictors)
    observed, rng = ~table.missing, np.random.default_rng(random_state)
    eligible = open_cells = _only(observed, targets)
    usable = _only(observed, sources)
    if np.array_equal(targets, sources):
        open_cells = split_cells(eligible, draw, rng)
        usable = observed & ~open_cells
    cells, _ = design(table, usable, sources)
    scores = np.zeros(table.values.shape)
    scores[:, targets] = cells @ _coefficients(coefficients, cells.shape[1], len(targets), rng)
    if coefficients is None:
        scores = standardize(scores, open_cells, strength)
    return draw.holes(scores, open_cells, eligible, observed, rng)


def nmar(
    table: Table,
    rate: float,
    columns: Sequence[str | int] | None = None,
    *,
    strength: float = 1.0,
    exact: bool = True,
    keep_one: bool = True,
    random_state: Seed = None,
) -> Bools:
    """Hide cells by their own value: P(D | X) = P(D | X_obs, X_mis)  (6).

    P(cell ij is hidden) = e^η / (1 + e^η), η = c_j + strength · z_ij, z the standardized value;
    each level of a category has an effect drawn from N(0, 1), standardized likewise.

    Parameters
    ----------
    table, rate, columns, exact, keep_one, random_state
        As in :func:`mcar`.
    strength
        Standard deviation of η; positive hides high values, negative low ones.

    >>> from greyfill.table import Column, Kind
    >>> table = Table(np.arange(8.0)[:, None], np.zeros((8, 1), bool),
    ...               (Column("income", Kind.NUMERIC),))
    >>> np.flatnonzero(nmar(table, 0.25, strength=50.0, keep_one=False, random_state=0))
    array([6, 7])
    """
    draw, strength = Draw(rate, exact, keep_one), _finite(strength)
    observed, rng = ~table.missing, np.random.default_rng(random_state)
    eligible = _only(observed, positions(table, columns, "columns"))
    cells, source = design(table, eligible, np.arange(table.n_columns))
    effects = np.where(table.is_categorical[source], rng.normal(size=len(source)), 1.0)
    own = effects[:, None] * (source[:, None] == np.arange(table.n_columns))
    scores = standardize(cells @ own, eligible, strength)
    return draw.holes(scores, eligible, eligible, observed, rng)


def hide(table: Table, mask: Bools) -> Table:
    """Return the same table with the cells of ``mask`` missing.

    >>> from greyfill.table import Column, Kind
    >>> table = Table(np.array([[5.0], [6.0]]), np.zeros((2, 1), bool),
    ...               (Column("a", Kind.NUMERIC),))
    >>> hidden = hide(table, np.array([[True], [False]]))
    >>> hidden.missing.ravel().tolist(), hidden.values.ravel().tolist()
    ([True, False], [0.0, 6.0])
    """
    if mask.shape != table.values.shape:
        raise InvalidDataError(f"mask {mask.shape} does not fit the table {table.values.shape}")
    return Table(np.where(mask, 0.0, table.values), table.missing | mask, table.columns)


def _only(cells: Bools, columns: Ints) -> Bools:
    """Keep the cells of the given columns."""
    return cells & np.isin(np.arange(cells.shape[1]), columns)


def _finite(strength: float) -> float:
    if not np.isfinite(strength):
        raise InvalidParameterError(f"strength must be a finite number, got {strength!r}")
    return float(strength)


def _roles(
    table: Table, columns: Sequence[str | int] | None, predictors: Sequence[str | int] | None
) -> tuple[Ints, Ints]:
    """Columns that get holes, and columns that decide; the same when every column plays both."""
    everything = np.arange(table.n_columns)
    targets = positions(table, columns, "columns")
    sources = positions(table, predictors, "predictors")
    if predictors is None:
        sources = np.setdiff1d(everything, targets)
        return targets, sources if len(sources) else everything
    if columns is None:
        targets = np.setdiff1d(everything, sources)
    both = [table.columns[j].name for j in np.intersect1d(targets, sources)]
    if both:
        raise InvalidParameterError(f"{both} cannot both get holes and be predictors")
    if len(targets) == 0:
        raise InvalidParameterError("every column is a predictor, so none can get holes")
    return targets, sources


def positions(table: Table, columns: Sequence[str | int] | None, role: str) -> Ints:
    """Positions of columns given by name or position; all of them for ``None``.

    >>> pair = Table(np.zeros((1, 2)), np.zeros((1, 2), bool),
    ...              (Column("age", Kind.NUMERIC), Column("sex", Kind.CATEGORICAL, 2)))
    >>> positions(pair, ["sex"], "columns")
    array([1])
    """
    if columns is None:
        return np.arange(table.n_columns)
    if isinstance(columns, str):
        raise InvalidParameterError(f"{role} must be a list, such as [{columns!r}]")
    place: dict[str | int, int] = {c.name: j for j, c in enumerate(table.columns)}
    place |= {j: j for j in range(table.n_columns)}
    unknown = [c for c in columns if c not in place]
    if unknown:
        names = ", ".join(c.name for c in table.columns)
        raise InvalidParameterError(f"{role} {unknown} are not in the table; it has {names}")
    if len(columns) == 0:
        raise InvalidParameterError(f"{role} is empty; pass None for all columns")
    return np.array(sorted({place[c] for c in columns}), dtype=np.intp)


def _coefficients(
    given: ArrayLike | None, n_parts: int, n_targets: int, rng: np.random.Generator
) -> Floats:
    """β as an array of parts × targets, drawn unless given."""
    if given is None:
        return rng.normal(size=(n_parts, n_targets))
    beta = np.asarray(given, dtype=np.float64)
    beta = beta[:, None] if beta.ndim == 1 else beta
    if beta.shape not in {(n_parts, 1), (n_parts, n_targets)}:
        raise InvalidParameterError(
            f"coefficients have shape {beta.shape}, the predictors need ({n_parts},) "
            f"or ({n_parts}, {n_targets})"
        )
    return np.broadcast_to(beta, (n_parts, n_targets))


def design(table: Table, usable: Bools, sources: Ints) -> tuple[Floats, Ints]:
    """Standardized numbers and centered category indicators of the usable cells.

    Means and deviations come from the usable cells alone, and every other cell is 0, so that no
    score can depend on a cell that may be hidden. Returned with the source column of each part.

    >>> cells = Table(np.array([[1.0], [3.0], [9.0]]), np.zeros((3, 1), bool),
    ...               (Column("a", Kind.NUMERIC),))
    >>> design(cells, np.array([[True], [True], [False]]), np.array([0]))[0].ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    parts = [_encode(table.values[:, j], usable[:, j], table.columns[j]) for j in sources]
    widths = np.array([part.shape[1] for part in parts], dtype=np.intp)
    return np.hstack(parts), np.repeat(sources, widths)


def _encode(values: Floats, usable: Bools, column: Column) -> Floats:
    """One column of numbers, or one indicator for each level of a category."""
    is_category = column.kind is Kind.CATEGORICAL
    raw = indicators(values, np.arange(column.n_levels)) if is_category else values[:, None]
    if not usable.any():
        return np.zeros_like(raw)
    centered = raw - raw[usable].mean(axis=0)
    sd = 1.0 if is_category else raw[usable].std() or 1.0
    return np.where(usable[:, None], centered / sd, 0.0)


def standardize(scores: Floats, open_cells: Bools, strength: float) -> Floats:
    """Scale the scores of each column's open cells to mean 0 and deviation ``strength``."""
    scaled = np.zeros_like(scores)
    for j, rows in enumerate(open_cells.T):
        own = scores[rows, j]
        if len(own) and own.std() > 1e-12:
            scaled[rows, j] = strength * (own - own.mean()) / own.std()
    return scaled


@dataclass(frozen=True)
class Draw:
    """How many holes to make: the rate, exactly or in expectation, and what must survive."""

    rate: float
    exact: bool = True
    keep_one: bool = True

    def __post_init__(self) -> None:
        if not is_number(self.rate) or not 0.0 <= self.rate < 1.0:
            raise InvalidParameterError(f"rate must lie in [0, 1), got {self.rate!r}")

    def counts(self, eligible: Bools) -> Ints:
        """Holes to make in each column: round(rate · eligible cells)."""
        n_eligible = eligible.sum(axis=0)
        counts = np.array([round(self.rate * int(n)) for n in n_eligible], dtype=np.intp)
        return np.minimum(counts, np.maximum(n_eligible - 1, 0)) if self.keep_one else counts

    def holes(
        self,
        scores: Floats,
        open_cells: Bools,
        eligible: Bools,
        observed: Bools,
        rng: np.random.Generator,
    ) -> Bools:
        """Hide the open cells with the highest η + logistic noise.

        A cell with η_ij + c_j + ε_ij > 0, ε standard logistic, is Bernoulli with P = logit(η + c),
        the model of (40) and (41). ``exact`` puts the threshold −c_j between two cells, else c_j
        solves the expected rate.
        """
        latent = np.where(open_cells, scores + rng.logistic(size=scores.shape), -np.inf)
        if self.exact:
            from scipy.stats import rankdata  # takes its time to load

            mask = rankdata(-latent, method="ordinal", axis=0) <= self.counts(eligible)
            return _swap_out_of_empty_rows(mask, latent, open_cells, observed, self)
        wanted = self.rate * eligible.sum(axis=0) / np.maximum(open_cells.sum(axis=0), 1)
        intercepts = [
            solve_intercept(scores[open_cells[:, j], j], wanted[j]) for j in range(len(wanted))
        ]
        mask = latent > -np.array(intercepts)
        return _put_one_back(mask, latent, observed) if self.keep_one else mask


def solve_intercept(scores: Floats, rate: float) -> float:
    """Solve mean e^(η + c) / (1 + e^(η + c)) = ``rate`` for c.

    >>> round(solve_intercept(np.array([0.0, 0.0]), 0.5), 6)
    0.0
    """
    if len(scores) == 0 or rate < 1e-12:
        return -np.inf
    if rate > 1.0 - 1e-12:
        return np.inf
    low, high = logit(rate) - scores.max() - 1.0, logit(rate) - scores.min() + 1.0
    return float(brentq(lambda c: float(expit(scores + c).mean()) - rate, low, high))


def _swap_out_of_empty_rows(
    mask: Bools, latent: Floats, open_cells: Bools, observed: Bools, draw: Draw
) -> Bools:
    """Move one hole of each emptied row to the next cell in its column's queue.

    First each row offers its least likely hole; rows that found no taker then offer any, at last
    through other rows. Rows stay without an observed cell only where the rate allows no other mask.
    """
    mask, left = mask.copy(), (observed & ~mask).sum(axis=1)
    emptied = (left == 0) & mask.any(axis=1)
    if not draw.keep_one or not emptied.any():
        return mask
    weakest = np.argmin(np.where(mask, latent, np.inf), axis=1)[:, None]
    for offered in (weakest == np.arange(mask.shape[1]), np.ones_like(mask)):
        for j in range(mask.shape[1]):
            rows = np.flatnonzero(emptied & (left == 0) & offered[:, j] & mask[:, j])
            spare = np.flatnonzero(open_cells[:, j] & ~mask[:, j] & (left > 1))
            takers = spare[np.argsort(-latent[spare, j], kind="stable")][: len(rows)]
            rows = rows[: len(takers)]
            mask[rows, j], mask[takers, j] = False, True
            left[rows] += 1
            left[takers] -= 1
    shown = observed & ~mask
    still_empty = np.flatnonzero(mask.any(axis=1) & ~shown.any(axis=1)).tolist()
    if not all(_free_by_a_chain(row, mask, shown, open_cells) for row in still_empty):
        raise InvalidParameterError(
            f"rate {draw.rate!r} leaves rows without any observed cell; "
            "lower it, choose fewer columns, or pass keep_one=False"
        )
    return mask


def _free_by_a_chain(row: int, mask: Bools, shown: Bools, open_cells: Bools) -> bool:
    """Show a cell of ``row`` by a chain of swaps, each within a column; False if there is none.

    A row that shows one cell can take a hole there if it passes one of its own holes on. The search
    goes over the rows breadth first until one can spare a cell, and then swaps along the way back.
    """
    came_from = {row: (row, -1)}
    queue = [row]
    for giver in queue:
        for column in np.flatnonzero(mask[giver]).tolist():
            for taker in np.flatnonzero(open_cells[:, column] & ~mask[:, column]).tolist():
                if taker in came_from:
                    continue
                came_from[taker] = (giver, column)
                queue.append(taker)
                if shown[taker].sum() > 1:
                    _swap_back(taker, came_from, mask, shown)
                    return True
    return False


def _swap_back(
    taker: int, came_from: dict[int, tuple[int, int]], mask: Bools, shown: Bools
) -> None:
    """Hand each hole of the chain that ends at ``taker`` to the next row."""
    while came_from[taker][0] != taker:
        giver, column = came_from[taker]
        for cells, at_giver in ((mask, False), (shown, True)):
            cells[giver, column], cells[taker, column] = at_giver, not at_giver
        taker = giver


def _put_one_back(mask: Bools, latent: Floats, observed: Bools) -> Bools:
    """Show the least likely hole of each emptied row, then of each emptied column."""
    mask = mask.copy()
    for axis in (1, 0):
        emptied = mask.any(axis=axis) & ~(observed & ~mask).any(axis=axis)
        where = np.flatnonzero(emptied)
        weakest = np.argmin(np.where(mask, latent, np.inf), axis=axis)[where]
        mask[(where, weakest) if axis == 1 else (weakest, where)] = False
    return mask


def split_cells(eligible: Bools, draw: Draw, rng: np.random.Generator) -> Bools:
    """Choose in each row the cells that may be hidden; the others stay and predict them.

    Half of the columns are open in each row, more above a rate of 1/4, never all. In each block
    of p rows every column is open equally often.
    """
    n, p = eligible.shape
    needed = np.maximum(draw.counts(eligible), draw.rate * eligible.sum(axis=0))
    fewest = max(1, min(p - 1, int(np.ceil(p * max(0.5, 2 * draw.rate)))))
    for n_open in range(fewest, p):
        places = rng.permuted(np.tile(np.arange(p), (-(-n // p), 1)), axis=1)
        turns = (places[:, None, :] + np.arange(p)[None, :, None]) % p < n_open
        open_cells: Bools = eligible & rng.permutation(turns.reshape(-1, p)[:n])
        if (open_cells.sum(axis=0) >= needed).all():
            return open_cells
    raise InvalidParameterError(
        f"rate {draw.rate!r} is too high to hide cells at random (MAR) in all {p} columns: "
        "each row must keep cells that predict the hidden ones; lower it, or name predictors"
    )
