"""``greyfill compare``: find the method that serves a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from greyfill.cli import options as o
from greyfill.cli.options import OutputOptions, TableOptions, Without
from greyfill.exceptions import InvalidParameterError
from greyfill.text import clean

if TYPE_CHECKING:
    from greyfill.evaluation import Comparison

HEADS = {
    "accuracy_naive_bayes_honest": "accuracy, honest",
    "accuracy_naive_bayes_paper": "accuracy, paper",
}


@o.with_options
def compare(
    file: o.File,
    table: TableOptions,
    printing: Annotated[OutputOptions, Without(("force",))],
    methods: Annotated[
        Sequence[str],
        typer.Option(
            "--methods", "-m", metavar="NAMES",
            help="Names with commas between them. By default eleven methods, slow ones among them.",
            rich_help_panel=o.METHOD,
        ),
    ] = (),
    rates: Annotated[
        str,
        typer.Option(
            "--rates", metavar="SHARES", help="Shares of the observed cells to hide.",
            rich_help_panel=o.METHOD,
        ),
    ] = "0.1,0.2",
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism", metavar="NAME", help="How cells are hidden: mcar, mar or nmar.",
            rich_help_panel=o.METHOD,
        ),
    ] = "mcar",
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats", min=1, help="How often, with other holes each time.",
            rich_help_panel=o.METHOD,
        ),
    ] = 3,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", help="Processes; -1 for all cores.",
            rich_help_panel=o.METHOD,
        ),
    ] = 1,
    seed: o.Seed = 0,
    cache: Annotated[
        str | None,
        typer.Option(
            "--cache", metavar="FILE", rich_help_panel=o.OUTPUT,
            help="A Parquet file of all results; an interrupted comparison goes on from it.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Hide known cells of a table, fill them by many methods, and compare.

    NRMSE is the error of the hidden cells, 0 is perfect. With a target, a classifier is
    cross-validated: "honest" fills inside the folds without the labels of the test rows, "paper"
    fills everything first with all labels, which overstates the accuracy. Ends with 1 if a method
    failed.
    """
    job = CompareJob(tuple(methods), rates, mechanism, repeats, jobs, seed, cache)
    if job.run(file, table, printing):
        raise typer.Exit(1)


@dataclass(frozen=True)
class CompareJob:
    """The methods to compare, and how."""

    methods: tuple[str, ...] = ()
    rates: str = "0.1,0.2"
    mechanism: str = "mcar"
    repeats: int = 3
    jobs: int = 1
    seed: int = 0
    cache: str | None = None

    def run(self, file: str, table: TableOptions, printing: OutputOptions) -> bool:
        """Compare and print; whether a method failed."""
        from greyfill.cli.console import Console, print_json
        from greyfill.cli.sheet import read_sheet

        o.check_jobs_option(self.jobs)
        names, rates = self._names(), self._rates()
        if self.cache is not None:
            self._check_cache(file)
        console = Console.on_stderr(printing.silent)
        sheet = read_sheet(file, table, console)
        from greyfill.evaluation import compare as measure
        from greyfill.evaluation.compare import DEFAULT_METHODS

        result = measure(
            sheet.X,
            sheet.y,
            methods=names or DEFAULT_METHODS,
            rates=rates,
            mechanism=self.mechanism,
            repeats=self.repeats,
            n_jobs=self.jobs,
            random_state=self.seed,
            cache=self.cache,
            progress=console.in_terminal,
            name=sheet.name,
            **sheet.kinds,
        )
        console.show_notes(sheet.source.notes)
        if printing.json:
            print_json({"summary": result.summary().to_dicts(), "errors": result.errors.to_dicts()})
        else:
            _show(result)
        return len(result.errors) > 0

    def _check_cache(self, file: str) -> None:
        from greyfill.evaluation.compare import file_of
        from greyfill.files.atomic import Output, check_distinct

        assert self.cache is not None
        check_distinct([Output(os.fspath(file_of(self.cache)))], [file])

    def _names(self) -> tuple[str, ...]:
        """The methods, from options that may hold several with commas."""
        names = tuple(n.strip() for given in self.methods for n in given.split(",") if n.strip())
        for name in names:
            o.check_method(name, "--methods", o.METHODS)
        return tuple(dict.fromkeys(names))

    def _rates(self) -> tuple[float, ...]:
        try:
            rates = tuple(float(rate) for rate in self.rates.split(","))
        except ValueError:
            rates = ()
        if not rates or not all(0 < rate < 1 for rate in rates):
            raise InvalidParameterError(
                f"--rates must be shares between 0 and 1, such as 0.1,0.2, not {self.rates!r}."
            )
        return rates


def _show(result: Comparison) -> None:
    from rich.text import Text

    from greyfill.cli.console import grid, page
    from greyfill.evaluation.comparison import overview

    title, rows, remarks = overview(result.results)
    console, table = page(), grid(*(HEADS.get(head, head) for head in rows[0]))
    for column in table.columns:
        column.no_wrap = False
    for row in rows[1:]:
        table.add_row(Text(row[0], "cyan"), *row[1:])
    console.say(title, "bold")
    console.show(table)
    for remark in remarks:
        console.say(clean(remark, most=500), "yellow")
