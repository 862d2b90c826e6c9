"""Networks and prototypes: imputers, and classifiers that read rows with holes as they are."""

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from greyfill import targets
from greyfill._chained.design import row_order
from greyfill._systems.network import Network, train
from greyfill._systems.prototypes import Prototypes, train_prototypes
from greyfill.checks import OwnScore, check_choice, check_number, check_whole, sure_seed
from greyfill.imputers.estimator import SavedEstimator, learned, parameter
from greyfill.imputers.models import TableModel, class_codes
from greyfill.imputers.systems import IterativeSystem
from greyfill.table import Floats, Ints, Table


class _Perceptron(SavedEstimator):
    """What the imputer and the classifier share: the net, and how it is trained.

    Parameters
    ----------
    n_hidden : int, default=24
        Hidden units.
    share : float, default=1.0
        λ, times the number of features.
    max_iter : int, default=400
        Most epochs.
    """

    n_hidden: int = parameter(default=24, check=check_whole, kw_only=False)
    share: float = parameter(default=1.0, check=check_number)
    max_iter: int = parameter(default=400, check=check_whole)

    _fitted: Network = learned()

    def _train(self, table: Table, labels: Ints | None, seed: int, report: Any) -> list[float]:
        """Learn the weights, and return the losses."""
        self._fitted, history = train(
            table, labels, self.n_hidden, self.share, self.max_iter, np.random.default_rng(seed),
            report, stops_by_class=isinstance(self, SystemClassifier),
        )  # fmt: skip
        return history


class _Quantizer(SavedEstimator):
    """What the imputer and the classifier share: prototypes, and how they are trained.

    Parameters
    ----------
    n_prototypes : int, default=1
        Prototypes of each class.
    max_iter : int, default=100
        Most steps of the descent.
    """

    n_prototypes: int = parameter(default=1, check=check_whole, kw_only=False)
    max_iter: int = parameter(default=100, check=check_whole)

    _fitted: Prototypes = learned()

    def _train(self, table: Table, labels: Ints, seed: int, report: Any) -> list[float]:
        """Learn the prototypes, and return the costs."""
        self._fitted, history = train_prototypes(
            table, labels, self.n_prototypes, self.max_iter, np.random.default_rng(seed)
        )
        report(f"{len(self._fitted.centers)} prototypes, {len(history)} steps")
        return history


class MultiTaskMLPImputer(_Perceptron, IterativeSystem):
    """Multi-task perceptron imputation (García-Laencina et al. 2013).

    One hidden layer learns the class and every column at once; the output of column j does not see
    input j:

    h_j = tanh(x W + b − x_j W_j + c),  x̂_j = h_j V_j + v_j,
    loss = cross-entropy of the class + λ · mean squared error of the observed cells

    c is an input of the class for the outputs of columns only; it is off for rows without a label,
    as in ``transform``. Missing inputs are the net's own outputs, renewed every five epochs.
    Numbers are scaled to [0, 1], categories are indicators of which the largest wins. Adam trains
    on all rows; the weights of least error on a tenth of held-out cells are kept (early stopping).
    The paper's details are not all printed: hidden units, λ and the stopping rule are our rulings.

    Parameters
    ----------
    labels : "donors" or "none", default="donors"
        Whether the class is a task, and helps to fill training rows that have a label.

    >>> X = np.column_stack([np.linspace(0, 1, 60)] * 2)
    >>> X[25, 1] = np.nan
    >>> bool(abs(MultiTaskMLPImputer(labels="none").fit_transform(X)[25, 1] - X[25, 0]) < 0.2)
    True
    """

    labels: str = parameter(default="donors", check=check_choice, choices=("donors", "none"))

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        if labels is not None:  # 0, 1, … of the classes that occur
            labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
        self.history_ = self._train(table, labels, sure_seed(self.random_state), self._report)
        return self._fitted.fill(table, labels)


class LVQImputer(_Quantizer, IterativeSystem):
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
    value : "members" or "prototype", default="members"
        What a prototype gives: the mean of the observed cells of its rows, or its own position.
    softness : float, default=0.02
        s; 0 takes the nearest prototype alone.
    labels : "donors" or "none", default="donors"
        Whether prototypes belong to classes.

    Attributes
    ----------
    relevances_ : array of shape (n_features,)
        λ; 0 for columns that were not used.

    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 2.0], [5.0, 8.0], [np.nan, 8.0], [5.0, 8.0]])
    >>> LVQImputer(n_prototypes=1).fit_transform(X, [0, 0, 0, 1, 1, 1])[[1, 4], [1, 0]].round(1)
    array([2., 5.])
    """

    n_prototypes: int = field(default=5, kw_only=False)
    value: str = parameter(default="members", check=check_choice, choices=("members", "prototype"))
    softness: float = parameter(default=0.02, check=check_number)
    labels: str = parameter(default="donors", check=check_choice, choices=("donors", "none"))

    relevances_: Floats = learned()

    def _fit_nothing(self) -> None:
        self.relevances_ = np.zeros(len(self._kept))

    def _learn_rows(self, table: Table, labels: Ints | None) -> Floats:
        codes = np.zeros(table.n_rows, dtype=np.intp) if labels is None else labels
        self.history_ = self._train(table, codes, sure_seed(self.random_state), self._report)
        if self.value == "prototype":
            self._fitted = replace(self._fitted, given=self._fitted.centers)
        self.relevances_[np.flatnonzero(self._kept)[self._usable]] = self._fitted.relevance
        return self._fitted.fill(table, codes, float(self.softness))

    def _fill_rows(self, table: Table) -> Floats:
        return self._fitted.fill(table, None, float(self.softness))


class SystemClassifier(OwnScore, ClassifierMixin, TableModel):
    """What the classifiers share: holes are welcome, and what they predict is a class.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns of ``predict_proba``.
    n_iter_ : int
        Steps of the training.
    """

    classes_: NDArray[Any] = learned()
    n_iter_: int = learned()
    _fitted: Any = learned()

    _train: ClassVar[Callable[..., list[float]]]

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the classes y of the rows of X, which may have holes."""
        codes, classes = class_codes(y, type(self).__name__)
        with self._all_or_nothing():
            self._check_settings()
            table = self._training_rows(X, len(codes))
            targets.warn_of_target(y, self._schema.names)
            self.classes_ = targets.class_array(classes)
            order = row_order(table)
            seed, quiet = sure_seed(self.random_state), lambda message: None
            history = self._train(table.rows(order), codes[order], seed, quiet)
            self.n_iter_ = max(len(history), 1)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, shape (n_rows, n_classes)."""
        rows = self._new_rows(X)  # first, since it asks whether there was a fit
        return np.asarray(self._fitted.classes(rows))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        most = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most])


class MultiTaskMLPClassifier(_Perceptron, SystemClassifier):
    """Classes of rows with holes, by a multi-task perceptron (García-Laencina et al. 2013).

    The net is that of `MultiTaskMLPImputer`. What a row lacks is filled by the net's own outputs,
    without its class; the output of the class reads the completed row. Training stops by the error
    on the classes of a tenth of the rows, which are held out.

    >>> X = np.array([[0.0, 1], [0.1, np.nan], [0.2, 1], [1.0, 2], [np.nan, 2], [0.9, 2]])
    >>> model = MultiTaskMLPClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[np.nan, 2.0], [0.1, np.nan]])
    array(['b', 'a'], dtype='<U1')
    """


class LVQClassifier(_Quantizer, SystemClassifier):
    """The class of rows with holes, by the nearest prototype (Villmann et al. 2006).

    Prototypes, relevances and distances are those of `LVQImputer`; holes stay holes. Probabilities
    are shares of 1 / d_λ to the nearest prototype of each class.

    >>> X = np.array([[0.0, 1], [0.1, np.nan], [0.2, 1], [1.0, 2], [np.nan, 2], [0.9, 2]])
    >>> model = LVQClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[np.nan, 2.0], [0.1, np.nan]])
    array(['b', 'a'], dtype='<U1')
    """
