"""A lock on a folder, which the system takes away when the process that holds it dies."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def folder_lock(folder: str | os.PathLike[str]) -> Iterator[bool | None]:
    """Hold the lock of a folder: whether it was free, None where there are no locks."""
    if sys.platform == "win32":
        yield None
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield _is_taken(handle)
    finally:
        os.close(handle)


def _is_taken(handle: int) -> bool | None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True
