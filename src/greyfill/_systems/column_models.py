"""One model a column, over and over until the loss stops falling: opt.svm, opt.tree, grey clusters.

Each column is predicted from the features of all others. A pass fits the models on rows that know
their column and sets the holes to the predictions; the loss of a pass is what the models leave of
the observed cells. Passes begin from several starts, and the fills of least loss are kept.
A fitted `ColumnModels` has the filled table only: models are fitted again when they are needed,
always to the same effect, so that a saved file holds no model of another library.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from greyfill._neighbors.distance import Heom
from greyfill._neighbors.engine import RecipeSettings, run_recipe
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Once
from greyfill._neighbors.start import column_centers
from greyfill._systems.layout import HALF, FeatureLayout, times
from greyfill._systems.prototypes import memberships
from greyfill.information import pair_information
from greyfill.table import Floats, Ints, Table, indicators, most_frequent

MOST_ROWS = 2_000
"""Rows that a support vector machine learns from: its work grows with their square."""

MOST_STEPS = 100
"""Steps of a machine for each of its rows, as in libsvm: with a huge penalty it would never end."""

MOST_CLASSES = 20
"""Levels among which machines choose: each pair of them is a machine."""

TOLD_ROWS = 400
"""Rows on which columns are chosen by what they tell; they come in an order of their content."""

START_NEIGHBORS = 5
NEW_PASSES = 5

Predict = Callable[[Floats], Any]
"""A fitted model of one column: a scaled number or a code for each row of features."""


def always(value: float) -> Predict:
    """The same answer everywhere."""
    return lambda x: np.full(len(x), value)


@dataclass(frozen=True)
class Machine:
    """Support vector machines with a radial kernel: ε-regression of numbers, classes by votes."""

    penalty: float = 1.0
    epsilon: float = 0.05

    def fit(self, x: Floats, y: Floats, is_class: bool, owners: Ints) -> Predict:
        """The machine of one column."""
        from sklearn.svm import SVC, SVR

        rows = np.arange(len(x))
        if is_class:
            frequent = np.argsort(-np.bincount(y.astype(np.intp)), kind="stable")[:MOST_CLASSES]
            rows = np.flatnonzero(np.isin(y, frequent))
        x, y = x[rows][:MOST_ROWS], y[rows][:MOST_ROWS]
        if y.min() == y.max():
            return always(float(y[0]))
        how: Any = {"C": self.penalty, "max_iter": MOST_STEPS * max(len(x), 100)}
        machine: Any = SVC(**how) if is_class else SVR(**how, epsilon=self.epsilon)
        return cast(Predict, machine.fit(x, y).predict)


@dataclass(frozen=True)
class Cart:
    """A classification or regression tree: mean or mode of a leaf of at least so many rows."""

    min_leaf: int = 5

    def fit(self, x: Floats, y: Floats, is_class: bool, owners: Ints) -> Predict:
        """The tree of one column."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        kind: Any = DecisionTreeClassifier if is_class else DecisionTreeRegressor
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            tree = kind(min_samples_leaf=min(self.min_leaf, len(x)), random_state=0).fit(x, y)
        return cast(Predict, tree.predict)


@dataclass(frozen=True)
class GreyRidge:
    """A ridge regression in each cluster, mixed by grey memberships, as in `GreyFuzzyImputer`."""

    n_clusters: int = 3
    fuzziness: float = 1.5
    rho: float = 0.5
    ridge: float = 1.0

    def fit(self, x: Floats, y: Floats, is_class: bool, owners: Ints) -> Predict:
        """Clusters, and a weighted ridge in each."""
        from sklearn.linear_model import Ridge

        codes = np.unique(y) if is_class else np.zeros(0)
        targets = indicators(y, codes) if is_class else y[:, np.newaxis]
        centers = self._centers(x, owners)
        shares = self.memberships(x, centers, owners)
        models = [Ridge(self.ridge).fit(x, targets, np.maximum(u, 1e-12)) for u in shares.T]
        lines = [np.vstack([m.intercept_, np.atleast_2d(m.coef_).T]) for m in models]

        def predict(x: Floats) -> Floats:
            """Σ_k u_k · line_k, inside the range of the observed; of classes the largest."""
            shares = self.memberships(x, centers, owners)
            ones = np.column_stack([np.ones(len(x)), x])
            found = sum(shares[:, [k]] * times(ones, line) for k, line in enumerate(lines))
            if is_class:
                return np.asarray(codes[np.asarray(found).argmax(axis=1)])
            return np.asarray(np.clip(np.asarray(found)[:, 0], y.min(), y.max()))

        return predict

    def memberships(self, x: Floats, centers: Floats, owners: Ints) -> Floats:
        """U from d = 1 − GRG to each center, GRG = mean_j (Δmin + ρ Δmax) / (Δ_j + ρ Δmax).

        Δ_j is the difference in column j, of a category half of the sum over its indicators, and
        the extremes of a row are taken over its columns and all centers (Deng's grade, equation
        (32)).
        """
        if x.shape[1] == 0 or len(centers) == 1:
            return np.full((len(x), len(centers)), 1.0 / len(centers))
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        several = np.bincount(np.searchsorted(owners[first], owners)) > 1
        gaps = np.abs(x[:, np.newaxis, :] - centers)
        by_column = np.add.reduceat(gaps, first, axis=2) * np.where(several, HALF, 1.0)
        least = by_column.min(axis=(1, 2), keepdims=True)
        most = self.rho * np.maximum(by_column.max(axis=(1, 2), keepdims=True), 1e-12)
        grades = ((least + most) / (by_column + most)).mean(axis=2)
        return memberships((1.0 - grades) ** 2, self.fuzziness)

    def _centers(self, x: Floats, owners: Ints) -> Floats:
        """Centers by memberships of 1 − grade; the first ones are spread over the rows."""
        k = min(self.n_clusters, len(x))
        along = np.argsort(x.sum(axis=1), kind="stable")
        centers = x[along[((np.arange(k) + 0.5) / k * len(x)).astype(np.intp)]]
        for _ in range(20):
            power = self.memberships(x, centers, owners) ** self.fuzziness
            moved = power.T @ x / np.maximum(power.sum(axis=0), 1e-300)[:, np.newaxis]
            if np.abs(moved - centers).max(initial=0.0) < 1e-4:
                break
            centers = moved
        return centers


@dataclass(frozen=True, eq=False)
class ColumnModels:
    """The training table, its fills, and how columns are learned.

    ``seed`` is that of the permutations by which the predictors of `GreyRidge` are chosen.
    """

    table: Table
    values: Floats
    learner: Machine | Cart | GreyRidge
    seed: int
    _models: dict[int, Predict] = field(default_factory=dict, repr=False)
    _chosen: dict[int, Ints] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_models": {}, "_chosen": {}}

    @cached_property
    def layout(self) -> FeatureLayout:
        """The features of all columns."""
        return FeatureLayout.learn(self.table)

    @cached_property
    def scaled(self) -> Table:
        """The training table as models see it."""
        return self.layout.scaler.scale(self.table)

    def fill(self, table: Table) -> Floats:
        """New rows, each on its own: from mean and mode, some passes with the last models."""
        values = np.where(table.missing, column_centers(self.table), table.values)
        active = np.flatnonzero(table.missing.any(axis=1))
        for _ in range(NEW_PASSES):
            before = values[active]
            work = Table(values[active], table.missing[active], table.columns)
            values[active] = self.one_pass(work, self.model)[0]
            active = active[(values[active] != before).any(axis=1)]
            if len(active) == 0:
                break
        return np.where(table.missing, values, table.values)

    def model(self, j: int) -> Predict:
        """The model of column j on the filled table."""
        if j not in self._models:
            self._models[j] = self.learn(self.layout.encode(_whole(self.table, self.values)), j)
        return self._models[j]

    def learn(self, x: Floats, j: int) -> Predict:
        """Fit column j on the rows that know it; the model takes the features of all columns."""
        rows, kept = np.flatnonzero(~self.table.missing[:, j]), self.predictors(j)
        is_class, y = bool(self.table.is_categorical[j]), self.scaled.values[rows, j]
        if len(kept) == 0 or y.min() == y.max():
            return always(most_frequent(y) if is_class else float(y.mean()))
        seen = np.ascontiguousarray(x[rows][:, kept])
        predict = self.learner.fit(seen, y, is_class, self.layout.owners[kept])
        return lambda x: np.asarray(predict(np.ascontiguousarray(x[:, kept])))

    def predictors(self, j: int) -> Ints:
        """The features that predict column j: of all other columns, or of those above chance."""
        if j not in self._chosen:
            owners = self.layout.owners
            kept = np.flatnonzero(owners != j)
            if isinstance(self.learner, GreyRidge) and len(np.unique(owners)) > 2:
                some = self.scaled.rows(np.arange(min(self.table.n_rows, TOLD_ROWS)))
                told = pair_information(some, j, n_permutations=5, random_state=self.seed)
                strong = np.argsort(-told, kind="stable")[:50]
                kept = np.flatnonzero(np.isin(owners, strong[told[strong] > 0.0]))
            self._chosen[j] = kept
        return self._chosen[j]

    def one_pass(
        self, table: Table, model: Callable[[int], Predict], judge: bool = False
    ) -> tuple[Floats, float]:
        """Fill each column in turn, by rising number of holes in ``fit``; also the loss."""
        layout, values, loss = self.layout, table.values.copy(), 0.0
        x, edges = layout.encode(_whole(table, values)), layout.edges
        for j in np.argsort(self.table.missing.sum(axis=0), kind="stable").tolist():
            rows = np.flatnonzero(table.missing[:, j])
            if len(rows) == 0:
                continue
            predict, alone = model(j), layout.column(j)
            if judge:
                seen = np.flatnonzero(~self.table.missing[:, j])
                truth, now = self.scaled.values[seen, j], predict(x[seen])
                is_class = self.table.is_categorical[j]
                loss += float((now != truth if is_class else (now - truth) ** 2).sum())
            cells = alone.scaler.unscale(predict(x[rows])[:, np.newaxis])
            values[rows, j] = cells[:, 0]
            whole = Table(cells, np.zeros(cells.shape, dtype=bool), alone.columns)
            x[rows, edges[j] : edges[j + 1]] = alone.encode(whole)
        return values, loss


def _whole(table: Table, values: Floats) -> Table:
    """A table whose fills count as observed."""
    return Table(values, np.zeros_like(table.missing), table.columns)


def run_models(
    table: Table, learner: Any, seed: int, max_iter: int, tol: float, report: Callable[[str], None]
) -> tuple[ColumnModels, list[float]]:
    """Fill a training table from the starts "mean" and "neighbors"; also the losses of the best."""
    centers = np.where(table.missing, column_centers(table), table.values)
    recipe, settings = Recipe.plain(Heom(), Once()), RecipeSettings(n_neighbors=START_NEIGHBORS)
    starts = {"mean": centers, "neighbors": run_recipe(recipe, table, None, settings)[0]}
    work, best = ColumnModels(table, centers, learner, seed), (np.inf, centers, list[float]())
    for name, start in starts.items():
        values, history = start, list[float]()
        for _ in range(max_iter if table.missing.any() else 0):
            model = partial(work.learn, work.layout.encode(_whole(table, values)))
            new, loss = work.one_pass(table.with_values(values), model, judge=True)
            history.append(loss)
            report(f"from {name}, pass {len(history)}: loss {loss:.5g}")
            if len(history) > 1 and history[-2] - loss <= tol * max(history[-2], 1e-12):
                break
            values = new
            if loss < best[0]:
                best = loss, values, history
    return ColumnModels(table, best[1], learner, seed), best[2]
