"""What a hole holds before the loop: the start part of a recipe."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from greyfill.information.entropy import Steps, exponents
from greyfill.table import Floats, Ints, Table, most_frequent


@dataclass(frozen=True)
class GlobalStart:
    """The mean of a numeric column, the mode of a categorical one, over all observed cells.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind, Table
    >>> values, missing = np.array([[2.0], [6.0], [0.0]]), np.array([[False], [False], [True]])
    >>> filled, _ = GlobalStart().fill(Table(values, missing, (Column("x", Kind.NUMERIC),)), None)
    >>> filled.ravel()
    array([2., 6., 4.])
    """

    uses_labels: ClassVar[bool] = False

    def fill(self, table: Table, labels: Ints | None) -> tuple[Floats, int]:
        """Values without holes, and the number of cells that had to fall back (none here)."""
        return np.where(table.missing, column_centers(table), table.values), 0


@dataclass(frozen=True)
class ClassStart:
    """Mean or mode of the column within the row's class; without any, over all classes.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind, Table
    >>> values, missing = np.array([[2.0], [6.0], [0.0]]), np.array([[False], [False], [True]])
    >>> table = Table(values, missing, (Column("x", Kind.NUMERIC),))
    >>> filled, _ = ClassStart().fill(table, np.array([0, 1, 1]))
    >>> filled.ravel()
    array([2., 6., 6.])
    """

    uses_labels: ClassVar[bool] = True

    def fill(self, table: Table, labels: Ints | None) -> tuple[Floats, int]:
        """Values without holes, and the number of cells whose class had no observed value."""
        assert labels is not None
        filled = table.values.copy()
        fallbacks, exponent = 0, exponents(_known_cells(table), axis=0)
        lowest = labels.min(initial=0)  # −1 where there are rows without a label
        for label in np.flatnonzero(np.bincount(labels - lowest)) + lowest:
            rows = np.flatnonzero(labels == label)
            members = table.rows(rows)
            empty = members.missing.all(axis=0)
            centers = column_centers(members, exponent)
            if empty.any():
                centers = np.where(empty, column_centers(table), centers)
            filled[rows] = np.where(members.missing, centers, members.values)
            fallbacks += int(members.missing[:, empty].sum())
        return filled, fallbacks


def column_centers(table: Table, exponent: Ints | None = None) -> Floats:
    """Mean of each numeric or ordinal column, mode of each categorical one (smallest code of ties).

    A column without an observed value gets 0. No order of the rows changes a bit. Values are at
    most 2 to the ``exponent`` of their column, unless given that of the largest.
    """
    cells = _known_cells(table)
    exponent = exponents(cells, axis=0) if exponent is None else exponent
    sums = Steps.of_columns(np.ldexp(cells, -exponent, out=cells))
    n_observed = table.n_rows - table.missing.sum(axis=0)
    centers = np.ldexp(sums.floats / np.maximum(n_observed, 1), exponent)
    for j in np.flatnonzero(table.is_categorical):
        centers[j] = most_frequent(table.values[~table.missing[:, j], j])
    return np.asarray(centers)


def _known_cells(table: Table) -> Floats:
    return np.where(table.missing, 0.0, table.values)
