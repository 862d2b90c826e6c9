"""Accuracy of a classifier on filled tables, by the paper's protocol and by an honest one.

=========  =======================================  ==================================
protocol   training rows are filled                 test rows are filled
=========  =======================================  ==================================
paper      all at once, with all labels             with them, by their own labels
honest     in each fold, with the fold's labels     from the training rows, no labels
=========  =======================================  ==================================

Under the paper's protocol the labels of the test rows have leaked into their fills.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from threadpoolctl import threadpool_limits

from greyfill import frames
from greyfill._neighbors import k_selection
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.bagged import categorical_places, on_columns
from greyfill.imputers.base import BaseImputer
from greyfill.imputers.registry import make
from greyfill.metrics import MixedNaiveBayes
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table
from greyfill.targets import Meaning, labels_of, read_target

MANY_ROWS = 10_000

FoldFill = tuple[Bools, Any, Floats, Floats]
"""Which rows are tested, the imputer fitted on the others, and both sides filled."""


@dataclass(frozen=True, eq=False)
class Score:
    """How well the classes of the labeled rows were predicted, each while outside the training.

    ``predictions`` are class codes, −1 for rows without a label.

    >>> from greyfill.evaluation import honest_protocol
    >>> X, y = [[float(i)] for i in (0, 1, 2, 7, 8, 9)], [0, 0, 0, 1, 1, 1]
    >>> honest_protocol(X, y, "mean", n_splits=3)["naive_bayes"].predictions.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    accuracy: float
    macro_f1: float
    predictions: Ints


@dataclass(frozen=True, eq=False)
class Fold:
    """Filled training rows with their classes, filled test rows, and which rows those are."""

    train: Floats
    labels: Ints
    test: Floats
    is_test: Bools


def paper_protocol(
    X: Any,
    y: Any,
    method: Any,
    *,
    classifiers: Sequence[str] = ("naive_bayes",),
    n_splits: int = 10,
    random_state: int = 0,
    **kinds: Any,
) -> dict[str, Score]:
    """Impute the whole table with all labels, then cross-validate: the leaking protocol.

    Parameters
    ----------
    X, y
        A Table or a table of any library, and the labels; rows without a label help to impute.
    method
        A name of ``METHODS`` or a transformer.
    classifiers
        Names of ``CLASSIFIERS``.
    n_splits
        Number of folds, stratified by class.
    random_state
        Seed of the folds and of the imputer.
    kinds
        ``categorical_features``, ``ordinal_features`` and ``missing_values`` as in the imputers.

    Noise that tells nothing of y; once the labels have filled the holes, it seems to tell much:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 10)), rng.integers(0, 2, 100)
    >>> X[rng.random(X.shape) < 0.6] = np.nan
    >>> paper_protocol(X, y, "class_mean")["naive_bayes"].accuracy
    0.76
    """
    table, labels = _as_table(X, y, **kinds)
    filled = fit_fill(prepare(method, table, random_state), table, labels)
    return cross_validate(filled, table.columns, labels, classifiers, n_splits, random_state)


def honest_protocol(
    X: Any,
    y: Any,
    method: Any,
    *,
    classifiers: Sequence[str] = ("naive_bayes",),
    n_splits: int = 10,
    random_state: int = 0,
    **kinds: Any,
) -> dict[str, Score]:
    """Fit the imputer inside each fold on the training rows, and fill test rows without labels.

    Parameters
    ----------
    X, y, method, classifiers, n_splits, random_state, kinds
        As in :func:`paper_protocol`; both draw the same folds.

    The noise of the other example:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 10)), rng.integers(0, 2, 100)
    >>> X[rng.random(X.shape) < 0.6] = np.nan
    >>> honest_protocol(X, y, "class_mean")["naive_bayes"].accuracy
    0.49
    """
    check_classifiers(tuple(classifiers))
    table, labels = _as_table(X, y, **kinds)
    folds = honest_folds(table, labels, method, n_splits, random_state)
    return {name: classify(folds, table.columns, labels, name) for name in classifiers}


def cross_validate(
    filled: Floats,
    columns: tuple[Column, ...],
    labels: Ints,
    classifiers: Sequence[str] = ("naive_bayes",),
    n_splits: int = 10,
    random_state: int = 0,
) -> dict[str, Score]:
    """Cross-validate classifiers on cells that are already filled, by class codes.

    Cells beyond ``columns`` count as numbers; rows with the code −1 are left out.
    """
    check_classifiers(tuple(classifiers))
    folds = paper_folds(filled, labels, n_splits, random_state)
    return {name: classify(folds, columns, labels, name) for name in classifiers}


def _as_table(X: Any, y: Any, **kinds: Any) -> tuple[Table, Ints]:
    table = X if isinstance(X, Table) else frames.encode(X, **kinds)[0]
    return table, class_codes(y, table.n_rows)[0]


def class_codes(y: Any, n_rows: int) -> tuple[Ints, tuple[Any, ...], Meaning]:
    """The class of each row, −1 where the label is missing; the sorted classes; what y is."""
    target = read_target(y, needs_classes=True)
    if len(target.codes) != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, y has {len(target.codes)}")
    return target.codes, target.classes, target.meaning


def check_classifiers(names: tuple[str, ...]) -> None:
    """Refuse names that are not in ``CLASSIFIERS``."""
    if unknown := [name for name in names if name not in CLASSIFIERS]:
        raise InvalidParameterError(
            f"no classifier is called {unknown[0]!r}; there are {', '.join(CLASSIFIERS)}"
        )


def paper_folds(filled: Floats, labels: Ints, n_splits: int, random_state: int) -> list[Fold]:
    """Cut a table that was filled as a whole."""
    fold_of = stratified_folds(labels, n_splits, random_state)
    folds = []
    for number in range(fold_of.max() + 1):
        test, train = fold_of == number, (fold_of >= 0) & (fold_of != number)
        folds.append(Fold(filled[train], labels[train], filled[test], test))
    return folds


def honest_folds(
    table: Table, labels: Ints, method: Any, n_splits: int, random_state: int
) -> list[Fold]:
    """Cut a table with holes, then fill: the training rows with their labels, test rows without."""
    folds = []
    for is_test, _, train, test in fold_fills(table, labels, method, n_splits, random_state):
        teaching = labels[~is_test] >= 0
        folds.append(Fold(train[teaching], labels[~is_test][teaching], test, is_test))
    return folds


def fold_fills(
    table: Table, labels: Ints, method: Any, n_splits: int, random_state: int
) -> Iterator[FoldFill]:
    """Fit the imputer outside each fold, and fill the training rows and then the test rows."""
    fold_of = stratified_folds(labels, n_splits, random_state)
    for number in range(fold_of.max() + 1):
        is_test = fold_of == number
        imputer = prepare(method, table, random_state)
        train = fit_fill(imputer, table.rows(~is_test), labels[~is_test])
        yield is_test, imputer, train, fill(imputer, table.rows(is_test))


def stratified_folds(labels: Ints, n_splits: int, random_state: int = 0) -> Ints:
    """The fold of each row, −1 for rows without a label.

    The shuffled rows of one class after the other are dealt out in turn, so that the folds differ
    by one row at most, in total and in each class, however small the class.

    >>> stratified_folds(np.array([0, 0, 0, 1, -1, 1]), 2)
    array([ 1,  0,  0,  0, -1,  1])
    """
    known = np.flatnonzero(labels >= 0)
    if n_splits < 2 or len(known) < 2:
        raise InvalidParameterError(
            "cross-validation needs at least 2 folds and 2 labeled rows, "
            f"got {n_splits} and {len(known)}"
        )
    fold_of = np.full(len(labels), -1, dtype=np.intp)
    n_folds = min(n_splits, len(known))
    fold_of[known] = k_selection.stratified_folds(labels[known], n_folds, random_state)
    return fold_of


def set_off_grid(imputer: Any) -> None:
    """Leave the fills of an imputer of ours where they are predicted."""
    if isinstance(imputer, BaseImputer):
        imputer.round_to_grid = False


def prepare(method: Any, table: Table, random_state: int | None = None) -> Any:
    """A fresh imputer with the kinds of the columns and the seed, which keeps all columns.

    Parameters
    ----------
    method
        A name of ``METHODS`` or a transformer, which is cloned. Imputers of greyfill get the kinds
        of the columns, whatever they had before. Those that are made by name do not move their
        fills to the grid of the column, as others do not either: predictions are compared.
    table
        The table that it will fill.
    random_state
        Given to each part that has a parameter of this name; None leaves all as they are.
    """
    imputer = make(method) if isinstance(method, str) else clone(method)
    if isinstance(method, str):
        set_off_grid(imputer)
    parameters = imputer.get_params(deep=True)
    own = {f"{key}__" for key, part in parameters.items() if isinstance(part, BaseImputer)}
    own |= {""} if isinstance(imputer, BaseImputer) else set()
    wanted = {f"{prefix}{key}": v for prefix in own for key, v in kinds_of(table).items()}
    for key in parameters:
        name = key.rsplit("__", 1)[-1]
        if name == "keep_empty_features":
            wanted[key] = True
        if name == "random_state" and random_state is not None:
            wanted[key] = random_state
    return imputer.set_params(**wanted)


def kinds_of(table: Table) -> dict[str, Any]:
    """The kinds of the columns, as parameters of an estimator of ours."""
    orders = {
        j: tuple(range(column.n_levels))
        for j, column in enumerate(table.columns)
        if column.kind is Kind.ORDINAL
    }
    is_categorical = table.is_categorical
    return {
        "categorical_features": is_categorical.tolist() if is_categorical.any() else "auto",
        "ordinal_features": orders or None,
        "missing_values": None,
    }


def fit_fill(imputer: Any, table: Table, labels: Ints | None) -> Floats:
    """Fit a prepared imputer on labeled rows and return these rows filled, with their labels' help.

    ``labels`` are class codes, −1 for a row without a label. Columns beyond those of the table,
    such as indicators, are kept at the end.

    >>> from greyfill.table import Column
    >>> holes = np.array([[False], [True], [False]])
    >>> table = Table(np.array([[1.0], [0.0], [3.0]]), holes, (Column("a", Kind.NUMERIC),))
    >>> fit_fill(prepare("mean", table), table, None).ravel()
    array([1., 2., 3.])
    """
    y = None if labels is None else labels_of(labels)
    return _checked(imputer.fit_transform(cells_of(table), y), table, imputer)


def fill_several_times(imputer: Any, table: Table, y: Any, n: int) -> list[Floats]:
    """Fit a prepared imputer, and return n draws of the table; one filled table if it draws none.

    ``y`` are labels, or a continuous y; imputers that draw with its help get it.
    """
    cells = cells_of(table)
    if n > 1 and "n_imputations" in imputer.get_params():
        imputer.set_params(n_imputations=n)
    tables = [imputer.fit_transform(cells, y)]
    if n > 1 and hasattr(imputer, "draw"):
        return draw(imputer, table, n, y)
    if n > 1:
        tables = getattr(imputer, "draws_", tables)
    return [_checked(filled, table, imputer) for filled in tables]


def draw(imputer: Any, table: Table, n: int, y: Any = None) -> list[Floats]:
    """Some rows, drawn n times by a fitted imputer."""
    return [_checked(drawn, table, imputer) for drawn in imputer.draw(cells_of(table), n, y)]


def fill(imputer: Any, table: Table) -> Floats:
    """Fill new rows by a fitted imputer, without labels."""
    return _checked(imputer.transform(cells_of(table)), table, imputer)


def cells_of(table: Table) -> Floats:
    """Numbers and codes, NaN in holes."""
    return np.where(table.missing, np.nan, table.values)


def _checked(output: Any, table: Table, imputer: Any) -> Floats:
    """The filled table; fills of categories are rounded to a level."""
    filled = np.array(output, dtype=np.float64)
    name, p = type(imputer).__name__, table.n_columns
    if filled.ndim != 2 or len(filled) != table.n_rows or filled.shape[1] < p:
        raise InvalidDataError(
            f"{name} made {filled.shape} of a table of {table.values.shape}; it must keep all cells"
        )
    # a transformer may work in float32: that is no change of an observed cell
    if not np.allclose(filled[:, :p][~table.missing], table.values[~table.missing], rtol=1e-5):
        raise InvalidDataError(
            f"{name} changed observed cells; a method may only fill holes. "
            "Wrap one that needs scaled numbers in EncodedImputer."
        )
    most = np.array([c.n_levels - 1 if c.n_levels else np.inf for c in table.columns])
    levels = np.clip(np.rint(filled[:, :p]), 0, most)
    fills = np.where(np.isfinite(most), levels, filled[:, :p])
    filled[:, :p] = np.where(table.missing, fills, table.values)
    return filled


def classify(folds: list[Fold], columns: tuple[Column, ...], labels: Ints, name: str) -> Score:
    """Predict each fold by a classifier that learned from the others."""
    guess = np.full(len(labels), -1, dtype=np.intp)
    for fold in folds:
        guess[fold.is_test] = _predict(name, columns, fold)
    known = labels >= 0
    pair = labels[known], guess[known]
    f1 = f1_score(*pair, average="macro", labels=np.unique(pair[0]), zero_division=0.0)
    return Score(float(accuracy_score(*pair)), float(f1), guess)


def _predict(name: str, columns: tuple[Column, ...], fold: Fold) -> Ints:
    """The classes of the test rows of a fold, by a classifier that learned from its training rows.

    Cells beyond ``columns``, such as indicators, count as numbers. A single class among the
    training rows is predicted for all.
    """
    if (fold.labels == fold.labels[0]).all():
        return np.full(len(fold.test), fold.labels[0])
    extra = (Column("", Kind.NUMERIC),) * (fold.train.shape[1] - len(columns))
    model = CLASSIFIERS[name](columns + extra)
    # on small tables several OpenMP threads only wait for each other on a busy machine
    few = len(fold.train) < MANY_ROWS
    with threadpool_limits(1, "openmp") if few else nullcontext():
        return np.asarray(model.fit(fold.train, fold.labels).predict(fold.test), dtype=np.intp)


def naive_bayes(columns: tuple[Column, ...]) -> Any:
    """The paper's classifier; categories are counted, missing cells left out."""
    return MixedNaiveBayes(categorical_features=categorical_places(columns))


def logistic_regression(columns: tuple[Column, ...]) -> Any:
    """Indicators of the levels, standardized numbers, and an L2 penalty of 1."""
    return on_columns(LogisticRegression(max_iter=1000), columns)


def gradient_boosting(columns: tuple[Column, ...]) -> Any:
    """Histogram gradient boosting; takes missing cells and up to 255 levels as categories."""
    return on_columns(HistGradientBoostingClassifier(random_state=0), columns)


CLASSIFIERS: dict[str, Callable[[tuple[Column, ...]], Any]] = {
    "naive_bayes": naive_bayes,
    "logistic_regression": logistic_regression,
    "gradient_boosting": gradient_boosting,
}
"""Name → a function of the columns that makes the classifier."""
