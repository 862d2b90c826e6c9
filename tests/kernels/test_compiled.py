"""The compiled kernels give the reference's answer, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Rows, scaled_rows

from greyfill._kernels import compiled, reference
from greyfill._kernels.pool import BLOCK, build_pool
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
    if rho is None:
        return compiled.heom_search(*queries, k)
    return compiled.grey_search(*queries, rho, k)


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
        low, high = compiled.grey_extremes(
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
    averages = compiled.average_cells(rows.values, slots, columns, donors, weights)
    codes = np.where(rows.is_categorical, rows.values, 0.0)
    votes = compiled.vote_cells(codes, slots, columns, donors, weights, 3)
    for c, (slot, column) in enumerate(zip(slots, columns, strict=True)):
        given_values = rows.values[donors[slot], column]
        assert averages[c] == reference.average(given_values, weights[slot])
        alone = compiled.average_rows(given_values[np.newaxis], weights[slot][np.newaxis])
        assert alone[0] == averages[c]
        assert votes[c] == reference.vote(codes[donors[slot], column], weights[slot])
