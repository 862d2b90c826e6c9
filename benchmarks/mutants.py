"""Small mistakes planted in the code, one at a time: how many do the tests notice?

    python benchmarks/mutants.py --promises      the faults of promises.py, some for each promise
    python benchmarks/mutants.py --promises CSV  those that have this word in their promise
    pip install cosmic-ray
    python benchmarks/mutants.py                 20 mutants of each room, at most an hour of CPU
    python benchmarks/mutants.py --sample 100 --only reference

With --promises, each fault is tested by the tests that are named beside it. Prints whether it was
noticed; the exit code is 1 if one was not (SURVIVED), cannot be planted any more (MISPLACED),
breaks the tests themselves (BROKEN), or has tests that fail without it (UNSOUND).

In the mathematics, cosmic-ray makes the mutants; a random sample of them is tested in a copy of the
project, with the tests of their room. Prints the change of each that was not noticed, then how many
were; after Ctrl-C, of those that were tested so far. Mutants of type hints and of ``|`` in
signatures are left out: nothing runs there.

Each mutant is tested in a fork of this process, which has the libraries loaded and nothing of
greyfill, so a mutant costs its tests and not the start of Python. It runs where processes can fork.
"""

import argparse
import importlib
import math
import multiprocessing
import os
import random
import resource
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from promises import FAULTS_OF, Fault

if TYPE_CHECKING:
    from cosmic_ray.work_item import MutationSpec

PROJECT = Path(__file__).resolve().parent.parent
SLOWER = 10
"""A mutant that takes so many times as long as the tests did before loops or waits forever."""

LIBRARIES = ("narwhals", "numba", "pandas", "polars", "pyarrow", "scipy.stats",
             "sklearn.ensemble", "sklearn.utils.estimator_checks")  # fmt: skip
"""Loaded once, before the forks."""


class Room(NamedTuple):
    """Modules to change, and the tests that should notice, quick ones first."""

    modules: str
    tests: str


ROOMS = {
    "reference": Room(
        "_search/reference.py",
        "tests/search/test_reference.py tests/search/test_compiled.py tests/search/test_ridge.py "
        "tests/search/test_index.py",
    ),
    "information": Room(
        "information/*.py",
        "src/greyfill/information tests/test_information.py tests/test_relevance.py",
    ),
    "_grey": Room(
        "_grey/*.py", "tests/grey tests/imputers/test_grey.py tests/imputers/test_api.py"
    ),
    "_neighbors": Room(
        "_neighbors/*.py", "src/greyfill/_neighbors tests/neighbors tests/imputers/test_api.py"
    ),
}


def mutants_of(room: Room, copy: Path) -> list["MutationSpec"]:
    """Every mutant of a room that changes what runs."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import WorkDB, use_db

    modules = sorted((copy / "src/greyfill").glob(room.modules))
    with use_db(str(copy / "mutants.sqlite"), WorkDB.Mode.create) as db:
        init(modules, db, {})
        found = [mutation for item in db.work_items for mutation in item.mutations]
    return [m for m in found if "BitOr" not in m.operator_name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(ROOMS), choices=list(ROOMS))
    parser.add_argument("--promises", nargs="?", const="", metavar="WORD")
    given = parser.parse_args()
    copy = Path(tempfile.mkdtemp(prefix="greyfill-mutants-")) / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns(".git", "*.pyc"))
    prepare(copy)
    try:
        if given.promises is not None:
            return test_promises(copy, given.promises)
        for name in given.only:
            test_room(name, copy, given.sample, given.seed, 60 * given.minutes / len(given.only))
        return 0
    finally:
        shutil.rmtree(copy.parent)


def prepare(copy: Path) -> None:
    """Make this process one whose forks can test the copy at once."""
    settings = {"PYTHONPATH": str(copy / "src"), "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    os.environ |= settings
    # In place of this folder, none of whose modules may hide one of tests; last of all it is there
    # for workers of a cluster, which import this program anew.
    sys.path[:] = [str(copy / "src"), *sys.path[1:], str(PROJECT / "benchmarks")]
    os.chdir(copy)
    for library in LIBRARIES:
        importlib.import_module(library)


class Limits(NamedTuple):
    """How long tests may take, by the clock of the wall and by that of the processor."""

    wall: float = 900.0
    cpu: float = 3600.0


def is_noticed(tests: str, limits: Limits) -> bool:
    """Whether some test fails, crashes or never ends."""
    return exit_code(tests, limits) != 0


def exit_code(tests: str, limits: Limits) -> int:
    """That of tests in a fork of this process; below 0 if they crash or never end."""
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=run_tests, args=(tests, limits.cpu))
    process.start()
    try:
        process.join(limits.wall)
    finally:
        process.kill()
        process.join()
    assert process.exitcode is not None
    return process.exitcode


def run_tests(tests: str, cpu: float) -> None:
    """Run tests in silence until one fails, and end this process with their exit code."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu), math.ceil(cpu)))
    with open(os.devnull, "w") as silence:
        os.dup2(silence.fileno(), 1)
        os.dup2(silence.fileno(), 2)
    os._exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *shlex.split(tests)]))


def cpu_seconds() -> float:
    """Time that this process and those that it has waited for worked; sleep does not count."""
    return sum(os.times()[:4])


@cache
def limits_of(tests: str) -> Limits | None:
    """How long tests take on the files as they are; None if they fail there, or do not exist."""
    sys.dont_write_bytecode = False  # of these files; that of a mutant could be taken for them
    wall, cpu = time.monotonic(), cpu_seconds()
    is_unsound = is_noticed(tests, Limits())
    sys.dont_write_bytecode = True
    if is_unsound:
        return None
    return Limits(SLOWER * (time.monotonic() - wall), SLOWER * (cpu_seconds() - cpu))


def test_room(name: str, copy: Path, sample: int, seed: int, seconds: float) -> None:
    """Test a sample of the mutants of one room until time is up, and tell."""
    from cosmic_ray.mutating import use_mutation
    from cosmic_ray.plugins import get_operator

    started, every = cpu_seconds(), mutants_of(ROOMS[name], copy)
    limits = limits_of(ROOMS[name].tests)
    if limits is None:
        raise SystemExit(f"{ROOMS[name].tests}: fails before anything is changed")
    noticed = tested = 0
    try:
        for mutant in random.Random(seed).sample(every, min(sample, len(every))):
            if cpu_seconds() - started > seconds:
                break
            operator = get_operator(mutant.operator_name)(**mutant.operator_args)
            with use_mutation(mutant.module_path, operator, mutant.occurrence) as (old, new):
                is_dead = is_noticed(ROOMS[name].tests, limits)
            noticed, tested = noticed + is_dead, tested + 1
            if not is_dead:
                print(change_of(mutant.module_path.relative_to(copy), old, new), flush=True)
    except KeyboardInterrupt:
        print("stopped")
    print(f"{name}: {noticed} of {tested} noticed; {len(every)} mutants exist", flush=True)


def test_promises(copy: Path, word: str) -> int:
    """Test every fault of the promises that have a word, tell, and return the exit code."""
    chosen = [
        (name, fault) for name, faults in FAULTS_OF.items() for fault in faults if word in name
    ]
    if not chosen:
        raise SystemExit(f"no promise has the word {word!r}")
    noticed = 0
    for name, fault in chosen:
        verdict = verdict_on(fault, copy)
        noticed += verdict == "noticed"
        print(f"{verdict:9} {name}: {fault.what}", flush=True)
    print(f"{noticed} of {len(chosen)} noticed")
    return int(noticed < len(chosen))


def verdict_on(fault: Fault, copy: Path) -> str:
    """What becomes of a fault: only a test that fails, crashes or never ends has noticed it."""
    path = copy / "src/greyfill" / fault.file
    if path.read_text(encoding="utf-8").count(fault.old) != 1:
        return "MISPLACED"
    limits = limits_of(fault.tests)
    if limits is None:
        return "UNSOUND"
    with planted(fault, path):
        code = exit_code(fault.tests, limits)
    if code == pytest.ExitCode.OK:
        return "SURVIVED"
    return "noticed" if code < 0 or code == pytest.ExitCode.TESTS_FAILED else "BROKEN"


@contextmanager
def planted(fault: Fault, path: Path) -> Iterator[None]:
    """A fault in a file, which afterwards is what it was, to the nanosecond of its time."""
    text, times = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def change_of(path: Path, old: str, new: str) -> str:
    """Where two texts first differ, and both lines."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    number, before, after = next(
        (number, *pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]
    )
    return f"{path}:{number}\n- {before.strip()}\n+ {after.strip()}"


if __name__ == "__main__":
    sys.exit(main())
