"""A random forest as plain arrays: small, quick for one row, and the same as in a batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greyfill.table import Bools, Floats, Ints

Singles = NDArray[np.float32]
Nodes = NDArray[np.int32]

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of one tree; children are counted from its root."""

    feature: Nodes
    threshold: Floats
    left: Nodes
    right: Nodes
    value: Floats

    @classmethod
    def of(cls, tree: Any, value: Floats) -> "Tree":
        """From a fitted tree of scikit-learn and the value of each node, in arrays of its own."""
        left = tree.children_left.astype(np.int32)
        return cls(
            feature=np.where(left < 0, -1, tree.feature).astype(np.int32),
            threshold=tree.threshold.copy(),
            left=left,
            right=tree.children_right.astype(np.int32),
            value=value,
        )


@dataclass(frozen=True, eq=False)
class Forest:
    """All nodes of all trees, one after the other; children are counted from the first node.

    The answer is the mean of the trees' values, or for ``n_classes`` > 0 their vote (the smallest
    code of ties), as in R's randomForest.

    >>> Forest.constant(2.5).predict(np.zeros((1, 3), dtype=np.float32))
    array([2.5])
    """

    roots: Ints
    feature: Nodes
    threshold: Floats
    left: Nodes
    right: Nodes
    value: Floats
    n_classes: int = 0

    @classmethod
    def constant(cls, value: float) -> "Forest":
        """One tree of one leaf."""
        leaf = np.full(1, -1, dtype=np.int32)
        return cls(np.zeros(1, dtype=np.intp), leaf, np.zeros(1), leaf, leaf, np.array([value]))

    @classmethod
    def flatten(cls, trees: list[Tree], n_classes: int = 0) -> "Forest":
        """All trees, one after the other."""
        sizes = np.array([len(tree.value) for tree in trees])
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        shift = np.repeat(roots, sizes).astype(np.int32)
        return cls(
            roots=roots,
            feature=np.concatenate([tree.feature for tree in trees]),
            threshold=np.concatenate([tree.threshold for tree in trees]),
            left=np.concatenate([tree.left for tree in trees]) + shift,
            right=np.concatenate([tree.right for tree in trees]) + shift,
            value=np.concatenate([tree.value for tree in trees]),
            n_classes=n_classes,
        )

    def predict(self, x: Singles) -> Floats:
        """The mean or vote of the trees for each row."""
        answers = [self._join(values, None) for values in self._blocks(x)]
        return np.concatenate([np.empty(0), *answers])

    def predict_unseen(self, x: Singles, unseen: Bools) -> Floats:
        """For each training row, the answer of the trees that did not see it; NaN without any."""
        answers, first = [], 0
        for values in self._blocks(x):
            answers.append(self._join(values, unseen[first : first + len(values)]))
            first += len(values)
        return np.concatenate(answers)

    def _blocks(self, x: Singles) -> Iterator[Floats]:
        from greyfill._chained.walking import walk

        size = max(CELLS_AT_ONCE // len(self.roots), 1)
        for start in range(0, len(x), size):
            yield walk(
                np.ascontiguousarray(x[start : start + size]),
                self.roots, self.feature, self.threshold, self.left, self.right, self.value,
            )  # fmt: skip

    def _join(self, values: Floats, counted: Bools | None) -> Floats:
        """Join the values of the trees, or of those that count."""
        from greyfill._chained.walking import vote

        counted = np.ones(values.shape, dtype=bool) if counted is None else counted
        if self.n_classes:
            return np.asarray(vote(values, counted, self.n_classes))
        n_counted, total = counted.sum(axis=1), np.where(counted, values, 0.0).sum(axis=1)
        return np.where(n_counted > 0, total / np.maximum(n_counted, 1), np.nan)
