"""The scores η of the logistic mechanisms, and the split that keeps MAR at random."""

from collections.abc import Sequence

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.missingness.draw import Draw
from greyfill.table import Bools, Column, Floats, Ints, Kind, Table


def design(table: Table, usable: Bools, sources: Ints) -> tuple[Floats, Ints]:
    """Standardized numbers and centered category indicators of the usable cells.

    Means and deviations come from the usable cells alone, and every other cell is 0, so that no
    score can depend on a cell that may be hidden. Returned with the source column of each part.

    >>> cells = Table(np.array([[1.0], [3.0], [9.0]]), np.zeros((3, 1), bool),
    ...               (Column("a", Kind.NUMERIC),))
    >>> design(cells, np.array([[True], [True], [False]]), np.array([0]))[0].ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    parts = [_encode(table.values[:, j], usable[:, j], table.columns[j]) for j in sources]
    widths = np.array([part.shape[1] for part in parts], dtype=np.intp)
    return np.hstack(parts), np.repeat(sources, widths)


def _encode(values: Floats, usable: Bools, column: Column) -> Floats:
    """One column of numbers, or one indicator for each level of a category."""
    is_category = column.kind is Kind.CATEGORICAL
    raw = values[:, None]
    if is_category:
        raw = (raw == np.arange(column.n_levels)).astype(np.float64)
    if not usable.any():
        return np.zeros_like(raw)
    centered = raw - raw[usable].mean(axis=0)
    sd = 1.0 if is_category else raw[usable].std() or 1.0
    return np.where(usable[:, None], centered / sd, 0.0)


def standardize(scores: Floats, open_cells: Bools, strength: float) -> Floats:
    """Scale the scores of each column's open cells to mean 0 and deviation ``strength``."""
    scaled = np.zeros_like(scores)
    for j, rows in enumerate(open_cells.T):
        own = scores[rows, j]
        if len(own) and own.std() > 1e-12:
            scaled[rows, j] = strength * (own - own.mean()) / own.std()
    return scaled


def split_cells(eligible: Bools, draw: Draw, rng: np.random.Generator) -> Bools:
    """Choose in each row the cells that may be hidden; the others stay and predict them.

    Half of the columns are open in each row, more above a rate of 1/4, never all. In each block
    of p rows every column is open equally often.
    """
    n, p = eligible.shape
    needed = np.maximum(draw.counts(eligible), draw.rate * eligible.sum(axis=0))
    fewest = max(1, min(p - 1, int(np.ceil(p * max(0.5, 2 * draw.rate)))))
    for n_open in range(fewest, p):
        open_cells = eligible & _open_in_turn(n, p, n_open, rng)
        if (open_cells.sum(axis=0) >= needed).all():
            return open_cells
    raise InvalidParameterError(
        f"rate {draw.rate!r} is too high to hide cells at random (MAR) in all {p} columns: "
        "each row must keep cells that predict the hidden ones; lower it, or name predictors"
    )


def _open_in_turn(n: int, p: int, n_open: int, rng: np.random.Generator) -> Bools:
    """Open ``n_open`` random cells in each row and, in each block of p rows, in each column."""
    places = rng.permuted(np.tile(np.arange(p), (-(-n // p), 1)), axis=1)
    turns = (places[:, None, :] + np.arange(p)[None, :, None]) % p < n_open
    return np.asarray(rng.permutation(turns.reshape(-1, p)[:n]), dtype=bool)


def positions(table: Table, columns: Sequence[str | int] | None, role: str) -> Ints:
    """Positions of columns given by name or position; all of them for ``None``.

    >>> pair = Table(np.zeros((1, 2)), np.zeros((1, 2), bool),
    ...              (Column("age", Kind.NUMERIC), Column("sex", Kind.CATEGORICAL, 2)))
    >>> positions(pair, ["sex"], "columns")
    array([1])
    """
    if columns is None:
        return np.arange(table.n_columns)
    if isinstance(columns, str):
        raise InvalidParameterError(f"{role} must be a list, such as [{columns!r}]")
    place: dict[str | int, int] = {c.name: j for j, c in enumerate(table.columns)}
    place |= {j: j for j in range(table.n_columns)}
    unknown = [c for c in columns if c not in place]
    if unknown:
        names = ", ".join(c.name for c in table.columns)
        raise InvalidParameterError(f"{role} {unknown} are not in the table; it has {names}")
    if len(columns) == 0:
        raise InvalidParameterError(f"{role} is empty; pass None for all columns")
    return np.array(sorted({place[c] for c in columns}), dtype=np.intp)
