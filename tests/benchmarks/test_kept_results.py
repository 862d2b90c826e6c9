"""Pages of figures say what the kept results say."""

import json
import os
from collections.abc import Callable
from types import ModuleType

import pytest

Load = Callable[[str], ModuleType]


def test_labels(load_program: Load) -> None:
    labels, store = load_program("labels"), load_program("store")
    kept = store.Store(store.KEPT / "labels.jsonl")
    seeds, commits = {row["seed"] for row in kept}, sorted({row["commit"] for row in kept})
    section = labels.section(labels.means(kept, list(seeds)), commits)
    assert "\n".join(section) in labels.PAGE.read_text(encoding="utf-8")


def test_classifiers(load_program: Load) -> None:
    classifiers, store = load_program("classifiers"), load_program("store")
    kept = [row for row in store.Store(store.KEPT / "classifiers.jsonl") if ":" not in row["table"]]
    seeds, names = sorted({row["seed"] for row in kept}), list(classifiers.tables.RANKED)
    section = classifiers.section(kept, names, seeds)
    page = store.KEPT.parent / "worth.md"
    assert "\n".join(section) in page.read_text(encoding="utf-8")


def test_tried(load_program: Load) -> None:
    tried, store = load_program("tried"), load_program("store")
    page = tried.PAGE.read_text(encoding="utf-8")
    sections = list(tried.figures(list(store.Store(tried.STORE))))
    assert [section[0] for section in sections if "\n".join(section) not in page] == []


def test_classifiers_of_the_examination(load_program: Load) -> None:
    classifiers, store = load_program("classifiers"), load_program("store")
    kept = [row for row in store.Store(store.KEPT / "classifiers.jsonl") if ":" in row["table"]]
    seeds, names = sorted({row["seed"] for row in kept}), sorted({row["table"] for row in kept})
    section = classifiers.section(kept, names, seeds)
    page = store.KEPT.parent / "examination.md"
    assert "\n".join(section).rstrip() in page.read_text(encoding="utf-8")


def test_errors_of_the_examination(load_program: Load) -> None:
    """What the page says without a look at the tables, which are read by the examination alone."""
    examination, store = load_program("examination"), load_program("store")
    kept = list(store.Store(store.KEPT / "examination.jsonl"))
    names, seeds = sorted({row["table"] for row in kept}), sorted({row["seed"] for row in kept})
    board = examination.ranking.board(kept, seeds, names)
    rivals = [m for m in examination.METHODS if m not in (examination.OWN, examination.BLIND)]
    said = examination.standing.against_best(board, examination.OWN, rivals, examination.AMONG)
    said += [line for name in names for line in examination._of_table(board, name)]
    page = examination.PAGE.read_text(encoding="utf-8")
    assert f"on the commit {examination.listed(examination.commits(kept))}, by" in page
    assert [line for line in said if line not in page] == []


def test_scale(load_program: Load) -> None:
    scale = load_program("scale")
    kept = json.loads(scale.DATA.read_text(encoding="utf-8"))
    assert scale.page(kept) == scale.PAGE.read_text(encoding="utf-8")


@pytest.mark.skipif("GREYFILL_DATA" not in os.environ, reason="GREYFILL_DATA names no folder")
def test_accuracy(load_program: Load) -> None:
    page, store = load_program("page"), load_program("store")
    kept = store.Store(store.KEPT / "accuracy.jsonl")
    assert page.write(kept, "GreyImputer", "", [0, 1]) == page.PAGE.read_text(encoding="utf-8")
