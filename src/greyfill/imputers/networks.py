"""Networks and prototypes: imputers, and classifiers that read rows with holes as they are."""

from abc import abstractmethod
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from greyfill import targets
from greyfill._chained.design import row_order
from greyfill._systems.network import Network, train
from greyfill._systems.prototypes import Prototypes, train_prototypes
from greyfill.checks import OwnScore, check_choice, check_seed, check_whole, is_number
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.estimator import SavedEstimator
from greyfill.imputers.models import class_codes
from greyfill.imputers.systems import SystemImputer
from greyfill.table import Floats, Ints, Table

SHARED = tuple(signature(SystemImputer).parameters)


def _check_share(name: str, value: Any) -> float:
    if not is_number(value) or not 0.0 <= value < np.inf:
        raise InvalidParameterError(f"{name} must be a number of at least 0, not {value!r}")
    return float(value)


def _train_network(model: Any, table: Table, labels: Ints | None, seed: int, report: Any) -> Any:
    """The net of an imputer or classifier, and its losses."""
    n_classes = 0 if labels is None else int(labels.max()) + 1
    return train(
        table,
        labels,
        n_classes,
        n_hidden=model.n_hidden,
        share=float(model.share),
        max_iter=model.max_iter,
        rng=np.random.default_rng(seed),
        report=report,
        stops_by_class=isinstance(model, SystemClassifier),
    )


class MultiTaskMLPImputer(SystemImputer):
    """Multi-task perceptron imputation (García-Laencina et al. 2013).

    One hidden layer learns the class and every column at once; the output of column j does not see
    input j:

    h_j = tanh(x W + b − x_j W_j + c),  x̂_j = h_j V_j + v_j,
    loss = cross-entropy of the class + λ · mean squared error of the observed cells

    c is an input of the class for the outputs of columns only; it is off for rows without a label,
    as in ``transform``. Missing inputs are the net's own outputs, renewed every five epochs.
    Numbers are scaled to [0, 1], categories are indicators of which the largest wins. Adam trains
    on all rows; the weights of least error on a tenth of held-out cells are kept (early stopping).
    The paper's details are not all printed: hidden units, λ and the stopping rule are rulings of
    ours.

    Parameters
    ----------
    n_hidden : int, default=24
        Hidden units.
    share : float, default=1.0
        λ, times the number of features.
    max_iter : int, default=400
        Most epochs.
    labels : "donors" or "none", default="donors"
        Whether the class is a task, and helps to fill training rows that have a label.

    Attributes
    ----------
    n_iter_, history_ : int, list of float
        Epochs, and the loss in each.

    >>> import numpy as np
    >>> x = np.linspace(0, 1, 60)
    >>> X = np.column_stack([x, 1 - x])
    >>> X[25, 1] = np.nan
    >>> bool(abs(MultiTaskMLPImputer(labels="none").fit_transform(X)[25, 1] - (1 - x[25])) < 0.2)
    True
    """

    n_iter_: int
    history_: list[float]
    _fitted: Network

    def __init__(
        self,
        n_hidden: int = 24,
        *,
        share: float = 1.0,
        max_iter: int = 400,
        labels: str = "donors",
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
        given = locals()
        super().__init__(**{name: given[name] for name in SHARED})
        self.n_hidden = n_hidden
        self.share = share
        self.max_iter = max_iter
        self.labels = labels

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole("n_hidden", self.n_hidden)
        check_whole("max_iter", self.max_iter)
        _check_share("share", self.share)

    def _fit_nothing(self) -> None:
        super()._fit_nothing()
        self.n_iter_, self.history_ = 1, []

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        self._fitted, self.history_ = _train_network(
            self, table, _dense(labels), self._seed(), self._report
        )
        self.n_iter_ = len(self.history_)
        return self._fitted.fill(table, _dense(labels))

    def _fill_rows(self, table: Table) -> Floats:
        return self._fitted.fill(table)


def _dense(labels: Ints | None) -> Ints | None:
    """Codes 0, 1, … of the classes that occur."""
    return None if labels is None else np.unique(labels, return_inverse=True)[1].astype(np.intp)


class LVQImputer(SystemImputer):
    """Learning vector quantization with holes (Villmann et al. 2006): values of prototypes.

    d_λ(x, w) = (Σ λ / Σ_{j ∈ o} λ_j) Σ_{j ∈ o} λ_j (x_j − w_j)²,  λ ≥ 0, Σ λ = 1

    over the observed columns o of a row. Prototypes w of the classes and relevances λ of columns
    minimize Σ σ((d⁺ − d⁻) / (d⁺ + d⁻)) (GRLVQ) by L-BFGS, from clusters of each class; columns that
    a row lacks move nothing. A hole takes the value of the row's nearest prototype: of its own
    class where it is known, of any for new rows; or of all, by exp(−d / s). Numbers are scaled to
    [0, 1], a category is an indicator for each level under one relevance. Steps on all rows stand
    for the single steps of the source; with ``labels="none"``, or one class, prototypes are
    clusters. Prototypes stand where they tell classes apart, which may be far from the rows: by
    default a prototype gives the mean of the rows that are nearest to it.

    Parameters
    ----------
    n_prototypes : int, default=5
        Prototypes of each class.
    value : "members" or "prototype", default="members"
        What a prototype gives: the mean of the observed cells of its rows, or its own position.
    softness : float, default=0.02
        s; 0 takes the nearest prototype alone.
    max_iter : int, default=100
        Most steps of the descent.
    labels : "donors" or "none", default="donors"
        Whether prototypes belong to classes.

    Attributes
    ----------
    relevances_ : array of shape (n_features,)
        λ; 0 for columns that were not used.
    n_iter_, history_ : int, list of float
        Steps of the descent, and the cost after each.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 2.0], [5.0, 8.0], [np.nan, 8.0], [5.0, 8.0]])
    >>> LVQImputer(n_prototypes=1).fit_transform(X, [0, 0, 0, 1, 1, 1])[[1, 4], [1, 0]].round(1)
    array([2., 5.])
    """

    relevances_: Floats
    n_iter_: int
    history_: list[float]
    _fitted: Prototypes

    def __init__(
        self,
        n_prototypes: int = 5,
        *,
        value: str = "members",
        softness: float = 0.02,
        max_iter: int = 100,
        labels: str = "donors",
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
        given = locals()
        super().__init__(**{name: given[name] for name in SHARED})
        self.n_prototypes = n_prototypes
        self.value = value
        self.softness = softness
        self.max_iter = max_iter
        self.labels = labels

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole("n_prototypes", self.n_prototypes)
        check_whole("max_iter", self.max_iter)
        _check_share("softness", self.softness)
        check_choice("value", self.value, ("members", "prototype"))

    def _fit_nothing(self) -> None:
        super()._fit_nothing()
        self.relevances_ = np.zeros(len(self._kept))
        self.n_iter_, self.history_ = 1, []

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        codes = np.zeros(table.n_rows, dtype=np.intp) if labels is None else labels
        self._fitted, self.history_ = train_prototypes(
            table, codes, self.n_prototypes, self.max_iter, np.random.default_rng(self._seed())
        )
        if self.value == "prototype":
            self._fitted = replace(self._fitted, given=self._fitted.centers)
        self._report(f"{len(self._fitted.centers)} prototypes, {len(self.history_)} steps")
        self.n_iter_ = max(len(self.history_), 1)
        self.relevances_[np.flatnonzero(self._kept)[self._usable]] = self._fitted.relevance
        return self._fitted.fill(table, codes, float(self.softness))

    def _fill_rows(self, table: Table) -> Floats:
        return self._fitted.fill(table, None, float(self.softness))


class SystemClassifier(OwnScore, ClassifierMixin, SavedEstimator):
    """What the classifiers share: holes are welcome, and what they predict is a class."""

    categorical_features: Any
    random_state: Any
    classes_: NDArray[Any]

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse parameters that cannot be."""

    @abstractmethod
    def _train(self, table: Table, labels: Ints, seed: int) -> None:
        """Learn from rows whose columns all have a value."""

    @abstractmethod
    def _shares(self, table: Table) -> Floats:
        """Probabilities of the classes of new rows."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the classes y of the rows of X, which may have holes."""
        codes, classes = class_codes(y, type(self).__name__)
        with self._all_or_nothing():
            check_seed(self.random_state)
            self._check_settings()
            table, origin = self._open_training(X)
            self._refuse_other_rows(table.n_rows, len(codes))
            targets.warn_of_target(y, origin.schema.names)
            self._schema = origin.schema
            self._kept = np.asarray(~table.missing.all(axis=0))
            if not self._kept.any():
                raise InvalidDataError("no column of X has an observed value")
            self.classes_ = targets.class_array(classes)
            part = table.select(self._kept)
            order = row_order(part)
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._train(part.rows(order), codes[order], seed)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, shape (n_rows, n_classes)."""
        table, _ = self._open_new(X)
        return self._shares(table.select(self._kept))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        most = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most])


class MultiTaskMLPClassifier(SystemClassifier):
    """Classes of rows with holes, by a multi-task perceptron (García-Laencina et al. 2013).

    The net is that of `MultiTaskMLPImputer`. What a row lacks is filled by the net's own outputs,
    without its class; the output of the class reads the completed row. Training stops by the error
    on the classes of a tenth of the rows, which are held out.

    Parameters
    ----------
    n_hidden, share, max_iter
        As in `MultiTaskMLPImputer`.
    categorical_features : "auto" or list of names, indices or a mask, default="auto"
        Columns to treat as unordered categories besides strings, categories and booleans.
    ordinal_features : list of names or indices, or dict of name to ordered levels, optional
        Columns to treat as ordered.
    missing_values : scalar or list, optional
        Values that mean "missing" besides NaN, None, NA and null.
    random_state : int, default=0
        Seed of the first weights and of the held-out cells.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns of ``predict_proba``.
    n_iter_ : int
        Epochs.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1], [0.1, np.nan], [0.2, 1], [1.0, 2], [np.nan, 2], [0.9, 2]])
    >>> model = MultiTaskMLPClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[np.nan, 2.0], [0.1, np.nan]])
    array(['b', 'a'], dtype='<U1')
    """

    n_iter_: int
    _fitted: Network

    def __init__(
        self,
        n_hidden: int = 24,
        *,
        share: float = 1.0,
        max_iter: int = 400,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.share = share
        self.max_iter = max_iter
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing_values = missing_values
        self.random_state = random_state

    def _check_settings(self) -> None:
        check_whole("n_hidden", self.n_hidden)
        check_whole("max_iter", self.max_iter)
        _check_share("share", self.share)

    def _train(self, table: Table, labels: Ints, seed: int) -> None:
        self._fitted, history = _train_network(self, table, labels, seed, lambda message: None)
        self.n_iter_ = len(history)

    def _shares(self, table: Table) -> Floats:
        return self._fitted.classes(table)


class LVQClassifier(SystemClassifier):
    """The class of rows with holes, by the nearest prototype (Villmann et al. 2006).

    Prototypes, relevances and distances are those of `LVQImputer`; holes stay holes. Probabilities
    are shares of 1 / d_λ to the nearest prototype of each class.

    Parameters
    ----------
    n_prototypes : int, default=1
        Prototypes of each class.
    max_iter : int, default=100
        Most steps of the descent.
    categorical_features, ordinal_features, missing_values, random_state
        As in `MultiTaskMLPClassifier`.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns of ``predict_proba``.
    n_iter_ : int
        Steps of the descent.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1], [0.1, np.nan], [0.2, 1], [1.0, 2], [np.nan, 2], [0.9, 2]])
    >>> model = LVQClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[np.nan, 2.0], [0.1, np.nan]])
    array(['b', 'a'], dtype='<U1')
    """

    n_iter_: int
    _fitted: Prototypes

    def __init__(
        self,
        n_prototypes: int = 1,
        *,
        max_iter: int = 100,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.max_iter = max_iter
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing_values = missing_values
        self.random_state = random_state

    def _check_settings(self) -> None:
        check_whole("n_prototypes", self.n_prototypes)
        check_whole("max_iter", self.max_iter)

    def _train(self, table: Table, labels: Ints, seed: int) -> None:
        self._fitted, history = train_prototypes(
            table, labels, self.n_prototypes, self.max_iter, np.random.default_rng(seed)
        )
        self.n_iter_ = max(len(history), 1)

    def _shares(self, table: Table) -> Floats:
        close = 1.0 / (self._fitted.class_distances(table, len(self.classes_)) + 1e-12)
        return np.asarray(close / close.sum(axis=1, keepdims=True))
