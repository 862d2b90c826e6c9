"""What the other systems of the literature share: how rows and columns come to them."""

from inspect import cleandoc
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from greyfill._chained.design import row_order
from greyfill._neighbors.start import column_centers
from greyfill.checks import check_choice, check_seed
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.base import BaseImputer
from greyfill.table import Bools, Floats, Ints, Table

LABELS = ("donors", "none")


class SystemImputer(BaseImputer):
    """What the systems share.

    Parameters
    ----------
    categorical_features : "auto" or list of names, indices or a mask, default="auto"
        Columns to treat as unordered categories besides strings, categories and booleans.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered: their ranks are numbers, and fills are rounded to a level.
    missing_values : scalar or list, optional
        Values that mean "missing" besides NaN, None, NA and null, such as "?" or -999.
    add_indicator : bool, default=False
        Append a boolean column for each column that had holes in ``fit``.
    keep_empty_features : bool, default=False
        Keep columns without any observed value, filled with zero or a neutral level.
    round_to_grid : bool, default=True
        Move fills to the grid of their column: whole where all observed numbers are whole, tens
        where they are tens, steps of 0.005, or one of at most 12 numbers that occur often.
    bounds : dict of name or index to (low, high), optional
        Limits of the fills of numeric columns; None on a side means no limit.
    leave_alone : "auto" or list of names or indices, optional
        Columns that are neither used nor filled: "auto" finds identifiers, free text and constants.
        ``left_alone_`` has them, with reasons. By default every column is filled, and an
        `IdentifierWarning` names those that should not be.
    random_state : int, RandomState or None, default=0
        Seed of all that is drawn.
    verbose : int, default=0
        0 is silent. With 1, stderr shows how the work goes.

    Attributes
    ----------
    imputed_counts_ : dict of str to int
        Cells filled in each column of the training table.
    left_alone_ : dict of str to str
        The columns that ``leave_alone`` left as they are, and why.
    indicator_ : MissingIndicator or None
        With ``add_indicator``, tells where a table has holes in the columns that had some in
        ``fit``; scikit-learn's, for the tables that this imputer takes.
    """

    _centers: Floats
    _usable: Bools

    _optional = (*BaseImputer._optional, "_fitted", "_centers", "_usable")
    _keeps_order = False
    """Whether rows are learned from as they come; else in an order of their content."""

    def __init__(
        self,
        *,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        round_to_grid: bool = True,
        bounds: Any = None,
        leave_alone: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.round_to_grid = round_to_grid
        self.bounds = bounds
        self.leave_alone = leave_alone
        self.random_state = random_state
        self.verbose = verbose

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Let ``help`` show the shared parameters and attributes with each system."""
        super().__init_subclass__(**keywords)
        if cls.__doc__ and SystemImputer.__doc__:
            cls.__doc__ = with_shared_sections(cls.__doc__, SystemImputer.__doc__)

    @property
    def _needs_labels(self) -> bool:
        return getattr(self, "labels", "none") != "none"

    def _check_settings(self) -> None:
        """Refuse parameters that cannot be."""
        if hasattr(self, "labels"):
            check_choice("labels", self.labels, LABELS)
        check_seed(self.random_state)

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from rows whose columns all have a value; return them without holes."""
        raise NotImplementedError

    def _fill_rows(self, table: Table) -> Floats:
        """New rows without holes."""
        raise NotImplementedError

    def _fit_nothing(self) -> None:
        self._check_settings()

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        """Learn from the rows that have a label where labels are used, else from all rows."""
        self._fit_nothing()
        used = labels if self._needs_labels else None
        rows = np.arange(table.n_rows) if used is None else np.flatnonzero(used >= 0)
        if len(rows) == 0:
            raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
        self.__dict__.pop("_fitted", None)  # of an earlier fit
        self._centers = column_centers(table)
        self._usable = np.asarray(~table.missing[rows].all(axis=0))
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
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


def with_shared_sections(own: str, shared: str) -> str:
    """A docstring with the parameters and attributes of another one among its own."""
    text, separator, example = cleandoc(own).partition("\n\n>>> ")
    body = cleandoc(shared).partition("Parameters\n----------\n")[2]
    parameters, _, attributes = body.partition("\n\nAttributes\n----------\n")
    text, _, own_attributes = text.partition("\n\nAttributes\n----------\n")
    joint = "\n" if "Parameters\n----------\n" in text else "\n\nParameters\n----------\n"
    found = "\n".join(part for part in (own_attributes, attributes) if part)
    examples = f"\n\nExamples\n--------\n>>> {example}" if separator else ""
    return f"{text}{joint}{parameters}\n\nAttributes\n----------\n{found}{examples}\n"
