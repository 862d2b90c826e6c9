"""``greyfill demo`` and ``greyfill datasets``: something to start with."""

from typing import Annotated

import typer

from greyfill.cli import options as o


def demo(
    folder: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Where to put the files.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = "greyfill-demo",
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:  # fmt: skip
    """Fill the bundled hepatitis table, and write a report about it."""
    from greyfill.cli.bundled import run_demo

    run_demo(folder, force=force, json=json, quiet=quiet)


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Print this table as CSV.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Write it to a file instead.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    force: o.Force = False,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:  # fmt: skip
    """List the bundled tables, or get one of them."""
    from greyfill.cli.bundled import list_tables, write_table

    if name is None:
        if output is not None:
            raise typer.BadParameter("name a table to write", param_hint="NAME")
        list_tables(json=json)
    else:
        write_table(name, "-" if output is None else output, force=force)
