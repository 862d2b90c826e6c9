"""How the table that was learned from writes its cells, kept with the imputer for new rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from greyfill import files
from greyfill.exceptions import PersistenceError
from greyfill.files.styles import (
    KINDS,
    Day,
    Moment,
    Shortest,
    Style,
    Text,
    Truth,
    Whole,
    as_plain,
    from_plain,
)
from greyfill.frames import Family, Field, Schema

ATTRIBUTE = "cell_styles_"
"""Where an imputer keeps the styles, as plain data that a saved file can hold."""

USUAL: dict[Family, Style] = {
    Family.INTEGER: Whole(),
    Family.FLOAT: Shortest(),
    Family.DECIMAL: Shortest(),
    Family.BOOLEAN: Truth(),
    Family.DATE: Day(),
    Family.DATETIME: Moment(),
    Family.TEXT: Text(),
}
"""Styles of columns that were not learned from a CSV file."""


def remember(imputer: Any, styles: Mapping[str, Style]) -> None:
    """Keep the styles of the columns that an imputer learned."""
    names = imputer.schema_.names
    kept = {name: as_plain(style) for name, style in styles.items() if name in names}
    setattr(imputer, ATTRIBUTE, kept)


def learned_by(imputer: Any, name: str) -> files.LearnedTypes:
    """What an imputer that was saved under a name knows about new rows."""
    kept = getattr(imputer, ATTRIBUTE, {})
    try:
        styles = {column: from_plain(plain) for column, plain in kept.items()}
    except PersistenceError as error:
        raise PersistenceError(f"{name}: {error}") from error
    words = [str(value) for value in imputer.schema_.missing_values]
    return learned_from(imputer.schema_, styles, words)


def learned_from(
    schema: Schema, styles: Mapping[str, Style], na_values: Sequence[str]
) -> files.LearnedTypes:
    """What a schema, the styles of its table and its words for missing tell about new rows."""
    found = {field.name: _style(field, styles.get(field.name)) for field in schema.fields}
    known = {name: style for name, style in found.items() if style is not None}
    return files.LearnedTypes(schema.names, known, tuple(na_values))


def _style(field: Field, kept: Style | None) -> Style | None:
    """The style of a column; one that was kept before another fit does not count."""
    usual = USUAL.get(field.family)
    if kept is None or usual is None or KINDS[type(kept)] != KINDS[type(usual)]:
        return usual
    return kept if isinstance(kept, Whole) == isinstance(usual, Whole) else usual
