"""Spark frames are filled by a fitted imputer, batch by batch."""

import os
import shutil
import sys

import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow")

from cluster_tables import mixed_table  # noqa: E402

from greyfill import CGKNNImputer, GreyImputer  # noqa: E402
from greyfill.distributed.spark import BatchFiller, fill_spark, fit_spark  # noqa: E402
from greyfill.exceptions import InvalidDataError  # noqa: E402

TABLE = mixed_table(240).reset_index(drop=True).assign(id=[f"{i:05d}" for i in range(240)])
TABLE["size"] = TABLE["size"].astype("string")  # Spark has no categories
FEATURES = TABLE.drop(columns=["class", "id"])


@pytest.fixture(scope="module")
def imputer() -> CGKNNImputer:
    fitted = CGKNNImputer(n_neighbors=5)
    fitted.fit(FEATURES, TABLE["class"])
    return fitted


def test_batches_are_filled_one_by_one(imputer) -> None:
    batches = pa.Table.from_pandas(TABLE, preserve_index=False).to_batches(max_chunksize=50)
    filled = pa.Table.from_batches(BatchFiller(imputer)(iter([*batches, batches[0][:0]])))
    assert filled.schema.names == list(TABLE.columns)
    expected = imputer.transform(FEATURES)
    assert filled["a"].to_pylist() == expected["a"].tolist()
    assert filled["word"].to_pylist() == expected["word"].tolist()
    assert filled["id"].to_pylist() == TABLE["id"].tolist()


def test_a_frame_of_another_library_is_refused(imputer) -> None:
    with pytest.raises(InvalidDataError, match=r"pyspark\.sql\.DataFrame, not pandas.*transform"):
        fill_spark(FEATURES, imputer)


@pytest.fixture(scope="module")
def spark():
    """A Spark of one thread on this machine, where there is Java."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else whatever python3 the path has
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.filterwarnings("default")  # Spark's own
def test_spark_frame_is_filled(spark, imputer, tmp_path) -> None:
    TABLE.to_parquet(tmp_path / "table.parquet", index=False)
    frame = spark.read.parquet(str(tmp_path / "table.parquet")).repartition(2)
    lazy = fill_spark(frame, imputer)
    assert lazy.schema == frame.schema
    filled = lazy.toPandas().sort_values("id").reset_index(drop=True)
    expected = imputer.transform(FEATURES)
    pd.testing.assert_series_equal(filled["a"], expected["a"], check_exact=True)
    assert filled["count"].tolist() == expected["count"].tolist()
    assert filled["word"].tolist() == expected["word"].tolist()
    assert filled["truth"].tolist() == expected["truth"].tolist()
    with pytest.raises(InvalidDataError, match="no column 'a'"):
        fill_spark(frame.drop("a"), imputer)


@pytest.fixture
def spark_table(spark, tmp_path):
    TABLE.to_parquet(tmp_path / "table.parquet", index=False)
    return spark.read.parquet(str(tmp_path / "table.parquet"))


@pytest.mark.filterwarnings("default")
def test_an_imputer_learns_from_a_spark_frame(spark_table) -> None:
    fitted = fit_spark(spark_table, CGKNNImputer(5), target="class", ignored=("id",))
    expected = CGKNNImputer(5).fit(FEATURES, TABLE["class"]).transform(FEATURES)
    assert fitted.transform(FEATURES)["a"].tolist() == expected["a"].tolist()
    sampled = fit_spark(spark_table, target="class", ignored=("id",), donors=60)
    assert isinstance(sampled, GreyImputer)
    numbers = FEATURES.select_dtypes("number").columns
    places = [list(FEATURES.columns).index(name) for name in numbers]
    low, high = (getattr(sampled._fitted.scaler, end)[places] for end in ("low", "high"))
    assert low.tolist() == FEATURES[numbers].min().astype(float).tolist()  # the ends are donors
    assert high.tolist() == FEATURES[numbers].max().astype(float).tolist()
    assert 20 < len(sampled._fitted.rows) < 130
    assert (
        not fill_spark(spark_table, sampled).toPandas()[list(FEATURES.columns)].isna().any().any()
    )
    with pytest.raises(InvalidDataError, match="no column 'clas'"):
        fit_spark(spark_table, target="clas")


@pytest.mark.filterwarnings("default")
def test_a_pipeline_is_saved_with_its_imputer(spark_table, tmp_path) -> None:
    from pyspark.ml import Pipeline, PipelineModel

    from greyfill.distributed.spark_stages import SparkImputer, described, rebuilt

    stage = SparkImputer(CGKNNImputer(5), target="class", ignored=("id",))
    Pipeline(stages=[stage]).write().save(str(tmp_path / "unfitted"))
    again = Pipeline.load(str(tmp_path / "unfitted"))
    model = again.fit(spark_table)
    model.write().save(str(tmp_path / "fitted"))
    filled = PipelineModel.load(str(tmp_path / "fitted")).transform(spark_table).toPandas()
    expected = CGKNNImputer(5).fit(FEATURES, TABLE["class"]).transform(FEATURES)
    assert filled["a"].tolist() == expected["a"].tolist()
    assert filled["id"].tolist() == TABLE["id"].tolist()
    with pytest.raises(InvalidDataError, match="no imputer of greyfill"):
        rebuilt({**described(CGKNNImputer()), "class": "os"})
