"""Threads, forks, spawned processes, nested loops and racing compilers, round after round.

    python benchmarks/concurrency.py                 100 rounds, at most 30 minutes
    python benchmarks/concurrency.py --rounds 5

Each round fits anew with its own seed and compares, bit for bit, with the answer of one thread.
Prints how many rounds each kind of work came through, and each round that gave other bytes or no
answer; ends with 1 if there was any. Work without an answer for longer than a busy machine could
explain is a deadlock.
"""

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from imputers.family import IMPUTERS, quick
from imputers.jobs import compile_at_once, fill, holed, transformed_by_threads

DEADLOCK = 1800
"""Seconds. Each work takes a few on an idle machine; only one that stands still takes so long."""

NO_ANSWER = (TimeoutError, multiprocessing.TimeoutError, subprocess.TimeoutExpired)
"""What threads, pools and commands raise when time is up."""


def threads(seed: int) -> bool:
    """8 threads on one fitted imputer, each of the family in turn."""
    X, y = holed(150, seed)
    imputer = quick(IMPUTERS[seed % len(IMPUTERS)])
    expected = imputer.fit(X, y).transform(X).tobytes()
    fresh = quick(type(imputer)).fit(X, y)
    return {filled.tobytes() for filled in transformed_by_threads(fresh, X)} == {expected}


def processes(method: str, seed: int) -> bool:
    """Two processes, each with two threads, started while threads of this one have run."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map_async(fill, [seed, seed]).get(DEADLOCK) == [fill(seed)] * 2


def nested(seed: int) -> bool:
    """Threads inside joblib's processes."""
    results = Parallel(n_jobs=2, timeout=DEADLOCK)(delayed(fill)(seed) for _ in range(2))
    return bool(results == [fill(seed)] * 2)


def compilers(seed: int) -> bool:
    """Two processes that compile into one new cache."""
    with tempfile.TemporaryDirectory() as cache:
        return compile_at_once(cache, timeout=DEADLOCK) == [(0, "2.0")] * 2


WORKS: dict[str, Callable[[int], bool]] = {
    "8 threads": threads,
    "fork": lambda seed: processes("fork", seed),
    "spawn": lambda seed: processes("spawn", seed),
    "nested joblib": nested,
    "two compilers": compilers,
}


def outcome(work: Callable[[int], bool], seed: int) -> str:
    """What became of one work: the bytes of one thread, other bytes, or no answer."""
    try:
        return "same bytes" if work(seed) else "OTHER BYTES"
    except NO_ANSWER:
        return f"NO ANSWER in {DEADLOCK} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=30.0)
    given = parser.parse_args()
    started, same, rounds = time.monotonic(), Counter[str](), 0
    while rounds < given.rounds and time.monotonic() - started < 60 * given.minutes:
        for name, work in WORKS.items():
            came = outcome(work, rounds)
            same[name] += came == "same bytes"
            if came != "same bytes":
                print(f"round {rounds}, {name}: {came}", flush=True)
        rounds += 1
    minutes = (time.monotonic() - started) / 60
    print(f"{rounds} rounds in {minutes:.1f} minutes; rounds with the same bytes:")
    for name in WORKS:
        print(f"  {name:15} {same[name]} of {rounds}")
    return 0 if all(same[name] == rounds for name in WORKS) else 1


if __name__ == "__main__":
    sys.exit(main())
