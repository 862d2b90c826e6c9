"""How long the command takes to answer a mistake in its call, and to inspect a large file.

    python benchmarks/mistakes.py

Times are those of all processors, of the whole process: the least and the median of seven runs,
with compiled bytecode as an installed package has it. A mistake must be answered within 0.5 s, a
file of 100 000 rows and 20 columns be inspected within 3 s. Ends with 1 if a median is above.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

ANSWER_SECONDS, INSPECT_SECONDS = 0.5, 3.0
ROWS, COLUMNS = 100_000, 20
FORMATS = ("small.csv", "t.xlsx", "t.parquet", "t.feather", "t.jsonl", "t.sav", "t.dta")
OPTIONS = {
    "--fill": "nope", "--not-applicable": "nope", "--bounds": "nope=0:1", "--ignore": "nope",
    "--sheet": "2", "--decimal": "x", "--date-order": "ymd", "--encoding": "nope",
    "--method": "nope", "--k": "x", "--labels": "nope", "--output": "nowhere/t.csv",
}  # fmt: skip


def make_files(folder: Path) -> None:
    """A large table, and a small one in each format."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(ROWS, COLUMNS)).round(3)
    names = [f"x{j}" for j in range(COLUMNS)]
    frame = pl.DataFrame(np.where(rng.random(cells.shape) < 0.1, np.nan, cells), schema=names)
    frame.fill_nan(None).write_csv(folder / "large.csv")
    small = frame.head(100).fill_nan(None)
    small.write_csv(folder / "small.csv")
    small.write_excel(folder / "t.xlsx")
    small.write_parquet(folder / "t.parquet")
    small.write_ipc(folder / "t.feather")
    small.write_ndjson(folder / "t.jsonl")
    if find_spec("pyreadstat") is not None:
        import pyreadstat

        pyreadstat.write_sav(small, folder / "t.sav")
        pyreadstat.write_dta(small, folder / "t.dta")


def calls(folder: Path) -> list[tuple[str, ...]]:
    """Calls with one mistake each."""
    others = [
        ("impute", "gone.csv"),
        ("inspect", "gone.csv"),
        ("impute", "t.xlsx", "--sheet", "no"),
    ]
    others += [(c, "large.csv", "-t", "nope") for c in ("impute", "inspect", "compare", "worth")]
    others += [("impute", "large.csv", option, value) for option, value in OPTIONS.items()]
    others += [("impute", "large.csv", "--bounds", "x0"), ("impute", "large.csv", "--nope")]
    others += [("impute", f, "-t", "nope") for f in FORMATS if (folder / f).exists()]
    return others


def seconds(folder: Path, *arguments: str) -> tuple[float, int]:
    """Processor seconds and the exit code of a call."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-m", "greyfill", *arguments], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=kept | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")},
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    holds = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        cases = [(call, 2, ANSWER_SECONDS) for call in calls(folder)]
        for call, code, bar in [*cases, (("inspect", "large.csv"), 0, INSPECT_SECONDS)]:
            seconds(folder, *call)
            found = [seconds(folder, *call) for _ in range(runs)]
            times = [time for time, _ in found]
            middle = statistics.median(times)
            is_met = middle <= bar and {c for _, c in found} == {code}
            holds = holds and is_met
            verdict = "holds" if is_met else "FAILS"
            print(f"{min(times):6.2f} {middle:6.2f} s  {verdict}  greyfill {' '.join(call)}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
