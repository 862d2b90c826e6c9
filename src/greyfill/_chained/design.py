"""What models see: the matrix of predictors, which of its columns a target uses, keys of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from greyfill.table import Floats, Ints, Kind, SymmetricScaler, Table, indicators

MAX_INDICATORS = 20
"""A column with more categories has indicators of its most frequent ones only."""


@dataclass(frozen=True, eq=False)
class Design:
    """Numbers and ordinal ranks scaled to [−1, 1]; categories as 0/1 indicators, without the first.

    Column j of the table owns the design columns ``edges[j] : edges[j + 1]``. A category that was
    never seen in ``fit`` gets the mean of the indicators: it carries no information.

    >>> from greyfill.table import Column
    >>> columns = (Column("a", Kind.NUMERIC), Column("b", Kind.CATEGORICAL, 3))
    >>> values = np.array([[0.0, 0.0], [4.0, 1.0], [2.0, 2.0]])
    >>> table = Table(values, np.zeros((3, 2), bool), columns)
    >>> Design.learn(table).encode(table.values)
    array([[-1.,  0.,  0.],
           [ 1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """

    scaler: SymmetricScaler
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
            indicated = np.arange(1, len(counts), dtype=np.intp)
            if len(indicated) > MAX_INDICATORS:
                indicated = np.sort(np.argsort(-counts, kind="stable")[:MAX_INDICATORS])
            levels.append(indicated)
            shares.append(counts[indicated] / max(counts.sum(), 1))
        widths = [1 if level is None else len(level) for level in levels]
        edges = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        return cls(SymmetricScaler.learn(table), tuple(levels), tuple(shares), edges)

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
        unseen = values[:, np.newaxis] < 0.0
        return np.where(unseen, self.shares[j], indicators(values, level))


MOST, FEWEST, ROWS_PER_PREDICTOR = 100, 5, 3
"""max_predictors="auto": a third of the observed rows, but 5 … 100."""

TARGETS_AT_ONCE = 256
"""Targets whose correlations with all columns are held at once."""


def predictor_cap(max_predictors: int | str, n_observed: int) -> int:
    """The largest number of design columns in a model.

    >>> predictor_cap("auto", 150), predictor_cap("auto", 9), predictor_cap(12, 150)
    (50, 5, 12)
    """
    if isinstance(max_predictors, int):
        return max_predictors
    return min(MOST, max(FEWEST, n_observed // ROWS_PER_PREDICTOR))


def choose_predictors(
    table: Table, design: Design, targets: Ints, max_predictors: int | str
) -> dict[int, Ints]:
    """The design columns that predict each target, in order; as R's quickpred when capped."""
    n_observed = (~table.missing).sum(axis=0)
    chosen, caps = {}, {}
    everything = np.flatnonzero(np.repeat(table.predicts, np.diff(design.edges)))
    for j in targets.tolist():
        cap, others = (
            predictor_cap(max_predictors, int(n_observed[j])),
            np.setdiff1d(everything, np.arange(design.width)[design.block(j)]),
        )
        if len(others) <= cap:
            chosen[j] = others
        else:
            caps[j] = cap
    for j, strength in _strengths(table, design, list(caps)):
        chosen[j] = _strongest(design, strength, j, caps[j])
    return chosen


def _strengths(table: Table, design: Design, targets: list[int]) -> Iterator[tuple[int, Floats]]:
    """Each target, and the largest |r| of each table column with it.

    Columns are centered and normed over their observed cells, with 0 in the holes:
    r_ij = Σ z_i z_j over the rows where both are observed, so columns that are seldom observed
    together count as weakly correlated.
    """
    if not targets:
        return
    hole = np.repeat(table.missing, np.diff(design.edges), axis=1)
    encoded = design.encode(table.values)
    mean = np.where(hole, 0.0, encoded).sum(axis=0) / np.maximum((~hole).sum(axis=0), 1)
    centered = np.where(hole, 0.0, encoded - mean)
    norm = np.sqrt((centered**2).sum(axis=0))
    normed = centered / np.where(norm > 0.0, norm, 1.0)
    filled = np.flatnonzero(np.diff(design.edges) > 0)  # others have no design columns
    for start in range(0, len(targets), TARGETS_AT_ONCE):
        some = targets[start : start + TARGETS_AT_ONCE]
        blocks = [np.arange(design.edges[j], design.edges[j + 1]) for j in some]
        r = np.abs(normed[:, np.concatenate(blocks)].T @ normed)
        ends = np.cumsum([0, *(len(block) for block in blocks)])
        for j, (first, last) in zip(some, pairwise(ends.tolist()), strict=True):
            strength = np.zeros(table.n_columns)
            one = r[first:last].max(axis=0, initial=0.0)
            strength[filled] = np.maximum.reduceat(one, design.edges[filled])
            strength[~table.predicts] = -1.0
            yield j, strength


def _strongest(design: Design, strength: Floats, j: int, cap: int) -> Ints:
    """Whole table columns by falling strength, as long as they fit under the cap."""
    strength[j] = -1.0
    n_best = min(cap, len(strength) - 1)
    best = np.argpartition(-strength, n_best)[:n_best] if n_best else np.empty(0, np.intp)
    best = best[np.lexsort((best, -strength[best]))]
    best = best[strength[best] >= 0.0]
    widths = np.diff(design.edges)[best]
    fitting = np.sort(best[np.cumsum(widths) <= cap])
    columns = [np.arange(design.edges[c], design.edges[c + 1]) for c in fitting]
    return np.concatenate([np.empty(0, np.intp), *columns])


Keys = NDArray[np.uint64]


def row_keys(table: Table, seed: int) -> Keys:
    """64 bits for each row: blake2b of the seed, the mask and the observed cells.

    Equal rows have equal keys, wherever they stand.

    >>> from greyfill.table import Column, Kind
    >>> values = np.array([[1.0], [2.0], [1.0]])
    >>> table = Table(values, np.zeros((3, 1), bool), (Column("a", Kind.NUMERIC),))
    >>> keys = row_keys(table, 0)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    salt = seed.to_bytes(8, "little", signed=True)
    cells = np.where(table.missing, 0.0, table.values) + 0.0  # −0.0 becomes 0.0
    masks = np.packbits(table.missing, axis=1)
    digests = [
        blake2b(mask.tobytes() + row.tobytes(), digest_size=8, key=salt).digest()
        for row, mask in zip(cells, masks, strict=True)
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def row_order(table: Table) -> Ints:
    """An order of the rows that depends on their content only; equal rows stay as they came."""
    return np.argsort(row_keys(table, 0), kind="stable")


def uniform(keys: Keys, counter: Ints | int) -> Floats:
    """The counter-th number in (0, 1) of each key, by SplitMix64 (Steele, Lea and Flood 2014)."""
    step = np.asarray(counter).astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        z = keys + step * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.asarray(((z >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)
