"""The one door in and the one door out: read a file, write it back filled."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from greyfill.exceptions import InvalidDataError
from greyfill.files.atomic import check_output, writing
from greyfill.files.column_types import ChooseTypes
from greyfill.files.csv_text import CsvOptions, CsvPart, CsvReader, CsvText, read_csv
from greyfill.files.doubtful_rows import notes_on_rows
from greyfill.files.formats import (
    HEAD,
    Format,
    Layout,
    Sink,
    compressing,
    found_format,
    layout_of,
    output_layout,
)
from greyfill.files.guesses import Guess, sentences
from greyfill.files.inputs import BLOCK, STANDARD_STREAM, Encoder, Input, refuse_sheet, shown
from greyfill.files.new_books import About, check_room
from greyfill.files.origins import Origin, scan_origin, writer_for
from greyfill.files.polars_formats import (
    BATCH_ROWS,
    FrameWriter,
    TypedReader,
    read_typed,
    read_whole,
    scanned,
    writing_frames,
)
from greyfill.files.sheets import Workbook
from greyfill.files.styles import LearnedTypes, Style, Text
from greyfill.files.words import Doubt, find_doubts, notes_on_kept, words_by_column

UNDECLARED = frozenset({Format.JSON_LINES, Format.EXCEL})
"""Formats with typed cells, whose columns have the type of all their cells together."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file, with nulls for missing cells."""

    frame: pl.DataFrame
    csv: CsvPart | None = None


class BatchWriter:
    """Takes the batches of a file in their order, filled: as CSV text, or as frames."""

    def __init__(self, learned: LearnedTypes, target: tuple[Sink, Encoder] | FrameWriter) -> None:
        self._learned, self._target = learned, target

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not written as it was, when all batches were written."""
        return self._target.notes if isinstance(self._target, FrameWriter) else ()

    def write(self, batch: Batch, filled: pl.DataFrame) -> None:
        """Write a batch; a CSV file that stays one takes only cells that were missing."""
        if isinstance(self._target, FrameWriter):
            if filled.height:
                self._target.write(self._learned.rounded(batch.frame, filled))
            return
        assert batch.csv is not None
        sink, encoder = self._target
        for chunk in batch.csv.filled(filled):
            sink.write(encoder.encode(chunk))


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
        self,
        source: Input,
        format: Format,
        reader: CsvReader | TypedReader,
        learned: LearnedTypes,
        origin: Origin | None = None,
    ) -> None:
        self.name, self.format = source.name, format
        self.columns, self.height = reader.columns, reader.height
        self._source, self._reader, self._learned = source, reader, learned
        self._origin = origin

    def __iter__(self) -> Iterator[Batch]:
        """The rows in batches, the last one included; a batch may be without rows."""
        if isinstance(self._reader, CsvReader):
            for part in self._reader.parts():
                yield Batch(part.frame, part)
            return
        for frame in self._reader.frames():
            has_types = self.format not in UNDECLARED
            yield Batch(frame if has_types else frame.with_columns(map(self._learned.typed, frame)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading, when all rows were read."""
        origin = self._origin
        told = () if origin is None else (*sentences(origin.guesses), *origin.unused)
        return (*told, *self._reader.notes, *self.format.about_writing())

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for a message."""
        if isinstance(self._origin, Workbook):
            return f"{shown(self.name)}, {self._origin.place(row, column)}"
        return f"{shown(self.name)}, row {row + 1}, column {column!r}"

    @contextmanager
    def writing(
        self, out: str | os.PathLike[str] = "-", *, force: bool = False
    ) -> Iterator[BatchWriter]:
        """A writer for all batches; the file appears when all of them are written.

        It does not appear if the input changed since it was opened.

        The rules are those of `Source.write`, and the file is the same, byte for byte.
        """
        check_output(out, source=self.name, force=force)
        layout = output_layout(os.fspath(out), self.name, self.format)
        format = layout.format
        assert format is not None
        check_room(os.fspath(out), self.height, len(self.columns))
        with (
            writing(out, force=force) as stream,
            compressing(stream, layout.compression, Path(out).stem) as sink,
            self._source.unchanged(),
        ):
            if format is self.format and isinstance(self._reader, CsvReader):
                encoder = Encoder(self._reader.encoding)
                sink.write(encoder.encode(self._reader.preamble.text))
                yield BatchWriter(self._learned, (sink, encoder))
                sink.write(encoder.finish())
            else:
                made = writer_for(sink, format, self._origin, self.place)
                with writing_frames(sink, format, made) as frames:
                    yield BatchWriter(self._learned, frames)


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
    date_order: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    ragged: bool = False,
    strict: bool = False,
    learned: LearnedTypes | None = None,
    size: int = BLOCK,
    rows: int = BATCH_ROWS,
) -> Iterator[Batches]:
    r"""Open a table with holes to read it in batches.

    Cells, types and spellings are those of `read`, and like there they are told from all cells of
    a column; so the file is read more than once. Standard input, pipes and compressed Parquet and
    Arrow files go to a temporary file for that. An Excel file is one batch.

    Parameters
    ----------
    path, na_values, delimiter, decimal, encoding, date_order, header, sheet, ragged, strict
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
    layout, known = layout_of(name), learned or LearnedTypes()
    with Input(name, layout.compression) as source:
        format = found_format(layout, source.head(HEAD))
        refuse_sheet(sheet, format, name)
        reader: CsvReader | TypedReader
        origins: list[Origin] = []
        if format.is_text:
            options = CsvOptions(
                tuple(na_values), tuple(text_columns), tuple(numeric_columns),
                delimiter, decimal, encoding, learned, None, date_order,
                header, strict, is_arff=format is Format.ARFF, ragged=ragged,
            )  # fmt: skip
            reader = CsvReader(lambda: source.blocks(size), shown(name), options)
        else:
            words = (tuple(na_values), known.all_words)
            scan = partial(scanned, source, format, size, rows)
            if format.is_book or format.is_coded:
                scan = partial(scan_origin, source, format, sheet, strict, origins, None, words)
                words = ((), ())
            is_empty = not source.head(1)
            reader = TypedReader(scan, format, shown(name), *words, is_empty=is_empty)
        yield Batches(source, format, reader, known, *origins)


@dataclass(frozen=True, eq=False)
class Source:
    r"""A file that was read: its frame, with nulls for missing cells, and what it looked like.

    ``notes`` are sentences for the user about choices that were made while reading.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from greyfill.files import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "doses.csv"
    ...     size = path.write_bytes(b"id,dose\n07,1.50\n08,\n")
    ...     source = read(path)
    ...     source.write(source.frame.fill_null(2.0), path, force=True)
    ...     path.read_bytes()
    b'id,dose\n07,1.50\n08,2.00\n'
    """

    name: str
    format: Format
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    csv: CsvText | None = field(default=None, repr=False)
    guesses: tuple[Guess, ...] = ()
    origin: Origin | None = field(default=None, repr=False)
    doubts: tuple[Doubt, ...] = ()
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of the file without its folder; none for standard input."""
        return "" if self.name == STANDARD_STREAM else os.path.basename(self.name)

    @property
    def nested(self) -> list[str]:
        """Columns whose cells are no single values, but lists, records or bytes."""
        return [c.name for c in self.frame if c.dtype.is_nested() or c.dtype == pl.Binary]

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The words that were taken as missing in one column: found out, or named for it alone."""
        if self.csv is not None:
            return self.csv.reader.words
        found = self.origin.words if isinstance(self.origin, Workbook) else {}
        return found | {name: (*found.get(name, ()), *own) for name, own in self.named.items()}

    @property
    def styles(self) -> dict[str, Style]:
        """How a CSV file writes the columns that have observed cells and are no text."""
        styles = {} if self.csv is None else self.csv.reader.styles
        return {name: style for name, style in styles.items() if not isinstance(style, Text)}

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for a message: its line in a text file, else its row."""
        if self.csv is not None:
            return self.csv.place(row, column)
        if isinstance(self.origin, Workbook):
            return f"{shown(self.name)}, {self.origin.place(row, column)}"
        return f"{shown(self.name)}, row {row + 1}, column {column!r}"

    def lines(self) -> NDArray[np.intp]:
        """The line of each row in a text file, or its row in a sheet, else its number, from 1."""
        if self.csv is not None:
            return self.csv.grid.lines()
        if isinstance(self.origin, Workbook):
            return np.array(self.origin.rows, dtype=np.intp)
        return np.arange(1, self.frame.height + 1)

    def write(
        self,
        filled: pl.DataFrame,
        out: str | os.PathLike[str] = "-",
        *,
        force: bool = False,
        about: About = "",
    ) -> None:
        """Write the file with its holes filled, in the format that the new name tells.

        A CSV file that becomes a CSV file keeps every byte but those of imputed cells: delimiter,
        quotes, line ends and encoding included, whatever the new name. Imputed numbers get as
        many decimals as the column has. An Excel file that becomes one keeps its other sheets and
        its formats, and imputed cells are yellow; a file of SPSS or Stata keeps its labels. Any
        other format holds the filled frame.

        Parameters
        ----------
        filled
            The frame with the same rows. Only cells that were missing are looked at when a CSV
            file becomes a CSV file; a null leaves the cell as it was.
        out
            A path, compressed if it ends in .gz or .zst, or ``"-"`` for standard output. A name
            without extension gets the format of the input, uncompressed.
        force
            Replace an existing file, the input included.
        about
            What comments in an Excel file say about imputed cells, or a function of row and column.
        """
        self.write_all({os.fspath(out): filled}, force=force, about=about)

    def write_all(
        self, tables: Mapping[str, pl.DataFrame], *, force: bool = False, about: About = ""
    ) -> list[str]:
        """Write several tables of these rows as `write` does: all of them appear, or none.

        Notes are given back, of what an output does not hold as the table does.
        """
        with ExitStack() as written:
            told = [
                written.enter_context(self._written(filled, out, force, about))
                for out, filled in tables.items()
            ]
        return list(dict.fromkeys(note for notes in told for note in notes))

    @contextmanager
    def _written(
        self, filled: pl.DataFrame, out: str, force: bool, about: About
    ) -> Iterator[tuple[str, ...]]:
        """A table that is written, and appears under its name at the end; notes about it."""
        notes: tuple[str, ...] = ()
        check_output(out, source=self.name, force=force)
        if filled.height != self.frame.height:
            raise InvalidDataError(
                f"The filled table has {filled.height} rows, {shown(self.name)} has "
                f"{self.frame.height}."
            )
        layout = output_layout(os.fspath(out), self.name, self.format)
        format = layout.format
        assert format is not None
        with (
            writing(out, force=force) as stream,
            compressing(stream, layout.compression, Path(out).stem) as sink,
        ):
            if format is self.format and self.csv is not None:
                for chunk in self.csv.filled(filled):
                    sink.write(chunk)
            else:
                made = writer_for(sink, format, self.origin, self.place, self.frame, about)
                with writing_frames(sink, format, made) as writer:
                    writer.write(filled)
                notes = writer.notes
            yield notes


def read(
    path: str | os.PathLike[str],
    *,
    na_values: str | Sequence[str] = (),
    text_columns: str | Sequence[str] = (),
    numeric_columns: str | Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    format: Format | None = None,
    choose_types: ChooseTypes | None = None,
    date_order: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    ragged: bool = False,
    strict: bool = False,
    lenient: bool = False,
) -> Source:
    r"""Read a table with holes.

    A cell of a CSV file is missing if it is empty, blank, ``""``, one of ``na_values``, or a usual
    word for missing where the rest of the column says so: ``NA`` among numbers, though a ticker NA
    stays a ticker. Types are told from all cells of a column: whole and decimal numbers,
    true/false, dates with or without a time, amounts such as ``4.196,72 €`` or ``12 %``, else text.
    Whole numbers with leading zeros or more than 18 digits are text. What was guessed is in
    ``guesses`` and ``notes`` of the result.

    Parameters
    ----------
    path
        A path, or ``"-"`` for standard input, whose format is told by its first bytes.
    na_values
        Words that mean missing. One that is a number also means that number: -999 is -999.0.
    text_columns, numeric_columns
        Columns whose type is given and not told from their cells. Only for CSV.
    delimiter, decimal, encoding
        As found by looking at a CSV file, unless given.
    format
        The format, whatever the name says.
    date_order
        ``"dmy"`` or ``"mdy"``, for dates such as 06/04/2025 whose column does not tell.
    header
        Whether the first line of a CSV file has the names; by default found out.
    sheet
        The sheet of a workbook, by name or by number from 1; by default the first with a table.
    ragged
        Of a row with more cells than there are names, read the first and keep the rest as it is.
    strict
        Guess nothing: only empty cells and ``na_values`` are missing, and the first line has the
        names; dates that are not ISO, and amounts, are text.
    lenient
        Read over cells that are not of the type of their column, and over those behind the last
        name, which else are an error.
    choose_types
        Instead of ``text_columns`` and ``numeric_columns``: gives both from the names of all
        columns, before any cell is read. In a workbook, texts are left as they are; in a file of
        SPSS, codes that are declared missing are values, and numbers have no labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "funds.csv"
    >>> size = path.write_bytes(b'cusip,ticker,price\r\n031162100,NA,1.50\r\n00206R102,T,\r\n')
    >>> source = read(path)
    >>> source.frame
    shape: (2, 3)
    ┌───────────┬────────┬───────┐
    │ cusip     ┆ ticker ┆ price │
    │ ---       ┆ ---    ┆ ---   │
    │ str       ┆ str    ┆ f64   │
    ╞═══════════╪════════╪═══════╡
    │ 031162100 ┆ NA     ┆ 1.5   │
    │ 00206R102 ┆ T      ┆ null  │
    └───────────┴────────┴───────┘
    >>> source.write(source.frame.fill_null(2.0), path, force=True)
    >>> path.read_bytes()
    b'cusip,ticker,price\r\n031162100,NA,1.50\r\n00206R102,T,2.00\r\n'
    >>> folder.cleanup()
    """
    name = os.fspath(path)
    layout = layout_of(name) if format is None else Layout(format, None)
    words, origins = _tuple(na_values), list[Origin]()
    with Input(name, layout.compression) as source:
        found = format or found_format(layout, source.head(HEAD))
        refuse_sheet(sheet, found, name)
        if found.is_book or found.is_coded:
            named = (words, ())
            scan = partial(scan_origin, source, found, sheet, strict, origins, choose_types, named)
            frame, _ = read_whole(scan, found, shown(name), (), is_empty=not source.head(1))
            guesses = origins[0].guesses
            doubts = (*origins[0].doubts, *find_doubts(frame, choose_types))
            book = origins[0] if isinstance(origins[0], Workbook) else None
            rows = () if book is None else notes_on_rows(frame, book.place)
            notes = (*sentences(guesses), *rows, *notes_on_kept(doubts), *origins[0].unused)
            told = (*notes, *found.about_writing())
            own = words_by_column(words, frame.columns)[1]
            return Source(name, found, frame, told, None, guesses, origins[0], doubts, own)
        raw = b"".join(source.blocks())
    if found.is_text:
        options = CsvOptions(
            words, _tuple(text_columns), _tuple(numeric_columns), delimiter, decimal, encoding,
            choose_types=choose_types, date_order=date_order, header=header, strict=strict,
            lenient=lenient, is_arff=found is Format.ARFF, ragged=ragged,
        )  # fmt: skip
        csv = read_csv(raw, shown(name), options)
        doubts = find_doubts(csv.frame, sure=csv.reader.options.typed)
        told = (*csv.notes, *notes_on_rows(csv.frame, csv.place), *notes_on_kept(doubts))
        return Source(name, found, csv.frame, told, csv, csv.reader.guesses, None, doubts)
    frame, notes = read_typed(raw, found, shown(name), words)
    doubts = find_doubts(frame, choose_types)
    own = words_by_column(words, frame.columns)[1]
    return Source(name, found, frame, (*notes, *notes_on_kept(doubts)), doubts=doubts, named=own)


def _tuple(words: str | Sequence[str]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)
