"""The work: learn from a sheet, fill it, fill others like it, and tell it all in numbers."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from time import perf_counter
from typing import Any

import polars as pl

from greyfill import files, frames
from greyfill.cli.console import Console, Numbers
from greyfill.cli.options import MethodChoice
from greyfill.cli.sheet import Sheet, count_holes
from greyfill.exceptions import EmptyColumnWarning, PersistenceError
from greyfill.files import styles
from greyfill.files.inputs import shown
from greyfill.files.styles import Style
from greyfill.frames import Family, Field, Schema
from greyfill.table import Kind
from greyfill.text import OWN_LABELS, plural

BATCH_ROWS = 20_000
"""New rows are filled in batches, so that the work of one needs bounded memory."""

STYLES = "cell_styles_"
"""Where an imputer keeps how its table writes cells, as plain data that a saved file can hold."""

USUAL: dict[Family, Style] = {
    Family.INTEGER: styles.Whole(),
    Family.FLOAT: styles.Shortest(),
    Family.DECIMAL: styles.Shortest(),
    Family.BOOLEAN: styles.Truth(),
    Family.DATE: styles.Day(),
    Family.DATETIME: styles.Moment(),
    Family.TEXT: styles.Text(),
}
"""Styles of columns that were not learned from a CSV file."""


def make_imputer(choice: MethodChoice, sheet: Sheet) -> Any:
    """An imputer for this sheet, not fitted."""
    from greyfill.imputers.registry import METHODS

    method = METHODS[choice.method]
    settings: dict[str, Any] = {
        "n_neighbors": None if choice.n_neighbors == "auto" else choice.n_neighbors,
        "labels": choice.labels,
        "time_budget": choice.time,
        "n_jobs": choice.n_jobs(sheet.source.frame.height),
        "random_state": choice.seed,
    }
    takes = signature(method).parameters
    given = {name: value for name, value in settings.items() if name in takes and value is not None}
    return method(**given, **sheet.kinds, missing_values=list(sheet.na_values) or None)


@dataclass(frozen=True, eq=False)
class FilledSheet:
    """A fitted imputer, the features of its sheet without holes, and the time it took."""

    sheet: Sheet
    imputer: Any
    features: pl.DataFrame
    seconds: float
    warnings: tuple[str, ...]

    def numbers(self, method: str) -> Numbers:
        """What was done, as JSON can hold it."""
        from greyfill.text import fallbacks

        imputer, holes, sheet = self.imputer, self.sheet.holes(), self.sheet
        filled = {c: n if c in self.features.columns else 0 for c, n in holes.items()}
        stable = getattr(imputer, "converged_", None)
        return {
            "input": sheet.source.name,
            "method": method,
            "target": sheet.target,
            "rows": sheet.source.frame.height,
            "holes": sum(holes.values()),
            "filled": sum(filled.values()),
            "columns": describe(imputer.schema_, holes, filled),
            "k": getattr(imputer, "n_neighbors_", None),
            "k_tried": len(getattr(imputer, "k_scores_", ())),
            "passes": getattr(imputer, "n_iter_", None),
            "stable": None if stable is None else bool(stable),
            "fallbacks": fallbacks(imputer),
            "seconds": round(self.seconds, 3),
            "notes": [*sheet.notes(), *self.warnings, *self._hurry(), *self._own_labels()],
        }

    def _own_labels(self) -> list[str]:
        """That rows were filled by their own label, where they were."""
        is_own = self.sheet.target is not None and self.imputer._sees_own_labels
        return [OWN_LABELS] if is_own else []

    def _hurry(self) -> list[str]:
        """What tuning had no time for."""
        chosen = getattr(self.imputer, "selection_", {})
        hurried = [
            described["left_out"] for described in chosen.values() if "left_out" in described
        ]
        if not hurried:
            return []
        kinds = ", ".join(dict.fromkeys(kind for left_out in hurried for kind in left_out))
        of_all = f"{len(hurried)} of {plural(len(chosen), 'column')}"
        return [f"Tuning ended in time (--time): {of_all} did not try {kinds}."]


class FillJob:
    """An imputer and the sheet that it learns from, whose cells are encoded once."""

    def __init__(self, sheet: Sheet, choice: MethodChoice) -> None:
        self.sheet, self._method = sheet, choice.method
        self._imputer, self._started = make_imputer(choice, sheet), perf_counter()
        with _collected_warnings() as self._messages:
            self._opened = self._imputer._open_training(sheet.X)

    @property
    def schema(self) -> Schema:
        """The columns as the imputer will learn them."""
        schema: Schema = self._opened[1].schema
        return schema

    def run(self, console: Console) -> FilledSheet:
        """Fit the imputer and fill the rows that it learns from."""
        sheet, imputer = self.sheet, self._imputer
        with (
            console.working(f"filling {sheet.name} by {self._method}") as progress,
            _collected_warnings() as messages,
            imputer._reporting_to(progress),
        ):
            features = imputer._fit_opened(sheet.X, sheet.y, self._opened)
        _keep_styles(imputer, sheet.source.styles)
        chosen = features.select([c for c in sheet.features if c in features.columns])
        told = tuple(dict.fromkeys((*self._messages, *messages)))
        return FilledSheet(sheet, imputer, chosen, perf_counter() - self._started, told)


def fill_new(
    imputer: Any, batches: files.Batches, out: str, force: bool, console: Console
) -> Numbers:
    """Fill a file of new rows by a fitted imputer, without any label, batch by batch."""
    started, rows, schema = perf_counter(), 0, imputer.schema_
    holes, filled = Counter[str](), Counter[str]()
    with (
        console.counting(f"filling {shown(batches.name)}", batches.height) as move_on,
        _collected_warnings(),
        batches.writing(out, force=force) as writer,
    ):
        for batch in batches:
            after = _fill_frame(imputer, batch.frame, move_on)
            writer.write(batch, after)
            rows += after.height
            for name in schema.names:
                n_holes = count_holes(batch.frame[name])
                holes[name] += n_holes
                filled[name] += n_holes - min(n_holes, after[name].null_count())
    return {
        "input": batches.name,
        "rows": rows,
        "holes": holes.total(),
        "filled": filled.total(),
        "columns": describe(schema, holes, filled),
        "left_as_they_are": [c for c in batches.columns if c not in schema.names],
        "seconds": round(perf_counter() - started, 3),
        "notes": list(batches.notes),
        "output": out,
    }


def _fill_frame(imputer: Any, frame: pl.DataFrame, move_on: Callable[[int], None]) -> pl.DataFrame:
    """All columns of a batch, those that the imputer was fitted on filled."""
    names, parts = imputer.schema_.names, []
    for start in range(0, frame.height, BATCH_ROWS):
        rows = frame[start : start + BATCH_ROWS]
        filled = imputer.transform(rows.select(names))
        parts.append(rows.with_columns(filled.select([c for c in names if c in filled.columns])))
        move_on(rows.height)
    return pl.concat(parts) if parts else frame


def schema_of(sheet: Sheet) -> Schema:
    """The columns as an imputer would learn them."""
    return frames.encode(sheet.X, **sheet.kinds)[1].schema


def describe(
    schema: Schema, holes: Mapping[str, int], filled: Mapping[str, int] | None = None
) -> list[Numbers]:
    """Name, kind, type and holes of every column."""
    return [
        {"name": f.name, "kind": kind_of(f), "type": f.family.value, "holes": holes[f.name]}
        | ({} if filled is None else {"filled": filled[f.name]})
        for f in schema.fields
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


def learned_by(imputer: Any, name: str) -> files.LearnedTypes:
    """What an imputer that was saved under a name has learned about new rows."""
    kept = getattr(imputer, STYLES, {})
    try:
        found = {column: styles.from_plain(plain) for column, plain in kept.items()}
    except PersistenceError as error:
        raise PersistenceError(f"{name}: {error}") from error
    words = [str(value) for value in imputer.schema_.missing_values]
    return learned_from(imputer.schema_, found, words)


def learned_from(
    schema: Schema, written: Mapping[str, Style], na_values: Sequence[str]
) -> files.LearnedTypes:
    """What a schema, the styles of its table and its words for missing tell about new rows."""
    found = {field.name: _style(field, written.get(field.name)) for field in schema.fields}
    known = {name: style for name, style in found.items() if style is not None}
    return files.LearnedTypes(schema.names, known, tuple(na_values))


def _keep_styles(imputer: Any, written: Mapping[str, Style]) -> None:
    """Keep with an imputer how its table writes the cells of the columns that it learned."""
    names = imputer.schema_.names
    kept = {name: styles.as_plain(style) for name, style in written.items() if name in names}
    setattr(imputer, STYLES, kept)


def _style(field: Field, kept: Style | None) -> Style | None:
    """The style of a column; one that was kept before another fit does not count."""
    usual = USUAL.get(field.family)
    if kept is None or usual is None or styles.KINDS[type(kept)] != styles.KINDS[type(usual)]:
        return usual
    return kept if isinstance(kept, styles.Whole) == isinstance(usual, styles.Whole) else usual


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
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
