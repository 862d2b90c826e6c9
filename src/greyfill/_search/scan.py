"""The search for the k nearest donors: boxes first, then leaves, then single donors.

Scores of whole leaves are computed in float32 and only *propose* donors; a donor that could belong
to the k nearest is measured again in float64, in the column order of the reference. So the answer
is the reference's, bit for bit, ties broken by row number.

Donors are visited block by block and leaf by leaf, most promising first: a box around a group
bounds the score of all its donors from above, since s falls with |a − b|, and a group whose bound
is below the k-th best score is skipped. Where that skips little, the rest of the call judges all
donors by coarse cells (`losses`) and measures those that these leave; where these are many, and for
HEOM, it scores everything.
"""

from typing import Any, NamedTuple

import numpy as np

from greyfill._search.distances import extremes, measure
from greyfill._search.jit import ONE, ZERO, exact, exact_inner, fast_inner
from greyfill._search.losses import MOST, Losses, add_losses, list_within, read_losses
from greyfill._search.pool import LEAF, LEAVES
from greyfill._search.scores import add_pairs, add_scores, any_reaches, bound_scores

NO_SCORE = np.float32(-1.0)
"""Below the score of any donor."""


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
def _measure_found(grey, query, pool, weights, n_found, scratch, rows, distances):
    """Measure the candidates whose score suffices and keep the k nearest."""
    measured, measured_rows = scratch.measured, scratch.measured_rows
    found, places, order = scratch.found, scratch.places, pool.rows
    floor = scratch.best[-1] - query.margin
    for first in range(0, n_found, LEAF):
        count = np.uintp(0)
        for i in range(first, min(first + LEAF, n_found)):
            measured_rows[count] = order[places[i]]
            count += np.uintp(found[i] >= floor)
        measure(
            grey, query.exact, query.low, query.offset, pool.values, pool.is_categorical, weights,
            count, scratch.terms, measured, measured_rows, rows, distances,
        )  # fmt: skip


PLAIN, COARSE, BOXED = 0, 1, 2
"""Ways to visit donors: all of them, those that coarse cells leave, leaves that boxes leave."""

TRIAL = 4
"""For this many queries a call watches whether its way pays."""

WORTHWHILE = (1.0, 0.5, 0.4)
"""A way pays when it visits at most this share of the leaves."""

FEW = 2
"""Up to this many blocks all leaves are scored as quickly as coarse cells are judged."""

SINGLES = 2
"""Donors for each leaf that are measured one by one; where these are not enough, all leaves are
scored."""

CHUNK: Any = np.uintp(32)
"""So many donors are measured before the limit of their losses is judged anew."""

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
    is more than ``margin`` below that of k others is none of the k nearest. In ``exact`` a missing
    cell is −∞.
    """

    exact: Any
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


class Scratch(NamedTuple):
    """Arrays that every query writes anew: scores, bounds and candidates."""

    scores: Any
    picked: Any
    losses: Losses
    lost: Any
    hits: Any
    words: Any
    block_bounds: Any
    leaf_bounds: Any
    best: Any
    found: Any
    places: Any
    terms: Any
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
def _read_query(
    grey, row, missing, own_row, is_categorical, columns_in_order, counts, shelves, by_weight,
    weights, rho, known,
):  # fmt: skip
    """All that the scores of a row's donors depend on; Δmin and Δmax may be ``known`` already."""
    p = len(row)
    columns, n_head, rest = _columns_that_count(missing, by_weight, weights)
    bits = np.zeros(p, dtype=np.uint64)
    for j in columns:
        if is_categorical[j] and row[j] >= 0.0:
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
                row, missing, is_categorical, columns_in_order, counts, shelves, own_row >= 0
            )
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
        np.where(missing, -np.inf, row), own_row, row.astype(np.float32), bits, columns, n_head,
        np.float32(rest), low, offset, least, top, bottom, np.float32(2.0 * slack),
    )  # fmt: skip


@exact_inner
def _scan_boxes(grey, query, pool, weights32, scratch):
    """Score the donors of one query where boxes leave them, promising blocks first.

    The named tuples are taken apart here: passing them on would cost more than a leaf.
    Returns how many leaves were visited and how many candidates there are.
    """
    leaves, order, is_categorical = pool.leaves, pool.rows, pool.is_categorical
    boxes, leaf_boxes = pool.block_boxes, pool.leaf_boxes
    leaf_low, leaf_high, leaf_codes = leaf_boxes.low, leaf_boxes.high, leaf_boxes.codes
    columns, singles, bits, n_head = query.columns, query.singles, query.bits, query.n_head
    least, top, bottom = query.least, query.top, query.bottom
    rest, margin, own_row = query.rest, query.margin, query.own_row
    scores, leaf_bounds, found = scratch.scores, scratch.leaf_bounds, scratch.found
    places, bounds, best, picked = (
        scratch.places,
        scratch.block_bounds,
        scratch.best,
        scratch.picked,
    )
    bound_scores(
        grey, boxes.low, boxes.high, boxes.codes, columns, n_head, rest, singles, bits,
        is_categorical, weights32, least, top, bottom, bounds,
    )  # fmt: skip
    best[:] = NO_SCORE
    n_found, visited = ZERO, ZERO
    for step in range(PICKS + len(bounds)):
        block = _place_of_largest(bounds, len(bounds)) if step < PICKS else step - PICKS
        if bounds[block] < max(best[-1] - margin, 0.0):
            if step < PICKS:
                break  # no other block has a larger bound
            continue
        bounds[block] = -1.0
        n_leaves, n_found = _scan_block(
            grey, block, leaves, leaf_low, leaf_high, leaf_codes, columns, n_head, rest, singles,
            bits, is_categorical, weights32, least, top, bottom, margin, own_row, order, scores,
            picked, leaf_bounds, best, found, places, n_found,
        )  # fmt: skip
        visited += n_leaves
    return visited, n_found


@exact_inner
def _scan_block(
    grey, block, leaves, low, high, codes, columns, n_head, rest, singles, bits, is_categorical,
    weights, least, top, bottom, margin, own_row, order, scores, picked, bounds, best, found,
    places, n_found,
):  # fmt: skip
    """Score the leaves of one block whose bound suffices, best first."""
    n_here, n_columns = min(LEAVES, len(leaves) - block * LEAVES), len(columns)
    bound_scores(
        grey, low[block], high[block], codes[block], columns, n_head, rest, singles, bits,
        is_categorical, weights, least, top, bottom, bounds,
    )  # fmt: skip
    for turn in range(n_here):
        place = _place_of_largest(bounds, n_here)
        if bounds[place] < max(best[-1] - margin, 0.0):
            return turn, n_found
        bounds[place] = -1.0
        picked[0] = block * LEAVES + place
        for b in range(LEAF):
            scores[0, b] = np.float32(0.0)
        add_scores(
            grey, columns, ZERO, n_head, leaves, picked, ONE, singles, is_categorical, weights, top,
            bottom, scores,
        )  # fmt: skip
        if n_head < n_columns:
            if not any_reaches(scores, ZERO, best[-1] - margin - rest):
                continue
            add_scores(
                grey, columns, n_head, n_columns, leaves, picked, ONE, singles, is_categorical,
                weights, top, bottom, scores,
            )  # fmt: skip
        if any_reaches(scores, ZERO, best[-1] - margin):
            first = picked[0] * LEAF
            n_found = add_candidates(
                scores, ZERO, first, min(LEAF, len(order) - first), margin, own_row, order, best,
                found, places, n_found,
            )  # fmt: skip
    return n_here, n_found


@exact_inner
def _scan_leaves(grey, query, pool, weights32, scratch):
    """Score all donors of one query; return how many leaves and how many candidates there are.

    Leaves of the block with the largest bound come first, so that the k-th best score is high when
    the others are judged.
    """
    best, picked = scratch.best, scratch.picked
    best[:], first = NO_SCORE, _best_block(grey, query, pool, weights32, scratch)
    n_found, n_leaves = ZERO, len(pool.leaves)
    for turn in range(len(pool.coarse)):
        block = first if turn == 0 else turn - 1 if turn <= first else turn
        n_picked = min(LEAVES, n_leaves - block * LEAVES)
        for n in range(n_picked):
            picked[n] = block * LEAVES + n
        n_found = _scan_picked(
            grey, n_picked, picked, pool.leaves, query.columns, query.singles,
            pool.is_categorical, weights32, query.top, query.bottom, query.margin,
            query.own_row, pool.rows, scratch.scores, best, scratch.found, scratch.places,
            n_found,
        )  # fmt: skip
    return n_leaves, n_found


@exact_inner
def _scan_coarse(query, pool, weights, guess, scratch, rows, distances):
    """Measure the donors of one query that coarse cells leave, and keep the k nearest.

    Those that lose at most ``guess`` come first; the k-th nearest so far tells how much any other
    may lose. Returns how many were measured, and that limit; the search is given up when they are
    too many.
    """
    lost, hits, words = scratch.lost, scratch.hits, scratch.words
    places, order = scratch.places, pool.rows
    terms, measured, measured_rows = scratch.terms, scratch.measured, scratch.measured_rows
    exact, low, offset, own_row = query.exact, query.low, query.offset, query.own_row
    values, is_categorical = pool.values, pool.is_categorical
    full, unit = _lose(
        exact, query.columns, is_categorical, weights, float(query.top), float(query.bottom),
        scratch.losses, pool.coarse, lost,
    )  # fmt: skip
    full += query.margin
    rows[:], distances[:] = -1, np.inf
    limit = int(max(min((full - NO_SCORE) * unit, MOST), -1.0))
    above, tried, n_measured = -1, min(guess, limit), 0
    while above < limit:
        n_found, i = list_within(lost, len(order), above, tried, hits, words, places), 0
        while i < n_found:
            count = np.uintp(0)
            while i < n_found and count < CHUNK:
                place = places[i]
                measured_rows[count] = order[place]
                count += np.uintp((lost[place] <= tried) & (order[place] != own_row))
                i += 1
            n_measured += int(count)
            measure(
                True, exact, low, offset, values, is_categorical, weights, count, terms, measured,
                measured_rows, rows, distances,
            )  # fmt: skip
            if n_measured > SINGLES * len(pool.leaves):
                return n_measured, guess
            if rows[-1] >= 0:
                limit = int(max(min((full - 1.0 + distances[-1]) * unit, limit), -1.0))
                tried = min(tried, limit)
        above, tried = tried, limit if rows[-1] >= 0 else min(2 * tried + 2, limit)
    return n_measured, max(limit, 0)


@exact_inner
def _scan_picked(
    grey, n_picked, picked, leaves, columns, singles, is_categorical, weights, top, bottom, margin,
    own_row, order, scores, best, found, places, n_found,
):  # fmt: skip
    """Score the picked leaves and take their donors among the candidates."""
    scores[:n_picked] = np.float32(0.0)
    n_added = add_pairs(
        grey, columns, leaves, picked, n_picked, singles, is_categorical, weights, top, bottom,
        scores,
    )  # fmt: skip
    add_scores(
        grey, columns, n_added, len(columns), leaves, picked, n_picked, singles, is_categorical,
        weights, top, bottom, scores,
    )  # fmt: skip
    for n in range(n_picked):
        if any_reaches(scores, n, best[-1] - margin):
            first = picked[n] * LEAF
            n_found = add_candidates(
                scores, n, first, min(LEAF, len(order) - first), margin, own_row, order, best,
                found, places, n_found,
            )  # fmt: skip
    return n_found


@exact_inner
def _lose(row, columns, is_categorical, weights, top, bottom, losses, coarse, lost):
    """What every donor loses by its coarse cells."""
    n_head = len(columns)
    full, unit = read_losses(row, columns, n_head, is_categorical, weights, top, bottom, losses)
    add_losses(
        columns, n_head, coarse, losses.codes, losses.factors, losses.caps, losses.holes, lost
    )
    return full, unit


@exact_inner
def _best_block(grey, query, pool, weights32, scratch):
    """The block whose box has the largest bound."""
    boxes, bounds = pool.block_boxes, scratch.block_bounds
    bound_scores(
        grey, boxes.low, boxes.high, boxes.codes, query.columns, query.n_head, query.rest,
        query.singles, query.bits, pool.is_categorical, weights32, query.least, query.top,
        query.bottom, bounds,
    )  # fmt: skip
    return _place_of_largest(bounds, len(bounds))


@exact_inner
def _make_scratch(p, k, n_leaves, n_blocks, n):
    hits = np.zeros(n_leaves * LEAF, dtype=np.uint8)
    return Scratch(
        np.empty((LEAVES, LEAF), dtype=np.float32),
        np.empty(LEAVES, dtype=np.intp),
        Losses(
            np.empty(p, dtype=np.uint8),
            np.empty(p, dtype=np.uint16),
            np.empty(p, dtype=np.uint8),
            np.empty(p, dtype=np.uint8),
        ),
        np.empty(n_leaves * LEAF, dtype=np.uint16),
        hits,
        hits.view(np.uint64),
        np.empty(n_blocks, dtype=np.float32),
        np.empty(LEAVES, dtype=np.float32),
        np.empty(k, dtype=np.float32),
        np.empty(n, dtype=np.float32),
        np.empty(n + 1, dtype=np.intp),
        np.empty((p, LEAF)),
        np.empty(LEAF),
        np.empty(LEAF + 1, dtype=np.intp),
    )


@exact
def search(grey, queries, queries_missing, own_rows, pool, weights, by_weight, rho, prune, known,
           rows, distances):  # fmt: skip
    """Fill ``rows`` and ``distances`` with the k nearest donors of each query.

    ``by_weight`` are the columns, heaviest first.
    ``known`` has Δmin and Δmax of each query, or no column where they are those of the pool itself.
    Returns the share of leaves that was visited; `SINGLES` donors count as a leaf.
    """
    weights32 = weights.astype(np.float32)
    p, k = len(weights), rows.shape[1]
    n_leaves, n_blocks = len(pool.leaves), len(pool.coarse)
    scratch = _make_scratch(p, k, n_leaves, n_blocks, len(pool.rows))
    way = BOXED if prune and n_blocks > 1 else PLAIN
    guess, since, visited, total = MOST // 32, 0, 0, 0
    for q in range(len(queries)):
        query = _read_query(
            grey, queries[q], queries_missing[q], own_rows[q], pool.is_categorical,
            pool.sorted_columns, pool.sorted_counts, pool.shelves, by_weight, weights, rho,
            known[q],
        )  # fmt: skip
        if way == COARSE:
            n_measured, guess = _scan_coarse(
                query, pool, weights, guess, scratch, rows[q], distances[q]
            )
            n_visited = n_measured // SINGLES
        if way != COARSE or n_visited >= n_leaves:
            rows[q], distances[q] = -1, np.inf
            if way == BOXED:
                n_visited, n_found = _scan_boxes(grey, query, pool, weights32, scratch)
            else:
                n_visited, n_found = _scan_leaves(grey, query, pool, weights32, scratch)
            _measure_found(grey, query, pool, weights, n_found, scratch, rows[q], distances[q])
        visited, total = visited + n_visited, total + n_visited
        if q < since + TRIAL and visited > WORTHWHILE[way] * n_leaves * TRIAL:
            may_pay = grey and way == BOXED and n_blocks > FEW
            way, since, visited = COARSE if may_pay else PLAIN, q + 1, 0
    return total / (n_leaves * max(len(queries), 1))
