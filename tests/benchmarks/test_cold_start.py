"""What the first run on a machine pays is counted as the program's first lines say."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba.core.event import install_listener

from greyfill._search import kernels
from greyfill._search.jit import exact

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "cold_start.py"


@pytest.fixture
def cold_start() -> Any:
    spec = importlib.util.spec_from_file_location("cold_start", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_kernel_is_not_charged_for_those_that_it_calls(
    cold_start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 1.0, 3.0, 10.0])
    monkeypatch.setattr(cold_start, "thread_time", lambda: next(times))

    def event(function: Any) -> Any:
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function), "args": ()})

    outer, inner = event(kernels.nearest_donors), event(json.dumps)
    watch = cold_start.Stopwatch()
    watch.on_start(outer)
    watch.on_start(inner)
    watch.on_end(inner)
    watch.on_end(outer)
    assert watch.compiled == [
        ("json.dumps", "", 2.0), ("_search.kernels.nearest_donors", "", 8.0),
    ]  # fmt: skip


def test_only_what_is_compiled_counts(
    cold_start: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = cold_start.Stopwatch()
    cell = np.zeros(1, dtype=np.intp)
    given = np.ones((1, 1)), np.array([False]), cell, cell, cell, np.ones(1)
    kernels.write_cells(*given)
    with install_listener("numba:compile", watch):
        kernels.write_cells(*given)
        assert watch.compiled == []
        fresh = exact(kernels.write_cells.py_func)
        fresh._cache.disable()
        fresh._cache.load_overload = lambda *_: None
        assert fresh(*given) == 0.0
    assert "_search.kernels.write_cells" in [name for name, _, _ in watch.compiled]
