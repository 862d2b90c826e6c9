"""Columns as features of a regression: numbers as they are or by rank, categories by indicators."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from greyfill.table import Floats, Ints, Table

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
        raw = values[:, np.newaxis]
        if not len(self.knots):
            raw = (raw == self.levels).astype(float)
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
