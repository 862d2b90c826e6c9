"""Scores of whole distributions: of a filled table, and of several draws of a cell."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist


def energy_distance(first: np.ndarray, second: np.ndarray) -> float:
    """√(2 E|X − Y| − E|X − X′| − E|Y − Y′|) of the rows of two tables: 0 if they are alike.

    Unlike a root mean square it punishes fills that are all near the mean.
    """
    cross, own, other = (
        cdist(a, b).mean() for a, b in ((first, second), (first, first), (second, second))
    )
    return float(np.sqrt(max(2.0 * cross - own - other, 0.0)))


@dataclass(frozen=True, eq=False)
class Gaps:
    """The distance of two values of a cell: 0 or 1 for categories, else in shares of a scale."""

    is_category: np.ndarray
    scale: np.ndarray

    def __call__(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        distances = np.abs(first - second) / self.scale
        return np.where(self.is_category, first != second, distances)


def crps(draws: np.ndarray, truth: np.ndarray, gaps: Gaps) -> np.ndarray:
    """E|X − t| − ½ E|X − X′| of each cell, from draws × cells; the error itself of one draw.

    X and X′ are different draws, so that the score does not depend on their number (Ferro 2014).
    Of categories it is half of Brier's score.
    """
    n, score = len(draws), gaps(draws, truth).mean(axis=0)
    if n > 1:
        pairs = sum(gaps(draws[i], draws[:i]).sum(axis=0) for i in range(1, n))
        score = score - pairs / (n * (n - 1))
    return score
