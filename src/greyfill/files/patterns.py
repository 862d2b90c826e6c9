"""What the text of a cell looks like: a number, a truth, a date, or none of them."""

import polars as pl

from greyfill.exceptions import InvalidParameterError

BLANKS = " \t"
"""Blanks around a cell do not count when its type is told."""

LONGEST_WHOLE = 18
"""Longer whole numbers do not fit 64 bits: they are identifiers."""

TRUTH = r"^(?i:true|false)$"
DAY = r"^\d{4}-\d\d-\d\d$"
MOMENT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z?$"
WHOLE = r"^[+-]?[0-9]+$"
IDENTIFIER = rf"^([+-]?0[0-9]+|[+-]?[0-9]{{{LONGEST_WHOLE + 1},}})$"

MISSING_WORDS = frozenset(
    ("?", "*", "-", "--", ".", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "null", "none",
     "nil", "missing", "unknown", "undefined")
)  # fmt: skip
"""Words that often stand for a missing value, in small letters."""

DOUBTFUL_WORDS = MISSING_WORDS - {"none", "unknown"}
"""Those of them that are hardly ever a category of their own."""


def number(mark: str) -> str:
    """The pattern of numbers with this decimal mark."""
    point = {".": r"\.", ",": ","}[mark]
    return rf"^[+-]?([0-9]+({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$"


def with_mark(mark: str) -> str:
    """The pattern of plain numbers that show this decimal mark."""
    return rf"^[+-]?[0-9]*[{mark}][0-9]+$"


def bare(cells: pl.Series) -> pl.Series:
    """The cells without blanks around them."""
    return cells.str.strip_chars(BLANKS)


def decimal_mark(columns: list[pl.Series], delimiter: str, given: str | None = None) -> str:
    """The decimal mark of a file: the given one, else the one that more numbers show.

    A comma is only thought of where it does not stand between cells.

    >>> decimal_mark([pl.Series(["1,5", "2"])], ";"), decimal_mark([pl.Series(["1,5"])], ",")
    (',', '.')
    """
    if given is not None:
        if given not in (".", ","):
            raise InvalidParameterError(f"The decimal mark must be . or , and not {given!r}.")
        return given
    if delimiter == ",":
        return "."
    commas = sum(_count(column, with_mark(",")) for column in columns)
    return "," if commas > sum(_count(column, with_mark(".")) for column in columns) else "."


def _count(column: pl.Series, pattern: str) -> int:
    return int(bare(column).str.contains(pattern).sum() or 0)
