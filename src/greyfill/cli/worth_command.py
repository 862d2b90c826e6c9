"""``greyfill worth``: whether imputing a table pays for predicting its target."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.cli.compare_command import CACHE, PROCESSES
from greyfill.exceptions import InvalidParameterError
from greyfill.jobs.options import METHOD, OUTPUT, Seed, TableOptions, check_jobs_option, option

if TYPE_CHECKING:
    from greyfill.cli.console import Console
    from greyfill.evaluation import Worth
    from greyfill.jobs.sheet import Sheet

METRIC = "What chooses and decides: log_loss or accuracy; rmse for a measurement."


@dataclass(frozen=True)
class WorthJob:
    """The table, and how long to weigh."""

    file: o.File
    metric: Annotated[str | None, option(METHOD, "NAME", METRIC, "--metric")] = None
    folds: Annotated[int, option(METHOD, None, "Outer folds, which judge.", "--folds", min=2)] = 5
    repeats: Annotated[
        int, option(METHOD, None, "How often, with other folds each time.", "--repeats", min=1)
    ] = 2
    draws: Annotated[int, option(METHOD, None, "Draws that are bagged.", "--draws", min=1)] = 5
    jobs: Annotated[int, option(METHOD, "N", PROCESSES, "--jobs", "-j")] = -1
    seed: Seed = 0
    cache: Annotated[str | None, option(OUTPUT, "FILE", CACHE, "--cache")] = None

    def run(self, table: TableOptions, printing: OutputOptions) -> None:
        """Weigh and print."""
        check_jobs_option(self.jobs)
        if table.target is None:
            raise InvalidParameterError("Name the column that is to be predicted: --target COLUMN.")
        from greyfill.cli.console import page, print_overview
        from greyfill.jobs.sheet import notes_on_identifiers, read_sheet

        if self.cache is not None:
            from greyfill.evaluation.compare import file_of
            from greyfill.files.atomic import Output, check_distinct

            check_distinct([Output(os.fspath(file_of(self.cache)))], [self.file])
        console = printing.console()
        sheet = read_sheet(self.file, table, console)
        settings = {
            "metric": self.metric,
            "n_splits": self.folds,
            "repeats": self.repeats,
            "n_draws": self.draws,
            "n_jobs": self.jobs,
            "cache": self.cache,
        }
        found = weighed(sheet, console, self.seed, **settings)
        console.show_notes([*sheet.source.notes, *notes_on_identifiers(sheet)])
        printing.print_json(found.numbers())
        if not printing.json:
            from rich.text import Text

            print_overview(*found.overview(), words=1)
            page().console.print(Text(f"\n{found.code}"), soft_wrap=True)


def weighed(sheet: Sheet, console: Console, seed: int, **settings: Any) -> Worth:
    """What imputing the table is worth, by all cores unless the settings say otherwise."""
    from greyfill.evaluation import worth as weigh

    with console.working("weighing") as show:
        told = {"n_jobs": -1, "progress": show or False, "name": sheet.name} | settings
        return weigh(sheet.X, sheet.y, random_state=seed, **told, **sheet.kinds)


@o.with_options
def worth(
    job: WorthJob,
    table: TableOptions,
    printing: Annotated[OutputOptions, Without(("force",))],
) -> None:
    """Tell whether imputing this table pays for predicting its target, and what to take.

    Pipelines that impute are compared with plain ones on the same folds: inner folds choose, outer
    folds judge. It ends with a verdict, the gain with its error, and Python code for what it
    advises. Also told: whether the holes themselves predict the target.
    """
    job.run(table, printing)
