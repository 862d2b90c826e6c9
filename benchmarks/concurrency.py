"""Threads, forks, spawned processes, nested loops and racing compilers, round after round.

    python benchmarks/concurrency.py                 100 rounds, at most 30 minutes
    python benchmarks/concurrency.py --rounds 5

Each round fits anew with its own seed and compares, bit for bit, with the answer of one thread.
Prints how many rounds each kind of work came through; ends with 1 if any answer differed. A round
that takes longer than five minutes counts as a deadlock.
"""

import argparse
import multiprocessing
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

DEADLOCK = 300
"""Seconds."""


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
        return compile_at_once(cache) == [(0, "2.0")] * 2


WORKS: dict[str, Callable[[int], bool]] = {
    "8 threads": threads,
    "fork": lambda seed: processes("fork", seed),
    "spawn": lambda seed: processes("spawn", seed),
    "nested joblib": nested,
    "two compilers": compilers,
}


def is_same(work: Callable[[int], bool], seed: int) -> bool:
    """Whether work came to an end, with the bytes of one thread."""
    try:
        return work(seed)
    except multiprocessing.TimeoutError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=30.0)
    given = parser.parse_args()
    started, same, rounds = time.monotonic(), Counter[str](), 0
    while rounds < given.rounds and time.monotonic() - started < 60 * given.minutes:
        same.update(name for name, work in WORKS.items() if is_same(work, rounds))
        rounds += 1
    minutes = (time.monotonic() - started) / 60
    print(f"{rounds} rounds in {minutes:.1f} minutes; rounds with the same bytes:")
    for name in WORKS:
        print(f"  {name:15} {same[name]} of {rounds}")
    return 0 if all(same[name] == rounds for name in WORKS) else 1


if __name__ == "__main__":
    sys.exit(main())
