"""Column weights of a table in partitions: by reductions, or from a sample of its rows."""

from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.engine import RecipeSettings
from greyfill._neighbors.k_selection import even_sizes, sample_ranks
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.weighting import ClassInformation, EqualWeights
from greyfill.distributed.blocks import Share, scaled_rows, start_block
from greyfill.distributed.cluster import Cluster, Task, add_all
from greyfill.distributed.partitions import Rows
from greyfill.exceptions import InvalidDataError
from greyfill.information import EXACT_ROWS, normalize
from greyfill.information.entropy import information_of_counts, without_rounding
from greyfill.information.parzen import (
    CELLS_PER_WINDOW,
    class_counts,
    deviation,
    information_on_grid,
    longest_grid,
    silverman,
)
from greyfill.information.sums import Steps
from greyfill.ranges import RangeScaler, observed_range
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table


@dataclass(frozen=True, eq=False)
class ColumnMoments:
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
        told = np.where(known, values, 0.0)
        low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        return cls(n, low, high, Steps.of_columns(told), Steps.of_columns(told**2))

    def __add__(self, other: "ColumnMoments") -> "ColumnMoments":
        return ColumnMoments(
            self.n + other.n,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.sums + other.sums,
            self.squares + other.squares,
        )

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
        """What the column tells about the class."""
        found = information_on_grid(counts, float(CELLS_PER_WINDOW), n)
        return float(without_rounding(np.asarray(found)))


def make_grid(moments: ColumnMoments, column: int, n_classes: int) -> WindowGrid | None:
    """A grid for a column; None where it is constant, so that it tells nothing.

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


__all__ = ["ColumnMoments", "WindowGrid", "information_of_counts", "make_grid"]


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
            low[group], high[group] = observed_range(part)
        return cls(np.bincount(groups, minlength=n_classes + 1), low, high)

    def __add__(self, other: "Ranges") -> "Ranges":
        return Ranges(
            self.counts + other.counts,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scaler(self, teaches: Bools, is_categorical: Bools) -> RangeScaler:
        """The ranges over the groups that teach; over the others where those know nothing."""
        low, high = self.low[teaches].min(axis=0), self.high[teaches].max(axis=0)
        silent = low > high
        low = np.where(silent, self.low.min(axis=0), low)
        high = np.where(silent, self.high.max(axis=0), high)
        return RangeScaler.of(low, high, is_categorical)


@dataclass(frozen=True, eq=False)
class CellTally:
    """Observed cells of each class and column: how many, their sum, their levels, their moments.

    Groups are those of `Ranges`; ``moments`` are over the groups that teach.
    """

    counts: Ints
    observed: Floats
    sums: Steps
    levels: dict[int, Floats]
    moments: ColumnMoments

    @classmethod
    def of(cls, rows: Rows, scaler: RangeScaler, teaches: Bools) -> "CellTally":
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
            ColumnMoments.of(table.values[taught], known[taught]),
        )

    def __add__(self, other: "CellTally") -> "CellTally":
        return CellTally(
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
        cls, rows: Rows, scaler: RangeScaler, grids: dict[int, WindowGrid], n_classes: int
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


def make_grids(tally: CellTally, n_classes: int) -> dict[int, WindowGrid]:
    """The grids of the columns of numbers that are not constant."""
    numbers = [j for j in range(tally.observed.shape[1]) if j not in tally.levels]
    grids = {j: make_grid(tally.moments, j, n_classes) for j in numbers}
    return {j: grid for j, grid in grids.items() if grid is not None}


def class_information(
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
class Groundwork:
    """Encoded rows on the workers, and the tallies of all of them here.

    Groups of rows are those without a label (0) and the classes (c + 1). ``group_counts`` has a
    row for each partition; ``teaches`` tells which groups give and teach.
    """

    cluster: Cluster
    recipe: Recipe
    settings: RecipeSettings
    rows: list[Task]
    columns: tuple[Column, ...]
    group_counts: Ints
    teaches: Bools
    scaler: RangeScaler
    tally: CellTally

    @property
    def class_counts(self) -> Ints:
        """Rows of each class."""
        return self.tally.counts[1:]

    @property
    def taught_counts(self) -> Ints:
        """Rows of each group, 0 where it does not teach."""
        return np.where(self.teaches, self.tally.counts, 0)

    @property
    def targets(self) -> Ints:
        """Columns with a hole in a row that teaches."""
        return np.flatnonzero(self.tally.has_holes(self.teaches))

    @property
    def leaves_rows(self) -> bool:
        """Whether there are rows without a label, which are filled like new ones."""
        return bool(self.tally.counts[~self.teaches].sum())

    def shares(self, ranks: list[Ints]) -> list[Share]:
        """The part of each partition in a sample that is given by ranks in every group."""
        before = np.cumsum(self.group_counts, axis=0) - self.group_counts
        pairs = zip(before, self.group_counts, strict=True)
        return [Share.of(ranks, first, count) for first, count in pairs]

    def start(self, firsts: Ints) -> tuple[list[Task], int]:
        """Started blocks, and how many holes had no observed value in their class."""
        starts, fallbacks = self.tally.starts(self.teaches, self.recipe.start.uses_labels)
        givers = self._givers()
        tasks = [
            self.cluster.task(
                start_block, part, self.scaler, self.teaches, starts, givers[b], int(firsts[b])
            )
            for b, part in enumerate(self.rows)
        ]
        return self.cluster.keep(tasks), fallbacks

    def _givers(self) -> list[Share]:
        """Which rows of each partition may give: all, or a seeded sample of each class."""
        most, counts = self.settings.max_donors, self.taught_counts
        if most is None:
            return [Share()] * len(self.rows)
        sizes = np.minimum(counts, most)
        return self.shares(sample_ranks(counts, sizes, self.settings.random_state))


def lay_groundwork(
    cluster: Cluster,
    recipe: Recipe,
    settings: RecipeSettings,
    rows: list[Task],
    n_classes: int,
    columns: tuple[Column, ...],
) -> Groundwork:
    """Take the ranges of all columns, then count what they hold."""
    ranges = cluster.fetch(
        [cluster.task(Ranges.of, part, n_classes) for part in rows], "finding column ranges"
    )
    group_counts = np.array([r.counts for r in ranges])
    teaches = _teaches(recipe, group_counts.sum(axis=0))
    is_categorical = np.array([c.kind is Kind.CATEGORICAL for c in columns], dtype=bool)
    scaler = add_all(ranges).scaler(teaches, is_categorical)
    tally = cluster.reduce(
        [cluster.task(CellTally.of, part, scaler, teaches) for part in rows], "counting"
    )
    return Groundwork(
        cluster, recipe, settings, rows, columns, group_counts, teaches, scaler, tally
    )


def _teaches(recipe: Recipe, counts: Ints) -> Bools:
    teaches = np.ones(len(counts), dtype=bool)
    if recipe.uses_labels:
        teaches[0] = False
        if counts[1:].sum() == 0:
            raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
    return teaches


SAMPLE_ROWS = 100_000
"""Weights that cannot be added up from parts come from a sample of at most so many rows."""


def weigh(base: Groundwork, targets: Ints) -> Floats:
    """One row of weights for all target columns, or one for each.

    Equal weights need no data. Class information is summed up over partitions. Others, and class
    information with permutations, few rows or very heavy tails, are weighed on a stratified
    sample: all rows, in their order, as long as there are no more than `SAMPLE_ROWS`.
    """
    weights = base.recipe.weights
    if isinstance(weights, EqualWeights):
        nothing = np.zeros((0, len(base.columns)))
        return weights.weigh(Table(nothing, nothing.astype(bool), base.columns), None, targets)
    if _is_sum(weights) and base.taught_counts.sum() > EXACT_ROWS:
        try:
            return _by_reduction(base)
        except OverflowError:
            pass  # heavy tails: the sample has to do
    table, labels = _sample(base)
    return weights.weigh(table, labels, targets)


def _is_sum(weights: object) -> bool:
    """Whether weights can be added up from parts."""
    if not isinstance(weights, ClassInformation):
        return False
    return weights.measure == "parzen" and weights.n_permutations == 0


def _by_reduction(base: Groundwork) -> Floats:
    n_classes, task = len(base.class_counts), base.cluster.task
    grids = make_grids(base.tally, n_classes)
    counts = base.cluster.reduce(
        [task(ClassCounts.of, part, base.scaler, grids, n_classes) for part in base.rows],
        "counting for the column weights",
    )
    return normalize(class_information(base.tally, grids, counts))[np.newaxis]


def _sample(base: Groundwork) -> tuple[Table, Ints]:
    """Scaled rows that keep the class shares, in the order of the table."""
    counts = base.taught_counts
    ranks = sample_ranks(counts, even_sizes(counts, SAMPLE_ROWS), base.settings.random_state)
    pairs = zip(base.rows, base.shares(ranks), strict=True)
    found = base.cluster.fetch(
        [base.cluster.task(_pick, part, base.scaler, share) for part, share in pairs],
        "sampling rows for the column weights",
    )
    values = np.concatenate([table.values for table, _ in found])
    missing = np.concatenate([table.missing for table, _ in found])
    labels = np.concatenate([labels for _, labels in found])
    return Table(values, missing, base.columns), labels


def _pick(rows: Rows, scaler: RangeScaler, share: Share) -> tuple[Table, Ints]:
    return scaled_rows(rows, scaler, share.rows(rows.labels + 1))
