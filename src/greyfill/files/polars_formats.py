"""Formats that store the types of their columns: polars and its engines read and write them."""

import glob
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, Full, Queue
from tempfile import NamedTemporaryFile
from threading import Event, Thread
from typing import IO, Any, Protocol, TypeVar, cast

import polars as pl
from polars.io.plugins import register_io_source

from greyfill.exceptions import FileProblemError, InvalidDataError
from greyfill.files.atomic import put
from greyfill.files.formats import Format, Sink
from greyfill.files.inputs import BLOCK, Input, shown
from greyfill.files.na_values import UnusedWords, without_sentinels

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


GROUP_ROWS = 100_000
"""Rows in a group of a Parquet file or a batch of an Arrow file, however they came."""


class FrameWriter(Protocol):
    """Takes the rows of a table, part by part."""

    def write(self, frame: pl.DataFrame) -> None:
        """Take some rows."""
        ...


@contextmanager
def writing_frames(sink: Sink, format: Format) -> Iterator[FrameWriter]:
    """A writer of frames with the same columns; the file is the same however the rows were cut."""
    check_engine(format, "write")
    writer = _WRITERS[format](sink)
    try:
        yield writer
    except BaseException:
        writer.stop()
        raise
    try:
        writer.finish()
    except pl.exceptions.PolarsError as error:
        raise InvalidDataError(f"The table cannot be written as {format}: {error}") from error


class _LineWriter:
    """CSV or JSON lines: parts are texts that follow each other."""

    def __init__(self, sink: Sink, *, as_csv: bool) -> None:
        self._sink, self._as_csv = sink, as_csv
        self._is_first = True

    def write(self, frame: pl.DataFrame) -> None:
        text = (
            frame.write_csv(include_header=self._is_first) if self._as_csv else frame.write_ndjson()
        )
        self._is_first = False
        self._sink.write(text.encode())

    def stop(self) -> None:
        """Nothing to stop."""

    def finish(self) -> None:
        """Nothing is left to write."""


class _BookWriter:
    """A workbook, which is made as a whole; text that looks like a formula stays text."""

    def __init__(self, sink: Sink) -> None:
        self._sink, self._frames = sink, list[pl.DataFrame]()

    def write(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)

    def stop(self) -> None:
        """Nothing to stop."""

    def finish(self) -> None:
        """Make the book."""
        xlsxwriter = import_module("xlsxwriter")
        options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
        buffer = io.BytesIO()
        with xlsxwriter.Workbook(buffer, options) as book:
            pl.concat(self._frames).write_excel(book, autofilter=False)
        self._sink.write(buffer.getvalue())


class _GroupWriter:
    """Parquet or Arrow: polars takes groups of rows from a queue, in a thread of its own."""

    def __init__(self, sink: Sink, format: Format) -> None:
        self._stream, self._format = _Watched(sink), format
        self._waiting: list[pl.DataFrame] = []
        self._queue: Queue[pl.DataFrame | None] = Queue(maxsize=1)
        self._is_stopped = Event()
        self._thread: Thread | None = None
        self._error: BaseException | None = None

    def write(self, frame: pl.DataFrame) -> None:
        self._waiting.append(frame)
        if sum(part.height for part in self._waiting) < GROUP_ROWS:
            return
        rows = pl.concat(self._waiting)
        full = rows.height - rows.height % GROUP_ROWS
        for start in range(0, full, GROUP_ROWS):
            self._put(rows[start : start + GROUP_ROWS])
        self._waiting = [rows[full:]]

    def stop(self) -> None:
        """End the thread without a file."""
        self._is_stopped.set()
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> None:
        """Write the rest and wait for the thread."""
        rest = pl.concat(self._waiting)
        if rest.height or self._thread is None:
            self._put(rest)
        self._put(None)
        assert self._thread is not None
        self._thread.join()
        self._raise()

    def _put(self, group: pl.DataFrame | None) -> None:
        if self._thread is None and group is not None:
            self._thread = Thread(target=self._run, args=(group.schema,), daemon=True)
            self._thread.start()
        while not self._is_stopped.is_set():
            with suppress(Full):
                self._queue.put(group, timeout=0.1)
                return
        self._raise()

    def _raise(self) -> None:
        error = self._stream.error or self._error
        if error is not None:
            raise error

    def _run(self, schema: pl.Schema) -> None:
        lazy = register_io_source(self._groups, schema=schema)
        stream = cast(IO[bytes], self._stream)
        try:
            if self._format is Format.PARQUET:
                lazy.sink_parquet(stream, row_group_size=GROUP_ROWS, engine="streaming")
            else:
                lazy.sink_ipc(stream, compression="uncompressed", engine="streaming")
        except BaseException as error:
            self._error = error
            self._is_stopped.set()

    def _groups(
        self, columns: Any, predicate: Any, n_rows: Any, batch_size: Any
    ) -> Iterator[pl.DataFrame]:
        while not self._is_stopped.is_set():
            try:
                group = self._queue.get(timeout=0.1)
            except Empty:
                continue
            if group is None:
                return
            yield group.rechunk()
        raise InterruptedError


class _Watched(io.RawIOBase):
    """A sink that remembers why it could not be written, which polars tells only in words."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            self._sink.write(bytes(data))
        except OSError as error:
            self.error = error
            raise
        return len(data)


_WRITERS: dict[Format, Any] = {
    Format.CSV: lambda sink: _LineWriter(sink, as_csv=True),
    Format.JSON_LINES: lambda sink: _LineWriter(sink, as_csv=False),
    Format.EXCEL: _BookWriter,
    Format.PARQUET: lambda sink: _GroupWriter(sink, Format.PARQUET),
    Format.ARROW: lambda sink: _GroupWriter(sink, Format.ARROW),
}


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
    unused = UnusedWords(na_values)
    for column in frame:
        unused.update(column)
    return _with_nulls(frame, na_values), (*_usual_notes(format), *unused.notes())


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
        self._na_values, self._unused = (*na_values, *remembered), UnusedWords(na_values)
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
        return (*_usual_notes(self._format), *(self._unused.notes() if self._is_read else ()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows in parts; cells that equal an NA value are holes."""
        frames = self._frames()
        while (frame := _telling(self._file, self._format, lambda: next(frames, None))) is not None:
            for column in frame:
                self._unused.update(column)
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
