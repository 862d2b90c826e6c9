"""Columns in numbers and words: patterns of holes, histograms, uncertain cells."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.exceptions import InvalidDataError
from greyfill.report.evidence import Evidence
from greyfill.table import Bools, Floats, Ints, Kind
from greyfill.text import clean, isolated, share, shorten, spread_in, tidy, value_in

MOST_PATTERNS = 20
MOST_NAMES = 30
MATRIX_COLUMNS = 16
MOST_GROUPS, MOST_APART = 5, 8
ROW_BINS = 120
N_BINS = 20
EXACT_HALVES = 2.0**51
"""Below it, half a unit to either side of a whole number is exact."""
TOP_LEVELS = 6
OTHER, HIDDEN = "(other)", "(values not shown)"
MOST_LEVELS_IN_ORDER = 12
IDENTIFIER_LEVELS = 20
MOST_CELLS = 20
MOST_DONORS = 10
NO_SPREADS = "This imputer does not tell how far the donors of a cell disagree."
OTHER_ROWS = "The spread of the donors is known for the rows of fit only; these are other rows."
Entry = dict[str, Any]


def patterns(missing: Bools, names: list[str]) -> Entry:
    """The most frequent sets of columns that miss in the same row; the empty set is complete rows.

    >>> holes = np.array([[0, 1], [0, 1], [0, 0], [1, 1]], dtype=bool)
    >>> [(p["columns"], p["rows"]) for p in patterns(holes, ["a", "b"])["top"]]
    [(['b'], 2), ([], 1), (['a', 'b'], 1)]
    """
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))[:MOST_PATTERNS]
    top = []
    for i in order:
        places = np.flatnonzero(missing[first[i]])
        top.append(
            {
                "columns": [names[j] for j in places[:MOST_NAMES]],
                "n_columns": len(places),
                "rows": int(counts[i]),
                "share": tidy(int(counts[i]) / len(missing)),
            }
        )
    left_out = int(counts.sum() - counts[order].sum())
    return {"count": len(counts), "rows_left_out": left_out, "top": top}


def pattern_matrix(found: Entry) -> Entry:
    """Patterns as lines of a matrix: which of the columns with most holes each of them lacks.

    >>> holes = np.array([[0, 1], [0, 1], [0, 0], [1, 1]], dtype=bool)
    >>> matrix = pattern_matrix(patterns(holes, ["a", "b"]))
    >>> matrix["columns"], [line["cells"] for line in matrix["rows"]]
    (['b', 'a'], [[True, False], [False, False], [True, True]])
    """
    rows = Counter[str]()
    for pattern in found["top"]:
        rows.update(dict.fromkeys(pattern["columns"], pattern["rows"]))
    columns = [name for name, _ in rows.most_common(MATRIX_COLUMNS)]
    lines = [
        {
            "rows": pattern["rows"],
            "share": pattern["share"],
            "cells": [name in pattern["columns"] for name in columns],
            "others": pattern["n_columns"] - len({*columns} & {*pattern["columns"]}),
        }
        for pattern in found["top"]
    ]
    return {"columns": columns, "rows": lines, "others": any(line["others"] for line in lines)}


def missing_by_group(summary: Entry) -> Entry:
    """The share of the largest classes that lacks each column; those that differ most first."""
    groups = [(n, c["rows"]) for n, c in enumerate(summary["table"]["classes"]) if c["rows"]]
    groups = sorted(sorted(groups, key=lambda g: -g[1])[:MOST_GROUPS])
    columns = [
        {"name": c["name"], "shares": [c["classes"][n]["missing"] / rows for n, rows in groups]}
        for c in summary["columns"]
        if c["missing"] and "classes" in c
    ]
    columns.sort(key=lambda c: min(c["shares"]) - max(c["shares"]))
    names = [summary["table"]["classes"][n]["name"] for n, _ in groups]
    return {"classes": names, "columns": columns[:MOST_APART]}


def missing_map(missing: Bools, names: list[str], shown: Ints) -> Entry:
    """The share of holes of each column in at most 120 bins of consecutive rows.

    >>> missing_map(np.array([[True], [False]]), ["a"], np.array([0]))["shares"]
    [[1.0, 0.0]]
    """
    size = -(-len(missing) // ROW_BINS)
    edges = np.append(np.arange(0, len(missing), size), len(missing))
    sums = np.add.reduceat(missing[:, shown], edges[:-1], axis=0, dtype=np.intp)
    shares = sums / np.diff(edges)[:, np.newaxis]
    return {
        "columns": [names[j] for j in shown],
        "edges": edges.tolist(),
        "shares": np.round(shares.T, 3).tolist(),
    }


@dataclass(frozen=True, eq=False)
class _Bins:
    """The bin of each row's filled value, and the labels and edges of the bins."""

    places: Ints
    labels: list[str]
    edges: list[float]


def column_entry(evidence: Evidence, j: int) -> Entry:
    """Everything about one column, in one pass over its cells."""
    field, missing = evidence.fields[j], evidence.table.missing[:, j]
    is_number = field.kind is Kind.NUMERIC
    bins = _number_bins(evidence.filled[:, j], missing) if is_number else _level_bins(evidence, j)
    entry: Entry = {
        "name": clean(field.name),
        "kind": field.kind.value,
        "unit": evidence.unit(j),
        "levels": len(field.levels),
        "missing": int(missing.sum()),
        "share": tidy(int(missing.sum()) / len(missing)),
        "filled": int(evidence.imputed[:, j].sum()),
        "identifier": bins.labels == [HIDDEN],
        "dropped": not bool(evidence.kept[j]),
        "edges": [tidy(edge) for edge in bins.edges],
        "bins": bins.labels,
    }
    entry |= _groups(evidence, j, bins, np.zeros(len(missing), dtype=np.intp), 1)[0]
    if evidence.classes is not None:
        names = evidence.classes.names
        parts = _groups(evidence, j, bins, evidence.classes.groups, len(names))
        holes = np.bincount(evidence.classes.groups, weights=missing, minlength=len(names))
        entry["classes"] = [
            {"name": name, "missing": int(n), **part}
            for name, n, part in zip(names, holes, parts, strict=True)
        ]
    return entry


def _groups(evidence: Evidence, j: int, bins: _Bins, groups: Ints, n_groups: int) -> list[Entry]:
    """Observed and imputed cells of each group of rows."""
    imputed = evidence.imputed[:, j]
    has_value = ~evidence.table.missing[:, j] | imputed
    sides, n_sides = 2 * groups[has_value] + imputed[has_value], 2 * n_groups
    n_bins = len(bins.labels)
    counts = np.bincount(sides * n_bins + bins.places[has_value], minlength=n_sides * n_bins)
    moments: list[Entry] = [{}] * n_sides
    if evidence.fields[j].kind is Kind.NUMERIC:
        moments = _moments(evidence.filled[has_value, j], sides, n_sides)
    parts = [
        {"count": int(row.sum()), "histogram": row.tolist(), **moment}
        for row, moment in zip(counts.reshape(n_sides, n_bins), moments, strict=True)
    ]
    return [{"observed": parts[2 * g], "imputed": parts[2 * g + 1]} for g in range(n_groups)]


def _moments(values: Floats, sides: Ints, n_sides: int) -> list[Entry]:
    """Mean and standard deviation (n − 1) of every side; centered first, to lose no digits.

    A power of two brings the values to at most 1/4: neither their range nor a square overflows.
    """
    n = np.bincount(sides, minlength=n_sides)
    size = math.frexp(np.abs(values).max(initial=0.0))[1] + 2
    values = np.ldexp(values, -size)
    center = float(values.mean()) if len(values) else 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = np.bincount(sides, weights=values - center, minlength=n_sides) / n
        squares = np.bincount(sides, (values - center - mean[sides]) ** 2, minlength=n_sides)
        sd = np.ldexp(np.sqrt(np.where(n > 1, squares / (n - 1), np.nan)), size)
        means = np.ldexp(mean + center, size)
    return [
        {"mean": tidy(m), "sd": tidy(s)} for m, s in zip(means.tolist(), sd.tolist(), strict=True)
    ]


def _number_bins(values: Floats, missing: Bools) -> _Bins:
    """Bins of equal width over the middle 99 % of the observed cells; the ends hold the tails."""
    observed = values[~missing] if not missing.all() else values[:1]
    low, high = 2 * np.quantile(observed / 2, [0.005, 0.995])  # a range of 2e308 would overflow
    if np.all(observed == np.rint(observed)) and max(abs(low), abs(high)) < EXACT_HALVES:
        width = max(1.0, np.ceil((high - low + 1) / N_BINS))
        edges = np.arange(np.floor(low) - 0.5, np.ceil(high) + width, width)
    elif high > low:
        edges = 2 * np.linspace(low / 2, high / 2, N_BINS + 1)
    else:
        margin = max(0.5, float(np.spacing(abs(high))))
        edges = np.array([low - margin, high + margin])
    places = np.searchsorted(edges[1:-1], values, side="right")
    return _Bins(places.astype(np.intp), [""] * (len(edges) - 1), edges.tolist())


def is_identifier(evidence: Evidence, j: int) -> bool:
    """Whether most values of a column of levels are unlike each other."""
    if evidence.fields[j].kind is Kind.NUMERIC:
        return False
    sizes = _level_sizes(evidence, j)
    n_used = int((sizes > 0).sum())
    return n_used > IDENTIFIER_LEVELS and 2 * n_used > int(sizes.sum())


def _level_sizes(evidence: Evidence, j: int) -> Ints:
    """How often each level was observed."""
    codes = evidence.filled[:, j].astype(np.intp)
    observed = codes[~evidence.table.missing[:, j] & (codes >= 0)]
    return np.bincount(observed, minlength=max(len(evidence.fields[j].levels), 1))


def _level_bins(evidence: Evidence, j: int) -> _Bins:
    """One bin for each frequent level and one for the others; ordered levels stay in order.

    A column in which most values are unlike each other is an identifier or free text: its values
    are not shown.
    """
    field, codes = evidence.fields[j], evidence.filled[:, j].astype(np.intp)
    if is_identifier(evidence, j):
        return _Bins(np.zeros(len(codes), dtype=np.intp), [HIDDEN], [])
    sizes = _level_sizes(evidence, j)
    in_order = field.kind is Kind.ORDINAL and len(field.levels) <= MOST_LEVELS_IN_ORDER
    by_size = np.argsort(-sizes, kind="stable")[:TOP_LEVELS]
    shown = np.arange(len(field.levels)) if in_order else by_size[sizes[by_size] > 0]
    place = np.full(len(sizes) + 1, len(shown), dtype=np.intp)
    place[shown] = np.arange(len(shown))
    levels = frames.cell_values(shown.astype(np.float64), field)
    labels = [clean(level, most=60) for level in levels]
    places = place[codes]
    has_rest = not labels or bool((places == len(shown)).any())
    return _Bins(places, labels + [OTHER] * has_rest, [])


def uncertain_cells(imputer: Any, evidence: Evidence, lines: Sequence[int] | None = None) -> Entry:
    """The most uncertain cells, or the reason why there are none to name."""
    spreads = getattr(imputer, "cell_spreads_", None)
    if spreads is None:
        return {"note": NO_SPREADS, "cells": []}
    rows, columns, values = (np.asarray(part) for part in spreads)
    n_rows, n_columns = evidence.imputed.shape
    is_outside = bool(len(rows)) and (rows.max() >= n_rows or columns.max() >= n_columns)
    if is_outside or not evidence.imputed[rows, columns].all():
        return {"note": OTHER_ROWS, "cells": []}
    order = np.argsort(-values, kind="stable")[:MOST_CELLS]
    picked = zip(rows[order].tolist(), columns[order].tolist(), values[order].tolist(), strict=True)
    cells = [_cell(imputer, evidence, *cell) for cell in picked]
    for place in (part for cell in cells for part in (cell, *cell["donors"])):
        if lines is not None:
            place["line"] = int(lines[place["row"]])
    return {"note": None, "cells": cells}


def _cell(imputer: Any, evidence: Evidence, row: int, column: int, spread: float) -> Entry:
    is_number = evidence.fields[column].kind is Kind.NUMERIC
    observed = evidence.filled[~evidence.table.missing[:, column], column]
    width = float(observed.max()) - float(observed.min()) if len(observed) else 1.0
    return {
        "row": row,
        "column": clean(evidence.fields[column].name),
        "value": HIDDEN if is_identifier(evidence, column) else shown_value(evidence, row, column),
        "uncertainty": tidy(spread),
        "spread": tidy(spread * width) if is_number else None,
        "unit": evidence.unit(column),
        "votes": None if is_number else tidy(1.0 - spread),
        **_reasons(imputer, row, column),
    }


def shown_value(evidence: Evidence, row: int, column: int) -> str:
    """One filled cell as text."""
    field, value = evidence.fields[column], float(evidence.filled[row, column])
    if field.kind is Kind.NUMERIC:
        return value_in(value, evidence.unit(column))
    if not 0 <= value < len(field.levels):
        return OTHER
    return clean(frames.cell_values(np.array([value]), field)[0], most=60)


def _reasons(imputer: Any, row: int, column: int) -> Entry:
    """The donors of a cell, and what the columns of a regression added; nothing if not kept."""
    effects: list[Entry] = []
    try:
        if hasattr(imputer, "explain"):
            why = imputer.explain(row, column, MOST_DONORS)
            donors = zip(why.rows, why.distances, why.weights, strict=True)
            effects = [
                {"name": clean(name), "effect": tidy(effect), "unit": why.unit}
                for name, effect in why.strongest()
            ]
        elif hasattr(imputer, "donors_of"):
            found = imputer.donors_of(row, column)
            donors = zip(found["rows"], found["distances"], found["weights"], strict=True)
        else:
            return {"donors": [], "effects": []}
    except InvalidDataError:
        return {"donors": [], "effects": []}
    listed = [
        {"row": int(donor), "distance": tidy(float(distance)), "weight": tidy(float(weight))}
        for donor, distance, weight in list(donors)[:MOST_DONORS]
    ]
    return {"donors": listed, "effects": effects}


def describe_cells(side: Entry, column: Entry) -> str:
    """The observed or the imputed cells of a column in a few words.

    >>> describe_cells({"count": 2, "mean": 1.5, "sd": 0.5}, {"kind": "numeric", "unit": "number"})
    '1.5 ± 0.5'
    >>> column = {"kind": "categorical", "bins": ["no", "yes"]}
    >>> describe_cells({"count": 4, "histogram": [1, 3]}, column)
    'yes (75.0 %)'
    >>> describe_cells({"count": 4, "histogram": [4]}, {"kind": "categorical", "bins": [OTHER]})
    '(values not shown)'
    """
    if side["count"] == 0:
        return "–"
    if column["kind"] == "numeric":
        mean, sd = value_in(side["mean"], column["unit"]), side["sd"]
        return mean if sd is None else f"{mean} ± {spread_in(sd, column['unit'])}"
    if column["bins"] in ([OTHER], [HIDDEN]):  # left alone, or an identifier
        return HIDDEN
    bins = zip(side["histogram"], column["bins"], strict=True)
    named = [-1 if label == OTHER else n for n, label in bins]
    most = int(np.argmax(named))
    label = isolated(shorten(column["bins"][most], 24))
    return f"{label} ({share(side['histogram'][most] / side['count'])})"
