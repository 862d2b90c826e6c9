"""Threads, forks and nested parallel loops give the same answer and come to an end."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest
from imputers.jobs import fill, holed
from joblib import Parallel, delayed

from greyfill import CGKNNImputer


def test_threads_give_the_answer_of_one() -> None:
    X, y = holed()
    alone = CGKNNImputer(n_neighbors=4, n_jobs=1).fit_transform(X, y)
    together = CGKNNImputer(n_neighbors=4, n_jobs=2).fit_transform(X, y)
    assert alone.tolist() == together.tolist()


def test_one_fitted_imputer_serves_many_threads() -> None:
    X, y = holed()
    imputer = CGKNNImputer(n_neighbors=4, n_jobs=2).fit(X, y)
    expected = CGKNNImputer(n_neighbors=4).fit(X, y).transform(X).tolist()
    with ThreadPoolExecutor(8) as pool:  # the first calls race to lay out the donors
        for result in pool.map(imputer.transform, [X] * 16):
            assert result.tolist() == expected


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
