"""Column weights of a table in partitions: by reductions, or from a sample of its rows."""

import numpy as np

from greyfill._neighbors.sampling import even_sizes, sample_ranks
from greyfill._neighbors.scaling import Scaler
from greyfill._neighbors.weighting import ClassInformation, EqualWeights
from greyfill.distributed.blocks import Share, scaled_rows
from greyfill.distributed.groundwork import Groundwork
from greyfill.distributed.reading import Rows
from greyfill.distributed.statistics import ClassCounts, class_information, make_grids
from greyfill.information import EXACT_ROWS, normalize
from greyfill.table import Floats, Ints, Table

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


def _pick(rows: Rows, scaler: Scaler, share: Share) -> tuple[Table, Ints]:
    return scaled_rows(rows, scaler, share.rows(rows.labels + 1))
