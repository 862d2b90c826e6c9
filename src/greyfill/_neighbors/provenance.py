"""The donors of a training cell, and how much they disagree."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.links import (
    HoleSearch,
    Links,
    QueryRows,
    Search,
    only_column,
    places_among,
)
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Ints

CHUNK = 2**17
"""Numbers held at once: 1 MB, which stays in a core's cache."""


@dataclass(frozen=True, eq=False)
class CellDonors:
    """The donors of one cell, nearest first: their rows, distances, values and weights.

    Values are in the units of the column, or codes of its levels; weights sum to one.
    """

    rows: Ints
    distances: Floats
    values: Floats
    weights: Floats


def spreads(links: Links, values: Floats, is_categorical: Bools) -> Floats:
    """How much the donors of each hole disagree.

    Numbers: the weighted standard deviation of their values, on the [0, 1] scale. Categories: one
    minus the winner's share of the votes.
    """
    out = np.empty(len(links.slots))
    votes = is_categorical[links.columns]
    k = links.donors.shape[1]
    for cells in _chunks(np.flatnonzero(~votes), k):
        given, weights = _given(links, cells, values, links.number_weights)
        means = (given * weights).sum(axis=1, keepdims=True)
        out[cells] = np.sqrt(((given - means) ** 2 * weights).sum(axis=1))
    for cells in _chunks(np.flatnonzero(votes), k * k):
        given, weights = _given(links, cells, values, links.vote_weights)
        same = given[:, :, np.newaxis] == given[:, np.newaxis, :]
        sums = np.where(same, weights[:, np.newaxis, :], 0.0).sum(axis=2).max(axis=1, initial=0.0)
        out[cells] = 1.0 - sums / np.maximum(weights.sum(axis=1), 1e-300)
    return out


def _chunks(cells: Ints, numbers_each: int) -> Iterator[Ints]:
    step = max(CHUNK // numbers_each, 1)
    for start in range(0, len(cells), step):
        yield cells[start : start + step]


def _given(links: Links, cells: Ints, values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """What the donors of some holes give, and the weights of the donors."""
    slots, columns = links.slots[cells], links.columns[cells]
    return values[links.donors[slots], columns[:, np.newaxis]], weights[slots]


def donors_of(fitted: FittedRecipe, row: int, column: int) -> CellDonors:
    """Search the donors of one filled training cell once more."""
    place = int(np.searchsorted(fitted.rows, row))
    if place >= len(fitted.rows) or fitted.rows[place] != row:
        raise InvalidDataError(
            f"row {row!r} is not among the rows that fit learned from. Rows are counted from 0 as "
            "they stand in the table, whatever its index; rows without a label and rows that "
            "max_donors left out have no donors"
        )
    if not fitted.donors.missing[place, column]:
        raise InvalidDataError(
            f"the cell in row {row} of column {fitted.donors.columns[column].name!r} was observed, "
            "or this method does not keep who gave to it"
        )
    pool = fitted.pools[0]
    if len(fitted.pools) > 1 and fitted.labels is not None:
        pool = next(pool for pool in fitted.pools if pool.label == fitted.labels[place])
    rows = np.array([place])
    cell = fitted.donors.rows(rows)
    own_rows = places_among(pool.givers, rows)
    queries = QueryRows(rows, cell.values, fitted.visible(cell.missing), own_rows)
    k = queries.available(pool.givers, fitted.n_neighbors)
    if k < 1:
        raise InvalidDataError(f"row {row} had no donors and kept its start fill")
    search = Search(fitted.layout(pool), queries, fitted.column_weights(column), k)
    holes = only_column(cell.missing, column)
    links = HoleSearch(search, pool.givers, holes).run(fitted.recipe, None)
    votes = fitted.donors.is_categorical[column]
    weights = (links.vote_weights if votes else links.number_weights)[0]
    donors = links.donors[0]
    units = fitted.scaler.unscale(fitted.donors.values[donors])[:, column]
    return CellDonors(fitted.rows[donors], links.distances[0], units, weights / weights.sum())
