"""The program: its commands, and what becomes of a mistake: one line and an exit code."""

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from inspect import cleandoc
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from greyfill import __version__
from greyfill.cli import command as o
from greyfill.cli.app_command import app as open_page
from greyfill.cli.apply_command import apply
from greyfill.cli.compare_command import compare
from greyfill.cli.demo_command import datasets, demo
from greyfill.cli.impute_command import fit, impute
from greyfill.cli.inspect_command import inspect
from greyfill.cli.report_command import report, reproduce
from greyfill.cli.sensitivity_command import sensitivity
from greyfill.cli.warmup_command import warmup
from greyfill.cli.worth_command import worth
from greyfill.exceptions import GreyfillError
from greyfill.jobs.options import option
from greyfill.progress import watch_compiling

WRONG_INPUT, INTERRUPTED, READER_GONE, TERMINATED = 2, 130, 141, 143


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
        with _answering({}):
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; mistakes end it with a message and an exit code."""
        try:
            with _answering(ctx.meta), _ending_in_order():
                result = super().invoke(ctx)
                sys.stdout.flush()
        finally:
            watch_compiling(None)
        return result


@contextmanager
def _answering(meta: Mapping[str, Any]) -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code."""
    try:
        yield
    except TerminatedError as stop:
        _say("terminated; no file was left half-written")
        raise typer.Exit(TERMINATED) from stop
    except KeyboardInterrupt as stop:
        _say("interrupted; no file was left half-written")
        raise typer.Exit(INTERRUPTED) from stop
    except (GreyfillError, OSError, MemoryError) as error:
        if getattr(error, "errno", None) == errno.EPIPE:  # as a program ends that a pipe stops
            _drop_output()
            raise typer.Exit(READER_GONE) from error
        from greyfill.files.inputs import in_words

        if meta.get(o.DEBUG):
            traceback.print_exc()
        _say(in_words(error))
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


def _say(message: str) -> None:
    from greyfill.cli.console import Console

    Console.on_stderr().say(f"greyfill: {message}", "red")


def _drop_output() -> None:
    """Lose what is still to be printed if it cannot be, since Python would try it once more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    name="greyfill",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"greyfill {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        option(None, "", "Show the version.", "--version", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Fill the holes in tables before classification.

    Start with [bold]greyfill demo[/], or with your own table: [bold]greyfill impute table.csv[/],
    and [bold]--target COLUMN[/] if a column holds classes or what is to be predicted.
    """


COMMANDS = (
    impute, fit, apply, inspect, open_page, report, compare, worth, sensitivity, demo, datasets,
    warmup,
    reproduce,
)  # fmt: skip


def _paragraphs(text: str | None) -> str:
    """A docstring whose lines end where the terminal does, not where they do in the source."""
    parts = cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


for command in COMMANDS:
    app.command(help=_paragraphs(command.__doc__))(command)
