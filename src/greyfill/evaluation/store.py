"""Results on disk as they come in, so that an interrupted comparison can go on."""

import os
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files import put_parquet
from greyfill.files.outputs import check_name, check_output
from greyfill.files.problems import naming

SCHEMA = {
    "data": pl.String,
    "mechanism": pl.String,
    "rate": pl.Float64,
    "method": pl.String,
    "seed": pl.Int64,
    "metric": pl.String,
    "value": pl.Float64,
    "error": pl.String,
    "key": pl.String,
}
SECONDS_BETWEEN_WRITES = 2.0


class Store:
    """Rows of results by (key, metric), kept in a Parquet file if there is a path.

    The file is written beside its place and renamed, at most every two seconds and at the end
    of the ``with``, also when that is an interruption. Rows of other comparisons are kept.

    >>> with Store(None) as store:
    ...     store.add([{"key": "a", "metric": "nrmse", "value": 0.1}])
    ...     store.has("a", "nrmse"), store.has("a", "rmse")
    (True, False)
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else file_of(path)
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        self._written = monotonic()
        if self._path is not None:
            with naming(os.fspath(self._path), "write"):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            check_output(self._path, force=True)
        if self._path is not None and self._path.exists():
            self._remember(_read(self._path).iter_rows(named=True))

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._write()

    def has(self, key: str, metric: str) -> bool:
        """Whether there is a row without an error; failures are tried again."""
        row = self._rows.get((key, metric))
        return row is not None and row["error"] is None

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep new rows in place of older ones."""
        self._remember(rows)
        if monotonic() - self._written > SECONDS_BETWEEN_WRITES:
            self._write()

    def frame(self, wanted: Iterable[tuple[str, str]]) -> pl.DataFrame:
        """The rows of the given keys and metrics, in their order."""
        rows = [self._rows[pair] for pair in wanted if pair in self._rows]
        return pl.DataFrame(rows, schema=SCHEMA)

    def _remember(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self._rows[row["key"], row["metric"]] = {name: row.get(name) for name in SCHEMA}

    def _write(self) -> None:
        if self._path is None or not self._rows:
            return
        put_parquet(self._path, self.frame(self._rows))
        self._written = monotonic()


def file_of(path: str | os.PathLike[str]) -> Path:
    """The file of results that a name stands for: itself, or one in that folder."""
    check_name(os.fspath(path))
    path = Path(path)
    return path / "compare.parquet" if path.is_dir() or not path.suffix else path


def _read(path: Path) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise InvalidDataError(f"cache {path} is not a Parquet file: {error}") from None
    if frame.schema != pl.Schema(SCHEMA):
        raise InvalidDataError(
            f"cache {path} holds other columns than a comparison: {frame.columns}"
        )
    return frame
