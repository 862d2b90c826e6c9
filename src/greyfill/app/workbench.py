"""What is done with one table: look, fill, show rows, explain a cell, describe, write files.

Each public method of `Workbench` takes plain JSON and gives plain JSON; mistakes are errors of
greyfill. Names are those of files in the current folder, so no message tells where it is.
"""

import math
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import greyfill
from greyfill import files
from greyfill.app.choices import Choices
from greyfill.app.private_folder import plain_name
from greyfill.app.questions import about_strays, ask
from greyfill.column_notes import Words
from greyfill.exceptions import GreyfillError, InvalidParameterError
from greyfill.files.styles import without_nan
from greyfill.jobs.fill_job import FilledSheet, FillJob
from greyfill.jobs.findings import find
from greyfill.jobs.inspection import examine, in_plain
from greyfill.jobs.options import beside
from greyfill.jobs.sheet import Sheet, read_sheet, sheet_of
from greyfill.progress import watch_compiling
from greyfill.report.column_summary import missing_map
from greyfill.text import clean, error_in, explained_in, kind_of, value_in

Plain = dict[str, Any]
MOST_ROWS, MOST_COLUMNS = 100, 60
"""Of one page of the table."""
MOST_SHOWN = 2_000
"""Columns that the page lists."""
MOST_LETTERS = 80
N_DONORS, N_DRAWS = 6, 5
OBSERVED, FILLED, HOLE = 0, 1, 2
WORDS = Words(
    "choose so in its line",
    "“Holes stay empty” in their lines",
    "a word in the file",
    "Limits",
    "“Leave alone” in its line",
)
"""How the page calls what the command has options for."""
TOLD = ("left alone", "codes", "lacked together", "kept")
"""Kinds of notes that are questions, or stand in the line of a column; and so are guesses."""
UNASKED = ("lost", "merged")
"""Kinds of guesses that no answer undoes: they are notes."""


class Reporter:
    """Tells the page what is worked on."""

    def __init__(self, tell: Callable[[Plain], None]) -> None:
        self.tell = tell

    @contextmanager
    def working(self, message: str) -> Iterator[Any]:
        """Tell of a work, and then how far it is."""

        def show(state: Any) -> None:
            self.tell(
                {"stage": state} if isinstance(state, str) else
                {"stage": state.stage, "done": state.done, "total": state.total,
                 "seconds": round(state.seconds, 1), "left": state.left}
            )  # fmt: skip

        self.tell({"stage": message})
        yield show


class Workbench:
    """A table, what was chosen about it, and what came of it."""

    def __init__(self, name: str, tell: Callable[[Plain], None]) -> None:
        self.name, self._reporter = name, Reporter(tell)
        self._choices = Choices()
        self._sheet: Sheet | None = None
        self._filled: FilledSheet | None = None
        self._order: tuple[Any, Any] = (None, None)
        self._numbered: tuple[Any, Any] = (None, None)
        self._reported: tuple[Any, Any] = (None, None)
        self._sources: list[tuple[Any, files.Source]] = []

    @property
    def sheet(self) -> Sheet:
        """The table as it was read last."""
        if self._sheet is None:
            raise InvalidParameterError("The table was not read yet.")
        return self._sheet

    @property
    def filled(self) -> FilledSheet:
        """The filled table."""
        if self._filled is None:
            raise InvalidParameterError("The table is not filled yet.")
        return self._filled

    def look(self, choices: Plain, asked: Sequence[Plain] = ()) -> Plain:
        """Read the table as it was chosen, and tell what is in it; ``asked`` was before."""
        given = chosen = Choices.read(choices)
        sheet = self._read(chosen)
        strays = _strays(sheet)
        if strays:  # cells of another kind than their column: a reader would refuse them
            chosen = given.with_options(option for found in strays for option in found["options"])
            sheet = self._read(chosen)
        numbers = examine(sheet, chosen.table, WORDS)
        self._sheet, self._choices, self._filled, self._order = sheet, chosen, None, (None, None)
        missing = _holes(sheet.X).to_numpy()
        shown = np.arange(min(missing.shape[1], MOST_SHOWN))
        strips = missing_map(missing, list(sheet.features), shown)
        numbers["columns"] = numbers["columns"][:MOST_SHOWN]
        for column, shares in zip(numbers["columns"], strips["shares"], strict=True):
            column["strip"] = "".join(f"{math.ceil(15 * share):x}" for share in shares)
        plain, told = given.to_dict(), {*TOLD, *(guess.kind for guess in sheet.source.guesses)}
        notes = [note for note in numbers["notes"] if kind_of(note) not in told]
        names = sheet.source.frame.columns
        return numbers | {
            "all_columns": names[:MOST_SHOWN],
            "n_columns": len(names),
            "questions": ask(sheet, numbers, plain, about_strays(strays), asked),
            "notes": [*(g.detail for g in sheet.source.guesses if g.kind in UNASKED), *notes],
            "has_worth": hasattr(greyfill, "worth"),
            "choices": plain,
            **self.lines(),
        }

    def _read(self, chosen: Choices) -> Sheet:
        """The table by these choices; the file is read again only if they are about reading."""
        names = ("categorical", "numeric", "ignored")
        of_reading = chosen.table.of_text, [getattr(chosen.table, name) for name in names]
        for known, source in self._sources:
            if known == of_reading:
                return sheet_of(source, chosen.table, chosen.method, chosen.wishes)
        sheet = read_sheet(
            self.name, chosen.table, self._reporter, chosen.method, chosen.wishes, lenient=True
        )
        self._sources = [*self._sources, (of_reading, sheet.source)][-2:]  # with and without strays
        return sheet

    def lines(self) -> Plain:
        """The command, and the line of Python, that do the same."""
        bounds = {c: tuple(pair) for c, pair in self.sheet.wishes.bounds.items()}
        return {
            "command": self._choices.command(self.name),
            "python": self._choices.python(self.name, bounds),
        }

    def fill(self) -> Plain:
        """Fill the holes, and tell how it went."""
        watch_compiling(lambda is_kept: self._reporter.tell({"compiling": True}))
        job = FillJob(self.sheet, self._choices.method, words=WORDS)
        filled = job.run(self._reporter)
        self._filled, self._order = filled, (None, None)
        return filled.numbers(self._choices.method.method) | self.lines()

    def rows(
        self,
        start: int = 0,
        count: int = 50,
        first: int = 0,
        sort: str | None = None,
        falling: bool = False,
        holes: bool = False,
    ) -> Plain:
        """A page of the table: cells as text, and which are observed, filled or missing."""
        before = self.sheet.source.frame
        order = self._ordered(sort, falling, holes)
        start, first = max(start, 0), max(first, 0)
        chosen = order[start : start + min(max(count, 1), MOST_ROWS)]
        names = before.columns[first : first + MOST_COLUMNS]
        after = before if self._filled is None else self._filled.result.table
        page, spell = after.select(names)[chosen], self.sheet.source.styles
        lacks = _holes(page).to_numpy(), _holes(before.select(names)[chosen]).to_numpy()
        texts = [[_text(value, spell.get(name)) for value in page[name]] for name in names]
        return {
            "rows": chosen.tolist(),
            "lines": self._lines[chosen].tolist(),
            "columns": names,
            "cells": [list(row) for row in zip(*texts, strict=True)],
            "marks": np.where(lacks[0], HOLE, np.where(lacks[1], FILLED, OBSERVED)).tolist(),
            "total": len(order),
            "n_columns": before.width,
            "target": self.sheet.target,
        }

    @property
    def _lines(self) -> Any:
        """The line of each row in the table as it was read last."""
        source = self.sheet.source
        if self._numbered[0] is not source:
            self._numbered = (source, source.lines())
        return self._numbered[1]

    def _ordered(self, sort: str | None, falling: bool, holes: bool) -> Any:
        """The rows in the order that was asked for; the last one is kept for the next page."""
        key = (sort, falling, holes)
        if self._order[0] == key:
            return self._order[1]
        frame = self.sheet.source.frame
        after = frame if self._filled is None else self._filled.result.table
        order = np.arange(frame.height)
        if sort is not None:
            if sort not in frame.columns:
                raise InvalidParameterError(f"The table has no column {sort!r}.")
            column = after[sort]
            if column.dtype.is_nested():
                column = column.cast(pl.String)
            order = column.arg_sort(descending=falling, nulls_last=True).to_numpy()
        if holes:
            lacks = _holes(self.sheet.X).select(pl.any_horizontal(pl.all())).to_series()
            order = order[lacks.to_numpy()[order]]
        self._order = (key, order)
        return order

    def cell(self, row: int, column: str) -> Plain:
        """What is known of a filled cell: its limits, its donors, and why."""
        frame = self.sheet.source.frame
        if column not in frame.columns or not 0 <= row < frame.height:
            raise InvalidParameterError("There is no such cell.")
        result, imputer = self.filled.result, self.filled.imputer
        value = result.table[column][row]
        style = self.sheet.source.styles.get(column)
        trust = getattr(imputer, "trust_", {}).get(column)
        told: Plain = {
            "row": row,
            "line": int(self._lines[row]),
            "column": column,
            "value": _text(value, style),
            "limits": self.filled.remark(row, column),
            "range": self._range(row, column),
            "trust": None if trust is None else {
                "word": trust.word, "explained": explained_in(trust.explained),
                "error": error_in(trust.error, trust.unit),
            },
            "ways": [clean(way) for way in _selection(imputer, column).get("panel", [])],
        }  # fmt: skip
        return told | self._why(row, column, style)

    def _range(self, row: int, column: str) -> Plain | None:
        """The limits of a number within all observed ones; None for other cells."""
        seen = without_nan(self.sheet.source.frame[column])
        low, high, levels = self.filled._limits.get((row, column), (None, None, None))
        value = self.filled.result.table[column][row]
        if levels or not seen.dtype.is_numeric() or low is None or value is None:
            return None
        low, high = float(low), float(high)  # texts in a table that has dates, too
        ends = [min(float(seen.min()), low), max(float(seen.max()), high)]  # type: ignore[arg-type]
        return {"ends": ends, "low": low, "high": high, "value": float(value),
                "texts": [value_in(v, "number") for v in (*ends, low, high)]}  # fmt: skip

    def _named_in_file(self, name: str) -> str:
        """A column by its name in the file, where an imputer calls the target y."""
        is_target = name == "y" and "y" not in self.sheet.features
        return self.sheet.target or name if is_target else name

    def _why(self, row: int, column: str, style: Any) -> Plain:
        imputer, lines = self.filled.imputer, self._lines
        seen = self.filled.result.table[column]
        try:
            if hasattr(imputer, "explain"):
                why = imputer.explain(row, column, N_DONORS)
                rows, weights, values, others = why.rows, why.weights, why.values, why.others
                unit = "" if why.unit == "probability" else why.unit
                effects = [{"name": clean(self._named_in_file(n)), "effect": float(e), "unit": unit}
                           for n, e in why.strongest()]  # fmt: skip
            else:
                found = imputer.donors_of(row, column)
                rows, weights = found["rows"][:N_DONORS], found["weights"][:N_DONORS]
                values, others, effects = [seen[int(r)] for r in rows], None, []
        except (GreyfillError, AttributeError):
            return {"donors": [], "others": None, "effects": []}
        donors = [
            {"line": int(lines[r]), "row": int(r), "value": _text(v, style), "weight": float(w)}
            for r, v, w in zip(rows, values, weights, strict=True)
        ]
        return {"donors": donors, "others": others, "effects": effects}

    def describe(self) -> Plain:
        """The report as a piece of the page, without its plots, which take longer."""
        from greyfill.report.document import render_part

        return {"html": render_part(self._report.summary, "numbers")}

    def draw(self) -> Plain:
        """The plots of the report."""
        from greyfill.report.document import render_part

        return {"html": render_part(self._report.summary, "plots")}

    @property
    def _report(self) -> Any:
        """The report of the last fill."""
        filled = self.filled
        if self._reported[0] is not filled:
            self._reported = (filled, filled.result.report)
        return self._reported[1]

    def worth(self) -> Plain:
        """Whether imputing pays for predicting the target: a title, a table of texts, remarks."""
        if self.sheet.y is None:
            raise InvalidParameterError("Choose a target: that is what imputing must pay for.")
        used = self.sheet.without(FillJob(self.sheet, self._choices.method).left_alone)
        with self._reporter.working("comparing pipelines") as show:
            found = greyfill.worth(
                used.X, used.y, progress=show, name=self.name, n_jobs=-1, **used.kinds
            )
        title, table, remarks = found.overview()
        return {"title": title, "table": table, "remarks": remarks}

    def write(self, what: str, folder: str) -> Plain:
        """Write one of the files to take home into a folder; its name and its type."""
        makers = {
            "table": self._write_table, "excel": self._write_excel, "mask": self._write_mask,
            "cells": self._write_cells, "draws": self._write_draws, "report": self._write_report,
            "model": self._write_model,
        }  # fmt: skip
        if what not in makers:
            raise InvalidParameterError("There is no such file.")
        return {"name": makers[what](Path(folder)).name}

    def _named(self, folder: Path, word: str, ending: str | None = None) -> Path:
        return folder / plain_name(beside(self.name, word, ending))

    def _write_table(self, folder: Path) -> Path:
        path = self._named(folder, "filled")
        self.sheet.source.write(self.filled.result.table, path, force=True, about=self._about)
        return path

    def _write_excel(self, folder: Path) -> Path:
        path = self._named(folder, "filled", ".xlsx")
        self.sheet.source.write(self.filled.result.table, path, force=True, about=self._about)
        return path

    def _about(self, row: int, column: str) -> str:
        method = self._choices.method.method
        return f"Filled by greyfill, {method}. {self.filled.remark(row, column)}"

    def _write_mask(self, folder: Path) -> Path:
        return self._write_csv(self.filled.result.mask, self._named(folder, "mask", ".csv"))

    def _write_cells(self, folder: Path) -> Path:
        return self._write_csv(self.filled.result.cells, self._named(folder, "cells", ".csv"))

    def _write_csv(self, frame: pl.DataFrame, path: Path) -> Path:
        files.Source(path.name, files.Format.CSV, frame).write(frame, path, force=True)
        return path

    def _write_draws(self, folder: Path) -> Path:
        path = self._named(folder, "draws", ".zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
            for n, drawn in enumerate(self.filled.draws(N_DRAWS), 1):
                one = self._named(folder, f"draw{n}")
                self.sheet.source.write(drawn, one, force=True)
                bundle.write(one, one.name)
                one.unlink()
        return path

    def _write_report(self, folder: Path) -> Path:
        path = self._named(folder, "report", ".html")
        path.write_text(self._report.render("html"), encoding="utf-8")
        return path

    def _write_model(self, folder: Path) -> Path:
        path = self._named(folder, "model", ".greyfill")
        self.filled.imputer.save(path)
        return path


def _strays(sheet: Sheet) -> list[Plain]:
    """Cells that are not of the kind of their column, and what to choose so that they are read."""
    if sheet.source.csv is None:
        return []
    reader = sheet.source.csv.reader
    strays = [n for n, t in zip(reader.columns, reader.types, strict=True) if t.strays]
    return [found for found in in_plain(find(sheet.source, strays, (), strays)) if found["options"]]


def _holes(frame: pl.DataFrame) -> pl.DataFrame:
    """Where cells are missing: nulls, and what is no number among numbers."""
    return pl.DataFrame(
        [c.is_null() | c.is_nan().fill_null(False) if c.dtype.is_float() else c.is_null()
         for c in frame]
    )  # fmt: skip


def _selection(imputer: Any, column: str) -> Plain:
    found: Plain = getattr(imputer, "selection_", {}).get(column, {})
    return found


def _text(value: Any, style: Any = None) -> str:
    """A cell as its file would write it; an empty text is one, and a hole none."""
    if value is None or (isinstance(value, str) and not value):
        return ""
    if isinstance(value, pl.Series):
        value = value.to_list()
    if style is not None:
        try:
            return clean(style.spell(value), MOST_LETTERS)
        except (TypeError, ValueError, AttributeError):
            pass
    return clean(f"{value:.10g}" if isinstance(value, float) else value, MOST_LETTERS)
