"""The cells of a CSV text as rows and columns, each known by where it lies."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.files.tokens import LF, Offsets, Tokens, contents, line_end, tokenize


@dataclass(frozen=True, eq=False)
class Grid:
    """Column names, and for each row and column the span of its cell in the body.

    Empty lines are no rows, except in a table of one column, where they are holes.
    """

    file: str
    body: bytes
    names: tuple[str, ...]
    starts: Offsets
    ends: Offsets

    def texts(self, column: int) -> list[str]:
        """The cells of one column, without quotes."""
        return contents(self.body, self.starts[:, column], self.ends[:, column])

    def place(self, row: int, column: int) -> str:
        """Where a cell is, for a message."""
        line = line_of(self.body, int(self.starts[row, column]))
        return f"{self.file}, line {line}, column {self.names[column]!r}"


def lay_out(body: bytes, delimiter: str, file: str) -> Grid:
    r"""Cut a text into cells and refuse what is no table.

    >>> lay_out(b'a,b\n1,2\n3,\n', ",", "small.csv").texts(1)
    ['2', '']
    """
    tokens = tokenize(body, delimiter)
    _refuse_unclosed(tokens, body, file)
    counts = np.diff(tokens.firsts)
    heads = tokens.firsts[:-1]
    is_blank = (counts == 1) & (tokens.starts[heads] == tokens.ends[heads])
    if is_blank.all():
        raise InvalidDataError(f"{file} is empty. It needs a line of column names and rows.")
    header = int(np.argmin(is_blank))
    width = int(counts[header])
    is_row = np.ones(len(counts), dtype=bool) if width == 1 else ~is_blank
    is_row[: header + 1] = False
    _refuse_ragged(tokens, counts, is_row, width, body, file)
    spans = slice(int(heads[header]), int(heads[header]) + width)
    names = tuple(contents(body, tokens.starts[spans], tokens.ends[spans]))
    _refuse_duplicates(names, line_of(body, int(tokens.starts[spans][0])), file)
    if not is_row.any():
        raise InvalidDataError(f"{file} has column names but no rows.")
    if is_row[header + 1 :].all():  # the usual case, without an index of all cells
        first = spans.stop
        starts, ends = (part[first:].reshape(-1, width) for part in (tokens.starts, tokens.ends))
        return Grid(file, body, names, starts, ends)
    cells = heads[is_row][:, None] + np.arange(width)
    return Grid(file, body, names, tokens.starts[cells], tokens.ends[cells])


def line_of(body: bytes, offset: int) -> int:
    """The number of the line at an offset, as an editor counts."""
    return body.count(b"\n" if line_end(body) == LF else b"\r", 0, offset) + 1


def _refuse_unclosed(tokens: Tokens, body: bytes, file: str) -> None:
    if tokens.unclosed >= 0:
        raise InvalidDataError(
            f"{file}, line {line_of(body, tokens.unclosed)}: a quote opens here and nothing closes "
            'it. Close it, or write a quote inside a cell as "".'
        )


def _refuse_ragged(
    tokens: Tokens, counts: Offsets, is_row: np.ndarray, width: int, body: bytes, file: str
) -> None:
    ragged = np.flatnonzero(is_row & (counts != width))
    if len(ragged):
        line = line_of(body, int(tokens.starts[tokens.firsts[ragged[0]]]))
        found = int(counts[ragged[0]])
        raise InvalidDataError(
            f"{file}, line {line}: expected {width} cells as in the header, found {found}. "
            "Put cells that hold the delimiter in quotes, or name another delimiter (--delimiter)."
        )


def _refuse_duplicates(names: tuple[str, ...], line: int, file: str) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        places = ", ".join(str(j + 1) for j, other in enumerate(names) if other == name)
        raise InvalidDataError(
            f"{file}, line {line}: the column name {name!r} appears {count} times "
            f"(columns {places}). Give each column a name of its own."
        )
