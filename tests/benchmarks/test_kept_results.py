"""Pages of figures say what the kept results say."""

from collections.abc import Callable
from types import ModuleType

Load = Callable[[str], ModuleType]


def test_labels(load_program: Load) -> None:
    labels, store = load_program("labels"), load_program("store")
    kept = store.Store(store.KEPT / "labels.jsonl")
    seeds, commits = {row["seed"] for row in kept}, sorted({row["commit"] for row in kept})
    section = labels.section(labels.means(kept, list(seeds)), commits)
    assert "\n".join(section) in labels.PAGE.read_text(encoding="utf-8")
