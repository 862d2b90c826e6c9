"""The matrix of predictors: what a column looks like to a linear model of another column."""

from dataclasses import dataclass

import numpy as np

from greyfill._chained.scaling import Scaler
from greyfill.table import Floats, Ints, Kind, Table

MAX_INDICATORS = 20
"""A column with more categories has indicators of its most frequent ones only."""


@dataclass(frozen=True, eq=False)
class Design:
    """Numbers and ordinal ranks scaled to [−1, 1]; categories as 0/1 indicators, without the first.

    Column j of the table owns the design columns ``edges[j] : edges[j + 1]``. A category that was
    never seen in ``fit`` gets the mean of the indicators: it says nothing.

    >>> from greyfill.table import Column
    >>> columns = (Column("a", Kind.NUMERIC), Column("b", Kind.CATEGORICAL, 3))
    >>> values = np.array([[0.0, 0.0], [4.0, 1.0], [2.0, 2.0]])
    >>> table = Table(values, np.zeros((3, 2), bool), columns)
    >>> Design.learn(table).encode(table.values)
    array([[-1.,  0.,  0.],
           [ 1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """

    scaler: Scaler
    levels: tuple[Ints | None, ...]
    shares: tuple[Floats, ...]
    edges: Ints

    @classmethod
    def learn(cls, table: Table) -> "Design":
        """From the observed cells of a table."""
        levels: list[Ints | None] = []
        shares: list[Floats] = []
        for j, column in enumerate(table.columns):
            if column.kind is not Kind.CATEGORICAL:
                levels.append(None)
                shares.append(np.zeros(1))
                continue
            codes = table.values[~table.missing[:, j], j].astype(np.intp)
            counts = np.bincount(codes[codes >= 0], minlength=max(column.n_levels, 1))
            levels.append(_indicated(counts))
            shares.append(counts[levels[-1]] / max(counts.sum(), 1))
        widths = [1 if level is None else len(level) for level in levels]
        edges = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        return cls(Scaler.learn(table), tuple(levels), tuple(shares), edges)

    @property
    def width(self) -> int:
        """Number of design columns."""
        return int(self.edges[-1])

    def block(self, j: int) -> slice:
        """The design columns of a table column."""
        return slice(int(self.edges[j]), int(self.edges[j + 1]))

    def encode(self, values: Floats) -> Floats:
        """The design matrix of a table without holes."""
        encoded = np.empty((len(values), self.width))
        numbers = [j for j, level in enumerate(self.levels) if level is None]
        encoded[:, self.edges[numbers]] = self.scaler.scale(values)[:, numbers]
        for j, level in enumerate(self.levels):
            if level is not None:
                encoded[:, self.block(j)] = self.encode_column(j, values[:, j])
        return encoded

    def encode_column(self, j: int, values: Floats) -> Floats:
        """The design columns of some cells of table column j."""
        level = self.levels[j]
        if level is None:
            return self.scaler.column(j).scale(values)[:, np.newaxis]
        indicators = (values[:, np.newaxis] == level).astype(np.float64)
        return np.where(values[:, np.newaxis] < 0.0, self.shares[j], indicators)


def _indicated(counts: Ints) -> Ints:
    """The codes that have an indicator: all but the first, or the most frequent of many."""
    codes = np.arange(1, len(counts), dtype=np.intp)
    if len(codes) > MAX_INDICATORS:
        codes = np.sort(np.argsort(-counts, kind="stable")[:MAX_INDICATORS])
    return codes
