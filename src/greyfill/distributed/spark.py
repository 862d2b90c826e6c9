"""Spark frames: a sample is learned from here, and every batch of rows is filled where it is.

The imputer travels to the executors once, as a broadcast, and each row is filled on its own, so the
result does not depend on how Spark cuts the frame. `spark_stages` has both steps for
Spark pipelines. Needs ``pip install greyfill[spark]``.
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from greyfill._neighbors.k_selection import even_sizes
from greyfill.checks import check_fitted
from greyfill.distributed.donor_sample import DONORS, check_sampled, seed_of_sample
from greyfill.distributed.partitions import MOST_CLASSES, with_columns_of
from greyfill.exceptions import InvalidDataError
from greyfill.imputers.grey import GreyImputer


class BatchFiller:
    """Fills Arrow batches; what ``DataFrame.mapInArrow`` wants.

    Parameters
    ----------
    imputer
        A fitted imputer, or a Spark broadcast of one.
    """

    def __init__(self, imputer: Any) -> None:
        self.imputer = imputer

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Fill one batch after the other; other columns than those of ``fit`` stay as they are."""
        import pyarrow as pa

        imputer = getattr(self.imputer, "value", self.imputer)
        names = list(imputer.feature_names_in_)
        for batch in batches:
            if batch.num_rows:
                table = pa.Table.from_batches([batch])
                filled = imputer.transform(table.select(names))
                yield from with_columns_of(table, filled).to_batches()


def fill_spark(frame: Any, imputer: Any) -> Any:
    """A Spark frame without holes, lazily, with the columns and types that came in.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        It has the columns that the imputer was fitted on; others are left as they are, and so
        are columns of which the imputer never saw a value.
    imputer
        A fitted imputer, for example of `fit_spark`, ``greyfill.load`` or ``DaskImputer.imputer_``.

    >>> import greyfill
    >>> spark_frame = session.read.parquet("new_rows.parquet")  # doctest: +SKIP
    >>> fill_spark(spark_frame, greyfill.load("imputer.greyfill")).show()  # doctest: +SKIP
    """
    check_fitted(imputer)
    _check_frame(frame)
    known = getattr(imputer, "feature_names_in_", None)
    if known is None:
        raise InvalidDataError(
            "this imputer was fitted on an array without column names, so columns of a Spark "
            "frame cannot be told apart. Fit it on a frame."
        )
    _refuse_lacking(frame, list(known))
    if np.any(imputer._flagged):
        raise InvalidDataError("add_indicator adds columns; on Spark, fit with add_indicator=False")
    plain = copy.copy(imputer).set_output(transform="default")
    shared = frame.sparkSession.sparkContext.broadcast(plain)
    return frame.mapInArrow(BatchFiller(shared), frame.schema)


def fit_spark(
    frame: Any,
    imputer: Any = None,
    *,
    target: str | None = None,
    ignored: tuple[str, ...] = (),
    donors: int | str = DONORS,
) -> Any:
    """An imputer that has learned from a sample of a Spark frame, in this process.

    Spark draws the sample by class, and adds the rows that hold the ends of a numeric column. How
    its rows lie in partitions decides which rows are drawn.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The table.
    imputer
        What to do; None means ``GreyImputer()``. It is cloned, not changed.
    target, ignored
        The column of the classes, and columns that are neither used nor filled.
    donors
        How many rows to learn from, about; or "all".

    >>> visits = session.read.parquet("visits/")  # doctest: +SKIP
    >>> fill_spark(visits, fit_spark(visits, target="outcome"))  # doctest: +SKIP
    """
    from sklearn.base import clone

    _check_frame(frame)
    imputer = GreyImputer() if imputer is None else clone(imputer, safe=False)
    check_sampled(imputer, donors)
    _refuse_lacking(frame, [*([target] if target else []), *ignored])
    features = [name for name in frame.columns if name != target and name not in ignored]
    sample = _arrow(_sample(frame, target, features, donors, seed_of_sample(imputer)))
    y = None if target is None else sample[target]
    return imputer.fit(sample.select(features), y)


def _sample(
    frame: Any, target: str | None, features: list[str], donors: int | str, seed: int
) -> Any:
    """A sample that keeps the shares of the classes, and the ends of numeric columns."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import NumericType

    n_rows = frame.count()
    if donors == "all" or n_rows <= int(donors):
        return frame
    share = int(donors) / n_rows
    groups = []
    if target is not None:
        groups = frame.groupBy(target).count().limit(MOST_CLASSES + 1).collect()
    labels = [row[0] for row in groups]
    if 0 < len(labels) <= MOST_CLASSES and not any(isinstance(label, float) for label in labels):
        sizes = np.array([row[1] for row in groups], dtype=np.intp)
        wanted = np.maximum(even_sizes(sizes, int(donors)), np.minimum(sizes, 2))
        known = {a: float(b) for a, b in zip(labels, wanted / sizes, strict=True) if a is not None}
        y = F.col(f"`{target}`")
        drawn = frame.where(y.isNotNull()).sampleBy(y, known, seed)
        drawn = drawn.union(frame.where(y.isNull()).sample(share, seed))
    else:
        drawn = frame.sample(share, seed)
    row = F.struct(*(F.col(f"`{name}`") for name in frame.columns))
    numeric = [
        field.name
        for field in frame.schema.fields
        if field.name in features and isinstance(field.dataType, NumericType)
    ]
    ends = [end(row, F.col(f"`{name}`")) for name in numeric for end in (F.min_by, F.max_by)]
    if not ends:
        return drawn
    found = [row for row in frame.agg(*ends).collect()[0] if row is not None]
    return drawn.union(frame.sparkSession.createDataFrame(found, frame.schema))


def _arrow(frame: Any) -> Any:
    """The rows of a Spark frame as an Arrow table, in this process."""
    import pyarrow as pa

    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches = frame._collect_as_arrow()  # what toArrow of Spark 4 returns, joined
    return pa.Table.from_batches(batches)


def _check_frame(frame: Any) -> None:
    if not hasattr(frame, "mapInArrow"):
        raise InvalidDataError(
            f"expected a pyspark.sql.DataFrame, not {type(frame).__module__}."
            f"{type(frame).__name__}. Other frames are filled by imputer.transform."
        )


def _refuse_lacking(frame: Any, names: list[str]) -> None:
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise InvalidDataError(f"the frame has no column {lacking[0]!r}; it has {frame.columns}")
