"""Saved files taken apart, changed, and signed again, as an attacker would."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sign(path: Path, parts: dict[str, bytes]) -> None:
    """Write the parts with checksums that fit."""
    manifest = json.loads(parts["manifest.json"])
    signed = {name: part for name, part in parts.items() if name != "manifest.json"}
    manifest["sha256"] = {name: hashlib.sha256(part).hexdigest() for name, part in signed.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, part in signed.items():
            archive.writestr(name, part)


def change_tree(path: Path, change: Callable[[Any], None]) -> None:
    parts = parts_of(path)
    tree = json.loads(parts["tree.json"])
    change(tree)
    sign(path, {**parts, "tree.json": json.dumps(tree).encode()})


def change_array(path: Path, place: str, change: Callable[[Any], Any]) -> None:
    """Replace the array at a place such as "_fitted.donors.values" by what ``change`` returns."""
    parts = parts_of(path)
    node = node_at(json.loads(parts["tree.json"]), place)
    array = np.load(io.BytesIO(parts[node["$array"]]))
    buffer = io.BytesIO()
    changed = change(array)
    np.save(buffer, array if changed is None else changed)
    sign(path, {**parts, node["$array"]: buffer.getvalue()})


def node_at(tree: Any, place: str) -> Any:
    """The node of the state at a place; a number is a position in a tuple, or a key of a dict."""
    node = tree["state"]
    for step in place.split("."):
        node = dict(steps(node))[step]
    return node


def steps(node: Any) -> Iterator[tuple[str, Any]]:
    for tag in ("$tuple", "$dict"):
        if tag in node:
            pairs = enumerate(node[tag]) if tag == "$tuple" else node[tag]
            return ((str(key), value) for key, value in pairs)
    return iter(node.get("fields", node).items())
