"""What held-out observed cells tell: how far to trust each column, and truth against fill."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.frames import Field
from greyfill.report.evidence import unit_of
from greyfill.table import Bools, Floats, Kind
from greyfill.text import clean, tidy

FIGURES = ("explained", "std_error", "error")
FEWEST_CELLS = 10
"""Fewer held-out cells are no picture."""
MOST_COLUMNS, MOST_POINTS, MOST_LEVELS = 12, 100, 7


def trust(imputer: Any, filled: Mapping[str, int], n_rows: int) -> dict[str, Any] | None:
    """Sentences and figures about how far the fills of each column can be trusted.

    ``filled`` are the filled cells of each column in a table of so many rows.
    """
    known = getattr(imputer, "trust_", None)
    if known is None:
        return None
    here = [replace(t, holes=filled[name]) for name, t in known.items() if filled.get(name)]
    found = type(known)(here)
    columns = []
    for row in found.rows:
        figures = {k: v if v is None else tidy(v) for k, v in row.items() if k in FIGURES}
        columns.append({**row, **figures, "column": clean(row["column"])})
    return {"sentences": found.sentences(n_rows), "columns": columns}


def overimputed(imputer: Any, columns: Iterable[int]) -> list[dict[str, Any]]:
    """Held-out observed cells of some columns against their fills; none if they cannot be had.

    Numbers with the limits of their 90 % interval; of levels how often which was filled by which.
    """
    if not hasattr(imputer, "_held_out_cells"):
        return []
    fields = imputer.schema_.fields
    found = [_held_out(fields[j], imputer._held_out_cells(j)) for j in columns]
    return [entry for entry in found if entry["cells"] >= FEWEST_CELLS]


def _held_out(field: Field, cells: Any) -> dict[str, Any]:
    """One column: points of numbers, or counts of levels, and how often the limits hold."""
    entry: dict[str, Any] = {
        "name": clean(field.name), "cells": len(cells.truth), "unit": "number",
        "levels": [], "counts": [], "truth": [], "fill": [], "low": [], "high": [],
    }  # fmt: skip
    is_long = field.kind is Kind.ORDINAL and len(field.levels) > MOST_LEVELS
    if field.kind is Kind.NUMERIC or is_long:
        entry["unit"], sides = unit_of(field), ("truth", "predicted", "low", "high")
        size = 1.0 if entry["unit"] == "number" else 1e-6
        for name, side in zip(("truth", "fill", "low", "high"), sides, strict=True):
            entry[name] = [tidy(v * size) for v in getattr(cells, side)[:MOST_POINTS]]
    else:
        entry |= _confusion(field, np.rint(cells.truth), np.rint(cells.predicted))
    return entry | {"inside": tidy(float(np.mean(_inside(cells)))) if len(cells.truth) else None}


def _inside(cells: Any) -> Bools:
    """Whether each true level is in its set, or between its limits."""
    if cells.sets:
        pairs = zip(cells.truth.tolist(), cells.sets, strict=True)
        return np.array([code in codes for code, codes in pairs], dtype=bool)
    return np.asarray((cells.low <= cells.truth) & (cells.truth <= cells.high))


def _confusion(field: Field, truth: Floats, fills: Floats) -> dict[str, Any]:
    """How often each of the most frequent true levels was filled by which of them."""
    n = len(field.levels)
    sizes = np.bincount(truth.astype(np.intp), minlength=n)
    shown = np.arange(n)
    if n > MOST_LEVELS:
        shown = np.sort(np.argsort(-sizes, kind="stable")[: MOST_LEVELS - 1])
    place = np.full(n, len(shown))
    place[shown] = np.arange(len(shown))
    size = len(shown) + (n > MOST_LEVELS)
    counts = np.zeros((size, size), dtype=np.intp)
    np.add.at(counts, (place[truth.astype(np.intp)], place[fills.astype(np.intp)]), 1)
    levels = frames.cell_values(shown.astype(np.float64), field)
    labels = [clean(level, most=60) for level in levels]
    return {"levels": labels + ["(other)"] * (n > MOST_LEVELS), "counts": counts.tolist()}
