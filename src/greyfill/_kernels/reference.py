"""The equations in plain numpy: slow, readable, and the oracle of every property test.

Rows are scaled to [0, 1]. ``is_categorical`` tells which columns hold codes. All sums over columns
run in column order, so that the compiled twins can give the same floating-point result.
"""

import numpy as np

from greyfill.table import Bools, Floats, Ints

GRID = 1e12
"""Distances are rounded to 1/GRID, so that equal ones are equal and exact matches are 0."""


def on_grid(distances: Floats) -> Floats:
    """Take the noise of floating-point sums out of distances; none is negative."""
    return np.maximum(np.floor(distances * GRID + 0.5) / GRID, 0.0)


def heom_distances(
    query: Floats,
    query_missing: Bools,
    donors: Floats,
    donors_missing: Bools,
    is_categorical: Bools,
    weights: Floats,
) -> Floats:
    """HEOM from one row to each donor, equations (7)–(10), weighted as in (31).

    d² = Σ_j λ_j d_j², with d_j = 1 where either cell is missing, 0/1 for categories, and
    |a − b| (at most 1) for numbers.
    """
    squared = np.zeros(len(donors))
    for j, weight in enumerate(weights):
        if query_missing[j]:
            squared += weight
            continue
        if is_categorical[j]:
            part = (donors[:, j] != query[j]).astype(float)
        else:
            part = np.minimum(np.abs(donors[:, j] - query[j]), 1.0)
        part = np.where(donors_missing[:, j], 1.0, part)
        squared += weight * (part * part)
    return on_grid(np.sqrt(squared))


def grey_extremes(
    query: Floats,
    query_missing: Bools,
    donors: Floats,
    donors_missing: Bools,
    is_categorical: Bools,
    own_row: int = -1,
) -> tuple[float, float]:
    """Δmin and Δmax of equation (32), over donors and numeric columns with both cells observed.

    ``own_row`` is the donor that is the query itself, or −1; it is left out. Without any such pair
    of cells both are 0.
    """
    usable = ~donors_missing & ~query_missing & ~is_categorical
    if own_row >= 0:
        usable[own_row] = False
    differences = np.abs(donors - query)[usable]
    if differences.size == 0:
        return 0.0, 0.0
    return float(differences.min()), float(differences.max())


def grey_distances(
    query: Floats,
    query_missing: Bools,
    donors: Floats,
    donors_missing: Bools,
    is_categorical: Bools,
    weights: Floats,
    rho: float,
    own_row: int = -1,
) -> Floats:
    """One minus the grey relational grade to each donor, equations (32), (33) and (35).

    GRC = (Δmin + ρΔmax) / (|a − b| + ρΔmax) for numbers, 1/0 for equal/unequal categories, 0 where
    either cell is missing; 1 when Δmax is 0. GRG = Σ_j λ_j GRC_j.
    """
    low, high = grey_extremes(query, query_missing, donors, donors_missing, is_categorical, own_row)
    offset = rho * high
    grade = np.zeros(len(donors))
    for j, weight in enumerate(weights):
        if query_missing[j]:
            continue
        if is_categorical[j]:
            coefficient = (donors[:, j] == query[j]).astype(float)
        elif offset == 0.0:
            coefficient = np.ones(len(donors))
        else:
            coefficient = (low + offset) / (np.abs(donors[:, j] - query[j]) + offset)
        grade += weight * np.where(donors_missing[:, j], 0.0, coefficient)
    return on_grid(1.0 - grade)


def nearest(distances: Floats, k: int, own_row: int = -1) -> tuple[Ints, Floats]:
    """The k nearest donors in rising distance, ties by row number, the query itself left out."""
    order = np.argsort(distances, kind="stable")
    order = order[order != own_row][:k]
    return order, distances[order]


def inverse_square_weights(distances: Floats) -> Floats:
    """w_l / W with w = 1/d², equations (11) and (36); exact matches share the weight alone."""
    exact = distances == 0.0
    if exact.any():
        return np.asarray(exact / exact.sum())
    closeness = (distances[0] / distances) ** 2
    return np.asarray(closeness / closeness.sum())


def vote_weights(distances: Floats) -> Floats:
    """α_l = (d_k − d_l) / (d_k − d_1), equation (12); 1 when all distances are equal."""
    first, last = distances[0], distances[-1]
    if last == first:
        return np.ones_like(distances)
    return np.asarray((last - distances) / (last - first))


def average(donor_values: Floats, weights: Floats) -> float:
    """Σ_l w_l v_l with weights that sum to one, equation (11) read as 1/W."""
    total = 0.0
    for value, weight in zip(donor_values, weights, strict=True):
        total += weight * value
    return total


def vote(donor_codes: Floats, weights: Floats) -> float:
    """The category with the largest sum of weights, (13)–(14); ties go to the nearest donor's."""
    sums: dict[float, float] = {}
    for code, weight in zip(donor_codes, weights, strict=True):
        sums[code] = sums.get(code, 0.0) + weight
    best = max(sums.values())
    return next(float(code) for code in sums if sums[code] == best)
