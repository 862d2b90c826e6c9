"""The cells of a column in a few words."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill import text
from greyfill.exceptions import InvalidDataError
from greyfill.report.evidence import Evidence
from greyfill.table import Bools, Floats, Ints, Kind
from greyfill.text import clean, tidy, value_in

MOST_PATTERNS = 20
MOST_NAMES = 30
ROW_BINS = 120


def patterns(missing: Bools, names: list[str]) -> dict[str, Any]:
    """The most frequent sets of columns that miss in the same row; the empty set is complete rows.

    >>> holes = np.array([[0, 1], [0, 1], [0, 0], [1, 1]], dtype=bool)
    >>> [(p["columns"], p["rows"]) for p in patterns(holes, ["a", "b"])["top"]]
    [(['b'], 2), ([], 1), (['a', 'b'], 1)]
    """
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))[:MOST_PATTERNS]
    return {
        "count": len(counts),
        "rows_left_out": int(counts.sum() - counts[order].sum()),
        "top": [_pattern(missing[first[i]], int(counts[i]), len(missing), names) for i in order],
    }


def _pattern(holes: Bools, n_rows: int, of: int, names: list[str]) -> dict[str, Any]:
    places = np.flatnonzero(holes)
    return {
        "columns": [names[j] for j in places[:MOST_NAMES]],
        "n_columns": len(places),
        "rows": n_rows,
        "share": tidy(n_rows / of),
    }


def missing_map(missing: Bools, names: list[str], shown: Ints) -> dict[str, Any]:
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


N_BINS = 20
EXACT_HALVES = 2.0**51
"""Below it, half a unit to either side of a whole number is exact."""
TOP_LEVELS = 6
OTHER, HIDDEN = "(other)", "(values not shown)"
MOST_LEVELS_IN_ORDER = 12
IDENTIFIER_LEVELS = 20
Entry = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Bins:
    """The bin of each row's filled value, and how the bins are called."""

    places: Ints
    labels: list[str]
    edges: list[float]


def column_entry(evidence: Evidence, j: int) -> Entry:
    """Everything about one column, in one pass over its cells."""
    field = evidence.fields[j]
    missing, values = evidence.table.missing[:, j], evidence.filled[:, j]
    n_rows, holes = len(missing), int(missing.sum())
    is_number = field.kind is Kind.NUMERIC
    bins = _number_bins(values, missing) if is_number else _level_bins(evidence, j)
    entry: Entry = {
        "name": clean(field.name),
        "kind": field.kind.value,
        "unit": evidence.unit(j),
        "levels": len(field.levels),
        "missing": holes,
        "share": tidy(holes / n_rows),
        "filled": int(evidence.imputed[:, j].sum()),
        "identifier": bins.labels == [HIDDEN],
        "dropped": not bool(evidence.kept[j]),
        "edges": [tidy(edge) for edge in bins.edges],
        "bins": bins.labels,
    }
    groups = np.zeros(n_rows, dtype=np.intp)
    entry |= _groups(evidence, j, bins, groups, 1)[0]
    if evidence.classes is not None:
        names = evidence.classes.names
        parts = _groups(evidence, j, bins, evidence.classes.groups, len(names))
        rows = np.bincount(evidence.classes.groups, weights=missing, minlength=len(names))
        entry["classes"] = [
            {"name": name, "missing": int(lost), **part}
            for name, lost, part in zip(names, rows, parts, strict=True)
        ]
    return entry


def _groups(evidence: Evidence, j: int, bins: _Bins, groups: Ints, n_groups: int) -> list[Entry]:
    """Observed and imputed cells of each group of rows."""
    imputed = evidence.imputed[:, j]
    told = ~evidence.table.missing[:, j] | imputed
    sides = 2 * groups[told] + imputed[told]
    counts = _counts(sides, bins.places[told], 2 * n_groups, len(bins.labels))
    moments: list[Entry] = [{} for _ in range(2 * n_groups)]
    if evidence.fields[j].kind is Kind.NUMERIC:
        moments = _moments(evidence.filled[told, j], sides, 2 * n_groups)
    parts = [
        {"count": int(row.sum()), "histogram": row.tolist(), **moment}
        for row, moment in zip(counts, moments, strict=True)
    ]
    return [{"observed": parts[2 * g], "imputed": parts[2 * g + 1]} for g in range(n_groups)]


def _counts(sides: Ints, places: Ints, n_sides: int, n_bins: int) -> Ints:
    flat = np.bincount(sides * n_bins + places, minlength=n_sides * n_bins)
    return flat.reshape(n_sides, n_bins)


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
    labels = [clean(field.levels[code], most=60) for code in shown]
    places = place[codes]
    has_rest = not labels or bool((places == len(shown)).any())
    return _Bins(places, labels + [OTHER] * has_rest, [])


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


def tell(side: dict[str, Any], column: dict[str, Any]) -> str:
    """The observed or the imputed cells of a column in a few words.

    >>> tell({"count": 2, "mean": 1.5, "sd": 0.5}, {"kind": "numeric", "unit": "number"})
    '1.5 ± 0.5'
    >>> tell({"count": 4, "histogram": [1, 3]}, {"kind": "categorical", "bins": ["no", "yes"]})
    'yes (75.0 %)'
    """
    if side["count"] == 0:
        return "–"
    if column["kind"] == "numeric":
        mean, sd = text.value_in(side["mean"], column["unit"]), side["sd"]
        return mean if sd is None else f"{mean} ± {text.spread_in(sd, column['unit'])}"
    named = [
        n if label != OTHER else -1
        for n, label in zip(side["histogram"], column["bins"], strict=True)
    ]
    most = max(range(len(named)), key=named.__getitem__)
    label = text.isolated(text.shorten(column["bins"][most], 24))
    return f"{label} ({text.share(side['histogram'][most] / side['count'])})"
