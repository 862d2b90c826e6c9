"""The compiled kernels give the reference's answer, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Rows, scaled_rows

from greyfill._search import kernels, reference
from greyfill._search.pool import BLOCK, build_pool
from greyfill.table import Floats, Ints


def slow_search(rows: Rows, own_rows: Ints, k: int, rho: float | None) -> tuple[Ints, Floats]:
    """Nearest donors of every row, by the reference kernels."""
    found = []
    for row, own in enumerate(own_rows):
        pair = (rows.values[row], rows.missing[row], rows.values, rows.missing,
                rows.is_categorical, rows.weights)  # fmt: skip
        distances = (
            reference.heom_distances(*pair)
            if rho is None
            else reference.grey_distances(*pair, rho, own)
        )
        found.append(reference.nearest(distances, k, own))
    return np.array([r for r, _ in found]), np.array([d for _, d in found])


def fast_search(rows: Rows, own_rows: Ints, k: int, rho: float | None) -> tuple[Ints, Floats]:
    pool = build_pool(rows.values, rows.missing, rows.is_categorical, rows.weights)
    queries = (pool, rows.values, rows.missing, own_rows, rows.weights)
    return kernels.nearest_donors(*queries, k, rho)


@pytest.mark.parametrize("rho", [None, 0.5, 0.01])
@given(rows=scaled_rows(), data=st.data())
def test_search_equals_reference(rho: float | None, rows: Rows, data: st.DataObject) -> None:
    n = len(rows.values)
    outside = data.draw(st.booleans())
    own_rows = np.full(n, -1) if outside else np.arange(n)
    k = data.draw(st.integers(1, n if outside else n - 1))
    slow_rows, slow_distances = slow_search(rows, own_rows, k, rho)
    fast_rows, fast_distances = fast_search(rows, own_rows, k, rho)
    assert fast_distances.tolist() == slow_distances.tolist()
    assert fast_rows.tolist() == slow_rows.tolist()


@pytest.mark.parametrize("rho", [None, 0.5])
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-9, 1e-200])
def test_search_over_several_blocks(rho: float | None, spread: float) -> None:
    """Differences far below what float32 can tell apart are still ordered exactly."""
    rng = np.random.default_rng(5)
    n, p = 2 * BLOCK + 77, 7
    values = 0.3 + spread * rng.random((n, p)) if spread > 1e-100 else spread * rng.random((n, p))
    missing = rng.random((n, p)) < 0.2
    rows = Rows(np.where(missing, 0.0, values), missing, np.zeros(p, bool), np.full(p, 1 / p))
    queries = np.arange(n)
    slow_rows, slow_distances = slow_search(rows, queries[:40], 12, rho)
    fast_rows, fast_distances = fast_search(rows, queries, 12, rho)
    assert fast_distances[:40].tolist() == slow_distances.tolist()
    assert fast_rows[:40].tolist() == slow_rows.tolist()


@given(rows=scaled_rows())
def test_extremes_equal_reference(rows: Rows) -> None:
    pool = build_pool(rows.values, rows.missing, rows.is_categorical, rows.weights)
    for row, own in [(0, 0), (0, -1), (1, 1)]:
        slow = reference.grey_extremes(
            rows.values[row], rows.missing[row], rows.values, rows.missing, rows.is_categorical, own
        )
        one = slice(row, row + 1)
        low, high = kernels.grey_extremes(
            pool, rows.values[one], rows.missing[one], np.array([own])
        )[0]
        assert (0.0 if low == np.inf else low, high) == slow


@given(rows=scaled_rows(), seed=st.integers(0, 10**6))
def test_fills_equal_reference(rows: Rows, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = rows.values.shape
    k = int(rng.integers(1, 6))
    slots, columns = rng.integers(0, 4, 10), rng.integers(0, p, 10)
    donors = rng.integers(0, n, (4, k))
    weights = rng.integers(0, 3, (4, k)) / 2.0
    weights[:, 0] = 1.0
    values = np.where(rows.is_categorical, rows.values, rng.random((n, p)))
    filled = kernels.fill_cells(
        values, rows.is_categorical, slots, columns, donors, weights, 2.0 * weights, 3
    )
    for c, (slot, column) in enumerate(zip(slots, columns, strict=True)):
        given_values = values[donors[slot], column]
        if rows.is_categorical[column]:
            expected = reference.vote(given_values, 2.0 * weights[slot])
        else:
            expected = reference.average(given_values, weights[slot])
        assert filled[c] == expected


@given(rows=scaled_rows(), seed=st.integers(0, 10**6))
def test_written_cells_and_their_largest_change(rows: Rows, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.flatnonzero(rows.missing)
    slots, columns = np.divmod(cells, rows.missing.shape[1])
    old = rng.integers(0, 3, rows.values.shape) / np.where(rows.is_categorical, 1.0, 2.0)
    fresh = rng.integers(0, 3, len(cells)) / np.where(rows.is_categorical[columns], 1.0, 2.0)
    backwards = np.arange(len(old))[::-1].copy()  # slot s is row n − 1 − s
    written = old.copy()
    change = kernels.write_cells(written, rows.is_categorical, backwards, slots, columns, fresh)
    expected = old.copy()
    expected[backwards[slots], columns] = fresh
    assert written.tolist() == expected.tolist()
    moved = np.abs(expected - old)
    assert change == np.where(rows.is_categorical, moved > 0.0, moved).max(initial=0.0)


@given(rows=scaled_rows(), seed=st.integers(0, 10**6))
def test_cells_with_a_donor_that_was_missing(rows: Rows, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = rows.missing.shape
    slots, columns, donors = (
        rng.integers(0, 4, 10),
        rng.integers(0, p, 10),
        rng.integers(0, n, (4, 3)),
    )
    expected = rows.missing[donors[slots], columns[:, np.newaxis]].any(axis=1)
    assert kernels.any_missing(rows.missing, slots, columns, donors).tolist() == expected.tolist()


@pytest.mark.parametrize("rho", [None, 0.5])
@pytest.mark.parametrize("k", [1, 70])
def test_many_ties_rank_by_row_number(rho: float | None, k: int) -> None:
    """Thousands of donors tie for the k places; the first rows get them."""
    n = 2 * BLOCK + 5
    values = (np.arange(n) % 3 == 0).astype(float)[:, np.newaxis]  # a third equals the query
    rows = Rows(values, np.zeros((n, 1), bool), np.array([True]), np.ones(1))
    pool = build_pool(rows.values, rows.missing, rows.is_categorical, rows.weights)
    query = (pool, np.ones((1, 1)), np.zeros((1, 1), bool), np.array([6]), rows.weights)
    found, distances = kernels.nearest_donors(*query, k, rho)
    assert found[0].tolist() == [3 * i for i in range(k + 1) if i != 2][:k]
    assert (distances == 0.0).all()
