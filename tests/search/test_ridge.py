"""The compiled regressions against plain numpy, and both against cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greyfill._grey.donor_table import FeatureMap
from greyfill._search import histogram, lists, panel, reference, ridge
from greyfill._search.ridge import NOTHING
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
        "queries": queries, "missing": rng.random((n_queries, p)) < 0.3,
        "columns": np.arange(p), "own": own,
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
    donors, starts = given["donors"].T, given["starts"]
    class_weights, ranges = np.array([0.3, 0.1, 0.0]), np.stack([starts[:-1], starts[1:]], axis=1)
    ranges[1] = 0, len(donors)  # a class that takes all donors for its own
    rows, distances = lists.neighbor_lists(
        *given.values(), class_weights, ranges, relevances, splits, 0.5, k
    )
    is_categorical = np.arange(donors.shape[1]) >= given["limits"].shape[1]
    for q, label in enumerate(given["labels"]):
        of_class = (np.arange(len(donors)) >= starts[label]) & (
            np.arange(len(donors)) < starts[label + 1]
        )
        taken = (np.arange(len(donors)) >= ranges[label, 0]) & (
            np.arange(len(donors)) < ranges[label, 1]
        )
        for pair, (relevance, split) in enumerate(zip(relevances, splits, strict=True)):
            expected = reference.neighbor_list(
                given["queries"][q], given["missing"][q], donors, is_categorical,
                given["weights"][relevance], None if split or label < 0 else of_class,
                class_weights[label], given["own"][q],
            )  # fmt: skip
            if split:
                expected = np.where(taken & (label >= 0), expected, np.inf)
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
        np.array([[0.7]]), whole, np.array([0]), np.array([2]), np.array([-1]), np.array([0]),
        donors, np.array([[0.2], [0.7]]), np.arange(6) * 10, np.array([0, 6]),
        np.array([[1.0], [0.0], [0.0]]), np.zeros(1), np.array([[0, 6]]), np.array([0]),
        np.array([False]), 0.5, 4,
    )  # fmt: skip
    assert rows[0, 0].tolist() == [10, 40, 0, 30]  # never itself, which is row 20
    assert distances[0, 0, :2].tolist() == [0.0, 0.0]


@given(seeds, st.booleans())
def test_the_nearest_of_many_donors_are_those_of_a_stable_sort(seed: int, tied: bool) -> None:
    """A sample tells how far they reach; it may tell too little, as where it misses all of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(300, 900))
    cells = np.where(rng.random(n) < 0.05, 0.5 + rng.random(n) * 1e-3, rng.random(n))
    if tied:
        cells = cells.round(1)
    given = {
        "values": np.array([[0.5]]), "missing": np.zeros((1, 1), dtype=bool),
        "columns": np.array([0]), "own": np.array([7]), "labels": np.array([-1]),
        "sources": np.array([0]), "donors": cells[np.newaxis],
        "limits": np.array([[cells.min()], [cells.max()]]), "rows": np.arange(n),
        "starts": np.array([0, n]), "weights": np.array([[1.0], [0.0], [0.0]]),
    }  # fmt: skip
    pair = np.array([0, -1]), np.array([False, False])  # the second is left empty
    rows, distances = lists.neighbor_lists(
        *given.values(), np.zeros(1), np.array([[0, n]]), *pair, 0.5, 40
    )
    others = np.delete(np.arange(n), 7)
    order = others[np.argsort(np.abs(cells[others] - 0.5).round(13), kind="stable")[:40]]
    found = rows[0, 0]
    np.testing.assert_allclose(np.abs(cells[found] - 0.5), np.abs(cells[order] - 0.5), atol=1e-11)
    assert (np.diff(distances[0, 0]) >= 0).all()
    assert len(set(found.tolist())) == 40
    same = np.diff(distances[0, 0]) == 0
    assert (np.diff(found)[same] > 0).all()
    assert np.isinf(distances[0, 1]).all()


def test_classes_of_one_row_share_its_sweep_and_change_nothing() -> None:
    given = swept(np.random.default_rng(3))
    given |= {name: np.repeat(given[name][:1], 3, axis=0) for name in ("queries", "missing", "own")}
    given |= {"labels": np.arange(3), "sources": np.arange(3)}
    starts = given["starts"]
    of_classes = np.full(3, 0.3), np.stack([starts[:-1], starts[1:]], axis=1)
    pairs = *of_classes, np.array([0, 1]), np.array([False, True]), 0.5, 5
    apart = lists.neighbor_lists(*given.values(), *pairs)
    together = lists.neighbor_lists(*(given | {"sources": np.zeros(3, int)}).values(), *pairs)
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_array_equal(one, other)


def predicted(**given: np.ndarray) -> np.ndarray:
    """What the kernel of a panel predicts; what is not given has no rows."""
    tables = {"means": 4, "local": 5, "common": 12, "fits": 2}
    nothing = {name: np.zeros((0, width), dtype=np.intp) for name, width in tables.items()}
    owners, queries = np.arange(given["features"].shape[2]), given["features"].shape[1]
    floats = ("multipliers", "ridges", "scales", "counts", "middles", "centers", "inverses")
    nothing |= dict.fromkeys((*floats, "slopes", "fallback", "shares"), np.zeros(0))
    nothing |= {
        "rows": np.zeros((queries, 0, 0), dtype=np.intp), "distances": np.zeros((queries, 0, 0)),
        "own_targets": np.zeros((0, 0)), "groups": np.full(queries, -1),
        "places": np.zeros(0, dtype=np.intp), "donors": np.zeros((0, 0)),
        "sources": np.zeros(0, dtype=np.intp), "n_sources": 0,
    }  # fmt: skip
    names = (
        "features", "missing", "owners", "groups", "own_targets", "slots", "n_slots", "rows",
        "distances", "donors", "multipliers", "targets", "softening", "means", "local", "common",
        "fits", "ridges", "places", "scales", "counts", "middles", "centers", "inverses", "slopes",
        "fallback", "sources", "shares", "n_sources",
    )  # fmt: skip
    whole = nothing | {"owners": owners, "softening": 1e-6} | given
    whole["n_slots"] = int(whole["slots"].max()) + 1
    return np.asarray(panel.panel_predictions(*(whole[name] for name in names)))


@given(seeds)
def test_means_of_lists_equal_the_reference(seed: int) -> None:
    rng, n_donors, _, n_targets, n_queries = case(seed)
    targets, multipliers = rng.normal(size=(n_donors, n_targets)), rng.random(n_donors) + 0.1
    rows = rng.integers(0, n_donors, size=(n_queries, 2, 6))
    distances = np.sort(rng.random((n_queries, 2, 6)), axis=2)
    distances[:, 1, 4:] = np.inf
    means = np.array([[0, 0, 3, 1], [1, 1, 6, 1], [2, 1, 4, 0], [3, 0, 2, 0]])
    given = {
        "features": np.zeros((2, n_queries, 0)), "missing": np.zeros((n_queries, 0), dtype=bool),
        "multipliers": multipliers, "targets": targets, "means": means, "rows": rows,
        "slots": np.array([1, 0, 2, -1]),  # the last is not wanted
    }  # fmt: skip
    found = predicted(**given, distances=distances)
    assert found.shape == (n_queries, 3, n_targets)
    for q in range(n_queries):
        for slot, (_, pair, k, by_distance) in zip((1, 0, 2), means, strict=False):
            of_list = rows[q, pair, :k], distances[q, pair, :k]
            softening = 1e-6 if by_distance else None
            expected = reference.list_mean(*of_list, multipliers, targets, softening)
            np.testing.assert_allclose(found[q, slot], expected, atol=1e-12)
    assert (predicted(**given, distances=np.full_like(distances, np.inf)) == NOTHING).all()


def local_case(ks: list[int], ridges: list[float], **given: np.ndarray) -> dict[str, np.ndarray]:
    """Fits of one family on neighbors, each in a slot of its own."""
    family = np.array([[0, 0, len(given["places"]), 0, len(ks)]])
    fits = np.column_stack([np.arange(len(ks)), ks])
    return given | {
        "local": family, "fits": fits, "ridges": np.array(ridges), "slots": np.arange(len(ks)),
        "features": np.stack([given["features"]] * 2),
        "rows": given["rows"][:, np.newaxis], "distances": given["distances"][:, np.newaxis],
    }  # fmt: skip


@given(seeds)
def test_local_regressions_equal_the_reference(seed: int) -> None:
    rng, n_donors, n_features, n_targets, n_queries = case(seed)
    rows = np.stack([rng.permutation(n_donors) for _ in range(n_queries)])
    distances = np.where(np.arange(n_donors) < n_donors - 1, 0.5, np.inf) * np.ones(rows.shape)
    features, places = rng.normal(size=(n_donors, 9)), rng.permutation(9)[:n_features]
    queries, missing = rng.normal(size=(n_queries, 9)), rng.random((n_queries, 9)) < 0.3
    scales = rng.random(n_features) * (rng.random(n_features) < 0.8)
    targets, multipliers = rng.normal(size=(n_donors, n_targets)), rng.random(n_donors) + 0.1
    ks, ridges = [2, 3, 3, 40], [1.0, 1e-2, 1.0, 1e-2]
    found = predicted(
        **local_case(
            ks, ridges, features=queries, missing=missing, donors=features, places=places,
            scales=scales, rows=rows, distances=distances, multipliers=multipliers, targets=targets,
        )
    )  # fmt: skip
    assert (found[:, 0] == NOTHING).all()  # two donors are too few
    for q in range(n_queries):
        for m in range(1, 4):
            near = rows[q, : min(ks[m], n_donors - 1)]
            known = queries[q, places], ~missing[q, places], scales, multipliers[near]
            expected = reference.donors_ridge(
                *known, features[np.ix_(near, places)], targets[near], ridges[m]
            )
            expected = reference.within_reach(expected, targets[near])
            np.testing.assert_allclose(found[q, m], expected, rtol=1e-7, atol=1e-7)


def fitted(
    features: np.ndarray, targets: np.ndarray, starts: np.ndarray, multipliers: np.ndarray,
    places: np.ndarray, scales: np.ndarray, ridges: np.ndarray,
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:  # fmt: skip
    """One family of regressions by class on all rows, in the second form: its table, and fits."""
    kept, n_groups = np.flatnonzero(scales), len(starts) - 1
    size, n_fits = len(kept), len(starts[1:]) * len(ridges) * len(kept)
    table = np.array([[1, 1, 0, size, len(ridges), 0, len(ridges) + 1, 0, 0, 0, 0, 0]])
    sizes = np.array([n_groups, n_groups * size, n_fits * size, n_fits * targets.shape[1]])
    found = ridge.donor_fits(
        np.stack([np.zeros_like(features), features]), targets, np.arange(len(features)),
        np.stack([starts[:-1], starts[1:]], axis=1), multipliers, np.array([[1, 1]]),
        np.array([0, len(places)]), places, table, kept, scales[kept], ridges, sizes,
    )  # fmt: skip
    return table, found


@pytest.mark.parametrize("n_donors", [12, 2 * ridge.BLOCK + 17])
@pytest.mark.parametrize("n_features", [3, 40])  # the latter are solved by donors
def test_fits_of_groups_equal_the_reference(n_donors: int, n_features: int) -> None:
    rng = np.random.default_rng(n_donors + n_features)
    features, targets = rng.normal(size=(n_donors, n_features + 2)), rng.normal(size=(n_donors, 2))
    places, multipliers = rng.permutation(n_features + 2)[:n_features], rng.random(n_donors) + 0.1
    starts = np.array([0, n_donors // 3, n_donors // 3, n_donors])  # the second group is empty
    scales, ridges = rng.random(n_features) + 0.1, np.array([1e-2, 1.0])
    scales[0] = 0.0
    _, (counts, middles, centers, inverses, slopes) = fitted(
        features, targets, starts, multipliers, places, scales, ridges
    )
    given = features, places, targets, np.arange(n_donors), multipliers, starts
    n, middle, center, products, cross = reference.moments(*given)
    np.testing.assert_allclose(counts, n)
    np.testing.assert_allclose(middles, middle[:, 1:].ravel(), atol=1e-9)
    np.testing.assert_allclose(centers, center.ravel(), atol=1e-9)
    size, per_donor = n_features - 1, 1 / np.maximum(n, 1.0)[:, np.newaxis, np.newaxis]
    gram = products[:, 1:, 1:] * scales[1:, np.newaxis] * scales[1:] * per_donor
    penalty = ridges[:, np.newaxis, np.newaxis] * np.eye(size)
    inverse = np.linalg.inv(gram[:, np.newaxis] + penalty)
    np.testing.assert_allclose(inverses.reshape(inverse.shape), inverse, rtol=1e-6, atol=1e-7)
    slope = inverse @ (cross[:, 1:] * scales[1:, np.newaxis] * per_donor)[:, np.newaxis]
    np.testing.assert_allclose(slopes.reshape(slope.shape), slope, rtol=1e-6, atol=1e-7)


@given(seeds, st.booleans())
def test_common_regressions_equal_the_reference(seed: int, leave_out: bool) -> None:
    rng, n_donors, n_features, n_targets, n_queries = case(seed)
    n_donors += 8
    features, places = rng.normal(size=(n_donors, n_features + 1)), np.arange(n_features) + 1
    targets = rng.normal(size=(n_donors, n_targets))
    starts = np.array([0, n_donors // 2, n_donors])
    own = rng.integers(0, n_donors, size=n_queries) if leave_out else np.full(n_queries, -1)
    queries = features[own] if leave_out else rng.normal(size=(n_queries, n_features + 1))
    groups = (own >= starts[1]).astype(int) if leave_out else rng.integers(-1, 2, size=n_queries)
    missing = rng.random(queries.shape) < 0.3
    scales, ridges = rng.random(n_features) + 0.1, np.array([1e-2, 1.0])
    table, (counts, middles, centers, inverses, slopes) = fitted(
        features, targets, starts, np.zeros(0), places, scales, ridges
    )
    found = predicted(
        features=np.stack([np.zeros_like(queries), queries]), missing=missing, groups=groups,
        own_targets=targets[own] if leave_out else np.zeros((0, n_targets)),
        slots=np.array([2, 1, 0]), targets=targets, places=places, scales=scales, counts=counts,
        common=table, fits=np.array([[0, -1], [1, 1], [2, 0]]), middles=middles, centers=centers,
        inverses=inverses, slopes=slopes,
    )  # fmt: skip
    for q, group in enumerate(groups):
        if group < 0:
            assert (found[q] == NOTHING).all()
            continue
        donors = np.setdiff1d(np.arange(starts[group], starts[group + 1]), [own[q]])
        even = np.ones(len(donors))
        known = queries[q, places], ~missing[q, places], scales, even
        # the penalty stays that of all donors when one of them is left out
        share = (len(donors) + leave_out) / len(donors)
        for r, penalty in enumerate(ridges):
            given = *known, features[np.ix_(donors, places)], targets[donors]
            expected = reference.donors_ridge(*given, penalty * share)
            np.testing.assert_allclose(found[q, r], expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found[q, 2], targets[donors].mean(axis=0), atol=1e-9)


@given(seeds)
def test_mixtures_of_panels_equal_plain_sums(seed: int) -> None:
    """Means of the candidates that have donors, else the fallback, summed by share and source."""
    rng, n_donors, _, n_targets, n_queries = case(seed)
    rows = rng.integers(0, n_donors, size=(n_queries, 2, 3))
    distances = np.where(rng.random((n_queries, 2, 1)) < 0.4, np.inf, 0.5) * np.ones(rows.shape)
    given = {
        "features": np.zeros((2, n_queries, 0)), "missing": np.zeros((n_queries, 0), dtype=bool),
        "targets": rng.normal(size=(n_donors, n_targets)), "rows": rows, "distances": distances,
        "means": np.array([[0, 0, 3, 0], [1, 1, 2, 0]]), "slots": np.arange(2),
    }  # fmt: skip
    found, fallback = predicted(**given), rng.normal(size=n_targets)
    there = (found > NOTHING).any(axis=2)
    means = np.array([
        row[kept].mean(axis=0) if kept.any() else fallback
        for row, kept in zip(found, there, strict=True)
    ])  # fmt: skip
    sources, shares = np.sort(rng.integers(0, 3, size=n_queries)), rng.random(n_queries)
    mixture = (sources == np.arange(3)[:, np.newaxis]) * shares @ means
    by_source = predicted(**given, fallback=fallback, sources=sources, shares=shares, n_sources=3)
    np.testing.assert_allclose(by_source[:, 0], mixture, atol=1e-12)


def test_many_features_are_solved_like_few() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 8, 9, 30):
        side, n = rng.normal(size=size), size + 3
        features, targets = rng.normal(size=(n, size)), rng.normal(size=(n, 1))
        found = predicted(
            **local_case(
                [n], [0.1], features=side[np.newaxis], missing=np.zeros((1, size), bool),
                donors=features, places=np.arange(size), scales=np.ones(size),
                rows=np.arange(n)[np.newaxis], distances=np.zeros((1, n)), targets=targets,
            )
        )  # fmt: skip
        everything = side, np.ones(size, bool), np.ones(size), np.ones(n), features, targets
        expected = reference.within_reach(reference.donors_ridge(*everything, 0.1), targets)
        np.testing.assert_allclose(found[0, 0], expected, rtol=1e-7, atol=1e-7)


def test_a_line_is_continued_and_a_large_penalty_leaves_the_mean() -> None:
    features, targets = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    found = predicted(
        **local_case(
            [3, 3], [1e-9, 1e9], features=np.array([[2.5]]), missing=np.zeros((1, 1), dtype=bool),
            donors=features, places=np.array([0]), scales=np.ones(1), rows=np.array([[0, 1, 2]]),
            distances=np.zeros((1, 3)), targets=targets,
        )
    )  # fmt: skip
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
    found = learned.of(rows)
    written = np.zeros_like(found)
    for j, c in enumerate(learned.columns):
        learned.renew(written, np.arange(5), j, rows[:, j].copy())
        for i, value in enumerate(rows[:, j]):
            of = (c.levels, c.shift, c.spread, c.knots, c.scores)
            here = slice(learned.starts[j], learned.starts[j + 1])
            for form, expected in enumerate(reference.features_of(value, *of)):
                np.testing.assert_allclose(found[form, i, here], expected, atol=1e-12)
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
