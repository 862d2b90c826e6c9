"""The numbers of a report, by hand."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from report.tables import nasty_report, tiny

import greyfill
from greyfill.exceptions import InvalidDataError
from greyfill.report import evidence, render, summarize
from greyfill.report.column_summary import NO_SPREADS, OTHER_ROWS
from greyfill.text import OTHER_LABELS, OWN_LABELS


def test_numbers_of_the_whole_table():
    table = summarize(*tiny())["table"]
    assert table == {
        "rows": 4,
        "columns": 2,
        "missing": 2,
        "share": 0.25,
        "filled": 2,
        "columns_with_holes": 2,
        "rows_with_holes": 2,
        "empty_rows": 0,
        "n_classes": 2,
        "classes": [
            {"name": "p", "rows": 2, "missing": 0},
            {"name": "q", "rows": 2, "missing": 2},
        ],
    }


def test_numbers_of_a_number_column():
    age = summarize(*tiny())["columns"][0]
    assert (age["missing"], age["share"], age["filled"]) == (1, 0.25, 1)
    assert (age["observed"]["mean"], age["observed"]["sd"]) == (3.0, 2.0)
    assert (age["imputed"]["mean"], age["imputed"]["sd"]) == (4.0, None)
    p, q = age["classes"]
    assert (p["observed"]["mean"], p["missing"], p["imputed"]["count"]) == (2.0, 0, 0)
    assert math.isclose(p["observed"]["sd"], math.sqrt(2), rel_tol=1e-5)
    assert (q["observed"]["mean"], q["imputed"]["mean"]) == (5.0, 4.0)


def test_histogram_of_whole_numbers_has_a_bin_for_each():
    age = summarize(*tiny())["columns"][0]
    assert age["edges"] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert age["observed"]["histogram"] == [1, 0, 1, 0, 1]
    assert age["imputed"]["histogram"] == [0, 0, 0, 1, 0]


@pytest.mark.parametrize("ids", [912345678901234567 + np.arange(4), np.full(4, 10**18)])
def test_histogram_of_whole_numbers_without_exact_halves(ids):
    table = pd.DataFrame({"id": ids, "age": [1.0, 2.0, np.nan, 4.0]})
    imputer = greyfill.KNNIImputer(1)
    column = summarize(imputer, table, imputer.fit_transform(table))["columns"][0]
    assert sum(column["observed"]["histogram"]) == 4
    assert len(column["edges"]) == len(column["observed"]["histogram"]) + 1


def test_numbers_of_a_category_column():
    sex = summarize(*tiny())["columns"][1]
    assert sex["bins"] == ["b", "a"]
    assert sex["observed"]["histogram"] == [2, 1]
    assert sex["imputed"]["histogram"] == [0, 1]
    assert [c["imputed"]["count"] for c in sex["classes"]] == [0, 1]


def test_patterns_and_map():
    summary = summarize(*tiny())
    patterns = [(p["columns"], p["rows"]) for p in summary["patterns"]["top"]]
    assert patterns == [([], 2), (["age"], 1), (["sex"], 1)]
    assert summary["map"]["shares"] == [[0, 0, 1, 0], [0, 0, 0, 1]]


def test_information_about_the_class_in_bits():
    # Observed: a with p, b with p, b with q. H(Y) = H(1/3), H(Y|X) = 2/3.
    third = -math.log2(1 / 3) / 3 - 2 * math.log2(2 / 3) / 3
    sex = summarize(*tiny())["relevance"]["columns"][1]
    assert math.isclose(sex["bits"], third - 2 / 3, rel_tol=1e-5)
    assert sex["weight"] == 0.5


def test_without_classes():
    imputer, X, filled, _ = tiny()
    summary = summarize(imputer, X, filled)
    assert summary["table"]["classes"] == []
    assert "classes" not in summary["columns"][0]
    assert summary["relevance"]["columns"][0]["bits"] is None


def test_continuous_targets_are_no_classes():
    imputer, X, filled, _ = tiny()
    assert summarize(imputer, X, filled, [0.5, 1.5, 2.5, 3.25])["table"]["n_classes"] == 0


def test_small_classes_share_a_group_and_missing_labels_have_their_own():
    n = 60
    X = np.arange(2.0 * n).reshape(n, 2)
    y = [f"c{min(i // 5, 10)}" for i in range(n - 1)] + [None]
    imputer = greyfill.KNNIImputer(2)
    table = summarize(imputer, X, imputer.fit_transform(X), y)["table"]
    assert table["n_classes"] == 11
    assert [c["name"] for c in table["classes"]][-2:] == ["(smaller classes)", "(no label)"]
    assert sum(c["rows"] for c in table["classes"]) == n


def test_every_library_gives_the_same_numbers():
    imputer, X, filled, y = tiny()
    expected = summarize(imputer, X, filled, y)
    other = greyfill.KNNIImputer(n_neighbors=1).fit(pl.from_pandas(X), y)
    given = summarize(other, pl.from_pandas(X), pl.from_pandas(filled), pl.Series(y))
    assert given["columns"] == expected["columns"]


def test_dropped_columns_and_indicators_are_told_apart():
    X = np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, 3.0], [2.0, np.nan, 4.0]])
    imputer = greyfill.KNNIImputer(1, add_indicator=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled = imputer.fit_transform(X)
    summary = summarize(imputer, X, filled)
    assert [c["dropped"] for c in summary["columns"]] == [False, True, False]
    assert [c["filled"] for c in summary["columns"]] == [1, 0, 0]
    assert "dropped" in summary["cautions"][0]["text"]


def test_another_table_is_refused():
    imputer, X, filled, y = tiny()
    with pytest.raises(InvalidDataError, match="4 rows, but filled has 3"):
        summarize(imputer, X, filled[:3], y)
    with pytest.raises(InvalidDataError, match="filled has 1 columns"):
        summarize(imputer, X, filled[["age"]], y)
    with pytest.raises(InvalidDataError, match="y has 3"):
        summarize(imputer, X, filled, y[:3])


def test_raw_rows_only_when_asked_for():
    assert summarize(*tiny())["rows"] is None
    rows = summarize(*tiny(), raw_rows=1)["rows"]
    assert rows["columns"] == ["age", "sex"]
    assert rows["rows"] == [{"row": 2, "cells": ["4", "b"], "imputed": [True, False]}]


def test_values_of_an_identifier_are_not_shown():
    summary = nasty_report(raw_rows=0).summary
    who = next(c for c in summary["columns"] if c["name"] == "who")
    assert who["identifier"]
    assert "person" not in json.dumps(summary)
    assert any("“who”" in c["text"] for c in summary["cautions"])


def test_dates_are_told_as_dates():
    days = pd.to_datetime(["2024-01-01", "2024-01-03", None])
    X = pd.DataFrame({"day": days, "n": [1.0, 2.0, 3.0]})
    imputer = greyfill.KNNIImputer(2)
    summary = summarize(imputer, X, imputer.fit_transform(X), raw_rows=1)
    assert summary["columns"][0]["unit"] == "datetime"
    assert summary["rows"]["rows"][0]["cells"][0] == "2024-01-02 00:00"


@pytest.mark.parametrize("n_rows", [1, 119, 121, 1000])
def test_map_covers_every_row_in_few_bins(n_rows):
    X = np.where(np.arange(n_rows) % 3 == 1, np.nan, 1.0)[:, None] * [[1.0, 2.0]]
    X[:, 1] = np.arange(n_rows)
    imputer = greyfill.KNNIImputer(1)
    told = summarize(imputer, X, imputer.fit_transform(X))["map"]
    sizes = np.diff(told["edges"])
    assert sizes.sum() == n_rows
    assert len(sizes) <= 120
    assert math.isclose(np.dot(told["shares"][0], sizes), np.isnan(X[:, 0]).sum(), rel_tol=1e-2)


def test_cautions_speak_of_what_went_wrong():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:30, 0] = np.nan
    X[3] = np.nan
    y = np.repeat(["big", "small"], [38, 2])
    imputer = greyfill.CGKNNImputer(5, max_iter=1, tol=0.0)
    texts = " ".join(
        c["text"] for c in summarize(imputer, X, imputer.fit_transform(X, y), y)["cautions"]
    )
    for words in ("More than half", "without any observed value", "“small”", "without settling"):
        assert words in texts


def test_holes_that_depend_on_values_are_noticed():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=300)
    X[X[:, 0] > 0.5, 1] = np.nan
    imputer = greyfill.KNNIImputer(5)
    summary = summarize(imputer, X, imputer.fit_transform(X))
    assert summary["little_test"]["p_value"] < 0.001
    assert any("Little's test" in c["text"] for c in summary["cautions"])


def test_a_table_without_numbers_is_not_tested():
    X = pd.DataFrame({"a": ["u", "v"] * 20, "b": ["x", None, "y", "x"] * 10})
    imputer = greyfill.KNNIImputer(5)
    assert summarize(imputer, X, imputer.fit_transform(X))["little_test"] is None
    mixed = X.assign(c=np.arange(40.0))
    assert summarize(imputer, mixed, imputer.fit_transform(mixed))["little_test"] is not None


class Told(greyfill.KNNIImputer):
    """An imputer that tells the spread and the donors of its cells."""

    def donors_of(self, row, column):
        return {"rows": [0, 1], "distances": [0.1, 0.2], "weights": [0.75, 0.25]}


def test_uncertain_cells():
    imputer, X, filled, y = tiny()
    del imputer.cell_spreads_  # as if it were of a family that cannot tell
    assert summarize(imputer, X, filled, y)["uncertain"] == {"note": NO_SPREADS, "cells": []}
    told = Told(n_neighbors=1).fit(X, y)
    told.cell_spreads_ = np.array([2, 3]), np.array([0, 1]), np.array([0.5, 0.4])
    age, sex = summarize(told, X, filled, y)["uncertain"]["cells"]
    assert (age["row"], age["column"], age["value"], age["spread"]) == (2, "age", "4", 2.0)
    assert (sex["value"], sex["votes"], sex["spread"]) == ("a", 0.6, None)
    assert age["donors"][0] == {"row": 0, "distance": 0.1, "weight": 0.75}
    told.cell_spreads_ = np.array([0]), np.array([0]), np.array([0.5])
    assert summarize(told, X, filled, y)["uncertain"]["note"] == OTHER_ROWS


class Fitted:
    """The attributes of a fitted imputer of another family."""

    n_features_in_ = 2
    history_: object = [{"numeric": 0.5, "categorical": math.nan}, {"numeric": 0.25}]


def test_histories_of_every_family():
    fitted = Fitted()
    fitted.history_ = [{"numeric": 0.5, "categorical": math.nan}] * 2
    assert evidence.convergence(fitted)["series"] == [{"name": "numeric", "values": [0.5, 0.5]}]
    fitted.history_ = {"age": {"mean": np.array([[1.0, 3.0]]), "sd": np.array([[2.0, 2.0]])}}
    drift = evidence.convergence(fitted)
    assert drift["kind"] == "drift"
    assert drift["series"] == [{"name": "age", "values": [-1.0, 0.0]}]
    fitted.history_ = []
    assert evidence.convergence(fitted)["series"] == []


@pytest.mark.parametrize(
    ("imputer", "told"),
    [
        (greyfill.GreyImputer(), OTHER_LABELS),
        (greyfill.GreyImputer(labels="own"), OWN_LABELS),
        (greyfill.GreyImputer(labels="none"), None),
        (greyfill.CGKNNImputer(2), OWN_LABELS),
        (greyfill.CGKNNImputer(2, labels="cross"), OTHER_LABELS),
        (greyfill.CGKNNImputer(2, labels="weights"), None),
        (greyfill.IKNNImputer(2), None),
    ],
)
def test_the_use_of_labels_is_told(imputer, told):
    _, X, _, y = tiny()
    X, y = pd.concat([X] * 3), y * 3
    filled = imputer.fit_transform(X, y)
    texts = [found["text"] for found in summarize(imputer, X, filled, y)["cautions"]]
    assert [text for text in texts if text in (OWN_LABELS, OTHER_LABELS)] == [told] * bool(told)


def test_columns_that_are_left_alone_are_named_and_not_warned_of():
    n = 60
    cells = np.random.default_rng(0).normal(size=n)
    cells[::4] = np.nan
    names = [f"P{i:04}" if i % 2 else None for i in range(n)]
    X = pd.DataFrame({"id\n ": names, "a": cells, "b": np.arange(n) % 7 + 0.5})
    filled = greyfill.fill(X)
    cautions = filled.report.summary["cautions"]
    told = " ".join(caution["text"] for caution in cautions)
    assert "Left as they are, and not used to fill other columns: “id” (an identifier" in told
    assert not any("“id”" in c["text"] for c in cautions if c["level"] == "warning")
    assert "without a value" not in told
    entry = filled.report.summary["columns"][0]
    assert (entry["name"], entry["kind"]) == ("id", "left alone")
    for page in (filled.report.render("html"), filled.report.render("markdown")):
        assert "left alone: an identifier: none of its 30 texts occurs" in page.replace("\\", "")


def test_a_report_of_a_file_names_it_and_its_lines(tmp_path):
    path = tmp_path / "doses.csv"
    rows = [f"{n % 13 + 0.5},{2 * (n % 13) + n % 3 / 10}\n" for n in range(40)]
    path.write_text("dose,level\n\n" + "".join(rows) + "4.5,\n")
    summary = greyfill.fill(path).report.summary
    assert summary["name"] == "doses.csv"
    (cell,) = summary["uncertain"]["cells"]
    assert (cell["row"], cell["line"]) == (40, 43)
    assert all(donor["line"] == donor["row"] + 3 for donor in cell["donors"])
    assert "<bdi>doses.csv</bdi>" in render(summary)
    assert "line" not in summarize(*tiny()[:3])["uncertain"]["cells"][0]


@pytest.mark.parametrize("is_telling", [True, False])
def test_whether_missingness_predicts_the_class(is_telling):
    rng = np.random.default_rng(0)
    y = np.arange(240) % 2
    X = rng.normal(size=(240, 3))
    X[rng.random(240) < (0.1 + 0.5 * y if is_telling else 0.3), 1] = np.nan
    imputer = greyfill.KNNIImputer(3)
    summary = summarize(imputer, X, imputer.fit_transform(X), y)
    assert (summary["dependence"]["p_value"] < 0.05) == is_telling
    html, lacks = render(summary), [X[y == c, 1] for c in (0, 1)]
    assert "Does missingness predict the class?" in html
    for part in lacks:
        assert f'data-value="{np.isnan(part).mean()}"' in html
    assert summary["dependence"]["words"] in render(summary, "markdown").replace("\\", "")
    without = summarize(imputer, X, imputer.transform(X))
    assert without["dependence"] is None
    assert "Does missingness" not in render(without)
