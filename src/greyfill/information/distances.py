"""Distance correlation: zero only for independent columns, whatever the shape of the relation."""

import numpy as np

from greyfill.information.cells import known_cells
from greyfill.information.entropy import without_rounding
from greyfill.table import Floats, Ints, Table


def squared_distance_correlation(
    table: Table, target: Floats | Ints, is_categorical: bool
) -> Floats:
    """Bias-corrected squared distance correlation of every column with a target without holes.

    R*(X, Y) = ⟨A, B⟩ / √(⟨A, A⟩ ⟨B, B⟩), ⟨A, B⟩ = Σ_{i≠k} A_ik B_ik, where A and B are the
    U-centered distances |x_i − x_k| of numbers, or 0 and 1 for equal and unequal categories
    (Székely and Rizzo 2014). Over the known cells of each column; negative values, which occur by
    chance where columns are independent, count as 0. Time and memory grow with the square of
    the number of rows.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind
    >>> x = np.arange(8.0)[:, np.newaxis]
    >>> table = Table(x, np.zeros((8, 1), dtype=bool), (Column("a", Kind.NUMERIC),))
    >>> squared_distance_correlation(table, 5.0 - 2.0 * x[:, 0], False).round(6)
    array([1.])
    """
    known, categories = known_cells(table), table.is_categorical
    whole = centered_distances(target, is_categorical)
    found = np.zeros(table.n_columns)
    for j, rows in enumerate(known.T):
        others = whole if rows.all() else centered_distances(target[rows], is_categorical)
        own = centered_distances(table.values[rows, j], bool(categories[j]))
        scale = np.sqrt(_product(own, own) * _product(others, others))
        found[j] = _product(own, others) / scale if scale > 0.0 else 0.0
    return without_rounding(found)


def centered_distances(values: Floats | Ints, are_levels: bool) -> Floats:
    """U-centered distances: rows and columns sum to 0 and the diagonal is 0.

    A_ik = a_ik − Σ_l a_il / (n − 2) − Σ_l a_lk / (n − 2) + Σ a / ((n − 1)(n − 2)),  i ≠ k

    Fewer than four rows cannot be centered so; then all is 0. Numbers are first divided by their
    range, which cancels in a correlation.

    >>> import numpy as np
    >>> centered_distances(np.array([0.0, 1.0, 3.0, 7.0]), False).sum(axis=0).round(12) + 0.0
    array([0., 0., 0., 0.])
    """
    n = len(values)
    if n < 4:
        return np.zeros((n, n))
    if are_levels:
        apart = (values[:, np.newaxis] != values).astype(np.float64)
    else:
        half = np.asarray(values, dtype=np.float64) / 2.0  # a range of 2e308 would overflow
        width = half.max() - half.min()
        scaled = (half - half.min()) / (width if width > 0.0 else 1.0)
        apart = np.abs(scaled[:, np.newaxis] - scaled)
    sums = apart.sum(axis=0)
    apart -= sums / (n - 2)
    apart -= sums[:, np.newaxis] / (n - 2)
    apart += sums.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


def _product(a: Floats, b: Floats) -> float:
    """⟨A, B⟩, on one thread: for matrices this small BLAS would spend its time on waking others."""
    return float(np.einsum("ik,ik->", a, b))
