"""A CSV text: its bytes, its frame, and the places of its holes."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files import patterns
from greyfill.files.encodings import Blocks, Encoder, Encoding, find_encoding, first_bytes
from greyfill.files.inference import CellEvidence, ColumnType, StrayCellsError
from greyfill.files.inputs import listed
from greyfill.files.na_values import Unfound, without_nan, without_sentinels
from greyfill.files.styles import LearnedTypes, Style
from greyfill.files.tokens import (
    SAMPLE,
    CellGrid,
    Offsets,
    find_delimiter,
    header_names,
    lay_out_parts,
    quoted_if_needed,
)
from greyfill.table import Ints

ChooseTypes = Callable[[tuple[str, ...]], tuple[Sequence[str], Sequence[str]]]
"""All names of columns → those of text, and those of numbers."""


@dataclass(frozen=True)
class CsvOptions:
    """What the user said about a CSV file; None means: find out."""

    na_values: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    numeric_columns: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    learned: LearnedTypes | None = None
    choose_types: ChooseTypes | None = None


@dataclass(frozen=True, eq=False)
class Holes:
    """The missing cells of one column: rows, spans in the text, and the spelling of fills."""

    rows: Ints
    starts: Offsets
    ends: Offsets
    style: Style


@dataclass(frozen=True, eq=False)
class CsvPart:
    """Whole rows of a CSV text: writing them back changes nothing but imputed cells."""

    body: bytes
    delimiter: str
    frame: pl.DataFrame
    holes: dict[str, Holes] = field(repr=False)

    def filled(self, frame: pl.DataFrame) -> Iterator[bytes]:
        """The bytes, as UTF-8, with the holes that the frame fills; null leaves a hole."""
        self._check(frame)
        return _joined(self._splice(frame))

    def _splice(self, frame: pl.DataFrame) -> Iterator[bytes]:
        position = 0
        for start, end, cell in self._fills(frame):
            yield self.body[position:start]
            yield cell
            position = end
        yield self.body[position:]

    def _fills(self, frame: pl.DataFrame) -> list[tuple[int, int, bytes]]:
        """Span and new text of every hole that is filled, from the start of the text to its end."""
        fills: list[tuple[int, int, bytes]] = []
        for name, holes in self.holes.items():
            if name in frame.columns:
                cells = self._cells(without_nan(frame[name]).gather(holes.rows), holes)
                spans = zip(holes.starts.tolist(), holes.ends.tolist(), cells, strict=True)
                fills += [(start, end, cell) for start, end, cell in spans if cell is not None]
        return sorted(fills)

    def _cells(self, values: pl.Series, holes: Holes) -> list[bytes | None]:
        """New texts of the holes of one column; a hole in quotes stays in quotes."""
        body, delimiter, spell = self.body, self.delimiter, holes.style.spell

        @cache
        def cell(value: object, quoted: bool) -> bytes:
            text = value if isinstance(value, str) else spell(value)
            return quoted_if_needed(text, delimiter, always=quoted).encode()

        in_quotes = (body.startswith(b'"', start) for start in holes.starts.tolist())
        pairs = zip(values.to_list(), in_quotes, strict=True)
        return [None if value is None else cell(value, quoted) for value, quoted in pairs]

    def _check(self, frame: pl.DataFrame) -> None:
        if frame.height != self.frame.height:
            raise InvalidDataError(
                f"The filled table has {frame.height} rows, the file {self.frame.height}."
            )
        new = [name for name in frame.columns if name not in self.frame.columns]
        if new:
            raise InvalidDataError(
                f"The filled table has columns that the file has not: {listed(new)}. "
                "A CSV file is written with its own columns only."
            )


class CsvReader:
    """A CSV file, judged from all its cells, and read part by part.

    It is read three times, never as a whole: to find its encoding, to tell the types of its columns
    and the spelling of their values, and to hand out its rows. What is ``in_memory`` as a single
    block is cut into cells once.
    """

    def __init__(
        self, blocks: Blocks, file: str, options: CsvOptions, *, in_memory: bool = False
    ) -> None:
        self._blocks, self._file, self._options = blocks, file, options
        self._unfound = Unfound(options.na_values)
        remembered = options.learned.na_values if options.learned else ()
        self._na_values = (*options.na_values, *remembered)
        self._kept: dict[int, pl.Series] | None = {} if in_memory else None
        self.encoding: Encoding = find_encoding(blocks, file, options.encoding)
        sample = first_bytes(self.encoding.decode(blocks()), SAMPLE + 1)
        self.delimiter = find_delimiter(sample, options.delimiter)
        self._marks = _possible_marks(self.delimiter, options.decimal)
        if options.choose_types is not None:
            names = header_names(sample, self.delimiter, self.encoding.newline, file)
            texts, numbers = options.choose_types(names or next(iter(self.grids())).names)
            given = {"text_columns": tuple(texts), "numeric_columns": tuple(numbers)}
            self._options = replace(options, **given)  # type: ignore[arg-type]
        self.height = 0
        self._evidence = self._gather()
        learned = options.learned or LearnedTypes()
        mark = _usual_mark(self._marks, self._evidence, learned.mark)
        self._verdicts = [
            self._judge(j, mark).taught(learned.styles.get(column), mark)
            for j, column in enumerate(self.columns)
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(evidence.name for evidence in self._evidence)

    @property
    def styles(self) -> dict[str, Style]:
        """How new cells of each column are written."""
        return dict(zip(self.columns, (verdict.style for verdict in self._verdicts), strict=True))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading."""
        judged = zip(self._evidence, self._verdicts, strict=True)
        told = [note for evidence, verdict in judged for note in evidence.notes(verdict)]
        told += self._unfound.notes()
        return tuple([self.encoding.note, *told] if self.encoding.note else told)

    def parts(self) -> Iterator[CsvPart]:
        """The rows of the file in parts, typed; some parts may be without rows."""
        height = 0
        for grid in self.grids():
            height += grid.height
            yield self._part(grid)
        if height != self.height:
            raise self._changed()

    def grids(self) -> Iterable[CellGrid]:
        """The cells of the file in parts, as text."""
        return self._cut() if self._kept is None else self._grids_in_memory

    def _cut(self) -> Iterator[CellGrid]:
        body = self.encoding.decode(self._blocks())
        return lay_out_parts(body, self.delimiter, self.encoding.newline, self._file)

    @cached_property
    def _grids_in_memory(self) -> list[CellGrid]:
        return list(self._cut())

    def _gather(self) -> list[CellEvidence]:
        """Look at all cells once."""
        evidence: list[CellEvidence] = []
        for grid in self.grids():
            if not evidence:
                texts = self._options.text_columns
                evidence = [
                    CellEvidence(name, self._marks, is_text=name in texts) for name in grid.names
                ]
            for j, column in enumerate(evidence):
                column.add(self._texts(grid, j))
            self.height += grid.height
        return evidence

    def _judge(self, j: int, mark: str) -> ColumnType:
        evidence = self._evidence[j]
        is_number = evidence.name in self._options.numeric_columns
        try:
            return evidence.judge(mark, must_be_numbers=is_number)
        except StrayCellsError as strays:
            known = self._options.learned
            if known is not None and evidence.name not in known.columns:
                return ColumnType()  # left as it is
            for grid in self.grids():
                cells = self._texts(grid, j)
                row = strays.row_in(cells)
                if row is not None:
                    place = grid.place(row, j)
                    raise strays.in_words(
                        place, evidence.name, cells[row], is_learned=known is not None
                    ) from None
            raise self._changed() from None

    def _part(self, grid: CellGrid) -> CsvPart:
        if grid.names != self.columns:
            raise self._changed()
        series = [self._typed(grid, j) for j in range(len(grid.names))]
        styles = self.styles
        holes = {
            column.name: _holes(column, styles[column.name], grid, j)
            for j, column in enumerate(series)
        }
        return CsvPart(grid.body, self.delimiter, pl.DataFrame(series), holes)

    def _texts(self, grid: CellGrid, column: int) -> pl.Series:
        """The cells of a column as text, null where they are missing."""
        if self._kept is not None and column in self._kept:
            return self._kept[column]
        cells = pl.Series(grid.names[column], grid.texts(column), dtype=pl.String)
        self._unfound.look(cells)
        missing = ["", *self._na_values]
        cells = cells.set(patterns.bare(cells).is_in(missing), None)
        if self._kept is not None:
            self._kept[column] = cells
        return cells

    def _typed(self, grid: CellGrid, column: int) -> pl.Series:
        """The typed cells of a column; numbers that mean missing are null."""
        cells = self._texts(grid, column)
        if self._kept is not None:
            del self._kept[column]  # not needed again
        values = self._verdicts[column].parse(cells)
        if values.null_count() != cells.null_count():
            raise self._changed()
        return without_sentinels(values, self._na_values)

    def _changed(self) -> InvalidDataError:
        return InvalidDataError(f"{self._file} changed while it was read. Try again.")


@dataclass(frozen=True, eq=False)
class CsvText:
    """A CSV file that was read as a whole."""

    reader: CsvReader
    part: CsvPart
    grid: CellGrid

    @property
    def frame(self) -> pl.DataFrame:
        """The cells, typed, with nulls for missing ones."""
        return self.part.frame

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading."""
        return self.reader.notes

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for a message."""
        return self.grid.place(row, self.grid.names.index(column))

    def filled(self, frame: pl.DataFrame) -> Iterator[bytes]:
        """The bytes of the file with the holes that the frame fills; null leaves a hole."""
        return self._encoded(self.part.filled(frame))

    def _encoded(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        encoder = Encoder(self.reader.encoding)
        for chunk in chunks:
            yield encoder.encode(chunk)
        yield encoder.finish()


def read_csv(raw: bytes, file: str, options: CsvOptions) -> CsvText:
    """Read a CSV file: cells that are empty, blank, ``""`` or one of the NA values are holes."""
    reader = CsvReader(lambda: [raw], file, options, in_memory=True)
    _check_names(options, reader.columns, file)
    (part,), (grid,) = reader.parts(), reader.grids()
    return CsvText(reader, part, grid)


def _check_names(options: CsvOptions, columns: tuple[str, ...], file: str) -> None:
    for names in (options.text_columns, options.numeric_columns):
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise InvalidParameterError(
                f"{file} has no column {listed(unknown)}. It has {listed(list(columns), most=12)}."
            )


def _possible_marks(delimiter: str, given: str | None) -> str:
    """The given decimal mark, else those that do not stand between cells."""
    if given is None:
        return "." if delimiter == "," else ".,"
    if given not in (".", ","):
        raise InvalidParameterError(f"The decimal mark must be . or , and not {given!r}.")
    return given


def _usual_mark(marks: str, columns: list[CellEvidence], learned: str) -> str:
    """The decimal mark that more numbers of the file show, or else the learned one."""
    counts = sum((column.marks for column in columns), Counter[str]())
    return max(marks, key=lambda mark: (counts[mark], mark == learned))


def _holes(column: pl.Series, style: Style, grid: CellGrid, j: int) -> Holes:
    rows = np.flatnonzero(column.is_null().to_numpy()).astype(np.intp)
    return Holes(rows, grid.starts[rows, j], grid.ends[rows, j], style)


def _joined(chunks: Iterable[bytes], size: int = 1 << 20) -> Iterator[bytes]:
    """The same bytes in blocks of about this size."""
    block = io.BytesIO()
    for chunk in chunks:
        block.write(chunk)
        if block.tell() >= size:
            yield block.getvalue()
            block = io.BytesIO()
    yield block.getvalue()
