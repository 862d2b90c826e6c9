"""Formats that store the types of their columns: polars and its engines read and write them."""

import io
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import polars as pl

from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.atomic import put
from greyfill.files.formats import Format

NOTES = {
    Format.EXCEL: "Only the first sheet of a workbook is read and written: values, no formatting, "
    "no formulas."
}


def read_typed(raw: bytes, format: Format, file: str, na_values: tuple[str, ...]) -> pl.DataFrame:
    """Read a frame; cells that equal an NA value, as text or as a number, are holes."""
    if not raw:
        raise InvalidDataError(f"{file} is empty.")
    _check_engine(format, "read")
    try:
        frame: pl.DataFrame = _READERS[format](io.BytesIO(raw))
    except (Exception, pl.exceptions.PanicException) as error:  # each engine has its own
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidDataError(f"{file} cannot be read as {format}: {first_line}") from error
    if frame.is_empty():
        raise InvalidDataError(f"{file} has no rows.")
    return frame.with_columns([_with_nulls(column, na_values) for column in frame])


def write_typed(frame: pl.DataFrame, format: Format) -> Iterator[bytes]:
    """The bytes of a file with this frame."""
    _check_engine(format, "write")
    buffer = io.BytesIO()
    try:
        _WRITERS[format](frame, buffer)
    except pl.exceptions.PolarsError as error:
        raise InvalidDataError(f"The table cannot be written as {format}: {error}") from error
    yield buffer.getvalue()


def put_parquet(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a Parquet file, an older one there is replaced at once or not at all."""
    put(path, write_typed(frame, Format.PARQUET), force=True)


def _with_nulls(column: pl.Series, na_values: tuple[str, ...]) -> pl.Series:
    if na_values and column.dtype == pl.String:
        return column.set(column.is_in(list(na_values)), None)
    if na_values and column.dtype.is_numeric():
        numbers = pl.Series(list(na_values)).cast(pl.Float64, strict=False).drop_nulls()
        return column.set(column.cast(pl.Float64).is_in(numbers.to_list()), None)
    return column


def _check_engine(format: Format, deed: str) -> None:
    engine = {"read": "fastexcel", "write": "xlsxwriter"}[deed]
    if format is Format.EXCEL and find_spec(engine) is None:
        raise FileProblemError(
            f'To {deed} Excel files, {engine} is needed: pip install "greyfill[excel]"'
        )


def _write_excel(frame: pl.DataFrame, buffer: io.BytesIO) -> None:
    """One sheet; text that looks like a formula or an address stays text."""
    xlsxwriter = import_module("xlsxwriter")
    options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
    with xlsxwriter.Workbook(buffer, options) as book:
        frame.write_excel(book, autofilter=False)


_READERS: dict[Format, Callable[[io.BytesIO], Any]] = {
    Format.PARQUET: pl.read_parquet,
    Format.ARROW: pl.read_ipc,
    Format.JSON_LINES: lambda buffer: pl.read_ndjson(buffer, infer_schema_length=None),
    Format.EXCEL: pl.read_excel,
}
_WRITERS: dict[Format, Callable[[pl.DataFrame, io.BytesIO], Any]] = {
    Format.CSV: pl.DataFrame.write_csv,
    Format.PARQUET: pl.DataFrame.write_parquet,
    Format.ARROW: pl.DataFrame.write_ipc,
    Format.JSON_LINES: pl.DataFrame.write_ndjson,
    Format.EXCEL: _write_excel,
}
