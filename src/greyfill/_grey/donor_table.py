"""The donors' side: a filled table with its labels as one more column, and its features."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri

from greyfill._grey.candidates import Outcomes
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
        category = table.is_categorical
        return cls(
            tuple(
                ColumnFeatures.learn(table.values[~table.missing[:, j], j], bool(category[j]))
                for j in range(table.n_columns)
            )
        )

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
        """For each feature in `places`, which of the columns it comes from."""
        return np.repeat(np.arange(len(columns)), [self.columns[j].width for j in columns])

    def of(self, values: Floats, columns: Ints, form: str) -> Floats:
        """Features of some columns of some rows."""
        parts = [self.columns[j].of(values[:, j], form) for j in columns]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(values), 0))


@dataclass(frozen=True, eq=False)
class DonorTable:
    """Rows that may give.

    ``table`` is scaled and filled, its mask tells which cells were holes. Where there are labels or
    a continuous target, they are its last column. ``labels`` are class codes, all 0 without
    classes or with too many of them to split the donors.
    """

    table: Table
    labels: Ints
    n_classes: int
    feature_map: FeatureMap
    _features: dict[str, Floats] = field(default_factory=dict, repr=False)
    _levels: dict[int, Ints] = field(default_factory=dict, repr=False)

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
    def class_column(self) -> int:
        """The place of the classes."""
        return self.table.n_columns - 1

    def features(self, form: str) -> Floats:
        """Features of all columns of the filled table."""
        if form not in self._features:
            columns = np.arange(self.table.n_columns)
            self._features[form] = self.feature_map.of(self.table.values, columns, form)
        return self._features[form]

    def fill(self, rows: Ints, column: int, values: Floats) -> float:
        """Rewrite holes of a column and their features; return the largest change."""
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

    def targets(self, column: int) -> Floats:
        """The numbers, or the indicators, of all rows."""
        return self.outcomes(column).truth(self.table.values[:, column])


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows whose cells are asked for, in the columns of the ground.

    ``own_rows`` are their places in the ground, −1 where they are new.
    """

    values: Floats
    missing: Bools
    labels: Ints
    own_rows: Ints

    @classmethod
    def of(cls, ground: DonorTable, rows: Ints) -> "Queries":
        """Rows of the ground."""
        table = ground.table
        return cls(table.values[rows], table.missing[rows], ground.labels[rows], rows)

    def with_class(self, ground: DonorTable, label: int) -> "Queries":
        """The same rows as if they belonged to a class."""
        values, missing = self.values.copy(), self.missing.copy()
        values[:, ground.class_column] = label
        missing[:, ground.class_column] = False
        return Queries(values, missing, np.full(len(values), label), self.own_rows)

    def part(self, index: Any) -> "Queries":
        """Some of the rows."""
        return Queries(
            self.values[index], self.missing[index], self.labels[index], self.own_rows[index]
        )
