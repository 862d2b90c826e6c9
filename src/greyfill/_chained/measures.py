"""What MissForest measures of a table: typical values, differences, out-of-bag errors."""

from collections.abc import Mapping

import numpy as np

from greyfill._chained.methods import settle
from greyfill.table import Floats, Kind, Table

Differences = dict[str, float]
"""How far one pass moved the fills, for each type of column that is present."""


def typical_values(table: Table) -> Floats:
    """Mean of numbers, rounded mean rank of ordinals, mode of categories (smallest of ties)."""
    observed = ~table.missing
    counts = np.maximum(observed.sum(axis=0), 1)
    with np.errstate(over="ignore"):  # thirds of the largest float add up to more than it
        typical = np.where(observed, table.values / counts, 0.0).sum(axis=0)
    largest = np.where(observed, np.abs(table.values), 0.0).max(axis=0, initial=0.0)
    typical = np.clip(typical, -largest, largest)
    for j, column in enumerate(table.columns):
        if column.kind is Kind.CATEGORICAL:
            codes = table.values[observed[:, j], j].astype(np.intp)
            typical[j] = np.bincount(codes).argmax() if len(codes) else 0.0
        else:
            typical[j] = settle(column, typical[j])
    return np.asarray(typical)


def differences(new: Floats, old: Floats, table: Table) -> Differences:
    """Δ of numbers = Σ(new − old)² / Σ new²; Δ of categories = share of holes that changed."""
    moved: Differences = {}
    categorical = table.is_categorical
    if (~categorical).any():
        size = np.abs(new[:, ~categorical]).max(initial=0.0) or 1.0
        now, was = new[:, ~categorical] / size, old[:, ~categorical] / size
        moved["numeric"] = float(((now - was) ** 2).sum() / ((now**2).sum() or 1.0))
    if categorical.any():
        holes = max(int(table.missing[:, categorical].sum()), 1)
        moved["categorical"] = float((new[:, categorical] != old[:, categorical]).sum() / holes)
    return moved


def overall_error(table: Table, errors: Mapping[int, float]) -> dict[str, float]:
    """NRMSE and PFC over the columns that have an error.

    ``errors`` are root mean squares in units of the column, or shares of wrong categories.

    NRMSE = √(mean of the columns' mean square errors / variance of their observed cells)
    PFC = mean of the columns' shares of wrong categories
    """
    holed = np.array(sorted(errors), dtype=np.intp)
    by_column = np.array([errors[j] for j in holed.tolist()])
    categorical = table.is_categorical[holed]
    overall = {}
    if not categorical.all():
        numbers = table.select(holed[~categorical])
        overall["NRMSE"] = _nrmse(by_column[~categorical], numbers)
    if categorical.any():
        overall["PFC"] = float(by_column[categorical].mean())
    return overall


def _nrmse(errors: Floats, table: Table) -> float:
    observed = table.values[~table.missing]
    size = np.abs(observed).max() or 1.0
    spread = (observed / size).var(ddof=1) if len(observed) > 1 else 0.0
    mean_square = float(((errors / size) ** 2).mean())
    return float(np.sqrt(mean_square / spread)) if spread > 0.0 else 0.0
