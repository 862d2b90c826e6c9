"""MICE: every column with holes is drawn from the others, pass after pass, in several chains.

`ChainPlan` is what chains share and `draw_holes` the loop of one of them, for training rows (models
are fitted on the way) and for new rows (models are fixed). `combine` makes one table of the draws.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed

from greyfill._chained.design import Design, choose_predictors, row_keys, row_order, uniform
from greyfill._chained.draws import (
    Model,
    lie_beyond,
    pick,
    settle,
    thinned,
    truncated,
    typical_values,
)
from greyfill._chained.methods import BY_KIND, check_counts, method_of
from greyfill.blas import one_blas_thread
from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Column, Floats, Ints, Kind, SymmetricScaler, Table

FEWEST_OF_CLASS = 30
"""Observed cells of every column that a class needs for chains of its own."""


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
class ChainPlan:
    """All that chains share: the table, its design, and a method and predictors by column."""

    table: Table
    design: Design
    methods: tuple[str, ...]
    predictors: dict[int, Ints]
    max_predictors: int | str
    n_iter: int
    starts: Floats | None = None
    """What holes start with in each column; None: observed values at random."""
    limits: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Between which numbers normal draws of a column are to lie."""

    @classmethod
    def make(
        cls, table: Table, methods: Mapping[str, str], max_predictors: int | str, n_iter: int
    ) -> "ChainPlan":
        """Learn the design and choose methods and predictors."""
        design = Design.learn(table)
        names = [method_of(column, methods) for column in table.columns]
        for j, name in enumerate(names):
            if name == "poisson":
                check_counts(table, j)
        targets = np.flatnonzero(table.missing.any(axis=0))
        predictors = choose_predictors(table, design, targets, max_predictors)
        encoded = _with_means(table, design) if "auto" in names else np.zeros((0, 0))
        for j, name in enumerate(names):
            if name == "auto":
                is_far = j in predictors and _is_far(table, j, encoded[:, predictors[j]])
                names[j] = "norm" if is_far else "pmm"
        return cls(table, design, tuple(names), predictors, max_predictors, n_iter)

    @property
    def targets(self) -> Ints:
        """The columns with holes, left to right: the order of visits."""
        return np.flatnonzero(self.table.missing.any(axis=0))

    def fit_column(
        self,
        j: int,
        values: Floats,
        encoded: Floats,
        rng: np.random.Generator,
        known: Bools | None = None,
    ) -> ColumnModel:
        """Fit the method of column j to the rows where it was observed, on the known columns."""
        column = self.table.columns[j]
        seen = np.flatnonzero(~self.table.missing[:, j])
        if j not in self.predictors:
            alone = choose_predictors(self.table, self.design, np.array([j]), self.max_predictors)
            self.predictors.update(alone)
        predictors = self.predictors[j]
        if known is not None:
            predictors = predictors[np.repeat(known, np.diff(self.design.edges))[predictors]]
        x = encoded[np.ix_(seen, predictors)]
        varying = np.ptp(x, axis=0) > 0.0 if len(predictors) else np.zeros(0, dtype=bool)
        fit = BY_KIND[column.kind][self.methods[j]]
        model = fit(np.ascontiguousarray(x[:, varying]), values[seen, j], rng)
        if j in self.limits:
            model = truncated(model, *self.limits[j])
        return ColumnModel(column, predictors[varying], model)

    def start(self, noise: Floats, j: int) -> Floats:
        """Observed values of column j, at random; or what all its holes start with."""
        if self.starts is not None:
            return np.full(len(noise), self.starts[j])
        observed = self.table.values[~self.table.missing[:, j], j]
        return np.asarray(observed[pick(noise, len(observed))])


def _with_means(table: Table, design: Design) -> Floats:
    """The design matrix with the mean of its column in each hole."""
    encoded = design.encode(table.values)
    hole = np.repeat(table.missing, np.diff(design.edges), axis=1)
    return np.where(hole, encoded.mean(axis=0, where=~hole), encoded)


def _is_far(table: Table, j: int, x: Floats) -> bool:
    """Whether many holes of column j are predicted beyond all its donors."""
    hole = table.missing[:, j]
    x = x[:, np.ptp(x[~hole], axis=0) > 0.0]
    y = SymmetricScaler.unlimited(table.values[~hole, j]).scale(table.values[~hole, j])
    return lie_beyond(np.ascontiguousarray(x[~hole]), y, x[hole])


@dataclass(frozen=True, eq=False)
class Chain:
    """What one chain leaves: the last draw of every hole, the last models, and the traces.

    ``drawn`` runs over the holes in row order. ``traces`` has the mean and the standard deviation
    of the imputed values, by pass and target column.
    """

    drawn: Floats
    models: dict[int, ColumnModel]
    traces: Floats


def draw_holes(
    plan: ChainPlan,
    table: Table,
    noise: Callable[[int, int, Ints], Floats],
    model: Callable[[int, Floats, Floats], ColumnModel],
    record: Callable[[int, int, Floats], None] | None = None,
    is_sequential: bool = False,
) -> Floats:
    """Start every hole with an observed value, then pass ``n_iter`` times over the columns.

    They are visited from left to right, or if ``is_sequential`` those with few holes first.

    ``noise`` gives uniform numbers for a pass (0: the start), a column and its rows; ``model`` that
    of a column, given the current values and their design; ``record`` sees what a pass draws.
    """
    holed = np.flatnonzero(table.missing.any(axis=0)).tolist()
    if is_sequential:
        holed.sort(key=lambda j: int(table.missing[:, j].sum()))
    holes = {j: np.flatnonzero(table.missing[:, j]) for j in holed}
    values = table.values.copy()
    for j, rows in holes.items():
        values[rows, j] = plan.start(noise(0, j, rows), j)
    encoded = plan.design.encode(values)
    for step in range(1, plan.n_iter + 1):
        for j, rows in holes.items():
            fitted = model(j, values, encoded)  # before the noise: both may use one stream
            drawn = fitted.draw(encoded, rows, noise(step, j, rows))
            values[rows, j] = drawn
            encoded[rows, plan.design.block(j)] = plan.design.encode_column(j, drawn)
            if record is not None:
                record(step, j, drawn)
    return values


def run_chain(plan: ChainPlan, seed: np.random.SeedSequence, is_sequential: bool) -> Chain:
    """Draw the holes of the training table with models that every pass fits anew.

    If ``is_sequential`` the first pass looks only at columns that are complete or drawn already.

    BLAS works on one thread: its sums do not depend on the machine, and threads lose on matrices
    of this size.
    """
    rng = np.random.default_rng(seed)
    models: dict[int, ColumnModel] = {}
    traces = np.zeros((plan.n_iter, len(plan.targets), 2))
    places = {j: place for place, j in enumerate(plan.targets.tolist())}

    def fit(j: int, values: Floats, encoded: Floats) -> ColumnModel:
        known = None
        if is_sequential and j not in models:
            known = np.asarray(~plan.table.missing.any(axis=0))
            known[list(models)] = True
        models[j] = plan.fit_column(j, values, encoded, rng, known)
        return models[j]

    def trace(step: int, j: int, drawn: Floats) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            deviation = drawn.std(ddof=1) if len(drawn) > 1 else 0.0
            traces[step - 1, places[j]] = drawn.mean(), deviation

    with one_blas_thread():
        noise = lambda _, j, rows: rng.random(len(rows))  # noqa: E731
        values = draw_holes(plan, plan.table, noise, fit, trace, is_sequential)
    kept = {j: ColumnModel(m.column, m.predictors, thinned(m.model)) for j, m in models.items()}
    return Chain(values[plan.table.missing], kept, traces)


@dataclass(frozen=True)
class MiceSettings:
    """What a caller may set."""

    n_imputations: int = 5
    n_iter: int = 5
    methods: Mapping[str, str] = field(default_factory=dict)
    max_predictors: int | str = "auto"
    seed: int = 0
    n_jobs: int | None = None
    is_sequential: bool = False
    starts_typical: bool = False
    limits: Mapping[int, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FittedChains:
    """All chains, and what they share.

    The plan's table has the training rows in the order of their keys; ``order`` leads back.
    """

    plan: ChainPlan
    chains: tuple[Chain, ...]
    seed: int
    order: Ints
    _late: dict[tuple[int, int], ColumnModel] = field(default_factory=dict, repr=False)

    def fill(self, table: Table) -> Floats:
        """New rows as the first chain draws them."""
        return fill_by_chains(self, table, 0)

    def completed(self, c: int) -> Floats:
        """The training rows as they came, with the holes as chain c drew them."""
        values = np.empty_like(self.plan.table.values)
        values[self.order] = self._completed_plan(c)
        return values

    def model(self, c: int, j: int) -> ColumnModel:
        """Chain c's model of column j; one for a column without holes in ``fit`` is made late."""
        if j in self.chains[c].models:
            return self.chains[c].models[j]
        if (c, j) not in self._late:
            values = self._completed_plan(c)
            rng = np.random.default_rng([self.seed, c, j])
            encoded = self.plan.design.encode(values)
            with one_blas_thread():
                self._late[c, j] = self.plan.fit_column(j, values, encoded, rng)
        return self._late[c, j]

    def _completed_plan(self, c: int) -> Floats:
        values = self.plan.table.values.copy()
        values[self.plan.table.missing] = self.chains[c].drawn
        return values


def run_chains(table: Table, settings: MiceSettings, report: Callable[[str], None]) -> FittedChains:
    """Run the chains, in parallel on request; the seed fixes each of them.

    Rows are taken in the order of their keys, so that the order in which they come is irrelevant.
    """
    order = row_order(table)
    plan = ChainPlan.make(
        table.rows(order), settings.methods, settings.max_predictors, settings.n_iter
    )
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_imputations)
    starts = typical_values(plan.table) if settings.starts_typical else None
    plan = replace(plan, starts=starts, limits=dict(settings.limits))
    jobs = (delayed(run_chain)(plan, seed, settings.is_sequential) for seed in seeds)
    chains = []
    for chain in Parallel(n_jobs=settings.n_jobs, return_as="generator")(jobs):
        chains.append(chain)
        report(f"imputation {len(chains)} of {len(seeds)}: {settings.n_iter} passes")
    return FittedChains(plan, tuple(chains), settings.seed, order)


def fill_by_chains(fitted: FittedChains, table: Table, c: int) -> Floats:
    """New rows as chain c draws them, each on its own.

    A row starts with observed values of the training table and passes ``n_iter`` times over its
    holes with the models fixed. The noise of a cell depends on the seed, the row's content, the
    chain, the pass and the column.
    """
    rows = np.flatnonzero(table.missing.any(axis=1))
    values = table.values.copy()
    if len(rows) == 0:
        return values
    part, plan = table.rows(rows), fitted.plan
    keys, first = row_keys(part, fitted.seed), c * (plan.n_iter + 1)

    def noise(step: int, j: int, rows: Ints) -> Floats:
        return uniform(keys[rows], (first + step) * table.n_columns + j)

    values[rows] = draw_holes(plan, part, noise, lambda j, *_: fitted.model(c, j))
    return values


def completed_by_class(
    pooled: FittedChains,
    table: Table,
    labels: Ints,
    settings: MiceSettings,
    report: Callable[[str], None],
) -> list[Floats]:
    """The imputations, those of each class by chains of its own.

    A class that is too small, or in which a column has no value, keeps the ``pooled`` draws.
    """
    drawn = [pooled.completed(c)[:, : table.n_columns] for c in range(settings.n_imputations)]
    for label in np.unique(labels[labels >= 0]).tolist():
        rows = np.flatnonzero(labels == label)
        part = table.rows(rows)
        if ((~part.missing).sum(axis=0) < FEWEST_OF_CLASS).any():
            continue
        own = run_chains(part, settings, report)
        for c, values in enumerate(drawn):
            values[rows] = own.completed(c)
    return drawn


def with_labels(table: Table, labels: Ints) -> Table:
    """The table with the class as one more category; an unknown class (−1) is a hole."""
    unknown = labels < 0
    if unknown.all():
        raise InvalidDataError("every label in y is missing; pass labels, or set labels='none'")
    return Table(
        np.column_stack([table.values, np.where(unknown, 0, labels)]),
        np.column_stack([table.missing, unknown]),
        (*table.columns, Column("class of the row", Kind.CATEGORICAL, int(labels.max()) + 1)),
    )


def combine(draws: list[Floats], columns: tuple[Column, ...]) -> Floats:
    """The mean of numbers, the mean rank rounded to a level, the category with most votes.

    Of categories with equal votes, the one that was drawn first wins.
    """
    combined = draws[0].copy()
    for draw in draws[1:]:
        combined += draw / len(draws) - draws[0] / len(draws)  # equal draws stay what they are
    for j, column in enumerate(columns):
        if column.kind is Kind.CATEGORICAL:
            codes = np.stack([draw[:, j] for draw in draws])
            votes = (codes[:, np.newaxis, :] == codes[np.newaxis, :, :]).sum(axis=1)
            combined[:, j] = codes[votes.argmax(axis=0), np.arange(codes.shape[1])]
        elif column.kind is Kind.ORDINAL:
            combined[:, j] = np.rint(combined[:, j])
    return combined
