"""The parts of an .xlsx file that are told without the libraries that read its cells.

The names of the columns, so that a mistake in the call is answered at once; merged cells; and what
openpyxl does not write again.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import dirname, join, normpath
from typing import IO, Any
from xml.etree import ElementTree

from greyfill.exceptions import InvalidParameterError

TOP_ROWS = 30
"""So many rows tell where the header of a sheet is."""

MACROS = "xl/vbaProject.bin"
LOST = {
    "sparklines": re.compile(rb"<x14:sparkline\b"),
    "shapes and text boxes": re.compile(rb"<xdr:(sp|grpSp|cxnSp)\b"),
    "form controls": re.compile(rb"<(legacy)?[cC]ontrols?\b"),
    "embedded objects": re.compile(rb"<oleObjects?\b"),
    "slicers": re.compile(rb"<(x14:)?slicerList\b"),
}
"""What openpyxl leaves out, and how the parts of a sheet show it."""
THREADS = "threaded comments"
MERGED = re.compile(r'mergeCell\b[^>]*?\bref="(([A-Z]+)([0-9]+):([A-Z]+)([0-9]+))"')


def header_row(rows: Sequence[Sequence[Any]]) -> tuple[int, int]:
    """The first row with nearly as many cells as any, and how many; none if no row follows it.

    >>> header_row([("My table", None), ("a", "b"), (1, 2)])
    (1, 2)
    """
    counts = [sum(cell is not None for cell in row) for row in rows]
    most = max(counts, default=0)
    top = next((i for i, n in enumerate(counts) if n and n >= 0.7 * most), 0)
    return top, most if len(rows) > top + 1 else 0


def named_sheet(names: list[str], wanted: str, where: str = "") -> str:
    """The sheet with a name, or at a place that counts from 1."""
    position = int(wanted) - 1 if wanted.isdecimal() and wanted not in names else None
    if position is not None and 0 <= position < len(names):
        return names[position]
    if wanted not in names:
        raise InvalidParameterError(
            f"{where}no sheet is called {wanted!r} (--sheet). The sheets are {listed(names)}."
        )
    return wanted


def listed(names: Sequence[str]) -> str:
    """The names of some sheets."""
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")


def peek_columns(path: str, sheet: str | None, *, strict: bool) -> tuple[str, ...]:
    """The column names of the sheet that would be read; none where they take a closer look."""
    with zipfile.ZipFile(path) as book:
        parts = sheet_parts(book)
        if sheet is not None and sheet.isdecimal() and sheet not in parts:
            return ()
        if sheet is not None:
            parts = {sheet: parts[named_sheet(list(parts), sheet, f"{path}: ")]}
        elif strict:
            parts = dict(islice(parts.items(), 1))
        for part in parts.values():
            with book.open(part) as stream:
                rows = list(_top_rows(stream, _Strings(book)))
            top, width = header_row(rows)
            if width > 1 or len(parts) == 1:
                return _plain_names(rows[top]) if rows else ()
    return ()


def _plain_names(cells: Sequence[str | None]) -> tuple[str, ...]:
    """Names that are texts, all different, without a gap; else they are made up later."""
    names = tuple(cell for cell in cells if cell)
    is_plain = len({*names}) == len(cells) and not any(re.match(r"^[\s\d]|.*\s$", n) for n in names)
    return names if is_plain else ()


def sheet_parts(book: zipfile.ZipFile) -> dict[str, str]:
    """The part of each sheet by its name, in order."""
    targets = _targets(book, "xl/workbook.xml")
    sheets = ElementTree.fromstring(book.read("xl/workbook.xml")).iter()
    found = {}
    for one in sheets:
        if _bare(one.tag) == "sheet":
            link = next(value for key, value in one.attrib.items() if _bare(key) == "id")
            found[one.attrib["name"]] = targets[link][0]
    return {name: part for name, part in found.items() if "/worksheets/" in part}


def _targets(book: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The parts that a part refers to, and their kinds, by their links."""
    links = join(dirname(part), "_rels", part.rpartition("/")[2] + ".rels")
    if links not in book.namelist():
        return {}
    found = {}
    for one in ElementTree.fromstring(book.read(links)):
        if one.attrib.get("TargetMode") != "External":
            target = normpath(join("/", dirname(part), one.attrib["Target"])).lstrip("/")
            found[one.attrib["Id"]] = target, one.attrib["Type"].rpartition("/")[2]
    return found


class _Strings:
    """The texts that cells refer to, read as far as one is asked for."""

    def __init__(self, book: zipfile.ZipFile) -> None:
        part = next((p for p, kind in _targets(book, "xl/workbook.xml").values()
                     if kind == "sharedStrings"), None)  # fmt: skip
        self._known: list[str] = []
        self._more = iter(()) if part is None else _texts(book.open(part))

    def __getitem__(self, place: int) -> str:
        self._known += islice(self._more, max(place + 1 - len(self._known), 0))
        return self._known[place]


def _texts(stream: IO[bytes]) -> Iterator[str]:
    with stream:
        for _, node in ElementTree.iterparse(stream):
            if _bare(node.tag) == "si":
                yield "".join(t.text or "" for t in node.iter() if _bare(t.tag) == "t")
                node.clear()


def _top_rows(stream: IO[bytes], strings: _Strings) -> Iterator[list[str | None]]:
    """The first rows of a sheet; a cell that is no text is its number, as it stands."""
    n_rows = 0
    for _, node in ElementTree.iterparse(stream):
        if _bare(node.tag) != "row":
            continue
        cells: dict[int, str] = {}
        for cell in node:
            column = re.match("[A-Z]+", cell.attrib.get("r", ""))
            text = "".join(v.text or "" for v in cell.iter() if _bare(v.tag) in ("v", "t"))
            if text and column is not None:
                is_shared = cell.attrib.get("t") == "s"
                cells[_number(column[0])] = strings[int(text)] if is_shared else text
        first, last = min(cells, default=0), max(cells, default=-1)
        yield [cells.get(j) for j in range(first, last + 1)]
        node.clear()
        n_rows += 1
        if n_rows == TOP_ROWS:
            return


def _number(letters: str) -> int:
    place = 0
    for letter in letters:
        place = 26 * place + ord(letter) - 64
    return place


def _bare(tag: str) -> str:
    """A tag or key without its namespace."""
    return tag.rpartition("}")[2]


@dataclass(frozen=True)
class MergedCells:
    """Cells that are shown as one, whose value is that of the first; rows and columns from 1."""

    name: str
    left: int
    top: int
    right: int
    bottom: int


def merged_cells(book: zipfile.ZipFile, sheet: str) -> list[MergedCells]:
    """The merged cells of a sheet, from the top."""
    found = MERGED.findall(book.read(sheet_parts(book)[sheet]).decode("latin-1"))
    cells = [
        MergedCells(name, _number(left), int(top), _number(right), int(bottom))
        for name, left, top, right, bottom in found
    ]
    return sorted(cells, key=lambda one: (one.top, one.left))


def find_losses(book: zipfile.ZipFile) -> dict[str, list[str]]:
    """What each sheet has that openpyxl does not write again."""
    lost: dict[str, list[str]] = {}
    for name, part in sheet_parts(book).items():
        targets = [(p, kind) for p, kind in _targets(book, part).values() if p in book.namelist()]
        texts = [book.read(part), *(book.read(p) for p, kind in targets if kind == "drawing")]
        found = [what for what, mark in LOST.items() if any(map(mark.search, texts))]
        if MACROS in book.namelist():  # with which openpyxl keeps them
            found = [what for what in found if what != "form controls"]
        found += [THREADS] * any(kind == "threadedComment" for _, kind in targets)
        if found:
            lost[name] = found
    return lost
