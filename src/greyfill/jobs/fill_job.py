"""The work: learn from a sheet, fill it, fill others like it, and tell it all in numbers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from time import perf_counter
from typing import Any

import polars as pl

from greyfill import files, frames
from greyfill.column_notes import Words, collected_warnings
from greyfill.exceptions import PersistenceError
from greyfill.files import styles
from greyfill.files.inputs import shown
from greyfill.files.styles import Style
from greyfill.filled import Filled
from greyfill.folds import as_written, with_folds
from greyfill.frames import Family, Field, Schema
from greyfill.jobs.options import MethodChoice
from greyfill.jobs.sheet import Sheet, count_holes, learned_names
from greyfill.opened_fill import OpenedFill
from greyfill.progress import Display
from greyfill.table import Kind
from greyfill.text import OWN_LABELS, plural

Numbers = dict[str, Any]
Counting = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""A bar of so many rows, moved on by what it yields."""

BATCH_ROWS = 20_000
"""New rows are filled in batches, so that the work of one needs bounded memory."""

STYLES, WORDS, FOLDS = "cell_styles_", "cell_words_", "cell_folds_"
"""Where an imputer keeps how its table writes cells, which words it took as missing in which
column, and which levels as one, as plain data that a saved file can hold."""

NOT_APPLICABLE = "--not-applicable COLUMN"
FLAGS = Words("--fill COLUMN", NOT_APPLICABLE, f"{NOT_APPLICABLE}=LEVEL", "--bounds", "--ignore")

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
    imputer = method(**given, **sheet.kinds, missing_values=list(sheet.na_values) or None)
    imputer.bounds = sheet.wishes.bounds or None
    imputer.add_indicator = sheet.wishes.indicators
    return imputer


@dataclass(frozen=True, eq=False)
class FilledSheet:
    """A sheet and what came of filling it."""

    sheet: Sheet
    result: Filled

    @property
    def imputer(self) -> Any:
        """The fitted imputer."""
        return self.result.imputer

    @property
    def features(self) -> pl.DataFrame:
        """The features without holes."""
        features: pl.DataFrame = self.result.features
        return features

    def draws(self, n: int) -> list[pl.DataFrame]:
        """The table, filled so many times by chance."""
        return self.result.draws(n)

    def remark(self, row: int, column: str) -> str:
        """What a comment says about a filled cell: its limits, where the method knows them."""
        low, high, levels = self._limits.get((row, column), (None, None, None))
        if levels:
            return f"With probability 0.9 one of: {levels}."
        return "" if low is None else f"With probability 0.9 between {low} and {high}."

    @cached_property
    def _limits(self) -> dict[tuple[int, str], tuple[Any, Any, Any]]:
        frame = self.result.intervals
        rows = (
            [] if frame is None else frame.select("row", "column", "low", "high", "levels").rows()
        )
        return {(row, column): tuple(limits) for row, column, *limits in rows}

    def numbers(self, method: str) -> Numbers:
        """What was done, as JSON can hold it."""
        from greyfill.report.evidence import still_moving
        from greyfill.report.held_out import trust
        from greyfill.text import fallbacks

        imputer, holes, sheet = self.imputer, self.sheet.holes(), self.sheet
        left = {c: count_holes(self.features[c]) for c in self.features.columns}
        filled = {c: n - left.get(c, n) for c, n in holes.items()}
        stable = getattr(imputer, "converged_", None)
        told = [*sheet.notes(), *self.result.notes, *self._hurry(), *self._own_labels()]
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
            "stable": still_moving(imputer) is None and (stable or None),
            "trust": trust(imputer, filled, sheet.source.frame.height),
            "fallbacks": fallbacks(imputer),
            "guesses": [guess.to_dict() for guess in sheet.source.guesses],
            "left_alone": dict(self.result.left_alone),
            "seconds": round(self.result.seconds, 3),
            "notes": list(dict.fromkeys(told)),
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

    def __init__(
        self, sheet: Sheet, choice: MethodChoice, draws: int = 0, words: Words = FLAGS
    ) -> None:
        self.sheet, self._method = sheet, choice.method
        given = [names for names in sheet.kinds.values() if names and names != "auto"]
        told = [c for c in sheet.features if any(c in names for names in given)]
        imputer = make_imputer(choice, sheet)
        if draws > getattr(imputer, "n_imputations", draws):  # mice draws while it learns
            imputer.n_imputations = draws
        self._opened = OpenedFill(
            sheet.X,
            sheet.y,
            imputer,
            insisted=sheet.wishes.insisted,
            told=told,
            kept_empty=sheet.kept_empty,
            words=words,
        )
        self.schema, self.left_alone = self._opened.schema, self._opened.left_alone

    def notes(self) -> list[str]:
        """What is left alone, and what may not apply."""
        return self._opened.notes()

    def run(self, console: Display) -> FilledSheet:
        """Fit the imputer and fill the rows that it learns from."""
        sheet = self.sheet
        with console.working(f"filling {sheet.name} by {self._method}") as progress:
            filled = self._opened.run(
                progress, whole=sheet.source.frame, source=sheet.source, folds=sheet.folds
            )
        _keep_styles(filled.imputer, sheet.source.styles)
        taken = {c: list(words) for c, words in sheet.source.words.items()}
        setattr(filled.imputer, WORDS, taken)
        return FilledSheet(sheet, filled)


def fill_new(
    imputer: Any, batches: files.Batches, out: str, force: bool, counting: Counting
) -> Numbers:
    """Fill a file of new rows by a fitted imputer, without any label, batch by batch."""
    started, rows, names = perf_counter(), 0, learned_names(imputer.schema_)
    holes, filled, odd = Counter[str](), Counter[str](), Counter[str]()
    folds = getattr(imputer, FOLDS, {})
    imputer._refuse_taken_names(batches.columns)
    with (
        counting(f"filling {shown(batches.name)}", batches.height) as move_on,
        collected_warnings(),
        batches.writing(out, force=force) as writer,
    ):
        for batch in batches:
            known = with_folds(batch.frame, folds)
            after = as_written(_fill_frame(imputer, known, move_on), batch.frame, folds)
            odd.update(_oddities(imputer.schema_, known, names))
            writer.write(batch, after)
            rows += after.height
            for name in names:
                n_holes = count_holes(batch.frame[name])
                holes[name] += n_holes
                filled[name] += n_holes - min(n_holes, after[name].null_count())
    return {
        "input": batches.name,
        "rows": rows,
        "holes": holes.total(),
        "filled": filled.total(),
        "columns": [c for c in describe(imputer.schema_, holes, filled) if c["name"] in names],
        "left_as_they_are": [c for c in batches.columns if c not in names],
        "seconds": round(perf_counter() - started, 3),
        "notes": [*batches.notes, *writer.notes, *_notes_on_new(odd)],
        "output": out,
    }


def _oddities(schema: Schema, frame: pl.DataFrame, names: list[str]) -> dict[str, int]:
    """How many cells of each column have levels that were never seen; under "", empty rows."""
    found = {"": frame.select(pl.all_horizontal(pl.col(names).is_null()).sum()).item()}
    for field in schema.fields:
        if field.levels and field.family in (Family.TEXT, Family.CATEGORY):
            cells = frame[field.name].drop_nulls().cast(pl.String)
            found[field.name] = int((~cells.is_in([str(level) for level in field.levels])).sum())
    return {name: n for name, n in found.items() if n}


def _notes_on_new(odd: Mapping[str, int]) -> list[str]:
    """What the imputer never saw in the rows that it learned from."""
    unseen = [f"{name!r} ({plural(n, 'cell')})" for name, n in odd.items() if name]
    notes = [f"Levels that the imputer never saw match no donor: {', '.join(unseen)}."]
    empty = f"{plural(odd[''], 'row')} without any observed value got what is usual in each column."
    return [*(notes if unseen else []), *([empty] if odd[""] else [])]


def _fill_frame(imputer: Any, frame: pl.DataFrame, move_on: Callable[[int], None]) -> pl.DataFrame:
    """All columns of a batch, those that the imputer was fitted on filled."""
    names, parts = imputer.schema_.names, []
    absent = [pl.lit(None).alias(c) for c in names if c not in frame.columns]  # left alone anyway
    for start in range(0, frame.height, BATCH_ROWS):
        rows = frame[start : start + BATCH_ROWS]
        filled = imputer.transform(rows.with_columns(absent).select(names))
        known = [c for c in filled.columns if c in rows.columns or c not in names]
        parts.append(rows.with_columns(filled.select(known)))
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
        return "empty" if field.kind is Kind.NUMERIC else "left alone"
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
    words, taken = (
        [str(value) for value in imputer.schema_.missing_values],
        getattr(imputer, WORDS, {}),
    )
    if not all(isinstance(kinds, list | tuple) for kinds in taken.values()):
        raise PersistenceError(f"{name}: the words for missing of a column are damaged")
    return learned_from(imputer.schema_, found, words, taken)


def learned_from(
    schema: Schema,
    written: Mapping[str, Style],
    na_values: Sequence[str],
    words: Mapping[str, Sequence[str]],
) -> files.LearnedTypes:
    """What a schema, the styles of its table and its words for missing tell about new rows."""
    found = {field.name: _style(field, written.get(field.name)) for field in schema.fields}
    known = {name: style for name, style in found.items() if style is not None}
    taken = {c: tuple(map(str, found)) for c, found in words.items()}
    return files.LearnedTypes(schema.names, known, tuple(na_values), taken)


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
