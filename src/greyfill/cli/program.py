"""The program itself: its name, its version, and its list of commands."""

from inspect import cleandoc
from typing import Annotated

import typer

from greyfill import __version__
from greyfill.cli import options as o
from greyfill.cli.applying import apply
from greyfill.cli.comparing import compare
from greyfill.cli.doubting import sensitivity
from greyfill.cli.errors import Commands
from greyfill.cli.imputing import fit, impute
from greyfill.cli.inspecting import inspect
from greyfill.cli.reporting import report
from greyfill.cli.reproducing import reproduce
from greyfill.cli.starting import datasets, demo

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
        typer.Option(
            "--version",
            metavar=o.NO_VALUE,
            callback=_show_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    """Fill the holes in tables before classification.

    Start with [bold]greyfill demo[/], or with your own table:
    [bold]greyfill impute table.csv --target COLUMN[/]
    """


COMMANDS = (
    impute, fit, apply, inspect, report, compare, sensitivity, demo, datasets, reproduce,
)  # fmt: skip


def _paragraphs(text: str | None) -> str:
    """A docstring whose lines end where the terminal does, not where they do in the source."""
    parts = cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


for command in COMMANDS:
    app.command(help=_paragraphs(command.__doc__))(command)
