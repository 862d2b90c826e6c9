"""Elementary methods for categories against scikit-learn and against known coefficients."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from greyfill._chained.draws import fit_logreg, fit_mode, fit_polr, fit_polyreg
from greyfill._chained.regressions import (
    Weighted,
    augment,
    logistic,
    multinomial,
    proportional_odds,
)


def unweighted(z: np.ndarray, level: np.ndarray) -> Weighted:
    return Weighted(z, level, np.ones(len(z)))


def simulate(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    return z, z @ np.array([1.0, -0.5, 0.0]) + rng.logistic(size=n)


def test_logistic_is_maximum_likelihood() -> None:
    z, score = simulate(400)
    level = (score > 0.3).astype(np.intp)
    weight = np.random.default_rng(1).uniform(0.2, 2.0, 400)
    found, factor = logistic(Weighted(z, level, weight))
    reference = LogisticRegression(C=np.inf, tol=1e-10).fit(z, level, sample_weight=weight)
    expected = [*reference.intercept_, *reference.coef_[0]]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    x = np.column_stack([np.ones(400), z])
    p = expit(x @ found)
    information = x.T @ (x * (weight * p * (1 - p))[:, np.newaxis])
    np.testing.assert_allclose(factor @ factor.T, information, rtol=1e-4, atol=1e-4)


def test_multinomial_is_maximum_likelihood() -> None:
    z, score = simulate(400)
    level = np.digitize(score + 0.5 * z[:, 2] ** 2, [-1.0, 1.0])
    found = multinomial(unweighted(z, level), 3)
    reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(z, level)
    expected = np.column_stack([reference.intercept_, reference.coef_])
    np.testing.assert_allclose(found, (expected - expected[0])[1:], atol=5e-3)


def test_proportional_odds_recovers_known_coefficients() -> None:
    z, score = simulate(6000)
    thresholds, slope = proportional_odds(unweighted(z, np.digitize(score, [-1.0, 0.5, 2.0])), 4)
    np.testing.assert_allclose(thresholds, [-1.0, 0.5, 2.0], atol=0.15)
    np.testing.assert_allclose(slope, [1.0, -0.5, 0.0], atol=0.1)


def test_proportional_odds_is_a_maximum() -> None:
    z, score = simulate(300)
    level = np.digitize(score, [-1.0, 0.5, 2.0])
    thresholds, slope = proportional_odds(unweighted(z, level), 4)

    def likelihood(parameters: np.ndarray) -> float:
        edges = np.concatenate([[-np.inf], parameters[:3], [np.inf]])
        score = z @ parameters[3:]
        return float(np.log(expit(edges[level + 1] - score) - expit(edges[level] - score)).sum())

    best = np.concatenate([thresholds, slope])
    for j in range(6):
        for step in (-0.02, 0.02):
            assert likelihood(best + step * np.eye(6)[j]) < likelihood(best)


def test_two_ordered_levels_are_a_logistic_regression() -> None:
    z, score = simulate(300)
    level = (score > 0.3).astype(np.intp)
    thresholds, slope = proportional_odds(unweighted(z, level), 2)
    expected, _ = logistic(unweighted(z, level))
    np.testing.assert_allclose([-thresholds[0], *slope], expected, atol=1e-3)


def test_logreg_draws_its_coefficients() -> None:
    z, score = simulate(200)
    y = (score > 0.3).astype(float)
    rng = np.random.default_rng(0)
    lines = [fit_logreg(z, y, rng).line for _ in range(2000)]  # type: ignore[attr-defined]
    betas = np.array([[line.offset, *line.slope] for line in lines])
    found, factor = logistic(augment((z - z.mean(0)) / z.std(0), y.astype(np.intp), 2))
    np.testing.assert_allclose(betas[:, 1:].mean(axis=0) * z.std(0), found[1:], atol=0.03)
    spread = np.sqrt(np.diag(np.linalg.inv(factor @ factor.T)))
    np.testing.assert_allclose(betas[:, 1:].std(axis=0) * z.std(0), spread[1:], rtol=0.08)


@pytest.mark.parametrize("fit", [fit_logreg, fit_polyreg, fit_polr])
def test_perfect_separation_stays_finite(fit) -> None:
    x = np.linspace(-1, 1, 60)[:, np.newaxis]
    n_levels = 2 if fit is fit_logreg else 3
    y = np.minimum(np.floor((x[:, 0] + 1) / 2 * n_levels), n_levels - 1)
    model = fit(x, y, np.random.default_rng(0))
    p = model.cumulative(x)
    assert ((p > 0) & (p < 1)).all()
    drawn = model.draw(x, np.random.default_rng(1).random(60))
    assert (drawn == y).mean() > 0.7


@pytest.mark.parametrize("fit", [fit_polyreg, fit_polr])
def test_levels_are_drawn_as_often_as_they_occur(fit) -> None:
    z, score = simulate(4000)
    y = np.array([1.0, 4.0, 5.0])[np.digitize(score, [-1.0, 2.0])]
    model = fit(z, y, np.random.default_rng(0))
    drawn = model.draw(z, np.random.default_rng(1).random(4000))
    for level in (1.0, 4.0, 5.0):
        assert abs((drawn == level).mean() - (y == level).mean()) < 0.03
    assert (drawn == y).mean() > 1.1 * sum((y == level).mean() ** 2 for level in (1.0, 4.0, 5.0))


@pytest.mark.parametrize("fit", [fit_logreg, fit_polyreg, fit_polr, fit_mode])
def test_one_level_and_no_predictors(fit) -> None:
    rng = np.random.default_rng(0)
    constant = fit(rng.normal(size=(4, 2)), np.full(4, 3.0), rng)
    assert constant.draw(np.zeros((2, 2)), rng.random(2)).tolist() == [3.0, 3.0]
    bare = fit(np.zeros((4, 0)), np.array([0.0, 1.0, 1.0, 1.0]), rng)
    assert set(bare.draw(np.zeros((50, 0)), rng.random(50))) <= {0.0, 1.0}


def test_augmentation_has_the_weight_of_one_row_per_coefficient() -> None:
    z = np.random.default_rng(0).normal(size=(30, 4))
    rows = augment(z, np.zeros(30, np.intp), 3)
    assert rows.weight.sum() == pytest.approx(30 + 5)
    assert len(rows.z) == 30 + 2 * 4 * 3
    assert np.bincount(rows.level[30:]).tolist() == [8, 8, 8]
