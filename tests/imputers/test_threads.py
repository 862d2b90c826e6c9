"""Threads, forks and nested parallel loops give the same answer and come to an end."""

import inspect
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from imputers.family import THOROUGH as IMPUTERS
from imputers.family import quick
from imputers.jobs import compile_at_once, fill, holed, transformed_by_threads
from joblib import Parallel, delayed

from greyfill import CGKNNImputer


def jobs_of(imputer: Any, n_jobs: int) -> dict[str, int]:
    """A number of jobs, where an imputer has such a setting."""
    return {"n_jobs": n_jobs} if "n_jobs" in inspect.signature(imputer).parameters else {}


def test_threads_give_the_answer_of_one() -> None:
    X, y = holed()
    alone = CGKNNImputer(n_neighbors=4, n_jobs=1).fit_transform(X, y)
    together = CGKNNImputer(n_neighbors=4, n_jobs=2).fit_transform(X, y)
    assert alone.tolist() == together.tolist()


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
def test_one_fitted_imputer_serves_many_threads(imputer: Any) -> None:
    X, y = holed(150)
    expected = quick(imputer).fit(X, y).transform(X).tobytes()
    fresh = quick(imputer, **jobs_of(imputer, 2)).fit(X, y)  # the first calls race to lay it out
    assert {filled.tobytes() for filled in transformed_by_threads(fresh, X)} == {expected}


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
def test_one_fitted_imputer_serves_threads_with_rows_of_their_own(imputer: Any) -> None:
    """No thread gets to see the rows of another."""
    X, y = holed(160)
    model = quick(imputer).fit(X, y)
    parts = [X[place::8] for place in range(8)] * 4
    expected = [model.transform(part).tobytes() for part in parts]
    with ThreadPoolExecutor(8) as pool:
        assert [filled.tobytes() for filled in pool.map(model.transform, parts)] == expected


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_nested_parallel_loops(backend: str) -> None:
    results = Parallel(n_jobs=2, backend=backend)(delayed(fill)(seed) for seed in range(4))
    assert results == [fill(seed) for seed in range(4)]


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_works_after_a_fork() -> None:
    expected = fill(1)  # threads have run in this process before it forks
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(fill, [1, 1]) == [expected, expected]


def test_works_in_a_spawned_process() -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(fill, [1, 2]) == [fill(1), fill(2)]


def test_two_processes_fill_one_cache(tmp_path: Path) -> None:
    assert compile_at_once(str(tmp_path)) == [(0, "2.0")] * 2
    assert list(tmp_path.rglob("*.nbi"))
    assert compile_at_once(str(tmp_path)) == [(0, "2.0")] * 2  # now from the cache
    assert not list(tmp_path.rglob("*tmp*"))
