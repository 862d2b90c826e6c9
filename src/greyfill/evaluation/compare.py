"""Which imputer serves a table? Hide known cells, fill them by many methods, and compare."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from greyfill import frames
from greyfill.datasets import Dataset
from greyfill.evaluation.comparison import Comparison
from greyfill.evaluation.plan import Plan, named_methods
from greyfill.evaluation.store import Store
from greyfill.evaluation.trials import PROTOCOLS, Data, Outcome, Trial, execute
from greyfill.exceptions import InvalidDataError
from greyfill.table import Ints

DEFAULT_METHODS = (
    "grey",
    "cgknn",
    "gknn",
    "iknn",
    "mice",
    "missforest",
    "sklearn_knn",
    "sklearn_iterative",
    "class_mean",
    "mean",
    "native",
)
SLOW = frozenset({"missforest", "miceforest", "mice"})


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Sequence[Any] | Mapping[str, Any] = DEFAULT_METHODS,
    rates: Sequence[float] | float = (0.1, 0.2),
    mechanism: str | Sequence[str] = "mcar",
    repeats: int = 3,
    classifiers: Sequence[str] | None = ("naive_bayes",),
    protocols: Sequence[str] = PROTOCOLS,
    n_splits: int = 5,
    n_jobs: int | None = 1,
    random_state: int = 0,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = True,
    name: str = "table",
    categorical_features: Any = "auto",
    ordinal_features: Any = None,
    missing_values: Any = None,
) -> Comparison:
    """Hide cells whose truth is known, fill them by each method, and judge the fills.

    Each method gets the same holes and, in cross-validation, the same folds. All may see the
    labels of the rows they are fitted on; whether that pays off is what the honest protocol tells.

    Parameters
    ----------
    X, y
        A table of any library and its class labels, or a bundled data set alone. Natural holes are
        filled too, but never judged. Without y there are no classifiers.
    methods
        Names of ``METHODS``, transformers of your own, or a mapping of names to either. Imputers
        of numbers that need scaled columns go into an ``EncodedImputer``.
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
    n_jobs
        Processes; each runs one method on one mask at a time.
    random_state
        The first seed.
    cache
        A Parquet file, or a directory for it. Rows that it has are not run again, so an
        interrupted comparison goes on where it stopped. Failed rows are tried again.
    progress
        Show a bar on stderr, if that is a terminal or a notebook.
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
    data = Data(name, table, _class_codes(y, table.n_rows))
    plan = Plan(
        named_methods(methods),
        tuple(map(float, [rates] if isinstance(rates, float | int) else rates)),
        (mechanism,) if isinstance(mechanism, str) else tuple(mechanism),
        tuple(range(random_state, random_state + repeats)),
        tuple(classifiers or ()) if y is not None else (),
        tuple(protocols),
        n_splits,
    )
    trials = plan.trials(data)
    with Store(cache) as store:
        todo = _todo(trials, store)
        for trial, outcomes in _track(_execute_all(data, todo, plan, n_jobs), len(todo), progress):
            store.add(_rows(data, trial, outcomes))
    wanted = [(trial.key, metric) for trial in trials for metric in trial.wanted]
    return Comparison(store.frame(wanted).drop("key"))


def _class_codes(y: Any, n_rows: int) -> Ints | None:
    if y is None:
        return None
    codes, classes = frames.encode_labels(y)
    if len(codes) != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, y has {len(codes)}")
    if len(classes) == 0 or frames.are_continuous(classes):
        raise InvalidDataError("y has no classes. Bin it, or compare without y.")
    return codes


def _todo(trials: list[Trial], store: Store) -> list[Trial]:
    """Trials with the metrics that the store lacks; slow methods first, so that no core waits."""
    missing = [
        replace(trial, wanted=tuple(m for m in trial.wanted if not store.has(trial.key, m)))
        for trial in trials
    ]
    todo = [trial for trial in missing if trial.wanted]
    return sorted(todo, key=lambda trial: trial.method not in SLOW)


def _execute_all(
    data: Data, todo: list[Trial], plan: Plan, n_jobs: int | None
) -> Iterator[tuple[Trial, list[Outcome]]]:
    """Results as they come in, from this process or from several."""
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    jobs = (delayed(_execute)(data, trial, plan.methods[trial.method]) for trial in todo)
    results: Iterator[tuple[Trial, list[Outcome]]] = parallel(jobs)
    return results


def _execute(data: Data, trial: Trial, method: Any) -> tuple[Trial, list[Outcome]]:
    return trial, execute(data, trial, method)


def _track(items: Iterator[Any], total: int, progress: bool) -> Iterator[Any]:
    console = Console(stderr=True)
    shown = progress and (console.is_terminal or console.is_jupyter)
    bar = track(items, "comparing", total, console=console, disable=not shown, transient=True)
    return iter(bar)


def _rows(data: Data, trial: Trial, outcomes: list[Outcome]) -> list[dict[str, Any]]:
    about = {
        "data": data.name,
        "mechanism": trial.mechanism,
        "rate": trial.rate,
        "method": trial.method,
        "seed": trial.seed,
        "key": trial.key,
    }
    return [about | {"metric": o.metric, "value": o.value, "error": o.error} for o in outcomes]
