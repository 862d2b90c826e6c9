"""Whatever the cells are: a whole answer with observed cells unchanged, or an error of ours."""

import datetime as dt
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from imputers.family import EXTRAPOLATING, quick
from imputers.family import THOROUGH as FAMILY

import greyfill
from greyfill import frames
from greyfill.exceptions import GreyfillError, InvalidDataError

IMPUTERS = [
    greyfill.GreyImputer,
    greyfill.CGKNNImputer,
    greyfill.KNNIImputer,
    greyfill.MICEImputer,
    greyfill.MissForestImputer,
]
NUMBERS = [1.0, None, 3.0, 4.0, 5.0, 6.0]
HOLES = np.array([[1.0, 2], [np.nan, 3], [3, 4], [4, np.nan], [5, 6], [6, 7]])
CLASSES = [0, 1, 0, 1, 0, 1]


class NoEquality:
    """An object that cannot be compared."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        raise RuntimeError("not comparable")


class NoText:
    """An object that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("not to be shown")


OBJECTS: dict[str, tuple[Any, Any, Any]] = {
    "large integers": (10**400, 1, 2),
    "integers beyond 64 bits": (2**70, 1, 2),
    "fractions": (Fraction(1, 3), Fraction(2), 1),
    "large fractions": (Fraction(10**400), Fraction(2), 1),
    "complex": (1 + 2j, 2, 3),
    "lists": ([1], [2], [1]),
    "dicts": ({"a": 1}, {}, {"b": 2}),
    "sets": ({1}, {2}, {1}),
    "frozensets": (frozenset({1}), frozenset(), frozenset({1})),
    "void": (np.void(b"ab"), np.void(b"cd"), np.void(b"ab")),
    "bytes": (b"a", b"b", b"a"),
    "views of memory": (memoryview(b"a"), memoryview(b"b"), memoryview(b"a")),
    "zones": (
        pd.Timestamp("2020", tz="UTC"),
        pd.Timestamp("2021", tz="Asia/Tokyo"),
        dt.datetime.max,
    ),
    "NaT among texts": (pd.NaT, "a", 1.0),
    "decimal NaN": (Decimal("NaN"), Decimal(1), Decimal(2)),
    "signaling NaN": (Decimal("sNaN"), Decimal(1), Decimal(2)),
    "decimal infinity": (Decimal("Infinity"), Decimal(1), Decimal(2)),
    "large decimals": (Decimal("1e400"), Decimal(1), Decimal(2)),
    "arrays": (np.array([1]), np.array([2]), np.array([1])),
    "durations of numpy": (np.timedelta64(1, "D"), np.timedelta64(2, "h"), np.timedelta64(3, "s")),
    "dates of numpy": (np.datetime64("2020"), np.datetime64("2021"), np.datetime64("2020")),
    "dates": (dt.date.min, dt.datetime.max, dt.date(2020, 1, 1)),
    "longest spans": (dt.timedelta.max, dt.timedelta.min, dt.timedelta(1)),
    "not comparable": (NoEquality(), NoEquality(), NoEquality()),
    "not to be shown": (NoText(), NoText(), NoText()),
    "surrogates": ("\ud800", "a", "b"),
    "tuples": ((1, 2), (3,), (1, 2)),
    "intervals": (pd.Interval(0, 1), pd.Interval(1, 2), pd.Interval(0, 1)),
}


def objects(cells: tuple[Any, Any, Any]) -> Any:
    """A column of objects with a hole."""
    column = np.empty(6, dtype=object)
    for row, cell in enumerate((cells[0], cells[1], None, cells[2], cells[0], cells[1])):
        column[row] = cell
    return column


def boxes(cells: tuple[Any, Any, Any]) -> list[Any]:
    """The same objects in every container that can hold them."""
    column = objects(cells)
    array = np.empty((6, 2), dtype=object)
    array[:, 0], array[:, 1] = column, NUMBERS
    series = [pl.Series("a", column.tolist(), dtype=pl.Object), pl.Series("b", NUMBERS)]
    return [
        array,
        pd.DataFrame({"a": pd.Series(column, dtype=object), "b": NUMBERS}),
        pl.DataFrame(series),
    ]


def arrow(column: Any) -> list[Any]:
    """A column of Arrow in its own table and in one of pandas."""
    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    series = pd.Series(pd.arrays.ArrowExtensionArray(chunks))
    return [pa.table({"a": chunks, "b": NUMBERS}), pd.DataFrame({"a": series, "b": NUMBERS})]


def dictionary(values: Any, **options: Any) -> Any:
    """Cells that point at values, of which the second is null."""
    return pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None, 0, 2], pa.int8()), values, **options
    )


TEXTS, WHOLE = ["a", "b", None, "a", "b", "b"], [1, 2, None, 4, 5, 1]
LEVELS = pa.array(["a", None, "b"])
SEVERAL = [dictionary(LEVELS).slice(0, 3), dictionary(pa.array(["b", None, "c"])).slice(3)]
TYPED: dict[str, Callable[[], list[Any]]] = {
    "string_view": lambda: arrow(pa.array(TEXTS, pa.string_view())),
    "binary_view": lambda: arrow(pa.array([b"a", None] * 3, pa.binary_view())),
    "large_list": lambda: arrow(pa.array([[1], None] * 3, pa.large_list(pa.int8()))),
    "run_end_encoded": lambda: [
        pa.table({"a": pa.RunEndEncodedArray.from_arrays([3, 6], TEXTS[1:3])})
    ],
    "decimal256": lambda: arrow(pa.array(WHOLE).cast(pa.decimal256(60, 3))),
    "month_day_nano": lambda: [
        pa.table({"a": pa.array([(1, 2, 3), None], pa.month_day_nano_interval())})
    ],
    "duration": lambda: arrow(pa.array(WHOLE).cast(pa.duration("s"))),
    "time32": lambda: arrow(pa.array(WHOLE, pa.int32()).cast(pa.time32("s"))),
    "null": lambda: arrow(pa.nulls(6)),
    "struct": lambda: arrow(pa.array([{"x": 1}, None] * 3)),
    "dictionary with null": lambda: arrow(dictionary(LEVELS)),
    "ordered dictionary with null": lambda: arrow(dictionary(LEVELS, ordered=True)),
    "dictionaries with nulls": lambda: arrow(pa.chunked_array(SEVERAL)),
    "dictionary with NaN": lambda: arrow(dictionary(pa.array([1.5, float("nan"), 2.5]))),
    "dictionary of nulls": lambda: arrow(dictionary(pa.nulls(3, pa.string()))),
    "dictionary of lists": lambda: arrow(dictionary(pa.array([[1], None, [2]]))),
    "dictionary of views": lambda: arrow(
        dictionary(pa.array(LEVELS.to_pylist(), pa.string_view()))
    ),
    "polars": lambda: [
        pl.DataFrame([pl.Series("a", cells, dtype=dtype), pl.Series("b", NUMBERS)])
        for cells, dtype in (
            (WHOLE, pl.Int128),
            ([2**100, *WHOLE[1:]], pl.Int128),
            (WHOLE, pl.Decimal(10, 2)),
            ([None] * 6, pl.Null),
            (TEXTS, pl.Enum(["a", "b"])),
            (TEXTS, pl.Categorical),
            ([None] * 6, pl.Enum([])),
            ([[1], None] * 3, pl.List(pl.Int8)),
            ([{"x": 1}, None] * 3, pl.Struct({"x": pl.Int8})),
            ([b"a", None] * 3, pl.Binary),
            ([dt.time(1), None] * 3, pl.Time),
            ([dt.timedelta(1), None] * 3, pl.Duration),
        )
    ],
    "pandas": lambda: [
        pd.DataFrame({"a": column, "b": NUMBERS})
        for column in (
            pd.arrays.SparseArray([1.0, np.nan] * 3),
            pd.arrays.IntervalArray.from_tuples([(0, 1), np.nan] * 3),
            pd.PeriodIndex(["2020", pd.NaT] * 3, freq="Y"),
            np.array([1 + 1j, np.nan] * 3),
            pd.array(TEXTS, dtype="string[python]"),
            pd.array(TEXTS, dtype="string[pyarrow]"),
            pd.Categorical([1, 2, None] * 2),
            pd.Categorical([1, "a", None] * 2),
            pd.Categorical([(1, 2), (3,), None] * 2),
            pd.cut([1, 2, np.nan, 4, 5, 6], 3),
        )
    ],
    "names": lambda: [pd.DataFrame({"a": NUMBERS, 1: NUMBERS})],
    "numpy": lambda: [
        np.array([[1, np.nan], [2, 3]], dtype=np.longdouble) * np.longdouble("1e4000"),
        np.zeros(3, dtype=[("a", float)]),
        np.ma.masked_invalid([[1.0, np.nan], [2.0, 3.0]]),
        np.zeros((2, 2, 2)),
        np.array([["2020", "NaT"], ["2021", "2022"]], dtype="M8[Y]"),
        np.array([[2**62, "NaT"], [3, 4]], dtype="m8[D]"),
    ],
    "no tables": lambda: [
        ([1, 2] for _ in range(3)),
        {(1, 2), (3, 4)},
        b"ab",
        3,
        int,
        [{1}, {2}],
        [],
    ],
}
TABLES = {name: lambda cells=cells: boxes(cells) for name, cells in OBJECTS.items()} | TYPED

MUST_WORK = [
    "string_view",
    "dictionary with null",
    "ordered dictionary with null",
    "dictionaries with nulls",
    "dictionary with NaN",
    "durations of numpy",
    "integers beyond 64 bits",
    "views of memory",
]


def columns(table: Any) -> list[list[Any]]:
    """All cells as Python has them."""
    if isinstance(table, pa.Table):
        return [column.to_pylist() for column in table.columns]
    if isinstance(table, pl.DataFrame):
        return [column.to_list() for column in table.get_columns()]
    if isinstance(table, pd.DataFrame):
        return [table.iloc[:, j].tolist() for j in range(table.shape[1])]
    return [list(table[:, j]) for j in range(table.shape[1])]


def is_hole(cell: Any) -> bool:
    return cell is None or bool(np.ndim(cell) == 0 and np.any(pd.isna(cell)))


def assert_filled(table: Any, filled: Any) -> None:
    """No hole is left, and no observed cell is another one."""
    for before, after in zip(columns(table), columns(filled), strict=True):
        assert not any(map(is_hole, after))
        observed = [(b, a) for b, a in zip(before, after, strict=True) if not is_hole(b)]
        assert all(b is a or b == a for b, a in observed)


def attempt(work: Callable[..., Any], *arguments: Any) -> Any:
    """What comes out, or None where our own words refuse it."""
    try:
        return work(*arguments)
    except GreyfillError:
        return None


def fit_predict(model: Any, table: Any, y: Any) -> Any:
    return model.fit(table, y).predict(table)


@pytest.mark.filterwarnings("ignore::greyfill.exceptions.EmptyColumnWarning")
@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_a_whole_answer_or_our_own_words(tables):
    for place, table in enumerate(tables()):
        y = CLASSES[: len(table) if hasattr(table, "shape") else 6]
        for imputer in IMPUTERS if place == 0 else [greyfill.KNNIImputer]:
            model = quick(imputer, keep_empty_features=True)
            filled = attempt(model.fit_transform, table, y)
            if filled is not None:
                assert_filled(table, filled)
                assert_filled(table, model.transform(table))
        for library in ("pandas", "polars"):
            model = greyfill.KNNIImputer(2, keep_empty_features=True, add_indicator=True)
            filled = attempt(model.set_output(transform=library).fit_transform, table)
            assert filled is None or not any(is_hole(c) for cells in columns(filled) for c in cells)
        for model in (greyfill.GreyClassifier(n_cells=20), greyfill.GreyRegressor(n_cells=20)):
            found = attempt(fit_predict, model, table, y)
            assert found is None or np.isfinite(found).all()


@pytest.mark.parametrize("name", MUST_WORK)
def test_what_has_an_answer_gets_it(name):
    if "view" in name and int(pa.__version__.split(".")[0]) < 18:
        pytest.skip("pandas cannot even show a view of this pyarrow; it is refused in words")
    for table in TABLES[name]():
        for imputer in IMPUTERS:
            assert_filled(table, quick(imputer).fit_transform(table, CLASSES))


@pytest.mark.parametrize("cells", OBJECTS.values(), ids=OBJECTS)
def test_labels_are_classes_or_refused(cells):
    y = objects(cells)
    known = np.array([label is not None for label in y])
    attempt(fit_predict, greyfill.GreyRegressor(n_cells=20), HOLES[known], y[known])
    for imputer in (greyfill.GreyImputer, greyfill.CGKNNImputer):
        filled = attempt(quick(imputer).fit_transform, HOLES, y)
        assert filled is None or np.isfinite(filled).all()
    found = attempt(fit_predict, greyfill.GreyClassifier(n_cells=20), HOLES[known], y[known])
    assert found is None or found.shape == (5,)


@pytest.mark.parametrize(
    "y",
    [
        [b"a", b"b"] * 3,
        [dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 3,
        [dt.time(1), dt.time(2)] * 3,
        [dt.timedelta(1), dt.timedelta(2)] * 3,
        np.array(["2020-01-01", "2020-01-02"] * 3, dtype="M8[ns]"),
        np.array(["2020-01-01", "2020-01-02"] * 3, dtype="M8[D]"),
        pd.Series([(1, 2), (3, 4)] * 3),
        [1, "a"] * 3,
    ],
    ids=["bytes", "dates", "times", "spans", "nanoseconds", "days", "tuples", "mixed"],
)
def test_classes_of_any_type_come_back_as_they_are(y):
    X = np.array([[0.0], [1.0]] * 3)
    assert list(greyfill.GreyClassifier(n_cells=20).fit(X, y).predict(X)) == list(y)
    for imputer in IMPUTERS:
        quick(imputer).fit(X, y)
    with pytest.raises(GreyfillError, match="needs numbers"):
        greyfill.GreyRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (10**400, "column 'a' is infinite in row 4. Replace it"),
        (
            Decimal("sNaN"),
            r"Column 'a' cannot be read: row 4 holds Decimal\('sNaN'\).*Replace that",
        ),
    ],
    ids=["large integer", "signaling NaN"],
)
def test_refused_cells_are_named(cell, words):
    table = pd.DataFrame({"b": NUMBERS, "a": pd.Series([1, 2, None, 3, cell, cell], dtype=object)})
    with pytest.raises(InvalidDataError, match=words):
        greyfill.KNNIImputer().fit(table)
    with pytest.raises(InvalidDataError, match="row 4"):
        greyfill.CGKNNImputer().fit(HOLES, table["a"])


@pytest.mark.parametrize("kind", [NoEquality, NoText, lambda: np.void(b"ab")])
def test_columns_without_levels_are_named(kind):
    table = pd.DataFrame({"b": NUMBERS, "a": pd.Series([kind() for _ in NUMBERS], dtype=object)})
    with pytest.raises(InvalidDataError, match="Column 'a'"):
        greyfill.KNNIImputer().fit(table)


def test_columns_that_the_other_library_lacks_are_named():
    table = pd.DataFrame({"b": NUMBERS, "a": pd.Categorical([1, "u", None] * 2)})
    imputer = greyfill.KNNIImputer(2).set_output(transform="polars")
    with pytest.raises(InvalidDataError, match=r"Column 'a' .* cannot become a column of polars"):
        imputer.fit_transform(table)


@pytest.mark.filterwarnings("ignore::greyfill.exceptions.EmptyColumnWarning")
@pytest.mark.parametrize("library", ["default", "pandas", "polars"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_indicators_remain_where_all_columns_are_dropped(frame, library):
    imputer = greyfill.KNNIImputer(add_indicator=True).set_output(transform=library)
    filled = imputer.fit_transform(frame({"a": [None, None], "b": [None, None]}))
    assert columns(filled) == [[True, True], [True, True]]


def test_models_refuse_no_rows():
    for model in (greyfill.GreyRegressor(), greyfill.GreyClassifier()):
        with pytest.raises(InvalidDataError, match="0 sample"):
            model.fit(np.zeros((0, 2)), [])
        with pytest.raises(InvalidDataError, match="different rows"):
            model.fit(np.zeros((3, 2)), [])


EXTREMES = {
    "longest range": ([-1.7e308, 1.7e308, np.nan, 0, 5], [1.7e308, np.nan, 3, 5e-324, -1e308]),
    "one large value": ([1.7e308, 1.7e308, np.nan, 1.7e308, np.nan], [1, 2, 3, np.nan, 5]),
    "least numbers": ([5e-324, 1e-323, np.nan, 0, 2e-323], [1e-310, 2e-310, 3e-310, np.nan, 0]),
}


@pytest.mark.parametrize("cells", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("imputer", FAMILY)
def test_finite_tables_stay_finite_and_within_their_range(imputer, cells):
    X = np.column_stack(cells * 2)[[0, 1, 2, 3, 4] * 3]
    model = quick(imputer)
    filled = model.fit_transform(X, np.arange(15) % 2)
    assert np.isfinite(filled).all()
    if imputer not in EXTRAPOLATING:
        assert (filled >= np.nanmin(X, axis=0)).all()
        assert (filled <= np.nanmax(X, axis=0)).all()
    for told in getattr(model, "selection_", {}).values():
        assert np.isfinite([told["error"], *told["tried"].values()]).all()
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize(
    "y", [[1e308, -1e308, 1.7e308, 0.5], [5e-324, 0.0, 1e-323, 0.5e-300], [-1.7e308, 1.7e308, 1, 2]]
)
def test_responses_of_any_size_have_finite_answers(y):
    X, y = np.tile(HOLES[:4], (5, 1)), np.array(y * 5)
    model = greyfill.GreyRegressor(n_cells=20).fit(X, y)
    found = model.predict(X)
    assert (found >= y.min()).all()
    assert (found <= y.max()).all()
    assert np.isfinite(model.selection_["error"])
    imputer = quick(greyfill.GreyImputer)
    assert np.isfinite(imputer.fit_transform(X, y)).all()
    assert np.isfinite(imputer.draw(X, 1, y)[0]).all()


def new_rows() -> dict[str, Any]:
    """Rows for an imputer of two columns, good ones and those that are refused."""
    rows = np.array([[2.0, np.nan], [np.nan, 5.0], [-9.0, 4.0]])
    named = pd.DataFrame(rows, columns=["a", "b"])
    return {
        "floats": rows,
        "single floats": rows.astype(np.float32),
        "Fortran order": np.asfortranarray(rows),
        "integers": np.array([[2, -9], [1, 3]]),
        "infinite": np.array([[np.inf, 1.0]]),
        "objects": rows.astype(object),
        "text": np.array([["a", "b"]]),
        "booleans": np.array([[True, False]]),
        "three columns": np.ones((1, 3)),
        "one dimension": rows[0],
        "three dimensions": rows[np.newaxis],
        "no rows": rows[:0],
        "list": rows.tolist(),
        "masked": np.ma.masked_invalid(rows),
        "pandas": named,
        "polars": pl.DataFrame(named),
        "arrow": pa.table(named.to_dict("list")),
        "other names": named.rename(columns={"b": "c"}),
        "other order": named[["b", "a"]],
        "no names": named.set_axis([0, 1], axis=1),
    }


def answer_of(call: Any, X: Any) -> Any:
    """What came out, with its type, or the error; and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            filled = call(X)
            cells = filled.to_numpy() if hasattr(filled, "to_numpy") else np.asarray(filled)
            out = type(filled), str(getattr(filled, "dtype", "")), repr(cells.tolist())
        except GreyfillError as error:
            out = type(error), str(error)
    return out, [str(warning.message) for warning in told]


@pytest.mark.parametrize("missing", [None, -9.0])
@pytest.mark.parametrize("fitted", ["array", "frame", "never"])
@pytest.mark.parametrize("given", new_rows())
def test_the_short_way_of_new_rows_ends_where_the_long_way_does(
    given: str, fitted: str, missing: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    imputer = greyfill.CGKNNImputer(n_neighbors=2, missing_values=missing)
    if fitted != "never":
        training = HOLES if fitted == "array" else pd.DataFrame(HOLES, columns=["a", "b"])
        imputer.fit(training, CLASSES)
    X = new_rows()[given]
    short = answer_of(imputer.transform, X)
    monkeypatch.setattr(frames, "encode_plain", lambda X, schema: None)
    assert short == answer_of(imputer.transform, X)
    monkeypatch.setattr(type(imputer), "_surely_fits", lambda self, opened: False)
    assert short == answer_of(imputer.transform, X)


@pytest.mark.parametrize("missing", [None, -9.0])
@pytest.mark.parametrize("fitted", ["array", "frame", "never"])
@pytest.mark.parametrize("given", new_rows())
def test_models_read_plain_rows_as_any_others(
    given: str, fitted: str, missing: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = greyfill.GreyClassifier(n_cells=10, missing_values=missing)
    if fitted != "never":
        training = HOLES if fitted == "array" else pd.DataFrame(HOLES, columns=["a", "b"])
        model.fit(training, CLASSES)
    X = new_rows()[given]
    short = answer_of(model.predict_proba, X)
    monkeypatch.setattr(frames, "encode_plain", lambda X, schema: None)
    assert short == answer_of(model.predict_proba, X)


def test_several_outputs_are_refused_with_a_remedy():
    with pytest.raises(InvalidDataError, match=r"shape \(6, 2\) .*labels='none'.*multioutput"):
        greyfill.GreyImputer().fit(HOLES, np.c_[CLASSES, CLASSES])
    imputer = greyfill.GreyImputer(labels="none")
    filled = imputer.fit_transform(HOLES, np.c_[CLASSES, CLASSES])
    np.testing.assert_array_equal(filled, imputer.fit_transform(HOLES))
