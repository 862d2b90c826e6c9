"""What a filled cell is made of: the share of each donor, and what the regression added."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from greyfill._grey.candidates import ALL_DONORS, Candidate, Plan
from greyfill._grey.cross_fit import without_own_y
from greyfill._grey.donor_table import FORMS, Queries
from greyfill._grey.grey_engine import (
    FittedGrey,
    as_of_classes,
    new_queries,
    predict,
    with_shares,
)
from greyfill._grey.predictor import GREY, ColumnPredictor
from greyfill._grey.selection import PanelChoice
from greyfill._search.reference import feature_weights
from greyfill.table import Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class Contributions:
    """The donors of one cell and the columns that moved its prediction.

    ``value`` is the fill, ``shares`` are what each donor's value counts (they sum to 1; a
    regression may make some negative), ``gaps`` the grey distance of each donor by column, the
    class among them (NaN where the row has a hole or the column does not count), and ``effects``
    what each column of the regression added to the prediction, on the [0, 1] scale or as a
    probability of the level that was filled in.
    """

    value: float
    donors: Ints
    shares: Floats
    distances: Floats
    gaps: Floats
    columns: Ints
    effects: Floats


def contributions(fitted: FittedGrey, row: int, target: int) -> Contributions:
    """What the fill of a row of the donor table is made of."""
    where = np.array([row])
    if fitted.crosses:
        return _contributions(fitted, without_own_y(fitted, where), target)
    value = float(fitted.donors.table.values[row, target])
    return _contributions(fitted, Queries.of(fitted.donors, where), target, value)


def new_contributions(fitted: FittedGrey, table: Table, target: int) -> Contributions:
    """What the fill of a table of one new row is made of."""
    return _contributions(fitted, with_shares(fitted, new_queries(fitted, table)), target)


def _contributions(
    fitted: FittedGrey, query: Queries, target: int, value: float | None = None
) -> Contributions:
    (choice, predictor), table = fitted.model(target), fitted.donors.table
    values, forecast = table.values[:, target], predict(fitted, target, query)
    if value is None:
        value = float(fitted.donors.fills(target, forecast)[0])
    if table.is_categorical[target]:
        values = (values == forecast.most_probable()).astype(float)
    shares, effects = np.zeros(table.n_rows), np.zeros(table.n_columns)
    for share, labeled in _as_of_classes(fitted, target, query):
        of_donors, of_columns = _panel_weights(choice, predictor, labeled, values)
        shares, effects = shares + share * of_donors, effects + share * of_columns
    donors = np.flatnonzero(shares)
    donors = donors[np.argsort(-np.abs(shares[donors]), kind="stable")]
    columns = predictor.columns("soft")
    gaps, weights = _gaps(predictor, choice.panel[0].relevance, query, donors)
    return Contributions(
        value=value,
        donors=donors,
        shares=shares[donors],
        distances=np.nansum(gaps * weights, axis=1),
        gaps=gaps,
        columns=columns,
        effects=effects[columns],
    )


def _as_of_classes(
    fitted: FittedGrey, target: int, query: Queries
) -> Iterator[tuple[float, Queries]]:
    """A row as of each class with its share; the row itself where its class is known or none is."""
    if not fitted.donors.splits or not query.missing[0, fitted.donors.y_column]:
        yield 1.0, query
    elif fitted.donors.is_wide(target):
        yield 1.0, query.with_labels(fitted.donors, query.shares.argmax(axis=1))
    else:
        places, shares, labeled = as_of_classes(fitted, query)
        yield from ((shares[i], labeled.part([i])) for i in range(len(places)))


def _panel_weights(
    choice: PanelChoice, predictor: ColumnPredictor, query: Queries, values: Floats
) -> tuple[Floats, Floats]:
    """What each row counts in the mean of a panel, and what each column adds."""
    table = predictor.donors.table
    shares, effects, n_candidates = np.zeros(table.n_rows), np.zeros(table.n_columns), 0
    for candidate in choice.panel:
        donors, weights = _kernel_weights(predictor, candidate, query)
        if len(donors) == 0:
            continue
        n_candidates += 1
        columns = predictor.columns(candidate.scope)
        terms = _regression_terms(predictor, candidate, query, donors, weights)
        np.add.at(shares, donors, weights + terms.sum(axis=1))
        _, owners = predictor.donors.feature_map.places(columns)
        np.add.at(effects, columns[owners], values[donors] @ terms)
    if n_candidates == 0:
        shares[predictor.donor_rows] = 1.0 / max(len(predictor.donor_rows), 1)
    return shares / max(n_candidates, 1), effects / max(n_candidates, 1)


def _kernel_weights(
    predictor: ColumnPredictor, candidate: Candidate, query: Queries
) -> tuple[Ints, Floats]:
    """The donors of a candidate and their kernel weights."""
    if candidate.k == ALL_DONORS:
        groups = predictor.donor_groups(candidate.scope, regressed=True)
        donors = groups[int(query.labels[0]) if predictor.splits else 0]
        return donors, np.full(len(donors), 1.0 / max(len(donors), 1))
    near = predictor.neighborhood(Plan.of((candidate,)), query, np.zeros(1, np.intp))
    weights = predictor.donor_weights(near, 0, candidate.k, candidate.kernel)[0]
    return near.rows[0, 0, : len(weights)][weights > 0], weights[weights > 0]


def _regression_terms(
    predictor: ColumnPredictor, candidate: Candidate, query: Queries, donors: Ints, weights: Floats
) -> Floats:
    """What each feature adds to the weight of each donor; 0 where there is no regression."""
    places, scales = predictor.scales(candidate)
    if np.isinf(candidate.ridge):
        return np.zeros((len(donors), len(scales)))
    table = predictor.donors
    form = FORMS.index(candidate.form)
    usable = ~query.missing[0, table.feature_map.owners[places]]
    own = query.features(table)[form, 0, places]
    theirs = table.features[form][np.ix_(donors, places)]
    return feature_weights(own, usable, scales, weights, theirs, candidate.ridge)


def _gaps(
    predictor: ColumnPredictor, relevance: str, query: Queries, donors: Ints
) -> tuple[Floats, Floats]:
    """1 − the grey coefficient of each donor in each column, and the columns' weights.

    Δmin and Δmax are taken over all donors, and the weights over what the row has observed.
    """
    columns, table = predictor.columns("soft"), predictor.donors.table
    observed, category = ~query.missing[0, columns], table.is_categorical[columns]
    apart = np.abs(table.values[:, columns] - query.values[0, columns])
    numbers = apart[np.ix_(predictor.donor_rows, np.flatnonzero(observed & ~category))]
    low, offset = numbers.min(initial=np.inf), GREY.rho * numbers.max(initial=0.0)
    apart = apart[donors]
    gaps = np.where(category, (apart > 0).astype(float), 0.0)
    label = int(query.labels[0])
    if offset > 0:
        gaps[:, ~category] = 1.0 - (low + offset) / (apart[:, ~category] + offset)
    weights = np.where(observed, predictor.column_weights(relevance, "soft", label), 0.0)
    if not weights.any():
        weights = observed.astype(float)
    return np.where(weights > 0, gaps, np.nan), weights / max(weights.sum(), 1e-300)
