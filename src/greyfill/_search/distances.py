"""Exact distances and the nearest by them, Δmin and Δmax of a query, the order of donors in a pool.

The distances are those of the reference, in float64 and in its order of columns. Δmin and Δmax come
from sorted columns, looked up by shelves. The order, in which boxes prune well, is that of the
leaves of a kd-tree, from left to right.
"""

from typing import Any

import numpy as np

from greyfill._search.jit import exact, exact_inner
from greyfill._search.pool import BLOCK, FAR, LEAF
from greyfill._search.reference import GRID

VECTOR: Any = np.uintp(8)
"""Numbers in the longest vectors."""


@exact_inner
def on_grid(distance):
    """Take the noise of floating-point sums out of a distance."""
    return max(np.floor(distance * GRID + 0.5) / GRID, 0.0)


@exact_inner
def grey_distances(query, donors, rows, count, is_categorical, weights, low, offset, terms, out):
    """Equations (32) and (35) for the first rows; ``offset`` is ρΔmax, and 0 when Δmax is.

    A missing cell of the query is −∞ and one of a donor +∞: their coefficient is 0. The donors are
    fetched first, so that the processor waits for all of them at once. Then they are divided column
    by column in whole vectors; nobody reads what ``terms`` has behind the last donor.
    """
    top, bottom = low + offset, offset
    if offset == 0.0:  # no two numbers differ, and every coefficient is 1
        top, bottom = 1.0, 1.0
    for i in range(count):
        row = rows[i]
        for j in range(len(query)):
            terms[j, i] = donors[row, j]
    whole = (count + VECTOR - np.uintp(1)) // VECTOR * VECTOR
    out[:whole] = 0.0
    for j in range(len(query)):
        a, weight = query[j], weights[j]
        if a == -np.inf:
            continue
        if is_categorical[j]:
            for i in range(whole):
                out[i] += weight if terms[j, i] == a else 0.0
        else:
            for i in range(whole):
                out[i] += weight * (top / (abs(terms[j, i] - a) + bottom))
    for i in range(count):
        out[i] = on_grid(1.0 - out[i])


@exact_inner
def heom_distances(query, donors, rows, count, is_categorical, weights, out):
    """Equations (7)–(10) and (31) for the first rows, missing cells as in `grey_distances`."""
    out[:count] = 0.0
    for j in range(len(query)):
        a, weight = query[j], weights[j]
        if is_categorical[j]:
            for i in range(count):
                out[i] += weight if donors[rows[i], j] != a else 0.0
        else:
            for i in range(count):
                apart = min(abs(donors[rows[i], j] - a), 1.0)
                out[i] += weight * (apart * apart)
    for i in range(count):
        out[i] = on_grid(np.sqrt(out[i]))


@exact_inner
def measure(
    grey, row, low, offset, values, is_categorical, weights, count, terms, measured, measured_rows,
    rows, distances,
):  # fmt: skip
    """Measure some donors and keep the k nearest of them and of those that are kept already."""
    if grey:
        grey_distances(
            row, values, measured_rows, count, is_categorical, weights, low, offset, terms, measured
        )
    else:
        heom_distances(row, values, measured_rows, count, is_categorical, weights, measured)
    for i in range(count):
        distance, row, place = measured[i], measured_rows[i], len(rows) - 1
        if not _is_before(distance, row, distances[place], rows[place]):
            continue  # most are farther than the k nearest so far
        while place > 0 and _is_before(distance, row, distances[place - 1], rows[place - 1]):
            distances[place], rows[place] = distances[place - 1], rows[place - 1]
            place -= 1
        distances[place], rows[place] = distance, row


@exact_inner
def _is_before(distance, row, other, other_row):
    """Whether a donor is nearer than another; ties go to the smaller row number."""
    return distance < other or (distance == other and row < other_row)


@exact_inner
def extremes(query, query_missing, is_categorical, columns, counts, starts, in_pool):
    """Δmin and Δmax from sorted columns; ``in_pool`` tells that one donor is the query itself.

    Without a pair of observed cells Δmin is infinite, so that parts of a pool can be compared.
    """
    low, high = np.inf, 0.0
    own = 1 if in_pool else 0
    for j in range(len(query)):
        n = counts[j]
        if query_missing[j] or is_categorical[j] or n <= own:
            continue
        a = query[j]
        high = max(high, abs(columns[j, 0] - a), abs(columns[j, n - 1] - a))
        left = _first_not_below(a, j, columns, starts)
        right = left
        while right < n and right - left <= own and columns[j, right] == a:
            right += 1
        if right - left > own:
            low = 0.0
            continue
        if left > 0:
            low = min(low, abs(columns[j, left - 1] - a))
        if right < n:
            low = min(low, abs(columns[j, right] - a))
    return low, high


@exact_inner
def _first_not_below(a, j, columns, starts):
    """Where a sorted column reaches ``a``: by the shelf of ``a``, and by halving in it."""
    shelf = shelf_of(a, starts.shape[1] - 1)
    left, right = starts[j, shelf], starts[j, shelf + 1]
    while left < right:
        middle = (left + right) // 2
        if columns[j, middle] < a:
            left = middle + 1
        else:
            right = middle
    return left


@exact_inner
def shelf_of(value, n_shelves):
    """On which of equal parts of [0, 1] a value lies; a larger value is never on a lower one."""
    return min(max(int(value * n_shelves), 0), n_shelves - 1)


@exact
def shelve(columns, counts, n_shelves):
    """Where each shelf of each sorted column starts, and at the end where the last one stops."""
    starts = np.zeros((len(columns), n_shelves + 1), dtype=np.int32)
    for j in range(len(columns)):
        for i in range(counts[j]):
            starts[j, shelf_of(columns[j, i], n_shelves) + 1] += 1
        for shelf in range(n_shelves):
            starts[j, shelf + 1] += starts[j, shelf]
    return starts


SAMPLE = 128
"""Rows of a node by which its widest column is found."""


@exact
def kd_order(cells, is_categorical, weights):
    """Split again and again at the median of the column that is widest by λ_j · spread_j.

    Missing cells (`FAR`) stand at the upper end of a split. Left halves are multiples of a block,
    and inside a block multiples of a leaf, so that only the last leaf can be short.
    """
    n = len(cells)
    order = np.arange(n)
    starts = np.empty(2 * 64 + 2, dtype=np.intp)
    stops = np.empty(2 * 64 + 2, dtype=np.intp)
    starts[0], stops[0] = 0, n
    open_nodes = 1
    while open_nodes > 0:
        open_nodes -= 1
        start, stop = starts[open_nodes], stops[open_nodes]
        if stop - start <= LEAF:
            continue
        column = _widest(cells, order[start:stop], is_categorical, weights)
        if column < 0:
            continue
        middle = start + _left_size(stop - start)
        _split(cells[:, column], order[start:stop], middle - start)
        starts[open_nodes], stops[open_nodes] = start, middle
        starts[open_nodes + 1], stops[open_nodes + 1] = middle, stop
        open_nodes += 2
    return order


@exact_inner
def _left_size(size):
    unit = BLOCK if size > BLOCK else LEAF
    left = -(-(size // 2) // unit) * unit
    return left if left < size else left - unit


@exact_inner
def _widest(cells, rows, is_categorical, weights):
    """The column with the largest weighted spread in a sample of rows, or −1 if all are equal."""
    step = max(1, len(rows) // SAMPLE)
    best, widest = -1, 0.0
    for j in range(cells.shape[1]):
        if weights[j] <= 0.0:
            continue
        spread = weights[j] * _spread(cells, rows, step, j, is_categorical[j])
        if spread > widest:
            best, widest = j, spread
    return best


@exact_inner
def _spread(cells, rows, step, column, categorical):
    """Standard deviation of numbers; share of rows that differ from the first for categories."""
    first = cells[rows[0], column]
    count, different, total, squares = 0, 0, 0.0, 0.0
    for i in range(0, len(rows), step):
        value = cells[rows[i], column]
        if value == FAR:
            continue
        count += 1
        different += value != first
        total += value
        squares += value * value
    if count == 0:
        return 0.0
    if categorical:
        return different / count
    return np.sqrt(max(squares / count - (total / count) ** 2, 0.0))


@exact
def value_of_rank(keys, rank):
    """The value that would stand at ``rank`` if the keys were sorted; reorders them.

    Hoare's selection with pivots from places that no order of the keys can foresee by accident.
    (numba's ``np.partition`` does the same, and takes longer to compile than all else here.)
    """
    first, last, state = 0, len(keys) - 1, np.uint64(88172645463325252)
    while first < last:
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        pivot = keys[first + np.intp(state % np.uint64(last - first + 1))]
        i, j = first, last
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while pivot < keys[j]:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if rank <= j:
            last = j
        elif rank >= i:
            first = i
        else:
            break
    return keys[rank]


@exact_inner
def _split(column, rows, left):
    """Reorder rows in place so that the ``left`` smallest values come first; order is kept."""
    keys = column[rows]
    pivot = value_of_rank(keys.copy(), left)
    old = rows.copy()
    smaller = 0
    for key in keys:
        smaller += key < pivot
    at_smaller, at_equal, at_larger = 0, smaller, len(rows) - 1
    for i in range(len(rows)):
        if keys[i] < pivot:
            rows[at_smaller] = old[i]
            at_smaller += 1
        elif keys[i] == pivot:
            rows[at_equal] = old[i]
            at_equal += 1
    for i in range(len(rows) - 1, -1, -1):
        if keys[i] > pivot:
            rows[at_larger] = old[i]
            at_larger -= 1
