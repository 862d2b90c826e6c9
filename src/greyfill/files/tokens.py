"""The cells of a CSV text: where they start and end, what is between them, and their grid.

A cell that begins with a quote runs to its closing quote, and from there to the next delimiter or
line end; a doubled quote inside stands for one. Quotes elsewhere are letters. A line ends with
LF or CRLF, or with CR in a text that has no LF. `tokenize` and `contents` work on bytes, compiled
where there are many; their slow twins are beside their tests. `find_delimiter` tells what stands
between two cells, and `lay_out_parts` cuts a text into grids of whole rows.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files.inputs import CR, LF
from greyfill.table import Bools, Ints

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

QUOTE = 34

SMALL = 2**15
"""Up to so many bytes Python itself is quicker than a compiler that has not compiled yet."""

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = SMALL
"""So many bytes from the start tell the delimiter."""


class Tokens(NamedTuple):
    """Cell f is ``body[starts[f]:ends[f]]``; record r has the cells firsts[r] … firsts[r+1] − 1.

    ``unclosed`` is the offset of a quote that nothing closes, else −1.
    """

    starts: Offsets
    ends: Offsets
    firsts: Offsets
    unclosed: int

    @property
    def widths(self) -> Ints:
        """The number of cells of each record."""
        return np.diff(self.firsts)

    @property
    def is_blank(self) -> Bools:
        """Which records are empty lines."""
        heads = self.firsts[:-1]
        return np.asarray((self.widths == 1) & (self.starts[heads] == self.ends[heads]))


def tokenize(body: bytes, delimiter: str, newline: int | None = None) -> Tokens:
    r"""Find the cells of a text; in a part of a text the byte that ends a line must be given.

    >>> tokens = tokenize(b'a,b\n1,"x, y"\n', ",")
    >>> tokens.starts.tolist(), tokens.ends.tolist(), tokens.firsts.tolist()
    ([0, 2, 4, 6], [1, 3, 5, 12], [0, 2, 4])
    """
    end = line_end(body) if newline is None else newline
    if len(body) <= SMALL:
        return Tokens(*_tokenize_bytes(body, ord(delimiter), end))
    compiled, _ = _compiled()
    return Tokens(*compiled(np.frombuffer(body, dtype=np.uint8), ord(delimiter), end))


def line_end(body: bytes) -> int:
    """The byte that ends a line."""
    return CR if b"\r" in body and b"\n" not in body else LF


def contents(body: bytes, starts: Offsets, ends: Offsets) -> list[str]:
    """The text of some cells, without quotes.

    >>> contents(b'7,"a ""b"" c"', np.array([0, 2]), np.array([1, 13]))
    ['7', 'a "b" c']
    """
    if not len(starts):
        return []
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    if len(body) <= SMALL:
        joined: Bytes = _join_contents(body, starts, ends)
    else:
        _, join = _compiled()
        joined = join(np.frombuffer(body, dtype=np.uint8), starts, ends)
    return joined.tobytes().decode().split("\0")


def _tokenize_bytes(data: Any, delimiter: int, newline: int) -> Any:
    n = len(data)
    most = 1
    for i in range(n):
        if data[i] == delimiter or data[i] == newline:
            most += 1
    starts = np.empty(most, dtype=np.int64)
    ends = np.empty(most, dtype=np.int64)
    firsts = np.zeros(most + 1, dtype=np.int64)
    fields = records = i = 0
    inside = False  # a record has begun, so another cell must follow even at the end
    while i < n or inside:
        start = i
        if i < n and data[i] == QUOTE:
            i += 1
            while i < n and (data[i] != QUOTE or (i + 1 < n and data[i + 1] == QUOTE)):
                i += 2 if data[i] == QUOTE else 1
            if i >= n:
                return starts[:fields], ends[:fields], firsts[: records + 1], start
        while i < n and data[i] != delimiter and data[i] != newline:
            i += 1
        end = i
        inside = i < n and data[i] == delimiter
        if i < n and not inside and newline == LF and end > start and data[end - 1] == CR:
            end -= 1
        starts[fields], ends[fields] = start, end
        fields += 1
        i += 1
        if not inside:
            records += 1
            firsts[records] = fields
    return starts[:fields], ends[:fields], firsts[: records + 1], -1


def _join_contents(data: Any, starts: Any, ends: Any) -> Any:
    """The cells without quotes, one after another, with a zero byte between two."""
    size = starts.size
    for f in range(starts.size):
        size += ends[f] - starts[f]
    out = np.empty(size, dtype=np.uint8)
    w = 0
    for f in range(starts.size):
        if f > 0:
            out[w] = 0
            w += 1
        i, end = starts[f], ends[f]
        quoted = i < end and data[i] == QUOTE
        i += 1 if quoted else 0
        while i < end:
            if quoted and data[i] == QUOTE:
                quoted = i + 1 < end and data[i + 1] == QUOTE
                i += 1
                if not quoted:
                    continue
            out[w] = data[i]
            w += 1
            i += 1
    return out[:w]


@cache
def _compiled() -> tuple[Any, Any]:
    """Both, compiled: numba takes its time to load, and small files do without."""
    from greyfill._search.jit import exact

    return exact(_tokenize_bytes), exact(_join_contents)


def find_delimiter(body: bytes, given: str | None = None) -> str:
    r"""The given delimiter, or the usual one that cuts the first lines into equally many cells.

    One that cuts the header wins over one that does not; a text that none cuts has one column.

    >>> find_delimiter(b"a;b\n1,5;2\n"), find_delimiter(b"a\tb\n"), find_delimiter(b"a\n1\n")
    (';', '\t', ',')
    """
    if given is not None:
        given = {"\\t": "\t", "tab": "\t"}.get(given, given)  # as one writes it in a shell
        if len(given) == 1 and given.isascii() and given not in '"\r\n\0' and not given.isalnum():
            return given
        raise InvalidParameterError(
            f"The delimiter must be one character such as , ; | or a tab, not {given!r}."
        )
    sample = body[:SAMPLE]
    scores = [_score(tokenize(sample, c), len(body) > SAMPLE) for c in DELIMITERS]
    return DELIMITERS[scores.index(max(scores))]


def _score(tokens: Tokens, is_cut: bool) -> tuple[bool, float, int]:
    """Whether the header is cut, the share of lines with as many cells, and how many they are."""
    last = -1 if is_cut and len(tokens.firsts) > 2 else None  # the sample may end in mid record
    widths = tokens.widths[:last][~tokens.is_blank[:last]]
    if not len(widths):
        return False, 0.0, 0
    width = int(widths[0])
    return width > 1, float((widths == width).mean()), width


def quoted_if_needed(text: str, delimiter: str, *, always: bool = False) -> str:
    """One cell as CSV writes it: in quotes if it could not be read back without.

    >>> quoted_if_needed("x, y", ","), quoted_if_needed("x, y", ";")
    ('"x, y"', 'x, y')
    """
    if always or any(c in text for c in (delimiter, chr(QUOTE), "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


@dataclass(frozen=True, eq=False)
class CellGrid:
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

    def lines(self) -> NDArray[np.intp]:
        """The line in which each row begins."""
        ends = np.flatnonzero(np.frombuffer(self.body, dtype=np.uint8) == self.newline)
        return self.line + np.searchsorted(ends, self.starts[:, 0])

    def place(self, row: int, column: int) -> str:
        """Where a cell is, for a message."""
        line = self.line + self.body.count(self.newline, 0, int(self.starts[row, column]))
        return f"{self.file}, line {line}, column {self.names[column]!r}"


def lay_out_parts(
    blocks: Iterable[bytes], delimiter: str, newline: int, file: str
) -> Iterator[CellGrid]:
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
        first = 0
        if not names:
            if tokens.is_blank.all():
                part.refuse_unclosed()
            header = int(np.argmin(tokens.is_blank))
            names, first = part.names(header), header + 1
        grid = part.grid(names, first)
        line, n_rows = line + body.count(newline), n_rows + grid.height
        yield grid
    if not names:
        raise InvalidDataError(f"{file} is empty. It needs a line of column names and rows.")
    if not n_rows:
        raise InvalidDataError(f"{file} has column names but no rows.")


def header_names(sample: bytes, delimiter: str, newline: int, file: str) -> tuple[str, ...]:
    r"""The column names, from the first bytes of a text; none if their line does not end there.

    >>> header_names(b"\na,b\n1,", ",", 10, "small.csv")
    ('a', 'b')
    """
    body = sample[:SAMPLE]
    tokens, _ = _complete(tokenize(body, delimiter, newline), body, newline)
    if tokens.is_blank.all():
        return ()
    return _Part(file, body, tokens, newline, 1).names(int(np.argmin(tokens.is_blank)))


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
        started = started or not tokens.is_blank.all() or tokens.unclosed >= 0
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


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a text and its cells, which may not be a table yet."""

    file: str
    body: bytes
    tokens: Tokens
    newline: int
    line: int

    def names(self, header: int) -> tuple[str, ...]:
        """The column names in a record, each once."""
        tokens = self.tokens
        cells = slice(int(tokens.firsts[header]), int(tokens.firsts[header + 1]))
        names = tuple(contents(self.body, tokens.starts[cells], tokens.ends[cells]))
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            places = ", ".join(str(j + 1) for j, other in enumerate(names) if other == name)
            raise InvalidDataError(
                f"{self._line_at(tokens.starts[cells.start])}: the column name {name!r} appears "
                f"{count} times (columns {places}). Give each column a name of its own."
            )
        return names

    def grid(self, names: tuple[str, ...], first: int) -> CellGrid:
        """The rows from a record on, which all must have as many cells as there are names."""
        tokens, width = self.tokens, len(names)
        is_row = (width == 1) | ~tokens.is_blank[first:]
        self._refuse_ragged(
            first + np.flatnonzero(is_row & (tokens.widths[first:] != width)), width
        )
        self.refuse_unclosed()  # after what is wrong before it, as a reader of batches finds it
        if is_row.all():  # the usual case, without an index of all cells
            begin = int(tokens.firsts[first])
            spans = [part[begin:].reshape(-1, width) for part in (tokens.starts, tokens.ends)]
        else:
            cells = tokens.firsts[first:-1][is_row][:, None] + np.arange(width)
            spans = [tokens.starts[cells], tokens.ends[cells]]
        return CellGrid(self.file, self.body, names, spans[0], spans[1], self.newline, self.line)

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
        raise InvalidDataError(
            f"{self._line_at(tokens.starts[tokens.firsts[record]])}: expected {width} cells as in "
            f"the header, found {tokens.widths[record]}. Put cells that hold the delimiter in "
            "quotes, or name another delimiter (--delimiter)."
        )

    def _line_at(self, offset: int) -> str:
        """The file and the number of the line at an offset, as an editor counts."""
        return f"{self.file}, line {self.line + self.body.count(self.newline, 0, int(offset))}"
