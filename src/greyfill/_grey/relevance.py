"""The information of every column about a target column within the class, above chance."""

from collections.abc import Iterable

import numpy as np

from greyfill._grey.donor_table import FORMS, DonorTable
from greyfill.information import normalize
from greyfill.information.entropy import known_cells
from greyfill.information.measures import above_chance
from greyfill.table import MANY_LEVELS, Floats, Ints, Table

PERMUTATIONS = 20
MAX_ROWS = 5_000
MAX_PREDICTORS = 48
"""Columns that a target is predicted from, the most correlated ones if there are more."""

FEW_ROWS = 10
"""In a class of fewer rows no two columns tell anything: 3 × 3 bins would hold one row each."""

CLASS_WEIGHT = 0.5
"""The weight of the class in the distance where no information is found."""


class Relevance:
    """Information between columns of a donor table, from observed cells of at most 5 000 rows.

    w_l = Σ_c (n_c / n) · I(X_j; X_l | Y = c), less the mean of 20 permutations within classes,
    and 0 unless above that mean by two standard deviations. Classes of few rows count as one.
    """

    def __init__(self, donors: DonorTable, random_state: int | None) -> None:
        rng = np.random.default_rng(random_state)
        table, labels = donors.table, donors.labels
        if table.n_rows > MAX_ROWS:
            rows = np.sort(rng.permutation(table.n_rows)[:MAX_ROWS])
            table, labels = table.rows(rows), labels[rows]
        self._donors = donors
        codes, self._n_codes = _binned(table, labels)
        self._codes = np.ascontiguousarray(codes.T)
        self._labels = labels = _together(labels)
        self._known: dict[tuple[int, int, bool], float] = {}
        self._within = _shuffles(labels, rng)
        self._across = _shuffles(np.zeros_like(labels), rng)

    def weights(self, target: int, predictors: Ints) -> tuple[dict[str, Floats], float]:
        """Weights of the predictors by each rule, and the weight of the class beside them.

        "pair" is left out where no column has information: it would be "equal" again.
        """
        donors = self._donors
        of_class = donors.has_classes and target == donors.y_column
        pair = self._information(target, predictors, within_classes=not of_class)
        weights = {"equal": normalize(np.zeros(len(predictors)))}
        if pair.any():
            weights["pair"] = normalize(pair)
        if not donors.splits or of_class:
            return weights, 0.0
        columns = np.array([target, *predictors])
        about_class = self._information(donors.y_column, columns, within_classes=False)
        weights["mixed"] = normalize(normalize(pair) + normalize(about_class[1:]))
        total = pair.sum() + about_class[0]
        return weights, min(about_class[0] / total, 0.9) if total > 0 else CLASS_WEIGHT

    def _information(self, target: int, others: Ints, *, within_classes: bool) -> Floats:
        """Information of pairs of columns, that of each pair computed once."""
        from greyfill._search import histogram

        # always in the same order, as what chance gives depends on which column is shuffled
        pairs = [(min(target, j), max(target, j), within_classes) for j in others.tolist()]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        groups = self._labels if within_classes else np.zeros_like(self._labels)
        orders = self._within if within_classes else self._across
        codes = self._codes, self._n_codes, groups, int(groups.max(initial=0)) + 1
        many = self._n_codes > MANY_LEVELS
        for information, are_long in (
            (histogram.group_information, False), (histogram.long_information, True)
        ):  # fmt: skip
            some = [pair for pair in new if (many[pair[0]] or many[pair[1]]) == are_long]
            if some:
                firsts, seconds, _ = np.array(some).T.copy()
                found = information(*codes, firsts, seconds, orders)
                excess = above_chance(found[0], found[1:]).tolist()
                self._known.update(zip(some, excess, strict=True))
        return np.array([self._known[pair] for pair in pairs])


def predictors_of(donors: DonorTable, targets: Iterable[int]) -> dict[int, Ints]:
    """For each target the other columns, or the most correlated of them, by a last look at fills.

    Classes that split the donors are never among them, nor are identifiers.
    """
    targets, n = list(targets), donors.table.n_columns - int(donors.splits)
    everything = np.flatnonzero(donors.table.predicts[:n])
    if len(everything) - 1 <= MAX_PREDICTORS:
        return {j: everything[everything != j] for j in targets}
    features = donors.features[FORMS.index("scores")]
    features = features - features.mean(axis=0)
    norms = np.sqrt((features**2).sum(axis=0))
    features = features / np.where(norms > 0, norms, 1.0)
    return {j: _most_correlated(donors, features, j, everything[everything != j]) for j in targets}


def _most_correlated(donors: DonorTable, features: Floats, target: int, others: Ints) -> Ints:
    """The columns whose features have the largest |correlation| with one of the target's."""
    places, _ = donors.feature_map.places(np.array([target]))
    strength = np.abs(features.T @ features[:, places]).max(axis=1, initial=0.0)
    by_column = np.maximum.reduceat(np.append(strength, 0.0), donors.feature_map.starts[:-1])
    by_column[donors.feature_map.widths == 0] = 0.0
    order = np.argsort(-by_column[others], kind="stable")
    return np.sort(others[order[:MAX_PREDICTORS]])


def _together(labels: Ints) -> Ints:
    """The labels, with one for all classes of few rows."""
    counts = np.bincount(labels)
    few = np.flatnonzero((counts > 0) & (counts < FEW_ROWS))
    return np.where(np.isin(labels, few), few[0], labels) if len(few) else labels


def _binned(table: Table, labels: Ints) -> tuple[Ints, Ints]:
    """Codes of all columns, numbers by quantiles; −1 in holes."""
    largest = int(np.bincount(labels).max()) if len(labels) else 0
    n_bins = int(np.clip(np.sqrt(largest / 5), 3, 10))
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    known, category = known_cells(table), table.is_categorical
    codes = np.full(table.values.shape, -1, dtype=np.intp)
    sizes = np.ones(table.n_columns, dtype=np.intp)
    for j, rows in enumerate(known.T):
        values = table.values[rows, j]
        if category[j]:
            levels, codes[rows, j] = np.unique(values, return_inverse=True)
            sizes[j] = max(len(levels), 1)
        elif rows.any():
            edges = np.unique(np.quantile(values, inner))
            codes[rows, j] = np.searchsorted(edges, values, side="right")
            sizes[j] = len(edges) + 1
    return codes, sizes


def _shuffles(groups: Ints, rng: np.random.Generator) -> Ints:
    """The identity, and orders of the rows that are shuffled within groups."""
    orders = np.tile(np.arange(len(groups)), (PERMUTATIONS + 1, 1))
    for order in orders[1:]:
        for group in np.unique(groups):
            here = np.flatnonzero(groups == group)
            order[here] = rng.permutation(here)
    return orders
