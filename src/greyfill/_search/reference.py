"""The equations in plain numpy: slow, readable, and the oracle of every property test.

First those of the search (distances, nearest donors, weights, fills: twins in `distances` and
`kernels`), then those of the self-tuning engine (information, votes, ridge: twins in `ridge`).
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


def group_information(
    codes: Ints, n_codes: Ints, groups: Ints, n_groups: int, target: int, others: Ints, orders: Ints
) -> Floats:
    """Information in bits within groups, Σ_g n_g/n · I(X_target; X_other | g), by histograms.

    Codes below 0 are holes; only jointly known cells count. For every row of ``orders`` the other
    column is read in that order of the rows: the identity gives the estimate, orders that shuffle
    within groups give what chance alone would show. Shape (order, other).
    """
    out = np.zeros((len(orders), len(others)))
    for s, order in enumerate(orders):
        for o, other in enumerate(others):
            pairs = np.stack([codes[:, target], codes[order, other]])
            known = (pairs >= 0).all(axis=0)
            for g in range(n_groups):
                here = known & (groups == g)
                if here.any():
                    shape = (n_codes[target], n_codes[other])
                    counts = np.zeros(shape)
                    np.add.at(counts, tuple(pairs[:, here]), 1.0)
                    out[s, o] += here.sum() / known.sum() * _information(counts)
    return out


def _information(counts: Floats) -> float:
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / apart[seen])).sum())


def local_limits(donors: Ints, weights: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The least and the largest of donors' targets; ∞ and −∞ without a donor that counts."""
    there = weights[..., np.newaxis] > 0
    low = np.where(there, targets[donors], np.inf).min(axis=1)
    return low, np.where(there, targets[donors], -np.inf).max(axis=1)


def shortlists(near: Ints, frequent: Ints, first: int, size: int) -> Ints:
    """Different codes for each query, rising: the first frequent ones, the near ones, and more."""
    lists = [[*frequent[:first], *row[row >= 0], *frequent[first:]] for row in near]
    return np.array([sorted(list(dict.fromkeys(row))[:size]) for row in lists], dtype=np.intp)


def local_votes(donors: Ints, weights: Floats, codes: Ints, listed: Ints) -> Floats:
    """Weights of the donors summed by listed code, and in the last column by no listed one."""
    given = np.where(weights > 0.0, codes[donors], -1)[:, :, np.newaxis] == listed[:, np.newaxis]
    votes = (weights[:, :, np.newaxis] * given).sum(axis=1)
    return np.column_stack([votes, weights.sum(axis=1) - votes.sum(axis=1)])


def ridge_weights(
    query: Floats, usable: Bools, scales: Floats, weights: Floats, features: Floats, ridge: float
) -> Floats:
    """What each donor's target counts in the prediction of a weighted ridge regression.

    With donors' features z_i, kernel weights ω_i (sum 1), mean m = Σ ω_i z_i and
    x_i = S (z_i − m), where S scales the usable features by ``scales`` and drops the others:

    c_i = ω_i (1 + x' (Σ_l ω_l x_l x_l' + α I)⁻¹ x_i),  prediction = Σ_i c_i t_i

    The c_i sum to 1, and α → ∞ leaves the weighted mean, c_i = ω_i.
    """
    return np.asarray(
        weights + feature_weights(query, usable, scales, weights, features, ridge).sum(axis=1)
    )


def feature_weights(
    query: Floats, usable: Bools, scales: Floats, weights: Floats, features: Floats, ridge: float
) -> Floats:
    """The part of each feature in c_i − ω_i, shape (donor, feature): the regression's terms."""
    kept = usable & (scales > 0)
    middle = weights @ features[:, kept]
    x = (features[:, kept] - middle) * scales[kept]
    place = (query[kept] - middle) * scales[kept]
    gram = (x * weights[:, np.newaxis]).T @ x + ridge * np.eye(kept.sum())
    out = np.zeros(features.shape)
    out[:, kept] = weights[:, np.newaxis] * np.linalg.solve(gram, x.T).T * place
    return out


def local_means(donors: Ints, weights: Floats, targets: Floats) -> Floats:
    """Weighted means of donors' targets, Σ_i ω_i t_i; shape (query, target)."""
    return np.asarray((weights[..., np.newaxis] * targets[donors]).sum(axis=1))


def local_ridge(
    queries: Floats,
    usable: Bools,
    scales: Floats,
    donors: Ints,
    weights: Floats,
    features: Floats,
    places: Ints,
    targets: Floats,
    ridges: Floats,
) -> Floats:
    """Predictions by `ridge_weights` on each query's own donors; shape (query, ridge, target).

    ``places`` are the columns of ``features`` that the queries have.
    """
    out = np.empty((len(queries), len(ridges), targets.shape[1]))
    for q, query in enumerate(queries):
        near = donors[q]
        for r, ridge in enumerate(ridges):
            known = features[np.ix_(near, places)]
            c = ridge_weights(query, usable[q], scales, weights[q], known, ridge)
            out[q, r] = c @ targets[near]
    return out


def moments(
    features: Floats,
    places: Ints,
    targets: Floats,
    donors: Ints,
    counts: Floats,
    groups: Ints,
    n_groups: int,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Counts and sums of z, z z' (its lower triangle), t and z t' over the donors of each group."""
    z, t = features[np.ix_(donors, places)], targets[donors]
    w = counts * (groups == np.arange(n_groups)[:, np.newaxis])
    products = np.einsum("gd,df,de->gfe", w, z, z)
    return w.sum(axis=1), w @ z, np.tril(products), w @ t, np.einsum("gd,df,dt->gft", w, z, t)


def common_ridge(
    queries: Floats,
    usable: Bools,
    scales: Floats,
    groups: Ints,
    own_rows: Ints,
    donor_groups: Ints,
    features: Floats,
    targets: Floats,
    ridges: Floats,
) -> Floats:
    """Predictions by `ridge_weights` on all donors of the query's group, equally weighted.

    ``own_rows`` are the donors that are the queries themselves (−1: none); they are left out.
    """
    out = np.empty((len(queries), len(ridges), targets.shape[1]))
    for q, query in enumerate(queries):
        donors = np.flatnonzero(donor_groups == groups[q])
        donors = donors[donors != own_rows[q]]
        even = np.full(len(donors), 1.0 / len(donors))
        for r, ridge in enumerate(ridges):
            c = ridge_weights(query, usable[q], scales, even, features[donors], ridge)
            out[q, r] = c @ targets[donors]
    return out
