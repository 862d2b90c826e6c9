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
from functools import partial
from typing import Any, Protocol

import numpy as np

from greyfill._neighbors.distance import Heom
from greyfill._neighbors.donors import AllRows
from greyfill._neighbors.engine import RecipeSettings, run_recipe
from greyfill._neighbors.filling import PlainFill
from greyfill._neighbors.recipe import Recipe, Schedule
from greyfill._neighbors.schedule import Once
from greyfill._neighbors.start import GlobalStart, column_centers
from greyfill._neighbors.weighting import EqualWeights
from greyfill._systems.layout import HALF, FeatureLayout, times
from greyfill.information import pair_information
from greyfill.table import Floats, Ints, Table, indicators, most_frequent

MOST_ROWS = 2_000
"""Rows that a support vector machine learns from: its work grows with their square."""

MOST_CLASSES = 20
"""Levels among which machines choose: each pair of them is a machine."""

TOLD_ROWS = 400
"""Rows on which columns are chosen by what they tell; they come in an order of their content."""

START_NEIGHBORS = 5
NEW_PASSES = 5


class Predictor(Protocol):
    """A fitted model of one column."""

    def predict(self, x: Floats) -> Any:
        """A scaled number or a code for each row of features."""


@dataclass(frozen=True, eq=False)
class FixedAnswer:
    """The same answer everywhere."""

    value: float

    def predict(self, x: Floats) -> Floats:
        """The value, for each row."""
        return np.full(len(x), self.value)


@dataclass(frozen=True)
class Machine:
    """Support vector machines with a radial kernel: ε-regression of numbers, classes by votes."""

    penalty: float = 1.0
    epsilon: float = 0.05

    def fit(self, x: Floats, y: Floats, is_class: bool, owners: Ints) -> Any:
        """The machine of one column."""
        from sklearn.svm import SVC, SVR

        rows = np.arange(len(x))
        if is_class:
            frequent = np.argsort(-np.bincount(y.astype(np.intp)), kind="stable")[:MOST_CLASSES]
            rows = np.flatnonzero(np.isin(y, frequent))
        x, y = x[rows][:MOST_ROWS], y[rows][:MOST_ROWS]
        if y.min() == y.max():
            return FixedAnswer(float(y[0]))
        machine: Any = (
            SVC(C=self.penalty) if is_class else SVR(C=self.penalty, epsilon=self.epsilon)
        )
        return machine.fit(x, y)


@dataclass(frozen=True)
class Cart:
    """A classification or regression tree: mean or mode of a leaf of at least so many rows."""

    min_leaf: int = 5

    def fit(self, x: Floats, y: Floats, is_class: bool, owners: Ints) -> Any:
        """The tree of one column."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        kind = DecisionTreeClassifier if is_class else DecisionTreeRegressor
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            return kind(min_samples_leaf=self.min_leaf, random_state=0).fit(x, y)


@dataclass(frozen=True)
class GreyRidge:
    """A ridge regression in each fuzzy cluster, mixed by grey memberships.

    ``rho`` is the distinguishing coefficient of the grades, ``ridge`` the penalty. Only columns
    that tell about the target more than chance does predict (`predictors`).
    """

    n_clusters: int = 3
    fuzziness: float = 1.5
    rho: float = 0.5
    ridge: float = 1.0

    def fit(self, x: Floats, y: Floats, is_class: bool, owners: Ints) -> Any:
        """Clusters, and a weighted ridge in each."""
        codes = np.unique(y) if is_class else np.zeros(0)
        targets = indicators(y, codes) if is_class else y[:, np.newaxis]
        centers = self._centers(x, owners)
        shares = grey_memberships(x, centers, owners, self.rho, self.fuzziness)
        lines = np.stack([_ridge(x, targets, share, self.ridge) for share in shares.T])
        limits = (float(y.min()), float(y.max()))
        return GreyRidgeModel(self, centers, owners, lines, codes, limits)

    def _centers(self, x: Floats, owners: Ints) -> Floats:
        """Centers by memberships of 1 − grade; the first ones are spread over the rows."""
        k = min(self.n_clusters, len(x))
        along = np.argsort(x.sum(axis=1), kind="stable")
        centers = x[along[((np.arange(k) + 0.5) / k * len(x)).astype(np.intp)]]
        for _ in range(20):
            shares = grey_memberships(x, centers, owners, self.rho, self.fuzziness)
            power = shares**self.fuzziness
            moved = power.T @ x / np.maximum(power.sum(axis=0), 1e-300)[:, np.newaxis]
            if np.abs(moved - centers).max(initial=0.0) < 1e-4:
                break
            centers = moved
        return centers


@dataclass(frozen=True, eq=False)
class GreyRidgeModel:
    """Lines of all clusters, shape (cluster, 1 + feature, output)."""

    settings: GreyRidge
    centers: Floats
    owners: Ints
    lines: Floats
    codes: Floats
    limits: tuple[float, float]

    def predict(self, x: Floats) -> Floats:
        """Σ_k u_k · line_k, inside the range of the observed; of classes the largest."""
        s = self.settings
        shares = grey_memberships(x, self.centers, self.owners, s.rho, s.fuzziness)
        ones = np.column_stack([np.ones(len(x)), x])
        found = sum(shares[:, [k]] * times(ones, line) for k, line in enumerate(self.lines))
        mixed = np.asarray(found)
        if len(self.codes):
            return np.asarray(self.codes[mixed.argmax(axis=1)])
        return np.asarray(np.clip(mixed[:, 0], *self.limits))


def grey_memberships(
    x: Floats, centers: Floats, owners: Ints, rho: float, fuzziness: float
) -> Floats:
    """U from d = 1 − GRG to each center, GRG = mean_j (Δmin + ρ Δmax) / (Δ_j + ρ Δmax).

    Δ_j is the difference in column j, of a category half of the sum over its indicators, and the
    extremes of a row are taken over its columns and all centers (Deng's grade, equation (32)).
    """
    from greyfill._systems.fuzzy import memberships

    if x.shape[1] == 0 or len(centers) == 1:
        return np.full((len(x), len(centers)), 1.0 / len(centers))
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    several = np.bincount(np.searchsorted(owners[first], owners)) > 1
    gaps = np.abs(x[:, np.newaxis, :] - centers)
    by_column = np.add.reduceat(gaps, first, axis=2) * np.where(several, HALF, 1.0)
    least = by_column.min(axis=(1, 2), keepdims=True)
    most = np.maximum(by_column.max(axis=(1, 2), keepdims=True), 1e-12)
    grades = ((least + rho * most) / (by_column + rho * most)).mean(axis=2)
    return memberships((1.0 - grades) ** 2, fuzziness)


def _ridge(x: Floats, targets: Floats, share: Floats, ridge: float) -> Floats:
    """(XᵀWX + αI)⁻¹ XᵀWY, its intercept unpenalized; the dual where features outnumber rows."""
    weight = np.maximum(share, 1e-12)[:, np.newaxis]
    total = weight.sum()
    middle, mean = (weight * x).sum(axis=0) / total, (weight * targets).sum(axis=0) / total
    root = np.sqrt(weight)
    a, b = root * (x - middle), root * (targets - mean)
    if a.shape[1] > len(a):
        slopes = a.T @ np.linalg.solve(a @ a.T + ridge * np.eye(len(a)), b)
    else:
        slopes = np.linalg.solve(a.T @ a + ridge * np.eye(a.shape[1]), a.T @ b)
    return np.vstack([mean - middle @ slopes, slopes])


@dataclass(frozen=True, eq=False)
class ColumnModels:
    """The training table, its fills, and how columns are learned.

    ``seed`` is that of the permutations by which the predictors of `GreyRidge` are chosen.
    """

    table: Table
    values: Floats
    learner: Machine | Cart | GreyRidge
    seed: int
    _models: dict[int, Predictor] = field(default_factory=dict, repr=False)
    _chosen: dict[int, Ints] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_models": {}, "_chosen": {}}

    @property
    def layout(self) -> FeatureLayout:
        """The features of all columns."""
        return FeatureLayout.learn(self.table)

    def fill(self, table: Table) -> Floats:
        """New rows, each on its own: from mean and mode, some passes with the last models."""
        layout = self.layout
        values = np.where(table.missing, column_centers(self.table), table.values)
        active = np.flatnonzero(table.missing.any(axis=1))
        for _ in range(NEW_PASSES):
            before = values[active]
            work = Table(values[active], table.missing[active], table.columns)
            values[active] = self.one_pass(layout, work, self.model)[0]
            active = active[(values[active] != before).any(axis=1)]
            if len(active) == 0:
                break
        return np.where(table.missing, values, table.values)

    def model(self, j: int) -> Predictor:
        """The model of column j on the filled table."""
        if j not in self._models:
            layout = self.layout
            self._models[j] = self.learn(layout, layout.encode(_whole(self.table, self.values)), j)
        return self._models[j]

    def learn(self, layout: FeatureLayout, x: Floats, j: int) -> Predictor:
        """Fit column j on the rows that know it."""
        rows = np.flatnonzero(~self.table.missing[:, j])
        kept = self.predictors(layout, j)
        is_class = bool(self.table.is_categorical[j])
        y = layout.scaler.scale(self.table).values[rows, j]
        if len(kept) == 0 or y.min() == y.max():
            return FixedAnswer(most_frequent(y) if is_class else float(y.mean()))
        owners = layout.owners[kept]
        model: Predictor = self.learner.fit(
            np.ascontiguousarray(x[rows][:, kept]), y, is_class, owners
        )
        return model

    def predictors(self, layout: FeatureLayout, j: int) -> Ints:
        """The features that predict column j: of all other columns, or of those above chance."""
        if j not in self._chosen:
            owners = layout.owners
            kept = np.flatnonzero(owners != j)
            if isinstance(self.learner, GreyRidge) and len(np.unique(owners)) > 2:
                scaled = layout.scaler.scale(self.table)
                some = scaled.rows(np.arange(min(scaled.n_rows, TOLD_ROWS)))
                told = pair_information(some, j, n_permutations=5, random_state=self.seed)
                strong = np.argsort(-told, kind="stable")[:50]
                kept = np.flatnonzero(np.isin(owners, strong[told[strong] > 0.0]))
            self._chosen[j] = kept
        return self._chosen[j]

    def one_pass(
        self,
        layout: FeatureLayout,
        table: Table,
        model: Callable[[int], Predictor],
        judge: bool = False,
    ) -> tuple[Floats, float]:
        """Fill each column in turn, by rising number of holes in ``fit``; also the loss."""
        values, loss = table.values.copy(), 0.0
        x, edges = layout.encode(_whole(table, values)), layout.edges
        for j in np.argsort(self.table.missing.sum(axis=0), kind="stable").tolist():
            rows = np.flatnonzero(table.missing[:, j])
            if len(rows) == 0:
                continue
            fitted, kept = model(j), self.predictors(layout, j)
            if judge:
                loss += self._loss(layout, fitted, x, j, kept)
            found = np.asarray(fitted.predict(np.ascontiguousarray(x[rows][:, kept])))
            part = np.zeros((len(rows), table.n_columns))
            part[:, j] = found
            values[rows, j] = layout.scaler.unscale(part)[:, j]
            cells = Table(values[rows][:, [j]], np.zeros((len(rows), 1), bool), (table.columns[j],))
            x[rows, edges[j] : edges[j + 1]] = _column(layout, j).encode(cells)
        return values, loss

    def _loss(
        self, layout: FeatureLayout, fitted: Predictor, x: Floats, j: int, kept: Ints
    ) -> float:
        """Squared error, or wrong levels, of the observed cells of a column."""
        rows = np.flatnonzero(~self.table.missing[:, j])
        truth = layout.scaler.scale(self.table).values[rows, j]
        found = np.asarray(fitted.predict(np.ascontiguousarray(x[rows][:, kept])))
        wrong = found != truth if self.table.is_categorical[j] else (found - truth) ** 2
        return float(wrong.sum())


def _column(layout: FeatureLayout, j: int) -> FeatureLayout:
    """The layout of one column."""
    s = layout.scaler
    part = type(s)(s.low[[j]], s.high[[j]], s.is_categorical[[j]])
    return FeatureLayout((layout.columns[j],), part, (layout.levels[j],))


def _whole(table: Table, values: Floats) -> Table:
    """A table whose fills count as observed."""
    return Table(values, np.zeros_like(table.missing), table.columns)


def run_models(
    table: Table,
    learner: Machine | Cart | GreyRidge,
    *,
    seed: int,
    max_iter: int,
    tol: float,
    report: Callable[[str], None],
) -> tuple[ColumnModels, list[float]]:
    """Fill a training table from the starts "mean" and "neighbors"; also the losses of the best."""
    layout, best = FeatureLayout.learn(table), (np.inf, table.values, list[float]())
    chosen: dict[int, Ints] = {}
    for name, start in (("mean", _means(table)), ("neighbors", _neighbors(table))):
        values, history = start, list[float]()
        if best[0] == np.inf:
            best = (np.finfo(float).max, start, [])
        for _ in range(max_iter if table.missing.any() else 0):
            work = ColumnModels(table, values, learner, seed, _chosen=chosen)
            x = layout.encode(_whole(table, values))
            model = partial(work.learn, layout, x)
            new, loss = work.one_pass(layout, table.with_values(values), model, judge=True)
            history.append(loss)
            report(f"from {name}, pass {len(history)}: loss {loss:.5g}")
            if len(history) > 1 and history[-2] - loss <= tol * max(history[-2], 1e-12):
                break
            values = new
            if loss < best[0]:
                best = loss, values, history
    return ColumnModels(table, best[1], learner, seed), best[2]


def _means(table: Table) -> Floats:
    return np.where(table.missing, column_centers(table), table.values)


def _neighbors(table: Table) -> Floats:
    """Plain fills of the nearest rows."""
    settings = RecipeSettings(n_neighbors=START_NEIGHBORS)
    return run_recipe(plain_recipe(Heom(), Once()), table, None, settings)[0]


def plain_recipe(distance: Heom, schedule: Schedule) -> Recipe:
    """Mean and mode of the nearest of all rows, all columns alike."""
    return Recipe(distance, EqualWeights(), AllRows(), PlainFill(), GlobalStart(), schedule)
