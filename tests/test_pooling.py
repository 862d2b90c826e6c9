"""Rubin's rules, worked out by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greyfill import pool
from greyfill.exceptions import InvalidDataError, InvalidParameterError

FIVE = [-2.0, -1.0, 0.0, 1.0, 2.0]
"""Mean 0 and variance 10/4 = 2.5; with variances of 3, T = 3 + 1.2 · 2.5 = 6 and λ = ½."""


def test_three_estimates_by_hand() -> None:
    # Q̄ = 2, Ū = 1, B = 1, T = 1 + 4/3 = 7/3, λ = (4/3)/(7/3) = 4/7, ν = 2/(16/49) = 49/8
    pooled = pool([1.0, 2.0, 3.0], [0.5, 1.0, 1.5])
    assert pooled.estimate == 2.0
    assert pooled.within == 1.0
    assert pooled.between == 1.0
    assert pooled.std_error == pytest.approx((7 / 3) ** 0.5)
    assert pooled.df == pytest.approx(49 / 8)
    assert pooled.fraction_missing == pytest.approx(4 / 7 + 3 / 7 * 2 / (49 / 8 + 3))
    assert pooled.n_imputations == 3


def test_interval_by_a_printed_table() -> None:
    pooled = pool(FIVE, [3.0] * 5)
    assert pooled.df == pytest.approx(16.0)  # 4 / ½²
    # Student's t with 16 degrees of freedom: 2.120 at 97.5 %, 1.746 at 95 %
    assert pooled.interval() == pytest.approx((-2.120 * 6**0.5, 2.120 * 6**0.5), abs=2e-3)
    assert pooled.interval(0.9)[1] == pytest.approx(1.746 * 6**0.5, abs=2e-3)


def test_small_tables_have_fewer_degrees_of_freedom() -> None:
    # ν_obs = ½ · 10 · 11/13 = 55/13; 1/ν = 1/16 + 13/55
    pooled = pool(FIVE, [3.0] * 5, df_complete=10)
    assert pooled.df == pytest.approx(1 / (1 / 16 + 13 / 55))
    assert pooled.df < 10
    assert pool(FIVE, [3.0] * 5, df_complete=np.inf).df == pytest.approx(16.0)


def test_imputations_that_agree_lose_nothing() -> None:
    pooled = pool([1.5, 1.5], [0.04, 0.04])
    assert (pooled.estimate, pooled.between, pooled.fraction_missing) == (1.5, 0.0, 0.0)
    assert pooled.df == np.inf
    assert pooled.interval() == pytest.approx((1.5 - 1.959964 * 0.2, 1.5 + 1.959964 * 0.2))
    # all that is left is the small table: 20 · 21/23
    assert pool([1.5, 1.5], [0.04, 0.04], df_complete=20).df == pytest.approx(20 * 21 / 23)


def test_estimates_without_variance_are_all_missing_information() -> None:
    pooled = pool([0.0, 1.0], [0.0, 0.0])
    assert pooled.fraction_missing == pytest.approx(1.0)
    assert pooled.df == pytest.approx(1.0)
    nothing_left = pool([0.0, 1.0], [0.0, 0.0], df_complete=9)
    assert nothing_left.df == 0.0
    assert nothing_left.interval() == (-np.inf, np.inf)


def test_constants_without_variance_are_certain() -> None:
    pooled = pool([2.0, 2.0], [0.0, 0.0])
    assert (pooled.std_error, pooled.fraction_missing) == (0.0, 0.0)
    assert pooled.interval() == (2.0, 2.0)


@given(
    st.lists(
        st.tuples(*[st.floats(-1e6, 1e6)] * 2, *[st.floats(1e-6, 1e6)] * 2), min_size=2, max_size=9
    )
)
def test_vectors_are_pooled_entry_by_entry(rows) -> None:
    table = np.array(rows)
    both = pool(table[:, :2], table[:, 2:], df_complete=30)
    for j in range(2):
        alone = pool(table[:, j], table[:, 2 + j], df_complete=30)
        for field in dataclasses.fields(alone):
            whole = getattr(both, field.name)
            part = whole if field.name == "n_imputations" else whole[j]
            assert part == pytest.approx(getattr(alone, field.name))
        assert [end[j] for end in both.interval()] == pytest.approx(list(alone.interval()))


def test_means_of_normal_draws_are_covered() -> None:
    """A third of a normal column is missing at random and drawn properly: 95 % intervals hold."""
    rng = np.random.default_rng(0)
    n, holes, m, hits = 60, 20, 10, 0
    for _ in range(400):
        seen = rng.normal(size=n - holes)
        estimates, variances = [], []
        for _ in range(m):
            sigma = np.sqrt(seen.var() * len(seen) / rng.chisquare(len(seen) - 1))
            mean = seen.mean() + sigma / np.sqrt(len(seen)) * rng.normal()
            filled = np.concatenate([seen, rng.normal(mean, sigma, holes)])
            estimates.append(filled.mean())
            variances.append(filled.var(ddof=1) / n)
        low, high = pool(estimates, variances, df_complete=n - 1).interval()
        hits += low <= 0.0 <= high
    assert 0.92 <= hits / 400 <= 0.98


@pytest.mark.parametrize(
    ("estimates", "variances", "words"),
    [
        ([1.0], [1.0], "at least 2"),
        ([1.0, 2.0], [1.0], "its variance"),
        ([1.0, np.nan], [1.0, 1.0], "estimates hold NaN"),
        ([1.0, 2.0], [1.0, -1.0], "squared standard errors"),
        ([[1.0, 2.0], [1.0]], [[1.0, 1.0], [1.0, 1.0]], "one length"),
        (["a", "b"], [1.0, 1.0], "must be numbers"),
        (np.ones((2, 2, 2)), np.ones((2, 2, 2)), "3 dimensions"),
    ],
)
def test_what_cannot_be_pooled(estimates, variances, words) -> None:
    with pytest.raises(InvalidDataError, match=words):
        pool(estimates, variances)


def test_bad_parameters() -> None:
    with pytest.raises(InvalidParameterError, match="df_complete"):
        pool(FIVE, [3.0] * 5, df_complete=0)
    with pytest.raises(InvalidParameterError, match=r"df_complete.*'n'"):
        pool(FIVE, [3.0] * 5, df_complete="n")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="level"):
        pool(FIVE, [3.0] * 5).interval(95)


def test_it_reads_well() -> None:
    # √6 = 2.449, t(16) = 2.120, λ + (1 − λ) · 2/19 = ½ + 1/19
    shown = "0 ± 2.449 (95 %: -5.193 to 5.193; df 16; missing information 0.5526)"
    assert str(pool(FIVE, [3.0] * 5)) == shown
    both = pool(np.column_stack([FIVE, FIVE]), np.full((5, 2), 3.0))
    assert str(both).startswith("[0, 0] ± [2.449, 2.449] (95 %: [-5.193, -5.193] to")
