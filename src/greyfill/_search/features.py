"""The features of cells that regressions read: indicators of levels, numbers and normal scores."""

from typing import Any

import numpy as np

from greyfill._search.jit import exact_in_place, exact_inner
from greyfill.table import Floats, Ints


def encode(values: Floats, *arrays: Any) -> Floats:
    """Features of all columns of rows as values and as scores, shape (form, row, feature).

    ``arrays`` are the starts, levels, shifts, spreads, starts of knots, knots and scores of all
    columns: column j has the features from ``starts[j]`` on and the knots from ``knot_starts[j]``
    on; one without knots holds categories.
    """
    out = np.zeros((2, len(values), arrays[0][-1]))
    _encode(values, np.arange(len(values)), 0, *arrays, out)
    return out


def encode_column(values: Floats, rows: Ints, column: int, *arrays: Any) -> None:
    """Write the features of one column of some rows into the last array."""
    _encode(values.reshape(-1, 1), rows, column, *arrays)


@exact_in_place
def _encode(
    values, rows, first, starts, levels, shifts, spreads, knot_starts, knots, scores, out
):  # fmt: skip
    """Write the features of the columns from the first on."""
    for i in range(len(rows)):
        for j in range(values.shape[1]):
            encode_cell(
                values[i, j], rows[i], first + j, starts, levels, shifts, spreads, knot_starts,
                knots, scores, out,
            )  # fmt: skip


@exact_inner
def encode_cell(
    value, i, j, starts, levels, shifts, spreads, knot_starts, knots, scores, out
):  # fmt: skip
    first, last = knot_starts[j], knot_starts[j + 1]
    for f in range(starts[j], starts[j + 1]):
        raw = value
        if last == first:
            raw = 1.0 if value == levels[f] else 0.0
        out[0, i, f] = out[1, i, f] = (raw - shifts[f]) / spreads[j]
    if last > first:
        out[1, i, starts[j]] = _interpolated(value, first, last, knots, scores)


@exact_inner
def _interpolated(value, first, last, knots, scores):
    """The scores between knots on a straight line, beyond them those of the outermost."""
    place, above = first, last  # by halves; the library's search takes long to compile
    while place < above:
        middle = (place + above) // 2
        if knots[middle] < value:
            place = middle + 1
        else:
            above = middle
    if place == first:
        return scores[first]
    if place == last:
        return scores[last - 1]
    share = (value - knots[place - 1]) / (knots[place] - knots[place - 1])
    return scores[place - 1] + share * (scores[place] - scores[place - 1])
