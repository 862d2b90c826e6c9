"""The miceforest package as a method, where it is installed."""

from importlib import import_module
from typing import Any

import numpy as np

from greyfill._neighbors.start import column_centers
from greyfill.evaluation.peers import SimplePeer
from greyfill.table import Floats, Ints, Kind, Table


class MiceForestImputer(SimplePeer):
    """Chained LightGBM forests of the miceforest package, one draw.

    Categories go in as pandas categories, ordinal columns as numbers. The package learns only
    columns that had holes in ``fit``; a hole of ``transform`` elsewhere gets the mean or mode.

    Parameters
    ----------
    n_iter : int, default=5
        Iterations of the chain.
    random_state : int, optional
        Seed.
    """

    def __init__(
        self,
        *,
        n_iter: int = 5,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            categorical_features=categorical_features,
            ordinal_features=ordinal_features,
            missing_values=missing_values,
            add_indicator=add_indicator,
            keep_empty_features=keep_empty_features,
            verbose=verbose,
        )
        self.n_iter = n_iter
        self.random_state = random_state

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        miceforest = import_module("miceforest")
        self._centers = column_centers(table)
        self._kernel = miceforest.ImputationKernel(
            _as_pandas(table), num_datasets=1, random_state=self.random_state
        )
        self._kernel.mice(self.n_iter, num_threads=1)
        return self._values(self._kernel.complete_data(0), table)

    def _fill_table(self, table: Table) -> Floats:
        if not table.missing.any():
            return table.values
        new = self._kernel.impute_new_data(_as_pandas(table))
        return self._values(new.complete_data(0), table)

    def _values(self, frame: Any, table: Table) -> Floats:
        filled = frame.to_numpy(dtype=np.float64)
        filled = np.where(np.isnan(filled), self._centers, filled)
        return np.where(table.missing, filled, table.values)


def _as_pandas(table: Table) -> Any:
    import pandas as pd

    columns = {}
    for j, column in enumerate(table.columns):
        x, holes = table.values[:, j], table.missing[:, j]
        if column.kind is Kind.CATEGORICAL:
            codes = np.where(holes, -1, x).astype(np.intp)
            columns[f"x{j}"] = pd.Categorical.from_codes(codes, categories=range(column.n_levels))
        else:
            columns[f"x{j}"] = np.where(holes, np.nan, x)
    return pd.DataFrame(columns)
