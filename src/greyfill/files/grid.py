"""The cells of a CSV text as rows and columns, each known by where it lies."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.files.tokens import Offsets, Tokens, contents, tokenize
from greyfill.table import Bools, Ints


@dataclass(frozen=True, eq=False)
class Grid:
    """Column names, and for each row and column the span of its cell in the body.

    The body is a text or a part of it that ends with a row; ``line`` is the number of its first
    line. Empty lines are no rows, except in a table of one column, where they are holes.
    """

    file: str
    body: bytes
    names: tuple[str, ...]
    starts: Offsets
    ends: Offsets
    newline: int
    line: int = 1

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.starts)

    def texts(self, column: int) -> list[str]:
        """The cells of one column, without quotes."""
        return contents(self.body, self.starts[:, column], self.ends[:, column])

    def place(self, row: int, column: int) -> str:
        """Where a cell is, for a message."""
        line = self.line + self.body.count(self.newline, 0, int(self.starts[row, column]))
        return f"{self.file}, line {line}, column {self.names[column]!r}"


def lay_out_parts(
    blocks: Iterable[bytes], delimiter: str, newline: int, file: str
) -> Iterator[Grid]:
    r"""Cut a text that comes in blocks into parts that end with a row, the header in the first.

    A part may have no row, if it holds empty lines only.

    >>> parts = lay_out_parts([b'a,b\n1,', b'2\n3,', b'\n'], ",", 10, "small.csv")
    >>> [part.texts(1) for part in parts]
    [[], ['2'], ['']]
    """
    names: tuple[str, ...] = ()
    line, n_rows = 1, 0
    for body, tokens in _whole_records(blocks, delimiter, newline):
        part = _Part(file, body, tokens, newline, line)
        if not names and not len(part.rows):
            part.refuse_unclosed()
        header = -1 if names else part.header
        names = names or part.names(header)
        grid = part.grid(names, header + 1)
        line, n_rows = line + body.count(newline), n_rows + grid.height
        yield grid
    if not names:
        raise InvalidDataError(f"{file} is empty. It needs a line of column names and rows.")
    if not n_rows:
        raise InvalidDataError(f"{file} has column names but no rows.")


def _whole_records(
    blocks: Iterable[bytes], delimiter: str, newline: int
) -> Iterator[tuple[bytes, Tokens]]:
    """Blocks joined and cut such that each ends with a record; the first has one that is not empty.

    A record that is longer than a block makes the blocks grow, each time to twice the size.
    """
    started, pending, enough = False, b"", 0
    for block, is_last in _with_last(blocks):
        pending += block
        if len(pending) < enough and not is_last:
            continue
        tokens = tokenize(pending, delimiter, newline)
        end = len(pending)
        if not is_last:
            tokens, end = _complete(tokens, pending, newline)
        started = started or not _is_blank(tokens).all() or tokens.unclosed >= 0
        if started and (len(tokens.firsts) > 1 or is_last) and end:
            yield pending[:end], tokens
            pending, enough = pending[end:], 0
        else:
            enough = 2 * len(pending)


def _with_last(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The blocks that are not empty, each with whether it is the last."""
    previous = b""
    for block in filter(None, blocks):
        if previous:
            yield previous, False
        previous = block
    yield previous, True


def _complete(tokens: Tokens, body: bytes, newline: int) -> tuple[Tokens, int]:
    """The records whose end is in the body, and where the last of them ends."""
    firsts = tokens.firsts
    if tokens.unclosed < 0 and (not body or body[-1] == newline):
        return tokens, len(body)
    if tokens.unclosed < 0:
        firsts = firsts[:-1]
    n_cells = int(firsts[-1])
    rest = int(tokens.starts[n_cells]) if n_cells < len(tokens.starts) else tokens.unclosed
    return Tokens(tokens.starts[:n_cells], tokens.ends[:n_cells], firsts, -1), rest


def _is_blank(tokens: Tokens) -> Bools:
    heads = tokens.firsts[:-1]
    is_single = np.diff(tokens.firsts) == 1
    return np.asarray(is_single & (tokens.starts[heads] == tokens.ends[heads]))


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a text and its cells, not yet known to be a table."""

    file: str
    body: bytes
    tokens: Tokens
    newline: int
    line: int

    @property
    def rows(self) -> Ints:
        """The records that are not blank."""
        return np.flatnonzero(~_is_blank(self.tokens))

    @property
    def header(self) -> int:
        """The record with the column names."""
        return int(np.argmin(_is_blank(self.tokens)))

    def names(self, header: int) -> tuple[str, ...]:
        """The column names, each once."""
        tokens = self.tokens
        cells = slice(int(tokens.firsts[header]), int(tokens.firsts[header + 1]))
        names = tuple(contents(self.body, tokens.starts[cells], tokens.ends[cells]))
        _refuse_duplicates(names, self._line_of(int(tokens.starts[cells.start])), self.file)
        return names

    def grid(self, names: tuple[str, ...], first: int) -> Grid:
        """The rows from a record on, which all must have as many cells as there are names."""
        tokens, width = self.tokens, len(names)
        counts = np.diff(tokens.firsts)[first:]
        is_row = np.ones(len(counts), dtype=bool) if width == 1 else ~_is_blank(tokens)[first:]
        self._refuse_ragged(first + np.flatnonzero(is_row & (counts != width)), width)
        self.refuse_unclosed()  # after what is wrong before it, as a reader of batches finds it
        if is_row.all():  # the usual case, without an index of all cells
            begin = int(tokens.firsts[first])
            spans = [part[begin:].reshape(-1, width) for part in (tokens.starts, tokens.ends)]
        else:
            cells = tokens.firsts[first:-1][is_row][:, None] + np.arange(width)
            spans = [tokens.starts[cells], tokens.ends[cells]]
        return Grid(self.file, self.body, names, spans[0], spans[1], self.newline, self.line)

    def refuse_unclosed(self) -> None:
        """A quote that nothing closes would swallow the rest of the file."""
        if self.tokens.unclosed >= 0:
            raise InvalidDataError(
                f"{self.file}, line {self._line_of(self.tokens.unclosed)}: a quote opens here and "
                'nothing closes it. Close it, or write a quote inside a cell as "".'
            )

    def _refuse_ragged(self, ragged: Ints, width: int) -> None:
        if not len(ragged):
            return
        firsts = self.tokens.firsts
        found = int(firsts[ragged[0] + 1] - firsts[ragged[0]])
        line = self._line_of(int(self.tokens.starts[firsts[ragged[0]]]))
        raise InvalidDataError(
            f"{self.file}, line {line}: expected {width} cells as in the header, found {found}. "
            "Put cells that hold the delimiter in quotes, or name another delimiter (--delimiter)."
        )

    def _line_of(self, offset: int) -> int:
        """The number of the line at an offset, as an editor counts."""
        return self.line + self.body.count(self.newline, 0, offset)


def _refuse_duplicates(names: tuple[str, ...], line: int, file: str) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        places = ", ".join(str(j + 1) for j, other in enumerate(names) if other == name)
        raise InvalidDataError(
            f"{file}, line {line}: the column name {name!r} appears {count} times "
            f"(columns {places}). Give each column a name of its own."
        )
