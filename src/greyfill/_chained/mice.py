"""Multiple imputation by chained equations: several chains, and new rows from their models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from greyfill._chained.chain import Chain, ColumnModel, Plan, run_chain
from greyfill._chained.noise import row_keys, row_order, uniform
from greyfill.exceptions import InvalidDataError
from greyfill.table import Column, Floats, Ints, Kind, Table


@dataclass(frozen=True)
class Settings:
    """What a caller may set."""

    n_imputations: int = 5
    n_iter: int = 5
    methods: Mapping[str, str] = field(default_factory=dict)
    max_predictors: int | str = "auto"
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """All chains, and what they share.

    The plan's table has the training rows in the order of their keys; ``order`` leads back.
    """

    plan: Plan
    chains: tuple[Chain, ...]
    seed: int
    order: Ints
    _late: dict[tuple[int, int], ColumnModel] = field(default_factory=dict, repr=False)

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
            with threadpool_limits(limits=1, user_api="blas"):
                self._late[c, j] = self.plan.fit_column(j, values, encoded, rng)
        return self._late[c, j]

    def _completed_plan(self, c: int) -> Floats:
        values = self.plan.table.values.copy()
        values[self.plan.table.missing] = self.chains[c].drawn
        return values


def run(table: Table, settings: Settings, report: Callable[[str], None]) -> Fitted:
    """Run the chains, in parallel on request; the seed fixes each of them.

    Rows are taken in the order of their keys, so that the order in which they come is irrelevant.
    """
    order = row_order(table)
    plan = Plan.make(table.rows(order), settings.methods, settings.max_predictors, settings.n_iter)
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_imputations)
    jobs = (delayed(run_chain)(plan, seed) for seed in seeds)
    chains = []
    for chain in Parallel(n_jobs=settings.n_jobs, return_as="generator")(jobs):
        chains.append(chain)
        report(f"imputation {len(chains)} of {len(seeds)}: {settings.n_iter} passes")
    return Fitted(plan, tuple(chains), settings.seed, order)


def serve(fitted: Fitted, table: Table, c: int) -> Floats:
    """New rows as chain c draws them, each on its own.

    A row starts with observed values of the training table and passes ``n_iter`` times over its
    holes with the models fixed. The noise of a cell depends on the seed, the row's content, the
    chain, the pass and the column.
    """
    rows = np.flatnonzero(table.missing.any(axis=1))
    values = table.values.copy()
    if len(rows) == 0:
        return values
    part = table.rows(rows)
    values[rows] = _draw_rows(fitted, part, c)
    return values


def _draw_rows(fitted: Fitted, table: Table, c: int) -> Floats:
    plan = fitted.plan
    keys = row_keys(table, fitted.seed)
    targets = np.flatnonzero(table.missing.any(axis=0))
    holes = {int(j): np.flatnonzero(table.missing[:, j]) for j in targets}
    first = c * (plan.n_iter + 1)
    values = table.values.copy()
    for j, rows in holes.items():
        values[rows, j] = plan.start(uniform(keys[rows], first * table.n_columns + j), j)
    encoded = plan.design.encode(values)
    for step in range(1, plan.n_iter + 1):
        for j, rows in holes.items():
            noise = uniform(keys[rows], (first + step) * table.n_columns + j)
            drawn = fitted.model(c, j).draw(encoded, rows, noise)
            values[rows, j] = drawn
            encoded[rows, plan.design.block(j)] = plan.design.encode_column(j, drawn)
    return values


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
            combined[:, j] = _vote(np.stack([draw[:, j] for draw in draws]))
        elif column.kind is Kind.ORDINAL:
            combined[:, j] = np.rint(combined[:, j])
    return combined


def _vote(codes: Floats) -> Floats:
    """The most frequent code of each column of codes, the earliest of ties."""
    votes = (codes[:, np.newaxis, :] == codes[np.newaxis, :, :]).sum(axis=1)
    return np.asarray(codes[votes.argmax(axis=0), np.arange(codes.shape[1])])
