"""One chain of MICE: every column with holes is drawn from the others, pass after pass."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from greyfill._chained.design import Design
from greyfill._chained.methods import BY_KIND, method_of, settle
from greyfill._chained.numbers import Model, pick, thinned
from greyfill._chained.predictors import choose_predictors
from greyfill.table import Column, Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """A fitted elementary method and the design columns it looks at."""

    column: Column
    predictors: Ints
    model: Model

    def draw(self, encoded: Floats, rows: Ints, noise: Floats) -> Floats:
        """Values of the column for some rows of the design matrix."""
        x = encoded[np.ix_(rows, self.predictors)]
        return settle(self.column, self.model.draw(x, noise))


@dataclass(frozen=True, eq=False)
class Plan:
    """All that chains share: the table, its design, and a method and predictors by column."""

    table: Table
    design: Design
    methods: tuple[str, ...]
    predictors: dict[int, Ints]
    max_predictors: int | str
    n_iter: int

    @classmethod
    def make(
        cls, table: Table, methods: Mapping[str, str], max_predictors: int | str, n_iter: int
    ) -> "Plan":
        """Learn the design and choose methods and predictors."""
        design = Design.learn(table)
        names = tuple(method_of(column, methods) for column in table.columns)
        targets = np.flatnonzero(table.missing.any(axis=0))
        predictors = choose_predictors(table, design, targets, max_predictors)
        return cls(table, design, names, predictors, max_predictors, n_iter)

    @property
    def targets(self) -> Ints:
        """The columns with holes, left to right: the order of visits."""
        return np.flatnonzero(self.table.missing.any(axis=0))

    def fit_column(
        self, j: int, values: Floats, encoded: Floats, rng: np.random.Generator
    ) -> ColumnModel:
        """Fit the method of column j to the rows where it was observed."""
        column = self.table.columns[j]
        seen = np.flatnonzero(~self.table.missing[:, j])
        predictors = self._predictors(j)
        x = encoded[np.ix_(seen, predictors)]
        varying = np.ptp(x, axis=0) > 0.0 if len(predictors) else np.zeros(0, dtype=bool)
        fit = BY_KIND[column.kind][self.methods[j]]
        model = fit(np.ascontiguousarray(x[:, varying]), values[seen, j], rng)
        return ColumnModel(column, predictors[varying], model)

    def _predictors(self, j: int) -> Ints:
        if j not in self.predictors:
            alone = choose_predictors(self.table, self.design, np.array([j]), self.max_predictors)
            self.predictors.update(alone)
        return self.predictors[j]

    def start(self, noise: Floats, j: int) -> Floats:
        """Observed values of column j, at random."""
        observed = self.table.values[~self.table.missing[:, j], j]
        return np.asarray(observed[pick(noise, len(observed))])


@dataclass(frozen=True, eq=False)
class Chain:
    """What one chain leaves: the last draw of every hole, the last models, and the traces.

    ``drawn`` runs over the holes in row order. ``traces`` has the mean and the standard deviation
    of the imputed values, by pass and target column.
    """

    drawn: Floats
    models: dict[int, ColumnModel]
    traces: Floats


def run_chain(plan: Plan, seed: np.random.SeedSequence) -> Chain:
    """Start every hole with an observed value, then pass ``n_iter`` times over the columns.

    BLAS works on one thread: its sums do not depend on the machine, and threads lose on matrices
    of this size.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        return _run_chain(plan, seed)


def _run_chain(plan: Plan, seed: np.random.SeedSequence) -> Chain:
    rng = np.random.default_rng(seed)
    missing, targets = plan.table.missing, plan.targets
    holes = {int(j): np.flatnonzero(missing[:, j]) for j in targets}
    values = plan.table.values.copy()
    for j, rows in holes.items():
        values[rows, j] = plan.start(rng.random(len(rows)), j)
    encoded = plan.design.encode(values)
    models: dict[int, ColumnModel] = {}
    traces = np.zeros((plan.n_iter, len(targets), 2))
    for step in range(plan.n_iter):
        for place, (j, rows) in enumerate(holes.items()):
            models[j] = plan.fit_column(j, values, encoded, rng)
            drawn = models[j].draw(encoded, rows, rng.random(len(rows)))
            values[rows, j] = drawn
            encoded[rows, plan.design.block(j)] = plan.design.encode_column(j, drawn)
            traces[step, place] = _trace(drawn)
    kept = {j: ColumnModel(m.column, m.predictors, thinned(m.model)) for j, m in models.items()}
    return Chain(values[missing], kept, traces)


def _trace(drawn: Floats) -> tuple[float, float]:
    """Mean and standard deviation; a single value has deviation 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(drawn.mean()), float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
