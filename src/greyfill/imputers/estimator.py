"""What every estimator shares, imputer or model: how tables come in, and how it is saved."""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from greyfill import frames, memory
from greyfill.checks import check_jobs
from greyfill.exceptions import InvalidDataError
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


class TableEstimator(BaseEstimator):
    """Check and encode tables with holes, in ``fit`` and after it; save what was learned."""

    categorical_features: Any
    ordinal_features: Any
    missing_values: Any

    _bytes_per_cell: ClassVar[int] = 60
    """Memory that ``fit`` needs at least for each cell of the table, its copies included."""

    _unsaved: ClassVar[tuple[str, ...]] = ()
    """Attributes that a saved file leaves out."""

    _schema: frames.Schema
    _kept: Bools

    def save(self, path: str | Path) -> None:
        """Write what was fitted to a file that ``greyfill.load`` reads without running code."""
        from greyfill.persistence import save

        check_is_fitted(self)
        save(self, path)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that holes and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
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
        validate_data(self, X, reset=True, skip_check_array=True)
        return frames.encode(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
            missing_values=self.missing_values,
        )

    def _open_new(self, X: Any) -> tuple[Table, Any]:
        """New rows in the numbers of the table of ``fit``, and what restores their container."""
        check_is_fitted(self)
        self._refuse_too_large(frames.open_table(X).shape, FOR_NEW_ROWS, LESS_AT_ONCE)
        validate_data(self, X, reset=False, skip_check_array=True)
        return frames.encode(X, schema=self._schema, missing_values=self.missing_values)

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
