"""Frames, one after another → one file of any format."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import IO, Any, Protocol, cast

import polars as pl
from polars.io.plugins import register_io_source

from greyfill.exceptions import InvalidDataError
from greyfill.files.compressing import Sink
from greyfill.files.formats import Format
from greyfill.files.typed import check_engine

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
