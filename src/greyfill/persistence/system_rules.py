"""The rules of the other systems: records of ``greyfill._systems``, and who holds them."""

from typing import Any

import numpy as np

from greyfill._neighbors.new_rows import FittedRecipe
from greyfill._systems.column_models import Cart, ColumnModels, GreyRidge, Machine
from greyfill._systems.deck import Deck, ShellDonors
from greyfill._systems.fuzzy import Clusters
from greyfill._systems.layout import FeatureLayout
from greyfill._systems.network import Network
from greyfill._systems.prototypes import Prototypes
from greyfill.imputers.networks import SystemClassifier
from greyfill.imputers.systems import SystemImputer
from greyfill.persistence.chained_rules import check_cells, check_observed
from greyfill.persistence.estimator_rules import _check_engine, _check_ranges
from greyfill.persistence.record_rules import (
    LARGEST,
    ROUNDING,
    check_record,
    check_rising,
    check_weights,
    require,
)
from greyfill.table import FAR, Column, Kind

MOST_CLUSTERS = 10_000


@check_record.register
def _layout(layout: FeatureLayout) -> None:
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


@check_record.register
def _deck(deck: Deck) -> None:
    table, n, p = deck.donors, deck.donors.n_rows, deck.donors.n_columns
    require(n > 0 and p > 0, "a deck without donors")
    check_cells(table.columns, np.where(table.missing, 0.0, table.values))
    require(deck.labels.shape == (n,) and (deck.labels >= -1).all(), "labels do not fit")
    check_rising(deck.cell_columns, p, "columns of the cells")
    require(deck.centers.shape == (p,), "centers do not fit the columns")
    check_cells(table.columns, deck.centers[np.newaxis])
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
    check_observed(table, models.values)
    require((models.values == table.values)[~table.missing].all(), "observed cells differ")
    require(0 <= models.seed < 2**32, f"the seed is {models.seed}")


@check_record.register
def _network(network: Network) -> None:
    w, d = network.weights, int(network.layout.edges[-1])
    h, c = w.bias.shape[0] if w.bias.ndim == 1 else 0, len(w.class_offset)
    shapes = ((d, h), (h,), (c, h), (d, h), (d,), (h, c), (c,))
    require(h >= 1 and c >= 1, "a net without units")
    fits = all(part.shape == shape for part, shape in zip(w.parts, shapes, strict=True))
    require(fits and network.start.shape == (d,), "weights do not fit each other")
    require(all(np.abs(part).max(initial=0.0) <= FAR for part in w.parts), "a weight is too large")
    require(np.abs(network.start).max() <= 1.0 + ROUNDING, "a start lies outside")


@check_record.register
def _prototypes(prototypes: Prototypes) -> None:
    centers, layout = prototypes.centers, prototypes.layout
    require(centers.ndim == 2 and centers.shape[1] == int(layout.edges[-1]), "centers do not fit")
    require(len(centers) >= 1 and np.abs(centers).max() <= 2.0, "a prototype lies outside")
    given = prototypes.given
    require(given.shape == centers.shape and np.abs(given).max() <= 2.0, "values do not fit")
    require(prototypes.labels.shape == (len(centers),), "classes of prototypes do not fit")
    require((prototypes.labels >= 0).all(), "a prototype without a class")
    require(prototypes.relevance.shape == (len(layout.columns),), "relevances do not fit")
    check_weights(prototypes.relevance, len(layout.columns))


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
    require({"_usable", "_centers"} <= vars(imputer).keys(), "centers are missing")
    usable, centers = imputer._usable, imputer._centers
    require(usable.shape == centers.shape == (len(columns),), "centers do not fit the columns")
    check_cells(columns, centers[np.newaxis])
    require(hasattr(imputer, "_fitted") == bool(usable.any()), "_fitted does not fit")
    if not usable.any():
        return
    fitted: Any = imputer._fitted
    used = tuple(column for column, there in zip(columns, usable, strict=True) if there)
    require(_columns_of(fitted) == used, "what was learned has other columns")
    scaler = getattr(fitted, "scaler", None) or fitted.layout.scaler
    low, high = centers.copy(), centers.copy()
    low[usable] = np.minimum(scaler.low, low[usable])
    high[usable] = np.maximum(scaler.high, high[usable])
    _check_ranges(imputer, low, high)


@_check_engine.register
def _classifier(model: SystemClassifier, columns: tuple[Column, ...]) -> None:
    model._check_settings()
    fitted: Any = model._fitted
    require(columns and _columns_of(fitted) == columns, "what was learned has other columns")
    n = len(model.classes_)
    require(n >= 1 and len(set(model.classes_.tolist())) == n, "a class twice")
    if isinstance(fitted, Network):
        require(len(fitted.weights.class_offset) == n, "classes differ")
    else:
        require(np.array_equal(np.unique(fitted.labels), np.arange(n)), "classes differ")
