"""A Parquet dataset that is larger than memory: partition by partition, and to be resumed.

```
dataset ── fit ────> an imputer, donors' fills   in OUT.partial/model
        ── write ──> every partition, filled     in OUT.partial/parts, each renamed when complete
        ── rename ─> OUT                         which is complete, or not there
```

After a crash the same call goes on where it stopped: with the partitions that are not written yet
if the imputer is fitted, else from the beginning.
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
from sklearn.base import clone

from greyfill import files, persistence
from greyfill.distributed.donor_sample import (
    DONORS,
    FittedSample,
    check_sampled,
    fit_sample,
    pick_donors,
    read_options,
    refuse_empty,
    sample_shares,
    seed_of_sample,
)
from greyfill.distributed.partitions import Overview, read_facts, with_columns_of
from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError
from greyfill.files.atomic import check_dataset
from greyfill.files.inputs import naming
from greyfill.progress import Callback, Meter

ENDINGS = files.Format.PARQUET.extensions
MODEL, ROWS, FILLS, CLASSES = "model.greyfill", "rows.npy", "fills.npy", "classes.parquet"
PLAN = "plan.json"

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


@dataclass(frozen=True)
class PartedDataset:
    """Partitions, the columns that are filled, and the column of the classes, if any."""

    partitions: list[Partition]
    features: list[str]
    target: str | None = None

    @classmethod
    def of(cls, source: str, target: str | None, ignored: Sequence[str]) -> "PartedDataset":
        """The dataset in a folder or a file; refuse one whose files differ in their columns."""
        partitions = list_partitions(source)
        names = partitions[0].schema().names
        features = _features(names, target, ignored, source)
        _refuse_other_columns(partitions, ignored)
        return cls(partitions, features, target)

    @property
    def header(self) -> Any:
        """An empty table with the columns that are filled."""
        return self.partitions[0].schema().empty_table().select(self.features)

    def split(self, table: Any, imputer: Any) -> tuple[Any, Any]:
        """What is filled of a table, and its classes, where the imputer looks at them."""
        heeds = self.target is not None and getattr(imputer, "labels", "") != "none"
        return table.select(self.features), table[self.target] if heeds else None

    @property
    def needed(self) -> list[str]:
        """The columns that a fit reads."""
        return [*self.features, *([self.target] if self.target else [])]

    def fit(self, imputer: Any, donors: int | str, meter: Meter) -> FittedSample:
        """Learn from a sample of the rows of all partitions; each is read twice."""
        if self.target is None:
            imputer._refuse_no_labels()
        options, facts = read_options(imputer), []
        meter.begin("reading", len(self.partitions), ahead=2 * len(self.partitions))
        for number, partition in enumerate(self.partitions):
            table, y = self.split(partition.read(self.needed), imputer)
            facts.append(read_facts(table, y, options, None, number))
            meter.advance()
        overview = Overview.of(facts)
        refuse_empty(overview)
        shares = sample_shares(overview, donors, seed_of_sample(imputer))
        meter.begin("sampling", len(self.partitions), ahead=len(self.partitions))
        parts = []
        for partition, share, first in zip(
            self.partitions, shares, overview.firsts.tolist(), strict=True
        ):
            table, y = self.split(partition.read(self.needed), imputer)
            missing = options["missing_values"]
            parts.append(pick_donors(table, y, overview, share, first, missing))
            meter.advance()
        return fit_sample(imputer, self.header, overview, parts, on_workers=False)

    def filled(self, partition: Partition, fitted: FittedSample, first: int) -> Any:
        """All columns of a partition, in their order, with the features filled."""
        table = partition.read()
        if table.num_rows == 0:
            return table
        return with_columns_of(table, fitted.fill(*self.split(table, fitted.imputer), first))

    @property
    def firsts(self) -> list[int]:
        """The number of the first row of each partition."""
        sizes = np.array([partition.n_rows for partition in self.partitions], dtype=np.intp)
        return list((np.cumsum(sizes) - sizes).tolist())


def impute_dataset(
    source: str,
    out: str,
    imputer: Any,
    *,
    target: str | None = None,
    ignored: Sequence[str] = (),
    donors: int | str = DONORS,
    n_jobs: int | None = None,
    force: bool = False,
    progress: Callback | None = None,
    report: Report = lambda message: None,
) -> dict[str, Any]:
    """Fill a Parquet dataset into another one, and return what was done in numbers.

    Parameters
    ----------
    source, out
        A folder of Parquet files (or a single file, whose row groups are the partitions), and a
        folder that does not exist, unless ``force`` says that it may be replaced.
    imputer
        What to do: any imputer of greyfill.
    target, ignored
        The column of the classes, and columns to leave as they are.
    donors
        How many rows to learn from, a seeded sample of all; or "all", which must fit in memory.
    n_jobs
        Threads; None means all cores.
    force
        Replace an existing output.
    progress
        Called with a `greyfill.progress.Progress` as partitions are read and written.
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
    check_sampled(imputer, donors)
    check_dataset(source, out, ENDINGS)
    dataset, meter = PartedDataset.of(source, target, ignored), Meter(progress)
    staging = Staging(Path(f"{os.path.normpath(out)}.partial"), Path(out), force)
    staging.open(_fingerprint(dataset, imputer, donors))
    if not staging.is_fitted():
        report(f"learning from {len(dataset.partitions)} partitions")
        learned = dataset.fit(_with_threads(clone(imputer), n_jobs), donors, meter)
        learned.warn()
        staging.keep(learned)
    fitted = staging.fitted()
    _with_threads(fitted.imputer, n_jobs)
    meter.begin("writing", len(dataset.partitions))
    for partition, first in zip(dataset.partitions, dataset.firsts, strict=True):
        if staging.needs(partition):
            report(f"writing {partition.name}")
            staging.write(partition, dataset.filled(partition, fitted, first))
        meter.advance()
    staging.publish()
    return _numbers(source, out, fitted, len(dataset.partitions))


def _with_threads(imputer: Any, n_jobs: int | None) -> Any:
    """The imputer, which works on so many threads; None means all cores."""
    if "n_jobs" in imputer.get_params():
        imputer.set_params(n_jobs=-1 if n_jobs is None else n_jobs)
    return imputer


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


def _fingerprint(dataset: PartedDataset, imputer: Any, donors: int | str) -> str:
    """Equal to that of an unfinished run if it was the same one."""
    seen = [(p.path, p.row_group, os.stat(p.path).st_size, os.stat(p.path).st_mtime_ns)
            for p in dataset.partitions]  # fmt: skip
    text = json.dumps([seen, repr(imputer), donors, dataset.target, dataset.features])
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
            for name in ("model", "parts"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            plan.write_text(fingerprint)

    def is_fitted(self) -> bool:
        """Whether the imputer is fitted; it is written after all else that ``fit`` leaves."""
        return (self._model / MODEL).exists()

    def keep(self, fitted: FittedSample) -> None:
        """Write what was learned."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with naming(os.fspath(self._model), "write"):
            np.save(self._model / ROWS, fitted.rows)
            np.save(self._model / FILLS, fitted.values)
            pq.write_table(pa.table({"class": list(fitted.classes)}), self._model / CLASSES)
        persistence.save(fitted.imputer, self._model / MODEL)

    def fitted(self) -> FittedSample:
        """What was learned, in this run or in one that did not end."""
        rows = np.load(self._model / ROWS, allow_pickle=False)
        fills = np.load(self._model / FILLS, allow_pickle=False)
        with opened(os.fspath(self._model / CLASSES)) as file:
            classes = tuple(file.read()["class"].to_pylist())
        return FittedSample(persistence.load(self._model / MODEL), rows, fills, classes)

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

    @property
    def _model(self) -> Path:
        return self.folder / "model"


def _numbers(source: str, out: str, fitted: FittedSample, n_partitions: int) -> dict[str, Any]:
    imputer = fitted.imputer
    return {
        "input": source,
        "output": out,
        "partitions": n_partitions,
        "donors": len(fitted.rows),
        "filled": sum(imputer.imputed_counts_.values()),
        "columns": imputer.imputed_counts_,
        "left_alone": imputer.left_alone_,
        "fallbacks": getattr(imputer, "fallback_counts_", {}),
    }
