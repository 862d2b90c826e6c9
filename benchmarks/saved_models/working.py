"""A process that tries one file after another, and the thread that watches it."""

import faulthandler
import json
import os
import re
import select
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from saved_models.bases import ready
from saved_models.keys import Key
from saved_models.parts import write
from saved_models.trying import Outcome, try_file

MEMORY = 2 * 2**30
"""What a file may make a process take beyond what it has at the start."""

START = 300.0
"""Seconds in which a process must be ready, kernels included."""


def limit_memory() -> None:
    """Let what takes too much fail with a MemoryError."""
    try:
        import resource
    except ImportError:
        return
    statm = Path("/proc/self/statm")
    if statm.exists():
        pages = int(statm.read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def work(folder: Path, name: str, patience: float) -> None:
    """Read keys from the standard input; answer each with a line."""
    replies = os.fdopen(os.dup(1), "w")
    log = os.open(folder / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    trace = (folder / f"{name}.trace").open("w")
    bases, path = ready(folder), folder / f"{name}.model"
    for one in bases.values():
        write(one.model, path)
        outcome = try_file(path, one)
        if outcome.result != "answered":
            replies.write(json.dumps({"unfit": one.name, **outcome.told()}) + "\n")
            return
    faulthandler.enable(trace)
    limit_memory()
    replies.write("{}\n")
    replies.flush()
    for line in sys.stdin:
        key = Key.parse(line)
        try:
            told = key.file(bases, path)
        except Exception:
            replies.write(json.dumps({"unmade": f"{key}: {traceback.format_exc()}"}) + "\n")
            return
        (folder / f"{name}.told").write_text("\n".join(told), errors="replace")
        faulthandler.dump_traceback_later(0.9 * patience, file=trace)
        outcome = try_file(path, bases[key.number])
        faulthandler.cancel_dump_traceback_later()
        os.ftruncate(trace.fileno(), 0)
        os.lseek(trace.fileno(), 0, os.SEEK_SET)
        replies.write(json.dumps({**outcome.told(), "told": told}) + "\n")
        replies.flush()


class UnfitError(Exception):
    """The fuzzer itself fails: a base does not answer unchanged, or a change cannot be made."""


class Worker:
    """A process at work, started again after a crash or a hang."""

    def __init__(
        self, folder: Path, name: str, patience: float, environment: dict[str, str]
    ) -> None:
        self.folder, self.name, self.patience = folder, name, patience
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None
        self.tried = 0

    def ask(self, key: Key) -> dict[str, Any]:
        """Try a file; a crash counts as that of this file, and says so if it needs others."""
        reply = self._ask_once(key)
        if reply["result"] == "crash" and self.tried > 1:
            self.tried = 0
            again = self._ask_once(key)
            if again["result"] != "crash":
                reply["message"] = f"not alone, but after others: {reply['message']}"
        return reply

    def _ask_once(self, key: Key) -> dict[str, Any]:
        process = self.process or self._start()
        self.tried += 1
        assert process.stdin is not None
        try:
            process.stdin.write(f"{key}\n")
            process.stdin.flush()
            line = self._line(self.patience)
        except BrokenPipeError:
            line = ""
        if line:
            reply = dict(json.loads(line))
            if "unmade" in reply:
                raise UnfitError(reply["unmade"])
            return reply
        return self._lost(hung=line is None)

    def _start(self) -> "subprocess.Popen[str]":
        script = Path(__file__).parent.parent / "fuzz_models.py"
        self.process = subprocess.Popen(
            [sys.executable, str(script), "--work", self.name, "--folder", str(self.folder),
             "--patience", str(self.patience)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment,
        )  # fmt: skip
        self.tried = 0
        line = self._line(START)
        first = json.loads(line) if line else {"unfit": "every base", "message": self._log()}
        if first:
            self.close()
            raise UnfitError(f"{first['unfit']}: {first}")
        return self.process

    def _line(self, seconds: float) -> str | None:
        """A line of the process, "" if it has ended, None if it takes too long."""
        assert self.process is not None
        assert self.process.stdout is not None
        found, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if found else None

    def _lost(self, hung: bool) -> dict[str, Any]:
        assert self.process is not None
        if hung:
            self.process.kill()
        code = self.process.wait()
        self.process = None
        trace = (self.folder / f"{self.name}.trace").read_text(errors="replace")
        name = "no answer" if hung else _signal(code)
        message = "" if hung else self._log()[-200:]
        outcome = Outcome("hang" if hung else "crash", "", name, _innermost(trace), message)
        told = (self.folder / f"{self.name}.told").read_text(errors="replace").splitlines()
        return {**outcome.told(), "told": told}

    def _log(self) -> str:
        return (self.folder / f"{self.name}.log").read_text(errors="replace")

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


def _innermost(trace: str) -> str:
    """The innermost line of greyfill in what faulthandler wrote."""
    found = re.search(r'File ".*/greyfill/(.*)", line (\d+) in (\w+)', trace)
    return f"{found[1]}:{found[2]} {found[3]}" if found else ""
