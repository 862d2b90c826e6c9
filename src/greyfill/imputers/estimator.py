"""What every estimator shares, imputer or model: how tables come in, and how it is saved."""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from greyfill import frames, memory
from greyfill.checks import check_jobs
from greyfill.conventions import OwnParameters, check_fitted, own_errors
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Table

FOR_NEW_ROWS = 32
"""Bytes that new rows need at least for each cell: numbers, holes, the filled copies."""
LESS_AT_ONCE = "Pass the rows in chunks: each counts on its own, so the result is the same."
LESS_IN_FIT = "Fit on a sample of the rows and pass the others later, in chunks; or drop columns."


def told_error(error: float, size: float) -> float:
    """The root of a mean squared error on the scale of a range of this size, never infinite.

    >>> told_error(0.25, 8.0)
    4.0
    """
    return min(math.sqrt(error) * size, sys.float_info.max)


class TableEstimator(OwnParameters, BaseEstimator):
    """Check and encode tables with holes, in ``fit`` and after it."""

    categorical_features: Any
    ordinal_features: Any
    missing_values: Any

    _bytes_per_cell: ClassVar[int] = 60
    """Memory that ``fit`` needs at least for each cell of the table, its copies included."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _schema: frames.Schema
    _kept: Bools

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that holes and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Go back to what was fitted before, or to nothing, if ``fit`` fails."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _open_training(self, X: Any) -> tuple[Table, Any]:
        """The table of ``fit`` in numbers, and what restores its container."""
        check_jobs(getattr(self, "n_jobs", None))
        self._refuse_too_large(frames.open_table(X).shape, self._bytes_per_cell, LESS_IN_FIT)
        self._check_columns(X, reset=True)
        return frames.encode(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            missing_values=self.missing_values,
        )

    def _open_new(self, X: Any) -> tuple[Table, Any]:
        """New rows in the numbers of the table of ``fit``, and what restores their container."""
        check_fitted(self)
        self._refuse_too_large(frames.open_table(X).shape, FOR_NEW_ROWS, LESS_AT_ONCE)
        self._check_columns(X, reset=False)
        return frames.encode(X, schema=self._schema, missing_values=self.missing_values)

    def _check_columns(self, X: Any, *, reset: bool) -> None:
        """Remember number and names of the columns, or refuse others than those of ``fit``."""
        with own_errors():
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _refuse_too_large(self, shape: tuple[int, ...], per_cell: int, remedy: str) -> None:
        """Refuse a table that cannot fit in the memory that is free."""
        work = f"The work of {type(self).__name__} on {shape[0]:,} × {shape[1]:,} cells"
        memory.refuse_beyond(shape[0] * shape[1] * per_cell, work, remedy)

    def _refuse_other_rows(self, n_rows: int, n_labels: int) -> None:
        """Refuse labels that cannot be those of the rows."""
        if n_labels != n_rows:
            raise InvalidDataError(
                f"X and y describe different rows: X has {n_rows}, y has {n_labels}"
            )

    def _input_names(self, input_features: Any) -> list[str]:
        """The names of the columns of ``fit``, or those given for them."""
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return (
                [column.name for column in self._schema.columns] if known is None else list(known)
            )
        with own_errors():
            given = list(input_features)
        if known is not None and not np.array_equal(given, known):
            raise InvalidParameterError("input_features is not equal to feature_names_in_")
        if len(given) != self.n_features_in_:
            raise InvalidParameterError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )
        return given


class SavedEstimator(TableEstimator):
    """A table estimator that can be written to a file, with all attributes that it declares."""

    cell_styles_: dict[str, Any]
    _sklearn_output_config: dict[str, str]

    _optional: ClassVar[tuple[str, ...]] = (
        "feature_names_in_",
        "cell_styles_",
        "_sklearn_output_config",
    )
    """Declared attributes that not every fitted estimator has."""

    _unsaved: ClassVar[tuple[str, ...]] = ()
    """Attributes that a saved file leaves out."""

    def save(self, path: str | Path) -> None:
        """Write what was fitted to a file that ``greyfill.load`` reads without running code."""
        from greyfill.persistence import save

        check_fitted(self)
        save(self, path)
