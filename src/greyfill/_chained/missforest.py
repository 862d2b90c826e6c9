"""MissForest: forests over all columns, again until the fills stop coming closer."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from greyfill._chained.forest import Forest, Singles
from greyfill._chained.growing import Grown, grow
from greyfill._chained.measures import Differences, differences, typical_values
from greyfill._chained.methods import settle
from greyfill._chained.noise import row_order
from greyfill._chained.scaling import Scaler
from greyfill.table import Bools, Floats, Ints, Kind, Table


@dataclass(frozen=True)
class Settings:
    """What a caller may set."""

    n_estimators: int = 100
    max_iter: int = 10
    max_features: int | None = None
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class State:
    """The filled table after a pass, and the forests of that pass."""

    values: Floats
    grown: dict[int, Grown]


@dataclass(frozen=True, eq=False)
class Fitted:
    """The training table as it was filled, and the forests that filled it.

    Its rows are in the order of their keys; ``order`` leads back.
    """

    table: Table
    scaler: Scaler
    settings: Settings
    state: State
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
            work = _Work(self.table, self.scaler, self.settings)
            x = work.encode(self.state.values)
            self._late[j] = work.grow_column(j, self.state.values, x, 0).forest
        return self._late[j]


def run(table: Table, settings: Settings, report: Callable[[str], None]) -> Fitted:
    """Pass over the columns by rising missingness until the difference rises for every type.

    The result is then the table *before* that last pass (Stekhoven and Bühlmann 2012,
    algorithm 1); after ``max_iter`` passes it is the last one. Rows are taken in the order of
    their keys, so that the order in which they come is irrelevant.
    """
    order = row_order(table)
    table = table.rows(order)
    scaler = Scaler.learn(table)
    work = _Work(table, scaler, settings)
    state = State(np.where(table.missing, typical_values(table), table.values), {})
    history: list[Differences] = []
    converged = not table.missing.any()
    while not converged and len(history) < settings.max_iter:
        new = work.one_pass(state.values, len(history) + 1)
        history.append(differences(new.values, state.values, table))
        report(f"pass {len(history)}: " + _listed(history[-1]))
        converged = len(history) > 1 and all(
            history[-1][kind] >= history[-2][kind] for kind in history[-1]
        )
        state = state if converged else new
    return Fitted(table, scaler, settings, state, tuple(history), converged, order)


@dataclass(frozen=True, eq=False)
class _Work:
    """One pass over a training table."""

    table: Table
    scaler: Scaler
    settings: Settings

    def one_pass(self, values: Floats, number: int) -> State:
        values = values.copy()
        x = self.encode(values)
        grown = {}
        for j in _by_missingness(self.table.missing):
            rows = np.flatnonzero(self.table.missing[:, j])
            if len(rows) == 0:
                continue
            grown[j] = self.grow_column(j, values, x, number)
            values[rows, j] = predict_column(self, grown[j].forest, x, rows, j)
            x[rows, j] = self.encode_column(j, values[rows, j])
        return State(values, grown)

    def grow_column(self, j: int, values: Floats, x: Singles, number: int) -> Grown:
        """Grow the forest of column j over the rows where it was observed."""
        seen = np.flatnonzero(~self.table.missing[:, j])
        is_class = self.table.columns[j].kind is Kind.CATEGORICAL
        y = values[seen, j]
        return grow(
            np.delete(x[seen], j, axis=1),
            y if is_class else self.scaler.column(j).scale(y),
            is_class,
            n_estimators=self.settings.n_estimators,
            max_features=self.settings.max_features or int(np.sqrt(self.table.n_columns)),
            seed=int(np.random.SeedSequence([self.settings.seed, number, j]).generate_state(1)[0]),
            n_jobs=self.settings.n_jobs,
        )

    def encode(self, values: Floats) -> Singles:
        return self.scaler.scale(values).astype(np.float32)

    def encode_column(self, j: int, values: Floats) -> Singles:
        return self.scaler.column(j).scale(values).astype(np.float32)


def predict_column(
    work: "_Work | Fitted", forest: Forest, x: Singles, rows: Ints, j: int
) -> Floats:
    """The values of column j for some rows, in the units of the table."""
    found = forest.predict(np.delete(x[rows], j, axis=1))
    column = work.table.columns[j]
    if column.kind is Kind.CATEGORICAL:
        return found
    return settle(column, work.scaler.column(j).unscale(found))


def serve(fitted: Fitted, table: Table) -> Floats:
    """New rows, each on its own: from mean and mode, as many passes as ``fit`` made at most.

    The forests are those of the last pass of ``fit``. A row that a pass leaves unchanged is done.
    """
    values = np.where(table.missing, typical_values(fitted.table), table.values)
    x = fitted.scaler.scale(values).astype(np.float32)
    order = [j for j in _by_missingness(fitted.table.missing) if table.missing[:, j].any()]
    active = table.missing.any(axis=1)
    for _ in range(max(len(fitted.history), 2)):
        before = values.copy()
        for j in order:
            rows = np.flatnonzero(table.missing[:, j] & active)
            if len(rows):
                values[rows, j] = predict_column(fitted, fitted.forest(j), x, rows, j)
                x[rows, j] = fitted.scaler.column(j).scale(values[rows, j])
        active &= (values != before).any(axis=1)
        if not active.any():
            break
    return values


def _by_missingness(missing: Bools) -> list[int]:
    """Columns by rising number of holes, left to right among equals."""
    order: list[int] = np.argsort(missing.sum(axis=0), kind="stable").tolist()
    return order


def _listed(moved: Differences) -> str:
    return ", ".join(f"{kind} difference {value:.3g}" for kind, value in moved.items())
