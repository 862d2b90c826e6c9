"""Files with more in them than a frame: workbooks, and tables of statistics programs."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from greyfill.files.column_types import ChooseTypes
from greyfill.files.formats import Format, Sink
from greyfill.files.inputs import Input
from greyfill.files.new_books import About, NewBook, Place
from greyfill.files.polars_formats import FrameWriter, Scan, scan_of
from greyfill.files.sheets import BookFiller, Workbook, read_book
from greyfill.files.statistics_formats import CodedTable, CodedWriter, read_coded
from greyfill.files.words import with_holes

Origin = Workbook | CodedTable
"""What is kept of a file with more in it than a frame."""


def scan_origin(
    source: Input,
    format: Format,
    sheet: str | None,
    strict: bool,
    origins: list[Origin],
    chosen: ChooseTypes | None = None,
    words: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> Scan:
    """The frame of a workbook or a coded table, which is put into a list.

    ``words`` are those that mean missing, as the user named them and as a model remembers them. An
    origin has to know their cells: it writes into holes alone.
    """
    if format.is_book:
        raw = b"".join(source.blocks())
        origins.append(read_book(raw, format, sheet, words, strict=strict, choose_types=chosen))
    else:
        table = read_coded(source.plain_path(), format, chosen)
        frame, unused = with_holes(table.frame, *words)
        origins.append(replace(table, frame=frame, unused=unused))
    return scan_of(origins[0].frame)


def writer_for(
    sink: Sink,
    format: Format,
    origin: Origin | None,
    place: Place,
    before: pl.DataFrame | None = None,
    about: About = "",
) -> FrameWriter | None:
    """The writer of a workbook, or of a file of this format of which only the holes change."""
    if origin is None or origin.format is not format:
        return NewBook(sink, place, before, about) if format is Format.EXCEL else None
    if isinstance(origin, Workbook):
        return BookFiller(sink, origin, about)
    return CodedWriter(sink, origin)
