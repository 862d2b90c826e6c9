"""A file and what the user said about its columns → features, labels, the rest, and notes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from greyfill import files
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files.inputs import naming, shown
from greyfill.files.peek import peek_names
from greyfill.imputers.registry import DEFAULT, FILE_METHODS, REGISTRY
from greyfill.jobs.fill_options import NO_WISHES, FillOptions, Wishes
from greyfill.jobs.options import STREAM, MethodChoice, TableOptions, did_you_mean
from greyfill.progress import Display
from greyfill.text import Note

if TYPE_CHECKING:  # they take their time, and a mistake in the call is answered before
    import polars as pl

    from greyfill.folds import Folds
    from greyfill.frames import Field, Schema
    from greyfill.table import Bools

PEEKED_WITH = ("delimiter", "decimal", "encoding", "date_order", "header", "sheet", "strict")
MANY_CLASSES = 0.5
FEW_ROWS = 10


@dataclass(frozen=True, eq=False)
class Sheet:
    """A file that was read, its feature columns and their kinds, and the column of its labels."""

    source: files.Source
    features: tuple[str, ...]
    target: str | None = None
    ignored: tuple[str, ...] = ()
    kinds: dict[str, Any] = field(default_factory=dict)
    na_values: tuple[str, ...] = ()
    wishes: Wishes = field(default_factory=Wishes)
    kept_empty: Mapping[str, Bools] = field(default_factory=dict)
    folds: Folds = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How messages call the file."""
        return shown(self.source.name)

    @property
    def X(self) -> pl.DataFrame:
        """The features, whose levels are one where the user says so."""
        from greyfill.folds import with_folds

        frame: pl.DataFrame = with_folds(self.source.frame.select(self.features), self.folds)
        return frame

    @property
    def y(self) -> pl.Series | None:
        """The labels; null where a row has none."""
        if self.target is None:
            return None
        from greyfill.folds import with_folds

        labels: pl.Series = with_folds(self.source.frame.select(self.target), self.folds)[
            self.target
        ]
        return labels

    @property
    def empty(self) -> list[str]:
        """Features without any observed value, of which nothing can be learned."""
        return [name for name, n in self.holes().items() if n == self.source.frame.height]

    def without(self, names: Collection[str]) -> Sheet:
        """The table without some features, unless none would be left."""
        features = tuple(c for c in self.features if c not in names)
        kinds = dict(self.kinds)
        for kind, given in kinds.items():
            if isinstance(given, dict):
                kinds[kind] = {c: levels for c, levels in given.items() if c not in names} or None
            elif isinstance(given, list):
                left = [c for c in given if c not in names]
                kinds[kind] = left or ("auto" if kind == "categorical_features" else None)
        return replace(self, features=features, kinds=kinds) if features else self

    def holes(self) -> dict[str, int]:
        """The number of missing cells of each feature."""
        return {name: count_holes(self.source.frame[name]) for name in self.features}

    def notes(self, fields: tuple[Field, ...] = ()) -> list[str]:
        """What the user should know before he trusts what is made of the table."""
        given = [names for names in self.kinds.values() if names and names != "auto"]
        untold = [c for c in self.features if not any(c in names for names in given)]
        texts = [note for c in untold for note in _notes_on_text(self.source.frame[c])]
        labels = [] if self.y is None else _notes_on_labels(self.y)
        codes = possible_codes(self, fields)
        asked = [_about_codes(codes)] if codes else []
        return [*self.source.notes, *texts, *labels, *asked]


def notes_on_used(left_alone: Mapping[str, str]) -> list[str]:
    """That columns were used which a fill leaves alone, with the reasons.

    >>> notes_on_used({"case": "an identifier"})
    ["Used, though no other row can tell: 'case' (an identifier). --ignore leaves it out."]
    >>> notes_on_used({})
    []
    """
    named = "; ".join(f"{name!r} ({why})" for name, why in left_alone.items())
    told = f"Used, though no other row can tell: {named}. --ignore leaves it out."
    return [told] if left_alone else []


def notes_on_identifiers(sheet: Sheet) -> list[str]:
    """The same of a command that fills nothing by itself, and uses all features."""
    from greyfill import frames

    table, origin = frames.encode(sheet.X, **sheet.kinds)
    return notes_on_used(frames.find_excluded(table, origin.schema))


def read_sheet(
    name: str,
    options: TableOptions,
    console: Display,
    choice: MethodChoice | None = None,
    wishes: FillOptions = NO_WISHES,
    *,
    lenient: bool = False,
) -> Sheet:
    """Read a table to learn from; columns that it has not are refused before its cells are read."""

    def typed(columns: Sequence[str]) -> tuple[list[str], list[str]]:
        roles = ColumnRoles.of(options, columns, shown(name))
        wishes.resolve(columns, shown(name))
        return [*roles.categorical, *roles.ignored], roles.numeric

    known = {key: value for key, value in options.of_text.items() if key in PEEKED_WITH}
    if names := peek_names(name, **known):
        typed(names)
    if choice is not None and choice.needs_classes and options.target is None:
        _refuse_no_labels(choice.method)
    with console.working(f"reading {shown(name)}"):
        source = files.read(name, choose_types=typed, lenient=lenient, **options.of_text)
        return sheet_of(source, options, choice, wishes)


def sheet_of(
    source: files.Source,
    options: TableOptions,
    choice: MethodChoice | None = None,
    wishes: FillOptions = NO_WISHES,
) -> Sheet:
    """The columns of a table to learn from, sorted by what the user said about them."""
    from greyfill.files.words import words_by_column
    from greyfill.folds import find_folds

    name, target = shown(source.name), options.target
    wished = wishes.resolve(source.frame.columns, name)
    roles = ColumnRoles.of(options, source.frame.columns, name)
    nested = [name for name in source.nested if name != target]
    roles.ignored.extend(name for name in nested if name not in roles.ignored)
    features = [c for c in source.frame.columns if c != target and c not in roles.ignored]
    if not features:
        raise InvalidDataError(f"{name} has no column left to impute.")
    source, kept = _inapplicable(source, features, wished)
    kinds = {
        "categorical_features": [c for c in roles.categorical if c != target] or "auto",
        "ordinal_features": _orders(roles.ordinal, source),
    }
    ignored, (words, _) = tuple(roles.ignored), words_by_column(options.na_values, roles.columns)
    folded = [c for c in roles.folded if c not in roles.ignored]
    folds = find_folds(source.frame, folded, "--fold", f"{name}: ") if folded else {}
    sheet = Sheet(source, tuple(features), target, ignored, kinds, words, wished, kept, folds)
    if sheet.y is not None and count_holes(sheet.y) == len(sheet.y):
        raise InvalidDataError(
            f"{name}: the target {target!r} has no label in any row. Name another "
            "column, or leave --target away."
        )
    if choice is not None and choice.needs_classes:
        _refuse_no_classes(choice.method, sheet)
    return sheet


def _inapplicable(
    source: files.Source, features: list[str], wished: Wishes
) -> tuple[files.Source, dict[str, Bools]]:
    """The table with levels where it does not apply, and where columns are kept empty instead."""
    chosen, option = [*wished.kept_empty, *wished.levels], "--not-applicable"
    if not chosen:
        return source, {}
    from greyfill.applicability import find_inapplicable, with_levels

    rows = find_inapplicable(source.frame.select(features), chosen, option)
    frame = with_levels(source.frame, wished.levels, rows, option)
    return replace(source, frame=frame), {c: rows[c] for c in wished.kept_empty}


@contextmanager
def open_new(
    name: str, options: TableOptions, schema: Schema, learned: files.LearnedTypes, console: Display
) -> Iterator[files.Batches]:
    """Open new rows for a model; columns that it was not fitted on are left as they are."""
    from greyfill.frames import Family

    numbers = (Family.FLOAT, Family.INTEGER, Family.DECIMAL)
    names = learned_names(schema)
    others = [*([options.target] if options.target else []), *_split(options.ignored)]
    others += [name for name in schema.names if name not in names]
    with ExitStack() as opened:
        with console.working(f"reading {shown(name)}"):
            reading = files.open_batches(
                name,
                text_columns=[*(f.name for f in schema.fields if f.meaning == "text"), *others],
                numeric_columns=[f.name for f in schema.fields if f.family in numbers],
                learned=learned,
                **options.of_text,
            )
            batches = opened.enter_context(reading)
        _refuse_lacking(names, batches.columns, shown(name))
        yield batches


def learned_names(schema: Schema) -> list[str]:
    """The columns that an imputer learned from; of those that it left alone no kind is known."""
    from greyfill.table import Kind

    fields = schema.fields
    return [f.name for f in fields if f.family != "empty" or f.kind is not Kind.CATEGORICAL]


def check_exist(names: Iterable[str]) -> None:
    """Refuse names of files that are read late, if there is nothing to read."""
    for name in names:
        if name != STREAM:
            with naming(shown(name), "read"):
                os.stat(name)


def count_holes(column: pl.Series) -> int:
    """The number of missing cells: nulls, and what is not a number among numbers."""
    nans = int(column.is_nan().sum() or 0) if column.dtype.is_float() else 0
    return column.null_count() + nans


def _refuse_no_labels(method: str) -> NoReturn:
    free = [m for m in FILE_METHODS if m != DEFAULT and not REGISTRY[m].needs_labels]
    raise InvalidParameterError(
        f"The method {method} learns from class labels. Name their column (--target COLUMN), or "
        f"leave --method away: {DEFAULT} needs none, nor do {', '.join(free)}."
    )


def _refuse_no_classes(method: str, sheet: Sheet) -> None:
    from greyfill.targets import Meaning, read_target

    if sheet.y is None:
        _refuse_no_labels(method)
    if read_target(sheet.y, needs_classes=True).meaning is Meaning.RESPONSE:
        raise InvalidDataError(
            f"{sheet.name}: the target {sheet.target!r} holds measurements, not classes. Name "
            f"a column of classes, or leave --method away: {DEFAULT} takes them too."
        )


@dataclass(frozen=True)
class ColumnRoles:
    """The columns that the options name, after all that can be wrong with names."""

    categorical: list[str]
    numeric: list[str]
    ordinal: list[str]
    ignored: list[str]
    folded: list[str]
    columns: Sequence[str]

    @classmethod
    def of(cls, options: TableOptions, columns: Sequence[str], where: str) -> ColumnRoles:
        """What the options say about these columns of a file; a name that is none is split."""

        def resolved(option: str, given: Sequence[str]) -> list[str]:
            names = [n for name in given for n in ([name] if name in columns else _split([name]))]
            _refuse_unknown(option, names, columns, where)
            return names

        target = options.target
        _refuse_unknown("--target", [target] if target else [], columns, where)
        categorical = resolved("--categorical", options.categorical)
        ignored = resolved("--ignore", options.ignored)
        numeric = resolved("--numeric", options.numeric)
        ordinal = _split_orders(options.ordinal, columns)
        ordered = [item if item in columns else item.partition("=")[0] for item in ordinal]
        _refuse_unknown("--ordinal", ordered, columns, where)
        if target in ignored:
            raise InvalidParameterError(
                f"The column {target!r} is both --target and --ignore. "
                "The target is never imputed; ignoring it would hide the labels."
            )
        for name in (*categorical, *ordered):
            if name in ignored:
                raise InvalidParameterError(
                    f"The column {name!r} is ignored (--ignore), so it can have no kind."
                )
        folded = resolved("--fold", options.folded)
        return cls(categorical, numeric, ordinal, ignored, folded, columns)


def _refuse_unknown(option: str, given: Iterable[str], columns: Collection[str], file: str) -> None:
    for name in given:
        if name not in columns:
            raise InvalidParameterError(
                f"{file} has no column {name!r} ({option}). {did_you_mean(name, columns)}"
            )


def _refuse_lacking(wanted: Iterable[str], columns: Collection[str], file: str) -> None:
    lacking = next((c for c in wanted if c not in columns), None)
    if lacking is not None:
        strangers = [c for c in columns if c not in wanted]
        raise InvalidDataError(
            f"{file} has no column {lacking!r}, which the imputer was fitted on. "
            + did_you_mean(lacking, strangers or columns, "It also has" if strangers else "It has")
        )


def _split(names: Iterable[str]) -> list[str]:
    return [part for name in names for part in name.split(",") if part]


def _split_orders(items: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Ordered columns; commas after an = stand between levels."""
    whole = [(item, item in columns or "=" in item) for item in items]
    return [part for item, is_one in whole for part in ([item] if is_one else _split([item]))]


def _orders(items: list[str], source: files.Source) -> Any:
    """The ordered columns, with their levels in order where somebody gave one."""
    orders = dict(_order(item, source) for item in items)
    if not any(orders.values()):
        return list(orders) or None
    frame = source.frame
    return {c: levels or frame[c].drop_nulls().unique().sort().to_list()
            for c, levels in orders.items()}  # fmt: skip


def _order(item: str, source: files.Source) -> tuple[str, list[Any]]:
    """A column, and its levels if they were given: ``size=S,M,L``."""
    import polars as pl

    frame = source.frame
    if item in frame.columns:
        return item, []
    name, _, levels = item.partition("=")
    words = pl.Series(levels.split(","), dtype=pl.String)
    try:
        given = words.cast(frame[name].dtype)
    except pl.exceptions.PolarsError as error:
        raise InvalidParameterError(
            f"--ordinal {item}: these levels cannot stand in the column {name!r}, which holds "
            f"{frame[name].dtype}."
        ) from error
    unlisted = (frame[name].is_not_null() & ~frame[name].is_in(given.to_list())).arg_true()
    if len(unlisted):
        row = int(unlisted[0])
        raise InvalidParameterError(
            f"{source.place(row, name)}: {frame[name][row]!r} is not among the levels of "
            f"--ordinal {item}. Add it in its place."
        )
    return name, given.to_list()


def _notes_on_text(column: pl.Series) -> Iterator[str]:
    """Texts that are no categories."""
    import polars as pl

    from greyfill.files.column_types import form_of

    if column.dtype != pl.String:
        return
    name, seen = column.name, column.drop_nulls()
    form = form_of(seen)
    if form is not None:
        shapes = seen.str.replace_all("[0-9]+", "0")
        shown = seen.filter(shapes.is_first_distinct()).head(2)
        yield (
            f"Column {name!r} looks like {form.name} ({', '.join(map(repr, shown))}) and was read "
            "as categories. "
            f"{form.remedy}; if categories are meant, say so: --categorical {name!r}."
        )


def _notes_on_labels(labels: pl.Series) -> Iterator[str]:
    from greyfill.targets import Meaning, read_target

    unlabeled, seen = labels.null_count(), len(labels) - labels.null_count()
    if unlabeled:
        rows = "1 row has" if unlabeled == 1 else f"{unlabeled:,} rows have"
        yield f"{rows} no label in {labels.name!r}: filled like new rows; the label stays empty."
    classes = labels.drop_nulls().n_unique()
    is_many = classes > 20 and classes > MANY_CLASSES * seen
    if is_many and read_target(labels).meaning is not Meaning.RESPONSE:
        yield (
            f"The target {labels.name!r} has {classes:,} classes in {seen:,} rows. "
            "Is it the column of the classes?"
        )


POSTAL = re.compile(
    r"(?:^|[\W_])(?:zip[\W_]?(?:code)?|plz|postleitzahl|post(?:al)?[\W_]?code)(?:$|[\W_])",
    re.IGNORECASE,
)
"""Names of numbers that stand for places, of which a mean is none."""


def possible_codes(sheet: Sheet, fields: tuple[Field, ...]) -> list[str]:
    """Whole numbers with two values, or postal codes: often the names of categories."""
    from greyfill.table import Kind

    frame = sheet.source.frame
    whole = [f.name for f in fields if f.kind is Kind.NUMERIC and f.family == "integer"]
    names = [c for c in whole if POSTAL.search(c) or frame[c].drop_nulls().n_unique() == 2]
    return names if frame.height > FEW_ROWS else []


def _about_codes(names: list[str]) -> Note:
    some = ",".join(names[:20]) + (",…" if len(names) > 20 else "")
    return Note(
        "Whole numbers with two values, or postal codes, were taken as numbers. "
        f"If they are codes of categories, say so: --categorical {some}",
        "codes",
    )
