"""Run what the store does not have yet, and write the page of results from it.

    python benchmarks/accuracy/page.py --run --seeds 0..1

Every figure on the page is computed here from the results in the store, docs/data/accuracy.jsonl;
without ``--run`` from those that are there. ``--methods ours,strong`` runs the strongest peers and
the plainest alone. A peer that computes for more than two minutes on a table (``run.py --limit``:
less) is left out on that table and on larger ones, and named. ``GREYFILL_DATA`` is the folder of
the tables, ``GREYFILL_PEERS`` that of the peers (``peers/install.sh``).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cases
import errors_section
import intervals
import numpy as np
import other_sections
import run
import simulations
import standing
import tables
from methods import BY_DEFAULT, DIFFERENT, DRAWING, OURS, PEERS, commits
from store import KEPT, Store
from text import counted, listed, table

from greyfill.table import Kind

PAGE = Path(__file__).parents[2] / "docs/accuracy.md"
SIMULATED = ("GreyImputer", "CGKNN", "FWGKNN", "GKNN", "class_mean", simulations.ORACLE)
Rows = list[dict[str, Any]]


def run_all(options: argparse.Namespace) -> None:
    """Fills of all methods, draws, intervals and simulations."""
    seeds = ",".join(map(str, options.seeds))
    common = ["--seeds", seeds, "--label", options.label, "--store", str(options.store)]
    fills = run.arguments().parse_args(["--methods", options.methods, *common])
    run.run_all(fills)
    fills.methods = [name for name in DRAWING if name in fills.methods]
    run.run_all(fills, "draws")
    intervals.run_all(fills)
    simulated = simulations.arguments().parse_args(["--methods", ",".join(SIMULATED), *common[2:]])
    simulations.run_all(simulated)


def write(store: Store, flagship: str, label: str, seeds: Sequence[int]) -> str:
    rows = [
        row
        for row in store.with_state(flagship, label)
        if row["seed"] in seeds or row["task"] == "simulation"
    ]
    by_task = {
        task: [row for row in rows if row["task"] == task]
        for task in ("cells", "draws", "coverage", "simulation")
    }
    if not any(row["method"] == flagship for row in by_task["cells"]):
        sys.exit(f"the store has no result of {flagship} {label} with the seeds of the page")
    lines = [
        *_introduction(seeds, commits(rows), _without_commit(by_task)),
        *_participants(by_task["cells"], seeds),
        *errors_section.section(by_task["cells"], flagship, seeds),
        *errors_section.draws_section(by_task["draws"], flagship, seeds),
        *other_sections.coverage_section(by_task["coverage"]),
        *other_sections.simulations_section(by_task["simulation"]),
        *_repeat(),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _without_commit(by_task: dict[str, Rows]) -> str:
    """A sentence on results that do not say which commit they are of."""
    parts = {"coverage": "intervals", "simulation": "simulations"}
    found = [parts[task] for task in parts if any("commit" not in row for row in by_task[task])]
    return f" The results of {listed(found)} were kept without their commit." if found else ""


def _introduction(seeds: Sequence[int], measured_on: list[str], unknown: str) -> list[str]:
    return [
        "# Accuracy",
        "",
        "How well the imputers of greyfill and of other packages restore cells that were hidden on "
        f"purpose. Measured on the commits {listed(measured_on)}.{unknown} What the fills are "
        "worth to a classifier is on [Does imputing pay?](worth.md).",
        "",
        "## What was measured",
        "",
        f"{len(tables.RANKED)} tables, each in {len(cases.ALL)} scenarios "
        f"({listed(list(cases.ALL_TITLES.values()))}), where cells of all feature columns are "
        f"hidden with {counted(len(seeds), 'seed')}; methods with fewer are named below. Natural "
        "holes stay holes and are not judged. The class of a row is never hidden; names with `+y` "
        "(class as one more column) or `/class` (each class on its own) are the same peers given "
        "the class. GreyImputer is given it with "
        '`labels="own"`, since peers see the class of the row that they fill too; its default, '
        '`"cross"`, never fills a row by its own class.',
        "",
        "**All of these tables were seen while GreyImputer was built**: what it does by default "
        "was chosen on them, in part with these holes, and nothing of the kind was done for a "
        "peer. So these figures flatter it; tables that nothing was chosen on are on "
        "[Examination](examination.md).",
        "",
        "The error of a fill is the root mean square over the hidden cells, numbers and ranks on "
        "the [0, 1] scale of the true table, a wrong category counting 1 and a right one 0 "
        "(`nrmse` of `greyfill.metrics.imputation_errors`). Fills of ordinal columns are rounded "
        "to a level.",
        "",
        *_tables(),
        f"`{tables.BANK_SAMPLE}` is a seeded sample of the {tables.load(tables.BANK).table.n_rows} "
        "rows of bank-marketing, the same for all methods, since some need many minutes for the "
        "whole. The iris of the UCI repository is "
        "left out, as it is scikit-learn's but for two rows.",
        "",
        *errors_section.shifts(),
    ]


def _tables() -> list[str]:
    lines = []
    for name in tables.RANKED:
        data = tables.load(name)
        kinds = [column.kind for column in data.table.columns]
        counts = [kinds.count(kind) for kind in (Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL)]
        holes = f"{100 * data.table.missing.mean():.1f} %"
        n_classes = len(np.unique(data.labels))
        lines.append((name, data.table.n_rows, *counts, holes, n_classes))
    heads = ("table", "rows", "numeric", "categorical", "ordinal", "natural holes", "classes")
    return table(heads, lines)


def _participants(rows: Rows, seeds: Sequence[int]) -> list[str]:
    missing = errors_section.absent(rows)
    lines = [
        "## Who took part",
        "",
        "Each peer in an environment of its own, with its default settings unless stated, one "
        f"thread, and {errors_section.limits(rows)}: a peer that takes longer is not tried on "
        f"tables as large or larger. Ours fill without a limit and, but for *{BY_DEFAULT}*, with "
        "`round_to_grid=False`, "
        "since the fills of most peers are not rounded to the values of a column. Peers that take "
        "only numbers get indicators of the levels and numbers scaled to [0, 1]; the level with "
        "the highest indicator wins. Ours ran on another day than most peers, when the machine "
        "was quicker, and other programs shared it: seconds that compare are on "
        "[Performance](performance.md). TabPFN, TabImpute and TabDPT need weights from a hub and "
        "were not run.",
        "",
        *errors_section.taken_part(rows, seeds),
        *(f"* {name}: {what}" for name, what in DIFFERENT.items()),
        "",
    ]
    if missing:
        lines += [" ".join(missing), ""]
    return [*lines, "What failed, in the peers' own words:", "", *standing.failures(rows, seeds)]


def _repeat() -> list[str]:
    return [
        "## Repeat it",
        "",
        "```bash",
        "export GREYFILL_DATA=...   # folder with the tables as CSV, and their .schema.json",
        "export GREYFILL_PEERS=...  # folder that benchmarks/accuracy/peers/install.sh has filled",
        "python benchmarks/accuracy/run.py --methods 'R mice' --seeds 0 --limit 15  # a limit",
        "python benchmarks/accuracy/page.py --run --seeds 0..1",
        "```",
        "",
        "`docs/data/accuracy.jsonl` keeps what has run, failures and limits among it, and is not "
        "run again: delete the lines of a method to measure it anew. Peers that are to have "
        "another limit or fewer seeds run first.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="run what the store lacks, first")
    parser.add_argument("--methods", default="ours,peers", help="what is run: ours,strong is short")
    parser.add_argument("--seeds", type=run.several, default=[0, 1], help="0..4 or 1,5")
    parser.add_argument("--store", type=Path, default=KEPT / "accuracy.jsonl")
    parser.add_argument("--method", default="GreyImputer", choices=(*OURS, *PEERS))
    parser.add_argument("--label", default="", help="the state of the method that is shown")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    if options.run:
        run_all(options)
    page = write(Store(options.store), options.method, options.label, options.seeds)
    options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
