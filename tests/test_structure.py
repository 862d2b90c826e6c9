"""The house as CONTRIBUTING describes it: one noun a file, one name a thing, an overview a room."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import greyfill

ROOT = Path(greyfill.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py")
PACKAGES = sorted(path.parent for path in ROOT.rglob("__init__.py"))
TREES = {path: ast.parse(path.read_text()) for path in ROOT.rglob("*.py")}
PARTS_AND_PUBLIC = {"filling", "weighting", "pooling"}
"""Nouns in -ing: two parts of a recipe by their names in the field, and a public module."""


def repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_two_modules_and_no_two_classes_have_one_name() -> None:
    assert repeated([path.stem for path in MODULES]) == []
    classes = [
        node.name
        for tree in TREES.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert repeated(classes) == []


def test_modules_are_named_by_nouns() -> None:
    gerunds = {path.stem for path in MODULES if re.search(r"ing($|_)", path.stem)}
    assert gerunds - PARTS_AND_PUBLIC == set()


@pytest.mark.parametrize("path", TREES, ids=short)
def test_modules_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 500
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            assert not body or body[-1].end_lineno - body[0].lineno < 45, node.name


@pytest.mark.parametrize("package", PACKAGES, ids=short)
def test_a_package_opens_with_an_overview_of_its_modules(package: Path) -> None:
    overview = ast.get_docstring(TREES[package / "__init__.py"])
    assert 10 <= len(overview.splitlines()) <= 40
    if package != ROOT:
        names = [path.stem for path in package.glob("*.py") if path.name != "__init__.py"]
        assert [name for name in names if name not in overview] == []
