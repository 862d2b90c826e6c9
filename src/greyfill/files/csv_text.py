"""A CSV text: its bytes, its frame, and the places of its holes."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files.cell_grid import CellGrid, RowWidths, lay_out_parts
from greyfill.files.column_types import ChooseTypes, ColumnEvidence, ColumnType, StrayCellsError
from greyfill.files.dialect import (
    Header,
    check_marks,
    find_delimiter,
    find_header,
    header_names,
    refuse_markup,
)
from greyfill.files.guesses import Guess, sentences
from greyfill.files.inputs import (
    Blocks,
    Encoder,
    Encoding,
    find_encoding,
    first_bytes,
    without_first,
)
from greyfill.files.preamble import ARFF_HEAD, Preamble, arff_head, find_preamble
from greyfill.files.sample import BLANKS, SAMPLE
from greyfill.files.styles import LearnedTypes, Style, without_nan
from greyfill.files.tokens import Offsets, quoted_if_needed
from greyfill.files.words import (
    UnusedWords,
    bare,
    find_sentinels,
    without_sentinels,
    words_by_column,
)
from greyfill.table import Ints


@dataclass(frozen=True)
class CsvOptions:
    """What the user said about a CSV file; None means: find out.

    A strict reader guesses nothing; a lenient one reads over cells that are not of the type of
    their column.
    """

    na_values: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    numeric_columns: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    learned: LearnedTypes | None = None
    choose_types: ChooseTypes | None = None
    date_order: str | None = None
    header: bool | None = None
    strict: bool = False
    lenient: bool = False
    is_arff: bool = False
    ragged: bool = False

    @property
    def typed(self) -> tuple[str, ...]:
        """The columns whose type the user named."""
        return (*self.text_columns, *self.numeric_columns)


@dataclass(frozen=True, eq=False)
class Holes:
    """The missing cells of one column: rows, spans in the text, and the spelling of fills."""

    rows: Ints
    starts: Offsets
    ends: Offsets
    style: Style
    in_quotes: bool = False


@dataclass(frozen=True, eq=False)
class CsvPart:
    """Whole rows of a CSV text: writing them back changes nothing but imputed cells."""

    body: bytes
    delimiter: str
    frame: pl.DataFrame
    holes: dict[str, Holes] = field(repr=False)
    row_ends: Offsets = field(repr=False)
    header_end: int | None = None
    short: dict[int, int] = field(default_factory=dict, repr=False)
    may_grow: bool = True

    def filled(self, frame: pl.DataFrame) -> Iterator[bytes]:
        """The bytes, as UTF-8, with the holes that the frame fills; null leaves a hole.

        Columns of true and false that the file has not are put behind the others, as 1 and 0.
        """
        self._check(frame)
        return _joined(self._pieces(frame))

    def _pieces(self, frame: pl.DataFrame) -> Iterator[bytes]:
        position = 0
        for start, end, cell in self._fills(frame):
            yield self.body[position:start]
            yield cell
            position = end
        yield self.body[position:]

    def _fills(self, frame: pl.DataFrame) -> list[tuple[int, int, bytes]]:
        """Span and new text of every hole that is filled, from the start of the text to its end."""
        fills: list[tuple[int, int, bytes]] = []
        added: dict[int, dict[int, bytes]] = {row: {} for row in self.short}
        for j, (name, holes) in enumerate(self.holes.items()):
            if name in frame.columns:
                cells = self._cells(without_nan(frame[name]).gather(holes.rows), holes)
                rows, starts, ends = (p.tolist() for p in (holes.rows, holes.starts, holes.ends))
                for row, start, end, cell in zip(rows, starts, ends, cells, strict=True):
                    if cell is None:
                        continue
                    if row in added and j >= self.short[row]:
                        added[row][j] = cell
                    else:
                        fills.append((start, end, cell))
        new = frame.select(name for name in frame.columns if name not in self.holes)
        ends = [*self._added_ends(added, is_whole=new.width > 0), *self._new_cells(new)]
        return sorted([*fills, *ends], key=itemgetter(0))  # of one place, in this order

    def _added_ends(
        self, added: dict[int, dict[int, bytes]], *, is_whole: bool
    ) -> Iterator[tuple[int, int, bytes]]:
        """The cells that short rows lack, with delimiters; all, or up to the last filled one."""
        mark, empty = self.delimiter.encode(), b'""' if self.delimiter == BLANKS else b""
        for row, cells in added.items():
            last = len(self.holes) - 1 if is_whole else max(cells, default=-1)
            lacking, end = range(self.short[row], last + 1), int(self.row_ends[row])
            yield end, end, b"".join(mark + cells.get(j, empty) for j in lacking)

    def _new_cells(self, new: pl.DataFrame) -> Iterator[tuple[int, int, bytes]]:
        """The cells of new columns at the ends of the header and of all rows."""
        if not new.width:
            return
        if self.header_end is not None:
            names = (quoted_if_needed(name, self.delimiter) for name in new.columns)
            text = "".join(self.delimiter + name for name in names)
            yield self.header_end, self.header_end, text.encode()
        for end, flags in zip(self.row_ends.tolist(), new.iter_rows(), strict=True):
            yield end, end, "".join(f"{self.delimiter}{flag:d}" for flag in flags).encode()

    def _cells(self, values: pl.Series, holes: Holes) -> list[bytes | None]:
        """New texts of the holes of one column, in quotes like the hole or all observed cells."""
        body, delimiter, spell = self.body, self.delimiter, holes.style.spell

        @cache
        def cell(value: object, quoted: bool) -> bytes:
            text = value if isinstance(value, str) else spell(value)
            return quoted_if_needed(text, delimiter, always=quoted).encode()

        always = holes.in_quotes
        in_quotes = (always or body.startswith(b'"', start) for start in holes.starts.tolist())
        pairs = zip(values.to_list(), in_quotes, strict=True)
        return [None if value is None else cell(value, quoted) for value, quoted in pairs]

    def _check(self, frame: pl.DataFrame) -> None:
        if frame.height != self.frame.height:
            raise InvalidDataError(
                f"The filled table has {frame.height} rows, the file {self.frame.height}."
            )
        new = [name for name in frame.columns if name not in self.frame.columns]
        if new and not (self.may_grow and all(frame[name].dtype == pl.Boolean for name in new)):
            raise InvalidDataError(
                f"The filled table has columns that the file has not: {_quoted(new)}. "
                "A CSV file is written with its own columns and indicators of holes, "
                "an ARFF file with its own only: name an output that ends in .csv."
            )


class CsvReader:
    """A CSV file, typed by all its cells, and read part by part.

    It is read three times, never as a whole: to find its encoding, to tell the types of its columns
    and the spelling of their values, and to hand out its rows. What is ``in_memory`` as a single
    block is cut into cells once.
    """

    def __init__(
        self, blocks: Blocks, file: str, options: CsvOptions, *, in_memory: bool = False
    ) -> None:
        check_marks(options.decimal, options.date_order)
        self._blocks, self._file, self.options = blocks, file, options
        learned = options.learned or LearnedTypes()
        self._kept: dict[int, pl.Series] | None = {} if in_memory else None
        self._sentinels: dict[int, Guess] = {}
        self.encoding: Encoding = find_encoding(
            blocks, file, options.encoding, strict=options.strict
        )
        refuse_markup(first_bytes(self.encoding.decode(blocks()), SAMPLE), file)
        self.preamble = self._find_preamble()
        sample = first_bytes(self._decoded(), SAMPLE + 1)
        given = options.delimiter if self.preamble.delimiter is None else self.preamble.delimiter
        self.delimiter = find_delimiter(sample, given)
        self._header, self._about_header = find_header(
            sample, self.delimiter, self.encoding.newline,
            given=options.header, learned=learned.columns, strict=options.strict,
            ragged=options.ragged or options.lenient,
        )  # fmt: skip
        if self.preamble.names:
            self._header, self._about_header = Header(False, given=self.preamble.names), []
        marks = _possible_marks(self.delimiter, options.decimal)
        newline = self.encoding.newline
        names = header_names(sample, self.delimiter, newline, file, self._header)
        names = names or next(iter(self.grids())).names
        everywhere, self._words = words_by_column(options.na_values, names)
        self._unused = UnusedWords(everywhere, self._words)
        self._na_values = (*everywhere, *learned.na_values)
        if options.choose_types is not None:
            texts, numbers = options.choose_types(names)
            told = {"text_columns": tuple(texts), "numeric_columns": tuple(numbers)}
            self.options = replace(options, **told)  # type: ignore[arg-type]
        self.height, self.widths = 0, RowWidths()
        self._evidence = self._gather(marks)
        shown = sum((column.marks for column in self._evidence), Counter[str]())
        sure = sum((column.sure_marks for column in self._evidence), Counter[str]())
        known = learned.mark if learned.mark != "." else ""  # a point may be told by nothing
        mark = max(marks, key=lambda mark: (sure[mark], mark == known, shown[mark]))
        order = self._look_again(mark)
        self.types = [
            self._type(j, mark, order).with_style(learned.styles.get(column), mark)
            for j, column in enumerate(self.columns)
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(evidence.name for evidence in self._evidence)

    @property
    def styles(self) -> dict[str, Style]:
        """How new cells of each column are written."""
        return dict(zip(self.columns, (found.style for found in self.types), strict=True))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading."""
        pairs = zip(self._evidence, self.types, strict=True)
        notes = [note for evidence, found in pairs for note in evidence.notes(found)]
        told = (*sentences(self.guesses), *notes, *self._unused.notes())
        return (*filter(None, [self.encoding.note]), *told)

    @property
    def guesses(self) -> tuple[Guess, ...]:
        """What was taken for granted; all of it when the rows were read."""
        found = [guess for column in self.types for guess in column.guesses]
        return (
            *self.encoding.guesses,
            *self.preamble.guesses,
            *self._about_header,
            *self.widths.guesses(self.options.ragged),
            *found,
            *self._sentinels.values(),
        )

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The words that were taken as missing, column by column."""
        pairs = zip(self.columns, self.types, strict=True)
        found = {c: (*t.missing, *self._words.get(c, ())) for c, t in pairs}
        found = {column: words for column, words in found.items() if words}
        for guess in self._sentinels.values():
            assert guess.column is not None
            found[guess.column] = (*found.get(guess.column, ()), guess.detail)
        return found

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
        newline, before = self.encoding.newline, self.preamble.text
        line = 1 + before.count(newline)
        return lay_out_parts(
            self._decoded(), self.delimiter, newline, self._file, self._header, line
        )

    def _decoded(self) -> Iterator[bytes]:
        """The text behind what stands before the table, as UTF-8."""
        return without_first(self.encoding.decode(self._blocks()), len(self.preamble.text))

    def _find_preamble(self) -> Preamble:
        options, self.preamble = self.options, Preamble()
        if options.is_arff:
            return arff_head(first_bytes(self._decoded(), ARFF_HEAD), self._file)
        if options.strict:
            return Preamble()
        sample = first_bytes(self._decoded(), SAMPLE)
        given = None if options.delimiter is None else find_delimiter(sample, options.delimiter)
        return find_preamble(sample, self.encoding.newline, given, titled=not options.header)

    @cached_property
    def _grids_in_memory(self) -> list[CellGrid]:
        return list(self._cut())

    def _gather(self, marks: str) -> list[ColumnEvidence]:
        """Count all cells once."""
        evidence: list[ColumnEvidence] = []
        for grid in self.grids():
            if not evidence:
                texts = (*self.options.text_columns, *self.preamble.categories)
                strict = self.options.strict
                evidence = [
                    ColumnEvidence(n, marks, is_text=n in texts, strict=strict) for n in grid.names
                ]
            quotes = grid.in_quotes()
            for j, column in enumerate(evidence):
                cells = self._texts(grid, j)
                column.add(cells)
                column.add_quotes(cells, quotes[:, j])
            self.height += grid.height
            self.widths.add(grid)
        return evidence

    def _look_again(self, mark: str) -> str:
        """Count dates and amounts where there may be some; the order of days in the file."""
        looked = [j for j, column in enumerate(self._evidence) if column.may_have_form(mark)]
        for grid in self.grids() if looked else ():
            for j in looked:
                self._evidence[j].look_again(self._texts(grid, j))
        orders = [self._evidence[j].orders for j in looked]
        settled = [order for order, *others in filter(None, orders) if not others]
        return self.options.date_order or next(iter(settled), "dmy")

    def _type(self, j: int, mark: str, order: str) -> ColumnType:
        evidence, learned = self._evidence[j], self.options.learned
        is_number = evidence.name in self.options.numeric_columns
        try:
            return evidence.column_type(mark, order, must_be_numbers=is_number)
        except StrayCellsError as strays:
            if learned is not None and evidence.name not in learned.columns:
                return ColumnType()  # left as it is
            place, words, is_first = "", Counter[str](), False
            for i, grid in enumerate(self.grids()):
                cells = self._texts(grid, j)
                row = None if place else strays.row_in(cells)
                is_first = is_first or (i, row) == (0, 0)
                place = place if row is None else grid.place(row, j)
                words.update(strays.words_in(cells, self.options.strict))
            if not place:
                raise self._changed() from None
            if self.options.lenient:
                return evidence.over_strays(strays.fit, words)
            is_learned = learned is not None
            raise strays.for_user(
                place, evidence.name, words, is_learned=is_learned, is_first=is_first
            ) from None

    def _part(self, grid: CellGrid) -> CsvPart:
        if grid.names != self.columns:
            raise self._changed()
        series = [self._typed(grid, j) for j in range(len(grid.names))]
        holes: dict[str, Holes] = {}
        for j, (column, found) in enumerate(zip(series, self.types, strict=True)):
            rows = np.flatnonzero(column.is_null().to_numpy()).astype(np.intp)
            in_quotes = self._evidence[j].is_quoted
            spans = grid.starts[rows, j], grid.ends[rows, j]
            holes[column.name] = Holes(rows, *spans, found.style, in_quotes)
        return CsvPart(
            grid.body, self.delimiter, pl.DataFrame(series), holes, grid.ends[:, -1],
            grid.header_end, grid.short, may_grow=not self.preamble.names,
        )  # fmt: skip

    def _texts(self, grid: CellGrid, column: int) -> pl.Series:
        """The cells of a column as text, null where they are missing."""
        if self._kept is not None and column in self._kept:
            return self._kept[column]
        cells = pl.Series(grid.names[column], grid.texts(column), dtype=pl.String)
        self._unused.update(cells)
        always = ("", "?") if self.options.is_arff else ("",)
        missing = [*always, *self._na_values, *self._words_in(grid.names[column])]
        cells = cells.set(bare(cells).is_in(missing), None)
        if self._kept is not None:
            self._kept[column] = cells
        return cells

    def _typed(self, grid: CellGrid, column: int) -> pl.Series:
        """The typed cells of a column; numbers that mean missing are null."""
        cells = self._texts(grid, column)
        if self._kept is not None:
            del self._kept[column]  # not needed again
        found = self.types[column]
        cells = found.observed(cells)
        values = found.parse(cells)
        if values.null_count() != cells.null_count():
            raise self._changed()
        values = without_sentinels(values, (*self._na_values, *self._words_in(cells.name)))
        return values if self._kept is None else self._without_guessed_sentinels(values, column)

    def _words_in(self, name: str) -> tuple[str, ...]:
        """The words that mean missing in one column, as the user said or a model learned."""
        learned = self.options.learned or LearnedTypes()
        return (*self._words.get(name, ()), *learned.words.get(name, ()))

    def _without_guessed_sentinels(self, values: pl.Series, column: int) -> pl.Series:
        """A whole column, null where -999 or alike can mean nothing but missing."""
        is_told = values.name in self.options.numeric_columns
        if is_told or self.options.strict or self.options.learned is not None:
            return values
        for found in find_sentinels(values):
            if found.is_overwhelming:
                others = f"All others lie in {found.low:g} … {found.high:g}"
                undo = f"{others}; if it is one of them: --numeric COLUMN."
                guess = Guess("sentinel", found.word, undo, values.name, found.count)
                self._sentinels[column] = guess
                return without_sentinels(values, [found.word])
        return values

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
        chunks = chain([self.reader.preamble.text], self.part.filled(frame))
        return Encoder(self.reader.encoding).encode_all(chunks)


def read_csv(raw: bytes, file: str, options: CsvOptions) -> CsvText:
    """Read a CSV file: cells that are empty, blank, ``""`` or one of the NA values are holes."""
    reader = CsvReader(lambda: [raw], file, options, in_memory=True)
    for names in (options.text_columns, options.numeric_columns):
        unknown = [name for name in names if name not in reader.columns]
        if unknown:
            known = _quoted(reader.columns, most=12)
            raise InvalidParameterError(f"{file} has no column {_quoted(unknown)}. It has {known}.")
    (part,), (grid,) = reader.parts(), reader.grids()
    return CsvText(reader, part, grid)


def _quoted(words: Sequence[str], most: int = 5) -> str:
    """Some words in quotes, and a hint at the rest."""
    return ", ".join(map(repr, words[:most])) + (", …" if len(words) > most else "")


def _possible_marks(delimiter: str, given: str | None) -> str:
    """The given decimal mark, else those that do not stand between cells."""
    return given or ("." if delimiter == "," else ".,")


def _joined(chunks: Iterable[bytes], size: int = 1 << 20) -> Iterator[bytes]:
    """The same bytes in blocks of about this size."""
    block = io.BytesIO()
    for chunk in chunks:
        block.write(chunk)
        if block.tell() >= size:
            yield block.getvalue()
            block = io.BytesIO()
    yield block.getvalue()
