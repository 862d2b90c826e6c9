"""The four cubes: where the points lie, and what the noise looks like."""

import numpy as np
import pytest
from scipy import stats

from greyfill.datasets import make_cubes
from greyfill.exceptions import InvalidParameterError

CENTERS = [(0, 0, 0), (-0.2, -0.4, 0.4), (-0.6, -0.6, 0.5), (0.4, -0.2, -0.2)]


def test_shapes_and_classes():
    X, y = make_cubes(random_state=0)
    assert X.shape == (400, 23)
    assert X.dtype == np.float64
    assert y.tolist() == [1] * 200 + [2] * 200


@pytest.mark.parametrize("cube", range(4))
def test_points_fill_their_cube_evenly(cube):
    X, _ = make_cubes(random_state=1, n_per_cube=2000)
    offset = X[2000 * cube : 2000 * (cube + 1), :3] - np.array(CENTERS[cube])
    assert np.abs(offset).max() <= 0.1 + 1e-12
    assert stats.kstest(offset.ravel(), "uniform", args=(-0.1, 0.2)).pvalue > 1e-3


def test_noise_is_uniform_between_minus_one_and_one():
    X, y = make_cubes(random_state=2)
    noise = X[:, 3:]
    assert np.abs(noise).max() <= 1
    assert stats.kstest(noise.ravel(), "uniform", args=(-1, 2)).pvalue > 1e-3
    assert abs(np.corrcoef(noise.mean(axis=1), y)[0, 1]) < 0.2


def test_sizes_can_be_chosen():
    X, y = make_cubes(random_state=0, n_noise=0, n_per_cube=3)
    assert X.shape == (12, 3)
    assert len(y) == 12


def test_a_seed_fixes_the_points():
    first, again, other = make_cubes(5)[0], make_cubes(5)[0], make_cubes(6)[0]
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()
    np.testing.assert_array_equal(make_cubes(np.random.default_rng(5))[0], first)


@pytest.mark.parametrize("sizes", [{"n_noise": -1}, {"n_per_cube": 0}])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(InvalidParameterError, match="n_noise"):
        make_cubes(**sizes)
