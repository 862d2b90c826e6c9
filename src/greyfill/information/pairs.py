"""Mutual information of two numbers by Parzen windows in the plane, eq (22)."""

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.information.entropy import blocks, without_rounding
from greyfill.information.parzen import (
    EXACT_ROWS,
    deposit,
    gaussian,
    in_windows,
    linear_bins,
    on_grid,
    smooth,
)
from greyfill.table import Bools, Floats

CELLS_PER_WINDOW = 4
# Linear binning spreads a point by 1/6 cell² on average, and reading its own peak back from
# the cells around it flattens the density by as much again.
GRID_SPREAD = 2 / 6
# A longer axis gets a coarser step; 20 000 rows of Student's t still get 3 cells to a window.
CELLS_PER_AXIS = 512


def density_information(x: Floats, y: Floats) -> float:
    """Mutual information in bits of two numeric columns, by a product of Gaussian windows.

    I(X; Y) = (1/n) Σ_i log₂ p(x_i, y_i) / (p(x_i) p(y_i))  (22),
    p(x, y) = (1/n) Σ_i φ(x − x_i, h_x) φ(y − y_i, h_y), its margins p(x) and p(y)  (26).

    h = sd n^(−1/6) for each column (Silverman's rule in the plane), the same in p(x, y) and
    its margins, so that these belong to one density. Clipped at 0; 0 for a constant column.
    Above ``EXACT_ROWS`` rows the sums are taken on a grid.

    >>> import numpy as np
    >>> x = np.array([0.0, 0.0, 5.0, 5.0])
    >>> density_information(x, np.array([0.0, 5.0, 0.0, 5.0]))
    0.0
    """
    return float(density_columns(*_checked(x, y))[0])


def exact_density_information(x: Floats, y: Floats) -> float:
    """`density_information` by the O(n²) sums as written, in blocks of bounded memory.

    >>> import numpy as np
    >>> round(exact_density_information(np.array([0.0, 1.0]), np.array([0.0, 1.0])), 4)
    0.3911
    """
    return float(_exact(*_checked(x, y))[0])


def binned_density_information(x: Floats, y: Floats) -> float:
    """`density_information` on a fine grid: linear binning, FFT, ratio of densities in each cell.

    Four cells to a window agree with the exact sums to 1e-2 relative or 1e-3 bits. Very heavy
    tails in both columns can reach the cap on the grid even after empty stretches are cut
    out; then its step grows, which acts as a wider window.

    >>> import numpy as np
    >>> x, y = np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0, 2.0, 2.0, 5.0])
    >>> abs(binned_density_information(x, y) / exact_density_information(x, y) - 1) < 1e-2
    True
    """
    values, others, _ = _checked(x, y)
    return float(without_rounding(np.asarray(_binned(values[0], others[0]))))


def density_columns(values: Floats, others: Floats, known: Bools) -> Floats:
    """`density_information` of each row of values with its row of others, over its known cells.

    >>> import numpy as np
    >>> values = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]])
    >>> others = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    >>> density_columns(values, others, np.ones((2, 3), dtype=bool)).round(3)
    array([0.491, 0.175])
    """
    n_columns, n_rows = values.shape
    information = np.zeros(n_columns)
    if n_rows <= EXACT_ROWS:
        for block in blocks(n_columns, n_rows**2):
            information[block] = _exact(values[block], others[block], known[block])
    else:
        for j, rows in enumerate(known):
            information[j] = _binned(values[j, rows], others[j, rows])
    return without_rounding(information)


def _exact(values: Floats, others: Floats, known: Bools) -> Floats:
    """Mean log ratio of densities of each row over its known cells."""
    u, v = in_windows(values, known, 2), in_windows(others, known, 2)
    n_known = np.maximum(known.sum(axis=1), 1)
    ratio = np.ones(u.shape)
    for rows in blocks(u.shape[1], u.size):
        of_u = gaussian(u[:, rows], u) * known[:, None, :]
        of_v = gaussian(v[:, rows], v) * known[:, None, :]
        joint = np.einsum("cik,cik->ci", of_u, of_v)
        margins = np.maximum(of_u.sum(axis=2) * of_v.sum(axis=2), np.finfo(np.float64).tiny)
        ratio[:, rows] = n_known[:, None] * joint / margins
    logs = np.log2(ratio, where=known, out=np.zeros(u.shape))
    return without_rounding(logs.sum(axis=1) / n_known)


def _binned(x: Floats, y: Floats) -> float:
    """Mean log ratio of densities of two columns, evaluated on a grid."""
    u, v = in_windows(np.stack([x, y]), np.ones((2, len(x)), dtype=bool), 2)
    if len(x) < 2 or u.max() == 0 or v.max() == 0:
        return 0.0
    u, u_density = on_grid(u, CELLS_PER_WINDOW, CELLS_PER_AXIS)
    v, v_density = on_grid(v, CELLS_PER_WINDOW, CELLS_PER_AXIS)
    counts = _cell_counts(u, v)
    joint = smooth(counts, (u_density, v_density), GRID_SPREAD)
    i, k = np.nonzero(counts)
    ratio = len(x) * joint[i, k] / (joint.sum(axis=1)[i] * joint.sum(axis=0)[k])
    return float(counts[i, k] @ np.log2(ratio) / len(x))


def _cell_counts(u: Floats, v: Floats) -> Floats:
    """Points in each cell of the plane, shared linearly between the four cells around them."""
    (row, down), (column, right) = linear_bins(u), linear_bins(v)
    shape = int(row.max()) + 2, int(column.max()) + 2
    flat, size = row * shape[1] + column, shape[0] * shape[1]
    counts = deposit(flat, (1 - down) * (1 - right), size)
    counts += deposit(flat + 1, (1 - down) * right, size)
    counts += deposit(flat + shape[1], down * (1 - right), size)
    counts += deposit(flat + shape[1] + 1, down * right, size)
    return counts.reshape(shape)


def _checked(x: Floats, y: Floats) -> tuple[Floats, Floats, Bools]:
    """Return both columns as tables of one row, or say why not."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InvalidDataError(f"x has shape {x.shape} and y {y.shape}: pass two equal columns")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InvalidDataError("x or y holds NaN or infinity: pass jointly observed cells only")
    return x[None], y[None], np.ones((1, len(x)), dtype=bool)
