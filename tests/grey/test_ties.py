"""Donors that are equally near, as in tables of few levels: their order must not tell a fill."""

from typing import Any

import numpy as np
import pytest

from greyfill import GreyClassifier, GreyImputer, GreyRegressor

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def apart(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two truths, and whether they differ; no regression on either tells that."""
    both = np.random.default_rng(seed).integers(0, 2, size=(n, 2)).astype(float)
    return both, both[:, 0] != both[:, 1]


def of_few_levels(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Many rows that are alike but for a class, and many that are alike in that, too."""
    both, differs = apart(600, seed)
    rng = np.random.default_rng(seed + 100)
    X = np.column_stack([both, rng.integers(0, 2, size=600)])
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, (differs ^ (rng.random(600) < 0.1)).astype(int)


@pytest.mark.parametrize("seed", [0, 1])
def test_fills_are_the_mean_of_rows_that_are_equally_near(seed: int) -> None:
    """Once the nearest were those with the least values: fills lay a standard deviation low."""
    both, differs = apart(600, seed)
    rng = np.random.default_rng(seed + 10)
    X = np.column_stack([both, 3.0 * differs + rng.normal(size=600)])
    X[rng.random(600) < 0.25, 2] = np.nan
    imputer = GreyImputer(categorical_features=[0, 1]).fit(X)
    fills = imputer.transform(np.column_stack([CORNERS, np.full(4, np.nan)]))[:, 2]
    np.testing.assert_allclose(fills, [0, 3, 3, 0], atol=0.5)


def test_draws_have_the_levels_of_rows_that_are_equally_near() -> None:
    both, differs = apart(1000, 0)
    rng = np.random.default_rng(1)
    level = (rng.random(1000) < np.where(differs, 0.8, 0.2)).astype(float)
    X = np.column_stack([both, level])
    hidden = rng.random(1000) < 0.3
    X[hidden, 2] = np.nan
    imputer = GreyImputer(categorical_features=[0, 1, 2]).fit(X)
    drawn = np.mean([one[hidden, 2] for one in imputer.draw(X, 4)], axis=0)
    assert drawn[differs[hidden]].mean() == pytest.approx(0.8, abs=0.08)
    assert drawn[~differs[hidden]].mean() == pytest.approx(0.2, abs=0.08)


@pytest.mark.parametrize("seed", range(3))
def test_a_row_that_shows_nothing_gets_the_middle_of_a_column_that_follows_nothing(
    seed: int,
) -> None:
    rng, y = np.random.default_rng(seed), np.arange(400) % 2
    X = np.column_stack([rng.normal(size=400) + 2 * y, rng.normal(size=400)])
    X[rng.random(X.shape) < 0.1] = np.nan
    assert abs(GreyImputer().fit(X, y).transform([[np.nan, np.nan]])[0, 1]) < 0.3


@pytest.mark.parametrize("labels", ["cross", "own", "none"])
@pytest.mark.parametrize("seed", [1, 3])
def test_rows_that_are_alike_are_filled_alike_in_any_order(labels: str, seed: int) -> None:
    X, y = of_few_levels(seed)
    order = np.random.default_rng(seed + 9).permutation(len(X))
    straight, shuffled = (GreyImputer(labels=labels, n_cells=60) for _ in range(2))
    filled, again = straight.fit_transform(X, y), shuffled.fit_transform(X[order], y[order])
    np.testing.assert_allclose(again, filled[order], atol=1e-9)
    np.testing.assert_allclose(shuffled.transform(X), straight.transform(X), atol=1e-9)


@pytest.mark.parametrize("categories", [None, [0, 1, 2]])
@pytest.mark.parametrize("model", [GreyClassifier, GreyRegressor])
def test_a_classifier_knows_no_order_of_rows_that_differ_by_their_class(
    model: Any, categories: Any
) -> None:
    X, y = of_few_levels(1)
    y = y if model is GreyClassifier else y + 0.01 * np.arange(len(y))
    order = np.random.default_rng(5).permutation(len(X))
    straight, shuffled = (model(n_cells=60, categorical_features=categories) for _ in range(2))
    tell = "predict_proba" if model is GreyClassifier else "predict"
    told = getattr(shuffled.fit(X[order], y[order]), tell)(X)
    np.testing.assert_allclose(told, getattr(straight.fit(X, y), tell)(X), atol=1e-9)
