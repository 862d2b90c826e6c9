"""Columns at the edges of what a table can hold, in the dtypes of every library.

``VALUES`` says what the cells are, ``PANDAS``, ``POLARS``, ``ARROW`` and ``NUMPY`` how each library
stores them. Everything follows from a numpy generator, so a seed is a case.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Cells = list[Any]
Rng = np.random.Generator

MANY = tuple(f"level {i}" for i in range(10_000))
SIZES = ("S", "M", "L", "XL", "never used")
WORDS = ("", " ", "a", "A", "é", "e\u0301", "日本", "\U0001f600", "nan", "NA", "None", "=cmd()",
         "0", "-1", "x" * 300, "line\nbreak", 'quo"te', "\u202etrick", "\x00")  # fmt: skip
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
LARGEST = float(np.finfo(np.float64).max)
SUBNORMAL = 5e-324
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds of each unit."""


def _choice(*values: Any) -> Callable[[Rng, int], Cells]:
    return lambda rng, n: [values[i] for i in rng.integers(0, len(values), n)]


def _magnitudes(rng: Rng, n: int) -> Cells:
    return (rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-307, 307, n)).tolist()


def _between(low: int, high: int) -> Callable[[Rng, int], Cells]:
    return lambda rng, n: rng.integers(low, high, n, endpoint=True).tolist()


def _near(place: int) -> Callable[[Rng, int], Cells]:
    """Integers close to a place where float64 cannot tell neighbors apart."""
    return lambda rng, n: [place + int(step) for step in rng.integers(-9, 10, n)]


def _days(rng: Rng, n: int) -> Cells:
    low, high = (1, 3_652_059) if rng.random() < 0.3 else (738_000, 738_400)
    return [date.fromordinal(int(d)) for d in rng.integers(low, high, n, endpoint=True)]


def _nanoseconds(rng: Rng, n: int) -> Cells:
    """Moments as nanoseconds: days around a change of the clock, or two centuries."""
    if rng.random() < 0.5:
        return [1_729_900_000 * 10**9 + int(t) for t in rng.integers(0, 10**14, n)]
    return rng.integers(-(2**62), 2**62, n).tolist()


def _cents(rng: Rng, n: int) -> Cells:
    return [Decimal(int(cents)).scaleb(-2) for cents in rng.integers(-(10**6), 10**6, n)]


def _times(rng: Rng, n: int) -> Cells:
    return [(datetime.min + timedelta(microseconds=int(us))).time()
            for us in rng.integers(0, 86_400_000_000, n)]  # fmt: skip


def _objects(rng: Rng, n: int) -> Cells:
    return _choice("a", 1, 2.5, True, date(2024, 2, 29), "1")(rng, n)


VALUES: dict[str, Callable[[Rng, int], Cells]] = {
    "plain": lambda rng, n: rng.normal(size=n).tolist(),
    "ties": _choice(0.0, 0.5, 1.0),
    "constant": lambda rng, n: [float(rng.normal())] * n,
    "magnitudes": _magnitudes,
    "ends": _choice(-LARGEST, LARGEST, 0.0, 1.0),
    "tiny": lambda rng, n: (rng.normal(size=n) * 1e-300).tolist(),
    "subnormal": lambda rng, n: (rng.integers(-20, 20, n) * SUBNORMAL).tolist(),
    "zeros": _choice(0.0, -0.0),
    "near one": lambda rng, n: (1.0 + rng.integers(0, 4, n) * 2.0**-52).tolist(),
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32).astype(float).tolist(),
    "single ends": _choice(-3.4e38, 3.4e38, 1e-45, 0.0, -0.0),
    "half": _choice(-65504.0, 65504.0, 0.5, 6e-8, -0.0),
    "small": _between(-5, 5),
    "bytes": _between(-128, 127),
    "beyond 53 bits": _near(2**53),
    "low end": lambda rng, n: [-(2**63) + int(i) for i in rng.integers(0, 20, n)],
    "high end": lambda rng, n: [2**63 - 1 - int(i) for i in rng.integers(0, 20, n)],
    "long": _near(2**70),
    "unsigned end": lambda rng, n: [2**64 - 1 - int(i) for i in rng.integers(0, 3000, n)],
    "bool": _choice(False, True),
    "text": _choice(*WORDS),
    "two texts": _choice("no", "yes"),
    "all different": lambda rng, n: [f"id {i}" for i in range(n)],
    "many levels": _choice(*MANY),
    "sizes": _choice(*SIZES[:4]),
    "days": _days,
    "nanoseconds": _nanoseconds,
    "spans": lambda rng, n: rng.integers(-(10**15), 10**15, n).tolist(),
    "times": _times,
    "cents": _cents,
    "objects": _objects,
    "pairs": _choice((1, 2), (1,), (), "a"),
    "nothing": lambda rng, n: [None] * n,
}

Build = Callable[[Rng, Cells], Any]


def _pandas(dtype: Any) -> Build:
    return lambda rng, cells: pd.array(cells, dtype=dtype)


def _numpy(dtype: Any) -> Build:
    def build(rng: Rng, cells: Cells) -> Any:
        gap = np.nan if np.dtype(dtype).kind == "f" else 0
        return np.array([gap if cell is None else cell for cell in cells], dtype=dtype)

    return build


def _boxed(rng: Rng, cells: Cells) -> Any:
    return np.fromiter(cells, dtype=object, count=len(cells))


def _pandas_category(levels: tuple[str, ...] | None, ordered: bool = False) -> Build:
    return lambda rng, cells: pd.Categorical(cells, categories=levels, ordered=ordered)


def _ticks(cells: Cells, unit: str) -> Cells:
    return [None if cell is None else cell // UNITS[unit] for cell in cells]


def _unit(rng: Rng) -> str:
    return str(rng.choice(list(UNITS)))


def _pandas_moment(letter: str, zoned: bool = False) -> Build:
    def build(rng: Rng, cells: Cells) -> Any:
        unit = _unit(rng)
        ticks = [np.iinfo(np.int64).min if t is None else t for t in _ticks(cells, unit)]
        array = pd.Series(np.array(ticks, dtype=np.int64).view(f"{letter}8[{unit}]"))
        zone = str(rng.choice(ZONES))
        return (array.dt.tz_localize("UTC").dt.tz_convert(zone) if zoned else array).array

    return build


PANDAS_REALS = (_numpy(np.float64), _pandas("Float64"), _pandas("double[pyarrow]"), _boxed)
PANDAS_WHOLES = (_pandas("Int64"), _pandas("int64[pyarrow]"), _boxed)
PANDAS: dict[str, tuple[Build, ...]] = {
    **dict.fromkeys(
        ("plain", "ties", "constant", "magnitudes", "ends", "tiny", "subnormal", "zeros",
         "near one"), PANDAS_REALS
    ),
    **dict.fromkeys(("single", "single ends"), (_numpy(np.float32), _pandas("Float32"))),
    "half": (_numpy(np.float16),),
    "small": (*PANDAS_WHOLES, _numpy(np.float64), _pandas("Int8"), _numpy(np.int16)),
    "bytes": (_pandas("Int8"), _pandas("int8[pyarrow]")),
    **dict.fromkeys(("beyond 53 bits", "low end", "high end"), PANDAS_WHOLES),
    "unsigned end": (_pandas("UInt64"), _pandas("uint64[pyarrow]")),
    "bool": (_pandas("boolean"), _pandas("bool[pyarrow]"), _boxed),
    **dict.fromkeys(
        ("text", "two texts", "all different"),
        (_boxed, _pandas("string"), _pandas(pd.ArrowDtype(pa.string())), _pandas_category(None)),
    ),
    "many levels": (_pandas_category(MANY), _pandas_category(MANY, ordered=True)),
    "sizes": (_pandas_category(SIZES), _pandas_category(SIZES, ordered=True)),
    "days": (_boxed, _pandas(pd.ArrowDtype(pa.date32()))),
    "nanoseconds": (_pandas_moment("M"), _pandas_moment("M", zoned=True)),
    "spans": (_pandas_moment("m"),),
    "times": (_pandas(pd.ArrowDtype(pa.time64("us"))),),
    "cents": (_boxed, _pandas(pd.ArrowDtype(pa.decimal128(12, 2)))),
    "objects": (_boxed,),
    "pairs": (_boxed,),
    "long": (_boxed,),
    "nothing": (_boxed, _numpy(np.float64), _pandas("Int64"), _pandas("string"),
                _pandas_category(SIZES), _pandas_moment("M")),
}  # fmt: skip


def _polars(*dtypes: Any) -> tuple[Build, ...]:
    def build(dtype: Any) -> Build:
        return lambda rng, cells: pl.Series(cells, dtype=dtype, strict=True)

    return tuple(map(build, dtypes))


def _polars_moment(kind: Any, zoned: bool = False) -> Build:
    def build(rng: Rng, cells: Cells) -> Any:
        unit = str(rng.choice(["ms", "us", "ns"]))
        dtype = kind(unit, str(rng.choice(ZONES))) if zoned else kind(unit)
        return pl.Series(_ticks(cells, unit), dtype=pl.Int64).cast(dtype)

    return build


POLARS: dict[str, tuple[Build, ...]] = {
    **dict.fromkeys(
        ("plain", "ties", "constant", "magnitudes", "ends", "tiny", "subnormal", "zeros",
         "near one"), _polars(pl.Float64)
    ),
    **dict.fromkeys(("single", "single ends"), _polars(pl.Float32)),
    "small": _polars(pl.Int8, pl.Int32, pl.Int64, pl.Int128),
    "bytes": _polars(pl.Int8),
    **dict.fromkeys(("beyond 53 bits", "low end", "high end"), _polars(pl.Int64)),
    "unsigned end": _polars(pl.UInt64),
    "bool": _polars(pl.Boolean),
    **dict.fromkeys(("text", "two texts", "all different"), _polars(pl.String, pl.Categorical)),
    "many levels": _polars(pl.Enum(MANY), pl.Categorical),
    "sizes": _polars(pl.Enum(SIZES), pl.Categorical),
    "days": _polars(pl.Date),
    "nanoseconds": (_polars_moment(pl.Datetime), _polars_moment(pl.Datetime, zoned=True)),
    "spans": (_polars_moment(pl.Duration),),
    "times": _polars(pl.Time),
    "cents": _polars(pl.Decimal(12, 2)),
    "nothing": _polars(pl.Null, pl.Float64, pl.String, pl.Int8, pl.Enum(SIZES), pl.Date),
}  # fmt: skip


def _arrow(*types: Any) -> tuple[Build, ...]:
    def build(arrow_type: Any) -> Build:
        def column(rng: Rng, cells: Cells) -> Any:
            cut = int(rng.integers(0, len(cells) + 1))
            parts = [pa.array(part, arrow_type) for part in (cells[:cut], cells[cut:])]
            return pa.chunked_array(parts, arrow_type)

        return column

    return tuple(map(build, types))


def _arrow_dictionary(levels: tuple[str, ...], ordered: bool) -> Build:
    places = {level: place for place, level in enumerate(levels)}

    def build(rng: Rng, cells: Cells) -> Any:
        codes = pa.array([places.get(cell) for cell in cells], pa.int32())
        return pa.chunked_array(
            [pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=ordered)]
        )

    return build


def _arrow_moment(make: Callable[..., Any], zoned: bool = False) -> Build:
    def build(rng: Rng, cells: Cells) -> Any:
        unit = _unit(rng)
        arrow_type = make(unit, str(rng.choice(ZONES))) if zoned else make(unit)
        return pa.chunked_array([pa.array(_ticks(cells, unit), pa.int64()).cast(arrow_type)])

    return build


ARROW: dict[str, tuple[Build, ...]] = {
    **dict.fromkeys(
        ("plain", "ties", "constant", "magnitudes", "ends", "tiny", "subnormal", "zeros",
         "near one"), _arrow(pa.float64())
    ),
    **dict.fromkeys(("single", "single ends"), _arrow(pa.float32())),
    "small": _arrow(pa.int8(), pa.int64()),
    "bytes": _arrow(pa.int8()),
    **dict.fromkeys(("beyond 53 bits", "low end", "high end"), _arrow(pa.int64())),
    "unsigned end": _arrow(pa.uint64()),
    "bool": _arrow(pa.bool_()),
    **dict.fromkeys(
        ("text", "two texts", "all different"), _arrow(pa.string(), pa.large_string())
    ),
    "many levels": (_arrow_dictionary(MANY, ordered=False),),
    "sizes": (_arrow_dictionary(SIZES, ordered=False), _arrow_dictionary(SIZES, ordered=True)),
    "days": _arrow(pa.date32()),
    "nanoseconds": (_arrow_moment(pa.timestamp), _arrow_moment(pa.timestamp, zoned=True)),
    "spans": (_arrow_moment(pa.duration),),
    "times": _arrow(pa.time64("us")),
    "cents": _arrow(pa.decimal128(12, 2)),
    "nothing": _arrow(pa.null(), pa.float64(), pa.string(), pa.int8()),
}  # fmt: skip

BUILDERS = {"pandas": PANDAS, "polars": POLARS, "pyarrow": ARROW}

NUMPY: dict[str, Any] = {
    **dict.fromkeys(("plain", "ties", "constant", "magnitudes", "ends", "tiny", "subnormal",
                     "zeros", "near one"), np.float64),
    **dict.fromkeys(("single", "single ends"), np.float32),
    "half": np.float16,
    "small": np.int64,
    "bytes": np.int8,
    **dict.fromkeys(("bool", "text", "two texts", "all different", "objects", "days", "cents",
                     "beyond 53 bits", "high end", "long", "nothing"), object),
    "pairs": object,
    "spans": "m8[ms]",
    "nanoseconds": "M8[ns]",
}  # fmt: skip
"""The dtype of an array of such columns; a mixture becomes an array of objects."""
