"""The part of the page on errors of cells: who took part, ranks, tests, and all figures."""

from collections.abc import Iterable
from typing import Any

import cases
import numpy as np
import ranking
import tables
from methods import OURS, PEERS
from text import number, probability, table

Rows = list[dict[str, Any]]
SEEDS = range(5)


def section(rows: Rows, flagship: str) -> list[str]:
    """``rows`` are results of the task "cells"; ``flagship`` is the one that others are held to."""
    board = ranking.board(rows, SEEDS, tables.RANKED)
    against = board.known_to(flagship)
    run_with_all = ranking.run_with_all(rows, against, SEEDS)
    return [
        "## Errors of imputed cells",
        "",
        *_standing(against, flagship, run_with_all),
        *_by_table(against, flagship),
        *_whole_bank(rows, flagship),
        *_all_figures(board.only(run_with_all).complete()),
    ]


def taken_part(rows: Rows) -> list[str]:
    """Versions, number of runs, failures and rescued cells of each method."""
    lines = []
    for name in (*OURS, *PEERS):
        mine = [r for r in rows if r["method"] == name and r["seed"] in SEEDS]
        good = [r for r in mine if "nrmse" in r and r["table"] in tables.RANKED]
        if good:
            seeds = len({r["seed"] for r in good})
            bad = sum("error" in r and r["table"] in tables.RANKED for r in mine)
            rescued = sum(r.get("rescued", 0) for r in good)
            lines.append((name, good[0]["version"], len(good), seeds, bad, rescued))
    heads = ("method", "version", "runs", "seeds", "failed", "cells left to the mean")
    return table(heads, lines)


def failures(rows: Rows) -> list[str]:
    """The errors of each method, the same ones counted together."""
    counts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if "error" in row and row["seed"] in SEEDS:
            counts.setdefault((row["method"], row["error"][:160]), []).append(row["table"])
    lines = [
        f"* {method}, {len(where)} runs ({', '.join(sorted(set(where)))}): {error}"
        for (method, error), where in sorted(counts.items())
    ]
    return [*lines, ""] if lines else ["None.", ""]


def absent(rows: Rows) -> list[str]:
    """Peers without a single result."""
    there = {row["method"] for row in rows if "nrmse" in row}
    return [name for name in PEERS if name not in there]


def _standing(board: ranking.Board, flagship: str, run_with_all: list[str]) -> list[str]:
    ranks, found = board.ranks(), {duel.rival: duel for duel in ranking.duels(board, flagship)}
    fully = board.only(run_with_all).ranks()
    runs = dict(zip(board.methods, board.n_seeds().sum(axis=0).tolist(), strict=True))
    lines = []
    for name in sorted(board.methods, key=lambda name: ranks.get(name, np.inf)):
        places = (number(standing.get(name, float("nan")), 2) for standing in (ranks, fully))
        duel = found.get(name)
        tested = (
            (duel.n_cases, runs[name], duel.wins, number(duel.ratio, 3), probability(duel.p_holm))
            if duel
            else ("", "", "", "", "")
        )
        lines.append((name, *places, *tested))
    heads = ("method", f"mean rank of {len(ranks)}", f"of {len(fully)} with all seeds", "cases")
    heads += ("runs", f"{flagship} better in", "ratio", "p (Holm)")
    return [
        f"Mean ranks over the {len(board.cases)} cases (a table in a scenario): first among the "
        f"methods with a result in every case, by the mean over the seeds of the case that all of "
        f"these have, then among those of them that were run with all {len(SEEDS)} seeds; where a "
        f"run of one failed, that seed of the case counts for none. "
        f"Then {flagship} against each method, over the cases and seeds that both "
        f"have: in how many cases it errs less, the geometric mean of its error over the other's, "
        f"and Wilcoxon's signed-rank test with Holm's correction over all rows. Cases of one "
        f"table are not independent, so p is a guide and not a guarantee.",
        "",
        *table(heads, lines),
    ]


def _by_table(board: ranking.Board, flagship: str) -> list[str]:
    """In each table, the mean over scenarios against the peer that does best there."""
    lines = []
    for name in dict.fromkeys(case[0] for case in board.cases):
        best = _best_in_table(board, flagship, name)
        if best:
            lines.append(
                (name, number(best.ours), best.name, number(best.theirs), number(best.ratio, 3))
            )
    worse = sum(float(line[-1]) > 1.05 for line in lines)
    return [
        f"In each table the peer that does best there, by the mean over the scenarios. {flagship} "
        f"is more than 5 % worse in {worse} of {len(lines)} tables.",
        "",
        *table(("table", flagship, "best peer", "its error", "ratio"), lines),
    ]


def _best_in_table(board: ranking.Board, flagship: str, name: str) -> ranking.Rival | None:
    here = np.array([case[0] == name for case in board.cases])
    merged = board.scores[here].reshape(1, -1, len(board.methods))
    whole = ranking.Board(board.methods, [(name,)], merged)
    rivals = [m for m in board.methods if m in PEERS and not np.isnan(whole.of(m)).all()]
    complete = [m for m in rivals if not np.isnan(board.only([m]).means()[here]).any()]
    return ranking.best_rivals(whole, flagship, complete)[0]


def _whole_bank(rows: Rows, flagship: str) -> list[str]:
    board = ranking.board(rows, SEEDS, [tables.BANK])
    if flagship not in board.methods:
        return []
    return [
        f"The whole of {tables.BANK}, for the methods that were run on it:",
        "",
        *_matrix(board),
    ]


def _all_figures(board: ranking.Board) -> list[str]:
    lines = [
        "### All figures",
        "",
        f"Methods that were run with all {len(SEEDS)} seeds and have a result in every case; mean "
        "errors over the seeds of the case that all of them have.",
        "",
    ]
    for scenario, title in cases.TITLES.items():
        part = _in_scenario(board, scenario)
        lines += [f"{title}:", "", *_matrix(part)]
    return lines


def _in_scenario(board: ranking.Board, scenario: str) -> ranking.Board:
    here = [i for i, case in enumerate(board.cases) if case[1] == scenario]
    return ranking.Board(board.methods, [board.cases[i] for i in here], board.scores[here])


def _matrix(board: ranking.Board) -> list[str]:
    """Methods down, cases across, the lowest error of each case in bold."""
    means = board.means()
    best = np.array([np.nanmin(row) if (~np.isnan(row)).any() else np.nan for row in means])
    one_scenario = len({case[1] for case in board.cases}) == 1
    heads = [case[0] if one_scenario else cases.TITLES[case[1]] for case in board.cases]
    lines = [[name, *_bold(means[:, j], best)] for j, name in enumerate(board.methods)]
    return table(("method", *heads), lines)


def _bold(errors: Iterable[float], best: np.ndarray) -> list[str]:
    return [
        f"**{number(error)}**" if error <= lowest else number(error)
        for error, lowest in zip(errors, best, strict=True)
    ]
