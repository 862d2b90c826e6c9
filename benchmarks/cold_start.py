"""What the first run on a machine pays: CPU seconds of compiling, and which kernels cost them.

Each job runs twice in a process of its own, first with an empty cache of compiled code (cold), then
with what the first left there (warm). Printed are the CPU seconds of both, their difference, and
each kernel that was compiled: how often, and how long without the kernels that it calls, but with
their machine code. Ends with 1 if a cold ``greyfill demo`` spends more on compiling than the bar
allows.

    python benchmarks/cold_start.py
    python benchmarks/cold_start.py impute --method cgknn --each
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import thread_time
from typing import Any

from numba.core.event import Listener, register

MOST_SECONDS = 6.0
JOBS = ("demo", "impute", "apply")


class Stopwatch(Listener):  # type: ignore[misc]
    """A listener of numba's that keeps, for each compilation, its own CPU seconds."""

    def __init__(self) -> None:
        self.compiled: list[tuple[str, str, float]] = []
        self._open: list[list[float]] = []

    def on_start(self, event: Any) -> None:
        self._open.append([thread_time(), 0.0])

    def on_end(self, event: Any) -> None:
        started, inner = self._open.pop()
        whole = thread_time() - started
        if self._open:
            self._open[-1][1] += whole
        kernel = event.data["dispatcher"].py_func
        name = f"{kernel.__module__.removeprefix('greyfill.')}.{kernel.__name__}"
        self.compiled.append((name, ", ".join(map(str, event.data["args"])), whole - inner))


def inside(arguments: list[str], out: str) -> None:
    """Run the command in this process, and leave a list of what was compiled."""
    from greyfill.cli import app

    watch = Stopwatch()
    register("numba:compile", watch)
    app(arguments, standalone_mode=False)
    Path(out).write_text(json.dumps(watch.compiled))


def run(arguments: list[str], cache: str, folder: Path) -> tuple[float, list[Any]]:
    """CPU seconds of a command in a process of its own, and what it compiled."""
    before = getrusage(RUSAGE_CHILDREN)
    out = str(folder / "compiled.json")
    subprocess.run(
        [sys.executable, __file__, "--inside", out, *arguments],
        check=True, cwd=folder, env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )  # fmt: skip
    after = getrusage(RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(Path(out).read_text())


def arguments_of(job: str, method: str, folder: Path) -> list[str]:
    """A command, and the files that it needs."""
    more = ["--method", method] if method else []
    fill = ["patients.csv", "--target", "class", *more, "--force", "--quiet"]
    if job == "demo":
        return ["demo", "--force", "--quiet"]
    greyfill = [sys.executable, "-m", "greyfill"]
    subprocess.run(
        [*greyfill, "datasets", "hepatitis", "-o", "patients.csv", "--force"],
        check=True, cwd=folder, capture_output=True,
    )  # fmt: skip
    if job == "impute":
        return ["impute", *fill]
    subprocess.run([*greyfill, "fit", *fill, "--save", "model"], check=True, cwd=folder)
    rows = (folder / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "row.csv").write_text("".join(rows[:2]), encoding="utf-8")
    return ["apply", "model", "row.csv", "--force", "--quiet"]


def measured(job: str, method: str = "") -> dict[str, Any]:
    """CPU seconds of a job, cold and warm, and what was compiled in each."""
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), str(Path(name) / "cache")
        arguments = arguments_of(job, method, folder)
        (cold, compiled), (warm, again) = (run(arguments, cache, folder) for _ in range(2))
    return {"cold": cold, "warm": warm, "compiled": compiled, "again": again}


def show(job: str, found: dict[str, Any], each: bool) -> None:
    """Print the figures of a job."""
    compiled = found["compiled"]
    print(
        f"{job}: {found['cold']:.1f} s of CPU cold, {found['warm']:.1f} s warm: "
        f"{found['cold'] - found['warm']:.1f} s for {len(compiled)} compilations"
    )
    times, counts = Counter[str](), Counter[str]()
    for name, signature, seconds in compiled:
        key = f"{name}({signature})" if each else name
        times[key] += seconds
        counts[key] += 1
    for name, seconds in times.most_common():
        print(f"  {seconds:6.2f} s  {counts[name]:>2} ×  {name}")
    for name, signature, _ in found["again"]:
        print(f"  compiled again although it was kept: {name}({signature})")


def main() -> int:
    """Print what each job compiles, and hold the demo to its bar."""
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[3:], sys.argv[2])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", default=JOBS, help=f"of {', '.join(JOBS)}")
    parser.add_argument("--method", default="", help="of impute and apply; else the default")
    parser.add_argument("--each", action="store_true", help="list each signature")
    given, failed = parser.parse_args(), False
    for job in given.jobs:
        found = measured(job, given.method)
        show(job, found, given.each)
        spent = found["cold"] - found["warm"]
        failed |= bool(found["again"]) or (job == "demo" and spent > MOST_SECONDS)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
