"""What must hold within what the recipe engine and the self-tuning engine learned."""

from collections.abc import Callable
from typing import Any

import numpy as np

from greyfill._neighbors import scaling, serving
from greyfill._neighbors.donors import RowPool
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Direct, UntilStable
from greyfill._neighbors.tuned.candidates import EVERYONE, KERNELS, KS, Candidate
from greyfill._neighbors.tuned.choosing import PANEL, Choice
from greyfill._neighbors.tuned.engine import Tuned
from greyfill._neighbors.tuned.features import FORMS, ColumnFeatures
from greyfill._neighbors.tuned.ground import Ground
from greyfill._neighbors.tuned.relevance import RELEVANCES
from greyfill._neighbors.weighting import ClassInformation, PairInformation
from greyfill.checks import check_seed
from greyfill.persistence.requirements import (
    MOST_PASSES,
    MOST_PERMUTATIONS,
    ROUNDING,
    SMALLEST,
    check_jobs,
    check_rising,
    check_rows,
    check_scaled,
    check_spreads,
    check_weights,
    require,
)
from greyfill.table import Kind

# The recipe engine


def _passes(schedule: UntilStable | Direct) -> None:
    require(schedule.max_iter <= MOST_PASSES, f"max_iter is {schedule.max_iter}")


def _information(weights: ClassInformation | PairInformation) -> None:
    require(0 <= weights.n_permutations <= MOST_PERMUTATIONS, "too many permutations")
    check_seed(weights.random_state)


def _recipe(recipe: Recipe) -> None:
    recipe.checked()


def _range_scaler(scaler: scaling.Scaler) -> None:
    require(scaler.low.ndim == 1, "the scaler is no list")
    same = scaler.low.shape == scaler.high.shape == scaler.is_categorical.shape
    require(same and (scaler.low <= scaler.high).all(), "the scaler has no ranges")


def _row_pool(pool: RowPool) -> None:
    require(pool.label >= -1, "a class is below −1")
    for rows in (pool.takers, pool.givers):
        check_rising(rows, np.iinfo(np.intp).max, "rows of a pool")


def _fitted(fitted: serving.Fitted) -> None:
    n, p = fitted.donors.values.shape
    require(len(fitted.scaler.low) == p, "the scaler does not fit the donors")
    same = fitted.scaler.is_categorical == fitted.donors.is_categorical
    require(same.all(), "the scaler does not fit the donors")
    check_scaled(fitted.donors.values, fitted.donors.columns)
    require(fitted.centers.shape == (p,), "the centers do not fit the donors")
    check_scaled(fitted.centers, fitted.donors.columns)
    require(fitted.rows.shape == (n,), "rows do not fit the donors")
    check_rising(fitted.rows, np.iinfo(np.intp).max, "rows")
    check_rising(fitted.targets, p, "targets")
    n_weighted = len(fitted.targets) if fitted.recipe.weights.by_target else 1
    require(fitted.weights.shape == (n_weighted, p), "weights do not fit the donors")
    check_weights(fitted.weights, p)
    require(fitted.n_neighbors >= 1, "no neighbors")
    require(fitted.unlabeled in serving.UNLABELED_RULES, f"unlabeled is {fitted.unlabeled!r}")
    check_spreads(fitted.spreads)
    _check_pools(fitted, n)


def _check_pools(fitted: serving.Fitted, n: int) -> None:
    """One pool, or one for each class; those that fell back hold everybody."""
    labels, pools = fitted.labels, fitted.pools
    require(labels is None or (labels.shape == (n,) and (labels >= 0).all()), "labels do not fit")
    require(labels is not None or not fitted.recipe.uses_labels, "labels are missing")
    require(pools, "there is no pool of donors")
    for pool in pools:
        check_rows(pool.givers, n, "donors of a pool")
        require(not pool.fallback or len(pool.givers) == n, "a class does not fall back to all")
    if len(pools) > 1 and n:  # a cluster keeps an imputer without its donors
        classes = [pool.label for pool in pools]
        require(labels is not None and set(classes) == set(labels.tolist()), "pools of no class")
        require(len(set(classes)) == len(classes), "two pools of one class")
        require(all(len(pool.givers) for pool in pools), "a class without donors")


# The self-tuning engine


def _candidate(candidate: Candidate) -> None:
    known = candidate.k in (EVERYONE, *KS) and candidate.kernel in KERNELS
    known = known and candidate.form in FORMS and candidate.scope in ("split", "soft")
    require(known and candidate.relevance in RELEVANCES, "a candidate that does not exist")
    require(candidate.ridge > 0.0, f"a penalty of {candidate.ridge}")


def _choice(choice: Choice) -> None:
    n = len(choice.predictors)
    require("equal" in choice.weights, "weights of predictors are missing")
    for relevance, weights in choice.weights.items():
        require(relevance in RELEVANCES and weights.shape == (n,), "weights do not fit")
        check_weights(weights, n)
    known = all(candidate.relevance in choice.weights for candidate in choice.panel)
    require(known and 1 <= len(choice.panel) <= PANEL, "the panel does not fit")
    require(0.0 <= choice.class_weight <= 1.0, "the weight of the class is no share")
    require(0.0 < choice.sharpness <= 10.0, "probabilities cannot be calibrated")
    require(choice.residuals.ndim == 1, "residuals are no list")


def _column_features(features: ColumnFeatures) -> None:
    n = len(features.knots)
    require(SMALLEST <= features.spread <= 1.0, "features without a spread")
    require(np.abs(features.shift).max(initial=0.0) <= 1.0 + ROUNDING, "features off the scale")
    require(np.abs(features.knots).max(initial=0.0) <= 1.0 + ROUNDING, "knots off the scale")
    require(np.abs(features.scores).max(initial=0.0) <= 40.0, "no scores of a normal variable")
    require(features.knots.shape == features.scores.shape == (n,), "knots do not fit")
    require((np.diff(features.knots) > 0).all(), "knots do not rise")
    width = len(features.levels) if n == 0 else 1
    require(features.shift.shape == (width,), "features do not fit their levels")
    require(n == 0 or features.levels.shape == (0,), "a number with levels")
    require(features.levels.ndim == 1, "levels are no list")


def _ground(ground: Ground) -> None:
    table = ground.table
    check_scaled(table.values, table.columns)
    require(table.n_rows > 0, "there is no donor")
    require(ground.labels.shape == (table.n_rows,), "labels do not fit the donors")
    check_rows(ground.labels, ground.n_classes, "labels")
    require(ground.n_classes <= table.n_rows, "more classes than donors")
    require(len(ground.feature_map.columns) == table.n_columns, "features do not fit the columns")
    for features, column in zip(ground.feature_map.columns, table.columns, strict=True):
        is_category = column.kind is Kind.CATEGORICAL
        require((len(features.knots) == 0) == is_category, "features of another kind")
        check_rows(features.levels, max(column.n_levels, 1), "levels of features")
    if ground.has_classes:
        last = table.columns[-1]
        require(last.kind is Kind.CATEGORICAL and last.n_levels == ground.n_classes, "no classes")
        occurring = np.unique(table.values[:, -1])
        require(len(occurring) == ground.n_classes, "a class without a donor")
        labels = table.values[:, -1] if ground.splits else 0
        require((ground.labels == labels).all(), "labels are not the last column")
        require(not table.missing[:, -1].any(), "labels are missing")


def _tuned(tuned: Tuned) -> None:
    ground, p = tuned.ground, len(tuned.scaler.low)
    extra = ground.table.n_columns - p
    require(extra == 1 if ground.has_classes else extra in (0, 1), "the scaler does not fit")
    same = tuned.scaler.is_categorical == ground.table.is_categorical[:p]
    require(same.all(), "the scaler does not fit the donors")
    require(tuned.rows.shape == (ground.table.n_rows,), "rows do not fit the donors")
    require((tuned.rows >= 0).all(), "rows do not exist")
    require(tuned.n_cells >= 10, f"n_cells is {tuned.n_cells}")
    check_jobs(tuned.n_jobs)
    check_seed(tuned.random_state)
    check_spreads(tuned.spreads)
    for target, choice in tuned.choices.items():
        require(0 <= target < ground.table.n_columns, "a column that does not exist is tuned")
        _check_choice(ground, target, choice)


def _check_choice(ground: Ground, target: int, choice: Choice) -> None:
    """Whether a choice fits its column of the ground."""
    require(choice.target == target, "a column is tuned as another")
    n_columns = ground.table.n_columns - int(ground.has_classes)
    check_rising(choice.predictors, n_columns, "predictors")
    require(target not in choice.predictors, "a column predicts itself")
    asker = choice.asker(ground, None)
    fits = all(candidate.scope in asker.scopes for candidate in choice.panel)
    require(fits, "a panel splits by classes that do not exist")


NEIGHBOR_RULES: dict[type, Callable[[Any], None]] = {
    UntilStable: _passes,
    Direct: _passes,
    ClassInformation: _information,
    PairInformation: _information,
    Recipe: _recipe,
    scaling.Scaler: _range_scaler,
    RowPool: _row_pool,
    serving.Fitted: _fitted,
    Candidate: _candidate,
    Choice: _choice,
    ColumnFeatures: _column_features,
    Ground: _ground,
    Tuned: _tuned,
}
