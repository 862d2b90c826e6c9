"""How a CSV text is laid out, by its first lines: what stands between cells, and its header.

Cells are between commas, semicolons, tabs or bars, or, where that makes a table, between blanks.
A first line that looks like data is no header. Names that appear twice, or that the header lacks,
are made.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from greyfill.exceptions import FileProblemError, InvalidDataError, InvalidParameterError
from greyfill.files.guesses import Guess
from greyfill.files.sample import BLANKS, SAMPLE, Record, cut
from greyfill.files.vocabulary import MISSING_WORDS

DELIMITERS = (",", ";", "\t", "|")
RARE_DELIMITERS = ("^", "~", "\x01")
"""Those that are tried where no other cuts, and must cut all lines alike."""

MOST_LINES = 200
"""So many lines tell a header from data."""

FEW_LINES = 5
"""With fewer lines, words that occur again may be chance."""

_MARKUP = re.compile(rb"\s*<(!doctype\s|html\b|table\b|\?xml\s)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")


def check_marks(decimal: str | None, date_order: str | None) -> None:
    """Refuse a decimal mark, or an order of days and months, that there is not."""
    if decimal not in (None, ".", ","):
        raise InvalidParameterError(f"The decimal mark must be . or , and not {decimal!r}.")
    if date_order not in (None, "dmy", "mdy"):
        raise InvalidParameterError(
            f"Dates are read day first (dmy) or month first (mdy), and not {date_order!r}."
        )


def refuse_markup(body: bytes, file: str) -> None:
    """Refuse pages and XML, which some programs write under a name such as export.xls.

    >>> refuse_markup(b"<html><table>", "export.xls")
    Traceback (most recent call last):
        ...
    greyfill.exceptions.FileProblemError: export.xls is a web page or XML, not a table. Open it ...
    """
    if _MARKUP.match(body):
        raise FileProblemError(
            f"{file} is a web page or XML, not a table. Open it in a spreadsheet program, and save "
            "it as .xlsx or .csv."
        )


def find_delimiter(body: bytes, given: str | None = None) -> str:
    r"""The given delimiter, or the usual one that cuts the first lines into equally many cells.

    One that cuts the header wins over one that does not; a text that none cuts has one column.

    >>> find_delimiter(b"a;b\n1,5;2\n"), find_delimiter(b"a\tb\n"), find_delimiter(b"a\n1\n")
    (';', '\t', ',')
    >>> find_delimiter(b"18.0   8  307.0\n15.0   8  350.0\n")
    ' '
    """
    if given is not None:
        given = {"\\t": "\t", "tab": "\t"}.get(given, given)  # as one writes it in a shell
        if len(given) == 1 and given.isascii() and given not in '"\r\n\0' and not given.isalnum():
            return given
        raise InvalidParameterError(
            f"The delimiter must be one character such as , ; | or a tab, not {given!r}."
        )
    sample = body[:SAMPLE]
    scores = [_score(cut(sample, c), len(body) > SAMPLE) for c in DELIMITERS]
    best = max(scores)
    mark = DELIMITERS[scores.index(best)]
    if (best[2] < 2 or mark == "\t") and _is_cut_by_blanks(sample, len(body) > SAMPLE, best[2]):
        return BLANKS
    if best[2] < 2:
        cuts = (_score(cut(sample, c), len(body) > SAMPLE) for c in RARE_DELIMITERS)
        rare = [c for c, cut in zip(RARE_DELIMITERS, cuts, strict=True) if cut[:2] == (True, 1.0)]
        mark = next(iter(rare), mark)
    return mark


def _score(records: Sequence[Record], is_cut: bool) -> tuple[bool, float, int]:
    """Whether the header is cut, the share of lines with as many cells, and how many they are."""
    seen = records[:-1] if is_cut and len(records) > 1 else records  # the last may lack its end
    widths = [len(record.cells) for record in seen if not record.is_blank]
    if not widths:
        return False, 0.0, 0
    return widths[0] > 1, widths.count(widths[0]) / len(widths), widths[0]


def _is_cut_by_blanks(sample: bytes, is_cut: bool, width: int) -> bool:
    """Whether blanks make a table: of more columns, in all lines, some of them of numbers.

    The first line may lack the name of a first column.
    """
    lines = _rows(cut(sample, BLANKS))
    first, *rows = lines[:-1] if is_cut and len(lines) > 2 else lines or [[]]
    widths = {len(row) for row in rows or [first]}
    n_cells = max(widths)
    if len(widths) > 1 or n_cells <= max(width, 1) or len(first) not in (n_cells, n_cells - 1):
        return False
    return any(all(map(is_number, cells)) for cells in zip(*rows, strict=False))


@dataclass(frozen=True)
class Header:
    """The line of names: whether it is there, and how many names of first columns it lacks.

    The names may be ``given`` elsewhere. Rows of a ``ragged`` text may have more cells.
    """

    is_there: bool = True
    n_lacking: int = 0
    is_strict: bool = True
    ragged: bool = False
    given: tuple[str, ...] = ()

    def names(self, cells: Sequence[str], place: str) -> tuple[str, ...]:
        """The names of the columns, each once, from the cells of the first line.

        >>> Header(is_strict=False).names(["a", "", "a", ""], "t.csv, line 1")
        ('a', 'column_2', 'a_2', 'column_4')
        """
        if self.given:
            return _each_once(list(self.given))
        if not self.is_there:
            return tuple(f"column_{j + 1}" for j in range(len(cells)))
        given = [*[""] * self.n_lacking, *cells]
        if not self.is_strict or given.count("") == 1:
            given = [name or f"column_{j + 1}" for j, name in enumerate(given)]
        name, count = Counter(given).most_common(1)[0]
        if count > 1 and self.is_strict:
            places = ", ".join(str(j + 1) for j, other in enumerate(given) if other == name)
            raise InvalidDataError(
                f"{place}: the column name {name!r} appears "
                f"{count} times (columns {places}). Give each column a name of its own."
            )
        return _each_once(given)


def _each_once(given: list[str]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for name in given:
        number, new = 2, name
        while new in names or (new != name and new in given):
            new = f"{name}_{number}"
            number += 1
        names[new] = None
    return tuple(names)


def find_header(
    sample: bytes,
    delimiter: str,
    newline: int,
    *,
    given: bool | None = None,
    learned: Sequence[str] = (),
    strict: bool = False,
    ragged: bool = False,
) -> tuple[Header, list[Guess]]:
    r"""Find out what the first line is, and what was guessed about it.

    The columns that a model ``learned`` tell whether new rows have a header.

    >>> find_header(b"5.1,3.5,a\n4.9,3.0,a\n6.2,2.8,b\n", ",", 10)[0].is_there
    False
    >>> find_header(b"country,2019,2020\nA,1,2\nB,2,4\nB,5,1\n", ",", 10)[0].is_there
    True
    """
    if strict:
        return Header(given is not False), []
    body = sample[:SAMPLE]
    first, *rest = _rows([r for r in cut(body, delimiter, newline) if r.is_whole]) or [[]]
    if given is None and learned:
        is_there = bool(set(first) & set(learned)) or not all(_is_made(name) for name in learned)
    else:
        is_there = given if given is not None else not _looks_like_data(first, rest)
    n_lacking = _n_lacking(first, rest) if is_there and first else 0
    header = Header(is_there, n_lacking, is_strict=False, ragged=ragged)
    return header, _guesses_on(header, first, is_asked=given is None and not learned)


def header_names(
    sample: bytes, delimiter: str, newline: int, file: str, header: Header
) -> tuple[str, ...]:
    r"""The column names, from the first bytes of a text; none if their line does not end there.

    >>> header_names(b"\na,b\n1,", ",", 10, "small.csv", Header())
    ('a', 'b')
    """
    body = sample[:SAMPLE]
    for record in cut(body, delimiter, newline):
        if not record.is_blank:
            place = f"{file}, line {1 + body.count(newline, 0, record.start)}"
            return header.names(record.texts, place) if record.is_whole else ()
    return ()


def _n_lacking(first: list[str], rest: list[list[str]]) -> int:
    """How many more cells most rows have than the header; a mark at their ends makes no column.

    >>> _n_lacking(["a"], [["1", "x"], ["2", "y"]]), _n_lacking(["a"], [["1", ""], ["2", ""]])
    (1, 0)
    """
    widths = [len(row) for row in rest]
    width = max(widths, default=0)
    full = [row for row in rest if len(row) == width]
    is_usual = 2 * len(full) >= len(rest) and len(full[0]) == widths[0] if full else False
    return width - len(first) if width > len(first) and is_usual and any(r[-1] for r in full) else 0


NO_HEADER = "If it is a row of the table: --no-header."


def _guesses_on(header: Header, first: list[str], *, is_asked: bool) -> list[Guess]:
    guesses = []
    if not header.is_there and is_asked:
        shown = ", ".join(first[:3])[:40]
        text = f"The first line looks like data ({shown} …): the columns are column_1, column_2, …"
        guesses.append(Guess("header", text, "If it has their names: --header."))
    if header.n_lacking == 1:
        text = "The header lacks one name: the first column has none, as for names of rows."
        guesses.append(Guess("header", text, NO_HEADER))
    elif header.n_lacking:
        text = f"The header lacks {header.n_lacking} names: so many first columns have none."
        guesses.append(Guess("header", text, NO_HEADER))
    made = header.names(first, "")[header.n_lacking :] if header.is_there and first else ()
    renamed = [new for new, old in zip(made, first, strict=False) if old and new != old]
    if renamed:
        text = f"Names that appear twice were told apart: {', '.join(map(repr, renamed[:6]))}."
        undo = "To leave one alone: --ignore COLUMN."
        guesses.append(Guess("names", text, undo, names=tuple(renamed)))
    return guesses


def _is_made(name: str) -> bool:
    return re.fullmatch(r"column_[0-9]+", name) is not None


def _rows(records: Sequence[Record]) -> list[list[str]]:
    """The first lines that are not empty, as texts."""
    seen = [record for record in records[:MOST_LINES] if not record.is_blank]
    return [[text.strip(" \t") for text in record.texts] for record in seen]


def _looks_like_data(first: list[str], rest: list[list[str]]) -> bool:
    """Whether the first line has numbers where all others have, or words that occur again."""
    columns = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    if len(rest) < 2 or not columns:
        return False
    are_numeric = [
        any(map(is_number, cells)) and all(is_number(c) or _is_missing(c) for c in cells)
        for cells in columns
    ]
    heads = [cell for cell, is_numeric in zip(first, are_numeric, strict=True) if is_numeric]
    if heads:
        numbers = [cell for cell in heads if is_number(cell)]
        all_fit = all(is_number(cell) or _is_missing(cell) for cell in heads)
        return all_fit and bool(numbers) and not _are_labels(numbers)
    occurs = [cell in cells for cell, cells in zip(first, columns, strict=True)]
    return len(first) > 1 and len(columns[0]) >= FEW_LINES and all(occurs) and any(first)


def _are_labels(numbers: list[str]) -> bool:
    """Whether numbers count on, like years or positions, and so may be names."""
    if not all(number.isdecimal() for number in numbers):
        return False
    values = [int(number) for number in numbers]
    if len(values) == 1:
        return 1900 <= values[0] <= 2100
    steps = {after - before for before, after in pairwise(values)}
    return len(steps) == 1 and steps.pop() > 0


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number, with either decimal mark."""
    return _NUMBER.fullmatch(cell) is not None


def _is_missing(cell: str) -> bool:
    return not cell or cell.lower() in MISSING_WORDS
