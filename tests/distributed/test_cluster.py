"""Worker processes of this machine are killed, paused and starved; their scheduler is closed."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed")

import dask  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from cluster_tables import HungryHeom, SlowHeom, mixed_table  # noqa: E402

from greyfill import (  # noqa: E402
    AllRows,
    CGKNNImputer,
    EqualWeights,
    GlobalStart,
    GreyImputer,
    NeighborImputer,
)
from greyfill.distributed import DaskImputer  # noqa: E402
from greyfill.exceptions import ClusterError  # noqa: E402

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals"),
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("default"),  # what dying workers leave open is not ours
]

DONORS = 60
"""Few, so that partitions have rows which are filled after the fit."""

TABLE = mixed_table(360)
X, Y = TABLE.drop(columns="class"), TABLE["class"]
LOCAL = {
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
    "silence_logs": 50,
    "threads_per_worker": 1,
}


def blind(distance) -> NeighborImputer:
    """A method without labels by a distance of the tests."""
    return NeighborImputer(
        5, distance=distance, weights=EqualWeights(), donors=AllRows(), start=GlobalStart(),
        labels="none",
    )  # fmt: skip


def frame(n: int = 10) -> "dd.DataFrame":
    return dd.from_pandas(X, npartitions=n)


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    with (
        distributed.LocalCluster(n_workers=2, **LOCAL) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def undisturbed() -> pd.DataFrame:
    quick = DaskImputer(blind(SlowHeom(seconds=0.0)), donors=DONORS)
    return quick.fit_transform(frame()).compute()


def in_background(work: Callable[[], object]) -> "Future[object]":
    return ThreadPoolExecutor(1).submit(work)


def pids(client) -> list[int]:
    return sorted(client.run(os.getpid).values())


def wait_for_partitions(client, run: "Future[object]", count: int) -> None:
    """Wait until some partitions are filled and others are not."""
    until = time.monotonic() + 120
    while sum(str(key).startswith("fill_old-") for key in client.who_has()) < count:
        assert not run.done(), run.exception()
        assert time.monotonic() < until
        time.sleep(0.05)


def slow_run(client) -> pd.DataFrame:
    imputer = DaskImputer(blind(SlowHeom()), donors=DONORS, client=client)
    lazy = imputer.fit_transform(frame())
    return client.compute(lazy, sync=True)


@pytest.mark.parametrize("donors", ["all", 200_000])
@pytest.mark.parametrize("imputer", [CGKNNImputer(5), GreyImputer(n_cells=20)], ids=repr)
def test_cluster_gives_the_result_of_one_machine(client, imputer, donors) -> None:
    cluster = DaskImputer(imputer, client=client, donors=donors)
    lazy = cluster.fit_transform(frame(4), dd.from_pandas(Y, npartitions=4))
    filled = client.compute(lazy, sync=True)
    pd.testing.assert_frame_equal(filled, imputer.fit_transform(X, Y), check_exact=True)
    assert cluster.history_ == imputer.history_


def test_all_workers_search_where_all_rows_are_donors(client) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((1_500, 5))).mask(rng.random((1_500, 5)) < 0.1)
    table.columns = list("abcde")
    lazy = DaskImputer(blind(SlowHeom(seconds=0.0)), donors="all", client=client)
    filled = lazy.fit_transform(dd.from_pandas(table, npartitions=3))
    alone = blind(SlowHeom(seconds=0.0)).fit_transform(table)
    pd.testing.assert_frame_equal(client.compute(filled, sync=True), alone, check_exact=True)
    assert searched_by_tasks(client)


def searched_by_tasks(client) -> bool:
    """Whether blocks of a search were tasks of their own."""
    prefixes = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    return any("search_block" in prefix for prefix in prefixes)


def test_killed_worker_changes_no_cell(client, undisturbed) -> None:
    victim = pids(client)[0]
    run = in_background(lambda: slow_run(client))
    wait_for_partitions(client, run, 3)
    os.kill(victim, signal.SIGKILL)
    pd.testing.assert_frame_equal(run.result(timeout=120), undisturbed, check_exact=True)
    client.wait_for_workers(2, timeout=60)
    assert victim not in pids(client)


def test_paused_worker_is_given_up(client, undisturbed) -> None:
    client.wait_for_workers(2, timeout=60)
    address, victim = min(client.run(os.getpid).items(), key=lambda pair: pair[1])
    run = in_background(lambda: slow_run(client))
    try:
        wait_for_partitions(client, run, 3)
        os.kill(victim, signal.SIGSTOP)
        let_time_pass(client, address, run)
        pd.testing.assert_frame_equal(run.result(timeout=120), undisturbed, check_exact=True)
    finally:
        if victim in {worker.pid for worker in _processes(client)}:
            os.kill(victim, signal.SIGCONT)


def let_time_pass(client, address: str, run: "Future[object]") -> None:
    """Five minutes without a word of a worker: the scheduler gives it up."""
    scheduler = client.cluster.scheduler
    silent = scheduler.workers[address]
    while scheduler.workers.get(address) is silent:
        assert not run.done(), run.exception()
        silent.last_seen -= 2 * scheduler.worker_ttl
        client.cluster.sync(scheduler.check_worker_ttl)
        time.sleep(0.1)


def _processes(client) -> list:
    return [nanny.process for nanny in client.cluster.workers.values() if nanny.process]


def test_joblib_sends_the_blocks_to_the_workers(client) -> None:
    rng = np.random.default_rng(0)
    table = rng.random((1_500, 5))
    table[rng.random(table.shape) < 0.1] = np.nan
    labels = np.arange(1_500) % 2
    alone = CGKNNImputer(n_neighbors=5).fit_transform(table, labels)
    with client.as_current(), joblib.parallel_config("dask"):
        sent = CGKNNImputer(n_neighbors=5).fit_transform(table, labels)
    assert sent.tolist() == alone.tolist()
    assert searched_by_tasks(client)


def test_worker_without_enough_memory_is_a_clear_error() -> None:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(1, memory_limit="900MiB", **LOCAL) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        starved = DaskImputer(blind(HungryHeom()), client=client)
        with pytest.raises(ClusterError, match="ran out of memory"):
            starved.fit(frame(2))


def test_scheduler_that_goes_away_is_a_clear_error() -> None:
    with distributed.LocalCluster(n_workers=1, **LOCAL) as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        slow = DaskImputer(blind(SlowHeom(seconds=20.0)), client=client)
        run = in_background(lambda: slow.fit(frame()))
        while not any("fit_sample" in key for some in client.processing().values() for key in some):
            assert not run.done(), run.exception()
            time.sleep(0.05)
        cluster.close()
        with pytest.raises(ClusterError, match="scheduler"):
            run.result(timeout=60)
        client.close()


@pytest.mark.parametrize("is_alone", [True, False], ids=["no client", "another client"])
def test_a_closed_client_is_told_in_words(is_alone: bool, client) -> None:
    few = dd.from_pandas(X[:60], npartitions=2)
    used, unused = (DaskImputer(blind(SlowHeom(seconds=0.0))) for _ in range(2))
    here = {name: setting for name, setting in LOCAL.items() if name != "host"}
    with distributed.Client(processes=False, n_workers=1, **here):
        lazy, new = used.fit_transform(few), used.transform(few)
        unused.fit(few)
        assert not new.compute().isna().any().any()
    computing = {"scheduler": "threads"} if is_alone else {"scheduler": client}
    used.client = unused.client = None if is_alone else client
    for work in (
        lambda: lazy.compute(**computing),
        lambda: new.compute(**computing),
        lambda: used.transform(few),
        lambda: unused.transform(few),
    ):
        with pytest.raises(ClusterError, match=r"client was closed.*before you close the client"):
            work()
    assert not unused.imputer_.transform(X[:60]).isna().any().any()  # it is in this process
