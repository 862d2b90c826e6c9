"""Classes of few rows borrow from all rows, and useless labels cost nothing to speak of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import greyfill
from greyfill._grey.outcomes import class_doubt
from greyfill._grey.predictor import MOST_DOUBT

RARE = [2, 3, 4, 5] * 8


def made(seed: int, sizes: list[int], shift: float = 0.0) -> tuple[np.ndarray, ...]:
    """Related numbers in classes of given sizes, with holes and without."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(labels), 2)) @ rng.normal(size=(2, 5))
    X += 0.7 * rng.normal(size=X.shape) + shift * rng.normal(size=(len(sizes), 5))[labels]
    hidden = rng.random(X.shape) < 0.3
    return np.where(hidden, np.nan, X), X, hidden, np.array([f"class {c:02}" for c in labels])


def mean_error(use: str, seeds: range, sizes: list[int], shift: float = 0.0) -> float:
    errors = []
    for seed in seeds:
        holes, X, hidden, y = made(seed, sizes, shift)
        filled = greyfill.GreyImputer(labels=use, round_to_grid=False).fit_transform(holes, y)
        errors.append(np.sqrt(np.mean(((filled - X) / np.ptp(X, axis=0))[hidden] ** 2)))
    return float(np.mean(errors))


def slow_doubt(truth: np.ndarray, labels: np.ndarray) -> float:
    """The same from the equations: expected mean squares of a one-way layout of unequal groups."""
    groups = [truth[labels == label] for label in np.unique(labels)]
    n, k = len(truth), len(groups)
    within = sum(((g - g.mean(axis=0)) ** 2).sum() for g in groups) / (n - k)
    between = sum(len(g) * ((g.mean(axis=0) - truth.mean(axis=0)) ** 2).sum() for g in groups)
    size = (n - sum(len(g) ** 2 for g in groups) / n) / (k - 1)
    variance = (between / (k - 1) - within) / size
    return within / variance if variance > 0 else np.inf


@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from([0.0, 1.0, 5.0]))
def test_the_doubt_is_the_ratio_of_the_variances(seed: int, width: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(0, 4, size=20), [0, 1])
    truth = rng.normal(size=(22, width)) + shift * rng.normal(size=(5, width))[labels]
    expected = slow_doubt(truth, labels)
    assert class_doubt(truth, labels, 5) == pytest.approx(expected, rel=1e-6)  # no row of the fifth


def test_one_class_or_a_class_a_row_leaves_nothing_but_doubt() -> None:
    truth = np.arange(4.0)[:, np.newaxis]
    assert class_doubt(truth, np.zeros(4, dtype=np.intp), 1) == np.inf
    assert class_doubt(truth, np.arange(4), 4) == np.inf
    assert class_doubt(np.array([[0.0], [0.0], [9.0], [9.0]]), np.array([0, 0, 1, 1]), 2) == 0.0


def test_a_class_of_few_donors_takes_all_and_a_large_one_its_own() -> None:
    holes, _, _, y = made(0, [60, 50, 3])
    fitted = greyfill.GreyImputer(labels="own").fit(holes, y)._fitted
    _, predictor = fitted.model(0)
    to, n = predictor.layout(), len(predictor.donor_rows)
    large, rare = np.bincount(fitted.donors.labels[predictor.donor_rows])[[0, 2]]
    assert large >= MOST_DOUBT > rare
    assert (to.near[0] == [0, large]).all()
    assert (to.near[2] == [0, n]).all()
    assert to.trust[0] > 0.5 > 3 * to.trust[2]
    own = predictor.donor_groups("split", regressed=True)
    np.testing.assert_array_equal(own[2], predictor.donor_rows)
    assert len(own[0]) == large


def test_a_class_that_tells_much_is_believed_though_rare() -> None:
    holes, _, _, y = made(1, [30, 30, 4, 4], shift=20.0)
    _, predictor = greyfill.GreyImputer(labels="own").fit(holes, y)._fitted.model(0)
    to = predictor.layout()
    assert to.trust.min() > 0.9
    assert (np.diff(to.near, axis=1)[:, 0] == np.diff(to.starts)).all()


@pytest.mark.parametrize("use", ["own", "cross"])
def test_labels_of_rare_classes_that_tell_nothing_cost_at_most_a_hundredth(use: str) -> None:
    seeds = range(8)
    assert mean_error(use, seeds, RARE) <= 1.01 * mean_error("none", seeds, RARE)


def test_labels_of_rare_classes_that_tell_much_still_help() -> None:
    seeds = range(3)
    assert mean_error("own", seeds, RARE, 1.5) < 0.9 * mean_error("none", seeds, RARE, 1.5)
