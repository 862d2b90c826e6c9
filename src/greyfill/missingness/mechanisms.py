"""Masks of cells to hide: completely at random, at random, and not at random, eqs (4)–(6)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.missingness.draw import Draw
from greyfill.missingness.scores import design, positions, split_cells, standardize
from greyfill.table import Bools, Floats, Ints, Table

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
