"""The examination: tables that nobody looked at while greyfill was built, filled once.

    python benchmarks/examination.py

Fills the tables of the folder ``GREYFILL_EXAM`` (``NAME.csv`` beside ``NAME.schema.json``) by
GreyImputer and its strongest rivals and writes docs/examination.md, whatever comes out. Results
that the store, docs/data/examination.jsonl, has already are not computed again; a failure is a
result. ``GREYFILL_PEERS`` is the folder of the peers (``accuracy/peers/install.sh``). Processes
with different ``--methods`` may share a store; ``--page-only`` writes the page from what it has.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sections import kept

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))
import cases
import ranking
import run
import standing
import tables
from methods import DIFFERENT, commits, sees_class
from store import KEPT, Store
from text import counted, listed, number, table

PAGE = Path(__file__).parents[1] / "docs" / "examination.md"
CLASSIFIERS = "Measured: what to do about holes before a classifier"
"""The section that ``classifiers.py --exam --page docs/examination.md`` adds."""

OWN, BLIND = "GreyImputer", "GreyImputer without y"
METHODS = (
    OWN,
    BLIND,
    "CGKNN",
    "sklearn KNN",
    "sklearn Iterative+y",
    "gcimpute+y",
    "R missRanger+y",
    "R missForest+y",
    "miceforest+y",
)
BEFORE = (
    "The tables had been filled three times before, by earlier states of the engine (commits "
    "d499a8d, 45f1584 and 9a1395b): what changed in between was chosen on the tables of the "
    "accuracy page and on made-up ones, and nothing because of what came out here. The last change "
    "mends a fault that made-up tables of few levels showed, where donors that are equally near "
    "counted in the order of what they hold. With it GreyImputer came to be ahead of missForest "
    "and missRanger by the tests below; the time before, both had p = 0.063, and the p-values do "
    "not count how often the tables were filled. The figures of the peers are those of the second "
    "time. missRanger was run in two releases; 2.6.1 stands here, as 2.5.0, the one "
    "at hand at first, errs more. The columns of Titanic were known: tests of what is left alone "
    "imitate an export of it, without its cells."
)
"""Who examines again has to say so."""

AMONG = ", CGKNN of our own among them,"
"""What the rivals of one method are not: all of other packages."""

SECONDS = 3600.0
"""What a peer may compute on a table: as much as it needs, as far as there is an end."""

Rows = list[dict[str, Any]]


def write(rows: Rows, names: Sequence[str], seeds: Sequence[int]) -> str:
    """The page, from results of the task "cells" on the tables ``names``."""
    board = ranking.board(rows, seeds, names)
    numeric = [name for name in names if tables.is_numeric(name)]
    absent = [method for method in METHODS if method not in {row["method"] for row in rows}]
    rivals = [method for method in METHODS if method not in (OWN, BLIND)]
    groups = {"numeric": numeric, "with categories": [n for n in names if n not in numeric]}
    lines = [
        *_introduction(rows, names, seeds),
        "## Standing",
        "",
        f"{standing.HOW} With {len(names)} tables no p-value can be below "
        f"{2.0 ** (1 - len(names)):.2g} before the correction.",
        "",
    ]
    for first in (OWN, BLIND):
        if first in board.methods:
            lines += [f"{first} against each:", "", *standing.standing(board, first, groups)]
    lines += [
        "## Against the best of each table",
        "",
        *standing.against_best(board, OWN, rivals, AMONG),
        *_seconds(rows, names),
        "## Failures",
        "",
        *standing.failures(rows, seeds),
        *([f"Not run: {', '.join(absent)}.", ""] if absent else []),
        "## The tables",
        "",
        "Root mean square error over the hidden cells on the [0, 1] scale of the true table, a "
        "wrong category counting 1; the mean over the seeds, the lowest in bold.",
        "",
        *(line for name in names for line in _of_table(board, name)),
        *_again(names),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _introduction(rows: Rows, names: Sequence[str], seeds: Sequence[int]) -> list[str]:
    given = [name for name in METHODS if sees_class(name)]
    changed = [f"{m} ({DIFFERENT[b]})" for m in METHODS if (b := m.removesuffix("+y")) in DIFFERENT]
    scenarios = listed(list(cases.TITLES.values()))
    versions = {row["method"]: row["version"] for row in rows if "version" in row}
    told = listed([f"{m} {versions[m]}" for m in METHODS if m in versions])
    return [
        "# Examination",
        "",
        f"{len(names)} public tables that were put aside and never plotted or read while "
        "greyfill was built: nothing was chosen, tuned or mended on them. They were filled "
        f"on the commit {listed(commits(rows))}, by `python benchmarks/examination.py`, which "
        "writes this page whatever comes out. Changes of the engine after that commit are not "
        f"examined here. {BEFORE}",
        "",
        f"{scenarios}, {counted(len(seeds), 'seed')} each, cells of all feature columns. Given the "
        f"class of each row: {listed(given)}. GreyImputer is given it as these peers are, for the "
        "row that "
        'it fills too (`labels="own"`; its default, `"cross"`, does not use a row\'s own class '
        f"for that row), and as *{BLIND}* it is not; sklearn KNN is not either. Each has its "
        "default settings, but for those that are named: "
        f"{'; '.join(changed)}. Fills of ours are not moved to the grid of their column "
        "(`round_to_grid=False`, which is not the default), since those of most peers are not. "
        f"Versions: {told}. One thread each. Peers were spared columns of a single value "
        "after their first runs had ended in errors because of them; these runs were repeated.",
        "",
    ]


def _seconds(rows: Rows, names: Sequence[str]) -> list[str]:
    """Processor seconds of a fill, the mean over all runs of a table."""
    methods = [m for m in METHODS if any(r["method"] == m and "seconds" in r for r in rows)]
    lines = []
    for name in names:
        cells = []
        for method in methods:
            found = [r["seconds"] for r in rows if (r["table"], r["method"]) == (name, method)
                     and "seconds" in r]  # fmt: skip
            cells.append(number(float(np.mean(found)) if found else np.nan, 1))
        size = " × ".join(map(str, tables.load(name).table.values.shape))
        lines.append((standing.shown(name), size, *cells))
    return [
        "## Seconds",
        "",
        "Processor seconds of a fill, the mean over scenarios and seeds. Ours ran later than the "
        "peers, when the machine was quicker, and other programs shared it: seconds that compare "
        "are on [Performance](performance.md).",
        "",
        *table(("table", "rows × columns", *methods), lines),
    ]


def _of_table(board: ranking.Board, name: str) -> list[str]:
    """Scenarios across, methods down."""
    part = board.among([name])
    titles = [cases.TITLES[case[1]] for case in part.cases]
    return [f"### {standing.shown(name)}", "", *standing.matrix(part, titles)]


def _again(names: Sequence[str]) -> list[str]:
    """Where the tables are from, and what to type."""
    sources = [f"{standing.shown(name)}: {tables.source(name)}" for name in names]
    return [
        "## Repeat it",
        "",
        "Sources of the tables, by name and number in the UCI repository where nothing else is "
        f"said: {'; '.join(sources)}.",
        "",
        "```bash",
        "export GREYFILL_EXAM=...   # folder with the tables as CSV, and their .schema.json",
        "export GREYFILL_PEERS=...  # folder that benchmarks/accuracy/peers/install.sh has filled",
        "python benchmarks/examination.py",
        "python benchmarks/classifiers.py --exam --page docs/examination.md",
        "```",
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", default="0..2")
    parser.add_argument("--store", type=Path, default=KEPT / "examination.jsonl")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--page-only", action="store_true")
    given = parser.parse_args()
    names = tables.of_examination()
    if not names:
        sys.exit("set GREYFILL_EXAM to a folder with NAME.csv beside NAME.schema.json")
    words = ["--methods", given.methods, "--seeds", given.seeds, "--tables", ",".join(names)]
    words += ["--scenarios", ",".join(cases.SCENARIOS), "--store", str(given.store)]
    options = run.arguments().parse_args([*words, "--limit", str(SECONDS)])
    rows = list(Store(given.store) if given.page_only else run.run_all(options))
    known = [row for row in rows if row["task"] == "cells" and row["table"] in names]
    others = [line for section in kept(given.page, [CLASSIFIERS]) for line in (*section, "")]
    text = write(known, names, options.seeds)
    given.page.write_text("\n".join([text, *others]), encoding="utf-8")


if __name__ == "__main__":
    main()
