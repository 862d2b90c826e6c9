"""A file and what the user said about its columns → features, labels, and the rest."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from greyfill import files
from greyfill.cli.names import STREAM, did_you_mean
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.frames import Family, Schema


@dataclass(frozen=True, eq=False)
class Sheet:
    """A file that was read, its feature columns, and the column of its labels if it has one."""

    source: files.Source
    features: tuple[str, ...]
    target: str | None = None

    @property
    def name(self) -> str:
        """How messages call the file."""
        return "standard input" if self.source.name == STREAM else self.source.name

    @property
    def X(self) -> pl.DataFrame:
        """The features."""
        return self.source.frame.select(self.features)

    @property
    def y(self) -> pl.Series | None:
        """The labels; null where a row has none."""
        return None if self.target is None else self.source.frame[self.target]

    @property
    def empty(self) -> list[str]:
        """Features without any observed value, of which nothing can be learned."""
        return [name for name in self.features if is_empty(self.source.frame[name])]

    def holes(self) -> dict[str, int]:
        """The number of missing cells of each feature."""
        return {name: count_holes(self.source.frame[name]) for name in self.features}

    def with_filled(self, filled: pl.DataFrame) -> pl.DataFrame:
        """All columns of the file, in their order, with the features filled."""
        return self.source.frame.with_columns(filled)


@dataclass(frozen=True)
class Wishes:
    """What the user said about a file and its columns."""

    target: str | None = None
    categorical: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    ignored: Sequence[str] = ()
    na_values: Sequence[str] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    _options: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        options = {
            "na_values": self.na_values,
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
        }
        object.__setattr__(self, "_options", options)

    def read(self, name: str) -> Sheet:
        """Read a table to learn from."""
        try:
            source = files.read(
                name, text_columns=[*self.categorical, *self.ignored], **self._options
            )
        except InvalidParameterError:
            self._name_the_option(name)
            raise
        columns = source.frame.columns
        self._check(source.name, columns)
        kept = [c for c in columns if c != self.target and c not in self.ignored]
        if not kept:
            raise InvalidDataError(f"{name} has no column left to impute.")
        sheet = Sheet(source, tuple(kept), self.target)
        if sheet.y is not None and is_empty(sheet.y):
            raise InvalidDataError(
                f"{sheet.name}: the target {self.target!r} has no label in any row. Name another "
                "column, or leave --target away with --method iknn."
            )
        return sheet

    def read_new(self, name: str, schema: Schema) -> Sheet:
        """Read new rows for a model; columns that it does not know are left as they are."""
        typed = {
            "text_columns": [f.name for f in schema.fields if f.meaning == "text"],
            "numeric_columns": [f.name for f in schema.fields if f.family in _NUMBERS],
        }
        source = self._read_new(name, typed)
        columns = source.frame.columns
        for lacking in (c for c in schema.names if c not in columns):
            strangers = [c for c in columns if c not in schema.names]
            raise InvalidDataError(
                f"{name} has no column {lacking!r}, which the imputer was fitted on. "
                + did_you_mean(lacking, strangers or columns, "It has")
            )
        return Sheet(source, schema.names)

    def _read_new(self, name: str, typed: dict[str, list[str]]) -> files.Source:
        """Read with the types of the model; target and ignored columns may be there or not."""
        target = [self.target] if self.target else []
        for others in ([*target, *self.ignored], target, self.ignored, []):
            columns = {**typed, "text_columns": [*typed["text_columns"], *others]}
            with suppress(InvalidParameterError):
                return files.read(name, **columns, **self._options)
        return files.read(name, **self._options)  # a column of the model is lacking: see which

    @property
    def categorical_features(self) -> list[str] | str:
        """The columns that are categories whatever their cells look like."""
        return [c for c in self.categorical if c != self.target] or "auto"

    def ordinal_features(self, frame: pl.DataFrame) -> Any:
        """The ordered columns, with their levels in order where somebody gave one."""
        orders = dict(_order(item, frame) for item in self.ordinal)
        if not any(orders.values()):
            return list(orders) or None
        return {c: levels or _sorted_levels(frame[c]) for c, levels in orders.items()}

    def _name_the_option(self, name: str) -> None:
        """Say which option named a column that the file has not, if that was the matter."""
        if name != STREAM:
            with suppress(InvalidDataError):
                self._check(name, files.read(name, **self._options).frame.columns)

    def _check(self, name: str, columns: list[str]) -> None:
        where = "standard input" if name == STREAM else name
        _refuse_unknown("--target", [self.target] if self.target else [], columns, where)
        _refuse_unknown("--categorical", self.categorical, columns, where)
        _refuse_unknown("--ignore", self.ignored, columns, where)
        ordinal = [c if c in columns else c.partition("=")[0] for c in self.ordinal]
        _refuse_unknown("--ordinal", ordinal, columns, where)
        if self.target in self.ignored:
            raise InvalidParameterError(
                f"The column {self.target!r} is both --target and --ignore. "
                "The target is never imputed; ignoring it would hide the labels."
            )
        left_out = [c for c in (*self.categorical, *ordinal) if c in self.ignored]
        if left_out:
            raise InvalidParameterError(
                f"The column {left_out[0]!r} is ignored (--ignore), so it can have no kind."
            )


_NUMBERS = frozenset({Family.FLOAT, Family.INTEGER, Family.DECIMAL})


def is_empty(column: pl.Series) -> bool:
    """Whether a column has no observed value."""
    return count_holes(column) == len(column)


def count_holes(column: pl.Series) -> int:
    """The number of missing cells: nulls, and what is not a number among numbers."""
    nans = int(column.is_nan().sum() or 0) if column.dtype.is_float() else 0
    return column.null_count() + nans


def _refuse_unknown(option: str, given: Iterable[str], columns: Collection[str], file: str) -> None:
    for name in given:
        if name not in columns:
            several = "" if "," not in name else " Repeat the option for each column."
            raise InvalidParameterError(
                f"{file} has no column {name!r} ({option}).{several} {did_you_mean(name, columns)}"
            )


def _order(item: str, frame: pl.DataFrame) -> tuple[str, list[Any]]:
    """A column, and its levels if they were given: ``size=S,M,L``."""
    if item in frame.columns:
        return item, []
    name, _, levels = item.partition("=")
    words = pl.Series(levels.split(","), dtype=pl.String)
    try:
        return name, words.cast(frame[name].dtype).to_list()
    except pl.exceptions.PolarsError as error:
        raise InvalidParameterError(
            f"--ordinal {item}: these levels cannot stand in the column {name!r}, which holds "
            f"{frame[name].dtype}."
        ) from error


def _sorted_levels(column: pl.Series) -> list[Any]:
    return column.drop_nulls().unique().sort().to_list()
