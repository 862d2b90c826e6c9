"""A file in the making: it has no name, or a name of its own, until it is complete.

On Linux a draft has no name at all (``O_TMPFILE``), so a process that is killed leaves nothing
behind. Where that does not exist, a draft is a hidden file ``.greyfill-….tmp`` in the same folder;
it is removed after every error and interrupt, but a kill (SIGKILL, power) may leave it.
"""

import errno
import os
import secrets
from contextlib import suppress
from typing import BinaryIO, Protocol

_UNNAMED = getattr(os, "O_TMPFILE", 0)
_PRIVATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


class Draft(Protocol):
    """A file in the making."""

    descriptor: int

    def publish(self, stream: BinaryIO, path: str, *, replace: bool) -> None:
        """Give the draft its name, at once; an existing file is an error unless replaced."""
        ...

    def discard(self) -> None:
        """Remove what has not been published."""
        ...


def open_draft(folder: str, mode: int) -> Draft:
    """A new draft in a folder; the system takes its umask off the mode."""
    if _UNNAMED:
        with suppress(_Unsupported):
            return UnnamedDraft(folder, mode)
    return NamedDraft(folder, mode)


class _Unsupported(Exception):
    """The file system has no files without a name."""


class UnnamedDraft:
    """A file without a name, which the system removes with the process."""

    def __init__(self, folder: str, mode: int) -> None:
        try:
            self.descriptor = os.open(folder, _UNNAMED | os.O_WRONLY, mode)
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise _Unsupported from error
            raise
        self._link = f"/proc/self/fd/{self.descriptor}"
        if not os.path.exists(self._link):
            os.close(self.descriptor)
            raise _Unsupported

    def publish(self, stream: BinaryIO, path: str, *, replace: bool) -> None:
        """Give the draft its name, at once.

        A link never replaces a file. To replace one, the complete draft has a temporary name for
        the moment between two calls of the system.
        """
        folder = os.open(os.path.dirname(path), os.O_RDONLY)  # a dir_fd makes link() follow
        try:
            self._name(path, folder, replace)
            os.fsync(folder)
        finally:
            os.close(folder)

    def _name(self, path: str, folder: int, replace: bool) -> None:
        name = os.path.basename(path)
        try:
            os.link(self._link, name, dst_dir_fd=folder)
        except FileExistsError:
            if not replace:
                raise
            temporary = _temporary_name()
            os.link(self._link, temporary, dst_dir_fd=folder)
            try:
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def discard(self) -> None:
        """Nothing to remove: the system does it."""


class NamedDraft:
    """A hidden file beside the future one."""

    def __init__(self, folder: str, mode: int) -> None:
        self._path = os.path.join(folder, _temporary_name())
        self.descriptor = os.open(self._path, _PRIVATE | _BINARY, mode)

    def publish(self, stream: BinaryIO, path: str, *, replace: bool) -> None:
        """Give the draft its name, at once."""
        stream.close()  # some systems do not rename an open file
        if not replace and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        os.replace(self._path, path)

    def discard(self) -> None:
        """Remove the hidden file if it still exists."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)


def _temporary_name() -> str:
    return f".greyfill-{secrets.token_hex(8)}.tmp"
