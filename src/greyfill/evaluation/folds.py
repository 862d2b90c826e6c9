"""Folds of a filled table, and how well a classifier does on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

from greyfill.evaluation.classifiers import predict
from greyfill.evaluation.filling import fill, fit_fill, prepare
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Column, Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class Fold:
    """Filled training rows with their classes, filled test rows, and which rows those are."""

    train: Floats
    labels: Ints
    test: Floats
    is_test: Bools


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
    fold_of = stratified_folds(labels, n_splits, random_state)
    folds = []
    for number in range(fold_of.max() + 1):
        test, train = fold_of == number, fold_of != number
        imputer = prepare(method, table, random_state)
        cells = fit_fill(imputer, table.rows(train), labels[train])
        known = labels[train] >= 0
        folds.append(
            Fold(cells[known], labels[train][known], fill(imputer, table.rows(test)), test)
        )
    return folds


def classify(folds: list[Fold], columns: tuple[Column, ...], labels: Ints, name: str) -> Score:
    """Predict each fold by a classifier that learned from the others."""
    guess = np.full(len(labels), -1, dtype=np.intp)
    for fold in folds:
        guess[fold.is_test] = predict(name, columns, fold.train, fold.labels, fold.test)
    known = labels >= 0
    pair = labels[known], guess[known]
    f1 = f1_score(*pair, average="macro", labels=np.unique(pair[0]), zero_division=0.0)
    return Score(float(accuracy_score(*pair)), float(f1), guess)


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
    shuffled = np.random.default_rng(random_state).permutation(known)
    dealt = shuffled[np.argsort(labels[shuffled], kind="stable")]
    fold_of = np.full(len(labels), -1, dtype=np.intp)
    fold_of[dealt] = np.arange(len(dealt)) % min(n_splits, len(dealt))
    return fold_of
