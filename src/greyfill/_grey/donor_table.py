"""The training rows as donors: a filled table with y as one more column, and its features."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from greyfill._grey.outcomes import Forecast, Outcomes
from greyfill.table import MANY_LEVELS, Bools, Floats, Ints, Table, indicators

FORMS = ("values", "scores")

MAX_INDICATORS = 12
"""Levels of a category with an indicator of their own, the most frequent ones."""

KNOTS = 201
"""Places at which the ranks of a column of numbers are kept."""


@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """How one column becomes features of variance about 1 in all.

    ``levels`` are the levels with an indicator, empty for numbers. ``knots`` and ``scores`` map a
    number to the normal score of its rank.
    """

    levels: Ints
    shift: Floats
    spread: float
    knots: Floats
    scores: Floats

    @classmethod
    def learn(cls, observed: Floats, is_categorical: bool) -> "ColumnFeatures":
        """Take levels, means and ranks from the observed values of a column."""
        if not is_categorical:
            spread = float(observed.std()) if len(observed) else 0.0
            knots, scores = _normal_scores(observed)
            middle = np.array([observed.mean() if len(observed) else 0.0])
            return cls(np.zeros(0, dtype=np.intp), middle, spread or 1.0, knots, scores)
        codes, counts = np.unique(observed.astype(np.intp), return_counts=True)
        frequent = np.sort(codes[np.argsort(-counts, kind="stable")[:MAX_INDICATORS]])
        levels = frequent[1:] if len(frequent) <= 2 else frequent
        shares = np.array([(observed == level).mean() for level in levels])
        spread = float(np.sqrt((shares * (1 - shares)).sum()))
        return cls(levels, shares, spread or 1.0, np.zeros(0), np.zeros(0))

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.shift)

    def of(self, values: Floats, form: str) -> Floats:
        """Features of some values of the column, shape (value, feature)."""
        if len(self.knots) and form == "scores":
            return np.asarray(np.interp(values, self.knots, self.scores)[:, np.newaxis])
        raw = values[:, np.newaxis] if len(self.knots) else indicators(values, self.levels)
        return np.asarray((raw - self.shift) / self.spread)


def _normal_scores(observed: Floats) -> tuple[Floats, Floats]:
    """Knots in rising order and the normal scores Φ⁻¹(rank) there; ties share a mean rank."""
    if len(observed) == 0:
        return np.zeros(1), np.zeros(1)
    ordered = np.sort(observed)
    places = np.unique(np.linspace(0, len(ordered) - 1, KNOTS).round().astype(np.intp))
    knots = np.unique(ordered[places])
    below = np.searchsorted(ordered, knots, side="left")
    above = np.searchsorted(ordered, knots, side="right")
    ranks = (below + above) / 2 / len(ordered)
    edge = 0.5 / len(ordered)
    return knots, np.asarray(ndtri(np.clip(ranks, edge, 1 - edge)))


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The features of every column of a table, side by side."""

    columns: tuple[ColumnFeatures, ...]

    @classmethod
    def learn(cls, table: Table) -> "FeatureMap":
        """Learn every column from its observed cells."""
        columns = zip(table.values.T, table.missing.T, table.is_categorical, strict=True)
        return cls(tuple(ColumnFeatures.learn(v[~m], bool(c)) for v, m, c in columns))

    @property
    def starts(self) -> Ints:
        """The first feature of every column, and the number of features at the end."""
        return np.cumsum([0, *(column.width for column in self.columns)])

    def places(self, columns: Ints) -> Ints:
        """The features of some columns."""
        starts = self.starts
        parts = [np.arange(starts[j], starts[j + 1]) for j in columns]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def owners(self, columns: Ints) -> Ints:
        """For each feature in `places`, the position of its column in ``columns``."""
        return np.repeat(np.arange(len(columns)), [self.columns[j].width for j in columns])

    def of(self, values: Floats, columns: Ints, form: str) -> Floats:
        """Features of some columns of some rows."""
        parts = [self.columns[j].of(values[:, j], form) for j in columns]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(values), 0))


@dataclass(eq=False)
class DonorTable:
    """Rows that are donors, and y as their last column where there is one.

    ``table`` is scaled and filled, its mask keeps which cells were holes. ``labels`` are class
    codes, all 0 without classes or with too many of them to split the donors. The passes of ``fit``
    rewrite fills in place, as a copy for each column would cost too much; what they leave to
    `FittedGrey` is closed, and `fill` refuses to rewrite it.
    """

    table: Table
    labels: Ints
    n_classes: int
    feature_map: FeatureMap
    _features: dict[str, Floats] = field(default_factory=dict, repr=False)
    _levels: dict[int, Ints] = field(default_factory=dict, repr=False)
    _is_open: bool = field(default=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_features": {}, "_levels": {}}

    @property
    def has_classes(self) -> bool:
        """Whether the last column holds classes."""
        return self.n_classes > 1

    @property
    def splits(self) -> bool:
        """Whether donors may be those of a class; very many classes are a column like others."""
        return 1 < self.n_classes <= MANY_LEVELS

    @property
    def y_column(self) -> int:
        """The last column: the class or the response, where there is one."""
        return self.table.n_columns - 1

    @property
    def targets(self) -> list[int]:
        """Columns with holes and with observed cells, fewest holes first."""
        holes = self.table.missing.sum(axis=0)
        some = np.flatnonzero((holes > 0) & (holes < self.table.n_rows))
        return [int(j) for j in some[np.argsort(holes[some], kind="stable")]]

    def observed_rows(self, column: int) -> Ints:
        """Rows in which a column was no hole."""
        return np.flatnonzero(~self.table.missing[:, column])

    def seen_values(self, column: int) -> Floats:
        """The observed values of a column."""
        return np.asarray(self.table.values[self.observed_rows(column), column])

    def features(self, form: str) -> Floats:
        """Features of all columns of the filled table."""
        if form not in self._features:
            columns = np.arange(self.table.n_columns)
            self._features[form] = self.feature_map.of(self.table.values, columns, form)
        return self._features[form]

    def fill(self, rows: Ints, column: int, values: Floats) -> float:
        """Rewrite holes of a column and their features; return the largest change."""
        assert self._is_open, "a fitted donor table is not rewritten"
        change = np.abs(values - self.table.values[rows, column]).max(initial=0.0)
        if self.table.is_categorical[column]:
            change = float(change > 0)
        self.table.values[rows, column] = values
        places = self.feature_map.places(np.array([column]))
        for form in FORMS:
            block = self.feature_map.columns[column].of(values, form)
            self.features(form)[np.ix_(rows, places)] = block
        return float(change)

    def levels(self, column: int) -> Ints:
        """The codes that occur in a column of categories, rising; none in a column of numbers.

        Fills come from donors, so they add none.
        """
        if column not in self._levels:
            values = self.table.values[:, column]
            occurring = np.unique(values) if self.table.is_categorical[column] else values[:0]
            self._levels[column] = occurring.astype(np.intp)
        return self._levels[column]

    def is_wide(self, column: int) -> bool:
        """Whether a column has too many levels to predict each."""
        return len(self.levels(column)) > MANY_LEVELS

    def outcomes(self, column: int) -> Outcomes:
        """What is predicted: the numbers of a column, or an indicator for each of its levels."""
        return Outcomes(self.levels(column)[np.newaxis])

    def truth(self, column: int) -> Floats:
        """The numbers, or the indicators, of all rows."""
        return self.outcomes(column).truth(self.table.values[:, column])

    def fills(self, column: int, forecast: Forecast) -> Floats:
        """A value for each prediction: the most probable level, or a number in the seen range."""
        if self.table.is_categorical[column]:
            return forecast.most_probable().astype(float)
        seen = self.seen_values(column)
        low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
        return np.clip(forecast.predicted[:, 0], low, high)


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows to predict a cell of, in the columns of the donor table.

    ``own_rows`` are their places in the donor table, −1 where they are new.
    """

    values: Floats
    missing: Bools
    labels: Ints
    own_rows: Ints

    @classmethod
    def of(cls, donors: DonorTable, rows: Ints) -> "Queries":
        """Rows of the donor table."""
        table = donors.table
        return cls(table.values[rows], table.missing[rows], donors.labels[rows], rows)

    def with_labels(
        self, donors: DonorTable, labels: Ints | int, rows: Any = slice(None)
    ) -> "Queries":
        """The same rows, some of them as if they belonged to classes."""
        values, missing, given = self.values.copy(), self.missing.copy(), self.labels.copy()
        values[rows, donors.y_column], missing[rows, donors.y_column] = labels, False
        given[rows] = labels
        return Queries(values, missing, given, self.own_rows)

    def without(self, column: int) -> "Queries":
        """The same rows as if they lacked a column."""
        is_column = np.arange(self.missing.shape[1]) == column
        return replace(self, missing=self.missing | is_column)

    def part(self, index: Any) -> "Queries":
        """Some of the rows."""
        parts = (self.values, self.missing, self.labels, self.own_rows)
        return Queries(*(array[index] for array in parts))
