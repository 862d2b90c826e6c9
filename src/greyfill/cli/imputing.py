"""``greyfill impute`` and ``greyfill fit``."""

from typing import Annotated

import typer

from greyfill.cli import options as o

Tests = Annotated[
    list[str] | None,
    typer.Option(
        "--test", metavar="FILE",
        help="New rows to fill without labels, from the rows of FILE. Repeatable.",
    ),
]  # fmt: skip
Report = Annotated[
    str | None,
    typer.Option(
        "--report", metavar="PAGE", help="Write a report: .html, .md or .json.",
        rich_help_panel=o.OUTPUT,
    ),
]  # fmt: skip
Save = Annotated[
    str | None,
    typer.Option(
        "--save", metavar="MODEL", help="Save the fitted imputer for greyfill apply.",
        rich_help_panel=o.OUTPUT,
    ),
]  # fmt: skip
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", "-n", metavar=o.NO_VALUE, help="Say what would be done, and write nothing.",
        rich_help_panel=o.OUTPUT,
    ),
]  # fmt: skip
Chunked = Annotated[
    bool,
    typer.Option(
        "--chunked", metavar=o.NO_VALUE,
        help="FILE is a folder of Parquet files, larger than memory: filled one by one into the "
        "folder OUT. Run again after a crash to go on. Needs the extra \\[dask].",
        rich_help_panel=o.OUTPUT,
    ),
]  # fmt: skip


def impute(
    file: o.File,
    target: o.Target = None,
    test: Tests = None,
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
    output: o.Output = None,
    report: Report = None,
    save: Save = None,
    chunked: Chunked = False,
    dry_run: DryRun = False,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Fill the holes of a table; observed cells keep every byte.

    Rows with a label are filled with its help. Rows without one, and the rows of --test, are filled
    without. The target itself is never imputed.
    """
    from greyfill.cli.choosing import MethodChoice
    from greyfill.cli.jobs import ImputeJob
    from greyfill.cli.reading import Wishes

    wishes = Wishes(
        target, categorical or (), ordinal or (), ignored or (), na_values or (),
        delimiter, decimal, encoding, numeric or (),
    )  # fmt: skip
    choice = MethodChoice(method, k, labels, jobs, seed)
    if chunked:
        from greyfill.cli.chunking import ChunkedJob

        unusable = {"--test": test, "--report": report, "--save": save, "--dry-run": dry_run}
        ChunkedJob(file, output, force).run(wishes, choice, unusable, json=json, quiet=quiet)
        return
    job = ImputeJob(file, output, tuple(test or ()), report, save, force)
    job.run(wishes, choice, dry_run=dry_run, json=json, quiet=quiet)


def fit(
    file: o.File,
    save: Annotated[
        str, typer.Option("--save", "-o", metavar="MODEL", help="Where to save the imputer.")
    ],
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
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Learn from a table and save the imputer, to fill other tables with greyfill apply."""
    from greyfill.cli.choosing import MethodChoice
    from greyfill.cli.jobs import fit_and_save
    from greyfill.cli.reading import Wishes

    wishes = Wishes(
        target, categorical or (), ordinal or (), ignored or (), na_values or (),
        delimiter, decimal, encoding, numeric or (),
    )  # fmt: skip
    choice = MethodChoice(method, k, labels, jobs, seed)
    fit_and_save(file, save, wishes, choice, force=force, json=json, quiet=quiet)
