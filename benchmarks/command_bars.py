"""The command against its bars: the demo of a fresh install, and a large CSV file.

    python benchmarks/command_bars.py            # in a fresh environment made by pip
    python benchmarks/command_bars.py --here     # in this environment, with empty caches

The demo runs with an empty compile cache, and must end within 20 s. ``impute`` fills a generated
file of 100 000 rows and 15 columns with two threads, and must end within 20 s and below 1 GiB; its
first run compiles, its second is what a user sees every day. ``apply`` fills the same file by a
saved imputer. Time is that of the whole process, beside it that of all processors;
memory is its peak.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DEMO_SECONDS, IMPUTE_SECONDS, IMPUTE_GIB = 20.0, 20.0, 1.0
ROWS, COLUMNS = 100_000, 15


@dataclass
class Run:
    name: str
    seconds: float
    cpu: float
    gib: float
    bar: str
    holds: bool

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return (
            f"{self.name:<34} {self.seconds:7.1f} s (CPU {self.cpu:6.1f} s) {self.gib:6.2f} GiB   "
            f"{self.bar:<16} {verdict}"
        )


def measured(line: list[str], folder: Path, **environment: str) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak GiB of a process that must not fail."""
    with tempfile.TemporaryFile() as messages:
        start = time.perf_counter()
        process = subprocess.Popen(
            line, cwd=folder, stderr=messages, stdout=messages, env=os.environ | environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            messages.seek(0)
            sys.exit(f"{' '.join(line)}\n{messages.read().decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def write_table(path: Path) -> None:
    """Ten numbers and four categories that depend on two classes, 5 % of the cells missing."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, ROWS)
    numbers = rng.normal(size=(ROWS, COLUMNS - 5)) + label[:, None] * np.linspace(0, 1, COLUMNS - 5)
    codes = (rng.random((ROWS, 4)) * (2 + 3 * label[:, None])).astype(int)
    cells = np.concatenate([np.char.mod("%.3f", numbers), np.char.mod("level%d", codes)], axis=1)
    cells[rng.random(cells.shape) < 0.05] = ""
    names = [*(f"x{j}" for j in range(COLUMNS - 5)), *(f"c{j}" for j in range(4)), "class"]
    classes = np.array(["no", "yes"])[label]
    with path.open("w") as file:
        file.write(",".join(names) + "\n")
        file.writelines(f"{','.join(row)},{y}\n" for row, y in zip(cells, classes, strict=True))


def fresh_environment(folder: Path) -> Path:
    """A new environment with this project in it."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", ROOT], check=True)
    return folder / "bin" / "python"


def bars(python: Path, folder: Path) -> list[Run]:
    command = [str(python), "-m", "greyfill"]
    cold = {"NUMBA_CACHE_DIR": str(folder / "cold")}
    seconds, cpu, gib = measured([*command, "demo", "-q"], folder, **cold)
    runs = [
        Run(
            "demo, nothing compiled yet",
            seconds,
            cpu,
            gib,
            f"< {DEMO_SECONDS:.0f} s",
            seconds < DEMO_SECONDS,
        )
    ]
    write_table(folder / "large.csv")
    fill = [
        *command,
        "impute",
        "large.csv",
        "-t",
        "class",
        "-m",
        "cgknn",
        "-j",
        "2",
        "-q",
        "-f",
        "--save",
        "model",
    ]
    for name in ("first run", "second run"):
        seconds, cpu, gib = measured(fill, folder, NUMBA_CACHE_DIR=str(folder / "warm"))
        holds = seconds < IMPUTE_SECONDS and gib < IMPUTE_GIB
        bar = f"< {IMPUTE_SECONDS:.0f} s, < {IMPUTE_GIB:.0f} GiB"
        runs.append(Run(f"impute {ROWS:,} × {COLUMNS}, {name}", seconds, cpu, gib, bar, holds))
    serve = [*command, "apply", "model", "large.csv", "-j", "2", "-q", "-f", "-o", "served.csv"]
    seconds, cpu, gib = measured(serve, folder, NUMBA_CACHE_DIR=str(folder / "warm"))
    runs.append(Run(f"apply to {ROWS:,} × {COLUMNS}", seconds, cpu, gib, "none", True))
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--here", action="store_true", help="use the environment that runs this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = Path(sys.executable) if options.here else fresh_environment(folder / "environment")
        runs = bars(python, folder)
    print(*runs, sep="\n")
    return 0 if all(run.holds for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
