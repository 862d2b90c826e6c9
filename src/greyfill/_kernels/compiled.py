"""Numba twins of the reference kernels: same names, same answers, fast.

A score is Σ_j λ_j s_j over the columns that the query has observed: s = GRC for the grey distance,
s = 1 − d² for HEOM. The search computes scores of whole leaves in float32, and only *proposes*
donors; a donor that could belong to the k nearest is measured again in float64, in the column
order of the reference. So the answer is the reference's, bit for bit, ties broken by row number.

Donors are visited block by block and leaf by leaf, most promising first: a box around a group
bounds the score of all its donors from above, since s falls with |a − b|, and a group whose bound
is below the k-th best score is skipped. Where that skips little, the rest of the call scans
everything in storage order instead.

Inside a fast kernel no value is ever NaN or infinite: holes are ``FAR`` in the blocks.
"""

from typing import Any, NamedTuple

import numpy as np

from greyfill._kernels.jit import exact, fast
from greyfill._kernels.pool import LEAF, LEAVES, DonorPool
from greyfill._kernels.reference import GRID
from greyfill.table import Bools, Floats, Ints

TRIAL = 16
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
    ``top`` (Δmin + ρΔmax) and ``bottom`` (ρΔmax) their float32 twins. No float32 score is wrong
    by more than ``slack``.
    """

    exact: Any
    missing: Any
    own_row: int
    singles: Any
    bits: Any
    columns: Any
    n_head: int
    rest: float
    low: float
    offset: float
    least: Any
    top: Any
    bottom: Any
    slack: float


@fast
def _add_scores(
    grey, columns, first, last, leaf, singles, is_categorical, weights, top, bottom, out
):  # fmt: skip
    """Add λ_j s_j of the columns first … last to the scores of the donors of a leaf."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for i in range(first, last):
        j = columns[i]
        a = singles[j]
        weight = weights[j]
        if is_categorical[j]:
            for b in range(LEAF):
                out[b] += weight if leaf[j, b] == a else zero
        elif grey:
            scaled = weight * top
            for b in range(LEAF):
                out[b] += scaled / (abs(leaf[j, b] - a) + bottom)
        else:
            for b in range(LEAF):
                d = min(abs(leaf[j, b] - a), one)
                out[b] += weight * (one - d * d)


@fast
def _any_reaches(scores, floor):
    """Whether any score of a leaf is at least ``floor``."""
    hits = 0
    for b in range(LEAF):
        hits += 1 if scores[b] >= floor else 0
    return hits > 0


@fast
def _bound_scores(
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


@exact
def _place_of_largest(bounds, count):
    place = 0
    for b in range(1, count):
        if bounds[b] > bounds[place]:
            place = b
    return place


@exact
def _on_grid(distance):
    """Take the noise of floating-point sums out of a distance."""
    return max(np.floor(distance * GRID + 0.5) / GRID, 0.0)


@exact
def _grey_distance(
    query, query_missing, donor, donor_missing, is_categorical, weights, low, offset
):  # fmt: skip
    """Equations (32) and (35); ``offset`` is ρΔmax, and 0 when Δmax is."""
    grade = 0.0
    for j in range(len(query)):
        if query_missing[j] or donor_missing[j]:
            continue
        if is_categorical[j]:
            coefficient = 1.0 if donor[j] == query[j] else 0.0
        elif offset == 0.0:
            coefficient = 1.0
        else:
            coefficient = (low + offset) / (abs(donor[j] - query[j]) + offset)
        grade += weights[j] * coefficient
    return _on_grid(1.0 - grade)


@exact
def _heom_distance(query, query_missing, donor, donor_missing, is_categorical, weights):
    """Equations (7)–(10) and (31)."""
    squared = 0.0
    for j in range(len(query)):
        if query_missing[j] or donor_missing[j]:
            part = 1.0
        elif is_categorical[j]:
            part = 0.0 if donor[j] == query[j] else 1.0
        else:
            part = min(abs(donor[j] - query[j]), 1.0)
        squared += weights[j] * (part * part)
    return _on_grid(np.sqrt(squared))


@exact
def _extremes(query, query_missing, is_categorical, sorted_columns, sorted_counts, in_pool):
    """Δmin and Δmax from sorted columns; ``in_pool`` tells that one donor is the query itself.

    Without a pair of observed cells Δmin is infinite, so that parts of a pool can be compared.
    """
    low, high = np.inf, 0.0
    own = 1 if in_pool else 0
    for j in range(len(query)):
        n = sorted_counts[j]
        if query_missing[j] or is_categorical[j] or n <= own:
            continue
        a = query[j]
        column = sorted_columns[j, :n]
        high = max(high, abs(column[0] - a), abs(column[n - 1] - a))
        left = np.searchsorted(column, a)
        right = left
        while right < n and right - left <= own and column[right] == a:
            right += 1
        if right - left > own:
            low = 0.0
            continue
        if left > 0:
            low = min(low, abs(column[left - 1] - a))
        if right < n:
            low = min(low, abs(column[right] - a))
    return low, high


@exact
def _insert(row, distance, rows, distances):
    """Put a donor into its place among the k best, by distance and then by row number."""
    place = len(rows) - 1
    if distance > distances[place] or (distance == distances[place] and row > rows[place] >= 0):
        return
    while place > 0 and (
        distances[place - 1] > distance
        or (distances[place - 1] == distance and rows[place - 1] > row)
    ):
        rows[place] = rows[place - 1]
        distances[place] = distances[place - 1]
        place -= 1
    rows[place] = row
    distances[place] = distance


@exact
def _columns_that_count(missing, by_weight, weights):
    """Observed columns that count, heaviest first; how many make up the head; the rest's weight."""
    columns = np.empty(len(weights), dtype=np.intp)
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


@exact
def _read_query(grey, row, missing, own_row, pool, by_weight, weights, rho, extremes):
    """All that the scores of a row's donors depend on; Δmin and Δmax may be known already."""
    p = len(row)
    columns, n_head, rest = _columns_that_count(missing, by_weight, weights)
    bits = np.zeros(p, dtype=np.uint64)
    for j in columns:
        if pool.is_categorical[j] and row[j] >= 0.0:
            bits[j] = np.uint64(1) << np.uint64(row[j] % 64)
    total = weights.sum()
    low, offset, slack = 0.0, 0.0, (2e-6 + 1.2e-7 * p) * total
    least, top, bottom = np.float32(0.0), np.float32(1.0), np.float32(1.0)
    if grey:
        if len(extremes):
            low, high = extremes[0], extremes[1]
        else:
            low, high = _extremes(
                row, missing, pool.is_categorical, pool.sorted_columns, pool.sorted_counts,
                own_row >= 0,
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
    return Query(
        row, missing, own_row, row.astype(np.float32), bits, columns, n_head, rest, low, offset,
        least, top, bottom, slack,
    )  # fmt: skip


@exact
def _nth_largest(scores, count, n):
    """The n-th largest of the first ``count`` scores."""
    best = np.full(n, np.float32(-1.0))
    for b in range(count):
        score = scores[b]
        if score > best[n - 1]:
            place = n - 1
            while place > 0 and best[place - 1] < score:
                best[place] = best[place - 1]
                place -= 1
            best[place] = score
    return best[n - 1]


@exact
def _propose(
    grey, leaf, scores, threshold, slack, own_row, row, row_missing, low, offset, order, values,
    missing, is_categorical, weights, rows, distances,
):  # fmt: skip
    """Measure the donors of a leaf whose score may suffice; return the new threshold."""
    total = weights.sum()
    n_here = min(LEAF, len(order) - leaf * LEAF)
    if threshold < 0.0 and len(rows) + 1 < n_here:
        # Nothing is measured yet, but one more than k scores of this leaf bound the k-th best.
        threshold = _nth_largest(scores, n_here, len(rows) + 1) - 2.0 * slack
    for b in range(n_here):
        if scores[b] < threshold:
            continue
        donor = order[leaf * LEAF + b]
        if donor == own_row:
            continue
        if grey:
            distance = _grey_distance(
                row, row_missing, values[donor], missing[donor], is_categorical, weights, low,
                offset,
            )  # fmt: skip
        else:
            distance = _heom_distance(
                row, row_missing, values[donor], missing[donor], is_categorical, weights
            )
        _insert(donor, distance, rows, distances)
        worst = distances[-1]
        if worst < np.inf:
            threshold = max(threshold, (1.0 - worst if grey else total - worst * worst) - slack)
    return threshold


@exact
def _scan(grey, query, pool, weights, weights32, prune, limit, scores, block_bounds, leaf_bounds,
          rows, distances):  # fmt: skip
    """Score the donors of one query, promising blocks first; return how many leaves that were.

    Donors beyond the distance ``limit`` are not wanted, so they need not be measured.

    With ``prune``, groups are skipped by their bounds. Without, only the first block is chosen by
    its bound, so that the threshold is high from the start, and all others follow in storage
    order. The named tuples are taken apart here: passing them on would cost more than a leaf.
    """
    leaves, order, values, missing = pool.leaves, pool.rows, pool.values, pool.missing
    is_categorical, boxes, leaf_boxes = pool.is_categorical, pool.block_boxes, pool.leaf_boxes
    columns, singles, bits, slack = query.columns, query.singles, query.bits, query.slack
    least, top, bottom, rest = query.least, query.top, query.bottom, query.rest
    n_columns = len(columns)
    n_head = query.n_head if prune else n_columns
    n_blocks, n_picks = len(block_bounds), PICKS if prune else 1
    threshold, visited = -1.0, 0
    if limit < np.inf:
        threshold = max((1.0 - limit if grey else weights.sum() - limit * limit) - slack, 0.0)
    _bound_scores(
        grey, boxes.low, boxes.high, boxes.codes, columns, query.n_head, rest, singles, bits,
        is_categorical, weights32, least, top, bottom, block_bounds,
    )  # fmt: skip
    for step in range(n_picks + n_blocks):
        block = _place_of_largest(block_bounds, n_blocks) if step < n_picks else step - n_picks
        if block_bounds[block] < (max(threshold - slack, 0.0) if prune else 0.0):
            if step < n_picks:
                break  # no other block has a larger bound
            continue
        block_bounds[block] = -1.0
        if prune:
            _bound_scores(
                grey, leaf_boxes.low[block], leaf_boxes.high[block], leaf_boxes.codes[block],
                columns, n_head, rest, singles, bits, is_categorical, weights32, least, top,
                bottom, leaf_bounds,
            )  # fmt: skip
        n_here = min(LEAVES, len(leaves) - block * LEAVES)
        for turn in range(n_here):
            place = turn
            if prune:
                place = _place_of_largest(leaf_bounds, n_here)
                if leaf_bounds[place] < max(threshold - slack, 0.0):
                    break
                leaf_bounds[place] = -1.0
            visited += 1
            leaf = block * LEAVES + place
            scores[:] = np.float32(0.0)
            _add_scores(
                grey, columns, 0, n_head, leaves[leaf], singles, is_categorical, weights32, top,
                bottom, scores,
            )  # fmt: skip
            if n_head < n_columns:
                if not _any_reaches(scores, np.float32(threshold - slack - rest)):
                    continue
                _add_scores(
                    grey, columns, n_head, n_columns, leaves[leaf], singles, is_categorical,
                    weights32, top, bottom, scores,
                )  # fmt: skip
            if _any_reaches(scores, np.float32(threshold)):
                threshold = _propose(
                    grey, leaf, scores, threshold, slack, query.own_row, query.exact,
                    query.missing, query.low, query.offset, order, values, missing,
                    is_categorical, weights, rows, distances,
                )  # fmt: skip
    return visited


@exact
def _search(grey, queries, queries_missing, own_rows, pool, weights, rho, prune, extremes, limits,
            rows, distances):  # fmt: skip
    """Fill ``rows`` and ``distances`` with the k nearest donors of each query.

    ``extremes`` has Δmin and Δmax of each query, or no column where the pool itself tells them.
    ``limits`` are distances beyond which no donor is wanted; a place that stays empty holds
    row −1. Returns the share of leaves that was visited.
    """
    weights32 = weights.astype(np.float32)
    by_weight = np.argsort(-weights)
    scores = np.empty(LEAF, dtype=np.float32)
    block_bounds = np.empty(len(pool.leaf_boxes.low), dtype=np.float32)
    leaf_bounds = np.empty(LEAVES, dtype=np.float32)
    n_leaves = len(pool.leaves)
    pruning, visited = prune and len(block_bounds) > 1, 0
    for q in range(len(queries)):
        rows[q, :] = -1
        distances[q, :] = np.inf
        query = _read_query(
            grey, queries[q], queries_missing[q], own_rows[q], pool, by_weight, weights, rho,
            extremes[q],
        )  # fmt: skip
        visited += _scan(
            grey, query, pool, weights, weights32, pruning, limits[q], scores, block_bounds,
            leaf_bounds, rows[q], distances[q],
        )  # fmt: skip
        if q == TRIAL:
            pruning = pruning and visited <= WORTHWHILE * n_leaves * (q + 1)
    return visited / (n_leaves * max(len(queries), 1))


@exact
def _all_extremes(queries, queries_missing, own_rows, pool, out):
    for q in range(len(queries)):
        out[q, 0], out[q, 1] = _extremes(
            queries[q], queries_missing[q], pool.is_categorical, pool.sorted_columns,
            pool.sorted_counts, own_rows[q] >= 0,
        )  # fmt: skip


def grey_extremes(
    pool: DonorPool, queries: Floats, queries_missing: Bools, own_rows: Ints
) -> Floats:
    """Δmin and Δmax of each query in a pool or a part of one, equation (32).

    Of several parts the least Δmin and the largest Δmax count. Δmin is infinite where a part has
    no pair of observed cells.
    """
    out = np.empty((len(queries), 2))
    _all_extremes(queries, queries_missing, own_rows, pool, out)
    return out


def grey_search(
    pool: DonorPool,
    queries: Floats,
    queries_missing: Bools,
    own_rows: Ints,
    weights: Floats,
    rho: float,
    k: int,
    extremes: Floats | None = None,
    limits: Floats | None = None,
) -> tuple[Ints, Floats]:
    """The k donors of highest grey relational grade for each query, equations (32)–(35).

    For a part of a pool, ``extremes`` are Δmin and Δmax over all parts, and ``limits`` the k-th
    best distances of other parts: donors beyond them may be left out.
    """
    rows, distances = _room(len(queries), k)
    known = np.empty((len(queries), 0)) if extremes is None else extremes
    _search(True, queries, queries_missing, own_rows, pool, weights, rho, True, known,
            _no_farther(limits, len(queries)), rows, distances)  # fmt: skip
    return rows, distances


def heom_search(
    pool: DonorPool,
    queries: Floats,
    queries_missing: Bools,
    own_rows: Ints,
    weights: Floats,
    k: int,
    limits: Floats | None = None,
) -> tuple[Ints, Floats]:
    """The k donors of least HEOM for each query, equations (7)–(10) and (31)."""
    rows, distances = _room(len(queries), k)
    _search(False, queries, queries_missing, own_rows, pool, weights, 0.5, True,
            np.empty((len(queries), 0)), _no_farther(limits, len(queries)), rows,
            distances)  # fmt: skip
    return rows, distances


def _no_farther(limits: Floats | None, n_queries: int) -> Floats:
    return np.full(n_queries, np.inf) if limits is None else limits


def _room(n_queries: int, k: int) -> tuple[Ints, Floats]:
    return np.empty((n_queries, k), dtype=np.intp), np.empty((n_queries, k))


@exact
def average_cells(values, slots, columns, donors, weights):
    """Σ_l w_l v_l for each cell: cell c belongs to the query in slot ``slots[c]``."""
    out = np.empty(len(slots))
    for c in range(len(slots)):
        slot, column = slots[c], columns[c]
        total = 0.0
        for place in range(donors.shape[1]):
            total += weights[slot, place] * values[donors[slot, place], column]
        out[c] = total
    return out


@exact
def average_rows(given, weights):
    """Σ_l w_l v_l of each row of values, from the nearest donor on."""
    out = np.empty(len(given))
    for c in range(len(given)):
        total = 0.0
        for place in range(given.shape[1]):
            total += weights[c, place] * given[c, place]
        out[c] = total
    return out


@exact
def vote_cells(values, slots, columns, donors, weights, n_levels):
    """The winning category of each cell; ties go to the category of the nearest donor."""
    out = np.empty(len(slots))
    sums = np.zeros(n_levels)
    for c in range(len(slots)):
        slot, column = slots[c], columns[c]
        best = 0.0
        for place in range(donors.shape[1]):
            code = int(values[donors[slot, place], column])
            sums[code] += weights[slot, place]
            best = max(best, sums[code])
        winner = -1
        for place in range(donors.shape[1]):
            code = int(values[donors[slot, place], column])
            if winner < 0 and sums[code] == best:
                winner = code
        for place in range(donors.shape[1]):
            sums[int(values[donors[slot, place], column])] = 0.0
        out[c] = winner
    return out
