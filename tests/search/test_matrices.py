"""Matrices in the room of a kernel: both ways to have them agree with numpy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core import compiler
from numba.core.types import functions

from greyfill._search import jit, lookups, matrices

WAYS = {
    "known": (matrices.matrix, matrices._multiply, matrices._factorize),
    "plain": (matrices._plain_matrix, matrices._plain_multiply, matrices._plain_factorize),
}


def kernel(way: str):  # type: ignore[no-untyped-def]
    """The product of two matrices in one flat array, written behind them."""
    matrix, multiply, _ = WAYS[way]
    if way == "plain":
        matrix = njit(matrix)
    multiply = njit(multiply)

    @njit
    def product(room, turn_a, turn_b, m, k, n):  # type: ignore[no-untyped-def]
        a = matrix(room, 0, k if turn_a else m, m if turn_a else k)
        b = matrix(room, m * k, n if turn_b else k, k if turn_b else n)
        multiply(turn_a, turn_b, a, b, matrix(room, m * k + k * n, m, n))

    return product


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
def test_products_equal_those_of_numpy(way: str) -> None:
    product, rng = kernel(way), np.random.default_rng(3)
    sizes = [(3, 4, 2), (1, 5, 1), (4, 3, 1), (1, 3, 4), (1, 1, 1), (2, 0, 3), (0, 2, 2), (7, 9, 8)]
    for m, k, n in sizes:
        for turns in ((False, False), (True, False), (False, True), (True, True)):
            a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
            parts = [x.T if turn else x for x, turn in zip((a, b), turns, strict=True)]
            flat = [x.ravel() for x in (*parts, np.full((m, n), np.nan), np.full(3, 7.0))]
            room = np.concatenate(flat)
            product(room, *turns, m, k, n)
            found = room[m * k + k * n : -3].reshape(m, n)
            np.testing.assert_allclose(found, a @ b, rtol=1e-12, atol=1e-12)
            assert (room[-3:] == 7.0).all()  # nothing is written behind the matrix


@pytest.mark.parametrize("way", WAYS)
def test_factors_equal_those_of_numpy(way: str) -> None:
    factorize = njit(WAYS[way][2])
    for size in (1, 2, 12):
        x = np.random.default_rng(size).normal(size=(size + 2, size))
        gram = x.T @ x
        found = gram.copy()
        factorize(found)
        np.testing.assert_allclose(np.tril(found), np.linalg.cholesky(gram), rtol=1e-9)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        factorize(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_after_compiling_numba_looks_up_types_as_before() -> None:
    before = functions.BaseFunction.get_call_type, compiler.Flags.__eq__, compiler.Flags.__hash__
    with lookups.remembered():
        assert functions.BaseFunction.get_call_type is not before[0]
    now = functions.BaseFunction.get_call_type, compiler.Flags.__eq__, compiler.Flags.__hash__
    assert now == before


def test_functions_are_compiled_anew_only_for_options_that_they_inherit() -> None:
    one, same, fast = compiler.Flags(), compiler.Flags(), compiler.Flags()
    same.no_cpython_wrapper, fast.fastmath = True, True
    assert one != same
    with lookups.remembered():
        assert one == same
        assert one != fast
        assert hash(one) == hash(same)


def test_an_unknown_numba_gives_the_same_regressions(tmp_path: Path) -> None:
    code = (
        "import numpy as np, greyfill._search.modules as modules\n"
        "{}"
        "from greyfill._search import ridge\n"
        "rng = np.random.default_rng(0)\n"
        "x, t = rng.normal(size=(2, 20, 3)), rng.normal(size=(20, 1))\n"
        "family = np.array([[0, 0, 0, 3, 1, 0, 1, 0, 0, 0, 0, 0]])\n"
        "found = ridge.donor_fits(x, t, np.arange(20), np.array([[0, 20]]), np.zeros(0),"
        " np.array([[0, 0]]), np.array([0, 3]), np.arange(3), family, np.arange(3), np.ones(3),"
        " np.array([0.1]), np.array([1, 3, 9, 3]))\n"
        "print(' '.join(f'{{v:.9f}}' for part in found for v in part))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code.format(change)], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / str(number))},
        ).stdout
        for number, change in enumerate(("", "modules.TESTED = (0, 1), (0, 2)\n"))
    ]  # fmt: skip
    assert found[0] == found[1] != ""
    assert jit.IN_PLACE == {"_nrt": False}
