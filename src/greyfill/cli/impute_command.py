"""``greyfill impute`` and ``greyfill fit``: a table is filled, its imputer saved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from greyfill.cli import command as o
from greyfill.cli.command import OutputOptions
from greyfill.exceptions import FileProblemError, InvalidParameterError
from greyfill.jobs.fill_options import NO_WISHES, FillOptions
from greyfill.jobs.options import OUTPUT, STREAM, MethodChoice, TableOptions, beside, option, switch
from greyfill.text import clean, plural

if TYPE_CHECKING:
    from greyfill import files
    from greyfill.cli.console import Console, Numbers
    from greyfill.evaluation import Worth
    from greyfill.jobs.fill_job import FilledSheet
    from greyfill.jobs.sheet import Sheet

REPORT_FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


TESTS = "New rows to fill without labels, from the rows of FILE. Repeatable."
CHUNKED = (
    "FILE is a folder of Parquet files, larger than memory: filled one by one into the folder OUT. "
    "Run again after a crash to go on. By any method but mean, class_mean and those of other "
    "packages. Needs the extra \\[dask]."
)
CELLS = "List the filled cells: line, column, value, limits, error, donors."
DRAWS = "Write N more tables, filled by chance (multiple imputation): NAME.draw1.EXT and so on."


@dataclass(frozen=True)
class ImputeJob:
    """The files that one ``impute`` reads and writes."""

    file: o.File
    tests: Annotated[Sequence[str], option(None, "FILE", TESTS, "--test")] = ()
    output: o.Output = None
    report: Annotated[
        str | None, option(OUTPUT, "PAGE", "Write a report: .html, .md or .json.", "--report")
    ] = None
    model: Annotated[
        str | None,
        option(OUTPUT, "MODEL", "Save the fitted imputer for greyfill apply.", "--save"),
    ] = None
    mask: Annotated[
        str | None,
        option(OUTPUT, "FILE", "Write which cells were filled: true or false.", "--mask"),
    ] = None
    cells: Annotated[str | None, option(OUTPUT, "FILE", CELLS, "--cells")] = None
    draws: Annotated[int, option(OUTPUT, "N", DRAWS, "--draws", min=0)] = 0
    chunked: Annotated[bool, switch(CHUNKED, "--chunked")] = False
    dry_run: Annotated[
        bool, switch("Say what would be done, and write nothing.", "--dry-run", "-n")
    ] = False

    def run(
        self,
        table: TableOptions,
        choice: MethodChoice,
        printing: OutputOptions,
        wishes: FillOptions = NO_WISHES,
    ) -> None:
        """Check, read, fill, write, tell."""
        choice.check(saved=self.model is not None, draws=self.draws)
        self._check(printing)
        from greyfill.jobs.sheet import read_sheet

        console = printing.console()
        sheet = read_sheet(self.file, table, console, choice, wishes)
        self._check_room(sheet)
        if self.dry_run:
            numbers = self._plan(sheet, choice, console)
        elif any(sheet.holes().values()) or any(
            (self.tests, self.report, self.model, self.mask, self.cells, self.draws)
        ):
            numbers = self._fill(sheet, table, choice, printing.force, console)
        else:
            numbers = self._copy(sheet, printing.force, console)
        printing.print_json(numbers)

    @property
    def out(self) -> str:
        """Where the filled table goes."""
        return beside(self.file, "filled") if self.output is None else self.output

    def _fill(
        self, sheet: Sheet, table: TableOptions, choice: MethodChoice, force: bool, console: Console
    ) -> Numbers:
        from greyfill.cli.console import how
        from greyfill.jobs.fill_job import FillJob, learned_from
        from greyfill.jobs.sheet import open_new

        job = FillJob(sheet, choice, self.draws)
        learned = learned_from(job.schema, sheet.source.styles, sheet.na_values, sheet.source.words)
        for_tests = replace(table, na_values=())  # a word of the table need not be in them
        with ExitStack() as opened:
            tests = [
                opened.enter_context(open_new(name, for_tests, job.schema, learned, console))
                for name in self.tests
            ]
            filled = job.run(console)
            numbers = filled.numbers(choice.method)
            console.show_columns(numbers, "holes", "filled")
            console.say(how(numbers))
            for fallback in numbers["fallbacks"]:
                console.say(f"fall-back: {fallback['text']}")
            console.show_trust(numbers["trust"])
            console.show_notes(numbers["notes"])
            drawn = filled.draws(self.draws) if self.draws else []
            tables = dict(zip(self._draw_names, drawn, strict=True))

            def about(row: int, column: str) -> str:
                return f"Filled by greyfill, {choice.method}. {filled.remark(row, column)}"

            outputs = {self.out: filled.result.table, **tables}
            told = sheet.source.write_all(outputs, force=force, about=about)
            console.show_notes(told)
            numbers["notes"] += told
            for name in (self.out, *tables):
                console.show_written(name)
            self._write_lists(filled, force, console)
            of_tests = [_fill_test(filled, new, force, console) for new in tests]
        if self.report is not None:
            write_report(filled, self.report, force, console)
        if self.model is not None:
            filled.imputer.save(self.model)
            console.show_written(self.model, f"for greyfill apply {self.model} FILE")
        named = {name: getattr(self, name) for name in ("report", "model", "mask", "cells")}
        outputs = {"output": self.out, **named, "draws": list(self._draw_names)}
        return numbers | outputs | {"tests": of_tests}

    @property
    def _draw_names(self) -> list[str]:
        """Where the draws go: beside the output that was named, else beside the input."""
        name = self.file if self.output in (None, STREAM) else self.output
        return [beside(name, f"draw{n}") for n in range(1, self.draws + 1)]

    def _write_lists(self, filled: FilledSheet, force: bool, console: Console) -> None:
        """Write which cells were filled, and what is known of each."""
        from greyfill.files import Format, Source

        for name, what in ((self.mask, "mask"), (self.cells, "cells")):
            if name is not None:
                with console.working(f"writing {name}"):
                    frame = getattr(filled.result, what)
                    Source(name, Format.CSV, frame).write(frame, name, force=force)
                console.show_written(name)

    def _plan(self, sheet: Sheet, choice: MethodChoice, console: Console) -> Numbers:
        from greyfill.jobs.fill_job import FillJob, describe

        job, holes, empty = FillJob(sheet, choice), sheet.holes(), sheet.empty
        unfilled = {*empty, *job.left_alone}
        kept = sum(int(rows.sum()) for rows in sheet.kept_empty.values())
        numbers = {
            "input": sheet.source.name,
            "method": choice.method,
            "target": sheet.target,
            "labels": choice.labels,
            "k": choice.k,
            "rows": sheet.source.frame.height,
            "holes": sum(holes.values()),
            "to_fill": sum(n for c, n in holes.items() if c not in unfilled) - kept,
            "columns": describe(job.schema, holes),
            "ignored": list(sheet.ignored),
            "guesses": [guess.to_dict() for guess in sheet.source.guesses],
            "left_alone": job.left_alone,
            "notes": [*sheet.notes(job.schema.fields), *job.notes()],
            "would_write": [out.name for out in self._written()],
        }
        _show_plan(console, numbers)
        return numbers

    def _copy(self, sheet: Sheet, force: bool, console: Console) -> Numbers:
        told = sheet.source.write_all({self.out: sheet.source.frame}, force=force)
        console.say(f"{sheet.name} has no missing cell to fill; it was copied as it is.")
        notes = [*sheet.source.notes, *told]
        console.show_notes(notes)
        console.show_written(self.out)
        done = {"input": self.file, "rows": sheet.source.frame.height, "holes": 0, "filled": 0}
        return done | {"copied": True, "output": self.out, "notes": notes}

    def _written(self) -> list[files.Output]:
        from greyfill.files import Output

        tests = [Output(beside(name, "filled"), name) for name in self.tests]
        named = (self.report, self.model, self.mask, self.cells, *self._draw_names)
        others = [Output(name) for name in named if name is not None]
        return [Output(self.out, self.file), *tests, *others]

    def _check(self, printing: OutputOptions) -> None:
        """Refuse what could not be read or written, before any work is done for it."""
        from greyfill.files import Output, check_outputs
        from greyfill.files.formats import check_extension
        from greyfill.jobs.sheet import check_exist

        if os.path.isdir(self.file):
            raise FileProblemError(
                f"Cannot read {self.file}: it is a folder. A folder of Parquet files is filled "
                "with --chunked."
            )
        if STREAM in (*self.tests, self.model, *self._draw_names):
            raise InvalidParameterError(
                "--test, --save and --draws need the name of a file, not -."
            )
        lists = [name for name in (self.mask, self.cells) if name is not None]
        check_extension(self.out, self.file)
        for name in lists:
            check_extension(name, "")
        printed = [Output(STREAM)] if printing.json and not self.dry_run else []
        check_outputs([*printed, *self._written()], force=printing.force)
        if self.report is not None:
            report_format(self.report)
        check_exist(self.tests)

    def _check_room(self, sheet: Sheet) -> None:
        """Refuse outputs that cannot hold the rows, the columns or the cells of the table."""
        from greyfill.files.new_books import check_cells, check_room

        frame = sheet.source.frame
        for name in (self.out, *self._draw_names):
            check_cells(name, frame, sheet.source.place)
        if self.mask is not None:
            check_room(self.mask, *frame.shape)


@o.with_options
def impute(
    job: ImputeJob,
    table: TableOptions,
    wishes: FillOptions,
    choice: MethodChoice,
    printing: OutputOptions,
) -> None:
    """Fill the holes of a table; observed cells keep every byte.

    Labels teach how rows are filled; grey keeps a row's own from it (--labels), so that its fills
    may teach a classifier. The rows of --test need none. The target itself is never imputed.
    """
    if job.chunked:
        if wishes != NO_WISHES:
            raise InvalidParameterError(
                "--fill, --not-applicable, --bounds and --indicators do not work with --chunked."
            )
        fill_dataset(job, table, choice, printing)
    else:
        job.run(table, choice, printing, wishes)


@o.with_options
def fit(
    file: o.File,
    save: Annotated[str, option(None, "MODEL", "Where to save the imputer.", "--save", "-o")],
    table: TableOptions,
    wishes: FillOptions,
    choice: MethodChoice,
    printing: OutputOptions,
) -> None:
    """Learn from a table and save the imputer, to fill other tables with greyfill apply."""
    from greyfill import files

    choice.check(saved=True)
    from greyfill.cli.console import how
    from greyfill.jobs.sheet import read_sheet

    if save == STREAM:
        raise InvalidParameterError("--save needs the name of a file, not -.")
    files.check_outputs([files.Output(save)], [file], force=printing.force)
    console = printing.console()
    sheet = read_sheet(file, table, console, choice, wishes)
    from greyfill.jobs.fill_job import FillJob

    filled = FillJob(sheet, choice).run(console)
    filled.imputer.save(save)
    numbers = filled.numbers(choice.method) | {"model": save}
    console.show_columns(numbers, "holes")
    console.say(how(numbers))
    console.show_trust(numbers["trust"])
    console.show_notes(numbers["notes"])
    console.show_written(save, f"for greyfill apply {save} FILE")
    printing.print_json(numbers)


def fill_dataset(
    job: ImputeJob, table: TableOptions, choice: MethodChoice, printing: OutputOptions
) -> None:
    """Fill a Parquet dataset into a folder, one partition at a time."""
    from greyfill.checks import check_installed

    choice.check(chunked=True)
    _check_chunked(job, table)
    check_installed("pyarrow", "--chunked")
    from greyfill.distributed.parquet import impute_dataset
    from greyfill.jobs.fill_job import make_imputer

    folder, console = job.file.rstrip("/"), printing.console()
    usual = f"{folder}.filled" if Path(folder).is_dir() else beside(folder, "filled")
    out = job.output or usual
    sheet = _dataset_sheet(job.file, table, choice)
    imputer = make_imputer(choice, sheet).set_params(leave_alone="auto")
    with console.working(f"filling {job.file}") as show:
        numbers = impute_dataset(
            job.file,
            out,
            imputer,
            target=sheet.target,
            ignored=sheet.ignored,
            n_jobs=choice.jobs,
            force=printing.force,
            progress=show,
            report=console.say if show is None else lambda message: None,
        )
    _show_dataset(numbers, console)
    console.show_written(out)
    printing.print_json(numbers)


def _check_chunked(job: ImputeJob, table: TableOptions) -> None:
    """Refuse what a dataset that is filled file by file cannot have."""
    unusable: dict[str, object] = {
        "--test": job.tests, "--report": job.report, "--save": job.model, "--mask": job.mask,
        "--cells": job.cells, "--draws": job.draws, "--dry-run": job.dry_run,
    }  # fmt: skip
    for name, value in unusable.items():
        if value:
            raise InvalidParameterError(f"{name} does not work with --chunked.")
    if STREAM in (job.file, job.output):
        raise InvalidParameterError("--chunked needs folders, not standard input or output.")
    if table.folded:
        raise InvalidParameterError(
            "--fold does not work with --chunked, which reads one file at a time. Give the levels "
            "one spelling in the files, or leave it away."
        )


def _dataset_sheet(file: str, table: TableOptions, choice: MethodChoice) -> Sheet:
    """The columns of a dataset and what the user said of them, by its first rows with a label."""
    import polars as pl

    from greyfill import files
    from greyfill.distributed.parquet_files import first_with_labels, list_partitions
    from greyfill.files.words import words_by_column
    from greyfill.jobs.sheet import sheet_of

    partitions = list_partitions(file)
    _, words = words_by_column(table.na_values, partitions[0].schema().names)
    for name, (word, *_) in words.items():
        raise InvalidParameterError(
            f"--na-values {name}={word}: a word for one column does not work with --chunked. Name "
            f"it for all columns (--na-values {word}), or leave these cells empty in the files."
        )
    frame = pl.from_arrow(first_with_labels(partitions, table.target).read())
    assert isinstance(frame, pl.DataFrame)
    return sheet_of(files.Source(file, files.Format.PARQUET, frame), table, choice)


def _show_dataset(numbers: Numbers, console: Console) -> None:
    for name, why in numbers["left_alone"].items():
        console.say(f"left alone, neither filled nor used: {clean(name)} ({why})")
    console.say(
        f"filled {numbers['filled']:,} cells in {plural(numbers['partitions'], 'partition')} from "
        f"{plural(numbers['donors'], 'donor')}"
    )


def report_format(name: str) -> str:
    """The format that the name of a report tells."""
    suffix = Path(name).suffix.lower()
    if name != STREAM and suffix not in REPORT_FORMATS:
        raise InvalidParameterError(
            f"{name}: a report ends in .html, .md or .json. To have HTML on standard output, say -."
        )
    return REPORT_FORMATS.get(suffix, "html")


def write_report(
    filled: FilledSheet, name: str, force: bool, console: Console, found: Worth | None = None
) -> None:
    """Write the page about what was imputed, and whether that pays, if it is known."""
    from greyfill import files

    with console.working(f"writing {name}"):
        report = filled.result.report
        page = (report.with_worth(found) if found else report).render(report_format(name))
        files.put(name, [page.encode()], force=force)
    console.show_written(name)


def _fill_test(filled: FilledSheet, new: files.Batches, force: bool, console: Console) -> Numbers:
    from greyfill.jobs.fill_job import fill_new

    out = beside(new.name, "filled")
    numbers = fill_new(filled.imputer, new, out, force, console.counting)
    console.show_notes(numbers["notes"])
    console.show_written(out, f"{numbers['filled']:,} holes filled without labels")
    return numbers


def _show_plan(console: Console, numbers: Numbers) -> None:
    console.show_columns(numbers, "holes")
    others = [c["name"] for c in numbers["columns"] if not c["holes"]]
    if others:
        console.say(f"without holes: {', '.join(map(clean, others))}")
    if numbers["ignored"]:
        console.say(f"left as they are: {', '.join(map(clean, numbers['ignored']))}")
    target = f", labels from {numbers['target']!r}" if numbers["target"] else ""
    labels = ", labels unused" if numbers["labels"] == "none" else target
    console.say(f"would fill {numbers['to_fill']:,} cells by {numbers['method']}{labels}")
    console.show_notes(numbers["notes"])
    for name in numbers["would_write"]:
        console.say(f"would write {'standard output' if name == STREAM else name}")
