"""Both tables as numbers, and the facts a fitted imputer keeps: weights, k, passes, settings."""

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from greyfill import frames
from greyfill.checks import check_fitted
from greyfill.exceptions import InvalidDataError
from greyfill.frames import Family, Field, Schema
from greyfill.table import Bools, Floats, Ints, Kind, Table
from greyfill.targets import Meaning, read_target
from greyfill.text import clean, tidy

MATTERS = 0.05
"""A cell that still moves by so much of the range of its column has no value yet."""
MOST_CLASSES = 8
MOST_TARGETS = 50
MOST_SERIES = 6
TOP_WEIGHTS = 3
SMALLER, NO_LABEL = "(smaller classes)", "(no label)"
PACKAGES = ("greyfill", "numpy", "scipy", "scikit-learn", "numba", "narwhals", "matplotlib")
UNITS = {
    Family.DATE: "date",
    Family.DATETIME: "datetime",
    Family.TIME: "time",
    Family.DURATION: "duration",
}


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each row: codes (−1: no label), and the few groups that a report shows.

    ``groups[i]`` is the place of row i's group in ``names``; small classes share a group.
    """

    codes: Ints
    labels: tuple[str, ...]
    groups: Ints
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A table with holes, the same table filled, and which cells the imputer filled.

    Dates, times and durations are in seconds. ``kept`` marks the columns that were not dropped.
    """

    fields: tuple[Field, ...]
    table: Table
    filled: Floats
    imputed: Bools
    kept: Bools
    classes: Classes | None

    @property
    def names(self) -> list[str]:
        """The names of the columns, safe to print."""
        return [clean(field.name) for field in self.fields]

    def unit(self, column: int) -> str:
        """What the numbers of a column count: plain numbers, or seconds of some sort."""
        return unit_of(self.fields[column])


def unit_of(field: Field) -> str:
    """What the numbers of a column count; levels have codes, even those of dates."""
    return UNITS.get(field.family, "number") if field.kind is Kind.NUMERIC else "number"


def read_evidence(imputer: Any, X: Any, filled: Any, y: Any = None) -> Evidence:
    """Encode what came in and what came out by the schema that the imputer learned in ``fit``."""
    check_fitted(imputer)
    schema: Schema = imputer.schema_
    table, _ = frames.encode(X, schema=schema)
    after, kept = _encode_filled(imputer, schema, filled, table)
    if after.n_rows != table.n_rows:
        raise InvalidDataError(
            f"X has {table.n_rows} rows, but filled has {after.n_rows}: pass the table that came "
            "out of the imputer for this X"
        )
    values, holes, n_kept = table.values.copy(), table.missing.copy(), int(kept.sum())
    values[:, kept] = after.values[:, :n_kept]  # the columns after them are indicators of holes
    holes[:, kept] &= after.missing[:, :n_kept]
    seconds = np.array([1.0 if unit_of(f) == "number" else 1e-6 for f in schema.fields])
    return Evidence(
        fields=schema.fields,
        table=table.with_values(table.values * seconds),
        filled=values * seconds,
        imputed=table.missing & ~holes,
        kept=kept,
        classes=None if y is None else _read_classes(imputer, y, table.n_rows),
    )


def _encode_filled(imputer: Any, schema: Schema, filled: Any, before: Table) -> tuple[Table, Bools]:
    """The filled table without the columns that were dropped, and which columns were not."""
    out = [str(name) for name in imputer.get_feature_names_out()]
    kept = np.isin(schema.names, out)
    if not out:  # all columns were empty and dropped; a frame without columns has no rows either
        return before.select(kept), kept
    shape = frames.open_table(filled).shape
    if shape[1] != len(out):
        raise InvalidDataError(
            f"filled has {shape[1]} columns, but the imputer gives {len(out)}: pass what its "
            "transform or fit_transform returned"
        )
    flags = [Field(name, Kind.NUMERIC, Family.FLOAT) for name in out[int(kept.sum()) :]]
    fields = [field for field, wanted in zip(schema.fields, kept, strict=True) if wanted]
    table, _ = frames.encode(filled, schema=Schema((*fields, *flags)))
    return table, kept


def _read_classes(imputer: Any, y: Any, n_rows: int) -> Classes | None:
    """The classes of the rows as the imputer reads y; None where it has none."""
    from sklearn.utils import get_tags  # takes its time, which inspect does not need

    target = read_target(y, needs_classes=get_tags(imputer).target_tags.required)
    codes, labels = target.codes, target.classes
    if len(codes) != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, but y has {len(codes)} labels")
    if target.meaning is not Meaning.CLASSES:
        return None
    sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    names = [clean(labels[code], most=60) for code in shown]
    place = np.full(len(labels) + 1, -1)
    place[shown] = np.arange(len(shown))
    groups = place[codes]
    for name, rows in ((SMALLER, (groups < 0) & (codes >= 0)), (NO_LABEL, codes < 0)):
        if rows.any():
            groups[rows] = len(names)
            names.append(name)
    return Classes(codes, tuple(clean(label, most=60) for label in labels), groups, tuple(names))


def column_names(imputer: Any) -> list[str]:
    """The names of the columns that ``fit`` saw."""
    known = getattr(imputer, "feature_names_in_", None)
    names = [f"x{j}" for j in range(imputer.n_features_in_)] if known is None else list(known)
    return [clean(name) for name in names]


def relevance(imputer: Any, names: list[str], bits: Floats | None = None) -> dict[str, Any]:
    """The weight λ of each column in the distance, and its information about the class in bits.

    Where each target column has weights of its own, λ is their mean, and the three weightiest
    columns of each target are listed too.
    """
    weights = getattr(imputer, "feature_weights_", None)
    rows = None if weights is None else np.atleast_2d(np.asarray(weights, dtype=np.float64))
    overall = None if rows is None or len(rows) == 0 else rows.mean(axis=0)
    targets = getattr(imputer, "weighted_columns_", None)
    listed = [] if rows is None or targets is None else list(zip(targets, rows, strict=True))
    return {
        "columns": [
            {
                "name": name,
                "weight": None if overall is None else tidy(overall[j]),
                "bits": None if bits is None else tidy(bits[j]),
            }
            for j, name in enumerate(names)
        ],
        "equal": overall is not None and targets is None and bool(np.ptp(overall) < 1e-12),
        "targets": [
            {
                "name": names[target],
                "top": [
                    {"name": names[j], "weight": tidy(row[j])}
                    for j in np.argsort(-row, kind="stable")[:TOP_WEIGHTS]
                    if row[j] > 0
                ],
            }
            for target, row in listed[:MOST_TARGETS]
        ],
    }


def k_curve(imputer: Any) -> dict[str, Any]:
    """The k in use, and the error of every k that was tried."""
    scores: dict[int, float] = getattr(imputer, "k_scores_", {})
    return {
        "chosen": getattr(imputer, "n_neighbors_", None),
        "asked": _plain(getattr(imputer, "n_neighbors", None)),
        "scores": [{"k": int(k), "error": tidy(error)} for k, error in scores.items()],
    }


def selection(imputer: Any) -> list[dict[str, Any]]:
    """How each column is filled by an imputer that tunes every column, and its error there."""
    chosen: dict[str, dict[str, Any]] = getattr(imputer, "selection_", {})
    return [
        {
            "name": clean(name),
            "error": tidy(how["error"]),
            "unit": how["unit"],
            "tried": len(how["tried"]),
            "panel": [clean(way) for way in how["panel"]],
        }
        for name, how in list(chosen.items())[:MOST_TARGETS]
    ]


def still_moving(imputer: Any) -> float | None:
    """How far cells moved in the last of some passes that did not settle; None if that is little.

    That is the share of the range of a column, and 1 for a changed category; of forests the root
    mean squared change of numbers, as a share of their size, or the share of changed categories.
    """
    history = getattr(imputer, "history_", None)
    if getattr(imputer, "converged_", None) is not False or not history:
        return None
    last = history[-1] if isinstance(history[-1], dict) else {"cells": history[-1]}
    moved = max(v**0.5 if name == "numeric" else v for name, v in last.items())
    return float(moved) if moved > MATTERS else None


def convergence(imputer: Any) -> dict[str, Any]:
    """Passes, and one or more series with a number for each pass."""
    history = getattr(imputer, "history_", [])
    tol, converged = getattr(imputer, "tol", None), getattr(imputer, "converged_", None)
    return {
        "passes": getattr(imputer, "n_iter_", None),
        "converged": None if converged is None else bool(converged),
        "moving": still_moving(imputer),
        "tol": tidy(tol) if tol is not None else None,
        "kind": "drift" if isinstance(history, dict) else "change",
        "series": _series(history, getattr(imputer, "imputed_counts_", {})),
    }


def _series(history: Any, counts: dict[str, int]) -> list[dict[str, Any]]:
    if isinstance(history, dict):
        most_filled = sorted(history, key=lambda name: -counts.get(name, 0))[:MOST_SERIES]
        return [_drift(clean(name), history[name]) for name in most_filled]
    if history and isinstance(history[0], dict):
        series = [(name, [p[name] for p in history]) for name in history[0]]
    else:
        series = [("largest change", list(history))] if history else []
    cleaned = ((name, [tidy(v) for v in values]) for name, values in series)
    return [
        {"name": name, "values": values}
        for name, values in cleaned
        if any(v is not None for v in values)
    ]


def _drift(name: str, traces: dict[str, Floats]) -> dict[str, Any]:
    """The mean of a column's imputed values in each pass, in deviations from the last pass."""
    means = np.asarray(traces["mean"]).mean(axis=0)
    scale = float(np.nanmean(traces["sd"])) or 1.0
    return {"name": name, "values": [tidy(v) for v in (means - means[-1]) / scale]}


def settings(imputer: Any) -> dict[str, Any]:
    """The parameters of the imputer."""
    return {name: _plain(value) for name, value in imputer.get_params(deep=False).items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return clean(value) if isinstance(value, str) else value
    return tidy(value) if isinstance(value, float) else clean(repr(value))


def versions() -> dict[str, str]:
    """The versions of what did the work."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
