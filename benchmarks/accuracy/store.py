"""Results as lines of JSON, appended as they come, so that a run can be stopped and resumed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KEY = ("task", "method", "label", "table", "scenario", "seed")
KEPT = Path(__file__).parents[2] / "docs" / "data"
"""The results that pages are made of: a new machine measures what has changed, not all peers."""


class Store:
    """A file of results, each known by its ``KEY``; a later line replaces an earlier one.

    ``task`` says what was measured ("cells", "draws", "classifiers", "coverage", "simulation"),
    ``label`` tells variants of one method apart, such as two states of the source. Processes that
    run different methods may share a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._remember(json.loads(line))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows.values())

    def with_state(self, method: str, label: str) -> list[dict[str, Any]]:
        """A method and its variants in the state ``label``, all others without a label."""
        wanted = [
            row
            for row in self
            if row["label"] == (label if row["method"].startswith(method) else "")
        ]
        return [{**row, "label": ""} for row in wanted]

    def has(self, key: dict[str, Any]) -> bool:
        """Whether there is a result or a failure of this key."""
        return tuple(key[name] for name in KEY) in self._rows

    def add(self, row: dict[str, Any]) -> None:
        """Keep a result, in memory and at the end of the file."""
        self._remember(row)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def _remember(self, row: dict[str, Any]) -> None:
        self._rows[tuple(row[name] for name in KEY)] = row
