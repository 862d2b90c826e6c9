"""Shifts of imputed cells: numbers by standard deviations, levels by their log odds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Ints, Table

PREDICTED = 99
"""Votes that a predicted probability weighs."""


@dataclass(frozen=True, eq=False)
class FilledColumn:
    """Some rows without holes, which of them had one in the column, and how near other levels are.

    ``scores`` has a row for each hole and a number for each level, the largest that of the fill;
    it is empty where the column holds numbers.
    """

    values: Floats
    holes: Bools
    scores: Floats


@dataclass(frozen=True)
class Shift:
    """x ← x + δ · unit for numbers and ranks; odds(level) ← odds(level) · exp(δ) for categories.

    An ordered column, which has ``n_levels``, is rounded to one of them. A category takes the level
    of the largest score, log p + δ for the shifted one.
    """

    column: int
    unit: float = 1.0
    n_levels: int = 0
    level: int | None = None

    def apply(self, filled: FilledColumn, delta: float) -> Floats:
        """The filled rows with the imputed cells of the column moved by δ."""
        values = filled.values.copy()
        cells = values[filled.holes, self.column]
        values[filled.holes, self.column] = self._moved(cells, filled.scores, delta)
        return values

    def _moved(self, cells: Floats, scores: Floats, delta: float) -> Floats:
        if self.level is None:
            moved = cells + self.amount(delta)
            return np.clip(np.rint(moved), 0, self.n_levels - 1) if self.n_levels else moved
        scores = scores.copy()
        scores[:, self.level] += delta
        own = np.take_along_axis(scores, np.rint(cells).astype(np.intp)[:, np.newaxis], axis=1)
        keep = own[:, 0] >= scores.max(axis=1) - 1e-12  # a tie leaves the fill
        return np.where(keep, cells, scores.argmax(axis=1))

    def amount(self, delta: float) -> float:
        """The shift in units of the column, or the factor of the odds."""
        return delta * self.unit if self.level is None else float(np.exp(delta))


def make_shift(table: Table, column: int, level: int | None) -> Shift:
    """The shift of a level's odds, or by standard deviations of the observed numbers."""
    if level is not None:
        return Shift(column, level=level)
    values, about = table.values[~table.missing[:, column], column], table.columns[column]
    with np.errstate(over="ignore"):
        unit = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    if unit == 0.0:
        raise InvalidDataError(
            f"column {about.name!r} has a single observed value: it has no standard deviation "
            "to shift by"
        )
    if not np.isfinite(unit):
        raise InvalidDataError(
            f"column {about.name!r} has numbers as large as {np.abs(values).max():.2g}: their "
            "standard deviation exceeds what a number can hold. Divide the column by a power of "
            "ten, or mark such cells as missing"
        )
    return Shift(column, unit, about.n_levels)


def votes_of(imputer: Any, n_rows: int, column: int) -> tuple[Floats, int]:
    """The share of votes that the fill of each training cell of a column got, and how many voted.

    An imputer without such figures counts as one donor that is sure. Where probabilities were
    predicted and no votes counted, they weigh as much as many votes.
    """
    trust = np.ones(n_rows)
    spreads = getattr(imputer, "cell_spreads_", None)
    if spreads is None:
        return trust, 1
    rows, columns, spread = spreads
    here = columns == column
    trust[rows[here]] = 1.0 - spread[here]
    return trust, int(getattr(imputer, "n_neighbors_", PREDICTED))


def vote_scores(fills: Floats, trust: Floats, donors: int, usual: Floats) -> Floats:
    """Scores of the levels of cells that were filled once: the log of their shares.

    The fill has its share of the votes, the other levels divide the rest as they are observed in
    the class, ``usual``; one more donor, of the class as a whole, keeps any share from being 0 or
    1. The fill keeps the largest share, so that a shift of 0 changes nothing.
    """
    cells, fills = np.arange(len(fills)), np.rint(fills).astype(np.intp)
    others = usual.copy()
    others[cells, fills] = 0.0
    total = others.sum(axis=1, keepdims=True)
    votes = np.divide(others, total, out=np.zeros_like(others), where=total > 0.0)
    votes *= (1.0 - trust)[:, np.newaxis]
    votes[cells, fills] = trust
    shares = (donors * votes + usual) / (donors + 1.0)
    shares[cells, fills] = shares.max(axis=1)
    return _log(shares)


def draw_scores(draws: Floats, usual: Floats, rng: np.random.Generator) -> Floats:
    """Scores of the levels of cells that were drawn several times, shape (draw, cell, level).

    A level is as probable as it is frequent among the draws of the cell and one more of the class
    as a whole. To draw by probabilities is to take the largest of log p + Gumbel noise: here the
    noise is such that each draw takes what it took, and a shift draws by the moved probabilities.
    """
    codes = np.rint(draws).astype(np.intp)[..., np.newaxis]
    counts = (codes == np.arange(usual.shape[1])).sum(axis=0)
    log_shares = _log((counts + usual) / (len(draws) + 1.0))
    largest = rng.gumbel(size=codes.shape)
    noisy = log_shares + rng.gumbel(size=(*draws.shape, usual.shape[1]))
    below = -np.logaddexp(-largest, -noisy)  # Gumbel, given that they are below the largest
    np.put_along_axis(below, codes, largest, axis=2)
    return np.asarray(below)


def _log(shares: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(shares, 1e-300)))


def observed_shares(table: Table, labels: Ints, column: int) -> Floats:
    """Shares of the levels among the observed cells of each class; the last row is of all.

    Numbers and ranks, which are moved by standard deviations, have none.
    """
    known = ~table.missing[:, column] & (table.values[:, column] >= 0)
    n_classes, n_levels = int(labels.max(initial=-1)) + 1, table.columns[column].n_levels
    if not table.is_categorical[column]:
        return np.zeros((n_classes + 1, 0))
    counts = np.zeros((n_classes + 1, n_levels))
    np.add.at(counts, (labels[known], table.values[known, column].astype(np.intp)), 1.0)
    counts[-1] = np.bincount(table.values[known, column].astype(np.intp), minlength=n_levels)
    totals = counts.sum(axis=1, keepdims=True)
    usual = counts[-1] / counts[-1].sum()
    return np.asarray(np.where(totals > 0.0, counts / np.maximum(totals, 1.0), usual))
