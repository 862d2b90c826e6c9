"""The table of methods: it tells the truth, and every other list of methods agrees with it."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from imputers.family import IMPUTERS
from sklearn.utils import get_tags

import greyfill
from greyfill import evaluation
from greyfill.evaluation.compare import DEFAULT_METHODS, SLOW
from greyfill.imputers import registry
from greyfill.imputers.registry import FILE_METHODS, METHODS, REGISTRY, Method, make

ROOT = Path(__file__).parents[1]
OWN = {"recipe", "grey", "chained", "joint", "deck", "cluster", "opt", "network"}
"""Engines of greyfill's own imputers, which are public and documented."""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table_below(text: str, head: str) -> list[list[str]]:
    """The rows of the table that begins like this, cell by cell."""
    lines = text[text.index(head) :].splitlines()
    rows = [line for line in lines[: lines.index("")] if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def own_classes(*engines: str) -> list[str]:
    return [m.maker for m in REGISTRY.values() if m.engine in (engines or OWN)]


def documented(method: Method) -> list[str]:
    """A method as a row of the page on methods."""
    return [
        f"`{method.name}`",
        f"`{method.maker}`" if method.maker.endswith("Imputer") else "",
        "yes" if method.needs_labels else "no",
        "yes" if method.draws else "no",
        method.sentence,
        method.paper,
    ]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_rows_tell_the_truth(name: str) -> None:
    method, imputer = REGISTRY[name], make(name)
    assert METHODS[name] is method.resolve()
    assert get_tags(imputer).target_tags.required is method.needs_labels
    assert (hasattr(type(imputer), "draw") or hasattr(type(imputer), "draws_")) is method.draws
    assert method.sentence.endswith(".")
    cited = " ".join((type(imputer).__doc__ or "").split())
    if method.engine in OWN:
        assert all(paper in cited for paper in method.paper.split("; "))


def test_every_public_imputer_is_listed() -> None:
    public = {name for name in greyfill.__all__ if name.endswith("Imputer")}
    assert {*own_classes(), "NeighborImputer"} == public
    assert {imputer.__name__ for imputer in IMPUTERS} == public
    peers = {m.maker for m in REGISTRY.values() if m.engine == "peer" and m.package is None}
    assert {name for name in peers if name.endswith("Imputer")} == {
        name for name in evaluation.__all__ if name.endswith("Imputer") and name != "EncodedImputer"
    }
    assert {name for name in public | peers if f".{name}\n" in page("docs/api.md")} >= public


def test_pages_agree() -> None:
    readme = table_below(page("README.md"), "| class | distance |")
    shown = {re.sub(r"\W", "", row[0]) for row in readme}
    assert shown == {*own_classes("recipe", "grey"), "NeighborImputer"}
    which = page("docs/which-method.md")
    recipes = table_below(which, "| class | distance |")
    needs = {m.maker: "yes" if m.needs_labels else "no" for m in REGISTRY.values()}
    assert [row[0].strip("`") for row in recipes] == own_classes("recipe")
    assert all(row[-1] == needs[row[0].strip("`")] for row in recipes)
    expected = [documented(method) for method in REGISTRY.values()]
    table = "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in expected)
    assert table_below(which, "| name | class |") == expected, f"the table must be\n{table}"


def test_lists_of_the_comparison_and_the_command_name_methods() -> None:
    assert set(DEFAULT_METHODS) <= set(REGISTRY)
    assert set(REGISTRY) >= SLOW
    assert set(FILE_METHODS) == {m.name for m in REGISTRY.values() if m.for_files and not m.package}
    assert evaluation.METHODS is METHODS
    assert evaluation.make is make


def test_a_method_needs_its_package(monkeypatch: Any) -> None:
    monkeypatch.setattr(registry, "METHODS", registry._Makers(mean=REGISTRY["mean"]))
    with pytest.raises(greyfill.exceptions.InvalidParameterError, match="there are mean"):
        registry.make("miceforest")


def test_names_alone_load_no_engine() -> None:
    code = """
import sys
from greyfill.jobs.options import complete_method
from greyfill.imputers.registry import METHODS, make
assert "cgknn" in METHODS and "median" not in METHODS and complete_method("cg") == ["cgknn"]
try:
    make("median")
except ValueError as error:
    assert "there are grey, cgknn" in str(error)
print(sorted({"scipy", "sklearn", "numba", "polars", "narwhals"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
