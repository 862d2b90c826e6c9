"""The arrays of one donor pool, laid out for the compiled scan."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greyfill.table import Bools, Floats, Ints

BLOCK = 512
"""Donors in a block: one block of 20 columns stays in the cache while a query scans it."""

FAR = np.float32(1e30)
"""Stands for a missing donor cell: no number is near it, no category equals it."""


@dataclass(frozen=True, eq=False)
class DonorPool:
    """Donor rows three times over: exact, in feature-major float32 blocks, and sorted by column.

    The blocks serve the fast scan, the exact rows the final distances, and the sorted columns
    Δmin and Δmax in O(p log n) for each query.
    """

    values: Floats
    missing: Bools
    is_categorical: Bools
    blocks: NDArray[np.float32]
    sorted_columns: Floats
    sorted_counts: Ints

    @classmethod
    def build(cls, values: Floats, missing: Bools, is_categorical: Bools) -> "DonorPool":
        """Lay out the donors ``values`` with holes ``missing``."""
        sorted_columns, sorted_counts = _sort_columns(values, missing, is_categorical)
        return cls(
            values=np.ascontiguousarray(values),
            missing=np.ascontiguousarray(missing),
            is_categorical=is_categorical,
            blocks=_cut_blocks(values, missing),
            sorted_columns=sorted_columns,
            sorted_counts=sorted_counts,
        )

    @property
    def n_donors(self) -> int:
        """Number of donor rows."""
        return len(self.values)


def _cut_blocks(values: Floats, missing: Bools) -> NDArray[np.float32]:
    n, p = values.shape
    n_blocks = -(-n // BLOCK)
    padded = np.full((n_blocks * BLOCK, p), FAR, dtype=np.float32)
    padded[:n] = values
    padded[:n][missing] = FAR
    return np.ascontiguousarray(padded.reshape(n_blocks, BLOCK, p).transpose(0, 2, 1))


def _sort_columns(values: Floats, missing: Bools, is_categorical: Bools) -> tuple[Floats, Ints]:
    """Observed values of each numeric column in rising order, padded at the end with +inf."""
    numeric = ~is_categorical
    columns = np.full((len(is_categorical), len(values)), np.inf)
    columns[numeric] = np.where(missing, np.inf, values).T[numeric]
    columns[numeric] = np.sort(columns[numeric], axis=1)
    counts = np.where(numeric, (~missing).sum(axis=0), 0)
    return columns, counts.astype(np.intp)
