"""The first records of a text, cut by Python alone: they tell its dialect before numpy is loaded.

The rules are those of `tokens`, which cuts the whole text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from greyfill.files.inputs import CR, LF

SAMPLE = 2**15
"""So many bytes from the start tell the delimiter."""

BLANKS = " "
"""The delimiter that stands for any number of blanks and tabs."""


class Record(NamedTuple):
    """Where a record starts, its cells with their quotes, and whether its end is in the sample."""

    start: int
    cells: tuple[bytes, ...]
    is_whole: bool

    @property
    def is_blank(self) -> bool:
        """Whether it is an empty line."""
        return self.cells == (b"",)

    @property
    def texts(self) -> list[str]:
        """Its cells without quotes."""
        return [_text(cell) for cell in self.cells]


def cut(body: bytes, delimiter: str, newline: int | None = None) -> tuple[Record, ...]:
    r"""The records of a sample; in a part of a text the byte that ends a line must be given.

    What follows a quote that nothing closes is left out.

    >>> [record.texts for record in cut(b'a,b\n1,"x, ""y"" z"\n', ",")]
    [['a', 'b'], ['1', 'x, "y" z']]
    """
    return _cut(body, delimiter, line_end(body) if newline is None else newline)


def line_end(body: bytes) -> int:
    """The byte that ends a line."""
    return CR if b"\r" in body and b"\n" not in body else LF


@lru_cache(maxsize=8)  # several steps look at the same lines
def _cut(body: bytes, delimiter: str, newline: int) -> tuple[Record, ...]:
    find = word_spans if delimiter == BLANKS else _cell_spans
    records: list[Record] = []
    cells: list[bytes] = []
    start = 0
    for first, end, is_last, is_whole in find(body, delimiter, newline):
        start = start if cells else first
        cells.append(body[first:end])
        if is_last:
            records.append(Record(start, tuple(cells), is_whole))
            cells = []
    return tuple(records)


Span = tuple[int, int, bool, bool]
"""Start and end of a cell, whether it ends a record, and whether a line end follows it."""


def _cell_spans(body: bytes, delimiter: str, newline: int) -> Iterator[Span]:
    mark, end = re.escape(delimiter.encode()), re.escape(bytes([newline]))
    quoted = rb'("[^"]*+(?:""[^"]*+)*+")?+'
    pattern = re.compile(quoted + rb"[^" + mark + end + rb"]*+(" + mark + rb"|" + end + rb"|\Z)")
    inside = False  # a record has begun, so another cell must follow even at the end
    for found in pattern.finditer(body):
        start, stop = found.start(), found.start(2)
        is_open = found[1] is None and body[start : start + 1] == b'"'
        if is_open or (start == len(body) and not inside):
            return
        is_end = found[2] == bytes([newline])
        inside = not is_end and bool(found[2])
        if is_end and newline == LF and body[start:stop].endswith(b"\r"):
            stop -= 1
        yield start, stop, not inside, is_end


def word_spans(body: bytes, delimiter: str, newline: int) -> Iterator[Span]:
    """Cells with blanks between them; one in quotes ends in its line."""
    end, waiting = bytes([newline]), None
    for found in re.finditer(rb'"[^"\r\n]*"[^ \t\r\n]*|[^ \t\r\n]+|' + end, body):
        start, stop = found.span()
        if body[start:stop] == end:
            yield (*(waiting or (start, start)), True, True)
            waiting = None
        else:
            if waiting is not None:
                yield (*waiting, False, False)
            waiting = start, stop
    if body and not body.endswith(end):
        yield (*(waiting or (len(body), len(body))), True, False)


def _text(cell: bytes) -> str:
    """A cell without its quotes; the sample may end in the midst of a letter."""
    if cell.startswith(b'"'):
        inner, rest = re.findall(rb'^"((?:[^"]|"")*+)"?(.*)', cell, re.DOTALL)[0]
        cell = inner.replace(b'""', b'"') + rest
    return cell.decode(errors="replace")
