"""Entropy of counts, mutual information of categories by histogram, and what all estimates share.

`steady_sums` are the same in any order of their terms, so that parts of a table add up; `blocks`
bound the memory of a sum, `known_cells` are those that count, `dense_codes` are 0, 1, 2 … and
`without_rounding` clips what an estimate of 0 leaves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from greyfill.table import Bools, Floats, Ints, Kind, Table

STEPS = 2.0**30
BLOCK = 4_096
"""Rows that are counted at a time: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Numbers as ``high`` steps of 2⁻³⁰ and ``low`` ones of 2⁻⁶⁰.

    Terms between −1 and 1 can be added up to eight thousand million times.

    >>> thirds = Steps.of_columns(np.full((3, 1), 1 / 3))
    >>> (thirds + thirds).floats
    array([2.])
    """

    high: Ints
    low: Ints

    @classmethod
    def of(cls, values: Floats) -> "Steps":
        """Each of the numbers."""
        steps = values * STEPS
        whole = np.floor(steps)
        rest = np.rint((steps - whole) * STEPS)
        return cls(whole.astype(np.int64), rest.astype(np.int64))

    @classmethod
    def of_columns(cls, values: Floats) -> "Steps":
        """The sum of each column."""
        total = cls(*np.zeros((2, values.shape[1]), dtype=np.int64))
        for start in range(0, len(values), BLOCK):
            total = total + cls.of(values[start : start + BLOCK]).sum(axis=0)
        return total

    @classmethod
    def stack(cls, parts: "Sequence[Steps]") -> "Steps":
        """Several of one length, as the rows of a table."""
        return cls(np.array([p.high for p in parts]), np.array([p.low for p in parts]))

    def rows(self, chosen: Bools) -> "Steps":
        """Some rows."""
        return Steps(self.high[chosen], self.low[chosen])

    def __add__(self, other: "Steps") -> "Steps":
        return Steps(self.high + other.high, self.low + other.low)

    def sum(self, axis: int) -> "Steps":
        """The sums along an axis."""
        return Steps(self.high.sum(axis=axis), self.low.sum(axis=axis))

    def by(self, groups: Ints, n: int) -> "Steps":
        """The sum of each of n groups of terms."""
        high, low = np.zeros((2, n), dtype=np.int64)
        np.add.at(high, groups, self.high)
        np.add.at(low, groups, self.low)
        return Steps(high, low)

    @property
    def floats(self) -> Floats:
        """The numbers themselves, rounded once."""
        return np.asarray(self.high / STEPS + self.low / STEPS**2)


def exponents(values: Floats, axis: int) -> Ints:
    """The least e with |x| ≤ 2ᵉ for all x along an axis; scaling by 2ᵉ is exact.

    >>> exponents(np.array([[1.0, -3.0], [0.5, 0.25]]), axis=1)
    array([ 2, -1], dtype=int32)
    """
    highest, lowest = values.max(axis=axis, initial=0.0), values.min(axis=axis, initial=0.0)
    mantissa, exponent = np.frexp(np.maximum(highest, -lowest))
    return np.asarray(exponent - (mantissa == 0.5))


def steady_sums(values: Floats) -> Floats:
    """The sum of each row, the same in every order of its columns.

    >>> steady_sums(np.array([[1e300, 2e300, 0.0], [0.5, 2.0**52, 0.5]])).tolist()
    [3e+300, 4503599627370497.0]
    """
    exponent = exponents(values, axis=1)
    steps = Steps.of(np.ldexp(values, -exponent[:, None]))
    return np.asarray(np.ldexp(steps.sum(axis=1).floats, exponent))


# Numbers held at once: 2 MB, which stays in a core's cache.
BLOCK_CELLS = 2**18
# Rounding leaves about 1e-16 bits where the information is 0; normalize would blow that up.
NEGLIGIBLE = 1e-12


def blocks(n: int, cells_each: int) -> Iterator[slice]:
    """Slices of 0 … n that hold at most ``BLOCK_CELLS`` cells, but at least one item.

    >>> list(blocks(5, BLOCK_CELLS // 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, BLOCK_CELLS // max(1, cells_each))
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))


def known_cells(table: Table) -> Bools:
    """Observed cells whose value means something: a code of −1 is a level unseen in `fit`.

    >>> from greyfill.table import Column
    >>> values, missing = np.array([[-1.0], [0.0]]), np.array([[False], [False]])
    >>> known_cells(Table(values, missing, (Column("sex", Kind.CATEGORICAL, 1),))).ravel()
    array([False,  True])
    """
    holds_codes = np.array([c.kind is not Kind.NUMERIC for c in table.columns], dtype=bool)
    return np.asarray(~table.missing & ~(holds_codes & (table.values < 0)))


def entropy(codes: Ints, n_levels: int) -> float:
    """Entropy in bits of the categories 0 … n_levels − 1.

    H(X) = −Σ_x p(x) log₂ p(x), p(x) = n_x / n  (16), (25)

    >>> import numpy as np
    >>> entropy(np.array([0, 0, 1, 2]), 3)
    1.5
    """
    return float(entropy_of_masses(np.bincount(codes, minlength=n_levels).astype(np.float64)))


def histogram_information(a: Ints, b: Ints) -> float:
    """Mutual information in bits of two columns of categories.

    I(A; B) = Σ_a Σ_b p(a, b) log₂ p(a, b) / (p(a) p(b))  (19)

    >>> import numpy as np
    >>> histogram_information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    a_codes, b_codes = dense_codes(np.stack([a, b]))
    return float(_histogram_block(a_codes[None], np.ones((1, len(a)), dtype=bool), b_codes)[0])


def histogram_columns(codes: Ints, known: Bools, labels: Ints) -> Floats:
    """Histogram information of each row of ``codes`` with the labels, over its known cells.

    With S = Σ c log₂ c over counts c, (19) reads I = log₂ n + (S_ab − S_a − S_b) / n.
    Only cells that occur are counted, so two columns of n levels cost O(n log n), not O(n²).

    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> histogram_columns(codes, np.ones((2, 4), dtype=bool), np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    information = np.zeros(len(codes))
    for block in blocks(len(codes), codes.shape[1]):
        information[block] = _histogram_block(codes[block], known[block], labels)
    return information


def entropy_of_masses(masses: Floats) -> Floats:
    """Entropy in bits of unnormalized masses along the last axis; 0 where there is no mass.

    H = log₂ M − (1/M) Σ_y m_y log₂ m_y,  M = Σ_y m_y

    >>> entropy_of_masses(np.array([[2.0, 2.0], [5.0, 0.0]]))
    array([1., 0.])
    """
    total = np.asarray(masses.sum(axis=-1))
    safe = np.where(total > 0, total, 1.0)
    spread: Floats = np.log2(safe) - _c_log_c(masses).sum(axis=-1) / safe
    return np.maximum(spread, 0.0)


def dense_codes(codes: Ints) -> Ints:
    """Recode each row to 0, 1, 2 … in the order of its values.

    >>> dense_codes(np.array([[7, -1, 7], [3, 2, 1]]))
    array([[1, 0, 1],
           [2, 1, 0]])
    """
    order = np.argsort(codes, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(codes, order, axis=1), axis=1) != 0
    ranks = np.zeros(codes.shape, dtype=np.intp)
    np.cumsum(steps, axis=1, out=ranks[:, 1:])
    dense = np.empty(codes.shape, dtype=np.intp)
    np.put_along_axis(dense, order, ranks, axis=1)
    return dense


def without_rounding(information: Floats) -> Floats:
    """Information that is never negative, and exactly 0 where only rounding is left.

    >>> without_rounding(np.array([-0.1, 1e-16, 0.5]))
    array([0. , 0. , 0.5])
    """
    return np.where(information > NEGLIGIBLE, information, 0.0)


def _histogram_block(codes: Ints, known: Bools, labels: Ints) -> Floats:
    """Histogram information of a few columns, their cells told apart by disjoint keys."""
    n_columns, (column, row) = len(codes), np.nonzero(known)
    level, label = codes[column, row], labels[row]
    n_levels, n_labels = int(level.max(initial=0)) + 1, int(label.max(initial=0)) + 1
    level_key, label_key = column * n_levels + level, column * n_labels + label
    joint = _sums_of_c_log_c(level_key * n_labels + label, n_levels * n_labels, n_columns)
    levels = _sums_of_c_log_c(level_key, n_levels, n_columns)
    classes = _sums_of_c_log_c(label_key, n_labels, n_columns)
    n = np.maximum(known.sum(axis=1), 1)
    return without_rounding(np.log2(n) + (joint - levels - classes) / n)


def _sums_of_c_log_c(keys: Ints, keys_each: int, n_columns: int) -> Floats:
    """Σ c log₂ c over the counts c of the distinct keys of each column."""
    if keys_each * n_columns <= 4 * len(keys):
        counts = np.bincount(keys, minlength=keys_each * n_columns)
        by_column = counts.reshape(n_columns, keys_each).astype(np.float64)
        return steady_sums(_c_log_c(by_column))
    distinct, counts = np.unique(keys, return_counts=True)
    weights, column = _c_log_c(counts.astype(np.float64)), distinct // keys_each
    largest = np.zeros((n_columns, 1))
    np.maximum.at(largest[:, 0], column, weights)
    exponent = exponents(largest, axis=1)
    steps = Steps.of(np.ldexp(weights, -exponent[column])).by(column, n_columns)
    return np.asarray(np.ldexp(steps.floats, exponent))


def _c_log_c(c: Floats) -> Floats:
    """Return c log₂ c, continued by 0 at 0."""
    return np.asarray(c * np.log2(np.maximum(c, np.finfo(np.float64).tiny)))
