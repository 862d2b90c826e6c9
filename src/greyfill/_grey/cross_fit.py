"""Training rows filled as new rows are: no row sees its own y.

A classifier that is taught by fills which know the label trusts them too much, since the fills of
new rows know nothing. So the donors' holes are first filled without any y (`grey_engine`), panels
are chosen with it, and here every training row is predicted as if it had come without its own: its
class probabilities come from all rows but itself, by leave-one-out in closed form.
"""

from dataclasses import replace

import numpy as np

from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import FittedGrey, as_of_classes, predict
from greyfill._grey.outcomes import Forecast
from greyfill._grey.passes import GreySettings, joined_spreads
from greyfill._grey.selection import BLOCK_ROWS
from greyfill._neighbors.links import map_threads
from greyfill._neighbors.new_rows import Spreads
from greyfill.table import Floats, Ints, Table


def fill_training_rows(
    fitted: FittedGrey, table: Table, values: Floats, settings: GreySettings
) -> tuple[Floats, FittedGrey]:
    """The values of a training table with the donors' holes filled, and what ``fit`` leaves."""
    holes = fitted.donors.table.missing[:, : fitted.n_columns]
    incomplete = np.flatnonzero(holes.any(axis=1))
    blocks = [incomplete[a : a + BLOCK_ROWS] for a in range(0, len(incomplete), BLOCK_ROWS)]
    settings.meter.begin("training rows", len(blocks))
    errors = {int(j): _squared_error(fitted, int(j)) for j in np.flatnonzero(holes.any(axis=0))}

    def fill(rows: Ints) -> tuple[Floats, list[Spreads]]:
        queries, spreads = without_own_y(fitted, rows), []
        if fitted.donors.splits:
            as_of_classes(fitted, queries)  # once for all columns
        filled = queries.values[:, : fitted.n_columns].copy()
        for j in np.flatnonzero(holes[rows].any(axis=0)).tolist():
            here = np.flatnonzero(holes[rows, j])
            forecast, spread = _predict(fitted, j, queries.part(here), errors[j])
            filled[here, j] = fitted.donors.fills(j, forecast)
            if j in fitted.choices:
                spreads.append((rows[here], np.full(len(here), j), spread))
        settings.meter.advance()
        return filled, spreads

    found = [fill(block) for block in blocks[:1]]  # alone: it makes what all of them need
    found += map_threads(fill, blocks[1:], settings.n_jobs)
    for block, (filled, _) in zip(blocks, found, strict=True):
        rows = fitted.rows[block]
        cells = table.rows(rows)
        values[rows] = np.where(cells.missing, fitted.scaler.unscale(filled), cells.values)
    spreads = [part for _, some in found for part in some]
    return values, replace(fitted, spreads=joined_spreads(spreads, fitted.rows, fitted.n_columns))


def without_own_y(fitted: FittedGrey, rows: Ints) -> Queries:
    """Rows of the donor table as if they had no y, with what other rows tell of their class."""
    donors, y = fitted.donors, fitted.donors.y_column
    if not donors.splits:
        return Queries.of(donors, rows).without(y)
    # Which of equally near rows are the nearest depends on the place that is left out: without this
    # rows that are alike would be filled by their places, and so by the order in which they came.
    queries = Queries.of(donors, _first_alike(fitted)[rows]).without(y)
    sharpness = fitted.model(y)[0].sharpness
    return replace(queries, shares=_left_out(fitted, y, queries).shares(sharpness))


def _first_alike(fitted: FittedGrey) -> Ints:
    """The first donor with the same cells, holes and y as each, which may be itself."""
    if "first alike" not in fitted._held:
        table = fitted.donors.table
        group = np.zeros(table.n_rows, dtype=np.intp)
        for column in (*table.values.T, *table.missing.T):
            codes = np.unique(column, return_inverse=True)[1]
            _, first, group = np.unique(
                group * table.n_rows + codes, return_index=True, return_inverse=True
            )
            if len(first) == table.n_rows:
                break
        fitted._held["first alike"] = first[group]
    found: Ints = fitted._held["first alike"]
    return found


def predict_held_out(fitted: FittedGrey, target: int, queries: Queries) -> Forecast:
    """What is predicted of observed cells of donors, as if they and their row's y were unknown.

    The y is used where the queries have it. Each row is left out in closed form, so nothing is
    fitted anew; only in a regression on all classes it stays a donor of its own class while it is
    taken for one of another.
    """
    donors, y = fitted.donors, fitted.donors.y_column
    if not donors.splits or not queries.missing[:, y].any():
        return _left_out(fitted, target, queries)
    shares = _left_out(fitted, y, queries).shares(fitted.model(y)[0].sharpness)
    if donors.is_wide(target):
        return _left_out(fitted, target, queries.with_labels(donors, shares.argmax(axis=1)))
    rows, shares, labeled = as_of_classes(fitted, replace(queries, shares=shares))
    is_own = donors.labels[labeled.own_rows] == labeled.labels
    parts = [(here, labeled.part(here)) for here in map(np.flatnonzero, (is_own, ~is_own))]
    found = [_left_out(fitted, target, parts[0][1]), fitted.predict(target, parts[1][1])]
    predicted = np.zeros((len(queries.values), found[0].outcomes.width))
    for (here, _), forecast in zip(parts, found, strict=True):
        np.add.at(predicted, rows[here], shares[here, np.newaxis] * forecast.predicted)
    return Forecast(predicted, found[0].outcomes)


def _left_out(fitted: FittedGrey, target: int, queries: Queries) -> Forecast:
    """What a panel predicts of donors, each of which counts for the others alone."""
    choice, predictor = fitted.model(target)
    outcomes, found = predictor.predict(choice.panel, queries, leave_out=True)
    there, n = ~np.isnan(found), len(predictor.donor_rows)
    total, count = np.where(there, found, 0.0).sum(axis=0), there.sum(axis=0)
    own = outcomes.truth(queries.values[:, target])
    mean = (n * predictor.overall_mean(outcomes) - own) / max(n - 1, 1)
    return Forecast(np.where(count > 0, total / np.maximum(count, 1), mean), outcomes)


def _squared_error(fitted: FittedGrey, target: int) -> float:
    """The mean squared error of a panel on left-out cells, of rows that lack a continuous y."""
    donors, (choice, predictor) = fitted.donors, fitted.model(target)
    residuals = choice.residuals
    if len(residuals) and not donors.splits:
        rng = np.random.default_rng([fitted.random_state or 0, target])
        cells = rng.permutation(predictor.donor_rows)[: fitted.n_cells]
        queries = Queries.of(donors, cells).without(target).without(donors.y_column)
        residuals = _left_out(fitted, target, queries).residuals(queries.values[:, target])
    return float(np.mean(residuals**2)) if len(residuals) else np.nan


def _predict(
    fitted: FittedGrey, target: int, queries: Queries, squared_error: float
) -> tuple[Forecast, Floats]:
    """Predictions of a column, and how far they may be off.

    For a level one minus its probability. The variance of a number is that within the classes,
    which the panel's squared error measures, and that between their predictions.
    """
    if fitted.donors.table.is_categorical[target]:
        forecast = predict(fitted, target, queries)
        return forecast, np.asarray(1.0 - forecast.shares().max(axis=1))
    if not fitted.donors.splits:
        spread = np.full(len(queries.values), np.sqrt(squared_error))
        return predict(fitted, target, queries), spread
    rows, shares, labeled = as_of_classes(fitted, queries)
    found = fitted.predict(target, labeled)
    mean, between = np.zeros((2, len(queries.values)))
    np.add.at(mean, rows, shares * found.predicted[:, 0])
    np.add.at(between, rows, shares * (found.predicted[:, 0] - mean[rows]) ** 2)
    return Forecast(mean[:, np.newaxis], found.outcomes), np.sqrt(squared_error + between)
