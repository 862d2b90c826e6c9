"""Lists of the nearest donors by several weightings at once, and votes of them.

The self-tuning engine compares weightings and scopes on the same rows. One sweep over the donors
gives the grey coefficients of a row, which every weighting then sums in its own way. The donors
stand class after class, so those of one class are a range of them.
"""

import numpy as np

from greyfill._search.jit import ZERO, exact_in_place, fast, fast_inner
from greyfill._search.reference import GRID
from greyfill.table import Bools, Floats, Ints

WEIGHTINGS = 3
"""Weights of columns that one sweep sums, or zeros in their place."""

STEPS = 128
"""Steps in which distances are counted to find the k-th, and to put them in order."""

SAMPLE = 128
"""Distances, at least, by which the reach of the k nearest is found."""

FAR = 1e300
"""The distance of a row from itself: no row is its own donor."""


def neighbor_lists(
    values: Floats,
    missing: Bools,
    columns: Ints,
    own: Ints,
    labels: Ints,
    sources: Ints,
    donors: Floats,
    limits: Floats,
    rows: Ints,
    starts: Ints,
    weights: Floats,
    class_weights: Floats,
    ranges: Ints,
    relevances: Ints,
    splits: Bools,
    rho: float,
    k: int,
) -> tuple[Ints, Floats]:
    """Rows and grey distances of the k nearest donors, for pairs of weights and scope.

    The results have shape (query, pair, k), row 0 and distance infinity in empty places. ``donors``
    has shape (column, donor), the first columns hold numbers, whose least and largest are the rows
    of ``limits``. Donor i is row ``rows[i]``, and ``starts`` are the first donors of the classes.
    Column j of the donors is column ``columns[j]`` of the queries. ``own`` is the donor that is the
    query itself (−1: none). ``weights`` has three rows, of which ``relevances`` are used, −1 for a
    pair that is left empty. A label below 0 is unknown: then there are no donors to split. Queries
    with the same number in ``sources`` that follow each other differ in their label alone.
    Class c counts by ``class_weights[c]``, and donors of class c alone are those of ``ranges[c]``.
    """
    shape, n_donors = (len(values), len(relevances), k), donors.shape[1]
    found, distances = np.zeros(shape, dtype=np.intp), np.empty(shape)
    distances.fill(np.inf)
    _neighbor_lists(
        values, missing, columns, own, labels, sources, donors, limits, rows, starts, weights,
        class_weights, ranges, relevances, splits, rho, np.empty((3, len(columns) + WEIGHTINGS)),
        np.empty((WEIGHTINGS + 1, n_donors)),
        np.empty((3, max(n_donors, STEPS) + 1), dtype=np.intp), found, distances,
    )  # fmt: skip
    return found, distances


@exact_in_place
def _neighbor_lists(
    values, missing, columns, own, labels, sources, donors, limits, rows, starts, weights,
    class_weights, ranges, relevances, splits, rho, query, grades, room, found, distances,
):  # fmt: skip
    gaps, shares = grades[WEIGHTINGS], query[2]
    counts, picked, ordered = room[0], room[1], room[2]
    for q in range(len(values)):
        if q == 0 or sources[q] != sources[q - 1]:
            for j in range(len(columns)):
                query[0, j], query[1, j] = values[q, columns[j]], missing[q, columns[j]]
            _sum_grades(query, own[q], donors, limits, weights, rho, gaps, grades, shares)
        label, here, after = labels[q], ZERO, ZERO
        if label >= 0:
            here, after = starts[label], starts[label + 1]
        for pair in range(len(relevances)):
            relevance = relevances[pair]
            if relevance < 0:
                continue
            first, last, of_class = (
                ZERO,
                donors.shape[1],
                class_weights[label] if label >= 0 else 0.0,
            )
            if splits[pair]:
                first, last, of_class = ZERO, ZERO, 0.0
                if label >= 0:
                    first, last = ranges[label, 0], ranges[label, 1]
            total = _total(shares[relevance], of_class)
            if total > 0.0:
                _distances(
                    grades[relevance], total, of_class, first, last, here, after,
                    own[q], gaps,
                )  # fmt: skip
                m = _pick_nearest(gaps, first, last, found.shape[2], counts, picked)
                _sort(gaps, m, picked, counts, ordered)
                for place in range(min(m, found.shape[2])):
                    found[q, pair, place] = rows[picked[place]]
                    distances[q, pair, place] = gaps[picked[place]]


@fast_inner
def _sum_grades(query, own, donors, limits, weights, rho, least, grades, shares):
    """Σ_j w_j GRC_j of all donors and Σ_j w_j over the observed columns, for every weighting.

    The second row of ``query`` tells which cells are missing.

    GRC = (Δmin + ρΔmax) / (Δ + ρΔmax): the numerator is common to all numbers, so it is multiplied
    with their sum.
    """
    n_columns, n_numbers, n, high = len(donors), limits.shape[1], donors.shape[1], 0.0
    for j in range(n_numbers):
        if query[1, j] == 0.0:
            high = max(high, query[0, j] - limits[0, j], limits[1, j] - query[0, j])
    offset = rho * high if high > 0.0 else 1.0  # without any spread all coefficients are 1
    for i in range(n):
        grades[0, i] = grades[1, i] = grades[2, i] = 0.0
        least[i] = FAR
    shares[0] = shares[1] = shares[2] = 0.0
    first, second, third = grades[0], grades[1], grades[2]
    for j in range(n_columns):
        if j == n_numbers:
            _scale(own, least, grades)
        if query[1, j] != 0.0:
            continue
        value, a, b, c = query[0, j], weights[0, j], weights[1, j], weights[2, j]
        shares[0], shares[1], shares[2] = shares[0] + a, shares[1] + b, shares[2] + c
        if j < n_numbers:
            for i in range(n):
                gap = abs(donors[j, i] - value) + offset
                least[i] = min(least[i], gap)
                first[i] += a / gap
                second[i] += b / gap
                third[i] += c / gap
        else:
            for i in range(n):
                same = 1.0 if donors[j, i] == value else 0.0
                first[i] += a * same
                second[i] += b * same
                third[i] += c * same
    if n_columns == n_numbers:
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
        for r in range(WEIGHTINGS):
            for i in range(len(least)):
                grades[r, i] *= top


@fast_inner
def _total(share, class_weight):
    """What all columns and the class count; in a function of its own, as rounding depends on it."""
    return (1.0 - class_weight) * share + class_weight


@fast_inner
def _distances(grades, total, class_weight, first, last, class_first, class_last, own, out):
    """Compute 1 − ((1 − v) GRG + v same) / ((1 − v) share + v), v the weight of the class.

    ``same`` is 1 for its donors, which stand from ``class_first`` to ``class_last``; the own row is
    far away.
    """
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
def _pick_nearest(distances, first, last, k, counts, picked):
    """List the k donors of least distance and some more; returns how many.

    A sample of the distances tells up to where the k nearest reach, in all likelihood; if these
    are fewer, all donors are listed.
    """
    n, m = last - first, ZERO
    low, high, limit = FAR, 0.0, 0.5 * FAR
    every = max(n // SAMPLE, 1)
    for i in range(first, last, every):
        if distances[i] < limit:
            low, high = min(low, distances[i]), max(high, distances[i])
    if n > 2 * k:
        wanted = 4.0 + 1.5 * k / every
        limit = _reach(distances, first, last, every, low, high, wanted, counts)
        m = _within(distances, first, last, limit, picked)
    if m < k:
        m = _within(distances, first, last, 0.5 * FAR, picked)
    return m


@fast_inner
def _reach(distances, first, last, every, low, high, wanted, counts):
    """The upper end of the step in which a sample reaches a count."""
    step = max(high - low, 1e-12) / (STEPS - 1)
    for place in range(STEPS + 1):
        counts[place] = 0
    for i in range(first, last, every):
        counts[int(min((distances[i] - low) / step, STEPS))] += 1
    seen = 0
    for place in range(STEPS):
        seen += counts[place]
        if seen >= wanted:
            return low + (place + 1.0) * step
    return 0.5 * FAR


@fast_inner
def _within(distances, first, last, limit, picked):
    """List the donors up to a distance; returns how many."""
    m = 0
    for i in range(first, last):
        picked[m] = i
        m += distances[i] <= limit
    return m


@fast_inner
def _sort(distances, m, picked, counts, ordered):
    """Put m donors in rising order of distance: by equal steps first, then by insertion."""
    low, high = FAR, 0.0
    for place in range(m):
        distance = distances[picked[place]]
        low, high = min(low, distance), max(high, distance)
    scale = (STEPS - 1) / max(high - low, 1e-12)
    for step in range(STEPS + 1):
        counts[step] = 0
    for place in range(m):
        counts[int((distances[picked[place]] - low) * scale) + 1] += 1
    for step in range(STEPS):
        counts[step + 1] += counts[step]
    for place in range(m):
        donor = picked[place]
        step = int((distances[donor] - low) * scale)
        ordered[counts[step]] = donor
        counts[step] += 1
    for place in range(m):
        donor, at = ordered[place], place
        while at > 0 and distances[picked[at - 1]] > distances[donor]:
            picked[at] = picked[at - 1]
            at -= 1
        picked[at] = donor


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
