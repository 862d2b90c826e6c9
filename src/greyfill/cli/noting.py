"""What the user should know about a table before he trusts what is made of it."""

from collections.abc import Iterator

import polars as pl

from greyfill.cli.reading import Sheet
from greyfill.files.column_types import form_of
from greyfill.frames import Family, Field
from greyfill.table import Kind

MANY_CLASSES = 0.5
FEW_ROWS = 10
MANY_ROWS = 20
"""With fewer rows, different texts in all of them may be chance."""


def notes_on(sheet: Sheet) -> Iterator[str]:
    """What the user should know about a sheet before he trusts what comes out."""
    for name in sheet.empty:
        yield (
            f"Column {name!r} has no observed value, so it stays empty. "
            "Drop it, or ignore it (--ignore)."
        )
    for name in sheet.features:
        yield from _notes_on_text(sheet, name)
    if sheet.y is not None:
        yield from _notes_on_labels(sheet, sheet.y)


def _notes_on_text(sheet: Sheet, name: str) -> Iterator[str]:
    """Texts that are no categories, unless the user said that they are."""
    seen = sheet.source.frame[name].drop_nulls()
    if seen.dtype != pl.String or name in sheet.said:
        return
    form = form_of(seen)
    if form is not None:
        yield (
            f"Column {name!r} looks like {form.name} ({seen[0]!r}) and was read as categories. "
            f"{form.remedy}; if categories are meant, say so: --categorical {name!r}."
        )
    elif len(seen) >= MANY_ROWS and seen.n_unique() == len(seen):
        yield (
            f"Column {name!r}: no two of its {len(seen):,} texts are equal, as in an identifier. "
            f"It says nothing about other columns; leave it out: --ignore {name!r}."
        )


def _notes_on_labels(sheet: Sheet, labels: pl.Series) -> Iterator[str]:
    unlabeled, seen = labels.null_count(), len(labels) - labels.null_count()
    if unlabeled:
        rows = "1 row has" if unlabeled == 1 else f"{unlabeled:,} rows have"
        yield f"{rows} no label in {sheet.target!r}: filled like new rows; the label stays empty."
    classes = labels.drop_nulls().n_unique()
    if classes > 20 and classes > MANY_CLASSES * seen:
        yield (
            f"The target {sheet.target!r} has {classes:,} classes in {seen:,} rows. "
            "Is it the column of the classes?"
        )


def doubts(sheet: Sheet, fields: tuple[Field, ...]) -> Iterator[str]:
    """Ask about whole numbers with two values: they are often the codes of categories."""
    frame = sheet.source.frame
    whole = [f.name for f in fields if f.kind is Kind.NUMERIC and f.family is Family.INTEGER]
    names = [c for c in whole if frame[c].drop_nulls().n_unique() == 2]
    if names and frame.height > FEW_ROWS:
        some = ",".join(names[:20]) + (",…" if len(names) > 20 else "")
        yield (
            "Whole numbers with two values were taken as numbers. "
            f"If they are codes of categories, say so: --categorical {some}"
        )
