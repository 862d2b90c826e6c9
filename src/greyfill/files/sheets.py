"""Workbooks: which sheet holds a table and where in it, and the same workbook with holes filled.

A workbook is read by calamine (.xlsx, .xls, .ods). An .xlsx file that stays one is opened again by
openpyxl, and only cells that were missing are written: other sheets, formats, formulas, merged
cells, charts, pictures and macros stay, and a guess tells of what does not.
The written cells are yellow, and a comment says how they were filled.
"""

import io
import re
import warnings
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from importlib import import_module
from typing import Any

import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.column_types import ChooseTypes, ColumnEvidence, ColumnType, StrayCellsError
from greyfill.files.formats import Format, Sink
from greyfill.files.guesses import Guess
from greyfill.files.inputs import NoRowsError
from greyfill.files.new_books import MOST_COMMENTS, YELLOW, About
from greyfill.files.polars_formats import WholeWriter, check_engine
from greyfill.files.styles import Style
from greyfill.files.type_fits import FEW_WORDS
from greyfill.files.words import Doubt, bare, is_reading, with_holes
from greyfill.files.workbook_parts import (
    MACROS,
    TOP_ROWS,
    MergedCells,
    find_losses,
    header_row,
    listed,
    merged_cells,
    named_sheet,
)
from greyfill.text import plural

NO_DAY = date(1899, 12, 31)
"""The day that calamine gives a time of day, which is before the first one of Excel."""
TRUTHS = ["true", "false"]
"""As calamine writes them in a text."""


@dataclass(frozen=True, eq=False)
class Workbook:
    """A sheet of a workbook as a frame, and where its cells are.

    ``rows`` has the row of the sheet for each row of the frame, ``places`` the column of the sheet
    for each name, ``top`` is the row of the names, all counted from 1. ``unused`` are sentences
    about named words for missing that are in no cell, ``doubts`` words that made numbers a text.
    """

    raw: bytes = field(repr=False)
    format: Format
    sheet: str
    frame: pl.DataFrame
    rows: list[int] = field(repr=False)
    places: dict[str, int] = field(repr=False)
    top: int = 1
    styles: dict[str, Style] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    guesses: tuple[Guess, ...] = ()
    unused: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for a message."""
        return f"sheet {self.sheet!r}, row {self.rows[row]}, column {column!r}"


def read_book(
    raw: bytes,
    format: Format,
    sheet: str | None = None,
    words: tuple[Sequence[str], Sequence[str]] = ((), ()),
    *,
    strict: bool = False,
    choose_types: ChooseTypes | None = None,
) -> Workbook:
    """Read the sheet that was named, or else the first that holds a table.

    ``words`` mean missing, those that were named and those that are remembered. ``choose_types``
    gives, from the names of all columns, those whose texts are left as they are.
    """
    reader = import_module("fastexcel").read_excel(raw)
    names = list(reader.sheet_names)
    name, top = _chosen(reader, names, sheet, strict=strict)
    loaded = _loaded(reader, name, top)
    frame = loaded.to_polars()
    if not frame.width:
        text = f"the sheet {name!r} is empty. The sheets are {listed(names)}."
        raise NoRowsError(text, ())
    texts = reader.load_sheet(name, header_row=top, dtypes="string").to_polars()
    frame = frame.with_columns(_as_written(frame[c], texts[c]) for c in frame.columns)
    is_row = ~pl.select(pl.all_horizontal(frame[c].is_null() for c in frame.columns)).to_series()
    places = [info.absolute_index + 1 for info in loaded.available_columns()]
    named = [c.replace("__UNNAMED__", "column_") for c in frame.columns]
    frame = frame.rename(dict(zip(frame.columns, named, strict=True))).filter(is_row)
    frame, unused = with_holes(frame, *words)
    chosen = [] if sheet or len(names) == 1 else [_about_sheet(name, names)]
    guesses = (*chosen, *(_about_losses(raw) if format is Format.EXCEL else ()))
    rows = [top + 2 + int(i) for i in is_row.arg_true()]
    book = Workbook(
        raw, format, name, frame, rows, dict(zip(named, places, strict=True)), top + 1,
        guesses=guesses, unused=unused,
    )  # fmt: skip
    if format is Format.EXCEL:
        book = replace(book, guesses=(*guesses, *_about_merged(book)))
    texts_kept = () if choose_types is None else choose_types(tuple(book.frame.columns))[0]
    return book if strict else _typed(book, texts_kept)


def _loaded(reader: Any, name: str, top: int) -> Any:
    """A sheet with the types of its cells; a column that can have none is refused in words."""
    try:
        return reader.load_sheet(name, header_row=top, schema_sample_rows=None)
    except import_module("fastexcel").UnsupportedColumnTypeCombinationError as error:
        found = re.search("for column (.*)", str(error))
        column = f"the column {found[1]!r}" if found else "one of its columns"
        raise InvalidDataError(
            f"the sheet {name!r} has durations, such as 30:00, among cells of another kind in "
            f"{column}. Give all cells of the column one format in Excel, such as [h]:mm or text, "
            "or name another sheet (--sheet)."
        ) from error


def _chosen(reader: Any, names: list[str], wanted: str | None, *, strict: bool) -> tuple[str, int]:
    """The sheet, and the row of its header, counted from 0."""
    if wanted is not None:
        wanted = named_sheet(names, wanted)
        return wanted, _header_row(reader, wanted)[0]
    if strict:
        return names[0], _header_row(reader, names[0])[0]
    tops = {name: _header_row(reader, name) for name in names}
    return next(((n, top) for n, (top, width) in tops.items() if width > 1), (names[0], 0))


def _header_row(reader: Any, name: str) -> tuple[int, int]:
    """The row of the header of a sheet, counted from 0, and how many cells it has."""
    loaded = reader.load_sheet(name, header_row=None, skip_rows=0, n_rows=TOP_ROWS, dtypes="string")
    return header_row(loaded.to_polars().rows())


def _as_written(column: pl.Series, texts: pl.Series) -> pl.Series:
    """A column with the types of its cells; a word or a truth among numbers makes it text."""
    has_truths = column.dtype.is_numeric() and texts.is_in(TRUTHS).any()
    if has_truths or column.null_count() > texts.null_count():
        return texts
    if column.dtype == pl.Float64 and ((column % 1).fill_null(0.0) == 0.0).all():
        whole = column.cast(pl.Int64, strict=False)
        return column if whole.null_count() > column.null_count() else whole
    if column.dtype == pl.Datetime:
        days = column.dt.date()
        if (days == NO_DAY).all():
            return column.dt.time()
        return days if (days.cast(column.dtype) == column).all() else column.cast(pl.Datetime("us"))
    return column


def _about_sheet(name: str, names: list[str]) -> Guess:
    others = [other for other in names if other != name]
    text = f"The sheet {name!r} was read; {plural(len(others), 'other')} kept: {listed(others)}."
    return Guess("sheet", text, "Another one: --sheet NAME.", names=(name, *others))


def _about_losses(raw: bytes) -> Iterator[Guess]:
    """What a workbook that is written again will lack."""
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        for sheet, lost in find_losses(book).items():
            text = (
                f"The sheet {sheet!r} has {' and '.join(lost)}, which are lost where it is filled."
            )
            yield Guess("lost", text, "To keep them: -o FILE.csv, and paste the cells.")


def _about_merged(book: Workbook) -> Iterator[Guess]:
    """Which merged cells have holes, of which only the first can be written."""
    with zipfile.ZipFile(io.BytesIO(book.raw)) as parts:
        merged = merged_cells(parts, book.sheet)
    found = [cells.name for cells in merged if _has_holes(book, cells)]
    if found:
        text = (
            f"The sheet {book.sheet!r} has merged cells: {listed(found)}. All but the first of "
            "them were read as missing, and a workbook keeps them as they are. To have a value in "
            "each: unmerge them in Excel and write it there."
        )
        yield Guess("merged", text)


def _has_holes(book: Workbook, merged: MergedCells) -> bool:
    """Whether cells that were merged are missing in the table, the first of them aside."""
    start, end = bisect_left(book.rows, merged.top), bisect_right(book.rows, merged.bottom)
    for name, place in book.places.items():
        if merged.left <= place <= merged.right:
            is_first = place == merged.left and book.rows[start:end][:1] == [merged.top]
            if book.frame[name][start + is_first : end].null_count():
                return True
    return False


def _typed(book: Workbook, kept: Collection[str]) -> Workbook:
    """Text that is numbers, dates or words for missing, as in a CSV file."""
    columns, styles, words, guesses, doubts = [], {}, {}, list(book.guesses), list[Doubt]()
    for column in book.frame:
        is_open = column.dtype == pl.String and column.name not in kept
        found = _type_of(column, doubts) if is_open else None
        if found is None:
            columns.append(column)
            continue
        if not found.is_text and not found.is_empty:
            styles[column.name] = found.style
        if found.missing:
            words[column.name] = found.missing
        guesses += found.guesses
        columns.append(found.parse(found.observed(column.set(bare(column) == "", None))))
    frame = pl.DataFrame(columns)
    return replace(
        book, frame=frame, styles=styles, words=words, guesses=tuple(guesses), doubts=tuple(doubts)
    )


def _type_of(texts: pl.Series, doubts: list[Doubt]) -> ColumnType | None:
    """The type of a column of texts; none if some of them are no numbers where most are.

    A few such words are in doubt, truths are not.
    """
    evidence = ColumnEvidence(texts.name)
    evidence.add(texts.set(bare(texts) == "", None))
    if evidence.may_have_form("."):
        evidence.look_again(texts.set(bare(texts) == "", None))
    try:
        return evidence.column_type()
    except StrayCellsError as strays:
        found = strays.words_in(texts)
        if len(found) <= FEW_WORDS:
            doubts += [
                Doubt(texts.name, word, n, is_likely=not is_reading(word))
                for word, n in found.most_common()
                if word not in TRUTHS
            ]
        return None


class BookFiller(WholeWriter):
    """Takes the filled rows of a workbook and writes it with only its holes changed."""

    def __init__(self, sink: Sink, book: Workbook, about: About = "") -> None:
        super().__init__(sink, Format.EXCEL)
        check_engine(Format.EXCEL, "fill")
        self._book, self._about = book, about

    def finish(self) -> None:
        """Write the workbook."""
        openpyxl = import_module("openpyxl")
        book, filled = self._book, pl.concat(self._frames)
        with zipfile.ZipFile(io.BytesIO(book.raw)) as parts:
            has_macros = MACROS in parts.namelist()
        with warnings.catch_warnings():  # of what it leaves out, which notes have told
            warnings.simplefilter("ignore", UserWarning)
            opened = openpyxl.load_workbook(io.BytesIO(book.raw), keep_vba=has_macros)
        sheet = opened[book.sheet]
        self._fill_holes(sheet, filled)
        self._add_columns(sheet, filled)
        buffer = io.BytesIO()
        opened.save(buffer)
        self._sink.write(buffer.getvalue())

    def _fill_holes(self, sheet: Any, filled: pl.DataFrame) -> None:
        """Write what was missing into cells that are nothing else."""
        book, is_kept, n_said = self._book, _kept_cells(sheet), 0
        color = import_module("openpyxl.styles").PatternFill("solid", start_color=YELLOW)
        remark = import_module("openpyxl.comments").Comment
        for name, place in book.places.items():
            if name not in filled.columns:
                continue
            in_text = self._is_in_text(sheet, name)
            for row in book.frame[name].is_null().arg_true().to_list():
                value, cell = filled[name][row], sheet.cell(book.rows[row], place)
                if value is None or is_kept(cell):
                    continue
                style = book.styles.get(name) if in_text else None
                cell.value, cell.fill = value if style is None else style.spell(value), color
                cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type
                text = self._about if isinstance(self._about, str) else self._about(row, name)
                if text and n_said < MOST_COMMENTS:
                    cell.comment, n_said = remark(text, "greyfill"), n_said + 1

    def _add_columns(self, sheet: Any, filled: pl.DataFrame) -> None:
        """Write columns that the sheet has not behind its last one."""
        for name in filled.columns:
            if name not in self._book.places:
                place = sheet.max_column + 1
                sheet.cell(self._book.top, place).value = name
                for row, value in zip(self._book.rows, filled[name].to_list(), strict=True):
                    sheet.cell(row, place).value = value

    def _is_in_text(self, sheet: Any, name: str) -> bool:
        """Whether the first observed cell of a column is text, whatever it was read as."""
        rows = self._book.frame[name].is_not_null().arg_true()
        first = sheet.cell(self._book.rows[rows[0]], self._book.places[name]) if len(rows) else None
        return first is not None and isinstance(first.value, str)


def _kept_cells(sheet: Any) -> Callable[[Any], bool]:
    """Tells cells that stay though they were read as missing.

    Those are formulas without a value, the cells that such a formula spreads over, and all but the
    first of merged cells.
    """
    merged = import_module("openpyxl.cell.cell").MergedCell
    spread = [ref for ref in sheet.array_formulae.values() if ":" in ref]
    ranges = import_module("openpyxl.worksheet.cell_range").MultiCellRange(spread)

    def is_kept(cell: Any) -> bool:
        return isinstance(cell, merged) or cell.data_type == "f" or cell.coordinate in ranges

    return is_kept
