"""Tests and ranks against scipy and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, wilcoxon

from greyfill.evaluation.comparison import (
    critical_difference,
    friedman,
    holm,
    mean_ranks,
    pair_tests,
)


def test_holm_by_hand() -> None:
    # sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1; the last may not fall below the third
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.5])).tolist() == [1.0, 1.0]
    assert holm(np.array([])).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    p = np.array(p_values)
    corrected = holm(p)
    assert (corrected >= p).all()
    assert (corrected <= 1).all()
    assert (np.diff(corrected[np.argsort(p, kind="stable")]) >= 0).all()


def test_friedman_is_that_of_scipy() -> None:
    scores = np.random.default_rng(0).normal(size=(8, 4)) + np.arange(4)
    expected = friedmanchisquare(*scores.T)
    assert friedman(scores) == pytest.approx((expected.statistic, expected.pvalue))


def test_friedman_without_a_question() -> None:
    assert friedman(np.ones((5, 3))) == (0.0, 1.0)
    assert np.isnan(friedman(np.ones((5, 2)))).all()
    assert np.isnan(friedman(np.ones((1, 3)))).all()


def test_ranks_by_hand() -> None:
    scores = np.array([[0.1, 0.3, 0.2], [0.5, 0.5, 0.4]])
    assert mean_ranks(scores).tolist() == [1.75, 2.75, 1.5]
    assert mean_ranks(scores, higher_is_better=True).tolist() == [2.25, 1.25, 2.5]


def test_critical_difference_of_demsar() -> None:
    # Demšar 2006, section 3.2.2: four classifiers, 14 data sets, q = 2.569
    assert critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(20 / 84), abs=1e-3)
    assert np.isnan(critical_difference(1, 14))


def test_pairs_are_wilcoxon_with_holm() -> None:
    scores = np.random.default_rng(0).normal(size=(10, 3)) + np.array([0.0, 0.1, 3.0])
    tests = pair_tests(scores)
    assert [(t.first, t.second) for t in tests] == [(0, 1), (0, 2), (1, 2)]
    plain = [wilcoxon(scores[:, t.first] - scores[:, t.second]).pvalue for t in tests]
    assert [t.p_value for t in tests] == pytest.approx(plain)
    assert [t.p_holm for t in tests] == pytest.approx(holm(np.array(plain)))
    assert tests[1].difference == pytest.approx((scores[:, 0] - scores[:, 2]).mean())


def test_equal_methods_do_not_differ() -> None:
    noise = 0.1 + 0.2 - 0.3
    assert pair_tests(np.array([[0.5, 0.5 + noise]] * 6))[0].p_value == 1.0
