"""Grow a random forest and measure its out-of-bag error."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context

from greyfill._chained.forest import Forest, Singles
from greyfill.table import Floats, Ints

MIN_SPLIT_NUMBERS, MIN_SPLIT_CLASSES = 4, 2
"""R's randomForest does not split nodes of up to 5 draws (numbers) or 1 (classes). Scikit-learn
counts a row once however often it was drawn; 5 draws are about 3 rows."""


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
    indicators is Gini's impurity, Σ_c p_c (1 − p_c). Scikit-learn's own forests spend more time on
    copying their parameters than on growing trees of a few hundred rows.
    """
    if x.shape[1] == 0 or y.min() == y.max():
        return _grow_leaf(y, is_class)
    codes = np.unique(y) if is_class else None
    target = y[:, np.newaxis] if codes is None else (y[:, np.newaxis] == codes).astype(np.float64)
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, len(x), (n_estimators, len(x)))
    seeds = rng.integers(0, np.iinfo(np.int32).max, n_estimators)
    parameters = {
        "max_features": max(1, min(max_features, x.shape[1])),
        "min_samples_split": MIN_SPLIT_NUMBERS if codes is None else MIN_SPLIT_CLASSES,
    }
    jobs = [
        delayed(_grow_trees)(x, target, draws[part], seeds[part], parameters)
        for part in np.array_split(np.arange(n_estimators), effective_n_jobs(n_jobs))
    ]
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
    forest = Forest.flatten([tree for part in parts for tree in part], codes)
    unseen = np.ones((len(x), n_estimators), dtype=bool)
    unseen[draws, np.arange(n_estimators)[:, np.newaxis]] = False
    return Grown(forest, _error(forest.predict_unseen(x, unseen), y, is_class))


def _grow_trees(
    x: Singles, target: Floats, draws: Ints, seeds: Ints, parameters: dict[str, int]
) -> list[Any]:
    """One tree for each row of draws, without the checks that are the same for every tree."""
    from sklearn.tree import DecisionTreeRegressor

    trees = []
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for drawn, seed in zip(draws, seeds.tolist(), strict=True):
            weight = np.bincount(drawn, minlength=len(x)).astype(np.float64)
            tree = DecisionTreeRegressor(random_state=seed, **parameters)
            trees.append(tree.fit(x, target, sample_weight=weight, check_input=False).tree_)
    return trees


def _grow_leaf(y: Floats, is_class: bool) -> Grown:
    if is_class:
        levels, counts = np.unique(y, return_counts=True)
        value = float(levels[counts.argmax()])
    else:
        value = float(y.mean())
    return Grown(Forest.constant(value), _error(np.full(len(y), value), y, is_class))


def _error(predicted: Floats, y: Floats, is_class: bool) -> float:
    """Over the rows that have a prediction; 0 where there are none."""
    known = ~np.isnan(predicted)
    if not known.any():
        return 0.0
    wrong = (predicted != y).astype(np.float64) if is_class else (predicted - y) ** 2
    return float(wrong[known].mean())
