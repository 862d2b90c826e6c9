"""IARI: columns one after the other, each by a forest on the complete columns and those before."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from greyfill._chained.design import row_order
from greyfill._chained.draws import typical_values
from greyfill._chained.forest import Forest, Grown, Singles
from greyfill._chained.missforest import ColumnForests
from greyfill.table import Floats, Ints, Kind, SymmetricScaler, Table, indicators

ORDERS = ("importance", "score")


@dataclass(frozen=True)
class IARISettings:
    """What a caller may set."""

    n_estimators: int = 100
    order: str = "importance"
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class ForestStep:
    """The forest of one column, and the columns that it reads."""

    column: int
    reads: Ints
    forest: Forest


@dataclass(frozen=True, eq=False)
class FittedChain(ColumnForests):
    """The steps over the columns with holes, and the training table as they filled it.

    Its rows are in the order of their keys; ``order`` leads back.
    """

    settings: IARISettings
    steps: tuple[ForestStep, ...]
    filled: Floats
    order: Ints
    _late: dict[int, ForestStep] = field(default_factory=dict, repr=False)

    def grow_column(self, j: int, x: Singles, number: int) -> Grown:
        """The forest of column j; numbers try all of x at each split, categories √p of it."""
        is_class, width = self.table.columns[j].kind is Kind.CATEGORICAL, x.shape[1]
        tried = int(np.sqrt(width)) if is_class else width
        return self.grow_forest(j, x, number, tried, self.settings)

    def step(self, j: int) -> ForestStep:
        """That of a column; one without holes in ``fit`` reads all others as they were filled."""
        if j not in self._late:
            reads = self.table.others(j)
            x = self.encode(self.filled)[:, reads]
            forest = self.grow_column(j, x, len(self.steps) + 1).forest
            self._late[j] = ForestStep(j, reads, forest)
        return self._late[j]

    def fill(self, table: Table) -> Floats:
        """New rows, each on its own: first columns without holes in ``fit``, then the chain."""
        values = np.where(table.missing, typical_values(self.table), table.values)
        x, chained = self.encode(values), {step.column: step for step in self.steps}
        holed = np.flatnonzero(table.missing.any(axis=0)).tolist()
        for j in [j for j in holed if j not in chained] + [j for j in chained if j in holed]:
            rows, step = np.flatnonzero(table.missing[:, j]), chained.get(j) or self.step(j)
            values[rows, j] = self.predict(j, step.forest, x[rows][:, step.reads])
            x[rows, j] = self.scaler.column(j).scale(values[rows, j])
        return values


def fit_iari(
    table: Table, labels: Ints | None, settings: IARISettings, report: Callable[[str], None]
) -> tuple[FittedChain, Floats]:
    """Fill the columns in turn; the steps, and the training rows as they came without holes.

    With labels, each forest reads the class as well, and such steps cannot fill new rows.
    """
    order = row_order(table)
    table = table.rows(order)
    values, steps = table.values.copy(), list[ForestStep]()
    work = FittedChain(table, SymmetricScaler.learn(table), settings, (), values, order)
    known = None if labels is None else labels[order]
    extra = np.empty((table.n_rows, 0), dtype=np.float32)
    if known is not None:
        extra = indicators(known, np.arange(known.max() + 1)).astype(np.float32)
    holed = np.flatnonzero(table.missing.any(axis=0))
    reads = np.flatnonzero(~table.missing.any(axis=0) & table.predicts).tolist()
    waiting = _by_importance(work, holed, known).tolist()
    while waiting:
        x = np.column_stack([work.encode(values)[:, reads], extra])
        tried = waiting if settings.order == "score" else waiting[:1]
        grown = {j: work.grow_column(j, x, len(steps) + 1) for j in tried}
        j = max(tried, key=lambda j: _score(work, j, grown[j].oob_error))
        rows = np.flatnonzero(table.missing[:, j])
        values[rows, j] = work.predict(j, grown[j].forest, x[rows])
        steps.append(ForestStep(j, np.array(reads, dtype=np.intp), grown[j].forest))
        report(f"column {len(steps)} of {len(holed)}: {table.columns[j].name}")
        waiting.remove(j)
        reads += [j] if table.predicts[j] else []
    filled = np.empty_like(values)
    filled[order] = values
    return replace(work, steps=tuple(steps)), filled


def _by_importance(work: FittedChain, holed: Ints, labels: Ints | None) -> Ints:
    """Columns with holes by what they tell a forest about the class, filled with means and modes.

    Without a class, those with the fewest holes come first.
    """
    table = work.table
    if labels is None or len(holed) < 2:
        return holed[np.argsort(table.missing[:, holed].sum(axis=0), kind="stable")]
    from sklearn.ensemble import RandomForestClassifier

    filled = np.where(table.missing, typical_values(table), table.values)
    settings = work.settings
    forest = RandomForestClassifier(
        settings.n_estimators, random_state=settings.seed, n_jobs=settings.n_jobs
    ).fit(work.encode(filled)[:, holed], labels)
    return holed[np.argsort(-forest.feature_importances_, kind="stable")]


def _score(work: FittedChain, j: int, oob_error: float) -> float:
    """R² or the share of right classes out of the bag."""
    if work.table.columns[j].kind is Kind.CATEGORICAL:
        return 1.0 - oob_error
    y = work.scaler.column(j).scale(work.table.values[~work.table.missing[:, j], j])
    return 1.0 - oob_error / max(float(y.var()), 1e-12)
