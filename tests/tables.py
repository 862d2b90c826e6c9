"""Random mixed tables of every library, made from a plan of plain values.

A plan says everything, so hypothesis can shrink it and a long run can print it: `Plan` → `build`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from columns import BUILDERS, NUMPY, VALUES, Cells, Rng

LIBRARIES = ("pandas", "polars", "pyarrow", "numpy", "lists")
NAMES = ("plain", "unicode", "empty", "duplicate", "numbers")
LABELS = ("none", "two", "words", "all different", "one class", "gaps", "only gaps", "continuous")
HOLES = (0.0, 0.1, 0.5, 0.9, 1.0)
KINDS = {
    **{library: tuple(builders) for library, builders in BUILDERS.items()},
    "numpy": tuple(NUMPY),
    "lists": tuple(
        kind for kind, dtype in NUMPY.items() if np.dtype(dtype).kind in "fiO" and kind != "pairs"
    ),
}
"""The kinds of columns that a library can hold."""

UNICODE_NAMES = ("größe", "日本", "a b", "x\ny", "<b>", "Ω", "e\u0301", "é", "🦜", "\u202e", "%s{}")


@dataclass(frozen=True)
class Plan:
    """What a table holds: its library, the kind of each column, rows, holes, names and labels."""

    library: str
    kinds: tuple[str, ...]
    n_rows: int
    holes: float
    names: str
    labels: str
    seed: int


@dataclass(frozen=True, eq=False)
class Case:
    """A table, its labels, and other rows of the same columns."""

    plan: Plan
    X: Any
    y: Any
    new: Any


def random_plan(rng: Rng) -> Plan:
    """A plan for a long run: small tables mostly, a long or a wide one now and then."""
    library = str(rng.choice(LIBRARIES))
    n_rows, n_columns = int(rng.integers(1, 16)), int(rng.integers(1, 6))
    shape = rng.random()
    if shape < 0.02:
        n_rows, n_columns = 1, 60
    elif shape < 0.04:
        n_rows, n_columns = 400, 1
    return Plan(
        library,
        tuple(str(kind) for kind in rng.choice(KINDS[library], n_columns)),
        n_rows,
        float(rng.choice(HOLES, p=[0.1, 0.3, 0.4, 0.15, 0.05])),
        str(rng.choice(NAMES, p=[0.55, 0.2, 0.1, 0.05, 0.1])),
        str(rng.choice(LABELS, p=[0.1, 0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])),
        int(rng.integers(0, 2**32)),
    )


def build(plan: Plan) -> Case:
    """The table of a plan, its labels, and new rows: some of its own and others, in other holes."""
    rng = np.random.default_rng(plan.seed)
    total = 2 * plan.n_rows
    columns = [VALUES[kind](rng, total) for kind in plan.kinds]
    columns = [_with_holes(rng, cells, plan.holes) for cells in columns]
    whole = _table(rng, plan, columns)
    train, new = _rows(whole, 0, plan.n_rows), _rows(whole, plan.n_rows, total)
    return Case(plan, train, _labels(rng, plan), new)


def _with_holes(rng: Rng, cells: Cells, rate: float) -> Cells:
    rate = 1.0 if rng.random() < 0.05 else rate
    return [
        None if hole else c for c, hole in zip(cells, rng.random(len(cells)) < rate, strict=True)
    ]


def _names(rng: Rng, plan: Plan) -> list[Any]:
    places = range(len(plan.kinds))
    match plan.names:
        case "unicode":
            return [f"{UNICODE_NAMES[j % len(UNICODE_NAMES)]}{j // 11 or ''}" for j in places]
        case "empty":
            return ["" if j == 0 else " " * j for j in places]
        case "duplicate" if plan.library != "polars":
            return ["twice" for _ in places]
        case "numbers" if plan.library == "pandas":
            return list(places)
    return [f"c{j}" for j in places]


def _table(rng: Rng, plan: Plan, columns: list[Cells]) -> Any:
    if plan.library in ("numpy", "lists"):
        return _array(plan, columns)
    builders = BUILDERS[plan.library]
    made = []
    for kind, cells in zip(plan.kinds, columns, strict=True):
        choices = builders[kind]
        made.append(choices[int(rng.integers(0, len(choices)))](rng, cells))
    names = _names(rng, plan)
    if plan.library == "polars":
        return pl.DataFrame([c.alias(n) for c, n in zip(made, names, strict=True)])
    if plan.library == "pyarrow":
        return pa.table(made, names=names)
    frame = pd.DataFrame(dict(enumerate(made)), index=_index(rng, len(columns[0])))
    return frame.set_axis(names, axis=1)


def _index(rng: Rng, n: int) -> Any:
    match int(rng.integers(0, 4)):
        case 0:
            return pd.Index([f"row {i // 2}" for i in range(n)], name="who")
        case 1:
            return pd.MultiIndex.from_tuples([(i % 2, i) for i in range(n)], names=["a", None])
        case 2:
            return pd.date_range("2024-01-01", periods=n, tz="Europe/Berlin")
    return pd.RangeIndex(n)


def _array(plan: Plan, columns: list[Cells]) -> Any:
    dtypes = {np.dtype(NUMPY[kind]) for kind in plan.kinds}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(object)
    gap = {"f": np.nan, "i": 0, "m": "NaT", "M": "NaT"}.get(dtype.kind)
    array = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for j, cells in enumerate(columns):
        array[:, j] = np.fromiter((gap if c is None else c for c in cells), object, len(cells))
    return array.tolist() if plan.library == "lists" else array


def _rows(table: Any, start: int, stop: int) -> Any:
    if isinstance(table, pa.Table):
        return table.slice(start, stop - start)
    return table.iloc[start:stop] if isinstance(table, pd.DataFrame) else table[start:stop]


def _labels(rng: Rng, plan: Plan) -> Any:
    n = plan.n_rows
    two = rng.integers(0, 2, n)
    return {
        "none": None,
        "two": two,
        "words": [("no", "yes", "ça")[i] for i in rng.integers(0, 3, n)],
        "all different": np.arange(n),
        "one class": np.zeros(n, dtype=int),
        "gaps": np.where(rng.random(n) < 0.3, np.nan, two),
        "only gaps": np.full(n, np.nan),
        "continuous": rng.normal(size=n),
    }[plan.labels]
