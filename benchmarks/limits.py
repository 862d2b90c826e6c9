"""How near the search is to the hardware's limit, what pruning costs and gains, and latencies.

    python benchmarks/limits.py

The limit is a bare loop that does nothing but one division for each pair and column. All rates
are (pair · column) a second on one core, best of many short runs.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from harness import Scenario
from numba import njit

from greyfill import CGKNNImputer
from greyfill._search.pool import build_pool
from greyfill._search.scan import search

QUERIES, K = 24, 10
USUAL = Scenario()


@njit(fastmath=True, error_model="numpy", nogil=True)
def bare_division(cells, numbers, out):
    """One division for each cell, and its sum; nothing else."""
    for leaf in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            a = numbers[j]
            for b in range(cells.shape[2]):
                out[b] += np.float32(0.5) / (abs(cells[leaf, j, b] - a) + np.float32(0.5))


def best_of(repeats: int, works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least seconds of each work; they take turns, so that a slow spell hits all of them."""
    least = dict.fromkeys(works, float("inf"))
    for _ in range(repeats + 1):  # the first round warms up, and is never the least
        for name, work in works.items():
            start = time.perf_counter()
            work()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def rates(n: int = 65_536, p: int = 20, repeats: int = 40) -> dict[str, float]:
    """Bare division, plain scan, and the search as it is, on complete rows with equal weights."""
    rng = np.random.default_rng(0)
    values, whole = rng.random((n, p)), np.zeros((n, p), bool)
    weights = np.full(p, 1.0 / p)
    pool = build_pool(values, whole, np.zeros(p, bool), weights)
    rows, distances = np.empty((QUERIES, K), np.intp), np.empty((QUERIES, K))
    own, queries, holes = np.arange(QUERIES), values[:QUERIES], whole[:QUERIES]
    single, out = values[0].astype(np.float32), np.zeros(64, np.float32)

    def scan(prune: bool) -> object:
        return search(
            True, queries, holes, own, pool, weights, np.argsort(-weights), 0.5, prune,
            np.empty((QUERIES, 0)), rows, distances,
        )  # fmt: skip

    works = {
        "bare division loop": lambda: bare_division(pool.leaves, single, out),
        "plain scan": lambda: scan(False),
        "search, all visited": lambda: scan(True),
    }
    sizes = {"bare division loop": n * p}
    return {
        name: sizes.get(name, QUERIES * n * p) / seconds
        for name, seconds in best_of(repeats, works).items()
    }


def fallback_cost(n: int = 100_000, p: int = 20, queries: int = 256) -> float:
    """Seconds of the search over seconds of the plain scan where pruning cannot help."""
    rng = np.random.default_rng(0)
    values, whole = rng.random((n, p)), np.zeros((n, p), bool)
    weights = np.full(p, 1.0 / p)
    pool = build_pool(values, whole, np.zeros(p, bool), weights)
    rows, distances = np.empty((queries, K), np.intp), np.empty((queries, K))
    ratios = []
    for _ in range(5):
        seconds = []
        for prune in (True, False):
            start = time.perf_counter()
            search(
                True, values[:queries], whole[:queries], np.arange(queries), pool, weights,
                np.argsort(-weights), 0.5, prune, np.empty((queries, 0)), rows, distances,
            )  # fmt: skip
            seconds.append(time.perf_counter() - start)
        ratios.append(seconds[0] / seconds[1])
    return float(np.median(ratios))


def one_row(scenario: Scenario = USUAL, rows: int = 1_000) -> tuple[float, float]:
    """Median and 95th percentile of the milliseconds that ``transform`` needs for one row."""
    X, y = scenario.make()
    imputer = CGKNNImputer(n_neighbors=10).fit(X, y)
    holed = [X[i : i + 1] for i in range(len(X)) if np.isnan(X[i]).any()][:rows]
    for row in holed[:20]:
        imputer.transform(row)
    times = []
    for row in holed:
        start = time.perf_counter()
        imputer.transform(row)
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times)), float(np.percentile(times, 95))


FIRST_CALL = """
import time, numpy as np
from greyfill import CGKNNImputer
X = np.random.default_rng(0).random((200, 5)); X[::7, 0] = np.nan
start = time.perf_counter()
CGKNNImputer(n_neighbors=5).fit_transform(X, np.arange(200) % 2)
print(time.perf_counter() - start)
"""


def first_call() -> tuple[float, float]:
    """Seconds of the first call in a new process: never compiled before, and with a warm cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}

        def run() -> float:
            done = subprocess.run(
                [sys.executable, "-c", FIRST_CALL], env=environment, capture_output=True, text=True,
                check=True,
            )  # fmt: skip
            return float(done.stdout)

        return run(), min(run() for _ in range(3))


def main() -> None:
    measured = rates()
    limit = measured["bare division loop"]
    for name, rate in measured.items():
        print(f"{name:24}{rate / 1e9:6.2f} G/s  {rate / limit:6.0%} of the limit")
    print(f"search over plain scan where pruning cannot help: {fallback_cost():.2f}×")
    median, high = one_row()
    print(f"one row: median {median:.2f} ms, 95 % below {high:.2f} ms")
    cold, warm = first_call()
    print(f"first call in a new process: {cold:.1f} s never compiled, {warm:.2f} s with a cache")


if __name__ == "__main__":
    main()
