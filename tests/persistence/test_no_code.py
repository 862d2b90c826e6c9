"""Nothing in a saved file is run, by whatever way it comes in."""

import hashlib
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import greyfill
from greyfill.exceptions import PersistenceError


class Payload:
    """An object whose pickle makes a folder when it is read."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def as_array(payload: Payload, shape: tuple[int, ...] = (1,)) -> bytes:
    buffer, cells = io.BytesIO(), np.empty(shape, dtype=object)
    cells[...] = payload
    np.save(buffer, cells, allow_pickle=True)
    return buffer.getvalue()


def as_field(payload: Payload) -> bytes:
    buffer, cells = io.BytesIO(), np.zeros(1, dtype=[("x", float), ("hidden", object)])
    cells["hidden"][0] = payload
    np.save(buffer, cells, allow_pickle=True)
    return buffer.getvalue()


def as_archive(payload: Payload) -> bytes:
    buffer, cells = io.BytesIO(), np.array([payload], dtype=object)
    np.savez(buffer, cells)
    return buffer.getvalue()


MEMBERS: dict[str, Callable[[Payload], bytes]] = {
    "objects": as_array,
    "one object": lambda payload: as_array(payload, ()),
    "a field of objects": as_field,
    "a bare pickle": pickle.dumps,
    "an archive of arrays": as_archive,
}
"""Parts of a file that hold a pickle."""

READS: dict[str, Callable[[bytes], Any]] = {
    "an archive of arrays": lambda part: np.load(io.BytesIO(part), allow_pickle=True)["arr_0"],
}
"""How a careless program would read them, if not by ``np.load`` alone."""


def saved_with(part: bytes, node: dict[str, Any], path: Path) -> None:
    """An imputer, one part and one node of whose file are exchanged, with fitting checksums."""
    greyfill.KNNIImputer(n_neighbors=1).fit([[1.0, 2.0], [5.0, 6.0]]).save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest, tree = json.loads(parts.pop("manifest.json")), json.loads(parts["tree.json"])
    tree["state"]["_kept"] = node
    parts |= {"tree.json": json.dumps(tree).encode(), "new.npy": part}
    manifest["sha256"] = {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("tag", ["$array", "$scalar"])
def test_a_part_that_holds_a_pickle_is_refused_unread(kind: str, tag: str, tmp_path: Path) -> None:
    trace, path = tmp_path / "trace", tmp_path / "model"
    part = MEMBERS[kind](Payload(trace))
    saved_with(part, {tag: "new.npy"}, path)
    with pytest.raises(PersistenceError, match="model"):
        greyfill.load(path)
    assert not trace.exists()
    READS.get(kind, lambda part: np.load(io.BytesIO(part), allow_pickle=True))(part)
    assert trace.exists()  # the payload works where it is read


def test_a_part_without_a_pickle_is_read(tmp_path: Path) -> None:
    """The same way in, with plain numbers: what is refused above is refused for the pickle."""
    path, buffer = tmp_path / "model", io.BytesIO()
    np.save(buffer, np.array([True, True]))
    saved_with(buffer.getvalue(), {"$array": "new.npy"}, path)
    assert greyfill.load(path).transform([[4.0, None]]).tolist() == [[4.0, 6.0]]


@pytest.mark.parametrize("text", ["__import__('os').mkdir('trace')", "os.mkdir"])
@pytest.mark.parametrize("tag", ["float", "datetime", "date", "time", "timedelta", "decimal"])
def test_a_value_that_is_stored_as_text_is_no_code(
    tag: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved_with(b"", {"$text": tag, "value": text}, tmp_path / "model")
    with pytest.raises(PersistenceError, match="model"):
        greyfill.load(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
