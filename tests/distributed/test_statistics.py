"""Tallies of parts add up to what the whole table gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greyfill._neighbors.start import ClassStart, GlobalStart, column_centers
from greyfill.distributed.blocks import Block
from greyfill.distributed.partitions import Rows
from greyfill.distributed.reductions import (
    CellTally,
    ClassCounts,
    ColumnMoments,
    Ranges,
    make_grid,
    make_grids,
    summed_information,
)
from greyfill.information import class_information as information_of_whole
from greyfill.table import Column, Ints, Kind, RangeScaler, Table

COLUMNS = (
    Column("x", Kind.NUMERIC),
    Column("t", Kind.NUMERIC),
    Column("c", Kind.CATEGORICAL, 4),
    Column("o", Kind.ORDINAL, 5),
)


def table_of(seed: int, n: int = 700) -> tuple[Table, Ints]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    values = np.column_stack(
        [
            rng.normal(size=n) + labels,
            rng.standard_t(3, n) * 1e6,
            (labels + rng.integers(0, 3, n)) % 4,
            rng.integers(0, 5, n),
        ]
    )
    missing = rng.random(values.shape) < 0.2
    return Table(np.where(missing, 0.0, values), missing, COLUMNS), labels


def cut(table: Table, labels: Ints, places: list[int]) -> list[Rows]:
    parts = np.split(np.arange(table.n_rows), sorted(places))
    return [Rows(table.rows(part), labels[part]) for part in parts]


def test_moments_are_those_of_known_cells_only() -> None:
    values = np.array([[-3.0, 4.0], [-1.0, 2.0], [9.0, -9.0]])
    known = np.array([[True, True], [True, True], [False, False]])
    moments = ColumnMoments.of(values, known)
    assert (moments.n.tolist(), moments.sums.floats.tolist()) == ([2.0, 2.0], [-4.0, 6.0])
    assert (moments.low.tolist(), moments.high.tolist()) == ([-3.0, 2.0], [-1.0, 4.0])
    assert moments.sd.tolist() == [2.0**0.5] * 2  # of (−1)² + 1² around the mean


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), places=st.lists(st.integers(0, 700), max_size=5))
def test_statistics_of_parts_are_those_of_the_whole(seed: int, places: list[int]) -> None:
    table, labels = table_of(seed)
    parts = cut(table, labels, places)
    teaches = np.array([False, True, True, True])
    scaler = sum_of([Ranges.of(part, 3) for part in parts]).scaler(teaches, table.is_categorical)
    whole = RangeScaler.learn(table)
    assert scaler.low.tolist() == whole.low.tolist()
    assert scaler.high.tolist() == whole.high.tolist()
    scaled = whole.scale(table)
    tally = sum_of([CellTally.of(part, scaler, teaches) for part in parts])
    assert tally.overall(teaches).tolist() == column_centers(scaled).tolist()
    for start, by_class in ((GlobalStart(), False), (ClassStart(), True)):
        starts, _ = tally.starts(teaches, by_class)
        filled, _ = start.fill(scaled, labels)
        assert (np.where(table.missing, starts[labels + 1], scaled.values) == filled).all()
    grids = make_grids(tally, 3)
    counts = sum_of([ClassCounts.of(part, scaler, grids, 3) for part in parts])
    whole_information = information_of_whole(scaled, labels)
    assert summed_information(tally, grids, counts).tolist() == whole_information.tolist()


def sum_of(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def test_rows_without_a_label_teach_only_what_nobody_else_knows() -> None:
    values = np.array([[1.0, 0.0], [3.0, 0.0], [9.0, 7.0]])
    missing = np.array([[False, True], [False, True], [False, False]])
    columns = (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC))
    rows = Rows(Table(values, missing, columns), np.array([0, 0, -1]))
    scaler = Ranges.of(rows, 1).scaler(np.array([False, True]), np.zeros(2, dtype=bool))
    assert scaler.low.tolist() == [1.0, 7.0]
    assert scaler.high.tolist() == [3.0, 7.0]


def test_heavy_tails_and_constants_get_no_grid() -> None:
    column = np.zeros((10**6, 1))
    column[0] = 1.0
    moments = ColumnMoments.of(column, np.ones_like(column, dtype=bool))
    with pytest.raises(OverflowError):
        make_grid(moments, 0, n_classes=1000)
    assert (
        make_grid(ColumnMoments.of(column[1:], np.ones((10**6 - 1, 1), dtype=bool)), 0, 2) is None
    )


def test_a_value_is_as_large_as_its_arrays() -> None:
    pytest.importorskip("dask")
    from dask.sizeof import sizeof

    values, missing, numbers = np.zeros((50, 4)), np.zeros((50, 4), dtype=bool), np.arange(50)
    block = Block(values, missing, missing, numbers, numbers, missing[:, 0])
    arrays = values.nbytes + 2 * missing.nbytes + 2 * numbers.nbytes + 50
    assert arrays <= sizeof(block) < arrays + 200
    assert sizeof({(0, 0): block, (1, 0): block}) > 2 * arrays
