"""What the engine knows before the loop starts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.links import Taking
from greyfill._neighbors.recipe import Recipe
from greyfill.table import Bools, Floats, Ints, Table


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


@dataclass(frozen=True, eq=False)
class Prepared:
    """A recipe, the scaled training table with its start fill, labels and column weights.

    ``weights`` has one row for all target columns, or one row for each column in ``targets``.
    ``may_give`` tells which rows a cap on donors leaves; usually all.
    """

    recipe: Recipe
    table: Table
    start: Floats
    labels: Ints | None
    weights: Floats
    targets: Ints
    may_give: Bools
    n_jobs: int | None = None

    @property
    def n_levels(self) -> int:
        """The largest number of levels of any column."""
        return max((c.n_levels for c in self.table.columns), default=0)

    @property
    def overall_weights(self) -> Floats:
        """One row of weights for questions about whole rows, such as their class."""
        return overall_weights(self.weights)

    def pools(self, missing: Bools) -> list[RowPool]:
        """Who gives to whom, under the cap on donors."""
        pools = self.recipe.donors.pools(self.labels, missing)
        return [replace(pool, givers=pool.givers[self.may_give[pool.givers]]) for pool in pools]

    def column_weights(self, target: int) -> Floats:
        """Weights for one target column."""
        row = np.searchsorted(self.targets, target) if self.recipe.weights.by_target else 0
        return np.asarray(self.weights[row])

    def visible(self, missing: Bools) -> Bools:
        """The holes that a distance sees: none where it takes fills for values."""
        return visible(self.recipe, missing)

    def taking(self, rows: Ints, givers: Ints, values: Floats, missing: Bools) -> Taking:
        """Rows of the training table that take from ``givers`` (sorted row numbers)."""
        places = np.searchsorted(givers, rows)
        places = np.minimum(places, max(len(givers) - 1, 0))
        inside = givers[places] == rows if len(givers) else np.zeros(len(rows), dtype=bool)
        own_rows = np.where(inside, places, -1).astype(np.intp)
        return Taking(rows, values, self.visible(missing), own_rows)


class Weighing(Protocol):
    """Who knows how much each column counts for a target column."""

    @property
    def recipe(self) -> Recipe:
        """The six parts of the method."""

    def column_weights(self, target: int) -> Floats:
        """Weights for one target column."""


def capped(labels: Ints | None, n_rows: int, most: int | None, random_state: int | None) -> Bools:
    """Which rows may give: all, or a seeded sample of at most ``most`` rows of each class.

    >>> int(capped(np.array([0, 0, 0, 1, 1]), 5, most=2, random_state=0).sum())
    4
    """
    if most is None:
        return np.ones(n_rows, dtype=bool)
    labels = np.zeros(n_rows, dtype=np.intp) if labels is None else labels
    classes, counts = np.unique(labels, return_counts=True)
    ranks = sample_ranks(counts, np.minimum(counts, most), random_state)
    may_give = np.zeros(n_rows, dtype=bool)
    may_give[rows_by_rank(labels, classes, ranks)] = True
    return may_give


def visible(recipe: Recipe, missing: Bools) -> Bools:
    """The holes that a recipe's distance sees."""
    return missing if recipe.distance.holes == "mask" else np.zeros_like(missing)


def overall_weights(weights: Floats) -> Floats:
    """The mean row of weights; equal weights where there is no row."""
    if len(weights) == 0:
        return np.full(weights.shape[1], 1.0 / weights.shape[1])
    return np.asarray(weights.mean(axis=0))


def weight_groups(who: Weighing, holes: Bools) -> Iterator[tuple[Floats, Bools]]:
    """Weights, and the holes that are filled with them: all at once, or column by column."""
    if not who.recipe.weights.by_target:
        yield who.column_weights(0), holes
        return
    for target in np.flatnonzero(holes.any(axis=0)).tolist():
        yield who.column_weights(target), only_column(holes, target)


def only_column(holes: Bools, column: int) -> Bools:
    """The holes of one column."""
    kept = np.zeros_like(holes)
    kept[:, column] = holes[:, column]
    return kept


def available(taking: Taking, givers: Ints, k: int) -> int:
    """How many donors each taking row can have: at most k, never itself."""
    return min(k, len(givers) - int((taking.own_rows >= 0).any()))
