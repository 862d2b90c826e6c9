"""Lazy tables: polars queries, files and DuckDB relations are filled batch by batch."""

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
