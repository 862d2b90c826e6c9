"""The command ``greyfill``: parse, call one function, say what was written.

Messages go to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from greyfill.exceptions import GreyfillError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"greyfill {version('greyfill')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Class-aware imputation of mixed-type tables before classification."""


@app.command()
def reproduce(
    quick: Annotated[
        bool, typer.Option("--quick", help="One rate of missing cells, 3 seeds, minutes less.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds; 20, or 3 with --quick.")
    ] = None,
    out: Annotated[
        Path, typer.Option(file_okay=False, help="Folder for pages, figures and raw results.")
    ] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(help="Processes to share the work; -1 for all cores.")] = -1,
) -> None:
    """Run the paper's simulations and tables, and hold the results against its printed numbers."""
    if jobs == 0:
        raise typer.BadParameter(
            "0 processes cannot work; give a number or -1", param_hint="--jobs"
        )
    from greyfill.evaluation.reproduction import reproduce as run

    try:
        done = run(out, quick=quick, seeds=seeds, jobs=jobs, progress=sys.stderr.isatty())
    except (GreyfillError, OSError) as error:
        _fail(str(error))
    tally = Counter(verdict.outcome for verdict in done.verdicts)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items()))
    for method, reason in done.results.failures().items():
        typer.echo(f"not available: {method}: {reason}", err=True)
    typer.echo(f"{len(done.verdicts)} claims: {summary}", err=True)
    for path in done.files:
        typer.echo(f"wrote {path}", err=True)


def _fail(message: str) -> NoReturn:
    typer.echo(f"greyfill: {message}", err=True)
    raise typer.Exit(code=1)
