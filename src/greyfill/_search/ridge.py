"""Ridge regressions on a query's own donors, and on all donors of a group with what a row lacks.

A regression of all donors is fitted once for all queries. What one query lacks, and its own row
where it is a donor, is taken out of the fit by the identities of partitioned inverses and of
rank-one updates: with P = (C + λI)⁻¹ over all features and M those that the query lacks,

    (C_OO + λI)⁻¹ = P_OO − P_OM P_MM⁻¹ P_MO

so that a query costs what its holes cost, not a new factor of all features.
"""

import numpy as np

from greyfill._search.jit import fast, fast_inner
from greyfill._search.lists import NOTHING
from greyfill.table import Bools, Floats, Ints

BLOCK = 8_192
"""Donors whose sums of products are computed at once."""

FEWEST = 3
"""Donors that a regression needs at least."""


@fast
def local_ridges(
    queries: Floats,
    usable: Bools,
    features: Floats,
    places: Ints,
    scales: Floats,
    rows: Ints,
    distances: Floats,
    multipliers: Floats,
    targets: Floats,
    ks: Ints,
    ridges: Floats,
) -> Floats:
    """Ridge fits on the first k donors of each query's list; shape (query, fit, target).

    Fit m takes ``ks[m]`` donors and the penalty ``ridges[m]``; fits of the same k stand together.
    ``places`` are the features that count, in ``queries`` as in ``features``. A fit leaves the
    range of its donors' targets by half of it at most.
    """
    out = np.full((len(queries), len(ks), targets.shape[1]), NOTHING)
    chosen = np.empty(len(places), dtype=np.intp)
    scaled = np.empty(len(places))
    for q in range(len(queries)):
        size = _choose(usable[q], places, scales, chosen, scaled)
        there = 0
        while there < rows.shape[1] and distances[q, there] < 1e300:
            there += 1
        first = 0
        while first < len(ks):
            last = first + 1
            while last < len(ks) and ks[last] == ks[first]:
                last += 1
            n = min(ks[first], there)
            if n >= FEWEST:
                fit_donors(
                    queries[q], chosen[:size], scaled[:size], features, rows[q, :n], multipliers,
                    targets, ridges[first:last], out[q, first:last],
                )  # fmt: skip
            first = last
    return out


@fast_inner
def fit_donors(
    query, chosen, scales, features, rows, multipliers, targets, ridges, out
):  # fmt: skip
    """Predict center + x' (X'X + α I)⁻¹ X'y, in the smaller of two forms.

    The rows of X and y are √ω (x_i − x̄) and √ω (t_i − t̄) of the donors.
    """
    n, size, n_targets = len(rows), len(chosen), targets.shape[1]
    x, y = np.empty((n, size)), np.empty((n, n_targets))
    place, center = np.empty(size), np.empty(n_targets)
    _center(query, chosen, scales, features, rows, multipliers, targets, x, y, place, center)
    if size <= n:
        gram, side, start = np.dot(x.T, x), np.dot(x.T, y), place
    else:
        gram, side, start = np.dot(x, x.T), y, np.dot(x, place)
    before = 0.0
    for a in range(len(ridges)):
        for f in range(len(start)):
            gram[f, f] += ridges[a] - before
        before = ridges[a]
        solved = solve(gram, start)
        for t in range(n_targets):
            total = center[t]
            for f in range(len(start)):
                total += solved[f] * side[f, t]
            out[a, t] = total
    _limit(rows, targets, out)


@fast_inner
def _center(query, chosen, scales, features, rows, multipliers, targets, x, y, place, center):
    """Write the scaled features and targets of the donors, around their weighted means."""
    n, size, total = len(rows), len(chosen), 0.0
    middle, roots = np.zeros(size), np.empty(n)
    center[:] = 0.0
    for r in range(n):
        weight = multipliers[rows[r]] if len(multipliers) else 1.0
        roots[r] = np.sqrt(weight)
        total += weight
        for f in range(size):
            x[r, f] = features[rows[r], chosen[f]]
            middle[f] += weight * x[r, f]
        for t in range(len(center)):
            y[r, t] = targets[rows[r], t]
            center[t] += weight * y[r, t]
    for t in range(len(center)):
        center[t] /= total
    for f in range(size):
        middle[f] /= total
        place[f] = (query[chosen[f]] - middle[f]) * scales[f]
    for r in range(n):
        root = roots[r] / np.sqrt(total)
        for f in range(size):
            x[r, f] = (x[r, f] - middle[f]) * scales[f] * root
        for t in range(len(center)):
            y[r, t] = (y[r, t] - center[t]) * root


@fast_inner
def _limit(rows, targets, out):
    for t in range(targets.shape[1]):
        low, high = targets[rows[0], t], targets[rows[0], t]
        for i in rows:
            low, high = min(low, targets[i, t]), max(high, targets[i, t])
        margin = (high - low) / 2
        for a in range(len(out)):
            out[a, t] = min(max(out[a, t], low - margin), high + margin)


@fast_inner
def solve(gram, side):
    """gram⁻¹ side of a positive definite matrix, by a Cholesky factor."""
    size = len(side)
    if size == 0:
        return side.copy()
    factor, work = np.linalg.cholesky(gram), side.copy()
    for i in range(size):
        total = work[i]
        for j in range(i):
            total -= factor[i, j] * work[j]
        work[i] = total / factor[i, i]
    for i in range(size - 1, -1, -1):
        work[i] /= factor[i, i]
        for j in range(i):
            work[j] -= factor[i, j] * work[i]
    return work


def moments(
    features: Floats, places: Ints, targets: Floats, rows: Ints, multipliers: Floats, starts: Ints
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Counts, means of z and t, and centered sums of z z' and z t' over the donors of each group.

    The donors ``rows`` stand group after group, group g from ``starts[g]`` on. Multipliers may be
    none: then all count 1.
    """
    n_groups, size, n_targets = len(starts) - 1, len(places), targets.shape[1]
    counts, means = np.zeros(n_groups), np.zeros((n_groups, size + n_targets))
    products = np.zeros((n_groups, size, size + n_targets))
    for g in range(n_groups):
        for first in range(starts[g], starts[g + 1], BLOCK):
            some = rows[first : min(first + BLOCK, starts[g + 1])]
            both = np.concatenate([features[some][:, places], targets[some]], axis=1)
            count, weighed = float(len(some)), both
            if len(multipliers):
                count = multipliers[some].sum()
                weighed = both * multipliers[some, np.newaxis]
            mean = weighed.sum(axis=0) / count
            both -= mean
            weighed = both * multipliers[some, np.newaxis] if len(multipliers) else both
            # Blocks are joined by Chan's update, so that each is read once and nothing cancels.
            total, apart = counts[g] + count, mean - means[g]
            products[g] += weighed[:, :size].T @ both
            if counts[g] > 0.0:
                products[g] += apart[:size, np.newaxis] * apart * (counts[g] * count / total)
            means[g] += apart * (count / total)
            counts[g] = total
    middles, centers = means[:, :size], means[:, size:]
    return counts, middles, centers, products[:, :, :size], products[:, :, size:]


def ridge_inverses(
    counts: Floats, products: Floats, cross: Floats, scales: Floats, ridges: Floats
) -> tuple[Floats, Floats]:
    """(S C S / n + α I)⁻¹ and its product with S b / n, S the scales, C and b the centered sums.

    Shapes (group, ridge, feature, feature) and (group, ridge, feature, target).
    """
    per_donor = 1.0 / np.maximum(counts, 1.0)[:, np.newaxis, np.newaxis]
    gram = products * (scales[:, np.newaxis] * scales) * per_donor
    penalty = ridges[:, np.newaxis, np.newaxis] * np.eye(len(scales))
    inverses = np.ascontiguousarray(np.linalg.inv(gram[:, np.newaxis] + penalty), dtype=np.float64)
    side = cross * scales[:, np.newaxis] * per_donor
    return inverses, np.ascontiguousarray(inverses @ side[:, np.newaxis])


@fast
def common_ridges(
    queries: Floats,
    usable: Bools,
    places: Ints,
    scales: Floats,
    groups: Ints,
    own_targets: Floats,
    which: Ints,
    counts: Floats,
    middles: Floats,
    centers: Floats,
    inverses: Floats,
    slopes: Floats,
) -> Floats:
    """Ridge fits on all donors of each query's group; shape (query, ridge, target).

    ``which`` are the places of the penalties among those of ``inverses``, which with ``slopes`` are
    those of `ridge_inverses`, the sums those of `moments`. Where ``own_targets`` has rows, each
    query is a donor of its group with these targets, and is taken out. A group below 0, and one of
    too few donors, predicts nothing.
    """
    size, n_targets, leaves = len(places), centers.shape[1], len(own_targets) > 0
    out = np.full((len(queries), len(which), n_targets), NOTHING)
    place, lacking = np.empty(size), np.empty(size, dtype=np.intp)
    for q in range(len(queries)):
        g = groups[q]
        if g < 0 or counts[g] - leaves < FEWEST:
            continue
        m = 0
        for f in range(size):
            place[f] = (queries[q, places[f]] - middles[g, f]) * scales[f]
            if not usable[q, places[f]]:
                place[f], lacking[m] = 0.0, f
                m += 1
        for a in range(len(which)):
            _common_fit(
                place, lacking[:m], counts[g], centers[g], inverses[g, which[a]],
                slopes[g, which[a]], own_targets[q : q + leaves], out[q, a],
            )  # fmt: skip
    return out


@fast_inner
def _common_fit(place, lacking, count, center, inverse, slopes, own, out):
    """Predict center + place' P_O b_O, O the features that are not lacking, without the own row.

    With u = (P place)_M: place' P_O b_O = place' β − u' b_M − u' P_MM⁻¹ (β_M − P_MM b_M), and the
    last two terms together are −u' P_MM⁻¹ β_M.
    """
    m = len(lacking)
    moved, solved = np.empty(m), np.empty(m)
    for a in range(m):
        moved[a] = 0.0
        for f in range(len(place)):
            moved[a] += inverse[lacking[a], f] * place[f]
    if m:
        part = np.empty((m, m))
        for a in range(m):
            for b in range(m):
                part[a, b] = inverse[lacking[a], lacking[b]]
        solved = solve(part, moved)
    share = _share(place, inverse, moved, solved) / count if len(own) else 0.0
    for t in range(len(center)):
        slope = 0.0
        for f in range(len(place)):
            slope += place[f] * slopes[f, t]
        for a in range(m):
            slope -= solved[a] * slopes[lacking[a], t]
        if len(own) == 0:
            out[t] = center[t] + slope
            continue
        gap, ratio = own[0, t] - center[t], count / (count - 1.0)
        lever = ratio * share
        rest = (slope - lever * gap) / (1.0 - lever)
        out[t] = center[t] - gap / (count - 1.0) + ratio * rest


@fast_inner
def _share(place, inverse, moved, solved):
    """Compute place' P_O place, what a donor in this place counts in its own prediction."""
    share = 0.0
    for f in range(len(place)):
        for e in range(len(place)):
            share += place[f] * inverse[f, e] * place[e]
    for a in range(len(moved)):
        share -= solved[a] * moved[a]
    return share


@fast_inner
def _choose(usable, places, scales, chosen, scaled):
    """The usable features that count, and their scales; returns how many."""
    size = 0
    for f in range(len(places)):
        if usable[places[f]] and scales[f] > 0.0:
            chosen[size], scaled[size] = places[f], scales[f]
            size += 1
    return size
