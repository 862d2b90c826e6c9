"""``greyfill compare``: find the method that serves a table."""

from typing import Annotated

import typer

from greyfill.cli import options as o

Names = Annotated[
    list[str] | None,
    typer.Option(
        "--methods", "-m", metavar="NAMES",
        help="Names with commas between them. By default eleven methods, slow ones among them.",
        rich_help_panel=o.METHOD,
    ),
]  # fmt: skip
Rates = Annotated[
    str,
    typer.Option(
        "--rates", metavar="SHARES", help="Shares of the observed cells to hide.",
        rich_help_panel=o.METHOD,
    ),
]  # fmt: skip
Mechanism = Annotated[
    str,
    typer.Option(
        "--mechanism", metavar="NAME", help="How cells are hidden: mcar, mar or nmar.",
        rich_help_panel=o.METHOD,
    ),
]  # fmt: skip
Repeats = Annotated[
    int,
    typer.Option(
        "--repeats", min=1, help="How often, with other holes each time.", rich_help_panel=o.METHOD
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache", metavar="FILE", rich_help_panel=o.OUTPUT,
        help="A Parquet file of all results; an interrupted comparison goes on from it.",
    ),
]  # fmt: skip
Processes = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", metavar="N", help="Processes; -1 for all cores.", rich_help_panel=o.METHOD
    ),
]


def compare(
    file: o.File,
    target: o.Target = None,
    categorical: o.Categorical = None,
    numeric: o.Numeric = None,
    ordinal: o.Ordinal = None,
    ignored: o.Ignored = None,
    na_values: o.NaValues = None,
    methods: Names = None,
    rates: Rates = "0.1,0.2",
    mechanism: Mechanism = "mcar",
    repeats: Repeats = 3,
    jobs: Processes = 1,
    seed: o.Seed = 0,
    cache: Cache = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Hide known cells of a table, fill them by many methods, and compare.

    NRMSE is the error of the hidden cells, 0 is perfect. With a target, a classifier is
    cross-validated: "honest" fills inside the folds without the labels of the test rows, "paper"
    fills everything first with all labels, which overstates the accuracy. Ends with 1 if a method
    failed.
    """
    from greyfill.cli.matching import CompareJob
    from greyfill.cli.reading import Wishes

    wishes = Wishes(
        target, categorical or (), ordinal or (), ignored or (), na_values or (),
        delimiter, decimal, encoding, numeric or (),
    )  # fmt: skip
    match = CompareJob(tuple(methods or ()), rates, mechanism, repeats, jobs, seed, cache)
    if match.run(file, wishes, json=json, quiet=quiet):
        raise typer.Exit(1)
