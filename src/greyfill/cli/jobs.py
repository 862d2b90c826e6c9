"""What ``impute`` and ``fit`` do, as lists of named steps."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from greyfill import files
from greyfill.cli import showing
from greyfill.cli.choosing import MethodChoice
from greyfill.cli.filling import FilledSheet, Numbers, fill_new, learn, plan, schema_of
from greyfill.cli.names import STREAM, beside, called, shown
from greyfill.cli.reading import Sheet, Wishes
from greyfill.cli.remembering import learned_from
from greyfill.cli.voice import Console, print_json
from greyfill.exceptions import FileProblemError, InvalidParameterError
from greyfill.files.formats import layout_of
from greyfill.frames import Schema
from greyfill.text import clean

REPORT_FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


@dataclass(frozen=True)
class ImputeJob:
    """The files that one ``impute`` reads and writes."""

    file: str
    output: str | None = None
    tests: tuple[str, ...] = ()
    report: str | None = None
    model: str | None = None
    force: bool = False

    def run(
        self,
        wishes: Wishes,
        choice: MethodChoice,
        *,
        dry_run: bool = False,
        json: bool = False,
        quiet: bool = False,
    ) -> None:
        """Check, read, fill, write, tell."""
        voice = Console(quiet or json)
        self._check(json and not dry_run)
        sheet = read_sheet(self.file, wishes, voice)
        if self.model is not None:
            check_can_save(choice.make(sheet), choice.method)
        if dry_run:
            numbers = plan(sheet, choice) | {"would_write": [out.name for out in self._written()]}
            _tell_plan(voice, numbers)
        elif self._is_copy(sheet):
            numbers = self._copy(sheet, voice)
        else:
            numbers = self._fill(sheet, wishes, choice, voice)
        if json:
            print_json(numbers)

    @property
    def out(self) -> str:
        """Where the filled table goes."""
        return beside(self.file, "filled") if self.output is None else self.output

    def _fill(self, sheet: Sheet, wishes: Wishes, choice: MethodChoice, voice: Console) -> Numbers:
        choice.make(sheet)  # says what is wrong before any test is read
        schema = schema_of(sheet)
        learned = learned_from(schema, sheet.source.styles, wishes.na_values)
        for_tests = replace(wishes, na_values=())  # a word of the table need not be in them
        with ExitStack() as opened:
            tests = [
                opened.enter_context(open_new(name, for_tests, schema, learned, voice))
                for name in self.tests
            ]
            filled = learn(sheet, choice, voice)
            numbers = filled.numbers(choice.method)
            showing.tell_filled(voice, numbers)
            sheet.source.write(sheet.with_filled(filled.features), self.out, force=self.force)
            showing.tell_written(voice, self.out)
            told = [self._fill_test(filled, new, voice) for new in tests]
        self._write_report(filled, voice)
        self._write_model(filled, voice)
        outputs = {"output": self.out, "report": self.report, "model": self.model}
        return numbers | outputs | {"tests": told}

    def _fill_test(self, filled: FilledSheet, new: files.Batches, voice: Console) -> Numbers:
        out = beside(new.name, "filled")
        numbers = fill_new(filled.imputer, new, out, self.force, voice)
        showing.tell_notes(voice, numbers)
        showing.tell_written(voice, out, f"{numbers['filled']:,} holes filled without labels")
        return numbers

    def _write_report(self, filled: FilledSheet, voice: Console) -> None:
        if self.report is not None:
            write_report(filled, self.report, self.force, voice)

    def _write_model(self, filled: FilledSheet, voice: Console) -> None:
        if self.model is not None:
            filled.imputer.save(self.model)
            showing.tell_written(voice, self.model, f"for greyfill apply {self.model} FILE")

    def _is_copy(self, sheet: Sheet) -> bool:
        """Whether there is no hole, and nothing else to learn for."""
        idle = not self.tests and self.report is None and self.model is None
        return idle and not any(sheet.holes().values())

    def _copy(self, sheet: Sheet, voice: Console) -> Numbers:
        sheet.source.write(sheet.source.frame, self.out, force=self.force)
        voice.say(f"{sheet.name} has no missing cell to fill; it was copied as it is.")
        notes = {"notes": list(sheet.source.notes)}
        showing.tell_notes(voice, notes)
        showing.tell_written(voice, self.out)
        rows, zero = sheet.source.frame.height, {"holes": 0, "filled": 0}
        done = {"copied": True, "output": self.out}
        return {"input": self.file, "rows": rows, **zero, **done, **notes}

    def _written(self) -> list[files.Output]:
        tests = [files.Output(beside(name, "filled"), name) for name in self.tests]
        others = [files.Output(name) for name in (self.report, self.model) if name is not None]
        return [files.Output(self.out, self.file), *tests, *others]

    def _check(self, json: bool) -> None:
        """Refuse what could not be read or written, before any work is done for it."""
        if os.path.isdir(self.file):
            raise FileProblemError(
                f"Cannot read {self.file}: it is a folder. A folder of Parquet files is filled "
                "with --chunked."
            )
        if STREAM in self.tests or self.model == STREAM:
            raise InvalidParameterError("--test and --save need the name of a file, not -.")
        for name in (self.file, *self.tests, self.out):
            layout_of(name)
        printed = [files.Output(STREAM)] if json else []
        files.check_outputs([*printed, *self._written()], force=self.force)
        if self.report is not None:
            report_format(self.report)


def fit_and_save(
    file: str,
    model: str,
    wishes: Wishes,
    choice: MethodChoice,
    *,
    force: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Learn from a table and save the imputer."""
    voice = Console(quiet or json)
    if model == STREAM:
        raise InvalidParameterError("--save needs the name of a file, not -.")
    files.check_outputs([files.Output(model)], [file], force=force)
    sheet = read_sheet(file, wishes, voice)
    check_can_save(choice.make(sheet), choice.method)
    filled = learn(sheet, choice, voice)
    filled.imputer.save(model)
    numbers = filled.numbers(choice.method) | {"model": model}
    showing.tell_columns(voice, numbers, "holes")
    voice.say(showing.how(numbers))
    showing.tell_notes(voice, numbers)
    showing.tell_written(voice, model, f"for greyfill apply {model} FILE")
    if json:
        print_json(numbers)


def read_sheet(name: str, wishes: Wishes, voice: Console) -> Sheet:
    """Read a table to learn from."""
    with voice.working(f"reading {called(name)}"):
        return wishes.read(name)


@contextmanager
def open_new(
    name: str, wishes: Wishes, schema: Schema, learned: files.LearnedTypes, voice: Console
) -> Iterator[files.Batches]:
    """Open new rows for an imputer that learned this schema."""
    with ExitStack() as opened:
        with voice.working(f"reading {called(name)}"):
            batches = opened.enter_context(wishes.open_new(name, schema, learned))
        yield batches


def report_format(name: str) -> str:
    """The format that the name of a report tells."""
    suffix = Path(name).suffix.lower()
    if name != STREAM and suffix not in REPORT_FORMATS:
        raise InvalidParameterError(
            f"{name}: a report ends in .html, .md or .json. To have HTML on standard output, say -."
        )
    return REPORT_FORMATS.get(suffix, "html")


def write_report(filled: FilledSheet, name: str, force: bool, voice: Console) -> None:
    """Write the page about what was imputed."""
    from greyfill.report import make_report

    sheet = filled.sheet
    with voice.working(f"writing {name}"):
        report = make_report(filled.imputer, sheet.X, filled.features, sheet.y)
        files.put(name, [report.render(report_format(name)).encode()], force=force)
    showing.tell_written(voice, name)


def check_can_save(imputer: Any, method: str) -> None:
    """Refuse to work for a model that could not be saved."""
    from greyfill.persistence.tags import IMPUTERS

    if type(imputer).__name__ not in IMPUTERS:
        raise InvalidParameterError(
            f"The method {method} cannot be saved (--save). Choose another one, such as cgknn."
        )


def _tell_plan(voice: Console, numbers: Numbers) -> None:
    showing.tell_columns(voice, numbers, "holes")
    others = [c["name"] for c in numbers["columns"] if not c["holes"]]
    if others:
        voice.say(f"without holes: {', '.join(map(clean, others))}")
    if numbers["ignored"]:
        voice.say(f"left as they are: {', '.join(map(clean, numbers['ignored']))}")
    target = f", labels from {numbers['target']!r}" if numbers["target"] else ""
    labels = ", labels unused" if numbers["labels"] == "none" else target
    voice.say(f"would fill {numbers['to_fill']:,} cells by {numbers['method']}{labels}")
    showing.tell_notes(voice, numbers)
    for name in numbers["would_write"]:
        voice.say(f"would write {shown(name)}")
