"""The numbers of each column: holes, and observed against imputed cells, over all and by class."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill.report.reading import Evidence
from greyfill.report.text import clean, tidy
from greyfill.table import Bools, Floats, Ints, Kind

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
