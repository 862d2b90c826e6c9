"""Elementary methods for numbers against plain reference computations."""

import numpy as np
import pytest

from greyfill._chained import draws
from greyfill._chained.draws import (
    MeanMatch,
    fit_category_pmm,
    fit_mean,
    fit_norm,
    fit_pmm,
    fit_sample,
    thinned,
)
from greyfill._chained.regressions import Line, draw_regression, rowwise_dot
from greyfill.table import SymmetricScaler


def linear_data(n: int = 200, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, k))
    return x, 2.0 + x @ np.arange(1.0, k + 1) + rng.normal(scale=0.5, size=n)


def least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]


def test_fitted_line_is_least_squares() -> None:
    x, y = linear_data()
    line = draw_regression(x, y, np.random.default_rng(0)).fitted
    np.testing.assert_allclose([line.offset, *line.slope], least_squares(x, y), rtol=1e-4)


def test_posterior_has_the_moments_of_the_normal_model() -> None:
    x, y = linear_data(n=60)
    rng = np.random.default_rng(1)
    draws = [draw_regression(x, y, rng) for _ in range(4000)]
    betas = np.array([[d.drawn.offset, *d.drawn.slope] for d in draws])
    full = np.column_stack([np.ones(60), x])
    rss = ((y - full @ least_squares(x, y)) ** 2).sum()
    # β* is Student t with 56 degrees of freedom, whose variance is RSS / (df − 2) (X'X)⁻¹
    covariance = rss / 54 * np.linalg.inv(full.T @ full)
    np.testing.assert_allclose(betas.mean(axis=0), least_squares(x, y), atol=0.02)
    np.testing.assert_allclose(np.cov(betas.T), covariance, atol=0.05 * covariance.max())
    np.testing.assert_allclose(np.mean([d.sigma**2 for d in draws]), rss / 54, rtol=0.03)


@pytest.mark.parametrize("k", [0, 5, 40])
def test_regression_with_few_rows_or_collinear_columns(k: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, k))
    x = np.column_stack([x, x[:, :1]])
    regression = draw_regression(x, rng.normal(size=12), rng)
    assert np.isfinite(regression.fitted.predict(x)).all()
    assert np.isfinite(regression.drawn.predict(x)).all()


def test_rowwise_dot_gives_one_row_the_bits_of_a_batch() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 2, 7, 8, 9, 33, 200):
        x, slope = rng.normal(size=(50, k)), rng.normal(size=k)
        batch = rowwise_dot(np.asfortranarray(x), slope)
        alone = [rowwise_dot(x[[i]], slope)[0] for i in range(50)]
        np.testing.assert_array_equal(batch, alone)


def donors_by_hand(model: MeanMatch, x: np.ndarray, y: np.ndarray, fitted: Line) -> np.ndarray:
    """The values of the five nearest donors of each row of x."""
    gaps = np.abs(fitted.predict(x)[np.newaxis, :] - model.line.predict(x)[:, np.newaxis])
    return y[np.argsort(gaps, axis=1)[:, :5]]


def test_pmm_draws_each_of_the_five_nearest_donors_equally_often() -> None:
    x, y = linear_data(n=80)
    model = fit_pmm(x, y, np.random.default_rng(2))
    scaled = (y - (y.min() + y.max()) / 2) / ((y.max() - y.min()) / 2)
    fitted = draw_regression(x, scaled, np.random.default_rng(2)).fitted
    expected = np.sort(donors_by_hand(model, x, y, fitted), axis=1)
    places = (np.arange(5) + 0.5) / 5
    found = np.column_stack([model.draw(x, np.full(80, noise)) for noise in places])
    np.testing.assert_array_equal(np.sort(found, axis=1), expected)
    assert np.isin(model.draw(x, np.random.default_rng(0).random(80)), y).all()


def test_pmm_breaks_ties_at_random_over_all_tied_donors() -> None:
    x = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.arange(100.0)
    model = fit_pmm(x, y, np.random.default_rng(0))
    drawn = model.draw(np.zeros((2000, 1)), np.random.default_rng(1).random(2000))
    assert set(drawn) == set(range(50))


def test_pmm_with_fewer_rows_than_donors() -> None:
    for n in (1, 2, 4):
        y = np.arange(n, dtype=float)
        model = fit_pmm(np.zeros((n, 0)), y, np.random.default_rng(0))
        drawn = model.draw(np.zeros((300, 0)), np.random.default_rng(1).random(300))
        assert set(drawn) == set(y)


def test_thinned_match_keeps_the_range_and_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = linear_data(n=500)
    model = fit_pmm(x, y, np.random.default_rng(0))
    assert thinned(model) is model
    monkeypatch.setattr(draws, "MAX_KEPT_DONORS", 100)
    small = thinned(model)
    assert isinstance(small, MeanMatch)
    assert isinstance(model, MeanMatch)
    assert len(small.donors) == 100
    assert small.spots[[0, -1]].tolist() == model.spots[[0, -1]].tolist()
    noise = np.random.default_rng(1).random(500)
    assert np.corrcoef(small.draw(x, noise), model.draw(x, noise))[0, 1] > 0.8


def test_norm_draws_average_to_the_prediction() -> None:
    x, y = linear_data(n=100)
    rng = np.random.default_rng(3)
    draws = np.array([fit_norm(x, y, rng).draw(x[:5], rng.random(5)) for _ in range(3000)])
    beta = least_squares(x, y)
    np.testing.assert_allclose(draws.mean(axis=0), beta[0] + x[:5] @ beta[1:], atol=0.05)
    np.testing.assert_allclose(draws.std(axis=0), 0.5, rtol=0.15)


def test_sample_and_mean() -> None:
    y = np.array([1.0, 2.0, 9.0])
    x, rng = np.zeros((600, 0)), np.random.default_rng(0)
    drawn = fit_sample(x[:3], y, rng).draw(x, rng.random(600))
    assert {value: int((drawn == value).sum() > 150) for value in y} == {1.0: 1, 2.0: 1, 9.0: 1}
    np.testing.assert_allclose(fit_mean(x[:3], y, rng).draw(x, rng.random(600)), 4.0)
    drawn = fit_category_pmm(x[:3], y, rng).draw(x, rng.random(600))  # nothing to match on
    assert min(int((drawn == level).sum()) for level in y) > 150


def test_categories_are_matched_by_what_predicts_them() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 60, 900).astype(float)
    place = rng.permutation(60)[codes.astype(int)]
    x = np.column_stack([place + rng.normal(size=900), rng.normal(size=900)])
    model = fit_category_pmm(x, codes, rng)
    drawn = model.draw(x, rng.random(900))
    gap = np.abs(rng.permutation(place)[:900] - place).mean()
    order = np.zeros(60, int)
    order[codes.astype(int)] = place
    assert np.abs(order[drawn.astype(int)] - place).mean() < 0.2 * gap


def test_a_draw_beyond_the_largest_float_is_the_largest() -> None:
    wide = SymmetricScaler(np.float64(0.0), np.float64(1.7e308))
    assert np.isfinite(wide.unscale(np.array([-3.0, 3.0]))).all()
