"""JSON: an array of records, an object of columns, or records in lines.

polars gives all cells of a column one type. A cell that would not be the same in it is refused: a
truth among numbers, and a whole number that a float cannot hold, in lists and objects too. So is a
name that stands twice in a record, of which polars keeps the first, and half of a character, of
which it makes a zero byte.
"""

import glob
import io
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.inputs import Input

Cells = Mapping[str, Iterable[tuple[int, Any]]]
"""Cells of columns as the file has them, after their rows."""

DOUBTFUL = r"^(true|false|-?\d{16,})$"
"""What a column of numbers may not hold: truths, and whole numbers that are no exact floats."""

EXACT = 2**53
"""Up to here, a float holds every whole number."""

LARGEST = 2**127
"""Whole numbers from here on have no type."""

MARK = b"\xef\xbb\xbf"
"""What some programs put before a text in UTF-8."""

HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, as a text has that was cut off between the two escapes of one."""

ESCAPED_HALF = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
)

RECORD = re.compile(r"[^\s,\[]")
"""How a record begins, or an array of them ends: behind blanks, commas and the array's bracket."""

ONE_KIND = "Write all cells of the column in one way, as numbers, as true and false, or as text."


def is_object(raw: bytes) -> bool:
    """Whether the text is one object, of columns or with the cells of one row."""
    return raw.removeprefix(MARK).lstrip().startswith(b"{")


def read_json(raw: bytes) -> pl.DataFrame:
    """An array of records, or an object of columns: lists, or cells by the names of their rows."""
    raw = raw.removeprefix(MARK)
    columns = json.loads(raw, object_pairs_hook=_object) if is_object(raw) else {}
    if columns and all(isinstance(cells, list | dict) for cells in columns.values()):
        _refuse_split(columns)
        return _read_columns(columns)
    frame = pl.read_json(raw, infer_schema_length=None)
    _refuse_changed(frame, _has_truths(raw), partial(_cells, pl.read_json, raw))
    _refuse_lost(frame, raw)
    return frame


def read_json_lines(raw: bytes) -> pl.DataFrame:
    """A record in each line."""
    raw = raw.removeprefix(MARK)
    types = pl.scan_ndjson(io.BytesIO(raw), infer_schema_length=None).collect_schema()
    return _read_lines(raw, types)


def scan_json_lines(
    source: Input, size: int
) -> tuple[pl.Schema, int, Callable[[], Iterator[pl.DataFrame]]]:
    """The types of all lines, their number, and the lines in parts of about so many bytes."""
    schema, height = _json_schema(source, size)
    return schema, height, lambda: _json_frames(source, size, schema)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object as a dict, which has each name once and texts of whole characters."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise InvalidDataError(
            f"The name {name!r} stands twice in one object, so that one of its values would be "
            "lost. Give each a name of its own."
        )
    for name, cells in pairs:
        for text in (name, *_texts(cells)):
            if HALF.search(text):
                raise InvalidDataError(
                    f"The name {name!r} has the text {text!r} with half of a character, which no "
                    "table can hold. Write the character whole, or leave it out."
                )
    return found


def _texts(cell: Any) -> Iterator[str]:
    """The texts of a cell; those of objects in it were seen before it."""
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, list):
        for one in cell:
            yield from _texts(one)


def _refuse_split(columns: dict[str, Any]) -> None:
    """Refuse rows that stand apart from the names of their columns, as pandas can write them."""
    rows = columns.get("data")
    if "columns" in columns and isinstance(rows, list) and all(isinstance(r, list) for r in rows):
        raise InvalidDataError(
            "The names of the columns stand apart from the rows (orient='split' of pandas). "
            "Write an array of records (orient='records')."
        )


def _read_columns(columns: dict[str, list[Any] | dict[str, Any]]) -> pl.DataFrame:
    cells = _by_row(columns)
    for name, column in cells.items():
        _refuse_nested(name, column)
    frame = pl.DataFrame(cells, strict=False)
    _refuse_cells(frame.schema, {name: enumerate(column) for name, column in cells.items()})
    names = _nested(frame)
    if names:
        rows = zip(*(cells[name] for name in names), strict=True)
        _refuse_changed_nested(frame, (dict(zip(names, row, strict=True)) for row in rows))
    return frame


def _by_row(columns: dict[str, Any]) -> dict[str, list[Any]]:
    """The cells of columns, one for each row: by the names of rows, or as they follow each other.

    >>> _by_row({"a": {"x": 1, "y": 2}, "b": {"z": 30, "y": 20}})
    {'a': [1, 2, None], 'b': [None, 20, 30]}
    """
    named = {name: cells for name, cells in columns.items() if isinstance(cells, dict)}
    if not named:
        return columns
    if len(named) < len(columns):
        listed = next(name for name in columns if name not in named)
        raise InvalidDataError(
            f"Column {next(iter(named))!r} has names of rows, column {listed!r} is a list, so it "
            "cannot be told which cells are of one row. Write both in one way, or an array of "
            "records."
        )
    rows = dict.fromkeys(row for cells in named.values() for row in cells)
    return {name: [cells.get(row) for row in rows] for name, cells in named.items()}


def _refuse_nested(name: str, cells: list[Any]) -> None:
    """Refuse lists and objects among other cells, which polars drops or spells in its own way."""
    kinds = set(map(type, cells)) - {type(None)}
    if len(kinds) > 1 and kinds & {list, dict}:
        row = next(row for row, cell in enumerate(cells) if isinstance(cell, list | dict))
        raise InvalidDataError(
            f"Column {name!r}, row {row + 1}: a list or an object stands among cells of another "
            f"kind. {ONE_KIND}"
        )


def _read_lines(lines: bytes, types: Mapping[str, pl.DataType], first: int = 0) -> pl.DataFrame:
    """Some lines as these types; ``first`` is the row of the first one."""
    try:
        frame = pl.read_ndjson(lines, schema=types)
    except pl.exceptions.PolarsError:  # it names neither column nor row
        numbers = [name for name, dtype in types.items() if dtype.is_numeric()]
        with suppress(pl.exceptions.PolarsError):
            _refuse_cells(types, _cells(pl.read_ndjson, lines, numbers), first)
        raise
    _refuse_changed(frame, _has_truths(lines), partial(_cells, pl.read_ndjson, lines), first)
    _refuse_lost(frame, lines, first)
    return frame


def _cells(read: Callable[..., pl.DataFrame], raw: bytes, names: Sequence[str]) -> Cells:
    """The cells in doubt of columns of numbers: read as text, each is as the file has it."""
    found = {}
    for column in read(raw, schema=dict.fromkeys(names, pl.String)):
        rows = column.str.contains(DOUBTFUL).arg_true()
        found[column.name] = [(row, json.loads(column[row])) for row in rows]
    return found


def _has_truths(raw: bytes) -> bool:
    return b"true" in raw or b"false" in raw


def _refuse_changed(
    frame: pl.DataFrame, has_truths: bool, cells: Callable[[Sequence[str]], Cells], first: int = 0
) -> None:
    """Refuse cells that are not in the frame as they are in the file."""
    doubtful = [column.name for column in frame if _may_be_changed(column, has_truths)]
    if doubtful:
        _refuse_cells(frame.schema, cells(doubtful), first)


def _refuse_lost(frame: pl.DataFrame, raw: bytes, first: int = 0) -> None:
    """Refuse records of which the frame has not all; they are only read again if it may be so."""
    if _nested(frame):
        _refuse_changed_nested(frame, _records(raw, first), first)
    elif not _is_plain(frame, raw):
        deque(_records(raw, first), maxlen=0)


def _is_plain(frame: pl.DataFrame, raw: bytes) -> bool:
    """Whether as many names have values as the frame has cells, and all characters are whole.

    A text that looks like a name makes the numbers differ, which costs a second reading alone.
    """
    if b'" :' in raw or (b"\\u" in raw and ESCAPED_HALF.search(raw)):
        return False
    n_named = raw.count(b'":') - raw.count(b'":null') - raw.count(b'": null')
    return n_named == sum(column.count() for column in frame)


def _records(raw: bytes, first: int) -> Iterator[Any]:
    """The records of an array or of lines, one by one."""
    decode, text = json.JSONDecoder(object_pairs_hook=_object).raw_decode, raw.decode()
    row, end = first, 0
    while (begin := RECORD.search(text, end)) and begin[0] != "]":
        row += 1
        try:
            record, end = decode(text, begin.start())
        except InvalidDataError as error:
            raise InvalidDataError(f"Row {row}: {error}") from None
        yield record


def _nested(frame: pl.DataFrame) -> list[str]:
    """The columns of lists and objects."""
    return [column.name for column in frame if column.dtype.is_nested()]


def _refuse_changed_nested(
    frame: pl.DataFrame, records: Iterable[dict[str, Any]], first: int = 0
) -> None:
    """Refuse lists and objects that are not in the frame as they are in the file."""
    names = _nested(frame)
    for row, (record, held) in enumerate(zip(records, frame[names].rows(), strict=True)):
        for name, cell in zip(names, held, strict=True):
            if not _is_same(record.get(name), cell):
                raise InvalidDataError(
                    f"Column {name!r}, row {first + row + 1}: a list or an object has cells that "
                    f"would change beside those of other rows. {ONE_KIND}"
                )


def _is_same(cell: Any, held: Any) -> bool:
    """Whether a frame holds a cell; of texts and other cells it makes texts.

    >>> _is_same({"x": [1, 2]}, {"x": [1.0, 2.0], "y": None}), _is_same([True], [1])
    (True, False)
    """
    if isinstance(held, dict) and isinstance(cell, dict):
        return cell.keys() <= held.keys() and all(_is_same(cell.get(k), v) for k, v in held.items())
    if isinstance(held, list) and isinstance(cell, list):
        return len(cell) == len(held) and all(map(_is_same, cell, held))
    if isinstance(held, str):
        return not isinstance(cell, str) or cell == held
    is_equal = cell == held or repr(cell) == repr(held)  # a NaN equals none
    return is_equal and isinstance(cell, bool) == isinstance(held, bool)


def _may_be_changed(column: pl.Series, has_truths: bool) -> bool:
    """Whether a cell may have been something else in the file: a truth, or a larger number."""
    if not column.dtype.is_numeric():
        return False
    if has_truths and ((column == 0) | (column == 1)).any():
        return True
    if column.dtype.is_float():
        return bool((column.abs() >= EXACT).any())
    return column.dtype == pl.Int128 and column.has_nulls()


def _refuse_cells(types: Mapping[str, pl.DataType], cells: Cells, first: int = 0) -> None:
    """Refuse cells that a column of numbers cannot hold; ``first`` is the row of the first one."""
    for name in (name for name in cells if types[name].is_numeric()):
        for row, cell in cells[name]:
            problem = _problem(cell, types[name])
            if problem is not None:
                raise InvalidDataError(f"Column {name!r}, row {first + row + 1}: {problem}")


def _problem(cell: Any, dtype: pl.DataType) -> str | None:
    """Why a column of numbers cannot hold a cell, and what helps; None if it can."""
    if isinstance(cell, bool):
        return f"{json.dumps(cell)} stands in a column of numbers. {ONE_KIND}"
    if not isinstance(cell, int) or _is_held(cell, dtype):
        return None
    among = "a column with decimals" if dtype.is_float() else "a column of numbers"
    return (
        f"{cell} has more digits than {among} can keep. Write the cells of the column as text, in "
        "quotes, or drop the column."
    )


def _is_held(number: int, dtype: pl.DataType) -> bool:
    """Whether a column of this type holds a whole number, digit by digit."""
    if abs(number) <= EXACT or abs(number) >= LARGEST or not dtype.is_float():
        return abs(number) < LARGEST
    return Decimal(repr(float(number))) == number


def _json_frames(source: Input, size: int, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    first = 0
    for lines in _whole_lines(source, size):
        frame = _read_lines(lines, schema, first)
        first += frame.height
        yield frame


def _json_schema(source: Input, size: int) -> tuple[pl.Schema, int]:
    """The types of all lines. Parts that disagree are left to polars, which then sees all lines."""
    columns: dict[str, pl.DataType] = {}
    height, agreed = 0, True
    for lines in _whole_lines(source, size):
        height += sum(not line.isspace() for line in lines.splitlines(keepends=True))
        part = pl.scan_ndjson(io.BytesIO(lines), infer_schema_length=None).collect_schema()
        columns = columns or dict(part)
        agreed = agreed and list(part) == list(columns)
        for name in part if agreed else ():
            common = _common(columns[name], part[name])
            columns[name], agreed = common or columns[name], agreed and common is not None
    if agreed:
        return pl.Schema(columns), height
    path = glob.escape(source.plain_path())
    return pl.scan_ndjson(path, infer_schema_length=None).collect_schema(), height


def _common(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """The type of both, where only one is possible."""
    if other in (one, pl.Null):
        return one
    if one == pl.Null:
        return other
    return pl.Float64() if {one, other} == {pl.Int64(), pl.Float64()} else None


def _whole_lines(source: Input, size: int) -> Iterator[bytes]:
    """The bytes in blocks that end with a line; blocks of blank lines are left out."""
    blocks = iter(source.blocks(size))
    rest = [next(blocks, b"").removeprefix(MARK)]
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            lines = b"".join([*rest, block[:end]])
            rest = [block[end:]]
            if lines.strip():
                yield lines
        else:
            rest.append(block)
    if b"".join(rest).strip():
        yield b"".join(rest)
