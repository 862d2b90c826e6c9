"""Wall time and peak memory of a block of code.

Memory is the highest resident set of this process during the block, less the resident set before
it. Linux can reset that high-water mark. Elsewhere it is how much the block raised the mark of the
whole process. Either is a lower bound: memory that the allocator kept from earlier work is not
counted again, nor is that of child processes.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np

from greyfill.evaluation.methods import make

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Cost:
    """Seconds and MiB; ``memory_mib`` is NaN where the system does not tell."""

    seconds: float = float("nan")
    memory_mib: float = float("nan")


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure the body of a ``with``.

    >>> with measured() as cost:
    ...     total = sum(range(1000))
    >>> 0 < cost.seconds < 10
    True
    """
    cost = Cost()
    before, start = _mark_start(), perf_counter()
    yield cost
    cost.seconds = perf_counter() - start
    cost.memory_mib = max(_high_water() - before, 0.0)


@cache
def warm_up() -> None:
    """Load the compiled kernels of this process, so that no run pays for it."""
    X = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 0.0], [3.0, 1.0]])
    for name in ("cgknn", "iknn"):
        make(name, n_neighbors=1).fit_transform(X, [0, 0, 1, 1])


def _mark_start() -> float:
    """Reset the high-water mark, if that is allowed, and return it in MiB."""
    with suppress(OSError):
        RESET.write_text("5", encoding="ascii")
    return _high_water()


def _high_water() -> float:
    """The largest resident set since the last reset, in MiB."""
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
        return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return _high_water_of_process()


def _high_water_of_process() -> float:
    if sys.platform == "win32":
        return float("nan")
    from resource import RUSAGE_SELF, getrusage

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return getrusage(RUSAGE_SELF).ru_maxrss / unit
