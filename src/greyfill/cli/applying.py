"""``greyfill apply``: a saved imputer on new files."""

from typing import Annotated

import typer

from greyfill.cli import options as o


def apply(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What greyfill fit saved.")],
    file: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Tables to fill; - for stdin.")
    ],
    ignored: o.Ignored = None,
    na_values: o.NaValues = None,
    jobs: o.Jobs = None,
    output: o.Output = None,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
) -> None:
    """Fill new tables by a saved imputer.

    No labels are needed or used. Each row is filled on its own, so one row gives the same as a
    file of many. Columns that the imputer does not know are left as they are. Words that meant
    missing in greyfill fit mean it here too.
    """
    from greyfill.cli.serving import ApplyJob

    job = ApplyJob(model, tuple(file), output, jobs, force)
    job.run(
        ignored or (), na_values or (), json, quiet,
        delimiter=delimiter, decimal=decimal, encoding=encoding,
    )  # fmt: skip
