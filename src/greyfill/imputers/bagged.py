"""Models that are trained on draws of a table, and predict from draws of the new row."""

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from greyfill import frames, targets
from greyfill.checks import check_seed, check_whole, own_errors
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.estimator import TableEstimator
from greyfill.imputers.grey import GreyImputer
from greyfill.table import Column, Floats, Ints, Kind, Table
from greyfill.targets import Meaning

MOST_LEVELS = 255
"""What histogram gradient boosting takes as categories."""

ENOUGH_ROWS = 30
"""Fewer complete rows do not tell how far a response scatters."""


def categorical_places(columns: tuple[Column, ...], most: float = np.inf) -> Ints:
    """The positions of the categorical columns of at most so many levels."""
    chosen = [c.kind is Kind.CATEGORICAL and c.n_levels <= most for c in columns]
    return np.flatnonzero(np.array(chosen, dtype=bool))


def on_columns(estimator: Any, columns: tuple[Column, ...]) -> Any:
    """A fresh estimator for the numbers and codes of a table.

    One that takes categories (``categorical_features``) is told where they are, and gets codes;
    any other gets an indicator of each level, and standardized numbers.

    >>> on_columns(LogisticRegression(), (Column("a", Kind.CATEGORICAL, 2),))[-1]
    LogisticRegression()
    """
    if "categorical_features" in estimator.get_params():
        places = categorical_places(columns, MOST_LEVELS)
        return clone(estimator).set_params(categorical_features=places if len(places) else None)
    levels = categorical_places(columns)
    numbers = np.setdiff1d(np.arange(len(columns)), levels)
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("levels", one_hot, levels), ("numbers", StandardScaler(), numbers)]
    return make_pipeline(ColumnTransformer(parts), clone(estimator))


def _classifies(model: "BaggedDraws") -> bool:
    return bool(is_classifier(model._estimator()))


class BaggedDraws(MetaEstimatorMixin, TableEstimator):
    """A model of each of several draws of the training table, averaged over draws of the new row.

    An imputer that draws is fitted on X and y. It draws the training table ``n_draws`` times with
    its labels, as multiple imputation asks (``GreyImputer(labels="none")`` draws without), and
    each draw teaches a model. A new row is drawn as often, without a label, and its prediction is
    the mean over all models f_m and all draws x_d of the row:

    p̄(x) = 1/D² Σ_d Σ_m f_m(x_d)

    Parameters
    ----------
    imputer : imputer, optional
        One with ``draw``: `GreyImputer`, which is the default. Its ``add_indicator`` adds a column
        for each column with holes.
    estimator : classifier or regressor, optional
        What learns from a draw; logistic regression by default. One that takes categories, such as
        histogram gradient boosting, gets codes, any other an indicator of each level and
        standardized numbers. A classifier needs ``predict_proba``.
    n_draws : int, default=20
        D, the draws of the training table and of each new row.
    random_state : int, default=0
        Seed of the default imputer.

    Attributes
    ----------
    imputer_ : imputer
        The fitted imputer.
    estimators_ : list
        The fitted models, each with its preparation of the columns.
    classes_ : array
        The classes, of a classifier.
    noise_ : float
        Of a regressor: mean squared error of left-out training rows, of those without holes if
        there are at least 30.

    Each new row is drawn as if it were alone: one row gives the same as a batch.

    Examples
    --------
    >>> import numpy as np
    >>> from greyfill import BaggedDraws, GreyImputer
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 3)) + y[:, None]
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> model = BaggedDraws(GreyImputer(), n_draws=3).fit(X, y)
    >>> int(model.predict_proba([[2.0, np.nan, 1.5]]).argmax())
    1
    >>> model.variance_share([[2.0, 1.0, 1.5]])
    array([0.])
    """

    imputer_: Any
    estimators_: list[Any]
    classes_: NDArray[Any]
    noise_: float

    def __init__(
        self,
        imputer: Any = None,
        estimator: Any = None,
        n_draws: int = 20,
        *,
        random_state: int = 0,
    ) -> None:
        self.imputer = imputer
        self.estimator = estimator
        self.n_draws = n_draws
        self.random_state = random_state

    @property
    def categorical_features(self) -> Any:
        """As the imputer has it."""
        return getattr(self.imputer, "categorical_features", "auto")

    @property
    def ordinal_features(self) -> Any:
        """As the imputer has it."""
        return getattr(self.imputer, "ordinal_features", None)

    @property
    def missing_values(self) -> Any:
        """As the imputer has it."""
        return getattr(self.imputer, "missing_values", None)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the imputer, draw the training table, and train a model on each draw."""
        check_whole("n_draws", self.n_draws)
        check_seed(self.random_state)
        self._check_parts()
        with self._all_or_nothing():
            table, origin = self._open_training(X)
            self._schema = origin.schema
            known = self._read_target(y, table.n_rows)
            targets.warn_of_target(y, self._schema.names)
            self.imputer_ = self._prepared().fit(X, y)
            self._flagged = table.missing.any(axis=0) & self._adds_indicator
            tables = self.imputer_.draw(X, self.n_draws, y)
            drawn = [self._numbers(cells, table) for cells in tables]
            extra = (Column("", Kind.NUMERIC),) * int(self._flagged.sum())
            fresh = on_columns(self._estimator(), table.columns + extra)
            with own_errors():
                self.estimators_ = [clone(fresh).fit(cells, known) for cells in drawn]
                if not _classifies(self):
                    self.noise_ = self._left_out_error(fresh, drawn[0], known, table)
        return self

    def _check_parts(self) -> None:
        if self.imputer is not None and not hasattr(self.imputer, "draw"):
            raise InvalidParameterError(
                f"imputer is {self.imputer!r}, which cannot draw new rows; take GreyImputer()"
            )
        estimator = self._estimator()
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise InvalidParameterError(
                f"estimator is {estimator!r}; pass a classifier or a regressor, such as "
                "LogisticRegression()"
            )
        if _classifies(self) and not hasattr(estimator, "predict_proba"):
            raise InvalidParameterError(
                f"estimator is {estimator!r}, which has no predict_proba to average; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV"
            )

    def _estimator(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    @property
    def _adds_indicator(self) -> bool:
        return bool(getattr(self.imputer, "add_indicator", False))

    def _prepared(self) -> Any:
        """The imputer, which keeps all columns in their places."""
        imputer = GreyImputer() if self.imputer is None else clone(self.imputer)
        if self.imputer is None:
            imputer.set_params(random_state=self.random_state)
        return imputer.set_params(add_indicator=False, keep_empty_features=True)

    def _read_target(self, y: Any, n_rows: int) -> Any:
        """Class codes, or numbers; every row needs one."""
        if y is None:
            raise InvalidDataError(
                "This BaggedDraws estimator requires y to be passed, but the target y is None"
            )
        classifies = _classifies(self)
        target = targets.read_target(y, needs_classes=classifies)
        self._refuse_other_rows(n_rows, len(target.codes))
        if (target.codes < 0).any():
            raise InvalidDataError("y contains NaN; drop the rows without a label")
        if not classifies:
            with own_errors():
                return target.response
        if target.meaning is Meaning.RESPONSE:
            raise InvalidDataError("Unknown label type: continuous. Pass a regressor, or bin y.")
        self.classes_ = targets.class_array(target.classes)
        return target.codes

    def _numbers(self, filled: Any, table: Table) -> Floats:
        """A filled table in numbers and codes, with columns that tell where its holes were."""
        cells, _ = frames.encode(filled, schema=self._schema)
        values = np.where(cells.missing, np.nan, cells.values)
        return np.hstack([values, table.missing[:, self._flagged]])

    def _left_out_error(self, fresh: Any, cells: Floats, y: Floats, table: Table) -> float:
        complete = ~table.missing.any(axis=1)
        judged = complete if complete.sum() >= ENOUGH_ROWS else np.ones(len(y), dtype=bool)
        found = cross_val_predict(fresh, cells, y, cv=min(5, len(y))) if len(y) > 1 else y
        return float(np.mean((found - y)[judged] ** 2))

    def _by_draw(self, X: Any) -> Floats:
        """Predictions by draw of the row, averaged over the models: draws × rows × outputs."""
        table, _ = self._open_new(X)
        drawn = self.imputer_._draw(X, self.n_draws, alone=True)
        cells = np.stack([self._numbers(each, table) for each in drawn])
        flat = cells.reshape(-1, cells.shape[-1])
        found = np.mean([self._outputs(model, flat) for model in self.estimators_], axis=0)
        return np.asarray(found.reshape(self.n_draws, table.n_rows, -1))

    def _outputs(self, model: Any, cells: Floats) -> Floats:
        return np.asarray(model.predict_proba(cells) if _classifies(self) else model.predict(cells))

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, the mean over models and draws."""
        return np.asarray(self._by_draw(X).mean(axis=0))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row, or the mean of its predictions."""
        found = self._by_draw(X).mean(axis=0)
        return np.asarray(self.classes_[found.argmax(axis=1)] if _classifies(self) else found[:, 0])

    def variance_share(self, X: Any) -> Floats:
        """The share of the variance of what is predicted for each row that its holes cause.

        By the law of total variance over the draws d of the row, with p_d the mean over the models:

        Var(Y) = Var_d(E[Y | d]) + E_d(Var(Y | d)),  share = Var_d(E[Y | d]) / Var(Y)

        Of classes Σ_c Var_d(p_dc) / Σ_c p̄_c (1 − p̄_c): both sums are over the indicators of the
        classes. Of a number Var_d(p_d) / (Var_d(p_d) + ``noise_``). A row without holes has 0; 1
        would mean that its cells, once known, would settle the matter.
        """
        found = self._by_draw(X)
        between = found.var(axis=0).sum(axis=1)
        mean = found.mean(axis=0)
        total = (mean * (1.0 - mean)).sum(axis=1) if _classifies(self) else between + self.noise_
        return np.asarray(between / np.where(total > 0.0, total, 1.0))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predicted classes, or R² of the predicted numbers."""
        judge = accuracy_score if _classifies(self) else r2_score
        with own_errors():
            return float(judge(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        """A classifier or a regressor, as the estimator is."""
        tags, inner = super().__sklearn_tags__(), get_tags(self._estimator())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy(inner.classifier_tags)
        tags.regressor_tags = copy(inner.regressor_tags)
        tags.target_tags.required = True
        return tags
