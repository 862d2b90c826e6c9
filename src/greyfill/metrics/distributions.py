"""Distances between the distribution of the fills and that of the truth."""

import numpy as np
from scipy.stats import wasserstein_distance

from greyfill.metrics.cells import check_cells, ranges
from greyfill.table import Bools, Floats, Table


def distribution_distances(truth: Table, filled: Floats, mask: Bools) -> dict[str, float]:
    """Compare the masked cells of each column with their fills as two samples.

    Numbers and ordinal codes: Wasserstein distance ∫ |F(x) − F̃(x)| dx / range.
    Categories: total variation ½ Σ_v |p(v) − p̃(v)|. Both are 0 for equal distributions, and 1 for
    point masses at the two ends of the observed range or for disjoint categories. Unlike the
    RMSE they punish fills that all lie at the mean.

    Parameters
    ----------
    truth, filled, mask
        As in :func:`imputation_errors`; columns without masked cells are left out.

    >>> from greyfill.table import Column, Kind
    >>> truth = Table(np.array([[0.0], [4.0], [8.0]]), np.zeros((3, 1), bool),
    ...               (Column("age", Kind.NUMERIC),))
    >>> mask = np.array([[True], [False], [True]])
    >>> distribution_distances(truth, np.full((3, 1), 4.0), mask)
    {'age': 0.5}
    """
    check_cells(truth, filled, mask)
    scale, distances = ranges(truth), {}
    for j, column in enumerate(truth.columns):
        rows = mask[:, j]
        if not rows.any():
            continue
        true, guess = truth.values[rows, j], filled[rows, j]
        if truth.is_categorical[j]:
            distances[column.name] = total_variation(true, guess)
        else:
            distances[column.name] = float(wasserstein_distance(true, guess) / scale[j])
    return distances


def total_variation(first: Floats, second: Floats) -> float:
    """Half the summed absolute difference of the shares of each value.

    >>> total_variation(np.array([0.0, 0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 1.0]))
    0.5
    """
    levels = np.union1d(first, second)[:, None]
    shares = (levels == first).mean(axis=1) - (levels == second).mean(axis=1)
    return float(np.abs(shares).sum() / 2)
