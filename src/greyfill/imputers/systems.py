"""What the other systems of the literature share: how rows and columns come to them."""

from functools import partial
from typing import Any

import numpy as np

from greyfill._chained.design import row_order
from greyfill._neighbors.start import column_centers
from greyfill.checks import check_choice, check_whole, sure_seed
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.estimator import learned, parameter
from greyfill.table import Bools, Floats, Ints, Table

check_labels = partial(check_choice, choices=("donors", "none"))


class SystemImputer(BaseImputer):
    """What the systems share.

    Parameters
    ----------
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered: their ranks are numbers, and fills are rounded to a level.
    """

    random_state: Any = 0

    _centers: Floats = learned()
    _usable: Bools = learned()

    _optional = (*BaseImputer._optional, "_centers", "_usable")
    _keeps_order = False
    """Whether rows are learned from as they come; else in an order of their content."""

    @property
    def _needs_labels(self) -> bool:
        return getattr(self, "labels", "none") != "none"

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from rows whose columns all have a value; return them without holes."""
        raise NotImplementedError

    def _fill_rows(self, table: Table) -> Floats:
        """New rows without holes."""
        return super()._fill_table(table)

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from the rows that have a label where labels are used, else from all rows."""
        self._fit_nothing()
        used = labels if self._needs_labels else None
        rows = np.arange(table.n_rows) if used is None else np.flatnonzero(used >= 0)
        if len(rows) == 0:
            raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
        self._centers = column_centers(table)
        self._usable = np.asarray(~table.missing[rows].all(axis=0)) & table.predicts
        filled = np.where(table.missing, self._centers, table.values)
        part = table.select(self._usable)
        if self._usable.any():
            order = rows if self._keeps_order else rows[row_order(part.rows(rows))]
            learned = self._learn_rows(part.rows(order), None if used is None else used[order])
            filled[np.ix_(order, self._usable)] = learned
        other = np.setdiff1d(np.arange(table.n_rows), rows)
        if len(other):
            filled[other] = self._fill_table(table.rows(other))
        return np.where(table.missing, filled, table.values)

    def _fill_table(self, table: Table) -> Floats:
        filled = np.where(table.missing, self._centers, table.values)
        if self._usable.any() and table.missing.any():
            filled[:, self._usable] = self._fill_rows(table.select(self._usable))
        return np.where(table.missing, filled, table.values)

    def _seed(self) -> int:
        """A whole number that all draws begin with."""
        return sure_seed(self.random_state)


class IterativeSystem(SystemImputer):
    """A system that lowers a loss step by step.

    Parameters
    ----------
    max_iter : int, default=100
        Most steps.

    Attributes
    ----------
    n_iter_, history_ : int, list of float
        Steps, and the loss after each.
    """

    max_iter: int = parameter(default=100, check=check_whole)

    n_iter_: int = learned(empty=1)
    history_: list[float] = learned(empty=[])
