"""The equations in plain numpy: slow, readable, and the oracle of every property test.

First those of the search (distances, nearest donors, weights, fills: twins in `distances` and
`kernels`), then those of the self-tuning engine (twins in `histogram`, `lists`, `features` and
`ridge`).
Rows are scaled to [0, 1]. ``is_categorical`` tells which columns hold codes. All sums over columns
run in column order, so that the compiled twins can give the same floating-point result.
"""

from itertools import pairwise

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
    """One minus the grey relational grade to each donor, equation (35)."""
    cells = query, query_missing, donors, donors_missing, is_categorical
    return on_grid(1.0 - grey_grades(*cells, weights, rho, own_row))


def grey_grades(
    query: Floats,
    query_missing: Bools,
    donors: Floats,
    donors_missing: Bools,
    is_categorical: Bools,
    weights: Floats,
    rho: float,
    own_row: int,
) -> Floats:
    """The grey relational grade to each donor, equations (32) and (33).

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
    return grade


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
    codes: Ints,
    n_codes: Ints,
    groups: Ints,
    n_groups: int,
    firsts: Ints,
    seconds: Ints,
    orders: Ints,
) -> Floats:
    """Information in bits within groups, Σ_g n_g/n · I(X_first; X_second | g), by histograms.

    ``codes`` has shape (column, row); those below 0 are holes, and only jointly known cells count.
    For every row of ``orders`` the second column is read in that order of the rows: the identity
    gives the estimate, orders that shuffle within groups give what chance alone would show. Shape
    (order, pair).
    """
    out = np.zeros((len(orders), len(firsts)))
    for s, order in enumerate(orders):
        for o, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
            pairs = np.stack([codes[first], codes[second][order]])
            known = (pairs >= 0).all(axis=0)
            for g in range(n_groups):
                here = known & (groups == g)
                if here.any():
                    counts = np.zeros((n_codes[first], n_codes[second]))
                    np.add.at(counts, tuple(pairs[:, here]), 1.0)
                    out[s, o] += here.sum() / known.sum() * _information(counts)
    return out


def _information(counts: Floats) -> float:
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / apart[seen])).sum())


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


def neighbor_list(
    query: Floats,
    missing: Bools,
    donors: Floats,
    is_categorical: Bools,
    weights: Floats,
    same_class: Bools | None,
    class_weight: float,
    own_row: int,
) -> Floats:
    """Grey distances of all donors over the observed columns of a query, infinite from itself.

    1 − ((1 − v) GRG + v same) / ((1 − v) Σ w + v), the sum over observed columns, v the weight of
    the class and ``same`` 1 for donors of the query's class; without a class v is 0.
    """
    nothing = np.zeros(donors.shape, dtype=bool)
    grade = grey_grades(query, missing, donors, nothing, is_categorical, weights, 0.5, own_row)
    v = 0.0 if same_class is None else class_weight
    same = np.zeros(len(donors)) if same_class is None else same_class
    total = (1.0 - v) * weights[~missing].sum() + v
    if total == 0.0:
        return np.full(len(donors), np.inf)
    distances = on_grid(1.0 - ((1.0 - v) * grade + v * same) / total)
    return np.where(np.arange(len(donors)) == own_row, np.inf, distances)


def list_mean(
    rows: Ints, distances: Floats, multipliers: Floats, targets: Floats, softening: float | None
) -> Floats:
    """The mean of donors' targets, alike or by 1/(d² + softening), times their multipliers."""
    there = np.isfinite(distances)
    weights = np.ones(there.sum()) if softening is None else 1 / (distances[there] ** 2 + softening)
    weights = weights * multipliers[rows[there]]
    return np.asarray(weights @ targets[rows[there]] / weights.sum())


def donors_ridge(
    query: Floats,
    usable: Bools,
    scales: Floats,
    multipliers: Floats,
    features: Floats,
    targets: Floats,
    ridge: float,
) -> Floats:
    """The prediction by `ridge_weights` of some donors, which count by their multipliers."""
    weights = multipliers / multipliers.sum()
    return np.asarray(ridge_weights(query, usable, scales, weights, features, ridge) @ targets)


def within_reach(found: Floats, targets: Floats) -> Floats:
    """A prediction that leaves the range of its donors' targets by half of it at most."""
    low, high = targets.min(axis=0), targets.max(axis=0)
    return np.clip(found, low - (high - low) / 2, high + (high - low) / 2)


def moments(
    features: Floats, places: Ints, targets: Floats, rows: Ints, multipliers: Floats, starts: Ints
) -> tuple[Floats, ...]:
    """Counts, means of z and t, and centered sums of z z' and z t', of each group's donors."""
    parts = []
    for first, last in pairwise(starts):
        here = rows[first:last]
        z, t, w = features[np.ix_(here, places)], targets[here], multipliers[here]
        middle, center = w @ z / max(w.sum(), 1e-300), w @ t / max(w.sum(), 1e-300)
        weighed = (z - middle) * w[:, np.newaxis]
        parts.append((w.sum(), middle, center, weighed.T @ (z - middle), weighed.T @ (t - center)))
    return tuple(np.array(part) for part in zip(*parts, strict=True))


def features_of(
    value: float, levels: Ints, shift: Floats, spread: float, knots: Floats, scores: Floats
) -> tuple[Floats, Floats]:
    """The features of one cell in both forms: as values, and as scores of ranks."""
    if len(knots) == 0:
        indicated = ((levels == value) - shift) / spread
        return indicated, indicated
    return (value - shift) / spread, np.array([np.interp(value, knots, scores)])
