"""Float64 distances of single pairs in the column order of the reference, and Δmin and Δmax."""

import numpy as np

from greyfill._kernels.jit import exact, exact_inner
from greyfill._kernels.reference import GRID


@exact_inner
def on_grid(distance):
    """Take the noise of floating-point sums out of a distance."""
    return max(np.floor(distance * GRID + 0.5) / GRID, 0.0)


@exact_inner
def grey_distance(
    query, query_missing, donors, donors_missing, donor, is_categorical, weights, low, offset, parts
):  # fmt: skip
    """Equations (32) and (35); ``offset`` is ρΔmax, and 0 when Δmax is."""
    top, bottom = low + offset, offset
    if offset == 0.0:  # no two numbers differ, and every coefficient is 1
        top, bottom = 1.0, 1.0
    for j in range(len(query)):
        apart = abs(donors[donor, j] - query[j])
        coefficient = top / (apart + bottom)
        if is_categorical[j]:
            coefficient = 1.0 if apart == 0.0 else 0.0
        seen = not (query_missing[j] or donors_missing[donor, j])
        parts[j] = weights[j] * coefficient if seen else 0.0
    grade = 0.0
    for part in parts:
        grade += part
    return on_grid(1.0 - grade)


@exact_inner
def heom_distance(
    query, query_missing, donors, donors_missing, donor, is_categorical, weights, parts
):  # fmt: skip
    """Equations (7)–(10) and (31)."""
    for j in range(len(query)):
        apart = min(abs(donors[donor, j] - query[j]), 1.0)
        if is_categorical[j]:
            apart = 0.0 if apart == 0.0 else 1.0
        if query_missing[j] or donors_missing[donor, j]:
            apart = 1.0
        parts[j] = weights[j] * (apart * apart)
    squared = 0.0
    for part in parts:
        squared += part
    return on_grid(np.sqrt(squared))


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
