"""What ``fit`` leaves of a training table, and the prediction of new rows."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from greyfill._grey.candidates import UNTUNED, Plan
from greyfill._grey.donor_table import DonorTable, Queries, donor_table
from greyfill._grey.outcomes import Forecast
from greyfill._grey.passes import (
    FilledDonors,
    GreySettings,
    choose_panels,
    run_passes,
    untuned_panels,
)
from greyfill._grey.predictor import ColumnPredictor
from greyfill._grey.relevance import Relevance
from greyfill._grey.selection import BLOCK_ROWS, PanelChoice
from greyfill._neighbors.links import map_threads
from greyfill._neighbors.new_rows import Spreads
from greyfill.progress import Clock
from greyfill.table import Floats, Ints, RangeScaler, Table, to_share

TUNED_COLUMNS, TUNED_CELLS = 25, 20_000
"""In tables of so many columns and cells ``fit`` also tunes columns without holes, in a moment."""

FEW_CELLS = 40
"""Held-out cells of these columns: the panels err hardly more than those of 250."""

NEGLIGIBLE = 0.01
"""Classes below this share of the most probable one add nothing to a row without a label."""

MOST_QUERIES = 4 * BLOCK_ROWS
"""Rows as of their classes that are predicted at a time, where there are several rows."""


@dataclass(frozen=True, eq=False)
class FittedGrey:
    """All that ``fit`` leaves, and nothing changes later.

    ``rows`` are the donors' row numbers in the training table, ``choices`` the panels by column.
    ``crosses`` says that the donors' holes were filled without a look at y, and that training rows
    are filled by `cross_fit`.
    """

    scaler: RangeScaler
    donors: DonorTable
    rows: Ints
    choices: dict[int, PanelChoice]
    history: tuple[float, ...]
    converged: bool | None
    spreads: Spreads
    n_cells: int
    n_jobs: int | None
    random_state: int | None
    crosses: bool = False
    _models: dict[int, tuple[PanelChoice, ColumnPredictor]] = field(
        default_factory=dict, repr=False
    )
    _held: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_models": {}, "_held": {}}

    @property
    def n_columns(self) -> int:
        """Columns of the training table; the donors may have y besides."""
        return len(self.scaler.low)

    def model(self, target: int) -> tuple[PanelChoice, ColumnPredictor]:
        """How a column is predicted, as ``fit`` chose or untuned, with its donors laid out once."""
        if target not in self._models:
            choice = self.choices.get(target)
            if choice is None:
                borrows = all(choice.borrows for choice in self.choices.values())
                untuned = untuned_panels(self.donors, [target], UNTUNED)[target]
                choice = replace(untuned, borrows=borrows)
            self._models[target] = choice, choice.predictor(self.donors, self.n_jobs)
        return self._models[target]

    def plan(self, target: int) -> Any:
        """The panel of a column, arranged for kernels; looked up by its candidates once."""
        if target not in self._held:
            self._held[target] = Plan.of(self.model(target)[0].panel)
        return self._held[target]

    def scales(self, table: Table) -> Any:
        """Ranges of the columns and halves of them, which have levels, and which are unordered."""
        if "scales" not in self._held:
            to, has_levels = self.scaler, np.array([c.n_levels > 0 for c in table.columns])
            self._held["scales"] = to.low, to.high, to.half_range, has_levels, to.is_categorical
        return self._held["scales"]

    def opening(self, table: Table) -> Any:
        """The kernel that puts new rows on the scale of the donors, and what it reads of them."""
        if "opening" not in self._held:
            from greyfill._search.queries import open_rows

            scales = *self.scales(table), *self.donors.feature_map.arrays
            self._held["opening"] = open_rows, scales
        return self._held["opening"]

    def predict(self, target: int, queries: Queries) -> Forecast:
        """Predictions by the panel, for rows whose class is given where classes split donors."""
        choice, predictor = self.model(target)
        if len(queries.values) == 1:
            return choice.forecast(predictor, self.plan(target), queries)
        return choice.predict(predictor, queries)


def fit_imputer(
    table: Table, labels: Ints | None, response: Floats | None, settings: GreySettings
) -> tuple[Floats, FittedGrey]:
    """Fill a training table; return its values without holes and what fills new rows.

    ``labels`` are class codes, −1 where unknown: such rows are no donors. ``response`` is a
    continuous target instead, NaN where unknown.
    """
    clock, response = Clock(settings.time_budget), _to_scale(response)
    passed = run_passes(table, labels, response, settings, clock)
    fitted = _with_all_choices(_fitted(passed, settings), passed.relevance, table, settings, clock)
    values = _training_values(fitted, table)
    others = np.setdiff1d(np.arange(table.n_rows), fitted.rows)
    if len(others):
        y = response if labels is None else np.where(labels < 0, np.nan, labels)
        known = None if y is None or fitted.crosses else y[others]
        values[others] = fill_new_rows(fitted, table.rows(others), known)
    return values, fitted


def _fitted(passed: FilledDonors, settings: GreySettings) -> FittedGrey:
    """What the passes leave, to predict with."""
    p = passed
    return FittedGrey(
        p.scaler, p.donors, p.rows, p.choices, p.history, p.converged, p.spreads,
        settings.n_cells, settings.n_jobs, settings.random_state, p.crosses,
    )  # fmt: skip


def _to_scale(response: Floats | None) -> Floats | None:
    """A continuous y on the [0, 1] scale, NaN where unknown."""
    if response is None:
        return None
    return to_share(response, np.nanmin(response), np.nanmax(response))


def fit_model(
    table: Table, labels: Ints | None, response: Floats | None, settings: GreySettings
) -> FittedGrey:
    """Learn to predict the labels, or the response, of rows with holes.

    Holes of the donors are filled without a look at the labels, so that a filled cell does not
    give its row's label away.
    """
    clock, response = Clock(settings.time_budget), _to_scale(response)
    # Rows that differ by y alone are put in its order, not left as they came.
    order = np.lexsort([extra for extra in (labels, response) if extra is not None])
    passed = run_passes(table.rows(order), None, None, settings, clock)
    rows, (places, columns, found) = order[passed.rows], passed.spreads
    spreads = order[places], columns, found
    blind = _fitted(replace(passed, rows=rows, spreads=spreads), settings)
    filled = Table(_training_values(blind, table), np.zeros_like(table.missing), table.columns)
    scaled = table.with_values(blind.scaler.scale(filled).values)
    codes = np.zeros(table.n_rows, dtype=np.intp) if labels is None else labels
    y = None if response is None else response[rows]
    donors = donor_table(scaled.rows(rows), codes[rows], y)
    relevance, last = Relevance(donors, settings.random_state), donors.y_column
    n_cells = {last: settings.n_cells}
    # Only here: an imputer's fills gain nothing by it, and each new row would pay for it.
    choices = choose_panels(donors, relevance, n_cells, settings, clock, discriminates=True)
    return replace(blind, donors=donors, choices=choices, _models={}, _held={})


def _training_values(fitted: FittedGrey, table: Table) -> Floats:
    """The values of a training table with the fills of the donors' holes."""
    values, rows = table.values.copy(), fitted.rows
    filled = fitted.scaler.unscale(fitted.donors.table.values[:, : table.n_columns])
    values[rows] = np.where(table.missing[rows], filled, table.values[rows])
    return values


def _with_all_choices(
    fitted: FittedGrey, relevance: Relevance, table: Table, settings: GreySettings, clock: Clock
) -> FittedGrey:
    """Panels also of the class, and of columns whose donors lack nothing.

    The latter are tuned on few cells where that is cheap, and on all where a row that is no donor
    has a hole; those that are left are predicted by the panel `UNTUNED`.
    """
    is_small = table.n_columns <= TUNED_COLUMNS and table.values.size <= TUNED_CELLS
    n_cells = {}
    for j in range(table.n_columns):
        if table.missing[:, j].any():
            n_cells[j] = settings.n_cells
        elif is_small:
            n_cells[j] = min(settings.n_cells, FEW_CELLS)
    if fitted.donors.has_classes:
        n_cells[fitted.donors.y_column] = settings.n_cells
    left = {j: n for j, n in n_cells.items() if j not in fitted.choices}
    settings.meter.begin("panels of other columns", len(left))
    found = choose_panels(fitted.donors, relevance, left, settings, clock)
    return replace(fitted, choices=dict(sorted({**fitted.choices, **found}.items())))


def fill_new_rows(fitted: FittedGrey, table: Table, y: Floats | None = None) -> Floats:
    """The values of new rows without holes, in the units of the table; block by block.

    ``y`` are class codes, or numbers on the scale of the response; NaN where unknown.
    """
    if table.n_rows <= BLOCK_ROWS:
        return _fill_block(fitted, table, y)
    starts = range(0, table.n_rows, BLOCK_ROWS)
    blocks = [np.arange(a, min(a + BLOCK_ROWS, table.n_rows)) for a in starts]

    def fill(rows: Ints) -> Floats:
        return _fill_block(fitted, table.rows(rows), None if y is None else y[rows])

    first = fill(blocks[0])  # alone: it makes what all of them need
    return np.concatenate([first, *map_threads(fill, blocks[1:], fitted.n_jobs)])


def _fill_block(fitted: FittedGrey, table: Table, y: Floats | None) -> Floats:
    from greyfill._search.queries import close_rows

    queries = with_shares(fitted, new_queries(fitted, table, y))
    values = queries.values.copy()
    if fitted.donors.splits and y is None:
        as_of_classes(fitted, queries)  # once for all columns
    for j in np.logical_or.reduce(table.missing).nonzero()[0].tolist():
        rows = table.missing[:, j]
        some = queries if np.count_nonzero(rows) == len(rows) else queries.part(rows)
        values[rows, j] = fitted.donors.fills(j, predict(fitted, j, some))
    return np.asarray(close_rows(values, *_in_order(table), *fitted.scales(table)))


def new_queries(fitted: FittedGrey, table: Table, y: Floats | None = None) -> Queries:
    """New rows in the columns of the donor table; an unseen category counts as a hole.

    ``y`` are class codes, or numbers on the scale of the response; NaN where unknown.
    """
    donors, (open_rows, scales) = fitted.donors, fitted.opening(table)
    queries = Queries.new(*open_rows(*_in_order(table), *scales))
    if y is None or donors.table.n_columns == table.n_columns:
        return queries
    known, labels = ~np.isnan(y), queries.labels.copy()
    queries.values[known, -1], queries.missing[known, -1] = y[known], False
    if donors.splits:
        labels[known] = y[known].astype(np.intp)
    return replace(queries, labels=labels, _features={})


def _in_order(table: Table) -> tuple[Any, Any]:
    """Cells and holes as kernels take them."""
    return np.ascontiguousarray(table.values), np.ascontiguousarray(table.missing)


def predict(fitted: FittedGrey, target: int, queries: Queries) -> Forecast:
    """Predictions; for rows without a label those of each class, mixed by its probability."""
    donors = fitted.donors
    if not donors.splits or target == donors.y_column:
        return fitted.predict(target, queries)
    mixed = _of_most_probable_class if donors.is_wide(target) else _mixed
    unlabeled = queries.missing[:, donors.y_column]
    if "by class" in queries._features or unlabeled.all():
        return mixed(fitted, target, queries)
    if not unlabeled.any():
        return fitted.predict(target, queries)
    parts = [(np.flatnonzero(unlabeled), mixed(fitted, target, queries.part(unlabeled)))]
    rows = np.flatnonzero(~unlabeled)
    parts.append((rows, fitted.predict(target, queries.part(rows))))
    return Forecast.joined(parts, len(unlabeled))


def _mixed(fitted: FittedGrey, target: int, queries: Queries) -> Forecast:
    """Predictions of each class, mixed by its probability."""
    rows, shares, labeled = as_of_classes(fitted, queries)
    n = len(queries.values)
    if n > 1 and len(rows) > MOST_QUERIES:
        halves = np.array_split(np.arange(n), 2)
        parts = [(half, _mixed(fitted, target, queries.part(half))) for half in halves]
        return Forecast.joined(parts, n)
    return fitted.model(target)[1].mean(fitted.plan(target), labeled, (rows, shares, n))


def as_of_classes(fitted: FittedGrey, queries: Queries) -> tuple[Ints, Floats, Queries]:
    """Each row as of every class that is not negligible: its place, the share, the query.

    The classes of a row follow each other. All columns of the same rows share them.
    """
    if "by class" not in queries._features:
        from greyfill._search.queries import of_classes

        donors, shares = fitted.donors, with_shares(fitted, queries).shares
        cells = queries.values, queries.missing, queries.features(donors)
        rows, shares, labels, values, missing, features = of_classes(
            *cells, shares, NEGLIGIBLE, donors.class_features
        )
        own, sources = queries.own_rows.take(rows), queries.sources.take(rows)
        known = {"both": features, True: labels}
        labeled = Queries(values, missing, labels, own, sources, _features=known)
        queries._features["by class"] = rows, shares, labeled
    found: tuple[Ints, Floats, Queries] = queries._features["by class"]
    return found


def with_shares(fitted: FittedGrey, queries: Queries) -> Queries:
    """The same rows with their class probabilities, where classes split the donors."""
    if not fitted.donors.splits or len(queries.shares) or not len(queries.values):
        return queries
    return queries.with_shares(posterior(fitted, queries))


def _of_most_probable_class(fitted: FittedGrey, target: int, queries: Queries) -> Forecast:
    """Predictions of the most probable class alone: each class would list other levels."""
    labels = with_shares(fitted, queries).shares.argmax(axis=1)
    return fitted.predict(target, queries.with_labels(fitted.donors, labels))


def posterior(fitted: FittedGrey, queries: Queries) -> Floats:
    """P(class | observed cells) of new rows, shape (row, class)."""
    forecast, shares = _calibrated(fitted, queries)
    if not forecast.outcomes.n_others:
        return shares
    whole = np.repeat(shares[:, -1:], fitted.donors.n_classes, axis=1)
    np.put_along_axis(whole, forecast.outcomes.levels, shares[:, :-1], axis=1)
    return whole


def most_probable_class(fitted: FittedGrey, queries: Queries) -> Ints:
    """The most probable class of new rows."""
    forecast, shares = _calibrated(fitted, queries)
    return forecast.outcomes.codes(shares[:, : forecast.outcomes.levels.shape[1]].argmax(axis=1))


def _calibrated(fitted: FittedGrey, queries: Queries) -> tuple[Forecast, Floats]:
    """Predictions of the class of new rows, and calibrated probabilities."""
    forecast = fitted.predict(fitted.donors.y_column, queries)
    return forecast, forecast.shares(fitted.model(fitted.donors.y_column)[0].sharpness)
