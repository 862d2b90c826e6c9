"""A Parquet dataset that is larger than memory: partition by partition, and to be resumed.

```
dataset ── fit ────> fills of every partition   in OUT.partial/fills, one file each
        ── write ──> every partition, filled    in OUT.partial/parts, each renamed when complete
        ── rename ─> OUT                        which is complete, or not there
```

After a crash the same call goes on where it stopped: with the partitions that are not written yet
if all fills are known, else with the fills.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from greyfill import files, persistence
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.dask_imputer import check_imputer, fit_partitions
from greyfill.distributed.partitions import put_fills, with_columns_of
from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError
from greyfill.files.atomic import check_dataset
from greyfill.files.inputs import naming
from greyfill.table import Floats

LOOPBACK = "127.0.0.1:0"
"""The worker's pages are for this machine only."""

ENDINGS = files.Format.PARQUET.extensions
MODEL, PLAN = "model.greyfill", "plan.json"

Report = Callable[[str], None]


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

    def labels(self, target: str) -> Any:
        """The column of the classes."""
        return self.read([target])[target]


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


def impute_dataset(
    source: str,
    out: str,
    imputer: Any,
    *,
    target: str | None = None,
    ignored: Sequence[str] = (),
    n_jobs: int | None = None,
    force: bool = False,
    report: Report = lambda message: None,
) -> dict[str, Any]:
    """Fill a Parquet dataset into another one, and return what was done in numbers.

    Parameters
    ----------
    source, out
        A folder of Parquet files (or a single file, whose row groups are the partitions), and a
        folder that does not exist, unless ``force`` says that it may be replaced.
    imputer
        What to do: one of the neighbor family.
    target, ignored
        The column of the classes, and columns to leave as they are.
    n_jobs
        Threads; None means all cores.
    force
        Replace an existing output.
    report
        Called with a message for each step of the work.

    >>> import tempfile
    >>> import polars as pl
    >>> from greyfill import CGKNNImputer
    >>> from greyfill.datasets import load
    >>> penguins = load("penguins")
    >>> table = penguins.X.with_columns(penguins.y.alias("species"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.write_parquet(f"{folder}/penguins.parquet")
    ...     numbers = impute_dataset(
    ...         f"{folder}/penguins.parquet", f"{folder}/filled", CGKNNImputer(10), target="species"
    ...     )
    ...     filled = pl.read_parquet(f"{folder}/filled/*.parquet")
    >>> filled.null_count().sum_horizontal().item()
    0
    """
    check_imputer(imputer)
    check_dataset(source, out, ENDINGS)
    partitions = list_partitions(source)
    header = partitions[0].schema().empty_table()
    features = _features(header.column_names, target, ignored, source)
    _refuse_other_columns(partitions, ignored)
    staging = Staging(Path(f"{os.path.normpath(out)}.partial"), Path(out), force)
    staging.open(_fingerprint(partitions, imputer, target, features))
    if not staging.is_fitted(len(partitions)):
        report(f"learning from {len(partitions)} partitions")
        with local_cluster(n_jobs, staging.folder / "spill") as cluster:
            _fit(cluster, imputer, partitions, header.select(features), target, staging)
    fitted = persistence.load(staging.folder / MODEL)
    for number, partition in enumerate(partitions):
        if staging.needs(partition):
            report(f"writing {partition.name}")
            staging.write(partition, _filled(partition, features, fitted, staging.fills(number)))
    staging.publish()
    return _numbers(source, out, fitted, len(partitions))


def _refuse_other_columns(partitions: list[Partition], ignored: Sequence[str]) -> None:
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


def _features(
    columns: list[str], target: str | None, ignored: Sequence[str], source: str
) -> list[str]:
    for name in [*([target] if target else []), *ignored]:
        if name not in columns:
            raise InvalidParameterError(f"{source} has no column {name!r}. It has {columns}.")
    features = [name for name in columns if name != target and name not in ignored]
    if not features:
        raise InvalidDataError(f"{source} has no column left to impute.")
    return features


def _fit(
    cluster: Cluster,
    imputer: Any,
    partitions: list[Partition],
    header: Any,
    target: str | None,
    staging: "Staging",
) -> None:
    names = list(header.column_names)
    frames = [cluster.lazily(Partition.read, partition, names) for partition in partitions]
    labels: list[Task] = [None] * len(partitions)
    if target is not None and imputer.labels != "none":
        labels = [cluster.lazily(Partition.labels, partition, target) for partition in partitions]
    elif target is None:
        imputer._refuse_no_labels()
    fit = fit_partitions(cluster, imputer, frames, labels, header)
    for number, fills in enumerate(fit.all_fills(cluster)):
        staging.save_fills(number, cluster.fetch([fills], "filling")[0])
    persistence.save(fit.imputer, staging.folder / MODEL)


def _filled(partition: Partition, features: list[str], imputer: Any, fills: Floats) -> Any:
    """All columns of a partition, in their order, with the features filled."""
    table = partition.read()
    if table.num_rows == 0:
        return table
    return with_columns_of(table, put_fills(table.select(features), fills, imputer))


def _fingerprint(
    partitions: list[Partition], imputer: Any, target: str | None, features: list[str]
) -> str:
    """Equal to that of an unfinished run if it was the same one."""
    seen = [(p.path, p.row_group, os.stat(p.path).st_size, os.stat(p.path).st_mtime_ns)
            for p in partitions]  # fmt: skip
    text = json.dumps([seen, repr(imputer), target, features])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Staging:
    """The folder beside the output in which it is made."""

    folder: Path
    out: Path
    force: bool

    def open(self, fingerprint: str) -> None:
        """Go on with an unfinished run of the same kind; throw any other away."""
        if self.out.exists() and not self.force:
            raise FileProblemError(
                f"Cannot write {self.out}: it exists already. To replace it, say so: --force "
                "(force=True)."
            )
        for path in (self.out, self.folder):
            if path.is_symlink():
                raise FileProblemError(
                    f"Cannot write {path}: it is a symbolic link. Name a folder that is none."
                )
        plan = self.folder / PLAN
        if plan.exists() and plan.read_text() != fingerprint:
            shutil.rmtree(self.folder)
        with naming(os.fspath(self.folder), "write"):
            for name in ("fills", "parts"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            plan.write_text(fingerprint)

    def is_fitted(self, n_partitions: int) -> bool:
        """Whether all fills are known; the model is written after the last of them."""
        known = all(self._fills(number).exists() for number in range(n_partitions))
        return known and (self.folder / MODEL).exists()

    def save_fills(self, number: int, fills: Floats) -> None:
        """Keep the fills of a partition."""
        files.put(self._fills(number), [np.ascontiguousarray(fills).tobytes()], force=True)

    def fills(self, number: int) -> Floats:
        """The fills of a partition."""
        return np.fromfile(self._fills(number), dtype=np.float64)

    def needs(self, partition: Partition) -> bool:
        """Whether a partition has not been written yet."""
        return not (self.folder / "parts" / partition.name).exists()

    def write(self, partition: Partition, table: Any) -> None:
        """Write a partition; it gets its name when it is complete."""
        import pyarrow.parquet as pq

        path = self.folder / "parts" / partition.name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.tmp")
        with naming(os.fspath(path), "write"):
            pq.write_table(table, draft)
            os.replace(draft, path)

    def publish(self) -> None:
        """Give the complete output its name."""
        with naming(os.fspath(self.out), "write"):
            if self.out.is_dir():
                shutil.rmtree(self.out)
            os.replace(self.folder / "parts", self.out)
            shutil.rmtree(self.folder)

    def _fills(self, number: int) -> Path:
        return self.folder / "fills" / f"{number:05d}.f64"


@contextmanager
def local_cluster(n_jobs: int | None, spill: Path) -> Iterator[Cluster]:
    """One worker in this process, which puts on disk what does not fit into memory."""
    from distributed import Client

    threads = os.cpu_count() or 1 if n_jobs is None or n_jobs < 0 else n_jobs
    with Client(
        processes=False, n_workers=1, threads_per_worker=threads, set_as_default=False,
        dashboard_address=LOOPBACK, worker_dashboard_address=LOOPBACK,
        local_directory=os.fspath(spill),
    ) as client:  # fmt: skip
        yield Cluster(client)


def _numbers(source: str, out: str, imputer: Any, n_partitions: int) -> dict[str, Any]:
    return {
        "input": source,
        "output": out,
        "partitions": n_partitions,
        "filled": sum(imputer.imputed_counts_.values()),
        "columns": imputer.imputed_counts_,
        "k": imputer.n_neighbors_,
        "passes": imputer.n_iter_,
        "stable": bool(imputer.converged_),
        "fallbacks": imputer.fallback_counts_,
    }
