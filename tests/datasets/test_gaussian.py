"""Normal classes and the random correlation matrices behind them."""

import numpy as np
import pytest
from scipy import stats

from greyfill.datasets import make_gaussian_classes
from greyfill.datasets.tables import random_correlation
from greyfill.exceptions import InvalidParameterError


def correlations(n_features, n_draws=3000, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([random_correlation(n_features, rng) for _ in range(n_draws)])


@pytest.mark.parametrize("n_features", [1, 2, 5, 30])
def test_a_correlation_matrix_it_is(n_features):
    for R in correlations(n_features, n_draws=50):
        np.testing.assert_array_equal(np.diag(R), 1.0)
        np.testing.assert_array_equal(R, R.T)
        assert np.linalg.eigvalsh(R).min() > 0


def test_each_correlation_has_the_beta_marginal_of_the_uniform_distribution():
    R = correlations(5)
    for i, j in zip(*np.tril_indices(5, -1), strict=True):
        scaled = (R[:, i, j] + 1) / 2
        assert stats.kstest(scaled, "beta", args=(2.5, 2.5)).pvalue > 1e-4, (i, j)


def test_the_determinant_has_the_mean_of_the_uniform_distribution():
    # E det R = Π over pairs of E(1 − z²), and E(1 − z²) = 2a/(2a + 1) for z from Beta(a, a)
    shapes = [(5 - j) / 2 for i in range(5) for j in range(i)]
    expected = np.prod([2 * a / (2 * a + 1) for a in shapes])
    determinants = np.linalg.det(correlations(5))
    error = determinants.std() / np.sqrt(len(determinants))
    assert abs(determinants.mean() - expected) < 4 * error


def test_three_columns_are_uniform_over_the_elliptope():
    # rejection from the cube gives the uniform distribution directly
    rng = np.random.default_rng(1)
    a, b, c = rng.uniform(-1, 1, size=(3, 20_000))
    determinant = 1 + 2 * a * b * c - a**2 - b**2 - c**2
    direct = determinant[determinant > 0]
    assert stats.ks_2samp(np.linalg.det(correlations(3)), direct).pvalue > 1e-3


def test_shapes_and_classes():
    X, y = make_gaussian_classes(random_state=0)
    assert X.shape == (400, 5)
    assert np.isfinite(X).all()
    assert y.tolist() == [k for k in (1, 2, 3, 4) for _ in range(100)]


def test_classes_have_means_in_the_box_and_unit_variance():
    X, y = make_gaussian_classes(random_state=3, n_per_class=20_000)
    for k in range(1, 5):
        rows = X[y == k]
        assert np.abs(rows.mean(axis=0)).max() < 1.05
        np.testing.assert_allclose(rows.std(axis=0), 1, atol=0.03)


def test_classes_differ_in_mean_and_correlation():
    X, y = make_gaussian_classes(random_state=3, n_per_class=20_000)
    first, second = X[y == 1], X[y == 2]
    assert np.abs(first.mean(axis=0) - second.mean(axis=0)).max() > 0.1
    assert np.abs(np.corrcoef(first.T) - np.corrcoef(second.T)).max() > 0.1


def test_means_are_uniform_over_the_box():
    rng = np.random.default_rng(4)
    means = [make_gaussian_classes(rng, 400, 2, 1)[0].mean(axis=0) for _ in range(300)]
    assert stats.kstest(np.ravel(means), "uniform", args=(-1, 2)).pvalue > 1e-3


def test_a_seed_fixes_the_points():
    first, again, other = (make_gaussian_classes(seed)[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize("sizes", [{"n_per_class": 0}, {"n_features": 0}, {"n_classes": 0}])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(InvalidParameterError, match="must be 1 or more"):
        make_gaussian_classes(**sizes)
