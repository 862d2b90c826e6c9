"""Which imputer serves a table? Hide known cells, fill them by many methods, and compare."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
from joblib import Parallel, delayed

from greyfill import frames
from greyfill.datasets import Dataset
from greyfill.evaluation.ampute import MECHANISMS
from greyfill.evaluation.comparison import Comparison
from greyfill.evaluation.protocols import check_classifiers, class_codes
from greyfill.evaluation.trials import PROTOCOLS, Data, Trial, execute, metric_names, warm_up
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files import put_parquet
from greyfill.files.atomic import check_name, check_output
from greyfill.files.inputs import naming
from greyfill.imputers.registry import DEFAULT, REGISTRY, make
from greyfill.progress import Callback, Meter, bar
from greyfill.targets import Meaning

DEFAULT_METHODS = (DEFAULT, "cgknn", "sklearn_iterative", "mean")
"""Quick ones; those that need labels are left out where there are none."""

SLOW = frozenset({"missforest", "miceforest", "mice", "srmi", "iari", "opt-svm", "opt-cv"})
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
Finished = Callable[[str, Comparison], None]
SECONDS_BETWEEN_WRITES = 2.0  # the whole file is written anew: not after each of many trials


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    rates: Sequence[float] | float = (0.1, 0.2),
    mechanism: str | Sequence[str] = "mcar",
    repeats: int = 3,
    classifiers: Sequence[str] | None = ("naive_bayes",),
    protocols: Sequence[str] = PROTOCOLS,
    n_splits: int = 5,
    by_column: bool = False,
    n_jobs: int | None = 1,
    random_state: int = 0,
    cache: str | os.PathLike[str] | None = None,
    progress: bool | Callback = True,
    finished: Finished | None = None,
    name: str = "table",
    categorical_features: Any = "auto",
    ordinal_features: Any = None,
    missing_values: Any = None,
) -> Comparison:
    """Hide cells whose truth is known, fill them by each method, and judge the fills.

    Each method gets the same holes and, in cross-validation, the same folds. All may see the
    labels of the rows they are fitted on; whether that pays off, the honest protocol measures.

    Parameters
    ----------
    X, y
        A table of any library and its class labels, or a bundled data set alone. Natural holes are
        filled too, but never judged. Without y there are no classifiers.
    methods
        Names of ``METHODS``, transformers of your own, or a mapping of names to either. Imputers
        of numbers that need scaled columns go into an ``EncodedImputer``. By default four quick
        ones: "grey", "cgknn" (with y), "sklearn_iterative" and "mean".
    rates
        Shares of the observed cells to hide.
    mechanism
        "mcar", "mar", "nmar", or several of them.
    repeats
        Seeds ``random_state``, ``random_state`` + 1, …, each with its own holes, folds and draws.
    classifiers
        "naive_bayes", "logistic_regression", "gradient_boosting"; None for none.
    protocols
        "honest": impute inside the folds, test rows without labels. "paper": impute everything
        with all labels, then cross-validate, which leaks them.
    n_splits
        Number of folds.
    by_column
        Measure the error of each column, too: ``Comparison.by_column()``.
    n_jobs
        Processes; each runs one method on one mask at a time.
    random_state
        The first seed.
    cache
        A Parquet file, or a directory for it. Rows that it has are not run again, so an
        interrupted comparison goes on where it stopped. Failed rows are tried again.
    progress
        Show a bar, if stderr is a terminal or a notebook; or a function that is called with a
        ``greyfill.progress.Progress`` when a trial is done.
    finished
        Called when all trials of a method are done, with its name and the ``Comparison`` of the
        methods that are done until now.
    name
        What to call the table in the results.
    categorical_features, ordinal_features, missing_values
        As in the imputers.

    Returns
    -------
    Comparison
        ``results``, ``summary()``, ``ranks(metric)``, ``pairwise(metric)``. Metrics: ``nrmse``,
        ``rmse``, ``wrong_share``, ``nrmse_all_cells``, ``wasserstein`` over the hidden cells;
        ``seconds`` and ``memory_mib`` of one fit_transform of the table; and
        ``accuracy_<classifier>_<protocol>`` and ``f1_<classifier>_<protocol>``. A method that
        fails has its error in place of a value.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, methods=["mean", "class_mean"], rates=[0.1], repeats=2)
    >>> result.ranks("nrmse").table["method"].to_list()
    ['class_mean', 'mean']
    """
    if isinstance(X, Dataset):
        name, y = X.name, X.y
        categorical_features, ordinal_features = X.categorical_features, X.ordinal_features or None
        X = X.X
    table, _ = frames.encode(
        X,
        categorical_features=categorical_features,
        ordinal_features=ordinal_features,
        missing_values=missing_values,
    )
    labels = None
    if y is not None:
        labels, _, meaning = class_codes(y, table.n_rows)
        if meaning is not Meaning.CLASSES:
            raise InvalidDataError("y has no classes. Bin it, or compare without y.")
    plan = TrialPlan(
        named_methods(_quick_methods(y is not None) if methods is None else methods),
        tuple(map(float, [rates] if isinstance(rates, float | int) else rates)),
        (mechanism,) if isinstance(mechanism, str) else tuple(mechanism),
        tuple(range(random_state, random_state + repeats)),
        tuple(classifiers or ()) if y is not None else (),
        tuple(protocols),
        n_splits,
        by_column,
    )
    with bar("comparing") if progress is True else nullcontext(progress or None) as callback:
        meter = Meter(callback)
        return _carry_out(plan, Data(name, table, labels), cache, n_jobs, meter, finished)


def _quick_methods(are_labels: bool) -> list[str]:
    return [m for m in DEFAULT_METHODS if are_labels or not REGISTRY[m].needs_labels]


def _carry_out(
    plan: "TrialPlan",
    data: Data,
    cache: str | os.PathLike[str] | None,
    n_jobs: int | None,
    meter: Meter,
    finished: Finished | None,
) -> Comparison:
    """Run the trials whose metrics the store lacks, and keep their rows as they come in."""
    trials = plan.trials(data)
    with Store(cache) as store:
        todo = _todo(trials, store, n_jobs)
        left = Counter(trial.method for trial in todo)
        done: list[str] = []

        def result(methods: Iterable[str]) -> Comparison:
            chosen = [trial for trial in trials if trial.method in methods]
            wanted = [(trial.key, metric) for trial in chosen for metric in trial.wanted]
            return Comparison(store.frame(wanted).drop("key"))

        def finish(method: str) -> None:
            done.append(method)
            if finished is not None:
                finished(method, result(done))

        for method in plan.methods:
            if not left[method]:
                finish(method)
        if left and n_jobs not in (None, 1):
            warm_up()  # else each process compiles what another one just does
        meter.begin("trials", len(todo))
        workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for rows in workers(delayed(_rows)(data, t, plan.methods[t.method]) for t in todo):
            store.add(rows)
            meter.advance()
            method = rows[0]["method"]
            left[method] -= 1
            if not left[method]:
                finish(method)
        return result(plan.methods)


def _todo(trials: list[Trial], store: "Store", n_jobs: int | None) -> list[Trial]:
    """Trials with the metrics that the store lacks, method by method.

    Where several processes share them, slow methods come first, so that no core waits.
    """
    missing = [
        replace(trial, wanted=tuple(m for m in trial.wanted if not store.has(trial.key, m)))
        for trial in trials
    ]
    todo = [trial for trial in missing if trial.wanted]
    order = list(dict.fromkeys(trial.method for trial in trials))
    shared = n_jobs not in (None, 1)
    return sorted(todo, key=lambda t: (shared and t.method not in SLOW, order.index(t.method)))


def _rows(data: Data, trial: Trial, method: Any) -> list[dict[str, Any]]:
    """The rows of results of one trial."""
    about = {"data": data.name, **vars(trial)}
    return [about | vars(outcome) for outcome in execute(data, trial, method)]


@dataclass(frozen=True)
class TrialPlan:
    """The grid of a comparison; a value that makes no sense is refused before anything runs."""

    methods: dict[str, Any]
    rates: tuple[float, ...]
    mechanisms: tuple[str, ...]
    seeds: tuple[int, ...]
    classifiers: tuple[str, ...]
    protocols: tuple[str, ...]
    n_splits: int
    by_column: bool = False

    def __post_init__(self) -> None:
        check_classifiers(self.classifiers)
        pairs = (self.mechanisms, tuple(MECHANISMS)), (self.protocols, PROTOCOLS)
        for name, (given, valid) in zip(("mechanism", "protocols"), pairs, strict=True):
            if others := [value for value in given if value not in valid]:
                raise InvalidParameterError(
                    f"{name}: {others[0]!r} is not one of {', '.join(valid)}"
                )
        if bad := [rate for rate in self.rates if not 0.0 < rate < 1.0]:
            raise InvalidParameterError(f"rates must lie between 0 and 1, got {bad[0]!r}")
        for name in ("methods", "rates", "mechanisms", "seeds"):
            if not getattr(self, name):
                raise InvalidParameterError(f"nothing to compare: there are no {name}")

    def trials(self, data: Data) -> list[Trial]:
        """All trials, with all their metrics wanted."""
        from greyfill import __version__

        print_of_data, trials = fingerprint(data), []
        columns = tuple(c.name for c in data.table.columns) if self.by_column else ()
        for case in product(self.mechanisms, self.rates, self.methods.items(), self.seeds):
            mechanism, rate, (label, method), seed = case
            wanted = metric_names(method, self.classifiers, self.protocols, columns)
            about = [data.name, mechanism, rate, label, _described(method), seed, self.n_splits]
            key = digest(json.dumps([print_of_data, *about, __version__]).encode())
            trials.append(Trial(mechanism, rate, label, seed, self.n_splits, key, wanted))
        return trials


def _described(method: Any) -> str:
    """A method with all its parameters, as text that is the same in the next session."""
    if isinstance(method, str):
        return method
    parameters = sorted(method.get_params(deep=True).items())
    return f"{type(method).__module__}.{type(method).__qualname__}{parameters!r}"


def fingerprint(data: Data) -> str:
    """A digest of a table and its labels."""
    labels = np.empty(0) if data.labels is None else data.labels
    parts = (data.table.values.tobytes(), data.table.missing.tobytes(), labels.tobytes())
    return digest(b"".join([repr(data.table.columns).encode(), *parts]))


def digest(content: bytes) -> str:
    """A short name for some content."""
    return sha256(content).hexdigest()[:16]


def named_methods(methods: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Methods by the names that the results show.

    Parameters
    ----------
    methods
        Names of ``METHODS`` and transformers, which are named by their class, or a mapping of
        names of your own to either.

    >>> from greyfill import CGKNNImputer
    >>> named_methods(["mean", CGKNNImputer(3), CGKNNImputer(9)])
    {'mean': 'mean', 'CGKNNImputer': CGKNNImputer(n_neighbors=3),
     'CGKNNImputer_2': CGKNNImputer(n_neighbors=9)}
    """
    if isinstance(methods, str):
        raise InvalidParameterError(f"methods must be a list or a mapping, not {methods!r}")
    by_class = [(m if isinstance(m, str) else type(m).__name__, m) for m in methods]
    named: dict[str, Any] = {}
    for name, method in methods.items() if isinstance(methods, Mapping) else by_class:
        if isinstance(method, str):
            make(method)  # refuses a name that there is not
        elif isinstance(method, type) or not hasattr(method, "transform"):
            raise InvalidParameterError(f"a method is a name or a transformer, not {method!r}")
        twins = sum(name in (known, known.rpartition("_")[0]) for known in named)
        named[f"{name}_{twins + 1}" if twins else name] = method
    return named


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
