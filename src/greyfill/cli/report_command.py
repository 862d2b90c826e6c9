"""``greyfill report`` and ``greyfill reproduce``: pages about a table, and about the paper."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.exceptions import InvalidParameterError
from greyfill.jobs.fill_options import FillOptions
from greyfill.jobs.options import OUTPUT, STREAM, MethodChoice, TableOptions, beside, option, switch

WORTH = "Also weigh whether imputing pays for predicting the target; takes minutes."
PAGE = "An .html, .md or .json file; - for HTML on stdout. Else NAME.report.html."


@o.with_options
def report(
    file: o.File,
    table: TableOptions,
    wishes: FillOptions,
    choice: MethodChoice,
    printing: OutputOptions,
    output: Annotated[str | None, option(OUTPUT, "PAGE", PAGE, "--output", "-o")] = None,
    worth: Annotated[bool, switch(WORTH, "--worth")] = False,
) -> None:
    """Fill a table and write only the page about it: what, from what, how sure.

    The page is one file that needs no network. With --json its numbers go to stdout, and a page
    is written only if --output names one.
    """
    from greyfill import files
    from greyfill.cli.impute_command import report_format, write_report
    from greyfill.cli.worth_command import weighed
    from greyfill.jobs.sheet import read_sheet

    choice.check()
    if worth and table.target is None:
        raise InvalidParameterError("--worth needs the column that is to be predicted: --target.")
    is_named = output is not None or printing.json
    page = output if is_named else beside(file, "report", ".html")
    if page is not None:
        if printing.json and page == STREAM:
            raise InvalidParameterError("Only one of the page and --json can go to stdout.")
        report_format(page)
        files.check_outputs([files.Output(page)], [file], force=printing.force)
    console = printing.console()
    sheet = read_sheet(file, table, console, choice, wishes)
    from greyfill.jobs.fill_job import FillJob

    filled = FillJob(sheet, choice).run(console)
    found = weighed(sheet, console, seed=choice.seed) if worth else None
    if page is not None:
        write_report(filled, page, printing.force, console, found)
    if printing.json:
        told = {"worth": found.numbers()} if found else {}
        printing.print_json(filled.result.report.summary | told)


@o.with_options
def reproduce(
    printing: Annotated[OutputOptions, Without(("force", "json", "quiet"))],
    quick: Annotated[
        bool, option(None, "", "One rate of missing cells, 3 seeds, 20 trees.", "--quick")
    ] = False,
    forensic: Annotated[
        bool,
        option(None, "", "Only what the printed RMSE can be; printed as Markdown.", "--forensic"),
    ] = False,
    extended: Annotated[
        bool,
        option(None, "", "All methods of the registry as more rows; takes long.", "--extended"),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of seeds; 20, or 3 with --quick."),
    ] = None,
    ties: Annotated[
        str, typer.Option(help="Which of equally good k is taken: largest or smallest.")
    ] = "largest",
    holes: Annotated[
        str,
        typer.Option(
            help="Holes in distances: mask (never match), filled (as observed), or sources (filled "
            "for IKNN, MI-KNN, GKNN)."
        ),
    ] = "mask",
    convention: Annotated[
        str | None,
        typer.Option(
            help="Read every RMSE in units, range or sd, over hidden cells, columns or table: "
            "range-hidden, units-table, …"
        ),
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
    from greyfill.paper import reproduce as run
    from greyfill.paper import tally

    done = run(
        out, quick=quick, forensic=forensic, extended=extended, seeds=seeds, ties=ties,
        holes=holes, convention=convention, jobs=jobs, progress=sys.stderr.isatty(),
    )  # fmt: skip
    for method, reason in done.results.failures().items():
        typer.echo(f"not available: {method}: {reason}", err=True)
    if forensic:
        typer.echo(done.files[0].read_text("utf-8"))
    for title, is_ours in (("the paper's", False), ("our", True)):
        if found := [verdict for verdict in done.verdicts if verdict.is_ours == is_ours]:
            typer.echo(f"{title} {len(found)} claims: {tally(found)}", err=True)
    for path in done.files:
        typer.echo(f"wrote {path}", err=True)
