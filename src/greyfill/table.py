"""The one table that every method works on: numbers, a mask of holes, and column kinds.

Its numbers are scaled by their observed ranges: to [0, 1] by a `RangeScaler` for neighbors, to
[−1, 1] by a `SymmetricScaler` for regressions and forests.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from greyfill.exceptions import InvalidDataError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]

MANY_LEVELS = 200
"""A category with more levels than this is never laid out as an indicator for each of them."""


class Kind(Enum):
    """What the values of a column mean.

    >>> Kind("ordinal")
    <Kind.ORDINAL: 'ordinal'>
    """

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"


@dataclass(frozen=True)
class Column:
    """Name, kind and number of levels of one column.

    ``n_levels`` is 0 for numeric columns. Categorical and ordinal columns hold codes
    0 … n_levels − 1; a code of −1 is an observed category that was never seen in ``fit``. One that
    does not ``predict`` is filled, but fills no other: an identifier.

    >>> Column("smear", Kind.CATEGORICAL, n_levels=2).name
    'smear'
    """

    name: str
    kind: Kind
    n_levels: int = 0
    predicts: bool = field(default=True, compare=False)


@dataclass(frozen=True, eq=False)
class Table:
    """Values as float64 codes or numbers, and the mask of the cells that were missing.

    ``values`` is finite everywhere: an unfilled hole holds 0.0, and only ``missing`` marks
    it as a hole. After a start fill the mask still marks it.

    >>> import numpy as np
    >>> table = Table(
    ...     values=np.array([[1.5, 0.0], [0.0, 1.0]]),
    ...     missing=np.array([[False, False], [True, False]]),
    ...     columns=(Column("age", Kind.NUMERIC), Column("sex", Kind.CATEGORICAL, 2)),
    ... )
    >>> table.n_rows, table.n_columns, int(table.missing.sum())
    (2, 2, 1)
    >>> table.is_categorical
    array([False,  True])
    """

    values: Floats
    missing: Bools
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        expected = (len(self.values), len(self.columns))
        if self.values.shape != expected or self.missing.shape != expected:
            raise InvalidDataError(
                f"values {self.values.shape}, missing {self.missing.shape} and "
                f"{len(self.columns)} columns do not describe one table"
            )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def is_categorical(self) -> Bools:
        """Which columns hold unordered categories; ordinal columns count as numbers."""
        return np.array([c.kind is Kind.CATEGORICAL for c in self.columns], dtype=bool)

    @cached_property
    def predicts(self) -> Bools:
        """Which columns may tell about others."""
        return np.array([c.predicts for c in self.columns], dtype=bool)

    def others(self, j: int) -> Ints:
        """The columns that may tell about column j."""
        return np.setdiff1d(np.flatnonzero(self.predicts), j)

    @property
    def unseen(self) -> Bools:
        """Observed cells whose category was never seen in ``fit``: no donor can match them."""
        has_levels = np.array([c.n_levels > 0 for c in self.columns], dtype=bool)
        return np.asarray(~self.missing & has_levels & (self.values < 0.0))

    def rows(self, index: Ints | Bools) -> "Table":
        """The same columns with only the given rows."""
        return Table(self.values[index], self.missing[index], self.columns)

    def select(self, index: Ints | Bools) -> "Table":
        """The same rows with only the given columns; without a copy where those are all."""
        if index.dtype == bool and np.count_nonzero(index) == len(index):
            return self
        kept = tuple(self.columns[j] for j in np.arange(self.n_columns)[index])
        return Table(self.values[:, index], self.missing[:, index], kept)

    def mute(self, names: Collection[str]) -> "Table":
        """The same table, in which some columns tell nothing about others."""
        if not names:
            return self
        columns = tuple(replace(c, predicts=c.name not in names) for c in self.columns)
        return Table(self.values, self.missing, columns)

    def with_values(self, values: Floats) -> "Table":
        """The same columns and mask with other values."""
        return Table(values, self.missing, self.columns)


def indicators(codes: Floats | Ints, levels: Floats | Ints) -> Floats:
    """1 where a code is the level and 0 elsewhere, shape (code, level).

    >>> indicators(np.array([2.0, 0.0]), np.arange(3))
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return np.asarray(codes[:, np.newaxis] == levels, dtype=np.float64)


def most_frequent(codes: Floats) -> float:
    """The mode of codes, the smallest of ties; 0 without any.

    >>> most_frequent(np.array([2.0, 1.0, 2.0, 1.0]))
    1.0
    """
    return float(np.bincount(codes.astype(np.intp)).argmax()) if len(codes) else 0.0


LARGEST = float(np.finfo(np.float64).max)

FAR = 1e6
"""Cells of new rows scaled by half-ranges stop here: a million of them from the middle."""


def observed_range(table: Table) -> tuple[Floats, Floats]:
    """Least and largest observed value of each column; ∞ and −∞ in a column without any."""
    low = np.where(table.missing, np.inf, table.values).min(axis=0, initial=np.inf)
    high = np.where(table.missing, -np.inf, table.values).max(axis=0, initial=-np.inf)
    return low, high


def range_sizes(table: Table) -> Floats:
    """Observed range of each column, by which (34) scales to [0, 1]; 1 if constant or empty.

    >>> from greyfill.table import Column, Kind
    >>> cells = np.array([[1.0], [4.0], [9.0]])
    >>> range_sizes(Table(cells, cells > 4.0, (Column("a", Kind.NUMERIC),)))
    array([3.])
    """
    low, high = observed_range(table)
    return np.where(high > low, high - low, 1.0)


@dataclass(frozen=True, eq=False)
class RangeScaler:
    """Observed range of each numeric or ordinal column; categories pass through.

    Numbers go to [0, 1] by equation (34). Its reflection max − x changes no distance, so x − min is
    used. A constant column has range 1. Everything is halved before it is subtracted, so that a
    range beyond the largest float does not overflow. Both ways make one copy and work in place.
    """

    low: Floats
    high: Floats
    is_categorical: Bools

    @classmethod
    def learn(cls, table: Table) -> "RangeScaler":
        """Take the ranges from the observed cells of a table."""
        return cls.of(*observed_range(table), table.is_categorical)

    @classmethod
    def of(cls, low: Floats, high: Floats, is_categorical: Bools) -> "RangeScaler":
        """From ranges that may be empty, as `observed_range` gives them."""
        return cls(*_closed(low, high), is_categorical)

    @property
    def half_range(self) -> Floats:
        """Half of max − min; a half where a column is constant."""
        half = self.high * 0.5 - self.low * 0.5
        return np.where(half > 0.0, half, 0.5)

    def scale(self, table: Table) -> Table:
        """Numbers on [0, 1]; a value outside the learned range takes the nearer end."""
        scaled = np.clip(table.values, self.low, self.high)  # first, lest the quotient overflow
        scaled *= 0.5
        scaled -= self.low * 0.5
        scaled /= self.half_range
        scaled[:, self.is_categorical] = table.values[:, self.is_categorical]
        scaled[table.missing] = 0.0
        return table.with_values(np.ascontiguousarray(scaled))

    def unscale(self, scaled: Floats) -> Floats:
        """Back to the units of the table, never outside the learned range."""
        with np.errstate(over="ignore"):  # an average may pass 1 by a bit, and the largest float so
            values = scaled * self.half_range
            values += self.low * 0.5
            values *= 2.0
        np.clip(values, self.low, self.high, out=values)
        values[:, self.is_categorical] = scaled[:, self.is_categorical]
        return values


@dataclass(frozen=True, eq=False)
class SymmetricScaler:
    """Middle and half-range of the observed cells of each column: (v − center) / half_range.

    Where ``low`` and ``high`` are known, rounding carries no value out of them on the way back.
    The rounding differs from that of `RangeScaler`, so one cannot stand for the other.

    >>> from greyfill.table import Column, Kind
    >>> values = np.array([[2.0], [6.0], [0.0]])
    >>> table = Table(values, values == 0.0, (Column("a", Kind.NUMERIC),))
    >>> SymmetricScaler.learn(table).scale(values)
    array([[-1.],
           [ 1.],
           [-2.]])
    """

    center: Floats
    half_range: Floats
    low: Floats | None = None
    high: Floats | None = None

    @classmethod
    def learn(cls, table: Table) -> "SymmetricScaler":
        """From the observed cells; a column without any, or with one value, has half-range 1."""
        low, high = _closed(*observed_range(table))
        return cls(*_middle(low, high), low, high)

    @classmethod
    def unlimited(cls, values: Floats) -> "SymmetricScaler":
        """Of the values of one column, where a draw may lie outside of their range."""
        return cls(*_middle(values.min(), values.max()))

    def scale(self, values: Floats) -> Floats:
        """All columns, scaled and kept within ±FAR."""
        with np.errstate(over="ignore"):
            scaled = values / self.half_range - self.center / self.half_range
        return np.asarray(np.clip(scaled, -FAR, FAR))

    def column(self, j: int) -> "SymmetricScaler":
        """The scaler of one column, for arrays of one dimension."""
        if self.low is None or self.high is None:
            return SymmetricScaler(self.center[j], self.half_range[j])
        return SymmetricScaler(self.center[j], self.half_range[j], self.low[j], self.high[j])

    def unscale(self, scaled: Floats) -> Floats:
        """Back to the units of the table."""
        with np.errstate(over="ignore"):
            values = np.asarray(scaled * self.half_range + self.center)
        # Where no limits are known, a draw may lie outside of the range, but must be finite.
        low = -LARGEST if self.low is None else self.low
        high = LARGEST if self.high is None else self.high
        return np.asarray(np.clip(values, low, high))


def _closed(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The ranges with 0 … 0 for a column without an observed value."""
    empty = low > high
    return np.where(empty, 0.0, low), np.where(empty, 0.0, high)


def _middle(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Middle and half of a range; halved first, so that no range overflows."""
    half_range = high / 2 - low / 2
    return low / 2 + high / 2, np.where(half_range > 0.0, half_range, 1.0)


def to_share(values: Floats, low: float, high: float) -> Floats:
    """Where numbers lie in a range, from 0 to 1, however long it is; 0 in a range of one number.

    >>> to_share(np.array([-1.5e308, 0.0, 1.5e308]), -1.5e308, 1.5e308)
    array([0. , 0.5, 1. ])
    """
    half = high / 2 - low / 2
    return np.asarray((values / 2 - low / 2) / (half if half > 0.0 else 1.0))


def from_share(shares: Floats, low: float, high: float) -> Floats:
    """The numbers at these places of a range, never outside it.

    >>> from_share(np.array([0.0, 0.5, 1.0]), -1.5e308, 1.5e308)
    array([-1.5e+308,  0.0e+000,  1.5e+308])
    """
    with np.errstate(over="ignore"):  # by rounding, at the largest floats
        values = 2 * (low / 2 + shares * (high / 2 - low / 2))
    return values.clip(low, high)
