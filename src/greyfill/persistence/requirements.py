"""What rules require of numbers in a saved file: ranges, orders, codes, shares."""

from typing import Any

import numpy as np

from greyfill.exceptions import PersistenceError
from greyfill.table import Column, Floats, Ints, Kind

MOST_PASSES = 10_000
MOST_PERMUTATIONS = 1_000
MOST_TREES = 10_000
MOST_THREADS = 1_024
MOST_LEVELS = 10**7
"""More of them than anybody uses: a file must not keep a machine busy for ever."""

SMALLEST, LARGEST = 1e-100, 1e250
"""Divisors below, and coefficients beyond, could overflow in a sum."""

ROUNDING = 1e-6
"""How far averages on the [0, 1] scale may lie outside of it, or shares from a sum of 1."""


def require(holds: Any, what: str) -> None:
    """Refuse a file in which something does not hold."""
    if not holds:
        raise PersistenceError(what)


def check_rows(rows: Ints, n: int, what: str) -> None:
    """Row or column numbers below n, one array of them."""
    require(rows.ndim == 1, f"{what} are no list")
    require(len(rows) == 0 or (rows.min() >= 0 and rows.max() < n), f"{what} lie outside")


def check_rising(rows: Ints, n: int, what: str) -> None:
    """Row or column numbers below n, each once and in order."""
    check_rows(rows, n, what)
    require((np.diff(rows) > 0).all(), f"{what} do not rise")


def check_order(order: Ints, n: int) -> None:
    """Every row number below n once."""
    require(order.shape == (n,) and (np.sort(order) == np.arange(n)).all(), "rows are out of order")


def check_codes(codes: Floats, n_levels: int, what: str) -> None:
    """Codes of levels that exist."""
    whole = (codes == np.rint(codes)) & (codes >= 0) & (codes < max(n_levels, 1))
    require(whole.all(), f"{what} holds a code of no level")


def check_scaled(values: Floats, columns: tuple[Column, ...]) -> None:
    """Numbers on the [0, 1] scale, and codes of levels that exist."""
    for j, column in enumerate(columns):
        if column.kind is Kind.CATEGORICAL:
            check_codes(values[..., j], column.n_levels, f"column {column.name!r}")
        else:
            cells = values[..., j]
            inside = (cells >= -ROUNDING) & (cells <= 1.0 + ROUNDING)
            require(inside.all(), f"column {column.name!r} is not scaled")


def check_values(values: Floats, column: Column) -> None:
    """Values that a column of a table in its own units may hold."""
    if column.kind is not Kind.NUMERIC:
        check_codes(values, column.n_levels, f"column {column.name!r}")


def check_weights(weights: Floats, n: int) -> None:
    """Rows of shares of n columns that sum to 1."""
    require(weights.shape[-1:] == (n,) and (weights >= 0.0).all(), "weights do not fit the columns")
    sums = weights.sum(axis=-1)
    require(n == 0 or (np.abs(sums - 1.0) <= ROUNDING).all(), "weights do not sum to 1")


def check_spreads(spreads: tuple[Ints, Ints, Floats]) -> None:
    """Rows, columns and spreads of the same cells."""
    rows, columns, found = spreads
    require(rows.ndim == 1 and rows.shape == columns.shape == found.shape, "spreads do not fit")
    require((rows >= 0).all() and (columns >= 0).all(), "spreads of cells outside of the table")


def check_jobs(n_jobs: Any) -> None:
    """A number of threads that a machine may have."""
    fits = n_jobs is None or (n_jobs != 0 and abs(n_jobs) <= MOST_THREADS)
    require(fits, f"n_jobs is {n_jobs}")
