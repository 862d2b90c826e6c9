"""A block: the rows of one partition that teach, scaled and started."""

from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.k_selection import rows_by_rank
from greyfill._neighbors.links import only_column, searchable
from greyfill._neighbors.recipe import Recipe
from greyfill.distributed.partitions import Rows, Sized
from greyfill.ranges import RangeScaler
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table


@dataclass(frozen=True)
class Share:
    """The ranks of a sample that fall into one partition, for each group of rows.

    A group is a class (index c + 1) or the rows without a label (index 0). None means all rows.
    """

    ranks: tuple[Ints, ...] | None = None

    @classmethod
    def of(cls, ranks: list[Ints], before: Ints, counts: Ints) -> "Share":
        """The share of a partition that has ``counts`` rows of each group, after ``before``."""
        return cls(
            tuple(
                r[np.searchsorted(r, first) : np.searchsorted(r, first + count)] - first
                for r, first, count in zip(ranks, before, counts, strict=True)
            )
        )

    def rows(self, groups: Ints) -> Ints:
        """The rows of the sample in a partition."""
        if self.ranks is None:
            return np.arange(len(groups))
        return rows_by_rank(groups, np.arange(len(self.ranks)), list(self.ranks))


@dataclass(frozen=True, eq=False)
class Block(Sized):
    """Rows of the training table.

    ``rows`` are their numbers in the whole table. ``missing`` is what a distance cannot see,
    ``holes`` what is to be filled: the same but for cells that are hidden to choose k.
    """

    values: Floats
    missing: Bools
    holes: Bools
    labels: Ints
    rows: Ints
    may_give: Bools

    def only(self, index: Ints) -> "Block":
        """Some of the rows."""
        return Block(
            self.values[index],
            self.missing[index],
            self.holes[index],
            self.labels[index],
            self.rows[index],
            self.may_give[index],
        )


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
    rows: Rows, scaler: RangeScaler, teaches: Bools, starts: Floats, givers: Share, first: int
) -> Block:
    """Scale a partition, drop the rows that do not teach, and fill its holes for a start."""
    groups = rows.labels + 1
    may_give = np.zeros(len(groups), dtype=bool)
    may_give[givers.rows(groups)] = True
    taught = np.flatnonzero(teaches[groups])
    table = scaler.scale(rows.table.rows(taught))
    values = np.where(table.missing, starts[groups[taught]], table.values)
    return Block(
        np.ascontiguousarray(values),
        table.missing,
        table.missing,
        rows.labels[taught],
        first + taught,
        may_give[taught],
    )


def scaled_rows(rows: Rows, scaler: RangeScaler, chosen: Ints) -> tuple[Table, Ints]:
    """Some rows as a weighting sees them, and their labels."""
    return scaler.scale(rows.table.rows(chosen)), rows.labels[chosen]


def matched(block: Block, cells: Bools, weights: Floats) -> Bools:
    """Rows with a hole of this group that know something a donor can be found by."""
    return np.asarray(cells.any(axis=1) & searchable(block.missing, weights))


def hide_cells(block: Block, targets: Ints, ranks: Ints) -> Block:
    """The rows of the known cells of these ranks in target columns, each with one cell hidden."""
    rows, columns = np.divmod(_hideable(block, targets)[ranks], block.missing.shape[1])
    part = block.only(rows)
    hidden = np.zeros_like(part.missing)
    hidden[np.arange(len(rows)), columns] = True
    return Block(part.values, part.missing | hidden, hidden, part.labels, part.rows, part.may_give)


def count_hideable(block: Block, targets: Ints) -> int:
    """How many observed cells stand in target columns."""
    return len(_hideable(block, targets))


def _hideable(block: Block, targets: Ints) -> Ints:
    wanted = np.zeros(block.missing.shape[1], dtype=bool)
    wanted[targets] = True
    return np.flatnonzero(~block.missing & wanted)


def join_blocks(blocks: list[Block]) -> Block:
    """One block of several."""
    return Block(
        np.concatenate([b.values for b in blocks]),
        np.concatenate([b.missing for b in blocks]),
        np.concatenate([b.holes for b in blocks]),
        np.concatenate([b.labels for b in blocks]),
        np.concatenate([b.rows for b in blocks]),
        np.concatenate([b.may_give for b in blocks]),
    )
