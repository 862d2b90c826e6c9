"""Fill every table in every scenario by some methods and keep the errors.

    python benchmarks/accuracy/run.py --methods CGKNN,mean --seeds 0..4 --store results.jsonl

Results that the store has already are not computed again, failures among them: delete the line of
one to try it again. ``--label`` names a state of our own methods, so that several can be compared;
``--params`` are parameters for them, as JSON. With ``--draws`` the methods give several data sets
instead of one, which are judged as draws.
"""

import argparse
import json
import subprocess
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import cases
import tables
from methods import CENTERED, DRAWING, DRAWS, OURS, PEERS, STRONG, ours, sees_class
from store import KEPT, KEY, Store
from workers import LateError, PeerError, Worker

import greyfill
from greyfill.evaluation.protocols import fill_several_times, fit_fill, prepare
from greyfill.targets import labels_of

Key = dict[str, Any]


def keys(task: str, method: str, options: argparse.Namespace) -> Iterator[Key]:
    """What is to be run for one method: all cases with the first seed, then with the next."""
    label = options.label if method in OURS else ""
    for seed, table, scenario in product(options.seeds, options.tables, options.scenarios):
        yield dict(zip(KEY, (task, method, label, table, scenario, seed), strict=True))


@cache
def commit() -> str:
    """The state of the source: its commit, and "-dirty" if code was changed since.

    Results and pages do not count: they change while a benchmark runs.
    """

    def git(*words: str) -> "subprocess.CompletedProcess[str]":
        command = ["git", "-C", str(Path(__file__).parents[2]), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    changed = git("diff", "--quiet", "HEAD", "--", "src", "benchmarks").returncode == 1
    return (git("describe", "--always").stdout.strip() or "unknown") + "-dirty" * changed


def run_ours(todo: Iterable[Key], params: dict[str, Any]) -> Iterator[Key]:
    """Fill or draw in this process, through the public face; seconds are those of the processor."""
    for key in todo:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield key | {"version": greyfill.__version__} | measured(key, params)
        except Exception as error:
            yield key | {"error": f"{type(error).__name__}: {error}"[:300]}


def measured(key: Key, params: dict[str, Any]) -> dict[str, Any]:
    """The seconds of a run of ours and how it is judged."""
    case = cases.make(key["table"], key["scenario"], key["seed"])
    imputer = prepare(ours(key["method"], params), case.table, key["seed"])
    labels, start = case.data.labels, time.process_time()
    if key["task"] == "draws":
        y = labels_of(labels) if sees_class(key["method"]) else None
        filled = fill_several_times(imputer, case.table, y, DRAWS)
    else:
        filled = fit_fill(imputer, case.table, labels)
    seconds = time.process_time() - start
    judged = case.judge_draws(filled) if key["task"] == "draws" else case.judge(filled)
    return {"seconds": round(seconds, 4)} | judged


def run_peer(todo: list[Key], limit: float | None) -> Iterator[Key]:
    """Fill in the peer's process, small tables first.

    After a time-out tables with as many cells or more are not tried.
    """
    if not todo:
        return
    peer, method = PEERS[todo[0]["method"]], todo[0]["method"]
    seconds, most = limit or peer.limit, float("inf")
    with Worker(method, peer.environment, seconds) as worker:
        if not worker.is_installed:
            print(f"{method} is not installed, and left out", flush=True)
            return
        for key in sorted(todo, key=_n_cells):
            failed = [key | {"limit": seconds, "task": task} for task in tasks(key)]
            try:
                if _n_cells(key) >= most:
                    raise PeerError(f"not tried: more than {seconds:.0f} s on a table so large")
                yield from (row | {"limit": seconds} for row in judged(key, worker))
            except LateError as error:
                most = _n_cells(key)
                yield from (row | {"error": str(error)} for row in failed)
            except PeerError as error:
                yield from (row | {"error": str(error)} for row in failed)
            except Exception as error:  # of the case, or of a table that cannot be judged
                words = f"{type(error).__name__}: {error}"[:300]
                yield from (row | {"error": words} for row in failed)


def tasks(key: Key) -> Sequence[str]:
    """What one answer of a peer is judged by: if its fills are the centers of its draws, both."""
    return ("draws", "cells") if key["method"] in CENTERED else (key["task"],)


def judged(key: Key, worker: Worker) -> list[Key]:
    """The results of one answer, one for each task."""
    case = cases.make(key["table"], key["scenario"], key["seed"])
    wanted = tasks(key)
    draws = DRAWS if "draws" in wanted else 0
    filled, about = worker.fill(case, key["seed"], draws)
    found = {"draws": case.judge_draws(list(filled))} if draws else {}
    if "cells" in wanted:
        found["cells"] = case.judge(case.center(filled) if draws else filled)
    return [key | about | {"task": task} | scores for task, scores in found.items()]


def _n_cells(key: Key) -> int:
    return tables.load(key["table"]).table.values.size


def run_all(options: argparse.Namespace, task: str = "cells") -> Store:
    """Whatever of a task the store does not have yet."""
    store = Store(options.store)
    for method in options.methods:
        todo = [key for key in keys(task, method, options) if not store.has(key)]
        mine = method in OURS
        results = run_ours(todo, options.params) if mine else run_peer(todo, options.limit)
        for row in results:
            store.add(row | {"commit": commit()})
            score = row.get("nrmse", row.get("crps"))
            found = row["error"] if "error" in row else f"{score:.4f} {row['seconds']:.2f} s"
            case = (row[name] for name in ("task", "method", "table", "scenario", "seed"))
            print(*case, found, flush=True)
    return store


def several(text: str) -> list[int]:
    """Seeds: 3, or 0..4, or 0,7,9."""
    first, dots, last = text.partition("..")
    return list(range(int(first), int(last) + 1)) if dots else [int(n) for n in text.split(",")]


def named(text: str) -> list[str]:
    groups = {"ours": OURS, "peers": PEERS, "strong": STRONG, "all": tables.ALL}
    groups |= {"ranked": tables.RANKED, "drawing": DRAWING}
    return [name for part in text.split(",") for name in groups.get(part, [part])]


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--methods", type=named, required=True, help="names, ours, peers or strong")
    parser.add_argument("--tables", type=named, default=list(tables.RANKED))
    parser.add_argument("--scenarios", type=named, default=list(cases.ALL))
    parser.add_argument("--seeds", type=several, default=list(range(5)), help="0..4 or 1,5")
    parser.add_argument("--label", default="")
    parser.add_argument("--params", type=json.loads, default={})
    parser.add_argument("--limit", type=float, help="seconds that a peer may take for a table")
    parser.add_argument("--store", type=Path, default=KEPT / "accuracy.jsonl")
    return parser


if __name__ == "__main__":
    parser = arguments()
    parser.add_argument("--draws", action="store_true", help="judge draws, not fills")
    given = parser.parse_args()
    run_all(given, "draws" if given.draws else "cells")
