"""Lazy tables: polars queries, files and DuckDB relations are filled batch by batch."""

from decimal import Decimal as D

import polars as pl
import pytest
from cluster_tables import mixed_table
from polars.testing import assert_frame_equal
from sklearn.impute import SimpleImputer

import greyfill
from greyfill import CGKNNImputer, GreyImputer, KNNIImputer
from greyfill.distributed import fill_duckdb, lazy_tables
from greyfill.exceptions import (
    EmptyColumnWarning,
    FileProblemError,
    InvalidDataError,
    InvalidParameterError,
)

pytest.importorskip("pyarrow")

TABLE = pl.from_pandas(mixed_table(240).astype({"size": "string"}))
X = TABLE.drop("class")
IMPUTER = CGKNNImputer(n_neighbors=5)
IMPUTER_WITHOUT_Y = KNNIImputer(n_neighbors=3)


@pytest.fixture
def whole() -> pl.DataFrame:
    return IMPUTER.fit_transform(X, TABLE["class"])


@pytest.fixture
def small_batches(monkeypatch) -> None:
    monkeypatch.setattr(lazy_tables, "BATCH_ROWS", 100)


def sources(tmp_path) -> dict[str, object]:
    duckdb = pytest.importorskip("duckdb")
    TABLE.write_parquet(tmp_path / "table.parquet", row_group_size=70)
    TABLE.write_csv(tmp_path / "table.csv")
    return {
        "parquet": tmp_path / "table.parquet",
        "csv": str(tmp_path / "table.csv"),
        "query": TABLE.lazy(),
        "relation": duckdb.read_parquet(str(tmp_path / "table.parquet")),
    }


@pytest.mark.parametrize("kind", ["parquet", "csv", "query", "relation"])
def test_every_source_is_filled_like_one_table(kind, tmp_path, whole, small_batches) -> None:
    lazy = greyfill.scan(sources(tmp_path)[kind], IMPUTER, target="class")
    filled = lazy.collect()
    assert filled.columns == TABLE.columns
    assert_frame_equal(filled.drop("class"), whole, check_dtypes=kind != "csv")
    assert filled["class"].to_list() == TABLE["class"].to_list()


def test_columns_rows_and_filters_are_taken_from_filled_batches(tmp_path, whole) -> None:
    lazy = greyfill.scan(sources(tmp_path)["parquet"], IMPUTER, target="class")
    assert lazy.select("a").head(3).collect()["a"].to_list() == whole["a"][:3].to_list()
    high = lazy.filter(pl.col("a") > 1.0).collect()
    assert high["a"].to_list() == whole.filter(pl.col("a") > 1.0)["a"].to_list()
    lazy.sink_parquet(tmp_path / "out.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "out.parquet"), lazy.collect())


def test_only_the_rows_that_are_wanted_are_filled(tmp_path, monkeypatch) -> None:
    lazy = greyfill.scan(sources(tmp_path)["parquet"], IMPUTER, target="class")
    filled: list[int] = []
    fill = lazy_tables._batch
    monkeypatch.setattr(lazy_tables, "_batch", lambda *all_: filled.append(all_[-1]) or fill(*all_))
    assert len(lazy.head(80).collect()) == 80
    assert filled == [0, 70]


def test_grey_is_what_scan_uses_and_a_sample_will_do(tmp_path) -> None:
    filled = greyfill.scan(TABLE.lazy(), ignored=["class"], donors=60).collect()
    assert filled.drop("class").null_count().sum_horizontal().item() == 0
    for name in X.columns:
        known = X[name].is_not_null()
        assert filled[name].filter(known).to_list() == X[name].filter(known).to_list()


def test_what_the_fit_warns_of_is_told() -> None:
    with pytest.warns(EmptyColumnWarning, match="nothing"):
        greyfill.scan(X.with_columns(nothing=pl.lit(None, pl.Float64)).lazy(), IMPUTER_WITHOUT_Y)


def test_duckdb_relations_come_back(tmp_path, whole) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql(f"select * from '{sources(tmp_path)['parquet']}'")
    filled = fill_duckdb(relation, IMPUTER, connection=connection, target="class")
    assert connection.sql("select count(a) from filled").fetchall() == [(240,)]
    assert filled.pl()["a"].to_list() == whole["a"].to_list()
    out = tmp_path / "filled"
    fill_duckdb(relation, IMPUTER, out=str(out), connection=connection, target="class")
    assert_frame_equal(pl.read_parquet(out / "*.parquet").drop("class"), whole)


def scanned(folder, *frames, **options) -> pl.LazyFrame:
    """The lazy frame of a dataset of these files: 0.parquet, 1.parquet, …"""
    folder.mkdir(exist_ok=True)
    for number, frame in enumerate(frames):
        frame.write_parquet(folder / f"{number}.parquet")
    return greyfill.scan(folder, IMPUTER_WITHOUT_Y.set_params(n_neighbors=1), **options)


A = pl.DataFrame({"a": [1.0, None, 3.0], "b": [10, 20, 30]})


def test_columns_of_another_order_keep_their_names(tmp_path) -> None:
    lazy = scanned(tmp_path / "in", A, A.select("b", "a"))
    assert lazy.collect().columns == ["a", "b"]
    assert lazy.collect()["b"].to_list() == [10, 20, 30] * 2
    a = lazy.select("a").collect()["a"].to_list()
    assert [a[0], a[2], a[3], a[5]] == [1.0, 3.0, 1.0, 3.0]


TYPES = {
    "whole and real": ([1, 2, 3], pl.Int64, [4.5, 5.0, 6.0], pl.Float64, pl.Float64),
    "real and whole": ([4.5, 5.0, float("nan")], pl.Float32, [1, 2, 3], pl.Int64, pl.Float64),
    "decimals": ([D("1.25"), D("0.50"), None], pl.Decimal(9, 2), [0.5] * 3, pl.Float64, pl.Float64),
    "widths": ([1, 2, 3], pl.Int32, [3_000_000_000, 1, 2], pl.Int64, pl.Int64),
    "nothing": ([None] * 3, pl.Null, [1.5, 2.0, 3.0], pl.Float64, pl.Float64),
    "no rows": ([], pl.String, [1, 2, 3], pl.Int64, pl.Int64),
    "levels": (["x", "y", "x"], pl.Enum(["x", "y"]), ["z", "z", "y"], pl.Enum(["z", "y"]), None),
}


@pytest.mark.parametrize("role", ["filled", "ignored"])
@pytest.mark.parametrize(
    ("one", "dtype", "other", "other_dtype", "common"), TYPES.values(), ids=TYPES
)
def test_files_of_different_types_get_one_that_holds_all_cells(
    tmp_path, one, dtype, other, other_dtype, common, role
) -> None:
    x, v = pl.Series("x", [1.0, 2.0, None]), pl.Series("v", one, dtype=dtype)
    frames = [x.head(len(one)).to_frame().with_columns(v)]
    frames.append(x.to_frame().with_columns(pl.Series("v", other, dtype=other_dtype)))
    lazy = scanned(tmp_path / "in", *frames, ignored=["v"] if role == "ignored" else [])
    filled = lazy.collect()
    assert filled.schema == lazy.collect_schema()
    assert common in (None, filled.schema["v"])
    assert filled["x"].null_count() == 0
    for cell, found in zip([*one, *other], filled["v"].to_list(), strict=True):
        assert found == cell or str(cell) in ("None", "nan")


def test_types_that_nothing_holds_are_refused_before_anything_is_learned(tmp_path) -> None:
    words = A.with_columns(pl.col("b").cast(pl.String))
    with pytest.raises(InvalidDataError, match=r"'b' has type .*string in .*1\.parquet, .* int64"):
        scanned(tmp_path / "in", A, words, ignored=["b"])
    with pytest.raises(InvalidDataError, match=r"'b' has type .*string in .*1\.parquet, .* int64"):
        scanned(tmp_path / "in", A, words, target="b")
    with pytest.raises(InvalidDataError, match=r"1\.parquet has the columns \['a'\], but"):
        scanned(tmp_path / "in", A, A.drop("b"), ignored=["b"])


def test_a_cell_that_the_common_type_does_not_hold_is_refused(tmp_path) -> None:
    large = A.with_columns(b=pl.Series([2**53 + 1, 1, 2]))
    fine = A.with_columns(b=pl.Series([D(f"0.{'3' * 30}")] * 3, dtype=pl.Decimal(32, 30)))
    for other in (large, fine):
        lazy = scanned(tmp_path / "in", A.with_columns(pl.col("b") + 0.5), other)
        with pytest.raises(InvalidDataError, match=r"Column 'b' of .*1\.parquet .* double"):
            lazy.collect()


def test_a_query_without_rows_is_refused_and_so_are_new_columns(tmp_path) -> None:
    with pytest.raises(InvalidDataError, match="the query has no rows"):
        greyfill.scan(A.clear().lazy())
    A.clear().write_csv(tmp_path / "none.csv")
    with pytest.raises(InvalidDataError, match=r"none\.csv has no rows"):
        greyfill.scan(tmp_path / "none.csv")
    with pytest.raises(InvalidParameterError, match="add_indicator=False"):
        greyfill.scan(A.lazy(), KNNIImputer(1, add_indicator=True))


def test_what_is_no_source_is_refused(tmp_path) -> None:
    with pytest.raises(InvalidParameterError, match=r"not DataFrame.*greyfill\.fill"):
        greyfill.scan(TABLE)
    with pytest.raises(FileProblemError, match=r"nowhere\.csv"):
        greyfill.scan(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidDataError, match="DuckDB relation, not DataFrame"):
        fill_duckdb(TABLE)
    with pytest.raises(InvalidParameterError, match="one of greyfill's"):
        greyfill.scan(TABLE.lazy(), SimpleImputer())
    with pytest.raises(InvalidParameterError, match="no column 'clas'"):
        greyfill.scan(TABLE.lazy(), GreyImputer(), target="clas")
