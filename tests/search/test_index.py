"""The pruned search finds what the reference finds, and it does prune."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greyfill._search import kernels, losses, reference
from greyfill._search.distances import kd_order, value_of_rank
from greyfill._search.pool import BLOCK, FAR, LEAF, DonorPool, build_pool, coarse_cells
from greyfill._search.scan import search
from greyfill.table import Bools, Floats


def many_rows(seed: int, n: int, levels: int, grid: int) -> tuple[Floats, Bools, Bools]:
    """Six numbers on a grid and two categories, with holes; coarse grids make ties."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, grid + 1, (n, 6)) / grid
    codes = rng.integers(0, levels, (n, 2)).astype(float)
    values = np.column_stack([numbers, codes])
    missing = rng.random(values.shape) < 0.15
    is_categorical = np.array([False] * 6 + [True] * 2)
    return np.where(missing, 0.0, values), missing, is_categorical


def run_search(
    pool: DonorPool, weights: Floats, k: int, rho: float | None, queries: int, prune: bool = True
) -> tuple[Floats, Floats, float]:
    rows, distances = np.empty((queries, k), np.intp), np.empty((queries, k))
    visited = search(
        rho is not None, np.where(np.isinf(pool.values), 0.0, pool.values)[:queries],
        np.isinf(pool.values)[:queries], np.arange(queries), pool,
        weights, np.argsort(-weights), rho or 0.5, prune, np.empty((queries, 0)),
        rows, distances,
    )  # fmt: skip
    return rows, distances, visited


@pytest.mark.parametrize("rho", [None, 0.5])
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    cut=st.integers(1, 2 * BLOCK),
    grid=st.sampled_from([3, 10**6]),
    k=st.integers(1, 20),
)
def test_parts_of_a_pool_find_what_the_whole_finds(
    rho: float | None, seed: int, cut: int, grid: int, k: int
) -> None:
    values, missing, is_categorical = many_rows(seed, 2 * BLOCK + 60, 4, grid)
    weights = np.full(8, 1 / 8)
    queries, own = slice(0, 20), np.arange(20)
    whole = build_pool(values, missing, is_categorical, weights)
    rows, distances, _ = run_search(whole, weights, k, rho, 20)
    spans = [(0, cut), (cut, len(values))]
    pools = [build_pool(values[a:b], missing[a:b], is_categorical, weights) for a, b in spans]
    owns = [np.where((own >= a) & (own < b), own - a, -1) for a, b in spans]
    asked = (values[queries], missing[queries])
    each = [kernels.grey_extremes(p, *asked, o) for p, o in zip(pools, owns, strict=True)]
    extremes = np.column_stack(
        [np.minimum(each[0][:, 0], each[1][:, 0]), np.maximum(each[0][:, 1], each[1][:, 1])]
    )
    met_rows, met = np.full((20, k), -1), np.full((20, k), np.inf)
    for (start, _), pool, mine in zip(spans, pools, owns, strict=True):
        here = min(k, len(pool.values))
        ends = None if rho is None else extremes
        found = kernels.nearest_donors(pool, *asked, mine, weights, here, rho, ends)
        both_rows = np.hstack([met_rows, found[0] + start])
        both = np.hstack([met, found[1]])
        order = np.lexsort((both_rows, both), axis=1)[:, :k]
        met_rows = np.take_along_axis(both_rows, order, axis=1)
        met = np.take_along_axis(both, order, axis=1)
    assert met.tolist() == distances.tolist()
    assert met_rows.tolist() == rows.tolist()


@pytest.mark.parametrize("rho", [None, 0.5])
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    levels=st.sampled_from([2, 5, 200]),
    grid=st.sampled_from([3, 10**6]),
    skew=st.sampled_from([0.0, 1.0, 4.0]),
    k=st.integers(1, 30),
)
def test_pruned_search_equals_reference(
    rho: float | None, seed: int, levels: int, grid: int, skew: float, k: int
) -> None:
    values, missing, is_categorical = many_rows(seed, 3 * BLOCK + 11, levels, grid)
    raw = np.random.default_rng(seed).random(8) ** skew
    weights = raw / raw.sum()
    pool = build_pool(values, missing, is_categorical, weights)
    queries = 25  # more than the trial, so that both ways of scanning are met
    rows, distances, _ = run_search(pool, weights, k, rho, queries)
    for q in range(queries):
        row = (values[q], missing[q], values, missing, is_categorical, weights)
        slow = (
            reference.heom_distances(*row)
            if rho is None
            else reference.grey_distances(*row, rho, q)
        )
        slow_rows, slow_distances = reference.nearest(slow, k, q)
        assert distances[q].tolist() == slow_distances.tolist()
        assert rows[q].tolist() == slow_rows.tolist()


@pytest.mark.parametrize("rho", [None, 0.5])
def test_boxes_skip_most_donors_under_skewed_weights(rho: float | None) -> None:
    values, missing, is_categorical = many_rows(0, 40 * BLOCK, 4, 10**6)
    weights = np.array([0.6, 0.3, 0.02, 0.02, 0.02, 0.02, 0.01, 0.01])
    pool = build_pool(values, missing, is_categorical, weights)
    _, _, visited = run_search(pool, weights, 10, rho, 64)
    assert visited < 0.2


def test_hopeless_pruning_is_given_up() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((20 * BLOCK, 20))
    whole, weights = np.zeros(values.shape, bool), np.full(20, 0.05)
    pool = build_pool(values, whole, np.zeros(20, bool), weights)
    pruned = run_search(pool, weights, 5, 0.5, 40)
    plain = run_search(pool, weights, 5, 0.5, 40, prune=False)
    assert pruned[2] > 0.9
    assert plain[2] == 1.0
    assert pruned[0].tolist() == plain[0].tolist()
    assert pruned[1].tolist() == plain[1].tolist()


def unskewed_rows(seed: int, n: int, power: float) -> tuple[Floats, Bools, Bools]:
    """Mixtures of three numbers, crowded at 0 by a power, a constant and a category, with holes."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 9)) + 0.1 * rng.normal(size=(n, 9))
    numbers = ((mixed - mixed.min(axis=0)) / np.ptp(mixed, axis=0)) ** power
    values = np.column_stack([numbers, np.full(n, 0.7), rng.integers(0, 300, n)])
    missing = rng.random(values.shape) < 0.2
    missing[0], missing[1, 1:] = True, True
    return np.where(missing, 0.0, values), missing, np.arange(11) == 10


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6),
    power=st.sampled_from([1.0, 3.0, 20.0]),
    faint=st.sampled_from([0.0, 1e-9, 0.08]),
    rho=st.sampled_from([0.01, 0.5, 1.0]),
    k=st.integers(1, 12),
)
def test_coarse_search_equals_reference(
    seed: int, power: float, faint: float, rho: float, k: int
) -> None:
    values, missing, is_categorical = unskewed_rows(seed, 4 * BLOCK + 7, power)
    weights = np.array([0.1] * 9 + [faint, 0.1])
    pool = build_pool(values, missing, is_categorical, weights)
    rows, distances, _ = run_search(pool, weights, k, rho, 16)
    for q in range(16):
        row = (values[q], missing[q], values, missing, is_categorical, weights)
        slow = reference.nearest(reference.grey_distances(*row, rho, q), k, q)
        assert distances[q].tolist() == slow[1].tolist()
        assert rows[q].tolist() == slow[0].tolist()


def test_coarse_cells_skip_most_leaves_where_boxes_do_not() -> None:
    values, missing, is_categorical = unskewed_rows(0, 10 * BLOCK, 1.0)
    weights = np.full(11, 1 / 11)
    pool = build_pool(values, missing, is_categorical, weights)
    assert run_search(pool, weights, 5, 0.5, 4)[2] > 0.4  # boxes alone
    assert run_search(pool, weights, 5, 0.5, 256)[2] < 0.4


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    power=st.sampled_from([1.0, 4.0]),
    rho=st.sampled_from([0.001, 0.1, 0.5, 1.0]),
    head=st.integers(1, 11),
)
def test_no_score_is_above_its_coarse_bound(seed: int, power: float, rho: float, head: int) -> None:
    values, missing, is_categorical = unskewed_rows(seed, 60, power)
    weights = np.random.default_rng(seed).random(11) ** 2
    row, columns = 1.2 * values[5] - 0.1, np.arange(11, dtype=np.uintp)
    row[10] = values[6, 10]
    cells = np.where(missing, FAR, values).astype(np.float32)
    apart = np.abs(row - values)
    low, offset = apart[:, :10].min(), rho * apart[:, :10].max()
    grades = np.where(is_categorical, apart == 0.0, (low + offset) / (apart + offset))
    scores = (weights * np.where(missing, 0.0, grades)).sum(axis=1)
    shapes = (np.uint8, np.uint16, np.uint8, np.uint8)
    query = losses.Losses(*(np.zeros(11, kind) for kind in shapes))
    full, unit = losses.read_losses.py_func(
        row, columns, head, is_categorical, weights, low + offset, offset, query
    )
    lost = np.zeros(60, np.uint16)
    coarse = np.ascontiguousarray(coarse_cells(cells, is_categorical).T)[np.newaxis]
    losses.add_losses.py_func(columns, head, coarse, *query, lost)
    assert (scores <= full - lost / unit + 1e-9).all()
    assert query.factors[:head].astype(int) @ query.holes[:head] <= losses.MOST


@given(
    seed=st.integers(0, 10**6),
    most=st.sampled_from([3, 500, losses.MOST]),
    limits=st.tuples(st.integers(-1, losses.MOST), st.integers(0, losses.MOST)),
    n=st.integers(1, 2 * LEAF),
)
def test_donors_within_a_limit_are_listed(
    seed: int, most: int, limits: tuple[int, int], n: int
) -> None:
    above, limit = min(limits) - (limits[0] == limits[1]), max(limits)
    lost = np.random.default_rng(seed).integers(0, most, 2 * LEAF, endpoint=True).astype(np.uint16)
    hits, places = np.zeros(2 * LEAF, np.uint8), np.empty(n + 1, np.intp)
    words = hits.view(np.uint64)
    with np.errstate(over="ignore"):
        count = losses.list_within.py_func(lost, n, above, limit, hits, words, places)
    assert places[:count].tolist() == [i for i in range(n) if above < lost[i] <= limit]


@given(seed=st.integers(0, 10**6), n=st.integers(1, 3 * BLOCK))
@settings(max_examples=20)
def test_order_holds_every_donor_once(seed: int, n: int) -> None:
    values, missing, is_categorical = many_rows(seed, n, 3, 2)
    cells = np.where(missing, FAR, values).astype(np.float32)
    order = kd_order(cells, is_categorical, np.full(8, 0.125))
    assert sorted(order.tolist()) == list(range(n))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_boxes_hold_their_donors(seed: int) -> None:
    values, missing, is_categorical = many_rows(seed, BLOCK + 100, 90, 50)
    pool = build_pool(values, missing, is_categorical, np.full(8, 0.125))
    for place, donor in enumerate(pool.rows):
        block, leaf = place // BLOCK, place % BLOCK // 64
        for j in np.flatnonzero(~missing[donor]):
            cell = np.float32(values[donor, j])
            if is_categorical[j]:
                bit = np.uint64(1) << np.uint64(int(cell) % 64)
                assert pool.leaf_boxes.codes[block, j, leaf] & bit
                assert pool.block_boxes.codes[j, block] & bit
            else:
                assert pool.leaf_boxes.low[block, j, leaf] <= cell
                assert cell <= pool.leaf_boxes.high[block, j, leaf]
                assert pool.block_boxes.low[j, block] <= cell <= pool.block_boxes.high[j, block]


@given(
    keys=st.lists(st.floats(-5, 5, width=32) | st.sampled_from([0.0, 1.0]), min_size=1),
    place=st.floats(0, 1, exclude_max=True),
)
def test_value_of_rank_is_that_of_the_sorted_keys(keys: list[float], place: float) -> None:
    rank = int(place * len(keys))
    assert value_of_rank(np.array(keys, dtype=np.float32), rank) == sorted(keys)[rank]


@pytest.mark.parametrize("order", ["rising", "falling", "equal", "organ pipe"])
def test_selection_stays_quick_on_orders_that_people_have(order: str) -> None:
    rising = np.arange(200_000, dtype=np.float32)  # quadratic work would take minutes
    keys = {
        "rising": rising,
        "falling": rising[::-1].copy(),
        "equal": np.zeros_like(rising),
        "organ pipe": np.minimum(rising, rising[::-1]),
    }[order]
    expected = np.partition(keys, 70_000)[70_000]
    assert value_of_rank(keys.copy(), 70_000) == expected
