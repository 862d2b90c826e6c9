"""A CSV text: its bytes, its frame, and the places of its holes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import polars as pl

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.files import patterns
from greyfill.files.delimiters import find_delimiter, quoted_if_needed
from greyfill.files.encodings import Encoded, decode
from greyfill.files.grid import Grid, lay_out
from greyfill.files.inference import Typed, infer
from greyfill.files.loading import joined
from greyfill.files.problems import listed
from greyfill.files.styles import Style, Text
from greyfill.files.tokens import Offsets
from greyfill.table import Ints


@dataclass(frozen=True)
class CsvOptions:
    """What the user said about a CSV file; None means: find out."""

    na_values: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    numeric_columns: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, eq=False)
class Holes:
    """The missing cells of one column: rows, spans in the text, and the spelling of fills."""

    rows: Ints
    starts: Offsets
    ends: Offsets
    style: Style


@dataclass(frozen=True, eq=False)
class CsvText:
    """A CSV file as it was read: writing it back changes nothing but imputed cells."""

    text: Encoded
    delimiter: str
    frame: pl.DataFrame
    holes: dict[str, Holes] = field(repr=False)
    notes: tuple[str, ...] = ()

    def filled(self, frame: pl.DataFrame) -> Iterator[bytes]:
        """The bytes of the file with the holes that the frame fills; null leaves a hole."""
        self._check(frame)
        return self.text.encode(joined(self._splice(frame)))

    def _splice(self, frame: pl.DataFrame) -> Iterator[bytes]:
        body, position = self.text.body, 0
        for start, end, cell in self._fills(frame):
            yield body[position:start]
            yield cell
            position = end
        yield body[position:]

    def _fills(self, frame: pl.DataFrame) -> list[tuple[int, int, bytes]]:
        """Span and new text of every hole that is filled, from the start of the text to its end."""
        fills: list[tuple[int, int, bytes]] = []
        for name, holes in self.holes.items():
            if name in frame.columns:
                cells = self._cells(_without_nan(frame[name]).gather(holes.rows), holes)
                spans = zip(holes.starts.tolist(), holes.ends.tolist(), cells, strict=True)
                fills += [(start, end, cell) for start, end, cell in spans if cell is not None]
        return sorted(fills)

    def _cells(self, values: pl.Series, holes: Holes) -> list[bytes | None]:
        """New texts of the holes of one column; a hole in quotes stays in quotes."""
        body, delimiter, spell = self.text.body, self.delimiter, holes.style.spell

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


def read_csv(raw: bytes, file: str, options: CsvOptions) -> CsvText:
    """Read a CSV file: cells that are empty, blank, ``""`` or one of the NA values are holes."""
    text = decode(raw, file, options.encoding)
    delimiter = find_delimiter(text.body, options.delimiter)
    grid = lay_out(text.body, delimiter, file)
    _check_names(options, grid)
    texts = [_with_nulls(grid, j, options.na_values) for j in range(len(grid.names))]
    mark = patterns.decimal_mark(texts, delimiter, options.decimal)
    typed = [_typed(cells, grid, j, mark, options) for j, cells in enumerate(texts)]
    frame = pl.DataFrame([column.series for column in typed])
    holes = {column.series.name: _holes(column, grid, j) for j, column in enumerate(typed)}
    remarks = (text.note, *(column.note for column in typed), *_missing_words(typed))
    notes = tuple(note for note in remarks if note)
    return CsvText(text, delimiter, frame, holes, notes)


def _check_names(options: CsvOptions, grid: Grid) -> None:
    for names in (options.text_columns, options.numeric_columns):
        unknown = [name for name in names if name not in grid.names]
        if unknown:
            raise InvalidParameterError(
                f"{grid.file} has no column {listed(unknown)}. "
                f"It has {listed(list(grid.names), most=12)}."
            )


def _with_nulls(grid: Grid, column: int, na_values: Sequence[str]) -> pl.Series:
    """The cells of a column as text, null where they are missing."""
    cells = pl.Series(grid.names[column], grid.texts(column), dtype=pl.String)
    bare = patterns.bare(cells)
    return cells.set(bare.is_in(["", *na_values]), None)


def _typed(cells: pl.Series, grid: Grid, column: int, mark: str, options: CsvOptions) -> Typed:
    if cells.name in options.text_columns and cells.null_count() < len(cells):
        return Typed(cells, Text())
    typed = infer(
        cells,
        lambda row: grid.place(row, column),
        mark,
        must_be_numbers=cells.name in options.numeric_columns,
    )
    if not typed.series.dtype.is_numeric() or not options.na_values:
        return typed
    numbers = pl.Series(list(options.na_values)).cast(pl.Float64, strict=False).drop_nulls()
    is_sentinel = typed.series.cast(pl.Float64).is_in(numbers.to_list())
    return replace(typed, series=typed.series.set(is_sentinel.fill_null(False), None))


def _without_nan(column: pl.Series) -> pl.Series:
    return column.fill_nan(None) if column.dtype.is_float() else column


def _holes(column: Typed, grid: Grid, j: int) -> Holes:
    rows = np.flatnonzero(column.series.is_null().to_numpy()).astype(np.intp)
    return Holes(rows, grid.starts[rows, j], grid.ends[rows, j], column.style)


def _missing_words(typed: list[Typed]) -> Iterator[str]:
    """Notes on words that often mean missing and were taken as they are."""
    for column in typed:
        if column.series.dtype != pl.String:
            continue
        words = patterns.bare(column.series.drop_nulls()).alias("word").value_counts()
        is_usual = words["word"].str.to_lowercase().is_in(list(patterns.DOUBTFUL_WORDS))
        for word, count in words.filter(is_usual).sort("word").iter_rows():
            yield (
                f"Column {column.series.name!r}: {word!r} ({count} cells) was taken as a category. "
                f"If it means missing, say so: --na-values {word!r} (na_values=)."
            )
