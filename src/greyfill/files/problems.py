"""Errors that say which file, why, and what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from greyfill.exceptions import FileProblemError

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


def listed(words: list[str], most: int = 5) -> str:
    """Some words, quoted, and a hint at the rest.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    more = ", …" if len(words) > most else ""
    return ", ".join(repr(word) for word in words[:most]) + more
