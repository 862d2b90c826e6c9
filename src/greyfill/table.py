"""The one table that every method works on: numbers, a mask of holes, and column kinds."""

from dataclasses import dataclass
from enum import Enum

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
    0 … n_levels − 1; a code of −1 is an observed category that was never seen in ``fit``.

    >>> Column("smear", Kind.CATEGORICAL, n_levels=2).name
    'smear'
    """

    name: str
    kind: Kind
    n_levels: int = 0


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
        if index.dtype == bool and index.all():
            return self
        kept = tuple(self.columns[j] for j in np.arange(self.n_columns)[index])
        return Table(self.values[:, index], self.missing[:, index], kept)

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
