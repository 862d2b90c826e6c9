"""Programs of the folder of benchmarks, which is no package."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

HOME = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def load_program() -> Iterator[Callable[[str], ModuleType]]:
    """Import by name; what a program put on the path and loaded is forgotten after the tests."""
    names = {path.stem for path in HOME.rglob("*.py")}
    others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    paths, sys.path[:0] = list(sys.path), [str(HOME), str(HOME / "accuracy")]
    yield import_module
    sys.path[:] = paths
    for name in names & set(sys.modules):
        del sys.modules[name]
    sys.modules.update(others)  # modules of the tests with the same names, such as tables
