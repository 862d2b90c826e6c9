"""One mixed table in every container, and how to look into each of them cell by cell."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N_ROWS = 16
LEVELS = ["blue", "green", "red", "never used"]
SIZES = ["S", "M", "L", "XL"]


def labels() -> Any:
    """Two classes, eight rows each."""
    return np.arange(N_ROWS) % 2


def floats() -> list[float | None]:
    """Numbers that do not survive carelessness: negative zero, a subnormal, 0.1 + 0.2."""
    rng = np.random.default_rng(7)
    numbers: list[float | None] = rng.normal(size=N_ROWS).tolist()
    numbers[:4] = [-0.0, 5e-324, 0.1 + 0.2, None]
    numbers[9] = None
    return numbers


def integers() -> list[int | None]:
    """One of them is beyond 2**53, where float64 skips integers."""
    whole: list[int | None] = [3 * i - 7 for i in range(N_ROWS)]
    whole[2] = 2**53 + 1
    whole[5] = whole[12] = None
    return whole


def cycle(values: list[Any], *holes: int) -> list[Any]:
    """The values over and over, with holes in some rows."""
    column = [values[i % len(values)] for i in range(N_ROWS)]
    for row in holes:
        column[row] = None
    return column


def days() -> list[date | None]:
    """Days in a row, with holes."""
    column: list[date | None] = [date(2024, 2, 20 + i % 9) for i in range(N_ROWS)]
    column[1] = column[8] = None
    return column


def pandas_frame() -> pd.DataFrame:
    """Old, nullable and Arrow dtypes, under an index with repeats."""
    index = pd.Index([f"row {i // 2}" for i in range(N_ROWS)], name="who")
    moments = [None if d is None else datetime(d.year, d.month, d.day, 13, 5) for d in days()]
    return pd.DataFrame(
        {
            "float": np.array(floats(), dtype=np.float64),
            "float32": np.array(floats(), dtype=np.float32),
            "int": np.arange(N_ROWS, dtype=np.int16),
            "nullable int": pd.array(integers(), dtype="Int64"),
            "nullable float": pd.array(floats(), dtype="Float64"),
            "nullable bool": pd.array(cycle([True, True, False], 4, 6), dtype="boolean"),
            "arrow int": pd.array(integers(), dtype="int64[pyarrow]"),
            "arrow text": pd.array(cycle(["no", "yes"], 10), dtype="string[pyarrow]"),
            "text": pd.array(cycle(["p", "q", "r"], 0, 15), dtype="string"),
            "object": pd.Series(cycle(["x", "y"], 11), dtype=object).to_numpy(),
            "object bool": pd.Series(cycle([False, True], 13), dtype=object).to_numpy(),
            "category": pd.Categorical(cycle(LEVELS[:3], 3, 14), categories=LEVELS),
            "ordered": pd.Categorical(cycle(SIZES, 7), categories=SIZES, ordered=True),
            "moment": pd.to_datetime(pd.Series(moments)).to_numpy(),
        },
        index=index,
    )


def polars_frame() -> pl.DataFrame:
    """Holes as null and as NaN; Enum, Categorical, Date."""
    with_nan = [float("nan") if i == 12 else x for i, x in enumerate(floats())]
    return pl.DataFrame(
        {
            "float": pl.Series(with_nan, dtype=pl.Float64),
            "float32": pl.Series(with_nan, dtype=pl.Float32),
            "int": pl.Series(integers(), dtype=pl.Int64),
            "small": pl.Series([None, *range(1, N_ROWS)], dtype=pl.UInt8),
            "bool": pl.Series(cycle([True, False, False], 2, 9), dtype=pl.Boolean),
            "text": pl.Series(cycle(["p", "q", "r"], 0, 15), dtype=pl.String),
            "category": pl.Series(cycle(["u", "v"], 6), dtype=pl.Categorical),
            "enum": pl.Series(cycle(LEVELS[:3], 3, 14), dtype=pl.Enum(LEVELS)),
            "day": pl.Series(days(), dtype=pl.Date),
        }
    )


def arrow_table() -> pa.Table:
    """Floats, integers, booleans, text, dictionary, days."""
    return pa.table(
        {
            "float": pa.array(floats(), pa.float64()),
            "float32": pa.array(floats(), pa.float32()),
            "int": pa.array(integers(), pa.int64()),
            "bool": pa.array(cycle([True, False, False], 2, 9), pa.bool_()),
            "text": pa.array(cycle(["p", "q", "r"], 0, 15), pa.string()),
            "category": pa.array(cycle(["u", "v"], 6), pa.string()).dictionary_encode(),
            "day": pa.array(days(), pa.date32()),
        }
    )


def float_array(dtype: Any = np.float64) -> Any:
    """Numbers only."""
    rng = np.random.default_rng(3)
    columns = [floats(), rng.normal(size=N_ROWS), rng.uniform(5, 9, N_ROWS)]
    array = np.column_stack([np.array(c, dtype=np.float64) for c in columns]).astype(dtype)
    array[[0, 3, 8], [2, 1, 1]] = np.nan
    return array


def object_array() -> Any:
    """Floats, integers, texts and booleans with None."""
    columns = [floats(), integers(), cycle(["p", "q", "r"], 0, 15), cycle([True, False], 4)]
    array = np.empty((N_ROWS, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        array[:, j] = column
    return array


@dataclass(frozen=True)
class Container:
    """How to make a table of one library, and how to read it."""

    make: Callable[[], Any]
    rows: Callable[[Any], list[list[Any]]]
    """Every cell as a Python object."""
    shape: Callable[[Any], Any]
    """All that must stay the same besides the cells: type, dtypes, names, index."""
    take: Callable[[Any, list[int]], Any]
    """Some rows in a given order."""

    def texts(self, table: Any) -> list[list[str]]:
        """Every cell spelled out, type and bits: repr tells −0.0 from 0.0, 1 from 1.0 and True."""
        return [[repr(cell) for cell in row] for row in self.rows(table)]

    def holes(self, table: Any) -> Any:
        """Which cells are missing."""
        return np.array([[pd.isna(cell) for cell in row] for row in self.rows(table)])


def _pandas_rows(frame: pd.DataFrame) -> list[list[Any]]:
    columns = [list(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return [list(row) for row in zip(*columns, strict=True)]


def _pandas_shape(frame: pd.DataFrame) -> Any:
    return type(frame), list(frame.dtypes), list(frame.columns), list(frame.index), frame.index.name


PANDAS = Container(pandas_frame, _pandas_rows, _pandas_shape, lambda f, rows: f.iloc[rows])
POLARS = Container(
    polars_frame,
    lambda f: [list(row) for row in f.iter_rows()],
    lambda f: (type(f), f.schema),
    lambda f, rows: f[rows],
)
ARROW = Container(
    arrow_table,
    lambda t: [list(r) for r in zip(*(c.to_pylist() for c in t.itercolumns()), strict=True)],
    lambda t: (type(t), t.schema.names, [c.type for c in t.itercolumns()]),
    lambda t, rows: t.take(rows),
)


def _array(make: Callable[[], Any]) -> Container:
    return Container(
        make, lambda a: [list(row) for row in a], lambda a: (type(a), a.dtype), lambda a, r: a[r]
    )


CONTAINERS = {
    "pandas": PANDAS,
    "polars": POLARS,
    "pyarrow": ARROW,
    "float64": _array(float_array),
    "float32": _array(lambda: float_array(np.float32)),
    "object": _array(object_array),
}
