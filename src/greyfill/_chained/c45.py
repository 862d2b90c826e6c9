"""C4.5 as an imputer: a tree for each column with holes, over the other columns and the class."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from greyfill._chained.c45_tree import C45Tree, descend_tree, grow_tree
from greyfill._chained.chain import with_labels
from greyfill._chained.design import row_order
from greyfill._chained.draws import settle
from greyfill.table import MANY_LEVELS, Bools, Column, Floats, Ints, Kind, SymmetricScaler, Table

QUANTILES = 8
"""Parts of a number that nothing else cuts; one with so few values has a part for each."""


@dataclass(frozen=True, eq=False)
class ColumnTree:
    """A tree that predicts the classes, or parts, of a column over all columns but that one."""

    tree: C45Tree
    codes: Floats
    scaler: SymmetricScaler | None

    def predict(self, x: Floats, missing: Bools) -> Floats:
        """The likeliest code, or of numbers the mean within the likeliest part."""
        tree = self.tree
        shares, sums = descend_tree(
            x, missing, tree.attribute, tree.cut, tree.child, tree.parts, tree.shares,
            tree.sums, tree.branches,
        )  # fmt: skip
        best = shares.argmax(axis=1)
        if self.scaler is None:
            return np.asarray(self.codes[best])
        rows = np.arange(len(x))
        return self.scaler.unscale(sums[rows, best] / shares[rows, best])


@dataclass(frozen=True, eq=False)
class FittedC45:
    """The training table, in the order of its rows' keys, and the trees of its columns."""

    table: Table
    trees: dict[int, ColumnTree]
    _late: dict[int, ColumnTree] = field(default_factory=dict, repr=False)

    def tree(self, j: int) -> ColumnTree:
        """The tree of column j; one for a column without holes in ``fit`` is grown late."""
        if j in self.trees:
            return self.trees[j]
        if j not in self._late:
            self._late[j] = grow_column_tree(self.table, j)
        return self._late[j]

    def fill(self, table: Table) -> Floats:
        """New rows, each on its own."""
        return fill_by_trees(table, self.table.columns, self.tree)


def fit_c45(table: Table, report: Callable[[str], None]) -> FittedC45:
    """A tree without the class for each column with holes."""
    table = table.rows(row_order(table))
    trees = {}
    for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
        trees[j] = grow_column_tree(table, j)
        report(f"column {table.columns[j].name!r}: {len(trees[j].tree.attribute)} nodes")
    return FittedC45(table, trees)


def fill_with_class(table: Table, labels: Ints) -> Floats:
    """The training rows, filled by trees that test the class as well."""
    order = row_order(table)
    ordered, known = table.rows(order), labels[order]
    classed = with_labels(ordered, known)
    filled = np.empty_like(table.values)
    trees = lambda j: grow_column_tree(classed, j, known)  # noqa: E731
    filled[order] = fill_by_trees(classed, classed.columns, trees)[:, :-1]
    return filled


def fill_by_trees(
    table: Table, columns: tuple[Column, ...], tree: Callable[[int], ColumnTree]
) -> Floats:
    """Each hole by the tree of its column; holes of the other columns stay holes."""
    values, missing = table.values.copy(), table.missing | table.unseen
    x = np.where(missing, 0.0, table.values)
    for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
        rows = np.flatnonzero(table.missing[:, j])
        cells = np.ix_(rows, tested(columns, j))
        values[rows, j] = settle(columns[j], tree(j).predict(x[cells], missing[cells]))
    return values


def grow_column_tree(table: Table, j: int, labels: Ints | None = None) -> ColumnTree:
    """The tree of column j over the rows that know it; with labels the last column is the class."""
    column, seen = table.columns[j], np.flatnonzero(~table.missing[:, j])
    part, numbers, scaler = table.rows(seen), np.zeros(len(seen)), None
    others = tested(table.columns, j)
    missing = (part.missing | part.unseen)[:, others]
    x = np.where(missing, 0.0, part.values[:, others])
    branches = [branches_of(table.columns[k]) for k in others]
    if labels is not None:  # however many, classes are no numbers
        branches[-1] = table.columns[-1].n_levels
    if column.kind is Kind.CATEGORICAL:
        codes, target = np.unique(part.values[:, j], return_inverse=True)
    else:
        scaler = SymmetricScaler.learn(part).column(j)
        numbers, codes = scaler.scale(part.values[:, j]), np.zeros(0)
        cuts = _cuts(numbers, None if labels is None else labels[seen])
        target = np.unique(np.searchsorted(cuts, numbers, side="right"), return_inverse=True)[1]
    n_classes, tests = int(target.max()) + 1, np.array(branches, dtype=np.intp)
    tree = grow_tree(x, missing, tests, target.astype(np.intp), numbers, n_classes)
    return ColumnTree(tree, codes, scaler)


def tested(columns: tuple[Column, ...], j: int) -> Ints:
    """The columns that a tree of column j may test."""
    kept = [k for k, column in enumerate(columns) if k != j and column.predicts]
    return np.array(kept, dtype=np.intp)


def branches_of(column: Column) -> int:
    """0 for what is tested by a cut: numbers, ordered levels, and codes of very many levels."""
    is_few = column.kind is Kind.CATEGORICAL and 0 < column.n_levels <= MANY_LEVELS
    return column.n_levels if is_few else 0


def _cuts(numbers: Floats, labels: Ints | None) -> Floats:
    """Where a target that is a number is cut: by the classes, else between few values, else evenly.

    >>> _cuts(np.array([0.0, 1.0, 1.0, 4.0]), None)
    array([0.5, 2.5])
    """
    if labels is not None:
        found = mdl_cuts(numbers, labels)
        if len(found):
            return found
    values = np.unique(numbers)
    middles = values[:-1] / 2 + values[1:] / 2
    if len(values) <= QUANTILES:
        return middles
    return np.unique(np.quantile(numbers, np.arange(1, QUANTILES) / QUANTILES))


def mdl_cuts(numbers: Floats, labels: Ints) -> Floats:
    """Cuts that tell about the classes more than they cost (Fayyad and Irani 1993).

    A cut of n cases with k classes and entropy H into parts with k₁, H₁ and k₂, H₂ is kept if
    gain > (log₂(n − 1) + log₂(3ᵏ − 2) − kH + k₁H₁ + k₂H₂) / n; its parts are cut in turn.
    """
    order = np.argsort(numbers, kind="stable")
    numbers, marks = numbers[order], np.eye(int(labels.max(initial=0)) + 1)[labels[order]]
    cuts: list[float] = []
    waiting = [(0, len(numbers))]
    while waiting:
        start, end = waiting.pop()
        v, running = numbers[start:end], np.cumsum(marks[start:end], axis=0)
        places = np.flatnonzero(v[1:] > v[:-1]) + 1
        n = end - start
        if len(places) == 0:
            continue
        left, right = running[places - 1], running[-1] - running[places - 1]
        inside = _entropy(left) * places / n + _entropy(right) * (n - places) / n
        best = int(inside.argmin())
        sides = [running[-1], left[best], right[best]]
        (k, k1, k2), (h, h1, h2) = zip(
            *(((s > 0).sum(), float(_entropy(s[np.newaxis])[0])) for s in sides), strict=True
        )
        cost = np.log2(n - 1.0) + np.log2(3.0 ** min(k, 600) - 2.0) - k * h + k1 * h1 + k2 * h2
        if h - inside[best] > cost / n:
            place = int(places[best])
            cuts.append(float(v[place - 1] / 2 + v[place] / 2))
            waiting += [(start, start + place), (start + place, end)]
    return np.sort(np.array(cuts))


def _entropy(counts: Floats) -> Floats:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(-(shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum(axis=1))
