"""A user's mistake becomes one line on stderr and an exit code, never a traceback."""

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from greyfill.exceptions import GreyfillError

WRONG_INPUT, INTERRUPTED, READER_GONE, TERMINATED = 2, 130, 141, 143
MOST_CHARACTERS = 8_000
DEBUG = "greyfill.debug"


class TerminatedError(BaseException):
    """The system asked the program to end; drafts of files are removed on the way out."""


class Commands(TyperGroup):
    """All commands, with one place for everything that can go wrong in them."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; mistakes end it with a message and an exit code."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a terminal without ° must not end the work
                stream.reconfigure(errors="backslashreplace")
        try:
            with _ending_in_order():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except TerminatedError as stop:
            _tell("terminated; no file was left half-written")
            raise typer.Exit(TERMINATED) from stop
        except KeyboardInterrupt as stop:
            _tell("interrupted; no file was left half-written")
            raise typer.Exit(INTERRUPTED) from stop
        except (GreyfillError, OSError, MemoryError) as error:
            if getattr(error, "errno", None) == errno.EPIPE:
                _leave_the_pipe()
            if ctx.meta.get(DEBUG):
                traceback.print_exc()
            _tell(_in_words(error))
            raise typer.Exit(WRONG_INPUT) from error
        return result


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM unwind the program as Ctrl-C does, instead of ending it on the spot."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> NoReturn:
        raise TerminatedError

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def remember_debug(ctx: typer.Context, wanted: bool) -> bool:
    """Note that the user asked for tracebacks."""
    ctx.meta[DEBUG] = wanted
    return wanted


def _tell(message: str) -> None:
    from rich.console import Console
    from rich.text import Text

    from greyfill.report.text import clean

    line = clean(message, most=MOST_CHARACTERS)  # a name may hold what would steer a terminal
    Console(stderr=True, highlight=False).print(Text(f"greyfill: {line}", "red"), soft_wrap=True)


def _in_words(error: BaseException) -> str:
    if isinstance(error, MemoryError) and not isinstance(error, GreyfillError):
        return "not enough memory. Give fewer rows, or a machine with more."
    if isinstance(error, GreyfillError) or not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _leave_the_pipe() -> NoReturn:
    """End quietly, as a program does that is stopped by a broken pipe."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(READER_GONE)
