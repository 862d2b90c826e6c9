"""The search for the k nearest donors: boxes first, then leaves, then single donors.

Scores of whole leaves are computed in float32 and only *propose* donors; a donor that could belong
to the k nearest is measured again in float64, in the column order of the reference. So the answer
is the reference's, bit for bit, ties broken by row number.

Donors are visited block by block and leaf by leaf, most promising first: a box around a group
bounds the score of all its donors from above, since s falls with |a − b|, and a group whose bound
is below the k-th best score is skipped. Where that skips little, the rest of the call scans
everything in storage order instead.
"""

from typing import Any, NamedTuple

import numpy as np

from greyfill._search.distances import extremes, grey_distance, heom_distance
from greyfill._search.jit import ZERO, exact, exact_inner, fast_inner
from greyfill._search.pool import LEAF, LEAVES

LEAST = np.float32(1e-15)
"""Below this ρΔmax float32 does not hold its square, and columns are taken one by one."""


@fast_inner
def add_scores(
    grey, columns, first, last, leaves, start, n_leaves, singles, is_categorical, weights, top,
    bottom, out,
):  # fmt: skip
    """Add λ_j s_j of the columns first … last to the scores of the donors of some leaves."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for i in range(first, last):
        j = columns[i]
        a = singles[j]
        weight = weights[j]
        if is_categorical[j]:
            for leaf in range(n_leaves):
                for b in range(LEAF):
                    out[leaf, b] += weight if leaves[start + leaf, j, b] == a else zero
        elif grey:
            scaled = weight * top
            for leaf in range(n_leaves):
                for b in range(LEAF):
                    out[leaf, b] += scaled / (abs(leaves[start + leaf, j, b] - a) + bottom)
        else:
            for leaf in range(n_leaves):
                for b in range(LEAF):
                    d = min(abs(leaves[start + leaf, j, b] - a), one)
                    out[leaf, b] += weight * (one - d * d)


@fast_inner
def add_pairs(
    grey, columns, leaves, start, n_leaves, singles, is_categorical, weights, top, bottom, out
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
            for leaf in range(n_leaves):
                for b in range(LEAF):
                    x = abs(leaves[start + leaf, j, b] - a) + bottom
                    y = abs(leaves[start + leaf, k, b] - c) + bottom
                    out[leaf, b] += (v * y + w * x) / (x * y)
        else:
            for leaf in range(n_leaves):
                for b in range(LEAF):
                    x = min(abs(leaves[start + leaf, j, b] - a), one)
                    y = min(abs(leaves[start + leaf, k, b] - c), one)
                    out[leaf, b] += v * (one - x * x) + w * (one - y * y)
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


@exact_inner
def add_candidates(
    scores, leaf, first, count, margin, own_row, order, best, found, places, n_found
):  # fmt: skip
    """Take the donors of a leaf among the candidates; return how many there are now."""
    last = len(best) - 1
    for b in range(count):
        score = scores[leaf, b]
        if score < best[last] - margin or order[first + b] == own_row:
            continue
        found[n_found], places[n_found] = score, first + b
        n_found += 1
        _insert_score(best, score)
    return n_found


@fast_inner
def _insert_score(best, score):
    """Put a score into its place among the k best ones, which fall."""
    for i in range(len(best) - 1, 0, -1):
        best[i] = max(best[i], min(best[i - 1], score))
    best[0] = max(best[0], score)


@exact_inner
def measure(
    grey, row, row_missing, low, offset, order, values, missing, is_categorical, weights, floor,
    found, places, n_found, parts, measured, measured_rows, rows, distances,
):  # fmt: skip
    """Measure the candidates whose score reaches the floor and keep the k nearest."""
    count = ZERO
    for i in range(n_found):
        if found[i] < floor:
            continue
        if count == len(measured):
            _keep_nearest(measured, measured_rows, count, rows, distances)
            count = len(rows)
            for place in range(count):
                measured[place], measured_rows[place] = distances[place], rows[place]
        donor = order[places[i]]
        measured_rows[count] = donor
        if grey:
            measured[count] = grey_distance(
                row, row_missing, values, missing, donor, is_categorical, weights, low, offset,
                parts,
            )  # fmt: skip
        else:
            measured[count] = heom_distance(
                row, row_missing, values, missing, donor, is_categorical, weights, parts
            )
        count += 1
    _keep_nearest(measured, measured_rows, count, rows, distances)


@exact_inner
def _keep_nearest(measured, measured_rows, count, rows, distances):
    """The k nearest of the first ``count`` donors in rising distance, ties by row number.

    Each donor is put where the number of donors before it says: without a branch, that is faster
    than to sort.
    """
    rows[:] = -1
    distances[:] = np.inf
    for i in range(count):
        row, distance = measured_rows[i], measured[i]
        place = 0
        for other in range(count):
            tied = (measured[other] == distance) & (measured_rows[other] < row)
            place += (measured[other] < distance) | tied
        if place < len(rows):
            rows[place] = row
            distances[place] = distance


TRIAL = 8
"""After this many queries a call decides whether pruning pays."""

WORTHWHILE = 0.4
"""Pruning pays when it visits at most this share of the leaves."""

PICKS = 32
"""So many blocks are visited best first; those after them in storage order."""

HEAD = 0.9
"""Columns with this share of the weight are scored first, and they alone make the bounds; of the
others only their weight counts there, and their scores only where they can matter."""


class Query(NamedTuple):
    """One row that looks for donors, with all that the scores of its donors depend on.

    ``columns`` are the observed columns that count, heaviest first; the first ``n_head`` carry
    most of the weight, the others ``rest``. ``low`` is Δmin and ``offset`` is ρΔmax, ``least``,
    ``top`` (Δmin + ρΔmax) and ``bottom`` (ρΔmax) their float32 twins. A donor whose float32 score
    is more than ``margin`` below that of k others is none of the k nearest, and none is wanted
    whose score is as far below ``least_score``.
    """

    exact: Any
    missing: Any
    own_row: int
    singles: Any
    bits: Any
    columns: Any
    n_head: int
    rest: Any
    low: float
    offset: float
    least: Any
    top: Any
    bottom: Any
    margin: Any
    least_score: Any


class Scratch(NamedTuple):
    """Arrays that every query writes anew: scores, bounds and candidates."""

    scores: Any
    block_bounds: Any
    leaf_bounds: Any
    best: Any
    found: Any
    places: Any
    parts: Any
    measured: Any
    measured_rows: Any


@exact_inner
def _place_of_largest(bounds, count):
    place = 0
    for b in range(1, count):
        if bounds[b] > bounds[place]:
            place = b
    return place


@exact_inner
def _columns_that_count(missing, by_weight, weights):
    """Observed columns that count, heaviest first; how many make up the head; the rest's weight."""
    columns = np.empty(len(weights), dtype=np.uintp)
    count, total = 0, 0.0
    for j in by_weight:
        if not missing[j] and weights[j] > 0.0:
            columns[count] = j
            count += 1
            total += weights[j]
    n_head, share = 0, 0.0
    while n_head < count and share < HEAD * total:
        share += weights[columns[n_head]]
        n_head += 1
    return columns[:count], n_head, total - share


@exact_inner
def _read_query(grey, row, missing, own_row, pool, by_weight, weights, rho, known, limit):
    """All that the scores of a row's donors depend on; Δmin and Δmax may be ``known`` already."""
    p = len(row)
    columns, n_head, rest = _columns_that_count(missing, by_weight, weights)
    bits = np.zeros(p, dtype=np.uint64)
    for j in columns:
        if pool.is_categorical[j] and row[j] >= 0.0:
            bits[j] = np.uint64(1) << np.uint64(row[j] % 64)
    total = weights.sum()
    # No float32 score is wrong by more than the slack.
    low, offset, slack = 0.0, 0.0, (2e-6 + 1.2e-7 * p) * total
    least, top, bottom = np.float32(0.0), np.float32(1.0), np.float32(1.0)
    if grey:
        if len(known):
            low, high = known[0], known[1]
        else:
            low, high = extremes(
                row, missing, pool.is_categorical, pool.sorted_columns, pool.sorted_counts,
                pool.shelves, own_row >= 0,
            )  # fmt: skip
        low = 0.0 if low == np.inf else low
        offset = rho * high
        # Without any spread all numbers are equal, and top = bottom = 1 gives coefficient 1.
        if offset > 0.0:
            least = np.float32(low * (1.0 - 1e-6))  # float32 may have rounded it up
            top = np.float32(low + offset)
            bottom = np.float32(max(offset, 1e-30))
            # The numbers are rounded to float32 before their difference is divided by.
            slack += 5e-7 * total / bottom
    least_score = -1.0
    if limit < np.inf:
        least_score = (1.0 - limit if grey else total - limit * limit) + slack
    return Query(
        row, missing, own_row, row.astype(np.float32), bits, columns, n_head, np.float32(rest), low,
        offset, least, top, bottom, np.float32(2.0 * slack), np.float32(least_score),
    )  # fmt: skip


@exact_inner
def _scan(grey, query, pool, weights32, prune, scratch):
    """Score the donors of one query, promising blocks first, and keep the candidates.

    With ``prune``, groups are skipped by their bounds. Without, only the first block is chosen by
    its bound, so that the k-th best score is high from the start, and all others follow in storage
    order. The named tuples are taken apart here: passing them on would cost more than a leaf.
    Returns how many leaves were visited and how many candidates there are.
    """
    leaves, order, is_categorical = pool.leaves, pool.rows, pool.is_categorical
    boxes, leaf_boxes = pool.block_boxes, pool.leaf_boxes
    leaf_low, leaf_high, leaf_codes = leaf_boxes.low, leaf_boxes.high, leaf_boxes.codes
    columns, singles, bits, n_head = query.columns, query.singles, query.bits, query.n_head
    least, top, bottom = query.least, query.top, query.bottom
    rest, margin, own_row = query.rest, query.margin, query.own_row
    scores, leaf_bounds, found = scratch.scores, scratch.leaf_bounds, scratch.found
    places, bounds, best = scratch.places, scratch.block_bounds, scratch.best
    bound_scores(
        grey, boxes.low, boxes.high, boxes.codes, columns, n_head, rest, singles, bits,
        is_categorical, weights32, least, top, bottom, bounds,
    )  # fmt: skip
    best[:] = query.least_score
    n_found, visited, n_picks = ZERO, ZERO, PICKS if prune else 1
    for step in range(n_picks + len(bounds)):
        block = _place_of_largest(bounds, len(bounds)) if step < n_picks else step - n_picks
        if bounds[block] < (max(best[-1] - margin, 0.0) if prune else 0.0):
            if step < n_picks:
                break  # no other block has a larger bound
            continue
        bounds[block] = -1.0
        n_leaves, n_found = _scan_block(
            grey, prune, block, leaves, leaf_low, leaf_high, leaf_codes, columns, n_head, rest,
            singles, bits, is_categorical, weights32, least, top, bottom, margin, own_row, order,
            scores, leaf_bounds, best, found, places, n_found,
        )  # fmt: skip
        visited += n_leaves
    return visited, n_found


@exact_inner
def _scan_block(
    grey, prune, block, leaves, low, high, codes, columns, n_head, rest, singles, bits,
    is_categorical, weights, least, top, bottom, margin, own_row, order, scores, bounds, best,
    found, places, n_found,
):  # fmt: skip
    """Score the leaves of one block, with ``prune`` only those whose bound suffices, best first."""
    n_here, n_columns = min(LEAVES, len(leaves) - block * LEAVES), len(columns)
    if prune:
        bound_scores(
            grey, low[block], high[block], codes[block], columns, n_head, rest, singles, bits,
            is_categorical, weights, least, top, bottom, bounds,
        )  # fmt: skip
    else:
        n_head = n_columns
    for turn in range(n_here if prune else 1):
        start, n_leaves = block * LEAVES, n_here
        if prune:
            place = _place_of_largest(bounds, n_here)
            if bounds[place] < max(best[-1] - margin, 0.0):
                return turn, n_found
            bounds[place] = -1.0
            start, n_leaves = start + place, 1
        for leaf in range(n_leaves):
            for b in range(LEAF):
                scores[leaf, b] = np.float32(0.0)
        n_added = ZERO
        if not prune:
            n_added = add_pairs(
                grey, columns, leaves, start, n_leaves, singles, is_categorical, weights, top,
                bottom, scores,
            )  # fmt: skip
        add_scores(
            grey, columns, n_added, n_head, leaves, start, n_leaves, singles, is_categorical,
            weights, top, bottom, scores,
        )  # fmt: skip
        if n_head < n_columns:
            if not any_reaches(scores, ZERO, best[-1] - margin - rest):
                continue
            add_scores(
                grey, columns, n_head, n_columns, leaves, start, n_leaves, singles, is_categorical,
                weights, top, bottom, scores,
            )  # fmt: skip
        for leaf in range(n_leaves):
            if any_reaches(scores, leaf, best[-1] - margin):
                first = (start + leaf) * LEAF
                n_found = add_candidates(
                    scores, leaf, first, min(LEAF, len(order) - first), margin, own_row, order,
                    best, found, places, n_found,
                )  # fmt: skip
    return n_here, n_found


@exact
def search(grey, queries, queries_missing, own_rows, pool, weights, by_weight, rho, prune, known,
           limits, rows, distances):  # fmt: skip
    """Fill ``rows`` and ``distances`` with the k nearest donors of each query.

    ``by_weight`` are the columns, heaviest first.
    ``known`` has Δmin and Δmax of each query, or no column where they are those of the pool itself.
    ``limits`` are distances beyond which no donor is wanted; a place that stays empty holds
    row −1. Returns the share of leaves that was visited.
    """
    weights32 = weights.astype(np.float32)
    k, n_leaves, n_blocks = rows.shape[1], len(pool.leaves), len(pool.leaf_boxes.low)
    scratch = Scratch(
        np.empty((LEAVES, LEAF), dtype=np.float32),
        np.empty(n_blocks, dtype=np.float32),
        np.empty(LEAVES, dtype=np.float32),
        np.empty(k, dtype=np.float32),
        np.empty(len(pool.rows), dtype=np.float32),
        np.empty(len(pool.rows), dtype=np.intp),
        np.empty(len(weights)),
        np.empty(k + LEAF),
        np.empty(k + LEAF, dtype=np.intp),
    )
    pruning, visited = prune and n_blocks > 1, 0
    for q in range(len(queries)):
        query = _read_query(
            grey, queries[q], queries_missing[q], own_rows[q], pool, by_weight, weights, rho,
            known[q], limits[q],
        )  # fmt: skip
        n_visited, n_found = _scan(grey, query, pool, weights32, pruning, scratch)
        measure(
            grey, query.exact, query.missing, query.low, query.offset, pool.rows, pool.values,
            pool.missing, pool.is_categorical, weights,
            scratch.best[k - 1] - query.margin, scratch.found, scratch.places,
            n_found, scratch.parts, scratch.measured, scratch.measured_rows,
            rows[q], distances[q],
        )  # fmt: skip
        visited += n_visited
        if q == TRIAL:
            pruning = pruning and visited <= WORTHWHILE * n_leaves * (q + 1)
    return visited / (n_leaves * max(len(queries), 1))
