"""One zip file: a manifest with version and checksums, a JSON tree, and arrays."""

import hashlib
import io
import json
import struct
import zipfile
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from greyfill.exceptions import PersistenceError
from greyfill.files.atomic import put
from greyfill.files.problems import reason

FORMAT = 1
"""Raised when older versions of greyfill cannot read the file any more."""

MAX_BYTES = 8 * 2**30
"""A file that unpacks to more than this is refused, unless the caller allows more."""

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError,
    ValueError, OSError, TypeError, AttributeError, struct.error,
)  # fmt: skip
"""What a damaged or foreign file can make the zip and JSON readers raise."""

MANIFEST, TREE = "manifest.json", "tree.json"


def write_archive(path: Path, kind: str, tree: Any, members: dict[str, bytes]) -> None:
    """Write beside ``path`` and rename."""
    contents = {TREE: json.dumps(tree, allow_nan=False).encode(), **members}
    manifest = {
        "format": FORMAT,
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
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_large(path, archive, max_bytes)
            manifest = _read_manifest(path, archive)
            contents = {name: archive.read(name) for name in manifest["sha256"]}
    except PersistenceError:
        raise
    except FileNotFoundError:
        raise PersistenceError(f"{path}: no such file; name one that imputer.save wrote") from None
    except (PermissionError, IsADirectoryError) as error:
        raise PersistenceError(f"{path}: cannot be read: {reason(error)}") from error
    except UNREADABLE as error:
        raise PersistenceError(
            f"{path}: not a file that greyfill saved, or damaged ({error})"
        ) from error
    for name, part in contents.items():
        if hashlib.sha256(part).hexdigest() != manifest["sha256"][name]:
            raise PersistenceError(f"{path}: damaged, the checksum of {name} does not match")
    if TREE not in contents:
        raise PersistenceError(f"{path}: not a file that greyfill saved")
    try:
        return json.loads(contents.pop(TREE)), contents
    except (ValueError, RecursionError) as error:
        raise PersistenceError(f"{path}: the content is no JSON ({error})") from error


def _refuse_large(path: Path, archive: zipfile.ZipFile, max_bytes: int) -> None:
    size = sum(member.file_size for member in archive.infolist())
    if size > max_bytes:
        raise PersistenceError(
            f"{path}: unpacks to {size:,} bytes, more than max_bytes={max_bytes:,}; "
            "raise max_bytes if you trust the file"
        )


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    manifest = json.loads(archive.read(MANIFEST))
    if not isinstance(manifest, dict) or not isinstance(manifest.get("sha256"), dict):
        raise PersistenceError(f"{path}: not a file that greyfill saved")
    if manifest.get("format") != FORMAT:
        raise PersistenceError(
            f"{path}: saved in format {manifest.get('format')!r}; this version of greyfill reads "
            f"format {FORMAT}. Install the version that saved it: {manifest.get('versions')}"
        )
    return manifest
