"""What y is: one rule, and the same answer in every room that reads y."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import greyfill
from greyfill.evaluation import compare
from greyfill.evaluation.protocols import fit_fill, prepare
from greyfill.exceptions import InvalidDataError
from greyfill.report import summarize
from greyfill.table import Column, Kind, Table
from greyfill.targets import Meaning, labels_of, meaning_of, read_target

SCATTERED = np.repeat(np.arange(30), 3)
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(n) for n in range(30)]


def holes(n: int = 90) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + np.arange(n)[:, None] / n
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize(
    ("y", "meaning"),
    [
        (["yes", None, "no"], "classes"),
        ([True, False], "classes"),
        ([0, 1, 2], "classes"),
        ([0.0, 1.0, np.nan], "classes"),
        ([0.5, 1.0], "response"),
        ([0.0, 2.0**63], "response"),
        ([Decimal("0.5"), Decimal("1")], "response"),
        (np.arange(20), "classes"),
        (np.arange(21), "response"),
        (np.arange(21.0), "response"),
        (np.arange(-5, 16, dtype=np.int8), "response"),
        (np.repeat(np.arange(21), 10), "classes"),
        ([*np.repeat(np.arange(21), 10).tolist()[:-1], None], "response"),
        ([str(n) for n in range(30)], "classes"),
        (pd.Series(range(30)).astype("category"), "classes"),
        (pd.Series([0.5, 1.5]).astype("category"), "classes"),
        (pd.Categorical([0.5, 1.5]), "classes"),
        (pd.Series(range(30), dtype="Int64"), "response"),
        (pl.Series([str(n) for n in range(30)], dtype=pl.Categorical), "classes"),
        (pl.Series(range(30)), "response"),
        (pa.chunked_array([range(30)]).dictionary_encode(), "classes"),
        (DAYS, "classes"),
        (np.array(DAYS, dtype="M8[D]"), "classes"),
        ([1, "a", 2.5], "classes"),
        ([None, None], "none"),
        ([np.nan, np.nan], "none"),
    ],
)
def test_the_rule(y, meaning):
    assert read_target(y).meaning is Meaning(meaning)


def test_what_needs_classes_takes_scattered_whole_numbers_but_no_fractions():
    assert read_target(SCATTERED, needs_classes=True).meaning is Meaning.CLASSES
    assert read_target(SCATTERED + 0.5, needs_classes=True).meaning is Meaning.RESPONSE
    assert meaning_of(tuple(range(30)), 90) is Meaning.RESPONSE


def test_infinity_is_refused():
    with pytest.raises(InvalidDataError, match="infinity: row 1"):
        read_target([0.5, np.inf])


def test_a_response_has_gaps_where_labels_are_missing():
    target = read_target([2.5, None, 0.5, 2.5])
    np.testing.assert_array_equal(target.response, [2.5, np.nan, 0.5, 2.5])


def test_report_and_imputer_give_one_answer():
    """Thirty numbers with three rows each are a response to GreyImputer, so to its report, too."""
    X = holes()
    grey = greyfill.GreyImputer(n_cells=20, max_iter=1)
    summary = summarize(grey, X, grey.fit_transform(X, SCATTERED), SCATTERED)
    assert grey._response_range == (0.0, 29.0)
    assert summary["table"]["n_classes"] == 0
    named = [f"person {n:02d}" for n in SCATTERED]
    assert summarize(grey, X, grey.fit_transform(X, named), named)["table"]["n_classes"] == 30
    assert grey._response_range is None
    cgknn = greyfill.CGKNNImputer(2)
    summary = summarize(cgknn, X, cgknn.fit_transform(X, SCATTERED), SCATTERED)
    assert summary["table"]["n_classes"] == 30


def test_methods_without_need_of_classes_choose_k_without_a_response():
    X = holes()
    plain, given = greyfill.IKNNImputer().fit(X), greyfill.IKNNImputer().fit(X, SCATTERED)
    assert plain.k_scores_ == given.k_scores_
    declared = greyfill.IKNNImputer().fit(X, pd.Series(SCATTERED).astype("category"))
    assert declared.k_scores_ != plain.k_scores_


def test_a_classifier_takes_many_numbers_with_few_rows():
    model = greyfill.GreyClassifier(n_cells=10).fit(holes(), SCATTERED)
    assert len(model.classes_) == 30


def test_classes_of_a_comparison_stay_classes():
    """An imputer that is given codes of many small classes must not take them for numbers."""
    cells = holes()
    columns = tuple(Column(name, Kind.NUMERIC) for name in "abc")
    table = Table(np.nan_to_num(cells), np.isnan(cells), columns)
    imputer = prepare(greyfill.GreyImputer(n_cells=20, max_iter=1), table)
    fit_fill(imputer, table, np.where(SCATTERED == 29, -1, SCATTERED))
    assert len(imputer._classes) == 29
    labels = labels_of(np.array([-1, *range(30)]))
    assert labels[0] is None
    assert sorted(labels[1:]) == labels[1:].tolist()
    assert read_target(labels).codes.tolist() == [-1, *range(30)]


def test_measurements_are_refused_where_classes_are_needed():
    fractions = np.linspace(0.5, 4.1, 90)
    with pytest.raises(InvalidDataError, match="y has no classes"):
        compare(holes(), fractions, methods=["mean"], progress=False)
    for estimator in (greyfill.CGKNNImputer(), greyfill.GreyClassifier()):
        with pytest.raises(InvalidDataError, match="continuous"):
            estimator.fit(holes(), fractions)
