"""`DaskImputer`: any imputer for `dask.dataframe` collections."""

from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from greyfill.checks import OwnParameters, check_fitted, own_errors
from greyfill.distributed.cluster import Cluster, Task
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
from greyfill.distributed.partitions import (
    Dtypes,
    Facts,
    Overview,
    aligned,
    common_dtypes,
    input_meta,
    naming_partition,
    output_meta,
    read_facts,
)
from greyfill.exceptions import ClusterError, InvalidDataError
from greyfill.imputers.family import NeighborFamily
from greyfill.imputers.grey import GreyImputer


@dataclass(frozen=True, eq=False)
class ClusterFit:
    """What was learned, on the workers, and the partitions that it was learned from.

    ``header`` is an empty frame with the columns of all partitions, as ``frames`` has them.
    """

    fitted: Task
    header: Any
    overview: Overview
    frames: list[Task]
    labels: list[Task]


def fit_partitions(
    cluster: Cluster,
    imputer: Any,
    frames: list[Task],
    labels: list[Task],
    header: Any,
    donors: int | str,
) -> ClusterFit:
    """Fit an imputer on donors out of partitions; ``header`` is a pandas frame of their columns.

    ``labels`` holds None for every partition where there are none. Each column gets one dtype.
    """
    names, options = list(header.columns), read_options(imputer)
    facts = _facts(cluster, options, frames, labels, names)
    dtypes = common_dtypes(header, {n: fact.dtypes for n, fact in enumerate(facts)})
    header = input_meta(header, dtypes)
    frames = [cluster.lazily(aligned, part, dtypes, n) for n, part in enumerate(frames)]
    overview = Overview.of(facts)
    refuse_empty(overview)
    shares = sample_shares(overview, donors, seed_of_sample(imputer))
    each = zip(frames, labels, shares, overview.firsts.tolist(), strict=True)
    parts = [
        cluster.task(pick_donors, part, y, overview, share, first, options["missing_values"])
        for part, y, share, first in each
    ]
    # The blocks of a long search are shared by all workers; a sample is searched where it is.
    on_workers = cluster.is_remote and donors == "all" and isinstance(imputer, NeighborFamily)
    fitted = cluster.task(fit_sample, imputer, header, overview, parts, on_workers)
    return ClusterFit(cluster.keep([fitted])[0], header, overview, frames, labels)


def _facts(
    cluster: Cluster,
    options: dict[str, Any],
    frames: list[Task],
    labels: list[Task],
    names: list[Any],
) -> list[Facts]:
    """Read every partition; say which one cannot be read."""
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


def fill_new(frame: Any, fitted: FittedSample, dtypes: Dtypes, meta: Any, number: int) -> Any:
    """New rows of these dtypes without holes; each is filled on its own."""
    if len(frame) == 0:
        return meta
    frame = aligned(frame, dtypes, number)
    with naming_partition(number):
        filled = fitted.imputer.transform(frame)
    return aligned(filled, dict(meta.dtypes), number)


def fill_old(frame: Any, y: Any, fitted: FittedSample, first: int, meta: Any, number: int) -> Any:
    """Training rows without holes."""
    if len(frame) == 0:
        return meta
    with naming_partition(number):
        filled = fitted.fill(frame, y, first)
    return aligned(filled, dict(meta.dtypes), number)


class DaskImputer(OwnParameters, BaseEstimator):
    """An imputer that learns from, and fills, the partitions of a Dask frame.

    A sample of rows is learned from on one worker; the fitted imputer goes to every worker once
    and fills the partitions where they are. If the sample is the whole table, the result is that
    of one machine to the bit. ``fit`` works at once, on the cluster; ``transform`` and
    ``fit_transform`` return a lazy frame with the partitions, divisions, columns and dtypes of the
    one that came in. Where partitions differ in dtype, ``fit_transform`` widens the column, and
    both refuse what would change an observed cell.

    Parameters
    ----------
    imputer : imputer, optional
        What to do: for example ``GreyImputer()``, which is also what None means. It is cloned, not
        changed.
    donors : int or "all", default=200_000
        Rows to learn from: a seeded sample that keeps the shares of the classes, with the rows
        that hold the ends of a column and one of each class. It does not depend on the number of
        partitions. "all" brings every row, in numbers, to one worker, which must hold them; the
        search of the neighbor methods is then shared by all workers.
    client : distributed.Client, optional
        Where to work. None means the client that exists, else threads of this process.

    Attributes
    ----------
    imputer_ : imputer
        The fitted imputer, in this process. It fills frames of one machine, and can be saved.
    n_iter_, feature_weights_, fallback_counts_, …
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
        self, imputer: Any = None, *, donors: int | str = DONORS, client: Any = None
    ) -> None:
        self.imputer = imputer
        self.donors = donors
        self.client = client

    _fitted: Task
    _alone: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a Dask frame and, where the method uses them, a Dask series of labels."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from a Dask frame and return it, lazily, without holes.

        Donors are filled as ``fit_transform`` of the imputer fills them. Other rows are filled from
        the donors, by their label, too, if the imputer lets a row see its own.
        """
        fit, cluster = self._fit(X, y), Cluster(self.client)
        meta = output_meta(fit.header, self.imputer_)
        each = zip(fit.frames, fit.labels, fit.overview.firsts.tolist(), strict=True)
        parts = [
            cluster.lazily(fill_old, frame, labels, fit.fitted, first, meta, number)
            for number, (frame, labels, first) in enumerate(each)
        ]
        return _collection(parts, meta, X)

    def transform(self, X: Any) -> Any:
        """Return a Dask frame, lazily, without holes; each row is filled on its own."""
        check_fitted(self, "_fitted")
        _check_frame(X)
        imputer, cluster = self.imputer_, Cluster(self.client)
        with own_errors():
            validate_data(imputer, X._meta, reset=False, skip_check_array=True)
        meta = output_meta(X._meta, imputer)
        dtypes = dict(X._meta.dtypes)
        fitted = self._fitted = cluster.keep([self._fitted])[0]
        parts = [
            cluster.lazily(fill_new, frame, fitted, dtypes, meta, number)
            for number, frame in enumerate(_partitions(X))
        ]
        return _collection(parts, meta, X)

    @property
    def imputer_(self) -> Any:
        """The fitted imputer, with all its donors, in this process."""
        check_fitted(self, "_fitted")
        return self._alone

    def __getattr__(self, name: str) -> Any:
        """What the imputer learned."""
        if name == "imputer_":  # Python comes here once more when the property has failed
            check_fitted(self, "_fitted")
        elif name.endswith("_") and not name.startswith("_") and "_fitted" in self.__dict__:
            return getattr(self.imputer_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fit(self, X: Any, y: Any) -> ClusterFit:
        imputer = GreyImputer() if self.imputer is None else clone(self.imputer, safe=False)
        check_sampled(imputer, self.donors)
        if y is None:
            imputer._refuse_no_labels()
        _check_frame(X)
        labels = _label_partitions(None if getattr(imputer, "labels", "") == "none" else y, X)
        cluster = Cluster(self.client)
        fit = fit_partitions(cluster, imputer, _partitions(X), labels, X._meta, self.donors)
        fitted = cluster.fetch([fit.fitted], "learning from the donors")[0]
        fitted.warn()
        self._fitted, self._alone = fit.fitted, fitted.imputer
        return fit


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
