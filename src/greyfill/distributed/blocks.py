"""A block: the rows of one partition that are learned from, scaled and with a start fill."""

from dataclasses import dataclass, replace

import numpy as np

from greyfill._neighbors.k_selection import rows_by_rank, sample_ranks
from greyfill._neighbors.links import only_column, searchable
from greyfill._neighbors.recipe import Recipe
from greyfill.distributed.partitions import Arrays, Rows
from greyfill.table import Bools, Column, Floats, Ints, Kind, RangeScaler


@dataclass(frozen=True)
class Share:
    """The ranks of a sample that fall into one partition, for each group of rows.

    A group is a class (index c + 1) or the rows without a label (index 0). None means all rows.
    """

    ranks: tuple[Ints, ...] | None = None

    def rows(self, groups: Ints) -> Ints:
        """The rows of the sample in a partition."""
        if self.ranks is None:
            return np.arange(len(groups))
        return rows_by_rank(groups, np.arange(len(self.ranks)), list(self.ranks))


def sample_shares(counts: Ints, sizes: Ints, random_state: int | None) -> list[Share]:
    """The share of each partition in a seeded sample of so many rows of each group.

    ``counts`` has a row of group sizes for each partition. The sample is that of the whole table,
    however it is cut.
    """
    ranks = sample_ranks(counts.sum(axis=0), sizes, random_state)
    ends = np.cumsum(counts, axis=0)
    return [
        Share(tuple(map(ranks_within, ranks, first, end)))
        for first, end in zip(ends - counts, ends, strict=True)
    ]


def ranks_within(ranks: Ints, first: int, end: int) -> Ints:
    """The ranks of first … end − 1 among sorted ones, counted from the first.

    >>> ranks_within(np.array([1, 4, 5, 9]), 4, 9).tolist()
    [0, 1]
    """
    return ranks[np.searchsorted(ranks, first) : np.searchsorted(ranks, end)] - first


@dataclass(frozen=True, eq=False)
class Block(Arrays):
    """Rows of the training table.

    ``rows`` are their numbers in the whole table. ``missing`` is what a distance cannot see,
    ``holes`` what is to be filled: the same but for cells that are hidden to choose k.
    """

    values: Floats
    missing: Bools
    holes: Bools
    labels: Ints
    rows: Ints
    is_donor: Bools


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """What all blocks share: the recipe, the columns, and their weights."""

    recipe: Recipe
    columns: tuple[Column, ...]
    weights: Floats
    targets: Ints

    @property
    def is_categorical(self) -> Bools:
        """Which columns hold unordered categories."""
        return np.array([c.kind is Kind.CATEGORICAL for c in self.columns], dtype=bool)

    @property
    def n_levels(self) -> int:
        """The largest number of levels of any column."""
        return max((c.n_levels for c in self.columns), default=0)

    def groups(self, holes: Bools) -> list[tuple[Floats, Bools]]:
        """Weights, and the holes that are filled with them: all at once, or column by column."""
        if not self.recipe.weights.by_target:
            return [(self.weights[0], holes)]
        return [
            (weights, only_column(holes, int(target)))
            for target, weights in zip(self.targets, self.weights, strict=True)
        ]

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.targets) if self.recipe.weights.by_target else 1


def start_block(
    rows: Rows, scaler: RangeScaler, in_use: Bools, starts: Floats, donors: Share, first: int
) -> Block:
    """Scale a partition, drop the groups that are not in use, and fill its holes for a start."""
    groups = rows.labels + 1
    is_donor = np.zeros(len(groups), dtype=bool)
    is_donor[donors.rows(groups)] = True
    kept = np.flatnonzero(in_use[groups])
    table = scaler.scale(rows.table.rows(kept))
    values = np.where(table.missing, starts[groups[kept]], table.values)
    return Block(
        np.ascontiguousarray(values),
        table.missing,
        table.missing,
        rows.labels[kept],
        first + kept,
        is_donor[kept],
    )


def matched(block: Block, cells: Bools, weights: Floats) -> Bools:
    """Rows with a hole of this group and an observed value that a donor can be found by."""
    return np.asarray(cells.any(axis=1) & searchable(block.missing, weights))


def hideable_cells(block: Block, targets: Ints) -> Ints:
    """The observed cells in target columns, by their place in the flat block."""
    is_target = np.isin(np.arange(block.missing.shape[1]), targets)
    return np.flatnonzero(~block.missing & is_target)


def count_hideable(block: Block, targets: Ints) -> int:
    """How many observed cells stand in target columns."""
    return len(hideable_cells(block, targets))


def hide_cells(block: Block, targets: Ints, ranks: Ints) -> Block:
    """The rows of the hideable cells of these ranks, each with that one cell hidden."""
    rows, columns = np.divmod(hideable_cells(block, targets)[ranks], block.missing.shape[1])
    part = block.take(rows)
    hidden = np.zeros_like(part.missing)
    hidden[np.arange(len(rows)), columns] = True
    return replace(part, missing=part.missing | hidden, holes=hidden)
