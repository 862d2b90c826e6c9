"""One case: a table, a scenario and a seed; which cells are hidden, and how a fill is judged."""

from dataclasses import dataclass

import numpy as np
import tables

from greyfill.evaluation.trials import Data
from greyfill.metrics import imputation_errors
from greyfill.missingness import hide, mar, mcar
from greyfill.table import Bools, Floats, Kind, Table

SCENARIOS = {"mcar20": (mcar, 0.2), "mcar40": (mcar, 0.4), "mar20": (mar, 0.2)}
TITLES = {"mcar20": "20 % MCAR", "mcar40": "40 % MCAR", "mar20": "20 % MAR"}


@dataclass(frozen=True, eq=False)
class Case:
    """The table that a method sees, the truth, and the cells that were hidden on purpose."""

    data: Data
    table: Table
    mask: Bools

    def judge(self, filled: Floats) -> dict[str, float | list[float]]:
        """Errors over the hidden cells: of all, of numbers and ranks, of categories, by column.

        ``nrmse`` is the one error that methods are ranked by: the root mean square on the [0, 1]
        scale of the true table, where a wrong category counts 1 and a right one 0. ``numbers``
        is the same over numeric and ordinal columns, ``wrong`` the share of wrong categories.
        """
        truth = self.data.table
        errors = imputation_errors(truth, as_levels(filled, truth), self.mask)
        is_category = {c.name: c.kind is Kind.CATEGORICAL for c in truth.columns}
        squares: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
        for name, column in errors.by_column.items():
            squares[is_category[name]].append((column.n_cells, column.nrmse**2))
        return {
            "nrmse": errors.nrmse,
            "numbers": _mean(squares[False]) ** 0.5,
            "wrong": _mean(squares[True]),
            "columns": [round(column.nrmse, 5) for column in errors.by_column.values()],
        }


def make(name: str, scenario: str, seed: int) -> Case:
    """Hide observed cells of all feature columns, never of the class."""
    data = tables.load(name)
    draw, rate = SCENARIOS[scenario]
    rng = np.random.default_rng([seed, list(SCENARIOS).index(scenario)])
    mask = draw(data.table, rate, random_state=rng)
    return Case(data, hide(data.table, mask), mask)


def as_levels(filled: Floats, truth: Table) -> Floats:
    """Fills of categories and ranks, rounded to a level that exists."""
    most = np.array([c.n_levels - 1 if c.n_levels else np.inf for c in truth.columns])
    levels = np.clip(np.rint(filled), 0, most)
    return np.where(np.isfinite(most), levels, filled)


def _mean(squares: list[tuple[int, float]]) -> float:
    """The mean over cells from (number of cells, mean square) of columns; nan without any."""
    if not squares:
        return float("nan")
    counts, means = np.array(squares).T
    return float(np.average(means, weights=counts))
