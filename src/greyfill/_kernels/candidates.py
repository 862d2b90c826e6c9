"""The donors that may be among the k nearest, by their float32 scores, and the k that are.

Where no score is wrong by more than ``slack``, a donor whose score is more than 2 · slack below
the k-th best one has k donors before it. All others are candidates, and only they are measured in
float64.
"""

import numpy as np

from greyfill._kernels.jit import ZERO, exact_inner, fast_inner
from greyfill._kernels.measures import grey_distance, heom_distance


@exact_inner
def consider(scores, first, count, margin, own_row, order, best, found, places, n_found):
    """Take the donors of a leaf among the candidates; return how many there are now."""
    last = len(best) - 1
    for b in range(count):
        score = scores[b]
        if score < best[last] - margin or order[first + b] == own_row:
            continue
        found[n_found], places[n_found] = score, first + b
        n_found += 1
        _raise(best, score)
    return n_found


@fast_inner
def _raise(best, score):
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
