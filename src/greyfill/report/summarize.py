"""From an imputer and its two tables to one dict of plain numbers and words."""

import os
from datetime import UTC, datetime
from typing import Any

import numpy as np

from greyfill.information import class_information
from greyfill.report import facts
from greyfill.report.cautions import cautions, limits, missing_at_random
from greyfill.report.columns import column_entry
from greyfill.report.holes import missing_map, patterns
from greyfill.report.reading import Evidence, read
from greyfill.report.text import clean, tidy
from greyfill.report.uncertainty import shown_value, uncertain_cells
from greyfill.table import Floats, Ints

FORMAT = "greyfill-report/1"
MOST_COLUMNS = 200
MOST_RAW_COLUMNS = 40
INFORMATION_ROWS = 20_000
Summary = dict[str, Any]

MAY_BE_NONE = frozenset(
    [
        "columns.*.observed.mean",
        "columns.*.observed.sd",
        "columns.*.imputed.mean",
        "columns.*.imputed.sd",
        "columns.*.classes.*.observed.mean",
        "columns.*.classes.*.observed.sd",
        "columns.*.classes.*.imputed.mean",
        "columns.*.classes.*.imputed.sd",
        "relevance.columns.*.weight",
        "relevance.columns.*.bits",
        "relevance.sample",
        "k.chosen",
        "k.asked",
        "k.scores.*.error",
        "selection.*.error",
        "convergence.passes",
        "convergence.converged",
        "convergence.tol",
        "convergence.series.*.values.*",
        "uncertain.note",
        "uncertain.cells.*.uncertainty",
        "uncertain.cells.*.spread",
        "uncertain.cells.*.votes",
        "uncertain.cells.*.donors.*.distance",
        "uncertain.cells.*.donors.*.weight",
        "uncertain.cells.*.effects.*.effect",
        "settings.*",
        "little_test",
        "rows",
    ]
)
"""The places of a summary that hold None where nothing is known; ``*`` is any item."""


def summarize(imputer: Any, X: Any, filled: Any, y: Any = None, *, raw_rows: int = 0) -> Summary:
    """Describe what an imputer did to a table, in numbers and words that JSON can hold.

    The work grows with the cells of the table, and the dict with its columns up to 200; it does
    not grow with the rows.

    Parameters
    ----------
    imputer
        A fitted imputer of greyfill.
    X
        The table with holes.
    filled
        What ``fit_transform`` or ``transform`` of the imputer returned for X.
    y
        The class labels, for numbers by class.
    raw_rows
        How many of the rows with holes to include as they are after filling; none by default.

    Examples
    --------
    >>> from greyfill import KNNIImputer
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 4.0]])
    >>> imputer = KNNIImputer(n_neighbors=2)
    >>> summary = summarize(imputer, X, imputer.fit_transform(X))
    >>> summary["table"]["missing"], summary["columns"][1]["imputed"]["mean"]
    (1, 3.0)
    """
    evidence = read(imputer, X, filled, y)
    names, shown = evidence.names, _shown_columns(evidence)
    bits, sample = _information(evidence)
    summary: Summary = {
        "format": FORMAT,
        "created": _now().isoformat(timespec="seconds"),
        "method": type(imputer).__name__,
        "table": _table(evidence),
        "columns": [column_entry(evidence, j) for j in shown.tolist()],
        "patterns": patterns(evidence.table.missing, names),
        "map": missing_map(evidence.table.missing, names, shown),
        "relevance": facts.relevance(imputer, names, bits) | {"sample": sample},
        "k": facts.k_curve(imputer),
        "selection": facts.selection(imputer),
        "convergence": facts.convergence(imputer),
        "fallbacks": facts.fallbacks(imputer),
        "uncertain": uncertain_cells(imputer, evidence),
        "settings": facts.settings(imputer),
        "versions": facts.versions(),
        "rows": _raw_rows(evidence, raw_rows),
    }
    summary["little_test"] = missing_at_random(evidence, summary["patterns"]["count"])
    summary["cautions"] = cautions(summary, evidence, imputer)
    summary["limits"] = limits(summary)
    return summary


def _shown_columns(evidence: Evidence) -> Ints:
    """All columns, or those with the most holes, in the order of the table."""
    holes = evidence.table.missing.sum(axis=0)
    return np.sort(np.argsort(-holes, kind="stable")[:MOST_COLUMNS])


def _now() -> datetime:
    """The time, or what SOURCE_DATE_EPOCH says it is, so that a page can be made again."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)


def _table(evidence: Evidence) -> dict[str, Any]:
    missing, classes = evidence.table.missing, evidence.classes
    holes_of_row = missing.sum(axis=1)
    groups: list[dict[str, Any]] = []
    if classes is not None:
        rows = np.bincount(classes.groups, minlength=len(classes.names))
        lost = np.bincount(classes.groups, holes_of_row, minlength=len(classes.names))
        groups = [
            {"name": name, "rows": int(n), "missing": int(m)}
            for name, n, m in zip(classes.names, rows, lost, strict=True)
        ]
    return {
        "rows": missing.shape[0],
        "columns": missing.shape[1],
        "missing": int(holes_of_row.sum()),
        "share": tidy(float(holes_of_row.sum()) / missing.size),
        "filled": int(evidence.imputed.sum()),
        "columns_with_holes": int(missing.any(axis=0).sum()),
        "rows_with_holes": int((holes_of_row > 0).sum()),
        "empty_rows": int((holes_of_row == missing.shape[1]).sum()),
        "n_classes": 0 if classes is None else len(classes.labels),
        "classes": groups,
    }


def _information(evidence: Evidence) -> tuple[Floats | None, int | None]:
    """I(X_j; Y) in bits over the observed cells, and the size of the sample if there is one."""
    table, classes = evidence.table, evidence.classes
    if classes is None:
        return None, None
    rows, sample = np.flatnonzero(classes.codes >= 0), None
    if len(rows) > INFORMATION_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, INFORMATION_ROWS).astype(np.intp)]
        sample = len(rows)
    return class_information(table.rows(rows), classes.codes[rows]), sample


def _raw_rows(evidence: Evidence, most: int) -> dict[str, Any] | None:
    """The first rows with holes, as text, with the columns of their imputed cells."""
    rows = np.flatnonzero(evidence.imputed.any(axis=1))[:most].tolist()
    if not rows:
        return None
    columns = np.flatnonzero(evidence.kept)[:MOST_RAW_COLUMNS].tolist()
    return {
        "columns": [clean(evidence.fields[j].name) for j in columns],
        "columns_left_out": int(evidence.kept.sum()) - len(columns),
        "rows": [
            {
                "row": i,
                "cells": [shown_value(evidence, i, j) for j in columns],
                "imputed": [bool(evidence.imputed[i, j]) for j in columns],
            }
            for i in rows
        ],
    }
