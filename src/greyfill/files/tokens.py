"""Where the cells of a CSV text start and end: over bytes, compiled where there are many.

A cell that begins with a quote runs to its closing quote, and from there to the next delimiter or
line end; a doubled quote inside stands for one. Quotes elsewhere are letters. A line ends with
LF or CRLF, or with CR in a text that has no LF. `reference` is the slow twin.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greyfill._kernels.jit import exact

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

QUOTE, LF, CR = 34, 10, 13

SMALL = 2**15
"""Up to so many bytes Python itself is quicker than a compiler that has not compiled yet."""


class Tokens(NamedTuple):
    """Cell f is ``body[starts[f]:ends[f]]``; record r has the cells firsts[r] … firsts[r+1] − 1.

    ``unclosed`` is the offset of a quote that nothing closes, else −1.
    """

    starts: Offsets
    ends: Offsets
    firsts: Offsets
    unclosed: int


def tokenize(body: bytes, delimiter: str, newline: int | None = None) -> Tokens:
    r"""Find the cells of a text; in a part of a text the byte that ends a line must be given.

    >>> tokens = tokenize(b'a,b\n1,"x, y"\n', ",")
    >>> tokens.starts.tolist(), tokens.ends.tolist(), tokens.firsts.tolist()
    ([0, 2, 4, 6], [1, 3, 5, 12], [0, 2, 4])
    """
    end = line_end(body) if newline is None else newline
    if len(body) <= SMALL:
        return Tokens(*_tokenize_bytes(body, ord(delimiter), end))
    return Tokens(*_tokenize(np.frombuffer(body, dtype=np.uint8), ord(delimiter), end))


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
        joined = _join(np.frombuffer(body, dtype=np.uint8), starts, ends)
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


_tokenize = exact(_tokenize_bytes)
_join = exact(_join_contents)
