"""A first look at a file, before the libraries that read its cells are loaded.

A mistake in a call, such as a column that the file has not, is answered by it at once.
"""

import json
import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from greyfill.exceptions import GreyfillError
from greyfill.files.dialect import check_marks, find_delimiter, find_header, header_names
from greyfill.files.formats import HEAD, Format, found_format, layout_of
from greyfill.files.inputs import (
    STANDARD_STREAM,
    Blocks,
    Input,
    find_encoding,
    first_bytes,
    refuse_sheet,
    shown,
)
from greyfill.files.preamble import ARFF_HEAD, Preamble, arff_head, find_preamble
from greyfill.files.sample import SAMPLE
from greyfill.files.workbook_parts import peek_columns

PEEKED, PARSED = 1 << 25, 1 << 20
"""Larger files are not read twice for the sake of a quick answer: text and sheets, and JSON."""

STATISTICS = {Format.SPSS: "read_sav", Format.STATA: "read_dta", Format.SAS: "read_sas7bdat"}
SCHEMAS = {Format.PARQUET: "read_parquet_schema", Format.ARROW: "read_ipc_schema"}


def peek_names(
    name: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    date_order: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    strict: bool = False,
) -> tuple[str, ...]:
    """The column names of a file; none of them where it takes longer to tell.

    What is said about the reading and could be right for no such file is refused.
    """
    check_marks(decimal, date_order)
    layout = layout_of(name)
    if name == STANDARD_STREAM or (os.path.exists(name) and not os.path.isfile(name)):
        return ()
    with Input(name, layout.compression) as source:
        format = found_format(layout, source.head(HEAD))
        refuse_sheet(sheet, format, name)
        if format is Format.CSV:
            return _csv_names(source, delimiter, encoding, header, strict=strict)
        return _other_names(source, format, sheet, strict=strict)


def _other_names(
    source: Input, format: Format, sheet: str | None, *, strict: bool
) -> tuple[str, ...]:
    """The names in a file that is no CSV."""
    name = source.name
    if format is Format.ARFF:
        head = source.head(ARFF_HEAD)
        return arff_head(head, shown(name)).names if head.isascii() else ()
    most = {Format.EXCEL: PEEKED, Format.JSON: PARSED, Format.JSON_LINES: PARSED}
    size = os.path.getsize(name)
    if source.compression is not None or size > most.get(format, size):
        return ()
    try:
        if format is Format.EXCEL:
            return peek_columns(name, sheet, strict=strict)
        return _typed_names(name, format)
    except GreyfillError:
        raise
    except BaseException as error:  # whoever reads the cells will say what is wrong
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return ()


def _csv_names(
    source: Input, delimiter: str | None, encoding: str | None, header: bool | None, *, strict: bool
) -> tuple[str, ...]:
    head = first_bytes(source.blocks(), SAMPLE + 1)
    is_plain = head.isascii() and b"\0" not in head  # the same in any encoding
    if not is_plain and os.path.getsize(source.name) > PEEKED:
        return ()
    blocks: Blocks = (lambda: [head]) if is_plain else source.blocks
    found = find_encoding(blocks, shown(source.name), encoding)
    sample = first_bytes(found.decode(blocks()), SAMPLE + 1)
    given = None if delimiter is None else find_delimiter(sample, delimiter)
    before = Preamble()
    if not strict:
        before = find_preamble(sample, found.newline, given, titled=not header)
    sample = sample[len(before.text) :]
    mark = find_delimiter(sample, given if before.delimiter is None else before.delimiter)
    line, _ = find_header(sample, mark, found.newline, given=header, strict=strict)
    return header_names(sample, mark, found.newline, shown(source.name), line)


def _typed_names(name: str, format: Format) -> tuple[str, ...]:
    """The names in a file whose columns have types."""
    if format in SCHEMAS:
        return tuple(getattr(import_module("polars"), SCHEMAS[format])(name))
    if format in STATISTICS and find_spec("pyreadstat") is not None:
        read = getattr(import_module("pyreadstat"), STATISTICS[format])
        return tuple(read(name, metadataonly=True, output_format="dict")[1].column_names)
    if format not in (Format.JSON, Format.JSON_LINES):
        return ()
    with open(name, "rb") as stream:
        is_lines = format is Format.JSON_LINES
        lines = [line for line in stream if not line.isspace()] if is_lines else []
        records: Any = [*map(json.loads, lines)] if is_lines else json.load(stream)
    if isinstance(records, dict):
        return tuple(records)
    return tuple(dict.fromkeys(key for record in records for key in dict(record)))
