"""Typed files in parts: never more of them in memory than some rows."""

import glob
import io
from collections.abc import Callable, Iterator
from tempfile import NamedTemporaryFile

import polars as pl

from greyfill.files.formats import Format
from greyfill.files.loading import Input

Scan = tuple[pl.Schema, int, Callable[[], Iterator[pl.DataFrame]]]
"""The schema, the number of rows, and a way to read them in parts from the start."""


def scanned(source: Input, format: Format, rows: int) -> Scan:
    """A Parquet or Arrow file, some rows at a time."""
    lazy = _lazy(source, format)
    height = int(lazy.select(pl.len()).collect().item())

    def frames() -> Iterator[pl.DataFrame]:
        for start in range(0, height, rows):
            yield lazy.slice(start, rows).collect()

    return lazy.collect_schema(), height, frames


def json_lines(source: Input, size: int) -> Scan:
    """A file of JSON lines, some whole lines at a time."""
    schema, height = _json_schema(source, size)

    def frames() -> Iterator[pl.DataFrame]:
        for lines in _whole_lines(source, size):
            yield pl.read_ndjson(lines, schema=schema)

    return schema, height, frames


def _lazy(source: Input, format: Format) -> pl.LazyFrame:
    path = source.path or _spooled(source)
    name = glob.escape(path)
    return pl.scan_parquet(name) if format is Format.PARQUET else pl.scan_ipc(name)


def _spooled(source: Input) -> str:
    """Bytes that have no plain file of their own get one, for as long as the input is open."""
    spool = source.keep(NamedTemporaryFile(prefix="greyfill-"))  # noqa: SIM115
    for block in source.blocks():
        spool.write(block)
    spool.flush()
    return spool.name


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
    path = glob.escape(source.path or _spooled(source))
    return pl.scan_ndjson(path, infer_schema_length=None).collect_schema(), height


def _common(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """The type of both, where there is no doubt."""
    if other in (one, pl.Null):
        return one
    if one == pl.Null:
        return other
    return pl.Float64() if {one, other} == {pl.Int64(), pl.Float64()} else None


def _whole_lines(source: Input, size: int) -> Iterator[bytes]:
    """The bytes in blocks that end with a line; blocks of blank lines are left out."""
    rest: list[bytes] = []
    for block in source.blocks(size):
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
