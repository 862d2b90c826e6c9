"""``greyfill reproduce``: the paper's numbers, measured again."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from greyfill.cli import options as o


def reproduce(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", metavar=o.NO_VALUE, help="One rate of missing cells, 3 seeds, minutes less."
        ),
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds; 20, or 3 with --quick.")
    ] = None,
    out: Annotated[
        Path, typer.Option(file_okay=False, help="Folder for pages, figures and raw results.")
    ] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(help="Processes to share the work; -1 for all cores.")] = -1,
    debug: o.Debug = False,
) -> None:
    """Run the paper's simulations and tables, and hold the results against its printed numbers."""
    if jobs == 0:
        raise typer.BadParameter(
            "0 processes cannot work; give a number or -1", param_hint="--jobs"
        )
    from greyfill.paper import reproduce as run

    done = run(out, quick=quick, seeds=seeds, jobs=jobs, progress=sys.stderr.isatty())
    tally = Counter(verdict.outcome for verdict in done.verdicts)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.items()))
    for method, reason in done.results.failures().items():
        typer.echo(f"not available: {method}: {reason}", err=True)
    typer.echo(f"{len(done.verdicts)} claims: {summary}", err=True)
    for path in done.files:
        typer.echo(f"wrote {path}", err=True)
