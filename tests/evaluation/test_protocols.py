"""What a protocol lets an imputer see, and what leaks when it sees too much."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import cross_val_predict

from greyfill.evaluation import honest_protocol, paper_protocol
from greyfill.evaluation.protocols import cross_validate, stratified_folds
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.metrics import MixedNaiveBayes
from greyfill.table import Column, Kind

CLASSIFIERS = ("naive_bayes", "logistic_regression", "gradient_boosting")


class Spy(TransformerMixin, BaseEstimator):
    """Fills with 0 and writes down which rows it saw, by their first cell, and which labels."""

    seen: list[dict[str, Any]] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any = None) -> "Spy":
        self.seen.append({"fitted": set(X[:, 0]), "labels": dict(zip(X[:, 0], y, strict=True))})
        return self

    def transform(self, X: Any) -> Any:
        self.seen[-1].setdefault("transformed", []).append(set(X[:, 0]))
        return np.nan_to_num(X)


@pytest.fixture
def spied() -> list[dict[str, Any]]:
    Spy.seen = []
    return Spy.seen


def noise(n: int = 200, p: int = 6, rate: float = 0.4) -> tuple[Any, Any]:
    """Columns that tell nothing of y, with holes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    X[rng.random(X.shape) < rate] = np.nan
    return X, y


def test_honest_protocol_fits_without_the_test_rows(spied: list[dict[str, Any]]) -> None:
    X = np.column_stack([np.arange(20.0), np.where(np.arange(20) % 3 == 0, np.nan, 1.0)])
    y = np.arange(20) % 2
    honest_protocol(X, y, Spy(), n_splits=5)
    assert len(spied) == 5
    tested: list[float] = []
    for fold in spied:
        train, test = fold["transformed"]
        assert train == fold["fitted"] == set(fold["labels"])
        assert not fold["fitted"] & test
        assert fold["fitted"] | test == set(range(20))
        tested += test
    assert sorted(tested) == list(range(20))


def test_paper_protocol_fits_once_on_everything(spied: list[dict[str, Any]]) -> None:
    X = np.column_stack([np.arange(20.0), np.where(np.arange(20) % 3 == 0, np.nan, 1.0)])
    paper_protocol(X, np.arange(20) % 2, Spy(), n_splits=5)
    assert len(spied) == 1
    assert spied[0]["labels"] == {i: i % 2 for i in range(20)}


def test_labels_leak_into_the_paper_protocol_only() -> None:
    X, y = noise()
    paper = paper_protocol(X, y, "class_mean", classifiers=["gradient_boosting"], n_splits=3)
    honest = honest_protocol(X, y, "class_mean", classifiers=["gradient_boosting"], n_splits=3)
    assert paper["gradient_boosting"].accuracy > 0.9
    assert 0.4 < honest["gradient_boosting"].accuracy < 0.6


def test_nothing_leaks_where_no_label_is_used() -> None:
    X, y = noise()
    assert 0.4 < paper_protocol(X, y, "mean")["naive_bayes"].accuracy < 0.6


def test_leak_of_a_neighbor_method() -> None:
    X, y = noise(100, 10, 0.6)
    assert paper_protocol(X, y, "cgknn")["naive_bayes"].accuracy > 0.7
    assert honest_protocol(X, y, "cgknn")["naive_bayes"].accuracy < 0.62


def test_a_date_in_microseconds_drowns_no_other_number() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = np.column_stack([rng.normal(size=80) + 3 * y, rng.normal(size=80)])
    found = [paper_protocol(X * [1.0, unit], y, "mean")["naive_bayes"] for unit in (1.0, 1e15)]
    assert found[0].accuracy > 0.85
    assert found[1].accuracy == pytest.approx(found[0].accuracy, abs=0.02)


def test_complete_tables_score_alike_and_like_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + y[:, None]
    paper, honest = paper_protocol(X, y, "mean"), honest_protocol(X, y, "mean")
    guess = paper["naive_bayes"].predictions
    assert np.array_equal(guess, honest["naive_bayes"].predictions)
    folds = stratified_folds(y, 10)
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(10)]
    assert np.array_equal(guess, cross_val_predict(MixedNaiveBayes(), X, y, cv=splits))
    assert paper["naive_bayes"].accuracy == (guess == y).mean()


@pytest.mark.parametrize("protocol", [paper_protocol, honest_protocol])
def test_all_classifiers_on_a_mixed_frame(protocol: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(120) % 2 == 0, "sick", "well")
    color = [
        None if i % 7 == 0 else "red" if label == "sick" else "blue" for i, label in enumerate(y)
    ]
    X = pl.DataFrame({"color": color, "noise": rng.normal(size=120), "flag": [True, None] * 60})
    scores = protocol(X, pl.Series(y), "knni", classifiers=CLASSIFIERS, n_splits=3)
    assert list(scores) == list(CLASSIFIERS)
    assert all(score.accuracy > 0.85 for score in scores.values())
    assert all(score.macro_f1 > 0.85 for score in scores.values())


def test_native_needs_a_classifier_that_takes_holes() -> None:
    X, y = noise(80)
    able = honest_protocol(X, y, "native", classifiers=["naive_bayes", "gradient_boosting"])
    assert set(able) == {"naive_bayes", "gradient_boosting"}
    with pytest.raises(ValueError, match="NaN"):
        honest_protocol(X, y, "native", classifiers=["logistic_regression"])


def test_rows_without_a_label_help_to_impute_and_are_not_scored() -> None:
    X, _ = noise(40)
    y = [None if i % 5 == 0 else i % 2 for i in range(40)]
    for protocol in (paper_protocol, honest_protocol):
        guess = protocol(X, y, "class_mean", n_splits=4)["naive_bayes"].predictions
        assert np.array_equal(guess == -1, np.arange(40) % 5 == 0)


def test_tiny_classes_do_not_stop_it() -> None:
    X, _ = noise(23)
    y = [0] * 20 + [1, 1, 2]
    score = honest_protocol(X, y, "cgknn", n_splits=10)["naive_bayes"]
    assert (score.predictions >= 0).all()
    assert score.predictions[22] != 2
    assert honest_protocol(X[:2], [0, 1], "mean")["naive_bayes"].accuracy == 0.0


def test_folds_are_even_and_seeded() -> None:
    labels = np.repeat([0, 1, 2, -1], [47, 12, 3, 5])
    folds = stratified_folds(labels, 10, 3)
    assert (folds == -1).sum() == 5
    for members in (labels >= 0, labels == 0, labels == 1, labels == 2):
        sizes = np.bincount(folds[members], minlength=10)
        assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(folds, stratified_folds(labels, 10, 3))
    assert not np.array_equal(folds, stratified_folds(labels, 10, 4))


def test_macro_f1_by_hand() -> None:
    # one column that gives the class away, but for the last row
    filled = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [0.0]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    columns = (Column("a", Kind.CATEGORICAL, 2),)
    score = cross_validate(filled, columns, labels, n_splits=6)["naive_bayes"]
    assert score.predictions.tolist() == [0, 0, 0, 1, 1, 0]
    assert score.accuracy == pytest.approx(5 / 6)
    assert score.macro_f1 == pytest.approx((6 / 7 + 4 / 5) / 2)


def test_refuses_what_makes_no_sense() -> None:
    X, y = noise(10)
    with pytest.raises(InvalidParameterError, match="no classifier is called 'svm'"):
        honest_protocol(X, y, "mean", classifiers=["svm"])
    with pytest.raises(InvalidParameterError, match="at least 2 folds"):
        honest_protocol(X, y, "mean", n_splits=1)
    with pytest.raises(InvalidDataError, match="10 rows, y has 9"):
        honest_protocol(X, y[:9], "mean")
