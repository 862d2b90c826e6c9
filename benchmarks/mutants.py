"""Small mistakes planted in the mathematics, one at a time: how many do the tests notice?

    pip install cosmic-ray
    python benchmarks/mutants.py                 20 mutants of each room, at most an hour of CPU
    python benchmarks/mutants.py --sample 100 --only reference

cosmic-ray makes the mutants; a random sample of them is tested in a copy of the project, with the
tests of their room. Prints how many were noticed, and the change of each that was not. Mutants of
type hints and of ``|`` in signatures are left out: nothing runs there.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome

PROJECT = Path(__file__).resolve().parent.parent
SECONDS = 900
"""A mutant that takes longer loops forever, which counts as noticed."""


class Room(NamedTuple):
    """Modules to change, and the tests that should notice."""

    modules: str
    tests: str


ROOMS = {
    "reference": Room("_kernels/reference.py", "tests/kernels -k 'not cache'"),
    "information": Room("information/*.py", "tests/test_information.py src/greyfill/information"),
    "_neighbors": Room("_neighbors/*.py", "tests/neighbors tests/imputers/test_api.py"),
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
    os.environ |= {"PYTHONPATH": str(copy / "src"), "CI": "1"}
    os.chdir(copy)
    for name in given.only:
        test_room(name, copy, given.sample, given.seed, 60 * given.minutes / len(given.only))
    shutil.rmtree(copy.parent)
    return 0


def cpu_seconds() -> float:
    """Time that this process and those that it has waited for worked; sleep does not count."""
    return sum(os.times()[:4])


def test_room(name: str, copy: Path, sample: int, seed: int, seconds: float) -> None:
    """Test a sample of the mutants of one room until time is up, and tell."""
    room, started = ROOMS[name], cpu_seconds()
    command = f"{sys.executable} -m pytest -q -x -p no:cacheprovider {room.tests}"
    if subprocess.run(command, shell=True, capture_output=True, check=False).returncode:
        raise SystemExit(f"the tests of {name} fail before anything is changed")
    every = mutants_of(room, copy)
    chosen = random.Random(seed).sample(every, min(sample, len(every)))
    noticed, survivors = 0, []
    for mutation in chosen:
        if cpu_seconds() - started > seconds:
            break
        result = mutate_and_test([mutation], command, SECONDS)
        if result.worker_outcome is WorkerOutcome.NORMAL:
            is_noticed = result.test_outcome is not TestOutcome.SURVIVED
            noticed += is_noticed
            survivors += [] if is_noticed else [result.diff]
    tested = noticed + len(survivors)
    print(f"{name}: {noticed} of {tested} noticed; {len(every)} mutants exist", flush=True)
    for diff in survivors:
        changed = [line for line in (diff or "").splitlines() if line[:1] in "+-@"]
        print("\n".join(changed), flush=True)


if __name__ == "__main__":
    sys.exit(main())
