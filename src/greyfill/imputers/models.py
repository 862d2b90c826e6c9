"""Impute and predict in one step: a class or a number straight from the grey neighborhood."""

from abc import abstractmethod
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from greyfill import frames, targets
from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import (
    FittedGrey,
    fit_model,
    most_probable_class,
    new_queries,
    posterior,
)
from greyfill._grey.passes import GreySettings
from greyfill.blas import one_blas_thread
from greyfill.checks import OwnScore, check_whole, is_number, whole_seed
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.estimator import SavedEstimator, learned, root_error
from greyfill.table import Floats, Ints, Table, from_share
from greyfill.targets import Meaning, read_target


class TableModel(SavedEstimator):
    """What models that predict share: holes are welcome, and stay holes.

    Parameters
    ----------
    categorical_features : "auto" or list of names, indices or a mask, default="auto"
        Columns to treat as unordered categories besides strings, categories and booleans.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered.
    missing_values : scalar or list, optional
        Values that mean "missing" besides NaN, None, NA and null.
    """

    categorical_features: Any = "auto"
    ordinal_features: Any = None
    missing_values: Any = None
    random_state: Any = 0

    def _training_rows(self, X: Any, n_labels: int) -> Table:
        """The rows of ``fit`` in the columns that have a value, which are kept in mind."""
        table, origin = self._open_training(X)
        self._refuse_other_rows(table.n_rows, n_labels)
        self._schema = origin.schema
        self._kept = np.asarray(~table.missing.all(axis=0))
        if not self._kept.any():
            raise InvalidDataError("no column of X has an observed value")
        return table.select(self._kept)

    def _new_rows(self, X: Any) -> Table:
        """New rows in the columns that had a value in ``fit``."""
        plain = self._plain_rows(X)
        table = self._open_new(X)[0] if plain is None else plain
        return table.select(self._kept)


class _GreyModel(TableModel):
    """What the classifier and the regressor share.

    Parameters
    ----------
    n_cells : int, default=250
        Left-out rows on which candidates are compared.
    n_jobs : int, optional
        Threads; None means one, −1 all cores.
    random_state : int, RandomState or None, default=0
        Seed of the left-out rows and of the permutations.
    """

    n_cells: int = 250
    n_jobs: int | None = None
    random_state: Any = 0

    selection_: dict[str, Any] = learned()
    _fitted: FittedGrey = learned()

    @one_blas_thread()
    def _learn(self, X: Any, n_labels: int, labels: Ints | None, response: Floats | None) -> None:
        check_whole("n_cells", self.n_cells, least=10)
        table = self._training_rows(X, n_labels)
        settings = GreySettings(
            n_cells=self.n_cells,
            max_iter=2,
            n_jobs=self.n_jobs,
            random_state=whole_seed(self.random_state),
        )
        self._fitted = fit_model(table, labels, response, settings)
        choice, _ = self._fitted.model(self._fitted.donors.y_column)
        self.selection_ = choice.described(self._scaled_error)

    @abstractmethod
    def _scaled_error(self, error: float) -> float:
        """An error on held-out rows as ``selection_`` shows it."""

    def _queries(self, X: Any) -> Queries:
        """New rows, for donors."""
        rows = self._new_rows(X)  # first, since it asks whether there was a fit
        return new_queries(self._fitted, rows)


def class_codes(y: Any, model: str) -> tuple[Ints, Any]:
    """The class of each row by its number, and the classes; refuse what are no classes."""
    if y is None:
        raise InvalidDataError(
            f"This {model} estimator requires y to be passed, but the target y is None"
        )
    target = read_target(y, needs_classes=True)
    if (target.codes < 0).any():
        raise InvalidDataError(
            f"y contains NaN: {int((target.codes < 0).sum())} label(s) are missing; drop those rows"
        )
    if target.meaning is Meaning.RESPONSE:
        raise InvalidDataError(
            f"Unknown label type: continuous. {model} needs classes; predict numbers by "
            "GreyRegressor, or bin y (sklearn.preprocessing.KBinsDiscretizer)"
        )
    return target.codes, target.classes


class GreyClassifier(OwnScore, ClassifierMixin, _GreyModel):
    """Class probabilities of rows with holes, from grey neighbors, without imputing them first.

    The class is a column like any other: donors are rows near in what the new row has observed,
    weighted by each column's information about the class. Cells that the row lacks are integrated
    out by the values that its donors have there. How many donors, which weights, and whether their
    votes are averaged or joined by a ridge regression is chosen by the log loss of left-out rows,
    and so are the share of a discriminant, linear or quadratic, and the power that calibrates the
    probabilities.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns of ``predict_proba``.
    log_loss_ : float
        Mean log loss of the left-out rows; NaN where there were too few to leave any out.
    selection_ : dict
        The ``panel`` in words, its log loss after calibration (``error``), and that of every
        candidate before it (``tried``).

    Examples
    --------
    >>> import numpy as np
    >>> from greyfill import GreyClassifier
    >>> X = np.array([[0.0, 1], [0.1, np.nan], [0.2, 1], [1.0, 2], [np.nan, 2], [0.9, 2]])
    >>> model = GreyClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[np.nan, 2.0], [0.1, np.nan]])
    array(['b', 'a'], dtype='<U1')
    """

    classes_: NDArray[Any] = learned()
    log_loss_: float = learned()

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the classes y of the rows of X, which may have holes."""
        codes, classes = class_codes(y, "GreyClassifier")
        with self._all_or_nothing():
            self.classes_ = targets.class_array(classes)
            self._learn(X, len(codes), codes, None)
            targets.warn_of_target(y, self._schema.names)
            self.log_loss_ = float(self.selection_["error"]) if len(classes) > 1 else 0.0
        return self

    def _scaled_error(self, error: float) -> float:
        return float(error)

    @one_blas_thread()
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, shape (n_rows, n_classes)."""
        queries = self._queries(X)
        if len(self.classes_) == 1:
            return np.ones((len(queries.values), 1))
        return posterior(self._fitted, queries)

    @one_blas_thread()
    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        queries = self._queries(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(queries.values))
        return np.asarray(self.classes_[most_probable_class(self._fitted, queries)])


class GreyRegressor(OwnScore, RegressorMixin, _GreyModel):
    """A number for rows with holes, from grey neighbors, without imputing them first.

    As `GreyClassifier`, with the squared error of left-out rows as the measure.

    Attributes
    ----------
    selection_ : dict
        The ``panel`` in words, its root mean squared ``error`` on left-out rows in the units of
        y, and that of every candidate (``tried``).

    Examples
    --------
    >>> import numpy as np
    >>> from greyfill import GreyRegressor
    >>> x = np.linspace(0, 1, 50)
    >>> X = np.column_stack([x, 1 - x])
    >>> X[::3, 0] = np.nan
    >>> model = GreyRegressor().fit(X, 10 * x)
    >>> bool(abs(model.predict([[np.nan, 0.5]])[0] - 5) < 0.5)
    True
    """

    _low: float = learned()
    _high: float = learned()

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the numbers y of the rows of X, which may have holes."""
        if y is None:
            raise InvalidDataError(
                "This GreyRegressor estimator requires y to be passed, but the target y is None"
            )
        numbers, missing = targets.labels_to_array(y)
        self._refuse_other_rows(frames.open_table(X).shape[0], len(numbers))
        response = _as_numbers(numbers)
        if missing.any() or not np.isfinite(response).all():
            raise InvalidDataError("y contains NaN or infinity; drop those rows")
        if len(response) == 0:
            raise InvalidDataError("y is empty; pass one number for each row of X")
        with self._all_or_nothing():
            self._low, self._high = float(response.min()), float(response.max())
            self._learn(X, len(response), None, response)
            targets.warn_of_target(y, self._schema.names)
        return self

    def _scaled_error(self, error: float) -> float:
        return root_error(error, self._high - self._low or 1.0)

    @one_blas_thread()
    def predict(self, X: Any) -> Floats:
        """A number for each row."""
        queries = self._queries(X)
        forecast = self._fitted.predict(self._fitted.donors.y_column, queries)
        return from_share(forecast.predicted[:, 0].clip(0.0, 1.0), self._low, self._high)


def _as_numbers(labels: NDArray[Any]) -> Floats:
    """A response as numbers, or what stands in their place."""
    if labels.dtype.kind not in "Mm":
        with suppress(TypeError, ValueError):
            return np.asarray(labels, dtype=np.float64)
    strange = next((label for label in labels if not is_number(label)), labels[0])
    raise InvalidDataError(
        f"y holds {frames.shown(strange)}, but GreyRegressor needs numbers; predict classes by "
        "GreyClassifier"
    )
