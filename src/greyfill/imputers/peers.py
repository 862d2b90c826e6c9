"""The simple peers: imputers that every other method should beat."""

from dataclasses import field
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import KNNImputer
from sklearn.preprocessing import FunctionTransformer

from greyfill._neighbors.start import ClassStart, column_centers
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.base import BaseImputer
from greyfill.table import (
    Column,
    Floats,
    Ints,
    Kind,
    Table,
    indicators,
    observed_range,
    range_sizes,
)


class MeanImputer(BaseImputer):
    """The mean of a numeric or ordinal column, the mode of a categorical one.

    >>> MeanImputer().fit_transform(np.array([[1.0], [3.0], [np.nan]])).ravel()
    array([1., 3., 2.])
    """

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        self._centers = column_centers(table)
        return self._fill_table(table)

    def _fill_table(self, table: Table) -> Floats:
        return np.where(table.missing, self._centers, table.values)


class ClassMeanImputer(MeanImputer):
    """Mean or mode within the row's class; over all rows where the class is not known.

    The crudest use of labels: after it the classes look further apart than they are.

    >>> X = np.array([[1.0], [np.nan], [9.0], [np.nan]])
    >>> ClassMeanImputer().fit_transform(X, ["a", "a", "b", None]).ravel()
    array([1., 1., 9., 5.])
    """

    @property
    def _needs_labels(self) -> bool:
        return True

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        assert labels is not None
        plain = super()._fit_table(table, labels)
        by_class, _ = ClassStart().fill(table, labels)
        return np.where((labels >= 0)[:, None], by_class, plain)


class EncodedImputer(BaseImputer):
    """Let an imputer of numbers work on indicators of the levels and numbers scaled to [0, 1].

    Of a category the level with the highest filled indicator wins; an ordinal column is one
    number and is rounded to a level.

    Parameters
    ----------
    estimator : transformer
        Takes and gives a numeric array, NaN for holes; it must keep all columns.

    Attributes
    ----------
    estimator_ : transformer
        The fitted estimator.

    >>> from sklearn.impute import KNNImputer
    >>> X = np.array([[1.0, "a"], [1.1, None], [9.0, "b"], [9.2, "b"]], dtype=object)
    >>> EncodedImputer(KNNImputer(n_neighbors=1)).fit_transform(X)[1].tolist()
    [1.1, 'a']
    """

    estimator: Any = field(default=None, kw_only=False)

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        if not hasattr(self.estimator, "get_params") or not hasattr(self.estimator, "transform"):
            raise InvalidParameterError(
                f"estimator is {self.estimator!r}; pass an imputer of numbers, such as KNNImputer()"
            )
        self._low, self._scale = observed_range(table)[0], range_sizes(table)
        self.estimator_ = clone(self.estimator)
        return self._decoded(self.estimator_.fit_transform(self._encoded(table)), table)

    def _fill_table(self, table: Table) -> Floats:
        return self._decoded(self.estimator_.transform(self._encoded(table)), table)

    def _encoded(self, table: Table) -> Floats:
        """Indicators and scaled numbers, NaN in all columns of a hole."""
        parts = []
        for j, column in enumerate(table.columns):
            x = table.values[:, j]
            if column.kind is Kind.CATEGORICAL:
                part = indicators(x, np.arange(column.n_levels))
            else:
                part = ((x - self._low[j]) / self._scale[j])[:, None]
            parts.append(np.where(table.missing[:, [j]], np.nan, part))
        return np.hstack(parts)

    def _decoded(self, output: Any, table: Table) -> Floats:
        cells = np.asarray(output, dtype=np.float64)
        filled, start = table.values.copy(), 0
        for j, column in enumerate(table.columns):
            part = cells[:, start : start + _width(column)]
            start += _width(column)
            if column.kind is Kind.CATEGORICAL:
                guess = part.argmax(axis=1).astype(np.float64)
            else:
                guess = part[:, 0] * self._scale[j] + self._low[j]
            holes = table.missing[:, j]
            filled[holes, j] = guess[holes]
        return filled


def _width(column: Column) -> int:
    return column.n_levels if column.kind is Kind.CATEGORICAL else 1


def sklearn_knn(n_neighbors: int = 5, **kwargs: Any) -> EncodedImputer:
    """scikit-learn's neighbors, for tables of all kinds."""
    return EncodedImputer(KNNImputer(n_neighbors=n_neighbors, keep_empty_features=True), **kwargs)


def sklearn_iterative(
    max_iter: int = 10, random_state: int | None = 0, **kwargs: Any
) -> EncodedImputer:
    """scikit-learn's chained regressions, for tables of all kinds."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    numbers = IterativeImputer(
        max_iter=max_iter, random_state=random_state, keep_empty_features=True
    )
    return EncodedImputer(numbers, **kwargs)


def mean_indicator(**kwargs: Any) -> MeanImputer:
    """Mean and mode, and a column for each that tells where the holes were."""
    return MeanImputer(**{"add_indicator": True, **kwargs})


def native() -> FunctionTransformer:
    """No imputation at all."""
    return FunctionTransformer(feature_names_out="one-to-one")


class MiceForestImputer(BaseImputer):
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

    n_iter: int = 5
    random_state: int | None = 0

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
