"""Fills lie on the grid of their column and within its bounds."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from greyfill import CGKNNImputer, GreyImputer, MICEImputer, MissForestImputer, frames, load
from greyfill.exceptions import InvalidParameterError
from greyfill.frames.grid import Grid
from greyfill.imputers.peers import MeanImputer

RNG = np.random.default_rng(3)
COUNTS = RNG.integers(0, 1000, 60).astype(float)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (COUNTS, 1.0),
        (COUNTS * 2, 2.0),
        (COUNTS * 5, 5.0),
        (COUNTS * 10, 10.0),
        (COUNTS * 500, 500.0),
        (COUNTS / 10, 0.1),
        (COUNTS / 200, 0.005),
        (COUNTS / 4, 0.25),
        (COUNTS / 8, 0.125),
        (COUNTS * 12, 12.0),
        (COUNTS * 3 / 10, 0.3),
        (np.arange(8.0) * 3, 1.0),  # eight multiples of three may be chance
        (np.array([25.0, 75.0, 100.0, 25.0, 75.0]), 1.0),
        (np.cumsum(np.full(200, 0.1)), 0.1),  # noise of floats adds up
        (COUNTS * 100 + 0.01, 0.01),
        (np.append(COUNTS * 10, 5.0), 5.0),
        (np.append(COUNTS * 10, 7.0), 1.0),
        (RNG.normal(size=60), None),
        (COUNTS / 3, None),
        (np.append(COUNTS, np.pi), None),
        (np.array([1.0, 2.0, 4.0, 1.0, 2.0]), 1.0),
        (np.array([1.0, 2.0, 4.0, 1.0]), None),  # four cells may be chance
        (np.array([0.5, 1.5, 2.5]), None),
        (np.array([10.0, 20.0, 40.0, 10.0, 20.0]), 1.0),  # tens need four different ones
        (np.arange(2.0, 28.0, 2.0), 1.0),  # thirteen even numbers may be chance
        (np.arange(2.0, 30.0, 2.0), 2.0),
        (np.full(50, 1e308), None),
        (np.full(50, 1e-308), None),
        (np.zeros(0), None),
    ],
)
def test_steps(values, step):
    assert Grid.of(values).step == step


def test_numbers_of_32_bits_have_grids_too():
    values = (COUNTS / 10).astype(np.float32)
    assert Grid.of(values.astype(float), single=True).step == 0.1
    assert Grid.of(values.astype(float)).step is None
    filled = MeanImputer().fit_transform(np.append(values, np.float32(np.nan))[:, None])
    assert str(filled[-1, 0]) == str(np.float32(round(float(values.mean()), 1)))


def test_few_numbers_are_levels():
    few = np.repeat([0.0, 1.0, 3.5, 9.0], 5)
    assert Grid.of(few).levels.tolist() == [0.0, 1.0, 3.5, 9.0]
    assert Grid.of(few).nearest(np.array([-4.0, 0.6, 2.0, 7.0, 99.0])).tolist() == [0, 1, 1, 9, 9]
    assert Grid.of(few[1:]).levels is None  # not each of them often
    assert Grid.of(np.repeat(np.arange(12.0), 5)).levels is not None
    assert Grid.of(np.repeat(np.arange(13.0), 5)).levels is None


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(-2000, 2000), min_size=0, max_size=40),
    st.lists(st.integers(-2000, 2000), min_size=0, max_size=40),
    st.sampled_from([0.005, 0.1, 0.25, 0.3, 0.5, 1.0, 2.0, 20.0, 1000.0, 1500.0]),
    st.sampled_from([0.0, 0.1, 1 / 3]),
)
def test_parts_merge_to_the_whole(one, other, step, odd):
    parts = np.array(one, float) * step, np.array(other, float) * step + odd
    whole, merged = Grid.of(np.concatenate(parts)), Grid.of(parts[0]).merge(Grid.of(parts[1]))
    assert whole.step == merged.step
    assert np.array_equal(whole.levels, merged.levels)  # None is equal to None


@settings(max_examples=100, deadline=None)
@given(st.floats(-50, 50), st.floats(0, 20), st.sampled_from([0.005, 0.2, 1.0, 5.0]))
def test_the_outermost_points_within_limits_lose_no_point(low, width, step):
    counts = np.arange(-400, 401)
    grid = Grid.of(counts * step if step >= 1 else counts / round(1 / step))
    assert grid.step == step
    first, last = (v.item() for v in grid.inside(np.array([low]), np.array([low + width])))
    points = counts * step if step >= 1 else counts / round(1 / step)
    gaps = np.abs(points - np.array([[low], [low + width]]))
    assume(not ((gaps > 0) & (gaps < 1e-6)).any())  # as good as on a point, and yet beside it
    within = points[(points >= low - 1e-9) & (points <= low + width + 1e-9)]
    if len(within) and abs(low) + width < 400 * step:
        assert (first, last) == (within.min(), within.max())
    elif abs(low) + width < 400 * step:
        assert first == last


MIDNIGHTS = pd.date_range("2024-02-26", periods=40, freq="D")


@pytest.mark.parametrize(
    ("moments", "unit"),
    [
        (MIDNIGHTS, "D"),
        (MIDNIGHTS[:1], "D"),
        (MIDNIGHTS + pd.to_timedelta(np.arange(40), "h"), "h"),
        (MIDNIGHTS + pd.to_timedelta(np.arange(40), "min"), "min"),
        (MIDNIGHTS - pd.to_timedelta(np.arange(40), "s"), "s"),
        (MIDNIGHTS - MIDNIGHTS[7], "D"),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_moments_keep_their_days_hours_minutes_and_seconds(moments, unit, make):
    whole = pd.Series(moments).repeat(40 // len(moments)).reset_index(drop=True)
    frame = make({"when": whole.where(np.arange(40) % 6 != 3), "x": np.arange(40) + 0.37})
    imputer = GreyImputer(n_cells=20)
    for table in (imputer.fit_transform(frame), *imputer.draw(frame, 2)):
        filled = pd.Series(table["when"].to_numpy())
        assert not filled.isna().any()
        step = pd.Timedelta(1, unit).value
        assert not (filled.astype("int64") * (10**9 // _ticks(filled)) % step).any()
    free = GreyImputer(n_cells=20, round_to_grid=False).fit_transform(frame)
    if len(moments) > 1:
        assert not pd.Series(free["when"].to_numpy()).equals(filled)


def _ticks(moments):
    """Ticks of a second in the unit of a column."""
    return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[np.datetime_data(moments.dtype)[0]]


def test_moments_without_a_grid_are_free():
    moments = pd.Series(MIDNIGHTS) + pd.to_timedelta(RNG.integers(1, 10**9, 40), "us")
    _, origin = frames.encode(pd.DataFrame({"when": moments}))
    assert origin.schema.fields[0].is_free


def _holed(values, share=0.2):
    x = np.asarray(values, float)
    table = np.column_stack([x, x + RNG.normal(size=len(x)) * 7.123])
    table[RNG.random(len(x)) < share, 0] = np.nan
    return table


IMPUTERS = [
    GreyImputer(n_cells=20),
    CGKNNImputer(3, labels="none"),
    MissForestImputer(n_estimators=5, max_iter=2),
    MICEImputer(2, n_iter=2, methods={"x0": "norm"}),
    MeanImputer(),
]


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("step", [10.0, 0.005])
def test_every_imputer_fills_on_the_grid(imputer, step):
    X = _holed(COUNTS * step if step > 1 else COUNTS / 200)
    filled = imputer.fit_transform(X)[np.isnan(X[:, 0]), 0]
    counts = filled / step if step > 1 else filled * 200
    assert (filled == (np.rint(counts) * step if step > 1 else np.rint(counts) / 200)).all()
    free = imputer.set_params(round_to_grid=False).fit_transform(X)[np.isnan(X[:, 0]), 0]
    imputer.set_params(round_to_grid=True)
    assert (np.abs(free - filled) <= step * 0.5000001).all()
    assert (free != filled).any()


def test_whole_numbers_stay_whole_in_float_columns_of_pandas():
    frame = pd.DataFrame(
        {"age": [31, 45, None, 52, 28, 39, 61], "dose": [1.5, 2.25, 2, 2, 1, 2, 3]}
    )
    filled = GreyImputer(n_cells=10).fit_transform(frame)
    assert filled["age"].dtype == float
    assert (filled["age"] % 1 == 0).all()


def test_an_int_column_of_fit_gets_no_fractions_as_float():
    train = pd.DataFrame({"n": [3, 4], "x": [1.5, 2.5]})  # too few cells to show a grid
    new = pd.DataFrame({"n": [np.nan, 7.0], "x": [2.0, 1.0]})
    for to_grid in (True, False):
        filled = MeanImputer(round_to_grid=to_grid).fit(train).transform(new)
        assert filled["n"].tolist() == [4.0, 7.0]


def test_measurements_are_not_moved():
    X = _holed(RNG.normal(size=50))
    on, off = (GreyImputer(n_cells=20, round_to_grid=g).fit_transform(X) for g in (True, False))
    assert np.array_equal(on, off)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_bounds_hold_for_fills_draws_and_limits(make):
    X = _holed(COUNTS, 0.3)
    frame = make({"a": [None if np.isnan(v) else v for v in X[:, 0].tolist()], "b": X[:, 1]})
    holes = np.isnan(X[:, 0])
    imputer = GreyImputer(n_cells=20, bounds={"a": (300, 599.5)})
    tables = [imputer.fit_transform(frame), *imputer.draw(frame, 3)]
    for table in tables:
        fills = table["a"].to_numpy()[holes]
        assert fills.min() >= 300
        assert fills.max() <= 599
        assert np.array_equal(table["a"].to_numpy()[~holes], X[~holes, 0])
    assert {300.0, 599.0} <= {v for table in tables for v in table["a"].to_numpy()[holes]}
    found = imputer._interval_lists(frame)
    assert min(found["low"]) >= 300
    assert max(found["high"]) <= 599
    one_sided = GreyImputer(n_cells=20, bounds={0: (None, 100)}).fit_transform(frame)
    assert one_sided["a"].to_numpy()[holes].max() <= 100


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([1], "bounds must be a dict"),
        ({"nobody": (0, 1)}, "bounds names columns that are not in the table: 'nobody'"),
        ({"sex": (0, 1)}, "column 'sex' holds no plain numbers"),
        ({"age": 3}, "needs a pair of numbers"),
        ({"age": (0, float("nan"))}, "needs a pair of numbers"),
        ({"age": (9, 0)}, "9 as its least and 0 as its largest"),
    ],
)
def test_strange_bounds_are_refused_in_words(bounds, words):
    frame = pl.DataFrame({"age": [1.0, None, 3.0], "sex": ["a", "b", None]})
    with pytest.raises(InvalidParameterError, match=words):
        GreyImputer(bounds=bounds).fit(frame)
    with pytest.raises(InvalidParameterError, match="round_to_grid must be True or False"):
        GreyImputer(round_to_grid="yes").fit(frame)


def test_grid_and_bounds_are_saved(tmp_path):
    X = _holed(COUNTS * 10)
    imputer = GreyImputer(n_cells=20, bounds={0: (0, 5000)}).fit(X)
    imputer.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.schema_ == imputer.schema_
    assert again.schema_.fields[0].grid.step == 10.0
    rows = np.column_stack([np.full(5, np.nan), RNG.normal(9000, 10, 5)])
    assert np.array_equal(again.transform(rows), imputer.transform(rows))
    assert (again.transform(rows)[:, 0] <= 5000).all()
    assert (again.transform(rows)[:, 0] % 10 == 0).all()


def test_the_grid_of_a_matrix_is_that_of_its_columns():
    X = np.column_stack([COUNTS, COUNTS / 200, RNG.normal(size=60)])
    of_matrix = frames.encode(X)[1].schema.fields
    of_frame = frames.encode(pl.DataFrame(X, schema=["x0", "x1", "x2"]))[1].schema.fields
    assert [f.grid for f in of_matrix] == [f.grid for f in of_frame]
    assert [f.is_free for f in of_matrix] == [False, False, True]


def test_noise_carries_no_fill_out_of_the_range():
    low, high = 0.1 + 0.2, 0.1 + 0.7  # above 0.3, below 0.8
    grid = Grid.of(np.array([low, 0.4, 0.5, 0.6, high]))
    assert grid.step == 0.1
    assert grid.nearest(np.array([low, high, 0.44])).tolist() == [low, high, 0.4]
