"""The simple peers: imputers that every other method should beat."""

from typing import Any
from zlib import crc32

import numpy as np

from greyfill._neighbors.start import ClassStart, column_centers
from greyfill.checks import seed_of
from greyfill.imputers.base import BaseImputer
from greyfill.table import Bools, Floats, Ints, Table


class SimplePeer(BaseImputer):
    """What the simple peers share: the parameters of every imputer, and no need of labels."""

    def __init__(
        self,
        *,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        verbose: int = 0,
    ) -> None:
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.verbose = verbose

    @property
    def _needs_labels(self) -> bool:
        return False


class MeanImputer(SimplePeer):
    """The mean of a numeric or ordinal column, the mode of a categorical one.

    >>> MeanImputer().fit_transform(np.array([[1.0], [3.0], [np.nan]])).ravel()
    array([1., 3., 2.])
    """

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        self._centers = column_centers(table)
        return self._fill_table(table)

    def _fill_table(self, table: Table) -> Floats:
        return np.where(table.missing, self._centers, table.values)


class ClassMeanImputer(MeanImputer):
    """Mean or mode within the row's class; over all rows where the class is not known.

    The crudest use of labels: after it the classes look further apart than they are.

    >>> X = np.array([[1.0], [np.nan], [9.0], [np.nan]])
    >>> ClassMeanImputer().fit_transform(X, ["a", "a", "b", None]).ravel()
    array([1., 1., 9., 5.])
    """

    @property
    def _needs_labels(self) -> bool:
        return True

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        assert labels is not None
        plain = super()._fit_table(table, labels)
        by_class, _ = ClassStart().fill(table, labels)
        return np.where((labels >= 0)[:, None], by_class, plain)


class HotDeckImputer(SimplePeer):
    """A value drawn at random from the observed cells of the column.

    Keeps the distribution of each column and knows nothing of the others. In ``transform`` the
    draw depends on the seed and on the row itself, so that one row gives the same as a batch.

    Parameters
    ----------
    within_class : bool, default=False
        Draw from rows of the same class where y is known; needs y.
    random_state : int, optional
        Seed of the draws.

    >>> X = np.array([[1.0], [1.0], [np.nan]])
    >>> HotDeckImputer(random_state=0).fit_transform(X).ravel()
    array([1., 1., 1.])
    """

    def __init__(
        self,
        *,
        within_class: bool = False,
        categorical_features: Any = "auto",
        ordinal_features: Any = None,
        missing_values: Any = None,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            categorical_features=categorical_features,
            ordinal_features=ordinal_features,
            missing_values=missing_values,
            add_indicator=add_indicator,
            keep_empty_features=keep_empty_features,
            verbose=verbose,
        )
        self.within_class = within_class
        self.random_state = random_state

    @property
    def _needs_labels(self) -> bool:
        return bool(self.within_class)

    def _fit_table(self, table: Table, labels: Ints | None) -> Floats:
        rng = np.random.default_rng(seed_of(self.random_state))
        self._decks = _decks(table)
        self._seed = int(rng.integers(2**31))
        filled = _dealt(table.values, table.missing, self._decks, rng)
        if self.within_class and labels is not None:
            for label in np.unique(labels[labels >= 0]):
                rows = labels == label
                members = table.rows(rows)
                drawn = _dealt(members.values, members.missing, _decks(members), rng)
                filled[rows] = np.where(np.isnan(drawn), filled[rows], drawn)
        return filled

    def _fill_table(self, table: Table) -> Floats:
        filled = table.values.copy()
        for i in np.flatnonzero(table.missing.any(axis=1)):
            rng = np.random.default_rng([self._seed, crc32(table.values[i].tobytes())])
            row = slice(i, i + 1)
            filled[row] = _dealt(table.values[row], table.missing[row], self._decks, rng)
        return filled


def _decks(table: Table) -> list[Floats]:
    """The observed cells of each column."""
    return [table.values[~table.missing[:, j], j] for j in range(table.n_columns)]


def _dealt(values: Floats, missing: Bools, decks: list[Floats], rng: np.random.Generator) -> Floats:
    """Each hole gets a random card of its column's deck, NaN where the deck is empty."""
    filled = values.copy()
    for j, deck in enumerate(decks):
        holes = missing[:, j]
        filled[holes, j] = rng.choice(deck, holes.sum()) if len(deck) else np.nan
    return filled
