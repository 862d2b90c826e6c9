"""Random tables for property tests: rows as the kernels see them, and plans of mixed tables."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from tables import HOLES, KINDS, LABELS, LIBRARIES, NAMES, Plan

from greyfill.table import Bools, Column, Floats, Kind, Table


@dataclass
class Rows:
    """Scaled rows as the kernels see them."""

    values: Floats
    missing: Bools
    is_categorical: Bools
    weights: Floats


@st.composite
def scaled_rows(draw: st.DrawFn, max_rows: int = 40, max_columns: int = 6) -> Rows:
    """Rows in [0, 1] or codes; coarse grids make ties, repeated rows make duplicates."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_rows))
    p = draw(st.integers(1, max_columns))
    is_categorical = rng.random(p) < draw(st.sampled_from([0.0, 0.4, 1.0]))
    grid = draw(st.sampled_from([1, 2, 10, 10**6]))
    values = rng.integers(0, grid + 1, (n, p)) / grid
    values[:, is_categorical] = rng.integers(0, 3, (n, p))[:, is_categorical]
    if draw(st.booleans()):
        values[rng.random(n) < 0.5] = values[0]
    if draw(st.booleans()):
        values[:, 0] = values[0, 0]
    missing = rng.random((n, p)) < draw(st.sampled_from([0.0, 0.2, 0.7]))
    raw = rng.random(p) * (rng.random(p) < 0.8)
    weights = raw / raw.sum() if raw.sum() > 0 else np.full(p, 1.0 / p)
    return Rows(np.where(missing, 0.0, values), missing, is_categorical, weights)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of mixed tables of every library: a few rows, one wide row, or one long column."""
    library = draw(st.sampled_from(LIBRARIES))
    kinds = st.sampled_from(KINDS[library])
    shape = draw(st.sampled_from(["small", "small", "small", "small", "wide", "long"]))
    if shape == "wide":
        columns, n_rows = draw(st.lists(kinds, min_size=20, max_size=60)), 1
    elif shape == "long":
        columns, n_rows = [draw(kinds)], draw(st.integers(300, 600))
    else:
        columns, n_rows = draw(st.lists(kinds, min_size=1, max_size=5)), draw(st.integers(1, 16))
    return Plan(
        library,
        tuple(columns),
        n_rows,
        draw(st.sampled_from(HOLES)),
        draw(st.sampled_from(NAMES)),
        draw(st.sampled_from(LABELS)),
        draw(st.integers(0, 2**32 - 1)),
    )


def numeric_table(values: Floats, missing: Bools | None = None) -> Table:
    """A table of numbers; NaN cells are holes."""
    holes = np.isnan(values) if missing is None else missing
    columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(values.shape[1]))
    return Table(np.where(holes, 0.0, values), holes, columns)
