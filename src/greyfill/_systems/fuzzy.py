"""Fuzzy k-means on rows with holes, after the formulas of `FuzzyKMeansImputer`; hidden cells.

The centers minimize J = Σ u_ik^m d²_ik for given memberships, and the memberships do for given
centers, so that J never rises.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from greyfill._chained.design import row_keys, uniform
from greyfill._systems.layout import FeatureLayout, times
from greyfill.table import Floats, RangeScaler, Table

Choice = TypeVar("Choice", bound=Hashable)

TINY = 1e-24
"""Squared distances below this count as none."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centers in the features of a layout, and the fuzziness m."""

    layout: FeatureLayout
    centers: Floats
    fuzziness: float

    def fill(self, table: Table) -> Floats:
        """Rows whose holes are completed by x = Σ u^m v / Σ u^m, which minimizes J."""
        x, shares = self.layout.encode(table), column_shares(self.layout, table)
        squares = partial_squares(x, shares, self.centers, times)
        power = memberships(squares, self.fuzziness) ** self.fuzziness
        found = times(power / power.sum(axis=1, keepdims=True), self.centers)
        return np.where(table.missing, self.layout.decode(found), table.values)


def column_shares(layout: FeatureLayout, table: Table) -> Floats:
    """P / |o_i| for observed features, 0 for others; a category counts as one column."""
    hidden = table.missing | table.unseen
    seen = np.maximum((~hidden).sum(axis=1, keepdims=True), 1)
    return np.where(layout.spread(hidden), 0.0, table.n_columns / seen)


def memberships(squares: Floats, fuzziness: float) -> Floats:
    """U from squared distances; rows at a center share themselves among such centers.

    >>> memberships(np.array([[1.0, 4.0], [0.0, 1.0]]), 2.0)
    array([[0.8, 0.2],
           [1. , 0. ]])
    """
    squares = np.maximum(squares, 0.0)
    near = squares.min(axis=1, keepdims=True)
    ratio = np.where(near > TINY, near / np.maximum(squares, TINY), squares <= TINY)
    power = ratio ** (1.0 / (fuzziness - 1.0))
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def partial_squares(
    x: Floats, shares: Floats, centers: Floats, product: Callable[..., Floats] = np.matmul
) -> Floats:
    """d²_ik = Σ_j s_ij (x_ij − v_kj)²; by ``times`` each row has the bits that it has alone."""
    squares = (shares * x**2).sum(axis=1, keepdims=True) - 2.0 * product(shares * x, centers.T)
    return np.asarray(np.maximum(squares + product(shares, (centers**2).T), 0.0))


def fit_clusters(
    table: Table,
    n_clusters: int,
    fuzziness: float,
    rng: np.random.Generator,
    *,
    n_init: int = 3,
    max_iter: int = 100,
    tol: float = 1e-5,
) -> tuple[Clusters, list[float]]:
    """The clusters of the best of several starts, and J after each step of that start."""
    layout = FeatureLayout.learn(table)
    x, shares = layout.encode(table), column_shares(layout, table)
    best: tuple[Clusters, list[float]] | None = None
    for _ in range(n_init):
        centers, history = start_centers(x, shares, n_clusters, rng), list[float]()
        for _ in range(max_iter):
            power = memberships(partial_squares(x, shares, centers), fuzziness) ** fuzziness
            centers = means(x, shares, power, centers)
            squares = partial_squares(x, shares, centers)
            history.append(float((memberships(squares, fuzziness) ** fuzziness * squares).sum()))
            if len(history) > 1 and history[-2] - history[-1] <= tol * history[-1]:
                break
        if best is None or history[-1] < best[1][-1]:
            best = Clusters(layout, centers, fuzziness), history
    assert best is not None
    return best


def start_centers(x: Floats, shares: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Rows far from each other at random (k-means++), their holes at the means of the columns."""
    middle = means(x, shares, np.ones((len(x), 1)), np.zeros((1, x.shape[1])))
    whole = np.where(shares > 0.0, x, middle)
    centers = whole[[int(rng.integers(len(x)))]]
    while len(centers) < k:
        far = partial_squares(x, shares, centers).min(axis=1)
        total = far.sum()
        chosen = rng.choice(len(x), p=far / total) if total > TINY else rng.integers(len(x))
        centers = np.vstack([centers, whole[[int(chosen)]]])
    return centers


def means(x: Floats, shares: Floats, power: Floats, before: Floats) -> Floats:
    """Centers by power over observed cells; a center stays where nobody of its cluster is seen."""
    weight = power.T @ shares
    sums = power.T @ (shares * x)
    return np.where(weight > TINY, sums / np.where(weight > TINY, weight, 1.0), before)


def best_on_hidden(
    table: Table, seed: int, candidates: Sequence[Choice], fill: Callable[[Table, Choice], Floats]
) -> tuple[Choice, dict[Choice, float]]:
    """The candidate that best restores a tenth of the cells, which is hidden, and all errors.

    The first of equally good ones, or of all where there is nothing to hide or to choose.
    """
    hidden = hide_tenth(table, seed) if len(candidates) > 1 else None
    if hidden is None:
        return candidates[0], {}
    errors = {one: hidden_error(table, hidden, fill(hidden, one)) for one in candidates}
    return min(errors, key=lambda one: errors[one]), errors


def hide_tenth(table: Table, seed: int) -> Table | None:
    """The table without a tenth of its known cells; each column and row keeps one. None if tiny.

    Which cells depends on the seed and on the content of their rows.
    """
    known, keys = ~table.missing & ~table.unseen, row_keys(table, seed)
    wanted = known & (uniform(keys[:, np.newaxis], np.arange(table.n_columns)) < 0.1)
    order = np.argsort(keys, kind="stable")
    wanted[np.arange(table.n_rows), known.argmax(axis=1)] = False
    wanted[order[known[order].argmax(axis=0)], np.arange(table.n_columns)] = False
    if not wanted.any():
        return None
    return Table(np.where(wanted, 0.0, table.values), table.missing | wanted, table.columns)


def hidden_error(table: Table, hidden: Table, filled: Floats) -> float:
    """Mean squared error of the hidden cells on the scale of the ranges; a wrong level counts 1."""
    scaler, mask = RangeScaler.learn(table), hidden.missing & ~table.missing
    truth, now = scaler.scale(table).values, scaler.scale(table.with_values(filled)).values
    miss = np.where(table.is_categorical, now != truth, (now - truth) ** 2)
    return float(miss[mask].mean())
