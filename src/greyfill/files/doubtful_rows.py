"""Rows that are perhaps none of the table: those without any value, and remarks below the last one.

Spreadsheets write rows of delimiters where cells were used once, and people write below a table
where it comes from. A fill makes cases of them that never were, so they are told.
"""

from collections.abc import Callable, Iterator

import polars as pl

from greyfill.text import Note, clean, plural

FEWEST_COLUMNS = 3
"""With two columns a row that has one value, or none, may be a row like others."""

MOST_SHOWN = 5


def notes_on_rows(frame: pl.DataFrame, place: Callable[[int, str], str]) -> Iterator[Note]:
    """What the user should know of such rows; ``place`` tells where a cell is.

    >>> cells = {"id": ["p1", None, "* at home"], "a": [1, None, None], "b": [3, None, None]}
    >>> for note in notes_on_rows(pl.DataFrame(cells), lambda row, column: f"row {row}, column b"):
    ...     print(note)
    1 row holds nothing at all (row 1). If it is none of the table, delete it: ...
    1 row at the end holds only '* at home' (row 2). If it is none of the table, delete it: ...
    """
    if frame.width < FEWEST_COLUMNS:
        return
    n_seen = pl.select(pl.sum_horizontal(c.is_not_null() for c in frame)).to_series()
    empty = (n_seen == 0).arg_true().to_list()
    alone = (n_seen == 1).arg_true().to_list()
    if empty and len(empty) < frame.height:
        yield _note(empty, "", "nothing at all", frame, place)
    end = len(n_seen) - int((n_seen > 1).reverse().arg_max() or 0)
    texts = [_only_text(frame, row) for row in alone[:MOST_SHOWN]]
    if all(texts) and end <= min(alone, default=0):
        shown = ", ".join(repr(clean(text, 40)) for text in texts)
        yield _note(alone, " at the end", f"only {shown}", frame, place)


def _only_text(frame: pl.DataFrame, row: int) -> str:
    """The only value of a row, if it is a text."""
    (value,) = (value for value in frame.row(row) if value is not None)
    return value if isinstance(value, str) else ""


def _note(
    found: list[int], end: str, what: str, frame: pl.DataFrame, place: Callable[[int, str], str]
) -> Note:
    rows, first = plural(len(found), "row"), place(found[0], frame.columns[0])
    first = first.rpartition(", column")[0]
    one = f"{rows}{end} holds {what} ({first}). If it is none of the table, delete it: it is"
    many = (
        f"{rows}{end} hold {what} (the first: {first}). If they are none of the table, delete "
        "them: they are"
    )
    return Note(f"{one if len(found) == 1 else many} filled like the others.", "doubtful rows")
