"""The same imputation on Dask frames, on threads of this process."""

import numpy as np
import pandas as pd
import pytest

dd = pytest.importorskip("dask.dataframe")

import dask  # noqa: E402
from cluster_tables import differences, mixed_table  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402

from greyfill import (  # noqa: E402
    CGKNNImputer,
    ClassInformation,
    FWGKNNImputer,
    GBNNImputer,
    GKNNImputer,
    Grey,
    GreyImputer,
    IKNNImputer,
    KNNIImputer,
    MICEImputer,
    MIKNNImputer,
    MissForestImputer,
    NeighborImputer,
    SKNNImputer,
)
from greyfill.distributed import DaskImputer  # noqa: E402
from greyfill.distributed.donor_sample import seed_of_sample  # noqa: E402
from greyfill.exceptions import (  # noqa: E402
    ClusterError,
    EmptyColumnWarning,
    GreyfillError,
    InvalidDataError,
    InvalidParameterError,
)

TABLE = mixed_table(540)
X, Y = TABLE.drop(columns="class"), TABLE["class"]


def parted(frame: pd.DataFrame | pd.Series, n: int = 3) -> "dd.DataFrame":
    return dd.from_pandas(frame, npartitions=n)


FAMILY = [
    CGKNNImputer(n_neighbors=5),
    CGKNNImputer(),  # k by classification
    FWGKNNImputer(n_neighbors=3),
    GKNNImputer(n_neighbors=4),
    GBNNImputer(n_neighbors=4),
    MIKNNImputer(n_neighbors="masked"),
    IKNNImputer(n_neighbors=6),
    KNNIImputer(n_neighbors=6),
    CGKNNImputer(n_neighbors=5, labels="none"),
    CGKNNImputer(n_neighbors=5, labels="weights"),
    CGKNNImputer(n_neighbors=5, max_donors=60),
    CGKNNImputer(n_neighbors=9, max_donors=6),  # fewer donors than neighbors are wanted
    CGKNNImputer(n_neighbors=5, labels="cross"),
    SKNNImputer(n_neighbors=3),
    NeighborImputer(5, distance=Grey(holes="filled")),
]


@pytest.mark.parametrize("imputer", FAMILY, ids=repr)
def test_result_is_that_of_one_machine(imputer) -> None:
    whole = imputer.fit_transform(X, Y)
    cluster = DaskImputer(imputer)
    lazy = cluster.fit_transform(parted(X), parted(Y))
    filled = lazy.compute()
    pd.testing.assert_frame_equal(filled, whole, check_exact=True)
    assert cluster.n_neighbors_ == imputer.n_neighbors_
    assert cluster.n_iter_ == imputer.n_iter_
    assert cluster.converged_ == imputer.converged_
    assert cluster.fallback_counts_ == imputer.fallback_counts_
    assert cluster.imputed_counts_ == imputer.imputed_counts_
    assert list(cluster.history_) == list(imputer.history_)
    assert cluster.feature_weights_.tolist() == imputer.feature_weights_.tolist()
    pd.testing.assert_frame_equal(
        cluster.transform(parted(X[:150], 3)).compute(),
        imputer.transform(X[:150]),
        check_exact=True,
    )


@pytest.mark.parametrize("imputer", [GKNNImputer(5), CGKNNImputer(5), MIKNNImputer(5)], ids=repr)
def test_moments_are_those_of_one_machine(imputer) -> None:
    rng = np.random.default_rng(0)
    moments = X.assign(
        when=rng.integers(0, 2**62, len(X)).view("M8[ns]"),
        until=rng.integers(-(2**61), 2**61, len(X)).view("m8[ns]"),
    )
    holes = rng.random((len(X), 2)) < 0.2
    moments[["when", "until"]] = moments[["when", "until"]].mask(holes)
    whole = imputer.fit_transform(moments, Y)
    filled = DaskImputer(imputer).fit_transform(parted(moments, 5), parted(Y, 5)).compute()
    for name in ("when", "until"):
        assert filled[name].astype("int64").tolist() == whole[name].astype("int64").tolist()


def test_another_measure_of_relevance_is_that_of_one_machine() -> None:
    imputer = NeighborImputer(5, weights=ClassInformation(measure="ksg"))
    cluster = DaskImputer(imputer).fit(parted(X), parted(Y))
    assert cluster.feature_weights_.tolist() == imputer.fit(X, Y).feature_weights_.tolist()


OTHERS = [
    GreyImputer(n_cells=20),
    GreyImputer(n_cells=20, labels="own"),
    MICEImputer(n_imputations=1, n_iter=2),
    MissForestImputer(n_estimators=5, max_iter=2),
]


@pytest.mark.parametrize("imputer", OTHERS, ids=repr)
def test_any_imputer_gives_the_result_of_one_machine(imputer) -> None:
    some = slice(0, 150)
    lazy = DaskImputer(imputer).fit_transform(parted(X[some]), parted(Y[some]))
    whole = imputer.fit_transform(X[some], Y[some])
    pd.testing.assert_frame_equal(lazy.compute(), whole, check_exact=True)


def sampled(imputer, n_partitions: int = 3) -> tuple[DaskImputer, pd.DataFrame, np.ndarray]:
    """An imputer that learned from 90 rows, what it made of all rows, and the numbers of the 90."""
    cluster = DaskImputer(imputer, donors=90)
    filled = cluster.fit_transform(parted(X, n_partitions), parted(Y, n_partitions)).compute()
    return cluster, filled, dask.compute(cluster._fitted)[0].rows


@pytest.mark.parametrize("imputer", [GreyImputer(n_cells=20), CGKNNImputer(5, labels="cross")])
@pytest.mark.parametrize("n_partitions", [1, 4])
def test_a_sample_gives_the_result_of_one_machine_with_its_donors(imputer, n_partitions) -> None:
    cluster, filled, rows = sampled(imputer, n_partitions)
    donors = X.iloc[rows]
    alone = imputer.fit_transform(donors, Y.iloc[rows])
    pd.testing.assert_frame_equal(filled.iloc[rows], alone, check_exact=True)
    others = np.setdiff1d(np.arange(len(X)), rows)
    expected = imputer.transform(X.iloc[others])
    pd.testing.assert_frame_equal(filled.iloc[others], expected, check_exact=True)
    assert cluster.imputed_counts_ == X.isna().sum().to_dict()


def test_a_sample_keeps_classes_ends_and_levels() -> None:
    labels = Y.astype(object).copy()
    labels.iloc[7] = "rare"
    cluster = DaskImputer(CGKNNImputer(5), donors=60).fit(parted(X), parted(labels))
    rows = dask.compute(cluster._fitted)[0].rows
    donors = X.iloc[rows]
    for name in X.select_dtypes("number").columns:
        assert (donors[name].min(), donors[name].max()) == (X[name].min(), X[name].max())
    for name in ("word", "size"):
        assert set(donors[name].dropna()) == set(X[name].dropna())
    shares = labels.iloc[rows].value_counts(normalize=True)
    assert shares["rare"] == pytest.approx(1 / len(rows))
    for label, share in labels.value_counts(normalize=True).items():
        assert shares[label] == pytest.approx(share, abs=0.06)
    assert 60 <= len(rows) <= 60 + 40


@pytest.mark.parametrize(
    "imputer", [CGKNNImputer(5), GreyImputer(n_cells=20, labels="own")], ids=repr
)
def test_other_rows_are_filled_with_the_help_of_their_labels(imputer) -> None:
    rng = np.random.default_rng(0)
    y = pd.Series(np.repeat(["low", "high"], 150)).sample(frac=1, random_state=0, ignore_index=True)
    apart = pd.DataFrame({"x": rng.random(300), "v": np.where(y == "high", 9.0, 1.0)})
    apart["v"] += rng.normal(0, 0.01, 300)
    holed = apart.assign(v=apart["v"].mask(rng.random(300) < 0.3))
    cluster = DaskImputer(imputer, donors=100)
    filled = cluster.fit_transform(parted(holed), parted(y)).compute()
    assert np.abs(filled["v"] - apart["v"]).max() < 0.2  # x alone tells nothing of v
    rows = dask.compute(cluster._fitted)[0].rows
    assert holed["v"].drop(rows).isna().any()


def test_the_seed_of_the_imputer_draws_the_sample() -> None:
    seeds = (3, np.int64(3), np.random.RandomState(5), np.random.RandomState(5), None, None)
    found = [seed_of_sample(CGKNNImputer(random_state=seed)) for seed in seeds]
    assert found[0] == found[1] == 3
    assert found[2] == found[3]
    assert found[4] != found[5]


def test_all_rows_are_donors_if_wanted() -> None:
    cluster = DaskImputer(CGKNNImputer(5), donors="all").fit(parted(X), parted(Y))
    assert len(dask.compute(cluster._fitted)[0].rows) == len(X)


def test_a_response_does_not_stratify() -> None:
    y = pd.Series(np.random.default_rng(0).random(len(X)), index=X.index)
    lazy = DaskImputer(GreyImputer(n_cells=20), donors=100).fit_transform(parted(X), parted(y))
    assert not lazy.compute().isna().any().any()


def test_rows_without_a_label_and_tiny_classes() -> None:
    labels = Y.astype(object).copy()
    labels.iloc[::10] = None
    labels.iloc[np.flatnonzero(X.isna().any(axis=1) & labels.notna())[:2]] = "rare"
    imputer = CGKNNImputer(n_neighbors=5)
    whole = imputer.fit_transform(X, labels)
    cluster = DaskImputer(CGKNNImputer(n_neighbors=5))
    filled = cluster.fit_transform(parted(X), parted(labels)).compute()
    gap, different = differences(whole, filled)
    assert gap < 1e-6
    assert different == 0
    assert cluster.fallback_counts_ == imputer.fallback_counts_
    assert cluster.fallback_counts_["class_too_small"] > 0


def test_frame_keeps_its_shape_lazily() -> None:
    frame = parted(X)
    lazy = DaskImputer(KNNIImputer(n_neighbors=3)).fit_transform(frame)
    assert lazy.divisions == frame.divisions
    assert lazy.npartitions == frame.npartitions
    assert lazy.dtypes.to_dict() == frame.dtypes.to_dict()
    filled = lazy.compute()
    assert filled.dtypes.to_dict() == X.dtypes.to_dict()
    assert filled.index.equals(X.index)
    assert not filled.isna().any().any()
    pd.testing.assert_frame_equal(filled.where(X.notna()), X.where(X.notna()), check_exact=True)


def test_unknown_divisions_empty_partitions_and_indicators() -> None:
    frame = parted(TABLE, 3)
    frame = frame.map_partitions(lambda part: part[part.index < 400])  # the last one is empty
    frame = frame.clear_divisions()
    imputer = CGKNNImputer(n_neighbors=3, add_indicator=True)
    cluster = DaskImputer(imputer)
    lazy = cluster.fit_transform(frame.drop(columns="class"), frame["class"])
    small = TABLE[TABLE.index < 400]
    whole = imputer.fit_transform(small.drop(columns="class"), small["class"])
    assert not lazy.known_divisions
    assert list(lazy.columns) == list(whole.columns)
    gap, different = differences(whole, lazy.compute())
    assert (gap < 1e-6, different) == (True, 0)
    again = cluster.transform(frame.drop(columns="class"))
    assert list(again.columns) == list(again.compute().columns)


def test_empty_columns_are_dropped_with_a_warning() -> None:
    holed = X.assign(nothing=np.nan)
    with pytest.warns(EmptyColumnWarning, match="nothing"):
        lazy = DaskImputer(KNNIImputer(n_neighbors=3)).fit_transform(parted(holed))
    assert "nothing" not in lazy.columns
    assert "nothing" not in lazy.compute().columns


def test_levels_of_all_partitions_count() -> None:
    words = pd.DataFrame({"w": ["a"] * 6 + ["b"] * 5 + [None], "x": np.arange(12.0)})
    lazy = DaskImputer(KNNIImputer(n_neighbors=2)).fit_transform(parted(words, 2))
    assert lazy.compute()["w"].tolist()[-1] == "b"


def test_the_fitted_imputer_works_alone(tmp_path) -> None:
    from greyfill import load

    cluster = DaskImputer(CGKNNImputer(n_neighbors=5)).fit(parted(X), parted(Y))
    cluster.imputer_.save(tmp_path / "model.greyfill")
    alone = load(tmp_path / "model.greyfill").transform(X[:50])
    pd.testing.assert_frame_equal(alone, cluster.transform(parted(X[:50], 1)).compute())


WRONG = [
    (lambda: DaskImputer(3), "not 3"),
    (lambda: DaskImputer(SimpleImputer()), "one of greyfill's"),
    (lambda: DaskImputer(CGKNNImputer(), donors=1), "donors"),
    (lambda: DaskImputer(CGKNNImputer(), donors="some"), "'some'"),
    (lambda: DaskImputer(CGKNNImputer(max_donors=0)), "max_donors"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_cannot_be_distributed_is_refused(make, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        make().fit(parted(X), parted(Y))


def test_wrong_frames_and_labels_are_refused() -> None:
    imputer = DaskImputer(CGKNNImputer(n_neighbors=3))
    with pytest.raises(InvalidDataError, match=r"dask\.dataframe\.DataFrame"):
        imputer.fit(X, parted(Y))
    with pytest.raises(InvalidDataError, match="dask Series"):
        imputer.fit(parted(X), Y)
    with pytest.raises(InvalidDataError, match="3 partitions, but y has 2"):
        imputer.fit(parted(X), parted(Y, 2))
    with pytest.raises(InvalidDataError, match=r"partition \d of X has 180"):
        imputer.fit(parted(X), parted(Y).partitions[[1, 1, 1]].loc[:400])
    with pytest.raises(InvalidDataError, match="requires y"):
        imputer.fit(parted(X))
    for unfitted in (lambda: imputer.transform(parted(X)), lambda: imputer.imputer_):
        with pytest.raises(NotFittedError) as caught:
            unfitted()
        assert isinstance(caught.value, GreyfillError)


def test_bad_cells_are_named_by_partition() -> None:
    broken = X.copy()
    broken.iloc[-1, 0] = np.inf
    with pytest.raises(InvalidDataError, match=r"partition 2: .*'a' is infinite"):
        DaskImputer(KNNIImputer()).fit(parted(broken))


def test_bad_new_cells_are_named_by_partition() -> None:
    lazy = DaskImputer(KNNIImputer()).fit(parted(X)).transform(parted(X.assign(a="text")))
    with pytest.raises(InvalidDataError, match=r"partition \d: Column 'a' holds text, but fit saw"):
        lazy.compute(scheduler="synchronous")


def test_mixed_meanings_are_refused() -> None:
    frame = pd.DataFrame({"v": pd.Series(["a", "b", 1, 2], dtype=object), "x": np.arange(4.0)})
    with (
        dask.config.set({"dataframe.convert-string": False}),
        pytest.raises(InvalidDataError, match="in partition 0 and numeric ones"),
    ):
        DaskImputer(KNNIImputer(n_neighbors=1)).fit(parted(frame, 2))


@pytest.mark.filterwarnings("default")  # how Dask reads Parquet into pandas is its own affair
def test_small_files_stay_partitions(tmp_path) -> None:
    for number in range(3):
        part = TABLE[number * 180 : (number + 1) * 180]
        part.to_parquet(tmp_path / f"part.{number}.parquet", index=False)
    frame = dd.read_parquet(tmp_path)
    lazy = DaskImputer(CGKNNImputer(n_neighbors=3)).fit_transform(
        frame.drop(columns="class"), frame["class"]
    )
    assert lazy.npartitions == 3
    assert len(lazy.compute()) == len(TABLE)


@pytest.mark.filterwarnings("default")
def test_a_partition_that_cannot_be_read_is_named(tmp_path) -> None:
    for number in range(3):
        X[:30].to_parquet(tmp_path / f"part.{number}.parquet")
    frame = dd.read_parquet(tmp_path)
    assert frame.npartitions == 3
    (tmp_path / "part.1.parquet").write_bytes(b"PAR1 this is no longer a table")
    with pytest.raises(ClusterError, match="partition 1 of 3 failed"):
        DaskImputer(KNNIImputer(n_neighbors=2)).fit(frame)


@pytest.mark.parametrize("leave_alone", [["name"], "auto"])
def test_columns_that_are_left_alone_are_in_the_frame(leave_alone) -> None:
    X = pd.DataFrame({"name": [f"p{i}" for i in range(30)], "a": np.arange(30.0) % 7, "b": 1.5})
    X.loc[::6, ["name", "a"]] = None
    imputer = DaskImputer(KNNIImputer(3, leave_alone=leave_alone))
    filled = imputer.fit_transform(dd.from_pandas(X, npartitions=2)).compute()
    assert list(filled.columns) == list(X.columns)
    pd.testing.assert_series_equal(filled["name"], X["name"], check_dtype=False)
    assert filled["a"].notna().all()
