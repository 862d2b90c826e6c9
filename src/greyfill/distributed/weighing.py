"""Column weights of a table in partitions: by reductions, or from a sample of its rows."""

import numpy as np

from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.sampling import even_sizes, sample_ranks
from greyfill._neighbors.scaling import Scaler
from greyfill._neighbors.weighting import ClassInformation, EqualWeights
from greyfill.distributed.blocks import Share, scaled_rows
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.reading import Rows
from greyfill.distributed.statistics import ClassCounts, Tally, class_information, make_grids
from greyfill.information import EXACT_ROWS, normalize
from greyfill.table import Bools, Column, Floats, Ints, Table

SAMPLE_ROWS = 100_000
"""Weights that cannot be added up from parts come from a sample of at most so many rows."""


def weigh(
    cluster: Cluster,
    recipe: Recipe,
    rows: list[Task],
    scaler: Scaler,
    tally: Tally,
    teaches: Bools,
    group_counts: Ints,
    columns: tuple[Column, ...],
    targets: Ints,
    seed: int | None,
) -> Floats:
    """One row of weights for all target columns, or one for each.

    Equal weights need no data. Class information is summed up over partitions. Others, and class
    information with permutations, few rows or very heavy tails, are weighed on a stratified
    sample: all rows, in their order, as long as there are no more than `SAMPLE_ROWS`.
    """
    weights = recipe.weights
    if isinstance(weights, EqualWeights):
        nothing = np.zeros((0, len(columns)))
        return weights.weigh(Table(nothing, nothing.astype(bool), columns), None, targets)
    n_taught = int(tally.counts[teaches].sum())
    if (
        isinstance(weights, ClassInformation)
        and weights.n_permutations == 0
        and n_taught > EXACT_ROWS
    ):
        try:
            return _by_reduction(cluster, rows, scaler, tally)
        except OverflowError:
            pass  # heavy tails: the sample has to do
    table, labels = _sample(cluster, rows, scaler, teaches, group_counts, seed)
    return weights.weigh(table, labels, targets)


def _by_reduction(cluster: Cluster, rows: list[Task], scaler: Scaler, tally: Tally) -> Floats:
    n_classes = len(tally.counts) - 1
    grids = make_grids(tally, n_classes)
    counts = cluster.reduce(
        [cluster.task(ClassCounts.of, part, scaler, grids, n_classes) for part in rows],
        "counting for the column weights",
    )
    return normalize(class_information(tally, grids, counts))[np.newaxis]


def _sample(
    cluster: Cluster,
    rows: list[Task],
    scaler: Scaler,
    teaches: Bools,
    group_counts: Ints,
    seed: int | None,
) -> tuple[Table, Ints]:
    """Scaled rows that keep the class shares, in the order of the table."""
    counts = np.where(teaches, group_counts.sum(axis=0), 0)
    ranks = sample_ranks(counts, even_sizes(counts, SAMPLE_ROWS), seed)
    before = np.cumsum(group_counts, axis=0) - group_counts
    found = cluster.fetch(
        [
            cluster.task(_pick, part, scaler, Share.of(ranks, before[b], group_counts[b]))
            for b, part in enumerate(rows)
        ],
        "sampling rows for the column weights",
    )
    values = np.concatenate([table.values for table, _ in found])
    missing = np.concatenate([table.missing for table, _ in found])
    labels = np.concatenate([labels for _, labels in found])
    return Table(values, missing, found[0][0].columns), labels


def _pick(rows: Rows, scaler: Scaler, share: Share) -> tuple[Table, Ints]:
    return scaled_rows(rows, scaler, share.rows(rows.labels + 1))
