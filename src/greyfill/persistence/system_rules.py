"""The rules of the other systems: records of ``greyfill._systems``, and who holds them."""

from typing import Any

import numpy as np

from greyfill._systems.column_models import Cart, ColumnModels, GreyRidge, Machine
from greyfill._systems.deck import Deck, ShellDonors
from greyfill._systems.layout import FeatureLayout
from greyfill._systems.network import Network
from greyfill._systems.prototypes import Clusters, Prototypes
from greyfill.imputers.networks import SystemClassifier
from greyfill.imputers.systems import SystemImputer
from greyfill.persistence import record_rules as rules
from greyfill.persistence.chained_rules import check_cells, check_observed
from greyfill.persistence.estimator_rules import _check_engine, _check_ranges, _source
from greyfill.persistence.record_rules import LARGEST, SMALLEST, check_record, require
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
        rules.check_rising(levels, max(column.n_levels, 1), "levels of a layout")


@check_record.register
def _clusters(clusters: Clusters) -> None:
    centers, width = clusters.centers, int(clusters.layout.edges[-1])
    require(centers.ndim == 2 and centers.shape[1] == width, "centers do not fit")
    require(1 <= len(centers) <= MOST_CLUSTERS, f"{len(centers)} clusters")
    require(np.abs(centers).max() <= 1.0 + rules.ROUNDING, "a center lies outside")
    require(1.0 < clusters.fuzziness <= 10.0, f"fuzziness is {clusters.fuzziness}")


LIMITS: dict[type, dict[str, tuple[float, float]]] = {
    ShellDonors: {"k": (1, np.inf)},
    Machine: {"penalty": (SMALLEST, LARGEST), "epsilon": (0.0, LARGEST)},
    Cart: {"min_leaf": (1, np.inf)},
    GreyRidge: {
        "n_clusters": (1, MOST_CLUSTERS),
        "fuzziness": (np.nextafter(1.0, 2.0), 10.0),
        "rho": (SMALLEST, 1.0),
        "ridge": (SMALLEST, LARGEST),
    },
}
"""Between which limits the numbers of a record lie."""


@check_record.register
def _limited(record: ShellDonors | Machine | Cart | GreyRidge) -> None:
    for name, (low, high) in LIMITS[type(record)].items():
        value = getattr(record, name)
        require(low <= value <= high, f"{name} is {value}")


@check_record.register
def _deck(deck: Deck) -> None:
    table, n, p = deck.donors, deck.donors.n_rows, deck.donors.n_columns
    require(n > 0 and p > 0, "a deck without donors")
    check_cells(table.columns, np.where(table.missing, 0.0, table.values))
    require(deck.labels.shape == (n,) and (deck.labels >= -1).all(), "labels do not fit")
    rules.check_rising(deck.cell_columns, p, "columns of the cells")
    require(deck.centers.shape == (p,), "centers do not fit the columns")
    check_cells(table.columns, deck.centers[np.newaxis])
    require(np.array_equal(deck.scaler.is_categorical, table.is_categorical), "scaler")
    require(0 <= deck.seed < 2**63, f"the seed is {deck.seed}")


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
    require(np.abs(network.start).max() <= 1.0 + rules.ROUNDING, "a start lies outside")


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
    rules.check_weights(prototypes.relevance, len(layout.columns))


@_check_engine.register
def _system(imputer: SystemImputer, columns: tuple[Column, ...]) -> None:
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
    known, least, most = _source(imputer._fitted)
    used = tuple(column for column, there in zip(columns, usable, strict=True) if there)
    require(known == used, "what was learned has other columns")
    low, high = centers.copy(), centers.copy()
    low[usable] = np.minimum(least, low[usable])
    high[usable] = np.maximum(most, high[usable])
    _check_ranges(imputer, low, high)


@_check_engine.register
def _classifier(model: SystemClassifier, columns: tuple[Column, ...]) -> None:
    fitted: Any = model._fitted
    require(columns and fitted.layout.columns == columns, "what was learned has other columns")
    n = len(model.classes_)
    require(n >= 1 and len(set(model.classes_.tolist())) == n, "a class twice")
    if isinstance(fitted, Network):
        require(len(fitted.weights.class_offset) == n, "classes differ")
    else:
        require(np.array_equal(np.unique(fitted.labels), np.arange(n)), "classes differ")
