"""Fuzzy k-means on rows with holes, by partial distances (Hathaway and Bezdek 2001).

d²_ik = p / |o_i| · Σ_{j ∈ o_i} (x_ij − v_kj)²,  u_ik = d_ik^(−2/(m−1)) / Σ_l d_il^(−2/(m−1))

The centers minimize J = Σ u_ik^m d²_ik for given memberships, and the memberships do for given
centers, so that J never rises.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from greyfill._chained.design import row_keys, uniform
from greyfill._systems.layout import FeatureLayout, row_squares, times
from greyfill.table import Bools, Floats, Table

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
        squares = row_squares(x, shares, self.centers)
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


def partial_squares(x: Floats, shares: Floats, centers: Floats) -> Floats:
    """d²_ik of training rows, by products of matrices."""
    squares = (shares * x**2).sum(axis=1, keepdims=True) - 2.0 * (shares * x) @ centers.T
    return np.asarray(np.maximum(squares + shares @ (centers**2).T, 0.0))


def fit_clusters(
    layout: FeatureLayout,
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


def choose_clusters(
    table: Table,
    sizes: tuple[int, ...],
    fuzziness: tuple[float, ...],
    seed: int,
    fit: Callable[[Table, int, float], Clusters],
) -> tuple[tuple[int, float], dict[tuple[int, float], float]]:
    """Number of clusters and fuzziness that best restore a tenth of the cells, and all errors."""
    hidden = hide_tenth(table, seed)
    pairs = [(k, m) for k in sizes if k <= table.n_rows for m in fuzziness] or [(1, fuzziness[0])]
    if len(pairs) == 1 or hidden is None:
        return pairs[0], {}
    errors = {(k, m): hidden_error(table, hidden, fit(hidden, k, m).fill(hidden)) for k, m in pairs}
    return min(errors, key=lambda pair: (errors[pair], pair)), errors


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
    layout = FeatureLayout.learn(table)
    mask: Bools = hidden.missing & ~table.missing
    truth = layout.scaler.scale(table).values
    now = layout.scaler.scale(Table(filled, table.missing, table.columns)).values
    miss = np.where(table.is_categorical, now != truth, (now - truth) ** 2)
    return float(miss[mask].mean())
