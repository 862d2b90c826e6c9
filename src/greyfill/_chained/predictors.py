"""Which columns predict a column: all others, or the most correlated where they are too many."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from greyfill._chained.design import Design
from greyfill.table import Floats, Ints, Table

MOST, FEWEST, ROWS_PER_PREDICTOR = 100, 5, 3
"""max_predictors="auto": a third of the observed rows, but 5 … 100."""

TARGETS_AT_ONCE = 256


def predictor_cap(max_predictors: int | str, n_observed: int) -> int:
    """The largest number of design columns in a model.

    >>> predictor_cap("auto", 150), predictor_cap("auto", 9), predictor_cap(12, 150)
    (50, 5, 12)
    """
    if isinstance(max_predictors, int):
        return max_predictors
    return min(MOST, max(FEWEST, n_observed // ROWS_PER_PREDICTOR))


@dataclass(frozen=True, eq=False)
class Correlations:
    """Columns centered and normed over their observed cells, with 0 in the holes.

    r_ij = Σ z_i z_j over the rows where both are observed, so columns that are seldom observed
    together count as weakly correlated.
    """

    normed: Floats
    edges: Ints

    @classmethod
    def learn(cls, table: Table, design: Design) -> "Correlations":
        """From the observed cells of a table."""
        widths = np.diff(design.edges)
        hole = np.repeat(table.missing, widths, axis=1)
        encoded = design.encode(table.values)
        count = np.maximum((~hole).sum(axis=0), 1)
        mean = np.where(hole, 0.0, encoded).sum(axis=0) / count
        centered = np.where(hole, 0.0, encoded - mean)
        norm = np.sqrt((centered**2).sum(axis=0))
        return cls(centered / np.where(norm > 0.0, norm, 1.0), design.edges)

    def strengths(self, targets: Ints) -> Iterator[Floats]:
        """For each target, the largest |r| of each table column with it."""
        for start in range(0, len(targets), TARGETS_AT_ONCE):
            some = targets[start : start + TARGETS_AT_ONCE]
            blocks = [np.arange(self.edges[j], self.edges[j + 1]) for j in some]
            r = np.abs(self.normed[:, np.concatenate(blocks)].T @ self.normed)
            ends = np.cumsum([0, *(len(block) for block in blocks)])
            for first, last in pairwise(ends.tolist()):
                one = r[first:last].max(axis=0, initial=0.0)
                yield _largest_by_block(one, self.edges)


def choose_predictors(
    table: Table, design: Design, targets: Ints, max_predictors: int | str
) -> dict[int, Ints]:
    """The design columns that predict each target, in order; as R's quickpred when capped."""
    n_observed = (~table.missing).sum(axis=0)
    caps = {int(j): predictor_cap(max_predictors, int(n_observed[j])) for j in targets}
    widths = np.diff(design.edges)
    crowded = np.array([j for j in caps if design.width - widths[j] > caps[j]], dtype=np.intp)
    chosen = {j: _all_but(design, j) for j in caps if j not in set(crowded.tolist())}
    if len(crowded):
        strengths = Correlations.learn(table, design).strengths(crowded)
        for j, strength in zip(crowded.tolist(), strengths, strict=True):
            chosen[j] = _strongest(design, strength, j, caps[j])
    return chosen


def _all_but(design: Design, j: int) -> Ints:
    block = design.block(j)
    return np.concatenate([np.arange(block.start), np.arange(block.stop, design.width)])


def _strongest(design: Design, strength: Floats, j: int, cap: int) -> Ints:
    """Whole table columns by falling strength, as long as they fit under the cap."""
    strength[j] = -1.0
    n_best = min(cap, len(strength) - 1)
    best = np.argpartition(-strength, n_best)[:n_best] if n_best else np.empty(0, np.intp)
    best = best[np.lexsort((best, -strength[best]))]
    best = best[best != j]
    widths = np.diff(design.edges)[best]
    fitting = np.sort(best[np.cumsum(widths) <= cap])
    columns = [np.arange(design.edges[c], design.edges[c + 1]) for c in fitting]
    return np.concatenate([np.empty(0, np.intp), *columns])


def _largest_by_block(values: Floats, edges: Ints) -> Floats:
    """The largest value in each block; 0 for a block without columns."""
    largest = np.zeros(len(edges) - 1)
    filled = np.flatnonzero(np.diff(edges) > 0)
    if len(filled):
        largest[filled] = np.maximum.reduceat(values, edges[filled])
    return largest
