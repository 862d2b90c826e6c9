"""``greyfill apply``: a saved imputer on new files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.exceptions import InvalidParameterError, PersistenceError
from greyfill.jobs.options import STREAM, Jobs, TableOptions, beside, check_jobs_option
from greyfill.text import clean

if TYPE_CHECKING:
    from greyfill.cli.console import Console, Numbers

LEARNED = Without(("target", "categorical", "numeric", "ordinal", "folded"))
"""What a model tells about its columns itself."""


@dataclass(frozen=True)
class ApplyJob:
    """A saved imputer, the files to fill, and where they go."""

    model: Annotated[str, typer.Argument(metavar="MODEL", help="What greyfill fit saved.")]
    inputs: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Tables to fill; - for stdin.")
    ]
    jobs: Jobs = None
    output: o.Output = None

    def run(self, table: TableOptions, printing: OutputOptions) -> None:
        """Check, load, fill each file, tell."""
        check_jobs_option(self.jobs)
        self._check(printing)
        console = printing.console()
        imputer = load_model(self.model)
        told = [self._fill(name, table, imputer, printing, console) for name in self.inputs]
        printing.print_json({"model": self.model, "files": told})

    def _fill(
        self,
        name: str,
        table: TableOptions,
        imputer: Any,
        printing: OutputOptions,
        console: Console,
    ) -> Numbers:
        from greyfill.jobs.fill_job import fill_new, learned_by
        from greyfill.jobs.sheet import open_new

        out, learned = self._out(name), learned_by(imputer, self.model)
        with open_new(name, table, imputer.schema_, learned, console) as batches:
            if "n_jobs" in imputer.get_params(deep=False):
                imputer.set_params(n_jobs=-1 if self.jobs is None else self.jobs)
            numbers = fill_new(imputer, batches, out, printing.force, console.counting)
        console.show_columns(numbers, "holes", "filled")
        if numbers["left_as_they_are"]:
            names = ", ".join(clean(c) for c in numbers["left_as_they_are"])
            console.say(f"left as they are, unknown to the imputer: {names}")
        console.show_notes(numbers["notes"])
        console.show_written(out, f"{numbers['seconds']:.1f} s")
        return numbers

    def _out(self, name: str) -> str:
        return beside(name, "filled") if self.output is None else self.output

    def _check(self, printing: OutputOptions) -> None:
        from greyfill import files
        from greyfill.files.formats import check_extension
        from greyfill.jobs.sheet import check_exist

        if self.output is not None and len(self.inputs) > 1:
            raise InvalidParameterError(
                "Several files cannot be written to one. Leave --output away to write each beside "
                "its input."
            )
        outputs = [files.Output(self._out(name), name) for name in self.inputs]
        for output in outputs:
            check_extension(output.name, output.source or "")
        printed = [files.Output(STREAM)] if printing.json else []
        files.check_outputs([*printed, *outputs], [self.model], force=printing.force)
        check_exist(self.inputs)


@o.with_options
def apply(job: ApplyJob, table: Annotated[TableOptions, LEARNED], printing: OutputOptions) -> None:
    """Fill new tables by a saved imputer.

    No labels are needed or used. Each row is filled on its own, so one row gives the same as a
    file of many. Columns that the imputer does not know are left as they are. Words that meant
    missing in greyfill fit mean it here too.
    """
    job.run(table, printing)


def load_model(name: str) -> Any:
    """A saved imputer that has learned the names of its columns."""
    from greyfill.persistence import load

    imputer = load(name)
    if not hasattr(imputer, "feature_names_in_"):
        raise PersistenceError(
            f"{name}: this imputer was fitted on an array without column names, so columns of a "
            "file cannot be told apart. Use it in Python, or fit it with greyfill fit."
        )
    return imputer
