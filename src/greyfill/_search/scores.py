"""Scores of whole leaves in float32, and bounds of the scores in boxes."""

import numpy as np

from greyfill._search.jit import fast_inner
from greyfill._search.pool import LEAF

LEAST = np.float32(1e-15)
"""Below this ρΔmax float32 does not hold its square, and columns are taken one by one."""


@fast_inner
def add_scores(
    grey, columns, first, last, leaves, picked, n_picked, singles, is_categorical, weights, top,
    bottom, out,
):  # fmt: skip
    """Add λ_j s_j of the columns first … last to the scores of the donors of the picked leaves."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for i in range(first, last):
        j = columns[i]
        a = singles[j]
        weight = weights[j]
        if is_categorical[j]:
            for n in range(n_picked):
                leaf = picked[n]
                for b in range(LEAF):
                    out[n, b] += weight if leaves[leaf, j, b] == a else zero
        elif grey:
            scaled = weight * top
            for n in range(n_picked):
                leaf = picked[n]
                for b in range(LEAF):
                    out[n, b] += scaled / (abs(leaves[leaf, j, b] - a) + bottom)
        else:
            for n in range(n_picked):
                leaf = picked[n]
                for b in range(LEAF):
                    d = min(abs(leaves[leaf, j, b] - a), one)
                    out[n, b] += weight * (one - d * d)


@fast_inner
def add_pairs(
    grey, columns, leaves, picked, n_picked, singles, is_categorical, weights, top, bottom, out
):  # fmt: skip
    """Add λ_j s_j of pairs of columns of numbers, from the first on; return how many were added.

    To write the sums takes as long as to divide, and v/x + w/y = (vy + wx) / (xy).
    """
    one, n_paired = np.float32(1.0), len(columns) // 2 * 2 if bottom > LEAST else 0
    for i in range(0, n_paired, 2):
        j, k = columns[i], columns[i + 1]
        if is_categorical[j] or is_categorical[k]:
            return i
        a, c, v, w = singles[j], singles[k], weights[j], weights[k]
        if grey:
            v, w = v * top, w * top
            for n in range(n_picked):
                leaf = picked[n]
                for b in range(LEAF):
                    x = abs(leaves[leaf, j, b] - a) + bottom
                    y = abs(leaves[leaf, k, b] - c) + bottom
                    out[n, b] += (v * y + w * x) / (x * y)
        else:
            for n in range(n_picked):
                leaf = picked[n]
                for b in range(LEAF):
                    x = min(abs(leaves[leaf, j, b] - a), one)
                    y = min(abs(leaves[leaf, k, b] - c), one)
                    out[n, b] += v * (one - x * x) + w * (one - y * y)
    return n_paired


@fast_inner
def any_reaches(scores, leaf, floor):
    """Whether any score of a leaf is at least ``floor``."""
    hits = 0
    for b in range(LEAF):
        hits += 1 if scores[leaf, b] >= floor else 0
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
