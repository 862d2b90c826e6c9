"""Every promise has a fault that the tests must notice, and every fault can still be planted."""

import importlib.util
import shlex
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parents[1]
TRUST = (PROJECT / "docs/trust.md").read_text(encoding="utf-8")


def module(path: Path) -> ModuleType:
    """A file that belongs to no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


FAULTS_OF = module(PROJECT / "benchmarks/promises.py").FAULTS_OF
FAULTS = [fault for faults in FAULTS_OF.values() for fault in faults]
PROSE = "".join(TRUST.split("```")[::2])  # what programs printed stands between the fences
ROWS = [line.removeprefix("| ") for line in PROSE.splitlines() if line.startswith("| ")]
PROMISES = [row for row in ROWS if not row.startswith("promise |")]


def test_promises_are_found() -> None:
    assert len(PROMISES) > 10


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[:40])
def test_every_promise_has_a_fault(promise: str) -> None:
    assert any(promise.startswith(name) for name in FAULTS_OF), "add one to benchmarks/promises.py"


@pytest.mark.parametrize("name", FAULTS_OF)
def test_every_fault_is_that_of_one_promise(name: str) -> None:
    starts = [line for line in TRUST.splitlines() if line.removeprefix("| ").startswith(name)]
    assert len(starts) == 1
    assert FAULTS_OF[name]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_every_fault_can_be_planted(fault: tuple[str, ...]) -> None:
    _, file, old, new, tests = fault
    assert (PROJECT / "src/greyfill" / file).read_text(encoding="utf-8").count(old) == 1
    assert old != new
    for place in shlex.split(tests):
        path, _, name = place.partition("[")[0].partition("::")
        assert f"def {name}" in (PROJECT / path).read_text(encoding="utf-8")
