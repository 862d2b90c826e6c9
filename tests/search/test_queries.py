"""The kernels of new rows against the scaler, the feature map and plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greyfill._grey.donor_table import FeatureMap
from greyfill._search.queries import close_rows, of_classes, open_rows
from greyfill.table import Column, Kind, RangeScaler, Table

seeds = st.integers(0, 2**32 - 1)
COLUMNS = (
    Column("number", Kind.NUMERIC),
    Column("level", Kind.CATEGORICAL, 4),
    Column("rank", Kind.ORDINAL, 5),
    Column("constant", Kind.NUMERIC),
)
CLASSES = Column("class", Kind.CATEGORICAL, 3)


def some_rows(rng: np.random.Generator, n: int, least: int = -1) -> Table:
    """Rows of all kinds of columns; a code of −1 is a category that ``fit`` has not seen."""
    numbers = rng.choice([-3e307, 1.0, 1.5, 2.0, 8.0, 1.7e308], size=n)
    codes = rng.integers(least, 4, size=n), rng.integers(least, 5, size=n), np.full(n, 2.5)
    values, missing = np.column_stack([numbers, *codes]), rng.random((n, 4)) < 0.3
    return Table(np.where(missing, 0.0, values), missing, COLUMNS)


def learned(rng: np.random.Generator) -> tuple[tuple[np.ndarray, ...], RangeScaler, FeatureMap]:
    """What a fit keeps of some training rows with classes."""
    table = some_rows(rng, 20, least=0)
    scaler, y = RangeScaler.learn(table), rng.integers(0, 3, size=20).astype(float)
    whole = Table(
        np.column_stack([scaler.scale(table).values, y]),
        np.column_stack([table.missing, np.zeros(20, bool)]),
        (*COLUMNS, CLASSES),
    )
    has_levels = np.array([c.n_levels > 0 for c in COLUMNS])
    ranges = scaler.low, scaler.high, scaler.half_range, has_levels, scaler.is_categorical
    return ranges, scaler, FeatureMap.learn(whole)


@given(seeds)
def test_rows_are_opened_and_closed_as_the_scaler_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranges, scaler, features = learned(rng)
    rows = some_rows(rng, 6)
    scaled, lacking, found = open_rows(rows.values, rows.missing, *ranges, *features.arrays)
    expected = np.column_stack([scaler.scale(rows).values, np.zeros(6)])
    assert scaled.tolist() == expected.tolist()
    assert lacking[:, :4].tolist() == (rows.missing | rows.unseen).tolist()
    assert lacking[:, 4].all()
    assert found.tolist() == features.of(expected).tolist()
    filled = rng.random((6, 5)) * 1.2 - 0.1
    closed = close_rows(filled, rows.values, rows.missing, *ranges)
    units = np.where(rows.missing, scaler.unscale(filled[:, :4]), rows.values)
    assert closed.tolist() == units.tolist()


@given(seeds)
def test_rows_as_of_classes_leave_out_negligible_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranges, _, features = learned(rng)
    rows = some_rows(rng, 6)
    cells = open_rows(rows.values, rows.missing, *ranges, *features.arrays)
    shares = rng.dirichlet(np.full(3, 0.4), size=6)
    every_class = np.column_stack([np.zeros((3, 4)), np.arange(3)])
    of_labels = features.of(every_class)[:, :, features.starts[4] :]
    found = of_classes(*cells, shares, 0.1, of_labels)
    sources, parts, labels, values, missing, encoded = found
    kept = shares >= 0.1 * shares.max(axis=1, keepdims=True)
    assert np.column_stack([sources, labels]).tolist() == np.argwhere(kept).tolist()
    left = np.where(kept, shares, 0.0)
    assert parts == pytest.approx((left / left.sum(axis=1, keepdims=True))[kept])
    expected = np.column_stack([cells[0][sources, :4], labels])
    assert values.tolist() == expected.tolist()
    assert missing[:, :4].tolist() == cells[1][sources, :4].tolist()
    assert not missing[:, 4].any()
    assert encoded.tolist() == features.of(expected).tolist()
