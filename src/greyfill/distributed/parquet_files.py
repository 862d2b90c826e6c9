"""The files of a Parquet dataset: which there are, their rows, and whether their columns agree."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greyfill import files
from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.inputs import naming

ENDINGS = files.Format.PARQUET.extensions
UNKNOWN = ("decimal256", "string_view", "binary_view")
"""Arrow types that not all that is used here can take."""


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
        """Its columns and their Arrow types; refuse two of one name, and types that break off."""
        with opened(self.path) as file:
            schema = file.schema_arrow
        for name, count in Counter(schema.names).items():
            if count > 1:
                raise InvalidDataError(
                    f"{self.path} has {count} columns {name!r}. Give each a name of its own."
                )
        for field in schema:
            if str(field.type).startswith(UNKNOWN):
                raise InvalidDataError(
                    f"Column {field.name!r} of {self.path} has type {field.type}, which cannot be "
                    "used here. Write it as string, binary or decimal128 (38 digits at most)."
                )
        return schema

    def has_labels(self, target: str) -> bool:
        """Whether any cell of a column is known; whoever reads it refuses one that is not there."""
        import pyarrow.compute as pc

        if target not in self.schema().names:
            return False
        labels = self.read([target])[target]
        return not pc.all(pc.is_null(labels, nan_is_null=True)).as_py()

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.path if self.row_group is None else f"{self.path}, row group {self.row_group}"

    @property
    def holds_rows(self) -> bool:
        """Whether its file has any row."""
        with opened(self.path) as file:
            return bool(file.metadata.num_rows)

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
    """What a dataset consists of; refuse one without rows."""
    partitions = _partitions_in(source)
    if not any(partition.n_rows for partition in partitions):
        raise InvalidDataError(f"{source} has no rows, so nothing can be learned from it.")
    return partitions


def _partitions_in(source: str) -> list[Partition]:
    """The Parquet files of a folder, in the order of their names, or the row groups of a file."""
    root = Path(source)
    if root.is_dir():
        with naming(source, "read"):
            os.listdir(root)  # a search passes over what it may not read
        found = sorted(root.rglob("*"))
        shown = [p for p in found if not any(n[0] in "._" for n in p.relative_to(root).parts)]
        _refuse_lost_links(shown)
        kept = [p for p in shown if p.suffix.lower() in ENDINGS and p.is_file()]
        if not kept:
            raise FileProblemError(f"Cannot read {source}: no .parquet file is in this folder.")
        return [Partition(os.fspath(p), os.fspath(p.relative_to(root))) for p in kept]
    with opened(source, "chunks need a folder of Parquet files, or one such file") as file:
        n_groups = file.num_row_groups
    return [Partition(source, f"part-{i:05d}.parquet", i) for i in range(n_groups)]


def _refuse_lost_links(paths: list[Path]) -> None:
    """Refuse links to folders, which a search does not enter, and links of files to nothing."""
    for path in paths:
        is_lost = path.is_dir() or (path.suffix.lower() in ENDINGS and not path.exists())
        if path.is_symlink() and is_lost:
            raise FileProblemError(
                f"Cannot read {path}: it is a symbolic link to a folder or to nothing. Put the "
                "files themselves there, or remove the link."
            )


def first_with_labels(partitions: list[Partition], target: str | None) -> Partition:
    """The first partition with a label in the target; if none has one, the first with rows."""
    having_rows = [partition for partition in partitions if partition.n_rows]
    labeled = (one for one in having_rows if target is None or one.has_labels(target))
    return next(labeled, having_rows[0])


def one_of_each_file(partitions: list[Partition]) -> list[Partition]:
    """A partition of each file."""
    return list({partition.path: partition for partition in partitions}.values())


def refuse_other_columns(partitions: list[Partition], ignored: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first, or of which only one has zones."""
    first, *others = one_of_each_file(partitions)
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


ONE_TYPE = "Give the column one type in all files."


def common_schema(partitions: list[Partition]) -> Any:
    """One Arrow schema for all files; refuse those that have other columns."""
    import pyarrow as pa

    refuse_other_columns(partitions, ())
    names = partitions[0].schema().names
    return pa.schema(common_fields(partitions, names))


def common_fields(partitions: list[Partition], names: Sequence[str]) -> list[Any]:
    """Columns whose types are the least that hold those of each file; refuse where nothing does.

    Files without rows do not count.
    """
    schemas = {p.path: p.schema() for p in one_of_each_file(partitions) if p.holds_rows}
    return [_common_field({path: s.field(name) for path, s in schemas.items()}) for name in names]


def _common_field(found: dict[str, Any]) -> Any:
    """What holds a column of several files."""
    (first, joined), *others = found.items()
    for path, field in others:
        wider = _joined_field(joined, field)
        if wider is None:
            raise InvalidDataError(
                f"Column {field.name!r} has type {field.type} in {path}, which does not go with "
                f"{joined.type} in {first} and others. {ONE_TYPE}"
            )
        joined = wider
    return joined


def _joined_field(one: Any, other: Any) -> Any:
    """A column that holds both, or None; what only one of them says beside its type is left out."""
    import pyarrow as pa

    try:
        pair = [pa.schema([one]), pa.schema([other])]
        (joined,) = pa.unify_schemas(pair, promote_options="permissive")
    except pa.ArrowException:
        return None
    return joined if one.metadata == other.metadata else joined.remove_metadata()


def conformed(table: Any, schema: Any, path: str) -> Any:
    """A table with the columns of a schema in their order and types, each cell as it was."""
    import pyarrow as pa

    if table.num_rows == 0:
        return schema.empty_table()
    columns = [_cast(table[field.name], field, path) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _cast(column: Any, field: Any, path: str) -> Any:
    """A column in another type, which must hold all of its cells."""
    import pyarrow as pa

    if column.type == field.type:
        return column
    try:
        cast = column.cast(field.type)  # which refuses what it would change, unless it is a decimal
        if not pa.types.is_decimal(column.type) or cast.cast(column.type).equals(column):
            return cast
    except pa.ArrowException:
        pass
    raise InvalidDataError(
        f"Column {field.name!r} of {path} has type {column.type}, but all files together have "
        f"{field.type}, which does not hold all of its cells. {ONE_TYPE}"
    )
