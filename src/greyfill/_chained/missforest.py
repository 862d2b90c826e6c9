"""MissForest: forests over all columns, again until the fills stop coming closer.

`run_forests` is the loop for training rows, `fill_by_forests` that for new rows; both make their
passes by `ForestTable.fill`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from greyfill._chained.design import row_order
from greyfill._chained.draws import settle, typical_values
from greyfill._chained.forest import Forest, Grown, Singles, grow
from greyfill.table import Bools, Floats, Ints, Kind, SymmetricScaler, Table

Differences = dict[str, float]
"""How far one pass moved the fills, for each type of column that is present."""


def differences(new: Floats, old: Floats, table: Table) -> Differences:
    """Δ of numbers = Σ(new − old)² / Σ new²; Δ of categories = share of holes that changed."""
    moved: Differences = {}
    categorical = table.is_categorical
    if (~categorical).any():
        size = np.abs(new[:, ~categorical]).max(initial=0.0) or 1.0
        now, was = new[:, ~categorical] / size, old[:, ~categorical] / size
        moved["numeric"] = float(((now - was) ** 2).sum() / ((now**2).sum() or 1.0))
    if categorical.any():
        holes = max(int(table.missing[:, categorical].sum()), 1)
        moved["categorical"] = float((new[:, categorical] != old[:, categorical]).sum() / holes)
    return moved


def overall_error(table: Table, errors: Mapping[int, float]) -> dict[str, float]:
    """NRMSE and PFC over the columns that have an error.

    ``errors`` are root mean squares in units of the column, or shares of wrong categories.

    NRMSE = √(mean of the columns' mean square errors / variance of their observed cells)
    PFC = mean of the columns' shares of wrong categories
    """
    holed = np.array(sorted(errors), dtype=np.intp)
    by_column = np.array([errors[j] for j in holed.tolist()])
    categorical = table.is_categorical[holed]
    overall = {}
    if not categorical.all():
        numbers = table.select(holed[~categorical])
        observed = numbers.values[~numbers.missing]
        size = np.abs(observed).max() or 1.0
        spread = (observed / size).var(ddof=1) if len(observed) > 1 else 0.0
        mean_square = float(((by_column[~categorical] / size) ** 2).mean())
        overall["NRMSE"] = float(np.sqrt(mean_square / spread)) if spread > 0.0 else 0.0
    if categorical.any():
        overall["PFC"] = float(by_column[categorical].mean())
    return overall


@dataclass(frozen=True)
class ForestSettings:
    """What a caller may set."""

    n_estimators: int = 100
    max_iter: int = 10
    max_features: int | None = None
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class ForestPass:
    """The filled table after a pass, and the forests of that pass."""

    values: Floats
    grown: dict[int, Grown]


@dataclass(frozen=True, eq=False)
class ColumnForests:
    """A training table, and how its columns are predicted by forests."""

    table: Table
    scaler: SymmetricScaler

    def encode(self, values: Floats) -> Singles:
        """What forests read: all columns scaled, codes like numbers."""
        return self.scaler.scale(values).astype(np.float32)

    def grow_forest(self, j: int, x: Singles, number: int, max_features: int, how: Any) -> Grown:
        """Grow the forest of column j over the rows where it is observed; ``how`` are settings."""
        seen = np.flatnonzero(~self.table.missing[:, j])
        is_class = self.table.columns[j].kind is Kind.CATEGORICAL
        y = self.table.values[seen, j]
        return grow(
            x[seen],
            y if is_class else self.scaler.column(j).scale(y),
            is_class,
            n_estimators=how.n_estimators,
            max_features=max_features,
            seed=int(np.random.SeedSequence([how.seed, number, j]).generate_state(1)[0]),
            n_jobs=how.n_jobs,
        )

    def others(self, x: Singles, j: int) -> Singles:
        """The columns that predict column j."""
        return np.take(x, self.table.others(j), axis=1)

    def predict(self, j: int, forest: Forest, x: Singles) -> Floats:
        """Values of column j for rows of what its forest reads."""
        found = forest.predict(x)
        if self.table.columns[j].kind is Kind.CATEGORICAL:
            return found
        return settle(self.table.columns[j], self.scaler.column(j).unscale(found))


@dataclass(frozen=True, eq=False)
class ForestTable(ColumnForests):
    """A training table, each column of which is predicted by a forest over all others."""

    settings: ForestSettings

    def grow_column(self, j: int, x: Singles, number: int) -> Grown:
        """The forest of column j on the other columns."""
        tried = self.settings.max_features or int(np.sqrt(self.table.n_columns))
        return self.grow_forest(j, self.others(x, j), number, tried, self.settings)

    def fill(
        self, values: Floats, x: Singles, missing: Bools, forest: Callable[[int], Forest]
    ) -> None:
        """One pass over the columns, by rising number of holes in ``fit``; changes values and x."""
        for j in np.argsort(self.table.missing.sum(axis=0), kind="stable").tolist():
            rows = np.flatnonzero(missing[:, j])
            if len(rows) == 0:
                continue
            values[rows, j] = self.predict(j, forest(j), self.others(x[rows], j))
            x[rows, j] = self.scaler.column(j).scale(values[rows, j])

    def one_pass(self, values: Floats, number: int) -> ForestPass:
        """Grow and use the forest of every column with holes."""
        values, grown = values.copy(), dict[int, Grown]()
        x = self.encode(values)

        def forest(j: int) -> Forest:
            grown[j] = self.grow_column(j, x, number)
            return grown[j].forest

        self.fill(values, x, self.table.missing, forest)
        return ForestPass(values, grown)


@dataclass(frozen=True, eq=False)
class FittedForests(ForestTable):
    """The training table as it was filled, and the forests that filled it.

    Its rows are in the order of their keys; ``order`` leads back.
    """

    state: ForestPass
    history: tuple[Differences, ...]
    converged: bool
    order: Ints
    _late: dict[int, Forest] = field(default_factory=dict, repr=False)

    @property
    def filled(self) -> Floats:
        """The training rows as they came, without holes."""
        values = np.empty_like(self.state.values)
        values[self.order] = self.state.values
        return values

    @property
    def oob_errors(self) -> dict[int, float]:
        """By column with holes: root mean square in its units, or share of wrong categories."""
        errors = {}
        for j, grown in sorted(self.state.grown.items()):
            is_class = self.table.columns[j].kind is Kind.CATEGORICAL
            unit = float(self.scaler.half_range[j])
            errors[j] = grown.oob_error if is_class else unit * float(np.sqrt(grown.oob_error))
        return errors

    def forest(self, j: int) -> Forest:
        """The forest of column j; one for a column without holes in ``fit`` is grown late."""
        if j in self.state.grown:
            return self.state.grown[j].forest
        if j not in self._late:
            x = self.encode(self.state.values)
            self._late[j] = self.grow_column(j, x, 0).forest
        return self._late[j]


def run_forests(
    table: Table, settings: ForestSettings, report: Callable[[str], None]
) -> FittedForests:
    """Pass over the columns by rising missingness until the difference rises for every type.

    The result is then the table *before* that last pass (Stekhoven and Bühlmann 2012,
    algorithm 1); after ``max_iter`` passes it is the last one. Rows are taken in the order of
    their keys, so that the order in which they come is irrelevant.
    """
    order = row_order(table)
    table = table.rows(order)
    scaler = SymmetricScaler.learn(table)
    work = ForestTable(table, scaler, settings)
    state = ForestPass(np.where(table.missing, typical_values(table), table.values), {})
    history: list[Differences] = []
    converged = not table.missing.any()
    while not converged and len(history) < settings.max_iter:
        new = work.one_pass(state.values, len(history) + 1)
        history.append(differences(new.values, state.values, table))
        moved = (f"{kind} difference {value:.3g}" for kind, value in history[-1].items())
        report(f"pass {len(history)}: " + ", ".join(moved))
        converged = len(history) > 1 and all(
            history[-1][kind] >= history[-2][kind] for kind in history[-1]
        )
        state = state if converged else new
    return FittedForests(table, scaler, settings, state, tuple(history), converged, order)


def fill_by_forests(fitted: FittedForests, table: Table) -> Floats:
    """New rows, each on its own: from mean and mode, as many passes as ``fit`` made at most.

    The forests are those of the last pass of ``fit``. A row that a pass leaves unchanged is done.
    """
    values = np.where(table.missing, typical_values(fitted.table), table.values)
    active = np.asarray(table.missing.any(axis=1))
    x = fitted.encode(values)
    for _ in range(max(len(fitted.history), 2)):
        before = values.copy()
        fitted.fill(values, x, table.missing & active[:, np.newaxis], fitted.forest)
        active &= (values != before).any(axis=1)
        if not active.any():
            break
    return values
