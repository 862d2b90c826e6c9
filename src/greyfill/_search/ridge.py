"""Ridge regressions on a query's own donors, and on all donors of a group with what a row lacks.

A regression of all donors is fitted once for all queries. What one query lacks, and its own row
where it is a donor, is taken out of the fit by the identities of partitioned inverses and of
rank-one updates: with P = (C + λI)⁻¹ over all features and M those that the query lacks,

    (C_OO + λI)⁻¹ = P_OO − P_OM P_MM⁻¹ P_MO

so that a query costs what its holes cost, not a new factor of all features.
"""

import numpy as np

from greyfill._search.jit import fast_inner
from greyfill.table import Floats, Ints

NOTHING = -1e300
"""Stands for a prediction that cannot be made: no value inside a fast kernel may be NaN."""

BLOCK = 8_192
"""Donors whose sums of products are computed at once."""

SMALL, TINY = 8, 1e-300
"""Rows up to which a factor is computed here, and what a pivot is at least."""

FEWEST = 3
"""Donors that a regression needs at least."""


@fast_inner
def local_fits(
    queries, missing, owners, features, places, scales, rows, distances, multipliers, targets, fits,
    ridges, slots, out,
):  # fmt: skip
    """Ridge fits on the first k donors of each query's list, into the slots of their candidates.

    Fit m is candidate ``fits[m, 0]``, takes ``fits[m, 1]`` donors and the penalty ``ridges[m]``;
    fits of the same k stand together. ``places`` are the features that count. A fit leaves the
    range of its donors' targets by half of it at most.
    """
    wanted, penalties = np.empty(len(fits), dtype=np.intp), np.empty(len(fits))
    chosen, scaled = np.empty(len(places), dtype=np.intp), np.empty(len(places))
    found, last = np.empty((len(fits), targets.shape[1])), 0
    while last < len(fits):
        first, n_fits = last, 0
        while last < len(fits) and fits[last, 1] == fits[first, 1]:
            if slots[fits[last, 0]] >= 0:
                wanted[n_fits], penalties[n_fits] = slots[fits[last, 0]], ridges[last]
                n_fits += 1
            last += 1
        if n_fits == 0:
            continue
        for q in range(len(queries)):
            n, most = 0, min(fits[first, 1], rows.shape[1])
            while n < most and distances[q, n] < 1e300:
                n += 1
            if n >= FEWEST:
                size = _choose(missing[q], owners, places, scales, chosen, scaled)
                fit_donors(
                    queries[q], chosen[:size], scaled[:size], features, rows[q, :n], multipliers,
                    targets, penalties[:n_fits], found,
                )  # fmt: skip
                for fit in range(n_fits):
                    out[q, wanted[fit]] = found[fit]


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
    _limit(rows, targets, len(ridges), out)


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
def _limit(rows, targets, n, out):
    for t in range(targets.shape[1]):
        low, high = targets[rows[0], t], targets[rows[0], t]
        for i in rows:
            low, high = min(low, targets[i, t]), max(high, targets[i, t])
        margin = (high - low) / 2
        for a in range(n):
            out[a, t] = min(max(out[a, t], low - margin), high + margin)


@fast_inner
def solve(gram, side):
    """gram⁻¹ side of a positive definite matrix, by a Cholesky factor."""
    size, work = len(side), side.copy()
    if size == 0:
        return work
    factor = _small_factor(gram) if size <= SMALL else np.linalg.cholesky(gram)
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


@fast_inner
def _small_factor(gram):
    """The Cholesky factor of a few rows, without the way to the library."""
    factor = gram.copy()
    for i in range(len(gram)):
        for j in range(i + 1):
            total = gram[i, j]
            for e in range(j):
                total -= factor[i, e] * factor[j, e]
            factor[i, j] = np.sqrt(max(total, TINY)) if i == j else total / factor[j, j]
    return factor


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

    For families of scales (family, feature) and penalties (family, ridge), and sums of each family
    and group; shapes (family, group, ridge, feature, feature) and (…, feature, target).
    """
    per_donor = 1.0 / np.maximum(counts, 1.0)[:, np.newaxis, np.newaxis]
    by_scale = scales[:, np.newaxis, :, np.newaxis]
    gram = products * (by_scale * scales[:, np.newaxis, np.newaxis] * per_donor)
    penalty = ridges[:, np.newaxis, :, np.newaxis, np.newaxis] * np.eye(scales.shape[1])
    inverses = np.asarray(np.linalg.inv(gram[:, :, np.newaxis] + penalty))
    return inverses, inverses @ (cross * (by_scale * per_donor))[:, :, np.newaxis]


def few_inverses(
    donors: Floats, counts: Floats, cross: Floats, scales: Floats, ridges: Floats
) -> tuple[Floats, Floats]:
    """The same where features are many more than donors, with X the scaled donors / √n.

    (X'X + α I)⁻¹ = (I − X' (X X' + α I)⁻¹ X) / α

    ``donors`` are centered, shape (family, group, donor, feature), with zeros for want of donors.
    """
    per_donor = 1.0 / np.maximum(counts, 1.0)[:, np.newaxis, np.newaxis]
    by_scale = scales[:, np.newaxis, np.newaxis]
    x = (donors * (by_scale * np.sqrt(per_donor)))[:, :, np.newaxis]
    penalty = ridges[:, np.newaxis, :, np.newaxis, np.newaxis]
    turned = x.swapaxes(3, 4)
    inner = np.linalg.inv(x @ turned + penalty * np.eye(x.shape[3]))
    inverses = (np.eye(x.shape[4]) - turned @ (inner @ x)) / penalty
    side = cross * (by_scale.swapaxes(2, 3) * per_donor)
    return inverses, inverses @ side[:, :, np.newaxis]


@fast_inner
def common_fit(place, lacking, count, center, inverse, slopes, own, out):
    """Predict center + place' P_O b_O, O the features that are not lacking, without the own row.

    With u = (P place)_M: place' P_O b_O = place' β − u' b_M − u' P_MM⁻¹ (β_M − P_MM b_M), and the
    last two terms together are −u' P_MM⁻¹ β_M. What a donor in this place counts in its own
    prediction is place' P_O place = place' P place − u' P_MM⁻¹ u.
    """
    m, share = len(lacking), 0.0
    moved, solved, part = np.empty(m), np.empty(m), np.empty((m, m))
    for a in range(m):
        moved[a] = 0.0
        for f in range(len(place)):
            moved[a] += inverse[lacking[a], f] * place[f]
        for b in range(m):
            part[a, b] = inverse[lacking[a], lacking[b]]
    if m:
        solved = solve(part, moved)
    if len(own):
        for f in range(len(place)):
            total = 0.0
            for e in range(len(place)):
                total += inverse[f, e] * place[e]
            share += place[f] * total
        for a in range(m):
            share -= solved[a] * moved[a]
        share /= count
    for t in range(len(out)):
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
def _choose(missing, owners, places, scales, chosen, scaled):
    """The features of observed columns that count, and their scales; returns how many."""
    size = 0
    for f in range(len(places)):
        if scales[f] > 0.0 and not missing[owners[places[f]]]:
            chosen[size], scaled[size] = places[f], scales[f]
            size += 1
    return size
