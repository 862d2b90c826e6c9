"""The rows of a CSV text: its cells as a grid, cut from a text that comes in blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.files.dialect import Header
from greyfill.files.guesses import Guess
from greyfill.files.inputs import CR, LF, NoRowsError
from greyfill.files.tokens import (
    QUOTE,
    Offsets,
    Tokens,
    complete_tokens,
    contents,
    tokenize,
)
from greyfill.table import Bools, Ints
from greyfill.text import plural

NEEDED = "It needs a line of column names and rows."


@dataclass(frozen=True, eq=False)
class CellGrid:
    """Column names, and for each row and column the span of its cell in the body.

    The body is a text or a part of it that ends with a row; ``line`` is the number of its first
    line. Empty lines are no rows, except in a table of one column, where they are holes. The cells
    that a short row lacks are empty and at its end; ``short`` has the first of them for each row.
    Cells behind the last name are no part of the grid: ``n_trailing`` rows have empty ones,
    ``long`` has the number of cells of rows that have others.
    ``header_end`` is where the names end, in the part that has them.
    """

    file: str
    body: bytes
    names: tuple[str, ...]
    starts: Offsets
    ends: Offsets
    newline: int
    line: int = 1
    short: dict[int, int] = field(default_factory=dict)
    long: dict[int, int] = field(default_factory=dict)
    n_trailing: int = 0
    header_end: int | None = None

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.starts)

    def texts(self, column: int) -> list[str]:
        """The cells of one column, without quotes."""
        return contents(self.body, self.starts[:, column], self.ends[:, column])

    def in_quotes(self) -> Bools:
        """Which cells begin with a quote."""
        body = np.frombuffer(self.body + b"\0", dtype=np.uint8)
        return np.asarray(body[self.starts] == QUOTE)

    def lines(self) -> Ints:
        """The line in which each row begins."""
        ends = np.flatnonzero(np.frombuffer(self.body, dtype=np.uint8) == self.newline)
        return self.line + np.searchsorted(ends, self.starts[:, 0])

    def lone_returns(self) -> Ints:
        """The lines with a CR outside quotes that neither ends a line nor stands before an LF."""
        if self.newline == CR or self.body.count(b"\r") == self.body.count(b"\r\n"):
            return np.empty(0, dtype=np.intp)
        body = np.frombuffer(self.body + b"\n", dtype=np.uint8)
        is_open = np.cumsum(body == QUOTE) % 2 == 1
        places = np.flatnonzero((body[:-1] == CR) & (body[1:] != LF) & ~is_open[:-1])
        ends = np.flatnonzero(body == LF)
        return self.line + np.unique(np.searchsorted(ends, places))

    def place(self, row: int, column: int) -> str:
        """Where a cell is, for a message."""
        line = self.line + self.body.count(self.newline, 0, int(self.starts[row, column]))
        return f"{self.file}, line {line}, column {self.names[column]!r}"


@dataclass
class RowWidths:
    """How many rows have more or fewer cells than there are names, or a doubtful line end."""

    n_short: int = 0
    n_returns: int = 0
    first_return: int = 0
    n_trailing: int = 0
    n_long: int = 0
    first_long: tuple[int, int, int] = (0, 0, 0)
    """The line of the first row with too many cells, how many they are, and the names."""

    def add(self, grid: CellGrid) -> None:
        """Count the rows of one more part."""
        self.n_short += len(grid.short)
        self.n_trailing += grid.n_trailing
        returns = grid.lone_returns()
        self.first_return = self.first_return or int(next(iter(returns), 0))
        self.n_returns += len(returns)
        for row, width in list(grid.long.items())[: not self.n_long]:
            self.first_long = int(grid.lines()[row]), width, len(grid.names)
        self.n_long += len(grid.long)

    def guesses(self, ragged: bool) -> Iterator[Guess]:
        """What was made of such rows; of those with too many cells, if they were expected."""
        if self.n_returns:
            others = self.n_returns - 1
            more = f" and {plural(others, 'more line')}" if others else ""
            text = f"A carriage return alone in line {self.first_return}{more}: taken as a letter."
            yield Guess("returns", text, "If it ends a row, write all line ends alike first.")
        if self.n_short:
            rows = plural(self.n_short, "row has", "rows have")
            text = f"{rows} fewer cells than the header; those at the end are missing."
            yield Guess("rows", text, "If they are not: --strict names the first line.")
        if self.n_trailing:
            rows = plural(self.n_trailing, "row has", "rows have")
            text = f"{rows} empty cells behind the last column, which are kept as they are."
            yield Guess("rows", text)
        if self.n_long and ragged:
            text = (
                f"{self.long_rows}: those behind the last name are kept as they are and not used."
            )
            yield Guess("rows", text, "If a cell holds the delimiter, put it in quotes.")

    @property
    def long_rows(self) -> str:
        """The rows with too many cells, in words."""
        line, cells, names = self.first_long
        more = f", and {plural(self.n_long - 1, 'more row', 'more rows')} like it"
        return (
            f"Line {line} has {cells} cells under {plural(names, 'name')}{more * (self.n_long > 1)}"
        )


def lay_out_parts(
    blocks: Iterable[bytes],
    delimiter: str,
    newline: int,
    file: str,
    header: Header | None = None,
    line: int = 1,
) -> Iterator[CellGrid]:
    r"""Cut a text that comes in blocks into parts that end with a row, the header in the first.

    A part may have no row, if it holds empty lines only.

    >>> parts = lay_out_parts([b'a,b\n1,', b'2\n3,', b'\n'], ",", 10, "small.csv")
    >>> [part.texts(1) for part in parts]
    [[], ['2'], ['']]
    """
    names: tuple[str, ...] = ()
    header = header or Header()
    n_rows = 0
    for body, tokens in _whole_records(blocks, delimiter, newline):
        part = _Part(file, body, tokens, newline, line)
        first, header_end = 0, None
        if not names:
            if tokens.is_blank.all():
                part.refuse_unclosed()
                raise InvalidDataError(f"{file} has nothing but empty lines. {NEEDED}")
            top = int(np.argmin(tokens.is_blank))
            names, first = part.names(top, header), top + header.is_there
            header_end = int(tokens.ends[tokens.firsts[first] - 1]) if header.is_there else None
        grid = replace(part.grid(names, first, header), header_end=header_end)
        line, n_rows = line + body.count(newline), n_rows + grid.height
        yield grid
    if not names:
        raise InvalidDataError(f"{file} is empty. {NEEDED}")
    if not n_rows:
        raise NoRowsError(f"{file} has column names but no rows.", names)


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
            tokens, end = complete_tokens(tokens, pending, newline)
        started = started or not tokens.is_blank.all() or tokens.unclosed >= 0
        if end and (is_last or (started and len(tokens.firsts) > 1)):
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


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a text and its cells, which may not be a table yet."""

    file: str
    body: bytes
    tokens: Tokens
    newline: int
    line: int

    def names(self, top: int, header: Header) -> tuple[str, ...]:
        """The column names in a record, each once."""
        tokens = self.tokens
        cells = slice(int(tokens.firsts[top]), int(tokens.firsts[top + 1]))
        texts = contents(self.body, tokens.starts[cells], tokens.ends[cells])
        return header.names(texts, self._line_at(tokens.starts[cells.start]))

    def grid(self, names: tuple[str, ...], first: int, header: Header) -> CellGrid:
        """The rows from a record on: short ones get empty cells, long ones are cut if they may."""
        tokens, width = self.tokens, len(names)
        is_row = (width == 1) | ~tokens.is_blank[first:]
        is_row[self._void(first)] = False
        is_short = is_row & (tokens.widths[first:] < width)
        is_long = is_row & (tokens.widths[first:] > width)
        n_trailing = 0
        if is_long.any() and not header.is_strict:
            is_surplus = self._has_surplus(first + np.flatnonzero(is_long), width)
            n_trailing = int((~is_surplus).sum())
            is_long[is_long] = is_surplus
        may_be_short = not header.is_strict and width > 1
        is_ragged = is_short & (not may_be_short) | is_long & (not header.ragged)
        self._refuse_ragged(first + np.flatnonzero(is_ragged), width)
        self.refuse_unclosed()  # after what is wrong before it, as a reader of batches finds it
        short: dict[int, int] = {}
        long: dict[int, int] = {}
        if is_row.all() and (tokens.widths[first:] == width).all():  # without an index of all cells
            begin = int(tokens.firsts[first])
            spans = [part[begin:].reshape(-1, width) for part in (tokens.starts, tokens.ends)]
        else:
            widths = tokens.widths[first:][is_row][:, None]
            heads, places = tokens.firsts[first:-1][is_row][:, None], np.arange(width)
            cells = heads + np.minimum(places, widths - 1)
            ends = tokens.ends[cells]
            spans = [np.where(places < widths, tokens.starts[cells], ends), ends]
            short, long = (
                {int(row): int(widths[row, 0]) for row in np.flatnonzero(which[is_row])}
                for which in (is_short, is_long)
            )
        grid = CellGrid(
            self.file, self.body, names, spans[0], spans[1], self.newline, self.line, short,
            long, n_trailing,
        )  # fmt: skip
        if header.is_strict and len(returns := grid.lone_returns()):
            raise InvalidDataError(
                f"{self.file}, line {returns[0]}: a carriage return alone may end a row or not. "
                "Write all line ends alike."
            )
        return grid

    def _void(self, first: int) -> list[int]:
        """Lines of zero bytes, as a file has that was cut off while it was written."""
        if b"\0" not in self.body:
            return []
        tokens, body = self.tokens, self.body
        heads = tokens.firsts[first:-1]
        alone = np.flatnonzero(tokens.widths[first:] == 1)
        spans = zip(alone, tokens.starts[heads[alone]], tokens.ends[heads[alone]], strict=True)
        return [int(n) for n, a, b in spans if b > a and not body[a:b].strip(b"\0")]

    def _has_surplus(self, records: Ints, width: int) -> Bools:
        """Which of some long records have more than empty cells behind the last name."""
        tokens, counts = self.tokens, self.tokens.widths[records] - width
        owners = np.repeat(np.arange(len(records)), counts)
        steps = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        cells = tokens.firsts[records][owners] + width + steps
        texts = contents(self.body, tokens.starts[cells], tokens.ends[cells])
        is_full = np.array([bool(text.strip()) for text in texts])
        return np.asarray(np.bincount(owners, weights=is_full) > 0)

    def refuse_unclosed(self) -> None:
        """A quote that nothing closes would swallow the rest of the file."""
        if self.tokens.unclosed >= 0:
            raise InvalidDataError(
                f"{self._line_at(self.tokens.unclosed)}: a quote opens here and "
                'nothing closes it. Close it, or write a quote inside a cell as "".'
            )

    def _refuse_ragged(self, ragged: Ints, width: int) -> None:
        if not len(ragged):
            return
        tokens, record = self.tokens, ragged[0]
        is_long = tokens.widths[record] > width
        cut = (
            f" --ragged reads the first {width} of such rows and keeps the rest." if is_long else ""
        )
        raise InvalidDataError(
            f"{self._line_at(tokens.starts[tokens.firsts[record]])}: expected {width} cells as in "
            f"the header, found {tokens.widths[record]}. Put cells that hold the delimiter in "
            "quotes, or name another delimiter (--delimiter)." + cut
        )

    def _line_at(self, offset: int) -> str:
        """The file and the number of the line at an offset, as an editor counts."""
        return f"{self.file}, line {self.line + self.body.count(self.newline, 0, int(offset))}"
