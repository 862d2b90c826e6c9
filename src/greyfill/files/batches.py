"""A file of any length, read and written part by part: memory does not grow with its rows."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl

from greyfill.files.atomic import writing
from greyfill.files.compressing import Sink, compressing
from greyfill.files.csv_text import CsvOptions, CsvPart, CsvReader
from greyfill.files.encodings import Encoder
from greyfill.files.formats import Format, layout_of, sniff_format
from greyfill.files.learned import Learned
from greyfill.files.loading import BLOCK, Input, shown
from greyfill.files.outputs import check_output
from greyfill.files.typed import BATCH_ROWS, TypedReader
from greyfill.files.writing import FrameWriter, writing_frames

UNDECLARED = frozenset({Format.JSON_LINES, Format.EXCEL})
"""Formats with typed cells, whose columns have the type of all their cells together."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file, with nulls for missing cells."""

    frame: pl.DataFrame
    csv: CsvPart | None = None


class BatchWriter:
    """Takes the batches of a file in their order, filled."""

    def __init__(
        self, sink: Sink, reader: CsvReader | None, frames: FrameWriter | None, learned: Learned
    ) -> None:
        self._sink, self._frames, self._learned = sink, frames, learned
        self._text = None if reader is None else Encoder(reader.encoding)

    def write(self, batch: Batch, filled: pl.DataFrame) -> None:
        """Write a batch; a CSV file that stays one takes only cells that were missing."""
        if self._frames is not None:
            if filled.height:
                self._frames.write(self._learned.rounded(batch.frame, filled))
            return
        assert batch.csv is not None
        assert self._text is not None
        for chunk in batch.csv.filled(filled):
            self._sink.write(self._text.encode(chunk))

    def finish(self) -> None:
        """Write what is left of a CSV file."""
        assert self._text is not None
        self._sink.write(self._text.finish())


class Batches:
    r"""A file that is open for reading in batches, from its start as often as one likes.

    ``columns`` are its names, ``height`` is the number of its rows.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "doses.csv"
    ...     size = path.write_bytes(b"id,dose\n07,1.50\n08,\n")
    ...     with open_batches(path) as batches:
    ...         batches.columns, batches.height
    ...         sum(batch.frame["dose"].null_count() for batch in batches)
    (('id', 'dose'), 2)
    1
    """

    def __init__(
        self, source: Input, format: Format, reader: CsvReader | TypedReader, learned: Learned
    ) -> None:
        self.name, self.format = source.name, format
        self.columns, self.height = reader.columns, reader.height
        self._source, self._reader, self._learned = source, reader, learned

    def __iter__(self) -> Iterator[Batch]:
        """The rows in batches, the last one included; a batch may be without rows."""
        if isinstance(self._reader, CsvReader):
            for part in self._reader.parts():
                yield Batch(part.frame, part)
        else:
            for frame in self._reader.frames():
                yield Batch(self._with_types(frame))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading, when all rows were read."""
        return self._reader.notes

    def _with_types(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The learned types, for formats that declare none."""
        if self.format not in UNDECLARED:
            return frame
        return frame.with_columns(self._learned.typed(column) for column in frame)

    @contextmanager
    def writing(
        self, out: str | os.PathLike[str] = "-", *, force: bool = False
    ) -> Iterator[BatchWriter]:
        """A writer for all batches; the file appears when all of them are written.

        It does not appear if the input changed since it was opened.

        The rules are those of `Source.write`, and the file is the same, byte for byte.
        """
        check_output(out, source=self.name, force=force)
        layout = layout_of(os.fspath(out))
        format = layout.format or self.format
        reader = self._reader if isinstance(self._reader, CsvReader) else None
        with (
            writing(out, force=force) as stream,
            compressing(stream, layout.compression) as sink,
            self._source.unchanged(),
        ):
            if format is Format.CSV and reader is not None:
                writer = BatchWriter(sink, reader, None, self._learned)
                yield writer
                writer.finish()
            else:
                with writing_frames(sink, format) as frames:
                    yield BatchWriter(sink, None, frames, self._learned)


@contextmanager
def open_batches(
    path: str | os.PathLike[str],
    *,
    na_values: Sequence[str] = (),
    text_columns: Sequence[str] = (),
    numeric_columns: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    learned: Learned | None = None,
    size: int = BLOCK,
    rows: int = BATCH_ROWS,
) -> Iterator[Batches]:
    r"""Open a table with holes to read it in batches.

    Cells, types and spellings are those of `read`, and like there they are told from all cells of
    a column; so the file is read more than once. Standard input, pipes and compressed Parquet and
    Arrow files go to a temporary file for that. An Excel file is one batch.

    Parameters
    ----------
    path, na_values, delimiter, decimal, encoding
        As in `read`.
    text_columns, numeric_columns
        Columns whose type is given; names that the file has not are passed over.
    learned
        What a model knows about the columns: new cells are written as in the table it learned from.
    size, rows
        About how many bytes, or how many rows of a Parquet or Arrow file, are read at a time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "funds.csv"
    >>> written = path.write_bytes(b'ticker,price\r\nNA,1.50\r\nT,\r\n')
    >>> with open_batches(path) as batches, batches.writing(path, force=True) as writer:
    ...     for batch in batches:
    ...         writer.write(batch, batch.frame.fill_null(2.0))
    >>> path.read_bytes()
    b'ticker,price\r\nNA,1.50\r\nT,2.00\r\n'
    >>> folder.cleanup()
    """
    name = os.fspath(path)
    layout = layout_of(name)
    with Input(name, layout.compression) as source:
        format = layout.format or sniff_format(source.head(80))
        reader: CsvReader | TypedReader
        if format is Format.CSV:
            options = CsvOptions(
                tuple(na_values), tuple(text_columns), tuple(numeric_columns),
                delimiter, decimal, encoding, learned,
            )  # fmt: skip
            reader = CsvReader(lambda: source.blocks(size), shown(name), options)
        else:
            remembered = learned.na_values if learned else ()
            reader = TypedReader(source, format, tuple(na_values), size, rows, remembered)
        yield Batches(source, format, reader, learned or Learned())
