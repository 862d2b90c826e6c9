"""One case: a table, a scenario and a seed; which cells are hidden, and how a fill is judged."""

from dataclasses import dataclass

import distribution
import numpy as np
import tables

from greyfill.evaluation.trials import Data
from greyfill.metrics import imputation_errors
from greyfill.missingness import hide, mar, mcar
from greyfill.missingness.mechanisms import design
from greyfill.table import Bools, Floats, Kind, Table, range_sizes

SPREAD = 8.0
"""Standard deviation of η under strong MAR: what the shown cells say decides, hardly chance."""


def strong_mar(table: Table, rate: float, random_state: np.random.Generator) -> Bools:
    """Hide what is high as far as the shown cells tell.

    ``mar`` draws its coefficients, so that η seldom goes with the hidden cell itself and the
    hidden cells look like the shown ones. Here η of a column is a ridge regression of it (of a
    category: of its most frequent level) on the others, so what is hidden lies above the rest by
    as much as the shown cells of the row can tell.
    """
    parts, source = design(table, ~table.missing, np.arange(table.n_columns))
    moments = parts.T @ parts / table.n_rows
    coefficients = np.zeros((len(source), table.n_columns))
    for j in range(table.n_columns):
        others, own = np.flatnonzero(source != j), np.flatnonzero(source == j)
        own = own[np.argmax((parts[:, own] > 0).sum(axis=0))]
        penalized = moments[np.ix_(others, others)] + np.eye(len(others))
        coefficients[others, j] = np.linalg.solve(penalized, moments[others, own])
    spread = (parts @ coefficients).std(axis=0)
    coefficients *= SPREAD / np.where(spread > 0, spread, 1.0)
    return mar(table, rate, coefficients=coefficients, random_state=random_state)


SCENARIOS = {"mcar20": (mcar, 0.2), "mcar40": (mcar, 0.4), "mar20": (mar, 0.2)}
STRONG = "mar20strong"
ALL = {**SCENARIOS, STRONG: (strong_mar, 0.2)}
TITLES = {"mcar20": "20 % MCAR", "mcar40": "40 % MCAR", "mar20": "20 % MAR"}
ALL_TITLES = {**TITLES, STRONG: "20 % strong MAR"}


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
        is the same over numeric and ordinal columns, ``wrong`` the share of wrong categories,
        ``energy`` the distance between the filled and the true table as two clouds of rows.
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
            "energy": distribution.energy_distance(self.units(filled), self.units(truth.values)),
            "columns": [round(column.nrmse, 5) for column in errors.by_column.values()],
        }

    def judge_draws(self, draws: list[Floats]) -> dict[str, float]:
        """CRPS over the hidden cells, and the mean energy distance of a drawn table."""
        truth = self.data.table
        levels = [as_levels(drawn, truth) for drawn in draws]
        scale = np.where(truth.is_categorical, 1.0, range_sizes(truth))
        cells = np.array([drawn[self.mask] for drawn in levels])
        columns = np.nonzero(self.mask)[1]
        gaps = distribution.Gaps(truth.is_categorical[columns], scale[columns])
        scores = distribution.crps(cells, truth.values[self.mask], gaps)
        true = self.units(truth.values)
        energies = [distribution.energy_distance(self.units(drawn), true) for drawn in levels]
        return {"crps": float(scores.mean()), "energy": float(np.mean(energies))}

    def center(self, draws: Floats) -> Floats:
        """The mean of draws of a number or rank, their vote on a category (ties: the lowest)."""
        filled = np.asarray(draws, dtype=np.float64).mean(axis=0)
        for j, column in enumerate(self.data.table.columns):
            if column.kind is Kind.CATEGORICAL:
                levels = np.arange(column.n_levels)[:, None, None]
                filled[:, j] = (draws[:, :, j] == levels).sum(axis=1).argmax(axis=0)
        return filled

    def units(self, cells: Floats) -> Floats:
        """Rows as points: numbers and ranks on [0, 1], two levels of a category 1 apart.

        A natural hole has no truth, and is 0 in every version of the table.
        """
        truth = self.data.table
        known, values = ~truth.missing, as_levels(cells, truth)
        parts = []
        for j, column in enumerate(truth.columns):
            if column.kind is Kind.CATEGORICAL:
                part = (values[:, [j]] == np.arange(column.n_levels)) / np.sqrt(2.0)
            else:
                part = values[:, [j]] / range_sizes(truth)[j]
            parts.append(np.where(known[:, [j]], part, 0.0))
        return np.hstack(parts)

    def shift(self) -> float:
        """How far hidden cells lie from shown ones: |difference of means| / sd.

        The mean over numeric columns; nan without any.
        """
        table, found = self.data.table, []
        for j, column in enumerate(table.columns):
            hidden, shown = self.mask[:, j], ~self.table.missing[:, j]
            sd = table.values[~table.missing[:, j], j].std()
            if column.kind is Kind.NUMERIC and hidden.any() and shown.any() and sd > 0:
                means = [table.values[rows, j].mean() for rows in (hidden, shown)]
                found.append(abs(means[0] - means[1]) / sd)
        return float(np.mean(found)) if found else float("nan")


def make(name: str, scenario: str, seed: int) -> Case:
    """Hide observed cells of all feature columns, never of the class."""
    data = tables.load(name)
    draw, rate = ALL[scenario]
    rng = np.random.default_rng([seed, list(ALL).index(scenario)])
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
