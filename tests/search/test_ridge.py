"""The compiled regressions against plain numpy, and both against cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greyfill._grey.donor_table import FORMS, FeatureMap
from greyfill._search import histogram, lists, reference, ridge
from greyfill.table import Column, Kind, Table

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
    codes = np.stack([rng.integers(-1, c, size=n) for c in n_codes])
    groups = rng.integers(0, n_groups, size=n)
    orders = np.stack([np.arange(n), rng.permutation(n)])
    firsts, seconds = rng.integers(0, p, size=(2, 6))
    arguments = codes, n_codes, groups, n_groups, firsts, seconds, orders
    expected = reference.group_information(*arguments)
    np.testing.assert_allclose(histogram.group_information(*arguments), expected, atol=1e-12)


def test_a_copy_tells_one_bit_and_only_within_its_group() -> None:
    codes = np.array([[0, 1, 0, 1], [0, 1, 0, 0]])
    groups, one = np.array([0, 0, 1, 1]), np.array([1])
    found = histogram.group_information(
        codes, np.array([2, 2]), groups, 2, np.array([0]), one, np.arange(4)[np.newaxis]
    )
    assert found == pytest.approx(0.5)  # one bit in half of the rows, none in the other half


@given(seeds)
def test_information_of_long_columns_equals_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_codes = np.array([int(rng.integers(201, 400)), int(rng.integers(1, 5)), 300])
    codes = np.stack([rng.integers(-1, c, size=60) for c in n_codes])
    codes[:, :30] = codes[:, 30:]  # so that some pairs occur more than once
    groups, orders = rng.integers(0, 2, size=60), np.stack([np.arange(60), rng.permutation(60)])
    arguments = codes, n_codes, groups, 2, np.array([0, 0, 1]), np.array([1, 2, 2]), orders
    expected = reference.group_information(*arguments)
    np.testing.assert_allclose(histogram.long_information(*arguments), expected, atol=1e-12)


def test_information_of_columns_never_known_together_is_none() -> None:
    codes, orders = np.array([[-1, 250], [0, -1]]), np.arange(2)[np.newaxis]
    groups, pair = np.zeros(2, dtype=np.intp), (np.array([0]), np.array([1]))
    for information in (histogram.group_information, histogram.long_information):
        assert information(codes, np.array([251, 1]), groups, 1, *pair, orders) == 0.0


@given(seeds)
def test_short_lists_and_votes_equal_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_levels, n_queries, k = int(rng.integers(5, 30)), int(rng.integers(0, 6)), 4
    frequent = rng.permutation(n_levels)
    size, first = int(rng.integers(1, n_levels)), int(rng.integers(0, 4))
    near = rng.integers(-1, n_levels, size=(n_queries, 7))
    listed = lists.shortlists(near, frequent, first, size)
    expected = reference.shortlists(near, frequent, first, size)
    np.testing.assert_array_equal(listed, expected.reshape(n_queries, size))
    codes, donors = rng.integers(0, n_levels, size=9), rng.integers(0, 9, size=(n_queries, k))
    weights = rng.random((n_queries, k)) * (rng.random((n_queries, k)) < 0.8)
    found = lists.local_votes(donors, weights, codes, listed)
    expected_votes = reference.local_votes(donors, weights, codes, listed)
    np.testing.assert_allclose(found, expected_votes, atol=1e-12)


def swept(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Some donors class after class, queries that may be donors, and three weightings."""
    n, p, n_queries = int(rng.integers(2, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    n_numbers = int(rng.integers(0, p + 1))
    values = np.where(
        np.arange(p) < n_numbers, rng.random((n, p)).round(1), rng.integers(0, 3, (n, p))
    )
    own = rng.integers(-1, n, size=n_queries)
    queries = np.where(own[:, None] >= 0, values[own], values[rng.integers(0, n, n_queries)][::-1])
    weights = rng.dirichlet(np.ones(p), size=3) * (rng.random((3, p)) < 0.8)
    starts = np.concatenate([[0], np.sort(rng.integers(0, n + 1, 2)), [n]])
    numbers = values[:, :n_numbers]
    return {
        "queries": queries, "missing": rng.random((n_queries, p)) < 0.3, "own": own,
        "labels": rng.integers(-1, 3, size=n_queries), "sources": np.arange(n_queries),
        "donors": np.ascontiguousarray(values.T),
        "limits": np.stack([numbers.min(axis=0), numbers.max(axis=0)]),
        "rows": rng.permutation(n), "starts": starts, "weights": weights,
    }  # fmt: skip


@given(seeds, st.sampled_from([1, 3, 7, 100]))
def test_lists_of_neighbors_equal_the_reference(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    given = swept(rng)
    relevances, splits = np.array([0, 1, 2, 0]), np.array([False, False, True, True])
    rows, distances = lists.neighbor_lists(*given.values(), 0.3, relevances, splits, 0.5, k)
    donors, starts = given["donors"].T, given["starts"]
    is_categorical = np.arange(donors.shape[1]) >= given["limits"].shape[1]
    for q, label in enumerate(given["labels"]):
        of_class = (np.arange(len(donors)) >= starts[label]) & (
            np.arange(len(donors)) < starts[label + 1]
        )
        for pair, (relevance, split) in enumerate(zip(relevances, splits, strict=True)):
            expected = reference.neighbor_list(
                given["queries"][q], given["missing"][q], donors, is_categorical,
                given["weights"][relevance], None if split or label < 0 else of_class, 0.3,
                given["own"][q],
            )  # fmt: skip
            if split:
                expected = np.where(of_class & (label >= 0), expected, np.inf)
            order = np.argsort(expected, kind="stable")[:k]
            found = np.isfinite(distances[q, pair])
            n = min(k, int(np.isfinite(expected).sum()))
            assert found.tolist() == [place < n for place in range(k)]
            np.testing.assert_allclose(distances[q, pair, :n], expected[order[:n]], atol=2e-12)
            # ties may be broken by rounding of the sums, so the rows are compared by distance
            places = np.argsort(given["rows"])[rows[q, pair, :n]]
            assert len(set(places.tolist())) == n
            np.testing.assert_allclose(expected[places], expected[order[:n]], atol=2e-12)


def test_equal_donors_are_listed_in_their_order() -> None:
    donors, whole = np.array([[0.2, 0.7, 0.7, 0.2, 0.7, 0.2]]), np.zeros((1, 1), dtype=bool)
    rows, distances = lists.neighbor_lists(
        np.array([[0.7]]), whole, np.array([2]), np.array([-1]), np.array([0]), donors,
        np.array([[0.2], [0.7]]), np.arange(6) * 10, np.array([0, 6]),
        np.array([[1.0], [0.0], [0.0]]), 0.0, np.array([0]), np.array([False]), 0.5, 4,
    )  # fmt: skip
    assert rows[0, 0].tolist() == [10, 40, 0, 30]  # never itself, which is row 20
    assert distances[0, 0, :2].tolist() == [0.0, 0.0]


def test_classes_of_one_row_share_its_sweep_and_change_nothing() -> None:
    given = swept(np.random.default_rng(3))
    given |= {name: np.repeat(given[name][:1], 3, axis=0) for name in ("queries", "missing", "own")}
    given |= {"labels": np.arange(3), "sources": np.arange(3)}
    pairs = 0.3, np.array([0, 1]), np.array([False, True]), 0.5, 5
    apart = lists.neighbor_lists(*given.values(), *pairs)
    together = lists.neighbor_lists(*(given | {"sources": np.zeros(3, int)}).values(), *pairs)
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_array_equal(one, other)


@given(seeds)
def test_means_of_lists_equal_the_reference(seed: int) -> None:
    rng, n_donors, _, n_targets, n_queries = case(seed)
    targets, multipliers = rng.normal(size=(n_donors, n_targets)), rng.random(n_donors) + 0.1
    rows = rng.integers(0, n_donors, size=(n_queries, 2, 6))
    distances = np.sort(rng.random((n_queries, 2, 6)), axis=2)
    distances[:, 1, 4:] = np.inf
    pairs, ks, by_distance = np.array([0, 1, 1]), np.array([3, 6, 4]), np.array([True, True, False])
    found = lists.list_means(rows, distances, multipliers, targets, pairs, ks, by_distance, 1e-6)
    for q in range(n_queries):
        for m in range(3):
            of_list = rows[q, pairs[m], : ks[m]], distances[q, pairs[m], : ks[m]]
            softening = 1e-6 if by_distance[m] else None
            expected = reference.list_mean(*of_list, multipliers, targets, softening)
            np.testing.assert_allclose(found[q, m], expected, atol=1e-12)
    nobody = np.full_like(distances, np.inf)
    nothing = lists.list_means(rows, nobody, multipliers, targets, pairs, ks, by_distance, 1e-6)
    assert (nothing == lists.NOTHING).all()


@given(seeds)
def test_local_regressions_equal_the_reference(seed: int) -> None:
    rng, n_donors, n_features, n_targets, n_queries = case(seed)
    rows = np.stack([rng.permutation(n_donors) for _ in range(n_queries)])
    distances = np.where(np.arange(n_donors) < n_donors - 1, 0.5, np.inf) * np.ones(rows.shape)
    features, places = rng.normal(size=(n_donors, 9)), rng.permutation(9)[:n_features]
    queries, usable = rng.normal(size=(n_queries, 9)), rng.random((n_queries, 9)) < 0.7
    scales = rng.random(n_features) * (rng.random(n_features) < 0.8)
    targets, multipliers = rng.normal(size=(n_donors, n_targets)), rng.random(n_donors) + 0.1
    ks, ridges = np.array([2, 3, 3, 40]), np.array([1.0, 1e-2, 1.0, 1e-2])
    found = ridge.local_ridges(
        queries, usable, features, places, scales, rows, distances, multipliers, targets, ks, ridges
    )
    assert (found[:, 0] == lists.NOTHING).all()  # two donors are too few
    for q in range(n_queries):
        for m in range(1, 4):
            near = rows[q, : min(ks[m], n_donors - 1)]
            known = queries[q, places], usable[q, places], scales, multipliers[near]
            expected = reference.donors_ridge(
                *known, features[np.ix_(near, places)], targets[near], ridges[m]
            )
            expected = reference.within_reach(expected, targets[near])
            np.testing.assert_allclose(found[q, m], expected, rtol=1e-7, atol=1e-7)


@given(seeds)
def test_moments_equal_the_reference(seed: int) -> None:
    rng, n_donors, n_features, n_targets, _ = case(seed)
    rows = rng.permutation(n_donors)
    arguments = (
        rng.normal(size=(n_donors, n_features + 2)),
        rng.permutation(n_features + 2)[:n_features],
        rng.normal(size=(n_donors, n_targets)),
        rows,
        rng.random(n_donors),
        np.array([0, n_donors // 3, n_donors // 3, n_donors]),  # the second group is empty
    )
    for found, part in zip(ridge.moments(*arguments), reference.moments(*arguments), strict=True):
        np.testing.assert_allclose(found, part, atol=1e-12)


def test_moments_of_many_donors_are_read_block_by_block() -> None:
    rng = np.random.default_rng(0)
    n = 2 * ridge.BLOCK + 17
    arguments = rng.normal(size=(n, 3)), np.arange(3), rng.normal(size=(n, 1)), np.arange(n)
    found = ridge.moments(*arguments, np.zeros(0), np.array([0, n]))
    expected = reference.moments(*arguments, np.ones(n), np.array([0, n]))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@given(seeds, st.booleans())
def test_common_regressions_equal_the_reference(seed: int, leave_out: bool) -> None:
    rng, n_donors, n_features, n_targets, n_queries = case(seed)
    n_donors += 8
    features, places = rng.normal(size=(n_donors, n_features + 1)), np.arange(n_features) + 1
    targets, rows = rng.normal(size=(n_donors, n_targets)), np.arange(n_donors)
    starts = np.array([0, n_donors // 2, n_donors])
    own = rng.integers(0, n_donors, size=n_queries) if leave_out else np.full(n_queries, -1)
    queries = features[own] if leave_out else rng.normal(size=(n_queries, n_features + 1))
    groups = (own >= starts[1]).astype(int) if leave_out else rng.integers(-1, 2, size=n_queries)
    usable = rng.random(queries.shape) < 0.7
    scales, ridges = rng.random(n_features) + 0.1, np.array([1e-2, 1.0])
    counts, middles, centers, products, cross = ridge.moments(
        features, places, targets, rows, np.zeros(0), starts
    )
    fits = ridge.ridge_inverses(counts, products, cross, scales, ridges)
    own_targets = targets[own] if leave_out else np.zeros((0, n_targets))
    found = ridge.common_ridges(
        queries, usable, places, scales, groups, own_targets, np.array([1, 0]), counts,
        middles.copy(), centers.copy(), *fits,
    )[:, ::-1]  # fmt: skip
    for q, group in enumerate(groups):
        if group < 0:
            assert (found[q] == lists.NOTHING).all()
            continue
        donors = np.setdiff1d(np.arange(starts[group], starts[group + 1]), [own[q]])
        even = np.ones(len(donors))
        known = queries[q, places], usable[q, places], scales, even
        # the penalty stays that of all donors when one of them is left out
        share = (len(donors) + leave_out) / len(donors)
        for r, penalty in enumerate(ridges):
            given = *known, features[np.ix_(donors, places)], targets[donors]
            expected = reference.donors_ridge(*given, penalty * share)
            np.testing.assert_allclose(found[q, r], expected, rtol=1e-6, atol=1e-6)


def test_many_features_are_solved_like_few() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(30, 30))
    for size in (1, 8, 9, 30):
        gram, side = (root @ root.T)[:size, :size] + np.eye(size), rng.normal(size=size)
        rows, apart = np.arange(size + 3)[np.newaxis], np.zeros((1, size + 3))
        assert np.linalg.cond(gram) < 1e6
        features, targets = rng.normal(size=(size + 3, size)), rng.normal(size=(size + 3, 1))
        found = ridge.local_ridges(
            side[np.newaxis], np.ones((1, size), bool), features, np.arange(size), np.ones(size),
            rows, apart, np.zeros(0), targets, np.array([size + 3]), np.array([0.1]),
        )  # fmt: skip
        everything = side, np.ones(size, bool), np.ones(size), np.ones(size + 3), features, targets
        expected = reference.within_reach(reference.donors_ridge(*everything, 0.1), targets)
        np.testing.assert_allclose(found[0, 0], expected, rtol=1e-7, atol=1e-7)


def test_a_line_is_continued_and_a_large_penalty_leaves_the_mean() -> None:
    features, targets = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    query, usable, scales = np.array([[2.5]]), np.array([[True]]), np.ones(1)
    near = np.array([[0, 1, 2]]), np.zeros((1, 3)), np.zeros(0)
    fits = targets, np.array([3, 3]), np.array([1e-9, 1e9])
    found = ridge.local_ridges(query, usable, features, np.array([0]), scales, *near, *fits)
    assert found[0, 0, 0] == pytest.approx(6.0)  # t = 1 + 2 z
    assert found[0, 1, 0] == pytest.approx(3.0)  # the mean of 1, 3, 5


@given(seeds)
def test_features_equal_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    values = np.column_stack([rng.random(n), rng.integers(0, 4, n), rng.random(n).round(1)])
    missing = rng.random(values.shape) < 0.2
    columns = (
        Column("a", Kind.NUMERIC),
        Column("b", Kind.CATEGORICAL, 4),
        Column("c", Kind.NUMERIC),
    )
    learned = FeatureMap.learn(Table(values, missing, columns))
    rows = rng.random((5, 3)) * [1.4, 0, 1.4] - [0.2, 0, 0.2]
    rows[:, 1] = rng.integers(0, 4, 5)
    for form, name in enumerate(FORMS):
        found, written = learned.of(rows, name), np.zeros((5, learned.starts[-1]))
        for j, c in enumerate(learned.columns):
            learned.renew(written, np.arange(5), j, rows[:, j].copy(), name)
            for i, value in enumerate(rows[:, j]):
                of = (c.levels, c.shift, c.spread, c.knots, c.scores)
                expected = reference.features_of(value, *of)[form]
                here = slice(learned.starts[j], learned.starts[j + 1])
                np.testing.assert_allclose(found[i, here], expected, atol=1e-12)
        np.testing.assert_array_equal(written, found)


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
