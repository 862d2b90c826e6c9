"""Work that other processes do in tests; they import it by name."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from greyfill import CGKNNImputer
from greyfill.table import Floats


def holed(n: int = 700, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(y[:, np.newaxis], 1.0, (n, 6))
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def fill(seed: int) -> list[list[float]]:
    X, y = holed(400, seed)
    return CGKNNImputer(n_neighbors=4, n_jobs=2).fit_transform(X, y).tolist()


def transformed_by_threads(model: Any, X: Any, n_threads: int = 8, n_calls: int = 16) -> list[Any]:
    """What many calls of one fitted imputer give, all at once."""
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(model.transform, [X] * n_calls))


COMPILE = """
import numpy as np
from greyfill._search import kernels
cell = np.zeros(1, dtype=np.intp)
print(kernels.write_cells(np.ones((1, 1)), np.array([False]), cell, cell, cell, np.array([3.0])))
"""
"""Compile one kernel, use it, and print 2.0."""


def compile_at_once(
    cache: str, n_processes: int = 2, timeout: float = 300.0
) -> list[tuple[int, str]]:
    """Processes that fill one new cache at the same time: exit code and output of each."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", COMPILE],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for _ in range(n_processes)
    ]  # fmt: skip
    try:
        outputs = [process.communicate(timeout=timeout)[0] for process in started]
    finally:
        for process in started:
            process.kill()  # only one that did not end in time is still there
    return [(p.returncode, out.strip()) for p, out in zip(started, outputs, strict=True)]
