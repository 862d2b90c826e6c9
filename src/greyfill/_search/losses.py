"""What donors lose at least, by cells of a byte each: a first sieve for the grey distance.

A query's grade with a donor falls from Σ_j λ_j f(0) by what each column loses, f(0) − f(|a − b|)
with f(d) = top / (d + bottom), or f(0) where a cell is missing. f is convex, so up to a knot it
lies below its chord, and beyond the knot below the chord's end:

    f(d) ≤ f(0) − slope · min(d, knot),    slope = top / (bottom · (knot + bottom)),

and a missing cell loses as much as the chord does at d = knot + bottom. Coarse numbers are rounded
to 1 / STEPS in donor and query, so that |a − b| · STEPS is at least the difference of the codes
minus one. That one step is part of ``full``, with a thousandth for the rounding of the products
to floats; the factors of the losses are rounded down. A category loses all or nothing. So the grade
is never above ``full`` − loss / ``unit``, whatever the scale of the numbers: coarse cells may tell
little apart, but they never exclude a donor that counts.
"""

from typing import Any, NamedTuple

import numpy as np

from greyfill._search.jit import exact_inner
from greyfill._search.pool import BLOCK, HOLE, STEPS

KNOT = 0.5
"""Differences are told apart up to this share of ρΔmax, where most of the nearest donors lie."""

MOST = 65_534
"""No donor loses more: the factors are as large as 16 bits allow."""

GROUP = 32
"""Donors that are passed over together: their hits are four words."""


class Losses(NamedTuple):
    """How much a query's donors lose: in each column factor · min(|code − code|, cap) or hole."""

    codes: Any
    factors: Any
    caps: Any
    holes: Any


@exact_inner
def read_losses(row, columns, n_head, is_categorical, weights, top, bottom, losses):
    """Fill in the losses of a query's donors in the head of its columns; return full and unit."""
    knot, head = KNOT * bottom, 0.0
    slope = top / (bottom * (knot + bottom))
    cap = np.uint8(min(STEPS * knot, 254.0) + 1.0)
    hole = np.uint8(min(STEPS * (knot + bottom), 254.0) + 1.0)
    for j in columns[:n_head]:
        head += weights[j]
    factor = MOST / (max(head, 1e-250) * hole)  # of weight 1
    unit, full = factor * STEPS / slope, 0.0
    for i in range(len(columns)):
        j = columns[i]
        a, weight = row[j], weights[j]
        if i >= n_head:
            full += weight
        elif is_categorical[j]:
            losses.codes[j] = np.uint8(a % HOLE) if a >= 0.0 else HOLE
            losses.factors[j] = np.uint16(min(unit, factor * hole) * weight)
            losses.caps[j], losses.holes[j] = np.uint8(1), np.uint8(1)
            full += weight
        else:
            losses.codes[j] = np.uint8(min(max(a, 0.0), 1.0) * STEPS + 0.5)
            losses.factors[j] = np.uint16(factor * weight)
            losses.caps[j], losses.holes[j] = cap, hole
            full += weight * (top / bottom + slope * 1.001 / STEPS)
    return full, unit


@exact_inner
def add_losses(columns, n_head, coarse, codes, factors, caps, holes, out):
    """What each donor loses, block by block and two columns at a time.

    Each number is cast to its width, or numba would calculate with 64 bits and fill vectors with
    zeros.
    """
    out[:] = np.uint16(0)
    for block in range(len(coarse)):
        first = np.uintp(block * BLOCK)
        count = min(BLOCK, len(out) - block * BLOCK)
        for i in range(0, n_head, 2):
            j, k = columns[i], columns[min(i + 1, n_head - 1)]
            a, v, cap_j, hole_j = codes[j], factors[j], caps[j], holes[j]
            c, cap_k, hole_k = codes[k], caps[k], holes[k]
            w = factors[k] if i + 1 < n_head else np.uint16(0)
            for b in range(count):
                cell = coarse[block, j, b]
                x = min(np.uint8(max(cell, a) - min(cell, a)), cap_j)
                x = hole_j if cell == HOLE else x
                cell = coarse[block, k, b]
                y = min(np.uint8(max(cell, c) - min(cell, c)), cap_k)
                y = hole_k if cell == HOLE else y
                both = np.uint16(np.uint16(np.uint16(x) * v) + np.uint16(np.uint16(y) * w))
                place = first + np.uintp(b)
                out[place] = np.uint16(out[place] + both)


@exact_inner
def list_within(lost, n, above, limit, hits, words, places):
    """List the donors that lose more than ``above`` and at most ``limit``; return how many.

    ``hits`` has a byte for each donor and zeros behind the last one, ``words`` are the same bytes
    by eights. Few groups have a hit.
    """
    first, size = np.uint16(above + 1), np.uint16(limit - above - 1)
    for b in range(n):
        # without a sign, what is below the first is large: one comparison does for both
        hits[np.uintp(b)] = np.uint8(np.uint16(lost[np.uintp(b)] - first) <= size)
    count = np.uintp(0)
    for start in range(0, len(hits), GROUP):
        w = np.uintp(start // 8)
        some = words[w] | words[w + np.uintp(1)] | words[w + np.uintp(2)] | words[w + np.uintp(3)]
        if some:
            for place in range(start, start + GROUP):
                places[count] = place
                count += np.uintp(hits[np.uintp(place)])
    return np.intp(count)
