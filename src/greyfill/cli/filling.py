"""The work: learn from a sheet, fill it, fill others like it, and tell it all in numbers."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import polars as pl

from greyfill import files, frames
from greyfill.cli.choosing import MethodChoice
from greyfill.cli.names import called
from greyfill.cli.noting import doubts, notes_on
from greyfill.cli.reading import Sheet, count_holes
from greyfill.cli.remembering import remember
from greyfill.cli.voice import Console
from greyfill.exceptions import EmptyColumnWarning
from greyfill.frames import Family, Field, Schema
from greyfill.table import Kind

BATCH_ROWS = 20_000
"""New rows are filled in batches, so that the work of one needs bounded memory."""

Numbers = dict[str, Any]


@dataclass(frozen=True, eq=False)
class FilledSheet:
    """A fitted imputer, the features of its sheet without holes, and the time it took."""

    sheet: Sheet
    imputer: Any
    features: pl.DataFrame
    seconds: float
    warnings: tuple[str, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns as the imputer learned them."""
        fields: tuple[Field, ...] = self.imputer.schema_.fields
        return fields

    def numbers(self, method: str) -> Numbers:
        """What was done, as JSON can hold it."""
        from greyfill.report.evidence import fallbacks

        imputer, holes, sheet = self.imputer, self.sheet.holes(), self.sheet
        left = {c for c in holes if c not in self.features.columns}
        filled = {c: 0 if c in left else n for c, n in holes.items()}
        return {
            "input": sheet.source.name,
            "method": method,
            "target": sheet.target,
            "rows": sheet.source.frame.height,
            "holes": sum(holes.values()),
            "filled": sum(filled.values()),
            "columns": describe(self.fields, holes, filled),
            "k": getattr(imputer, "n_neighbors_", None),
            "k_tried": len(getattr(imputer, "k_scores_", ())),
            "passes": getattr(imputer, "n_iter_", None),
            "stable": _flag(getattr(imputer, "converged_", None)),
            "fallbacks": fallbacks(imputer),
            "seconds": round(self.seconds, 3),
            "notes": [*sheet.source.notes, *notes_on(sheet), *self.warnings],
        }


def learn(sheet: Sheet, choice: MethodChoice, voice: Console) -> FilledSheet:
    """Fit the imputer and fill the rows that it learned from."""
    imputer, started = choice.make(sheet), perf_counter()
    imputer.set_params(verbose=int(voice.in_terminal))
    with voice.working(f"filling {sheet.name} by {choice.method}"), _heard() as heard:
        features = imputer.fit_transform(sheet.X, sheet.y)
    imputer.set_params(verbose=0)
    remember(imputer, sheet.source.styles)
    chosen = features.select([c for c in sheet.features if c in features.columns])
    return FilledSheet(sheet, imputer, chosen, perf_counter() - started, tuple(heard))


class FillTally:
    """Counts of rows, holes and filled cells over the batches of a file of new rows."""

    def __init__(self, schema: Schema) -> None:
        self._fields = schema.fields
        self.rows = 0
        self._holes: Counter[str] = Counter()
        self._filled: Counter[str] = Counter()

    def add(self, before: pl.DataFrame, after: pl.DataFrame) -> None:
        """Count a batch."""
        self.rows += before.height
        for field in self._fields:
            n_holes = count_holes(before[field.name])
            self._holes[field.name] += n_holes
            self._filled[field.name] += n_holes - min(n_holes, after[field.name].null_count())

    def numbers(self, batches: files.Batches, seconds: float) -> Numbers:
        """What was done to new rows."""
        known = {field.name for field in self._fields}
        return {
            "input": batches.name,
            "rows": self.rows,
            "holes": self._holes.total(),
            "filled": self._filled.total(),
            "columns": describe(self._fields, self._holes, self._filled),
            "left_as_they_are": [c for c in batches.columns if c not in known],
            "seconds": round(seconds, 3),
            "notes": list(batches.notes),
        }


def fill_new(
    imputer: Any, batches: files.Batches, out: str, force: bool, voice: Console
) -> Numbers:
    """Fill a file of new rows by a fitted imputer, without any label, batch by batch."""
    started, tally = perf_counter(), FillTally(imputer.schema_)
    with (
        voice.counting(f"filling {called(batches.name)}", batches.height) as move_on,
        _heard(),
        batches.writing(out, force=force) as writer,
    ):
        for batch in batches:
            filled = _fill_frame(imputer, batch.frame, move_on)
            tally.add(batch.frame, filled)
            writer.write(batch, filled)
    return tally.numbers(batches, perf_counter() - started) | {"output": out}


def _fill_frame(imputer: Any, frame: pl.DataFrame, move_on: Callable[[int], None]) -> pl.DataFrame:
    """All columns of a batch, those that the imputer knows filled."""
    names, parts = imputer.schema_.names, []
    for start in range(0, frame.height, BATCH_ROWS):
        rows = frame[start : start + BATCH_ROWS]
        filled = imputer.transform(rows.select(names))
        parts.append(rows.with_columns(filled.select([c for c in names if c in filled.columns])))
        move_on(rows.height)
    return pl.concat(parts) if parts else frame


def plan(sheet: Sheet, choice: MethodChoice) -> Numbers:
    """What would be done, after every check that needs no work."""
    choice.make(sheet)
    fields, holes, empty = schema_of(sheet).fields, sheet.holes(), sheet.empty
    return {
        "input": sheet.source.name,
        "method": choice.method,
        "target": sheet.target,
        "labels": choice.labels,
        "k": choice.k,
        "rows": sheet.source.frame.height,
        "holes": sum(holes.values()),
        "to_fill": sum(n for c, n in holes.items() if c not in empty),
        "columns": describe(fields, holes),
        "ignored": list(sheet.ignored),
        "notes": [*sheet.source.notes, *notes_on(sheet), *doubts(sheet, fields)],
    }


def schema_of(sheet: Sheet) -> Schema:
    """The columns as an imputer will learn them."""
    return frames.encode(sheet.X, **sheet.kinds)[1].schema


def describe(
    fields: tuple[Field, ...], holes: Mapping[str, int], filled: Mapping[str, int] | None = None
) -> list[Numbers]:
    """Name, kind, type and holes of every column."""
    return [
        {"name": f.name, "kind": kind_of(f), "type": f.family.value, "holes": holes[f.name]}
        | ({} if filled is None else {"filled": filled[f.name]})
        for f in fields
    ]


def kind_of(field: Field) -> str:
    """What a column is to a method, in one word.

    >>> kind_of(Field("age", Kind.NUMERIC, Family.INTEGER))
    'numeric'
    """
    if field.family is Family.EMPTY:
        return "empty"
    if field.kind is Kind.NUMERIC and field.meaning != "numbers":
        return field.family.value
    return field.kind.value


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Collect the warnings for the user; empty columns have notes of their own."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    for warning in caught:
        text, category = str(warning.message), warning.category
        is_for_users = issubclass(category, UserWarning) and category is not EmptyColumnWarning
        if is_for_users and text not in messages:
            messages.append(text)


def _flag(value: Any) -> bool | None:
    return None if value is None else bool(value)
