"""Formats that store the types of their columns: polars and its engines read and write them."""

import io
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, TypeVar

import polars as pl

from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.atomic import put
from greyfill.files.formats import Format
from greyfill.files.loading import BLOCK, Input, shown
from greyfill.files.scanning import json_lines, scanned
from greyfill.files.sentinels import without_sentinels
from greyfill.files.unfound import Unfound

Result = TypeVar("Result")

NOTES = {
    Format.EXCEL: "Only the first sheet of a workbook is read and written: values, no formatting, "
    "no formulas."
}
BATCH_ROWS = 100_000
"""Rows that are read at a time, where the format counts rows."""


def read_typed(
    raw: bytes, format: Format, file: str, na_values: tuple[str, ...]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a frame and notes; cells that equal an NA value, as text or as a number, are holes."""
    if not raw:
        raise InvalidDataError(f"{file} is empty.")
    check_engine(format, "read")
    frame: pl.DataFrame = _telling(file, format, lambda: _READERS[format](io.BytesIO(raw)))
    if frame.is_empty():
        raise InvalidDataError(f"{file} has no rows.")
    unfound = Unfound(na_values)
    for column in frame:
        unfound.look(column)
    return _with_nulls(frame, na_values), (*_usual_notes(format), *unfound.notes())


class TypedReader:
    """A file with typed columns that is read part by part; a workbook is one part."""

    def __init__(
        self,
        source: Input,
        format: Format,
        na_values: tuple[str, ...],
        size: int = BLOCK,
        rows: int = BATCH_ROWS,
        remembered: tuple[str, ...] = (),
    ) -> None:
        self._file, self._format = shown(source.name), format
        self._na_values, self._unfound = (*na_values, *remembered), Unfound(na_values)
        self._is_read = False
        if not source.head(1):
            raise InvalidDataError(f"{self._file} is empty.")
        check_engine(format, "read")
        self.schema, self.height, self._frames = _telling(
            self._file, format, lambda: self._open(source, size, rows)
        )
        if not self.height:
            raise InvalidDataError(f"{self._file} has no rows.")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading; all of it when the rows were read."""
        return (*_usual_notes(self._format), *(self._unfound.notes() if self._is_read else ()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows in parts; cells that equal an NA value are holes."""
        frames = self._frames()
        while (frame := _telling(self._file, self._format, lambda: next(frames, None))) is not None:
            for column in frame:
                self._unfound.look(column)
            yield _with_nulls(frame, self._na_values)
        self._is_read = True

    def _open(self, source: Input, size: int, rows: int) -> Any:
        if self._format in (Format.PARQUET, Format.ARROW):
            return scanned(source, self._format, rows)
        if self._format is Format.JSON_LINES:
            return json_lines(source, size)
        frame = _READERS[self._format](io.BytesIO(b"".join(source.blocks())))
        return frame.schema, frame.height, lambda: iter([frame])


def check_engine(format: Format, deed: str) -> None:
    """Say what to install if a package for the format is lacking."""
    engine = {"read": "fastexcel", "write": "xlsxwriter"}[deed]
    if format is Format.EXCEL and find_spec(engine) is None:
        raise FileProblemError(
            f'To {deed} Excel files, {engine} is needed: pip install "greyfill[excel]"'
        )


def _usual_notes(format: Format) -> tuple[str, ...]:
    return (NOTES[format],) if format in NOTES else ()


def _telling(file: str, format: Format, work: Callable[[], Result]) -> Result:
    try:
        return work()
    except (InvalidDataError, FileProblemError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # each engine has its own
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidDataError(f"{file} cannot be read as {format}: {first_line}") from error


def _with_nulls(frame: pl.DataFrame, na_values: tuple[str, ...]) -> pl.DataFrame:
    return frame.with_columns([_column_with_nulls(column, na_values) for column in frame])


def put_parquet(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a Parquet file, an older one there is replaced at once or not at all."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    put(path, [buffer.getvalue()], force=True)


def _column_with_nulls(column: pl.Series, na_values: tuple[str, ...]) -> pl.Series:
    if na_values and column.dtype == pl.String:
        return column.set(column.is_in(list(na_values)), None)
    return without_sentinels(column, na_values)


_READERS: dict[Format, Callable[[io.BytesIO], Any]] = {
    Format.PARQUET: pl.read_parquet,
    Format.ARROW: pl.read_ipc,
    Format.JSON_LINES: lambda buffer: pl.read_ndjson(buffer, infer_schema_length=None),
    Format.EXCEL: pl.read_excel,
}
