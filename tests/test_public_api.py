"""What the package shows: public names exist, are documented, and load no more than they must."""

import importlib
import re
import subprocess
import sys
from inspect import cleandoc, signature
from pathlib import Path
from typing import Any

import pytest

import greyfill

MODULES = (
    "greyfill",
    "greyfill.datasets",
    "greyfill.distributed",
    "greyfill.evaluation",
    "greyfill.information",
    "greyfill.metrics",
    "greyfill.missingness",
    "greyfill.plots",
    "greyfill.report",
)


def public_objects() -> list[str]:
    """Every public class and function, as ``module:name``."""
    found = []
    for module in map(importlib.import_module, MODULES):
        members = ((name, getattr(module, name)) for name in module.__all__)
        found += [f"{module.__name__}:{name}" for name, value in members if callable(value)]
    return found


def find(path: str) -> Any:
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)


def test_modules_need_no_import_of_their_own() -> None:
    code = """
import sys, greyfill
assert not any(name in sys.modules for name in ("sklearn", "matplotlib", "greyfill.plots"))
assert "plots" in dir(greyfill)
print(greyfill.plots.__name__, greyfill.missingness.mcar.__name__)
print(greyfill.distributed.fill_duckdb.__name__, greyfill.frames.encode.__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["greyfill.plots", "mcar", "fill_duckdb", "encode"]


@pytest.mark.parametrize("path", public_objects())
def test_public_objects_are_documented_with_an_example(path: str) -> None:
    documented = find(path).__doc__
    assert documented, f"{path} has no docstring"
    assert ">>> " in documented, f"{path} has no example"


def test_public_objects_are_in_the_reference() -> None:
    page = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
    entries = re.findall(r"^::: ([\w.]+)\.(\w+)$", page, re.MULTILINE)
    entries.remove(("greyfill.distributed.spark_stages", "SparkImputer"))  # it imports pyspark
    shown = [find(f"{module}:{name}") for module, name in entries]
    assert [path for path in public_objects() if find(path) not in shown] == []


@pytest.mark.parametrize("name", [n for n in greyfill.__all__ if n.endswith("Imputer")])
def test_help_explains_every_parameter_of_an_imputer(name: str) -> None:
    imputer = getattr(greyfill, name)
    text = cleandoc(imputer.__doc__)
    for section in ("Parameters", "Attributes", "Examples"):
        assert len(re.findall(rf"^{section}\n-+$", text, re.MULTILINE)) == 1
    for parameter in signature(imputer).parameters:
        assert re.search(rf"^{parameter} :", text, re.MULTILINE), parameter


def test_dir_lists_lazy_names_too() -> None:
    assert set(greyfill.__all__) <= set(dir(greyfill))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        greyfill.nonsense  # noqa: B018


def test_import_compiles_nothing_and_stays_light() -> None:
    """Heavy libraries wait until they are needed."""
    heavy = {"numba", "sklearn", "polars", "matplotlib", "typer", "rich"}
    code = f"import sys, greyfill; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_serving_needs_nothing_of_reports_and_the_command(tmp_path: Path) -> None:
    """A row is filled by a saved imputer as if these packages were not installed."""
    model = tmp_path / "model.greyfill"
    rows = [[1.0, 2.0], [2.0, None], [3.0, 6.1], [4.0, 8.0], [5.0, 9.9]]
    greyfill.GreyImputer().fit(rows).save(model)
    code = f"""
import sys
for name in ("jinja2", "matplotlib", "polars", "rich", "typer"):
    sys.modules[name] = None
import greyfill
print(greyfill.load({str(model)!r}).transform([[3.5, None]])[0][0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3.5"


def test_methods_of_lower_rooms_reach_the_upper_ones_on_request() -> None:
    code = """
import sys
from greyfill.imputers.neighbors import KNNIImputer
imputer = KNNIImputer(1)
imputer.fit_transform([[1.0, 2.0], [1.0, None]])
assert "greyfill.report" not in sys.modules
print(type(imputer.report_).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Report"
