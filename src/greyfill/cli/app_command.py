"""``greyfill app``: the local page."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.jobs.options import option

PORT = "The port to listen at; else a free one."


@o.with_options
def app(
    printing: Annotated[OutputOptions, Without(("force", "json", "quiet"))],
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A table to begin with.")
    ] = None,
    port: Annotated[int, option(None, "N", PORT, "--port", min=0, max=65535)] = 0,
    no_browser: Annotated[
        bool, option(None, "", "Only print the address.", "--no-browser")
    ] = False,
) -> None:
    """Open the local page: look at a table, fill it, look at the fills, take them home.

    It runs on this machine alone, and sends nothing anywhere. Its address is the one line on
    stdout. Ctrl-C, or the page's own button, ends it and removes what it kept.
    """
    from greyfill.checks import check_installed

    for module in ("starlette", "uvicorn"):
        check_installed(module, "greyfill app", "'greyfill[app]'")
    from greyfill.app.server import serve

    with suppress(KeyboardInterrupt):
        serve(file, port=port, browser=not no_browser)
