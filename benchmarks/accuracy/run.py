"""Fill every table in every scenario by some methods and keep the errors.

    python benchmarks/accuracy/run.py --methods CGKNN,mean --seeds 0..4 --store results.jsonl

Results that the store has already are not computed again. ``--label`` names a state of our own
methods, so that several can be compared; ``--params`` are parameters for them, as JSON.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import cases
import tables
from methods import OURS, PEERS, STRONG, ours
from store import KEY, Store
from workers import PeerError, Worker

import greyfill
from greyfill.evaluation.protocols import fit_fill, prepare

Key = dict[str, Any]


def keys(task: str, method: str, options: argparse.Namespace) -> Iterator[Key]:
    """What is to be run for one method: all cases with the first seed, then with the next."""
    label = options.label if method in OURS else ""
    for seed, table, scenario in product(options.seeds, options.tables, options.scenarios):
        yield dict(zip(KEY, (task, method, label, table, scenario, seed), strict=True))


def run_ours(todo: Iterable[Key], params: dict[str, Any]) -> Iterator[Key]:
    """Fill in this process, through the public face."""
    for key in todo:
        case = cases.make(key["table"], key["scenario"], key["seed"])
        imputer = ours(key["method"], params)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            filled = fit_fill(
                prepare(imputer, case.table, key["seed"]), case.table, case.data.labels
            )
        seconds = time.perf_counter() - start
        about = {"seconds": round(seconds, 4), "version": greyfill.__version__}
        yield key | about | case.judge(filled)


def run_peer(todo: Iterable[Key], limit: float | None) -> Iterator[Key]:
    """Fill in the peer's process; after two time-outs on a table its other runs are not tried."""
    late: dict[str, int] = {}
    worker: Worker | None = None
    try:
        for key in todo:
            if late.get(key["table"], 0) >= 2:
                yield key | {"error": "not tried: two runs on this table took too long"}
                continue
            if worker is None:
                peer = PEERS[key["method"]]
                worker = Worker(key["method"], peer.environment, limit or peer.limit)
            case = cases.make(key["table"], key["scenario"], key["seed"])
            try:
                filled, about = worker.fill(case, key["seed"])
                yield key | about | case.judge(filled)
            except PeerError as error:
                late[key["table"]] = late.get(key["table"], 0) + ("no answer" in str(error))
                yield key | {"error": str(error)}
    finally:
        if worker is not None:
            worker.__exit__()


def run_all(options: argparse.Namespace) -> None:
    store = Store(options.store)
    for method in options.methods:
        todo = [key for key in keys("cells", method, options) if not store.has(key)]
        mine = method in OURS
        results = run_ours(todo, options.params) if mine else run_peer(todo, options.limit)
        for row in results:
            store.add(row)
            found = row["error"] if "error" in row else f"{row['nrmse']:.4f} {row['seconds']:.2f} s"
            print(method, row["table"], row["scenario"], row["seed"], found, flush=True)


def several(text: str) -> list[int]:
    """Seeds: 3, or 0..4, or 0,7,9."""
    first, dots, last = text.partition("..")
    return list(range(int(first), int(last) + 1)) if dots else [int(n) for n in text.split(",")]


def named(text: str) -> list[str]:
    groups = {"ours": OURS, "peers": PEERS, "strong": STRONG, "all": tables.ALL}
    groups |= {"ranked": tables.RANKED}
    return [name for part in text.split(",") for name in groups.get(part, [part])]


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--methods", type=named, required=True, help="names, ours, peers or strong")
    parser.add_argument("--tables", type=named, default=list(tables.RANKED))
    parser.add_argument("--scenarios", type=named, default=list(cases.SCENARIOS))
    parser.add_argument("--seeds", type=several, default=list(range(5)), help="0..4 or 1,5")
    parser.add_argument("--label", default="")
    parser.add_argument("--params", type=json.loads, default={})
    parser.add_argument("--limit", type=float, help="seconds that a peer may take for a table")
    parser.add_argument("--store", type=Path, default=Path("accuracy.jsonl"))
    return parser


if __name__ == "__main__":
    run_all(arguments().parse_args())
