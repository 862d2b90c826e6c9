"""Ridge regressions on a query's own donors, and on all donors of a group with what a row lacks.

A regression of all donors is fitted once for all queries. What one query lacks, and its own row
where it is a donor, is taken out of the fit by the identities of partitioned inverses and of
rank-one updates: with P = (C + λI)⁻¹ over all features and M those that the query lacks,

    (C_OO + λI)⁻¹ = P_OO − P_OM P_MM⁻¹ P_MO

so that a query costs what its holes cost, not a new factor of all features.
"""

import numpy as np

from greyfill._search.jit import fast, fast_inner
from greyfill.table import Floats, Ints

NOTHING = -1e300
"""Stands for a prediction that cannot be made: no value inside a fast kernel may be NaN."""

BLOCK = 8_192
"""Donors whose sums of products are computed at once."""

MANY_FEATURES = 2
"""Features for each donor from which regressions on all donors are solved by donors."""

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
                    for t in range(targets.shape[1]):
                        out[q, wanted[fit], t] = found[fit, t]


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


@fast
def donor_fits(
    features: Floats,
    targets: Floats,
    rows: Ints,
    ranges: Ints,
    multipliers: Floats,
    sets: Ints,
    ends: Ints,
    places: Ints,
    families: Ints,
    kept: Ints,
    scales: Floats,
    ridges: Floats,
    sizes: Ints,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Counts, means of features and targets, inverses and slopes of ridges on groups of donors.

    (S C S / n + α I)⁻¹ and its product with S b / n, where S are the scales, C and b the sums of
    z z' and z t' around their means. ``features`` have shape (form, row, feature); the donors of
    class c are ``rows`` from ``ranges[c, 0]`` up to ``ranges[c, 1]``. A set has a form, and whether
    each class is a group; set s reads the features ``places[ends[s] : ends[s + 1]]``. A family of
    regressions is a row of the table ``common`` of `greyfill._search.panel`, with its set in the
    last column; of the features of its set it reads those in ``kept`` by its ``scales``. ``sizes``
    are the lengths of the counts, means, inverses and slopes of all families, which stand end to
    end.
    """
    n_targets = targets.shape[1]
    counts, middles, centers = (
        np.zeros(sizes[0]),
        np.zeros(sizes[1]),
        np.zeros(sizes[0] * n_targets),
    )
    inverses, slopes = np.empty(sizes[2]), np.empty(sizes[3])
    for s in range(len(sets)):
        columns = places[ends[s] : ends[s + 1]]
        middle, center = np.empty(len(columns)), np.empty(n_targets)
        for g in range(len(ranges) if sets[s, 1] else 1):
            some = rows[ranges[g, 0] : ranges[g, 1]] if sets[s, 1] else rows
            count = _means(
                features[sets[s, 0]], targets, some, columns, multipliers, middle, center
            )
            gram = np.zeros((len(columns), len(columns)))
            cross, x = np.zeros((len(columns), n_targets)), np.empty((0, len(columns)))
            for first in range(0, len(some), BLOCK):
                x, y = _apart(
                    features[sets[s, 0]], targets, some[first : first + BLOCK], columns,
                    multipliers, middle, center,
                )  # fmt: skip
                _add(gram, np.dot(x.T, x))
                _add(cross, np.dot(x.T, y))
            at, penalty = 0, 0
            for f in range(len(families)):
                family, size = families[f], families[f, 3]
                if family[11] == s:
                    here, scale = kept[at : at + size], scales[at : at + size]
                    counts[family[7] + g] = count
                    for t in range(n_targets):
                        centers[(family[7] + g) * n_targets + t] = center[t]
                    for e in range(size):
                        middles[family[8] + g * size + e] = middle[here[e]]
                    _fit_group(
                        count, gram, cross, x if len(some) <= BLOCK else x[:0], here, scale,
                        ridges[penalty : penalty + family[4]],
                        inverses[family[9] + g * family[4] * size * size :],
                        slopes[family[10] + g * family[4] * size * n_targets :],
                    )  # fmt: skip
                at, penalty = at + size, penalty + family[4]
    return counts, middles, centers, inverses, slopes


@fast_inner
def _means(features, targets, rows, columns, multipliers, middle, center):
    """Write the weighted means; returns the sum of the weights."""
    count = 0.0
    middle[:], center[:] = 0.0, 0.0
    for i in rows:
        weight = multipliers[i] if len(multipliers) else 1.0
        count += weight
        for f in range(len(columns)):
            middle[f] += weight * features[i, columns[f]]
        for t in range(len(center)):
            center[t] += weight * targets[i, t]
    for f in range(len(columns)):
        middle[f] /= max(count, TINY)
    for t in range(len(center)):
        center[t] /= max(count, TINY)
    return count


@fast_inner
def _add(total, part):
    """Add a matrix to another; loops like this compile sooner than what numba has for arrays."""
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += part[i, j]


@fast_inner
def _apart(features, targets, rows, columns, multipliers, middle, center):
    """Features and targets of some donors around the means, times the roots of their weights."""
    x, y = np.empty((len(rows), len(columns))), np.empty((len(rows), len(center)))
    for r in range(len(rows)):
        root = np.sqrt(multipliers[rows[r]]) if len(multipliers) else 1.0
        for f in range(len(columns)):
            x[r, f] = (features[rows[r], columns[f]] - middle[f]) * root
        for t in range(len(center)):
            y[r, t] = (targets[rows[r], t] - center[t]) * root
    return x, y


@fast_inner
def _fit_group(count, gram, cross, x, kept, scales, ridges, inverses, slopes):
    """Write inverses and slopes of one family and group, penalty after penalty.

    Where features are many more than donors x, with X the scaled donors / √n,
    (X'X + α I)⁻¹ = (I − X' (X X' + α I)⁻¹ X) / α.
    """
    size, n_targets, n = len(kept), cross.shape[1], max(count, 1.0)
    by_donors = 0 < MANY_FEATURES * len(x) < size
    scaled, inner = np.empty((len(x) if by_donors else 0, size)), np.empty((size, size))
    side, root = np.empty((size, n_targets)), 1.0 / np.sqrt(n)
    for f in range(size):
        for t in range(n_targets):
            side[f, t] = cross[kept[f], t] * scales[f] / n
        for r in range(len(scaled)):
            scaled[r, f] = x[r, kept[f]] * scales[f] * root
        for e in range(size):
            inner[f, e] = gram[kept[f], kept[e]] * scales[f] * scales[e] / n
    if by_donors:
        inner = np.dot(scaled, scaled.T)
    for a in range(len(ridges)):
        for f in range(len(inner)):
            inner[f, f] += ridges[a] - (ridges[a - 1] if a else 0.0)
        inverse = _inverse(inner)
        if by_donors:
            inverse = np.dot(scaled.T, np.dot(inverse, scaled))
            for f in range(size):
                for e in range(size):
                    inverse[f, e] = ((1.0 if f == e else 0.0) - inverse[f, e]) / ridges[a]
        _write(inverse, a, inverses)
        _write(np.dot(inverse, side), a, slopes)


@fast_inner
def _write(matrix, number, out):
    """Put a matrix after so many of its size, row after row."""
    n_rows, n_columns = matrix.shape
    for i in range(n_rows):
        for j in range(n_columns):
            out[(number * n_rows + i) * n_columns + j] = matrix[i, j]


@fast_inner
def _inverse(gram):
    """The inverse of a positive definite matrix: L⁻¹' L⁻¹, L its Cholesky factor."""
    factor, turned = np.linalg.cholesky(gram), np.zeros(gram.shape)
    for i in range(len(gram)):
        for k in range(i):
            share = factor[i, k] / factor[i, i]
            for j in range(k + 1):
                turned[i, j] -= share * turned[k, j]
        turned[i, i] = 1.0 / factor[i, i]
    return np.dot(turned.T, turned)


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
