"""The donors' side: a filled table with its labels as one more column, and its features."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from greyfill._neighbors.tuned.features import FORMS, FeatureMap
from greyfill._neighbors.tuned.outcomes import Outcomes
from greyfill.table import MANY_LEVELS, Bools, Floats, Ints, Table


@dataclass(frozen=True, eq=False)
class Ground:
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
    def of(cls, ground: Ground, rows: Ints) -> "Queries":
        """Rows of the ground."""
        table = ground.table
        return cls(table.values[rows], table.missing[rows], ground.labels[rows], rows)

    def with_class(self, ground: Ground, label: int) -> "Queries":
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
