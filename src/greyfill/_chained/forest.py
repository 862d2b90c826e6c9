"""A random forest as plain arrays, small and quick for one row, and how its trees are grown."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn import config_context

from greyfill.table import MANY_LEVELS, Bools, Floats, Ints, indicators, most_frequent

Singles = NDArray[np.float32]
Nodes = NDArray[np.int32]

CELLS_AT_ONCE = 4_000_000
"""Leaf values that rows reach in trees are held in blocks of 32 MB."""


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of one tree; children are counted from its root."""

    feature: Nodes
    threshold: Floats
    left: Nodes
    right: Nodes
    value: Floats

    @classmethod
    def of(cls, tree: Any, value: Floats) -> "Tree":
        """From a fitted tree of scikit-learn and the value of each node, in arrays of its own."""
        left = tree.children_left.astype(np.int32)
        return cls(
            feature=np.where(left < 0, -1, tree.feature).astype(np.int32),
            threshold=tree.threshold.copy(),
            left=left,
            right=tree.children_right.astype(np.int32),
            value=value,
        )


@dataclass(frozen=True, eq=False)
class Forest:
    """All nodes of all trees, one after the other; children are counted from the first node.

    The answer is the mean of the trees' values, or for ``n_classes`` > 0 their vote (the smallest
    code of ties), as in R's randomForest.

    >>> Forest.constant(2.5).predict(np.zeros((1, 3), dtype=np.float32))
    array([2.5])
    """

    roots: Ints
    feature: Nodes
    threshold: Floats
    left: Nodes
    right: Nodes
    value: Floats
    n_classes: int = 0

    @classmethod
    def constant(cls, value: float) -> "Forest":
        """One tree of one leaf."""
        leaf = np.full(1, -1, dtype=np.int32)
        return cls(np.zeros(1, dtype=np.intp), leaf, np.zeros(1), leaf, leaf, np.array([value]))

    @classmethod
    def flatten(cls, trees: list[Tree], n_classes: int = 0) -> "Forest":
        """All trees, one after the other."""
        sizes = np.array([len(tree.value) for tree in trees])
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        shift = np.repeat(roots, sizes).astype(np.int32)
        names = ("feature", "threshold", "left", "right", "value")
        feature, threshold, left, right, value = (
            np.concatenate([getattr(tree, name) for tree in trees]) for name in names
        )
        return cls(roots, feature, threshold, left + shift, right + shift, value, n_classes)

    def predict(self, x: Singles, counted: Bools | None = None) -> Floats:
        """The mean or vote of the trees for each row, or of those that count; NaN without any."""
        from greyfill._chained.tree_walk import vote, walk

        size = max(CELLS_AT_ONCE // len(self.roots), 1)
        answers = [np.empty(0)]
        for start in range(0, len(x), size):
            rows = slice(start, start + size)
            values = walk(
                np.ascontiguousarray(x[rows]), self.roots, self.feature, self.threshold,
                self.left, self.right, self.value,
            )  # fmt: skip
            used = np.ones(values.shape, dtype=bool) if counted is None else counted[rows]
            if self.n_classes:
                answers.append(vote(values, used, self.n_classes))
                continue
            n_used, total = used.sum(axis=1), np.where(used, values, 0.0).sum(axis=1)
            answers.append(np.where(n_used > 0, total / np.maximum(n_used, 1), np.nan))
        return np.concatenate(answers)


MIN_SPLIT_NUMBERS, MIN_SPLIT_CLASSES = 4, 2
"""R's randomForest does not split nodes of up to 5 draws (numbers) or 1 (classes). Scikit-learn
counts a row once however often it was drawn; 5 draws are about 3 rows."""

PROJECTIONS = 16
"""Random signs that stand for a level where there are too many for an indicator each."""


@dataclass(frozen=True, eq=False)
class Grown:
    """A forest and its out-of-bag error: mean square, or share of wrong classes."""

    forest: Forest
    oob_error: float


def grow(
    x: Singles,
    y: Floats,
    is_class: bool,
    *,
    n_estimators: int,
    max_features: int,
    seed: int,
    n_jobs: int | None = None,
) -> Grown:
    """Grow a forest that predicts y; without predictors or differences in y it is one leaf.

    Trees of classes are regression trees on 0/1 indicators: the mean square error over all
    indicators is Gini's impurity, Σ_c p_c (1 − p_c). Of very many classes each has random signs
    instead, whose mean square error is Gini's impurity on average. Scikit-learn's own forests spend
    more time on copying their parameters than on growing trees of a few hundred rows.
    """
    if x.shape[1] == 0 or y.min() == y.max():
        value = most_frequent(y) if is_class else float(y.mean())
        return Grown(Forest.constant(value), _error(np.full(len(y), value), y, is_class))
    codes = np.unique(y) if is_class else None
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, len(x), (n_estimators, len(x)))
    seeds = rng.integers(0, np.iinfo(np.int32).max, n_estimators)
    parameters = {
        "max_features": max(1, min(max_features, x.shape[1])),
        "min_samples_split": MIN_SPLIT_NUMBERS if codes is None else MIN_SPLIT_CLASSES,
    }
    target = _target(y, codes, rng)
    jobs = [
        delayed(_grow_trees)(x, y, codes, target, draws[part], seeds[part], parameters)
        for part in np.array_split(np.arange(n_estimators), effective_n_jobs(n_jobs))
    ]
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
    n_classes = 0 if codes is None else int(codes.max()) + 1
    forest = Forest.flatten([tree for part in parts for tree in part], n_classes)
    unseen = np.ones((len(x), n_estimators), dtype=bool)
    unseen[draws, np.arange(n_estimators)[:, np.newaxis]] = False
    return Grown(forest, _error(forest.predict(x, unseen), y, is_class))


def _target(y: Floats, codes: Floats | None, rng: np.random.Generator) -> Floats:
    """What trees are grown on: numbers, an indicator for each class, or random signs of many."""
    if codes is None:
        return y[:, np.newaxis]
    if len(codes) <= MANY_LEVELS:
        return indicators(y, codes)
    signs = rng.choice(np.array([-1.0, 1.0]), (len(codes), PROJECTIONS))
    return np.asarray(signs[np.searchsorted(codes, y)])


def _grow_trees(
    x: Singles,
    y: Floats,
    codes: Floats | None,
    target: Floats,
    draws: Ints,
    seeds: Ints,
    parameters: dict[str, int],
) -> list[Tree]:
    """One tree for each row of draws, without the checks that are the same for every tree."""
    from sklearn.tree import DecisionTreeRegressor

    trees = []
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for drawn, seed in zip(draws, seeds.tolist(), strict=True):
            weight = np.bincount(drawn, minlength=len(x)).astype(np.float64)
            model = DecisionTreeRegressor(random_state=seed, **parameters)
            tree = model.fit(x, target, sample_weight=weight, check_input=False).tree_
            trees.append(Tree.of(tree, _node_values(tree, x, y, codes, weight)))
    return trees


def _node_values(tree: Any, x: Singles, y: Floats, codes: Floats | None, weight: Floats) -> Floats:
    """The mean of each node, or its most frequent class; of very many classes in leaves only."""
    if codes is None:
        return np.asarray(tree.value[:, 0, 0].copy())
    if len(codes) <= MANY_LEVELS:
        return np.asarray(codes[tree.value[:, :, 0].argmax(axis=1)])
    drawn = np.flatnonzero(weight)
    leaf, level = tree.apply(x[drawn]), np.searchsorted(codes, y[drawn])
    pairs, place = np.unique(leaf * len(codes) + level, return_inverse=True)
    leaves, levels = np.divmod(pairs, len(codes))
    order = np.lexsort((levels, -np.bincount(place, weight[drawn]), leaves))
    first, where = np.unique(leaves[order], return_index=True)
    values = np.zeros(tree.node_count)
    values[first] = codes[levels[order][where]]
    return values


def _error(predicted: Floats, y: Floats, is_class: bool) -> float:
    """Over the rows that have a prediction; 0 where there are none."""
    known = ~np.isnan(predicted)
    if not known.any():
        return 0.0
    wrong = (predicted != y).astype(np.float64) if is_class else (predicted - y) ** 2
    return float(wrong[known].mean())
