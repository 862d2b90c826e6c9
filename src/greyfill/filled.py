"""A filled table, and all that can be told about it: cells, limits, donors, draws, a report."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import narwhals as nw
import numpy as np

from greyfill import files, frames
from greyfill.applicability import flags
from greyfill.exceptions import InvalidParameterError
from greyfill.folds import Folds, as_written
from greyfill.table import Bools
from greyfill.text import plural

MOST_EXPLAINED = 500
"""Cells whose donors are listed: each takes about a millisecond."""
N_DONORS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Filled:
    """A filled table, the imputer that filled it, and what a reader of it should know.

    ``left_alone`` has the columns that were neither filled nor used, with reasons; ``notes`` are
    sentences. Everything else is computed when it is first asked for.

    >>> import greyfill
    >>> filled = greyfill.fill([[1.0, 2.0], [2.0, 4.1], [3.0, None], [4.0, 8.0]], method="mean")
    >>> filled.mask.sum(axis=0)
    array([0, 1])
    """

    table: Any
    imputer: Any
    left_alone: Mapping[str, str]
    notes: tuple[str, ...]
    seconds: float
    features: Any
    _X: Any
    _y: Any
    _whole: Any
    _holes: Bools
    _kept_empty: Mapping[str, Bools]
    _source: files.Source | None
    _folds: Folds
    _muted: Collection[str]
    _columns: Any = None

    def __repr__(self) -> str:
        n, method = int(self._holes.sum()), type(self.imputer).__name__
        told = [f"{plural(n, 'cell')} filled by {method} in {self.seconds:.1f} s", *self.notes]
        return "\n".join([str(self.table), *told])

    @property
    def report(self) -> Any:
        """The page about it: ``report.save("page.html")`` writes it, a notebook shows it."""
        from greyfill.report import make_report

        s = self._source
        told: Any = {} if s is None else {"guesses": s.notes, "name": s.title}
        return make_report(self.imputer, self._X, self.features, self._y, lines=self.lines, **told)

    @cached_property
    def mask(self) -> Any:
        """Which cells were filled: a table of the same shape and library, true where they were."""
        places = {name: self._holes[:, j] for j, name in enumerate(self._names)}
        if isinstance(self._whole, np.ndarray):
            return self._holes
        nothing = np.zeros(len(self._holes), dtype=bool)
        table = nw.from_native(self._whole, eager_only=True)
        columns = [
            nw.new_series(str(name), places.get(str(name), nothing), nw.Boolean,
                          backend=table.implementation)
            for name in table.columns
        ]  # fmt: skip
        return frames.with_names(table.with_columns(*columns).to_native(), self._columns)

    @cached_property
    def intervals(self) -> Any:
        """What holds the true value with probability 0.9: row, column, low, high, levels.

        None where the method knows no limits; those of `GreyImputer` do.
        """
        found = self._limits
        return None if found is None else frames.interval_frame(found, self._library)

    @cached_property
    def cells(self) -> Any:
        """Every filled cell: row, line of the file, column, value, limits, error, donors.

        Rows are counted from 0, lines from 1, as in the file. ``error`` is the root mean squared
        error of the column on cells that were held out, where the method measures one; ``donors``
        are the lines, or rows, of the donors that count most and their weights, of the first 500
        cells.
        """
        columns, rows = np.nonzero(self._holes.T)
        names = [self._names[j] for j in columns.tolist()]
        limits = self._limits or {"rows": [], "columns": []}
        place = {
            key: n for n, key in enumerate(zip(limits["rows"], limits["columns"], strict=True))
        }
        found = [place.get(key) for key in zip(rows.tolist(), names, strict=True)]
        errors = {c: d.get("error") for c, d in getattr(self.imputer, "selection_", {}).items()}
        lines = self.lines
        return frames.long_frame(
            {
                "row": rows.tolist(),
                "line": [None] * len(rows) if lines is None else lines[rows].tolist(),
                "column": names,
                "value": self._values(rows, columns),
                **{
                    name: [None if n is None else limits[name][n] for n in found]
                    for name in ("low", "high", "levels")
                },
                "error": [errors.get(name) for name in names],
                "donors": self._donors(rows.tolist(), names),
            },
            self._library,
        )

    def draws(self, n: int = 5) -> list[Any]:
        """The table filled n times, each time by a draw; join estimates with `greyfill.pool`."""
        if hasattr(self.imputer, "draw"):
            drawn = self.imputer.draw(self._X, n, self._y)
        elif hasattr(self.imputer, "draws_") and n <= len(self.imputer.draws_):
            drawn = self.imputer.draws_[:n]
        else:
            name = type(self.imputer).__name__
            raise InvalidParameterError(
                f"{name} cannot draw {n} tables: take the method grey, or mice with so many "
                "imputations"
            )
        complete = (with_empty(self._X, X, self.imputer) for X in drawn)
        features = (unfilled(self._X, X, self._kept_empty) for X in complete)
        return [
            rejoined(self._whole, X, self.imputer, self._folds, self._columns) for X in features
        ]

    @cached_property
    def lines(self) -> Any:
        """The line of each row in the file that it came from; None without a file."""
        return None if self._source is None else self._source.lines()

    @property
    def _library(self) -> str:
        return frames.library_of(self._whole)

    @property
    def _names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.imputer.schema_.names
        return names

    @property
    def _is_used(self) -> Bools:
        """Which features others are filled by: no identifier and no empty column."""
        is_used: Bools = self.imputer._kept & ~np.isin(self._names, list(self._muted))
        return is_used

    @cached_property
    def _limits(self) -> dict[str, list[Any]] | None:
        if not hasattr(self.imputer, "intervals"):
            return None
        found: dict[str, list[Any]] = self.imputer._interval_lists(self._X, self._y)
        place = {name: j for j, name in enumerate(self._names)}
        cells = zip(found["rows"], found["columns"], strict=True)
        is_filled = [bool(self._holes[row, place[name]]) for row, name in cells]
        return {name: list(compress(values, is_filled)) for name, values in found.items()}

    def _values(self, rows: Any, columns: Any) -> list[Any]:
        """The values of filled cells, given column by column."""
        is_array = isinstance(self._whole, np.ndarray)  # its columns are at their places there
        table = frames.open_table(self.table if is_array else self.features)
        values: list[Any] = []
        for j in dict.fromkeys(columns.tolist()):
            chosen = rows[columns == j].tolist()
            if isinstance(table, np.ndarray):
                values += table[chosen, j].tolist()
            else:
                values += table[self._names[j]][chosen].to_list()
        return values

    def _donors(self, rows: list[int], names: list[str]) -> list[str | None]:
        """The donors of each cell that count most, in words."""
        explained = zip(rows[:MOST_EXPLAINED], names, strict=False)
        given = [self._donors_of(row, name) for row, name in explained]
        return [*given, *[None] * (len(rows) - len(given))]

    def _donors_of(self, row: int, name: str) -> str | None:
        try:
            found = self.imputer.donors_of(row, name)
        except (AttributeError, InvalidParameterError):  # a row without a label, a mere mean
            return None
        pairs = zip(found["rows"][:N_DONORS], found["weights"], strict=False)
        lines = self.lines
        return ", ".join(f"{r if lines is None else lines[r]} ({w:.2f})" for r, w in pairs)


def empty_places(imputer: Any) -> list[int]:
    """Where the columns without a value are, which an imputer leaves out."""
    return [] if imputer.keep_empty_features else np.flatnonzero(~imputer._shown).tolist()


def with_empty(X: Any, filled: Any, imputer: Any) -> Any:
    """An array with all columns of X, those without a value as they were; frames as they are."""
    empty = empty_places(imputer) if isinstance(filled, np.ndarray) else []
    for j in empty:
        filled = np.insert(filled, j, X[:, j], axis=1)
    return filled


def unfilled(X: Any, filled: Any, cells: Mapping[str, Bools]) -> Any:
    """The filled table with some cells, rows of columns, as they were."""
    if not cells:
        return filled
    if isinstance(filled, np.ndarray):
        for name, rows in cells.items():
            filled[rows, int(name[1:])] = X[rows, int(name[1:])]
        return filled
    before, table = nw.from_native(X, eager_only=True), nw.from_native(filled, eager_only=True)
    kept = [
        before[name].zip_with(flags(rows, before[name]), table[name]).alias(name)
        for name, rows in cells.items()
        if name in table.columns  # else it has no value, and nothing was filled
    ]
    return table.with_columns(*kept).to_native()


def rejoined(whole: Any, features: Any, imputer: Any, folds: Collection[str], columns: Any) -> Any:
    """The whole table with its features as they were filled, spelled and named as it was."""
    sentinels = imputer.schema_.missing_values
    table = as_written(_joined(whole, features), whole, folds, sentinels)
    return frames.with_names(table, columns)


def _joined(whole: Any, features: Any) -> Any:
    """The whole table with its features as they were filled, and new columns at its end."""
    if isinstance(whole, np.ndarray):
        return features
    filled = nw.from_native(features, eager_only=True)
    table = nw.from_native(whole, eager_only=True)
    return table.with_columns(*(filled[name] for name in filled.columns)).to_native()
