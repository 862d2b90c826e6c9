"""Files of SPSS, Stata and SAS: codes with value labels, and codes that their makers call missing.

Codes that all have labels are read as the labels, so that they are categories; codes that the file
declares missing are holes. Written back, a filled cell has the code again, every other cell the
code that it had, and labels, formats and declarations stay. SAS files (.sas7bdat, .xpt) can only
be read.
"""

import os
import tempfile
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import polars as pl

from greyfill.exceptions import FileProblemError
from greyfill.files.column_types import ChooseTypes
from greyfill.files.formats import Format, Sink
from greyfill.files.guesses import Guess
from greyfill.files.polars_formats import WholeWriter
from greyfill.files.words import Doubt

_READERS = {
    Format.SPSS: "read_sav",
    Format.STATA: "read_dta",
    Format.SAS: "read_sas7bdat",
    Format.XPORT: "read_xport",
}


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table as its file has it, the frame that people read, and what the file says about it."""

    format: Format
    codes: pl.DataFrame = field(repr=False)
    frame: pl.DataFrame = field(repr=False)
    meta: Any = field(repr=False)
    guesses: tuple[Guess, ...] = ()
    unused: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()


def read_coded(path: str, format: Format, choose_types: ChooseTypes | None = None) -> CodedTable:
    """Read a file of a statistics program.

    ``choose_types`` gives, from the names of all columns, those whose codes that the file declares
    missing are values, and those whose codes are numbers, whatever their labels.
    """
    check_pyreadstat("read")
    read = getattr(import_module("pyreadstat"), _READERS[format])
    options = {"output_format": "polars"}
    plain, meta = read(path, **options)
    codes = plain
    if format is Format.SPSS:
        codes, meta = read(path, user_missing=True, **options)
    codes = codes.with_columns(_typed(column, meta) for column in codes)
    columns, guesses = [], []
    texts, numbers = ((), ()) if choose_types is None else choose_types(tuple(codes.columns))
    for name in plain.columns:
        column = _blank_is_missing((codes if name in texts else plain)[name])
        labels = {} if name in numbers else meta.variable_value_labels.get(name, {})
        read_column = _labelled(column, labels)
        columns.append(read_column)
        if read_column.dtype == pl.String and column.dtype != pl.String:
            undo = "If they are numbers: --numeric COLUMN."
            guesses.append(Guess("labels", "by their value labels", undo, column.name, len(column)))
        n_declared = column.null_count() - _blank_is_missing(codes[column.name]).null_count()
        if n_declared > 0:
            declared = "codes that the file declares missing"
            undo = "If they are values: --categorical COLUMN."
            guesses.append(Guess("missing", declared, undo, column.name, n_declared))
    return CodedTable(format, codes, pl.DataFrame(columns), meta, tuple(guesses))


def check_pyreadstat(deed: str) -> None:
    """Say what to install if the package for these files is lacking."""
    if find_spec("pyreadstat") is None:
        raise FileProblemError(
            f"To {deed} files of SPSS, Stata and SAS, pyreadstat is needed: "
            'pip install "greyfill[stats]"'
        )


def _blank_is_missing(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        return column.set(column.str.strip_chars() == "", None)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _typed(column: pl.Series, meta: Any) -> pl.Series:
    """A column of codes; one without any has the type that the file gives it all the same."""
    is_number = meta.readstat_variable_types.get(column.name) != "string"
    return column.cast(pl.Float64) if column.dtype == pl.Null and is_number else column


def _labelled(column: pl.Series, labels: dict[Any, str]) -> pl.Series:
    """Labels instead of codes, if all codes have different ones; whole numbers as such."""
    seen = column.drop_nulls().unique().to_list()
    names = [labels.get(code) for code in seen]
    if seen and None not in names and len(set(names)) == len(names):
        return column.replace_strict(dict(zip(seen, names, strict=True)), return_dtype=pl.String)
    if column.dtype.is_float() and ((column % 1).fill_null(0.0) == 0.0).all():
        return column.cast(pl.Int64)
    return column


class CodedWriter(WholeWriter):
    """Takes the filled rows of a coded table and writes it with only its holes changed."""

    def __init__(self, sink: Sink, table: CodedTable) -> None:
        super().__init__(sink, table.format)
        check_pyreadstat("write")
        self._table = table

    def finish(self) -> None:
        """Write the file: pyreadstat needs a name."""
        table, filled = self._table, pl.concat(self._frames)
        pyreadstat, meta = import_module("pyreadstat"), table.meta
        columns = [self._coded(table.codes[c], filled[c]) for c in table.codes.columns]
        columns += [filled[c].cast(pl.Int8) for c in filled.columns if c not in table.codes.columns]
        about = {
            "file_label": meta.file_label or "",
            "column_labels": dict(meta.column_names_to_labels),
            "variable_value_labels": meta.variable_value_labels,
            "variable_format": meta.original_variable_types,
        }
        with tempfile.TemporaryDirectory(prefix="greyfill-") as folder:
            path = os.path.join(folder, "filled")
            if table.format is Format.SPSS:
                more = {"missing_ranges": meta.missing_ranges, "compress": False}
                measure = {"variable_measure": meta.variable_measure}
                pyreadstat.write_sav(pl.DataFrame(columns), path, **about, **more, **measure)
            else:
                pyreadstat.write_dta(pl.DataFrame(columns), path, **about)
            with open(path, "rb") as written:
                self._sink.write(written.read())

    def _coded(self, codes: pl.Series, filled: pl.Series) -> pl.Series:
        """The codes of a column, with those of filled cells in its holes."""
        labels = self._table.meta.variable_value_labels.get(codes.name, {})
        shown = self._table.frame[codes.name]
        if filled.dtype == pl.String and codes.dtype != pl.String:
            by_label = {label: code for code, label in labels.items()}
            seen = pl.DataFrame([shown.alias("label"), codes.alias("code")]).drop_nulls().unique()
            by_label |= dict(seen.iter_rows())  # of codes with one label, that which occurs
            filled = filled.replace_strict(by_label, default=None, return_dtype=codes.dtype)
        is_hole = shown.is_null() & filled.is_not_null()
        return filled.cast(codes.dtype).zip_with(is_hole, codes)
