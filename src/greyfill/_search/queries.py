"""New rows on the scale of the donors, as of each class, and their fills back in their units."""

from typing import Any

import numpy as np

from greyfill._search.features import encode_cell
from greyfill._search.jit import exact, exact_in_place
from greyfill.table import Bools, Floats, Ints


def open_rows(
    values: Floats,
    missing: Bools,
    low: Floats,
    high: Floats,
    half_range: Floats,
    has_levels: Bools,
    is_categorical: Bools,
    *arrays: Any,
) -> tuple[Floats, Bools, Floats]:
    """Scaled cells of rows, which of them are lacking, and their features.

    Numbers go to [0, 1] as `greyfill.table.RangeScaler` has them. A category that ``fit`` has not
    seen is lacking. So is y, where there are features of one more column.
    """
    starts = arrays[0]
    shape = len(values), len(starts) - 1
    scaled, lacking = np.zeros(shape), np.empty(shape, dtype=np.bool_)
    lacking.fill(True)
    features = np.zeros((2, len(values), starts[-1]))
    _open_rows(
        values, missing, low, high, half_range, has_levels, is_categorical, *arrays, scaled,
        lacking, features,
    )  # fmt: skip
    return scaled, lacking, features


@exact_in_place
def _open_rows(
    values, missing, low, high, half_range, has_levels, is_categorical, starts, levels, shifts,
    spreads, knot_starts, knots, scores, scaled, lacking, features,
):  # fmt: skip
    for i in range(len(values)):
        for j in range(values.shape[1]):
            value = values[i, j]
            lacking[i, j] = missing[i, j] or (has_levels[j] and value < 0.0)
            if missing[i, j]:
                value = 0.0
            elif not is_categorical[j]:
                value = min(max(value, low[j]), high[j])  # first, lest the quotient overflow
                value = (value * 0.5 - low[j] * 0.5) / half_range[j]
            scaled[i, j] = value
        for j in range(scaled.shape[1]):
            encode_cell(
                scaled[i, j], i, j, starts, levels, shifts, spreads, knot_starts, knots, scores,
                features,
            )  # fmt: skip


def of_classes(
    values: Floats,
    missing: Bools,
    features: Floats,
    shares: Floats,
    negligible: float,
    of_labels: Floats,
) -> tuple[Ints, Floats, Ints, Floats, Bools, Floats]:
    """Rows as of their classes: number of the row, share, class, cells, which lack, features.

    The classes of a row follow each other, without those whose share is ``negligible`` of its
    largest one. The last column of a row is its class, and the last features are those of its class
    in ``of_labels``, shape (form, class, feature).
    """
    counts = shares >= np.maximum.reduce(shares, axis=1, keepdims=True) * negligible
    sources, labels = map(np.ascontiguousarray, counts.nonzero())
    total = np.add.accumulate(shares * counts, axis=1)[:, -1]  # in order, unlike np.sum
    parts = shares[counts] / total.take(sources)
    cells, lacks = values.take(sources, axis=0), missing.take(sources, axis=0)
    cells[:, -1], lacks[:, -1] = labels, False
    out = features.take(sources, axis=1)
    out[:, :, out.shape[2] - of_labels.shape[2] :] = of_labels.take(labels, axis=1)
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
