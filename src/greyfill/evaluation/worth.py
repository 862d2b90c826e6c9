"""Does imputing pay? Nested cross-validation of what can be done about the holes of a table."""

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from joblib import Parallel, delayed

from greyfill import frames
from greyfill.checks import check_choice, check_seed, check_whole
from greyfill.datasets import Dataset
from greyfill.evaluation.compare import Store, digest, fingerprint
from greyfill.evaluation.pipelines import PIPELINES, FoldRun, PredictionTask
from greyfill.evaluation.protocols import stratified_folds
from greyfill.evaluation.snippet import Snippet, column_names, level_orders
from greyfill.evaluation.trials import Data, outcome, try_step, warm_up
from greyfill.evaluation.verdict import Worth
from greyfill.exceptions import InvalidDataError
from greyfill.missingness import missingness_test
from greyfill.progress import Callback, Meter, bar
from greyfill.table import Bools, Ints
from greyfill.targets import Meaning, read_target
from greyfill.text import plural

N_BINS = 10  # by which rows with a response are spread over the folds
LEAST_ROWS = 30


def worth(
    X: Any,
    y: Any = None,
    *,
    metric: str | None = None,
    n_splits: int = 5,
    repeats: int = 2,
    n_inner: int = 3,
    n_draws: int = 5,
    n_jobs: int | None = 1,
    random_state: int = 0,
    cache: str | os.PathLike[str] | None = None,
    progress: bool | Callback = True,
    name: str = "table",
    categorical_features: Any = "auto",
    ordinal_features: Any = None,
    missing_values: Any = None,
) -> Worth:
    """Whether imputing this table pays for predicting y, by how much, and what to take.

    Three groups of pipelines are compared on the same folds. *Plain*: the mean and an indicator,
    missing as a level, holes as they are (boosting only). *Imputing*: `GreyImputer`, the same with
    an indicator, and `BaggedDraws`. *Reading*: `GreyClassifier` or `GreyRegressor`. The first two
    are followed by logistic (or ridge) regression and by histogram gradient boosting.

    Within the training rows of each outer fold, inner folds choose one pipeline of each group; the
    outer fold judges the chosen ones, so the best of many is not praised for its luck. The gain of
    a group over the plain one is the mean difference over the outer folds, with the corrected
    resampled t interval of Nadeau and Bengio (2003): the variance of J differences is taken times
    1/J + n_test/n_train, since training sets overlap. Two gains are judged, so each interval has
    97.5 %, and both hold together with 95 %. A gain below its error does not matter.

    Parameters
    ----------
    X, y
        A table of any library with holes, and classes or a response; or a bundled data set alone.
        Rows without y are left out.
    metric
        What chooses and decides: "log_loss" (the default for classes) or "accuracy"; "rmse" for a
        response.
    n_splits, repeats
        Outer folds, and how often they are drawn anew.
    n_inner
        Inner folds, which choose.
    n_draws
        Draws of `BaggedDraws`.
    n_jobs
        Processes; each runs all pipelines on one fold at a time.
    random_state
        Seed of the folds and of all that is random: the same seed gives the same verdict.
    cache
        A Parquet file, or a directory for it, as in ``compare``: what it has is not run again.
    progress
        Show a bar, if stderr is a terminal or a notebook; or a function that is called with a
        ``greyfill.progress.Progress`` when a fold is done.
    name
        What to call the table in the results.
    categorical_features, ordinal_features, missing_values
        As in the imputers.

    Returns
    -------
    Worth
        ``verdict`` in a sentence or two, ``code`` that does what it advises, ``gains``, ``table()``
        of all pipelines, and ``missingness``: whether the holes themselves tell of y.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(90) % 2
    >>> X = rng.normal(size=(90, 2)) + y[:, None]
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> found = worth(X, y, n_splits=2, repeats=1, n_inner=2, n_draws=2, progress=False)
    >>> found.matters
    False
    """
    if isinstance(X, Dataset):
        name, y = X.name, X.y
        categorical_features, ordinal_features = X.categorical_features, X.ordinal_features or None
        X = X.X
    for parameter, value in (("n_splits", n_splits), ("n_inner", n_inner)):
        check_whole(parameter, value, least=2)
    for parameter, value in (("repeats", repeats), ("n_draws", n_draws)):
        check_whole(parameter, value)
    check_seed(random_state)
    kinds = categorical_features, ordinal_features, missing_values
    task, columns, orders, missing = _task(X, y, n_draws, *kinds)
    metric = task.metrics[0] if metric is None else metric
    check_choice("metric", metric, task.metrics)
    plan = WorthPlan(task, name, n_splits, repeats, n_inner, random_state)
    with bar("weighing") if progress is True else nullcontext(progress or None) as callback:
        results = _carry_out(plan, cache, n_jobs, Meter(callback))
    holes = missingness_test(task.table.missing, task.y, task.n_classes, random_state)
    snippet = Snippet(*columns, task.n_classes > 0, n_draws, orders, missing)
    found = Worth(results, metric, holes, snippet, n_splits, task.table.n_rows)
    if not found.can_judge:
        why = next(iter(found.errors["error"]), "too few rows for the folds")
        raise InvalidDataError(f"no plain pipeline, or none that imputes, could be judged: {why}")
    return found


def _task(
    X: Any, y: Any, n_draws: int, *kinds: Any
) -> tuple[
    PredictionTask, tuple[list[Any], list[Any], list[Any]], dict[Any, list[Any]], tuple[Any, ...]
]:
    """The rows with a y, and what a `Snippet` says of columns; refuse what tells nothing."""
    names = ("categorical_features", "ordinal_features", "missing_values")
    table, origin = frames.encode(X, **dict(zip(names, kinds, strict=True)))
    if y is None:
        raise InvalidDataError("worth needs y: what is to be predicted")
    target = read_target(y)
    if len(target.codes) != table.n_rows:
        raise InvalidDataError(f"X has {table.n_rows} rows, y has {len(target.codes)}")
    known = target.codes >= 0
    if known.sum() < LEAST_ROWS:
        raise InvalidDataError(
            f"{plural(int(known.sum()), 'row')} with a y; worth needs {LEAST_ROWS}, to cut them "
            "into folds twice"
        )
    if len(np.unique(target.codes[known])) < 2:
        raise InvalidDataError("y has fewer than two values: there is nothing to predict")
    kept = np.asarray(~table.missing[known].all(axis=0))
    rows = table.rows(known).select(kept)
    if not rows.missing.any():
        raise InvalidDataError("no row with a y has a hole: there is nothing to impute")
    if target.meaning is Meaning.RESPONSE:
        task = PredictionTask(rows, target.response[known], 0, n_draws)
    else:
        task = PredictionTask(rows, target.codes[known], len(target.classes), n_draws)
    schema = origin.schema
    orders = level_orders(X, schema, kept)
    return task, column_names(X, schema, kept), orders, schema.missing_values


@dataclass(frozen=True)
class Piece:
    """The test rows of an outer fold, or of a fold within its training rows."""

    repeat: int
    fold: int
    inner: int | None


@dataclass(frozen=True, eq=False)
class WorthPlan:
    """The folds of a task."""

    task: PredictionTask
    name: str
    n_splits: int
    repeats: int
    n_inner: int
    seed: int

    def pieces(self) -> Iterator[Piece]:
        """All folds; the same whatever the number of processes."""
        for repeat in range(self.repeats):
            for fold in range(self.n_splits):
                for inner in (None, *range(self.n_inner)):
                    yield Piece(repeat, fold, inner)

    def key(self, piece: Piece, pipeline: str) -> str:
        """A digest of all that the scores of a pipeline on a fold depend on."""
        from greyfill import __version__

        about = [self.n_splits, self.n_inner, self.seed, self.task.n_draws, *vars(piece).values()]
        return digest(json.dumps([self._print, "worth", *about, pipeline, __version__]).encode())

    @cached_property
    def _print(self) -> str:
        return fingerprint(Data(self.name, self.task.table, self.task.y))

    def rows(self, piece: Piece) -> tuple[Bools, Bools]:
        """Which rows teach, and which are tested."""
        seed = self.seed + piece.repeat
        fold_of = stratified_folds(self._strata, self.n_splits, seed)
        train = fold_of != piece.fold
        if piece.inner is None:
            return train, ~train
        inner_of = np.full(len(train), -1)
        inner_of[train] = stratified_folds(self._strata[train], self.n_inner, seed)
        return train & (inner_of != piece.inner), inner_of == piece.inner

    @property
    def _strata(self) -> Ints:
        """Classes, or tenths of a response."""
        if self.task.n_classes:
            return np.asarray(self.task.y)
        ranks = np.argsort(np.argsort(self.task.y, kind="stable"), kind="stable")
        return np.asarray(ranks * N_BINS // len(ranks))


def _carry_out(
    plan: WorthPlan, cache: str | os.PathLike[str] | None, n_jobs: int | None, meter: Meter
) -> pl.DataFrame:
    """Run the folds that the store lacks; the scores of all pipelines on all folds."""
    keys = {(piece, name): plan.key(piece, name) for piece in plan.pieces() for name in PIPELINES}
    metrics = plan.task.metrics
    with Store(cache) as store:
        todo: dict[Piece, list[str]] = {}
        for (piece, name), key in keys.items():
            if not all(store.has(key, metric) for metric in metrics):
                todo.setdefault(piece, []).append(name)
        if todo and n_jobs not in (None, 1):
            warm_up()  # else each process compiles what another one just does
        meter.begin("folds", len(todo))
        workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for piece, rows in workers(delayed(_scored)(plan, *work) for work in todo.items()):
            about = {"data": plan.name, "seed": plan.seed + piece.repeat}
            store.add(row | about | {"key": keys[piece, row["method"]]} for row in rows)
            meter.advance()
        found = [
            vars(piece) | {"pipeline": name} | row
            for (piece, name), key in keys.items()
            for row in store.frame((key, m) for m in metrics)["metric", "value", "error"].to_dicts()
        ]
    types = {"repeat": pl.Int64, "fold": pl.Int64, "inner": pl.Int64, "pipeline": pl.String}
    return pl.DataFrame(found, schema={**types, "metric": pl.String, "value": float, "error": str})


def _scored(plan: WorthPlan, piece: Piece, names: list[str]) -> tuple[Piece, list[dict[str, Any]]]:
    """The scores of some pipelines on a fold; a failure is a result too."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up()
        run = FoldRun(plan.task, *plan.rows(piece), plan.seed)
        for name in names:
            scores = try_step(run.scores, name)
            for metric in plan.task.metrics:
                value = scores if isinstance(scores, Exception) else scores[metric]
                rows.append({"method": name, **vars(outcome(metric, value))})
    return piece, rows
