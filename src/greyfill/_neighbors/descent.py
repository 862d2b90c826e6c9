"""The steps of opt.knn: donors for the fills of now, then the best fills for these donors."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg, splu

from greyfill._neighbors.links import Links
from greyfill._search.jit import exact
from greyfill.table import Bools, Floats, Ints

FACTORED = 10_000
"""Up to this many holes of a column are solved by LU factors, more by conjugate gradients."""

PULL = 1e-9
"""How much a hole clings to its value: what decides where no observed cell does."""

EDGES = 2**14
"""Pairs of rows that are compared at once."""


def choices(links: list[Links], n_rows: int) -> sparse.csr_array:
    """z: 1 where the row took the column's row for a neighbor."""
    takers = [np.repeat(piece.rows, piece.donors.shape[1]) for piece in links]
    donors = [piece.donors.ravel() for piece in links]
    none = np.zeros(0, dtype=np.intp)
    rows, columns = np.concatenate([none, *takers]), np.concatenate([none, *donors])
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_rows))


def objective(chosen: sparse.csr_array, values: Floats, is_categorical: Bools) -> float:
    """C = Σ_i Σ_j z_ij (Σ (w_id − w_jd)² + Σ 1(v_id ≠ v_jd))."""
    pairs, total = chosen.tocoo(), 0.0
    for start in range(0, pairs.nnz, EDGES):
        part = slice(start, start + EDGES)
        gap = values[pairs.row[part]] - values[pairs.col[part]]
        total += float(np.where(is_categorical, gap != 0.0, gap**2).sum())
    return total


def best_fills(
    chosen: sparse.csr_array,
    values: Floats,
    missing: Bools,
    is_categorical: Bools,
    n_levels: int,
    both_ways: bool = True,
) -> Floats:
    """The values with every hole where c is least for these choices.

    w_id = (Σ_j z_ij w_jd + Σ_j z_ji w_jd) / (K + Σ_j z_ji): the numbers of a column by one sparse
    system, categories one after another. One way only, each hole takes the mean or mode of its own
    neighbors' values of before: IKNN's pass.
    """
    fresh = values.copy()
    linked = (chosen + chosen.T).tocsr() if both_ways else chosen
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        holes = np.flatnonzero(missing[:, j])
        holes = holes[np.diff(linked.indptr)[holes] > 0]
        if is_categorical[j]:
            read = fresh[:, j].copy()
            vote_along(linked.indptr, linked.indices, linked.data, holes, read, n_levels, both_ways)
            fresh[:, j] = read
        elif both_ways:
            fresh[holes, j] = _solved(linked, holes, values[:, j])
        else:
            fresh[holes, j] = (linked[holes] @ values[:, j]) / linked[holes].sum(axis=1)
    return fresh


def _solved(linked: sparse.csr_array, holes: Ints, values: Floats) -> Floats:
    """The holes of a column where the sum of squares along all links is least."""
    mine = linked[holes]
    among = mine[:, holes]
    outside = values.copy()
    outside[holes] = 0.0
    pull = PULL * np.ones(len(holes))
    system = (sparse.diags_array(mine.sum(axis=1) + pull) - among).tocsc()
    side = mine @ outside + pull * values[holes]
    if len(holes) <= FACTORED:
        return np.asarray(splu(system).solve(side))
    return np.asarray(cg(system, side, x0=values[holes], rtol=1e-10)[0])


@exact
def vote_along(starts, ends, weights, holes, codes, n_levels, in_turn):
    """The code with most votes among the linked rows of each hole; of ties the present one.

    In turn, each vote sees the votes before it; else all see the codes of before.
    """
    read = codes if in_turn else codes.copy()
    votes = np.zeros(n_levels)
    for row in holes:
        votes[:] = 0.0
        for place in range(starts[row], starts[row + 1]):
            votes[int(read[ends[place]])] += weights[place]
        best = int(codes[row])
        for level in range(n_levels):
            if votes[level] > votes[best]:
                best = level
        codes[row] = best
