"""Why a cell got its value: who gave, how much, and what the regression added."""

from dataclasses import dataclass

import numpy as np

from greyfill._grey.candidates import EVERYONE, Candidate
from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import FittedGrey
from greyfill._grey.predictor import GREY, ColumnPredictor
from greyfill._search.reference import feature_weights
from greyfill.table import Floats, Ints


@dataclass(frozen=True, eq=False)
class Reasons:
    """The donors of one cell and the columns that moved its prediction.

    ``shares`` are what each donor's value counts (they sum to 1; a regression may make some
    negative), ``gaps`` the grey distance of each donor by column, the class among them (NaN where
    the row has a hole or the column does not count), and ``effects`` what each column of the
    regression added to the prediction, on the [0, 1] scale or as a probability of the level
    that was filled in.
    """

    donors: Ints
    shares: Floats
    distances: Floats
    gaps: Floats
    columns: Ints
    effects: Floats


def reasons(tuned: FittedGrey, row: int, target: int) -> Reasons:
    """Why the hole of a training row (a row of the ground) got its value."""
    choice, asker = tuned.choice(target), tuned.asker(target)
    queries = Queries.of(tuned.ground, np.array([row]))
    goals = tuned.ground.table.values[:, target]
    if tuned.ground.table.is_categorical[target]:
        goals = (goals == choice.predict(asker, queries).likeliest()).astype(float)
    shares = np.zeros(tuned.ground.table.n_rows)
    effects = np.zeros(tuned.ground.table.n_columns)
    answers = 0
    for candidate in choice.panel:
        donors, weights, terms, columns = _parts(asker, candidate, queries)
        if len(donors) == 0:
            continue
        answers += 1
        np.add.at(shares, donors, weights + terms.sum(axis=1))
        owners = tuned.ground.feature_map.owners(columns)
        np.add.at(effects, columns[owners], goals[donors] @ terms)
    if answers == 0:
        shares[asker.donors] = 1.0 / max(len(asker.donors), 1)
    who = np.flatnonzero(shares)
    who = who[np.argsort(-np.abs(shares[who]), kind="stable")]
    columns = asker.columns("soft")
    gaps, weights = _gaps(asker, choice.panel[0].relevance, queries, who)
    return Reasons(
        donors=who,
        shares=shares[who] / max(answers, 1),
        distances=np.nansum(gaps * weights, axis=1),
        gaps=gaps,
        columns=columns,
        effects=effects[columns] / max(answers, 1),
    )


def _parts(
    asker: ColumnPredictor, candidate: Candidate, queries: Queries
) -> tuple[Ints, Floats, Floats, Ints]:
    """Donors of a candidate, their kernel weights, the regression's terms, and its columns."""
    columns = asker.columns(candidate.scope)
    donors, weights = _kernel(asker, candidate, queries)
    terms = np.zeros((len(donors), len(asker.scales(candidate.relevance, candidate.scope))))
    if len(donors) and np.isfinite(candidate.ridge):
        places = asker.ground.feature_map.places(columns)
        terms = feature_weights(
            asker.ground.feature_map.of(queries.values, columns, candidate.form)[0],
            asker.usable(queries, columns)[0],
            asker.scales(candidate.relevance, candidate.scope),
            weights,
            asker.ground.features(candidate.form)[np.ix_(donors, places)],
            candidate.ridge,
        )
    return donors, weights, terms, columns


def _kernel(asker: ColumnPredictor, candidate: Candidate, queries: Queries) -> tuple[Ints, Floats]:
    if candidate.k == EVERYONE:
        split = candidate.scope == "split"
        groups = dict(asker.givers(candidate.scope))
        donors = groups.get(int(queries.labels[0]) if split else -1, np.zeros(0, dtype=np.intp))
        return donors, np.full(len(donors), 1.0 / max(len(donors), 1))
    near = asker.neighborhood(queries, candidate.relevance, candidate.scope, candidate.k)
    weights = asker.donor_weights(near, candidate.k, candidate.kernel)[0]
    return near.donors[0, weights > 0], weights[weights > 0]


def _gaps(
    asker: ColumnPredictor, relevance: str, queries: Queries, givers: Ints
) -> tuple[Floats, Floats]:
    """1 − the grey coefficient of each giver in each column, and the columns' weights.

    Δmin and Δmax are taken over all donors, and the weights over what the row has observed.
    """
    columns = asker.columns("soft")
    known = ~queries.missing[0, columns]
    category = asker.ground.table.is_categorical[columns]
    apart = np.abs(asker.ground.table.values[:, columns] - queries.values[0, columns])
    numbers = apart[np.ix_(asker.donors, np.flatnonzero(known & ~category))]
    low, offset = numbers.min(initial=np.inf), GREY.rho * numbers.max(initial=0.0)
    apart = apart[givers]
    gaps = np.where(category, (apart > 0).astype(float), 0.0)
    if offset > 0:
        gaps[:, ~category] = 1.0 - (low + offset) / (apart[:, ~category] + offset)
    weights = np.where(known, asker.column_weights(relevance, "soft"), 0.0)
    if not weights.any():
        weights = known.astype(float)
    return np.where(weights > 0, gaps, np.nan), weights / max(weights.sum(), 1e-300)
