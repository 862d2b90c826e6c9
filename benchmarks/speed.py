"""Speed and memory of CGKNNImputer beside scikit-learn's KNNImputer, each in its own process.

    python benchmarks/speed.py                     20 000 × 20, 10 % holes, two classes, k = 10
    python benchmarks/speed.py --rows 5000 --repeats 3

Prints seconds of ``fit_transform`` (median, least, most) and the memory it needed beyond what the
process held before the call, and the ratios between the two.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
from sklearn.impute import KNNImputer

from greyfill import CGKNNImputer, GKNNImputer, IKNNImputer, KNNIImputer

CONTESTANTS = {
    "sklearn KNNImputer": lambda: KNNImputer(n_neighbors=10),
    "CGKNNImputer": lambda: CGKNNImputer(n_neighbors=10, n_jobs=2),
    "CGKNNImputer k=cv": lambda: CGKNNImputer(n_neighbors="cv", n_jobs=2),
    "GKNNImputer": lambda: GKNNImputer(n_neighbors=10, n_jobs=2),
    "KNNIImputer": lambda: KNNIImputer(n_neighbors=10, n_jobs=2),
    "IKNNImputer": lambda: IKNNImputer(n_neighbors=10, n_jobs=2),
}
YARDSTICK = "sklearn KNNImputer"


def make_table(n: int, p: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Two classes; a fifth of the columns shift with the class; holes completely at random."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, : max(p // 5, 1)] += y[:, np.newaxis]
    X[rng.random((n, p)) < rate] = np.nan
    return X, y


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_one(name: str, n: int, p: int, rate: float) -> None:
    """Child process: warm up (compilation), measure one call, print JSON."""
    X, y = make_table(n, p, rate)
    imputer = CONTESTANTS[name]()
    imputer.fit_transform(X[:200], y[:200])
    before, start = peak_mib(), time.perf_counter()
    filled = imputer.fit_transform(X, y)
    seconds = time.perf_counter() - start
    assert not np.isnan(filled).any()
    print(json.dumps({"seconds": seconds, "mib": peak_mib() - before}))


def measure(name: str, arguments: argparse.Namespace) -> dict[str, float]:
    size = [str(arguments.rows), str(arguments.columns), str(arguments.rate)]
    done = subprocess.run(
        [sys.executable, __file__, "--child", name, *size], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(CONTESTANTS))
    arguments = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in arguments.only}
    for _ in range(arguments.repeats):  # interleaved, so that a slow spell hits everyone
        for name in runs:
            runs[name].append(measure(name, arguments))
    print(f"{arguments.rows} × {arguments.columns}, {arguments.rate:.0%} holes, two classes")
    print(f"{'':24}{'seconds (least–most)':>28}{'faster':>9}{'MiB':>8}{'of its memory':>15}")
    base_seconds, base_mib = summary(runs.get(YARDSTICK, [{"seconds": 0, "mib": 0}]))
    for name, results in runs.items():
        seconds, mib = summary(results)
        spread = [result["seconds"] for result in results]
        shown = f"{seconds:.2f} ({min(spread):.2f}–{max(spread):.2f})"
        share = mib / base_mib if base_mib else float("nan")
        print(f"{name:24}{shown:>28}{base_seconds / seconds:>8.1f}×{mib:>8.0f}{share:>14.1%}")


def summary(results: list[dict[str, float]]) -> tuple[float, float]:
    return (
        statistics.median(result["seconds"] for result in results),
        statistics.median(result["mib"] for result in results),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
