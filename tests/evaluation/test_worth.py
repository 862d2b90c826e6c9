"""Does imputing pay: who chooses, who judges, what is said, and that no label leaks."""

from collections.abc import Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

from greyfill.evaluation import MissingnessTest, Worth, pipelines, worth
from greyfill.evaluation.pipelines import (
    IMPUTING,
    PIPELINES,
    PLAIN,
    READING,
    FoldRun,
    PredictionTask,
)
from greyfill.evaluation.snippet import Snippet
from greyfill.evaluation.verdict import corrected_error
from greyfill.evaluation.worth import Piece, WorthPlan, _task
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.progress import Progress

QUICK: dict[str, Any] = {
    "n_splits": 2, "repeats": 1, "n_inner": 2, "n_draws": 2, "progress": False
}  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads of boosting on small tables only wait for each other on a busy machine."""
    with threadpool_limits(1, "openmp"):
        yield


def table(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=n) + y,
            "level": rng.normal(size=n) - y,
            "sex": np.where(rng.random(n) < 0.3 + 0.4 * y, "f", "m"),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.2), y


def plan_of(X: Any, y: Any, **settings: Any) -> WorthPlan:
    task, *_ = _task(X, y, 2, "auto", None, None)
    return WorthPlan(task, "t", 2, 1, 2, 0)


def made(scores: dict[str, list[float]], inner: dict[str, list[float]], **more: Any) -> Worth:
    """A result with these log losses on the outer folds, and the means of their inner folds."""
    rows = []
    for name in PIPELINES:
        outer = scores.get(name, [1.0] * 4)
        within = inner.get(name, [1.0] * 4)
        for fold, (judged, chosen) in enumerate(zip(outer, within, strict=True)):
            about = {"repeat": 0, "fold": fold, "pipeline": name, "error": None}
            for metric, scale in (("log_loss", 1.0), ("accuracy", -0.1)):
                rows.append(about | {"inner": None, "metric": metric, "value": scale * judged})
                rows += [
                    about | {"inner": i, "metric": metric, "value": scale * (chosen + shift)}
                    for i, shift in enumerate((-0.1, 0.1))
                ]
    types = {"repeat": int, "fold": int, "inner": int, "pipeline": str, "metric": str}
    results = pl.DataFrame(rows, schema={**types, "value": float, "error": str})
    snippet = Snippet(["sex"], ["dose"], [], True, 5)
    given = {"metric": "log_loss", "missingness": MissingnessTest(0.0, 0.5, 99)} | more
    return Worth(results, given["metric"], given["missingness"], snippet, 4, 1000)


def test_inner_folds_choose_and_outer_folds_judge() -> None:
    """The luckiest pipeline of the outer folds counts only where the inner folds chose it."""
    lucky = made(
        {"grey_linear": [0.7, 0.8, 0.9, 0.8], "draws_linear": [0.1] * 4},
        {"grey_linear": [0.5] * 4, "draws_linear": [0.6] * 4, "level_linear": [0.9] * 4},
    )
    gain = lucky.gains[IMPUTING]["log_loss"]
    assert gain.value == pytest.approx(1.0 - 0.8)
    assert gain.error == pytest.approx(corrected_error(np.array([0.3, 0.2, 0.1, 0.2]), 4))
    assert lucky.gains[IMPUTING]["accuracy"].value == pytest.approx(0.02)
    turned = made(
        {"grey_linear": [0.7, 0.8, 0.9, 0.8], "draws_linear": [0.1] * 4},
        {"grey_linear": [0.5, 0.5, 0.7, 0.7], "draws_linear": [0.6] * 4},
    )
    expected = np.mean([0.3, 0.2, 0.9, 0.9])
    assert turned.gains[IMPUTING]["log_loss"].value == pytest.approx(expected)


def test_the_corrected_error_by_hand() -> None:
    """By the table of t: with 3 degrees of freedom 3.182 at 95 %, 4.177 at 97.5 %."""
    differences = np.array([0.1, 0.2, 0.3, 0.2])
    scale = np.sqrt((1 / 4 + 1 / 3) * np.var(differences, ddof=1))
    assert corrected_error(differences, 4, 0.95) == pytest.approx(3.182 * scale, rel=1e-3)
    assert corrected_error(differences, 4) == pytest.approx(4.177 * scale, rel=1e-3)
    assert corrected_error(np.ones(1), 4) == np.inf


def test_a_gain_below_its_error_does_not_matter() -> None:
    found = made({"grey_linear": [0.5, 1.4, 0.9, 1.1]}, {"grey_linear": [0.5] * 4})
    assert not found.matters
    assert found.winner == PLAIN
    assert PIPELINES[found.take].group == PLAIN
    start, _, end = found.verdict.partition(" here: ")
    words = "Imputing is worth +0.025 ± 1.204 of log loss and +0.3 ± 12.0 points of accuracy"
    assert start == words
    assert end.startswith("it does not matter, as far as 1,000 rows can tell. Take ")


def test_imputing_pays_or_does_harm() -> None:
    inner = {"draws_linear": [0.5] * 4}
    found = made({"draws_linear": [0.7, 0.71, 0.69, 0.7]}, inner)
    assert (found.matters, found.winner, found.take) == (True, IMPUTING, "draws_linear")
    assert "here: it pays. Take BaggedDraws, then logistic regression." in found.verdict
    assert "BaggedDraws(GreyImputer(categorical_features=['sex'])" in found.code
    found = made({"draws_linear": [1.3, 1.31, 1.29, 1.3]}, inner)
    assert (found.matters, found.winner) == (True, PLAIN)
    assert "it does harm" in found.verdict


def test_a_model_that_reads_holes_is_told_beside() -> None:
    found = made({"grey_model": [0.5, 0.51, 0.49, 0.5]}, {})
    assert (found.winner, found.take) == (READING, "grey_model")
    assert "it does not matter" in found.verdict
    assert "GreyClassifier, which reads holes, is worth +0.500 ±" in found.verdict


def test_the_metric_chooses() -> None:
    """Accuracies are −0.1 times the log losses here, so both choose alike, in other units."""
    scores = {"grey_linear": [0.7, 0.71, 0.69, 0.7]}
    found = made(scores, {"grey_linear": [0.5] * 4}, metric="accuracy")
    assert found.gains[IMPUTING]["accuracy"].value == pytest.approx(0.03)
    assert found.matters


@pytest.mark.parametrize("name", PIPELINES)
def test_no_label_of_a_test_row_reaches_a_prediction(name: str) -> None:
    X, y = table(100)
    plan = plan_of(X, y)
    train, test = plan.rows(Piece(0, 0, None))
    other = np.where(test, 1 - y, y)
    turned = PredictionTask(plan.task.table, other, 2, 2)
    runs = [FoldRun(task, train, test, 0) for task in (plan.task, turned)]
    first, second = (run._predict(PIPELINES[name]) for run in runs)
    np.testing.assert_array_equal(first, second)
    assert runs[0].scores(name) != runs[1].scores(name)


def test_inner_folds_stay_within_the_training_rows() -> None:
    X, y = table(61)
    plan = plan_of(X, y)
    train, test = plan.rows(Piece(0, 1, None))
    parts = [plan.rows(Piece(0, 1, inner)) for inner in range(2)]
    assert not (train & test).any()
    for inner_train, inner_test in parts:
        assert not (inner_test & test).any()
        assert not (inner_train & inner_test).any()
        np.testing.assert_array_equal(inner_train | inner_test, train)
    np.testing.assert_array_equal(parts[0][1] | parts[1][1], train)


def test_runs_resumes_and_is_seeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    steps: list[Progress] = []
    first = worth(X, y, **{**QUICK, "progress": steps.append}, cache=tmp_path)
    assert (steps[-1].stage, steps[-1].done, steps[-1].total) == ("folds", 6, 6)
    assert first.results.height == 6 * len(PIPELINES) * 2
    assert first.errors.height == 0
    calls: list[str] = []
    scores = FoldRun.scores

    def counted(run: FoldRun, name: str) -> dict[str, float]:
        calls.append(name)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return scores(run, name)

    monkeypatch.setattr(FoldRun, "scores", counted)
    again = worth(X, y, **QUICK, cache=tmp_path)
    assert calls == []
    assert again.verdict == first.verdict
    with pytest.raises(KeyboardInterrupt):
        worth(X, y, **QUICK, random_state=1, cache=tmp_path)
    done = len(calls) // len(PIPELINES)
    assert done == 1
    del calls[:]
    monkeypatch.setattr(
        FoldRun, "scores", lambda run, name: calls.append(name) or scores(run, name)
    )
    other = worth(X, y, **QUICK, random_state=1, cache=tmp_path)
    assert len(calls) == 5 * len(PIPELINES)
    assert not other.results["value"].equals(first.results["value"])


@pytest.mark.heavy
def test_processes_change_nothing() -> None:
    X, y = table()
    alone, both = (worth(X, y, **QUICK, n_jobs=n) for n in (1, 2))
    assert alone.results.equals(both.results)
    assert alone.verdict == both.verdict


def test_a_pipeline_that_fails_is_told_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()

    def fail(*args: Any) -> Any:
        raise RuntimeError("no luck")

    monkeypatch.setattr(pipelines, "draw", fail)
    found = worth(X, y, **QUICK)
    assert found.errors["pipeline"].to_list() == ["draws_linear", "draws_boosting"]
    assert "draws_linear failed: RuntimeError: no luck" in repr(found)
    assert found.table().height == len(PIPELINES) - 2


def test_nothing_to_judge_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(run: FoldRun, name: str) -> dict[str, float]:
        raise RuntimeError("no luck")

    monkeypatch.setattr(FoldRun, "scores", fail)
    with pytest.raises(InvalidDataError, match="could be judged: RuntimeError: no luck"):
        worth(*table(), **QUICK)


def test_a_response_is_judged_by_its_rmse() -> None:
    X, y = table(80)
    response = y + np.random.default_rng(0).normal(size=80) * 0.1
    found = worth(X, response, **QUICK)
    assert found.metrics == ("rmse",)
    assert found.errors.height == 0
    assert "of RMSE here" in found.verdict
    assert 0.1 < found.table()["rmse"].min() < found.table()["rmse"].max() < 1.0
    assert "GreyRegressor, which reads holes" in repr(found)


def test_rows_without_y_and_empty_columns_are_left_out() -> None:
    X, y = table()
    labels = [None, *y[1:].tolist()]
    task, *_ = _task(X.assign(empty=np.nan), labels, 2, "auto", None, None)
    assert (task.table.n_rows, task.table.n_columns) == (59, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "needs y"),
        ({"y": [0] * 60}, "fewer than two values"),
        ({"X": [[1.0]] * 60}, "nothing to impute"),
        ({"y": [0, 1]}, "60 rows"),
        ({"y": [0, 1] * 10 + [None] * 40}, "20 rows with a y"),
    ],
)
def test_tables_without_a_question_are_refused(change: dict[str, Any], message: str) -> None:
    X, y = table()
    with pytest.raises(InvalidDataError, match=message):
        worth(**{"X": X, "y": y, **QUICK, **change})


@pytest.mark.parametrize("change", [{"metric": "rmse"}, {"n_splits": 1}, {"repeats": 0}])
def test_parameters_that_mean_nothing_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(change))):
        worth(*table(), **{**QUICK, **change})


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("classifies", [True, False])
def test_the_code_runs_and_plain_code_predicts_what_was_measured(
    name: str, classifies: bool
) -> None:
    X, y = table(80)
    y = y if classifies else y + np.linspace(0, 1, 80)
    snippet = Snippet(["sex"], ["dose", "level"], [], classifies, 2)
    known: dict[str, Any] = {"X": X, "y": y}
    exec(snippet.written(name), known)
    model = known["model"]
    found = model.predict_proba(X) if classifies else model.predict(X)[:, None]
    task, *_ = _task(X, y, 2, "auto", None, None)
    everything = np.ones(80, dtype=bool)
    if PIPELINES[name].group == PLAIN:
        measured = FoldRun(task, everything, everything, 0)._predict(PIPELINES[name])
        np.testing.assert_allclose(found, measured, atol=1e-6)
    assert np.isfinite(found).all()


def test_the_code_names_columns_of_arrays_by_position() -> None:
    X, y = table(60)
    _, found, *_ = _task(X.to_numpy(dtype=object), y, 2, "auto", None, None)
    assert found == ([2], [0, 1], [])
    known: dict[str, Any] = {"X": X[["dose", "level"]].to_numpy(), "y": y}
    exec(Snippet([], [0, 1], [], True, 2).written("grey_indicator_linear"), known)
    assert known["model"].predict(known["X"]).shape == (60,)


@pytest.mark.parametrize("name", PIPELINES)
def test_the_code_runs_beside_dates(name: str) -> None:
    X, y = table(60)
    X = X.assign(seen=pd.date_range("2024-01-01", periods=60))
    _, found, *_ = _task(X, y, 2, "auto", None, None)
    assert found == (["sex"], ["dose", "level"], ["seen"])
    known: dict[str, Any] = {"X": X, "y": y}
    code = Snippet(*found, True, 2).written(name)
    assert ("this leaves them out: ['seen']" in code) == ("make_column_transformer" in code)
    exec(code, known)
    assert known["model"].predict(X).shape == (60,)


@pytest.mark.parametrize("name", PIPELINES)
def test_the_code_knows_orders_times_and_words_for_missing(name: str) -> None:
    frame, y = table(60)
    order = ["low", "mid", "high"]
    frame = frame.assign(stage=np.resize([*order, "?"], 60))
    X = pl.from_pandas(frame).with_columns(at=pl.Series([time(h % 24, 5) for h in range(60)]))
    kinds = "auto", {"stage": order}, "?"
    _, found, orders, missing = _task(X, y, 2, *kinds)
    assert found == (["sex"], ["dose", "level", "stage"], ["at"])
    assert (orders, missing) == ({"stage": order}, ("?",))
    code = Snippet(*found, True, 2, orders, missing).written(name)
    is_told = "X must have holes where it has one of these: ['?']" in code
    assert is_told == ("missing_values=['?']" not in code)
    plain = X.with_columns(pl.col("stage").replace("?", None))
    known: dict[str, Any] = {"X": plain if is_told else X, "y": y}
    exec(code, known)
    assert known["model"].predict(known["X"]).shape == (60,)


def test_the_code_needs_no_package_for_words_for_missing() -> None:
    X, y = table(60)
    told = [*np.array([-9, -8]), date(1900, 1, 1)]
    *_, missing = _task(X, y, 2, "auto", None, told)
    assert missing == (-9, -8, date(1900, 1, 1))
    code = Snippet(["sex"], ["dose", "level"], [], True, 2, {}, missing).written("grey_model")
    assert "missing_values=[-9, -8, datetime.date(1900, 1, 1)]" in code
    known: dict[str, Any] = {"X": X, "y": y}
    exec(code, known)
    assert known["model"].predict(X).shape == (60,)


def test_the_code_writes_orders_of_dates_as_dates() -> None:
    frame, y = table(60)
    days = [date(2024, 1, 1), date(2024, 2, 1)]
    X = pl.from_pandas(frame).with_columns(at=pl.Series(days * 30))
    _, found, orders, missing = _task(X, y, 2, "auto", {"at": days}, None)
    assert orders == {"at": days}
    code = Snippet(*found, True, 2, orders, missing).written("grey_model")
    known: dict[str, Any] = {"X": X, "y": y}
    exec(code, known)
    assert known["model"].predict(X).shape == (60,)


@pytest.mark.parametrize("name", PIPELINES)
def test_the_code_runs_with_moments_of_pandas_as_words_for_missing(name: str) -> None:
    X, y = table(60)
    zoned = pd.Timestamp("2020-01-01", tz="Europe/Berlin")
    fine = pd.Timestamp("2020-01-01 00:00:00.000000001")
    told = [pd.Timestamp("2020-01-01"), fine, zoned, pd.Timedelta("1h"), pd.Timedelta(1), np.inf]
    *_, missing = _task(X, y, 2, "auto", None, told)
    code = Snippet(["sex"], ["dose", "level"], [], True, 2, {}, missing).written(name)
    known: dict[str, Any] = {"X": X, "y": y}
    exec(code, known)
    assert known["model"].predict(X).shape == (60,)
    if name == "grey_model":
        assert known["model"].missing_values == told
        assert "datetime.datetime(2020, 1, 1, 0, 0), pandas.Timestamp(" in code


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("make", [date, pd.Timestamp])
def test_the_code_ranks_categories_of_dates(name: str, make: Any) -> None:
    X, y = table(60)
    days = [make(2024, 1, 1), make(2024, 2, 1)]
    at = pd.Categorical.from_codes(np.resize([0, 1, -1], 60), pd.Index(days), ordered=True)
    X = X.assign(at=at)
    _, found, orders, missing = _task(X, y, 2, "auto", None, None)
    known: dict[str, Any] = {"X": X, "y": y}
    exec(Snippet(*found, True, 2, orders, missing).written(name), known)
    assert known["model"].predict(X).shape == (60,)
