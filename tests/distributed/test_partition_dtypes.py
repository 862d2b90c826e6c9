"""Partitions of different dtypes: every observed cell comes back as it was, or words do."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

dd = pytest.importorskip("dask.dataframe")

from dask.delayed import delayed  # noqa: E402
from hypothesis import example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from greyfill import KNNIImputer  # noqa: E402
from greyfill.distributed import DaskImputer  # noqa: E402
from greyfill.exceptions import GreyfillError, InvalidDataError  # noqa: E402

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
MASKED = [name.replace("int", "Int").replace("u", "U") for name in WHOLE]
MOMENTS = [f"datetime64[{unit}{zone}]" for unit in ("s", "ms", "us", "ns")
           for zone in ("", ", UTC", ", Europe/Paris")]  # fmt: skip
SPANS = [f"timedelta64[{unit}]" for unit in ("s", "ms", "us", "ns")]
FLOATS = ["float32", "float64", "Float64"]
OTHERS = ["bool", "boolean", "string", "object", "category"]
DTYPES = [*WHOLE, *MASKED, *FLOATS, *OTHERS, *MOMENTS, *SPANS]
HOLDS_NO_HOLE = {*WHOLE, "bool"}
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
TICKS = [0, 1, -7, 86_400, 1_700_000_000, 9_007_199_254, 250_000_000_000]


def cells_of(dtype: str) -> st.SearchStrategy:
    """Cells of a dtype, also those that few other dtypes hold."""
    if "int" in dtype.lower():
        info = np.iinfo(dtype.lower())
        edges = [0, 1, 100, 100_000, 2**53 + 1, int(info.max), int(info.min)]
        return st.sampled_from([edge for edge in edges if info.min <= edge <= info.max])
    if dtype in FLOATS:
        edges = [0.0, 2.0, 5.5, -1e4, 3.25e9, 2.0**63]
        return st.sampled_from(edges if dtype == "float32" else [*edges, 0.1, 1e300])
    if "64[" in dtype:
        return st.sampled_from(TICKS if "ns" not in dtype else [t for t in TICKS if t < 2**62])
    return st.booleans() if "bool" in dtype else st.sampled_from(["a", "b", "5"])


def column(dtype: str, cells: list) -> pd.Series:
    if "64[" in dtype:
        kind, unit = dtype[0].replace("d", "M").replace("t", "m"), dtype[:-1].split("[")[1]
        unit, _, zone = unit.partition(", ")
        ticks = np.array([0 if cell is None else cell for cell in cells], dtype=np.int64)
        moments = pd.Series(ticks.view(f"{kind}8[{unit}]"))
        moments = moments.mask(np.array([cell is None for cell in cells]))
        return moments.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else moments
    if dtype in ("float32", "float64"):
        return pd.Series([np.nan if cell is None else cell for cell in cells], dtype=dtype)
    return pd.Series(cells, dtype=dtype)


@st.composite
def parts(draw: st.DrawFn, dtype: str | None = None) -> pd.DataFrame:
    """A partition of a few rows: ``v`` is of any dtype, and no cell is missing in ``x``."""
    dtype = dtype or draw(st.sampled_from(DTYPES))
    cells = draw(st.lists(cells_of(dtype), min_size=2, max_size=3))
    holes = [] if dtype in HOLDS_NO_HOLE else [None] * draw(st.integers(0, 1))
    v = column(dtype, [*cells, *holes])
    return pd.DataFrame({"v": v, "x": np.arange(len(v), dtype=np.float64)})


def part(dtype: str, *cells) -> pd.DataFrame:
    return pd.DataFrame({"v": column(dtype, list(cells)), "x": np.arange(float(len(cells)))})


def dask_frame(*partitions: pd.DataFrame) -> "dd.DataFrame":
    lazy = [delayed(partition) for partition in partitions]
    return dd.from_delayed(lazy, meta=partitions[0].iloc[:0], verify_meta=False)


def exact(cell: object) -> object:
    """What a cell says, for an exact comparison: no float is between."""
    if isinstance(cell, pd.Timestamp | pd.Timedelta):
        ticks = int(cell.asm8.astype(np.int64)) * UNITS[cell.unit]
        return type(cell).__name__, ticks, getattr(cell, "tzinfo", None) is None
    assert not isinstance(cell, timedelta)
    return isinstance(cell, bool | np.bool_), cell


def check_exact(partitions: tuple[pd.DataFrame, ...], filled: pd.DataFrame) -> None:
    given = [cell for partition in partitions for cell in partition["v"].tolist()]
    found = filled["v"].tolist()
    assert not filled.isna().any().any()
    assert len(found) == len(given)
    for one, other in zip(given, found, strict=True):
        if not pd.isna(one):
            assert exact(one) == exact(other)


def told_or_exact(make, *partitions: pd.DataFrame) -> None:
    """A lazy frame is made and computed: in words it says why not, or all cells are right."""
    try:
        lazy = make(dask_frame(*partitions))
        filled = lazy.compute(scheduler="synchronous")
    except GreyfillError as refusal:
        lazy, words = None, str(refusal)
    if lazy is None:
        assert "'v'" in words
        assert "partition" in words
        return
    assert filled.dtypes["v"] == lazy.dtypes["v"] or "category" in str(lazy.dtypes["v"])
    check_exact(partitions, filled)


@pytest.mark.filterwarnings("ignore::greyfill.exceptions.EmptyColumnWarning")
@settings(max_examples=150, deadline=None)
@given(one=parts(), other=parts())
@example(part("int64", 1, 2), part("float64", 5.5, None))
@example(part("Int8", 1, None), part("Int64", 100_000, 1))
@example(part("float32", 1.0, 2.0), part("float64", 1e300, None))
@example(part("datetime64[s]", 1, 2), part("datetime64[ns]", 1, None))
@example(part("int64", 2**53 + 1, 1), part("float64", 0.5, None))
@example(part("int64", 2**63 - 1, 1), part("uint64", 2**63 + 5, 1))
def test_training_rows_keep_their_cells(one: pd.DataFrame, other: pd.DataFrame) -> None:
    told_or_exact(DaskImputer(KNNIImputer(n_neighbors=1)).fit_transform, one, other)


TRAINED = {
    dtype: part(dtype, *cells)
    for dtype, cells in {
        "int64": [1, 2, 3], "Int64": [1, 2, 3], "Int8": [1, 2, 3], "float32": [1.5, 2.0, 3.0],
        "float64": [1.5, 2.0, 3.0], "boolean": [True, False, True], "string": ["a", "b", "a"],
        "object": ["a", "b", "a"], "category": ["a", "b", "a"], "datetime64[s]": [1, 2, 9],
        "datetime64[ns]": [1, 2, 9], "datetime64[us, UTC]": [1, 2, 9], "timedelta64[s]": [1, 2, 9],
    }.items()
}  # fmt: skip
FITTED = {
    dtype: DaskImputer(KNNIImputer(n_neighbors=1)).fit(dask_frame(trained))
    for dtype, trained in TRAINED.items()
}


@settings(max_examples=150, deadline=None)
@given(dtype=st.sampled_from(list(FITTED)), other=parts(), data=st.data())
def test_new_rows_keep_their_cells(dtype: str, other: pd.DataFrame, data: st.DataObject) -> None:
    one = data.draw(parts(dtype))
    told_or_exact(FITTED[dtype].transform, one, other)


WIDENED = [
    (part("int64", 1, 2, 3), part("float64", 5.5, None, 1.0), "float64"),
    (part("Int8", 1, None, 3), part("Int64", 100_000, 1, 2), "Int64"),
    (part("float32", 1.0, 2.0, 3.0), part("float64", 1e300, None, 1.0), "float64"),
    (part("datetime64[s]", 1, 2, 3), part("datetime64[ns]", 1, None, 7), "datetime64[ns]"),
    (part("int64", 1, 2, 3), part("object", None, None, None), "int64"),
    (part("datetime64[us, UTC]", 1, 2, 3), part("object", None, None), "datetime64[us, UTC]"),
    (part("category", "a", "b", "a"), part("object", None, None), "category"),
]


@pytest.mark.parametrize(("one", "other", "dtype"), WIDENED, ids=[w[2] for w in WIDENED])
@pytest.mark.parametrize("order", [1, -1])
def test_a_wider_dtype_holds_the_cells_of_both(one, other, dtype: str, order: int) -> None:
    both = (one, other)[::order]
    lazy = DaskImputer(KNNIImputer(n_neighbors=1)).fit_transform(dask_frame(*both))
    filled = lazy.compute(scheduler="synchronous")
    assert str(lazy.dtypes["v"]) == str(filled.dtypes["v"]) == dtype
    check_exact(both, filled)


@pytest.mark.filterwarnings("default")  # how Dask reads Parquet into pandas is its own affair
def test_files_of_whole_numbers_and_of_floats(tmp_path) -> None:
    partitions = part("int64", 1, 2, 3), part("float64", 5.5, None, 1.0)
    for number, partition in enumerate(partitions):
        partition.to_parquet(tmp_path / f"part.{number}.parquet", index=False)
    frame = dd.read_parquet(tmp_path)
    imputer = DaskImputer(KNNIImputer(n_neighbors=1))
    check_exact(partitions, imputer.fit_transform(frame).compute(scheduler="synchronous"))
    with pytest.raises(InvalidDataError, match=r"'v' has dtype float64 in partition 1 and int64"):
        imputer.transform(frame).compute(scheduler="synchronous")
    wide = frame.astype({"v": "float64"})  # as the message says
    check_exact(partitions, imputer.transform(wide).compute(scheduler="synchronous"))


BESIDE = [
    ("naive moments", part("datetime64[ns]", 1, 2, None), part("datetime64[ns, UTC]", 1, 2, 3)),
    ("text", part("category", "a", "b", None), part("string", "a", "b", "c")),
    ("truths", part("boolean", True, False, None), part("int64", 0, 1, 1)),
    ("a number too long", part("float64", 0.5, None), part("int64", 2**53 + 1, 1)),
]


@pytest.mark.parametrize(("one", "other"), [b[1:] for b in BESIDE], ids=[b[0] for b in BESIDE])
def test_what_no_dtype_holds_is_refused_in_words(one, other) -> None:
    words = r"'v' .* in partition \d and .*(astype|'string')"
    with pytest.raises(InvalidDataError, match=words):
        DaskImputer(KNNIImputer(n_neighbors=1)).fit_transform(dask_frame(one, other)).compute()
    fitted = DaskImputer(KNNIImputer(n_neighbors=1)).fit(dask_frame(one))
    with pytest.raises(InvalidDataError, match=r"'v' has dtype .* in partition 1 and .*astype"):
        fitted.transform(dask_frame(one, other)).compute(scheduler="synchronous")


COLUMNS = {
    "renamed": lambda frame: frame.rename(columns={"v": "w"}),
    "missing": lambda frame: frame.drop(columns="v"),
    "extra": lambda frame: frame.assign(more=1),
}


@pytest.mark.parametrize("change", COLUMNS.values(), ids=COLUMNS)
def test_a_partition_with_other_columns_is_named(change) -> None:
    one = part("string", "a", "b", None)
    frame, imputer = dask_frame(one, change(one)), DaskImputer(KNNIImputer(n_neighbors=1))
    words = r"Partition 1 has the columns \[.*\], but the frame has \['v', 'x'\]"
    with pytest.raises(InvalidDataError, match=words):
        imputer.fit(frame)
    lazy = imputer.fit(dask_frame(one, one)).transform(frame)
    with pytest.raises(InvalidDataError, match=words):
        lazy.compute(scheduler="synchronous")


def test_the_order_of_columns_may_differ() -> None:
    one = part("float64", 1.0, 2.0, None)
    frame, imputer = dask_frame(one, one[["x", "v"]]), DaskImputer(KNNIImputer(n_neighbors=1))
    for lazy in (imputer.fit_transform(frame), imputer.transform(frame)):
        check_exact((one, one), lazy.compute(scheduler="synchronous"))
