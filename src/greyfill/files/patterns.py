"""What the text of a cell looks like: a number, a truth, a date, or none of them."""

import polars as pl

BLANKS = " \t"
"""Blanks around a cell do not count when its type is told."""

LONGEST_WHOLE = 18
"""Longer whole numbers do not fit 64 bits: they are identifiers."""

TRUTH = r"^(?i:true|false)$"
DAY = r"^\d{4}-\d\d-\d\d$"
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


def moment(end: str) -> str:
    """The pattern of dates with times and this end."""
    return rf"^\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{{1,9}})?)?{end}$"


def with_mark(mark: str) -> str:
    """The pattern of plain numbers that show this decimal mark."""
    return rf"^[+-]?[0-9]*[{mark}][0-9]+$"


def bare(cells: pl.Series) -> pl.Series:
    """The cells without blanks around them."""
    return cells.str.strip_chars(BLANKS)
