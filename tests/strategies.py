"""Random tables for property tests: holes, ties, duplicates and constant columns."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

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


def numeric_table(values: Floats, missing: Bools | None = None) -> Table:
    """A table of numbers; NaN cells are holes."""
    holes = np.isnan(values) if missing is None else missing
    columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(values.shape[1]))
    return Table(np.where(holes, 0.0, values), holes, columns)
