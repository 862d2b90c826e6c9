"""Micro benchmarks against regressions: ``pip install -e ".[bench]" && pytest benchmarks/micro``.

Compare two states of the code with ``pytest benchmarks/micro --benchmark-autosave`` and
``pytest-benchmark compare``.
"""

import numpy as np
import pytest

from greyfill import CGKNNImputer
from greyfill._search import kernels
from greyfill._search.pool import build_pool
from greyfill.information import class_information
from greyfill.table import Column, Kind, Table

N, P, K = 10_000, 20, 10
WEIGHTS = {
    "equal": np.full(P, 1 / P),
    "skewed": np.array([0.24] * 4 + [0.0025] * 16),
}


def holed() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    values = rng.random((N, P))
    return values, rng.random((N, P)) < 0.1


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("distance", ["grey", "heom"])
def test_search(benchmark, distance: str, weights: str) -> None:
    values, missing = holed()
    lam = WEIGHTS[weights]
    pool = build_pool(values, missing, np.zeros(P, bool), lam)
    queries = (pool, values[:256], missing[:256], np.arange(256), lam)
    rho = {"grey": 0.5, "heom": None}[distance]
    benchmark(lambda: kernels.nearest_donors(*queries, K, rho))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_build_pool(benchmark, weights: str) -> None:
    values, missing = holed()
    benchmark(build_pool, values, missing, np.zeros(P, bool), WEIGHTS[weights])


def test_class_information(benchmark) -> None:
    values, missing = holed()
    columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(P))
    benchmark(class_information, Table(values, missing, columns), np.arange(N) % 2)


def test_one_row(benchmark) -> None:
    values, missing = holed()
    X = np.where(missing, np.nan, values)
    imputer = CGKNNImputer(n_neighbors=K).fit(X, np.arange(N) % 2)
    row = np.full((1, P), 0.5)
    row[0, 0] = np.nan
    benchmark(imputer.transform, row)
