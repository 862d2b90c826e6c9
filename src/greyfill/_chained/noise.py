"""Random numbers that depend on the seed and the content of a row, and on nothing else."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from greyfill.table import Floats, Ints, Table

Keys = NDArray[np.uint64]


def row_keys(table: Table, seed: int) -> Keys:
    """64 bits for each row: blake2b of the seed, the mask and the observed cells.

    Equal rows have equal keys, wherever they stand.

    >>> from greyfill.table import Column, Kind
    >>> values = np.array([[1.0], [2.0], [1.0]])
    >>> table = Table(values, np.zeros((3, 1), bool), (Column("a", Kind.NUMERIC),))
    >>> keys = row_keys(table, 0)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    salt = seed.to_bytes(8, "little", signed=True)
    cells = np.where(table.missing, 0.0, table.values) + 0.0  # −0.0 becomes 0.0
    masks = np.packbits(table.missing, axis=1)
    digests = [
        blake2b(mask.tobytes() + row.tobytes(), digest_size=8, key=salt).digest()
        for row, mask in zip(cells, masks, strict=True)
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def row_order(table: Table) -> Ints:
    """An order of the rows that depends on their content only; equal rows stay as they came."""
    return np.argsort(row_keys(table, 0), kind="stable")


def uniform(keys: Keys, counter: Ints | int) -> Floats:
    """The counter-th number in (0, 1) of each key, by SplitMix64 (Steele, Lea and Flood 2014)."""
    step = np.asarray(counter).astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        z = keys + step * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.asarray(((z >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)
