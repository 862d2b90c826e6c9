"""The arrays of one donor pool: exact rows, leaves for the scan, boxes for pruning."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from greyfill.table import Bools, Floats, Ints

LEAF = 64
"""Donors in a leaf, the smallest group with a box of its own."""

LEAVES = 16
"""Leaves in a block, the larger group with a box of its own."""

BLOCK = LEAVES * LEAF
"""Donors in a block."""

SHELF = 4
"""Mean number of values on a shelf of a sorted column."""

FAR = np.float32(1e15)
"""Stands for a missing donor cell: no number is near it, no category equals it, and float32 holds
its square."""

STEPS = 254
"""Steps of a coarse number between 0 and 1."""

HOLE = np.uint8(255)
"""A coarse cell that is missing; no number and no category has this code."""

LINE = 64
"""Bytes of a line of the cache, and of the longest vectors."""

Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Bits = NDArray[np.uint64]


class Boxes(NamedTuple):
    """What a group of donors can offer: for each column the range of numbers, the set of codes.

    Arrays end with the group; ``codes`` has bit c mod 64 set where some donor has category c. A
    column without an observed value has an empty range and an empty set.
    """

    low: Singles
    high: Singles
    codes: Bits


class DonorPool(NamedTuple):
    """Donor rows, exact and laid out for the search.

    A missing cell of ``values`` is +∞: near no cell of a query. ``leaves`` has shape (leaf, column,
    donor). ``rows[i]`` is the donor at place i of the leaves: near donors stand near each other, so
    that the boxes are small. ``coarse`` has the same cells in a byte each. ``sorted_columns`` give
    Δmin and Δmax in O(p log n) for each query.
    """

    values: Floats
    is_categorical: Bools
    rows: Ints
    leaves: Singles
    coarse: Bytes
    block_boxes: Boxes
    leaf_boxes: Boxes
    sorted_columns: Floats
    sorted_counts: Ints
    shelves: NDArray[np.int32]


def build_pool(values: Floats, missing: Bools, is_categorical: Bools, weights: Floats) -> DonorPool:
    """Lay out the donors ``values`` with holes ``missing`` for a distance with ``weights``."""
    from greyfill._search.distances import kd_order, shelve

    exact = np.where(missing, np.inf, values)
    cells = values.astype(np.float32)
    cells[missing] = FAR
    # Near donors stand near each other; one block needs no order.
    in_order = len(cells) <= BLOCK
    rows = np.arange(len(cells)) if in_order else kd_order(cells, is_categorical, weights)
    leaves = _cut(cells, rows, LEAF, FAR)
    sorted_columns, sorted_counts = _sort_columns(exact, is_categorical)
    leaf_boxes = _leaf_boxes(leaves, is_categorical)
    return DonorPool(
        values=exact,
        is_categorical=is_categorical,
        rows=rows,
        leaves=leaves,
        coarse=_cut(coarse_cells(cells, is_categorical), rows, BLOCK, HOLE),
        block_boxes=_block_boxes(leaf_boxes),
        leaf_boxes=leaf_boxes,
        sorted_columns=sorted_columns,
        sorted_counts=sorted_counts,
        shelves=shelve(sorted_columns, sorted_counts, max(len(values) // SHELF, 1)),
    )


def coarse_cells(cells: Singles, is_categorical: Bools) -> Bytes:
    """A byte for each cell: numbers in steps, from 0 to 1; of categories all but multiples of 255.

    >>> coarse_cells(np.array([[0.0, 1.0, FAR, 256.0]], np.float32), np.arange(4) == 3)
    array([[  0, 254, 255,   1]], dtype=uint8)
    """
    coarse: Bytes = np.rint(np.clip(cells, 0.0, 1.0) * np.float32(STEPS)).astype(np.uint8)
    coarse[:, is_categorical] = np.fmod(cells[:, is_categorical], np.float32(HOLE)).astype(np.uint8)
    coarse[cells == FAR] = HOLE
    return coarse


def _cut(cells: NDArray[Any], rows: Ints, size: int, hole: Any) -> NDArray[Any]:
    """Groups of shape (column, donor), the last one padded with missing cells."""
    n, p = cells.shape
    groups = _on_lines((-(-n // size), p, size), cells.dtype)
    groups[-1:] = hole
    for first in range(0, n, BLOCK):
        part, place = cells[rows[first : first + BLOCK]], first // size
        whole = len(part) // size
        groups[place : place + whole] = part[: whole * size].reshape(whole, size, p).swapaxes(1, 2)
        if len(part) % size:
            groups[place + whole, :, : len(part) % size] = part[whole * size :].T
    return groups


def _on_lines(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Room for numbers from the beginning of a line on, so that no vector lies across two."""
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.empty(size + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype).reshape(shape)


def _leaf_boxes(leaves: Singles, is_categorical: Bools) -> Boxes:
    """Boxes of shape (block, column, leaf); a leaf that does not exist is empty."""
    n_leaves, p, _ = leaves.shape
    shape = (-(-n_leaves // LEAVES), p, LEAVES)
    low, high = np.full(shape, FAR), np.full(shape, -FAR)
    codes = np.zeros(shape, np.uint64)
    for block in range(shape[0]):
        cells = leaves[block * LEAVES : (block + 1) * LEAVES].swapaxes(0, 1)
        here = slice(0, cells.shape[1])
        low[block, :, here] = cells.min(axis=2)
        high[block, :, here] = np.where(cells == FAR, -FAR, cells).max(axis=2)
        categories = cells[is_categorical]
        places = np.where(categories != FAR, categories, 0).astype(np.uint64) % np.uint64(64)
        bits = np.where(categories != FAR, np.uint64(1) << places, np.uint64(0))
        codes[block, is_categorical, here] = np.bitwise_or.reduce(bits, axis=-1)
    return Boxes(low, high, codes)


def _block_boxes(leaves: Boxes) -> Boxes:
    """Boxes of shape (column, block) around the leaves of each block."""
    return Boxes(
        np.ascontiguousarray(leaves.low.min(axis=2).T),
        np.ascontiguousarray(leaves.high.max(axis=2).T),
        np.ascontiguousarray(np.bitwise_or.reduce(leaves.codes, axis=2).T),
    )


def _sort_columns(values: Floats, is_categorical: Bools) -> tuple[Floats, Ints]:
    """Each column of numbers in rising order, missing cells at the end, and how many are none."""
    columns = values.T.copy()
    for j in np.flatnonzero(~is_categorical):
        columns[j].sort()
    counts = np.where(is_categorical, 0, (columns < np.inf).sum(axis=1))
    return columns, counts.astype(np.intp)
