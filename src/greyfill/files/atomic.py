"""Writing a file so that at any moment the old one or the new one is there, never a part."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from greyfill.files.drafts import open_draft
from greyfill.files.loading import STANDARD_STREAM
from greyfill.files.outputs import check_output, descriptor_of, is_special
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
    it points to is replaced. A device, a pipe or an open stream such as ``"/dev/stdout"`` is
    written directly; ``"-"`` is standard output.
    """
    name = os.fspath(out)
    if name == STANDARD_STREAM:
        with naming("standard output", "write to"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    check_output(name, force=force)
    with naming(name, "write"):
        if is_special(name):
            with _open_special(name) as stream:
                yield stream
        else:
            with _replacing(os.path.realpath(name), force) as stream:
                yield stream


def _open_special(name: str) -> BinaryIO:
    number = descriptor_of(name)
    if number is None:
        return open(name, "wb")
    sys.stdout.flush()
    return open(os.dup(number), "wb")


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
