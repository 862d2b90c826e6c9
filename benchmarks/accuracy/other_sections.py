"""The parts of the page on intervals and on the simulations."""

from typing import Any

import cases
import numpy as np
from text import counted, number, table

Rows = list[dict[str, Any]]
TITLES = {
    "cubes": "four cubes, MCAR, RMSE of x1",
    "gaussian": "normal classes, MAR, NRMSE",
}


def simulations_section(rows: Rows) -> list[str]:
    """``rows`` are results of the task "simulation"; methods with fewer seeds are left out."""
    found: dict[str, dict[tuple[str, str], list[float]]] = {}
    for row in rows:
        case = row["table"], row["scenario"]
        found.setdefault(row["method"], {}).setdefault(case, []).append(row["error_of_cells"])
    if not found:
        return []
    settings = sorted({case for by_case in found.values() for case in by_case})
    n_seeds = max(len(errors) for by_case in found.values() for errors in by_case.values())
    lines = []
    for name, by_case in found.items():
        if all(len(by_case.get(case, [])) == n_seeds for case in settings):
            means = [float(np.mean(by_case[case])) for case in settings]
            ratios = [m / np.mean(found["oracle"][c]) for m, c in zip(means, settings, strict=True)]
            cells = [f"{number(m)} ({r:.2f})" for m, r in zip(means, ratios, strict=True)]
            lines.append((name.replace("_", " "), *cells))
    heads = ("method", *(f"{TITLES[name]}, {rate}" for name, rate in settings))
    return [
        "## Simulations",
        "",
        "The paper's two: *four cubes*, whose rows lie in one of four cubes, with holes completely "
        "at random in x1; *normal classes*, each with a mean and correlations of its own, with "
        "holes at random in x4 and x5. "
        f"Mean over {n_seeds} seeds, in parentheses as a multiple of the oracle's, which knows the "
        "cube of each row, or the class's true mean and correlations.",
        "",
        *table(heads, lines),
    ]


def _extent(rows: Rows) -> str:
    names = {row["table"] for row in rows}
    scenarios = [cases.ALL_TITLES[s] for s in cases.ALL if any(r["scenario"] == s for r in rows)]
    seeds = counted(len({row["seed"] for row in rows}), "seed")
    return f"{len(names)} tables, {', '.join(scenarios)}, {seeds}"


def coverage_section(rows: Rows) -> list[str]:
    """``rows`` are results of the task "coverage"."""
    if not rows:
        return []
    lines = []
    for scenario in (*cases.ALL, ""):
        here = [row for row in rows if not scenario or row["scenario"] == scenario]
        if here:
            shares = [_share(here, name) for name in ("all", "numbers", "categories", "width")]
            lines.append((cases.ALL_TITLES.get(scenario, "all"), len(here), *shares))
    heads = ("scenario", "cases", "cells", "numbers and ranks", "categories", "width of numbers")
    return [
        "## 90 % intervals",
        "",
        "The share of hidden cells that `GreyImputer.intervals(X, y, level=0.9)` holds, the mean "
        f"over cases ({_extent(rows)}), and the mean width of the limits of numbers, in shares "
        "of the column's range. MAR hides cells that are not like the observed ones, which the "
        "intervals know only the errors of.",
        "",
        *table(heads, lines),
        f"By table: {_by_table(rows)}. A set always holds the most probable level, so that nearly "
        "certain categories are held more often than promised.",
        "",
    ]


def _by_table(rows: Rows) -> str:
    names = dict.fromkeys(row["table"] for row in rows)
    here = {name: [row for row in rows if row["table"] == name] for name in names}
    return ", ".join(f"{name} {_share(some, 'all')}" for name, some in here.items())


def _share(rows: Rows, name: str) -> str:
    found = [row[name] for row in rows if not np.isnan(row[name])]
    return f"{100 * np.mean(found):.1f} %" if found else "–"
