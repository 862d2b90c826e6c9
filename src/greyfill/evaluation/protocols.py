"""Accuracy of a classifier on filled tables, by the paper's protocol and by an honest one.

=========  =======================================  ==================================
protocol   training rows are filled                 test rows are filled
=========  =======================================  ==================================
paper      all at once, with all labels             with them, by their own labels
honest     in each fold, with the fold's labels     from the training rows, no labels
=========  =======================================  ==================================

Under the paper's protocol the labels of the test rows have leaked into their fills.
"""

from collections.abc import Sequence
from typing import Any

from greyfill import frames
from greyfill.evaluation.classifiers import check_classifiers
from greyfill.evaluation.filling import fit_fill, prepare
from greyfill.evaluation.folds import Score, classify, honest_folds, paper_folds, stratified_folds
from greyfill.exceptions import InvalidDataError
from greyfill.table import Column, Floats, Ints, Table

__all__ = [
    "Score",
    "as_table",
    "cross_validate",
    "honest_protocol",
    "paper_protocol",
    "stratified_folds",
]


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
    table, labels = as_table(X, y, **kinds)
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
    table, labels = as_table(X, y, **kinds)
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


def as_table(X: Any, y: Any, **kinds: Any) -> tuple[Table, Ints]:
    """X as a Table and y as class codes, −1 where missing."""
    table = X if isinstance(X, Table) else frames.encode(X, **kinds)[0]
    labels, _ = frames.encode_labels(y)
    if len(labels) != table.n_rows:
        raise InvalidDataError(f"X has {table.n_rows} rows, y has {len(labels)}")
    return table, labels
