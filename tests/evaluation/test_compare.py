"""The comparison as a whole: what it holds, what it survives, what it does not do twice."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import KNNImputer

from greyfill import datasets, frames
from greyfill.evaluation import Comparison, compare, trials
from greyfill.evaluation.compare import Store, TrialPlan, _todo
from greyfill.evaluation.trials import Data, measured
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.progress import Progress

CELLS = {"nrmse", "rmse", "wrong_share", "nrmse_all_cells", "wasserstein"}
COSTS = {"seconds", "memory_mib"}
SCORES = {
    f"{score}_naive_bayes_{protocol}"
    for score in ("accuracy", "f1")
    for protocol in ("honest", "paper")
}


class Counting(TransformerMixin, BaseEstimator):
    """Fills with 0, counts its fits, and breaks off at one of them."""

    fits = 0
    stop_at: int | None = None

    def fit(self, X: Any, y: Any = None) -> "Counting":
        type(self).fits += 1
        if type(self).fits == self.stop_at:
            raise KeyboardInterrupt
        return self

    def transform(self, X: Any) -> Any:
        return np.nan_to_num(X)


class Failing(TransformerMixin, BaseEstimator):
    """Never works."""

    def fit(self, X: Any, y: Any = None) -> "Failing":
        raise RuntimeError("no <luck>\ntoday")

    def transform(self, X: Any) -> Any:
        return X


@pytest.fixture(autouse=True)
def _reset() -> None:
    Counting.fits, Counting.stop_at = 0, None


def two_classes(n: int = 60) -> tuple[pl.DataFrame, pl.Series]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return (
        pl.DataFrame(
            {
                "a": rng.normal(size=n) + 2 * y,
                "b": rng.normal(size=n) + y,
                "c": np.where(rng.random(n) < 0.3 + 0.4 * y, "yes", "no"),
                "d": [None if i % 9 == 0 else i for i in range(n)],
            }
        ),
        pl.Series("y", y),
    )


def small(*args: Any, **kwargs: Any) -> Comparison:
    X, y = two_classes()
    settings = {"methods": ["mean", "class_mean"], "rates": [0.2], "repeats": 2, "n_splits": 3}
    return compare(X, y, **{**settings, **kwargs})


def test_results_are_one_row_for_each_case_and_metric() -> None:
    result = small(rates=[0.1, 0.2], mechanism=["mcar", "nmar"], name="toy")
    results = result.results
    assert results.columns == [
        "data", "mechanism", "rate", "method", "seed", "metric", "value", "error",
    ]  # fmt: skip
    assert set(results["metric"]) == CELLS | COSTS | SCORES
    assert results.height == 2 * 2 * 2 * 2 * len(CELLS | COSTS | SCORES)
    assert results.select(pl.exclude("value", "error")).is_duplicated().sum() == 0
    assert results["data"].unique().to_list() == ["toy"]
    assert results["error"].null_count() == results.height
    assert results["value"].is_not_null().all()


@pytest.mark.heavy
def test_is_seeded_and_the_same_in_parallel() -> None:
    same = pl.col("metric").is_in(list(COSTS)).not_()
    methods = ["hot-deck", "knni", "mean"]
    first = small(methods=methods).results.filter(same)
    assert first.equals(small(methods=methods, n_jobs=2).results.filter(same))
    assert not first.equals(small(methods=methods, random_state=5).results.filter(same))


def test_four_quick_methods_by_default_grey_first() -> None:
    X, y = two_classes(40)
    found: list[str] = []
    run = {"rates": [0.2], "repeats": 1, "n_splits": 2, "protocols": ["paper"]}
    result = compare(X, y, finished=lambda name, _: found.append(name), **run)
    assert found == ["grey", "cgknn", "sklearn_iterative", "mean"]
    assert result.results["method"].unique(maintain_order=True).to_list() == found
    assert len(result.errors) == 0
    unlabeled = compare(X, methods=None, **run)
    names = unlabeled.results["method"].unique(maintain_order=True).to_list()
    assert names == ["grey", "sklearn_iterative", "mean"]
    assert len(unlabeled.errors) == 0


def test_a_method_is_told_when_its_last_trial_is_done(tmp_path: Path) -> None:
    told: list[tuple[str, list[str], int]] = []
    steps: list[Progress] = []

    def finished(name: str, found: Comparison) -> None:
        methods = found.results["method"].unique(maintain_order=True).to_list()
        told.append((name, methods, found.results["seed"].n_unique()))

    run = {"methods": ["mean", "hot-deck"], "rates": [0.1, 0.2], "cache": tmp_path}
    whole = small(**run, finished=finished, progress=steps.append)
    both = ["mean", "hot-deck"]
    assert told == [("mean", ["mean"], 2), ("hot-deck", both, 2)]
    assert (steps[-1].stage, steps[-1].done, steps[-1].total) == ("trials", 8, 8)
    told.clear()
    again = small(**run, finished=finished, progress=False)
    assert told == [("mean", ["mean"], 2), ("hot-deck", both, 2)]
    assert again.results.equals(whole.results)


def test_slow_methods_come_first_where_processes_share_them() -> None:
    def order(n_jobs: int | None) -> list[str]:
        plan = TrialPlan(
            {"mean": "mean", "mice": "mice", "grey": "grey"},
            (0.1, 0.2), ("mcar",), (0, 1), (), (), 2,
        )  # fmt: skip
        X, _ = two_classes()
        trials = plan.trials(Data("t", frames.encode(X)[0], None))
        with Store(None) as store:
            todo = _todo(trials, store, n_jobs)
        names = [trial.method for trial in todo]
        assert names == [name for name in dict.fromkeys(names) for _ in range(4)]
        return list(dict.fromkeys(names))

    assert order(1) == order(None) == ["mean", "mice", "grey"]
    assert order(-1) == ["mice", "mean", "grey"]


def test_every_method_gets_the_same_holes() -> None:
    twins = small(methods={"one": "mean", "two": "mean"}).results
    values = twins.filter(pl.col("metric") == "nrmse").pivot("method", index="seed", values="value")
    assert values["one"].equals(values["two"], null_equal=True, check_names=False)


def test_a_failing_method_is_a_row_with_its_error() -> None:
    result = small(methods=["mean", Failing()])
    failed = result.results.filter(pl.col("method") == "Failing")
    assert failed["value"].null_count() == failed.height == 2 * len(CELLS | COSTS | SCORES)
    assert set(failed["error"]) == {"RuntimeError: no <luck> today"}
    assert result.results.filter(pl.col("method") == "mean")["value"].null_count() == 0
    assert result.errors.rows() == [("Failing", "RuntimeError: no <luck> today", 2)]
    assert result.ranks("nrmse").left_out == ("Failing",)
    assert "Failing failed: RuntimeError: no <luck> today" in repr(result)
    assert "no &lt;luck&gt; today" in result._repr_html_()


def test_a_failing_part_leaves_the_others() -> None:
    result = small(
        methods={"as it is": "native"}, classifiers=["naive_bayes", "logistic_regression"]
    )
    by_metric = dict(result.results.group_by("metric").agg(pl.col("error").count()).iter_rows())
    assert set(by_metric) & CELLS == set()
    assert by_metric["accuracy_naive_bayes_honest"] == 0
    assert by_metric["accuracy_logistic_regression_honest"] == 2
    assert by_metric["f1_logistic_regression_paper"] == 2


def test_without_labels() -> None:
    X, _ = two_classes()
    result = compare(X, methods=["mean", "class_mean"], rates=[0.2], repeats=1)
    assert set(result.metrics) == CELLS | COSTS
    assert result.errors["method"].to_list() == ["class_mean"]
    assert "requires y" in result.errors["error"][0]


def test_interrupted_runs_go_on_where_they_stopped(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "results.parquet"
    run = {"methods": [Counting()], "repeats": 4, "protocols": ["paper"], "cache": path}
    Counting.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        small(**run)
    assert Counting.fits == 3
    assert pl.read_parquet(path)["seed"].unique().sort().to_list() == [0, 1]
    Counting.fits, Counting.stop_at = 0, None
    whole = small(**run)
    assert Counting.fits == 2
    assert whole.results["seed"].unique().sort().to_list() == [0, 1, 2, 3]
    assert small(**run).results.equals(whole.results)
    assert Counting.fits == 2
    assert list(path.parent.iterdir()) == [path]


def test_cache_runs_only_what_is_new(tmp_path: Path) -> None:
    run = {"methods": [Counting()], "repeats": 1, "protocols": ["paper"], "cache": tmp_path}
    small(**run)
    assert Counting.fits == 1
    small(**{**run, "repeats": 2})
    assert Counting.fits == 2
    small(**{**run, "protocols": ["paper", "honest"]})
    assert Counting.fits == 2 + 3
    small(**{**run, "rates": [0.3]})
    assert Counting.fits == 2 + 3 + 1
    small(**{**run, "categorical_features": ["d"]})
    assert Counting.fits == 2 + 3 + 1 + 1
    small(**run)
    assert Counting.fits == 2 + 3 + 1 + 1
    assert (tmp_path / "compare.parquet").exists()


def test_failures_are_tried_again(tmp_path: Path) -> None:
    run = {"methods": {"x": Failing()}, "repeats": 1, "cache": tmp_path / "c.parquet"}
    assert small(**run).results["error"].null_count() == 0
    rows = pl.read_parquet(tmp_path / "c.parquet")
    store = Store(tmp_path / "c.parquet")
    assert not store.has(rows["key"][0], "nrmse")


def test_a_cache_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(InvalidDataError, match="not a Parquet file"):
        small(cache=tmp_path / "text.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(InvalidDataError, match="other columns"):
        small(cache=tmp_path / "other.parquet")


def test_summary_ranks_and_pairs_by_hand() -> None:
    rows = [
        {"data": "t", "mechanism": "mcar", "rate": 0.1, "method": m, "seed": s, "metric": k,
         "value": v, "error": None}
        for k, table in {
            "nrmse": {"good": [0.1, 0.2, 0.3], "bad": [0.4, 0.5, 0.9], "odd": [0.5, 0.1, 0.6]},
            "accuracy_naive_bayes_honest": {"good": [0.9] * 3, "bad": [0.5] * 3, "odd": [0.7] * 3},
        }.items()
        for m, values in table.items()
        for s, v in enumerate(values)
    ]  # fmt: skip
    result = Comparison(pl.DataFrame(rows, schema_overrides={"error": pl.String}))
    bad = result.summary().filter((pl.col("method") == "bad") & (pl.col("metric") == "nrmse"))
    assert bad["mean"].item() == pytest.approx(0.6)
    assert bad["sd"].item() == pytest.approx(np.std([0.4, 0.5, 0.9], ddof=1))
    assert bad.select("n", "failed").row(0) == (3, 0)
    ranks = result.ranks("nrmse")
    assert ranks.table.select("method", "mean_rank").rows() == [
        ("good", pytest.approx(4 / 3)),
        ("odd", pytest.approx(2.0)),
        ("bad", pytest.approx(8 / 3)),
    ]
    assert ranks.statistic == pytest.approx(12 * 3 / (3 * 4) * ((2 / 3) ** 2 * 2))
    assert result.ranks("accuracy_naive_bayes_honest").table["method"][0] == "good"
    pairs = result.pairwise("nrmse")
    assert pairs.select("first", "second").rows() == [
        ("good", "bad"), ("good", "odd"), ("bad", "odd"),
    ]  # fmt: skip
    assert pairs["difference"][0] == pytest.approx(-0.4)
    assert pairs["p_value"][0] == 0.25
    assert pairs["p_holm"][0] == 0.75
    assert "good" in repr(ranks)
    with pytest.raises(InvalidParameterError, match="there are nrmse, accuracy"):
        result.ranks("mae")


def test_reads_at_a_glance() -> None:
    text = repr(small())
    assert text.splitlines()[0] == "2 methods × 1 case × 2 seeds; mean ± sd"
    assert text.splitlines()[1].split("  ")[0] == "method"
    assert text.splitlines()[2].startswith("class_mean")
    assert "nrmse 20%" in text
    assert "±" in text


def test_bundled_data_and_foreign_transformers() -> None:
    result = compare(
        datasets.load("iris"),
        methods=["mean", KNNImputer(), KNNImputer(n_neighbors=1)],
        rates=[0.1],
        repeats=1,
        classifiers=None,
    )
    assert result.results["data"].unique().to_list() == ["iris"]
    methods = result.results["method"].unique(maintain_order=True).to_list()
    assert methods == ["mean", "KNNImputer", "KNNImputer_2"]
    assert result.ranks().table["method"][0] == "KNNImputer"


@pytest.mark.parametrize(
    "wrong",
    [
        {"methods": ["median"]},
        {"methods": "mean"},
        {"methods": [KNNImputer]},
        {"methods": []},
        {"rates": [0.0]},
        {"mechanism": "mnar"},
        {"protocols": ["leaky"]},
        {"classifiers": ["svm"]},
        {"repeats": 0},
    ],
)
def test_refuses_before_it_runs(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError):
        small(**wrong)


def test_refuses_numbers_as_classes() -> None:
    X, _ = two_classes()
    with pytest.raises(InvalidDataError, match="no classes"):
        compare(X, np.linspace(0, 1, 60))


def test_measures_time_and_memory() -> None:
    with measured() as cost:
        block = np.ones(10_000_000)
    assert block.sum() == 10_000_000
    assert 0 < cost.seconds < 60
    assert np.isnan(cost.memory_mib) or cost.memory_mib > 60


def test_measures_memory_also_where_there_is_no_proc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark of the whole process, in MiB: more than Python alone, less than a machine."""
    monkeypatch.setattr(trials, "STATUS", tmp_path / "status")
    assert np.isnan(trials._high_water()) or 20 < trials._high_water() < 1_000_000
    (tmp_path / "status").write_text("VmPeak: 9 kB\nVmHWM: 3072 kB\n")
    assert trials._high_water() == 3.0


def test_errors_by_column_tell_which_imputer_for_which_column(tmp_path: Path) -> None:
    plain = small(cache=tmp_path)
    with pytest.raises(InvalidParameterError, match="by_column=True"):
        plain.by_column()
    result = small(cache=tmp_path, by_column=True, methods=["mean", "class_mean", "native"])
    found = result.by_column()
    assert found.columns == ["column", "mean", "class_mean", "best"]
    assert found["column"].to_list() == ["a", "b", "c", "d"]
    by_hand = result.results.filter(pl.col("metric") == "nrmse[a]", pl.col("method") == "mean")
    assert found["mean"][0] == pytest.approx(by_hand["value"].mean())
    assert found["best"][0] == "class_mean"  # the classes lie two units apart there
    assert "nrmse[" not in repr(result)
    first = result.results.filter(pl.col("method") == "mean", pl.col("seed") == 0)
    one = dict(first.select("metric", "value").iter_rows())
    cells = {"a": 12, "b": 12, "c": 12, "d": 11}  # a fifth of those observed
    whole = sum(n * one[f"nrmse[{name}]"] ** 2 for name, n in cells.items()) / sum(cells.values())
    assert one["nrmse"] == pytest.approx(np.sqrt(whole))


def test_a_failure_is_that_of_each_column() -> None:
    result = small(methods=[Failing(), "mean"], by_column=True)
    assert result.by_column().columns == ["column", "Failing", "mean", "best"]
    assert result.by_column()["best"].to_list() == ["mean"] * 4


def test_rates_that_are_close_have_columns_of_their_own() -> None:
    result = small(methods=["mean"], rates=[0.12, 0.125, 1 / 3], repeats=1)
    assert all(f"nrmse {rate}" in repr(result) for rate in ("12%", "12.5%", "33.33%"))
