"""Sums that no order changes."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from greyfill._neighbors.start import ClassStart, column_centers
from greyfill.information.entropy import Steps, steady_sums
from greyfill.table import Column, Kind, Table

NUMBERS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40)


@given(numbers=NUMBERS, seed=st.integers(0, 10**6))
def test_no_order_changes_a_sum(numbers: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    sums = steady_sums(np.array([numbers, rng.permutation(numbers)]))
    assert sums[0] == sums[1]
    exact = sum(map(Fraction, numbers))
    assert abs(Fraction(float(sums[0])) - exact) <= Fraction(max(map(abs, numbers))) / 2**50


@given(numbers=st.lists(st.floats(0.0, 1.0), max_size=40), cut=st.integers(0, 40))
def test_parts_add_up_to_the_whole(numbers: list[float], cut: int) -> None:
    column = np.array(numbers).reshape(-1, 1)
    whole = Steps.of_columns(column)
    parts = Steps.of_columns(column[:cut]) + Steps.of_columns(column[cut:])
    by = Steps.of(column[:, 0]).by((np.arange(len(numbers)) >= cut).astype(np.intp), 2).sum(axis=0)
    assert whole.floats.tolist() == parts.floats.tolist() == [by.floats]


@given(numbers=NUMBERS, exponent=st.sampled_from([-900, 0, 900]))
def test_means_of_any_size_are_right(numbers: list[float], exponent: int) -> None:
    values = np.ldexp(np.array(numbers).reshape(-1, 1), exponent)
    table = Table(values, np.zeros(values.shape, dtype=bool), (Column("x", Kind.NUMERIC),))
    cells = list(map(Fraction, values[:, 0].tolist()))
    room = max(map(abs, cells)) / 2**48 + Fraction(2) ** -1074  # the least number of all
    assert abs(Fraction(float(column_centers(table)[0])) - sum(cells) / len(cells)) <= room
    holes = Table(
        np.append(values, [[0.0]], axis=0),
        np.arange(len(values) + 1)[:, None] == len(values),
        table.columns,
    )
    filled, _ = ClassStart().fill(holes, np.zeros(len(values) + 1, dtype=np.intp))
    assert filled[-1, 0] == column_centers(table)[0]
