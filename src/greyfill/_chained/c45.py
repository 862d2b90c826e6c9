"""C4.5 as an imputer (Quinlan 1993): a tree for each column with holes, over the others and y.

Tests by gain ratio, cases in fractions where a tested cell is a hole, pruning. `score_tests` is
compiled, `grow_tree` the recursion over it. An attribute with 0 branches is a number, tested by
x ≤ cut; another has a branch for each level.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import norm

from greyfill._chained.chain import with_labels
from greyfill._chained.design import row_order
from greyfill._chained.draws import settle
from greyfill._search.jit import exact, exact_inner
from greyfill.table import MANY_LEVELS, Bools, Column, Floats, Ints, Kind, SymmetricScaler, Table

QUANTILES = 8
"""Parts of a number that nothing else cuts; one with so few values has a part for each."""

FEWEST = 2.0
"""Cases that two branches of a test must have at least."""

CONFIDENCE = 0.25
"""CF: the smaller, the more is pruned."""

SMALLEST_PART = 0.01
"""Fractions of a case below this are dropped, so that holes do not multiply the cases."""

DEEPEST = 100
NOTHING = 1e-9
SLACK = 1e-3
"""How far below the average gain a test may lie, as in Quinlan's program."""


@exact_inner
def plogp(weight):
    """W log₂ W, which is 0 of nothing."""
    return weight * np.log2(weight) if weight > 1e-12 else 0.0


@exact_inner
def best_cut(values, classes, weight, whole):
    """The cut of sorted values with the least |S_1| H(S_1) + |S_2| H(S_2), their number, if any.

    With w_c the weight of class c in a part of weight W, W · H = W log₂ W − Σ w_c log₂ w_c.
    """
    heavy, n_classes = whole.sum(), len(whole)
    least = min(max(0.1 * heavy / n_classes, FEWEST), 25.0)
    left, best, cut, n_values = np.zeros(n_classes), np.inf, 0.0, 1
    on_left, inside_left, inside_right = 0.0, 0.0, 0.0
    for c in range(n_classes):
        inside_right += plogp(whole[c])
    for k in range(len(values) - 1):
        c, rest = classes[k], whole[classes[k]] - left[classes[k]]
        inside_left += plogp(left[c] + weight[k]) - plogp(left[c])
        inside_right += plogp(rest - weight[k]) - plogp(rest)
        left[c] += weight[k]
        on_left += weight[k]
        if values[k] == values[k + 1]:
            continue
        n_values += 1
        if on_left < least or heavy - on_left < least:
            continue
        bits = plogp(on_left) - inside_left + plogp(heavy - on_left) - inside_right
        if bits < best - 1e-9:
            best, cut = bits, values[k] / 2 + values[k + 1] / 2
    return cut, n_values, best < np.inf


@exact_inner
def score_test(cells, classes, weight, n_classes, n_branches, total):
    """Gain, split information and cut of the best test on known cells; gain −1 without any."""
    whole, fee, cut = np.zeros(n_classes), 0.0, 0.0
    for i in range(len(cells)):
        whole[classes[i]] += weight[i]
    if n_branches == 0:
        order = np.argsort(cells, kind="mergesort")
        cut, n_values, found = best_cut(cells[order], classes[order], weight[order], whole)
        if not found:
            return -1.0, 0.0, 0.0
        fee = np.log2(n_values - 1.0) / total
    counts = np.zeros((max(n_branches, 2), n_classes))
    for i in range(len(cells)):
        branch = int(cells[i]) if n_branches > 0 else int(cells[i] > cut)
        counts[branch, classes[i]] += weight[i]
    heavy, large = whole.sum(), 0
    gain, split = plogp(heavy), -plogp((total - heavy) / total)
    for c in range(n_classes):
        gain -= plogp(whole[c])
    for b in range(len(counts)):
        size = counts[b].sum()
        large += size >= FEWEST
        split -= plogp(size / total)
        gain -= plogp(size)
        for c in range(n_classes):
            gain += plogp(counts[b, c])
    if large < 2:
        return -1.0, 0.0, 0.0
    return gain / total - fee, split, cut


@exact
def score_tests(x, missing, branches, rows, weight, target, n_classes):
    """Gain (−1: no test), split information and cut on each attribute, as `C45Imputer` has them."""
    p, total = x.shape[1], weight.sum()
    gains, splits, cuts = np.full(p, -1.0), np.zeros(p), np.zeros(p)
    cells, classes, heft = np.empty(len(rows)), np.empty(len(rows), np.intp), np.empty(len(rows))
    for a in range(p):
        n = 0
        for i in range(len(rows)):
            if not missing[rows[i], a]:
                cells[n], classes[n], heft[n] = x[rows[i], a], target[rows[i]], weight[i]
                n += 1
        if n > 0:
            gains[a], splits[a], cuts[a] = score_test(
                cells[:n], classes[:n], heft[:n], n_classes, branches[a], total
            )
    return gains, splits, cuts


def choose_test(gains: Floats, splits: Floats) -> int:
    """The attribute of the largest gain ratio among those of at least average gain; −1 of none."""
    useful = gains > 1e-9
    if not useful.any():
        return -1
    ratios = np.where(splits > 1e-9, gains / np.where(splits > 1e-9, splits, 1.0), 0.0)
    ratios[~useful | (gains < gains[useful].mean() - SLACK)] = -1.0
    return int(ratios.argmax())


@dataclass(frozen=True, eq=False)
class C45Tree:
    """Nodes in the order in which they were grown; children of a node stand side by side after it.

    ``attribute`` is −1 in a leaf. ``shares`` has the classes of the training cases of a node, sums
    to 1, and ``sums`` the same weights times the cases' numbers, for targets that are numbers;
    ``parts`` is the share of its parent's cases that a node received.
    """

    attribute: Ints
    cut: Floats
    child: Ints
    parts: Floats
    shares: Floats
    sums: Floats
    branches: Ints

    def descend(self, x: Floats, missing: Bools) -> tuple[Floats, Floats]:
        """Shares of the classes and sums of numbers by class, of all leaves that a row reaches.

        A row whose tested cell is a hole goes down every branch, with the share of its cases.
        """
        shares, sums = np.zeros((2, len(x), self.shares.shape[1]))
        waiting = [(0, np.arange(len(x)), np.ones(len(x)))]
        while waiting:
            node, rows, weight = waiting.pop()
            a, first = self.attribute[node], int(self.child[node])
            if a < 0:
                shares[rows] += weight[:, np.newaxis] * self.shares[node]
                sums[rows] += weight[:, np.newaxis] * self.sums[node]
                continue
            branch = x[rows, a] if self.branches[a] else x[rows, a] > self.cut[node]
            for b in range(max(self.branches[a], 2)):
                part = np.where(missing[rows, a], self.parts[first + b], branch == b) * weight
                if part.any():
                    waiting.append((first + b, rows[part > 0.0], part[part > 0.0]))
        return shares, sums


@dataclass(eq=False)
class _Node:
    """A node while a tree is grown."""

    counts: Floats
    sums: Floats
    part: float
    attribute: int = -1
    cut: float = 0.0
    children: tuple["_Node", ...] = ()


def grow_tree(
    x: Floats, missing: Bools, branches: Ints, target: Ints, numbers: Floats, n_classes: int
) -> C45Tree:
    """A pruned tree that predicts ``target``, whose cases stand for ``numbers``."""

    def grow(rows: Ints, weight: Floats, part: float, depth: int) -> _Node:
        counts = np.asarray(np.bincount(target[rows], weight, n_classes), np.float64)
        sums = np.asarray(np.bincount(target[rows], weight * numbers[rows], n_classes), np.float64)
        node = _Node(counts, sums, part)
        total = counts.sum()
        if total < 2 * FEWEST or counts.max() >= total - 1e-6 or depth > DEEPEST:
            return node
        gains, splits, cuts = score_tests(x, missing, branches, rows, weight, target, n_classes)
        a = choose_test(gains, splits)
        if a < 0:
            return node
        node.attribute, node.cut = a, float(cuts[a])
        cells, unknown = x[rows, a], missing[rows, a]
        branch = cells.astype(np.intp) if branches[a] else (cells > node.cut).astype(np.intp)
        sizes = np.bincount(branch[~unknown], weight[~unknown], max(branches[a], 2))
        children = []
        for b, share in enumerate((sizes / sizes.sum()).tolist()):
            parts = np.where(unknown, weight * share, np.where(branch == b, weight, 0.0))
            kept = np.flatnonzero(parts >= SMALLEST_PART)
            if len(kept):
                children.append(grow(rows[kept], parts[kept], share, depth + 1))
            else:  # what nobody has seen is as the parent
                children.append(_Node(counts * NOTHING, sums * NOTHING, share))
        node.children = tuple(children)
        return node

    root = grow(np.arange(len(x)), np.ones(len(x)), 1.0, 0)
    prune(root)
    return _laid_out(root, branches)


def prune(node: _Node) -> float:
    """Cut off what is not expected to help; the expected number of errors below the node.

    The errors of a leaf are the upper limit of a binomial at confidence `CONFIDENCE`. A subtree
    stays only if it is expected to make 0.1 errors less than a leaf in its place.
    """
    total, wrong = float(node.counts.sum()), float(node.counts.sum() - node.counts.max())
    as_leaf = wrong + more_errors(total, wrong)
    if not node.children:
        return as_leaf
    as_tree = float(sum(prune(child) for child in node.children))
    if as_leaf <= as_tree + 0.1:
        node.attribute, node.children = -1, ()
        return as_leaf
    return as_tree


def more_errors(total: float, wrong: float) -> float:
    """Errors that a leaf is expected to make beyond those that it makes (Quinlan 1993, p. 41)."""
    if total <= 0.0:
        return 0.0
    if wrong < 1.0:
        base = float(total * (1.0 - CONFIDENCE ** (1.0 / total)))
        return base if wrong <= 0.0 else base + wrong * (more_errors(total, 1.0) - base)
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    z, f = float(norm.isf(CONFIDENCE)), (wrong + 0.5) / total
    root = np.sqrt(f / total - f * f / total + z * z / (4 * total * total))
    rate = (f + z * z / (2 * total) + z * root) / (1.0 + z * z / total)
    return float(rate * total - wrong)


def _laid_out(root: _Node, branches: Ints) -> C45Tree:
    """The nodes as arrays, children side by side."""
    nodes, child = [root], []
    for node in nodes:  # grows while it is read
        child.append(len(nodes) if node.children else -1)
        nodes.extend(node.children)
    totals = [max(float(node.counts.sum()), 1e-300) for node in nodes]
    return C45Tree(
        np.array([node.attribute for node in nodes], dtype=np.intp),
        np.array([node.cut for node in nodes]),
        np.array(child, dtype=np.intp),
        np.array([node.part for node in nodes]),
        np.array([node.counts / total for node, total in zip(nodes, totals, strict=True)]),
        np.array([node.sums / total for node, total in zip(nodes, totals, strict=True)]),
        branches,
    )


@dataclass(frozen=True, eq=False)
class ColumnTree:
    """A tree that predicts the classes, or parts, of a column over all columns but that one."""

    tree: C45Tree
    codes: Floats
    scaler: SymmetricScaler | None

    def predict(self, x: Floats, missing: Bools) -> Floats:
        """The likeliest code, or of numbers the mean within the likeliest part."""
        shares, sums = self.tree.descend(x, missing)
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
    _labels: Ints | None = None
    """Classes of the rows, where the last column of the table is the class."""

    def tree(self, j: int) -> ColumnTree:
        """The tree of column j; one for a column without holes in ``fit`` is grown late."""
        if j not in self.trees and j not in self._late:
            self._late[j] = grow_column_tree(self.table, j, self._labels)
        return self.trees.get(j) or self._late[j]

    def fill(self, table: Table) -> Floats:
        """Each hole by the tree of its column, rows on their own; holes of other columns stay."""
        values, missing = table.values.copy(), table.missing | table.unseen
        x = np.where(missing, 0.0, table.values)
        for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
            rows = np.flatnonzero(table.missing[:, j])
            cells = np.ix_(rows, self.table.others(j))
            found = self.tree(j).predict(x[cells], missing[cells])
            values[rows, j] = settle(self.table.columns[j], found)
        return values


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
    order, filled = row_order(table), np.empty_like(table.values)
    classed = with_labels(table.rows(order), labels[order])
    filled[order] = FittedC45(classed, {}, _labels=labels[order]).fill(classed)[:, :-1]
    return filled


def grow_column_tree(table: Table, j: int, labels: Ints | None = None) -> ColumnTree:
    """The tree of column j over the rows that know it; with labels the last column is the class."""
    column, seen = table.columns[j], np.flatnonzero(~table.missing[:, j])
    part, numbers, scaler = table.rows(seen), np.zeros(len(seen)), None
    others = table.others(j)
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


def branches_of(column: Column) -> int:
    """0 for what is tested by a cut: numbers, ordered levels, and codes of very many levels."""
    is_few = column.kind is Kind.CATEGORICAL and 0 < column.n_levels <= MANY_LEVELS
    return column.n_levels if is_few else 0


def _cuts(numbers: Floats, labels: Ints | None) -> Floats:
    """Where a target that is a number is cut: by classes, else between few values, else evenly."""
    found, values = np.zeros(0) if labels is None else mdl_cuts(numbers, labels), np.unique(numbers)
    if len(found):
        return found
    if len(values) <= QUANTILES:
        return values[:-1] / 2 + values[1:] / 2
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
        sides = np.stack([running[-1], left[best], right[best]])
        (k, k1, k2), (h, h1, h2) = (sides > 0.0).sum(axis=1), _entropy(sides)
        cost = np.log2(n - 1.0) + np.log2(3.0 ** min(k, 600) - 2.0) - k * h + k1 * h1 + k2 * h2
        if h - inside[best] > cost / n:
            place = int(places[best])
            cuts.append(float(v[place - 1] / 2 + v[place] / 2))
            waiting += [(start, start + place), (start + place, end)]
    return np.sort(np.array(cuts))


def _entropy(counts: Floats) -> Floats:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(-(shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum(axis=1))
