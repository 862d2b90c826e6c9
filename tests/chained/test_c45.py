"""C4.5 on tables worked out by hand, and against a slow twin from the definitions."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greyfill import C45Imputer
from greyfill._chained.c45 import (
    FEWEST,
    C45Tree,
    _cuts,
    choose_test,
    grow_tree,
    mdl_cuts,
    more_errors,
    score_tests,
)

OUTLOOK = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2]  # sunny, overcast, rain
HUMIDITY = [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96]
WINDY = [1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0]
PLAY = [1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1]
"""Quinlan (1993), table 2.1."""


def scores(x: Any, missing: Any, branches: Any, target: Any) -> Any:
    n = len(target)
    return score_tests(
        np.asarray(x, float), np.asarray(missing, bool), np.asarray(branches, np.intp),
        np.arange(n), np.ones(n), np.asarray(target, np.intp), int(max(target)) + 1,
    )  # fmt: skip


def test_gain_ratio_of_the_book() -> None:
    """Page 24: gain(outlook) = 0.246, split information 1.577, gain ratio 0.156."""
    x = np.column_stack([OUTLOOK, WINDY])
    gains, splits, _ = scores(x, np.zeros(x.shape), [3, 2], PLAY)
    np.testing.assert_allclose(gains, [0.2467, 0.0481], atol=1e-4)
    assert splits[0] == pytest.approx(1.5774, abs=1e-4)
    assert gains[0] / splits[0] == pytest.approx(0.156, abs=5e-4)
    assert choose_test(gains, splits) == 0


def test_gain_with_an_unknown_cell_of_the_book() -> None:
    """Page 29: without the outlook of case 6, gain = 13/14 · 0.214 = 0.199, split info 1.809."""
    missing = np.zeros((14, 1))
    missing[5] = 1
    gains, splits, _ = scores(np.array(OUTLOOK)[:, None], missing, [3], PLAY)
    assert gains[0] == pytest.approx(0.199, abs=5e-4)
    assert splits[0] == pytest.approx(1.809, abs=5e-4)


def test_more_errors_of_the_book() -> None:
    """Page 42: U(0, 6), U(0, 9), U(0, 1) and U(1, 16) at 25 %."""
    assert [round(more_errors(n, 0) / n, 3) for n in (6, 9, 1)] == [0.206, 0.143, 0.75]
    assert (1 + more_errors(16, 1)) / 16 == pytest.approx(0.157, abs=0.02)


def entropy(weights: Any) -> float:
    shares = np.array([w for w in weights if w > 0.0]) / max(sum(weights), 1e-300)
    return float(-(shares * np.log2(shares)).sum())


def slow_scores(x: Any, missing: Any, branches: Any, weight: Any, target: Any, k: int) -> Any:
    """The definitions, a threshold after the other."""
    out, total = [], weight.sum()
    for a, n_branches in enumerate(branches):
        known = ~missing[:, a]
        v, w, t = x[known, a], weight[known], target[known]
        whole = [w[t == c].sum() for c in range(k)]
        best = (-1.0, 0.0, 0.0)
        values = np.unique(v)
        cuts = [0.0] if n_branches else [(p + q) / 2 for p, q in pairwise(values)]
        for cut in cuts:
            branch = v.astype(int) if n_branches else (v > cut).astype(int)
            parts = [[w[(branch == b) & (t == c)].sum() for c in range(k)]
                     for b in range(max(n_branches, 2))]  # fmt: skip
            sizes = [sum(part) for part in parts]
            least = FEWEST if n_branches else min(max(0.1 * w.sum() / k, FEWEST), 25.0)
            if sum(size >= least - 1e-12 for size in sizes) < 2:
                continue
            inside = sum(s * entropy(part) for s, part in zip(sizes, parts, strict=True))
            gain = (w.sum() * entropy(whole) - inside) / total
            gain -= 0.0 if n_branches else np.log2(len(values) - 1) / total
            if gain > best[0] + 1e-10:
                best = gain, entropy([*sizes, total - w.sum()]), cut
        out.append(best)
    return [np.array(column) for column in zip(*out, strict=True)]


def random_case(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 40)), int(rng.integers(1, 4))
    x = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 6, n) / 2, rng.normal(size=n)])
    missing = rng.random(x.shape) < 0.2
    weight = rng.choice([0.25, 0.5, 1.0], n)
    return np.where(missing, 0.0, x), missing, np.array([3, 0, 0]), weight, rng.integers(0, k, n), k


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_scores_are_those_of_the_definitions(seed: int) -> None:
    x, missing, branches, weight, target, k = random_case(seed)
    fast = score_tests(x, missing, branches, np.arange(len(x)), weight, target, k)
    slow = slow_scores(x, missing, branches, weight, target, k)
    np.testing.assert_allclose(np.maximum(fast[0], -1), slow[0], atol=1e-8)
    useful = slow[0] > -1.0
    np.testing.assert_allclose(fast[1][useful], slow[1][useful], atol=1e-6)


def slow_descent(tree: C45Tree, row: Any, missing: Any, node: int = 0) -> Any:
    a = tree.attribute[node]
    if a < 0:
        return tree.shares[node], tree.sums[node]
    first, width = tree.child[node], max(tree.branches[a], 2)
    if missing[a]:
        below = [(tree.parts[c], slow_descent(tree, row, missing, c))
                 for c in range(first, first + width)]  # fmt: skip
        return tuple(sum(part * found[i] for part, found in below) for i in (0, 1))
    branch = int(row[a]) if tree.branches[a] else int(row[a] > tree.cut[node])
    return slow_descent(tree, row, missing, first + branch)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_rows_reach_the_leaves_that_they_should(seed: int) -> None:
    x, missing, branches, _, target, k = random_case(seed)
    numbers = x[:, 2] + target
    tree = grow_tree(x, missing, branches, target, numbers, k)
    shares, sums = tree.descend(x, missing)
    for i in range(len(x)):
        slow = slow_descent(tree, x[i], missing[i])
        np.testing.assert_allclose(shares[i], slow[0], atol=1e-12)
        np.testing.assert_allclose(sums[i], slow[1], atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_a_useless_tree_is_pruned_to_a_leaf_and_a_useful_one_is_not() -> None:
    rng = np.random.default_rng(0)
    x, none = rng.normal(size=(200, 2)), np.zeros((200, 2), bool)
    branches, zeros = np.zeros(2, np.intp), np.zeros(200)
    chance = grow_tree(x, none, branches, rng.integers(0, 2, 200), zeros, 2)
    useful = grow_tree(x, none, branches, (x[:, 0] > 0).astype(np.intp), zeros, 2)
    assert len(chance.attribute) < 20
    assert useful.attribute.tolist() == [0, -1, -1]
    assert useful.shares.tolist()[1:] == [[1.0, 0.0], [0.0, 1.0]]


def test_numbers_are_cut_where_classes_change_or_into_equal_parts() -> None:
    numbers = np.arange(40.0)
    labels = (numbers >= 25).astype(np.intp)
    assert mdl_cuts(numbers, labels).tolist() == [24.5]
    assert len(mdl_cuts(numbers, np.arange(40) % 2)) == 0
    assert len(_cuts(numbers, None)) == 7
    assert _cuts(np.array([0.0, 1.0, 1.0, 4.0]), None).tolist() == [0.5, 2.5]


def test_labels_help_only_in_fit_transform() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    frame = pd.DataFrame({"c": np.where(y == 1, "b", "a"), "x": rng.normal(size=60)})
    frame.loc[[0, 1, 30, 31], "c"] = None
    model = C45Imputer()
    assert model.fit_transform(frame, y)["c"].tolist() == np.where(y == 1, "b", "a").tolist()
    new = model.transform(frame)["c"]
    assert new.equals(C45Imputer(labels="none").fit(frame).transform(frame)["c"])
    numbers = pd.DataFrame({"v": np.where(y == 1, 9.0, 1.0) + np.arange(60) % 3, "c": frame["c"]})
    numbers.loc[[5, 45], "v"] = np.nan
    filled = model.fit_transform(numbers, y)["v"]
    assert (filled[5], filled[45]) == (2.0, 10.0)  # the mean of the part of each class
