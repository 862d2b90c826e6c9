"""Compiled twins of the self-tuning engine's kernels in the reference.

Information within groups, shortlists and votes of levels, means and limits of donors' targets, and
ridge regressions of them: on each query's own donors, or on all donors by their moments.
"""

import numpy as np

from greyfill._search.jit import exact, fast, fast_inner
from greyfill.table import MANY_LEVELS, Bools, Floats, Ints


@fast
def group_information(
    codes: Ints, n_codes: Ints, groups: Ints, n_groups: int, target: int, others: Ints, orders: Ints
) -> Floats:
    """Information within groups, for every order of the rows and every other column."""
    out = np.zeros((len(orders), len(others)))
    for o in range(len(others)):
        other = others[o]
        shape = (n_groups, n_codes[target], n_codes[other])
        if max(shape[1], shape[2]) > MANY_LEVELS:
            for s in range(len(orders)):
                out[s, o] = _sparse_information(
                    codes[:, target], codes[orders[s], other], groups, shape
                )
            continue
        for s in range(len(orders)):
            table = np.zeros(shape)
            for i in range(len(codes)):
                a, b = codes[i, target], codes[orders[s, i], other]
                if a >= 0 and b >= 0:
                    table[groups[i], a, b] += 1.0
            out[s, o] = _information(table)
    return out


@fast_inner
def _information(table):
    total = table.sum()
    if total == 0.0:
        return 0.0
    found = 0.0
    for g in range(table.shape[0]):
        rows, columns = table[g].sum(axis=1), table[g].sum(axis=0)
        size = rows.sum()
        for a in range(table.shape[1]):
            for b in range(table.shape[2]):
                count = table[g, a, b]
                if count > 0.0:
                    found += count * np.log2(count * size / (rows[a] * columns[b]))
    return found / total


@fast_inner
def _sparse_information(first, second, groups, shape):
    """The same from the pairs that occur, in memory that grows with the rows and codes alone."""
    keys, n = np.empty(len(first), dtype=np.intp), 0
    rows, columns = np.zeros((shape[0], shape[1])), np.zeros((shape[0], shape[2]))
    sizes = np.zeros(shape[0])
    for i in range(len(first)):
        g, a, b = groups[i], first[i], second[i]
        if a >= 0 and b >= 0:
            keys[n] = (g * shape[1] + a) * shape[2] + b
            n += 1
            rows[g, a] += 1.0
            columns[g, b] += 1.0
            sizes[g] += 1.0
    keys = np.sort(keys[:n])
    found, start = 0.0, 0
    for i in range(n):
        if i + 1 == n or keys[i + 1] != keys[i]:
            pair, b = divmod(keys[i], shape[2])
            g, a = divmod(pair, shape[1])
            count = i + 1.0 - start
            found += count * np.log2(count * sizes[g] / (rows[g, a] * columns[g, b]))
            start = i + 1
    return found / max(n, 1)


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


@fast
def local_means(donors: Ints, weights: Floats, targets: Floats) -> Floats:
    """Weighted means of donors' targets, donor after donor; shape (query, target)."""
    out = np.zeros((len(donors), targets.shape[1]))
    for q in range(len(donors)):
        for r in range(donors.shape[1]):
            if weights[q, r] > 0.0:
                for t in range(targets.shape[1]):
                    out[q, t] += weights[q, r] * targets[donors[q, r], t]
    return out


@exact
def local_limits(donors: Ints, weights: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The least and the largest of donors' targets; ∞ and −∞ without a donor that counts."""
    shape = len(donors), targets.shape[1]
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    for q in range(len(donors)):
        for r in range(donors.shape[1]):
            if weights[q, r] > 0.0:
                for t in range(targets.shape[1]):
                    low[q, t] = min(low[q, t], targets[donors[q, r], t])
                    high[q, t] = max(high[q, t], targets[donors[q, r], t])
    return low, high


@fast
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
    """Ridge fits on each query's own donors; shape (query, ridge, target).

    ``places`` are the columns of ``features`` that the queries have.
    """
    n_donors, n_targets = donors.shape[1], targets.shape[1]
    out = np.empty((len(queries), len(ridges), n_targets))
    chosen = np.empty(queries.shape[1], dtype=np.intp)
    for q in range(len(queries)):
        size = _choose(usable[q], scales, chosen)
        middle, center = np.zeros(size), np.zeros(n_targets)
        for r in range(n_donors):
            i, w = donors[q, r], weights[q, r]
            for f in range(size):
                middle[f] += w * features[i, places[chosen[f]]]
            for t in range(n_targets):
                center[t] += w * targets[i, t]
        x, y = np.empty((n_donors, size)), np.empty((n_donors, n_targets))
        for r in range(n_donors):
            i, root = donors[q, r], np.sqrt(weights[q, r])
            for f in range(size):
                value = features[i, places[chosen[f]]]
                x[r, f] = (value - middle[f]) * scales[chosen[f]] * root
            for t in range(n_targets):
                y[r, t] = (targets[i, t] - center[t]) * root
        gram, side, place = np.zeros((size, size)), np.zeros((size, n_targets)), np.empty(size)
        for r in range(n_donors):
            for f in range(size):
                for e in range(f + 1):
                    gram[f, e] += x[r, f] * x[r, e]
                for t in range(n_targets):
                    side[f, t] += x[r, f] * y[r, t]
        for f in range(size):
            place[f] = (queries[q, chosen[f]] - middle[f]) * scales[chosen[f]]
        _solve_ridges(gram, side, place, center, ridges, out[q])
    return out


@fast
def moments(
    features: Floats,
    places: Ints,
    targets: Floats,
    donors: Ints,
    counts: Floats,
    groups: Ints,
    n_groups: int,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Counts and sums of z, z z', t and z t' over the donors of each group.

    Of z z' only the lower triangle is filled. ``places`` are the features that make up z.
    """
    size, n_targets = len(places), targets.shape[1]
    total, sums, target_sums = (
        np.zeros(n_groups), np.zeros((n_groups, size)), np.zeros((n_groups, n_targets))
    )  # fmt: skip
    products, cross = np.zeros((n_groups, size, size)), np.zeros((n_groups, size, n_targets))
    z = np.empty(size)
    for d in range(len(donors)):
        i, g, w = donors[d], groups[d], counts[d]
        total[g] += w
        for f in range(size):
            z[f] = features[i, places[f]]
        for t in range(n_targets):
            target_sums[g, t] += w * targets[i, t]
        for f in range(size):
            share = w * z[f]
            sums[g, f] += share
            for e in range(f + 1):
                products[g, f, e] += share * z[e]
            for t in range(n_targets):
                cross[g, f, t] += share * targets[i, t]
    return total, sums, products, target_sums, cross


@fast
def common_ridge(
    queries: Floats,
    usable: Bools,
    scales: Floats,
    own_targets: Floats,
    groups: Ints,
    counts: Floats,
    sums: Floats,
    products: Floats,
    target_sums: Floats,
    cross: Floats,
    ridges: Floats,
    leave_out: bool,
) -> Floats:
    """Ridge fits on all donors of each query's group, given by their moments.

    The moments are those of `moments`. With ``leave_out`` each query is a donor of its group with
    ``own_targets``, and is taken out.
    """
    n_targets = target_sums.shape[1]
    out = np.empty((len(queries), len(ridges), n_targets))
    chosen = np.empty(queries.shape[1], dtype=np.intp)
    self_weight = 1.0 if leave_out else 0.0
    for q in range(len(queries)):
        g = groups[q]
        size = _choose(usable[q], scales, chosen)
        n = counts[g] - self_weight
        middle, center = np.empty(size), np.empty(n_targets)
        for f in range(size):
            middle[f] = (sums[g, chosen[f]] - self_weight * queries[q, chosen[f]]) / n
        for t in range(n_targets):
            center[t] = (target_sums[g, t] - self_weight * own_targets[q, t]) / n
        gram, side, place = np.empty((size, size)), np.empty((size, n_targets)), np.empty(size)
        for f in range(size):
            a, own = chosen[f], self_weight * queries[q, chosen[f]]
            place[f] = (queries[q, a] - middle[f]) * scales[a]
            for e in range(f + 1):
                b = chosen[e]
                moment = (products[g, a, b] - own * queries[q, b]) / n - middle[f] * middle[e]
                gram[f, e] = moment * scales[a] * scales[b]
            for t in range(n_targets):
                moment = (cross[g, a, t] - own * own_targets[q, t]) / n - middle[f] * center[t]
                side[f, t] = moment * scales[a]
        _solve_ridges(gram, side, place, center, ridges, out[q])
    return out


@fast_inner
def _choose(usable: Bools, scales: Floats, chosen: Ints) -> int:
    size = 0
    for f in range(len(scales)):
        if usable[f] and scales[f] > 0.0:
            chosen[size] = f
            size += 1
    return size


@fast_inner
def _solve_ridges(
    gram: Floats, side: Floats, place: Floats, center: Floats, ridges: Floats, out: Floats
) -> None:
    """out[r] = center + place' (gram + ridge_r I)⁻¹ side, by one Cholesky factor for each.

    Only the lower triangle of ``gram`` is read.
    """
    size, n_targets = side.shape
    factor, work = np.zeros((size, size)), np.empty(size)
    for r in range(len(ridges)):
        for i in range(size):
            for j in range(i + 1):
                s = gram[i, j]
                if i == j:
                    s += ridges[r]
                for k in range(j):
                    s -= factor[i, k] * factor[j, k]
                factor[i, j] = np.sqrt(max(s, 1e-12)) if i == j else s / factor[j, j]
        for i in range(size):  # work = L⁻¹ place, then work = L⁻ᵀ work
            s = place[i]
            for k in range(i):
                s -= factor[i, k] * work[k]
            work[i] = s / factor[i, i]
        for i in range(size - 1, -1, -1):
            s = work[i]
            for k in range(i + 1, size):
                s -= factor[k, i] * work[k]
            work[i] = s / factor[i, i]
        for t in range(n_targets):
            s = center[t]
            for i in range(size):
                s += work[i] * side[i, t]
            out[r, t] = s
