"""Work on threads: the answers of one thread, in order, on as many as joblib grants."""

import os
import threading

import pytest
from joblib import parallel_config

from greyfill._neighbors.links import as_ready, map_threads


def test_answers_come_in_order() -> None:
    assert map_threads(lambda item: item * item, range(500), n_jobs=3) == [
        item * item for item in range(500)
    ]


def test_nothing_to_do() -> None:
    assert map_threads(abs, [], n_jobs=2) == []


def all_meet(n_threads: int, n_jobs: int | None) -> None:
    """Items that wait for each other: they come to an end on ``n_threads`` threads or more."""
    barrier = threading.Barrier(n_threads)
    map_threads(lambda _: barrier.wait(timeout=20), range(n_threads), n_jobs)


def test_as_many_threads_as_jobs() -> None:
    all_meet(3, n_jobs=3)
    barrier = threading.Barrier(2)
    with pytest.raises(threading.BrokenBarrierError):
        map_threads(lambda _: barrier.wait(timeout=0.05), range(2), n_jobs=1)


def test_a_surrounding_configuration_counts() -> None:
    with parallel_config(backend="threading", n_jobs=2):
        all_meet(2, n_jobs=None)


def test_calls_go_where_the_configuration_says() -> None:
    """Another process answers under loky, and this one on threads."""

    def process_of(item: int) -> tuple[int, int]:  # in here, so that it travels by value
        return item, os.getpid()

    with parallel_config(backend="loky", n_jobs=2):
        away = dict(as_ready(process_of, [(i,) for i in range(4)], 4, n_jobs=None))
    here = dict(as_ready(process_of, [(i,) for i in range(4)], 4, n_jobs=2))
    assert [away[i][0] for i in range(4)] == [here[i][0] for i in range(4)] == [0, 1, 2, 3]
    assert {pid for _, pid in here.values()} == {os.getpid()}
    assert os.getpid() not in {pid for _, pid in away.values()}


def test_whoever_stops_listening_stops_the_work() -> None:
    begun: list[int] = []
    results = as_ready(begun.append, [(i,) for i in range(1000)], 1000, n_jobs=1)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert begun == [0]


def test_an_error_reaches_the_caller_and_stops_the_rest() -> None:
    begun: list[int] = []

    def fail(item: int) -> None:
        begun.append(item)
        raise IndexError(f"no item {item}")

    with pytest.raises(IndexError, match="no item"):
        map_threads(fail, range(1000), n_jobs=2)
    assert len(begun) <= 2
