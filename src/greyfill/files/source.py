"""The one door in and the one door out: read a file, write it back filled."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from greyfill.exceptions import InvalidDataError
from greyfill.files.atomic import writing
from greyfill.files.compressing import compressing
from greyfill.files.csv_text import CsvOptions, CsvText, read_csv
from greyfill.files.formats import Format, Layout, layout_of, sniff_format
from greyfill.files.loading import load, shown
from greyfill.files.outputs import check_output
from greyfill.files.styles import Style, Text
from greyfill.files.typed import read_typed
from greyfill.files.writing import writing_frames


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

    @property
    def styles(self) -> dict[str, Style]:
        """How a CSV file writes the columns that have observed cells and are no text."""
        styles = {} if self.csv is None else self.csv.reader.styles
        return {name: style for name, style in styles.items() if not isinstance(style, Text)}

    def place(self, row: int, column: str) -> str:
        """Where a cell is, for a message: its line in a text file, else its row."""
        if self.csv is not None:
            return self.csv.place(row, column)
        return f"{shown(self.name)}, row {row + 1}, column {column!r}"

    def write(
        self, filled: pl.DataFrame, out: str | os.PathLike[str] = "-", *, force: bool = False
    ) -> None:
        """Write the file with its holes filled, in the format that the new name tells.

        A CSV file that becomes a CSV file keeps every byte but those of imputed cells: delimiter,
        quotes, line ends and encoding included, whatever the new name. Imputed numbers get as
        many decimals as the column has. Any other format holds the filled frame.

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
        """
        check_output(out, source=self.name, force=force)
        if filled.height != self.frame.height:
            raise InvalidDataError(
                f"The filled table has {filled.height} rows, {shown(self.name)} has "
                f"{self.frame.height}."
            )
        layout = layout_of(os.fspath(out))
        format = layout.format or self.format
        with writing(out, force=force) as stream, compressing(stream, layout.compression) as sink:
            if format is Format.CSV and self.csv is not None:
                for chunk in self.csv.filled(filled):
                    sink.write(chunk)
            else:
                with writing_frames(sink, format) as writer:
                    writer.write(filled)


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
) -> Source:
    r"""Read a table with holes.

    A cell of a CSV file is missing if it is empty, blank, ``""``, or one of ``na_values``; nothing
    else is, so a ticker NA stays a ticker. Types are told from all cells of a column: whole and
    decimal numbers, true/false, ISO dates with or without a time (UTC if all end in Z), else text.
    Whole numbers with leading zeros or more than 18 digits are text.

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
    raw = load(name, layout.compression)
    found = layout.format or sniff_format(raw)
    words = _tuple(na_values)
    if found is Format.CSV:
        options = CsvOptions(
            words, _tuple(text_columns), _tuple(numeric_columns), delimiter, decimal, encoding
        )
        csv = read_csv(raw, shown(name), options)
        return Source(name, found, csv.frame, csv.notes, csv)
    frame, notes = read_typed(raw, found, shown(name), words)
    return Source(name, found, frame, notes)


def _tuple(words: str | Sequence[str]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)
