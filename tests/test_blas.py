"""Matrices on one thread, and the number of threads afterwards."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from greyfill import GreyClassifier, GreyImputer
from greyfill._grey import contributions, grey_engine
from greyfill.blas import one_blas_thread


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    import scipy.linalg.cython_lapack  # noqa: F401

    with threadpool_limits(2, "blas"):
        if n_threads() != {2}:
            pytest.skip("this library of linear algebra has one thread")
        yield


def test_one_thread_within_and_as_before_outside() -> None:
    with one_blas_thread():
        assert n_threads() == {1}
        with one_blas_thread():
            assert n_threads() == {1}
        assert n_threads() == {1}
    assert n_threads() == {2}


def test_it_is_restored_after_an_error() -> None:
    @one_blas_thread()
    def fail() -> None:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            fail()
        assert n_threads() == {2}


def test_it_is_restored_by_the_last_who_leaves() -> None:
    came, may_leave, seen = threading.Event(), threading.Event(), list[set[int]]()

    def second() -> None:
        with one_blas_thread():
            came.set()
            may_leave.wait(10)
            seen.append(n_threads())

    worker = threading.Thread(target=second)
    with one_blas_thread():
        worker.start()
        assert came.wait(10)
    assert n_threads() == {1}
    may_leave.set()
    worker.join(10)
    assert seen == [{1}]
    assert n_threads() == {2}


X = np.random.default_rng(0).normal(size=(40, 3))
X[::5, 0] = np.nan
CALLS = {
    "fit": lambda g: g.fit(X),
    "transform": lambda g: g.transform(X),
    "trust_": lambda g: g.trust_,
    "intervals": lambda g: g.intervals(X),
    "draw": lambda g: g.draw(X, 1),
    "explain": lambda g: g.explain(0, 0),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_grey_engine_works_on_one_thread(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    imputer, seen = GreyImputer().fit(X), []

    def watch(module, name):
        inner = getattr(module, name)

        def watched(*args, **kwargs):
            seen.append(n_threads())
            return inner(*args, **kwargs)

        monkeypatch.setattr(module, name, watched)

    watch(grey_engine.ColumnPredictor, "predict")
    watch(grey_engine.ColumnPredictor, "mean")
    watch(contributions, "feature_weights")
    CALLS[call](imputer)
    assert seen
    assert all(found == {1} for found in seen)
    assert n_threads() == {2}


def test_models_leave_the_number_as_it_was() -> None:
    GreyClassifier().fit(X, X[:, 1] > 0).predict(X[:1])
    assert n_threads() == {2}


def test_fills_are_the_same_bits_for_every_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(600, 60))
    wide[:, 5:] += wide[:, :1]
    wide[rng.random(wide.shape) < 0.05] = np.nan
    fills = []
    for n in (1, 2):
        with threadpool_limits(n, "blas"):
            fills.append(GreyImputer(n_cells=20).fit_transform(wide))
    np.testing.assert_array_equal(*fills)
