"""The compiled regressions against plain numpy, and both against cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greyfill._search import reference, ridge

seeds = st.integers(0, 2**32 - 1)


def case(seed: int) -> tuple[np.random.Generator, int, int, int, int]:
    rng = np.random.default_rng(seed)
    n_donors, n_features = int(rng.integers(4, 30)), int(rng.integers(0, 6))
    return rng, n_donors, n_features, int(rng.integers(1, 4)), int(rng.integers(1, 8))


@given(seeds)
def test_information_within_groups_equals_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p, n_groups = int(rng.integers(1, 40)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
    n_codes = rng.integers(1, 5, size=p)
    codes = np.stack([rng.integers(-1, c, size=n) for c in n_codes], axis=1)
    groups = rng.integers(0, n_groups, size=n)
    orders = np.stack([np.arange(n), rng.permutation(n)])
    arguments = codes, n_codes, groups, n_groups, 0, np.arange(1, p), orders
    expected = reference.group_information(*arguments)
    np.testing.assert_allclose(ridge.group_information(*arguments), expected, atol=1e-12)


def test_a_copy_tells_one_bit_and_only_within_its_group() -> None:
    codes = np.array([[0, 0], [1, 1], [0, 0], [1, 0]])
    groups = np.array([0, 0, 1, 1])
    orders = np.arange(4)[np.newaxis]
    found = ridge.group_information(codes, np.array([2, 2]), groups, 2, 0, np.array([1]), orders)
    assert found == pytest.approx(0.5)  # one bit in half of the rows, none in the other half


@given(seeds)
def test_means_equal_the_reference(seed: int) -> None:
    rng, n_donors, _, n_targets, n_queries = case(seed)
    targets = rng.normal(size=(n_donors, n_targets))
    donors = rng.integers(0, n_donors, size=(n_queries, 5))
    weights = rng.random((n_queries, 5)) * (rng.random((n_queries, 5)) < 0.8)
    expected = reference.local_means(donors, weights, targets)
    np.testing.assert_allclose(ridge.local_means(donors, weights, targets), expected, atol=1e-12)


@given(seeds)
def test_limits_equal_the_reference(seed: int) -> None:
    rng, n_donors, _, n_targets, n_queries = case(seed)
    targets = rng.normal(size=(n_donors, n_targets))
    donors = rng.integers(0, n_donors, size=(n_queries, 3))
    weights = rng.random((n_queries, 3)) * (rng.random((n_queries, 3)) < 0.6)
    expected = reference.local_limits(donors, weights, targets)
    np.testing.assert_array_equal(ridge.local_limits(donors, weights, targets), expected)


@given(seeds)
def test_information_of_long_columns_equals_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_codes = np.array([int(rng.integers(201, 400)), int(rng.integers(1, 5)), 300])
    codes = np.stack([rng.integers(-1, c, size=60) for c in n_codes], axis=1)
    codes[:30] = codes[30:]  # so that some pairs occur more than once
    groups, orders = rng.integers(0, 2, size=60), np.stack([np.arange(60), rng.permutation(60)])
    for target in (0, 1):
        others = np.setdiff1d(np.arange(3), [target])
        arguments = codes, n_codes, groups, 2, target, others, orders
        expected = reference.group_information(*arguments)
        np.testing.assert_allclose(ridge.group_information(*arguments), expected, atol=1e-12)


def test_information_of_columns_never_known_together_is_none() -> None:
    codes, orders = np.array([[-1, 0], [250, -1]]), np.arange(2)[np.newaxis]
    groups, others = np.zeros(2, dtype=np.intp), np.array([1])
    assert ridge.group_information(codes, np.array([251, 1]), groups, 1, 0, others, orders) == 0.0


@given(seeds)
def test_short_lists_and_votes_equal_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_levels, n_queries, k = int(rng.integers(5, 30)), int(rng.integers(0, 6)), 4
    frequent = rng.permutation(n_levels)
    size, first = int(rng.integers(1, n_levels)), int(rng.integers(0, 4))
    near = rng.integers(-1, n_levels, size=(n_queries, 7))
    listed = ridge.shortlists(near, frequent, first, size)
    expected = reference.shortlists(near, frequent, first, size)
    np.testing.assert_array_equal(listed, expected.reshape(n_queries, size))
    codes, donors = rng.integers(0, n_levels, size=9), rng.integers(0, 9, size=(n_queries, k))
    weights = rng.random((n_queries, k)) * (rng.random((n_queries, k)) < 0.8)
    found = ridge.local_votes(donors, weights, codes, listed)
    expected_votes = reference.local_votes(donors, weights, codes, listed)
    np.testing.assert_allclose(found, expected_votes, atol=1e-12)


@given(seeds)
def test_local_regressions_equal_the_reference(seed: int) -> None:
    rng, n_donors, n_features, n_targets, n_queries = case(seed)
    k = int(rng.integers(2, n_donors))
    donors = np.stack([rng.permutation(n_donors)[:k] for _ in range(n_queries)])
    weights = rng.random((n_queries, k)) + 0.01
    weights /= weights.sum(axis=1, keepdims=True)
    scales = rng.random(n_features) * (rng.random(n_features) < 0.8)
    arguments = (
        rng.normal(size=(n_queries, n_features)),
        rng.random((n_queries, n_features)) < 0.7,
        scales,
        donors,
        weights,
        rng.normal(size=(n_donors, n_features + 2)),
        rng.permutation(n_features + 2)[:n_features],
        rng.normal(size=(n_donors, n_targets)),
        np.array([1e-2, 1.0]),
    )
    expected = reference.local_ridge(*arguments)
    np.testing.assert_allclose(ridge.local_ridge(*arguments), expected, rtol=1e-7, atol=1e-7)


@given(seeds)
def test_moments_equal_the_reference(seed: int) -> None:
    rng, n_donors, n_features, n_targets, n_groups = case(seed)
    arguments = (
        rng.normal(size=(n_donors, n_features + 2)),
        rng.permutation(n_features + 2)[:n_features],
        rng.normal(size=(n_donors, n_targets)),
        rng.permutation(n_donors)[: rng.integers(1, n_donors)],
    )
    n = len(arguments[-1])
    groups = rng.random(n), rng.integers(0, n_groups, size=n), n_groups
    expected = reference.moments(*arguments, *groups)
    for found, part in zip(ridge.moments(*arguments, *groups), expected, strict=True):
        np.testing.assert_allclose(found, part, atol=1e-12)


@given(seeds, st.booleans())
def test_common_regressions_equal_the_reference(seed: int, leave_out: bool) -> None:
    rng, n_donors, n_features, n_targets, n_queries = case(seed)
    features = rng.normal(size=(n_donors, n_features))
    targets = rng.normal(size=(n_donors, n_targets))
    donor_groups = np.arange(n_donors) % 2
    own = rng.integers(0, n_donors, size=n_queries) if leave_out else np.full(n_queries, -1)
    queries = features[own] if leave_out else rng.normal(size=(n_queries, n_features))
    groups = donor_groups[own] if leave_out else rng.integers(0, 2, size=n_queries)
    usable = rng.random((n_queries, n_features)) < 0.7
    scales, ridges = rng.random(n_features), np.array([1e-2, 1.0])
    expected = reference.common_ridge(
        queries, usable, scales, groups, own, donor_groups, features, targets, ridges
    )
    sums = ridge.moments(
        features, np.arange(n_features), targets, np.arange(n_donors), np.ones(n_donors),
        donor_groups, 2,
    )  # fmt: skip
    found = ridge.common_ridge(
        queries, usable, scales, targets[own], groups, *sums, ridges, leave_out
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_line_is_continued_and_a_large_penalty_leaves_the_mean() -> None:
    features, targets = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    query, usable, scales = np.array([[4.0]]), np.array([[True]]), np.ones(1)
    donors, even = np.array([[0, 1, 2]]), np.full((1, 3), 1 / 3)
    ridges = np.array([1e-9, 1e9])
    given = query, usable, scales, donors, even, features, np.array([0]), targets, ridges
    found = ridge.local_ridge(*given)
    assert found[0, 0, 0] == pytest.approx(9.0)  # t = 1 + 2 z
    assert found[0, 1, 0] == pytest.approx(3.0)  # the mean of 1, 3, 5


@given(seeds)
def test_what_donors_count_sums_to_one(seed: int) -> None:
    rng, n_donors, n_features, _, _ = case(seed)
    weights = rng.random(n_donors) + 0.01
    counts = reference.ridge_weights(
        rng.normal(size=n_features),
        np.ones(n_features, dtype=bool),
        np.ones(n_features),
        weights / weights.sum(),
        rng.normal(size=(n_donors, n_features)),
        0.1,
    )
    assert counts.sum() == pytest.approx(1.0)
