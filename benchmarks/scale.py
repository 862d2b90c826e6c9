"""Measure the cluster on this machine, fit the cost model, check it, and write docs/scale.md.

python benchmarks/scale.py            measure (some minutes) and write the page
python benchmarks/scale.py --page     write the page from the last measurements
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from distributed import Client, wait
from scale_bar import BARS, cluster, parted
from scale_model import FEW_HOLES, TERMS, Job, fit, memory, predict, shares, traffic

from greyfill import CGKNNImputer
from greyfill.distributed import DaskImputer, cluster_loop

DOCS = Path(__file__).parent.parent / "docs"
DATA, PAGE = DOCS / "data" / "scale.json", DOCS / "scale.md"

FITTED = [
    Job(20_000), Job(50_000), Job(100_000), Job(50_000, columns=10), Job(50_000, columns=40),
    Job(50_000, classes=5), Job(50_000, holes_per_row=1.0), Job(50_000, partitions=24),
    Job(100_000, max_donors=5_000), Job(20_000, apart=True), Job(50_000, apart=True),
    Job(100_000, apart=True), Job(100_000, max_donors=5_000, apart=True), Job(20_000, workers=1),
    Job(50_000, workers=1), Job(100_000, workers=1),
]  # fmt: skip
HELD_OUT = [
    Job(200_000), Job(200_000, workers=1), Job(80_000, columns=30, classes=3),
    Job(150_000, max_donors=10_000, partitions=16), Job(200_000, apart=True),
]  # fmt: skip
REPEATS = 2
NETWORK = 1e9
"""Bytes a second between machines, for jobs on paper."""


def table_of(job: Job) -> tuple[pd.DataFrame, pd.Series]:
    """Four columns shift with the class; holes are spread evenly."""
    rng = np.random.default_rng(0)
    y = np.arange(job.rows) % job.classes
    X = rng.normal(size=(job.rows, job.columns))
    X[:, :4] += y[:, np.newaxis]
    X[rng.random(X.shape) < job.holes_per_row / job.columns] = np.nan
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(job.columns)]), pd.Series(y)


def measure(job: Job, client: Client) -> dict[str, Any]:
    """The job with the passes it took, its seconds, and the bytes that workers sent each other."""
    X, y = table_of(job)
    frame, labels = parted(X, y, job.partitions)
    cluster_loop.FEW_HOLES = 0 if job.apart else FEW_HOLES
    before, start = received(client), time.perf_counter()
    imputer = DaskImputer(CGKNNImputer(n_neighbors=job.k), max_donors=job.max_donors)
    wait(imputer.fit_transform(frame, labels).persist())
    seconds = time.perf_counter() - start
    moved = received(client)
    moved.subtract(before)
    incomplete = float(X.isna().any(axis=1).mean())
    done = Job(**{**vars(job), "passes": imputer.n_iter_, "incomplete": incomplete})
    return {"job": vars(done), "seconds": seconds, "moved": {k: n for k, n in moved.items() if n}}


def received(client: Client) -> Counter[str]:
    """Bytes that workers got from each other, by the kind of the value."""

    def log(dask_worker: Any) -> list[tuple[str, int]]:
        entries = list(dask_worker.transfer_incoming_log)
        return [(str(key), int(size)) for entry in entries for key, size in entry["keys"].items()]

    total: Counter[str] = Counter()
    for pairs in client.run(log).values():
        for key, size in pairs:
            total[key.split("-")[0].lstrip("('")] += size
    return total


def measure_all() -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {"fitted": [], "held_out": []}
    for workers in (1, 2):
        with cluster(workers, memory="6GiB") as client:
            for name, jobs in (("fitted", FITTED), ("held_out", HELD_OUT)):
                for job in (job for job in jobs if job.workers == workers):
                    runs = [measure(job, client) for _ in range(REPEATS)]
                    best = min(runs, key=lambda run: run["seconds"])
                    print(f"{name}: {job}: {[round(run['seconds'], 2) for run in runs]} s")
                    found[name].append(best)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} hardware threads"
    return {**found, "machine": machine, "repeats": REPEATS}


def jobs_of(runs: list[dict[str, Any]]) -> tuple[list[Job], list[float]]:
    return [Job(**run["job"]) for run in runs], [run["seconds"] for run in runs]


def name_of(job: Job) -> str:
    cap = "" if job.max_donors is None else f", {job.max_donors:,} donors a class"
    return (
        f"{job.rows:,} × {job.columns}, {job.classes} classes, {job.holes_per_row:g} holes a row, "
        f"{job.partitions} partitions{cap}{', passes apart' if job.apart else ''}"
    )


def runs_table(runs: list[dict[str, Any]], model: dict[str, float]) -> list[str]:
    lines = ["| job | workers | passes | measured | model | error |", "|---|---|---|---|---|---|"]
    for job, seconds in zip(*jobs_of(runs), strict=True):
        guess = predict(model, job)
        lines.append(
            f"| {name_of(job)} | {job.workers} | {job.passes} | {seconds:.2f} s | {guess:.2f} s | "
            f"{guess / seconds - 1:+.0%} |"
        )
    return lines


def scaling_table(runs: list[dict[str, Any]]) -> list[str]:
    lines = ["| rows | one worker | two workers | speedup |", "|---|---|---|---|"]
    seconds = {(run["job"]["rows"], run["job"]["workers"]): run["seconds"] for run in runs
               if _is_plain(run["job"])}  # fmt: skip
    for rows in sorted({rows for rows, workers in seconds if workers == 1}):
        one, two = seconds[rows, 1], seconds[rows, 2]
        lines.append(f"| {rows:,} | {one:.2f} s | {two:.2f} s | {one / two:.2f}× |")
    return lines


def _is_plain(job: dict[str, Any]) -> bool:
    usual = vars(Job(job["rows"]))
    names = ("columns", "classes", "holes_per_row", "partitions", "max_donors", "apart")
    return all(job[name] == usual[name] for name in names)


PER_PASS = ("moved_cells", "join_moved", "next_passes")
FOR_POOLS = ("collect", "build_part")


def traffic_table(runs: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| job | pools, measured | pools, model | a pass, measured | a pass, model | whole table |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        job = Job(**run["job"])
        if job.workers < 2:
            continue
        moved = run["moved"]
        expected = traffic(job)
        pools = sum(size for key, size in moved.items() if key.startswith(FOR_POOLS))
        each = sum(size for key, size in moved.items() if key.startswith(PER_PASS)) / job.passes
        lines.append(
            f"| {name_of(job)} | {mib(pools)} | "
            f"{mib(sum(list(expected.values())[:2]))} | {mib(each)} | "
            f"{mib(expected['holes of donors in each pass'])} | {mib(job.rows * job.columns * 8)} |"
        )
    return lines


def bars_table(bars: dict[str, Any]) -> list[str]:
    large, overhead, kill = bars["large"], bars["overhead"], bars["kill"]
    ratios = ", ".join(f"{ratio:.2f}" for ratio in overhead["wall_ratios"])
    median = statistics.median(overhead["wall_ratios"])
    verdict = "kept" if median <= 1.3 else "missed"
    peaks = " and ".join(f"{peak:.2f} GiB" for peak in large["peak_gib"])
    return [
        "| promise | measured |",
        "|---|---|",
        f"| {large['rows']:,} × 20 in {large['partitions']} partitions, from Parquet to Parquet: "
        f"ends, no worker over its limit | {large['seconds']:.0f} s{large.get('note', '')}, "
        f"{large['passes']} passes, "
        f"peaks {peaks}, {large['holes_left']} holes left |",
        f"| at most 1.3 times the time of one process with two threads, {overhead['rows']:,} rows "
        f"| {ratios} times, median {median:.2f}: {verdict} |",
        f"| a worker killed in mid-run costs less than twice the time and changes no cell, "
        f"{kill['rows']:,} rows | {kill['ratio']:.2f} times{kill.get('note', '')}, "
        f"{kill['changed_cells']} changed |",
    ]


def mib(size: float) -> str:
    return f"{size / 2**20:.2f} MiB" if size < 2**30 else f"{size / 2**30:.1f} GiB"


LARGE = [
    Job(10_000_000, workers=8, partitions=160, passes=100),
    Job(100_000_000, workers=64, partitions=1_600, max_donors=1_000_000, passes=100),
    Job(1_000_000_000, workers=256, partitions=16_000, max_donors=1_000_000, passes=100),
    Job(1_000_000_000, workers=256, partitions=16_000, max_donors=100_000, passes=100),
]


def large_table(model: dict[str, float]) -> list[str]:
    lines = [
        "| rows | donors a class | workers | time | memory a worker | pools a worker | a pass |",
        "|---|---|---|---|---|---|---|",
    ]
    for job in LARGE:
        moved, held = traffic(job), max(memory(job).values())
        each = moved["holes of donors in each pass"]
        pools = moved["pools to every other worker"] / max(job.workers - 1, 1)
        wire = (pools + each / job.workers * job.passes) / NETWORK
        lines.append(
            f"| {job.rows:,} | {job.donors:,.0f} | {job.workers} | "
            f"{hours(predict(model, job) + wire)} | {mib(held)} | {mib(pools)} | {mib(each)} |"
        )
    return lines


def hours(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def error_of(runs: list[dict[str, Any]], model: dict[str, float]) -> str:
    errors = [abs(predict(model, job) / s - 1) for job, s in zip(*jobs_of(runs), strict=True)]
    return f"median {statistics.median(errors):.0%}, largest {max(errors):.0%}"


def page(data: dict[str, Any]) -> str:
    model = fit(*jobs_of(data["fitted"]))
    runs = [*data["fitted"], *data["held_out"]]
    largest = max(jobs_of(runs)[0], key=lambda job: (job.rows, job.workers, not job.apart))
    parts = ", ".join(f"{name} {share:.0%}" for name, share in shares(model, largest).items())
    units = [f"| {name} | {model[name]:.3g} |" for name in TERMS]
    text = TEMPLATE.read_text(encoding="utf-8")
    blocks = {
        "machine": data["machine"],
        "repeats": "each job once" if data["repeats"] == 1 else f"best of {data['repeats']} runs",
        "scaling": "\n".join(scaling_table(runs)),
        "traffic": "\n".join(traffic_table(runs)),
        "bars": "\n".join(bars_table(json.loads(BARS.read_text()))),
        "few_holes": f"{FEW_HOLES:,}",
        "units": "\n".join(units),
        "parts": f"{parts} ({name_of(largest)}, {largest.workers} workers)",
        "fitted": "\n".join(runs_table(data["fitted"], model)),
        "held_out": "\n".join(runs_table(data["held_out"], model)),
        "fitted_error": error_of(data["fitted"], model),
        "held_out_error": error_of(data["held_out"], model),
        "large": "\n".join(large_table(model)),
    }
    for name, block in blocks.items():
        text = text.replace("{{" + name + "}}", str(block))
    return text


TEMPLATE = Path(__file__).parent / "scale.template.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page only")
    if not parser.parse_args().page:
        DATA.parent.mkdir(exist_ok=True)
        DATA.write_text(json.dumps(measure_all(), indent=1) + "\n")
    PAGE.write_text(page(json.loads(DATA.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
