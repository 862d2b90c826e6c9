"""The cells that count: hidden on purpose, with a known truth and a filled value."""

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Table


def check_cells(truth: Table, filled: Floats, mask: Bools) -> None:
    """Refuse masks that do not fit, natural holes among the truth, and holes among the fills."""
    if filled.shape != truth.values.shape or mask.shape != truth.values.shape:
        raise InvalidDataError(
            f"filled {filled.shape} and mask {mask.shape} do not fit the table {truth.values.shape}"
        )
    if mask.dtype != bool:
        raise InvalidDataError(f"mask must be boolean, got {mask.dtype}")
    _refuse(truth, mask & truth.missing, "covers natural holes, whose truth is unknown,")
    _refuse(truth, mask & ~np.isfinite(filled), "covers cells without a finite fill")


def _refuse(truth: Table, cells: Bools, what: str) -> None:
    """Raise an error that names the columns of bad cells."""
    if cells.any():
        counts = {c.name: int(n) for c, n in zip(truth.columns, cells.sum(axis=0), strict=True)}
        places = ", ".join(f"{name!r} ({n})" for name, n in counts.items() if n)
        raise InvalidDataError(f"mask {what} in columns {places}")


def ranges(table: Table) -> Floats:
    """Observed range of each column, by which (34) scales to [0, 1]; 1 if constant or empty.

    >>> from greyfill.table import Column, Kind
    >>> cells = np.array([[1.0, 5.0], [4.0, 5.0], [9.0, 5.0]])
    >>> missing = np.array([[False, False], [False, False], [True, False]])
    >>> ranges(Table(cells, missing, (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC))))
    array([3., 1.])
    """
    seen = ~table.missing
    high = np.max(table.values, axis=0, where=seen, initial=-np.inf)
    low = np.min(table.values, axis=0, where=seen, initial=np.inf)
    return np.where(high > low, high - low, 1.0)
