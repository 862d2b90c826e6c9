"""What is known of a table in partitions before any donor is looked for."""

from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.engine import Settings
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.sampling import sample_ranks
from greyfill._neighbors.scaling import Scaler
from greyfill.distributed.blocks import Share, start_block
from greyfill.distributed.cluster import Cluster, Task, add_all
from greyfill.distributed.statistics import Ranges, Tally
from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Column, Ints, Kind


@dataclass(frozen=True, eq=False)
class Groundwork:
    """Encoded rows on the workers, and the tallies of all of them here.

    Groups of rows are those without a label (0) and the classes (c + 1). ``group_counts`` has a
    row for each partition; ``teaches`` tells which groups give and teach.
    """

    cluster: Cluster
    recipe: Recipe
    settings: Settings
    rows: list[Task]
    columns: tuple[Column, ...]
    group_counts: Ints
    teaches: Bools
    scaler: Scaler
    tally: Tally

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
    settings: Settings,
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
        [cluster.task(Tally.of, part, scaler, teaches) for part in rows], "counting"
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
