"""Lazy tables: polars queries and DuckDB relations, filled batch by batch.

A query may give its rows in another order when it runs again, so its result is first put into a
Parquet file, by the streaming engine of polars or by DuckDB; a Parquet dataset is read where it is.
The row groups of that file are the batches.
"""

import atexit
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source
from sklearn.base import clone

from greyfill.distributed.donor_sample import (
    DONORS,
    FittedSample,
    check_sampled,
    refuse_indicators,
)
from greyfill.distributed.parquet import PartedDataset, impute_dataset
from greyfill.distributed.parquet_files import (
    ENDINGS,
    Partition,
    common_schema,
    conformed,
    opened,
)
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files.inputs import naming
from greyfill.imputers.grey import GreyImputer
from greyfill.progress import Callback, Meter

BATCH_ROWS = 100_000
"""Rows of a batch of a query."""


def scan(
    source: Any,
    imputer: Any = None,
    *,
    target: str | None = None,
    ignored: Sequence[str] = (),
    donors: int | str = DONORS,
    progress: Callback | None = None,
) -> pl.LazyFrame:
    """A lazy frame without holes, of a table that may be larger than memory.

    The imputer is fitted at once, on a sample of the rows; batches are filled when the lazy frame
    is collected, or written by ``sink_parquet``, which never holds the whole table.

    Parameters
    ----------
    source : path, polars.LazyFrame or DuckDB relation
        A Parquet file or a folder of them, which is read where it is; a CSV file or a query, whose
        rows are put into a temporary Parquet file first. Files need the same columns, in any
        order; where their types differ, the result has one that holds the cells of all.
    imputer : imputer, optional
        What to do; None means ``GreyImputer()``. It is cloned, not changed.
    target, ignored
        The column of the classes, and columns to leave as they are.
    donors : int or "all", default=200_000
        How many rows to learn from, a seeded sample of all.
    progress : function, optional
        Called with a `greyfill.progress.Progress` while partitions are read.

    >>> import polars as pl
    >>> import greyfill
    >>> query = pl.LazyFrame({"a": [1.0, 2.0, None, 4.0], "b": [2.0, 4.0, 6.0, 8.0]})
    >>> greyfill.scan(query).collect()["a"].null_count()
    0
    """
    imputer = GreyImputer() if imputer is None else clone(imputer, safe=False)
    check_sampled(imputer, donors)
    refuse_indicators(imputer)
    spool = Spool(source)
    dataset = PartedDataset.of(spool.path, target, ignored)
    schema = common_schema(dataset.partitions)
    fitted = dataset.fit(imputer, donors, Meter(progress))
    fitted.warn()
    return _lazy(dataset, fitted, schema, spool)


def fill_duckdb(
    relation: Any,
    imputer: Any = None,
    *,
    out: str | None = None,
    connection: Any = None,
    **options: Any,
) -> Any:
    """A DuckDB relation without holes.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        What a query or a table of DuckDB gives.
    imputer
        What to do; None means ``GreyImputer()``.
    out : path, optional
        A folder for the filled rows as Parquet files, which must not exist. Without it they are
        in a temporary one, for as long as this process lives.
    connection : duckdb.DuckDBPyConnection, optional
        Where the result shall be a relation; None means DuckDB's default.
    **options
        As those of `impute_dataset`: ``target``, ``ignored``, ``donors``, ``n_jobs``, ``progress``.

    >>> import duckdb
    >>> rows = duckdb.sql("select * from (values (1.0, 2.0), (2.0, null), (3.0, 6.0)) t(a, b)")
    >>> fill_duckdb(rows).aggregate("count(b)").fetchall()
    [(3,)]
    """
    import duckdb

    if not _is_relation(relation):
        raise InvalidDataError(f"expected a DuckDB relation, not {type(relation).__name__}.")
    spool = Spool(relation)
    folder = out
    if folder is None:
        kept = tempfile.mkdtemp(prefix="greyfill-")
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
        folder = os.fspath(Path(kept) / "filled")
    impute_dataset(spool.path, folder, GreyImputer() if imputer is None else imputer, **options)
    return (connection or duckdb).read_parquet(os.fspath(Path(folder) / "*.parquet"))


def _is_relation(source: Any) -> bool:
    return hasattr(source, "write_parquet") and hasattr(source, "fetchall")


class Spool:
    """A source as a Parquet dataset: its own, or a temporary one that ends with this object."""

    def __init__(self, source: Any) -> None:
        name = "the query"
        if isinstance(source, str | os.PathLike):
            self.path = name = os.fspath(source)
            if Path(self.path).is_dir() or Path(self.path).suffix.lower() in ENDINGS:
                return
            with naming(self.path, "read"):
                Path(self.path).open("rb").close()
            source = pl.scan_csv(self.path, try_parse_dates=True)
        folder = tempfile.mkdtemp(prefix="greyfill-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = os.fspath(Path(folder) / "rows.parquet")
        if isinstance(source, pl.LazyFrame):
            source.sink_parquet(self.path, row_group_size=BATCH_ROWS)
        elif _is_relation(source):
            source.write_parquet(self.path, row_group_size=BATCH_ROWS)
        else:
            raise InvalidParameterError(
                "scan takes a path, a polars.LazyFrame or a DuckDB relation, not "
                f"{type(source).__name__}. Frames in memory are filled by greyfill.fill."
            )
        with opened(self.path) as file:
            if file.metadata.num_rows == 0:
                raise InvalidDataError(f"{name} has no rows, so nothing can be learned from it.")


def _lazy(dataset: PartedDataset, fitted: FittedSample, schema: Any, spool: Spool) -> pl.LazyFrame:
    """The partitions as a source of polars, which fills those that are asked for."""

    def batches(
        columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = n_rows
        for partition, first in zip(dataset.partitions, dataset.firsts, strict=True):
            if left is not None and left <= 0:
                return
            batch = _batch(dataset, fitted, schema, partition, first)
            batch = batch if left is None else batch.head(left)
            left = None if left is None else left - len(batch)
            batch = batch if predicate is None else batch.filter(predicate)
            yield batch if columns is None else batch.select(columns)

    batches.spool = spool  # type: ignore[attr-defined]  # it lives as long as the lazy frame
    return register_io_source(batches, schema=_frame(schema.empty_table()).schema)


def _batch(
    dataset: PartedDataset, fitted: FittedSample, schema: Any, partition: Partition, first: int
) -> pl.DataFrame:
    filled = dataset.filled(partition, fitted, first)
    return _frame(conformed(filled, schema, partition.path))


def _frame(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
