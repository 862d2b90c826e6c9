"""Ranges, centers and the information of columns, as tallies of partitions that add up."""

from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.scaling import Scaler
from greyfill.distributed.reading import Rows
from greyfill.information.additive import Grid, Moments, information_of_counts, make_grid
from greyfill.information.sums import Steps
from greyfill.table import Bools, Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class Ranges:
    """Observed range of each column, and the number of rows of each class.

    Index 0 is for rows without a label, index c + 1 for class c.
    """

    counts: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: Rows, n_classes: int) -> "Ranges":
        """Look at one partition."""
        groups = rows.labels + 1
        shape = (n_classes + 1, rows.table.n_columns)
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for group in np.unique(groups):
            part = rows.table.rows(groups == group)
            low[group] = np.where(part.missing, np.inf, part.values).min(axis=0)
            high[group] = np.where(part.missing, -np.inf, part.values).max(axis=0)
        return cls(np.bincount(groups, minlength=n_classes + 1), low, high)

    def __add__(self, other: "Ranges") -> "Ranges":
        return Ranges(
            self.counts + other.counts,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scaler(self, teaches: Bools, is_categorical: Bools) -> Scaler:
        """The ranges over the groups that teach; over the others where those know nothing."""
        low, high = self.low[teaches].min(axis=0), self.high[teaches].max(axis=0)
        silent = low > high
        low = np.where(silent, self.low.min(axis=0), low)
        high = np.where(silent, self.high.max(axis=0), high)
        empty = low > high
        return Scaler(np.where(empty, 0.0, low), np.where(empty, 0.0, high), is_categorical)


@dataclass(frozen=True, eq=False)
class Tally:
    """Observed cells of each class and column: how many, their sum, their levels, their moments.

    Groups are those of `Ranges`; ``moments`` are over the groups that teach.
    """

    counts: Ints
    observed: Floats
    sums: Steps
    levels: dict[int, Floats]
    moments: Moments

    @classmethod
    def of(cls, rows: Rows, scaler: Scaler, teaches: Bools) -> "Tally":
        """Count one partition."""
        table, groups, n = scaler.scale(rows.table), rows.labels + 1, len(teaches)
        known = ~table.missing
        observed = np.array([_by_group(groups, column, n) for column in known.T])
        told = np.where(known, table.values, 0.0)
        taught = teaches[groups]
        return cls(
            np.bincount(groups, minlength=n),
            observed.reshape(table.n_columns, n).T,
            Steps.stack([Steps.of_columns(told[groups == group]) for group in range(n)]),
            {
                int(j): _levels(table, groups, n, int(j))
                for j in np.flatnonzero(table.is_categorical)
            },
            Moments.of(table.values[taught], known[taught]),
        )

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.counts + other.counts,
            self.observed + other.observed,
            self.sums + other.sums,
            {j: counts + other.levels[j] for j, counts in self.levels.items()},
            self.moments + other.moments,
        )

    def centers(self, groups: Bools) -> Floats:
        """Mean or mode of each column over some groups; 0 where they have no observed value."""
        observed, sums = self.observed[groups].sum(axis=0), self.sums.rows(groups).sum(axis=0)
        centers = sums.floats / np.maximum(observed, 1.0)
        for j, counts in self.levels.items():
            centers[j] = float(counts[groups].sum(axis=0).argmax()) if counts.size else 0.0
        return np.asarray(centers)

    def overall(self, teaches: Bools) -> Floats:
        """The centers over the groups that teach; over all where those know nothing."""
        silent = self.observed[teaches].sum(axis=0) == 0
        return np.where(silent, self.centers(np.ones_like(teaches)), self.centers(teaches))

    def starts(self, teaches: Bools, by_class: bool) -> tuple[Floats, int]:
        """The first fill of each group and column, and how many holes had to take that of all."""
        overall = self.overall(teaches)
        starts = np.tile(overall, (len(teaches), 1))
        fallbacks = 0
        for group in np.flatnonzero(teaches) if by_class else ():
            alone = np.arange(len(teaches)) == group
            empty = self.observed[group] == 0
            starts[group] = np.where(empty, overall, self.centers(alone))
            fallbacks += int(self.counts[group]) * int(empty.sum())
        return starts, fallbacks

    def has_holes(self, teaches: Bools) -> Bools:
        """Columns with a hole in a row that teaches."""
        total = self.counts[teaches].sum()
        return np.asarray(self.observed[teaches].sum(axis=0) < total)


def _by_group(groups: Ints, weights: Floats | Bools, n: int) -> Floats:
    return np.bincount(groups, weights, n).astype(np.float64)


def _levels(table: Table, groups: Ints, n: int, column: int) -> Floats:
    """How often each level stands in each group."""
    n_levels = max(table.columns[column].n_levels, 1)
    known = ~table.missing[:, column]
    codes = table.values[known, column].astype(np.intp)
    counts = np.bincount(groups[known] * n_levels + codes, minlength=n * n_levels)
    return counts.reshape(n, n_levels).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Points of each class in the cells of the grid of each column of numbers."""

    by_column: dict[int, Floats]

    @classmethod
    def of(
        cls, rows: Rows, scaler: Scaler, grids: dict[int, Grid], n_classes: int
    ) -> "ClassCounts":
        """Count one partition; rows without a label say nothing about classes."""
        taught = rows.labels >= 0
        table, labels = scaler.scale(rows.table.rows(taught)), rows.labels[taught]
        known = ~table.missing
        return cls(
            {
                j: grid.counts(table.values[known[:, j], j], labels[known[:, j]], n_classes)
                for j, grid in grids.items()
            }
        )

    def __add__(self, other: "ClassCounts") -> "ClassCounts":
        return ClassCounts({j: counts + other.by_column[j] for j, counts in self.by_column.items()})


def make_grids(tally: Tally, n_classes: int) -> dict[int, Grid]:
    """The grids of the columns of numbers that are not constant."""
    numbers = [j for j in range(tally.observed.shape[1]) if j not in tally.levels]
    grids = {j: make_grid(tally.moments, j, n_classes) for j in numbers}
    return {j: grid for j, grid in grids.items() if grid is not None}


def class_information(tally: Tally, grids: dict[int, Grid], counts: ClassCounts) -> Floats:
    """I(X_j; Y) of each column: categories by their table, numbers on their grid."""
    information = np.zeros(tally.observed.shape[1])
    for j, table in tally.levels.items():
        information[j] = information_of_counts(table[1:])
    for j, grid in grids.items():
        information[j] = grid.information(counts.by_column[j], int(tally.moments.n[j]))
    return information
