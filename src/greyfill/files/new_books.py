"""A new workbook of a table that was none, and what a sheet cannot hold.

Every cell is written by the type of its column, so that text is never a formula or a link. The
table that Excel shows around the cells is an ornament: it is left out where Excel allows none.
"""

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.formats import Format, Sink, layout_of
from greyfill.files.polars_formats import WholeWriter, check_engine
from greyfill.files.styles import without_nan

YELLOW = "FFFF99"
MOST_COMMENTS = 5_000
"""Spreadsheets become slow with more comments; the color tells the rest."""

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384
"""Rows of a sheet below its header, and its columns."""

MOST_IN_NAME = 255
"""Characters in the name of a column of a table of Excel."""

ELSE = "Name an output that ends in .csv or .parquet."

FORMATS: dict[Any, str] = {
    pl.Date: "yyyy-mm-dd",
    pl.Datetime: "yyyy-mm-dd hh:mm:ss",
    pl.Time: "hh:mm:ss",
    pl.Duration: "[hh]:mm:ss",
}
"""How a new workbook shows its cells; numbers with all their digits."""

About = str | Callable[[int, str], str]
"""What to say about filled cells: a sentence, or one for a row and a column."""


def check_room(out: str, height: int, width: int) -> None:
    """Refuse an output that cannot hold so many rows or columns, before work is done for it."""
    if layout_of(out).format is Format.EXCEL:
        _refuse_large(height, width)


def _refuse_large(height: int, width: int) -> None:
    if height > MOST_ROWS or width > MOST_COLUMNS:
        raise InvalidDataError(
            f"The table has {height:,} rows and {width:,} columns. A sheet of Excel holds "
            f"{MOST_ROWS:,} rows below the names, and {MOST_COLUMNS:,} columns. {ELSE}"
        )


class NewBook(WholeWriter):
    """Makes a workbook of a table; cells that were missing before, where known, are yellow."""

    def __init__(self, sink: Sink, before: pl.DataFrame | None = None, about: About = "") -> None:
        super().__init__(sink, Format.EXCEL)
        check_engine(Format.EXCEL, "write")
        self._before = pl.DataFrame() if before is None else before
        self._about = about
        self._n_said = 0

    def finish(self) -> None:
        """Write the workbook."""
        filled, buffer = pl.concat(self._frames), io.BytesIO()
        _refuse_large(*filled.shape)
        columns = [_as_cells(column) for column in filled]
        with import_module("xlsxwriter").Workbook(buffer, {"in_memory": True}) as book:
            sheet = book.add_worksheet()
            _add_table(sheet, filled)
            for place, column in enumerate(columns):
                self._write_column(book, sheet, place, column)
        self._sink.write(buffer.getvalue())

    def _write_column(self, book: Any, sheet: Any, place: int, column: pl.Series) -> None:
        """Write the name of a column and its cells."""
        form = {"num_format": FORMATS.get(column.dtype.base_type(), "General")}
        plain, yellow = book.add_format(form), book.add_format({"bg_color": f"#{YELLOW}", **form})
        write, holes = getattr(sheet, _method(column.dtype)), self._holes(column.name)
        sheet.write_string(0, place, column.name)
        for row, value in enumerate(column.to_list()):
            if value is None:
                continue
            write(row + 1, place, value, yellow if row in holes else plain)
            if row in holes:
                self._remark(sheet, row, place, column.name)

    def _remark(self, sheet: Any, row: int, place: int, name: str) -> None:
        """Say how a cell was filled."""
        text = self._about if isinstance(self._about, str) else self._about(row, name)
        if text and self._n_said < MOST_COMMENTS:
            self._n_said += 1
            sheet.write_comment(row + 1, place, text, {"author": "greyfill"})

    def _holes(self, name: str) -> set[int]:
        """The rows of a column that were missing before."""
        if name not in self._before.columns:
            return set()
        return set(without_nan(self._before[name]).is_null().arg_true().to_list())


def _as_cells(column: pl.Series) -> pl.Series:
    """A column of single values; lists and records are text, and what is no number is missing."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        texts = [None if cell is None else str(cell) for cell in column.to_list()]
        return pl.Series(column.name, texts, dtype=pl.String)
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    return without_nan(column)


def _method(dtype: pl.DataType) -> str:
    """How a sheet writes cells of a type."""
    if dtype == pl.String:
        return "write_string"
    if dtype == pl.Boolean:
        return "write_boolean"
    return "write_datetime" if dtype.is_temporal() else "write_number"


def _add_table(sheet: Any, frame: pl.DataFrame) -> None:
    """Make a table of the cells, if Excel can tell its columns apart: it does not see case."""
    names = frame.columns
    is_told = len({name.casefold() for name in names}) == len(names)
    if is_told and all(0 < len(name) <= MOST_IN_NAME for name in names):
        headers = [{"header": name} for name in names]
        options = {"columns": headers, "style": None, "autofilter": False}
        sheet.add_table(0, 0, max(frame.height, 1), frame.width - 1, options)
