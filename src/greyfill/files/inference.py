"""The cells of a column as text → a typed column, and how it spells its values."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files import patterns
from greyfill.files.styles import Day, Fixed, Moment, Scientific, Style, Text, Truth, Whole

FEW_WORDS = 3
"""So many different words among numbers are taken for mistakes, not for a column of text."""

MOST_NUMBERS = 0.95
"""With this share of numbers, all other words are taken for mistakes."""


@dataclass(frozen=True, eq=False)
class Typed:
    """A typed column with nulls in its holes, its spelling, and a note for the user."""

    series: pl.Series
    style: Style
    note: str = ""


@dataclass(frozen=True)
class Look:
    """A type that cells may look like: its name, its pattern, and how it is read."""

    name: str
    pattern: str
    parse: Callable[[pl.Series], Typed]


def looks(mark: str) -> tuple[Look, ...]:
    """All types that are told by their looks."""
    return (
        Look("numbers", patterns.number(mark), lambda cells: _numbers(cells, mark)),
        Look("true or false", patterns.TRUTH, _truths),
        Look("dates", patterns.DAY, _days),
        Look("dates with times", patterns.MOMENT, _moments),
    )


def infer(
    cells: pl.Series,
    place: Callable[[int], str],
    mark: str = ".",
    *,
    must_be_numbers: bool = False,
) -> Typed:
    """Tell the type of a column from all its cells; nulls are holes.

    Whole numbers with leading zeros or more than 18 digits are identifiers, hence text. A few
    words among numbers or dates are an error that says where (``place`` of the row).

    >>> infer(pl.Series(["1.50", None, "+3"]), str).style
    Fixed(decimals=2, mark='.')
    >>> infer(pl.Series(["031162100", "7"]), str).style
    Text()
    """
    if cells.null_count() == len(cells):
        return Typed(pl.Series(cells.name, [None] * len(cells), dtype=pl.Null), Text())
    bare, is_hole = patterns.bare(cells), cells.is_null()
    if not must_be_numbers and bare.str.contains(patterns.IDENTIFIER).any():
        return Typed(cells, Text(), _identifiers(bare, mark))
    for look in looks(mark)[: 1 if must_be_numbers else None]:
        typed = look.parse(bare.set(~bare.str.contains(look.pattern), None))
        is_stray = typed.series.is_null() & ~is_hole
        if not is_stray.any():
            return typed
        if must_be_numbers or _are_mistakes(bare, is_stray):
            raise _stray(cells, is_stray, look, place)
    return Typed(cells, Text())


def _identifiers(bare: pl.Series, mark: str) -> str:
    """A note, if all cells are numbers and only leading zeros or many digits speak against it."""
    if not bare.drop_nulls().str.contains(patterns.number(mark)).all():
        return ""
    return (
        f"Column {bare.name!r} was taken as text: it has numbers with leading zeros, or with more "
        "than 18 digits. If they are quantities, say so: --numeric (numeric_columns=)."
    )


def _are_mistakes(bare: pl.Series, is_stray: pl.Series) -> bool:
    """Whether the words that do not fit are so few, or such words, that somebody must look."""
    strange = bare.filter(is_stray)
    n_seen = len(bare) - bare.null_count()
    share = 1 - len(strange) / n_seen
    if share == 0.0:
        return False
    words = strange.unique()
    if share >= MOST_NUMBERS or (share > 0.5 and len(words) <= FEW_WORDS):
        return True
    return bool(words.str.to_lowercase().is_in(list(patterns.MISSING_WORDS)).all())


def _stray(
    cells: pl.Series, is_stray: pl.Series, look: Look, place: Callable[[int], str]
) -> InvalidDataError:
    rows = np.flatnonzero(is_stray.to_numpy())
    word, column = cells[int(rows[0])], cells.name
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return InvalidDataError(
        f"{place(int(rows[0]))}: the column holds {look.name}, but this cell{more} does not: "
        f"{word!r}. If it stands for a missing value, say so (--na-values {word!r}, na_values=); "
        f"if the column is text, say so (--categorical {column!r}, text_columns=)."
    )


def _numbers(cells: pl.Series, mark: str) -> Typed:
    if cells.drop_nulls().str.contains(patterns.WHOLE).all():
        whole = cells.cast(pl.Int64, strict=False)
        if whole.null_count() == cells.null_count():
            return Typed(whole, Whole())
    plain = cells if mark == "." else cells.str.replace(mark, ".", literal=True)
    values = plain.cast(pl.Float64, strict=False)
    values = values.set(values.is_infinite(), None)
    seen = plain.drop_nulls()
    decimals = int(seen.str.extract(r"\.(\d+)").str.len_chars().max() or 0)  # type: ignore[arg-type]
    has_exponents = seen.str.contains("[eE]").any()
    return Typed(values, Scientific(decimals, mark) if has_exponents else Fixed(decimals, mark))


def _truths(cells: pl.Series) -> Typed:
    is_true = cells.str.to_lowercase() == "true"
    yes, no = _usual(cells.filter(is_true)), _usual(cells.filter(~is_true))
    style = Truth(yes or _like(no, "true"), no or _like(yes, "false"))
    return Typed(is_true.alias(cells.name), style)


def _usual(words: pl.Series) -> str:
    """The most frequent spelling; the first in the alphabet of equally frequent ones."""
    modes = words.drop_nulls().mode().sort()
    return str(modes[0]) if len(modes) else ""


def _like(example: str, word: str) -> str:
    """A word in the case of an example.

    >>> _like("TRUE", "false"), _like("True", "false")
    ('FALSE', 'False')
    """
    if example.isupper():
        return word.upper()
    return word.title() if example.istitle() else word


def _days(cells: pl.Series) -> Typed:
    return Typed(cells.str.to_date("%Y-%m-%d", strict=False), Day())


def _moments(cells: pl.Series) -> Typed:
    seen = cells.drop_nulls()
    in_utc = seen.str.ends_with("Z").all()
    plain = cells.str.replace("T", " ", literal=True)
    if in_utc:
        plain = plain.str.strip_suffix("Z")
    full = plain.str.replace(r"^(.{16})$", "$1:00")
    values = full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    if in_utc:
        values = values.dt.replace_time_zone("UTC")
    decimals = int(seen.str.extract(r"\.(\d+)").str.len_chars().max() or 0)  # type: ignore[arg-type]
    style = Moment(
        between=_usual(seen.str.slice(10, 1)),
        has_seconds=bool(seen.str.contains(r":\d\d:").any()),
        decimals=min(decimals, 6),
        end="Z" if in_utc else "",
    )
    return Typed(values, style)
