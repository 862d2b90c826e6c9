"""C4.5 trees (Quinlan 1993): gain ratio, cases in fractions where a tested cell is a hole, pruning.

`score_tests` and `descend_tree` are compiled; `grow_tree` is the recursion between them. An
attribute with 0 branches is a number, tested by x ≤ cut; another has a branch for each level.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from greyfill._search.jit import exact, exact_inner
from greyfill.table import Bools, Floats, Ints

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
    """Gain, split information and cut of the best test on each attribute; gain −1 without any.

    gain = F · (H(S_known) − Σ_i |S_i| / |S_known| · H(S_i)),  F = |S_known| / |S|,
    of numbers less log₂(N − 1) / |S| with N different values;
    split information = −Σ_i p_i log₂ p_i over the branches and "unknown", p_i = |S_i| / |S|
    """
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
    """How many errors a leaf is expected to make beyond those that it makes (Quinlan 1993, p. 41).

    >>> round(6 * 0.206, 2), round(more_errors(6, 0), 2), round(more_errors(9, 0), 2)
    (1.24, 1.24, 1.28)
    """
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


@exact
def descend_tree(x, missing, attribute, cut, child, parts, shares, sums, branches):
    """Shares of the classes and sums of numbers by class, of all leaves that a row reaches.

    A row whose tested cell is a hole goes down every branch, with the share of its cases.
    """
    n_classes = shares.shape[1]
    found, numbers = np.zeros((len(x), n_classes)), np.zeros((len(x), n_classes))
    waiting, weight = np.empty(len(attribute), dtype=np.intp), np.empty(len(attribute))
    for row in range(len(x)):
        waiting[0], weight[0], n = 0, 1.0, 1
        while n > 0:
            n -= 1
            node, w = waiting[n], weight[n]
            a = attribute[node]
            if a < 0:
                for c in range(n_classes):
                    found[row, c] += w * shares[node, c]
                    numbers[row, c] += w * sums[node, c]
                continue
            first, width = child[node], max(branches[a], 2)
            if missing[row, a]:
                for b in range(width):
                    if parts[first + b] > 0.0:
                        waiting[n], weight[n] = first + b, w * parts[first + b]
                        n += 1
            else:
                b = int(x[row, a]) if branches[a] > 0 else int(x[row, a] > cut[node])
                waiting[n], weight[n] = first + b, w
                n += 1
    return found, numbers
