"""A new workbook of a table that was none, and what a sheet cannot hold.

Every cell is written by the type of its column, so that text is never a formula or a link. A column
with a value that Excel would change, such as a number of 18 digits or a day of 1850, is text, and
the writer's notes tell it. The table that Excel shows around the cells is an ornament: it is left
out where Excel allows none.
"""

import io
import re
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module
from typing import Any

import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.formats import Format, Sink, layout_of
from greyfill.files.polars_formats import WholeWriter, check_engine
from greyfill.files.styles import without_nan
from greyfill.files.workbook_parts import listed
from greyfill.text import plural

YELLOW = "FFFF99"
MOST_COMMENTS = 5_000
"""Spreadsheets become slow with more comments; the color tells the rest."""

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384
"""Rows of a sheet below its header, and its columns."""

MOST_IN_NAME = 255
"""Characters in the name of a column of a table of Excel."""

ESCAPED = re.compile(r"_x[0-9a-fA-F]{4}_")
"""How Excel spells a control character, which a table spells in another way than a cell."""

MOST_CHARACTERS = 32_767
"""Characters of a cell; those beyond the basic plane of Unicode count twice."""

MOST_DIGITS = 15
"""Digits of a number that Excel keeps when somebody edits its cell."""

FIRST_DAY, LAST_DAY = date(1900, 3, 1), date(9999, 12, 31)
"""Days of Excel; those before move by one, since it has a 29 February 1900."""

ELSE = "Name an output that ends in .csv or .parquet."

FORMATS: dict[Any, str] = {
    pl.Date: "yyyy-mm-dd",
    pl.Datetime: "yyyy-mm-dd hh:mm:ss",
    pl.Time: "hh:mm:ss",
    pl.Duration: "[hh]:mm:ss",
}
"""How a new workbook shows its cells; numbers with all their digits."""

CLOCKS = (pl.Datetime, pl.Time, pl.Duration)
"""Types whose cells Excel keeps to the millisecond."""

About = str | Callable[[int, str], str]
"""What to say about filled cells: a sentence, or one for a row and a column."""

Place = Callable[[int, str], str]
"""Where a row and a column are, for a message."""


def check_room(out: str, height: int, width: int) -> None:
    """Refuse an output that cannot hold so many rows or columns, before work is done for it."""
    if layout_of(out).format is Format.EXCEL:
        _refuse_large(height, width, f"{out}: the table")


def check_cells(out: str, frame: pl.DataFrame, place: Place) -> None:
    """Refuse an output that cannot hold the rows, the columns or the cells of a table."""
    check_room(out, *frame.shape)
    if layout_of(out).format is Format.EXCEL:
        for column in frame:
            _refuse_cells(column, place)


def _refuse_large(height: int, width: int, what: str = "The table") -> None:
    if height > MOST_ROWS or width > MOST_COLUMNS:
        raise InvalidDataError(
            f"{what} has {plural(height, 'row')} and {plural(width, 'column')}. A sheet of Excel "
            f"holds {MOST_ROWS:,} rows below the names, and {MOST_COLUMNS:,} columns. {ELSE}"
        )


class NewBook(WholeWriter):
    """Makes a workbook of a table; cells that were missing before, where known, are yellow."""

    def __init__(
        self, sink: Sink, place: Place, before: pl.DataFrame | None = None, about: About = ""
    ) -> None:
        super().__init__(sink, Format.EXCEL)
        check_engine(Format.EXCEL, "write")
        self._place, self._about = place, about
        self._before = pl.DataFrame() if before is None else before
        self._n_said = 0

    def finish(self) -> None:
        """Write the workbook."""
        filled, buffer = pl.concat(self._frames), io.BytesIO()
        _refuse_large(*filled.shape)
        columns = [self._held(column) for column in filled]
        self.notes = tuple(_about_texts(filled, columns))
        with import_module("xlsxwriter").Workbook(buffer, {"in_memory": True}) as book:
            sheet = book.add_worksheet()
            _add_table(sheet, filled)
            for place, column in enumerate(columns):
                self._write_column(book, sheet, place, column)
        self._sink.write(buffer.getvalue())

    def _held(self, column: pl.Series) -> pl.Series:
        """A column as Excel can hold it; its filled moments are rounded, others become text."""
        cells, holes = _as_cells(column), self._holes(column.name)
        if column.dtype in CLOCKS and holes is not None:
            rest = _beyond_milliseconds(cells)
            cells = (cells.to_physical() - rest).cast(cells.dtype).zip_with(holes, cells)
        cells = _exactly(cells)
        _refuse_cells(cells, self._place)
        return cells

    def _write_column(self, book: Any, sheet: Any, place: int, column: pl.Series) -> None:
        """Write the name of a column and its cells."""
        form = {"num_format": FORMATS.get(column.dtype.base_type(), "General")}
        plain, yellow = book.add_format(form), book.add_format({"bg_color": f"#{YELLOW}", **form})
        write, missing = getattr(sheet, _method(column.dtype)), self._holes(column.name)
        holes = set() if missing is None else set(missing.arg_true().to_list())
        if sheet.write_string(0, place, column.name):
            raise _unwritten(f"The name of column {place + 1}")
        for row, value in enumerate(column.to_list()):
            if value is None:
                continue
            exact = _Number(value) if isinstance(value, float) else value
            if write(row + 1, place, exact, yellow if row in holes else plain):
                raise _unwritten(self._place(row, column.name))
            if row in holes:
                self._remark(sheet, row, place, column.name)

    def _remark(self, sheet: Any, row: int, place: int, name: str) -> None:
        """Say how a cell was filled."""
        text = self._about if isinstance(self._about, str) else self._about(row, name)
        if text and self._n_said < MOST_COMMENTS:
            self._n_said += 1
            sheet.write_comment(row + 1, place, text, {"author": "greyfill"})

    def _holes(self, name: str) -> pl.Series | None:
        """Which cells of a column were missing before, where that is known."""
        return without_nan(self._before[name]).is_null() if name in self._before else None


def _as_cells(column: pl.Series) -> pl.Series:
    """A column of single values; lists and records are text, and what is no number is missing."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        texts = [None if cell is None else str(cell) for cell in column.to_list()]
        return pl.Series(column.name, texts, dtype=pl.String)
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    return without_nan(column)


def _exactly(column: pl.Series) -> pl.Series:
    """A column, or its texts if Excel would change one of its values.

    >>> _exactly(pl.Series([123456789012345678, 1])).to_list()
    ['123456789012345678', '1']
    >>> _exactly(pl.Series([date(1850, 1, 31), None])).to_list()
    ['1850-01-31', None]
    """
    if _is_exact(column):
        return column
    return column.dt.to_string("iso") if column.dtype.is_temporal() else column.cast(pl.String)


def _is_exact(column: pl.Series) -> bool:
    dtype = column.dtype
    if dtype.is_integer():
        return bool((column.cast(pl.Float64).abs() < 10.0**MOST_DIGITS).all())
    if dtype.is_decimal():
        numbers = column.drop_nulls().to_list()
        return all(len(n.normalize().as_tuple().digits) <= MOST_DIGITS for n in numbers)
    if dtype == pl.Date:
        return bool(column.is_between(FIRST_DAY, LAST_DAY).all())
    if isinstance(dtype, pl.Datetime):
        return dtype.time_zone is None and _is_exact(column.dt.date()) and _is_whole(column)
    return dtype not in CLOCKS or _is_whole(column)


def _is_whole(moments: pl.Series) -> bool:
    """Whether all are whole milliseconds."""
    return bool((_beyond_milliseconds(moments) == 0).all())


def _beyond_milliseconds(moments: pl.Series) -> pl.Series:
    """What moments have beyond whole milliseconds, in their own unit.

    >>> _beyond_milliseconds(pl.Series([1_001_500]).cast(pl.Duration("us"))).to_list()
    [500]
    """
    unit = getattr(moments.dtype, "time_unit", "ns")
    return moments.to_physical() % {"ms": 1, "us": 10**3, "ns": 10**6}[unit]


def _about_texts(frame: pl.DataFrame, columns: list[pl.Series]) -> Iterator[str]:
    """Which columns of numbers and moments became text."""
    texts = [column.name for column in columns if column.dtype == pl.String]
    names = [n for n in texts if frame[n].dtype.is_numeric() or frame[n].dtype.is_temporal()]
    if names:
        yield f"Written as text, since Excel would change some of the values: {listed(names)}."


def _refuse_cells(column: pl.Series, place: Place) -> None:
    """Refuse infinite numbers, and texts that are too long for a cell."""
    if column.dtype.is_float():
        suspects = column.is_infinite()
    elif column.dtype == pl.String:
        suspects = column.str.len_bytes() > MOST_CHARACTERS
    else:
        return
    for row in suspects.arg_true().to_list():
        why = _why_refused(column[row])
        if why:
            where = place(row, column.name)
            raise InvalidDataError(f"{where}: a cell of Excel {why}. {ELSE}")


def _why_refused(value: float | str) -> str:
    """What is wrong with an infinite number or a long text; nothing if it fits after all."""
    if isinstance(value, float):
        return f"cannot hold {value}"
    length = len(value.encode("utf-16-le")) // 2
    is_long = length > MOST_CHARACTERS
    return f"holds {MOST_CHARACTERS:,} characters, not {length:,}" if is_long else ""


class _Number(float):
    """A number that is written with all its digits: some need 17, xlsxwriter asks for 16."""

    def __format__(self, form: str) -> str:
        return repr(float(self))


def _unwritten(where: str) -> InvalidDataError:
    """What is raised for a cell that xlsxwriter left out or cut, which its answer tells."""
    return InvalidDataError(f"{where}: Excel cannot hold it. {ELSE}")


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
    if is_told and all(map(_may_name, names)):
        headers = [{"header": name} for name in names]
        options = {"columns": headers, "style": None, "autofilter": False}
        sheet.add_table(0, 0, max(frame.height, 1), frame.width - 1, options)


def _may_name(name: str) -> bool:
    """Whether a column of a table of Excel may have a name; control characters break the file."""
    is_plain = name.isprintable() and not ESCAPED.search(name)
    return is_plain and 0 < len(name) <= MOST_IN_NAME
