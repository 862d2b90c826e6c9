"""The donors of a training cell."""

from dataclasses import dataclass

import numpy as np

from greyfill._neighbors.links import (
    HoleSearch,
    QueryRows,
    Search,
    only_column,
    places_among,
)
from greyfill._neighbors.new_rows import FittedRecipe
from greyfill.exceptions import InvalidDataError
from greyfill.table import Floats, Ints


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
