"""Lists of the nearest donors by several weightings at once, and means and votes of them.

The self-tuning engine compares weightings and scopes on the same rows. One sweep over the donors
gives the grey coefficients of a row, which every weighting then sums in its own way. The donors
stand class after class, so those of one class are a range of them.
"""

import numpy as np

from greyfill._search.jit import ZERO, exact, fast, fast_inner
from greyfill._search.reference import GRID
from greyfill.table import Bools, Floats, Ints

WEIGHTINGS = 3
"""Weights of columns that one sweep sums, or zeros in their place."""

STEPS = 256
"""Steps in which distances are counted to find the k-th."""

FAR = 1e300
"""The distance of a row from itself: no row is its own donor."""

NOTHING = -1e300
"""Stands for a prediction that cannot be made: no value inside a fast kernel may be NaN."""


@exact
def neighbor_lists(
    queries: Floats,
    missing: Bools,
    own: Ints,
    labels: Ints,
    sources: Ints,
    donors: Floats,
    limits: Floats,
    rows: Ints,
    starts: Ints,
    weights: Floats,
    class_weight: float,
    relevances: Ints,
    splits: Bools,
    rho: float,
    k: int,
) -> tuple[Ints, Floats]:
    """Rows and grey distances of the k nearest donors, for pairs of weights and scope.

    The results have shape (query, pair, k), row 0 and distance infinity in empty places. ``donors``
    has shape (column, donor), the first columns hold numbers, whose least and largest are the rows
    of ``limits``. Donor i is row ``rows[i]``, and ``starts`` are the first donors of the classes.
    ``own`` is the donor that is the query itself (−1: none). ``weights`` has three rows, of which
    ``relevances`` are used. A label below 0 is unknown: then there are no donors to split. Queries
    with the same number in ``sources`` that follow each other differ in their label alone.
    """
    n_pairs, n_donors = len(relevances), donors.shape[1]
    found = np.zeros((len(queries), n_pairs, k), dtype=np.intp)
    distances = np.full((len(queries), n_pairs, k), np.inf)
    grades, gaps = np.empty((WEIGHTINGS, n_donors)), np.empty(n_donors)
    counts, shares = np.empty(STEPS + 1, dtype=np.intp), np.empty(WEIGHTINGS)
    for q in range(len(queries)):
        if q == 0 or sources[q] != sources[q - 1]:
            _sum_grades(
                queries[q], missing[q], own[q], donors, limits, weights, rho, gaps, grades, shares
            )
        label = labels[q]
        here, after = (starts[label], starts[label + 1]) if label >= 0 else (ZERO, ZERO)
        for pair in range(n_pairs):
            relevance = relevances[pair]
            first, last, of_class = ZERO, n_donors, class_weight if label >= 0 else 0.0
            if splits[pair]:
                first, last, of_class = here, after, 0.0
            if (1.0 - of_class) * shares[relevance] + of_class > 0.0:
                _distances(
                    grades[relevance], shares[relevance], of_class, first, last, here, after,
                    own[q], gaps,
                )  # fmt: skip
                _take_nearest(
                    gaps, first, last, own[q], rows, counts, found[q, pair], distances[q, pair]
                )
    return found, distances


@fast_inner
def _sum_grades(query, missing, own, donors, limits, weights, rho, least, grades, shares):
    """Σ_j w_j GRC_j of all donors and Σ_j w_j over the observed columns, for every weighting.

    GRC = (Δmin + ρΔmax) / (Δ + ρΔmax): the numerator is common to all numbers, so it is multiplied
    with their sum.
    """
    n_numbers, n, high = limits.shape[1], donors.shape[1], 0.0
    for j in range(n_numbers):
        if not missing[j]:
            high = max(high, query[j] - limits[0, j], limits[1, j] - query[j])
    offset = rho * high if high > 0.0 else 1.0  # without any spread all coefficients are 1
    grades[:], shares[:], least[:] = 0.0, 0.0, FAR
    first, second, third = grades[0], grades[1], grades[2]
    for j in range(len(query)):
        if j == n_numbers:
            _scale(own, least, grades)
        if missing[j]:
            continue
        cells, value = donors[j], query[j]
        a, b, c = weights[0, j], weights[1, j], weights[2, j]
        shares[0], shares[1], shares[2] = shares[0] + a, shares[1] + b, shares[2] + c
        if j < n_numbers:
            for i in range(n):
                gap = abs(cells[i] - value) + offset
                least[i] = min(least[i], gap)
                first[i] += a / gap
                second[i] += b / gap
                third[i] += c / gap
        else:
            for i in range(n):
                same = 1.0 if cells[i] == value else 0.0
                first[i] += a * same
                second[i] += b * same
                third[i] += c * same
    if len(query) == n_numbers:
        _scale(own, least, grades)


@fast_inner
def _scale(own, least, grades):
    """Multiply with Δmin + ρΔmax over all donors but the own row."""
    if own >= 0:
        least[own] = FAR
    top = FAR
    for i in range(len(least)):
        top = min(top, least[i])
    if top < FAR:
        for r in range(len(grades)):
            for i in range(len(least)):
                grades[r, i] *= top


@fast_inner
def _distances(grades, share, class_weight, first, last, class_first, class_last, own, out):
    """Compute 1 − ((1 − v) GRG + v same) / ((1 − v) share + v), v the weight of the class.

    ``same`` is 1 for its donors, which stand from ``class_first`` to ``class_last``; the own row is
    far away.
    """
    total = (1.0 - class_weight) * share + class_weight
    scale, bonus = (1.0 - class_weight) / total, class_weight / total
    for i in range(first, last):
        out[i] = 1.0 - scale * grades[i]
    for i in range(class_first, class_last):
        out[i] -= bonus
    for i in range(first, last):
        out[i] = max(np.floor(out[i] * GRID + 0.5) / GRID, 0.0)
    if first <= own < last:
        out[own] = FAR


@fast_inner
def _take_nearest(distances, first, last, own, rows, counts, found, nearest):
    """Keep the k donors of least distance in rising order, ties by their place.

    The distances are counted in equal steps from the least to the largest, so that only those up
    to the step that holds the k-th are put in order.
    """
    low, high = FAR, 0.0
    for i in range(first, last):
        if i != own:
            low, high = min(low, distances[i]), max(high, distances[i])
    step = max(high - low, 1e-12) / (STEPS - 1)
    k, seen, limit = len(found), 0, 2.0 * FAR
    if last - first > 2 * k:
        counts[:] = 0
        for i in range(first, last):
            counts[int(min((distances[i] - low) / step, STEPS))] += 1
        for place in range(STEPS):
            seen += counts[place]
            if seen >= k:
                limit = low + (place + 1.001) * step
                break
    n = 0
    for i in range(first, last):
        distance = distances[i]
        if distance > limit or i == own:
            continue
        if n == k:
            if distance >= nearest[k - 1]:
                continue
            n -= 1
        place = n
        while place > 0 and nearest[place - 1] > distance:
            nearest[place], found[place] = nearest[place - 1], found[place - 1]
            place -= 1
        nearest[place], found[place] = distance, rows[i]
        n += 1


@fast
def list_means(
    rows: Ints,
    distances: Floats,
    multipliers: Floats,
    targets: Floats,
    pairs: Ints,
    ks: Ints,
    by_distance: Bools,
    softening: float,
) -> Floats:
    """Weighted means of the targets of the first k donors of a list; shape (query, mean, target).

    Mean m takes list ``pairs[m]`` and its first ``ks[m]`` donors, alike or by 1/(d² + softening),
    times the multiplier of the donor's row where there are any; `NOTHING` without a donor.
    """
    out = np.zeros((len(rows), len(ks), targets.shape[1]))
    for q in range(len(rows)):
        for m in range(len(ks)):
            total = 0.0
            for r in range(min(ks[m], rows.shape[2])):
                distance = distances[q, pairs[m], r]
                if distance > 1e300:
                    break
                i, weight = rows[q, pairs[m], r], 1.0
                if by_distance[m]:
                    weight = 1.0 / (distance * distance + softening)
                if len(multipliers):
                    weight *= multipliers[i]
                total += weight
                for t in range(targets.shape[1]):
                    out[q, m, t] += weight * targets[i, t]
            for t in range(targets.shape[1]):
                out[q, m, t] = out[q, m, t] / total if total > 0.0 else NOTHING
    return out


@fast
def shortlists(near: Ints, frequent: Ints, first: int, size: int) -> Ints:
    """Different codes for each query, rising: the first frequent ones, the near ones, and more.

    A near code below 0 stands for nothing.
    """
    out = np.empty((len(near), size), dtype=np.intp)
    taker = np.full(frequent.max() + 1, -1, dtype=np.intp)
    for q in range(len(near)):
        n = 0
        for codes in (frequent[:first], near[q], frequent[first:]):
            for code in codes:
                if n == size:
                    break
                if code >= 0 and taker[code] != q:
                    taker[code], out[q, n] = q, code
                    n += 1
        out[q].sort()
    return out


@fast
def local_votes(donors: Ints, weights: Floats, codes: Ints, listed: Ints) -> Floats:
    """Weights of the donors summed by listed code, and in the last column by no listed one."""
    n_listed = listed.shape[1]
    out = np.zeros((len(donors), n_listed + 1))
    for q in range(len(donors)):
        for r in range(donors.shape[1]):
            if weights[q, r] > 0.0:
                code = codes[donors[q, r]]
                place = np.searchsorted(listed[q], code)
                if place == n_listed or listed[q, place] != code:
                    place = n_listed
                out[q, place] += weights[q, r]
    return out
