"""From an imputer and its two tables to one dict of plain numbers and words."""

import os
from datetime import UTC, datetime
from typing import Any

import numpy as np

from greyfill.information import class_information
from greyfill.missingness import little_test
from greyfill.report import evidence as facts
from greyfill.report.column_summary import (
    column_entry,
    missing_map,
    patterns,
    shown_value,
    uncertain_cells,
)
from greyfill.report.evidence import SMALLER, Evidence, read
from greyfill.table import Floats, Ints, Kind
from greyfill.text import clean, count, listed, number, plural, share, tidy

MOST_MISSING = 0.5
TEST_PATTERNS, TEST_COLUMNS, TEST_ROWS, TEST_PASSES = 60, 30, 50_000, 200
Summary = dict[str, Any]


def cautions(summary: Summary, evidence: Evidence, imputer: Any) -> list[dict[str, str]]:
    """Warnings first, then notes; each is a level and one or two sentences."""
    warnings = [
        *_dropped(summary),
        *_mostly_missing(summary),
        *_identifiers(summary),
        *_left_open(summary),
        *_empty_rows(summary),
        *_small_classes(summary, evidence),
        *_not_converged(summary),
        *(entry["text"] for entry in summary["fallbacks"]),
    ]
    notes = [*_not_at_random(summary), *_labels_helped(summary, imputer)]
    return [{"level": "warning", "text": text} for text in warnings] + [
        {"level": "note", "text": text} for text in notes
    ]


def _dropped(summary: Summary) -> list[str]:
    names = [c["name"] for c in summary["columns"] if c["dropped"]]
    if not names:
        return []
    return [
        f"{plural(len(names), 'column')} without any observed value: {listed(names)}. Nothing can "
        "be learned about such a column, so it was dropped."
    ]


def _mostly_missing(summary: Summary) -> list[str]:
    columns = summary["columns"]
    names = [c["name"] for c in columns if c["share"] > MOST_MISSING and not c["dropped"]]
    if not names:
        return []
    return [
        f"More than half of the cells are missing in {plural(len(names), 'column')}: "
        f"{listed(names)}. Most of what such a column now holds is a guess."
    ]


def _identifiers(summary: Summary) -> list[str]:
    names = [c["name"] for c in summary["columns"] if c["identifier"]]
    if not names:
        return []
    return [
        f"Nearly every row has a value of its own in {plural(len(names), 'column')}: "
        f"{listed(names)}. If that is an identifier or free text, leave it out: it seems to tell "
        "all about the class, and helps to find no donor."
    ]


def _left_open(summary: Summary) -> list[str]:
    dropped = sum(c["missing"] for c in summary["columns"] if c["dropped"])
    left = summary["table"]["missing"] - summary["table"]["filled"] - dropped
    return [f"The table still has {plural(left, 'cell')} without a value."] if left > 0 else []


def _empty_rows(summary: Summary) -> list[str]:
    rows = summary["table"]["empty_rows"]
    if not rows:
        return []
    return [f"Typical values went into {plural(rows, 'row')} without any observed value."]


def _small_classes(summary: Summary, evidence: Evidence) -> list[str]:
    k, classes = summary["k"]["chosen"], evidence.classes
    if k is None or classes is None:
        return []
    sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=len(classes.labels))
    small = [classes.labels[code] for code in np.flatnonzero(sizes <= k)]
    if not small:
        return []
    return [
        f"{plural(len(small), 'class', 'classes')} with no more than k = {k} rows: "
        f"{listed(small)}. A method that looks within the class has fewer donors there than "
        "asked for."
    ]


def _not_converged(summary: Summary) -> list[str]:
    passes = summary["convergence"]
    if passes["converged"] is not False:
        return []
    return [
        f"The passes ended after {passes['passes']} without settling: some cells still move, or "
        "swing between categories. Look at the passes below; a larger max_iter may help."
    ]


def _not_at_random(summary: Summary) -> list[str]:
    test = summary["little_test"]
    if test is None or test["p_value"] >= 0.01:
        return []
    return [
        f"The holes do not look completely random (Little's test: χ² = {number(test['statistic'])}"
        f", {test['dof']} degrees of freedom, p {_p_value(test['p_value'])}). Where a value is "
        "missing depends on other values; imputed and observed cells may rightly differ."
    ]


def _p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.4f}"


def _labels_helped(summary: Summary, imputer: Any) -> list[str]:
    use = getattr(imputer, "labels", "none")
    if use == "none" or not summary["table"]["classes"]:
        return []
    return [
        "The class labels helped to fill the training rows. Do not cross-validate a classifier on "
        "the filled table: its score would be too good. Put the imputer into the pipeline instead."
    ]


def missing_at_random(evidence: Evidence, n_patterns: int) -> dict[str, Any] | None:
    """Little's test where it is cheap: few rows, columns and patterns; else None."""
    table = evidence.table
    sizes = [c.n_levels - 1 if c.kind is Kind.CATEGORICAL else 1 for c in table.columns]
    cheap = n_patterns <= TEST_PATTERNS and table.n_rows <= TEST_ROWS
    if not cheap or sum(sizes) > TEST_COLUMNS or not table.missing.any() or table.missing.all():
        return None
    try:
        result = little_test(table, max_iter=TEST_PASSES)
    except np.linalg.LinAlgError:
        return None
    return {
        "statistic": round(result.statistic, 4),
        "dof": result.dof,
        "p_value": result.p_value,
        "patterns": result.n_patterns,
    }


def limits(summary: Summary) -> list[str]:
    """What the page leaves out or takes together, so that nobody takes a part for the whole."""
    table, shown = summary["table"], len(summary["columns"])
    n_bins = len(summary["map"]["edges"]) - 1
    said = []
    if shown < table["columns"]:
        said.append(
            f"Of {count(table['columns'])} columns, the {shown} with the most holes are shown."
        )
    if n_bins < table["rows"]:
        said.append(
            f"The map takes {count(table['rows'])} rows together in {n_bins} bins of "
            f"{count(summary['map']['edges'][1])} rows."
        )
    if summary["patterns"]["rows_left_out"]:
        said.append(
            f"Of {count(summary['patterns']['count'])} patterns, the "
            f"{len(summary['patterns']['top'])} most frequent are shown; they cover "
            f"{share(1 - summary['patterns']['rows_left_out'] / table['rows'])} of the rows."
        )
    if summary["relevance"]["sample"] is not None:
        said.append(
            "The information about the class is estimated from "
            f"{count(summary['relevance']['sample'])} rows taken at even steps."
        )
    if any(c["name"] == SMALLER for c in table["classes"]):
        said.append(f"The smaller ones of {count(table['n_classes'])} classes are taken together.")
    if not summary["rows"]:
        said.append("No row of the table is printed on this page.")
    return said


FORMAT = "greyfill-report/1"
MOST_COLUMNS = 200
MOST_RAW_COLUMNS = 40
INFORMATION_ROWS = 20_000


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
