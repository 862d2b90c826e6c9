"""Float32 scores of whole leaves, and bounds of the scores in boxes.

A score is Σ_j λ_j s_j over the columns that the query has observed: s = GRC for the grey distance,
s = 1 − d² for HEOM. No value here is ever NaN or infinite: holes of donors are ``FAR``.
"""

import numpy as np

from greyfill._kernels.jit import fast_inner
from greyfill._kernels.pool import LEAF


@fast_inner
def add_scores(
    grey, columns, first, last, leaves, leaf, singles, is_categorical, weights, top, bottom, out
):  # fmt: skip
    """Add λ_j s_j of the columns first … last to the scores of the donors of a leaf."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for i in range(first, last):
        j = columns[i]
        a = singles[j]
        weight = weights[j]
        if is_categorical[j]:
            for b in range(LEAF):
                out[b] += weight if leaves[leaf, j, b] == a else zero
        elif grey:
            scaled = weight * top
            for b in range(LEAF):
                out[b] += scaled / (abs(leaves[leaf, j, b] - a) + bottom)
        else:
            for b in range(LEAF):
                d = min(abs(leaves[leaf, j, b] - a), one)
                out[b] += weight * (one - d * d)


@fast_inner
def any_reaches(scores, floor):
    """Whether any score of a leaf is at least ``floor``."""
    hits = 0
    for b in range(LEAF):
        hits += 1 if scores[b] >= floor else 0
    return hits > 0


@fast_inner
def bound_scores(
    grey, low, high, codes, columns, n_head, rest, singles, bits, is_categorical, weights, least,
    top, bottom, out,
):  # fmt: skip
    """Upper bounds of the scores in each box: by the head of the columns, full marks for the rest.

    No donor is nearer in a column than ``least``.
    """
    zero, one = np.float32(0.0), np.float32(1.0)
    out[:] = np.float32(rest)
    for i in range(n_head):
        j = columns[i]
        a = singles[j]
        weight = weights[j]
        if is_categorical[j]:
            for b in range(len(out)):
                out[b] += weight if (codes[j, b] & bits[j]) != 0 else zero
        elif grey:
            scaled = weight * top
            for b in range(len(out)):
                d = max(low[j, b] - a, a - high[j, b], least)
                out[b] += scaled / (d + bottom)
        else:
            for b in range(len(out)):
                d = min(max(low[j, b] - a, a - high[j, b], zero), one)
                out[b] += weight * (one - d * d)
