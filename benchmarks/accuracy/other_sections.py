"""The parts of the page on accuracies of classifiers, on intervals and on the simulations."""

from typing import Any

import cases
import numpy as np
import ranking
import tables
from errors_section import SEEDS
from text import number, probability, table

from greyfill.evaluation.protocols import CLASSIFIERS

Rows = list[dict[str, Any]]
NATIVE, INDICATOR = "native", "mean + indicator"
TITLES = {
    "cubes": "four cubes, MCAR, RMSE of x1",
    "gaussian": "normal classes, MAR, NRMSE",
}


def classes_section(rows: Rows, flagship: str) -> list[str]:
    """``rows`` are results of the task "classes"; those with seeds for tuning do not count."""
    rows = [row for row in rows if row["seed"] in SEEDS]
    honest, paper = (_board(rows, protocol) for protocol in ("honest", "paper"))
    if flagship not in honest.methods:
        return []
    honest = honest.known_to(flagship)
    return [
        "## Accuracy of classifiers",
        "",
        "Honest: in each of five folds the imputer learns from the training rows and fills the "
        "test rows without their labels. Paper: the whole table is filled with all labels before "
        "it is cut, so the labels of the test rows leak into their cells. Mean accuracy over the "
        "tables "
        f"({_extent(rows)}), and the mean rank of the imputers over tables, scenarios and "
        "classifiers by the honest accuracy.",
        "",
        *_accuracies(honest, paper),
        *_against_no_imputation(honest, flagship),
    ]


def _board(rows: Rows, protocol: str) -> ranking.Board:
    """A case is a table, a scenario and a classifier."""
    spread = [
        {**row, "scenario": f"{row['scenario']} {name}", "accuracy": row[f"{protocol} {name}"]}
        for row in rows
        for name in CLASSIFIERS
        if f"{protocol} {name}" in row
    ]
    seeds = sorted({row["seed"] for row in rows})
    scenarios = sorted({row["scenario"] for row in spread})
    return ranking.board(spread, seeds, tables.RANKED, "accuracy", scenarios)


def _extent(rows: Rows) -> str:
    names = {row["table"] for row in rows}
    scenarios = [cases.TITLES[s] for s in cases.SCENARIOS if any(r["scenario"] == s for r in rows)]
    n_seeds = len({row["seed"] for row in rows})
    seeds = "one seed" if n_seeds == 1 else f"{n_seeds} seeds"
    return f"{len(names)} tables, {', '.join(scenarios)}, {seeds}"


def _accuracies(honest: ranking.Board, paper: ranking.Board) -> list[str]:
    imputers = [name for name in honest.methods if name != NATIVE]
    ranks = honest.only(imputers).ranks(higher_is_better=True)
    lines = []
    for name in sorted(honest.methods, key=lambda name: ranks.get(name, np.inf)):
        means = [
            number(_mean(board, name, classifier), 3)
            for board in (honest, paper)
            for classifier in CLASSIFIERS
        ]
        lines.append((name, number(ranks.get(name, float("nan")), 2), *means))
    short = [name.replace("_", " ") for name in CLASSIFIERS]
    heads = [
        "imputer",
        "mean rank",
        *(f"honest, {c}" for c in short),
        *(f"paper, {c}" for c in short),
    ]
    return table(heads, lines)


def _mean(board: ranking.Board, method: str, classifier: str) -> float:
    """Over the cases of a classifier that are complete for the method."""
    if method not in board.methods:
        return float("nan")
    here = [i for i, case in enumerate(board.cases) if case[1].endswith(classifier)]
    means = board.only([method]).means()[here, 0]
    return float(means.mean())


def _against_no_imputation(board: ranking.Board, flagship: str) -> list[str]:
    found = {d.rival: d for d in ranking.duels(board, flagship, higher_is_better=True)}
    boosting = [i for i, case in enumerate(board.cases) if case[1].endswith("gradient_boosting")]
    boosted = ranking.Board(
        board.methods, [board.cases[i] for i in boosting], board.scores[boosting]
    )
    if NATIVE in board.methods:
        pair = boosted.only([flagship, NATIVE])
        found["native-NaN gradient boosting"] = ranking.duels(pair, flagship, True)[0]
    found.pop(NATIVE, None)
    lines = [
        (name, d.n_cases, d.wins, number(d.ratio, 3), probability(d.p_holm))
        for name, d in found.items()
    ]
    heads = ("against", "cases", f"{flagship} better in", "ratio of accuracies", "p (Holm)")
    return [
        f"{flagship} against each, by the honest accuracy; against gradient boosting that takes "
        "holes as they are, with gradient boosting on its fills (one test, not corrected).",
        "",
        *table(heads, lines),
    ]


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
        f"Mean over {n_seeds} seeds, in parentheses as a multiple of the oracle's, which knows the "
        "cube of each row, or the class's true mean and correlations.",
        "",
        *table(heads, lines),
    ]


def coverage_section(rows: Rows) -> list[str]:
    """``rows`` are results of the task "coverage"."""
    if not rows:
        return []
    lines = []
    for scenario in (*cases.SCENARIOS, ""):
        here = [row for row in rows if not scenario or row["scenario"] == scenario]
        if here:
            shares = [_share(here, name) for name in ("all", "numbers", "categories", "width")]
            lines.append((cases.TITLES.get(scenario, "all"), len(here), *shares))
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
