"""Any bytes as a saved imputer: one of ours, or refused in words.

    pip install atheris
    python benchmarks/fuzz_model.py --seconds 120

Checksums would stop nearly every mutated file at the door, so only every third input is the file
itself. Others are the tree or the manifest inside, wrapped with checksums that fit.
"""

import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

from fuzzing import fuzz, instrumented

instrumented()

import numpy as np

import greyfill
from greyfill.exceptions import PersistenceError
from greyfill.imputers.base import BaseImputer

FOLDER = Path(tempfile.mkdtemp(prefix="greyfill-fuzz-"))
X = np.array([[1.0, 2.0], [1.1, np.nan], [5.0, 6.0], [5.1, 6.5]])


def saved(imputer: BaseImputer) -> bytes:
    imputer.fit(X, [0, 0, 1, 1]).save(FOLDER / "good")
    return (FOLDER / "good").read_bytes()


MODELS = [
    saved(greyfill.CGKNNImputer(n_neighbors=1)),
    saved(greyfill.MICEImputer(1, n_iter=1)),
]


def parts_of(model: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


PARTS = parts_of(MODELS[0])


def wrapped(parts: dict[str, bytes]) -> bytes:
    """A file of these parts, with checksums that fit."""
    sums = {name: hashlib.sha256(p).hexdigest() for name, p in parts.items()}
    sums.pop("manifest.json", None)
    manifest = parts.get("manifest.json") or json.dumps({"format": 2, "sha256": sums}).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in {**parts, "manifest.json": manifest}.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def one_input(data: bytes) -> None:
    kind, content = (data[0] % 3, data[1:]) if data else (0, b"")
    arrays = {name: part for name, part in PARTS.items() if name.endswith(".npy")}
    if kind == 1:
        content = wrapped({"tree.json": content, **arrays})
    elif kind == 2:
        content = wrapped({**PARTS, "manifest.json": content})
    path = FOLDER / "model"
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = greyfill.load(path, max_bytes=10**7)
    except PersistenceError:
        return
    assert isinstance(loaded, BaseImputer), type(loaded)


if __name__ == "__main__":
    trees = [b"\1" + parts_of(model)["tree.json"] for model in MODELS]
    manifest = b"\2" + PARTS["manifest.json"]
    fuzz(__doc__, one_input, [*(b"\0" + model for model in MODELS), *trees, manifest])
