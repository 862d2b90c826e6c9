"""``greyfill compare``: find the method that serves a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions, Without
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.registry import METHODS
from greyfill.jobs.options import (
    METHOD,
    OUTPUT,
    Seed,
    TableOptions,
    check_jobs_option,
    check_method,
    option,
    switch,
)

if TYPE_CHECKING:
    from greyfill.evaluation import Comparison

HEADS = {
    "accuracy_naive_bayes_honest": "accuracy, honest",
    "accuracy_naive_bayes_paper": "accuracy, paper",
}


NAMES = "Names with commas between them. By default grey, cgknn, sklearn_iterative, mean."
PROCESSES = "Processes; by default all cores. Only the seconds can differ."
CACHE = "A Parquet file of all results; an interrupted comparison goes on from it."


@dataclass(frozen=True)
class CompareJob:
    """The table and the methods to compare, and how."""

    file: o.File
    methods: Annotated[Sequence[str], option(METHOD, "NAMES", NAMES, "--methods", "-m")] = ()
    rates: Annotated[
        str, option(METHOD, "SHARES", "Shares of the observed cells to hide.", "--rates")
    ] = "0.1,0.2"
    mechanism: Annotated[
        str, option(METHOD, "NAME", "How cells are hidden: mcar, mar or nmar.", "--mechanism")
    ] = "mcar"
    repeats: Annotated[
        int,
        option(METHOD, None, "How often, with other holes each time.", "--repeats", min=1),
    ] = 3
    by_column: Annotated[
        bool, switch("Also print which method errs least in which column.", "--by-column")
    ] = False
    jobs: Annotated[int, option(METHOD, "N", PROCESSES, "--jobs", "-j")] = -1
    seed: Seed = 0
    cache: Annotated[str | None, option(OUTPUT, "FILE", CACHE, "--cache")] = None

    def run(self, table: TableOptions, printing: OutputOptions) -> bool:
        """Compare and print; whether a method failed."""
        check_jobs_option(self.jobs)
        names, rates = self._names(), self._rates()
        from greyfill.jobs.sheet import notes_on_identifiers, read_sheet

        if self.cache is not None:
            from greyfill.evaluation.compare import file_of
            from greyfill.files.atomic import Output, check_distinct

            check_distinct([Output(os.fspath(file_of(self.cache)))], [self.file])
        console = printing.console()
        sheet = read_sheet(self.file, table, console)
        from greyfill.cli.console import print_overview
        from greyfill.evaluation import compare as measure

        with console.board() as board:
            result = measure(
                sheet.X,
                sheet.y,
                methods=names or None,
                rates=rates,
                mechanism=self.mechanism,
                repeats=self.repeats,
                by_column=self.by_column,
                n_jobs=self.jobs,
                random_state=self.seed,
                cache=self.cache,
                progress=board.move,
                finished=lambda name, found: board.add(table_of(found)[1], name),
                name=sheet.name,
                **sheet.kinds,
            )
        console.show_notes([*sheet.source.notes, *notes_on_identifiers(sheet)])
        numbers = {"summary": result.summary().to_dicts(), "errors": result.errors.to_dicts()}
        if self.by_column:
            numbers["by_column"] = result.by_column().to_dicts()
        printing.print_json(numbers)
        if not printing.json:
            print_overview(*table_of(result), words=1, style="yellow")
        if self.by_column and not printing.json:
            print_overview(*columns_of(result), words=1)
        return len(result.errors) > 0

    def _names(self) -> tuple[str, ...]:
        """The methods, from options that may hold several with commas."""
        names = tuple(n.strip() for given in self.methods for n in given.split(",") if n.strip())
        for name in names:
            check_method(name, "--methods", METHODS)
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


def table_of(result: Comparison) -> tuple[str, list[list[str]], list[str]]:
    """The overview of a comparison, with shorter heads."""
    from greyfill.evaluation.comparison import overview

    title, (heads, *rows), remarks = overview(result.results)
    return title, [[HEADS.get(head, head) for head in heads], *rows], remarks


def columns_of(result: Comparison) -> tuple[str, list[list[str]], list[str]]:
    """The error of each column by each method."""
    found = result.by_column()
    rows = [[f"{c:.4f}" if isinstance(c, float) else c or "–" for c in r] for r in found.rows()]
    return "nrmse by column", [found.columns, *rows], []


@o.with_options
def compare(
    job: CompareJob,
    table: TableOptions,
    printing: Annotated[OutputOptions, Without(("force",))],
) -> None:
    """Hide known cells of a table, fill them by several methods, and compare.

    NRMSE is the error of the hidden cells, 0 is perfect. With a target, a classifier is
    cross-validated: "honest" fills inside the folds without the labels of the test rows, "paper"
    fills everything first with all labels, which overstates the accuracy. Ends with 1 if a method
    failed.
    """
    if job.run(table, printing):
        raise typer.Exit(1)
