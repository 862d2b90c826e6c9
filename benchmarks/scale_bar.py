"""Does the cluster hold what it promises? Sizes, memory, overhead, and a worker that is killed.

python benchmarks/scale_bar.py large      2,000,000 × 20 in 32 partitions, two workers of 2 GiB
python benchmarks/scale_bar.py overhead   against one process with two threads
python benchmarks/scale_bar.py kill       one of two workers is killed in mid-run
"""

import argparse
import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
from distributed import Client, LocalCluster, wait
from harness import Scenario

from greyfill import CGKNNImputer
from greyfill.distributed import DaskImputer

LOOPBACK = "127.0.0.1:0"
GIB = 2**30


@contextmanager
def cluster(n_workers: int = 2, memory: str = "2GiB", threads: int = 1) -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=threads, memory_limit=memory, host="127.0.0.1",
            dashboard_address=LOOPBACK, worker_dashboard_address=LOOPBACK, silence_logs=50,
        ) as local,
        Client(local) as client,
    ):  # fmt: skip
        warm_up(client)
        yield client


def warm_up(client: Client) -> None:
    """Imports and compiled kernels on every worker, so that they are not measured."""
    X, y = table_of(Scenario(rows=3_000))
    for _ in range(2):
        parts = 2 * len(client.nthreads())
        imputer = DaskImputer(CGKNNImputer(n_neighbors=10))
        wait(imputer.fit_transform(*parted(X, y, parts)).persist())


def table_of(scenario: Scenario) -> tuple[pd.DataFrame, pd.Series]:
    X, y = scenario.make()
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), pd.Series(y, name="y")


def parted(X: pd.DataFrame, y: pd.Series, n: int) -> tuple[Any, Any]:
    """The table on the workers, in n partitions."""
    frame, labels = dd.from_pandas(X, npartitions=n), dd.from_pandas(y, npartitions=n)
    frame, labels = frame.persist(), labels.persist()
    wait([frame, labels])
    return frame, labels


def write_dataset(folder: Path, rows: int, partitions: int) -> None:
    """The benchmark's table, made and written one partition at a time."""
    for number, size in enumerate(np.diff(np.linspace(0, rows, partitions + 1).astype(int))):
        rng = np.random.default_rng(number)
        y = np.arange(size) % 2
        X = rng.normal(size=(size, 20))
        X[:, :4] += y[:, np.newaxis]
        X[rng.random(X.shape) < 0.1] = np.nan
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]).assign(y=y)
        frame.to_parquet(folder / f"part-{number:05d}.parquet", index=False)


class Watch(threading.Thread):
    """The highest resident memory of every worker process."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self.pids = sorted(client.run(os.getpid).values())
        self.peaks = dict.fromkeys(self.pids, 0)
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.1):
            for pid in self.pids:
                if psutil.pid_exists(pid):
                    self.peaks[pid] = max(self.peaks[pid], psutil.Process(pid).memory_info().rss)

    def stop(self) -> dict[int, int]:
        self.done.set()
        self.join()
        return self.peaks


def large(rows: int, partitions: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name, cluster() as client:
        source, out = Path(name) / "in", Path(name) / "out"
        source.mkdir()
        write_dataset(source, rows, partitions)
        watch = Watch(client)
        watch.start()
        start = time.perf_counter()
        frame = dd.read_parquet(source)
        imputer = DaskImputer(CGKNNImputer(n_neighbors=10, verbose=1))
        filled = imputer.fit_transform(frame.drop(columns="y"), frame["y"])
        searched = time.perf_counter() - start
        filled.to_parquet(out)
        seconds = time.perf_counter() - start
        peaks = watch.stop()
        same = sorted(client.run(os.getpid).values()) == watch.pids
        holes = sum(int(pd.read_parquet(part).isna().sum().sum()) for part in out.glob("*.parquet"))
    return {
        "rows": rows,
        "partitions": partitions,
        "seconds": seconds,
        "seconds_without_writing": searched,
        "peak_gib": [peak / GIB for peak in peaks.values()],
        "no_worker_over_its_limit": same and max(peaks.values()) < 2 * GIB,
        "holes_left": holes,
        "passes": imputer.n_iter_,
    }


def overhead(rows: int, partitions: int, repeats: int = 5) -> dict[str, Any]:
    """Both in turns, on a table that is in memory; wall-clock and processor seconds."""
    X, y = table_of(Scenario(rows=rows))
    alone = CGKNNImputer(n_neighbors=10, n_jobs=2)
    found = []
    with cluster() as client:
        alone.fit_transform(X[:3_000], y[:3_000])
        frame, labels = parted(X, y, partitions)
        for _ in range(repeats):
            one, whole = measured(lambda: alone.fit_transform(X, y))
            two, lazy = measured(lambda: _done(frame, labels))
            gap = float(np.abs(client.compute(lazy, sync=True).to_numpy() - whole.to_numpy()).max())
            found.append({"one_process": one, "cluster": two, "largest_difference": gap})
    ratios = [run["cluster"]["wall"] / run["one_process"]["wall"] for run in found]
    work = [run["cluster"]["cpu"] / run["one_process"]["cpu"] for run in found]
    return {"rows": rows, "runs": found, "wall_ratios": ratios, "cpu_ratios": work}


def _done(frame: Any, labels: Any) -> Any:
    kept = DaskImputer(CGKNNImputer(n_neighbors=10)).fit_transform(frame, labels).persist()
    wait(kept)
    return kept


def measured(work: Any) -> tuple[dict[str, float], Any]:
    start, before = time.perf_counter(), processor_seconds()
    result = work()
    return {"wall": time.perf_counter() - start, "cpu": processor_seconds() - before}, result


def processor_seconds() -> float:
    me = psutil.Process()
    times = [process.cpu_times() for process in [me, *me.children(recursive=True)]]
    return sum(t.user + t.system for t in times)


def kill(rows: int, partitions: int) -> dict[str, Any]:
    """The same run twice, the second time with a worker killed when half of the time is over."""
    X, y = table_of(Scenario(rows=rows))
    with cluster() as client:
        frame, labels = dd.from_pandas(X, npartitions=partitions), dd.from_pandas(y, partitions)

        def run() -> Any:
            imputer = DaskImputer(CGKNNImputer(n_neighbors=10))
            return client.compute(imputer.fit_transform(frame, labels), sync=True)

        calm, expected = measured(run)
        victim = sorted(client.run(os.getpid).values())[0]
        timer = threading.Timer(calm["wall"] / 2, os.kill, (victim, signal.SIGKILL))
        timer.start()
        struck, found = measured(run)
        killed = victim not in client.run(os.getpid).values()
    return {
        "rows": rows,
        "undisturbed": calm["wall"],
        "killed": struck["wall"],
        "ratio": struck["wall"] / calm["wall"],
        "was_killed": killed,
        "changed_cells": int((found.to_numpy() != expected.to_numpy()).sum()),
    }


DEEDS = {"large": (large, 2_000_000, 32), "overhead": (overhead, 300_000, 8),
         "kill": (kill, 100_000, 16)}  # fmt: skip


BARS = Path(__file__).parent.parent / "docs" / "data" / "scale_bars.json"


def remember(deed: str, found: dict[str, Any]) -> None:
    """Keep the last result of each deed for the page."""
    known = json.loads(BARS.read_text()) if BARS.exists() else {}
    BARS.write_text(json.dumps({**known, deed: found}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("deed", choices=DEEDS)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--partitions", type=int)
    given = parser.parse_args()
    deed, rows, partitions = DEEDS[given.deed]
    found = deed(given.rows or rows, given.partitions or partitions)
    remember(given.deed, found)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
