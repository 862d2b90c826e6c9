"""Do our MICE and MissForest err as much as R's? Run: python benchmarks/chained_vs_r.py [seeds]

Tables with 20 % of their cells hidden at random are filled by greyfill and by R's packages mice
and missForest; the error is the root mean square over hidden cells, numbers on the [0, 1] scale of
their column and categories as 0 or 1. Two methods agree when their means over the seeds differ by
at most one standard error of the mean. Needs Rscript with mice; missForest is optional.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from greyfill.datasets import make_gaussian_classes
from greyfill.imputers.chained import MICEImputer, MissForestImputer

RATE = 0.2
SCRIPT = Path(__file__).with_suffix(".R")
OURS = {"mice": partial(MICEImputer, methods="pmm"), "missForest": MissForestImputer}


def iris(seed: int) -> pd.DataFrame:
    return pd.DataFrame(load_iris().data, columns=list("abcd"))


def iris_with_species(seed: int) -> pd.DataFrame:
    names = np.array(["setosa", "versicolor", "virginica"])
    return iris(seed).assign(species=names[load_iris().target])


def gaussian(seed: int) -> pd.DataFrame:
    return pd.DataFrame(make_gaussian_classes(seed)[0], columns=list("abcde"))


TABLES = {"iris": iris, "iris-species": iris_with_species, "gaussian": gaussian}


def hide(frame: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    mask = np.random.default_rng(1000 + seed).random(frame.shape) < RATE
    return frame.mask(mask), mask


def error(filled: pd.DataFrame, truth: pd.DataFrame, mask: np.ndarray) -> float:
    squares = []
    for j, name in enumerate(truth.columns):
        known, guess = truth[name][mask[:, j]].to_numpy(), filled[name][mask[:, j]].to_numpy()
        if pd.api.types.is_numeric_dtype(truth[name]):
            span = truth[name].max() - truth[name].min()
            squares.append(((known - guess) / span) ** 2)
        else:
            squares.append((known != guess).astype(float))
    return float(np.sqrt(np.concatenate(squares).mean()))


def fill_with_r(folder: Path) -> str:
    """Let R fill all tables of the folder; the versions of its packages."""
    subprocess.run(["Rscript", str(SCRIPT), str(folder)], check=True, capture_output=True)
    return (folder / "versions.txt").read_text().strip()


def measure(n_seeds: int) -> dict[tuple[str, str], list[float]]:
    errors: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = [(table, seed) for table in TABLES for seed in range(n_seeds)]
        for table, seed in runs:
            holes, _ = hide(TABLES[table](seed), seed)
            holes.to_csv(folder / f"{table}-{seed}.holes.csv", index=False, na_rep="NA")
        start = time.perf_counter()
        print(fill_with_r(folder), f"({time.perf_counter() - start:.0f} s)", flush=True)
        start = time.perf_counter()
        for table, seed in runs:
            truth = TABLES[table](seed)
            holes, mask = hide(truth, seed)
            for ours, imputer in OURS.items():
                filled = imputer(random_state=seed).fit_transform(holes)
                errors.setdefault((table, ours), []).append(error(filled, truth, mask))
            for path in folder.glob(f"{table}-{seed}.*.csv"):
                method = path.name.split(".")[1]
                if method != "holes":
                    found = error(pd.read_csv(path), truth, mask)
                    errors.setdefault((table, f"R {method}"), []).append(found)
        print(f"greyfill ({time.perf_counter() - start:.0f} s)", flush=True)
    return errors


def report(errors: dict[tuple[str, str], list[float]]) -> None:
    print(f"{'table':14}{'method':26}{'NRMSE':>8}{'± s.e.':>9}{'ours':>9}{'± s.e.':>9}  verdict")
    for (table, method), found in sorted(errors.items()):
        if not method.startswith("R "):
            continue
        ours = errors[table, "mice" if method == "R mice" else "missForest"]
        n = len(found)
        theirs, mine = np.array(found), np.array(ours)
        spread = [a.std(ddof=1) / np.sqrt(n) for a in (theirs, mine)]
        gap = mine.mean() - theirs.mean()
        paired = (mine - theirs).std(ddof=1) / np.sqrt(n)
        agree = abs(gap) <= max(spread)
        print(
            f"{table:14}{method:26}{theirs.mean():8.4f}{spread[0]:9.4f}{mine.mean():9.4f}"
            f"{spread[1]:9.4f}  {'agree' if agree else 'DIFFER'}"
            f" (ours − R = {gap:+.4f}, paired s.e. {paired:.4f})"
        )


def r_has_mice() -> bool:
    if shutil.which("Rscript") is None:
        return False
    check = "quit(status = !requireNamespace('mice', quietly = TRUE))"
    return subprocess.run(["Rscript", "-e", check], check=False).returncode == 0


if __name__ == "__main__":
    if not r_has_mice():
        sys.exit("skipped: no Rscript with the package mice (Debian: apt install r-cran-mice)")
    report(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
