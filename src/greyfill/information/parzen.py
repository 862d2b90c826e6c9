"""Mutual information by Gaussian Parzen windows.

A number and a category: `parzen_information`, eqs (24)–(29). Two numbers, by windows in the plane:
`density_information`, eq (22). Each has an exact evaluation, O(n²) in bounded memory, for up to
``EXACT_ROWS`` rows, and a binned one of the same meaning, O(n log n), above. Windows and grids,
which all share, follow at the end.
"""

import numpy as np
from scipy import fft

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.information.entropy import (
    Steps,
    blocks,
    dense_codes,
    entropy_of_masses,
    exponents,
    without_rounding,
)
from greyfill.table import Bools, Floats, Ints

# Up to this many rows the O(n²) sums are taken as written, above it on a grid. A column of 500
# rows costs 1 ms exactly and 0.3 ms on the grid; 2000 rows would cost 16 ms.
EXACT_ROWS = 500
# Beyond this many windows the Gaussian (2e-11 of its peak) counts as 0.
REACH = 7.0
# A point is shared between two cells of a grid in so many parts: a millionth is nothing.
SHARES = 2.0**20
# Most cells of one grid, all classes together: 32 MB.
GRID_CELLS = 2**22
CELLS_PER_WINDOW = 32
# Linear binning spreads a point by 1/6 cell² on average.
BINNING_SPREAD = 1 / 6
PLANE_CELLS_PER_WINDOW = 4
# Reading a point's own peak back from the cells around it flattens the density by as much again.
PLANE_SPREAD = 2 / 6
# A longer axis gets a coarser step; 20 000 rows of Student's t still get 3 cells to a window.
CELLS_PER_AXIS = 512


def parzen_information(x: Floats, labels: Ints, bandwidth: float | None = None) -> float:
    """Mutual information in bits of a numeric column and a class, by Gaussian Parzen windows.

    I(X; Y) = H(Y) − H(Y|X)  (24),
    H(Y|X) = −(1/n) Σ_i Σ_y p(y|x_i) log₂ p(y|x_i)  (29),
    p(y|x) = Σ_{i in y} φ(x − x_i, h) / Σ_i φ(x − x_i, h)  (26)–(28).

    (29) is read with the inner sum over the classes and the outer sum as the average over the
    observations. One h serves all classes, 1.06 sd n^(−1/5) unless given, with the sample
    standard deviation (ddof = 1) of the whole column. The result is clipped at 0, and is 0 for
    a constant column. Above ``EXACT_ROWS`` rows the sums are taken on a grid.

    >>> import numpy as np
    >>> round(parzen_information(np.array([0.0, 1.0, 9.0, 10.0]), np.array([0, 0, 1, 1]), 1.0), 6)
    1.0
    """
    evaluate = exact_parzen_information if len(x) <= EXACT_ROWS else binned_parzen_information
    return evaluate(x, labels, bandwidth)


def exact_parzen_information(x: Floats, labels: Ints, bandwidth: float | None = None) -> float:
    """`parzen_information` by the O(n²) sums as written, in blocks of bounded memory.

    >>> import numpy as np
    >>> exact_parzen_information(np.array([2.0, 2.0, 2.0]), np.array([0, 1, 1]))
    0.0
    """
    u, codes = _checked_class(x, labels, bandwidth)
    return float(_exact_class(u[None], np.ones((1, len(u)), dtype=bool), codes[None])[0])


def binned_parzen_information(x: Floats, labels: Ints, bandwidth: float | None = None) -> float:
    """`parzen_information` on a fine grid: linear binning, FFT, entropy in each cell.

    Thirty-two cells to a window agree with the exact sums to 1e-3 relative. Heavy tails never
    coarsen the grid under the default bandwidth: |x − mean| < sd √n bounds its length, and
    empty stretches are cut out. Only a tiny bandwidth of one's own, or thousands of classes,
    can reach the cap on the grid; then the step grows, which acts as a wider window.

    >>> import numpy as np
    >>> x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 0, 1, 1])
    >>> abs(binned_parzen_information(x, y) / exact_parzen_information(x, y) - 1) < 1e-3
    True
    """
    u, codes = _checked_class(x, labels, bandwidth)
    return float(without_rounding(np.asarray(_binned_class(u, codes))))


def parzen_columns(values: Floats, known: Bools, codes: Ints, factor: float = 1.0) -> Floats:
    """`parzen_information` of each row of values with its row of codes, over its known cells.

    Windows are ``factor`` times as wide as the rule has them.

    >>> values = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    >>> codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> parzen_columns(values, np.ones((2, 4), dtype=bool), codes).round(3)
    array([0.566, 0.   ])
    """
    n_columns, n_rows = values.shape
    information = np.zeros(n_columns)
    if n_rows <= EXACT_ROWS:
        for block in blocks(n_columns, n_rows**2):
            u = in_windows(values[block], known[block]) / factor
            information[block] = _exact_class(u, known[block], codes[block])
    else:
        for j, rows in enumerate(known):
            u = in_windows(values[j, rows][None], np.ones((1, int(rows.sum())), dtype=bool))[0]
            information[j] = _binned_class(u / factor, codes[j, rows])
    return without_rounding(information)


def _checked_class(x: Floats, labels: Ints, bandwidth: float | None) -> tuple[Floats, Ints]:
    """Return the column in units of its window and dense class codes, or say why not."""
    x, labels = np.asarray(x, dtype=np.float64), np.asarray(labels)
    if x.ndim != 1 or x.shape != labels.shape:
        raise InvalidDataError(
            f"x has shape {x.shape} and labels {labels.shape}: pass two columns of one length"
        )
    if not np.isfinite(x).all():
        raise InvalidDataError("x holds NaN or infinity: pass the observed cells only")
    if bandwidth is not None and not bandwidth > 0:
        raise InvalidParameterError(f"bandwidth must be positive, got {bandwidth}")
    u = in_windows(x[None], np.ones((1, len(x)), dtype=bool), 1, bandwidth)[0]
    return u, dense_codes(labels[None])[0]


def _exact_class(u: Floats, known: Bools, codes: Ints) -> Floats:
    """H(Y) − H(Y|X) of each row, points in units of the window."""
    members = (codes[..., None] == np.arange(int(codes.max(initial=0)) + 1)) & known[..., None]
    weights = members.astype(np.float64)
    n_known = np.maximum(known.sum(axis=1), 1)
    at_points = np.empty(u.shape)
    for rows in blocks(u.shape[1], u.size):
        at_points[:, rows] = entropy_of_masses(gaussian(u[:, rows], u) @ weights)
    conditional = np.where(known, at_points, 0.0).sum(axis=1) / n_known
    return without_rounding(entropy_of_masses(weights.sum(axis=1)) - conditional)


def _binned_class(u: Floats, codes: Ints) -> float:
    """H(Y) − H(Y|X) of one column, points in units of the window."""
    if len(u) < 2 or u.max() == 0:
        return 0.0
    n_classes = int(codes.max()) + 1
    position, cells_per_window = on_grid(u, CELLS_PER_WINDOW, longest_grid(n_classes))
    counts = class_counts(position, codes, n_classes, int(position.max()) + 2)
    return information_on_grid(counts, cells_per_window, len(u))


def longest_grid(n_classes: int) -> int:
    """The most cells that the grid of a column may have."""
    return max(64, GRID_CELLS // n_classes)


def class_counts(position: Floats, codes: Ints, n_classes: int, n_cells: int) -> Floats:
    """Points of each class in each cell of the grid, shared linearly between two cells.

    >>> class_counts(np.array([0.25]), np.array([1]), 2, 3)
    array([[0.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ]])
    """
    cell, right = linear_bins(position)
    flat, size = codes * n_cells + cell, n_classes * n_cells
    counts = np.bincount(flat, 1 - right, size)
    counts += np.bincount(flat + 1, right, size)
    return np.asarray(counts.reshape(n_classes, n_cells), dtype=np.float64)


def information_on_grid(counts: Floats, cells_per_window: float, n: int) -> float:
    """H(Y) − H(Y|X) of n points, from the counts of each class in each cell of a grid."""
    masses = smooth(counts, (cells_per_window,), BINNING_SPREAD)
    in_cell = counts.sum(axis=0)
    occupied = np.flatnonzero(in_cell)
    conditional = in_cell[occupied] @ entropy_of_masses(masses[:, occupied].T) / n
    return float(entropy_of_masses(counts.sum(axis=1)) - conditional)


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
    return float(density_columns(*_checked_pair(x, y))[0])


def exact_density_information(x: Floats, y: Floats) -> float:
    """`density_information` by the O(n²) sums as written, in blocks of bounded memory.

    >>> import numpy as np
    >>> round(exact_density_information(np.array([0.0, 1.0]), np.array([0.0, 1.0])), 4)
    0.3911
    """
    return float(_exact_pair(*_checked_pair(x, y))[0])


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
    values, others, _ = _checked_pair(x, y)
    return float(without_rounding(np.asarray(_binned_pair(values[0], others[0]))))


def density_columns(values: Floats, others: Floats, known: Bools, factor: float = 1.0) -> Floats:
    """`density_information` of each row of values with its row of others, over its known cells.

    Windows are ``factor`` times as wide as the rule has them.

    >>> values = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]])
    >>> others = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    >>> density_columns(values, others, np.ones((2, 3), dtype=bool)).round(3)
    array([0.491, 0.175])
    """
    n_columns, n_rows = values.shape
    information = np.zeros(n_columns)
    if n_rows <= EXACT_ROWS:
        for block in blocks(n_columns, n_rows**2):
            information[block] = _exact_pair(values[block], others[block], known[block], factor)
    else:
        for j, rows in enumerate(known):
            information[j] = _binned_pair(values[j, rows], others[j, rows], factor)
    return without_rounding(information)


def _checked_pair(x: Floats, y: Floats) -> tuple[Floats, Floats, Bools]:
    """Return both columns as tables of one row, or say why not."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InvalidDataError(f"x has shape {x.shape} and y {y.shape}: pass two equal columns")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InvalidDataError("x or y holds NaN or infinity: pass jointly observed cells only")
    return x[None], y[None], np.ones((1, len(x)), dtype=bool)


def _exact_pair(values: Floats, others: Floats, known: Bools, factor: float = 1.0) -> Floats:
    """Mean log ratio of densities of each row over its known cells."""
    u, v = (in_windows(part, known, 2) / factor for part in (values, others))
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


def _binned_pair(x: Floats, y: Floats, factor: float = 1.0) -> float:
    """Mean log ratio of densities of two columns, evaluated on a grid."""
    u, v = in_windows(np.stack([x, y]), np.ones((2, len(x)), dtype=bool), 2) / factor
    if len(x) < 2 or u.max() == 0 or v.max() == 0:
        return 0.0
    u, u_density = on_grid(u, PLANE_CELLS_PER_WINDOW, CELLS_PER_AXIS)
    v, v_density = on_grid(v, PLANE_CELLS_PER_WINDOW, CELLS_PER_AXIS)
    counts = _plane_counts(u, v)
    joint = smooth(counts, (u_density, v_density), PLANE_SPREAD)
    i, k = np.nonzero(counts)
    ratio = len(x) * joint[i, k] / (joint.sum(axis=1)[i] * joint.sum(axis=0)[k])
    return float(counts[i, k] @ np.log2(ratio) / len(x))


def _plane_counts(u: Floats, v: Floats) -> Floats:
    """Points in each cell of the plane, shared linearly between the four cells around them."""
    (row, down), (column, right) = linear_bins(u), linear_bins(v)
    shape = int(row.max()) + 2, int(column.max()) + 2
    flat, size = row * shape[1] + column, shape[0] * shape[1]
    counts = np.bincount(flat, (1 - down) * (1 - right), size)
    counts += np.bincount(flat + 1, (1 - down) * right, size)
    counts += np.bincount(flat + shape[1], down * (1 - right), size)
    counts += np.bincount(flat + shape[1] + 1, down * right, size)
    return np.asarray(counts.reshape(shape), dtype=np.float64)


def in_windows(
    values: Floats, known: Bools, n_dimensions: int = 1, bandwidth: float | None = None
) -> Floats:
    """Each row of values as (x − min) / h over its known cells; constant rows become 0.

    h = 1.06 sd n^(−1/5) unless given; sd is the sample standard deviation (ddof = 1) and n the
    number of known cells. Rows are first scaled by a power of two, which is exact, so that
    1e-300 and 1e300 neither under- nor overflow.

    >>> in_windows(np.array([[1e300, 3e300, 2e300]]), np.ones((1, 3), dtype=bool), 1, 1e300)
    array([[0., 2., 1.]])
    """
    values = np.where(known, values, 0.0)
    exponent = exponents(values, axis=1)
    scaled = np.ldexp(values, -exponent[:, None])
    lowest = np.min(scaled, axis=1, where=known, initial=1.0)
    shifted = np.where(known, scaled - lowest[:, None], 0.0)
    if bandwidth is None:
        n = np.maximum(known.sum(axis=1), 1).astype(np.float64)
        width = sample_sd(shifted, known) * silverman(n, n_dimensions)
    else:
        with np.errstate(over="ignore"):
            width = np.ldexp(bandwidth, -exponent)
    constant = shifted.max(axis=1, initial=0.0) == 0
    # Scaled values that differ do so by 1e-16 or more: narrower windows than this mean nothing.
    width = np.where(constant, 1.0, np.maximum(width, 1e-100))
    return np.asarray(shifted / width[:, None])


def silverman(n: Floats, n_dimensions: int) -> Floats:
    """Bandwidth in standard deviations: 1.06 n^(−1/5) for a line, n^(−1/6) for a plane.

    >>> silverman(np.array([32.0]), 1), silverman(np.array([64.0]), 2)
    (array([0.53]), array([0.5]))
    """
    return np.asarray(1.06 * n ** (-1 / 5) if n_dimensions == 1 else n ** (-1 / 6))


def sample_sd(values: Floats, known: Bools) -> Floats:
    """Sample deviation (ddof = 1) of each row over its known cells; 0 with fewer than two.

    The least known cell of each row is 0: sums of squares then lose nothing that counts.

    >>> sample_sd(np.array([[0.0, 2.0, 99.0]]), np.array([[True, True, False]])).round(4)
    array([1.4142])
    """
    values = np.where(known, values, 0.0)
    exponent = exponents(values, axis=1)
    unit = np.ldexp(values, -exponent[:, None])
    n = known.sum(axis=1).astype(np.float64)
    sd = deviation(n, Steps.of(unit).sum(axis=1), Steps.of(unit**2).sum(axis=1))
    return np.asarray(np.ldexp(sd, exponent))


def deviation(n: Floats, sums: Steps, squares: Steps) -> Floats:
    """Sample deviation of n numbers from their sums and those of their squares.

    >>> deviation(np.array([2.0]), *(Steps.of(np.array([s])) for s in (1.0, 1.0))).round(4)
    array([0.7071])
    """
    around = squares.floats - sums.floats**2 / np.maximum(n, 1.0)
    return np.asarray(np.sqrt(np.maximum(around, 0.0) / np.maximum(n - 1.0, 1.0)))


def gaussian(a: Floats, b: Floats) -> Floats:
    """Gaussian windows exp(−½ (a_i − b_k)²) of every a on every b, along the last axis  (26).

    The factor 1/√(2π) is left out: it cancels in every ratio of densities.

    >>> gaussian(np.array([0.0]), np.array([0.0, 1.0])).round(4)
    array([[1.    , 0.6065]])
    """
    kernel = a[..., :, None] - b[..., None, :]
    np.multiply(kernel, kernel, out=kernel)
    np.multiply(kernel, -0.5, out=kernel)
    return np.asarray(np.exp(kernel, out=kernel))


def on_grid(u: Floats, cells_per_window: int, max_cells: int) -> tuple[Floats, float]:
    """Positions in grid cells, and the number of cells to one window.

    Points far out would stretch the grid. When it exceeds ``max_cells``, gaps wider than the
    reach of the window are closed first, which changes no density; if the grid is still too
    long its step grows, and the estimate becomes that of a wider window.

    >>> on_grid(np.array([0.0, 0.5, 1000.0]), 4, 100)
    (array([ 0.,  2., 30.]), 4.0)
    """
    if u.max() * cells_per_window > max_cells - 2:
        u = close_gaps(u)
    density = min(float(cells_per_window), (max_cells - 2) / max(float(u.max()), 1.0))
    return u * density, density


def close_gaps(u: Floats) -> Floats:
    """Cut every empty stretch between points down to the reach of the window.

    >>> close_gaps(np.array([1000.0, 0.0, 0.5]))
    array([7.5, 0. , 0.5])
    """
    order = np.argsort(u)
    closed = np.empty_like(u)
    closed[order] = np.cumsum(np.minimum(np.diff(u[order], prepend=u[order[0]]), REACH))
    return closed


def linear_bins(position: Floats) -> tuple[Ints, Floats]:
    """Find the cell left of each point, and the share of it that goes to the next cell.

    Shares are whole numbers of `SHARES`: in no order are they rounded when they are added.

    >>> linear_bins(np.array([2.25]))
    (array([2]), array([0.25]))
    """
    cell = position.astype(np.intp)
    return cell, np.rint((position - cell) * SHARES) / SHARES


def smooth(counts: Floats, cells_per_window: tuple[float, ...], spread: float = 0.0) -> Floats:
    """Gaussian windows over the counts on a grid, along the last axes, by FFT  (26).

    ``spread`` is the variance, in cells², that the grid itself adds; the window is narrowed by
    as much, so that both together have the variance of the window. The result is longer than
    the counts by the reach of the window and wraps around there.

    >>> smooth(np.array([0.0, 0.0, 1.0, 0.0, 0.0]), (1.0,))[:5].round(3)
    array([0.053, 0.243, 0.398, 0.243, 0.053])
    """
    axes = tuple(range(counts.ndim - len(cells_per_window), counts.ndim))
    padded = [
        fft.next_fast_len(counts.shape[axis] + int(np.ceil(REACH * density)), real=True)
        for axis, density in zip(axes, cells_per_window, strict=True)
    ]
    spectrum = fft.rfftn(counts, s=padded, axes=axes)
    for axis, density, length in zip(axes, cells_per_window, padded, strict=True):
        frequency = fft.rfftfreq(length) if axis == axes[-1] else fft.fftfreq(length)
        variance = max(density**2 - spread, 0.0)
        window = np.exp(-2 * variance * (np.pi * frequency) ** 2)
        spectrum *= window.reshape([-1 if a == axis else 1 for a in range(counts.ndim)])
    smoothed: Floats = fft.irfftn(spectrum, s=padded, axes=axes)
    return np.maximum(smoothed, 0.0)
