"""Small mistakes planted in the mathematics, one at a time: how many do the tests notice?

    pip install cosmic-ray
    python benchmarks/mutants.py                 20 mutants of each room, at most an hour of CPU
    python benchmarks/mutants.py --sample 100 --only reference

cosmic-ray makes the mutants; a random sample of them is tested in a copy of the project, with the
tests of their room. Prints the change of each that was not noticed, then how many were; after
Ctrl-C, of those that were tested so far. Mutants of type hints and of ``|`` in signatures are left
out: nothing runs there.

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
from pathlib import Path
from typing import NamedTuple

import pytest
from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
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
        "_kernels/reference.py", "tests/kernels/test_reference.py tests/kernels/test_compiled.py"
    ),
    "information": Room(
        "information/*.py",
        "src/greyfill/information tests/test_information.py tests/test_relevance.py"
        " tests/distributed/test_statistics.py",
    ),
    "_neighbors": Room(
        "_neighbors/*.py", "src/greyfill/_neighbors tests/neighbors tests/imputers/test_api.py"
    ),
}


def mutants_of(room: Room, copy: Path) -> list[MutationSpec]:
    """Every mutant of a room that changes what runs."""
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
    given = parser.parse_args()
    copy = Path(tempfile.mkdtemp(prefix="greyfill-mutants-")) / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    prepare(copy)
    for name in given.only:
        test_room(name, copy, given.sample, given.seed, 60 * given.minutes / len(given.only))
    shutil.rmtree(copy.parent)
    return 0


def prepare(copy: Path) -> None:
    """Make this process one whose forks can test the copy at once."""
    os.environ |= {"PYTHONPATH": str(copy / "src"), "CI": "1"}
    sys.path.insert(0, str(copy / "src"))
    os.chdir(copy)
    for library in LIBRARIES:
        importlib.import_module(library)


class Limits(NamedTuple):
    """How long tests may take, by the clock of the wall and by that of the processor."""

    wall: float = 3600.0
    cpu: float = 3600.0


def is_noticed(tests: str, limits: Limits) -> bool:
    """Whether some test fails, crashes or never ends, in a fork of this process."""
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=run_tests, args=(tests, limits.cpu))
    process.start()
    try:
        process.join(limits.wall)
    finally:
        process.kill()
        process.join()
    return process.exitcode != 0


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


def limits_of(name: str) -> Limits:
    """Run the tests of a room on the files as they are, to know how long that takes."""
    sys.dont_write_bytecode = False  # of these files; that of a mutant could be taken for them
    wall, cpu = time.monotonic(), cpu_seconds()
    if is_noticed(ROOMS[name].tests, Limits()):
        raise SystemExit(f"the tests of {name} fail before anything is changed")
    sys.dont_write_bytecode = True
    return Limits(SLOWER * (time.monotonic() - wall), SLOWER * (cpu_seconds() - cpu))


def test_room(name: str, copy: Path, sample: int, seed: int, seconds: float) -> None:
    """Test a sample of the mutants of one room until time is up, and tell."""
    started, limits, every = cpu_seconds(), limits_of(name), mutants_of(ROOMS[name], copy)
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


def change_of(path: Path, old: str, new: str) -> str:
    """Where two texts first differ, and both lines."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    number, before, after = next(
        (number, *pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]
    )
    return f"{path}:{number}\n- {before.strip()}\n+ {after.strip()}"


if __name__ == "__main__":
    sys.exit(main())
