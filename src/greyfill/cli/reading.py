"""A file and what the user said about its columns → features, labels, and the rest."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from greyfill import files
from greyfill.cli.names import STREAM, called, did_you_mean
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.frames import Family, Schema


@dataclass(frozen=True, eq=False)
class Sheet:
    """A file that was read, its feature columns and their kinds, and the column of its labels."""

    source: files.Source
    features: tuple[str, ...]
    target: str | None = None
    ignored: tuple[str, ...] = ()
    kinds: dict[str, Any] = field(default_factory=dict)
    na_values: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How messages call the file."""
        return called(self.source.name)

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

    @property
    def said(self) -> set[str]:
        """Features whose kind the user gave."""
        given = self.kinds.values()
        return {name for names in given if names and names != "auto" for name in names}

    def holes(self) -> dict[str, int]:
        """The number of missing cells of each feature."""
        return {name: count_holes(self.source.frame[name]) for name in self.features}

    def with_filled(self, filled: pl.DataFrame) -> pl.DataFrame:
        """All columns of the file, in their order, with the features filled."""
        return self.source.frame.with_columns(filled)


@dataclass(frozen=True)
class Wishes:
    """What the user said about a file and its columns.

    Column options may hold several names with commas between them; a column whose own name has
    a comma is found too.
    """

    target: str | None = None
    categorical: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    ignored: Sequence[str] = ()
    na_values: Sequence[str] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    numeric: Sequence[str] = ()

    def read(self, name: str) -> Sheet:
        """Read a table to learn from."""
        return self.sheet(self._read(name))

    def sheet(self, source: files.Source) -> Sheet:
        """The columns of a table to learn from, sorted by what the user said about them."""
        name, columns = source.name, source.frame.columns
        categorical, ignored = self._columns_of(columns, called(name))
        kept = [c for c in columns if c != self.target and c not in ignored]
        if not kept:
            raise InvalidDataError(f"{called(name)} has no column left to impute.")
        kinds = {
            "categorical_features": [c for c in categorical if c != self.target] or "auto",
            "ordinal_features": self._orders(source),
        }
        sheet = Sheet(
            source, tuple(kept), self.target, tuple(ignored), kinds, tuple(self.na_values)
        )
        if sheet.y is not None and is_empty(sheet.y):
            raise InvalidDataError(
                f"{sheet.name}: the target {self.target!r} has no label in any row. Name another "
                "column, or leave --target away with --method iknn."
            )
        return sheet

    @contextmanager
    def open_new(
        self, name: str, schema: Schema, learned: files.LearnedTypes
    ) -> Iterator[files.Batches]:
        """Open new rows for a model; columns that it does not know are left as they are."""
        others = [*([self.target] if self.target else []), *_split(self.ignored)]
        with files.open_batches(
            name,
            na_values=self.na_values,
            text_columns=[*(f.name for f in schema.fields if f.meaning == "text"), *others],
            numeric_columns=[f.name for f in schema.fields if f.family in _NUMBERS],
            delimiter=self.delimiter,
            decimal=self.decimal,
            encoding=self.encoding,
            learned=learned,
        ) as batches:
            _refuse_lacking(schema.names, batches.columns, called(name))
            yield batches

    def _read(self, name: str) -> files.Source:
        """Read with the types that were given, names with commas split or not."""
        texts = [*self.categorical, *self.ignored]
        try:
            return self._open(name, _split(texts), _split(self.numeric))
        except InvalidParameterError:
            if name == STREAM:
                raise
        with suppress(InvalidParameterError):
            return self._open(name, texts, self.numeric)
        return self._open(name)  # a column is unknown: see which

    def _open(
        self, name: str, text_columns: Sequence[str] = (), numeric_columns: Sequence[str] = ()
    ) -> files.Source:
        return files.read(
            name,
            na_values=self.na_values,
            text_columns=text_columns,
            numeric_columns=numeric_columns,
            delimiter=self.delimiter,
            decimal=self.decimal,
            encoding=self.encoding,
        )

    def _columns_of(self, columns: list[str], where: str) -> tuple[list[str], list[str]]:
        """The categorical and the ignored columns, after all that can be wrong with names."""
        _refuse_unknown("--target", [self.target] if self.target else [], columns, where)
        categorical = _resolve("--categorical", self.categorical, columns, where)
        ignored = _resolve("--ignore", self.ignored, columns, where)
        _resolve("--numeric", self.numeric, columns, where)
        ordinal = [_bare(item, columns) for item in _split_orders(self.ordinal, columns)]
        _refuse_unknown("--ordinal", ordinal, columns, where)
        if self.target in ignored:
            raise InvalidParameterError(
                f"The column {self.target!r} is both --target and --ignore. "
                "The target is never imputed; ignoring it would hide the labels."
            )
        for name in (*categorical, *ordinal):
            if name in ignored:
                raise InvalidParameterError(
                    f"The column {name!r} is ignored (--ignore), so it can have no kind."
                )
        return categorical, ignored

    def _orders(self, source: files.Source) -> Any:
        """The ordered columns, with their levels in order where somebody gave one."""
        frame = source.frame
        items = _split_orders(self.ordinal, frame.columns)
        orders = dict(_order(item, source) for item in items)
        if not any(orders.values()):
            return list(orders) or None
        return {c: levels or _sorted_levels(frame[c]) for c, levels in orders.items()}


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
            raise InvalidParameterError(
                f"{file} has no column {name!r} ({option}). {did_you_mean(name, columns)}"
            )


def _refuse_lacking(wanted: Iterable[str], columns: Collection[str], file: str) -> None:
    lacking = next((c for c in wanted if c not in columns), None)
    if lacking is not None:
        strangers = [c for c in columns if c not in wanted]
        raise InvalidDataError(
            f"{file} has no column {lacking!r}, which the imputer was fitted on. "
            + did_you_mean(lacking, strangers or columns)
        )


def _split(names: Iterable[str]) -> list[str]:
    return [part for name in names for part in name.split(",") if part]


def _resolve(option: str, given: Iterable[str], columns: list[str], where: str) -> list[str]:
    """Names of columns; one that is none is split at its commas."""
    names = [n for name in given for n in ([name] if name in columns else _split([name]))]
    _refuse_unknown(option, names, columns, where)
    return names


def _split_orders(items: Iterable[str], columns: list[str]) -> list[str]:
    """Ordered columns; commas after an = stand between levels."""
    whole = [(item, item in columns or "=" in item) for item in items]
    return [part for item, is_one in whole for part in ([item] if is_one else _split([item]))]


def _bare(item: str, columns: list[str]) -> str:
    return item if item in columns else item.partition("=")[0]


def _order(item: str, source: files.Source) -> tuple[str, list[Any]]:
    """A column, and its levels if they were given: ``size=S,M,L``."""
    frame = source.frame
    if item in frame.columns:
        return item, []
    name, _, levels = item.partition("=")
    words = pl.Series(levels.split(","), dtype=pl.String)
    try:
        given = words.cast(frame[name].dtype)
    except pl.exceptions.PolarsError as error:
        raise InvalidParameterError(
            f"--ordinal {item}: these levels cannot stand in the column {name!r}, which holds "
            f"{frame[name].dtype}."
        ) from error
    unlisted = (frame[name].is_not_null() & ~frame[name].is_in(given.to_list())).arg_true()
    if len(unlisted):
        row = int(unlisted[0])
        raise InvalidParameterError(
            f"{source.place(row, name)}: {frame[name][row]!r} is not among the levels of "
            f"--ordinal {item}. Add it in its place."
        )
    return name, given.to_list()


def _sorted_levels(column: pl.Series) -> list[Any]:
    return column.drop_nulls().unique().sort().to_list()
