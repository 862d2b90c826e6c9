"""What a joint model sees: standardized numbers and indicators of levels, and the way back."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from greyfill._chained.design import Design
from greyfill._chained.draws import settle
from greyfill.table import Bools, Column, Floats, Ints, Kind, SymmetricScaler, Table

MOST_TOGETHER = 200
"""Design columns of one distribution; a table of more has several, which ignore each other."""

REMAINDER = -1


@dataclass(frozen=True, eq=False)
class JointCode:
    """The columns of a `Design` with mean 0 and deviation 1 over their observed cells.

    A category of k levels has k − 1 indicators, and what they leave of 1 goes to the reference, the
    first level; of more than 20 levels the most frequent have one, and the reference is the most
    frequent of the others. ``references`` are −1 where every observed level has an indicator.
    """

    columns: tuple[Column, ...]
    design: Design
    mean: Floats
    deviation: Floats
    references: Ints

    @classmethod
    def learn(cls, table: Table) -> "JointCode":
        """From the observed cells of a table."""
        design = Design.learn(table)
        encoded, hole = design.encode(table.values), _holes(design, table)
        n = np.maximum((~hole).sum(axis=0), 1)
        mean = np.where(hole, 0.0, encoded).sum(axis=0) / n
        constant = np.ptp(np.where(hole, mean, encoded), axis=0) == 0.0
        spread = np.sqrt(np.where(hole, 0.0, (encoded - mean) ** 2).sum(axis=0) / n)
        references = [_reference(table, design, j) for j in range(table.n_columns)]
        deviation = np.where(constant, 0.0, spread)
        return cls(table.columns, design, mean, deviation, np.array(references, dtype=np.intp))

    def encode(self, table: Table) -> tuple[Floats, Bools]:
        """Standardized cells, 0 in holes, and where holes are; an unseen level counts as one."""
        hole = _holes(self.design, table)
        z = (self.design.encode(table.values) - self.mean) / self._divisor
        return np.where(hole, 0.0, z), hole

    @property
    def _divisor(self) -> Floats:
        return np.where(self.deviation > 0.0, self.deviation, 1.0)

    @property
    def blocks(self) -> list[Ints]:
        """The design columns that vary, by distribution; what may not predict has its own."""
        varying = np.flatnonzero(self.deviation > 0.0)
        owner = np.repeat(np.arange(len(self.columns)), np.diff(self.design.edges))[varying]
        predicts = np.array([column.predicts for column in self.columns])[owner]
        rest = varying[predicts]
        together = np.array_split(rest, -(-len(rest) // MOST_TOGETHER)) if len(rest) else []
        return together + [varying[owner == j] for j in np.unique(owner[~predicts])]

    def decode(self, z: Floats, table: Table, noise: Floats | None = None) -> Floats:
        """The table with values of z in its holes; levels by ``noise`` in (0, 1), or likeliest."""
        values = table.values.copy()
        for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
            rows, block = np.flatnonzero(table.missing[:, j]), self.design.block(j)
            part = z[rows, block] * self._divisor[block] + self.mean[block]
            is_class = self.columns[j].kind is Kind.CATEGORICAL
            decode = self._decode_levels if is_class else self._decode_numbers
            values[rows, j] = decode(j, part, None if noise is None else noise[rows, j])
        return values

    def _decode_numbers(self, j: int, part: Floats, u: Floats | None) -> Floats:
        column, scaler = self.columns[j], self.design.scaler
        values = SymmetricScaler(scaler.center[j], scaler.half_range[j]).unscale(part[:, 0])
        if column.kind is Kind.ORDINAL and u is not None and scaler.low is not None:
            low, high = scaler.low[j], scaler.high[j]  # type: ignore[index]
            share = np.clip((values - low) / max(high - low, 1.0), 0.0, 1.0)
            values = low + np.clip(binom.ppf(u, max(high - low, 0.0), share), 0.0, high - low)
        return settle(column, values)

    def _decode_levels(self, j: int, part: Floats, u: Floats | None) -> Floats:
        """Codes of levels; those that were never observed are never given."""
        indicated = self.design.levels[j]
        assert indicated is not None
        levels = np.append(indicated, max(self.references[j], 0)).astype(np.float64)
        scores = np.column_stack([part, 1.0 - part.sum(axis=1)])
        possible = np.append(self.design.shares[j] > 0.0, self.references[j] != REMAINDER)
        best = np.where(possible, scores, -np.inf).argmax(axis=1)
        if u is None:
            return np.asarray(levels[best])
        sums = np.cumsum(np.where(possible, np.clip(scores, 0.0, 1.0), 0.0), axis=1)
        place = (u[:, np.newaxis] * sums[:, -1:] >= sums).sum(axis=1)
        # Where no possible level has a chance, the likeliest of them is taken.
        place = np.where(sums[:, -1] <= 0.0, best, np.minimum(place, len(levels) - 1))
        return np.asarray(levels[place])


def _holes(design: Design, table: Table) -> Bools:
    return np.repeat(table.missing | table.unseen, np.diff(design.edges), axis=1)


def _reference(table: Table, design: Design, j: int) -> int:
    """The most frequent level without an indicator; −1 where none is observed, or of a number."""
    indicated = design.levels[j]
    if indicated is None:
        return REMAINDER
    codes = table.values[~table.missing[:, j], j].astype(np.intp)
    counts = np.bincount(codes[codes >= 0], minlength=table.columns[j].n_levels or 1)
    counts[indicated] = 0
    return int(counts.argmax()) if counts.any() else REMAINDER
