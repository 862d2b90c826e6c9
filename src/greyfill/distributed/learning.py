"""Partitions of any frame, wherever they come from → a fitted imputer and the fills of each."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from greyfill._neighbors.engine import Settings
from greyfill.distributed.aligning import aligned, common_dtypes, described
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.reading import Facts, Overview, read_facts, read_rows
from greyfill.distributed.restoring import fills_of_partition
from greyfill.distributed.training import Trained, check_recipe, train
from greyfill.exceptions import ClusterError, InvalidDataError, InvalidParameterError
from greyfill.imputers.family import NeighborFamily


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, without the donors; and what is left on the workers.

    ``header`` is an empty frame with the columns of all partitions, as ``frames`` has them.
    """

    imputer: Any
    header: Any
    overview: Overview
    trained: Trained
    frames: list[Task]
    labels: list[Task]

    def all_fills(self, cluster: Cluster) -> list[Task]:
        """The fills of each partition, also of its rows without a label."""
        if not self.trained.leaves_rows:
            return self.trained.fills
        parts = zip(self.frames, self.labels, self.trained.fills, strict=True)
        fitted = cluster.keep([self.trained.fitted])[0]
        classes = self.overview.classes
        return [
            cluster.lazily(fills_of_partition, frame, y, fills, self.imputer, fitted, classes)
            for frame, y, fills in parts
        ]


def check_imputer(imputer: Any) -> None:
    """Refuse what cannot be distributed, without a look at the data."""
    if not isinstance(imputer, NeighborFamily):
        raise InvalidParameterError(
            "only methods of the neighbor family, such as CGKNNImputer(), work on partitions, not "
            f"{imputer!r}"
        )
    imputer._settings()
    check_recipe(imputer._heeding_recipe())


def learn(
    cluster: Cluster,
    imputer: Any,
    frames: list[Task],
    labels: list[Task],
    header: Any,
    pool_rows: int | None = None,
) -> Learned:
    """Fit an imputer on partitions; ``header`` is a frame with their columns.

    ``labels`` holds None for every partition where there are none. Partitions of pandas frames get
    one dtype for each column; those of Arrow tables keep theirs.
    """
    names = list(header.columns) if hasattr(header, "dtypes") else None
    facts = _facts(cluster, imputer, frames, labels, names)
    if names is not None:
        dtypes = common_dtypes(header, {n: fact.dtypes for n, fact in enumerate(facts)})
        header = described(header, dtypes)
        frames = [cluster.lazily(aligned, part, dtypes, n) for n, part in enumerate(frames)]
    overview = Overview.of(facts)
    validate_data(imputer, header, reset=True, skip_check_array=True)
    imputer._remember_columns(overview.schema, overview.holes, overview.n_rows)
    if not imputer._kept.any():
        raise InvalidDataError("no column has an observed value in any partition")
    is_labeled = labels[0] is not None and imputer._are_classes(overview.classes)
    heeded = labels if is_labeled else [None] * len(labels)
    schema, kept = overview.schema, imputer._kept
    rows = cluster.keep(
        [
            cluster.task(read_rows, frame, y, schema, kept, overview.classes)
            for frame, y in zip(frames, heeded, strict=True)
        ]
    )
    trained = train(
        cluster,
        imputer._heeding_recipe(),
        _with_seed(imputer._settings()),
        rows,
        overview.firsts,
        len(overview.classes) if is_labeled else None,
        tuple(np.array(schema.columns, dtype=object)[kept]),
        pool_rows,
    )
    imputer._remember(trained.summary.alone)
    return Learned(imputer, header, overview, trained, frames, heeded)


def _with_seed(settings: Settings) -> Settings:
    """Draw a seed once where the user wants another one each time."""
    if settings.random_state is not None:
        return settings
    return replace(settings, random_state=int(np.random.default_rng().integers(2**31)))


def _facts(
    cluster: Cluster,
    imputer: Any,
    frames: list[Task],
    labels: list[Task],
    names: list[Any] | None,
) -> list[Facts]:
    """Look at every partition; say which one cannot be read."""
    options = {
        name: getattr(imputer, name)
        for name in ("categorical_features", "ordinal_features", "missing_values")
    }
    tasks = [
        cluster.task(read_facts, frame, y, options, names, number)
        for number, (frame, y) in enumerate(zip(frames, labels, strict=True))
    ]
    try:
        return cluster.fetch(tasks, "reading the partitions")
    except ClusterError:
        _name_unreadable(cluster, tasks)
        raise


def _name_unreadable(cluster: Cluster, tasks: list[Task]) -> None:
    """Find the partition that fails on its own, if there is one."""
    for number, task in enumerate(tasks):
        cluster.fetch([task], f"reading partition {number} of {len(tasks)}")
