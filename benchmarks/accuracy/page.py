"""Write the page of results from the store: python benchmarks/accuracy/page.py --store FILE

Every figure on the page is computed here from the results in the store.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import cases
import errors_section
import numpy as np
import other_sections
import tables
from errors_section import SEEDS
from methods import DIFFERENT, OURS, PEERS
from store import Store
from text import listed, table

from greyfill.table import Kind

PAGE = Path(__file__).parents[2] / "docs/accuracy.md"


def write(store: Store, flagship: str, label: str) -> str:
    rows = store.with_state(flagship, label)
    by_task = {
        task: [row for row in rows if row["task"] == task]
        for task in ("cells", "classes", "coverage", "simulation")
    }
    if not any(row["method"] == flagship and row["seed"] in SEEDS for row in by_task["cells"]):
        sys.exit(f"the store has no result of {flagship} {label} with the seeds of the page")
    lines = [
        *_introduction(),
        *_participants(by_task["cells"]),
        *errors_section.section(by_task["cells"], flagship),
        *other_sections.classes_section(by_task["classes"], flagship),
        *other_sections.coverage_section(by_task["coverage"]),
        *other_sections.simulations_section(by_task["simulation"]),
        *_repeat(),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _introduction() -> list[str]:
    names = listed([cases.TITLES[scenario] for scenario in cases.SCENARIOS])
    return [
        "# Accuracy",
        "",
        "How well the imputers of greyfill and of other packages restore cells that were hidden on "
        "purpose, and how well classifiers do on the filled tables.",
        "",
        "## What was measured",
        "",
        f"{len(tables.RANKED)} tables, each in three scenarios ({names}), where cells of all "
        f"feature columns are hidden with {len(SEEDS)} seeds; methods with fewer "
        "are named below. Natural holes stay holes and are not judged. The class of a row is "
        "never hidden; methods that cannot use it do without, and names with `+y` (class as one "
        "more column) or `/class` (each class on its own) are the same peers given the class.",
        "",
        "The error of a fill is the root mean square over the hidden cells, numbers and ranks on "
        "the [0, 1] scale of the true table, a wrong category counting 1 and a right one 0 "
        "(`nrmse` of `greyfill.metrics.imputation_errors`). Fills of ordinal columns are rounded "
        "to a level.",
        "",
        *_tables(),
        f"`{tables.BANK_SAMPLE}` is a seeded sample of bank-marketing's rows, the same for all "
        "methods, since some need many minutes for the whole. The iris of the UCI repository is "
        "left out, as it is scikit-learn's but for two rows.",
        "",
    ]


def _tables() -> list[str]:
    lines = []
    for name in tables.ALL:
        data = tables.load(name)
        kinds = [column.kind for column in data.table.columns]
        counts = [kinds.count(kind) for kind in (Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL)]
        holes = f"{100 * data.table.missing.mean():.1f} %"
        n_classes = len(np.unique(data.labels))
        lines.append((name, data.table.n_rows, *counts, holes, n_classes))
    heads = ("table", "rows", "numeric", "categorical", "ordinal", "natural holes", "classes")
    return table(heads, lines)


def _participants(rows: list[dict[str, Any]]) -> list[str]:
    missing = errors_section.absent(rows)
    lines = [
        "## Who took part",
        "",
        "Each peer in an environment of its own, with its default settings unless stated, one "
        "thread, and a limit on its time for each table. Peers that take only numbers get "
        "indicators of the levels and numbers scaled to [0, 1]; the level with the highest "
        "indicator wins.",
        "",
        *errors_section.taken_part(rows),
        *(f"* {name}: {what}" for name, what in DIFFERENT.items()),
        "",
    ]
    if missing:
        lines += [f"Not run: {', '.join(missing)}.", ""]
    return [*lines, "What failed, in the peers' own words:", "", *errors_section.failures(rows)]


def _repeat() -> list[str]:
    return [
        "## Repeat it",
        "",
        "```bash",
        "export GREYFILL_DATA=...   # folder with the tables as CSV, and their .schema.json",
        "export GREYFILL_PEERS=...  # folder that peers/install.sh has filled",
        "cd benchmarks/accuracy",
        "python run.py --methods ours,peers --store results.jsonl          # errors of cells",
        "python classes.py --methods GreyImputer,mean --store results.jsonl",
        "python intervals.py --seeds 0..3 --store results.jsonl",
        "python simulations.py --methods GreyImputer,oracle --store results.jsonl",
        "python page.py --store results.jsonl",
        "```",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=Path("accuracy.jsonl"))
    parser.add_argument("--method", default="GreyImputer", choices=(*OURS, *PEERS))
    parser.add_argument("--label", default="", help="the state of the method that is shown")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    page = write(Store(options.store), options.method, options.label)
    options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
