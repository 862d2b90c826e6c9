"""What an installation takes: packages, MiB, and what of them serving imports.

    python benchmarks/installed_size.py                  # this clone
    python benchmarks/installed_size.py ".[app]"         # with an extra
    python benchmarks/installed_size.py --keep FOLDER    # the environment stays there

*Serving* is a process that loads a saved imputer and fills one row.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIT = """
import numpy as np, greyfill
X = np.random.default_rng(0).normal(size=(60, 4))
X[::3, 1] = np.nan
greyfill.GreyImputer().fit(X).save("model.greyfill")
"""
SERVE = """
import sys, numpy as np, greyfill
greyfill.load("model.greyfill").transform(np.array([[1.0, np.nan, 0.0, 1.0]]))
print(*{name.partition(".")[0] for name in sys.modules})
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("requirement", nargs="?", default=".")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = (options.keep or Path(scratch) / "environment").resolve()
        venv.create(home)
        python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        subprocess.run([*pip, options.requirement], cwd=ROOT, check=True)
        installed = list(
            distributions(path=[str(folder) for folder in home.rglob("site-packages")])
        )
        show(installed, imported(python, Path(scratch)))


def imported(python: Path, folder: Path) -> set[str]:
    """Modules, by their first names, that a process has after it filled one row."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    printed = [
        subprocess.check_output([python, "-c", code], cwd=folder, env=alone, text=True)
        for code in (FIT, SERVE)
    ]
    return set(printed[-1].split())


def show(installed: list[Distribution], modules: set[str]) -> None:
    rows = [(megabytes(package), package, tops(package) & modules) for package in installed]
    for size, package, used in sorted(rows, key=lambda row: -row[0]):
        serving = "serving" if used else ""
        print(f"{package.name:20} {package.version:12} {size:7.1f} MiB  {serving}".rstrip())
    served = [size for size, _, used in rows if used]
    print(f"{len(rows)} packages, {sum(row[0] for row in rows):.0f} MiB; ", end="")
    print(f"serving imports {len(served)} of them, {sum(served):.0f} MiB")


def megabytes(package: Distribution) -> float:
    paths = (Path(str(package.locate_file(file))) for file in package.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file()) / 2**20


def tops(package: Distribution) -> set[str]:
    """Names of the modules and packages that a distribution brings."""
    return {file.parts[0].partition(".")[0] for file in package.files or () if file.suffix == ".py"}


if __name__ == "__main__":
    main()
