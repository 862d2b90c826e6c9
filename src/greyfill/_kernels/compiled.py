"""Numba twins of the reference kernels: same names, same answers, fast.

The search scans feature-major float32 blocks and only *proposes* donors; a donor that could belong
to the k nearest is measured again in float64, in the column order of the reference. So the answer
is the reference's, bit for bit, ties broken by row number.

Inside a fastmath kernel no value is ever NaN or infinite: holes are ``FAR`` in the blocks.
"""

from typing import Any

import numpy as np
from numba import njit

from greyfill._kernels.pool import BLOCK, DonorPool
from greyfill._kernels.reference import ROUNDING
from greyfill.table import Bools, Floats, Ints

STRIPE = 64
"""Donors whose best grade is compared with the threshold at once."""


def _compile(**flags: Any) -> Any:
    """Decorate with ``njit``; without a writable cache folder, compile anew in each process."""

    def decorate(function: Any) -> Any:
        options = {"nogil": True, "error_model": "numpy", **flags}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no place to write its cache
            return njit(**options)(function)

    return decorate


_exact = _compile()
_fast = _compile(fastmath=True)


@_fast
def _grade_block(block, query, active, is_categorical, weights, numerator, offset, out):
    """Σ_j λ_j GRC_j of one query to the donors of one block, in float32."""
    zero = np.float32(0.0)
    out[:] = zero
    for j in active:
        a = query[j]
        weight = weights[j]
        column = block[j]
        if is_categorical[j]:
            for b in range(BLOCK):
                out[b] += weight if column[b] == a else zero
        else:
            scaled = weight * numerator
            for b in range(BLOCK):
                out[b] += scaled / (abs(column[b] - a) + offset)


@_fast
def _closeness_block(block, query, active, is_categorical, weights, out):
    """Σ_j λ_j (1 − d_j²) of one query to the donors of one block, in float32."""
    zero = np.float32(0.0)
    one = np.float32(1.0)
    out[:] = zero
    for j in active:
        a = query[j]
        weight = weights[j]
        column = block[j]
        if is_categorical[j]:
            for b in range(BLOCK):
                out[b] += weight if column[b] == a else zero
        else:
            for b in range(BLOCK):
                d = min(abs(column[b] - a), one)
                out[b] += weight * (one - d * d)


@_fast
def _stripe_best(scores, start):
    best = scores[start]
    for b in range(start + 1, start + STRIPE):
        best = max(best, scores[b])
    return best


@_exact
def _grey_distance(
    query, query_missing, donor, donor_missing, is_categorical, weights, low, high, rho
):
    offset = rho * high
    grade = 0.0
    for j in range(len(query)):
        if query_missing[j] or donor_missing[j]:
            continue
        if is_categorical[j]:
            coefficient = 1.0 if donor[j] == query[j] else 0.0
        elif high == 0.0:
            coefficient = 1.0
        else:
            coefficient = (low + offset) / (abs(donor[j] - query[j]) + offset)
        grade += weights[j] * coefficient
    distance = 1.0 - grade
    return 0.0 if distance < ROUNDING else distance


@_exact
def _heom_distance(query, query_missing, donor, donor_missing, is_categorical, weights):
    squared = 0.0
    for j in range(len(query)):
        if query_missing[j] or donor_missing[j]:
            part = 1.0
        elif is_categorical[j]:
            part = 0.0 if donor[j] == query[j] else 1.0
        else:
            part = min(abs(donor[j] - query[j]), 1.0)
        squared += weights[j] * (part * part)
    distance = np.sqrt(squared)
    return 0.0 if distance < ROUNDING else distance


@_exact
def _extremes(query, query_missing, is_categorical, sorted_columns, sorted_counts, in_pool):
    """Δmin and Δmax from sorted columns; ``in_pool`` tells that one donor is the query itself."""
    low, high = np.inf, 0.0
    own = 1 if in_pool else 0
    for j in range(len(query)):
        n = sorted_counts[j]
        if query_missing[j] or is_categorical[j] or n <= own:
            continue
        a = query[j]
        column = sorted_columns[j, :n]
        high = max(high, abs(column[0] - a), abs(column[n - 1] - a))
        left = np.searchsorted(column, a, side="left")
        right = np.searchsorted(column, a, side="right")
        if right - left > own:
            low = 0.0
            continue
        if left > 0:
            low = min(low, abs(column[left - 1] - a))
        if right < n:
            low = min(low, abs(column[right] - a))
    return (0.0 if low == np.inf else low), high


@_exact
def _insert(row, distance, rows, distances):
    """Put a donor into its place among the k best, by distance and then by row number."""
    place = len(rows) - 1
    while place > 0 and (
        distances[place - 1] > distance
        or (distances[place - 1] == distance and rows[place - 1] > row)
    ):
        rows[place] = rows[place - 1]
        distances[place] = distances[place - 1]
        place -= 1
    rows[place] = row
    distances[place] = distance


@_exact
def _active_columns(missing, weights):
    active = np.empty(len(weights), dtype=np.intp)
    count = 0
    for j in range(len(weights)):
        if not missing[j] and weights[j] > 0.0:
            active[count] = j
            count += 1
    return active[:count]


@_exact
def _scan_grey(
    queries, queries_missing, own_rows, values, missing, is_categorical, blocks, sorted_columns,
    sorted_counts, weights, rho, rows, distances,
):  # fmt: skip
    n, p = values.shape
    k = rows.shape[1]
    weights32 = weights.astype(np.float32)
    scores = np.empty(BLOCK, dtype=np.float32)
    for q in range(len(queries)):
        query, holes, own = queries[q], queries_missing[q], own_rows[q]
        low, high = _extremes(query, holes, is_categorical, sorted_columns, sorted_counts, own >= 0)
        active = _active_columns(holes, weights)
        query32 = query.astype(np.float32)
        # With Δmax = 0 every coefficient is 1; numerator = offset = 1 says so for equal numbers.
        flat = high == 0.0
        numerator = np.float32(1.0) if flat else np.float32(low + rho * high)
        offset = np.float32(1.0) if flat else np.float32(max(rho * high, 1e-30))
        # What float32 can be wrong by: products and sums, and the rounding of a and b before 1/x.
        slack = 2e-6 + 1.2e-7 * p + 5e-7 / offset
        rows[q, :] = -1
        distances[q, :] = np.inf
        threshold = -np.inf
        for block in range(len(blocks)):
            _grade_block(
                blocks[block], query32, active, is_categorical, weights32, numerator, offset, scores
            )
            for start in range(0, BLOCK, STRIPE):
                if _stripe_best(scores, start) < threshold:
                    continue
                for b in range(start, start + STRIPE):
                    donor = block * BLOCK + b
                    if scores[b] < threshold or donor >= n or donor == own:
                        continue
                    distance = _grey_distance(
                        query, holes, values[donor], missing[donor], is_categorical, weights,
                        low, high, rho,
                    )  # fmt: skip
                    if distance < distances[q, k - 1]:
                        _insert(donor, distance, rows[q], distances[q])
                        threshold = 1.0 - distances[q, k - 1] - slack


@_exact
def _scan_heom(
    queries, queries_missing, own_rows, values, missing, is_categorical, blocks, weights,
    rows, distances,
):  # fmt: skip
    n, p = values.shape
    k = rows.shape[1]
    weights32 = weights.astype(np.float32)
    total = weights.sum()
    slack = (2e-6 + 1.2e-7 * p) * total
    scores = np.empty(BLOCK, dtype=np.float32)
    for q in range(len(queries)):
        query, holes, own = queries[q], queries_missing[q], own_rows[q]
        active = _active_columns(holes, weights)
        query32 = query.astype(np.float32)
        rows[q, :] = -1
        distances[q, :] = np.inf
        threshold = -np.inf
        for block in range(len(blocks)):
            _closeness_block(blocks[block], query32, active, is_categorical, weights32, scores)
            for start in range(0, BLOCK, STRIPE):
                if _stripe_best(scores, start) < threshold:
                    continue
                for b in range(start, start + STRIPE):
                    donor = block * BLOCK + b
                    if scores[b] < threshold or donor >= n or donor == own:
                        continue
                    distance = _heom_distance(
                        query, holes, values[donor], missing[donor], is_categorical, weights
                    )
                    if distance < distances[q, k - 1]:
                        _insert(donor, distance, rows[q], distances[q])
                        worst = distances[q, k - 1]
                        threshold = total - worst * worst - slack


def grey_search(
    pool: DonorPool,
    queries: Floats,
    queries_missing: Bools,
    own_rows: Ints,
    weights: Floats,
    rho: float,
    k: int,
) -> tuple[Ints, Floats]:
    """The k donors of highest grey relational grade for each query, equations (32)–(35)."""
    rows = np.empty((len(queries), k), dtype=np.intp)
    distances = np.empty((len(queries), k))
    _scan_grey(
        queries, queries_missing, own_rows, pool.values, pool.missing, pool.is_categorical,
        pool.blocks, pool.sorted_columns, pool.sorted_counts, weights, rho, rows, distances,
    )  # fmt: skip
    return rows, distances


def heom_search(
    pool: DonorPool,
    queries: Floats,
    queries_missing: Bools,
    own_rows: Ints,
    weights: Floats,
    k: int,
) -> tuple[Ints, Floats]:
    """The k donors of least HEOM for each query, equations (7)–(10) and (31)."""
    rows = np.empty((len(queries), k), dtype=np.intp)
    distances = np.empty((len(queries), k))
    _scan_heom(
        queries, queries_missing, own_rows, pool.values, pool.missing, pool.is_categorical,
        pool.blocks, weights, rows, distances,
    )  # fmt: skip
    return rows, distances


@_exact
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


@_exact
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
