"""The order of donors in which boxes prune well: a kd-tree's leaves, from left to right."""

import numpy as np

from greyfill._kernels.jit import exact, exact_inner
from greyfill._kernels.pool import BLOCK, FAR, LEAF

SAMPLE = 128
"""Rows of a node by which its widest column is found."""


@exact
def kd_order(cells, is_categorical, weights):
    """Split again and again at the median of the column that is widest by λ_j · spread_j.

    Missing cells (FAR) stand at the upper end of a split. Left halves are multiples of a block,
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
