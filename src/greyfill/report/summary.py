"""From an imputer and its two tables to one dict of plain numbers and words."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from greyfill.information import class_information
from greyfill.report import evidence as facts
from greyfill.report import held_out
from greyfill.report.column_summary import (
    column_entry,
    is_identifier,
    missing_map,
    patterns,
    shown_value,
    uncertain_cells,
)
from greyfill.report.evidence import SMALLER, Evidence, read_evidence
from greyfill.table import Floats, Ints, Kind, Table
from greyfill.text import (
    OTHER_LABELS,
    OWN_LABELS,
    clean,
    count,
    fallbacks,
    listed,
    number,
    plural,
    share,
    tidy,
)

FORMAT = "greyfill-report/1"
MOST_COLUMNS = 200
MOST_RAW_COLUMNS = 40
INFORMATION_ROWS = 20_000
MOST_MISSING = 0.5
# Little's test inverts a matrix for each pattern in each pass: a larger table would wait for it.
TEST_PATTERNS, TEST_COLUMNS, TEST_ROWS, TEST_PASSES = 60, 30, 50_000, 200
N_SHUFFLES, SHUFFLED_CELLS = 199, 20_000
"""The shuffles of the classes, and how many cells, rows by classes, each of them has at most."""
Summary = dict[str, Any]

MAY_BE_NONE = frozenset(
    f"{place}.{name}"
    for place, names in {
        "columns.*": ("left_alone",),
        "columns.*.observed": ("mean", "sd"),
        "columns.*.imputed": ("mean", "sd"),
        "columns.*.classes.*.observed": ("mean", "sd"),
        "columns.*.classes.*.imputed": ("mean", "sd"),
        "relevance": ("columns.*.weight", "columns.*.bits", "sample"),
        "k": ("chosen", "asked", "scores.*.error"),
        "convergence": ("passes", "converged", "moving", "tol", "series.*.values.*"),
        "trust.columns.*": ("explained", "std_error", "error"),
        "uncertain.cells.*": ("uncertainty", "spread", "votes", "effects.*.effect"),
        "uncertain.cells.*.donors.*": ("distance", "weight"),
    }.items()
    for name in names
) | {
    "selection.*.error",
    "overimputed.*.inside",
    "uncertain.note",
    "settings.*",
    "little_test",
    "dependence",
    "rows",
    "trust",
}
"""The places of a summary that hold None where nothing is known; ``*`` is any item."""


def summarize(
    imputer: Any,
    X: Any,
    filled: Any,
    y: Any = None,
    *,
    raw_rows: int = 0,
    guesses: Sequence[str] = (),
    name: str = "",
    lines: Sequence[int] | None = None,
) -> Summary:
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
    guesses
        Sentences about what was taken for granted when the file of X was read.
    name, lines
        The name of that file, and the line of each row in it.

    Examples
    --------
    >>> from greyfill import KNNIImputer
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 4.0]])
    >>> imputer = KNNIImputer(n_neighbors=2)
    >>> summary = summarize(imputer, X, imputer.fit_transform(X))
    >>> summary["table"]["missing"], summary["columns"][1]["imputed"]["mean"]
    (1, 3.0)
    """
    evidence = read_evidence(imputer, X, filled, y)
    names, holes = evidence.names, evidence.table.missing.sum(axis=0)
    counts = zip(imputer.schema_.names, evidence.imputed.sum(axis=0).tolist(), strict=True)
    shown = np.sort(np.argsort(-holes, kind="stable")[:MOST_COLUMNS])
    bits, sample = None, None
    if evidence.classes is not None:
        bits, sample = sampled_information(evidence.table, evidence.classes.codes)
    summary: Summary = {
        "format": FORMAT,
        "created": _now().isoformat(timespec="seconds"),
        "method": type(imputer).__name__,
        "name": clean(name) if name else "",
        "table": _table(evidence),
        "trust": held_out.trust(imputer, dict(counts), evidence.table.n_rows),
        "overimputed": held_out.overimputed(imputer, _most_filled(evidence)),
        "columns": [_column(evidence, j, imputer) for j in shown.tolist()],
        "patterns": patterns(evidence.table.missing, names),
        "map": missing_map(evidence.table.missing, names, shown),
        "relevance": facts.relevance(imputer, names, bits) | {"sample": sample},
        "k": facts.k_curve(imputer),
        "selection": facts.selection(imputer),
        "convergence": facts.convergence(imputer),
        "fallbacks": fallbacks(imputer),
        "guesses": [clean(text, 1000) for text in guesses],
        "uncertain": uncertain_cells(imputer, evidence, lines),
        "settings": facts.settings(imputer),
        "versions": facts.versions(),
        "rows": _raw_rows(evidence, raw_rows, lines),
    }
    summary["little_test"] = missing_at_random(evidence.table, summary["patterns"]["count"])
    summary["dependence"] = missing_by_class(evidence)
    summary["cautions"] = cautions(summary, evidence, imputer, y is not None)
    summary["limits"] = list(left_out(summary))
    return summary


def _most_filled(evidence: Evidence) -> list[int]:
    """The columns with the most filled cells whose values may be shown."""
    filled = evidence.imputed.sum(axis=0)
    order = np.argsort(-filled, kind="stable")[: held_out.MOST_COLUMNS].tolist()
    return [j for j in order if filled[j] and not is_identifier(evidence, j)]


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


def sampled_information(
    table: Table, codes: Ints, n_permutations: int = 0
) -> tuple[Floats, int | None]:
    """I(X_j; Y) in bits over the observed cells, and the size of the sample if there is one."""
    rows, sample = np.flatnonzero(codes >= 0), None
    if len(rows) > INFORMATION_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, INFORMATION_ROWS).astype(np.intp)]
        sample = len(rows)
    taken, labels = table.rows(rows), codes[rows]
    return class_information(taken, labels, n_permutations=n_permutations), sample


def _raw_rows(evidence: Evidence, most: int, lines: Sequence[int] | None) -> dict[str, Any] | None:
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
                **({} if lines is None else {"line": int(lines[i])}),
                "cells": [shown_value(evidence, i, j) for j in columns],
                "imputed": [bool(evidence.imputed[i, j]) for j in columns],
            }
            for i in rows
        ],
    }


def missing_at_random(table: Table, n_patterns: int) -> dict[str, Any] | None:
    """Little's test where there are numbers to test and it is cheap; else None."""
    sizes = [c.n_levels - 1 if c.kind is Kind.CATEGORICAL else 1 for c in table.columns]
    has_numbers = any(c.kind is Kind.NUMERIC for c in table.columns)
    has_holes = table.missing.any() and not table.missing.all()
    is_cheap = n_patterns <= TEST_PATTERNS and table.n_rows <= TEST_ROWS
    if not (has_numbers and has_holes and is_cheap) or sum(sizes) > TEST_COLUMNS:
        return None
    from greyfill.missingness import little_test  # loads parts of scipy, which takes its time

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


def missing_by_class(evidence: Evidence) -> dict[str, Any] | None:
    """Whether the holes of a row tell of its class; None without holes or classes to tell apart."""
    classes, missing = evidence.classes, evidence.table.missing
    if classes is None or not missing.any():
        return None
    rows = np.flatnonzero(classes.codes >= 0)
    most = max(SHUFFLED_CELLS // len(classes.labels), 100)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
    codes, missing = classes.codes[rows], missing[rows]
    if len(np.unique(codes)) < 2 or not missing.any():
        return None
    from greyfill.missingness import missingness_test

    found = missingness_test(missing, codes, len(classes.labels), n=N_SHUFFLES)
    explained = tidy(found.explained)
    return {
        "explained": explained,
        "p_value": found.p_value,
        "rows": len(rows),
        "words": found.words,
    }


def cautions(
    summary: Summary, evidence: Evidence, imputer: Any, has_target: bool
) -> list[dict[str, str]]:
    """Warnings first, then notes; each is a level and one or two sentences."""
    fell_back = (entry["text"] for entry in summary["fallbacks"])
    warnings = [*_column_warnings(summary), *_fit_warnings(summary, evidence), *fell_back]
    return [{"level": "warning", "text": text} for text in warnings] + [
        {"level": "note", "text": text} for text in _notes(summary, imputer, has_target)
    ]


def _column(evidence: Evidence, j: int, imputer: Any) -> dict[str, Any]:
    """Everything about one column; of one that was left alone, why."""
    why = getattr(imputer, "left_alone_", {}).get(evidence.fields[j].name)
    entry = column_entry(evidence, j) | {"left_alone": why}
    return entry if why is None else entry | {"kind": "left alone"}


def _column_warnings(summary: Summary) -> Iterator[str]:
    columns = [c for c in summary["columns"] if c["left_alone"] is None]
    dropped = [c["name"] for c in columns if c["dropped"]]
    if dropped:
        yield (
            f"{plural(len(dropped), 'column')} without any observed value: {listed(dropped)}. "
            "Nothing can be learned about such a column, so it was dropped."
        )
    bare = [c["name"] for c in columns if c["share"] > MOST_MISSING and not c["dropped"]]
    if bare:
        yield (
            f"More than half of the cells are missing in {plural(len(bare), 'column')}: "
            f"{listed(bare)}. Most of what such a column now holds is a guess."
        )
    identifiers = [c["name"] for c in columns if c["identifier"]]
    if identifiers:
        yield (
            f"Nearly every row has a value of its own in {plural(len(identifiers), 'column')}: "
            f"{listed(identifiers)}. If that is an identifier or free text, leave it out: it seems "
            "to tell all about the class, and helps to find no donor."
        )
    open_holes = sum(c["missing"] for c in columns if not c["dropped"])
    left = open_holes - summary["table"]["filled"]
    if left > 0:
        yield f"The table still has {plural(left, 'cell')} without a value."


def _fit_warnings(summary: Summary, evidence: Evidence) -> Iterator[str]:
    empty_rows, k = summary["table"]["empty_rows"], summary["k"]["chosen"]
    classes, passes = evidence.classes, summary["convergence"]
    if empty_rows:
        yield f"Typical values went into {plural(empty_rows, 'row')} without any observed value."
    if k is not None and classes is not None:
        sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=len(classes.labels))
        small = [classes.labels[code] for code in np.flatnonzero(sizes <= k)]
        if small:
            yield (
                f"{plural(len(small), 'class', 'classes')} with no more than k = {k} rows: "
                f"{listed(small)}. A method that looks within the class has fewer donors there "
                "than asked for."
            )
    if passes["moving"] is not None:
        far = (
            "by 5 % of the range of their column or more"
            if passes["moving"] < 1
            else ("between categories, or across the range of their column")
        )
        yield (
            f"The passes ended after {passes['passes']} without settling: some cells still move "
            f"{far}. Their value depends on where the passes ended."
        )


def _notes(summary: Summary, imputer: Any, has_target: bool) -> Iterator[str]:
    left_alone = getattr(imputer, "left_alone_", {})
    if left_alone:
        named = ((listed([clean(name)]), why) for name, why in left_alone.items())
        reasons = "; ".join(f"{name} ({why})" for name, why in named)
        yield f"Left as they are, and not used to fill other columns: {reasons}."
    test = summary["little_test"]
    if test is not None and test["p_value"] < 0.01:
        p = "< 0.0001" if test["p_value"] < 1e-4 else f"= {test['p_value']:.4f}"
        yield (
            "The holes do not look completely random (Little's test: χ² = "
            f"{number(test['statistic'])}, {test['dof']} degrees of freedom, p {p}). Where a value "
            "is missing depends on other values; imputed and observed cells may rightly differ."
        )
    if getattr(imputer, "_sees_own_labels", False) and summary["table"]["classes"]:
        yield OWN_LABELS
    elif getattr(imputer, "labels", "none") == "cross" and summary["table"]["classes"]:
        yield OTHER_LABELS
    yield from _about_draws(imputer, summary, has_target)


def _about_draws(imputer: Any, summary: Summary, has_target: bool) -> Iterator[str]:
    if not hasattr(imputer, "draw") or not summary["table"]["filled"]:
        return
    if not has_target:
        yield (
            "Estimates from one filled table look surer than they are. For intervals and p-values, "
            "estimate on several draws and pool: --draws 20 in the shell, draw(X, 20) and "
            "greyfill.pool in Python."
        )
        return
    yield (
        "Estimates from one filled table look surer than they are, and a fill that has seen "
        "the labels strengthens what relates to them. For intervals and p-values, estimate on "
        "several draws that know y and pool: fit(X, y).draw(X, 20, y) and greyfill.pool in "
        "Python. Draws made without y weaken what relates to it."
    )


def left_out(summary: Summary) -> Iterator[str]:
    """What the page leaves out or takes together, so that nobody takes a part for the whole."""
    table, patterns, edges = summary["table"], summary["patterns"], summary["map"]["edges"]
    shown, n_bins = len(summary["columns"]), len(edges) - 1
    if shown < table["columns"]:
        yield f"Of {count(table['columns'])} columns, the {shown} with the most holes are shown."
    if n_bins < table["rows"]:
        rows = count(table["rows"])
        yield f"The map takes {rows} rows together in {n_bins} bins of {count(edges[1])} rows."
    if patterns["rows_left_out"]:
        yield (
            f"Of {count(patterns['count'])} patterns, the {len(patterns['top'])} most frequent are "
            f"shown; they cover {share(1 - patterns['rows_left_out'] / table['rows'])} of the rows."
        )
    if summary["relevance"]["sample"] is not None:
        n = count(summary["relevance"]["sample"])
        yield f"The information about the class is estimated from {n} rows taken at even steps."
    if any(c["name"] == SMALLER for c in table["classes"]):
        yield f"The smaller ones of {count(table['n_classes'])} classes are taken together."
    if not summary["rows"]:
        yield "No row of the table is printed on this page."
    if summary["overimputed"]:
        yield "The plots of left-out cells show observed values of one column, without their rows."
