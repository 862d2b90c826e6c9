"""Whatever a library raises while it converts a column, in words that name the column."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import narwhals as nw

from greyfill.exceptions import GreyfillError, InvalidDataError

CONVERT = "Convert the column to numbers, text, categories or dates, or drop it."
REPLACE = (
    "Replace that value, convert the column to numbers, text, categories or dates, or drop it."
)
TABLES = "Pass a frame of pandas, polars or pyarrow, an array of two dimensions, or a list of rows."
LONGEST = 60


@contextmanager
def refusing(what: str | Callable[[], str], remedy: str = CONVERT) -> Iterator[None]:
    """Turn what a library raises into an error that says what could not be done.

    >>> with refusing("Column 'a' cannot be read"):
    ...     float("x")
    Traceback (most recent call last):
    greyfill.exceptions.InvalidDataError: Column 'a' cannot be read (ValueError: could not ...
    """
    try:
        yield
    except BaseException as error:
        if not _is_refusal(error):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        words = what if isinstance(what, str) else what()
        raise InvalidDataError(f"{words} ({reason}). {remedy}") from error


def _is_refusal(error: BaseException) -> bool:
    """Whether a library could not do it; a panic of polars is no Exception."""
    if isinstance(error, GreyfillError | MemoryError | Warning):
        return False
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def read_or_refuse(read: Callable[[Any], Any], column: Any, name: str) -> Any:
    """Read a column, or name it and the first row that stands in the way."""
    with refusing(partial(_unreadable, read, column, name), REPLACE):
        return read(column)


def _unreadable(read: Callable[[Any], Any], column: Any, name: str) -> str:
    """Where a column ceases to be readable: the last row of its shortest unreadable beginning."""
    readable, unreadable = 0, len(column)
    while unreadable - readable > 1:
        middle = (readable + unreadable) // 2
        try:
            with refusing(""):
                read(column[:middle])
            readable = middle
        except InvalidDataError:
            unreadable = middle
    return f"Column {name!r} cannot be read: row {readable} holds {_cell(column, readable)}"


def _cell(column: Any, row: int) -> str:
    with suppress(Exception):
        return shown(column.to_list()[row] if isinstance(column, nw.Series) else column[row])
    return "a value that cannot be shown"


def shown(cell: Any) -> str:
    """A cell in a few characters, or its type: some texts are long, and some cells have none.

    >>> shown(2.5), shown("x" * 1000)
    ('2.5', 'a value of type str')
    """
    with suppress(Exception):
        text = repr(cell)
        if len(text) <= LONGEST:
            return text
    return f"a value of type {type(cell).__name__}"
