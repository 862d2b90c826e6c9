"""scikit-learn's indicator of holes, for every table that an imputer takes."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import impute

from greyfill.conventions import check_fitted, own_errors
from greyfill.imputers.estimator import TableEstimator
from greyfill.table import Bools


class MissingIndicator(TableEstimator, impute.MissingIndicator):
    """Where a table has holes, in the columns that had some in ``fit``.

    An imputer has one as ``indicator_``. Parameters and attributes are those of scikit-learn's
    class of this name; the table may be any that an imputer takes, and ``missing_values`` may
    list several values.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, 45, None], "sex": ["f", "m", "f"]})
    >>> MissingIndicator(missing_values="?").fit(frame).transform(frame).ravel()
    array([False, False,  True])
    """

    categorical_features: Any = "auto"
    ordinal_features: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns of X that have holes."""
        with self._all_or_nothing():
            table, origin = self._open_training(X)
            self._schema = origin.schema
            self.features_ = self._plain(np.asarray(table.missing.any(axis=0))).features_
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Remember the columns of X that have holes, and return where."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """A boolean column for each of ``features_``, True where X has a hole."""
        table, _ = self._open_new(X)
        holed = np.isin(np.arange(table.n_columns), self.features_)
        with own_errors():
            return self._plain(holed).transform(_with_nan(table.missing))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns of ``transform``."""
        check_fitted(self)
        names = np.asarray(self._input_names(input_features), dtype=object)
        return np.array(flag_names(names[self.features_]), dtype=object)

    def _plain(self, holed: Bools) -> Any:
        """scikit-learn's indicator, fitted where these columns had holes."""
        plain = impute.MissingIndicator(
            features=self.features, sparse=self.sparse, error_on_new=self.error_on_new
        )
        with own_errors():
            return plain.set_output(transform="default").fit(_with_nan(holed[None, :]))


def flag_names(names: Iterable[Any]) -> list[str]:
    """The names of the columns that tell where these columns have holes.

    >>> flag_names(["age"])
    ['missingindicator_age']
    """
    return [f"missingindicator_{name}" for name in names]


def _with_nan(missing: Bools) -> NDArray[np.float64]:
    """Numbers with NaN where a cell is missing."""
    return np.where(missing, np.nan, 0.0)
