"""Naive Bayes for mixed columns and missing cells, the paper's classifier."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from greyfill.checks import is_number
from greyfill.conventions import OwnParameters, OwnScore, check_fitted, own_errors
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Floats, Ints


class MixedNaiveBayes(OwnScore, OwnParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes with normal numbers, counted categories, and missing cells left out.

    P(y | x) ∝ P(y) Π_j P(x_j | y) over the observed cells j of the row, with
    P(x_j | y) = N(x_j; μ_yj, σ²_yj + ε) for numbers and
    P(x_j = v | y) = (n_yjv + α) / (n_yj + α K_j) for the K_j categories of column j. A category
    that was not seen in ``fit`` has n_yjv = 0. Without missing cells this is scikit-learn's
    GaussianNB on numbers and CategoricalNB on categories.

    Parameters
    ----------
    categorical_features : array-like of bool or of int, default=None
        Mask or positions of the columns that hold category codes 0, 1, …; None for none.
    alpha : float, default=1.0
        Additive (Laplace) smoothing of the counts, above 0.
    var_smoothing : float, default=1e-9
        ε as a share of the largest variance among the numeric columns, above 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    class_prior_ : ndarray of shape (n_classes,)
        The share of each class.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance of each class; those of all rows where a class has no observed cell.
    category_log_prob_ : dict of int to ndarray of shape (n_classes, n_categories + 1)
        log P(x_j = v | y) for each categorical column, the last entry for unseen categories.

    >>> X = [[1.0, 0], [1.2, 0], [np.nan, 1], [3.0, 1], [3.4, 1]]
    >>> model = MixedNaiveBayes(categorical_features=[1]).fit(X, ["a", "a", "b", "b", "b"])
    >>> model.predict([[1.1, np.nan], [np.nan, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        categorical_features: ArrayLike | None = None,
        alpha: float = 1.0,
        var_smoothing: float = 1e-9,
    ) -> None:
        self.categorical_features = categorical_features
        self.alpha = alpha
        self.var_smoothing = var_smoothing

    def fit(self, X: ArrayLike, y: ArrayLike) -> "MixedNaiveBayes":
        """Learn priors, means, variances and category shares from the observed cells."""
        for name in ("alpha", "var_smoothing"):
            value = getattr(self, name)
            if not is_number(value) or not value > 0:
                raise InvalidParameterError(f"{name} must be a number above 0, got {value!r}")
        with own_errors():
            cells, target = validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite="allow-nan"
            )
            check_classification_targets(target)
        self.classes_, labels = np.unique(target, return_inverse=True)
        self.class_prior_ = np.bincount(labels) / len(labels)
        self.is_categorical_ = _categorical_mask(self.categorical_features, cells.shape[1])
        members = labels == np.arange(len(self.classes_))[:, None]
        self._fit_numbers(cells, members)
        self.category_log_prob_ = {
            int(j): _category_log_prob(_codes(cells[:, j], int(j)), members, self.alpha)
            for j in np.flatnonzero(self.is_categorical_)
        }
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(self.classes_[np.argmax(joint, axis=1)])

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return P(y | x), one column for each of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return log P(y | x), one column for each of ``classes_``."""
        joint = self.predict_joint_log_proba(X)
        joint -= joint.max(axis=1, keepdims=True)  # keeps digits where all densities are tiny
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_joint_log_proba(self, X: ArrayLike) -> Floats:
        """Return log P(y) + log P(x | y), one column for each of ``classes_``."""
        check_fitted(self)
        with own_errors():
            cells: Floats = validate_data(
                self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
            )
        joint = np.tile(np.log(self.class_prior_), (len(cells), 1))
        for j, column in enumerate(cells.T):
            seen = ~np.isnan(column)
            joint[seen] += self._log_likelihood(column[seen], j)
        return joint

    def _log_likelihood(self, x: Floats, j: int) -> Floats:
        """Return log P(x_j | y) of observed cells, one column for each class."""
        if self.is_categorical_[j]:
            log_prob: Floats = self.category_log_prob_[j]
            unseen = log_prob.shape[1] - 1
            known = (x >= 0) & (x < unseen) & (x == np.rint(x))
            return log_prob[:, np.where(known, x, unseen).astype(np.intp)].T
        gaps, var = x[:, None] - self.theta_[:, j], self.var_[:, j]
        return np.asarray(-0.5 * (np.log(2.0 * np.pi * var) + gaps**2 / var))

    def _fit_numbers(self, X: Floats, members: Bools) -> None:
        """Mean and variance of each class and column; of all rows where a class has no cell."""
        overall_mean, overall_var = _moments(X)
        numeric_var = overall_var[~self.is_categorical_]
        self.epsilon_ = self.var_smoothing * (numeric_var.max(initial=0.0) or 1.0)
        self.theta_ = np.tile(overall_mean, (len(members), 1))
        self.var_ = np.tile(overall_var, (len(members), 1))
        for c, rows in enumerate(members):
            known = ~np.isnan(X[rows]).all(axis=0)
            self.theta_[c, known], self.var_[c, known] = _moments(X[rows][:, known])
        self.var_ += self.epsilon_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _moments(X: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the observed cells of each column, 0 where there are none."""
    seen = ~np.isnan(X)
    count = np.maximum(seen.sum(axis=0), 1)
    mean = np.sum(X, axis=0, where=seen) / count
    return mean, np.sum((X - mean) ** 2, axis=0, where=seen) / count


def _categorical_mask(features: ArrayLike | None, n_features: int) -> Bools:
    """Turn a mask or positions into a mask over the columns."""
    given = np.asarray([] if features is None else features)
    if given.dtype == bool and given.shape == (n_features,):
        return given
    positions = np.arange(n_features)
    if given.size and (given.dtype.kind not in "iu" or not np.isin(given, positions).all()):
        raise InvalidParameterError(
            f"categorical_features must be a mask or positions over {n_features} columns, "
            f"got {features!r}"
        )
    return np.isin(positions, given)


def _codes(x: Floats, j: int) -> Ints:
    """Category codes of a training column, −1 for a missing cell."""
    seen = ~np.isnan(x)
    if ((x[seen] < 0) | (x[seen] != np.rint(x[seen]))).any():
        raise InvalidDataError(f"column {j} is categorical but holds other values than 0, 1, 2, …")
    return np.where(seen, x, -1).astype(np.intp)


def _category_log_prob(codes: Ints, members: Bools, alpha: float) -> Floats:
    """Smoothed log shares of each code and, last, of an unseen one, for each class."""
    n_levels = int(codes.max(initial=-1)) + 1
    counts = np.array(
        [np.bincount(codes[rows & (codes >= 0)], minlength=n_levels + 1) for rows in members]
    )
    total = counts.sum(axis=1, keepdims=True) + alpha * max(n_levels, 1)
    return np.asarray(np.log(counts + alpha) - np.log(total))
