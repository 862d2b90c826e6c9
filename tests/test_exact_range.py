"""Fills stay inside the exact range of whole numbers and moments, where float64 rounds."""

from datetime import datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import greyfill
from greyfill import KNNIImputer, MICEImputer, MissForestImputer, RegressionImputer

HIGH = 2**63 - 10
NEAR = [HIGH, HIGH + 3, None, HIGH + 9, HIGH + 1]
MAKERS = {
    "pandas": lambda cells, _: pd.DataFrame({"n": pd.array(cells, dtype="Int64")}),
    "pandas objects": lambda cells, _: pd.DataFrame({"n": pd.Series(cells, dtype=object)}),
    "polars": lambda cells, _: pl.DataFrame({"n": pl.Series(cells, dtype=pl.Int64)}),
    "pyarrow": lambda cells, _: pa.table({"n": pa.array(cells, pa.int64())}),
    "array": lambda cells, gap: np.array([[gap if c is None else c] for c in cells]),
}


def numbers(table) -> list[int]:
    if isinstance(table, np.ndarray):
        return [int(cell) for cell in table[:, 0]]
    column = table["n"]
    return [int(c) for c in (column.to_pylist() if isinstance(table, pa.Table) else list(column))]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_integers_beyond_53_bits(make) -> None:
    """float64 knows 2**63 − 1024 and 2**63 only; neither is between 2**63 − 10 and 2**63 − 1."""
    imputer = KNNIImputer(n_neighbors=1, missing_values=-1)
    for filled in (imputer.fit_transform(make(NEAR, -1)), imputer.transform(make(NEAR, -1))):
        cells = numbers(filled)
        assert HIGH <= cells[2] <= HIGH + 9
        assert [c for i, c in enumerate(cells) if i != 2] == [c for c in NEAR if c is not None]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_integers_that_float64_rounds_up(make) -> None:
    """The nearest float64 to 2**53 + 3 is 2**53 + 4."""
    cells = [2**53 + 3, None]
    filled = KNNIImputer(n_neighbors=1, missing_values=-1).fit_transform(make(cells, -1))
    assert numbers(filled) == [2**53 + 3] * 2


@pytest.mark.parametrize("low", [2**70, 2**70 + 5, 2**70 - 9])
def test_integers_beyond_64_bits(low: int) -> None:
    """The nearest float64 to all of them is 2**70."""
    frame = pd.DataFrame({"n": pd.Series([low, None, low + 4], dtype=object)})
    assert low <= KNNIImputer(n_neighbors=1).fit_transform(frame)["n"][1] <= low + 4


def test_a_narrow_column_of_new_rows_takes_what_it_can_hold() -> None:
    imputer = KNNIImputer(n_neighbors=1).fit(MAKERS["polars"](NEAR, None))
    new = pl.DataFrame({"n": pl.Series([None, 1], dtype=pl.Int8)})
    assert imputer.transform(new)["n"].to_list() == [127, 1]


def test_a_sentinel_is_not_part_of_the_range() -> None:
    X = np.array([[HIGH], [-9], [HIGH + 2]])
    filled = KNNIImputer(n_neighbors=1, missing_values=-9).fit_transform(X)
    assert HIGH <= filled[1, 0] <= HIGH + 2


def test_the_range_is_saved_with_the_model(tmp_path) -> None:
    table = MAKERS["polars"](NEAR, None)
    KNNIImputer(n_neighbors=1).fit(table).save(tmp_path / "model")
    assert HIGH <= greyfill.load(tmp_path / "model").transform(table)["n"][2] <= HIGH + 9


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York", "Etc/GMT+5"])
def test_moments_of_pandas_in_every_unit_and_zone(unit: str, zone: str | None) -> None:
    """One known moment, so the fill is that moment, to its last digit."""
    moment = np.array([1_700_000_000_123_456_789], "M8[ns]").astype(f"M8[{unit}]")
    known = pd.Series(moment)
    column = pd.concat([known, pd.Series([pd.NaT], dtype=known.dtype)], ignore_index=True)
    if zone:
        column = column.dt.tz_localize("UTC").dt.tz_convert(zone)
    filled = KNNIImputer(n_neighbors=1).fit_transform(pd.DataFrame({"t": column}))
    assert filled["t"].dtype == column.dtype
    assert filled["t"][1] == filled["t"][0] == column[0]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_and_spans_of_polars_and_arrow(unit: str) -> None:
    ticks = [1_700_000_000_123_456_789 // {"ms": 10**6, "us": 10**3, "ns": 1}[unit], None]
    frame = pl.DataFrame(
        {
            "at": pl.Series(ticks).cast(pl.Datetime(unit, "America/New_York")),
            "for": pl.Series(ticks).cast(pl.Duration(unit)),
        }
    )
    for table in (frame, frame.to_arrow()):
        filled = pl.DataFrame(KNNIImputer(n_neighbors=1).fit_transform(table))
        assert [column.to_physical().to_list() for column in filled] == [[ticks[0]] * 2] * 2


def test_moments_of_numpy_are_rounded_to_their_unit() -> None:
    X = np.array([["2024-01-01T00", "2024-01-01T03", "NaT"]], "M8[h]").T
    assert KNNIImputer(n_neighbors=2).fit_transform(X)[2, 0] == np.datetime64("2024-01-01T02", "h")
    months = np.array([["2024-03", "NaT"]], "M8[M]").T
    assert KNNIImputer(n_neighbors=1).fit_transform(months)[1, 0] == np.datetime64("2024-03", "M")


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("ns"), pl.Datetime("us", "Asia/Tokyo")])
@pytest.mark.parametrize("convert", [lambda t: t, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_moments_that_a_regression_reaches_exist(dtype, convert) -> None:
    """10 000 years of 365 days are too many for dates, and for the nanoseconds of 64 bits."""
    x = [(7 * i) % 50 + i / 100 for i in range(60)]
    days = [datetime(2000, 1, 1) + timedelta(days=100 * value) for value in x]
    table = pl.DataFrame({"x": x, "day": pl.Series(days).cast(dtype)})
    new = pl.DataFrame({"x": [1e9, -1e9], "day": pl.Series([None, None], dtype=dtype)})
    imputer = RegressionImputer(n_iter=1).fit(convert(table))
    filled = pl.DataFrame(imputer.transform(convert(new)))["day"]
    assert filled.null_count() == 0
    late, early = filled.cast(pl.Datetime("us")).to_list()
    assert late > datetime(2200, 1, 1)
    assert early < datetime(1700, 1, 1)


def test_spans_that_a_regression_reaches_exist() -> None:
    x = [(7 * i) % 50 + i / 100 for i in range(60)]
    spans = np.array([value * 1e17 for value in x]).astype("m8[ns]")
    imputer = RegressionImputer(n_iter=1).fit(pd.DataFrame({"x": x, "span": spans}))
    new = pd.DataFrame({"x": [-1e9], "span": np.array(["NaT"], dtype="m8[ns]")})
    assert imputer.transform(new)["span"].notna().all()


def test_times_of_day_of_arrow_inside_pandas() -> None:
    dtype = pd.ArrowDtype(pa.time64("us"))
    frame = pd.DataFrame({"t": pd.Series(pd.array([time(9, 30), None, time(9, 30)], dtype=dtype))})
    filled = KNNIImputer(n_neighbors=1).fit_transform(frame)
    assert filled["t"].dtype == dtype
    assert filled["t"].tolist() == [time(9, 30)] * 3


def test_new_numbers_far_outside_a_tiny_range() -> None:
    """1e308 / 1e-300 is no number; the value counts as the nearer end, without a warning."""
    X = np.array([[1e-300, 1.0], [2e-300, 5.0]])
    imputer = KNNIImputer(n_neighbors=1).fit(X)
    assert imputer.transform(np.array([[1e308, np.nan]])).tolist() == [[1e308, 5.0]]


def test_largest_floats_have_a_mean() -> None:
    """Three thirds of the largest float are more than the largest float."""
    largest = float(np.finfo(np.float64).max)
    X = np.array([[largest, 1.0], [largest, 2.0], [largest, 3.0], [np.nan, 4.0]])
    filled = MissForestImputer(n_estimators=2, max_iter=1).fit_transform(X)
    assert filled[3, 0] == largest


def test_columns_that_vary_less_than_their_squares_can_tell() -> None:
    X = np.array([[0.0, 1.0], [5e-324, np.nan], [0.0, 3.0], [5e-324, 2.0]])
    assert MICEImputer(2, n_iter=1).fit_transform(X)[1, 1] in (1.0, 1.5, 2.0, 2.5, 3.0)


def test_neighbors_do_not_round_out_of_the_range() -> None:
    """0.82 on the scale from −9.55 to 0.82 is 1, and 1 is 0.8200000000000003."""
    X = np.array([[-9.55, 0.0], [0.82, 1.0], [np.nan, 1.0]])
    assert KNNIImputer(n_neighbors=1).fit_transform(X)[2, 0] == 0.82


def test_forests_do_not_round_out_of_the_range() -> None:
    """The middle of 1e-200 and 1e250, less its half-range, is 0 and not 1e-200."""
    X = np.array([[1e-200, 0.0], [1e250, 1.0], [1e-200, 0.0], [1e250, 1.0], [np.nan, 0.0]] * 3)
    filled = MissForestImputer(5, max_iter=2, round_to_grid=False).fit_transform(X)
    assert filled[:, 0].min() == 1e-200
    assert filled[:, 0].max() == 1e250
