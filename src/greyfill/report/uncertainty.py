"""The imputed cells whose donors agree least.

An imputer that can tell offers two things, both about the rows of ``fit``:

``cell_spreads_``
    rows, columns and spreads of the imputed cells: the weighted standard deviation of the donors'
    values on the [0, 1] scale of a number, or 1 − the winner's share of the votes for a category.
``donors_of(row, column)``
    a dict of equally long ``rows``, ``distances`` and ``weights``, nearest donor first.

Where a regression on the donors makes the value, ``explain(row, column, n_donors)`` tells the same
of the weightiest donors, and by how much each column moved the value (``effects``).
"""

from typing import Any

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.report.columns import HIDDEN, OTHER, is_identifier
from greyfill.report.reading import Evidence
from greyfill.report.text import clean, tidy, value_in
from greyfill.table import Floats, Ints, Kind

MOST_CELLS = 20
MOST_DONORS = 10
NOT_TOLD = "This imputer does not tell how far the donors of a cell disagree."
OTHER_ROWS = "The spread of the donors is known for the rows of fit only; these are other rows."


def uncertain_cells(imputer: Any, evidence: Evidence) -> dict[str, Any]:
    """The most uncertain cells, or the reason why nobody knows."""
    spreads = getattr(imputer, "cell_spreads_", None)
    if spreads is None:
        return {"note": NOT_TOLD, "cells": []}
    rows, columns, values = (np.asarray(part) for part in spreads)
    if not _fits(evidence, rows, columns):
        return {"note": OTHER_ROWS, "cells": []}
    order = np.argsort(-values, kind="stable")[:MOST_CELLS]
    picked = zip(rows[order].tolist(), columns[order].tolist(), values[order].tolist(), strict=True)
    return {"note": None, "cells": [_cell(imputer, evidence, *cell) for cell in picked]}


def _fits(evidence: Evidence, rows: Ints, columns: Ints) -> bool:
    """Whether the spreads can belong to this table."""
    n_rows, n_columns = evidence.imputed.shape
    if len(rows) and (rows.max() >= n_rows or columns.max() >= n_columns):
        return False
    return bool(evidence.imputed[rows, columns].all())


def _cell(imputer: Any, evidence: Evidence, row: int, column: int, spread: float) -> dict[str, Any]:
    is_number = evidence.fields[column].kind is Kind.NUMERIC
    return {
        "row": row,
        "column": clean(evidence.fields[column].name),
        "value": HIDDEN if is_identifier(evidence, column) else shown_value(evidence, row, column),
        "uncertainty": tidy(spread),
        "spread": tidy(spread * _range(evidence, column)) if is_number else None,
        "unit": evidence.unit(column),
        "votes": None if is_number else tidy(1.0 - spread),
        **_reasons(imputer, row, column),
    }


def shown_value(evidence: Evidence, row: int, column: int) -> str:
    """One filled cell as text."""
    field, value = evidence.fields[column], float(evidence.filled[row, column])
    if field.kind is Kind.NUMERIC:
        return value_in(value, evidence.unit(column))
    known = 0 <= value < len(field.levels)
    return clean(field.levels[int(value)], most=60) if known else OTHER


def _range(evidence: Evidence, column: int) -> float:
    observed: Floats = evidence.filled[~evidence.table.missing[:, column], column]
    return float(observed.max()) - float(observed.min()) if len(observed) else 1.0


def _reasons(imputer: Any, row: int, column: int) -> dict[str, Any]:
    """The donors of a cell, and what the columns of a regression added; nothing if not kept."""
    try:
        return _known_reasons(imputer, row, column)
    except InvalidDataError:
        return {"donors": [], "effects": []}


def _known_reasons(imputer: Any, row: int, column: int) -> dict[str, Any]:
    if hasattr(imputer, "explain"):
        why = imputer.explain(row, column, MOST_DONORS)
        return {
            "donors": _donors(why.rows, why.distances, why.weights),
            "effects": [
                {"name": clean(name), "effect": tidy(effect), "unit": why.unit}
                for name, effect in why.strongest()
            ],
        }
    if not hasattr(imputer, "donors_of"):
        return {"donors": [], "effects": []}
    found = imputer.donors_of(row, column)
    return {
        "donors": _donors(found["rows"], found["distances"], found["weights"]),
        "effects": [],
    }


def _donors(rows: Any, distances: Any, weights: Any) -> list[dict[str, Any]]:
    parts = list(zip(rows, distances, weights, strict=True))[:MOST_DONORS]
    return [
        {"row": int(giver), "distance": tidy(float(distance)), "weight": tidy(float(weight))}
        for giver, distance, weight in parts
    ]
