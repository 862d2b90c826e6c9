"""Pseudo-observations against perfect prediction (White, Daniel and Royston 2010)."""

from dataclasses import dataclass

import numpy as np

from greyfill.table import Floats, Ints


@dataclass(frozen=True, eq=False)
class Weighted:
    """Rows of standardized predictors, the place of their level, and their weights."""

    z: Floats
    level: Ints
    weight: Floats


def augment(z: Floats, level: Ints, n_levels: int) -> Weighted:
    """Add 2·k·K rows of total weight k + 1: every level at half a deviation around each mean.

    ``z`` has k standardized columns, so the rows are ±½ in one column and 0 in the others, moved
    inside the range of the data. Every level then occurs on both sides of every predictor, and no
    coefficient can run to infinity, while the data keep a weight of n against k + 1.

    >>> rows = augment(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2)
    >>> rows.z.ravel(), rows.weight
    (array([-1. ,  1. ,  0.5, -0.5,  0.5, -0.5]), array([1. , 1. , 0.5, 0.5, 0.5, 0.5]))
    """
    n, k = z.shape
    if k == 0:
        return Weighted(z, level, np.ones(n))
    n_rows = 2 * k * n_levels
    rows = np.zeros((n_rows, k))
    rows[np.arange(n_rows), np.repeat(np.arange(k), 2 * n_levels)] = np.tile(
        [0.5, -0.5], k * n_levels
    )
    rows = np.clip(rows, z.min(axis=0), z.max(axis=0))
    levels = np.tile(np.repeat(np.arange(n_levels), 2), k)
    weight = np.concatenate([np.ones(n), np.full(n_rows, (k + 1) / n_rows)])
    return Weighted(np.vstack([z, rows]), np.concatenate([level, levels]), weight)
