"""How much memory is free, and a refusal in words before the system ends the program.

The operating system does not say no to a program that asks for too much: it ends it later, without
a word. So work that is bound to fail is refused before it starts.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from greyfill.exceptions import NotEnoughMemoryError

MEMINFO = Path("/proc/meminfo")
STATM = Path("/proc/self/statm")
CGROUP = Path("/sys/fs/cgroup")
SMALL = 2**24
"""Fewer bytes are not worth the question how many are free."""
IS_LINUX = sys.platform == "linux"
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def refuse_beyond(needed: int, work: str, remedy: str) -> None:
    """Refuse work that needs more bytes than are free; do nothing where that is not known.

    >>> refuse_beyond(1, "Counting", "Count less.")
    >>> refuse_beyond(10**18, "Counting", "Count less.")
    Traceback (most recent call last):
    greyfill.exceptions.NotEnoughMemoryError: Counting needs at least 888.2 PiB of memory, ...
    """
    if needed < SMALL:
        return
    free = free_bytes()
    if free is not None and needed > free:
        raise NotEnoughMemoryError(
            f"{work} needs at least {in_words(needed)} of memory, but {in_words(free)} are free. "
            f"{remedy}"
        )


def free_bytes() -> int | None:
    """What this process may still take: the least of machine, container and its own limits."""
    return min(_limits(), default=None)


def in_words(size: int) -> str:
    """A number of bytes in the unit that suits it.

    >>> in_words(1536), in_words(12)
    ('1.5 KiB', '12.0 bytes')
    """
    number, place = float(size), 0
    while number >= 1024 and place < len(UNITS) - 1:
        number, place = number / 1024, place + 1
    return f"{number:.1f} {UNITS[place]}"


def _limits() -> Iterator[int]:
    for limit in (_machine, _container, _address_space):
        with suppress(OSError, ValueError, StopIteration, ImportError):
            yield max(limit(), 0)


def _machine() -> int:
    """Memory of the machine that can be had without swapping."""
    if not IS_LINUX:
        from psutil import virtual_memory

        return int(virtual_memory().available)
    lines = MEMINFO.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def _container() -> int:
    """What a control group leaves; pages of files count as free, since they can be dropped."""
    most = int((CGROUP / "memory.max").read_text(encoding="ascii"))  # "max" is no number
    used = int((CGROUP / "memory.current").read_text(encoding="ascii"))
    lines = (CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    cached = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file"))
    return most - used + cached


def _address_space() -> int:
    """What is left of the limit that ``ulimit -v`` sets."""
    if sys.platform == "win32":
        raise OSError("no such limit")
    from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, getrlimit

    most = getrlimit(RLIMIT_AS)[0]
    if most == RLIM_INFINITY:
        raise ValueError("no limit")
    return most - int(STATM.read_text(encoding="ascii").split()[0]) * getpagesize()
