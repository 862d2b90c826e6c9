"""One trial of a comparison: hide cells, fill them, judge the fill. A failure is a result too."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from greyfill.evaluation.ampute import MECHANISMS
from greyfill.evaluation.comparison import OF_COLUMN
from greyfill.evaluation.protocols import (
    CLASSIFIERS,
    Fold,
    classify,
    fit_fill,
    honest_folds,
    paper_folds,
    prepare,
)
from greyfill.imputers.registry import DEFAULT, make
from greyfill.metrics import distribution_distances, imputation_errors
from greyfill.missingness import hide
from greyfill.table import Bools, Floats, Ints, Table

ERRORS = ("nrmse", "rmse", "wrong_share", "nrmse_all_cells", "wasserstein")
COSTS = ("seconds", "memory_mib")
PROTOCOLS = ("honest", "paper")
NATIVE = "native"
LONGEST_ERROR = 500
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, eq=False)
class Data:
    """A table with its name, and class codes (−1: no label) if there are any."""

    name: str
    table: Table
    labels: Ints | None


@dataclass(frozen=True)
class Trial:
    """Holes of a mechanism, rate and seed, filled by a method; ``key`` is its digest.

    ``wanted`` are the names of the metrics that are still to be had.
    """

    mechanism: str
    rate: float
    method: str
    seed: int
    n_splits: int
    key: str
    wanted: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """A metric of a trial: its value, or the error that prevented it, or neither if it has none."""

    metric: str
    value: float | None = None
    error: str | None = None


def metric_names(
    method: Any,
    classifiers: tuple[str, ...],
    protocols: tuple[str, ...],
    columns: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """All metrics of a method; one that fills nothing has no errors of cells, nor of columns."""
    fills_nothing = isinstance(method, str) and method == NATIVE
    cells = COSTS if fills_nothing else ERRORS + COSTS + tuple(map(of_column, columns))
    return cells + tuple(n for p in protocols for c in classifiers for n in score_names(c, p))


def of_column(name: str) -> str:
    """The metric that is the error of a column.

    >>> of_column("age")
    'nrmse[age]'
    """
    return f"{OF_COLUMN}{name}]"


def is_of_cells(metric: str) -> bool:
    """Whether a metric is an error or a cost of a fill, of all columns or of one."""
    return metric in ERRORS + COSTS or metric.startswith(OF_COLUMN)


def score_names(classifier: str, protocol: str) -> tuple[str, str]:
    """The metrics of a classifier under a protocol.

    >>> score_names("naive_bayes", "honest")
    ('accuracy_naive_bayes_honest', 'f1_naive_bayes_honest')
    """
    return f"accuracy_{classifier}_{protocol}", f"f1_{classifier}_{protocol}"


def execute(data: Data, trial: Trial, method: Any) -> list[Outcome]:
    """Hide, fill and judge; a step that fails gives its error to each metric that needs it."""
    figures: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up()
        hidden = try_step(_hide, data, trial)
        if any(is_of_cells(name) or name.endswith("_paper") for name in trial.wanted):
            filled = try_step(_fill, data, trial, method, hidden)
            cells = tuple(name for name in trial.wanted if is_of_cells(name))
            figures |= _spread(try_step(_judge_cells, data, trial, hidden, filled), cells)
            figures |= _scores(data, trial, "paper", _paper_folds, filled)
        figures |= _scores(data, trial, "honest", _honest_folds, method, hidden)
    return [outcome(name, figures.get(name)) for name in trial.wanted]


def try_step(step: Callable[..., Any], *inputs: Any) -> Any:
    """The result of a step, or its exception; a step with a failed input fails alike."""
    for given in inputs:
        if isinstance(given, Exception):
            return given
    try:
        return step(*inputs)
    except Exception as error:
        return error


def _spread(result: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Figures by name; an exception for each name."""
    return dict.fromkeys(names, result) if isinstance(result, Exception) else dict(result)


def outcome(name: str, result: Any) -> Outcome:
    """A figure, or the error that stands in its place."""
    if isinstance(result, Exception):
        text = " ".join(f"{type(result).__name__}: {result}".split())
        return Outcome(name, error=text[:LONGEST_ERROR])
    return Outcome(name, None if result is None or np.isnan(result) else float(result))


Hidden = tuple[Table, Bools]  # the table with more holes, and which those are


def _hide(data: Data, trial: Trial) -> Hidden:
    mask = MECHANISMS[trial.mechanism](data.table, trial.rate, random_state=trial.seed)
    return hide(data.table, mask), mask


@dataclass
class Cost:
    """Seconds and MiB; ``memory_mib`` is NaN where the system does not tell."""

    seconds: float = float("nan")
    memory_mib: float = float("nan")


Filled = tuple[Floats, Cost]


def _fill(data: Data, trial: Trial, method: Any, hidden: Hidden) -> Filled:
    """Fill the whole table with all labels; only this is measured."""
    with measured() as cost:
        cells = fit_fill(prepare(method, hidden[0], trial.seed), hidden[0], data.labels)
    return cells, cost


def _judge_cells(data: Data, trial: Trial, hidden: Hidden, filled: Filled) -> dict[str, float]:
    (_, mask), (cells, cost) = hidden, filled
    costs = vars(cost)
    if not [name for name in trial.wanted if is_of_cells(name) and name not in COSTS]:
        return costs
    cells = cells[:, : data.table.n_columns]
    errors = imputation_errors(data.table, cells, mask)
    distances = distribution_distances(data.table, cells, mask)
    wasserstein = {"wasserstein": float(np.mean(list(distances.values())))}
    of_columns = {of_column(name): found.nrmse for name, found in errors.by_column.items()}
    return costs | wasserstein | of_columns | {n: getattr(errors, n) for n in ERRORS[:-1]}


def _scores(
    data: Data, trial: Trial, protocol: str, make_folds: Callable[..., list[Fold]], *inputs: Any
) -> dict[str, Any]:
    """Accuracy and macro-F1 of each wanted classifier on the folds of a protocol."""
    wanted = [c for c in CLASSIFIERS if set(score_names(c, protocol)) & set(trial.wanted)]
    folds = try_step(make_folds, data, trial, *inputs) if wanted else None
    figures: dict[str, Any] = {}
    for classifier in wanted:
        names = score_names(classifier, protocol)
        score = try_step(classify, folds, data.table.columns, data.labels, classifier)
        if not isinstance(score, Exception):
            score = zip(names, (score.accuracy, score.macro_f1), strict=True)
        figures |= _spread(score, names)
    return figures


def _paper_folds(data: Data, trial: Trial, filled: Filled) -> list[Fold]:
    assert data.labels is not None
    return paper_folds(filled[0], data.labels, trial.n_splits, trial.seed)


def _honest_folds(data: Data, trial: Trial, method: Any, hidden: Hidden) -> list[Fold]:
    assert data.labels is not None
    return honest_folds(hidden[0], data.labels, method, trial.n_splits, trial.seed)


@cache
def warm_up() -> None:
    """Load the compiled kernels of this process, so that no run pays for it."""
    X = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 0.0], [3.0, 1.0]])
    for imputer in (make("cgknn", n_neighbors=1), make("iknn", n_neighbors=1), make(DEFAULT)):
        imputer.fit(X, [0, 0, 1, 1]).transform(X[1:2])


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure the body of a ``with``.

    >>> with measured() as cost:
    ...     total = sum(range(1000))
    >>> 0 < cost.seconds < 10
    True
    """
    cost = Cost()
    with suppress(OSError):  # not every system lets a process reset its high-water mark
        RESET.write_text("5", encoding="ascii")
    before, start = _high_water(), perf_counter()
    yield cost
    cost.seconds = perf_counter() - start
    cost.memory_mib = max(_high_water() - before, 0.0)


def _high_water() -> float:
    """The largest resident set since the last reset, in MiB; that of all time without /proc."""
    with suppress(OSError, StopIteration):
        lines = STATUS.read_text(encoding="ascii").splitlines()
        return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    if sys.platform == "win32":
        return float("nan")
    from resource import RUSAGE_SELF, getrusage

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return getrusage(RUSAGE_SELF).ru_maxrss / unit
