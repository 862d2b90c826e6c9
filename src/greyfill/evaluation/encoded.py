"""Imputers of numbers, such as scikit-learn's, on mixed tables."""

from typing import Any

import numpy as np
from sklearn.base import clone

from greyfill.evaluation.peers import SimplePeer
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Floats, Ints, Kind, Table


class EncodedImputer(SimplePeer):
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

    def __init__(
        self,
        estimator: Any = None,
        *,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
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
        self.estimator = estimator

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        if not hasattr(self.estimator, "get_params") or not hasattr(self.estimator, "transform"):
            raise InvalidParameterError(
                f"estimator is {self.estimator!r}; pass an imputer of numbers, such as KNNImputer()"
            )
        seen = np.where(table.missing, np.nan, table.values)
        self._low = np.nanmin(seen, axis=0)
        spread = np.nanmax(seen, axis=0) - self._low
        self._scale = np.where(spread > 0, spread, 1.0)
        self.estimator_ = clone(self.estimator)
        return self._decoded(self.estimator_.fit_transform(self._encoded(table)), table)

    def _fill_table(self, table: Table) -> Floats:
        return self._decoded(self.estimator_.transform(self._encoded(table)), table)

    def _encoded(self, table: Table) -> Floats:
        """Indicators and scaled numbers, NaN in all columns of a hole."""
        parts = []
        for j, column in enumerate(table.columns):
            x, holes = table.values[:, j, None], table.missing[:, j]
            if column.kind is Kind.CATEGORICAL:
                part = (x == np.arange(column.n_levels)).astype(np.float64)
            else:
                part = (x - self._low[j]) / self._scale[j]
            parts.append(np.where(holes[:, None], np.nan, part))
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
