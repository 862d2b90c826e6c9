"""Seeded samples that are drawn by rank, so that they do not depend on where rows are stored.

A sample of a class is a set of ranks among the rows of that class. Whoever knows how many rows of
the class come before his own, in a partition of a larger table say, finds his share of the sample.
"""

import numpy as np

from greyfill.table import Ints


def sample_ranks(counts: Ints, sizes: Ints, random_state: int | None) -> list[Ints]:
    """For each class of ``counts`` rows, ``sizes`` different ranks in rising order.

    >>> [ranks.tolist() for ranks in sample_ranks(np.array([3, 2]), np.array([3, 1]), 0)]
    [[0, 1, 2], [0]]
    """
    rng = np.random.default_rng(random_state)
    return [
        np.sort(rng.choice(int(count), int(size), replace=False)) if size else np.arange(0)
        for count, size in zip(counts, sizes, strict=True)
    ]


def even_sizes(counts: Ints, size: int) -> Ints:
    """How many of ``size`` rows each class gets, so that their shares are kept.

    >>> even_sizes(np.array([60, 30, 10]), 20).tolist()
    [12, 6, 2]
    """
    total = int(counts.sum())
    if total <= size:
        return counts
    evenly = np.arange(size) * total // size
    ends = np.cumsum(counts)
    return np.diff(np.searchsorted(evenly, ends), prepend=0)


def rows_by_rank(labels: Ints, classes: Ints, ranks: list[Ints]) -> Ints:
    """The rows of these ranks in their classes, in the order of the table.

    >>> labels = np.array([1, 0, 1, 1])
    >>> rows_by_rank(labels, np.array([0, 1]), [np.array([0]), np.array([2])]).tolist()
    [1, 3]
    """
    chosen = [np.flatnonzero(labels == c)[r] for c, r in zip(classes, ranks, strict=True)]
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.intp)
