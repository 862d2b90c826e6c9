"""A user's mistake becomes one line on stderr and an exit code, never a traceback."""

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
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

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the command line; help and version are printed here, which may fail as well."""
        _open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a terminal without ° must not end the work
                stream.reconfigure(errors="backslashreplace")
        with _telling({}):
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; mistakes end it with a message and an exit code."""
        with _telling(ctx.meta), _ending_in_order():
            result = super().invoke(ctx)
            sys.stdout.flush()
        return result


@contextmanager
def _telling(meta: Mapping[str, Any]) -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code."""
    try:
        yield
    except TerminatedError as stop:
        _tell("terminated; no file was left half-written")
        raise typer.Exit(TERMINATED) from stop
    except KeyboardInterrupt as stop:
        _tell("interrupted; no file was left half-written")
        raise typer.Exit(INTERRUPTED) from stop
    except (GreyfillError, OSError, MemoryError) as error:
        if getattr(error, "errno", None) == errno.EPIPE:
            _leave_the_pipe()
        if meta.get(DEBUG):
            traceback.print_exc()
        _tell(_in_words(error))
        _drop_output()
        raise typer.Exit(WRONG_INPUT) from error


def _open_closed_streams() -> None:
    """Give a stream that the caller closed a descriptor that cannot be read or written.

    Else the next file would take its number, and messages would go elsewhere. Messages alone may
    be lost without an error.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY),
    ):  # fmt: skip
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, flags), mode))  # noqa: SIM115


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

    from greyfill.text import clean

    line = clean(message, most=MOST_CHARACTERS)  # a name may hold what would steer a terminal
    Console(stderr=True, highlight=False).print(Text(f"greyfill: {line}", "red"), soft_wrap=True)


def _in_words(error: BaseException) -> str:
    if isinstance(error, MemoryError) and not isinstance(error, GreyfillError):
        return "not enough memory. Give fewer rows, or a machine with more."
    if isinstance(error, GreyfillError) or not isinstance(error, OSError):
        return str(error)
    from greyfill.files.inputs import reason

    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{reason(error)}"


def _leave_the_pipe() -> NoReturn:
    """End quietly, as a program does that is stopped by a broken pipe."""
    _drop_output()
    raise typer.Exit(READER_GONE)


def _drop_output() -> None:
    """Lose what is still to be printed if it cannot be, since Python would try it once more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
