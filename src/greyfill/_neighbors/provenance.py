"""The donors of a training cell."""

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
from greyfill._neighbors.new_rows import FittedRecipe, class_shares, fill_rows, mixed_links
from greyfill.exceptions import InvalidDataError
from greyfill.table import Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class CellDonors:
    """The donors of one cell, nearest first: their rows, distances, values and weights.

    Values are in the units of the column, or codes of its levels; weights sum to one.
    """

    rows: Ints
    distances: Floats
    values: Floats
    weights: Floats


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
    if fitted.crosses:
        return _cell_donors(fitted, column, _crossed_links(fitted, place, column))
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
    return _cell_donors(
        fitted, column, HoleSearch(search, pool.givers, holes).run(fitted.recipe, None)
    )


def _crossed_links(fitted: FittedRecipe, place: int, column: int) -> Links:
    """The donors of a row that was filled like a new one, from all classes."""
    own = np.array([place])
    cell = fitted.donors.rows(own)
    values = np.where(cell.missing, fitted.centers, cell.values)
    posterior = class_shares(fitted, values, cell.missing, own, None)
    if fitted.recipe.distance.holes == "filled":
        whole = Table(fitted.scaler.unscale(values), cell.missing, cell.columns)
        values = fitted.scaler.scale(whole.with_values(fill_rows(fitted, whole, own, None))).values
    queries = QueryRows(np.zeros(1, dtype=np.intp), values, fitted.visible(cell.missing), own)
    holes, weights = only_column(cell.missing, column), fitted.column_weights(column)
    return mixed_links(fitted, queries, holes, weights, posterior, None)


def _cell_donors(fitted: FittedRecipe, column: int, links: Links) -> CellDonors:
    votes = fitted.donors.is_categorical[column]
    weights = (links.vote_weights if votes else links.number_weights)[0]
    there = weights > 0.0  # a class that the row cannot be of gives nothing
    donors, weights = links.donors[0, there], weights[there] / weights.sum()
    units = fitted.scaler.unscale(fitted.donors.values[donors])[:, column]
    return CellDonors(fitted.rows[donors], links.distances[0, there], units, weights)
