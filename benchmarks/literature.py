"""The page docs/literature.md: every system of the registry, one row each, with error and time.

    GREYFILL_DATA=/path/to/tables python benchmarks/literature.py            # runs what is missing
    python benchmarks/literature.py --page                                   # only writes the page
    python benchmarks/literature.py --systems fkm,lvq --again                # measures these anew

Errors are those of benchmarks/accuracy on its 13 tables with 20 % of the cells hidden completely at
random, numbers not moved to a grid; times are processor seconds of fit_transform on one thread.
Results are kept in docs/data/literature.json by system, so that a new system is measured alone.
docs/data/literature_oracles*.json, where there are any, have what systems were checked against.
"""

import argparse
import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from greyfill.evaluation.protocols import fit_fill, prepare
from greyfill.imputers.registry import REGISTRY, Method, make

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "accuracy"))  # for its tables and cases

RESULTS = ROOT / "docs" / "data" / "literature.json"
ORACLES = "literature_oracles*.json"
ORACLE = ("system", "oracle", "ours", "reference", "verdict")
NOTES = ROOT / "benchmarks" / "literature_notes.json"
PAGE = ROOT / "docs" / "literature.md"
SCENARIO, COSTLY = "mcar20", "german-credit"
FIRST = {"mean": 1, "grey": 2}

PREFACE = """# The systems of the literature

The paper names some twenty systems in its introduction and discussion. Each of them is here under
one contract: mixed tables in and out, new rows one by one, observed cells untouched, saved files,
and one word for `greyfill impute --method`, `greyfill compare` and `greyfill.evaluation.make`.
`greyfill reproduce --extended` puts all of them into the paper's tables.

Where a source could not be read whole, a ruling says what was done; each docstring has the formula.

## Error and time

Mean over {tables} tables of the error of hidden cells (root mean square on the [0, 1] scale, a
wrong category counts 1) with 20 % of the cells hidden completely at random, {seeds}; *of the mean*
divides by the error of mean and mode, table by table. Fills are not moved to the grid of their
column (`round_to_grid=False`, which is not the default), but for those of `mean`. *Labels* tells
whether the method needs the classes. All were given them: `iari` and `c45` use that of the row
that they fill, `grey` those of other rows (`labels="cross"`, its default), `gbnn`, `iknn`, `sknn`,
`knni` and `opt-knn` choose k by them, and the others with *no* do without. So this table mixes
systems that use the class and systems that do not; [Accuracy](accuracy.md) keeps them apart. The
tables are those of that page, seen while `grey` was built. Times are processor seconds on one
thread for {costly} (1 000 × 20) and for all tables. These are single runs on a shared machine: look
at the order of magnitude. `python benchmarks/literature.py` writes this page, with the tables of
[Accuracy](accuracy.md#repeat-it) in `GREYFILL_DATA`. Measured on {commits}.
"""

LAWS = """Laws hold in the tests (`tests/systems`): a cold deck of the table itself is the nearest
hot deck; a shell in one column is the two bracketing values; the objectives of fuzzy clusters and
of opt.knn never rise; the output of a column never sees its own input; gradients of the net and of
prototypes are those of finite differences. The figures below are those that
`python benchmarks/literature_oracles.py --write` and `python benchmarks/lvq_check.py` kept; they
need R's Amelia, Weka and sklvq. *Agrees* means: θ within 10⁻³, distances and costs within 10⁻⁹;
pooled coefficients within four Monte-Carlo errors and their standard errors within 15 %; errors of
`iari` within 0.02 of the printed ones; shares of wrong classes of `c45` within two standard errors
and 0.01."""


def systems() -> list[Method]:
    """The methods that fill tables by an engine of greyfill, and the mean."""
    own = [m for m in REGISTRY.values() if m.engine not in ("peer", "sklearn") or m.name == "mean"]
    return sorted(own, key=lambda m: FIRST.get(m.name, 3))


def measure(name: str, table: str, seed: int) -> tuple[float, float]:
    """Error and processor seconds of one fill."""
    import cases

    case = cases.make(table, SCENARIO, seed)
    how = {} if name == "mean" else {"round_to_grid": False}
    imputer = prepare(make(name, **how), case.table, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        filled = fit_fill(imputer, case.table, case.data.labels)
        seconds = time.process_time() - start
    return float(case.judge(filled)["nrmse"]), seconds


def run(names: list[str], seeds: int, *, again: bool) -> None:
    """Measure what the file lacks, and keep it after each table."""
    import tables
    from run import commit

    state = commit()  # before the results are rewritten
    measure("knni", "iris", 0)  # what is compiled once does not count
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names:
        known = {} if again else kept.get(name, {})
        for table in tables.RANKED:
            found = known.get(table, {"nrmse": [], "seconds": []})
            for seed in range(len(found["nrmse"]), seeds):
                error, seconds = measure(name, table, seed)
                found["nrmse"].append(round(error, 4))
                found["seconds"].append(round(seconds, 3))
                found["commit"] = state
                print(name, table, seed, found["nrmse"][-1], found["seconds"][-1], flush=True)
            known[table] = found
            kept[name] = known
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def figures(results: dict[str, Any], name: str) -> list[str]:
    """Mean error, the same as a share of that of the mean, seconds on one table and on all."""
    found = results.get(name, {})
    common = [table for table in results["mean"] if table in found]
    if not common:
        return ["not measured", "", "", ""]
    errors = np.array([np.mean(found[table]["nrmse"]) for table in common])
    plain = np.array([np.mean(results["mean"][table]["nrmse"]) for table in common])
    seconds = {table: np.mean(found[table]["seconds"]) for table in common}
    costly = f"{seconds[COSTLY]:.1f}" if COSTLY in seconds else ""
    few = "" if len(common) == len(results["mean"]) else f" ({len(common)} tables)"
    return [f"{errors.mean():.3f}{few}", f"{(errors / plain).mean():.2f}", costly,
            f"{sum(seconds.values()):.0f}"]  # fmt: skip


def measured_on(results: dict[str, Any]) -> str:
    """The commits that measured, with their systems if there are several.

    >>> measured_on({"mean": {"iris": {"commit": "1a"}}, "em": {"iris": {"commit": "1a"}}})
    'commit 1a'
    >>> measured_on({"mean": {"iris": {"commit": "1a"}}, "em": {"iris": {}}})
    'commit 1a (`mean`), an earlier commit (`em`)'
    """
    systems: dict[str, list[str]] = {}
    for name, found in results.items():
        for commit in sorted({one.get("commit", "") for one in found.values()}):
            systems.setdefault(commit, []).append(f"`{name}`")
    told = {f"commit {c}" if c else "an earlier commit": names for c, names in systems.items()}
    if len(told) == 1:
        return next(iter(told))
    return ", ".join(f"{commit} ({', '.join(names)})" for commit, names in told.items())


def year(paper: str) -> str:
    """The first year that a citation has.

    >>> year("Little and Rubin 2002")
    '2002'
    """
    found = re.search(r"\d{4}", paper)
    return found.group() if found else ""


def grid(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    text = "\n".join("| " + " | ".join(row) + " |" for row in lines)
    return re.sub(r"\|  (?=\|)", "| ", text)


def page() -> str:
    """The page from the registry, the notes, the results and the oracles."""
    results, notes = json.loads(RESULTS.read_text()), json.loads(NOTES.read_text())
    counts = {len(one["nrmse"]) for found in results.values() for one in found.values()}
    seeds = " to ".join(str(n) for n in sorted({min(counts), max(counts)}))
    words = {
        "seeds": f"{seeds} seed{'' if seeds == '1' else 's'}",
        "costly": COSTLY,
        "commits": measured_on(results),
    }
    parts = [PREFACE.format(tables=len(results["mean"]), **words)]
    listed = systems()
    rows = [
        [f"`{m.name}`", "yes" if m.needs_labels else "no", *figures(results, m.name)]
        for m in listed
    ]
    heads = ["system", "labels", "error", "of the mean", f"{COSTLY}, s", "all tables, s"]
    parts += [grid(heads, rows), "\n## What they are\n"]
    heads = ["system", "paper", "year", "idea", "assumes", "our rulings", "when you would want it"]
    rows = []
    for m in listed:
        note = notes.get(m.name, {})
        told = [note.get(key, "") for key in ("assumes", "rulings", "want")]
        rows.append([f"`{m.name}`", m.paper, year(m.paper), m.sentence, *told])
    parts += [grid(heads, rows), "\n## What they were checked against\n"]
    parts.append(LAWS)
    found = [json.loads(p.read_text(encoding="utf-8")) for p in RESULTS.parent.glob(ORACLES)]
    told = sorted((row for rows in found for row in rows), key=lambda row: row["system"])
    rows = [[f"`{row['system']}`", *(str(row[key]) for key in ORACLE[1:])] for row in told]
    parts += ["", grid(list(ORACLE), rows)]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--systems", default="", help="names, by comma; all by default")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="measure also what is known")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    options = parser.parse_args()
    names = [n for n in options.systems.split(",") if n] or [m.name for m in systems()]
    if not options.page:
        run(names, options.seeds, again=options.again)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
