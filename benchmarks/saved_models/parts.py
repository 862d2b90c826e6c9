"""A saved model taken apart: its tree and its arrays, and a file of both with fitting checksums."""

import copy
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

RAW, DEEP, AGAIN = "@raw:", "@deep:", "@again:"
"""Marks in a tree for what Python would not write: a token, deep nesting, a key once more."""

SMALL = 3
"""Places in lists of this length have a meaning of their own: pairs, and tuples of three."""


@dataclass(frozen=True)
class Spot:
    """A place in a tree: ``parent[key]`` is the node; equal places of equal things share a path."""

    parent: Any
    key: Any
    path: str

    @property
    def node(self) -> Any:
        return self.parent[self.key]

    def put(self, node: Any) -> None:
        self.parent[self.key] = node


@dataclass
class Model:
    """A saved model as data that can be changed; ``siblings`` are others of the same estimator."""

    root: dict[str, Any]
    members: dict[str, bytes]
    manifest: dict[str, Any]
    siblings: list["Model"] = field(default_factory=list)

    def copy(self) -> "Model":
        root, manifest = copy.deepcopy(self.root), copy.deepcopy(self.manifest)
        return Model(root, dict(self.members), manifest, self.siblings)

    @property
    def tree(self) -> Any:
        return self.root["tree"]

    def spots(self) -> list[Spot]:
        return list(_walk(self.root, ""))

    def records(self, *tags: str) -> list[dict[str, Any]]:
        """Nodes of the records of these types."""
        nodes = (spot.node for spot in self.spots())
        return [n for n in nodes if isinstance(n, dict) and _fits(n, tags)]

    def array(self, node: Any) -> Any:
        """The array that a node names, or None."""
        name = node.get("$array", node.get("$scalar")) if isinstance(node, dict) else None
        return unpacked(self.members.get(name, b"")) if isinstance(name, str) else None

    def put_array(self, node: Any, array: Any) -> None:
        self.members[node.get("$array", node.get("$scalar"))] = packed(array)

    def array_spots(self) -> list[Spot]:
        """Places of nodes that name a member."""
        return [s for s in self.spots() if isinstance(s.node, dict) and names_member(s.node, self)]


def _fits(node: dict[str, Any], tags: tuple[str, ...]) -> bool:
    """Whether a node is a record of one of these types, with fields."""
    return node.get("$record") in tags and isinstance(node.get("fields"), dict)


def names_member(node: dict[str, Any], model: Model) -> bool:
    name = node.get("$array", node.get("$scalar"))
    return isinstance(name, str) and name in model.members


def _walk(parent: Any, path: str) -> Iterator[Spot]:
    keys = list(parent) if isinstance(parent, dict) else range(len(parent))
    for key in keys:
        told = key if isinstance(key, str) or len(parent) <= SMALL else "*"
        spot = Spot(parent, key, f"{path}/{told}")
        yield spot
        if isinstance(spot.node, dict | list):
            yield from _walk(spot.node, spot.path)


def pick(rng: Random, spots: list[Spot]) -> Spot | None:
    """One of the places: each path is as likely as another, however many places it has."""
    by_path: dict[str, list[Spot]] = {}
    for spot in spots:
        by_path.setdefault(spot.path, []).append(spot)
    return rng.choice(by_path[rng.choice(list(by_path))]) if by_path else None


def packed(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asanyarray(array), allow_pickle=True)
    return buffer.getvalue()


def unpacked(part: bytes) -> Any:
    """The array of a member, or None where an earlier change left none."""
    try:
        found = np.load(io.BytesIO(part), allow_pickle=False)
    except Exception:
        return None
    return found if isinstance(found, np.ndarray) else None


def read(path: Path) -> Model:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    return Model({"tree": json.loads(parts.pop("tree.json"))}, parts, manifest)


def write(model: Model, path: Path) -> None:
    """A file whose checksums fit, whatever is in it."""
    contents = {"tree.json": _text(model.tree).encode(), **model.members}
    sums = {name: hashlib.sha256(part).hexdigest() for name, part in contents.items()}
    manifest = {**model.manifest, "sha256": sums}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in {"manifest.json": json.dumps(manifest).encode(), **contents}.items():
            archive.writestr(zipfile.ZipInfo(name), part)


def _text(tree: Any) -> str:
    text = json.dumps(tree)
    if "@" in text:
        text = re.sub(rf'"{RAW}([^"]*)"', lambda found: found[1].replace("'", '"'), text)
        text = re.sub(rf'"{DEEP}(\d+)"', lambda found: _deep(int(found[1])), text)
        text = text.replace(f'"{AGAIN}', '"')
    return text


def _deep(depth: int) -> str:
    return '{"$tuple":[' * depth + "]}" * depth
