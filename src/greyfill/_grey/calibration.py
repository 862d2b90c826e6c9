"""How far predictions of a column miss: by class or level, and by what surrounds a row."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greyfill._grey.candidates import ALL_DONORS, Candidate
from greyfill._grey.donor_table import DonorTable, Queries
from greyfill._grey.predictor import ColumnPredictor
from greyfill.table import Floats, Ints

ENOUGH = 30
"""Held-out cells of a class or level that need no others; fewer are joined by those of others."""

PANEL = (
    Candidate("equal", "soft", 20, "uniform", np.inf, "values"),
    Candidate("equal", "soft", ALL_DONORS, "uniform", 0.1, "values"),
)
"""What predicts the local factor: the mean of neighbors, and a regression."""

SHARES = np.array([0.0, 0.5, 1.0])
"""How much of what is predicted is believed."""

LEAST = 0.1
"""The least share of the usual spread that is predicted, and one by the largest."""

BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class Spread:
    """The usual size of a residual of a column of numbers, as it depends on the other columns.

    It is that of the class times a local factor 1 + ``share`` · (f − 1). f is predicted as a column
    is, from held-out cells: donors whose target is the factor by which they missed.
    """

    usual: Floats
    predictor: ColumnPredictor
    share: float

    @classmethod
    def learn(
        cls, like: ColumnPredictor, cells: Ints, queries: Queries, sizes: Floats
    ) -> "tuple[Spread, Floats]":
        """The share that fits the sizes of residuals best, and the spread of each of their cells.

        ``like`` predicts the column, ``queries`` are the rows of ``cells`` as they were held out.
        The sizes are taken for exponential, so a spread s loses log s + |r| / s. What a cell is
        given comes from the other cells, by a share that one half of them chose for the other.
        """
        usual = _by_class(sizes, like.donors.labels[cells], like.donors.n_classes)
        spreads = _of_rows(usual, queries)
        flat = cls(usual, _of_factors(like, cells, sizes / spreads), 0.0)
        if len(cells) < ENOUGH:
            return flat, spreads
        factors = flat._factors(queries, SHARES[:, np.newaxis], leave_out=True)
        losses = np.log(factors) + sizes / spreads / factors
        even = np.arange(len(cells)) % 2 == 0
        best = [losses[:, half].mean(axis=1).argmin() for half in (even, ~even)]
        chosen = np.where(even, factors[best[1]], factors[best[0]])
        share = float(SHARES[losses.mean(axis=1).argmin()])
        return replace(flat, share=share), spreads * chosen

    def of(self, queries: Queries, *, leave_out: bool = False) -> Floats:
        """The spread of each row, without its own residual if it is a held-out cell."""
        usual = _of_rows(self.usual, queries)
        return usual * self._factors(queries, self.share, leave_out) if self.share else usual

    def _factors(self, queries: Queries, share: Any, leave_out: bool) -> Floats:
        """Local factors, within reasonable limits."""
        _, found = self.predictor.predict(PANEL, queries, leave_out=leave_out)
        local = np.where(np.isnan(found), 1.0, found).mean(axis=0)[:, 0]
        return np.asarray(np.clip(1.0 + share * (local - 1.0), LEAST, 1.0 / LEAST))


def _by_class(sizes: Floats, labels: Ints, n_classes: int) -> Floats:
    """The mean size in each class; one of few cells is moved to the mean of all."""
    counts = np.bincount(labels, minlength=n_classes)
    overall = float(sizes.mean()) if sizes.any() else 1.0  # nothing is ever missed: any will do
    lacking = np.maximum(ENOUGH - counts, 0)
    sums = np.bincount(labels, sizes, n_classes) + lacking * overall
    return np.maximum(sums / (counts + lacking), LEAST * overall)


def _of_rows(usual: Floats, queries: Queries) -> Floats:
    """The usual size in the class of each row, or the mean by the probabilities of the classes."""
    if len(queries.shares):
        return np.asarray((queries.shares * usual).sum(axis=1))
    return np.asarray(usual[queries.labels])


def _of_factors(like: ColumnPredictor, cells: Ints, factors: Floats) -> ColumnPredictor:
    """What predicts factors of residuals from held-out cells, which are its only donors."""
    donors = like.donors
    table, target = donors.table.rows(cells), like.target
    values = table.values.copy()
    values[:, target] = factors
    own = DonorTable(
        table.with_values(values), donors.labels[cells], donors.n_classes, donors.feature_map
    )
    return replace(like, donors=own, donor_rows=np.arange(len(cells)), multipliers=None, _made={})


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of held-out cells in rising order, and how much each counts for a class or level.

    ``weights`` has a row for each code in ``groups``, and a last one for all others. A group of
    `ENOUGH` cells counts its own alone; those of a smaller one count fully, and the others as
    much as the cells that it lacks.
    """

    scores: Floats
    groups: Ints
    weights: Floats

    @classmethod
    def of(cls, scores: Floats, groups: Ints) -> "Scores":
        """Scores of cells, each of a group."""
        order = np.argsort(scores, kind="stable")
        present = np.unique(groups)
        own = np.vstack([groups[order] == present[:, np.newaxis], np.zeros(len(order), dtype=bool)])
        count = own.sum(axis=1, keepdims=True)
        lacking = np.clip((ENOUGH - count) / np.maximum(len(order) - count, 1), 0.0, 1.0)
        lacking[-1] = 1.0  # nothing of its own: all count alike
        raw = np.where(own, 1.0, lacking)
        return cls(scores[order], present, raw / np.maximum(raw.sum(axis=1, keepdims=True), 1.0))

    def of_groups(self, codes: Ints, level: float) -> Floats:
        """The conformal quantile for rows or levels of these groups."""
        return self._quantiles(self.weights, level)[self._places(codes)]

    def mixed(self, shares: Floats, level: float) -> Floats:
        """The same for rows that are of group g with the probability ``shares[:, g]``."""
        out = np.empty(len(shares))
        of_group = self.weights[self._places(np.arange(shares.shape[1]))]
        for start in range(0, len(shares), BLOCK_ROWS):
            block = shares[start : start + BLOCK_ROWS]
            weights = np.zeros((len(block), len(self.scores)))
            for share, own in zip(block.T, of_group, strict=True):  # the same for one row alone
                weights += share[:, np.newaxis] * own
            out[start : start + BLOCK_ROWS] = self._quantiles(weights, level)
        return out

    def _places(self, codes: Ints) -> Ints:
        """The row of ``weights`` of each group."""
        place = np.searchsorted(self.groups, codes)
        known = np.append(self.groups, -1)[place] == codes
        return np.where(known, place, len(self.groups))

    def _quantiles(self, weights: Floats, level: float) -> Floats:
        """The least score with cumulative weight level · (1 + 1/n), infinite if there is none.

        n = 1 / Σ w² is the number of scores, were all of them to count alike.
        """
        if len(self.scores) == 0:
            return np.full(len(weights), np.inf)
        needed = level * (1.0 + (weights**2).sum(axis=1))
        place = (np.cumsum(weights, axis=1) < needed[:, np.newaxis] - 1e-9).sum(axis=1)
        return np.asarray(np.append(self.scores, np.inf)[place])
