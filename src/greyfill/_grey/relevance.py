"""What every column tells about a target column within the class, above chance."""

from itertools import pairwise

import numpy as np

from greyfill._grey.donor_table import DonorTable
from greyfill.information import normalize
from greyfill.information.entropy import known_cells
from greyfill.table import Floats, Ints, Table

RELEVANCES = ("pair", "mixed", "equal")

PERMUTATIONS = 20
MAX_ROWS = 5_000
MAX_PREDICTORS = 48
"""Columns that a target is predicted from, the most correlated ones if there are more."""


class Relevance:
    """Information between columns of a ground, from the observed cells of at most 5 000 rows.

    w_l = Σ_c (n_c / n) · I(X_j; X_l | Y = c), less the mean of 20 permutations within classes,
    and 0 unless above that mean by two standard deviations.
    """

    def __init__(self, ground: DonorTable, random_state: int | None) -> None:
        rng = np.random.default_rng(random_state)
        table, labels = ground.table, ground.labels
        if table.n_rows > MAX_ROWS:
            rows = np.sort(rng.permutation(table.n_rows)[:MAX_ROWS])
            table, labels = table.rows(rows), labels[rows]
        self._ground, self._labels = ground, labels
        self._codes, self._n_codes = _binned(table, labels)
        self._within = _shuffles(labels, rng)
        self._across = _shuffles(np.zeros_like(labels), rng)

    def predictors(self, target: int) -> Ints:
        """The other columns, or the most correlated of them; never the class."""
        n_columns = self._ground.table.n_columns - int(self._ground.splits)
        others = np.setdiff1d(np.arange(n_columns), [target])
        if len(others) <= MAX_PREDICTORS:
            return others
        strength = _correlations(self._ground, target)[others]
        return np.sort(others[np.argsort(-strength, kind="stable")[:MAX_PREDICTORS]])

    def weights(self, target: int, predictors: Ints) -> tuple[dict[str, Floats], float]:
        """Weights of the predictors by each rule, and the weight of the class beside them.

        "pair" is left out where no column tells anything: it would be "equal" again.
        """
        ground = self._ground
        classes = ground.class_column
        of_class = ground.has_classes and target == classes
        groups = np.zeros_like(self._labels) if of_class else self._labels
        orders = self._across if of_class else self._within
        pair = self._above_chance(target, predictors, groups, orders)
        weights = {"equal": normalize(np.zeros(len(predictors)))}
        if pair.any():
            weights["pair"] = normalize(pair)
        if not ground.splits or of_class:
            return weights, 0.0
        about_class = self._about_class(np.array([target, *predictors]))
        weights["mixed"] = normalize(normalize(pair) + normalize(about_class[1:]))
        total = pair.sum() + about_class[0]
        return weights, min(about_class[0] / total, 0.9) if total > 0 else 0.5

    def _about_class(self, columns: Ints) -> Floats:
        everyone = np.zeros_like(self._labels)
        return self._above_chance(self._ground.class_column, columns, everyone, self._across)

    def _above_chance(self, target: int, others: Ints, groups: Ints, orders: Ints) -> Floats:
        from greyfill._search import ridge

        found = ridge.group_information(
            self._codes, self._n_codes, groups, int(groups.max(initial=0)) + 1,
            target, others, orders,
        )  # fmt: skip
        excess = found[0] - found[1:].mean(axis=0)
        return np.where(excess > 2 * found[1:].std(axis=0), np.maximum(excess, 0.0), 0.0)


def _binned(table: Table, labels: Ints) -> tuple[Ints, Ints]:
    """Codes of all columns, numbers by quantiles; −1 in holes."""
    largest = int(np.bincount(labels).max()) if len(labels) else 0
    n_bins = int(np.clip(np.sqrt(largest / 5), 3, 10))
    known, category = known_cells(table), table.is_categorical
    codes = np.full(table.values.shape, -1, dtype=np.intp)
    sizes = np.ones(table.n_columns, dtype=np.intp)
    for j in range(table.n_columns):
        rows = known[:, j]
        if category[j]:
            levels, found = np.unique(table.values[rows, j], return_inverse=True)
            codes[rows, j], sizes[j] = found, max(len(levels), 1)
        elif rows.any():
            edges = _edges(table.values[rows, j], n_bins)
            codes[rows, j] = np.searchsorted(edges, table.values[rows, j], side="right")
            sizes[j] = len(edges) + 1
    return codes, sizes


def _edges(values: Floats, n_bins: int) -> Floats:
    return np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1]))


def _shuffles(groups: Ints, rng: np.random.Generator) -> Ints:
    """The identity, and orders of the rows that are shuffled within groups."""
    rows = np.arange(len(groups))
    orders = np.tile(rows, (PERMUTATIONS + 1, 1))
    for order in orders[1:]:
        for group in np.unique(groups):
            here = np.flatnonzero(groups == group)
            order[here] = rng.permutation(here)
    return orders


def _correlations(ground: DonorTable, target: int) -> Floats:
    """The largest |correlation| of each column's features with the target's, jointly filled."""
    features = ground.features("scores")
    features = features - features.mean(axis=0)
    norms = np.sqrt((features**2).sum(axis=0))
    features = features / np.where(norms > 0, norms, 1.0)
    own = features[:, ground.feature_map.places(np.array([target]))]
    strength: Floats = np.abs(features.T @ own).max(axis=1, initial=0.0)
    starts = ground.feature_map.starts
    return np.array([strength[a:b].max(initial=0.0) for a, b in pairwise(starts)])
