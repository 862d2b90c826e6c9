"""Ridge regressions on a query's own donors, and on all donors of a group with what a row lacks.

A regression of all donors is fitted once for all queries. What one query lacks, and its own row
where it is a donor, is taken out of the fit by the identities of partitioned inverses and of
rank-one updates: with P = (C + λI)⁻¹ over all features and M those that the query lacks,

    (C_OO + λI)⁻¹ = P_OO − P_OM P_MM⁻¹ P_MO

so that a query costs what its holes cost, not a new factor of all features.
"""

import numpy as np

from greyfill._search.jit import ZERO, fast_in_place, fast_inner
from greyfill._search.matrices import NO, YES, factorize, matrix, multiply
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

PLACE, START, SOLVED, SCALES, MIDDLE, CENTER, ROOTS, PENALTIES = range(8)
"""Rows of ``vectors``, which regressions for a query write."""

N_VECTORS = 8
"""How many there are."""


@fast_inner
def local_fits(
    features, missing, owners, slots, rows, distances, donors, multipliers, targets, local, m, fits,
    ridges, places, scales, chosen, wanted, vectors, room, out,
):  # fmt: skip
    """Ridge fits on the first k donors of each query's list, into the slots of their candidates.

    They are those of row m of ``local``. A fit is candidate ``fits[., 0]``, takes ``fits[., 1]``
    donors and the penalty ``ridges[.]``; fits of the same k stand together. A fit leaves the range
    of its donors' targets by half of it at most.
    """
    pair, last, end = local[m, 0], local[m, 3], local[m, 4]
    while last < end:
        k, n_fits = fits[last, 1], ZERO
        while last < end and fits[last, 1] == k:
            slot = slots[fits[last, 0]]
            if slot >= 0:
                wanted[n_fits], vectors[PENALTIES, n_fits] = slot, ridges[last]
                n_fits += 1
            last += 1
        if n_fits == 0:
            continue
        for q in range(len(rows)):
            n, most, size = ZERO, min(k, rows.shape[2]), ZERO
            while n < most and distances[q, pair, n] < 1e300:
                n += 1
            if n < FEWEST:
                continue
            for f in range(local[m, 1], local[m, 1] + local[m, 2]):
                if scales[f] > 0.0 and not missing[q, owners[places[f]]]:
                    chosen[size], vectors[SCALES, size] = places[f], scales[f]
                    size += 1
            x, y = matrix(room, 0, n, size), matrix(room, n * size, n, targets.shape[1])
            _center(features, q, pair, chosen, donors, rows, multipliers, targets, vectors, x, y)
            _fit_donors(q, n_fits, wanted, vectors, x, y, room, out)
            _limit(q, pair, n, n_fits, rows, targets, wanted, out)


@fast_inner
def _center(features, q, pair, chosen, donors, rows, multipliers, targets, vectors, x, y):
    """Write the scaled features and targets of the donors, around their weighted means."""
    n, size = x.shape
    n_targets, total = y.shape[1], 0.0
    for f in range(size):
        vectors[MIDDLE, f] = 0.0
    for t in range(n_targets):
        vectors[CENTER, t] = 0.0
    for r in range(n):
        i = rows[q, pair, r]
        weight = multipliers[i] if len(multipliers) else 1.0
        vectors[ROOTS, r] = np.sqrt(weight)
        total += weight
        for f in range(size):
            x[r, f] = donors[i, chosen[f]]
            vectors[MIDDLE, f] += weight * x[r, f]
        for t in range(n_targets):
            y[r, t] = targets[i, t]
            vectors[CENTER, t] += weight * y[r, t]
    for t in range(n_targets):
        vectors[CENTER, t] /= total
    for f in range(size):
        vectors[MIDDLE, f] /= total
        place = (features[0, q, chosen[f]] - vectors[MIDDLE, f]) * vectors[SCALES, f]
        vectors[PLACE, f] = place
    for r in range(n):
        root = vectors[ROOTS, r] / np.sqrt(total)
        for f in range(size):
            x[r, f] = (x[r, f] - vectors[MIDDLE, f]) * vectors[SCALES, f] * root
        for t in range(n_targets):
            y[r, t] = (y[r, t] - vectors[CENTER, t]) * root


@fast_inner
def _fit_donors(q, n_fits, wanted, vectors, x, y, room, out):
    """Predict center + x' (X'X + α I)⁻¹ X'y, in the smaller of two forms.

    The rows of X and y are √ω (x_i − x̄) and √ω (t_i − t̄) of the donors.
    """
    n, size = x.shape
    n_targets, order = y.shape[1], min(n, size)
    at = n * (size + n_targets)
    gram, side = matrix(room, at, order, order), y
    at += order * order
    factor = matrix(room, at, order, order)
    at += order * order
    if size <= n:
        side = matrix(room, at, size, n_targets)
        multiply(YES, NO, x, x, gram)
        multiply(YES, NO, x, y, side)
        for f in range(size):
            vectors[START, f] = vectors[PLACE, f]
    else:
        place, start = matrix(room, at, size, 1), matrix(room, at + size, n, 1)
        for f in range(size):
            place[f, 0] = vectors[PLACE, f]
        multiply(NO, YES, x, x, gram)
        multiply(NO, NO, x, place, start)
        for r in range(n):
            vectors[START, r] = start[r, 0]
    before = 0.0
    for a in range(n_fits):
        for f in range(order):
            gram[f, f] += vectors[PENALTIES, a] - before
        before = vectors[PENALTIES, a]
        solve(gram, factor, vectors)
        for t in range(n_targets):
            total = vectors[CENTER, t]
            for f in range(order):
                total += vectors[SOLVED, f] * side[f, t]
            out[q, wanted[a], t] = total


@fast_inner
def _limit(q, pair, n, n_fits, rows, targets, wanted, out):
    for t in range(targets.shape[1]):
        low = high = targets[rows[q, pair, 0], t]
        for r in range(n):
            value = targets[rows[q, pair, r], t]
            low, high = min(low, value), max(high, value)
        margin = (high - low) / 2
        for a in range(n_fits):
            slot = wanted[a]
            out[q, slot, t] = min(max(out[q, slot, t], low - margin), high + margin)


@fast_inner
def solve(gram, factor, vectors):
    """Write gram⁻¹ `START` of a positive definite matrix, by a Cholesky factor, into `SOLVED`."""
    size = len(gram)
    for i in range(size):
        vectors[SOLVED, i] = vectors[START, i]
        for j in range(size):
            factor[i, j] = gram[i, j]
    if size <= SMALL:
        _factorize_few(gram, factor)
    else:
        factorize(factor)
    for i in range(size):
        total = vectors[SOLVED, i]
        for j in range(i):
            total -= factor[i, j] * vectors[SOLVED, j]
        vectors[SOLVED, i] = total / factor[i, i]
    for i in range(size - 1, -1, -1):
        vectors[SOLVED, i] /= factor[i, i]
        for j in range(i):
            vectors[SOLVED, j] -= factor[i, j] * vectors[SOLVED, i]


@fast_inner
def _factorize_few(gram, factor):
    """The Cholesky factor of a few rows, without the way to the library."""
    for i in range(len(gram)):
        for j in range(i + 1):
            total = gram[i, j]
            for e in range(j):
                total -= factor[i, e] * factor[j, e]
            factor[i, j] = np.sqrt(max(total, TINY)) if i == j else total / factor[j, j]


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
    n_groups, n_middles, n_inverses, n_slopes = sizes.tolist()
    n_targets, width = targets.shape[1], int(np.diff(ends).max(initial=0))
    n, beside = min(len(rows), BLOCK), width + n_targets
    found = (
        np.zeros(n_groups), np.zeros(n_middles), np.zeros(n_groups * n_targets),
        np.empty(n_inverses), np.empty(n_slopes),
    )  # fmt: skip
    of_fit = 4 * width * width + width * n_targets
    room = np.empty(n * beside + width * beside + max(width * beside, of_fit))
    _donor_fits(
        features, targets, rows, ranges, multipliers, sets, ends, places, families, kept, scales,
        ridges, *found, np.empty((2, max(width, n_targets))), room,
    )  # fmt: skip
    return found


@fast_in_place
def _donor_fits(
    features, targets, rows, ranges, multipliers, sets, ends, places, families, kept, scales,
    ridges, counts, middles, centers, inverses, slopes, means, room,
):  # fmt: skip
    n_targets = targets.shape[1]
    for s in range(len(sets)):
        width = ends[s + 1] - ends[s]
        for g in range(len(ranges) if sets[s, 1] else 1):
            first, last = ZERO, len(rows)
            if sets[s, 1]:
                first, last = ranges[g, 0], ranges[g, 1]
            n, at, penalty = min(last - first, BLOCK), ZERO, ZERO
            x, y = matrix(room, 0, n, width), matrix(room, n * width, n, n_targets)
            free = n * (width + n_targets)
            gram = matrix(room, free, width, width)
            cross = matrix(room, free + width * width, width, n_targets)
            free += width * (width + n_targets)
            count = _moments(
                features, sets[s, 0], targets, rows, first, last, places, ends[s], multipliers,
                means, x, y, gram, cross, room, free,
            )  # fmt: skip
            for f in range(len(families)):
                size, group = families[f, 3], families[f, 7] + g
                if families[f, 11] == s:
                    counts[group] = count
                    for t in range(n_targets):
                        centers[group * n_targets + t] = means[1, t]
                    for e in range(size):
                        middles[families[f, 8] + g * size + e] = means[0, kept[at + e]]
                    _fit_group(
                        families, f, g, count, last - first <= BLOCK, x, gram, cross, kept, scales,
                        at, ridges, penalty, inverses, slopes, room, free,
                    )  # fmt: skip
                at, penalty = at + size, penalty + families[f, 4]


@fast_inner
def _moments(
    features, form, targets, rows, first, last, places, begin, multipliers, means, x, y, gram,
    cross, room, free,
):  # fmt: skip
    """Write the means of some donors and the sums of products around them, block after block.

    Returns the sum of the weights; x keeps the last block.
    """
    width, n_targets = cross.shape
    count = _means(
        features, form, targets, rows, first, last, places, begin, multipliers, means, width
    )
    product = matrix(room, free, width, width)
    side = matrix(room, free + width * width, width, n_targets)
    for i in range(width):
        for j in range(width):
            gram[i, j] = 0.0
        for t in range(n_targets):
            cross[i, t] = 0.0
    for start in range(first, last, BLOCK):
        n = min(BLOCK, last - start)
        for r in range(n):
            i = rows[start + r]
            root = np.sqrt(multipliers[i]) if len(multipliers) else 1.0
            for f in range(width):
                x[r, f] = (features[form, i, places[begin + f]] - means[0, f]) * root
            for t in range(n_targets):
                y[r, t] = (targets[i, t] - means[1, t]) * root
        some, of_some = matrix(room, 0, n, width), matrix(room, len(x) * width, n, n_targets)
        multiply(YES, NO, some, some, product)
        multiply(YES, NO, some, of_some, side)
        for i in range(width):
            for j in range(width):
                gram[i, j] += product[i, j]
            for t in range(n_targets):
                cross[i, t] += side[i, t]
    return count


@fast_inner
def _means(features, form, targets, rows, first, last, places, begin, multipliers, means, width):
    """Write the weighted means of features and targets; returns the sum of the weights."""
    count, n_targets = 0.0, targets.shape[1]
    for f in range(width):
        means[0, f] = 0.0
    for t in range(n_targets):
        means[1, t] = 0.0
    for r in range(first, last):
        i = rows[r]
        weight = multipliers[i] if len(multipliers) else 1.0
        count += weight
        for f in range(width):
            means[0, f] += weight * features[form, i, places[begin + f]]
        for t in range(n_targets):
            means[1, t] += weight * targets[i, t]
    for f in range(width):
        means[0, f] /= max(count, TINY)
    for t in range(n_targets):
        means[1, t] /= max(count, TINY)
    return count


@fast_inner
def _fit_group(
    families, family, group, count, is_whole, x, gram, cross, kept, scales, at, ridges, penalty,
    inverses, slopes, room, free,
):  # fmt: skip
    """Write inverses and slopes of one family and group, penalty after penalty.

    Where features are many more than donors x, with X the scaled donors / √n,
    (X'X + α I)⁻¹ = (I − X' (X X' + α I)⁻¹ X) / α.
    """
    size, n_ridges, n_targets = families[family, 3], families[family, 4], cross.shape[1]
    n, n_donors = max(count, 1.0), len(x) if is_whole else ZERO
    by_donors, root = 0 < MANY_FEATURES * n_donors < size, 1.0 / np.sqrt(n)
    order = n_donors if by_donors else size
    inner, side = (
        matrix(room, free, order, order),
        matrix(room, free + order * order, size, n_targets),
    )
    free += order * order + size * n_targets
    scaled = matrix(room, free, order if by_donors else ZERO, size)
    free += len(scaled) * size
    for f in range(size):
        for t in range(n_targets):
            side[f, t] = cross[kept[at + f], t] * scales[at + f] / n
        for r in range(len(scaled)):
            scaled[r, f] = x[r, kept[at + f]] * scales[at + f] * root
        for e in range(ZERO if by_donors else size):
            inner[f, e] = gram[kept[at + f], kept[at + e]] * scales[at + f] * scales[at + e] / n
    if by_donors:
        multiply(NO, YES, scaled, scaled, inner)
    for a in range(n_ridges):
        ridge = ridges[penalty + a]
        for f in range(order):
            inner[f, f] += ridge - (ridges[penalty + a - 1] if a else 0.0)
        number = group * n_ridges + a
        inverse = matrix(inverses, families[family, 9] + number * size * size, size, size)
        if by_donors:
            _invert_by_donors(inner, scaled, ridge, inverse, room, free)
        else:
            _invert(inner, inverse, room, free)
        begin = families[family, 10] + number * size * n_targets
        multiply(NO, NO, inverse, side, matrix(slopes, begin, size, n_targets))


@fast_inner
def _invert_by_donors(inner, scaled, ridge, out, room, free):
    """Write (I − X' (X X' + α I)⁻¹ X) / α."""
    n, size = scaled.shape
    inverse, half = matrix(room, free, n, n), matrix(room, free + n * n, n, size)
    _invert(inner, inverse, room, free + n * (n + size))
    multiply(NO, NO, inverse, scaled, half)
    multiply(YES, NO, scaled, half, out)
    for f in range(size):
        for e in range(size):
            out[f, e] = ((1.0 if f == e else 0.0) - out[f, e]) / ridge


@fast_inner
def _invert(gram, out, room, free):
    """Write the inverse of a positive definite matrix: L⁻¹' L⁻¹, L its Cholesky factor."""
    size = len(gram)
    factor, turned = matrix(room, free, size, size), matrix(room, free + size * size, size, size)
    for i in range(size):
        for j in range(size):
            factor[i, j], turned[i, j] = gram[i, j], 0.0
    factorize(factor)
    for i in range(size):
        for k in range(i):
            share = factor[i, k] / factor[i, i]
            for j in range(k + 1):
                turned[i, j] -= share * turned[k, j]
        turned[i, i] = 1.0 / factor[i, i]
    multiply(YES, NO, turned, turned, out)


@fast_inner
def common_fit(
    q, m, count, center, centers, inverse, slopes, own_targets, lacking, vectors, room, slot, out
):  # fmt: skip
    """Predict center + place' P_O b_O, O the features that are not lacking, without the own row.

    With u = (P place)_M: place' P_O b_O = place' β − u' b_M − u' P_MM⁻¹ (β_M − P_MM b_M), and the
    last two terms together are −u' P_MM⁻¹ β_M. What a donor in this place counts in its own
    prediction is place' P_O place = place' P place − u' P_MM⁻¹ u. ``centers`` of the group begin
    at ``center``; the first m features in ``lacking`` are.
    """
    size, share = len(inverse), 0.0
    part, factor = matrix(room, 0, m, m), matrix(room, m * m, m, m)
    for a in range(m):
        vectors[START, a] = 0.0
        for f in range(size):
            vectors[START, a] += inverse[lacking[a], f] * vectors[PLACE, f]
        for b in range(m):
            part[a, b] = inverse[lacking[a], lacking[b]]
    if m:
        solve(part, factor, vectors)
    if len(own_targets):
        for f in range(size):
            total = 0.0
            for e in range(size):
                total += inverse[f, e] * vectors[PLACE, e]
            share += vectors[PLACE, f] * total
        for a in range(m):
            share -= vectors[SOLVED, a] * vectors[START, a]
        share /= count
    for t in range(slopes.shape[1]):
        slope, middle = 0.0, centers[center + t]
        for f in range(size):
            slope += vectors[PLACE, f] * slopes[f, t]
        for a in range(m):
            slope -= vectors[SOLVED, a] * slopes[lacking[a], t]
        if len(own_targets) == 0:
            out[q, slot, t] = middle + slope
            continue
        gap, ratio = own_targets[q, t] - middle, count / (count - 1.0)
        lever = ratio * share
        rest = (slope - lever * gap) / (1.0 - lever)
        out[q, slot, t] = middle - gap / (count - 1.0) + ratio * rest
