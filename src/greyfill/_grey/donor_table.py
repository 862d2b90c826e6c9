"""The training rows as donors: a filled table with y as one more column, and its features."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from greyfill._grey.outcomes import Forecast, Outcomes
from greyfill.table import MANY_LEVELS, Bools, Column, Floats, Ints, Kind, Table

FORMS = ("values", "scores")

MAX_INDICATORS = 12
"""Levels of a category with an indicator of their own, the most frequent ones."""

NO_SHARES = np.zeros((0, 0))
"""Of queries whose class probabilities were not computed."""

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
    _flat: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_flat": {}}

    @classmethod
    def learn(cls, table: Table) -> "FeatureMap":
        """Learn every column from its observed cells."""
        columns = zip(table.values.T, table.missing.T, table.is_categorical, strict=True)
        return cls(tuple(ColumnFeatures.learn(v[~m], bool(c)) for v, m, c in columns))

    @property
    def starts(self) -> Ints:
        """The first feature of every column, and the number of features at the end."""
        if "starts" not in self._flat:
            self._flat["starts"] = np.cumsum([0, *(column.width for column in self.columns)])
        starts: Ints = self._flat["starts"]
        return starts

    @property
    def widths(self) -> Ints:
        """The number of features of every column."""
        if "widths" not in self._flat:
            self._flat["widths"] = np.diff(self.starts)
        widths: Ints = self._flat["widths"]
        return widths

    def places(self, columns: Ints) -> tuple[Ints, Ints]:
        """The features of some columns in rising order, and the position of each one's column."""
        widths = self.widths[columns]
        owners = np.repeat(np.arange(len(columns)), widths)
        first = self.starts[columns] - np.cumsum(widths) + widths
        return np.arange(len(owners)) + first[owners], owners

    @property
    def owners(self) -> Ints:
        """The column of every feature."""
        if "owners" not in self._flat:
            self._flat["owners"] = np.repeat(np.arange(len(self.columns)), self.widths)
        owners: Ints = self._flat["owners"]
        return owners

    def of(self, values: Floats) -> Floats:
        """Features of all columns of some rows, in both forms; shape (form, row, feature)."""
        from greyfill._search import features

        return np.asarray(features.encode(values, *self.arrays))

    def renew(self, features: Floats, rows: Ints, column: int, values: Floats) -> None:
        """Write the features of new values of a column in some rows."""
        from greyfill._search import features as kernels

        kernels.encode_column(values, rows, column, *self.arrays, features)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Starts, levels, shifts, spreads, knots and scores of all columns, end to end."""
        if "arrays" not in self._flat:
            levels = [
                c.levels if len(c.levels) == c.width else np.full(c.width, -1) for c in self.columns
            ]
            self._flat["arrays"] = (
                self.starts,
                np.concatenate([np.zeros(0), *levels]),
                np.concatenate([np.zeros(0), *(c.shift for c in self.columns)]),
                np.array([c.spread for c in self.columns], dtype=float),
                np.cumsum([0, *(len(c.knots) for c in self.columns)]),
                np.concatenate([np.zeros(0), *(c.knots for c in self.columns)]),
                np.concatenate([np.zeros(0), *(c.scores for c in self.columns)]),
            )
        arrays: tuple[Any, ...] = self._flat["arrays"]
        return arrays


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
    _features: dict[str, Any] = field(default_factory=dict, repr=False)
    _levels: dict[int, Ints] = field(default_factory=dict, repr=False)
    _ranges: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)
    _is_open: bool = field(default=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {**self.__dict__, "_features": {}, "_levels": {}, "_ranges": {}}

    @property
    def has_classes(self) -> bool:
        """Whether the last column holds classes."""
        return self.n_classes > 1

    @cached_property
    def splits(self) -> bool:
        """Whether donors may be those of a class; very many classes are a column like others."""
        return 1 < self.n_classes <= MANY_LEVELS

    @cached_property
    def y_column(self) -> int:
        """The last column: the class or the response, where there is one."""
        return self.table.n_columns - 1

    @property
    def is_categorical(self) -> Bools:
        """Which columns hold unordered categories."""
        if "categorical" not in self._features:
            self._features["categorical"] = self.table.is_categorical
        found: Bools = self._features["categorical"]
        return found

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

    def seen_range(self, column: int) -> tuple[float, float]:
        """The least and the largest observed value of a column; all of the scale without any."""
        if column not in self._ranges:
            seen = self.seen_values(column)
            self._ranges[column] = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
        return self._ranges[column]

    @property
    def features(self) -> Floats:
        """Features of all columns in both `FORMS`, shape (form, row, feature)."""
        if "both" not in self._features:
            self._features["both"] = self.feature_map.of(self.table.values)
        features: Floats = self._features["both"]
        return features

    @property
    def class_features(self) -> Floats:
        """The features of each class in both `FORMS`, shape (form, class, feature of y)."""
        if "classes" not in self._features:
            codes = np.repeat(np.arange(self.n_classes), self.table.n_columns).astype(float)
            first = self.feature_map.starts[self.y_column]
            every = self.feature_map.of(codes.reshape(self.n_classes, -1))
            self._features["classes"] = np.ascontiguousarray(every[:, :, first:])
        features: Floats = self._features["classes"]
        return features

    def fill(self, rows: Ints, column: int, values: Floats) -> float:
        """Rewrite holes of a column and their features; return the largest change."""
        assert self._is_open, "a fitted donor table is not rewritten"
        change = np.abs(values - self.table.values[rows, column]).max(initial=0.0)
        if self.is_categorical[column]:
            change = float(change > 0)
        self.table.values[rows, column] = values
        self.feature_map.renew(self.features, rows, column, values)
        return float(change)

    def levels(self, column: int) -> Ints:
        """The codes that occur in a column of categories, rising; none in a column of numbers.

        Fills come from donors, so they add none.
        """
        if column not in self._levels:
            values = self.table.values[:, column]
            occurring = np.unique(values) if self.is_categorical[column] else values[:0]
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
        if self.is_categorical[column]:
            return forecast.most_probable().astype(float)
        return forecast.predicted[:, 0].clip(*self.seen_range(column))


@dataclass(frozen=True, eq=False)
class DonorLayout:
    """The donors of a target, class after class, and its predictors, numbers before categories.

    ``cells`` has shape (predictor, donor), donor i is row ``rows[i]`` of the donor table, and
    ``starts`` are the first donors of the classes. ``near`` and ``regressed`` are the ranges of
    donors that scope "split" takes for each class, all of them where the class has too few.
    ``trust`` is how much the class itself is believed, ``class_weights`` what it counts in the
    distance. ``donor_of`` is the donor of each row, −1 where it is none and at the end, ``limits``
    the least and the largest value of each number, ``weights`` those of `RELEVANCES`, or zeros.
    """

    rows: Ints
    starts: Ints
    near: Ints
    regressed: Ints
    trust: Floats
    class_weights: Floats
    donor_of: Ints
    columns: Ints
    limits: Floats
    weights: Floats
    cells: Floats


def donor_table(
    table: Table, codes: Ints, response: Floats | None, is_open: bool = False
) -> DonorTable:
    """A filled table with its classes or the response as a last column."""
    n_classes = int(codes.max(initial=0)) + 1
    values, columns, missing = table.values, table.columns, table.missing
    y = None
    if n_classes > 1:
        y = codes.astype(float), np.zeros(table.n_rows, dtype=bool)
        columns = (*columns, Column("class", Kind.CATEGORICAL, n_classes))
    elif response is not None:
        unknown = np.isnan(response)
        y = np.where(unknown, np.nanmean(response), response), unknown
        columns = (*columns, Column("response", Kind.NUMERIC))
    if y is not None:
        values, missing = np.column_stack([values, y[0]]), np.column_stack([missing, y[1]])
    whole = Table(np.ascontiguousarray(values), missing, columns)
    features = FeatureMap.learn(whole)
    return DonorTable(whole, splitting(codes), n_classes, features, _is_open=is_open)


def splitting(codes: Ints) -> Ints:
    """Classes that split the donors: the classes, or one of all where there are very many."""
    return codes if codes.max(initial=0) < MANY_LEVELS else np.zeros_like(codes)


def _unlabeled(n_rows: int) -> tuple[Ints, Ints, Ints]:
    """Labels, places in the donor table and numbers of new rows."""
    return np.zeros(n_rows, np.intp), np.full(n_rows, -1), np.arange(n_rows)


ONE_NEW = _unlabeled(1)
"""Those of one row, which nothing rewrites: to make them would take long beside the rest."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows to predict a cell of, in the columns of the donor table.

    ``own_rows`` are their places in the donor table, −1 where they are new. Rows that follow each
    other with the same number in ``sources`` are one row as of several classes. ``shares`` are the
    probabilities of the classes, empty where they were not computed.
    """

    values: Floats
    missing: Bools
    labels: Ints
    own_rows: Ints
    sources: Ints
    shares: Floats = field(default_factory=lambda: NO_SHARES)
    _features: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def new(cls, values: Floats, missing: Bools, features: Floats) -> "Queries":
        """Rows that are not in the donor table, without a label."""
        labels, nowhere, sources = ONE_NEW if len(values) == 1 else _unlabeled(len(values))
        known = {"both": features, False: nowhere}
        return cls(values, missing, labels, nowhere, sources, NO_SHARES, known)

    @classmethod
    def of(cls, donors: DonorTable, rows: Ints) -> "Queries":
        """Rows of the donor table."""
        table = donors.table
        values, missing = table.values[rows], table.missing[rows]
        labels, sources = donors.labels[rows], np.arange(len(rows))
        known = {"both": donors.features.take(rows, axis=1)}
        return cls(values, missing, labels, rows, sources, _features=known)

    def with_labels(
        self, donors: DonorTable, labels: Ints | int, rows: Any = slice(None)
    ) -> "Queries":
        """The same rows, some of them as if they belonged to classes."""
        values, missing, given = self.values.copy(), self.missing.copy(), self.labels.copy()
        values[rows, donors.y_column], missing[rows, donors.y_column] = labels, False
        given[rows] = labels
        return Queries(values, missing, given, self.own_rows, self.sources)

    def with_shares(self, shares: Floats) -> "Queries":
        """The same rows with the probabilities of their classes."""
        given = self.values, self.missing, self.labels, self.own_rows, self.sources
        return Queries(*given, shares, self._features)

    def without(self, column: int) -> "Queries":
        """The same rows as if they lacked a column."""
        missing = self.missing.copy()
        missing[:, column] = True
        known = {"both": self._features["both"]} if "both" in self._features else {}
        return replace(self, missing=missing, _features=known)

    def part(self, index: Any) -> "Queries":
        """Some of the rows, and what is known of them."""
        index = np.arange(len(self.labels))[index]
        shares = self.shares[index] if len(self.shares) else self.shares
        known: dict[Any, Any] = {}
        if "both" in self._features:
            known["both"] = self._features["both"].take(index, axis=1)
        if "by class" in self._features and (np.diff(index) > 0).all():
            rows, of_rows, labeled = self._features["by class"]
            place = np.full(len(self.labels), -1)
            place[index] = np.arange(len(index))
            here = np.flatnonzero(place[rows] >= 0)
            known["by class"] = place[rows[here]], of_rows[here], labeled.part(here)
        values, missing, labels = self.values[index], self.missing[index], self.labels[index]
        own, sources = self.own_rows[index], self.sources[index]
        return Queries(values, missing, labels, own, sources, shares, known)

    def features(self, donors: DonorTable) -> Floats:
        """The features of all columns in both `FORMS`, shape (form, row, feature)."""
        if "both" not in self._features:
            self._features["both"] = donors.feature_map.of(self.values)
        features: Floats = self._features["both"]
        return features

    def groups(self, donors: DonorTable, splits: bool) -> Ints:
        """The class of each row, −1 where it is unknown or does not split the donors."""
        if splits not in self._features:
            known = ~self.missing[:, donors.y_column] if splits else False
            self._features[splits] = np.where(known, self.labels, -1)
        groups: Ints = self._features[splits]
        return groups
