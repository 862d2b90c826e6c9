"""The page on the systems of the literature is what its program writes from the files beside it."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from greyfill.imputers.registry import REGISTRY

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "literature.py"


@pytest.fixture
def literature() -> Any:
    spec = importlib.util.spec_from_file_location("literature", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_of_now(literature: Any) -> None:
    told = "run python benchmarks/literature.py, or with --page if nothing is to be measured"
    assert literature.PAGE.read_text(encoding="utf-8") == literature.page(), told


def test_every_system_has_a_row_and_notes(literature: Any) -> None:
    notes = json.loads(literature.NOTES.read_text(encoding="utf-8"))
    names = [method.name for method in literature.systems()]
    assert {"mean", "grey", "shell", "mice", "lvq"} <= set(names)
    assert names[0] == "mean"
    assert not [name for name in names if name not in notes]
    assert all(set(note) == {"assumes", "rulings", "want"} for note in notes.values())
    tables = literature.page().partition("## What they were checked against")[0]
    for name in names:
        assert tables.count(f"| `{name}` |") == 2
        assert literature.year(REGISTRY[name].paper) in ("", *map(str, range(1970, 2030)))


def test_what_is_not_measured_says_so(literature: Any) -> None:
    results = {"mean": {"iris": {"nrmse": [0.2, 0.4], "seconds": [0.1, 0.3]}}}
    assert literature.figures(results, "fkm") == ["not measured", "", "", ""]
    results["fkm"] = {"iris": {"nrmse": [0.1], "seconds": [2.0]}}
    assert literature.figures(results, "fkm") == ["0.100", "0.33", "", "2"]


def test_the_page_says_on_which_commit_it_ran(literature: Any) -> None:
    one, two = {"iris": {"commit": "1a"}}, {"iris": {"commit": "2b"}}
    assert literature.measured_on({"mean": one, "em": one}) == "commit 1a"
    assert (
        literature.measured_on({"mean": one, "em": two, "fkm": one})
        == "commit 1a (`mean`, `fkm`), commit 2b (`em`)"
    )
    assert literature.measured_on({"em": {"iris": {}}}) == "an earlier commit"
