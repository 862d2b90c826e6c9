"""`DaskImputer`: an imputer for `dask.dataframe` collections."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from greyfill._neighbors.engine import RecipeSettings
from greyfill.checks import OwnParameters, check_fitted, check_whole, own_errors
from greyfill.distributed.cluster import Cluster, Task
from greyfill.distributed.cluster_loop import Trained, check_recipe, train
from greyfill.distributed.partitions import (
    Facts,
    Overview,
    aligned,
    common_dtypes,
    fill_partition,
    fills_of_partition,
    input_meta,
    output_meta,
    read_facts,
    read_rows,
    restore_partition,
    whole_imputer,
)
from greyfill.exceptions import ClusterError, InvalidDataError, InvalidParameterError
from greyfill.imputers.family import NeighborFamily


@dataclass(frozen=True, eq=False)
class ClusterFit:
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
        if not self.trained.has_unused:
            return self.trained.fills
        parts = zip(self.frames, self.labels, self.trained.fills, strict=True)
        fitted = cluster.keep([self.trained.fitted])[0]
        classes = self.overview.classes
        return [
            cluster.lazily(fills_of_partition, frame, y, fills, self.imputer, fitted, classes)
            for frame, y, fills in parts
        ]


def check_imputer(imputer: Any) -> None:
    """Refuse what cannot be distributed, before any data is read."""
    if not isinstance(imputer, NeighborFamily):
        raise InvalidParameterError(
            "only methods of the neighbor family, such as CGKNNImputer(), work on partitions, not "
            f"{imputer!r}"
        )
    if imputer.leave_alone is not None:
        raise InvalidParameterError(
            "leave_alone does not work on partitions: drop the columns, and join them later"
        )
    imputer._settings()
    check_recipe(imputer._heeding_recipe())


def fit_partitions(
    cluster: Cluster,
    imputer: Any,
    frames: list[Task],
    labels: list[Task],
    header: Any,
    pool_rows: int | None = None,
) -> ClusterFit:
    """Fit an imputer on partitions; ``header`` is a frame with their columns.

    ``labels`` holds None for every partition where there are none. Partitions of pandas frames get
    one dtype for each column; those of Arrow tables keep theirs.
    """
    names = list(header.columns) if hasattr(header, "dtypes") else None
    facts = _facts(cluster, imputer, frames, labels, names)
    if names is not None:
        dtypes = common_dtypes(header, {n: fact.dtypes for n, fact in enumerate(facts)})
        header = input_meta(header, dtypes)
        frames = [cluster.lazily(aligned, part, dtypes, n) for n, part in enumerate(frames)]
    overview = Overview.of(facts)
    validate_data(imputer, header, reset=True, skip_check_array=True)
    imputer._remember_columns(overview.schema, overview.holes, overview.n_rows)
    if not imputer._kept.any():
        raise InvalidDataError("no column has an observed value in any partition")
    meaning = overview.meaning(imputer._needs_labels)
    is_labeled = labels[0] is not None and imputer._takes(meaning)
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
        _seeded(imputer._settings()),
        rows,
        overview.firsts,
        len(overview.classes) if is_labeled else None,
        tuple(np.array(schema.columns, dtype=object)[kept]),
        pool_rows,
    )
    imputer._remember(trained.light)
    return ClusterFit(imputer, header, overview, trained, frames, heeded)


def _seeded(settings: RecipeSettings) -> RecipeSettings:
    """Draw a seed once where the user wants another one each time: all tasks must share it."""
    if settings.random_state is not None:
        return settings
    return replace(settings, random_state=int(np.random.default_rng().integers(2**31)))


def _facts(
    cluster: Cluster, imputer: Any, frames: list[Task], labels: list[Task], names: list[Any] | None
) -> list[Facts]:
    """Read every partition; say which one cannot be read."""
    names_of_options = ("categorical_features", "ordinal_features", "missing_values")
    options = {name: getattr(imputer, name) for name in names_of_options}
    tasks = [
        cluster.task(read_facts, frame, y, options, names, number)
        for number, (frame, y) in enumerate(zip(frames, labels, strict=True))
    ]
    try:
        return cluster.fetch(tasks, "reading the partitions")
    except ClusterError:
        for number, task in enumerate(tasks):  # one of them fails on its own, and is named
            cluster.fetch([task], f"reading partition {number} of {len(tasks)}")
        raise


class DaskImputer(OwnParameters, BaseEstimator):
    """A neighbor imputer that learns from, and fills, the partitions of a Dask frame.

    The result is that of the imputer on one machine, to the bit. ``fit`` works at once, on the
    cluster; ``transform`` and ``fit_transform`` return a lazy frame with the partitions,
    divisions, columns and dtypes of the one that came in. Where partitions differ in dtype,
    ``fit_transform`` widens the column, and both refuse what would change an observed cell.

    Parameters
    ----------
    imputer : neighbor imputer
        What to do: for example ``CGKNNImputer(n_neighbors=10)``. It is cloned, not changed.
        Methods that fill rows one group after another (SKNN) cannot be distributed.
    client : distributed.Client, optional
        Where to work. None means the client that exists, else threads of this process.
    max_donors : int, optional
        Only a seeded sample of so many rows of each class are donors; the same sample on every
        number of partitions. None leaves it to the imputer.
    pool_rows : int, optional
        The most donors that a worker holds at once. Larger pools are searched part by part, which
        costs time but changes no cell. None means what fits into a quarter of the smallest
        worker's memory.

    Attributes
    ----------
    imputer_ : neighbor imputer
        The fitted imputer, brought to this process when it is first used. It fills frames of one
        machine, and can be saved.
    n_neighbors_, k_scores_, history_, converged_, feature_weights_, fallback_counts_, …
        As those of the imputer.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> frame = pd.DataFrame({"a": [1.0, 1.1, 5.0, 5.1], "b": [2.0, None, 8.0, None]})
    >>> y = pd.Series(["x", "x", "y", "y"])
    >>> from greyfill import CGKNNImputer
    >>> imputer = DaskImputer(CGKNNImputer(n_neighbors=1))
    >>> lazy = imputer.fit_transform(dd.from_pandas(frame, npartitions=2),
    ...                              dd.from_pandas(y, npartitions=2))
    >>> lazy.compute()["b"].tolist()
    [2.0, 2.0, 8.0, 8.0]
    """

    def __init__(
        self,
        imputer: Any,
        *,
        client: Any = None,
        max_donors: int | None = None,
        pool_rows: int | None = None,
    ) -> None:
        self.imputer = imputer
        self.client = client
        self.max_donors = max_donors
        self.pool_rows = pool_rows

    _fitted: Task

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a Dask frame and, where the method uses them, a Dask series of labels."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from a Dask frame and return it, lazily, without holes.

        Rows with a label are filled with its help, as ``fit_transform`` of the imputer does.
        """
        fit, cluster = self._fit(X, y), Cluster(self.client)
        meta = output_meta(fit.header, self._light)
        pairs = zip(fit.frames, fit.all_fills(cluster), strict=True)
        parts = [
            cluster.lazily(restore_partition, frame, fills, self._light, meta, number)
            for number, (frame, fills) in enumerate(pairs)
        ]
        return _collection(parts, meta, X)

    def transform(self, X: Any) -> Any:
        """Return a Dask frame, lazily, without holes; each row is filled on its own."""
        check_fitted(self, "_light")
        _check_frame(X)
        with own_errors():
            validate_data(self._light, X._meta, reset=False, skip_check_array=True)
        meta, cluster = output_meta(X._meta, self._light), Cluster(self.client)
        dtypes = dict(X._meta.dtypes)
        fitted = self._fitted = cluster.keep([self._fitted])[0]
        parts = [
            cluster.lazily(fill_partition, frame, self._light, fitted, dtypes, meta, number)
            for number, frame in enumerate(_partitions(X))
        ]
        return _collection(parts, meta, X)

    @property
    def imputer_(self) -> Any:
        """The fitted imputer, with all its donors, in this process."""
        check_fitted(self, "_light")
        fitted = Cluster(self.client).fetch([self._fitted], "bringing the donors here")[0]
        return whole_imputer(self._light, fitted)

    def __getattr__(self, name: str) -> Any:
        """What the imputer learned, without its donors."""
        if name.endswith("_") and not name.startswith("_") and "_light" in self.__dict__:
            return getattr(self._light, name)
        if name == "imputer_":  # Python comes here once more when the property has failed
            check_fitted(self, "_light")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fit(self, X: Any, y: Any) -> ClusterFit:
        imputer = self._checked_imputer(y)
        _check_frame(X)
        labels = _label_partitions(None if imputer.labels == "none" else y, X)
        fit = fit_partitions(
            Cluster(self.client), imputer, _partitions(X), labels, X._meta, self.pool_rows
        )
        self._light, self._fitted = fit.imputer, fit.trained.fitted
        return fit

    def _checked_imputer(self, y: Any) -> Any:
        """A clone of the imputer, after all checks that need no data."""
        if self.pool_rows is not None:
            check_whole("pool_rows", self.pool_rows, otherwise=", or None")
        imputer = clone(self.imputer, safe=False)  # what is no imputer is refused below
        if self.max_donors is not None and hasattr(imputer, "set_params"):
            imputer.set_params(max_donors=self.max_donors)
        check_imputer(imputer)
        if y is None:
            imputer._refuse_no_labels()
        return imputer


def _check_frame(X: Any) -> None:
    if not hasattr(X, "to_delayed") or not hasattr(X, "_meta") or not hasattr(X, "columns"):
        raise InvalidDataError(
            f"expected a dask.dataframe.DataFrame, not {type(X).__module__}.{type(X).__name__}. "
            "Frames of one machine are filled by the imputer itself."
        )


def _label_partitions(y: Any, X: Any) -> list[Task]:
    """The labels of each partition; None where there are none."""
    if y is None:
        return [None] * X.npartitions
    if not hasattr(y, "to_delayed") or not hasattr(y, "_meta"):
        raise InvalidDataError(
            f"y must be a dask Series beside X, not {type(y).__module__}.{type(y).__name__}. "
            "For a column of the frame: y = frame['class'], X = frame.drop(columns='class')."
        )
    if y.npartitions != X.npartitions:
        raise InvalidDataError(
            f"X has {X.npartitions} partitions, but y has {y.npartitions}. Make both from one "
            "frame, or repartition one like the other."
        )
    return _partitions(y)


def _partitions(frame: Any) -> list[Task]:
    """The partitions as they are counted; Dask would join small ones where it reads few columns."""
    parts = frame.to_delayed()
    if len(parts) != frame.npartitions:
        parts = frame.to_delayed(optimize_graph=False)
    return list(parts)


def _collection(parts: list[Task], meta: Any, X: Any) -> Any:
    """A lazy frame of these partitions, divided like X."""
    from dask import config
    from dask.dataframe import from_delayed

    divisions = X.divisions if X.known_divisions else None
    with config.set({"dataframe.convert-string": False}):  # lest objects become texts
        return from_delayed(parts, meta=meta, divisions=divisions, verify_meta=False)
