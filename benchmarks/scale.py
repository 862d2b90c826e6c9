"""What tables cost that are larger than memory or go to a cluster; writes docs/scale.md.

    python benchmarks/scale.py dask --rows 2000000 --imputer grey    two workers of 2 GiB
    python benchmarks/scale.py chunked --rows 10000000               one process, a Parquet folder
    python benchmarks/scale.py kill                                  one of two workers is killed
    python benchmarks/scale.py sample --rows 1000000                 errors: 200 000 donors and all
    python benchmarks/scale.py --page                                the page from all runs so far

Each run replaces the last one of its kind and size in docs/data/scale.json. The table has fourteen
numbers of rank six plus noise, three texts, two whole numbers and a truth value, two classes and
10 % holes; each partition is made from its own number, so that hidden cells can be made again.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from scipy.optimize import nnls

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

from run import commit

from greyfill import CGKNNImputer, GreyImputer
from greyfill.distributed import DaskImputer, impute_dataset

DOCS = Path(__file__).parent.parent / "docs"
DATA, PAGE = DOCS / "data" / "scale.json", DOCS / "scale.md"
TEMPLATE = Path(__file__).parent / "scale.template.md"
PART_ROWS, DONORS, GIB, LOOPBACK = 62_500, 200_000, 2**30, "127.0.0.1:0"
IMPUTERS = {"grey": GreyImputer, "cgknn": lambda: CGKNNImputer(n_neighbors=10)}
NUMBERS = [f"x{j}" for j in range(14)]
LIMIT = "2GiB"


def part(number: int, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A partition without and with holes."""
    mixing = np.random.default_rng(0).normal(size=(6, 20))
    rng = np.random.default_rng([1, number])
    y = rng.integers(0, 2, rows)
    hidden = rng.normal(size=(rows, 6)) + 0.7 * y[:, np.newaxis]
    X = hidden @ mixing + 0.5 * rng.normal(size=(rows, 20))
    whole = pd.DataFrame(X[:, :14], columns=NUMBERS)
    for j, name in enumerate(("city", "ward", "drug"), start=14):
        places = np.digitize(X[:, j], [-2.5, 0.0, 2.5])
        whole[name] = pd.Series(
            np.array(["north", "east", "south", "west"])[places], dtype="string"
        )
    for j, name in enumerate(("visits", "beds"), start=17):
        whole[name] = pd.array(np.rint(10 + 3 * X[:, j]).astype(int), dtype="Int64")
    whole["smoker"] = pd.array(X[:, 19] > 0, dtype="boolean")
    holed = whole.mask(rng.random(whole.shape) < 0.1)
    return whole, holed.assign(outcome=np.array(["well", "ill"])[y])


def write_parts(folder: Path, rows: int) -> int:
    folder.mkdir()
    sizes = [min(PART_ROWS, rows - first) for first in range(0, rows, PART_ROWS)]
    for number, size in enumerate(sizes):
        part(number, size)[1].to_parquet(folder / f"{number:04d}.parquet", index=False)
    return len(sizes)


def written(folder: Path) -> list[Path]:
    """The files of a folder by the number in their names: 10 after 9."""
    return sorted(
        folder.glob("*.parquet"), key=lambda path: int("".join(filter(str.isdigit, path.stem)))
    )


def error(folder: Path, most: int = 8) -> float:
    """Root mean squared error of hidden numbers in units of their spread, in some partitions."""
    squares, n = 0.0, 0
    for number, file in enumerate(written(folder)[:most]):
        filled = pd.read_parquet(file)
        assert not filled.isna().any().any()
        whole, holed = part(number, len(filled))
        gaps = ((filled[NUMBERS] - whole[NUMBERS]) / whole[NUMBERS].std()).to_numpy(dtype=float)
        is_hole = holed[NUMBERS].isna().to_numpy()
        assert np.array_equal(
            filled[NUMBERS].to_numpy()[~is_hole], whole[NUMBERS].to_numpy()[~is_hole]
        )
        squares, n = squares + float((gaps[is_hole] ** 2).sum()), n + int(is_hole.sum())
    return float(np.sqrt(squares / n))


@contextmanager
def peaks(pids: list[int]) -> Iterator[dict[int, int]]:
    """The largest resident memory of processes while a block runs."""
    found, ended = dict.fromkeys(pids, 0), threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            for pid in pids:
                with suppress(psutil.Error):  # it has ended
                    found[pid] = max(found[pid], psutil.Process(pid).memory_info().rss)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


@contextmanager
def workers(n: int = 2) -> Iterator[Any]:
    """Worker processes of one thread that have compiled what they need."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n, threads_per_worker=1, memory_limit=LIMIT, host="127.0.0.1",
            dashboard_address=LOOPBACK, worker_dashboard_address=LOOPBACK, silence_logs=50,
        ) as local,
        Client(local) as client,
    ):  # fmt: skip
        client.run(warm_up)
        yield client


def warm_up() -> None:
    table = part(0, 6_000)[1]
    for make in IMPUTERS.values():
        fitted = make().fit(table[:5_500].drop(columns="outcome"), table["outcome"][:5_500])
        fitted.transform(table[5_500:].drop(columns="outcome"))


def moved(client: Any) -> int:
    """Bytes that workers got from each other."""

    def log(dask_worker: Any) -> int:
        return sum(int(entry["total"]) for entry in dask_worker.transfer_incoming_log)

    return sum(client.run(log).values())


def run_dask(client: Any, source: Path, out: Path, imputer: str) -> dict[str, Any]:
    import dask.dataframe as dd

    pids = list(client.run(os.getpid).values())
    before, start = moved(client), time.perf_counter()
    with peaks(pids) as found:
        frame = dd.read_parquet(source, split_row_groups=False)
        cluster = DaskImputer(IMPUTERS[imputer]())
        filled = cluster.fit_transform(frame.drop(columns="outcome"), frame["outcome"])
        fitted = time.perf_counter()
        filled.to_parquet(out)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds, "fit_seconds": fitted - start, "moved": moved(client) - before,
        "peak_gib": [peak / GIB for peak in found.values()],
    }  # fmt: skip


def measure_dask(rows: int, imputer: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in", Path(folder) / "out"
        parts = write_parts(source, rows)
        with workers() as client:
            run = run_dask(client, source, out, imputer)
        return {**run, "partitions": parts, "error": error(out)}


def measure_kill(rows: int, imputer: str) -> dict[str, Any]:
    """A worker is killed when half of the partitions are written."""
    with tempfile.TemporaryDirectory() as folder:
        source, calm, wild = (Path(folder) / name for name in ("in", "calm", "wild"))
        parts = write_parts(source, rows)
        with workers() as client:
            undisturbed = run_dask(client, source, calm, imputer)
            victim = min(client.run(os.getpid).values())

            def kill() -> None:
                while len(list(wild.glob("*.parquet"))) < parts // 2:
                    time.sleep(0.05)
                os.kill(victim, signal.SIGKILL)

            threading.Thread(target=kill, daemon=True).start()
            disturbed = run_dask(client, source, wild, imputer)
        one, two = (pd.concat(map(pd.read_parquet, written(f))) for f in (calm, wild))
        changed = int((one.reset_index(drop=True) != two.reset_index(drop=True)).sum().sum())
    ratio = disturbed["seconds"] / undisturbed["seconds"]
    return {"ratio": ratio, "changed": changed, "seconds": undisturbed["seconds"]}


def measure_chunked(rows: int, imputer: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in", Path(folder) / "out"
        parts = write_parts(source, rows)
        command = [sys.executable, __file__, "fill", str(source), str(out), "--imputer", imputer]
        start = time.perf_counter()
        process = subprocess.Popen(command)
        with peaks([process.pid]) as found:
            assert process.wait() == 0
        seconds = time.perf_counter() - start
        peak = found[process.pid] / GIB
        return {"seconds": seconds, "peak_gib": [peak], "partitions": parts, "error": error(out)}


def measure_sample(rows: int, imputer: str) -> dict[str, Any]:
    """Errors on hidden cells with the usual sample of donors, and with all rows as donors."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in"
        write_parts(source, rows)
        for donors in (200_000, "all"):
            out, start = Path(folder) / str(donors), time.perf_counter()
            impute_dataset(
                str(source), str(out), IMPUTERS[imputer](), target="outcome", donors=donors
            )
            found[f"{donors}"] = {"error": error(out), "seconds": time.perf_counter() - start}
    return found


MEASURES = {
    "dask": measure_dask,
    "chunked": measure_chunked,
    "kill": measure_kill,
    "sample": measure_sample,
}


def sized(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"


def runs_table(data: dict[str, Any], kind: str) -> list[str]:
    lines = [
        "| rows × 20 | method | time | of it, fit | largest memory | moved | error | commit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for run in runs_of(data, kind):
        fit = sized(run["fit_seconds"]) if "fit_seconds" in run else ""
        size = f"{run['moved'] / 2**20:,.0f} MiB" if "moved" in run else ""
        peak = " and ".join(f"{peak:.2f}" for peak in run["peak_gib"])
        lines.append(
            f"| {run['rows']:,} | {run['imputer']} | {sized(run['seconds'])} | {fit} | {peak} GiB "
            f"| {size} | {run['error']:.4f} | {run['commit']} |"
        )
    return lines + noted(data, kind)


def noted(data: dict[str, Any], kind: str) -> list[str]:
    """What to know about the times of some runs."""
    runs = [run for run in runs_of(data, kind) if run.get("note")]
    return ["", *(f"{run['rows']:,} rows, {run['imputer']}: {run['note']}" for run in runs)]


def runs_of(data: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    runs = [run for run in data["runs"].values() if run["kind"] == kind]
    return sorted(runs, key=lambda run: (run["imputer"], run["rows"]))


def sample_table(data: dict[str, Any]) -> list[str]:
    lines = [
        "| rows | method | 200 000 donors | all donors | ratio | commit |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs_of(data, "sample"):
        few, many = run["200000"], run["all"]
        lines.append(
            f"| {run['rows']:,} | {run['imputer']} | {few['error']:.4f}, {sized(few['seconds'])} | "
            f"{many['error']:.4f}, {sized(many['seconds'])} | {few['error'] / many['error']:.4f} "
            f"| {run['commit']} |"
        )
    return lines + noted(data, "sample")


def kill_lines(data: dict[str, Any]) -> list[str]:
    return [
        f"{run['rows']:,} rows, {run['imputer']}: {run['ratio']:.2f} times the time, "
        f"{run['changed']} changed cells (commit {run['commit']})."
        for run in runs_of(data, "kill")
    ]


def model_lines(data: dict[str, Any], kind: str, n_workers: int) -> list[str]:
    """seconds = start + per million rows · (rows - donors) / workers, by the runs but the largest.

    The fit is the start: it fills its donors, so that only the other rows count.
    """
    lines = []
    for imputer in IMPUTERS:
        runs = [
            run
            for run in runs_of(data, kind)
            if run["imputer"] == imputer and run["rows"] > DONORS and not run.get("note")
        ]
        if len(runs) < 3:
            continue
        sizes = np.array([(run["rows"] - DONORS) / 1e6 / n_workers for run in runs])
        seconds = np.array([run["seconds"] for run in runs])
        design = np.column_stack([np.ones(len(runs)), sizes]) / seconds[:, np.newaxis]
        (start, each), _ = nnls(design[:-1], np.ones(len(runs) - 1))
        guess = start + each * sizes[-1]
        largest = f"{runs[-1]['rows']:,} rows"
        lines.append(
            f"* {kind}, {imputer}: {start:.0f} s + {each:.0f} s for a million more rows of a "
            f"worker. The largest run ({largest}), which the fit did not see: {sized(guess)} by "
            f"the model, {sized(seconds[-1])} measured ({guess / seconds[-1] - 1:+.0%}). "
            f"A billion rows on 64 such workers: {sized(start + each * 1e3 / 64)}."
        )
    return lines


def page(data: dict[str, Any]) -> str:
    blocks = {
        "machine": data["machine"],
        "dask": runs_table(data, "dask"),
        "chunked": runs_table(data, "chunked"),
        "sample": sample_table(data),
        "kill": kill_lines(data),
        "model": model_lines(data, "dask", 2) + model_lines(data, "chunked", 1),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for kind in (kind for kind in MEASURES if not runs_of(data, kind)):
        blocks[kind] = f"Not run yet: `python benchmarks/scale.py {kind}`."
    blocks["model"] = blocks["model"] or "Too few runs yet: it takes three sizes."
    for name, lines in blocks.items():
        text = text.replace(
            "{{" + name + "}}", lines if isinstance(lines, str) else "\n".join(lines)
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="?", choices=[*MEASURES, "fill"])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--imputer", choices=IMPUTERS, default="grey")
    parser.add_argument("--note", default="", help="what to know about the time of this run")
    parser.add_argument("--page", action="store_true", help="write the page only")
    args = parser.parse_args()
    if args.kind == "fill":  # in a process of its own, whose memory is watched
        impute_dataset(*args.paths, IMPUTERS[args.imputer](), target="outcome")
        return
    data = json.loads(DATA.read_text()) if DATA.exists() else {"runs": {}}
    if args.kind:
        run = MEASURES[args.kind](args.rows, args.imputer)
        data["machine"] = f"Python {platform.python_version()}, {os.cpu_count()} hardware threads"
        run |= {"kind": args.kind, "rows": args.rows, "imputer": args.imputer, "note": args.note}
        run["commit"] = commit()
        data["runs"][f"{args.kind} {args.imputer} {args.rows}"] = run
        print(json.dumps(run))
        DATA.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(page(data), encoding="utf-8")


if __name__ == "__main__":
    main()
