"""From a path or standard input to decompressed bytes: at once, or in blocks and again."""

import errno
import gzip
import os
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import BinaryIO, Self

from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.formats import Compression, unzstd

STANDARD_STREAM = "-"
BLOCK = 1 << 22
"""Bytes that are read at a time."""

_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of the path is no folder",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the disk is read-only",
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.ELOOP: "its symbolic links go in a circle",
    errno.EEXIST: "it exists already; --force (force=True) replaces it",
    errno.EBADF: "the stream is closed, or not open for this",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EPIPE: "its reader went away",
}


@contextmanager
def naming(name: str, deed: str) -> Iterator[None]:
    """Turn an error of the system into one that names the file.

    >>> with naming("votes.csv", "read"):
    ...     raise FileNotFoundError(errno.ENOENT, "gone")
    Traceback (most recent call last):
    greyfill.exceptions.FileProblemError: Cannot read votes.csv: there is no such file or folder.
    """
    try:
        yield
    except FileProblemError:
        raise
    except OSError as error:
        problem = FileProblemError(f"Cannot {deed} {name}: {reason(error)}.")
        problem.errno = error.errno
        raise problem from error


def reason(error: OSError) -> str:
    """What the system could not do, in words."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


def shown(name: str) -> str:
    """How messages call a file."""
    return "standard input" if name == STANDARD_STREAM else name or "a file without a name"


class Input:
    """A file that can be read in blocks, from its start, as often as one likes.

    What can be read only once, standard input or a pipe, goes to a temporary file first: to the
    disk, not to the memory.
    """

    def __init__(self, name: str, expected: Compression | None) -> None:
        self.name = name
        self._stack, self._stamp = ExitStack(), _stamp(name)
        with naming(shown(name), "read"):
            self._stream: BinaryIO = self._stack.enter_context(_seekable(name))
            self.compression = Compression.by_magic(self._stream.read(8))
            is_empty = self._stream.tell() == 0
        if self.compression is None and expected is not None and not is_empty:
            self._stack.close()
            raise InvalidDataError(f"{shown(name)} is no {expected} file, though its name says so.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def plain_path(self) -> str:
        """A plain file with its bytes, decompressed: its own, or one that goes with the input."""
        if self.compression is None and self.name != STANDARD_STREAM and os.path.isfile(self.name):
            return os.path.realpath(self.name)
        spool = NamedTemporaryFile(prefix="greyfill-")  # noqa: SIM115  (closed with the input)
        self._stack.enter_context(spool)
        spool.writelines(self.blocks())
        spool.flush()
        return spool.name

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Refuse what was made of a file that changed since it was opened."""
        try:
            yield
        except Exception as error:
            self._check_unchanged(error)
            raise
        self._check_unchanged(None)

    def _check_unchanged(self, error: Exception | None) -> None:
        if _stamp(self.name) != self._stamp:
            raise FileProblemError(
                f"Cannot read {shown(self.name)}: it changed while it was read. Try again when "
                "nobody writes to it."
            ) from error

    def head(self, size: int) -> bytes:
        """The first bytes, decompressed."""
        return next(self.blocks(size), b"")

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """The bytes from the start, decompressed, in blocks of about this size."""
        try:
            with naming(shown(self.name), "read"):
                self._stream.seek(0)
                yield from self._decompressed(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InvalidDataError(
                f"{shown(self.name)} is a damaged or cut off {self.compression} file: {error}."
            ) from error

    def _decompressed(self, size: int) -> Iterator[bytes]:
        if self.compression is Compression.ZSTD:
            yield from unzstd(self._stream)
            return
        is_zipped = self.compression is Compression.GZIP
        stream = gzip.GzipFile(fileobj=self._stream) if is_zipped else self._stream
        while block := stream.read(size):
            yield block


def _stamp(name: str) -> tuple[int, ...]:
    """Tells a plain file from what it becomes by a change."""
    try:
        seen = os.stat(name)
    except OSError:
        return ()
    is_plain = name != STANDARD_STREAM and stat.S_ISREG(seen.st_mode)
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns) if is_plain else ()


def _seekable(name: str) -> BinaryIO:
    if name != STANDARD_STREAM and Path(name).is_file():
        return open(name, "rb")
    spool = TemporaryFile()  # noqa: SIM115  (closed with the input)
    try:
        if name == STANDARD_STREAM:
            shutil.copyfileobj(sys.stdin.buffer, spool)
        else:
            with open(name, "rb") as stream:
                shutil.copyfileobj(stream, spool)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return spool
