"""The rules of the other systems: records of ``greyfill._systems`` and the imputers that hold them."""

from typing import Any

import numpy as np

from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._systems.column_models import Cart, ColumnModels, GreyRidge, Machine
from greyfill._systems.deck import Deck, ShellDonors
from greyfill._systems.fuzzy import Clusters
from greyfill._systems.layout import Layout
from greyfill.imputers.systems import SystemImputer
from greyfill.persistence.estimator_rules import _check_engine, _check_ranges
from greyfill.persistence.record_rules import (
    LARGEST,
    ROUNDING,
    _check_observed,
    check_codes,
    check_record,
    check_rising,
    require,
)
from greyfill.table import Column, Floats, Kind, Table

MOST_CLUSTERS = 10_000


@check_record.register
def _layout(layout: Layout) -> None:
    n = len(layout.columns)
    require(len(layout.levels) == len(layout.scaler.low) == n, "the layout does not fit")
    for column, levels, votes in zip(
        layout.columns, layout.levels, layout.scaler.is_categorical, strict=True
    ):
        is_class = column.kind is Kind.CATEGORICAL
        require(votes == is_class and (len(levels) > 0) == is_class, "levels do not fit")
        check_rising(levels, max(column.n_levels, 1), "levels of a layout")


@check_record.register
def _clusters(clusters: Clusters) -> None:
    centers, width = clusters.centers, int(clusters.layout.edges[-1])
    require(centers.ndim == 2 and centers.shape[1] == width, "centers do not fit")
    require(1 <= len(centers) <= MOST_CLUSTERS, f"{len(centers)} clusters")
    require(np.abs(centers).max() <= 1.0 + ROUNDING, "a center lies outside")
    _check_fuzziness(clusters.fuzziness)


def _check_fuzziness(fuzziness: float) -> None:
    require(1.0 < fuzziness <= 10.0, f"the fuzziness is {fuzziness}")


@check_record.register
def _shell(shell: ShellDonors) -> None:
    require(shell.k >= 1, f"a shell of {shell.k} donors")


def _check_cells(table: Table, values: Floats) -> None:
    """Codes of levels that exist in all cells; an unknown level is none of them."""
    for j, column in enumerate(table.columns):
        if column.kind is not Kind.NUMERIC:
            check_codes(values[:, j], column.n_levels, f"column {column.name!r}")


@check_record.register
def _deck(deck: Deck) -> None:
    table, n, p = deck.donors, deck.donors.n_rows, deck.donors.n_columns
    require(n > 0 and p > 0, "a deck without donors")
    _check_cells(table, np.where(table.missing, 0.0, table.values))
    require(deck.labels.shape == (n,) and (deck.labels >= -1).all(), "labels do not fit")
    check_rising(deck.cell_columns, p, "columns of the cells")
    require(deck.centers.shape == (p,), "centers do not fit the columns")
    _check_cells(table, deck.centers[np.newaxis])
    require(np.array_equal(deck.scaler.is_categorical, table.is_categorical), "scaler")
    require(0 <= deck.seed < 2**63, f"the seed is {deck.seed}")


@check_record.register
def _learner(learner: Machine | Cart | GreyRidge) -> None:
    if isinstance(learner, Machine):
        require(0.0 < learner.penalty <= LARGEST, f"the penalty is {learner.penalty}")
        require(0.0 <= learner.epsilon <= LARGEST, f"epsilon is {learner.epsilon}")
    elif isinstance(learner, Cart):
        require(learner.min_leaf >= 1, f"leaves of {learner.min_leaf} rows")
    else:
        require(1 <= learner.n_clusters <= MOST_CLUSTERS, f"{learner.n_clusters} clusters")
        require(0.0 < learner.rho <= 1.0, f"rho is {learner.rho}")
        require(0.0 < learner.ridge <= LARGEST, f"the ridge is {learner.ridge}")
        _check_fuzziness(learner.fuzziness)


@check_record.register
def _column_models(models: ColumnModels) -> None:
    table = models.table
    _check_observed(table, models.values)
    require((models.values == table.values)[~table.missing].all(), "observed cells differ")
    require(0 <= models.seed < 2**32, f"the seed is {models.seed}")


def _columns_of(fitted: Any) -> tuple[Column, ...]:
    """The columns that a record was learned from."""
    if isinstance(fitted, ColumnModels):
        return fitted.table.columns
    if isinstance(fitted, Deck | FittedRecipe):
        return fitted.donors.columns
    return tuple(fitted.layout.columns)


@_check_engine.register
def _system(imputer: SystemImputer, columns: tuple[Column, ...]) -> None:
    imputer._check_settings()
    if not columns:
        require(not hasattr(imputer, "_fitted"), "_fitted does not fit the columns")
        return
    usable, centers = getattr(imputer, "_usable", None), getattr(imputer, "_centers", None)
    require(usable is not None and centers is not None, "centers are missing")
    require(usable.shape == centers.shape == (len(columns),), "centers do not fit the columns")
    _check_cells(Table(centers[np.newaxis], ~usable[np.newaxis], columns), centers[np.newaxis])
    require(hasattr(imputer, "_fitted") == bool(usable.any()), "_fitted does not fit")
    if not usable.any():
        return
    fitted: Any = imputer._fitted  # type: ignore[attr-defined]
    used = tuple(column for column, there in zip(columns, usable, strict=True) if there)
    require(_columns_of(fitted) == used, "what was learned has other columns")
    scaler = getattr(fitted, "scaler", None) or fitted.layout.scaler
    low, high = centers.copy(), centers.copy()
    low[usable] = np.minimum(scaler.low, low[usable])
    high[usable] = np.maximum(scaler.high, high[usable])
    _check_ranges(imputer, low, high)
