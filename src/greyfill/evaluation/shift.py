"""Move the imputed cells of one column away from what the imputer says: pattern mixture.

An imputer assumes that the missing values of a row are like the observed ones of its donors. A
shift δ says how far they are not: numbers are moved by δ standard deviations, levels have their
odds multiplied by exp(δ). δ = 0 is what the imputer filled.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.table import Bools, Floats, Ints, Kind, Table

PREDICTED = 99
"""Votes that a predicted probability weighs."""


@dataclass(frozen=True, eq=False)
class FilledColumn:
    """Some rows without holes, which of them had one in the column, and how sure its fills are.

    ``trust`` is the share of the donors' votes that each fill of the column got (one for each
    hole), and ``donors`` how many donors voted. ``labels`` are class codes, −1 where unknown.
    """

    values: Floats
    holes: Bools
    labels: Ints
    trust: Floats
    donors: int

    def only(self, label: int | None) -> "FilledColumn":
        """The same with only the holes in rows of one class; None leaves all."""
        if label is None:
            return self
        wanted = self.labels == label
        return replace(
            self, holes=self.holes & wanted, trust=self.trust[wanted[np.flatnonzero(self.holes)]]
        )


class Shift(Protocol):
    """Moves the imputed cells of one column."""

    @property
    def column(self) -> int:
        """The number of the column."""

    def apply(self, filled: FilledColumn, delta: float) -> Floats:
        """The filled rows with the imputed cells of the column moved."""

    def amount(self, delta: float) -> float:
        """What δ amounts to: units of the column, or a factor of odds."""


@dataclass(frozen=True)
class NumberShift:
    """x ← x + δ · sd; an ordered column is rounded to one of its levels."""

    column: int
    unit: float
    n_levels: int = 0

    def apply(self, filled: FilledColumn, delta: float) -> Floats:
        """The filled rows with the imputed cells of the column moved by δ standard deviations."""
        values = filled.values.copy()
        moved = values[filled.holes, self.column] + self.amount(delta)
        if self.n_levels:
            moved = np.clip(np.rint(moved), 0, self.n_levels - 1)
        values[filled.holes, self.column] = moved
        return values

    def amount(self, delta: float) -> float:
        """The shift in units of the column."""
        return delta * self.unit


@dataclass(frozen=True, eq=False)
class LevelShift:
    """odds(level) ← odds(level) · exp(δ); a cell takes the level of the largest share.

    ``by_class`` has a row of observed shares for each class, and one for rows without a class.
    """

    column: int
    level: int
    by_class: Floats

    def apply(self, filled: FilledColumn, delta: float) -> Floats:
        """The filled rows with the imputed cells of the column chosen anew."""
        values = filled.values.copy()
        fills = np.rint(values[filled.holes, self.column]).astype(np.intp)
        log_shares = np.log(np.maximum(self._shares(filled, fills), 1e-300))
        log_shares[:, self.level] += delta
        cells = np.arange(len(fills))
        best = log_shares.max(axis=1)
        keep = log_shares[cells, fills] >= best - 1e-12
        values[filled.holes, self.column] = np.where(keep, fills, log_shares.argmax(axis=1))
        return values

    def amount(self, delta: float) -> float:
        """The factor of the odds."""
        return float(np.exp(delta))

    def _shares(self, filled: FilledColumn, fills: Ints) -> Floats:
        """The share of each level in each imputed cell.

        The fill has its share of the votes, the other levels divide the rest as they are observed
        in the class; one more donor, of the class as a whole, keeps any share from being 0 or 1.
        The fill keeps the largest share, so that a shift of 0 changes nothing.
        """
        cells = np.arange(len(fills))
        usual = self.by_class[filled.labels[filled.holes]]
        others = usual.copy()
        others[cells, fills] = 0.0
        total = others.sum(axis=1, keepdims=True)
        others = np.divide(others, total, out=np.zeros_like(others), where=total > 0.0)
        votes = others * (1.0 - filled.trust)[:, np.newaxis]
        votes[cells, fills] = filled.trust
        shares = (filled.donors * votes + usual) / (filled.donors + 1.0)
        shares[cells, fills] = shares.max(axis=1)
        return np.asarray(shares)


def make_shift(table: Table, labels: Ints, column: int, level: int | None) -> Shift:
    """The shift that suits the kind of a column."""
    observed = ~table.missing[:, column]
    values, described = table.values[observed, column], table.columns[column]
    if described.kind is Kind.CATEGORICAL:
        assert level is not None
        return LevelShift(column, level, _observed_shares(table, labels, column))
    unit = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    if unit == 0.0:
        raise InvalidDataError(
            f"column {described.name!r} has a single observed value: it has no standard deviation "
            "to shift by"
        )
    return NumberShift(column, unit, described.n_levels)


def _observed_shares(table: Table, labels: Ints, column: int) -> Floats:
    """Shares of the levels among the observed cells of each class; the last row is of all."""
    known = ~table.missing[:, column] & (table.values[:, column] >= 0)
    n_classes, n_levels = int(labels.max(initial=-1)) + 1, table.columns[column].n_levels
    counts = np.zeros((n_classes + 1, n_levels))
    np.add.at(counts, (labels[known], table.values[known, column].astype(np.intp)), 1.0)
    counts[-1] = np.bincount(table.values[known, column].astype(np.intp), minlength=n_levels)
    totals = counts.sum(axis=1, keepdims=True)
    usual = counts[-1] / counts[-1].sum()
    return np.asarray(np.where(totals > 0.0, counts / np.maximum(totals, 1.0), usual))


def find_level(levels: tuple[Any, ...], name: str, wanted: Any) -> int:
    """The code of the level whose odds are moved: the one named, or the second of two."""
    if wanted is None and len(levels) == 2:
        return 1
    named = [str(level) for level in levels]
    if wanted is None:
        raise InvalidParameterError(
            f"column {name!r} has {len(levels)} levels: say by level= which one's odds are to "
            f"be moved; there are {named[:10]}"
        )
    if wanted in levels:
        return levels.index(wanted)
    if str(wanted) in named:
        return named.index(str(wanted))
    raise InvalidParameterError(f"column {name!r} has no level {wanted!r}; there are {named[:10]}")


def votes_of(imputer: Any, n_rows: int, column: int) -> tuple[Floats, int]:
    """The share of votes that the fill of each training cell of a column got, and how many voted.

    Imputers that do not tell count as one donor that is sure. Where probabilities were predicted
    and no votes counted, they weigh as much as many votes.
    """
    trust = np.ones(n_rows)
    told = getattr(imputer, "cell_spreads_", None)
    if told is None:
        return trust, 1
    rows, columns, spread = told
    here = columns == column
    trust[rows[here]] = 1.0 - spread[here]
    return trust, int(getattr(imputer, "n_neighbors_", PREDICTED))
