"""Tables of every library: what goes in comes out, with only its holes written."""

import datetime as dt
import operator
import pickle
import re
import subprocess
import sys
from dataclasses import astuple
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

import greyfill
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.frames import (
    Family,
    cell_values,
    decode,
    encode,
    encode_plain,
    merge_schemas,
    pandas_backend,
    plain_origin,
    polars_backend,
)
from greyfill.frames.columns import backend_of
from greyfill.frames.encoder import read_native
from greyfill.table import Kind
from greyfill.targets import encode_labels, labels_to_array

UTC = dt.UTC
DAY = dt.datetime(2020, 1, 1)
HUGE = 2**62 + 1


# ---------------------------------------------------------------- one fixture, every library


def to_pandas(columns):
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def to_nullable(columns):
    return pd.DataFrame({name: pd.array(cells) for name, cells in columns.items()})


def to_pandas_arrow(columns):
    arrays = {name: pa.chunked_array([pa.array(cells)]) for name, cells in columns.items()}
    return pd.DataFrame({k: pd.arrays.ArrowExtensionArray(v) for k, v in arrays.items()})


def to_polars(columns):
    return pl.DataFrame(columns, strict=False)


def to_arrow(columns):
    return pa.table(columns)


MAKERS = [to_pandas, to_nullable, to_pandas_arrow, to_polars, to_arrow]


@pytest.fixture(params=MAKERS, ids=lambda maker: maker.__name__)
def make(request):
    return request.param


def cells_of(frame):
    """All columns as lists of Python objects, None in the holes."""
    table = nw.from_native(frame, eager_only=True)
    return {str(series.name): _plain(series.to_list()) for series in table.iter_columns()}


def _plain(cells):
    return [None if cell is None or cell is pd.NA or cell != cell else cell for cell in cells]  # noqa: PLR0124


def library_of(frame):
    return nw.from_native(frame, eager_only=True).implementation


def assert_only_holes_written(before, after, missing, skip=()):
    """Same library, names and dtypes; observed cells equal to the bit; no hole left."""
    old, new = nw.from_native(before, eager_only=True), nw.from_native(after, eager_only=True)
    assert type(before) is type(after)
    assert old.columns == new.columns
    for j, name in enumerate(old.columns):
        if name not in skip:
            assert _dtype(before, j) == _dtype(after, j), name
        was, now = old[:, j].to_list(), new[:, j].to_list()
        for i, (a, b) in enumerate(zip(was, now, strict=True)):
            if not missing[i, j]:
                assert type(a) is type(b)
                assert _bits(a) == _bits(b), (name, i)
        assert None not in _plain(now), name


def _bits(cell):
    return np.float64(cell).tobytes() if isinstance(cell, float) else cell


def _dtype(frame, j):
    if isinstance(frame, pd.DataFrame):
        return frame.dtypes.iloc[j]
    return frame.dtypes[j] if isinstance(frame, pl.DataFrame) else frame.schema.types[j]


def round_trip(X, fill=None, **options):
    table, origin = encode(X, **options)
    filled = table.values if fill is None else np.where(table.missing, fill, table.values)
    return table, origin, decode(filled, origin)


COLUMNS = {
    "float": [1.5, None, -0.0, 5e-324],
    "integer": [HUGE, 7, None, -3],
    "flag": [True, None, False, True],
    "word": ["b", "a", None, "b"],
    "day": [dt.date(2020, 1, 1), None, dt.date(1969, 12, 31), dt.date(2000, 2, 29)],
    "moment": [DAY, DAY + dt.timedelta(microseconds=1), None, DAY],
    "span": [dt.timedelta(1), None, dt.timedelta(0), dt.timedelta(-3)],
}


def test_a_mixed_frame_comes_back_with_only_its_holes_written(make):
    X = make(COLUMNS)
    table, _, filled = round_trip(X, fill=1.0)
    assert table.missing.sum() == 7
    assert table.values.flags.c_contiguous
    assert not table.values[table.missing].any()
    assert_only_holes_written(X, filled, table.missing)
    assert cells_of(filled)["integer"] == [HUGE, 7, 1, -3]
    assert cells_of(filled)["flag"][1] is np.True_ or cells_of(filled)["flag"][1] is True
    assert cells_of(filled)["word"][2] == "b"


def test_the_input_is_never_modified(make):
    X = make(COLUMNS)
    before = cells_of(X)
    round_trip(X, fill=1.0)
    assert cells_of(X) == before


def test_kinds_follow_dtypes(make):
    kinds = [column.kind for column in encode(make(COLUMNS))[0].columns]
    numeric, categorical = Kind.NUMERIC, Kind.CATEGORICAL
    assert kinds == [numeric, numeric, categorical, categorical, numeric, numeric, numeric]


# ------------------------------------------------------------------------- dtypes, one by one


def pandas_columns():
    berlin = pd.to_datetime(["2020-01-01", None, "2021-07-01"]).tz_localize("Europe/Berlin")
    arrow = pd.ArrowDtype
    return {
        "float64": pd.Series([1.5, np.nan, -0.0]),
        "float32": pd.Series([1.5, np.nan, 0.1], dtype="float32"),
        "Float64": pd.array([1.5, None, 2.0], dtype="Float64"),
        "Int64": pd.array([HUGE, None, 2], dtype="Int64"),
        "UInt8": pd.array([255, None, 2], dtype="UInt8"),
        "boolean": pd.array([True, None, False], dtype="boolean"),
        "object bool": pd.Series([True, None, False], dtype=object),
        "object int": pd.Series([1, None, 3], dtype=object),
        "object float": pd.Series([1, None, 3.5], dtype=object),
        "object mixed": pd.Series([1, None, "x"], dtype=object),
        "object str": pd.Series(["b", None, "a"], dtype=object),
        "object tuple": pd.Series([("a", 1), None, ("b", 2)], dtype=object),
        "object decimal": pd.Series([Decimal("1.5"), None, Decimal("2.5")], dtype=object),
        "string": pd.array(["b", None, "a"], dtype="string"),
        "str": pd.Series(["b", np.nan, "a"]),
        "category": pd.Categorical(["b", None, "a"], categories=["z", "b", "a"]),
        "ordered": pd.Categorical(["b", None, "a"], categories=["z", "b", "a"], ordered=True),
        "integer category": pd.Categorical([30, None, 10]),
        "datetime": pd.to_datetime(["2020-01-01", None, "2021-07-01"]),
        "seconds": pd.Series(np.array(["2020-01-01", "NaT", "1950-01-01"], "M8[s]")),
        "nanoseconds": pd.Series(np.array(["2020-01-01", "NaT", "1950-01-01"], "M8[ns]")),
        "zoned": pd.Series(berlin),
        "timedelta": pd.to_timedelta(["1h", None, "2D"]),
        "period": pd.PeriodIndex(["2020-01", None, "2020-03"], freq="M"),
        "time": pd.Series([dt.time(1), None, dt.time(2)], dtype=object),
        "int64[pyarrow]": pd.array([HUGE, None, 2], dtype="int64[pyarrow]"),
        "double[pyarrow]": pd.array([1.5, None, 2], dtype="double[pyarrow]"),
        "bool[pyarrow]": pd.array([True, None, False], dtype="bool[pyarrow]"),
        "string[pyarrow]": pd.array(["b", None, "a"], dtype="string[pyarrow]"),
        "arrow string": pd.array(["b", None, "a"], dtype=arrow(pa.string())),
        "arrow date": pd.array([DAY.date(), None, DAY.date()], dtype=arrow(pa.date32())),
        "arrow zoned": pd.array([DAY, None, DAY], dtype=arrow(pa.timestamp("ms", "Asia/Tokyo"))),
        "arrow decimal": pd.array([Decimal("1.25"), None, 2], dtype=arrow(pa.decimal128(9, 2))),
        "arrow dictionary": pd.array(
            ["b", None, "a"], dtype=arrow(pa.dictionary(pa.int32(), pa.string()))
        ),
    }


def polars_columns():
    zoned = pl.Series([DAY, None, DAY]).dt.replace_time_zone("Europe/Berlin")
    return {
        "Float64": pl.Series([1.5, None, -0.0]),
        "Float64 NaN": pl.Series([1.5, float("nan"), -0.0]),
        "Float32": pl.Series([1.5, None, 0.1], dtype=pl.Float32),
        "Int64": pl.Series([HUGE, None, 2]),
        "Int8": pl.Series([127, None, 2], dtype=pl.Int8),
        "UInt64": pl.Series([2**64 - 1, None, 2], dtype=pl.UInt64),
        "Int128": pl.Series([2**100, None, 2], dtype=pl.Int128),
        "Decimal": pl.Series([Decimal("1.25"), None, Decimal("2.50")]),
        "Boolean": pl.Series([True, None, False]),
        "String": pl.Series(["b", None, "a"]),
        "Categorical": pl.Series(["b", None, "a"], dtype=pl.Categorical),
        "Enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["z", "b", "a"])),
        "Date": pl.Series([DAY.date(), None, dt.date(1950, 1, 1)]),
        "Datetime": pl.Series([DAY, None, dt.datetime(1950, 1, 1)]),
        "Datetime ns": pl.Series([DAY, None, DAY], dtype=pl.Datetime("ns")),
        "Datetime zoned": zoned,
        "Duration": pl.Series([dt.timedelta(1), None, dt.timedelta(2)], dtype=pl.Duration("ms")),
        "Time": pl.Series([dt.time(1, 2, 3, 4), None, dt.time(2)]),
        "Object": pl.Series([("a", 1), None, ("b", 2)], dtype=pl.Object),
    }


def arrow_columns():
    two_chunks = [pa.array(["b", None]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]
    ordered = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 2], pa.uint8()), ["z", "b", "a"], ordered=True
    )
    return {
        "double": pa.array([1.5, None, -0.0]),
        "float": pa.array([1.5, None, 0.5], pa.float32()),
        "int64": pa.chunked_array([[HUGE], [None, 2]]),
        "uint8": pa.array([255, None, 2], pa.uint8()),
        "bool": pa.array([True, None, False]),
        "string": pa.array(["b", None, "a"]),
        "large string": pa.array(["b", None, "a"], pa.large_string()),
        "dictionary": pa.chunked_array(two_chunks),
        "ordered": ordered,
        "date32": pa.array([DAY.date(), None, DAY.date()]),
        "timestamp": pa.array([DAY, None, DAY], pa.timestamp("s")),
        "zoned": pa.array([DAY, None, DAY], pa.timestamp("ns", "Europe/Berlin")),
        "duration": pa.array([dt.timedelta(1), None, dt.timedelta(2)], pa.duration("ms")),
        "time32": pa.array([dt.time(1), None, dt.time(2)], pa.time32("s")),
        "time64": pa.array([dt.time(1), None, dt.time(2)], pa.time64("us")),
        "decimal": pa.array([Decimal("1.25"), None, Decimal("2.50")]),
    }


DTYPES = (
    [pytest.param(pd.DataFrame({k: v}), id=f"pandas {k}") for k, v in pandas_columns().items()]
    + [pytest.param(pl.DataFrame({k: v}), id=f"polars {k}") for k, v in polars_columns().items()]
    + [pytest.param(pa.table({k: v}), id=f"arrow {k}") for k, v in arrow_columns().items()]
)


@pytest.mark.parametrize("X", DTYPES)
@pytest.mark.parametrize("fill", [0.0, 1.0, 0.6])
def test_every_dtype_survives(X, fill):
    table, origin, filled = round_trip(X, fill=fill)
    assert table.missing[:, 0].tolist() == [False, True, False]
    assert_only_holes_written(X, filled, table.missing)
    again, _ = encode(filled, schema=origin.schema)
    if table.columns[0].kind is not Kind.NUMERIC:
        assert again.values[1, 0] == np.rint(fill)


@pytest.mark.parametrize("X", DTYPES)
def test_every_dtype_learns_the_same_codes_twice(X):
    table, origin = encode(X)
    schema = pickle.loads(pickle.dumps(origin.schema))
    again, _ = encode(X, schema=schema)
    assert np.array_equal(again.values, table.values)
    assert again.columns == table.columns


@pytest.mark.parametrize("X", DTYPES)
def test_every_dtype_can_be_empty(X):
    holes = _only_holes(X)
    table, origin, filled = round_trip(holes)
    assert table.missing.all()
    assert table.columns[0].n_levels == 0
    assert_only_holes_written(holes, filled, table.missing, skip=["period"])
    late, origin = encode(holes, schema=encode(X)[1].schema)
    filled = decode(late.values, origin)
    assert_only_holes_written(holes, filled, late.missing)


def _only_holes(X):
    if isinstance(X, pd.DataFrame):
        return X.iloc[[1, 1]].reset_index(drop=True)
    return X[[1, 1]] if isinstance(X, pl.DataFrame) else X.take([1, 1])


@pytest.mark.parametrize(
    ("column", "fill", "expected"),
    [
        ("UInt8", 1e6, 255),
        ("UInt8", 2.5, 2),
        ("Int64", 2.5, 2),
        ("float64", 2.5, 2.5),
        ("object int", 2.6, 3),
        ("object float", 2.6, 2.6),
        ("ordered", 9.0, "a"),
        ("ordered", -5.0, "z"),
        ("ordered", 1.4, "b"),
        ("seconds", 60 * 864e8 + 1.6e6, pd.Timestamp(60, unit="D")),  # all are midnights
        ("zoned", 0.0, pd.Timestamp(0, tz="Europe/Berlin")),
        ("arrow decimal", 1.239, Decimal("1.24")),
        ("period", 1.0, pd.Period("2020-03", freq="M")),
    ],
)
def test_fills_are_rounded_into_the_dtype(column, fill, expected):
    *_, filled = round_trip(pd.DataFrame({column: pandas_columns()[column]}), fill=fill)
    assert filled[column].tolist()[1] == expected


def test_an_empty_column_is_filled_by_its_dtype():
    X = pl.DataFrame(
        {
            "n": [None],
            "f": [None],
            "b": [None],
            "s": [None],
            "e": [None],
            "d": [None],
            "null": [None],
        },
        schema={
            "n": pl.Int64,
            "f": pl.Float64,
            "b": pl.Boolean,
            "s": pl.String,
            "e": pl.Enum(["first", "second"]),
            "d": pl.Date,
            "null": pl.Null,
        },
    )
    row = round_trip(X)[2].row(0)
    assert row == (0, 0.0, False, "missing_value", "first", dt.date(1970, 1, 1), 0.0)


def test_unobserved_levels_of_a_category_count_and_others_are_sorted():
    X = pd.DataFrame({"c": pd.Categorical(["b"], categories=["z", "b"]), "s": ["x"]})
    schema = encode(X)[1].schema
    assert [field.levels for field in schema.fields] == [("z", "b"), ("x",)]


def test_polars_enum_is_ordinal_only_on_request():
    X = pl.DataFrame({"e": pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "hi"]))})
    assert encode(X)[0].columns[0].kind is Kind.CATEGORICAL
    table, _ = encode(X, ordinal_features=["e"])
    assert table.columns[0].kind is Kind.ORDINAL
    assert table.values[:, 0].tolist() == [0.0, 1.0]


# ------------------------------------------------------------------------------ pandas' extras


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([5, 5, 7]),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
        pd.date_range("2020", periods=3),
    ],
    ids=["duplicate", "multi", "dates"],
)
def test_pandas_index_is_kept(index):
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0], "s": ["x", "y", None]}, index=index)
    table, origin = encode(X)
    filled = decode(table.values, origin, indicators={"missingindicator_a": table.missing[:, 0]})
    pd.testing.assert_index_equal(filled.index, index)
    assert filled["missingindicator_a"].tolist() == [False, True, False]


def test_pandas_labels_are_kept():
    for labels in ([0, 1], [("a", 1), ("b", 2)], pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])):
        X = pd.DataFrame([[1.0, "x"], [np.nan, None]], columns=labels)
        table, _, filled = round_trip(X)
        assert table.columns[1].name in ("1", "('b', 2)")
        pd.testing.assert_index_equal(filled.columns, X.columns)


def test_pandas_attributes_are_kept():
    X = pd.DataFrame({"a": [1.0, np.nan]})
    X.attrs["source"] = "survey"
    assert round_trip(X)[2].attrs == {"source": "survey"}


def test_columns_without_holes_come_back_as_they_are():
    X = pl.DataFrame({"a": ["x", "y"], "b": [1.0, None]})
    assert round_trip(X)[2]["a"].equals(X["a"])


# -------------------------------------------------------------------------------------- numpy


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_float_arrays_keep_their_dtype(dtype):
    X = np.array([[1.5, np.nan], [np.nan, -0.0]], dtype=dtype)
    table, _, filled = round_trip(X, fill=2.25)
    assert filled.dtype == X.dtype
    assert filled.tolist() == [[1.5, 2.25], [2.25, -0.0]]
    assert [column.name for column in table.columns] == ["x0", "x1"]
    assert np.isnan(X[0, 1])


def test_no_hole_is_filled_with_infinity():
    for X in (
        np.array([[1, np.nan]], dtype="f4"),
        pl.DataFrame({"a": [None, 1]}, {"a": pl.Float32}),
    ):
        filled = round_trip(X, fill=1e99)[2]
        assert np.isfinite(np.asarray(filled)).all()


def test_strided_and_read_only_arrays():
    X = np.asfortranarray(np.arange(12.0).reshape(4, 3))[::2]
    X[0, 0] = np.nan
    X.flags.writeable = False
    table, _, filled = round_trip(X, fill=5.0)
    assert table.values.flags.c_contiguous
    assert filled[0, 0] == 5.0


@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_rows_are_encoded_alike_and_not_rewritten(order):
    _, origin = encode(np.arange(8.0).reshape(4, 2))
    X = np.array([[np.nan, -0.0], [1e300, np.nan]], order=order)
    before, (table, given) = X.copy(), encode(X, schema=origin.schema)
    plain = encode_plain(X, origin.schema)
    restored = plain_origin(X, plain, origin.schema)
    assert restored.container is given.container
    assert restored.missing is plain.missing
    assert (restored.families, restored.boxed) == (given.families, given.boxed)
    assert plain.values.tobytes() == table.values.tobytes()
    assert plain.values.flags.c_contiguous
    assert plain.missing.flags.c_contiguous
    assert plain.missing.tolist() == table.missing.tolist()
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0]],
        np.array([1.0, 2.0]),
        np.array([[1, 2]]),
        np.array([[1.0, 2.0]], dtype=">f8"),
        np.array([[1.0, -np.inf]]),
        np.ones((1, 3)),
        np.ones((0, 2)),
    ],
)
def test_rows_that_are_not_plain_are_left_to_encode(X):
    _, origin = encode(np.arange(8.0).reshape(4, 2))
    assert encode_plain(X, origin.schema) is None


def test_rows_of_a_schema_with_more_to_look_at_are_left_to_encode():
    cells = np.arange(8.0).reshape(4, 2)
    for how in ({"missing_values": 2.0}, {"categorical_features": [0]}):
        assert encode_plain(cells, encode(cells, **how)[1].schema) is None


def test_integer_arrays_have_holes_only_by_sentinel():
    X = np.array([[HUGE, -999], [3, 4]])
    table, _, filled = round_trip(X, fill=2.5, missing_values=-999)
    assert table.missing.tolist() == [[False, True], [False, False]]
    assert filled.dtype == X.dtype
    assert filled.tolist() == [[HUGE, 2], [3, 4]]


def test_boolean_arrays_are_categorical():
    X = np.array([[True], [False]])
    table, _, filled = round_trip(X)
    assert table.columns[0].kind is Kind.CATEGORICAL
    assert filled.dtype == bool
    assert filled.tolist() == X.tolist()


def test_object_arrays_are_read_column_by_column():
    X = np.array(
        [[1, True, "a", 1], [None, None, np.nan, None], [2, False, "b", "x"]], dtype=object
    )
    _table, origin, filled = round_trip(X, fill=1.0)
    expected = [Family.INTEGER, Family.BOOLEAN, Family.TEXT, Family.MIXED]
    assert [field.family for field in origin.schema.fields] == expected
    assert filled[1].tolist() == [1, True, "b", "x"]
    assert type(filled[1, 0]) is int
    assert filled[0, 3] == 1
    assert X[1, 0] is None


def test_lists_of_rows_become_arrays():
    *_, filled = round_trip([[1, "a"], [None, "b"]], fill=1.0)
    assert filled.tolist() == [[1, "a"], [1, "b"]]
    assert round_trip([[1.0, 2.0], [3.0, float("nan")]], fill=7.0)[2].dtype == np.float64


def test_arrays_of_fixed_length_text_get_room():
    schema = encode(np.array([["a"], ["longer"]]))[1].schema
    table, origin = encode(np.array([["?"], ["a"]]), schema=schema)
    assert table.values[0, 0] == -1.0
    table, origin = encode(np.array([["a"], ["longer"], ["?"]]), missing_values="?")
    _small, origin = encode(np.array([["?"], ["a"]]), schema=origin.schema)
    assert decode(np.array([[1.0], [0.0]]), origin).tolist() == [["longer"], ["a"]]


def test_datetime_arrays():
    X = np.array([["2020-01-01"], ["NaT"]], dtype="M8[D]")
    *_, filled = round_trip(X, fill=86_400e6)
    assert filled.dtype == X.dtype
    assert filled[1, 0] == np.datetime64("1970-01-02")


def test_text_for_an_empty_float_array_column():
    schema = encode(np.array([["a", 1.0], ["b", 2.0]], dtype=object))[1].schema
    _table, origin = encode(np.array([[np.nan, 5.0]]), schema=schema)
    assert decode(np.array([[1.0, 0.0]]), origin).tolist() == [["b", 5.0]]


# ---------------------------------------------------------------------------- missing values


def test_every_kind_of_nothing_is_missing():
    X = pd.DataFrame(
        {"o": pd.Series(["a", None, np.nan, pd.NA, pd.NaT, float("nan")], dtype=object)}
    )
    assert encode(X)[0].missing[:, 0].tolist() == [False] + [True] * 5


def test_sentinels_are_compared_with_columns_of_their_type(make):
    X = make({"n": [1, -999, 3], "s": ["?", "a", "b"], "f": [0.5, -999.0, 1.0]})
    table, origin = encode(X, missing_values=["?", -999])
    assert np.argwhere(table.missing).tolist() == [[0, 1], [1, 0], [1, 2]]
    assert origin.schema.fields[1].levels == ("a", "b")
    filled = decode(table.values, origin)
    assert cells_of(filled)["s"] == ["a", "a", "b"]
    again, _ = encode(X, schema=origin.schema)
    assert np.array_equal(again.missing, table.missing)


def test_sentinels_of_dates_durations_and_times():
    noon, day, hour = dt.time(12, 0, 0, 5), dt.date(1900, 1, 1), dt.timedelta(hours=1)
    X = pl.DataFrame(
        {
            "time": [dt.time(3), noon, dt.time(4)],
            "day": [day, dt.date(2020, 1, 1), dt.date(2021, 1, 1)],
            "span": [hour, hour * 2, hour * 3],
        }
    )
    for sentinels in ([noon, day, hour], [noon, np.datetime64(day), np.timedelta64(hour)]):
        table, _ = encode(X, missing_values=sentinels)
        assert np.argwhere(table.missing).tolist() == [[0, 1], [0, 2], [1, 0]]


def test_a_sentinel_that_is_a_category_is_never_filled_in():
    X = pd.DataFrame({"c": pd.Categorical(["?", "a", "b"])})
    table, origin = encode(X, missing_values="?")
    assert table.columns[0].n_levels == 2
    filled = decode(table.values, origin)
    assert filled["c"].tolist() == ["a", "a", "b"]
    assert filled["c"].dtype == X["c"].dtype


def test_a_column_of_sentinels_is_filled_with_another_level():
    X = pd.DataFrame({"c": pd.Categorical(["?", "?"], categories=["?", "a"])})
    assert round_trip(X, missing_values="?")[2]["c"].tolist() == ["a", "a"]


def test_numbers_beside_a_sentinel_are_numbers():
    X = np.array([[1, "?"], [2.5, 3]], dtype=object)
    table, _ = encode(X, missing_values="?")
    assert [column.kind for column in table.columns] == [Kind.NUMERIC] * 2
    assert encode(X)[0].columns[1].kind is Kind.CATEGORICAL


def test_numeric_text_is_not_parsed():
    X = pd.DataFrame({"code": ["031162100", "?"]})
    assert encode(X, missing_values="?")[1].schema.fields[0].levels == ("031162100",)


def test_sentinels_of_arrays_of_one_type():
    spans = np.array([[1], [2]], dtype="m8[s]")
    table, _, filled = round_trip(spans, missing_values=[1, "x", True])
    assert not table.missing.any()
    assert filled.tolist() == spans.tolist()
    flags, _, filled = round_trip(np.array([[True], [False]]), fill=0.0, missing_values=[1, True])
    assert flags.missing.tolist() == [[True], [False]]
    assert filled.tolist() == [[False], [False]]
    assert filled.dtype == bool


def test_integers_beside_a_category_are_rounded_into_their_range():
    X = np.array([[1, -9], [2, 2**53 + 1], [1, 2**53 + 3]])
    table, origin = encode(X, missing_values=-9, categorical_features=[0])
    assert [column.kind for column in table.columns] == [Kind.CATEGORICAL, Kind.NUMERIC]
    # as a float64 the largest number of the column would be 2⁵³ + 4
    filled = decode(np.where(table.missing, float(2**53 + 3), table.values), origin)
    assert filled.tolist() == [[1, 2**53 + 3], *X[1:].tolist()]
    assert filled.dtype == X.dtype


def test_sentinels_of_other_types_do_no_harm():
    X = pl.DataFrame({"d": [dt.date(1970, 1, 1), dt.date(1900, 1, 1)], "b": [True, False]})
    table, _ = encode(X, missing_values=[0, 1, "x", dt.date(1900, 1, 1)])
    assert table.missing.tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize("dtype", [object, "category"])
def test_false_is_not_zero_among_objects(dtype):
    X = pd.DataFrame({"smoker": pd.Series([True, False, None, False], dtype=dtype)})
    for sentinel, holes in ((0, [2]), (False, [1, 2, 3])):
        table, _ = encode(X, missing_values=sentinel)
        assert table.missing[:, 0].nonzero()[0].tolist() == holes


def test_naming_nan_as_missing_changes_nothing():
    assert encode([[1.0, 2.0]], missing_values=np.nan)[1].schema.missing_values == ()


# ------------------------------------------------------------------- categorical and ordinal


@pytest.mark.parametrize("chosen", [["a"], [0], [-3], [True, False, False], np.array([0])])
def test_numbers_can_be_called_categorical(chosen, make):
    X = make({"a": [3, None, 1], "b": [1.0, 2.0, 3.0], "s": ["x", "y", "z"]})
    table, origin = encode(X, categorical_features=chosen)
    assert [c.kind for c in table.columns] == [Kind.CATEGORICAL, Kind.NUMERIC, Kind.CATEGORICAL]
    assert table.values[[0, 2], 0].tolist() == [1.0, 0.0]
    filled = decode(np.where(table.missing, 1.0, table.values), origin)
    assert cells_of(filled)["a"] == [3, 3, 1]


def test_large_identifiers_stay_apart_as_categories():
    X = pl.DataFrame({"id": [HUGE, HUGE + 1, None]})
    table, origin = encode(X, categorical_features=["id"])
    assert table.columns[0].n_levels == 2
    assert decode(np.ones((3, 1)), origin)["id"].to_list()[2] == HUGE + 1


def test_float_arrays_with_categories():
    X = np.array([[10.0, 0.5], [np.nan, 1.5], [20.0, np.nan]])
    table, _, filled = round_trip(X, fill=1.0, categorical_features=[0])
    assert table.is_categorical.tolist() == [True, False]
    assert filled.tolist() == [[10.0, 0.5], [20.0, 1.5], [20.0, 1.0]]


def test_ordinal_levels_in_the_given_order(make):
    X = make({"size": ["L", "S", None], "pay": [1.0, 2.0, 3.0]})
    table, origin = encode(X, ordinal_features={"size": ["S", "M", "L"]})
    assert table.columns[0].kind is Kind.ORDINAL
    assert table.columns[0].n_levels == 3
    filled = decode(np.where(table.missing, 0.7, table.values), origin)
    assert cells_of(filled)["size"] == ["L", "S", "M"]


def test_ordinal_levels_are_sorted_otherwise():
    table, _ = encode([["b"], ["a"], ["c"]], ordinal_features=[0])
    assert table.columns[0].kind is Kind.ORDINAL
    assert table.values[:, 0].tolist() == [1.0, 0.0, 2.0]


def test_an_ordered_category_can_be_called_categorical():
    X = pd.DataFrame({"c": pd.Categorical(["a"], ordered=True)})
    assert encode(X)[0].columns[0].kind is Kind.ORDINAL
    assert encode(X, categorical_features=["c"])[0].columns[0].kind is Kind.CATEGORICAL


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"categorical_features": ["a", "nope"]}, "categorical_features.*'nope'"),
        ({"categorical_features": [7]}, "categorical_features.*7"),
        ({"categorical_features": [True]}, "mask of 1 columns.*has 2"),
        ({"categorical_features": "some"}, "'some'"),
        ({"categorical_features": 1}, "categorical_features must be .* a list of columns, got 1"),
        ({"ordinal_features": ["nope"]}, "ordinal_features.*'nope'"),
        ({"ordinal_features": {"nope": [1]}}, "ordinal_features.*'nope'"),
        ({"ordinal_features": "b"}, "ordinal_features"),
        ({"ordinal_features": 1}, "ordinal_features must be a list or a dict of columns, got 1"),
        ({"ordinal_features": {"b": None}}, "gives None as the levels of column 'b'. List them"),
        ({"ordinal_features": {"b": "xy"}}, "gives 'xy' as the levels of column 'b'. List them"),
        ({"ordinal_features": {"b": ["x"]}}, "column 'b', but row 1 holds 'y'"),
        ({"ordinal_features": {"a": [1.0]}}, "column 'a', but row 1 holds 2.0. Add it"),
        ({"ordinal_features": ["b"], "categorical_features": ["b"]}, "both.*'b'"),
    ],
)
def test_wrong_choices_of_columns(options, words, make):
    X = make({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(InvalidParameterError, match=words):
        encode(X, **options)


# --------------------------------------------------------------------- fit here, transform there


@pytest.mark.parametrize("other", MAKERS, ids=lambda maker: maker.__name__)
def test_a_schema_serves_every_library(make, other):
    schema = encode(make(COLUMNS))[1].schema
    expected, _ = encode(make(COLUMNS))
    table, origin = encode(other(COLUMNS), schema=schema)
    np.testing.assert_array_equal(table.values, expected.values)
    np.testing.assert_array_equal(table.missing, expected.missing)
    assert_only_holes_written(other(COLUMNS), decode(table.values, origin), table.missing)


def test_a_schema_serves_arrays_and_frames():
    schema = encode(pd.DataFrame({"a": [1, 2], "s": ["u", "v"]}))[1].schema
    table, _ = encode([[3.5, "v"]], schema=schema)
    assert table.values.tolist() == [[3.5, 1.0]]
    schema = encode(np.array([[1.0, 2.0]]))[1].schema
    assert encode(pl.DataFrame({"a": [1], "b": [None]}), schema=schema)[0].missing.tolist() == [
        [False, True]
    ]


def test_unseen_categories_pass_through(make):
    schema = encode(make({"s": ["a", "b"]}))[1].schema
    X = make({"s": ["c", None, "b"]})
    table, origin = encode(X, schema=schema)
    assert table.values[:, 0].tolist() == [-1.0, 0.0, 1.0]
    assert cells_of(decode(table.values, origin))["s"] == ["c", "a", "b"]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"s": pd.Categorical([None, "a"], categories=["a"])}),
        pl.DataFrame({"s": pl.Series([None, "a"], dtype=pl.Enum(["a"]))}),
        pl.DataFrame({"s": pl.Series([None, "a"], dtype=pl.Categorical)}),
        pa.table({"s": pa.array([None, "a"]).dictionary_encode()}),
    ],
    ids=["pandas", "enum", "categorical", "arrow"],
)
def test_a_category_grows_when_fit_knew_more_levels(X):
    schema = encode(pl.DataFrame({"s": ["a", "b"]}))[1].schema
    _, origin = encode(X, schema=schema)
    assert cells_of(decode(np.ones((2, 1)), origin))["s"] == ["b", "a"]


@pytest.mark.parametrize(
    ("seen", "given_", "words"),
    [
        ([1.0, 2.0], ["x", "y"], "'c' holds text, but fit saw numbers"),
        (["x", "y"], [1.0, 2.0], "'c' holds numbers, but fit saw text"),
        ([DAY, DAY], [1.0, 2.0], "'c' holds numbers, but fit saw dates"),
        ([True, False], ["x", "y"], "'c' holds text, but fit saw numbers"),
    ],
)
def test_another_meaning_is_refused(seen, given_, words):
    for maker in (to_polars, to_arrow, to_nullable):
        schema = encode(maker({"c": seen}))[1].schema
        with pytest.raises(InvalidDataError, match=words):
            encode(maker({"c": given_}), schema=schema)


def test_an_order_that_has_a_level_twice_is_refused():
    frame = pl.DataFrame({"size": ["S", "M", "L"]})
    with pytest.raises(InvalidParameterError, match=r"column 'size', which has a level twice"):
        encode(frame, ordinal_features={"size": ["S", "M", "L", "M"]})


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_moments_without_the_zone_of_fit_are_refused(library):
    moments = pd.Series(pd.to_datetime(["2020-01-01", None, "2021-07-01"]))
    seen = library(pd.DataFrame({"t": moments.dt.tz_localize("Asia/Tokyo")}))
    schema = encode(seen)[1].schema
    assert encode(seen, schema=schema)[0].values[0, 0] == encode(seen)[0].values[0, 0]
    with pytest.raises(InvalidDataError, match=r"'t' .* without a time zone, .* of Asia/Tokyo"):
        encode(library(pd.DataFrame({"t": moments})), schema=schema)
    encode(library(pd.DataFrame({"t": moments[1:2]})), schema=schema)  # nothing but a hole


def test_mixed_objects_are_no_numbers():
    schema = encode([[1.0], [2.0]])[1].schema
    with pytest.raises(InvalidDataError, match="'x0' holds categories, but fit saw numbers"):
        encode(np.array([[1.0], ["x"]], dtype=object), schema=schema)


def test_a_column_of_holes_takes_what_fit_knew(make):
    schema = encode(make({"n": [1, 2], "s": ["u", "v"], "b": [True, False]}))[1].schema
    nothing = {"n": [None, None], "s": [None, None], "b": [None, None]}
    for X in (make(nothing), pl.DataFrame(nothing, schema=dict.fromkeys("nsb", pl.Float64))):
        table, origin = encode(X, schema=schema)
        assert table.missing.all()
        cells = cells_of(decode(np.ones((2, 3)), origin))
        assert cells == {"n": [1, 1], "s": ["v", "v"], "b": [1, 1]}


@pytest.mark.parametrize(("seen", "expected"), [(["x", "y"], "y"), ([1.0, 2.0], 1.0)])
def test_a_category_of_holes_takes_levels_and_makes_way_for_numbers(seen, expected):
    schema = encode(pd.DataFrame({"c": seen}))[1].schema
    holes = pd.DataFrame({"c": pd.Categorical([None, None], categories=["x", "y"])})
    _, origin = encode(holes, schema=schema)
    assert decode(np.ones((2, 1)), origin)["c"].tolist() == [expected, expected]


def test_objects_of_an_unknown_type_are_unseen_categories():
    schema = encode(pd.DataFrame({"c": ["x", "y"]}))[1].schema
    new = pd.DataFrame({"c": pd.Series([(1, 2), "y", 7], dtype=object)})
    assert encode(new, schema=schema)[0].values.ravel().tolist() == [-1.0, 1.0, -1.0]


def test_objects_after_a_fit_on_nothing():
    schema = encode(np.array([[None], [None]], dtype=object))[1].schema
    assert schema.fields[0].family is Family.EMPTY
    table, origin = encode(np.array([["a"], [None]], dtype=object), schema=schema)
    assert decode(table.values, origin).tolist() == [["a"], ["missing_value"]]


def test_integers_become_floats_without_complaint():
    schema = encode(pd.DataFrame({"a": [1, 2]}))[1].schema
    _, origin = encode(pd.DataFrame({"a": [1.0, np.nan]}), schema=schema)
    assert decode(np.full((2, 1), 1.7), origin)["a"].tolist() == [1.0, 2.0]  # whole they stay


# ------------------------------------------------------------------------- kept and indicators


def test_columns_can_be_left_out(make):
    X = make({"a": [1.0, None], "b": [None, None], "s": ["x", None]})
    table, origin = encode(X)
    filled = decode(table.values, origin, kept=np.array([True, False, True]))
    assert list(cells_of(filled)) == ["a", "s"]
    assert library_of(filled) is library_of(X)


def test_indicators_are_boolean_columns(make):
    X = make({"a": [1.0, None]})
    table, origin = encode(X)
    filled = decode(table.values, origin, indicators={"missingindicator_a": table.missing[:, 0]})
    added = nw.from_native(filled, eager_only=True)["missingindicator_a"]
    assert added.dtype == nw.Boolean
    assert added.to_list() == [False, True]


def test_indicators_in_arrays_have_the_dtype_of_the_array():
    X = np.array([[1.0, np.nan]], dtype="float32")
    table, origin = encode(X)
    filled = decode(
        table.values,
        origin,
        kept=np.array([True, False]),
        indicators={"m": table.missing[:, 1]},
    )
    assert filled.dtype == X.dtype
    assert filled.tolist() == [[1.0, 1.0]]


# ---------------------------------------------------------------------------- other libraries


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_output_in_another_library(make, library):
    X = make({"a": [1.0, None], "s": ["x", None], "b": [True, None]})
    table, origin = encode(X)
    filled = decode(table.values, origin, library=library, indicators={"m": table.missing[:, 0]})
    assert library_of(filled) is nw.Implementation.from_string(library)
    assert cells_of(filled) == {
        "a": [1.0, 0.0],
        "s": ["x", "x"],
        "b": [True, False],
        "m": [False, True],
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("dtype", [float, object])
def test_arrays_become_frames_with_the_names_of_the_schema(library, dtype):
    X = np.array([[1.0, np.nan], [2.0, 3.0]]).astype(dtype)
    _, origin = encode(X)
    filled = decode(np.full((2, 2), 7.0), origin, kept=np.array([False, True]), library=library)
    assert cells_of(filled) == {"x1": [7.0, 3.0]}
    assert nw.from_native(filled, eager_only=True).schema["x1"] == nw.Float64


def test_frames_become_arrays(make):
    _, origin = encode(make({"a": [1.0, 2.0], "b": [3, None]}))
    numbers = decode(np.full((2, 2), 7.0), origin, library="numpy")
    assert numbers.tolist() == [[1.0, 3.0], [2.0, 7.0]]
    _, origin = encode(make({"a": [1.0, 2.0], "s": ["u", None]}))
    assert decode(np.zeros((2, 2)), origin, library="numpy").tolist() == [[1.0, "u"], [2.0, "u"]]


def test_a_pandas_index_stays_at_home():
    X = pd.DataFrame({0: [1.0, np.nan]}, index=["p", "q"])
    _, origin = encode(X)
    assert decode(np.zeros((2, 1)), origin, library="pyarrow").column_names == ["0"]
    assert decode(np.zeros((2, 1)), origin, library="pandas").index.tolist() == ["p", "q"]


def test_an_unknown_library():
    _, origin = encode([[1.0]])
    with pytest.raises(InvalidParameterError, match="'excel'"):
        decode(np.zeros((1, 1)), origin, library="excel")


# ------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "X",
    [[1.0, 2.0], np.arange(3), []],
    ids=["list", "numpy", "nothing"],
)
def test_one_dimension_is_refused(X):
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array instead.*Reshape"):
        encode(X)


@pytest.mark.parametrize(
    "X",
    [pd.Series(range(99)), pl.Series(range(99)), pa.chunked_array([list(range(99))])],
    ids=["pandas", "polars", "arrow"],
)
def test_a_series_is_refused_without_its_cells(X):
    with pytest.raises(
        InvalidDataError, match=r"1D array.*of 99 cells.*frame\[\['column'\]\]"
    ) as told:
        encode(X)
    assert "98" not in str(told.value)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.float64(3), "got scalar array"),
        (None, "X is None"),
        ("votes.csv", r"X is a name, 'votes.csv', not a table. Read the file"),
        (Path("votes.csv"), r"X is a name, 'votes.csv', not a table. Read the file"),
        ({"a": [1.0]}, r"X is a dict. Make a frame of it: (polars|pandas).DataFrame\(X\)"),
        ([{"a": 1.0}], "X is a list of dicts. Make a frame"),
        (np.zeros((2, 2, 2)), "Found array with dim 3"),
        ([[1.0], [1.0, 2.0]], "unequal length"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."),
        (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=[1, 2]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (np.array([[1j]]), "Complex data not supported"),
        ([[1j]], "Complex data not supported"),
        (np.array([[1j]], dtype=object), "Complex data not supported"),
        (pl.LazyFrame({"a": [1]}), r"collect\(\), or X.compute\(\) of Dask; greyfill.scan"),
        (pl.DataFrame({"ok": [1], "bad": [[1, 2]]}), "'bad'.*List"),
        (pl.DataFrame({"bad": [{"a": 1}]}), "'bad'.*Struct"),
        (pa.table({"bad": [[1]]}), "'bad'.*list<"),
        (pd.DataFrame({"bad": [[1], [2]]}), "'bad'.*list"),
        (pd.DataFrame({"bad": pd.arrays.SparseArray([1.0, 2.0])}), "'bad'"),
        (pl.DataFrame({"bad": [b"x"]}), "'bad'.*Binary"),
        (np.array([[{"a": 1}]], dtype=object), "'x0'.*dict"),
        (np.ma.masked_array([[1.0]], mask=[[True]]), r"filled\(numpy.nan\)"),
        (np.zeros((2, 1), dtype=[("a", float)]), "Structured"),
        (pa.record_batch({"a": [1]}), "RecordBatch is not supported"),
    ],
)
def test_what_is_no_table_is_refused(X, words):
    with pytest.raises(InvalidDataError, match=words):
        encode(X)


def test_tables_of_other_libraries_are_refused_with_a_remedy():
    table = SimpleNamespace(implementation=nw.Implementation.IBIS)
    with pytest.raises(InvalidDataError, match=r"(?i)ibis are not supported.*to_pandas"):
        backend_of(table)


def test_holes_among_objects_are_known_without_pandas(monkeypatch):
    cells = [[1.5, "a"], [float("nan"), None], [np.float32("nan"), "b"]]
    monkeypatch.setattr(nw.dependencies, "get_pandas", lambda: None)
    table, _ = encode(np.array(cells, dtype=object))
    assert table.missing.tolist() == [[False, False], [True, True], [True, False]]


def test_duplicate_columns_are_named():
    with pytest.raises(InvalidDataError, match=r"(?s)unique.*'twice'"):
        encode(pd.DataFrame([[1, 2, 3]], columns=["twice", "once", "twice"]))
    with pytest.raises(InvalidDataError, match=r"(?s)unique.*'twice'"):
        encode(pa.table([[1], [2]], names=["twice", "twice"]))


def test_a_sparse_column_is_refused_with_a_remedy():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.arrays.SparseArray([0.0, 1.0])})
    with pytest.raises(InvalidDataError, match=r"'b' has dtype Sparse.*\.sparse\.to_dense\(\)"):
        encode(frame)


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (pa.array([b"a", None], pa.binary(1)), r"fixed_size_binary\[1\]"),
        (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), "map<string, int64>"),
        (pa.array([[1], None]), "list<item: int64>"),
    ],
    ids=["bytes", "map", "list"],
)
def test_a_dtype_that_cannot_be_imputed_is_told_as_its_library_calls_it(cells, dtype):
    with pytest.raises(InvalidDataError, match=f"'a' has dtype {dtype}, which cannot"):
        encode(pa.table({"a": cells}))
    with pytest.raises(InvalidDataError, match=rf"'a' has dtype {dtype}\[pyarrow\], which cannot"):
        encode(pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(cells)}))


def test_a_column_of_views_is_filled():
    views = pa.array(["a", None], pa.string_view())
    try:
        views.cast(pa.large_string())
    except pa.ArrowNotImplementedError:
        pytest.skip("this arrow can do nothing with views")
    table, origin = encode(pa.table({"a": views}))
    filled = decode(np.zeros(table.values.shape), origin)["a"]
    assert (filled.to_pylist(), filled.type) == (["a", "a"], pa.string_view())


def test_missing_values_of_single_columns_are_refused_with_a_remedy():
    with pytest.raises(
        InvalidParameterError, match=r"missing_values .* dict.*replace\(-999, None\)"
    ):
        encode([[1.0, 2.0]], missing_values={"x0": -999})


def test_sparse_data_is_refused_with_a_remedy():
    from scipy import sparse

    with pytest.raises(InvalidDataError, match=r"(?i)sparse.*X\.toarray\(\)"):
        encode(sparse.csr_matrix(np.eye(2)))


def test_infinity_is_refused_where_it_stands(make):
    X = make({"ok": [1.0, 2.0], "pay": [None, -np.inf]})
    with pytest.raises(InvalidDataError, match=r"Input X contains infinity.*'pay'.*row 1.*Replace"):
        encode(X)
    with pytest.raises(InvalidDataError, match=r"Input X contains infinity.*'x1'.*row 0"):
        encode(np.array([[1.0, np.inf]]))


# ------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        (["yes", None, "no"], [1, -1, 0], ("no", "yes")),
        (np.array([3, 1, 3]), [1, 0, 1], (1, 3)),
        (np.array([3.0, np.nan, 1.0]), [1, -1, 0], (1.0, 3.0)),
        (pd.Series([3, None, 1], dtype="Int64"), [1, -1, 0], (1, 3)),
        (pd.Series([True, None], dtype=object), [0, -1], (True,)),
        (pd.Series(pd.Categorical(["b", None], categories=["a", "b"])), [0, -1], ("b",)),
        (pd.Series(["b", None, "a"]), [1, -1, 0], ("a", "b")),
        (pl.Series(["b", None, "a"]), [1, -1, 0], ("a", "b")),
        (pl.Series([2, None, 1]), [1, -1, 0], (1, 2)),
        (pa.chunked_array([["b"], [None, "a"]]), [1, -1, 0], ("a", "b")),
        ([1, "a", 1], [0, 1, 0], (1, "a")),
        ([None, None], [-1, -1], ()),
        (pl.Series([None, None], dtype=pl.String), [-1, -1], ()),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), [0, -1], (dt.date(2020, 1, 1),)),
    ],
)
def test_labels_of_any_library(y, codes, classes):
    found, names = encode_labels(y)
    assert found.tolist() == codes
    assert names == classes
    assert list(map(type, names)) == list(map(type, classes))
    labels, missing = labels_to_array(y)
    assert labels.shape == missing.shape == (len(codes),)
    assert missing.tolist() == [code < 0 for code in codes]


@pytest.mark.parametrize("y", [np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]}), [[1], [2]]])
def test_a_column_of_labels_warns(y):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert labels_to_array(y)[0].tolist() == [1, 2]


def test_bad_labels():
    with pytest.raises(InvalidDataError, match=r"1d array.*\(1, 2\)"):
        encode_labels([[1, 2]])
    for y in ("class", 3, {"a": 1}, pl.LazyFrame({"y": [1]})):
        with pytest.raises(InvalidDataError, match=r"one label for each row.*, not (a )?.*\w"):
            encode_labels(y)
    with pytest.raises(InvalidDataError, match="not 'class'"):
        encode_labels("class")
    with pytest.raises(InvalidDataError, match="Input y contains infinity: row 1"):
        encode_labels([1.0, np.inf])


# ---------------------------------------------------------------------------------- properties

CELLS = {
    "floats": st.floats(allow_nan=False, allow_infinity=False),
    "integers": st.integers(-(2**63), 2**63 - 1),
    "booleans": st.booleans(),
    "texts": st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4),
    "dates": st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1)),
    "moments": st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)),
}


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    return {
        f"{kind}{j}": [
            draw(CELLS[kind]),
            *draw(st.lists(st.none() | CELLS[kind], min_size=n_rows, max_size=n_rows)),
        ]
        for j, kind in enumerate(kinds)
    }


@settings(max_examples=60, deadline=None)
@given(columns=tables(), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_observed_cells_are_sacred(maker, columns, seed):
    X = maker(columns)
    table, origin = encode(X)
    rng = np.random.default_rng(seed)
    fills = np.column_stack([_fills(column, table.n_rows, rng) for column in table.columns])
    filled = decode(np.where(table.missing, fills, np.nan), origin)
    assert_only_holes_written(X, filled, table.missing)
    again, _ = encode(filled, schema=origin.schema)
    assert not again.missing.any()
    np.testing.assert_array_equal(again.values[~table.missing], table.values[~table.missing])


def _fills(column, n_rows, rng):
    if column.kind is Kind.NUMERIC:
        return rng.normal(scale=1e6, size=n_rows)
    return rng.integers(0, max(column.n_levels, 1), size=n_rows)


# --------------------------------------------------------------------------------------- size


def test_ten_thousand_levels_are_no_burden(make):
    words = [f"w{i % 10_000}" for i in range(30_000)]
    table, _ = encode(make({"s": words}))
    assert table.columns[0].n_levels == 10_000


def test_importing_frames_loads_no_frame_library():
    code = (
        "import sys; import narwhals, sklearn.exceptions; before = set(sys.modules);"
        "import importlib.util as u, greyfill.frames;"
        "new = set(sys.modules) - before; print({'pandas', 'polars', 'pyarrow'} & new)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()", run.stdout


# ---------------------------------------------------------------- short ways end where long ones do

SHORT_COLUMNS = {
    "pandas integers": pd.Series([3, 1], dtype="UInt16"),
    "pandas integers and a hole": pd.Series([3, None], dtype="Int64"),
    "pandas floats": pd.Series([0.5, np.nan], dtype="Float32"),
    "pandas booleans": pd.Series([True, False], dtype="boolean"),
    "pandas text": pd.Series(["b", None, "a", "b"], dtype="string"),
    "pandas text of Python": pd.Series(["b", pd.NA, "a"], dtype=pd.StringDtype("python")),
    "pandas without text": pd.Series([None, None], dtype="string"),
    "pandas categories": pd.Series(pd.Categorical(["b", None], ["c", "b"], ordered=True)),
    "polars integers": pl.Series([3, HUGE]),
    "polars integers and a hole": pl.Series([3, None], dtype=pl.UInt8),
    "polars long integers": pl.Series([3, 1], dtype=pl.Int128),
    "polars floats": pl.Series([0.5, None, float("nan")], dtype=pl.Float32),
    "polars booleans": pl.Series([True, False]),
    "polars text": pl.Series(["b", None, "a", "b"]),
    "polars categories": pl.Series(["b", None, "a"], dtype=pl.Categorical),
    "polars enumerations": pl.Series(["b", None], dtype=pl.Enum(["c", "b"])),
    "polars without text": pl.Series([None, None], dtype=pl.String),
}


@pytest.mark.parametrize("sentinels", [(), ("b", 3, True)])
@pytest.mark.parametrize("name", SHORT_COLUMNS)
def test_short_columns_are_read_as_by_narwhals(name, sentinels, monkeypatch):
    column = SHORT_COLUMNS[name]
    backend = backend_of(nw.from_native(column, series_only=True))
    short = read_native(column, name, sentinels, backend)
    for way in ("plain", "family"):
        monkeypatch.setattr(backend, way, lambda series: None)
    for library in (pandas_backend, polars_backend):
        monkeypatch.setattr(library, "SHORT", 0)
    long = read_native(column, name, sentinels, backend)
    for one, other in zip(astuple(short), astuple(long), strict=True):
        same = np.array_equal if isinstance(one, np.ndarray) else operator.eq
        assert same(one, other)
    assert short.values.dtype == long.values.dtype


@pytest.mark.parametrize(
    "order",
    [
        [dt.date(2024, 2, 1), dt.date(2024, 1, 1)],
        [dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 1, 6)],
        [dt.time(18), dt.time(6, 30)],
        [dt.timedelta(days=2), dt.timedelta(hours=3)],
    ],
)
def test_orders_of_moments_are_given_as_moments(order):
    first, second = order
    frame = pl.DataFrame({"at": [second, None, first]})
    table, _ = encode(frame, ordinal_features={"at": order})
    assert table.values[:, 0].tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(InvalidParameterError, match=re.escape(f"row 0 holds {second!r}")):
        encode(frame, ordinal_features={"at": [first]})


def _zoned(library: str) -> Any:
    days = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), None, dt.datetime(2020, 1, 2)] * 10
    frame = pl.DataFrame({"at": days, "x": [float(i % 4) for i in range(40)]}).with_columns(
        pl.col("at").dt.replace_time_zone("America/Port-au-Prince")
    )
    if library == "polars":
        return frame
    return frame.to_arrow() if library == "pyarrow" else frame.to_pandas()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_moments_of_a_zone_are_told_in_it(library: str) -> None:
    frame, zone = _zoned(library), ZoneInfo("America/Port-au-Prince")
    first, second = (dt.datetime(2020, 1, day, tzinfo=zone) for day in (1, 2))
    with pytest.raises(InvalidParameterError) as error:
        encode(frame, ordinal_features={"at": [first]})
    assert f"row 1 holds {second!r}." in str(error.value)
    table, origin = encode(frame, ordinal_features={"at": [first, second]})
    assert table.values[:4, 0].tolist() == [0.0, 1.0, 0.0, 1.0]
    about = origin.schema.fields[0]
    assert str(cell_values(np.array([0.0, 1.0]), about)) == str([first, second])
    moments, origin = encode(frame, missing_values=[second])
    assert moments.missing[:4, 0].tolist() == [False, True, True, True]
    shown = cell_values(moments.values[:1, 0], origin.schema.fields[0])
    assert str(shown) == str([first])
    merged = merge_schemas({0: origin.schema, 1: origin.schema})
    assert merged.fields[0].zone == zone.key


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_limits_of_moments_of_a_zone_are_moments_of_it(library: str, tmp_path: Path) -> None:
    frame = _zoned(library)
    filled = greyfill.fill(frame)
    cells = filled.cells
    low = cells["low"].to_pylist() if library == "pyarrow" else list(cells["low"])
    assert {str(moment)[-6:] for moment in low} == {"-05:00"}
    filled.imputer.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    assert loaded.schema_.fields[0].zone == "America/Port-au-Prince"
