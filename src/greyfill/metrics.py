"""How good a fill is: cell by cell, as a distribution, and for a classifier that reads it.

Accuracy and macro-F1 of a classifier are scikit-learn's ``accuracy_score`` and ``f1_score``.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from scipy.stats import wasserstein_distance
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from greyfill.checks import OwnParameters, OwnScore, check_fitted, is_number, own_errors
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Floats, Kind, Table, range_sizes

__all__ = ["ImputationErrors", "MixedNaiveBayes", "distribution_distances", "imputation_errors"]


@dataclass(frozen=True)
class ImputationErrors:
    """Errors over the masked cells of a table, or of one of its columns.

    A figure is nan where no masked cell enters it.

    Attributes
    ----------
    nrmse : float
        Root mean square error over masked cells on the [0, 1] scale; categories count 0 or 1.
    nrmse_all_cells : float
        The same sum of squares, divided by all n·p cells.
    rmse : float
        Root mean square error over masked cells of numeric columns, in their own units.
    wrong_share : float
        Share of masked categorical and ordinal cells with a wrong level.
    n_cells : int
        Number of masked cells.
    by_column : dict
        The same figures for each column with masked cells.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind, Table
    >>> seen = np.zeros((3, 1), dtype=bool)
    >>> truth = Table(np.array([[0.0], [5.0], [10.0]]), seen, (Column("x", Kind.NUMERIC),))
    >>> filled, mask = np.array([[0.0], [6.0], [10.0]]), np.array([[False], [True], [False]])
    >>> errors = imputation_errors(truth, filled, mask)
    >>> errors.rmse, errors.nrmse, errors.n_cells
    (1.0, 0.1, 1)
    """

    nrmse: float
    nrmse_all_cells: float
    rmse: float
    wrong_share: float
    n_cells: int
    by_column: "dict[str, ImputationErrors]" = field(default_factory=dict)


def imputation_errors(truth: Table, filled: Floats, mask: Bools) -> ImputationErrors:
    """Compare filled cells with the truth.

    RMSE = √(1/m Σ (e_i − ẽ_i)²)  (38), over the m masked cells. The paper states neither units nor
    the error of a category, so each reading is given; ``nrmse`` is the main figure. Columns are
    scaled by the range of the truth, ordinal codes like numbers.

    Parameters
    ----------
    truth
        The table before cells were hidden. Its natural holes have no truth: a mask that covers
        one is refused.
    filled
        The table after the fill.
    mask
        The cells that were hidden on purpose.

    >>> from greyfill.table import Column
    >>> columns = (Column("age", Kind.NUMERIC), Column("sex", Kind.CATEGORICAL, 2))
    >>> cells = np.array([[20.0, 0.0], [30.0, 1.0], [60.0, 1.0]])
    >>> truth = Table(cells, np.zeros((3, 2), bool), columns)
    >>> filled = np.array([[20.0, 1.0], [40.0, 1.0], [60.0, 1.0]])
    >>> mask = np.array([[False, True], [True, True], [False, False]])
    >>> errors = imputation_errors(truth, filled, mask)
    >>> errors.rmse, errors.wrong_share, round(errors.nrmse, 4), errors.n_cells
    (10.0, 0.5, 0.5951, 3)
    >>> errors.by_column["age"].nrmse
    0.25
    """
    check_cells(truth, filled, mask)
    gaps, wrong = filled - truth.values, np.rint(filled) != truth.values
    scaled = np.where(truth.is_categorical, wrong, gaps / range_sizes(truth))
    numeric = np.array([c.kind is Kind.NUMERIC for c in truth.columns], dtype=bool)

    def figures(part: slice, by_column: dict[str, ImputationErrors]) -> ImputationErrors:
        hidden, squares = mask[:, part], scaled[:, part] ** 2
        return ImputationErrors(
            nrmse=float(np.sqrt(_mean(squares, hidden))),
            nrmse_all_cells=float(np.sqrt(np.sum(squares, where=hidden) / max(hidden.size, 1))),
            rmse=float(np.sqrt(_mean(gaps[:, part] ** 2, hidden & numeric[part]))),
            wrong_share=_mean(wrong[:, part], hidden & ~numeric[part]),
            n_cells=int(hidden.sum()),
            by_column=by_column,
        )

    masked = np.flatnonzero(mask.any(axis=0)).tolist()
    by_column = {truth.columns[j].name: figures(slice(j, j + 1), {}) for j in masked}
    return figures(slice(None), by_column)


def _mean(values: Floats | Bools, where: Bools) -> float:
    """Mean of the chosen cells, nan without any."""
    return float(np.mean(values, where=where)) if where.any() else float("nan")


def distribution_distances(truth: Table, filled: Floats, mask: Bools) -> dict[str, float]:
    """Compare the masked cells of each column with their fills as two samples.

    Numbers and ordinal codes: Wasserstein distance ∫ |F(x) − F̃(x)| dx / range.
    Categories: total variation ½ Σ_v |p(v) − p̃(v)|. Both are 0 for equal distributions, and 1 for
    point masses at the two ends of the observed range or for disjoint categories. Unlike the
    RMSE they punish fills that all lie at the mean.

    Parameters
    ----------
    truth, filled, mask
        As in :func:`imputation_errors`; columns without masked cells are left out.

    >>> from greyfill.table import Column, Kind
    >>> truth = Table(np.array([[0.0], [4.0], [8.0]]), np.zeros((3, 1), bool),
    ...               (Column("age", Kind.NUMERIC),))
    >>> mask = np.array([[True], [False], [True]])
    >>> distribution_distances(truth, np.full((3, 1), 4.0), mask)
    {'age': 0.5}
    """
    check_cells(truth, filled, mask)
    scale, distances = range_sizes(truth), {}
    for j, column in enumerate(truth.columns):
        rows = mask[:, j]
        if not rows.any():
            continue
        true, guess = truth.values[rows, j], filled[rows, j]
        if truth.is_categorical[j]:
            distances[column.name] = total_variation(true, guess)
        else:
            distances[column.name] = float(wasserstein_distance(true, guess) / scale[j])
    return distances


def total_variation(first: Floats, second: Floats) -> float:
    """Half the summed absolute difference of the shares of each value.

    >>> total_variation(np.array([0.0, 0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 1.0]))
    0.5
    """
    levels = np.union1d(first, second)[:, None]
    shares = (levels == first).mean(axis=1) - (levels == second).mean(axis=1)
    return float(np.abs(shares).sum() / 2)


def check_cells(truth: Table, filled: Floats, mask: Bools) -> None:
    """Refuse masks that do not fit, natural holes among the truth, and holes among the fills."""
    if filled.shape != truth.values.shape or mask.shape != truth.values.shape:
        raise InvalidDataError(
            f"filled {filled.shape} and mask {mask.shape} do not fit the table {truth.values.shape}"
        )
    if mask.dtype != bool:
        raise InvalidDataError(f"mask must be boolean, got {mask.dtype}")
    _refuse(truth, mask & truth.missing, "covers natural holes, whose truth is unknown,")
    _refuse(truth, mask & ~np.isfinite(filled), "covers cells without a finite fill")


def _refuse(truth: Table, cells: Bools, what: str) -> None:
    """Raise an error that names the columns of bad cells."""
    if cells.any():
        counts = {c.name: int(n) for c, n in zip(truth.columns, cells.sum(axis=0), strict=True)}
        places = ", ".join(f"{name!r} ({n})" for name, n in counts.items() if n)
        raise InvalidDataError(f"mask {what} in columns {places}")


MOST_APART = 1e7
"""How many times the variance of a column the largest one may count for it."""


class MixedNaiveBayes(OwnScore, OwnParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes with normal numbers, counted categories, and missing cells left out.

    P(y | x) ∝ P(y) Π_j P(x_j | y) over the observed cells j of the row, with
    P(x_j | y) = N(x_j; μ_yj, σ²_yj + ε) for numbers and
    P(x_j = v | y) = (n_yjv + α) / (n_yj + α K_j) for the K_j categories of column j. A category
    that was not seen in ``fit`` has n_yjv = 0. Without missing cells this is scikit-learn's
    GaussianNB on numbers, unless their scales are that far apart, and CategoricalNB on categories.

    Parameters
    ----------
    categorical_features : array-like of bool or of int, default=None
        Mask or positions of the columns that hold category codes 0, 1, …; None for none.
    alpha : float, default=1.0
        Additive (Laplace) smoothing of the counts, above 0.
    var_smoothing : float, default=1e-9
        ε as a share of the largest variance among the numeric columns, above 0; that counts as at
        most 10⁷ times a column's own, or a date in microseconds would drown all other numbers.

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
            j: _category_log_prob(cells[:, j], j, members, self.alpha)
            for j in np.flatnonzero(self.is_categorical_).tolist()
        }
        return self

    def _fit_numbers(self, X: Floats, members: Bools) -> None:
        """Mean and variance of each class and column; of all rows where a class has no cell."""
        overall_mean, overall_var = _moments(X)
        numeric_var = overall_var[~self.is_categorical_]
        largest = numeric_var.max(initial=0.0) or 1.0
        most = np.where(overall_var > 0, MOST_APART * overall_var, largest)
        self.epsilon_ = self.var_smoothing * np.minimum(largest, most)
        self.theta_ = np.tile(overall_mean, (len(members), 1))
        self.var_ = np.tile(overall_var, (len(members), 1))
        for c, rows in enumerate(members):
            known = ~np.isnan(X[rows]).all(axis=0)
            self.theta_[c, known], self.var_[c, known] = _moments(X[rows][:, known])
        self.var_ += self.epsilon_

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


def _category_log_prob(x: Floats, j: int, members: Bools, alpha: float) -> Floats:
    """Smoothed log shares of each code of column j and, last, of an unseen one, for each class."""
    seen = ~np.isnan(x)
    if ((x[seen] < 0) | (x[seen] != np.rint(x[seen]))).any():
        raise InvalidDataError(f"column {j} is categorical but holds other values than 0, 1, 2, …")
    n_levels = int(x[seen].max(initial=-1)) + 1
    classes = [x[rows & seen].astype(np.intp) for rows in members]
    counts = np.array([np.bincount(codes, minlength=n_levels + 1) for codes in classes])
    total = counts.sum(axis=1, keepdims=True) + alpha * max(n_levels, 1)
    return np.asarray(np.log(counts + alpha) - np.log(total))
