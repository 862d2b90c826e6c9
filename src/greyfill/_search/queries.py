"""New rows on the scale of the donors, as of each class, and their fills back in their units."""

import numpy as np

from greyfill._search.features import encode_cell
from greyfill._search.jit import exact
from greyfill.table import Bools, Floats, Ints


@exact
def open_rows(
    values: Floats,
    missing: Bools,
    low: Floats,
    high: Floats,
    half_range: Floats,
    has_levels: Bools,
    is_categorical: Bools,
    starts: Ints,
    levels: Floats,
    shifts: Floats,
    spreads: Floats,
    knot_starts: Ints,
    knots: Floats,
    scores: Floats,
) -> tuple[Floats, Bools, Floats]:
    """Scaled cells of rows, which of them are lacking, and their features.

    Numbers go to [0, 1] as `greyfill.table.RangeScaler` has them. A category that ``fit`` has not
    seen is lacking. So is y, where there are features of one more column.
    """
    n, p, width = len(values), values.shape[1], len(starts) - 1
    scaled, lacking = np.zeros((n, width)), np.ones((n, width), dtype=np.bool_)
    features = np.zeros((2, n, starts[-1]))
    for i in range(n):
        for j in range(p):
            value = values[i, j]
            lacking[i, j] = missing[i, j] or (has_levels[j] and value < 0.0)
            if missing[i, j]:
                value = 0.0
            elif not is_categorical[j]:
                value = min(max(value, low[j]), high[j])  # first, lest the quotient overflow
                value = (value * 0.5 - low[j] * 0.5) / half_range[j]
            scaled[i, j] = value
        for j in range(width):
            encode_cell(
                scaled[i, j], i, j, starts, levels, shifts, spreads, knot_starts, knots, scores,
                features,
            )  # fmt: skip
    return scaled, lacking, features


@exact
def of_classes(
    values: Floats,
    missing: Bools,
    features: Floats,
    shares: Floats,
    negligible: float,
    starts: Ints,
    levels: Floats,
    shifts: Floats,
    spreads: Floats,
    knot_starts: Ints,
    knots: Floats,
    scores: Floats,
) -> tuple[Ints, Floats, Ints, Floats, Bools, Floats]:
    """Rows as of their classes: number of the row, share, class, cells, which lack, features.

    The classes of a row follow each other, without those whose share is ``negligible`` of its
    largest one. The last column of a row is its class.
    """
    n, y, count = len(values), values.shape[1] - 1, 0
    least, total = np.zeros(n), np.zeros(n)
    for i in range(n):
        for share in shares[i]:
            least[i] = max(least[i], share * negligible)
        for share in shares[i]:
            if share >= least[i]:
                total[i] += share
                count += 1
    sources, labels = np.empty(count, dtype=np.intp), np.empty(count, dtype=np.intp)
    parts, out = np.empty(count), np.empty((2, count, features.shape[2]))
    cells, lacks, q = np.empty((count, y + 1)), np.empty((count, y + 1), dtype=np.bool_), 0
    for i in range(n):
        for label in range(shares.shape[1]):
            if shares[i, label] < least[i]:
                continue
            sources[q], labels[q], parts[q] = i, label, shares[i, label] / total[i]
            for j in range(y + 1):
                cells[q, j], lacks[q, j] = values[i, j], missing[i, j]
            cells[q, y], lacks[q, y] = label, False
            for form in range(2):
                for f in range(features.shape[2]):
                    out[form, q, f] = features[form, i, f]
            encode_cell(
                float(label), q, y, starts, levels, shifts, spreads, knot_starts, knots, scores, out
            )
            q += 1
    return sources, parts, labels, cells, lacks, out


@exact
def close_rows(
    filled: Floats,
    values: Floats,
    missing: Bools,
    low: Floats,
    high: Floats,
    half_range: Floats,
    has_levels: Bools,
    is_categorical: Bools,
) -> Floats:
    """The values of rows, and in their holes what was filled, in the units of the table."""
    out = values.copy()
    for i in range(len(values)):
        for j in range(values.shape[1]):
            if missing[i, j]:
                value = filled[i, j]
                if not is_categorical[j]:
                    value = (value * half_range[j] + low[j] * 0.5) * 2.0
                    value = min(max(value, low[j]), high[j])
                out[i, j] = value
    return out
