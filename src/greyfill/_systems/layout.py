"""Columns of all kinds as features for methods that know only numbers, and back."""

from dataclasses import dataclass

import numpy as np

from greyfill.table import MANY_LEVELS, Bools, Column, Floats, Ints, RangeScaler, Table

HALF = float(np.sqrt(0.5))
"""An indicator of this size puts two different levels at squared distance 1, as HEOM does."""

AT_ONCE = 2**16
"""Products held at once: half a megabyte."""


@dataclass(frozen=True, eq=False)
class FeatureLayout:
    """Numbers and ranks on [0, 1]; a category as an indicator of size √½ for each level.

    Of a category with very many levels only the most frequent have one. ``levels`` are the codes
    with an indicator, none for numbers.
    """

    columns: tuple[Column, ...]
    scaler: RangeScaler
    levels: tuple[Ints, ...]

    @classmethod
    def learn(cls, table: Table) -> "FeatureLayout":
        """From the observed cells."""
        levels = [np.zeros(0, dtype=np.intp) for _ in table.columns]
        for j in np.flatnonzero(table.is_categorical):
            codes = table.values[~table.missing[:, j], j].astype(np.intp)
            counts = np.bincount(codes[codes >= 0], minlength=1)
            frequent = np.argsort(-counts, kind="stable")[: max(min(MANY_LEVELS, len(counts)), 1)]
            levels[j] = np.sort(frequent[(counts[frequent] > 0) | (frequent == frequent[0])])
        return cls(table.columns, RangeScaler.learn(table), tuple(levels))

    @property
    def widths(self) -> Ints:
        """Features of each column."""
        return np.array([max(len(codes), 1) for codes in self.levels], dtype=np.intp)

    @property
    def edges(self) -> Ints:
        """The first feature of each column, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.intp)

    @property
    def owners(self) -> Ints:
        """The column of each feature."""
        return np.repeat(np.arange(len(self.columns)), self.widths)

    def encode(self, table: Table) -> Floats:
        """The features of rows; 0 in holes and at levels without an indicator."""
        scaled, edges = self.scaler.scale(table), self.edges
        x = np.zeros((table.n_rows, int(edges[-1])))
        for j, codes in enumerate(self.levels):
            cells = scaled.values[:, j]
            if len(codes):
                x[:, edges[j] : edges[j + 1]] = HALF * (cells[:, np.newaxis] == codes)
            else:
                x[:, edges[j]] = cells
        x[self.spread(table.missing | table.unseen)] = 0.0
        return x

    def spread(self, cells: Bools) -> Bools:
        """A mask of cells as one of features."""
        return np.repeat(cells, self.widths, axis=1)

    def column(self, j: int) -> "FeatureLayout":
        """The layout of one column."""
        s = self.scaler
        scaler = RangeScaler(s.low[[j]], s.high[[j]], s.is_categorical[[j]])
        return FeatureLayout((self.columns[j],), scaler, (self.levels[j],))

    def decode(self, x: Floats) -> Floats:
        """Rows in the units of the table; of a category the largest indicator wins."""
        edges, scaled = self.edges, np.empty((len(x), len(self.columns)))
        for j, codes in enumerate(self.levels):
            part = x[:, edges[j] : edges[j + 1]]
            scaled[:, j] = codes[part.argmax(axis=1)] if len(codes) else part[:, 0]
        return self.scaler.unscale(scaled)


def times(x: Floats, matrix: Floats) -> Floats:
    """X · matrix, each row by sums of its own, so that one row gives the bits of a batch.

    BLAS picks its order of summation by the shape of the whole product.
    """
    across = np.ascontiguousarray(matrix.T)
    out = np.empty((len(x), len(across)))
    step = max(AT_ONCE // max(across.size, 1), 1)
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        out[rows] = (np.ascontiguousarray(x[rows])[:, np.newaxis, :] * across).sum(axis=2)
    return out
