"""What a reader should know before he trusts the filled table, in words."""

from typing import Any

import numpy as np

from greyfill.missingness import little_test
from greyfill.report.reading import SMALLER, Evidence
from greyfill.report.text import count, listed, number, plural, share
from greyfill.table import Kind

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
