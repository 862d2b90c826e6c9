"""Several imputations of the training table, as tables of the container it came in."""

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from greyfill._chained import chain
from greyfill.checks import check_choice, check_fitted, check_whole
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.estimator import parameter
from greyfill.table import Bools, Floats, Table


class DrawnTables(BaseImputer):
    """An imputer that fills a table ``n_imputations`` times and combines what it drew.

    Parameters
    ----------
    n_imputations : int, default=5
        Independent draws of the table: chains, or bootstrapped tables.
    combine : "mean" or "draw", default="mean"
        The filled table: mean of numbers and vote of categories over all imputations (the first
        drawn of ties), or the first imputation alone, which keeps the spread of the data.

    Attributes
    ----------
    draws_ : list of tables
        Every imputation of the training table, in the container it came in, for `greyfill.pool`.
    """

    n_imputations: int = parameter(default=5, check=check_whole, kw_only=False)
    combine: str = parameter(default="mean", check=check_choice, choices=("mean", "draw"))
    n_jobs: int | None = None
    random_state: Any = 0

    _unsaved = (*BaseImputer._unsaved, "_training")

    @property
    def draws_(self) -> list[Any]:
        """Every imputation of the training table, decoded on request."""
        check_fitted(self)
        if not hasattr(self, "_training"):
            raise InvalidDataError("a loaded imputer keeps no training table; fit again for draws_")
        origin, mask = self._training
        filled = np.zeros(mask.shape)
        tables = []
        for c in range(self.n_imputations):
            if self._kept.any():
                filled[:, self._kept] = self._completed(c)
            tables.append(self._restore(origin, mask, filled))
        return tables

    @abstractmethod
    def _completed(self, c: int) -> Floats:
        """One imputation of the kept columns of the training table."""

    def _keep_training(self, origin: Any, mask: Bools) -> None:
        """Keep a copy of what restores the imputations."""
        table = origin.container  # whose cells need no copies, and may allow none
        kept = table.copy() if isinstance(table, np.ndarray) else copy.deepcopy(table)
        self._training = replace(origin, container=kept), mask

    def _combined(self, table: Table, draw: Callable[[int], Floats]) -> Floats:
        """The table, filled by what the draws of all imputations or of the first give together."""
        draws = [draw(c) for c in range(self.n_imputations if self.combine == "mean" else 1)]
        return np.where(table.missing, chain.combine(draws, table.columns), table.values)
