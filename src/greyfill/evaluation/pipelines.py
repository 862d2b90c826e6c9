"""The ways from a table with holes to a prediction that ``worth`` weighs against each other.

Each is a strategy for the holes and a model. Within a fold a table is filled once for all models
that follow; only the training rows teach the imputer, with their labels, and test rows are filled
without.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from greyfill.evaluation.protocols import (
    MANY_ROWS,
    cells_of,
    draw,
    fill,
    fill_several_times,
    kinds_of,
    prepare,
)
from greyfill.imputers.bagged import on_columns
from greyfill.imputers.models import GreyClassifier, GreyRegressor
from greyfill.imputers.registry import DEFAULT
from greyfill.table import Bools, Column, Floats, Kind, Table
from greyfill.targets import labels_of

PLAIN, IMPUTING, READING = "plain", "imputing", "reading"
LINEAR, BOOSTING, GREY = "linear", "boosting", "grey"
LEAST_PROBABILITY = 1e-6
"""A class that was thought to be less probable costs no more."""

ESTIMATORS: dict[tuple[str, bool], Any] = {
    (LINEAR, True): LogisticRegression(max_iter=1000),
    (LINEAR, False): Ridge(),
    (BOOSTING, True): HistGradientBoostingClassifier(random_state=0),
    (BOOSTING, False): HistGradientBoostingRegressor(random_state=0),
}
"""The models by name, for classes and for a response."""


@dataclass(frozen=True)
class Pipeline:
    """A strategy for holes and a model; ``group`` says what becomes of the holes."""

    name: str
    strategy: str
    model: str
    group: str
    words: str

    def described(self, classifies: bool) -> str:
        """In words, with the name of the model.

        >>> PIPELINES["grey_linear"].described(True)
        'GreyImputer, then logistic regression'
        """
        linear = "logistic regression" if classifies else "ridge regression"
        model = {LINEAR: linear, BOOSTING: "boosting"}.get(self.model)
        grey = "GreyClassifier" if classifies else "GreyRegressor"
        return f"{self.words}, then {model}" if model else f"{grey}, which reads holes"


def _pipelines() -> Iterator[Pipeline]:
    """All of them, the plainest first: of equals the first is taken."""
    for strategy, group, words in (
        ("mean_indicator", PLAIN, "mean and indicator"),
        ("level", PLAIN, "missing as a level"),
        ("native", PLAIN, "holes as they are"),
        ("grey", IMPUTING, "GreyImputer"),
        ("grey_indicator", IMPUTING, "GreyImputer and indicator"),
        ("draws", IMPUTING, "BaggedDraws"),
    ):
        for model in (LINEAR, BOOSTING):
            if (strategy, model) != ("native", LINEAR):  # which takes no holes
                yield Pipeline(f"{strategy}_{model}", strategy, model, group, words)
    yield Pipeline("grey_model", "native", GREY, READING, "")


PIPELINES = {pipeline.name: pipeline for pipeline in _pipelines()}


@dataclass(frozen=True, eq=False)
class PredictionTask:
    """A table whose every row has a y: class codes, or numbers where ``n_classes`` is 0."""

    table: Table
    y: Any
    n_classes: int
    n_draws: int

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is measured."""
        return ("log_loss", "accuracy") if self.n_classes else ("rmse",)

    def judge(self, predicted: Floats, y: Any) -> dict[str, float]:
        """The metrics of probabilities of the classes, or of numbers."""
        if not self.n_classes:
            return {"rmse": float(np.sqrt(np.mean((predicted[:, 0] - y) ** 2)))}
        right = np.clip(predicted[np.arange(len(y)), y], LEAST_PROBABILITY, 1.0)
        accuracy = float(np.mean(predicted.argmax(axis=1) == y))
        return {"log_loss": float(-np.log(right).mean()), "accuracy": accuracy}


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of a fold, filled once or by several draws, and what their columns are."""

    train: list[Floats]
    test: list[Floats]
    columns: tuple[Column, ...]

    def flagged(self, train: Bools, test: Bools) -> "Sides":
        """With an indicator of each column that had holes among the training rows."""
        here = train.any(axis=0)
        columns = self.columns + (Column("", Kind.NUMERIC),) * int(here.sum())
        first = [np.hstack([cells, train[:, here]]) for cells in self.train]
        return Sides(first, [np.hstack([cells, test[:, here]]) for cells in self.test], columns)


@dataclass(frozen=True, eq=False)
class FoldRun:
    """Training and test rows of a task; what several pipelines share is made once."""

    task: PredictionTask
    is_train: Bools
    is_test: Bools
    seed: int

    @cached_property
    def train(self) -> Table:
        """The rows that teach."""
        return self.task.table.rows(self.is_train)

    @cached_property
    def test(self) -> Table:
        """The rows that are predicted."""
        return self.task.table.rows(self.is_test)

    @property
    def y(self) -> Any:
        """What the training rows teach: labels for an imputer, or numbers."""
        y = self.task.y[self.is_train]
        return labels_of(y) if self.task.n_classes else y

    def scores(self, name: str) -> dict[str, float]:
        """The metrics of a pipeline on the test rows."""
        pipeline, few = PIPELINES[name], self.train.n_rows < MANY_ROWS
        with threadpool_limits(1, "openmp") if few else nullcontext():
            predicted = self._predict(pipeline)
        return self.task.judge(predicted, self.task.y[self.is_test])

    def _predict(self, pipeline: Pipeline) -> Floats:
        """Of each test row, the mean over all models and all draws of the row."""
        sides: Sides = getattr(self, pipeline.strategy)
        y, tests = self.task.y[self.is_train], np.vstack(sides.test)
        fresh: Callable[[], Any] = lambda: self._model(pipeline.model, sides.columns)  # noqa: E731
        outputs = [self._outputs(fresh().fit(cells, y), tests) for cells in sides.train]
        mean = np.mean(outputs, axis=0)
        return np.asarray(mean.reshape(len(sides.test), self.test.n_rows, -1).mean(axis=0))

    def _model(self, model: str, columns: tuple[Column, ...]) -> Any:
        classifies = self.task.n_classes > 0
        if model != GREY:
            return on_columns(ESTIMATORS[model, classifies], columns)
        grey = (GreyClassifier if classifies else GreyRegressor)(random_state=self.seed)
        return grey.set_params(**kinds_of(self.train))

    def _outputs(self, model: Any, cells: Floats) -> Floats:
        if not self.task.n_classes:
            return np.asarray(model.predict(cells))[:, np.newaxis]
        found = np.zeros((len(cells), self.task.n_classes))
        found[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(cells)
        return found

    @cached_property
    def native(self) -> Sides:
        """Holes stay."""
        return Sides([cells_of(self.train)], [cells_of(self.test)], self.train.columns)

    @cached_property
    def _mean(self) -> Sides:
        imputer = prepare("mean", self.train)
        train = fill_several_times(imputer, self.train, None, 1)
        return Sides(train, [fill(imputer, self.test)], self.train.columns)

    @cached_property
    def mean_indicator(self) -> Sides:
        """Mean or mode, and where the holes were."""
        return self._mean.flagged(self.train.missing, self.test.missing)

    @cached_property
    def level(self) -> Sides:
        """Holes of categories are one more level; numbers get the mean."""
        sizes = np.array([c.n_levels for c in self.train.columns], dtype=np.float64)
        of_levels = self.train.is_categorical
        train, test = (
            np.where(rows.missing & of_levels, sizes, filled[0])
            for rows, filled in ((self.train, self._mean.train), (self.test, self._mean.test))
        )
        columns = tuple(
            replace(c, n_levels=c.n_levels + 1) if c.kind is Kind.CATEGORICAL else c
            for c in self.train.columns
        )
        return Sides([train], [test], columns)

    @cached_property
    def _imputer(self) -> tuple[Any, list[Floats]]:
        imputer = prepare(DEFAULT, self.train, self.seed)
        return imputer, fill_several_times(imputer, self.train, self.y, 1)

    @cached_property
    def grey(self) -> Sides:
        """Filled by what the training rows and their labels teach."""
        imputer, train = self._imputer
        return Sides(train, [fill(imputer, self.test)], self.train.columns)

    @cached_property
    def grey_indicator(self) -> Sides:
        """The same, and where the holes were."""
        return self.grey.flagged(self.train.missing, self.test.missing)

    @cached_property
    def draws(self) -> Sides:
        """Training rows drawn with their labels, test rows without."""
        imputer, n = self._imputer[0], self.task.n_draws
        train = draw(imputer, self.train, n, self.y)
        return Sides(train, draw(imputer, self.test, n), self.train.columns)
