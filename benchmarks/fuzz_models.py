"""Saved models with changed arrays and trees, signed anew: refused in words, or answering in full.

    python benchmarks/fuzz_models.py --mutations 20000 --workers 2
    python benchmarks/fuzz_models.py --seconds 600 --guided --estimator MICEImputer
    python benchmarks/fuzz_models.py --bounds-check     an index out of bounds is an error
    python benchmarks/fuzz_models.py --replay 0:123     one mutation again, in words

Each file is loaded and asked for fills, predictions, draws, limits, donors and a copy of itself.
An error of greyfill at any point is right, and so is a complete answer. Faults are: a crash, no
answer within ``--patience`` seconds, another error, a hole or infinity in an answer, more than
2 GiB of memory. Mutation i of a seed is always the same; with ``--guided``, files that led to words
not seen before are changed further, and their keys name all changes (``0:12,40``).
"""

import argparse
import faulthandler
import math
import os
import sys
import tempfile
import time
from pathlib import Path

UNFIT = 2
"""The exit code of a run that judged nothing; 1 is that of one with faults."""

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--estimator", action="append", default=[], help="again for several")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds for one file")
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--bounds-check", action="store_true")
    parser.add_argument("--replay", metavar="SEED:INDEX")
    parser.add_argument("--report", type=Path, help="a file for the faults so far")
    parser.add_argument("--folder", type=Path, help="where bases are kept")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    return parser.parse_args()


def environment(bounds_check: bool) -> dict[str, str]:
    """Of the processes: one thread each, and kernels that heed bounds in a cache of their own."""
    out = {**os.environ, **ONE_THREAD, "POLARS_MAX_THREADS": "1"}
    if bounds_check:
        cache = Path(tempfile.gettempdir()) / "greyfill-fuzz-bounds-check"
        out |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}
    return out


def replay(text: str, folder: Path) -> int:
    """One mutation in this process, with its traceback."""
    from saved_models.bases import build, ready
    from saved_models.keys import Key
    from saved_models.trying import FAULTS, try_file

    key = Key.parse(text)
    build(folder, {key.estimator})
    bases, path = ready(folder), folder / "replay.greyfill"
    print(f"{key} of {bases[key.number].name}, in {path}")
    for words in key.file(bases, path):
        print(f"  {words}")
    faulthandler.enable()
    sys.stdout.flush()
    outcome = try_file(path, bases[key.number], verbose=True)
    print(outcome)
    return int(outcome.result in FAULTS)


def hunt(given: argparse.Namespace, folder: Path) -> int:
    from saved_models.bases import ESTIMATORS, build
    from saved_models.hunting import Hunt, hunt_by, summary
    from saved_models.working import UnfitError, Worker

    chosen = frozenset(given.estimator or ESTIMATORS)
    if unknown := chosen - set(ESTIMATORS):
        print(f"no estimator {sorted(unknown)}; there are {', '.join(ESTIMATORS)}")
        return UNFIT
    build(folder, set(chosen))
    start = time.monotonic()
    run = Hunt(given.seed, chosen, given.mutations, start + given.seconds, given.guided)
    environ = environment(given.bounds_check)
    workers = [Worker(folder, f"worker{i}", given.patience, environ) for i in range(given.workers)]
    try:
        hunt_by(run, workers, given.report)
    except UnfitError as error:
        print(f"nothing can be judged: {error}")
        return UNFIT
    lines = list(summary(run))
    print("\n".join(lines))
    total = sum(counts.total() for counts in run.counts.values())
    print(f"{total} mutations of seed {given.seed} in {time.monotonic() - start:.0f} s")
    if given.report is not None:
        given.report.write_text("\n".join(lines) + "\n")
    return int(bool(run.faults))


def main() -> int:
    given = parsed()
    if given.work:
        from saved_models.working import work

        work(given.folder, given.work, given.patience)
        return 0
    if given.bounds_check and os.environ.get("NUMBA_BOUNDSCHECK") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], environment(True))
    if given.replay:
        return replay(given.replay, given.folder or Path(tempfile.mkdtemp(prefix="greyfill-fuzz-")))
    with tempfile.TemporaryDirectory(prefix="greyfill-fuzz-") as made:
        folder = given.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        return hunt(given, folder)


if __name__ == "__main__":
    sys.exit(main())
