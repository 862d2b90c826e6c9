"""``greyfill report``: the page about what would be imputed, without the filled table."""

from typing import Annotated

import typer

from greyfill.cli import options as o

Page = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="PAGE",
        help="An .html, .md or .json file; - for HTML on stdout. Else NAME.report.html.",
        rich_help_panel=o.OUTPUT,
    ),
]  # fmt: skip


def report(
    file: o.File,
    target: o.Target = None,
    categorical: o.Categorical = None,
    numeric: o.Numeric = None,
    ordinal: o.Ordinal = None,
    ignored: o.Ignored = None,
    na_values: o.NaValues = None,
    method: o.Method = "cgknn",
    k: o.Neighbors = "auto",
    labels: o.Labels = None,
    jobs: o.Jobs = None,
    seed: o.Seed = 0,
    output: Page = None,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Fill a table and write only the page about it: what, from what, how sure.

    The page is one file that needs no network. With --json its numbers go to stdout, and a page
    is written only if --output names one.
    """
    from greyfill import files
    from greyfill.cli import jobs as work
    from greyfill.cli.choosing import MethodChoice
    from greyfill.cli.filling import learn
    from greyfill.cli.names import STREAM, beside
    from greyfill.cli.reading import Wishes
    from greyfill.cli.voice import Console, print_json
    from greyfill.exceptions import InvalidParameterError
    from greyfill.report import summarize

    wishes = Wishes(
        target, categorical or (), ordinal or (), ignored or (), na_values or (),
        delimiter, decimal, encoding, numeric or (),
    )  # fmt: skip
    page = beside(file, "report", ".html") if output is None and not json else output
    if page is not None:
        if json and page == STREAM:
            raise InvalidParameterError("Only one of the page and --json can go to stdout.")
        work.report_format(page)
        files.check_outputs([files.Output(page)], [file], force=force)
    voice = Console(quiet or json)
    sheet = work.read_sheet(file, wishes, voice)
    filled = learn(sheet, MethodChoice(method, k, labels, jobs, seed), voice)
    if page is not None:
        work.write_report(filled, page, force, voice)
    if json:
        print_json(summarize(filled.imputer, sheet.X, filled.features, sheet.y))
