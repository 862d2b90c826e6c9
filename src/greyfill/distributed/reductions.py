"""Ranges, centers and column weights of a table in partitions: by sums of their parts."""

from dataclasses import dataclass, fields
from operator import add
from typing import Any, Self

import numpy as np

from greyfill._neighbors.engine import RecipeSettings
from greyfill._neighbors.k_selection import even_sizes
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.weighting import ClassInformation, EqualWeights
from greyfill.distributed.blocks import Share, sample_shares, start_block
from greyfill.distributed.cluster import Cluster, Task, add_all
from greyfill.distributed.partitions import Rows
from greyfill.exceptions import InvalidDataError
from greyfill.information import EXACT_ROWS, normalize
from greyfill.information.entropy import Steps, information_of_counts, without_rounding
from greyfill.information.parzen import (
    CELLS_PER_WINDOW,
    class_counts,
    deviation,
    information_on_grid,
    longest_grid,
    silverman,
)
from greyfill.table import Bools, Column, Floats, Ints, Kind, RangeScaler, Table, observed_range

SAMPLE_ROWS = 100_000
"""Weights that cannot be added up from parts come from a sample of at most so many rows."""

EXTREMES = {"low": np.minimum, "high": np.maximum}


class Summable:
    """A dataclass of which parts add up, field by field; ``low`` and ``high`` are extremes."""

    def __add__(self, other: Self) -> Self:
        pairs: dict[str, Any] = {}
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            one, two = getattr(self, field.name), getattr(other, field.name)
            if isinstance(one, dict):
                pairs[field.name] = {key: value + two[key] for key, value in one.items()}
            else:
                pairs[field.name] = EXTREMES.get(field.name, add)(one, two)
        return type(self)(**pairs)


@dataclass(frozen=True, eq=False)
class ColumnMoments(Summable):
    """Number, range, sum and sum of squares of the known cells of each column, all of [0, 1]."""

    n: Floats
    low: Floats
    high: Floats
    sums: Steps
    squares: Steps

    @classmethod
    def of(cls, values: Floats, known: Bools) -> "ColumnMoments":
        """The moments of one part of a table.

        >>> one = ColumnMoments.of(np.array([[0.0], [0.5]]), np.ones((2, 1), dtype=bool))
        >>> two = ColumnMoments.of(np.array([[1.0]]), np.ones((1, 1), dtype=bool))
        >>> (one + two).sums.floats, (one + two).squares.floats, (one + two).sd
        (array([1.5]), array([1.25]), array([0.5]))
        """
        n = known.sum(axis=0).astype(np.float64)
        observed = np.where(known, values, 0.0)
        low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        return cls(n, low, high, Steps.of_columns(observed), Steps.of_columns(observed**2))

    @property
    def sd(self) -> Floats:
        """Sample deviation (ddof = 1) of each column."""
        return deviation(self.n, self.sums, self.squares)


@dataclass(frozen=True)
class WindowGrid:
    """The grid of one column of numbers: cell = (x − low) / width · cells_per_window."""

    low: float
    width: float
    n_cells: int

    def counts(self, x: Floats, codes: Ints, n_classes: int) -> Floats:
        """Points of each class in each cell."""
        position = (x - self.low) / self.width * CELLS_PER_WINDOW
        return class_counts(position, codes, n_classes, self.n_cells)

    def information(self, counts: Floats, n: int) -> float:
        """The information of the column about the class."""
        found = information_on_grid(counts, float(CELLS_PER_WINDOW), n)
        return float(without_rounding(np.asarray(found)))


def make_grid(moments: ColumnMoments, column: int, n_classes: int) -> WindowGrid | None:
    """A grid for a column; None where it is constant, and has no information.

    A column whose grid would be too long raises OverflowError: heavy tails need the points
    themselves.
    """
    n, low, high = moments.n[column], moments.low[column], moments.high[column]
    if n < 2 or not high > low:
        return None
    width = float(moments.sd[column] * silverman(np.asarray(n), 1))
    length = (high - low) / width * CELLS_PER_WINDOW
    if not length <= longest_grid(n_classes) - 2:
        raise OverflowError("the tails of this column are too heavy for a grid")
    return WindowGrid(float(low), width, int(length) + 2)


@dataclass(frozen=True, eq=False)
class Ranges(Summable):
    """Observed range of each column, and the number of rows of each class.

    Index 0 is for rows without a label, index c + 1 for class c.
    """

    counts: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: Rows, n_classes: int) -> "Ranges":
        """The ranges of one partition."""
        groups = rows.labels + 1
        shape = (n_classes + 1, rows.table.n_columns)
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for group in np.unique(groups):
            part = rows.table.rows(groups == group)
            low[group], high[group] = observed_range(part)
        return cls(np.bincount(groups, minlength=n_classes + 1), low, high)

    def scaler(self, in_use: Bools, is_categorical: Bools) -> RangeScaler:
        """The ranges over the groups in use; over all where those have no observed value."""
        low, high = self.low[in_use].min(axis=0), self.high[in_use].max(axis=0)
        unknown = low > high
        low = np.where(unknown, self.low.min(axis=0), low)
        high = np.where(unknown, self.high.max(axis=0), high)
        return RangeScaler.of(low, high, is_categorical)


@dataclass(frozen=True, eq=False)
class CellTally(Summable):
    """Observed cells of each class and column: how many, their sum, their levels, their moments.

    Groups are those of `Ranges`; ``moments`` are over the groups in use.
    """

    counts: Ints
    observed: Floats
    sums: Steps
    levels: dict[int, Floats]
    moments: ColumnMoments

    @classmethod
    def of(cls, rows: Rows, scaler: RangeScaler, in_use: Bools) -> "CellTally":
        """Count one partition."""
        table, groups, n = scaler.scale(rows.table), rows.labels + 1, len(in_use)
        known, used = ~table.missing, in_use[groups]
        observed = [np.bincount(groups, column, n) for column in known.T]
        values = np.where(known, table.values, 0.0)
        categorical = np.flatnonzero(table.is_categorical).tolist()
        return cls(
            np.bincount(groups, minlength=n),
            np.array(observed, dtype=np.float64).reshape(table.n_columns, n).T,
            Steps.stack([Steps.of_columns(values[groups == group]) for group in range(n)]),
            {j: _levels(table, groups, n, j) for j in categorical},
            ColumnMoments.of(table.values[used], known[used]),
        )

    def centers(self, groups: Bools) -> Floats:
        """Mean or mode of each column over some groups; 0 where they have no observed value."""
        observed, sums = self.observed[groups].sum(axis=0), self.sums.rows(groups).sum(axis=0)
        centers = sums.floats / np.maximum(observed, 1.0)
        for j, counts in self.levels.items():
            centers[j] = float(counts[groups].sum(axis=0).argmax()) if counts.size else 0.0
        return np.asarray(centers)

    def overall(self, in_use: Bools) -> Floats:
        """The centers over the groups in use; over all where those have no observed value."""
        unknown = self.observed[in_use].sum(axis=0) == 0
        return np.where(unknown, self.centers(np.ones_like(in_use)), self.centers(in_use))

    def starts(self, in_use: Bools, by_class: bool) -> tuple[Floats, int]:
        """The first fill of each group and column, and how many holes had to take that of all."""
        overall = self.overall(in_use)
        starts = np.tile(overall, (len(in_use), 1))
        fallbacks = 0
        for group in np.flatnonzero(in_use) if by_class else ():
            alone = np.arange(len(in_use)) == group
            empty = self.observed[group] == 0
            starts[group] = np.where(empty, overall, self.centers(alone))
            fallbacks += int(self.counts[group]) * int(empty.sum())
        return starts, fallbacks


def _levels(table: Table, groups: Ints, n: int, column: int) -> Floats:
    """How often each level stands in each group."""
    n_levels = max(table.columns[column].n_levels, 1)
    known = ~table.missing[:, column]
    codes = table.values[known, column].astype(np.intp)
    counts = np.bincount(groups[known] * n_levels + codes, minlength=n * n_levels)
    return counts.reshape(n, n_levels).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ClassCounts(Summable):
    """Points of each class in the cells of the grid of each column of numbers."""

    by_column: dict[int, Floats]

    @classmethod
    def of(
        cls, rows: Rows, scaler: RangeScaler, grids: dict[int, WindowGrid], n_classes: int
    ) -> "ClassCounts":
        """Count one partition; rows without a label do not count."""
        labeled = rows.labels >= 0
        table, labels = scaler.scale(rows.table.rows(labeled)), rows.labels[labeled]
        by_column = {}
        for j, grid in grids.items():
            known = ~table.missing[:, j]
            by_column[j] = grid.counts(table.values[known, j], labels[known], n_classes)
        return cls(by_column)


def make_grids(tally: CellTally, n_classes: int) -> dict[int, WindowGrid]:
    """The grids of the columns of numbers that are not constant."""
    numbers = [j for j in range(tally.observed.shape[1]) if j not in tally.levels]
    grids = {j: make_grid(tally.moments, j, n_classes) for j in numbers}
    return {j: grid for j, grid in grids.items() if grid is not None}


def summed_information(
    tally: CellTally, grids: dict[int, WindowGrid], counts: ClassCounts
) -> Floats:
    """I(X_j; Y) of each column: categories by their table, numbers on their grid."""
    information = np.zeros(tally.observed.shape[1])
    for j, table in tally.levels.items():
        information[j] = information_of_counts(table[1:])
    for j, grid in grids.items():
        information[j] = grid.information(counts.by_column[j], int(tally.moments.n[j]))
    return information


@dataclass(frozen=True, eq=False)
class TalliedTable:
    """Encoded rows on the workers, and the tallies of all of them here.

    Groups of rows are those without a label (0) and the classes (c + 1). ``group_counts`` has a
    row for each partition; the groups ``in_use`` are learned from and may be donors.
    """

    cluster: Cluster
    recipe: Recipe
    settings: RecipeSettings
    rows: list[Task]
    columns: tuple[Column, ...]
    group_counts: Ints
    in_use: Bools
    scaler: RangeScaler
    tally: CellTally

    @property
    def class_counts(self) -> Ints:
        """Rows of each class."""
        return self.tally.counts[1:]

    @property
    def used_counts(self) -> Ints:
        """Rows of each group, 0 where it is not in use."""
        return np.where(self.in_use, self.tally.counts, 0)

    @property
    def targets(self) -> Ints:
        """Columns with a hole in a row of a group in use."""
        observed = self.tally.observed[self.in_use].sum(axis=0)
        return np.flatnonzero(observed < self.used_counts.sum())

    @property
    def has_unused(self) -> bool:
        """Whether there are rows without a label, which are filled like new ones."""
        return bool(self.tally.counts[~self.in_use].sum())

    def shares(self, sizes: Ints) -> list[Share]:
        """The share of each partition in a sample of so many rows of each group in use."""
        return sample_shares(self.group_counts * self.in_use, sizes, self.settings.random_state)

    def start(self, firsts: Ints) -> tuple[list[Task], int]:
        """Started blocks, and how many holes had no observed value in their class."""
        starts, fallbacks = self.tally.starts(self.in_use, self.recipe.start.uses_labels)
        donors, most = [Share()] * len(self.rows), self.settings.max_donors
        if most is not None:
            donors = self.shares(np.minimum(self.used_counts, most))
        tasks = [
            self.cluster.task(start_block, part, self.scaler, self.in_use, starts, *each)
            for part, *each in zip(self.rows, donors, firsts.tolist(), strict=True)
        ]
        return self.cluster.keep(tasks), fallbacks


def tally_table(
    cluster: Cluster,
    recipe: Recipe,
    settings: RecipeSettings,
    rows: list[Task],
    n_classes: int,
    columns: tuple[Column, ...],
) -> TalliedTable:
    """Take the ranges of all columns, then count what they hold."""
    ranges = cluster.fetch(
        [cluster.task(Ranges.of, part, n_classes) for part in rows], "finding column ranges"
    )
    counts = np.array([r.counts for r in ranges])
    in_use = np.ones(n_classes + 1, dtype=bool)
    if recipe.uses_labels:
        in_use[0] = False
        if counts[:, 1:].sum() == 0:
            raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
    is_categorical = np.array([c.kind is Kind.CATEGORICAL for c in columns], dtype=bool)
    scaler = add_all(ranges).scaler(in_use, is_categorical)
    tally = cluster.reduce(
        [cluster.task(CellTally.of, part, scaler, in_use) for part in rows], "counting"
    )
    return TalliedTable(cluster, recipe, settings, rows, columns, counts, in_use, scaler, tally)


def column_weights(table: TalliedTable, targets: Ints) -> Floats:
    """One row of weights for all target columns, or one for each.

    Equal weights need no data. Class information is summed up over partitions. Others, and class
    information with permutations, few rows or very heavy tails, are weighed on a stratified
    sample: all rows, in their order, as long as there are no more than `SAMPLE_ROWS`.
    """
    weights = table.recipe.weights
    if isinstance(weights, EqualWeights):
        nothing = np.zeros((0, len(table.columns)))
        return weights.weigh(Table(nothing, nothing.astype(bool), table.columns), None, targets)
    is_sum = (
        isinstance(weights, ClassInformation)
        and weights.measure == "parzen"
        and weights.n_permutations == 0
    )
    if is_sum and table.used_counts.sum() > EXACT_ROWS:
        try:
            return _weights_by_reduction(table)
        except OverflowError:
            pass  # heavy tails: the sample has to do
    return weights.weigh(*_sample(table), targets)


def _weights_by_reduction(table: TalliedTable) -> Floats:
    n_classes, task = len(table.class_counts), table.cluster.task
    grids = make_grids(table.tally, n_classes)
    counts = table.cluster.reduce(
        [task(ClassCounts.of, part, table.scaler, grids, n_classes) for part in table.rows],
        "counting for the column weights",
    )
    return normalize(summed_information(table.tally, grids, counts))[np.newaxis]


def _sample(table: TalliedTable) -> tuple[Table, Ints]:
    """Scaled rows that keep the class shares, in the order of the table."""
    shares = table.shares(even_sizes(table.used_counts, SAMPLE_ROWS))
    pairs = zip(table.rows, shares, strict=True)
    found = table.cluster.fetch(
        [table.cluster.task(_pick, part, table.scaler, share) for part, share in pairs],
        "sampling rows for the column weights",
    )
    parts, labels = zip(*found, strict=True)
    values = np.concatenate([part.values for part in parts])
    missing = np.concatenate([part.missing for part in parts])
    return Table(values, missing, table.columns), np.concatenate(labels)


def _pick(rows: Rows, scaler: RangeScaler, share: Share) -> tuple[Table, Ints]:
    chosen = share.rows(rows.labels + 1)
    return scaler.scale(rows.table.rows(chosen)), rows.labels[chosen]
