"""The parts of the page on errors of cells and on draws: ranks, tests, and all figures."""

from collections.abc import Iterable, Sequence
from typing import Any

import cases
import numpy as np
import ranking
import tables
from methods import BY_DEFAULT, DRAWS, OURS, PEERS, sees_class
from standing import HOW, against_best, by_scenario, matrix, standing
from text import listed, number, table

Rows = list[dict[str, Any]]
BLIND = "GreyImputer without y"
"""The one that methods without the class are held to."""
OTHERS = " from other packages"


def section(rows: Rows, flagship: str, seeds: Sequence[int]) -> list[str]:
    """``rows`` are results of the task "cells"; ``flagship`` is one that sees the class."""
    whole, energy = (
        ranking.board(rows, seeds, tables.RANKED, score, cases.ALL) for score in ("nrmse", "energy")
    )
    board = whole.only(name for name in whole.methods if name != BY_DEFAULT)
    return [
        "## Errors of imputed cells",
        "",
        f"{HOW} Methods that are given the class of each row and those that are not are ranked "
        f"apart. Numeric tables have numbers alone. With {len(tables.RANKED)} tables no p-value "
        f"can be below {2 / 2 ** len(tables.RANKED):.4f} before the correction.",
        "",
        *_both(board, flagship),
        *by_scenario(_part(board, sees=True), flagship, cases.ALL_TITLES),
        *by_scenario(_part(board, sees=False), BLIND, cases.ALL_TITLES),
        *against_best(board, flagship, list(PEERS), OTHERS),
        *against_best(board, BLIND, [name for name in PEERS if not sees_class(name)], OTHERS),
        *_by_default(whole),
        "## Distance between filled and true tables",
        "",
        "The energy distance √(2 E|X − Y| − E|X − X′| − E|Y − Y′|) between the rows of the filled "
        "and of the true table, numbers on [0, 1] and two levels of a category 1 apart: fills that "
        "all lie near the mean are near the truth cell by cell, but are another distribution. "
        "Ranked and tested as above.",
        "",
        *_both(energy.only(board.methods), flagship),
        *_whole_bank(rows, flagship, seeds),
        *_all_figures(whole),
    ]


def draws_section(rows: Rows, flagship: str, seeds: Sequence[int]) -> list[str]:
    """``rows`` are results of the task "draws"."""
    boards = {
        title: ranking.board(rows, seeds, tables.RANKED, score, cases.ALL)
        for title, score in (("CRPS", "crps"), ("Energy distance of a drawn table", "energy"))
    }
    lines = [
        "## Draws",
        "",
        f"Methods that give several data sets, {DRAWS} of each. CRPS of a hidden cell is "
        "E|X − t| − ½ E|X − X′| over different draws X, X′ and the truth t, on the scale of the "
        "errors above (of a category half of Brier's score): it rewards draws that are near the "
        "truth and as uncertain as they are wrong. The mean over the hidden cells, ranked and "
        f"tested as above. Seeds of draws: {_seeds(rows)}. A peer with fewer tables than the "
        "others was stopped by its limit, or for want of time.",
        "",
    ]
    for title, board in boards.items():
        lines += [f"### {title}", "", *_both(board, flagship)] if board.methods else []
    return lines if boards["CRPS"].methods else []


def _seeds(rows: Rows) -> str:
    return ", ".join(map(str, sorted({row["seed"] for row in rows})))


def shifts() -> list[str]:
    """How far hidden cells lie from shown ones, in each table and scenario."""
    found = {
        name: {scenario: cases.make(name, scenario, 0).shift() for scenario in cases.ALL}
        for name in tables.RANKED
    }
    lines = [
        (name, *(number(shift, 2) for shift in by_scenario.values()))
        for name, by_scenario in found.items()
        if not np.isnan(list(by_scenario.values())).any()
    ]
    means = [np.nanmean([found[name][scenario] for name in found]) for scenario in cases.ALL]
    lines.append(("mean", *(number(float(mean), 2) for mean in means)))
    return [
        "Hidden cells against shown ones: the difference of their means in standard deviations, "
        "the mean over the numeric columns (seed 0; MCAR shows what chance makes of it). Strong "
        "MAR hides what is high as far as the shown cells of the row tell, so that tables whose "
        "columns tell little of each other shift less. Plain MAR draws its coefficients at random, "
        "so that its hidden cells are much like the shown ones: what a shift costs, strong MAR "
        "alone tells.",
        "",
        *table(("table", *cases.ALL_TITLES.values()), lines),
    ]


def taken_part(rows: Rows, seeds: Sequence[int]) -> list[str]:
    """Versions, number of runs, failures and rescued cells of each method."""
    lines = []
    for name in (*OURS, *PEERS):
        mine = [r for r in rows if r["method"] == name and r["seed"] in seeds]
        good = [r for r in mine if "nrmse" in r and r["table"] in tables.RANKED]
        if good:
            bad = sum("error" in r and r["table"] in tables.RANKED for r in mine)
            rescued = sum(r.get("rescued", 0) for r in good)
            seconds = number(float(np.mean([r["seconds"] for r in good])), 1)
            sees = "yes" if sees_class(name) else "no"
            used = ", ".join(map(str, sorted({r["seed"] for r in good})))
            names = len({r["table"] for r in good})
            counts = (len(good), names, bad, rescued)
            lines.append((name, good[0]["version"], sees, used, *counts, seconds))
    heads = ("method", "version", "sees the class", "seeds", "runs", "tables")
    counted = ("failed or not tried", "cells left to the mean", "CPU seconds a run")
    return table((*heads, *counted), lines)


def limits(rows: Rows) -> str:
    """The seconds that peers were given for a table, and which peers were given how many."""
    found: dict[float, list[str]] = {}
    for name in PEERS:
        mine = [row["limit"] for row in rows if row["method"] == name and "limit" in row]
        if mine:
            found.setdefault(max(mine), []).append(name)
    if not found:
        return "as many seconds as it needs"
    most, *rest = sorted(found, reverse=True)
    others = [f"{limit:.0f} for {listed(found[limit])}" for limit in rest]
    return f"{most:.0f} s of computing for a table" + (f" ({'; '.join(others)})" if others else "")


def absent(rows: Rows) -> list[str]:
    """Sentences on methods without a single result: those that failed, and those not run."""
    tried = {row["method"] for row in rows}
    there = {row["method"] for row in rows if "nrmse" in row}
    names = [name for name in (*OURS, *PEERS) if name not in there]
    failed = [name for name in names if name in tried]
    left_out = [name for name in names if name not in tried]
    found = {"Tried without a result": failed, "Not run, for want of time": left_out}
    return [f"{what}: {', '.join(some)}." for what, some in found.items() if some]


def _part(board: ranking.Board, *, sees: bool) -> ranking.Board:
    """The methods that are given the class, or those that are not."""
    return board.only(name for name in board.methods if sees_class(name) is sees)


def _both(board: ranking.Board, flagship: str) -> list[str]:
    """Those that see the class, then those that do not."""
    lines = []
    for title, first, sees in (
        ("Given the class", flagship, True),
        ("Without the class", BLIND, False),
    ):
        part = _part(board, sees=sees)
        if part.methods == [first]:
            lines += [f"{title}, {first} has no rival here.", ""]
        elif first in part.methods:
            lines += [f"{title}:", "", *standing(part, first, _groups())]
    return lines


def _groups() -> dict[str, Iterable[str]]:
    """Titles and names of the tables that are ranked apart."""
    numeric = [name for name in tables.RANKED if tables.is_numeric(name)]
    return {"numeric": numeric, "with categories": set(tables.RANKED) - set(numeric)}


def _by_default(board: ranking.Board) -> list[str]:
    """What users get who set nothing, beside all that are given the class."""
    part = _part(board, sees=True)
    if BY_DEFAULT not in part.methods:
        return []
    return [
        "### As it ships",
        "",
        f'*{BY_DEFAULT}* learns from the classes, but fills no row by its own (`labels="cross"`), '
        "and moves fills to the grid of their column (`round_to_grid=True`). That is meant for "
        "what comes after the fill, a classifier or a reader, and costs errors of cells. Here it "
        "has a rank among the others that are given the class.",
        "",
        *standing(part, BY_DEFAULT, _groups()),
    ]


def _whole_bank(rows: Rows, flagship: str, seeds: Sequence[int]) -> list[str]:
    board = ranking.board(rows, seeds, [tables.BANK], scenarios=cases.ALL)
    if flagship not in board.methods:
        return []
    titles = [cases.ALL_TITLES[case[1]] for case in board.cases]
    return [
        f"The whole of {tables.BANK}, for the methods that were run on it:",
        "",
        *matrix(board, titles),
    ]


def _all_figures(board: ranking.Board) -> list[str]:
    what = (
        "Mean errors over the seeds that a method has, which *Who took part* tells; the lowest of "
        "a column in bold, whether or not the method sees the class. Methods with one seed stand "
        "beside such with two: only the tables above compare on common seeds."
    )
    lines = ["## All figures", "", what, ""]
    for scenario, title in cases.ALL_TITLES.items():
        part = board.in_scenario(scenario)
        lines += [f"{title}:", "", *matrix(part, [case[0] for case in part.cases])]
    return lines
