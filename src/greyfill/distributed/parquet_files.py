"""The files of a Parquet dataset: which there are, their rows, and whether their columns agree."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greyfill import files
from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.inputs import naming

ENDINGS = files.Format.PARQUET.extensions


@dataclass(frozen=True)
class Partition:
    """A file of a dataset, or a group of rows of its only file; and what it is called there."""

    path: str
    name: str
    row_group: int | None = None

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Its rows as an Arrow table."""
        wanted = None if columns is None else list(columns)
        with opened(self.path) as file:
            if self.row_group is None:
                return file.read(columns=wanted)
            return file.read_row_group(self.row_group, columns=wanted)

    def schema(self) -> Any:
        """Its columns and their Arrow types."""
        with opened(self.path) as file:
            return file.schema_arrow

    @property
    def n_rows(self) -> int:
        """How many rows it has, by what the file says of itself."""
        with opened(self.path) as file:
            if self.row_group is None:
                return int(file.metadata.num_rows)
            return int(file.metadata.row_group(self.row_group).num_rows)


@contextmanager
def opened(path: str, problem: str = "it is no Parquet file, or damaged") -> Iterator[Any]:
    """A Parquet file; what goes wrong with it is an error that names it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with naming(path, "read"):
        try:
            yield pq.ParquetFile(path)
        except pa.ArrowException as error:
            raise FileProblemError(f"Cannot read {path}: {problem} ({error}).") from error


def list_partitions(source: str) -> list[Partition]:
    """The Parquet files of a folder, in the order of their names, or the row groups of a file."""
    root = Path(source)
    if root.is_dir():
        with naming(source, "read"):
            os.listdir(root)  # a search passes over what it may not read
        found = sorted(p for p in root.rglob("*") if p.suffix in ENDINGS)
        shown = [p for p in found if not any(n[0] in "._" for n in p.relative_to(root).parts)]
        if not shown:
            raise FileProblemError(f"Cannot read {source}: no .parquet file is in this folder.")
        return [Partition(os.fspath(p), os.fspath(p.relative_to(root))) for p in shown]
    with opened(source, "chunks need a folder of Parquet files, or one such file") as file:
        n_groups = file.num_row_groups
    return [Partition(source, f"part-{i:05d}.parquet", i) for i in range(n_groups)]


def refuse_other_columns(partitions: list[Partition], ignored: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first, or of which only one has zones."""
    first, *others = {partition.path: partition for partition in partitions}.values()
    wanted = _types(first, ignored)
    for other in others:
        found = _types(other, ignored)
        if found.keys() != wanted.keys():
            raise InvalidDataError(
                f"{other.path} has the columns {list(found)}, but {first.path} has {list(wanted)}. "
                "Give all files the same columns: rename, add or drop them."
            )
        for name, dtype in wanted.items():
            if (getattr(found[name], "tz", None) is None) != (getattr(dtype, "tz", None) is None):
                raise InvalidDataError(
                    f"Column {name!r} has type {found[name]} in {other.path} and {dtype} in "
                    f"{first.path}. Give all files moments with a time zone, or all without."
                )


def _types(partition: Partition, ignored: Sequence[str]) -> dict[str, Any]:
    """The Arrow types of the columns that matter."""
    return {field.name: field.type for field in partition.schema() if field.name not in ignored}
