"""Formats that store the types of their columns: polars and its engines read and write them.

`read_typed` reads a file at once, a `TypedReader` part by part, from what `scanned` makes of an
input. `writing_frames` writes rows that come in parts, as any format, and the file is the same
however they were cut.
"""

import glob
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import IO, Any, TypeVar, cast

import polars as pl
from polars.io.plugins import register_io_source

from greyfill.exceptions import FileProblemError, GreyfillError, InvalidDataError
from greyfill.files.atomic import put
from greyfill.files.formats import Format, Sink
from greyfill.files.inputs import Input, NoRowsError
from greyfill.files.json_formats import is_object, read_json, read_json_lines, scan_json_lines
from greyfill.files.words import UnusedWords, without_words, words_by_column

Result = TypeVar("Result")
Scan = tuple[pl.Schema, int, Callable[[], Iterator[pl.DataFrame]]]
"""The schema, the number of rows, and a way to read them in parts from the start."""

COLUMN_WISE = "The file holds columns, not records: it is written as an array of records."
BATCH_ROWS = 100_000
"""Rows that are read at a time, where the format counts rows."""

GROUP_ROWS = 100_000
"""Rows in a group of a Parquet file or a batch of an Arrow file, however they came."""


def read_typed(
    raw: bytes, format: Format, file: str, na_values: tuple[str, ...]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a frame and notes; cells that equal an NA value, as text or as a number, are holes."""
    frame, notes = read_whole(
        lambda: _whole(raw, format), format, file, na_values, is_empty=not raw
    )
    is_turned = format is Format.JSON and is_object(raw) and frame.height > 1
    return frame, (*notes, COLUMN_WISE) if is_turned else notes


def read_whole(
    scan: Callable[[], Scan],
    format: Format,
    file: str,
    na_values: tuple[str, ...],
    *,
    is_empty: bool,
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The one part of what was scanned, and notes."""
    reader = TypedReader(scan, format, file, na_values, is_empty=is_empty)
    (frame,) = reader.frames()
    return frame, reader.notes


def scan_of(frame: pl.DataFrame) -> Scan:
    """A frame as one part."""
    return frame.schema, frame.height, lambda: iter([frame])


class TypedReader:
    """A file with typed columns that is read part by part.

    Cells that equal an NA value are holes; the remembered ones of a model need not occur.
    """

    def __init__(
        self,
        scan: Callable[[], Scan],
        format: Format,
        file: str,
        na_values: tuple[str, ...],
        remembered: tuple[str, ...] = (),
        *,
        is_empty: bool = False,
    ) -> None:
        self._file, self._format = file, format
        self._is_read = False
        if is_empty:
            raise InvalidDataError(f"{file} is empty.")
        check_engine(format, "read")
        self.schema, self.height, self._frames = self._guarded(scan)
        self._unused = UnusedWords(*words_by_column(na_values, self.columns))
        self._na_values, self._words = words_by_column((*na_values, *remembered), self.columns)
        if not self.height:
            raise NoRowsError(f"{file} has no rows.", self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading; all of it when the rows were read."""
        return tuple(self._unused.notes()) if self._is_read else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows in parts."""
        frames = self._frames()
        while (frame := self._guarded(lambda: next(frames, None))) is not None:
            for column in frame:
                self._unused.update(column)
            yield frame.with_columns(
                without_words(column, (*self._na_values, *self._words.get(column.name, ())))
                for column in frame
            )
        self._is_read = True

    def _guarded(self, work: Callable[[], Result]) -> Result:
        """Do work of an engine; an error of the engine becomes one that names the file."""
        try:
            return work()
        except FileProblemError:
            raise
        except NoRowsError as error:
            raise NoRowsError(f"{self._file}: {error}", error.columns) from None
        except GreyfillError as error:
            if str(error).startswith(self._file):
                raise
            raise type(error)(f"{self._file}: {error}") from None
        except BaseException as error:
            # Each engine has errors of its own, and a class of panics, which are no Exception.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            first_line = (str(error).splitlines() or [type(error).__name__])[0]
            raise InvalidDataError(
                f"{self._file} cannot be read as {self._format}: {first_line}"
            ) from error


def check_engine(format: Format, deed: str) -> None:
    """Say what to install if a package for the format is lacking."""
    engine = {"read": "fastexcel", "write": "xlsxwriter", "fill": "openpyxl"}[deed]
    if format.is_book and find_spec(engine) is None:
        raise FileProblemError(
            f'To {deed} workbooks, {engine} is needed: pip install "greyfill[excel]"'
        )


def scanned(source: Input, format: Format, size: int, rows: int) -> Scan:
    """A file in parts of so many rows, or of lines of about so many bytes."""
    if format is Format.JSON:
        return _whole(b"".join(source.blocks()), format)
    if format is Format.JSON_LINES:
        return scan_json_lines(source, size)
    path = glob.escape(source.plain_path())
    lazy = pl.scan_parquet(path) if format is Format.PARQUET else pl.scan_ipc(path)
    height = int(lazy.select(pl.len()).collect().item())
    starts = range(0, height, rows)
    return lazy.collect_schema(), height, lambda: (lazy.slice(i, rows).collect() for i in starts)


def _whole(raw: bytes, format: Format) -> Scan:
    """A file as one part."""
    return scan_of(_READERS[format](raw))


_READERS: dict[Format, Callable[[bytes], Any]] = {
    Format.PARQUET: pl.read_parquet,
    Format.ARROW: pl.read_ipc,
    Format.JSON_LINES: read_json_lines,
    Format.JSON: read_json,
}


class FrameWriter:
    """Takes the rows of a table, part by part; ``notes`` tell what is not written as it was."""

    notes: tuple[str, ...] = ()

    def __init__(self, sink: Sink, format: Format) -> None:
        self._sink, self._format = sink, format

    def write(self, frame: pl.DataFrame) -> None:
        """Take some rows."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what is left."""

    def stop(self) -> None:
        """End what is under way, without a file."""


@contextmanager
def writing_frames(
    sink: Sink, format: Format, writer: FrameWriter | None = None
) -> Iterator[FrameWriter]:
    """A writer of frames with the same columns; the file is the same however the rows were cut.

    Without one for the file that was read, it is that of the format.
    """
    writer = _WRITERS[format](sink, format) if writer is None else writer
    try:
        yield writer
    except BaseException:
        writer.stop()
        raise
    try:
        writer.finish()
    except pl.exceptions.PolarsError as error:
        raise InvalidDataError(f"The table cannot be written as {format}: {error}") from error


def put_parquet(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a Parquet file, an older one there is replaced at once or not at all."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    put(path, [buffer.getvalue()], force=True)


def _refuse_unheld(frame: pl.DataFrame, format: Format) -> None:
    """Refuse columns that texts and workbooks cannot hold, in words: polars panics at some."""
    is_csv, is_json = format is Format.CSV, format in (Format.JSON, Format.JSON_LINES)
    for name, dtype in frame.schema.items():
        if is_json and dtype.is_float() and frame[name].is_infinite().any():
            raise InvalidDataError(
                f"Column {name!r} holds infinite numbers, which {format} cannot hold. Name an "
                "output that ends in .csv or .parquet, or drop the column."
            )
        if dtype == pl.Binary or (is_csv and (dtype.is_nested() or dtype == pl.Duration)):
            raise InvalidDataError(
                f"Column {name!r} holds {dtype}, which {format} cannot hold. Name an output that "
                "ends in .parquet, or drop the column."
            )


class _LineWriter(FrameWriter):
    """CSV or JSON lines: parts are texts that follow each other."""

    _is_first = True

    def write(self, frame: pl.DataFrame) -> None:
        is_csv = self._format is Format.CSV
        _refuse_unheld(frame, self._format)
        text = frame.write_csv(include_header=self._is_first) if is_csv else frame.write_ndjson()
        self._is_first = False
        self._sink.write(text.encode())


class WholeWriter(FrameWriter):
    """A file that is made as a whole."""

    def __init__(self, sink: Sink, format: Format) -> None:
        super().__init__(sink, format)
        self._frames: list[pl.DataFrame] = []

    def write(self, frame: pl.DataFrame) -> None:
        """Take some rows."""
        _refuse_unheld(frame, self._format)
        self._frames.append(frame)


class _JsonWriter(WholeWriter):
    """An array of records."""

    def finish(self) -> None:
        self._sink.write(pl.concat(self._frames).write_json().encode() + b"\n")


class _GroupWriter(FrameWriter):
    """Parquet or Arrow: polars takes groups of rows from a queue, in a thread of its own."""

    def __init__(self, sink: Sink, format: Format) -> None:
        super().__init__(sink, format)
        self._stream = _Watched(sink)
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
        self._is_stopped.set()
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> None:
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


_WRITERS: dict[Format, type[FrameWriter]] = {
    Format.CSV: _LineWriter,
    Format.JSON_LINES: _LineWriter,
    Format.JSON: _JsonWriter,
    Format.PARQUET: _GroupWriter,
    Format.ARROW: _GroupWriter,
}
