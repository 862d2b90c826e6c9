"""Print how one method stands among all others in the store.

    python benchmarks/accuracy/summary.py --method GreyImputer --label v1 --seeds 100,101

For each table and scenario: its error, the best peer and the ratio of the two. Then mean ranks over
tables, and Wilcoxon's test with Holm's correction against each peer over the tables that both have.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import ranking
import tables
from methods import OURS
from run import named, several
from store import KEPT, Store

Rows = list[dict[str, Any]]


def report(rows: Rows, method: str, seeds: list[int], names: list[str], score: str) -> str:
    cells = [row for row in rows if row["task"] == "cells"]
    board = ranking.board(cells, seeds, names, score)
    if method not in board.methods:
        return f"{method} has no results with seeds {seeds}; there are {', '.join(board.methods)}"
    board = board.known_to(method)
    return "\n".join([*_cases(board, method), "", *_duels(board, method)])


def _cases(board: ranking.Board, method: str) -> list[str]:
    lines = [f"{'table':16}{'scenario':>9}{method[:22]:>23}{'best peer':>11}  {'ratio':>6}"]
    peers = [name for name in board.methods if name not in OURS]
    found = ranking.best_rivals(board, method, peers)
    for case, best in zip(board.cases, found, strict=True):
        if best is not None:
            mark = " <-- more than 5 % worse" if best.ratio > 1.05 else ""
            lines.append(
                f"{case[0]:16}{case[1]:>9}{best.ours:23.4f}{best.theirs:11.4f}  {best.ratio:6.3f}"
                f"  {best.name}{mark}"
            )
    ratios = [best.ratio for best in found if best is not None]
    if not ratios:
        return ["no peer was run on these tables with these seeds"]
    worse, mean = sum(ratio > 1.05 for ratio in ratios), np.exp(np.mean(np.log(ratios)))
    return [*lines, f"ratio to the best peer of each case: {mean:.3f}, above 1.05 in {worse}"]


def _duels(board: ranking.Board, method: str) -> list[str]:
    """Ranks are among the methods that were run on all tables; a duel takes what the two share."""
    board = board.by_table()
    ranks = board.ranks()
    lines = [f"{'method':28}{'mean rank':>10}{'tables':>7}{'wins':>6}{'ratio':>8}{'p (Holm)':>11}"]
    found = {duel.rival: duel for duel in ranking.duels(board, method)}
    for name in sorted(board.methods, key=lambda name: ranks.get(name, np.inf)):
        rank = f"{ranks[name]:10.2f}" if name in ranks else f"{'–':>10}"
        duel = found.get(name)
        against = (
            f"{duel.n_cases:7}{duel.wins:6}{duel.ratio:8.3f}{duel.p_holm:11.2g}" if duel else ""
        )
        lines.append(f"{name:28}{rank}{against}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="GreyImputer")
    parser.add_argument("--label", default="")
    parser.add_argument("--seeds", type=several, default=list(range(5)))
    parser.add_argument("--tables", type=named, default=list(tables.RANKED))
    parser.add_argument("--score", default="nrmse", choices=("nrmse", "numbers", "wrong"))
    parser.add_argument("--store", type=Path, default=KEPT / "accuracy.jsonl")
    options = parser.parse_args()
    rows = Store(options.store).with_state(options.method, options.label)
    print(report(rows, options.method, options.seeds, options.tables, options.score))


if __name__ == "__main__":
    main()
