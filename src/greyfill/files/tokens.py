"""The cells of a CSV text: where they start and end.

A cell that begins with a quote runs to its closing quote, and from there to the next delimiter or
line end; a doubled quote inside stands for one. Quotes elsewhere are letters. A line ends with
LF or CRLF, or with CR in a text that has no LF. `tokenize` and `contents` work on bytes: by numpy
where quotes stand around cells only, else compiled if there are many; their slow twins are beside
their tests. `cell_grid` makes rows of them.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greyfill.files.inputs import CR, LF
from greyfill.files.sample import BLANKS, line_end, word_spans
from greyfill.table import Bools, Ints

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

QUOTE = 34

SMALL = 2**15
"""Up to so many bytes Python itself is quicker than a compiler that has not compiled yet."""

NO_LETTER = 255
"""A byte that no UTF-8 has: it stands between cells of a text that has zero bytes."""


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
    if delimiter == BLANKS:
        return _tokenize_words(body, end)
    data = np.frombuffer(body, dtype=np.uint8)
    found = _tokenize_tidy(data, ord(delimiter), end) if body else None
    if found is not None:
        return found
    if len(body) <= SMALL:
        return Tokens(*_tokenize_bytes(body, ord(delimiter), end))
    compiled, _ = _compiled()
    return Tokens(*compiled(data, ord(delimiter), end))


def _tokenize_tidy(data: Bytes, delimiter: int, newline: int) -> Tokens | None:
    """Cells of a text whose quotes open at the start of cells only, so that no compiler is needed.

    None of any other text. A mark ends a cell after an even number of quotes: a doubled quote
    closes and opens at once.
    """
    n, is_quote = len(data), data == QUOTE
    is_mark = (data == delimiter) | (data == newline)
    parity = np.cumsum(is_quote, dtype=np.uint8)  # wraps, which keeps it odd or even
    parity &= 1
    is_open = parity.view(np.bool_)
    is_mark &= ~is_open
    opens = np.flatnonzero(is_quote & is_open)
    before = opens[opens > 0] - 1
    if not (is_mark[before] | is_quote[before]).all():
        return None
    marks = np.flatnonzero(is_mark)
    is_end = data[marks] == newline
    unclosed = -1
    if is_open[-1]:
        unclosed = int(marks[-1]) + 1 if len(marks) else 0
    elif data[-1] != newline:
        marks, is_end = np.append(marks, n), np.append(is_end, True)
    starts = np.append(0, marks[:-1] + 1)
    ends = marks.copy()
    if newline == LF:
        before = np.maximum(marks - 1, 0)
        ends -= is_end & (marks < n) & (marks > starts) & (data[before] == CR)
    firsts = np.append(0, np.flatnonzero(is_end) + 1)
    n_cells = len(marks) if unclosed >= 0 else int(firsts[-1])
    return Tokens(starts[:n_cells], ends[:n_cells], firsts, unclosed)


def _tokenize_words(body: bytes, newline: int) -> Tokens:
    """Cells with blanks between them."""
    spans = list(word_spans(body, BLANKS, newline))
    starts, ends, is_last, _ = np.array(spans, dtype=np.int64).reshape(-1, 4).T
    return Tokens(starts, ends, np.append(0, np.flatnonzero(is_last) + 1), -1)


def contents(body: bytes, starts: Offsets, ends: Offsets) -> list[str]:
    """The text of some cells, without quotes.

    >>> contents(b'7,"a ""b"" c"', np.array([0, 2]), np.array([1, 13]))
    ['7', 'a "b" c']
    """
    if not len(starts):
        return []
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    mark = NO_LETTER if b"\0" in body else 0
    data = np.frombuffer(body, dtype=np.uint8)
    joined: Bytes = _join_tidy(data, starts, ends, mark)
    if (joined == QUOTE).any():  # inside a cell
        join = _join_contents if len(body) <= SMALL else _compiled()[1]
        joined = join(data, starts, ends, mark)
    if mark:
        return [cell.decode() for cell in joined.tobytes().split(bytes([mark]))]
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


def _join_contents(data: Any, starts: Any, ends: Any, mark: int) -> Any:
    """The cells without quotes, one after another, with a mark between two."""
    size = starts.size
    for f in range(starts.size):
        size += ends[f] - starts[f]
    out = np.empty(size, dtype=np.uint8)
    w = 0
    for f in range(starts.size):
        if f > 0:
            out[w] = mark
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


def _join_tidy(data: Bytes, starts: Offsets, ends: Offsets, mark: int) -> Bytes:
    """The same for cells that have quotes around them, if any; others keep theirs."""
    last = len(data) - 1
    is_quoted = (data[np.minimum(starts, last)] == QUOTE) & (data[ends - 1] == QUOTE)
    is_quoted &= ends - starts > 1
    starts, ends = starts + is_quoted, ends - is_quoted
    sizes = ends - starts + 1  # with the mark behind each
    stops = np.cumsum(sizes)
    places = np.arange(stops[-1]) + np.repeat(starts - (stops - sizes), sizes)
    out: Bytes = data[np.minimum(places, last)]
    out[stops - 1] = mark
    return out[:-1]


@cache
def _compiled() -> tuple[Any, Any]:
    """Both, compiled: numba takes its time to load, and small files do without."""
    from greyfill._search.jit import exact

    return exact(_tokenize_bytes), exact(_join_contents)


def quoted_if_needed(text: str, delimiter: str, *, always: bool = False) -> str:
    """One cell as CSV writes it: in quotes if it could not be read back without.

    >>> quoted_if_needed("x, y", ","), quoted_if_needed("x, y", ";")
    ('"x, y"', 'x, y')
    """
    marks = (delimiter, chr(QUOTE), "\n", "\r", *("\t" if delimiter == BLANKS else ""))
    if always or any(c in text for c in marks):
        return '"' + text.replace('"', '""') + '"'
    return text


def complete_tokens(tokens: Tokens, body: bytes, newline: int) -> tuple[Tokens, int]:
    """The records whose end is in the body, and where the last of them ends."""
    firsts = tokens.firsts
    if tokens.unclosed < 0 and (not body or body[-1] == newline):
        return tokens, len(body)
    if tokens.unclosed < 0:
        firsts = firsts[:-1]
    n_cells = int(firsts[-1])
    rest = int(tokens.starts[n_cells]) if n_cells < len(tokens.starts) else tokens.unclosed
    return Tokens(tokens.starts[:n_cells], tokens.ends[:n_cells], firsts, -1), rest
