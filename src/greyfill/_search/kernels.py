"""Numba twins of the reference kernels, with the same names and answers: searches and fills.

`nearest_donors` is how the rest of the package searches. The others fill cells from donors.
"""

import numpy as np

from greyfill._search.distances import extremes
from greyfill._search.jit import exact, exact_inner
from greyfill._search.pool import DonorPool
from greyfill._search.scan import search
from greyfill.table import Bools, Floats, Ints


@exact
def grey_extremes(
    pool: DonorPool, queries: Floats, queries_missing: Bools, own_rows: Ints
) -> Floats:
    """Δmin and Δmax of each query in a pool or a part of one, equation (32).

    Of several parts the least Δmin and the largest Δmax count. Δmin is infinite where a part has
    no pair of observed cells.
    """
    out = np.empty((len(queries), 2))
    for q in range(len(queries)):
        out[q, 0], out[q, 1] = extremes(
            queries[q], queries_missing[q], pool.is_categorical, pool.sorted_columns,
            pool.sorted_counts, pool.shelves, own_rows[q] >= 0,
        )  # fmt: skip
    return out


def nearest_donors(
    pool: DonorPool,
    queries: Floats,
    queries_missing: Bools,
    own_rows: Ints,
    weights: Floats,
    k: int,
    rho: float | None = None,
    known_extremes: Floats | None = None,
) -> tuple[Ints, Floats]:
    """The k nearest donors of each query, and their distances.

    With ρ those of highest grey relational grade, equations (32)–(35); without it those of least
    HEOM, equations (7)–(10) and (31). ``known_extremes`` are Δmin and Δmax of each query where they
    are not those of the pool.
    """
    n = len(queries)
    rows, distances = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    known = np.empty((n, 0)) if known_extremes is None else known_extremes
    search(
        rho is not None, queries, queries_missing, own_rows, pool, weights, np.argsort(-weights),
        rho or 0.5, True, known, rows, distances,
    )  # fmt: skip
    return rows, distances


@exact
def fill_cells(
    values, is_categorical, slots, columns, donors, number_weights, vote_weights, n_levels
):  # fmt: skip
    """One value for each hole: cell c belongs to the query in slot ``slots[c]``."""
    out = np.empty(len(slots))
    sums = np.zeros(n_levels)
    for c in range(len(slots)):
        if is_categorical[columns[c]]:
            out[c] = vote(values, slots[c], columns[c], donors, vote_weights, sums)
        else:
            out[c] = average(values, slots[c], columns[c], donors, number_weights)
    return out


@exact_inner
def average(values, slot, column, donors, weights):
    """Σ_l w_l v_l, equation (11) read as 1/W."""
    total = 0.0
    for place in range(donors.shape[1]):
        total += weights[slot, place] * values[donors[slot, place], column]
    return total


@exact_inner
def vote(values, slot, column, donors, weights, sums):
    """The winning category, (13)–(14); ties go to the category of the nearest donor.

    ``sums`` has room for each level and is zero before and after.
    """
    best = 0.0
    for place in range(donors.shape[1]):
        code = int(values[donors[slot, place], column])
        sums[code] += weights[slot, place]
        best = max(best, sums[code])
    winner = -1
    for place in range(donors.shape[1]):
        code = int(values[donors[slot, place], column])
        if winner < 0 and sums[code] == best:
            winner = code
    for place in range(donors.shape[1]):
        sums[int(values[donors[slot, place], column])] = 0.0
    return winner


@exact
def write_cells(values, is_categorical, rows, slots, columns, fresh):
    """Put fresh values into their cells; return the largest change, 1 for a changed category."""
    largest = 0.0
    for c in range(len(slots)):
        row, column = rows[slots[c]], columns[c]
        change = abs(fresh[c] - values[row, column])
        if is_categorical[column] and change > 0.0:
            change = 1.0
        largest = max(largest, change)
        values[row, column] = fresh[c]
    return largest


@exact
def any_missing(missing, slots, columns, donors):
    """Whether a donor of each cell was missing in the column of the cell."""
    out = np.zeros(len(slots), dtype=np.bool_)
    for c in range(len(slots)):
        for place in range(donors.shape[1]):
            out[c] |= missing[donors[slots[c], place], columns[c]]
    return out
