"""The predictions of many candidates for some rows in one call.

Candidates are given by tables of whole numbers. A mean of neighbors is one row of ``means``: number
of the candidate, list, k, whether the nearer count more. Regressions that read the same features
are a family, one row of ``local`` (on neighbors) or ``common`` (on all donors of a group), and each
regression of a family is one row of ``fits``. Arrays of all families stand end to end, and a
family's row tells where its own begin.
"""

import numpy as np

from greyfill._search.jit import fast, fast_inner
from greyfill._search.ridge import FEWEST, NOTHING, common_fit, local_fits
from greyfill.table import Bools, Floats, Ints


@fast
def panel_predictions(
    features: Floats,
    missing: Bools,
    owners: Ints,
    groups: Ints,
    own_targets: Floats,
    slots: Ints,
    n_slots: int,
    rows: Ints,
    distances: Floats,
    donors: Floats,
    multipliers: Floats,
    targets: Floats,
    softening: float,
    means: Ints,
    local: Ints,
    common: Ints,
    fits: Ints,
    ridges: Floats,
    places: Ints,
    scales: Floats,
    counts: Floats,
    middles: Floats,
    centers: Floats,
    inverses: Floats,
    slopes: Floats,
    fallback: Floats,
    sources: Ints,
    shares: Floats,
    n_sources: int,
) -> Floats:
    """Predictions of the candidates that have a slot, shape (query, slot, target).

    With a ``fallback`` for each target, one slot is left: the mean of those that predict something,
    else the fallback, and of queries with the same number in ``sources`` Σ share · mean.

    ``features`` of the queries have shape (form, query, feature), feature f is one of column
    ``owners[f]``. ``rows`` and ``distances`` list neighbors, shape (query, list, k). Candidate c
    has slot ``slots[c]``, −1: none. Where ``own_targets`` has rows, each query is a donor of its
    group with these targets, and is taken out of regressions on all donors. `NOTHING` stands where
    there are no donors, or too few. A fit without a penalty is the mean of the group.
    """
    n_targets = targets.shape[1]
    out = np.full((features.shape[1], n_slots, n_targets), NOTHING)
    for m in range(len(means)):
        slot = slots[means[m, 0]]
        if slot >= 0:
            _mean(means[m], softening, rows, distances, multipliers, targets, out[:, slot])
    for m in range(len(local)):
        first, size = local[m, 1], local[m, 2]
        local_fits(
            features[0], missing, owners, donors, places[first : first + size],
            scales[first : first + size], rows[:, local[m, 0]], distances[:, local[m, 0]],
            multipliers, targets, fits[local[m, 3] : local[m, 4]],
            ridges[local[m, 3] : local[m, 4]], slots, out,
        )  # fmt: skip
    for m in range(len(common)):
        _common(
            features[common[m, 0]], missing, owners, groups, own_targets, slots, common[m], fits,
            places, scales, counts, middles, centers, inverses, slopes, out,
        )  # fmt: skip
    return mixture(out, fallback, sources, shares, n_sources) if len(fallback) else out


@fast_inner
def _mean(which, softening, rows, distances, multipliers, targets, out):
    """Weighted means of the targets of the first k donors of a list.

    Donors count alike or by 1/(d² + softening), times the multiplier of the row if there are any.
    """
    pair, k, by_distance, n_targets = which[1], which[2], which[3], targets.shape[1]
    for q in range(len(rows)):
        total = 0.0
        for r in range(min(k, rows.shape[2])):
            distance = distances[q, pair, r]
            if distance > 1e300:
                break
            i, weight = rows[q, pair, r], 1.0
            if by_distance:
                weight = 1.0 / (distance * distance + softening)
            if len(multipliers):
                weight *= multipliers[i]
            for t in range(n_targets):
                out[q, t] = weight * targets[i, t] + (out[q, t] if total > 0.0 else 0.0)
            total += weight
        for t in range(n_targets):
            out[q, t] = out[q, t] / total if total > 0.0 else NOTHING


@fast_inner
def _common(
    queries, missing, owners, groups, own_targets, slots, family, fits, places, scales, counts,
    middles, centers, inverses, slopes, out,
):  # fmt: skip
    """Regressions of one family on all donors of each query's group."""
    is_split, size, n_ridges = family[1], family[3], family[4]
    places, scales = places[family[2] :], scales[family[2] :]
    n_targets, leaves = out.shape[2], len(own_targets) > 0
    place, lacking = np.empty(size), np.empty(size, dtype=np.intp)
    for q in range(len(queries)):
        g = groups[q] if is_split else 0
        if g < 0 or counts[family[7] + g] - leaves < FEWEST:
            continue
        count, middle = counts[family[7] + g], middles[family[8] + g * size :]
        center = centers[(family[7] + g) * n_targets :]
        m = 0
        for f in range(size):
            place[f] = (queries[q, places[f]] - middle[f]) * scales[f]
            if missing[q, owners[places[f]]]:
                place[f], lacking[m] = 0.0, f
                m += 1
        for fit in range(family[5], family[6]):
            slot = slots[fits[fit, 0]]
            if slot >= 0 and fits[fit, 1] < 0:
                for t in range(n_targets):
                    own = own_targets[q, t] - center[t] if leaves else 0.0
                    out[q, slot, t] = center[t] - own / max(count - 1.0, 1.0)
            elif slot >= 0:
                at = g * n_ridges + fits[fit, 1]
                first, start = family[9] + at * size * size, family[10] + at * size * n_targets
                common_fit(
                    place, lacking[:m], count, center,
                    inverses[first : first + size * size].reshape(size, size),
                    slopes[start : start + size * n_targets].reshape(size, n_targets),
                    own_targets[q : q + leaves], out[q, slot],
                )  # fmt: skip


@fast_inner
def mixture(found, fallback, sources, shares, n_sources):
    """Σ share · mean over the slots that predict something, else the fallback, of each source."""
    n_queries, n_slots, n_targets = found.shape
    out = np.zeros((n_sources, 1, n_targets))
    for q in range(n_queries):
        for t in range(n_targets):
            total, n = 0.0, 0
            for slot in range(n_slots):
                if found[q, slot, t] > 0.5 * NOTHING:
                    total += found[q, slot, t]
                    n += 1
            out[sources[q], 0, t] += shares[q] * (total / n if n else fallback[t])
    return out
