"""The predictions of many candidates for some rows in one call.

Candidates are given by tables of whole numbers. A mean of neighbors is one row of ``means``: number
of the candidate, list, k, whether the nearer count more. Regressions that read the same features
are a family, one row of ``local`` (on neighbors) or ``common`` (on all donors of a group), and each
regression of a family is one row of ``fits``. Arrays of all families stand end to end, and a
family's row tells where its own begin.
"""

import numpy as np

from greyfill._search.jit import ZERO, fast_in_place, fast_inner
from greyfill._search.matrices import matrix
from greyfill._search.ridge import FEWEST, N_VECTORS, NOTHING, PLACE, common_fit, local_fits
from greyfill.table import Bools, Floats, Ints


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
    n_queries, width = features.shape[1:]
    n_targets, k, n_fits = targets.shape[1], rows.shape[2], len(fits)
    out = np.empty((n_queries, n_slots, n_targets))
    out.fill(NOTHING)
    mixed = np.zeros((n_sources if len(fallback) else 0, 1, n_targets))
    order = width if len(common) else min(width, k)
    beside = max(width, k) * (n_targets + 2)
    _panel_predictions(
        features, missing, owners, groups, own_targets, slots, rows, distances, donors, multipliers,
        targets, softening, means, local, common, fits, ridges, places, scales, counts, middles,
        centers, inverses, slopes, fallback, sources, shares,
        np.empty((2, max(width, n_fits)), dtype=np.intp),
        np.empty((N_VECTORS, max(width, k, n_fits, n_targets))),
        np.empty(k * (width + n_targets) + 2 * order * order + beside), out, mixed,
    )  # fmt: skip
    return mixed if len(fallback) else out


@fast_in_place
def _panel_predictions(
    features, missing, owners, groups, own_targets, slots, rows, distances, donors, multipliers,
    targets, softening, means, local, common, fits, ridges, places, scales, counts, middles,
    centers, inverses, slopes, fallback, sources, shares, numbers, vectors, room, out, mixed,
):  # fmt: skip
    chosen, wanted = numbers[0], numbers[1]
    for m in range(len(means)):
        if slots[means[m, 0]] >= 0:
            _mean(m, means, slots, softening, rows, distances, multipliers, targets, out)
    for m in range(len(local)):
        local_fits(
            features, missing, owners, slots, rows, distances, donors, multipliers, targets, local,
            m, fits, ridges, places, scales, chosen, wanted, vectors, room, out,
        )  # fmt: skip
    for m in range(len(common)):
        _common(
            features, missing, owners, groups, own_targets, slots, common, m, fits, places, scales,
            counts, middles, centers, inverses, slopes, chosen, vectors, room, out,
        )  # fmt: skip
    if len(fallback):
        _mix(out, fallback, sources, shares, mixed)


@fast_inner
def _mean(m, means, slots, softening, rows, distances, multipliers, targets, out):
    """Weighted means of the targets of the first k donors of a list.

    Donors count alike or by 1/(d² + softening), times the multiplier of the row if there are any.
    """
    slot, pair, k, n_targets = slots[means[m, 0]], means[m, 1], means[m, 2], targets.shape[1]
    for q in range(len(rows)):
        total = 0.0
        for r in range(min(k, rows.shape[2])):
            distance = distances[q, pair, r]
            if distance > 1e300:
                break
            i, weight = rows[q, pair, r], 1.0
            if means[m, 3]:
                weight = 1.0 / (distance * distance + softening)
            if len(multipliers):
                weight *= multipliers[i]
            for t in range(n_targets):
                before = out[q, slot, t] if total > 0.0 else 0.0
                out[q, slot, t] = weight * targets[i, t] + before
            total += weight
        for t in range(n_targets):
            out[q, slot, t] = out[q, slot, t] / total if total > 0.0 else NOTHING


@fast_inner
def _common(
    features, missing, owners, groups, own_targets, slots, common, m, fits, places, scales, counts,
    middles, centers, inverses, slopes, lacking, vectors, room, out,
):  # fmt: skip
    """Regressions of one family on all donors of each query's group."""
    form, begin, size, n_ridges = common[m, 0], common[m, 2], common[m, 3], common[m, 4]
    n_targets, leaves = out.shape[2], len(own_targets) > 0
    for q in range(features.shape[1]):
        g = groups[q] if common[m, 1] else ZERO
        if g < 0 or counts[common[m, 7] + g] - leaves < FEWEST:
            continue
        count, middle = counts[common[m, 7] + g], common[m, 8] + g * size
        center, n_lacking = (common[m, 7] + g) * n_targets, ZERO
        for f in range(size):
            at = places[begin + f]
            vectors[PLACE, f] = (features[form, q, at] - middles[middle + f]) * scales[begin + f]
            if missing[q, owners[at]]:
                vectors[PLACE, f], lacking[n_lacking] = 0.0, f
                n_lacking += 1
        for fit in range(common[m, 5], common[m, 6]):
            slot = slots[fits[fit, 0]]
            if slot >= 0 and fits[fit, 1] < 0:
                for t in range(n_targets):
                    own = own_targets[q, t] - centers[center + t] if leaves else 0.0
                    out[q, slot, t] = centers[center + t] - own / max(count - 1.0, 1.0)
            elif slot >= 0:
                number = g * n_ridges + fits[fit, 1]
                common_fit(
                    q, n_lacking, count, center, centers,
                    matrix(inverses, common[m, 9] + number * size * size, size, size),
                    matrix(slopes, common[m, 10] + number * size * n_targets, size, n_targets),
                    own_targets, lacking, vectors, room, slot, out,
                )  # fmt: skip


@fast_inner
def _mix(found, fallback, sources, shares, out):
    """Add share · mean over the slots that predict something, else the fallback, to each source."""
    n_queries, n_slots, n_targets = found.shape
    for q in range(n_queries):
        for t in range(n_targets):
            total, n = 0.0, 0
            for slot in range(n_slots):
                if found[q, slot, t] > 0.5 * NOTHING:
                    total += found[q, slot, t]
                    n += 1
            out[sources[q], 0, t] += shares[q] * (total / n if n else fallback[t])
