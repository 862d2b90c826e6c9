"""A fitted imputer on Spark frames: every batch of rows is filled where it is.

The imputer travels to the executors once, as a broadcast, and each row is filled on its own, so
the result does not depend on how Spark cuts the frame. Fit on one machine (with ``max_donors`` to
bound the model), or on Dask. Needs ``pip install greyfill[spark]``.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from greyfill.checks import check_fitted
from greyfill.distributed.partitions import with_columns_of
from greyfill.exceptions import InvalidDataError


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
        A fitted imputer, for example of ``greyfill.load`` or ``DaskImputer.imputer_``.

    >>> import greyfill
    >>> spark_frame = session.read.parquet("new_rows.parquet")  # doctest: +SKIP
    >>> fill_spark(spark_frame, greyfill.load("imputer.greyfill")).show()  # doctest: +SKIP
    """
    check_fitted(imputer)
    if not hasattr(frame, "mapInArrow"):
        raise InvalidDataError(
            f"expected a pyspark.sql.DataFrame, not {type(frame).__module__}."
            f"{type(frame).__name__}. Other frames are filled by imputer.transform."
        )
    known = getattr(imputer, "feature_names_in_", None)
    if known is None:
        raise InvalidDataError(
            "this imputer was fitted on an array without column names, so columns of a Spark "
            "frame cannot be told apart. Fit it on a frame."
        )
    lacking = [name for name in known if name not in frame.columns]
    if lacking:
        raise InvalidDataError(f"the frame has no column {lacking[0]!r}; it has {frame.columns}")
    if np.any(imputer._flagged):
        raise InvalidDataError("add_indicator adds columns; on Spark, fit with add_indicator=False")
    shared = frame.sparkSession.sparkContext.broadcast(imputer)
    return frame.mapInArrow(BatchFiller(shared), frame.schema)
