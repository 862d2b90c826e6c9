"""The features of cells that regressions read: indicators of levels, numbers and normal scores."""

import numpy as np

from greyfill._search.jit import exact, exact_inner
from greyfill.table import Floats, Ints


@exact
def encode(
    values: Floats,
    starts: Ints,
    levels: Floats,
    shifts: Floats,
    spreads: Floats,
    knot_starts: Ints,
    knots: Floats,
    scores: Floats,
) -> Floats:
    """Features of all columns of rows as values and as scores, shape (form, row, feature).

    Column j has the features from ``starts[j]`` on and the knots from ``knot_starts[j]`` on; one
    without knots holds categories.
    """
    out = np.zeros((2, len(values), starts[-1]))
    for i in range(len(values)):
        for j in range(values.shape[1]):
            encode_cell(
                values[i, j], i, j, starts, levels, shifts, spreads, knot_starts, knots, scores, out
            )
    return out


@exact
def encode_column(
    values: Floats,
    rows: Ints,
    column: int,
    starts: Ints,
    levels: Floats,
    shifts: Floats,
    spreads: Floats,
    knot_starts: Ints,
    knots: Floats,
    scores: Floats,
    out: Floats,
) -> None:
    """Write the features of one column of some rows into ``out``."""
    for i in range(len(rows)):
        encode_cell(
            values[i], rows[i], column, starts, levels, shifts, spreads, knot_starts, knots, scores,
            out,
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
        out[1, i, starts[j]] = _interpolated(value, knots[first:last], scores[first:last])


@exact_inner
def _interpolated(value, knots, scores):
    """The scores between knots on a straight line, beyond them those of the outermost."""
    place, above = 0, len(knots)  # by halves; the library's search takes long to compile
    while place < above:
        middle = (place + above) // 2
        if knots[middle] < value:
            place = middle + 1
        else:
            above = middle
    if place == 0:
        return scores[0]
    if place == len(knots):
        return scores[-1]
    share = (value - knots[place - 1]) / (knots[place] - knots[place - 1])
    return scores[place - 1] + share * (scores[place] - scores[place - 1])
