"""Writing a file so that at any moment the old one or the new one is there, never a part."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from greyfill.exceptions import FileProblemError
from greyfill.files.drafts import open_draft
from greyfill.files.loading import STANDARD_STREAM
from greyfill.files.problems import naming


def put(out: str | os.PathLike[str], chunks: Iterable[bytes], *, force: bool = False) -> None:
    """Write bytes to a file as `writing` does."""
    with writing(out, force=force) as stream:
        stream.writelines(chunks)


@contextmanager
def writing(out: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A stream that writes beside the file, and at the end brings it to the disk and renames it.

    An error in between leaves the old file. An existing file is replaced only with ``force`` and
    keeps its permissions, and its owner where the system allows it. A symbolic link stays: the file
    it points to is replaced. A device or a pipe is written directly; ``"-"`` is standard output.
    """
    name = os.fspath(out)
    if name == STANDARD_STREAM:
        with naming("standard output", "write to"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    check_output(name, force=force)
    with naming(name, "write"):
        path = os.path.realpath(name)
        if _is_special(path):
            with open(path, "wb") as stream:
                yield stream
        else:
            with _replacing(path, force) as stream:
                yield stream


def check_output(
    out: str | os.PathLike[str], *, source: str | os.PathLike[str] = "-", force: bool = False
) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    name = os.fspath(out)
    if name == STANDARD_STREAM or _is_special(name):
        return
    folder = os.path.dirname(os.path.realpath(name))
    if os.path.isdir(name):
        raise FileProblemError(f"Cannot write {name}: it is a folder. Name a file in it.")
    if not os.path.isdir(folder):
        raise FileProblemError(f"Cannot write {name}: there is no folder {folder}.")
    if os.path.lexists(name) and not force:
        if _are_same(name, os.fspath(source)):
            raise FileProblemError(
                f"Cannot write {name}: it is the input. To replace it, say so: "
                "--force (force=True)."
            )
        raise FileProblemError(
            f"Cannot write {name}: it exists already. To replace it, say so: --force (force=True)."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileProblemError(f"Cannot write {name}: no permission to write in {folder}.")


@contextmanager
def _replacing(path: str, force: bool) -> Iterator[BinaryIO]:
    old = os.stat(path) if os.path.exists(path) else None
    # A new file gets the usual permissions at once; a replacement is private until it is complete.
    draft = open_draft(os.path.dirname(path), 0o666 if old is None else 0o600)
    try:
        with open(draft.descriptor, "wb") as stream:
            yield stream
            stream.flush()
            if old is not None:
                _take_over(stream.fileno(), old)
            os.fsync(stream.fileno())
            draft.publish(stream, path, replace=force)
    except BaseException:
        draft.discard()
        raise


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give a file the owner, where possible, and the permissions of the one that it replaces."""
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _is_special(name: str) -> bool:
    """Whether it exists and is neither a file nor a folder: a device, a pipe."""
    return os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)


def _are_same(name: str, other: str) -> bool:
    return os.path.exists(name) and os.path.exists(other) and os.path.samefile(name, other)
