"""What stands before the table in a text file: lines of a title, ``sep=;``, or the head of ARFF.

It is kept byte for byte. The head of an ARFF file has the names of the columns, and tells which of
them hold categories.
"""

import re
from collections import Counter
from dataclasses import dataclass

from greyfill.exceptions import InvalidDataError
from greyfill.files.dialect import DELIMITERS, is_number
from greyfill.files.guesses import Guess
from greyfill.files.sample import SAMPLE, Record, cut
from greyfill.text import plural

ARFF_HEAD = 1 << 22
"""So many bytes must hold the head of an ARFF file."""

MOST_TITLES = 10
USUAL_SHARE = 0.8
"""So many of the first lines must have equally many cells to tell a table from its title."""

_ATTRIBUTE = re.compile(
    rb"^\s*@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s{]+)\s*(\{|\w+)",
    re.IGNORECASE | re.MULTILINE,
)
_DATA = re.compile(rb"^\s*@data[^\r\n]*(\r\n|\r|\n)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Preamble:
    """The bytes before the table, and what they say about it."""

    text: bytes = b""
    delimiter: str | None = None
    names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()


def arff_head(sample: bytes, file: str) -> Preamble:
    r"""The head of an ARFF file, which its first bytes must hold.

    >>> head = b"@relation a\n@attribute x real\n@attribute 'a b' {u,v}\n@data\n1,u\n"
    >>> arff_head(head, "a.arff").names, arff_head(head, "a.arff").categories
    (('x', 'a b'), ('a b',))
    """
    end = _DATA.search(sample)
    if end is None:
        raise InvalidDataError(f"{file} has no @data line near its start, so it is no ARFF file.")
    found = [
        (name.decode().strip("'\""), kind) for name, kind in _ATTRIBUTE.findall(sample[: end.end()])
    ]
    names = tuple(name for name, _ in found)
    if not names:
        raise InvalidDataError(f"{file} declares no attribute. Write one @attribute line a column.")
    if re.match(rb"\s*\{", sample[end.end() :]):
        raise InvalidDataError(
            f"{file} is a sparse ARFF file, rows in braces, which cannot be read. Make it dense: "
            "by the filter SparseToNonSparse of Weka, or convert it to CSV."
        )
    numbers = (b"numeric", b"real", b"integer", b"date")
    texts = tuple(name for name, kind in found if kind.lower() not in numbers)
    return Preamble(sample[: end.end()], ",", names, texts)


def find_preamble(
    sample: bytes, newline: int, delimiter: str | None = None, *, titled: bool = True
) -> Preamble:
    r"""Find lines of a title, or one that names the delimiter as spreadsheets do.

    Where the user says that the first line has the names, there is no title (``titled``).

    >>> find_preamble(b"sep=;\na;b\n1;2\n", 10).delimiter
    ';'
    >>> find_preamble(b"Cases of 2024\n\nid,x,y\n1,2,3\n3,4,5\n5,6,7\n", 10).text
    b'Cases of 2024\n\n'
    >>> find_preamble(b"Cases of 2024;;\nid;x;y\n1;2;3\n3;4;5\n", 10).text
    b'Cases of 2024;;\n'
    """
    named = re.match(rb"sep=(.)\r?[\r\n]", sample)
    if named is not None:
        return Preamble(named.group(), delimiter or named.group(1).decode("latin-1"))
    marks: tuple[str, ...] = DELIMITERS if delimiter is None else (delimiter,)
    if delimiter is None:
        even = tuple(mark for mark in marks if _cuts_evenly(sample[:SAMPLE], mark, newline))
        marks = even or marks
    for mark in marks if titled else ():
        size = _title_size(sample[:SAMPLE], mark, newline)
        if size:
            n_lines = sample.count(newline, 0, size)
            text = f"{plural(n_lines, 'line')} before the table kept as found."
            undo = "If the first line of all has the names: --header."
            return Preamble(sample[:size], mark, guesses=(Guess("title", text, undo),))
    return Preamble()


def _cuts_evenly(sample: bytes, mark: str, newline: int) -> bool:
    """Whether a mark cuts all lines into equally many cells, the first of them included."""
    records = [record for record in cut(sample, mark, newline) if not record.is_blank]
    widths = [len(record.cells) for record in records][: -1 if len(sample) == SAMPLE else None]
    return len(widths) > 1 and widths[0] > 1 and len({*widths}) == 1


def _title_size(sample: bytes, mark: str, newline: int) -> int:
    """How many bytes stand before the first line with as many cells as most lines have."""
    if mark.encode() not in sample:
        return 0
    records = [record for record in cut(sample, mark, newline) if not record.is_blank]
    widths = [len(record.cells) for record in records]
    if len(widths) < 4:
        return 0
    width, count = Counter(widths).most_common(1)[0]
    first = _behind_sparse(records, widths.index(width), width)
    # The names of a table with names of rows, or of one whose decimals have this mark.
    lacks_one = first == 1 and widths[0] == width - 1
    if width < 2 or not 0 < first <= MOST_TITLES or lacks_one:
        return 0
    is_longer = any(len(r.cells) >= width and not _is_sparse(r, width) for r in records[:first])
    if is_longer or count < USUAL_SHARE * (len(widths) - first):
        return 0
    return records[first].start


def _is_sparse(record: Record, width: int) -> bool:
    """Whether fewer than half of the cells hold anything, as in a title of a spreadsheet."""
    return 2 * sum(bool(text.strip()) for text in record.texts) < width


def _behind_sparse(records: list[Record], first: int, width: int) -> int:
    """The first line that is not sparse, if it has a name for each column, none a number."""
    if width < 3 or not _is_sparse(records[first], width):
        return first
    full = (i for i, r in enumerate(records) if i > first and not _is_sparse(r, width))
    names = next(full, first)
    texts = [text.strip() for text in records[names].texts]
    are_names = len(texts) == width and all(texts) and not any(map(is_number, texts))
    has_numbers = any(is_number(text.strip()) for r in records[names + 1 :] for text in r.texts)
    return names if are_names and has_numbers else first
