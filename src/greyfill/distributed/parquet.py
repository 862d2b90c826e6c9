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
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone

from greyfill.distributed.donor_sample import (
    DONORS,
    FittedSample,
    check_sampled,
    fit_sample,
    pick_donors,
    read_options,
    refuse_empty,
    refuse_indicators,
    sample_shares,
    seed_of_sample,
)
from greyfill.distributed.parquet_files import (
    ENDINGS,
    Partition,
    common_fields,
    list_partitions,
    one_of_each_file,
    refuse_other_columns,
)
from greyfill.distributed.partial_output import Staging
from greyfill.distributed.partitions import (
    Overview,
    naming_partition,
    read_facts,
    with_columns_of,
)
from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError
from greyfill.files.atomic import check_apart, check_dataset
from greyfill.progress import Callback, Meter

Report = Callable[[str], None]


@dataclass(frozen=True)
class PartedDataset:
    """Partitions, the columns that are filled, and the column of the classes, if any."""

    partitions: list[Partition]
    features: list[str]
    target: str | None = None

    @classmethod
    def of(cls, source: str, target: str | None, ignored: Sequence[str]) -> "PartedDataset":
        """The dataset in a folder or a file; refuse files of other columns or sorts of labels."""
        partitions = list_partitions(source)
        names = partitions[0].schema().names
        features = _features(names, target, ignored, source)
        refuse_other_columns(partitions, ignored)
        if target is not None:
            common_fields(partitions, [target])
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
        for partition in self.partitions:
            table, y = self.split(partition.read(self.needed), imputer)
            facts.append(read_facts(table, y, options, None, partition.title))
            meter.advance()
        overview = Overview.of(facts, [partition.title for partition in self.partitions])
        refuse_empty(overview)
        shares = sample_shares(overview, donors, seed_of_sample(imputer))
        meter.begin("sampling", len(self.partitions), ahead=len(self.partitions))
        parts = []
        for partition, share, first in zip(
            self.partitions, shares, overview.firsts.tolist(), strict=True
        ):
            table, y = self.split(partition.read(self.needed), imputer)
            missing = options["missing_values"]
            with naming_partition(partition.title):
                parts.append(pick_donors(table, y, overview, share, first, missing))
            meter.advance()
        return fit_sample(imputer, self.header, overview, parts, on_workers=False)

    def filled(self, partition: Partition, fitted: FittedSample, first: int) -> Any:
        """All columns of a partition, in their order, with the features filled."""
        table = partition.read()
        if table.num_rows == 0:
            return table
        with naming_partition(partition.title):
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
    refuse_indicators(imputer)
    check_dataset(source, out, ENDINGS)
    staging = Staging.of(out, force)
    check_apart(source, os.fspath(staging.folder))
    dataset, meter = PartedDataset.of(source, target, ignored), Meter(progress)
    for one in one_of_each_file(dataset.partitions):  # which may be a link
        check_apart(one.path, out)
        check_apart(one.path, os.fspath(staging.folder))
    run = _fingerprint(dataset, imputer, donors)
    with staging.open(run):
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
        if _fingerprint(dataset, imputer, donors) != run:
            raise FileProblemError(
                f"Cannot read {source}: it changed while it was read. Try again when nobody writes "
                "to it."
            )
        staging.publish()
    return _numbers(source, out, fitted, len(dataset.partitions))


def _with_threads(imputer: Any, n_jobs: int | None) -> Any:
    """The imputer, which works on so many threads; None means all cores."""
    if "n_jobs" in imputer.get_params():
        imputer.set_params(n_jobs=-1 if n_jobs is None else n_jobs)
    return imputer


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
    """Equal to that of an unfinished run if it was the same one, of the same version."""
    seen = [(p.path, p.row_group, os.stat(p.path).st_size, os.stat(p.path).st_mtime_ns)
            for p in dataset.partitions]  # fmt: skip
    settings = sorted(imputer.get_params().items())
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):  # every item of an array
        named = [type(imputer).__name__, str(donors), repr(settings)]
    text = json.dumps([version("greyfill"), seen, named, dataset.target, dataset.features])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


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
