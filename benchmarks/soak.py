"""The promise of every imputer on as many random tables as time allows.

    python benchmarks/soak.py                        100 000 cases on one process
    python benchmarks/soak.py --minutes 20 --processes 2 --seed 7

A case is a seed: a random mixed table of some library (`tests/tables.py`) and one imputer of the
family, held to `tests/imputers/promise.py`. Prints how many cases were run, filled and refused, and
the plan of each failure; ends with 1 if there was any.
"""

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from imputers.family import IMPUTERS
from imputers.promise import WISHES, check_promise
from tables import build, random_plan

CHUNK = 500
"""Cases that a process runs before it reports."""


def run_case(seed: int) -> tuple[str, str]:
    """Run the case of a seed; return what became of it, and the story of a failure."""
    rng = np.random.default_rng(seed)
    imputer = IMPUTERS[seed % len(IMPUTERS)]
    plan = random_plan(rng)
    wishes: dict[str, Any] = {
        name: choices[int(rng.integers(0, len(choices)))] for name, choices in WISHES.items()
    }
    try:
        return "filled" if check_promise(imputer, build(plan), wishes) else "refused", ""
    except Exception:
        story = f"seed {seed}: {imputer.__name__}, {wishes}, {plan}\n{traceback.format_exc()}"
        return "failed", story


def run_chunk(first: int) -> tuple[Counter[str], list[str]]:
    """Run the cases of some seeds in a row; every warning is a failure."""
    warnings.simplefilter("error")
    outcomes, stories = zip(*map(run_case, range(first, first + CHUNK)), strict=True)
    return Counter(outcomes), [story for story in stories if story]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="the first case")
    given = parser.parse_args()
    started, total = time.monotonic(), Counter[str]()
    firsts = islice(count(given.seed, CHUNK), -(-given.cases // CHUNK))
    with get_context("spawn").Pool(given.processes) as pool:
        for outcomes, stories in pool.imap_unordered(run_chunk, firsts):
            total += outcomes
            print(*stories, sep="\n", end="", file=sys.stderr)
            minutes = (time.monotonic() - started) / 60
            if total.total() % (20 * CHUNK) == 0:
                print(f"{total.total():,} cases after {minutes:.1f} minutes", flush=True)
            if minutes > given.minutes:
                break
        pool.terminate()
    print(
        f"{total.total():,} cases from seed {given.seed} in {minutes:.1f} minutes: "
        f"{total['filled']:,} filled, {total['refused']:,} refused in words, "
        f"{total['failed']:,} failed"
    )
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
