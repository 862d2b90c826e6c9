"""One zip file: a manifest with version and checksums, a JSON tree, and arrays as npy files."""

import hashlib
import io
import json
import math
import stat
import struct
import zipfile
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from greyfill.checks import refuse_beyond
from greyfill.exceptions import GreyfillError, PersistenceError
from greyfill.files.atomic import put
from greyfill.files.inputs import reason

FORMATS = (1, 2)
"""Those that are read; the last is written. Where older versions of greyfill cannot read a file any
more, one is added: 1 named types by their modules, 2 names them by tags."""

MAX_BYTES = 8 * 2**30
"""A file that unpacks to more than this is refused, unless the caller allows more."""

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError,
    ValueError, OSError, TypeError, AttributeError, struct.error,
)  # fmt: skip
"""What a damaged or foreign file can make the zip and JSON readers raise."""

MANIFEST, TREE = "manifest.json", "tree.json"

RATIO, UNSUSPECTED = 256, 2**22
"""``save`` packs no content more than 230 times; what unpacks to 4 MiB is never refused for it."""

NODES, NODES_PER_BYTE = 100_000, 4
"""The most values in JSON, and so many more for each packed byte: none of ours has one a byte."""

BYTES_PER_NODE = 200
"""Memory that a value in JSON may take when it is unpacked."""

KINDS = "biufUSMm"
"""Kinds of dtypes that a file may hold: none that needs a pickle, none with parts."""

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_archive(path: Path, kind: str, tree: Any, members: dict[str, bytes]) -> None:
    """Write beside ``path`` and rename."""
    contents = {TREE: json.dumps(tree, allow_nan=False).encode(), **members}
    manifest = {
        "format": FORMATS[-1],
        "type": kind,
        "versions": {name: version(name) for name in ("greyfill", "numpy", "scikit-learn")},
        "sha256": {name: hashlib.sha256(part).hexdigest() for name, part in contents.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in {MANIFEST: json.dumps(manifest, indent=1).encode(), **contents}.items():
            member = zipfile.ZipInfo(name)  # of 1980, so that equal imputers give equal files
            archive.writestr(member, part, zipfile.ZIP_DEFLATED, compresslevel=1)
    put(path, [buffer.getvalue()], force=True)


def read_archive(path: Path, max_bytes: int) -> tuple[Any, dict[str, bytes]]:
    """The tree and the arrays, after every check that needs no knowledge of imputers."""
    _refuse_no_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_large(path, archive, max_bytes)
            manifest = _read_manifest(path, archive)
            contents = {name: _unpacked(archive, name) for name in manifest["sha256"]}
            for name, part in contents.items():
                if hashlib.sha256(part).hexdigest() != manifest["sha256"][name]:
                    raise PersistenceError(
                        f"{path}: damaged, the checksum of {name} does not match"
                    )
            if TREE not in contents:
                raise PersistenceError(f"{path}: not a file that greyfill saved")
            return _parsed(path, archive, TREE, contents.pop(TREE)), contents
    except GreyfillError:
        raise
    except MemoryError as error:
        raise PersistenceError(f"{path}: there is not enough memory to load it") from error
    except PermissionError as error:
        raise PersistenceError(f"{path}: cannot be read: {reason(error)}") from error
    except UNREADABLE as error:
        raise PersistenceError(
            f"{path}: not a file that greyfill saved, or damaged ({str(error)[:200]})"
        ) from error


def _refuse_no_file(path: Path) -> None:
    """Refuse what is not there, a folder, and what has no end, such as a pipe or a device."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise PersistenceError(f"{path}: no such file; name one that imputer.save wrote") from None
    except (OSError, ValueError) as error:
        raise PersistenceError(f"{path}: cannot be opened ({error})") from error
    if stat.S_ISDIR(mode):
        raise PersistenceError(f"{path}: cannot be read: it is a folder")
    if not stat.S_ISREG(mode):
        raise PersistenceError(f"{path}: no ordinary file; name one that imputer.save wrote")


def _refuse_large(path: Path, archive: zipfile.ZipFile, max_bytes: int) -> None:
    """Refuse what unpacks to too much, by what the archive says; reading stops there, too."""
    size = sum(member.file_size for member in archive.infolist())
    if size > max_bytes:
        raise PersistenceError(
            f"{path}: unpacks to {size:,} bytes, more than max_bytes={max_bytes:,}; "
            "raise max_bytes if you trust the file"
        )
    if size > max(UNSUSPECTED, RATIO * path.stat().st_size):
        raise PersistenceError(
            f"{path}: not a file that greyfill saved: it unpacks to {size:,} bytes"
        )
    refuse_beyond(2 * size, f"Loading {path}", "Load it on a machine with more memory.")


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of a member, and never more of it than the archive says."""
    with archive.open(name) as member:
        return member.read(archive.getinfo(name).file_size)


def _parsed(path: Path, archive: zipfile.ZipFile, name: str, text: bytes) -> Any:
    """A member as JSON, unless it holds more values than its packed size can account for."""
    nodes = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if nodes > NODES + NODES_PER_BYTE * archive.getinfo(name).compress_size:
        raise PersistenceError(f"{path}: not a file that greyfill saved: {nodes:,} values")
    refuse_beyond(
        BYTES_PER_NODE * nodes, f"Loading {path}", "Load it on a machine with more memory."
    )
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PersistenceError(f"{path}: the content is no JSON ({error})") from error


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    manifest = _parsed(path, archive, MANIFEST, _unpacked(archive, MANIFEST))
    if not isinstance(manifest, dict) or not isinstance(manifest.get("sha256"), dict):
        raise PersistenceError(f"{path}: not a file that greyfill saved")
    if manifest.get("format") not in FORMATS:
        versions = str(manifest.get("versions"))[:200]
        raise PersistenceError(
            f"{path}: saved in format {str(manifest.get('format'))[:20]}; this version of greyfill "
            f"reads formats {' and '.join(map(str, FORMATS))}. "
            f"Install the version that saved it: {versions}"
        )
    return manifest


def write_array(array: Any) -> bytes:
    """The bytes of an array without objects."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def read_array(content: bytes) -> Any:
    """The array of such bytes; its size is compared with theirs before any memory is taken.

    >>> read_array(write_array(np.arange(3)))
    array([0, 1, 2])
    """
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise PersistenceError(f"an array in a format of its own, {version}")
    shape, is_fortran, dtype = HEADERS[version](stream)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise PersistenceError(f"an array of {dtype}: files hold numbers, texts and moments only")
    start, size = stream.tell(), dtype.itemsize * math.prod(shape)
    if min(shape, default=0) < 0 or size != len(content) - start:
        raise PersistenceError(f"an array of shape {shape} in {len(content) - start} bytes")
    flat = np.frombuffer(content, dtype, count=math.prod(shape), offset=start)
    return flat.reshape(shape, order="F" if is_fortran else "C").copy(order="C")
