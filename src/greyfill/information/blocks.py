"""Work in blocks, so that memory stays bounded."""

from collections.abc import Iterator

# Numbers held at once: 2 MB, which stays in a core's cache.
BLOCK_CELLS = 2**18


def blocks(n: int, cells_each: int) -> Iterator[slice]:
    """Slices of 0 … n that hold at most ``BLOCK_CELLS`` cells, but at least one item.

    >>> list(blocks(5, BLOCK_CELLS // 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, BLOCK_CELLS // max(1, cells_each))
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
