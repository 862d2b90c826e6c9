"""Pages of figures say what the kept results say."""

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


@pytest.mark.skipif("GREYFILL_DATA" not in os.environ, reason="GREYFILL_DATA names no folder")
def test_accuracy(load_program: Load) -> None:
    page, store = load_program("page"), load_program("store")
    kept = store.Store(store.KEPT / "accuracy.jsonl")
    assert page.write(kept, "GreyImputer", "", [0, 1]) == page.PAGE.read_text(encoding="utf-8")
