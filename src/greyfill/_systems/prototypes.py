"""Fuzzy clusters and learning vector quantization of rows with holes.

The formulas are those of `FuzzyKMeansImputer`, whose centers minimize J = Σ u_ik^m d²_ik for given
memberships and whose memberships do for given centers, so that J never rises; and of `LVQImputer`,
with d⁺ the distance to the nearest prototype of the row's own class, d⁻ to that of another.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from greyfill._systems.layout import FeatureLayout, times
from greyfill.table import Floats, Ints, Table

SHARP, FIRST_STEPS = 1.05, 20
"""Fuzziness and steps of the clusters that prototypes begin with: nearly hard."""

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
    """U from squared distances; rows at a center share themselves among such centers."""
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
    table: Table, k: int, m: float, rng: np.random.Generator, max_iter: int, n_init: int, tol: float
) -> tuple[Clusters, list[float]]:
    """The clusters of the best of several starts, and J after each step of that start."""
    layout = FeatureLayout.learn(table)
    x, shares = layout.encode(table), column_shares(layout, table)
    ends = [descend(x, shares, k, m, rng, max_iter, tol) for _ in range(n_init)]
    centers, history = min(ends, key=lambda end: end[1][-1])
    return Clusters(layout, centers, m), history


def descend(
    x: Floats, s: Floats, k: int, m: float, rng: np.random.Generator, max_iter: int, tol: float
) -> tuple[Floats, list[float]]:
    """Centers from one start, and J after each step, until a step takes less than a share of it."""
    centers, history = start_centers(x, s, k, rng), list[float]()
    for _ in range(max_iter):
        power = memberships(partial_squares(x, s, centers), m) ** m
        centers = means(x, s, power, centers)
        squares = partial_squares(x, s, centers)
        history.append(float((memberships(squares, m) ** m * squares).sum()))
        if len(history) > 1 and history[-2] - history[-1] <= tol * history[-1]:
            break
    return centers, history


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


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Prototypes in the features of a layout, the class of each, and the relevance of columns.

    ``given`` is what each gives to holes: the mean of its rows, or its own position.
    """

    layout: FeatureLayout
    centers: Floats
    labels: Ints
    relevance: Floats
    given: Floats

    def squares(self, table: Table) -> Floats:
        """d_λ of new rows to every prototype."""
        hidden, layout = table.missing | table.unseen, self.layout
        known = times((~hidden).astype(np.float64), self.relevance[:, np.newaxis])
        scale = self.relevance.sum() / np.maximum(known, 1e-12)
        features = np.repeat(self.relevance, layout.widths) * scale
        factors = np.where(layout.spread(hidden), 0.0, features)
        return partial_squares(layout.encode(table), factors, self.centers, times)

    def classes(self, table: Table) -> Floats:
        """Probabilities of the classes: shares of 1 / d_λ to the nearest prototype of each."""
        squares, labels = self.squares(table), range(int(self.labels.max()) + 1)
        near = [squares[:, self.labels == label].min(axis=1) for label in labels]
        close = 1.0 / (np.column_stack(near) + 1e-12)
        return np.asarray(close / close.sum(axis=1, keepdims=True))

    def fill(self, table: Table, labels: Ints | None = None, softness: float = 0.0) -> Floats:
        """Holes from the nearest prototype, of the row's class where it is known.

        With ``softness`` s > 0 from all of them, by exp(−d / s).
        """
        squares = self.squares(table)
        if labels is not None:
            own = labels[:, np.newaxis] == self.labels
            squares = np.where(own | ~own.any(axis=1, keepdims=True), squares, np.inf)
        near = squares.min(axis=1, keepdims=True)
        if softness > 0.0:
            power = np.exp(-(squares - near) / softness)
        else:
            power = np.eye(squares.shape[1])[squares.argmin(axis=1)]
        found = times(power / power.sum(axis=1, keepdims=True), self.given)
        return np.where(table.missing, self.layout.decode(found), table.values)


def train_prototypes(
    table: Table, labels: Ints, n_each: int, max_iter: int, rng: np.random.Generator
) -> tuple[Prototypes, list[float]]:
    """Prototypes from clusters of each class, then by L-BFGS; the costs of its steps.

    λ = softmax(a) keeps the relevances positive and their sum 1. With one class there is no d⁻:
    the clusters stay.
    """
    layout = FeatureLayout.learn(table)
    x = layout.encode(table)
    seen = (~layout.spread(table.missing | table.unseen)).astype(np.float64)
    parts = []
    for mine in (labels == c for c in np.unique(labels)):
        k = min(n_each, int(mine.sum()))
        parts.append(descend(x[mine], seen[mine], k, SHARP, rng, FIRST_STEPS, -np.inf)[0])
    centers = np.vstack(parts)
    owners = np.repeat(np.unique(labels), [len(part) for part in parts])
    history: list[float] = []
    logits = np.zeros(table.n_columns)
    if len(parts) > 1:
        cost = PrototypeCost(x, seen, labels, owners, layout.owners, table.n_columns)
        found = minimize(
            cost.at, np.concatenate([centers.ravel(), logits]), jac=True, method="L-BFGS-B",
            options={"maxiter": max_iter}, callback=lambda at: history.append(cost.at(at)[0]),
        )  # fmt: skip
        centers, logits = cost.split(found.x)
    centers, relevance = np.clip(centers, -1.0, 2.0), softmax(logits)
    fitted = Prototypes(layout, centers, owners, relevance, centers)
    near = np.where(labels[:, np.newaxis] == owners, fitted.squares(table), np.inf).argmin(axis=1)
    members = means(x, seen, np.eye(len(centers))[near], np.clip(centers, 0.0, 1.0))
    return replace(fitted, given=members), history


@dataclass(frozen=True, eq=False)
class PrototypeCost:
    """Σ σ((d⁺ − d⁻) / (d⁺ + d⁻)) over rows, with its gradient."""

    x: Floats
    seen: Floats
    labels: Ints
    owners: Ints
    feature_owners: Ints
    n_columns: int

    def split(self, at: Floats) -> tuple[Floats, Floats]:
        """Prototypes and logits of the relevances."""
        size = len(self.owners) * self.x.shape[1]
        return at[:size].reshape(len(self.owners), -1), at[size:]

    def at(self, at: Floats) -> tuple[float, Floats]:
        """The cost and its gradient."""
        centers, logits = self.split(at)
        relevance = softmax(logits)
        features = relevance[self.feature_owners]
        first = np.flatnonzero(np.diff(self.feature_owners, prepend=-1))
        known = np.maximum(self.seen[:, first] @ relevance, 1e-12)
        squares = partial_squares(self.x, self.seen * features, centers) / known[:, np.newaxis]
        own = self.labels[:, np.newaxis] == self.owners
        every = np.arange(len(self.x))
        right = np.where(own, squares, np.inf).argmin(axis=1)
        wrong = np.where(own, np.inf, squares).argmin(axis=1)
        plus, minus = squares[every, right], squares[every, wrong]
        total = np.maximum(plus + minus, 1e-12)
        s = 1.0 / (1.0 + np.exp(-(plus - minus) / total))
        slope = s * (1.0 - s) * 2.0 / total**2
        by_center, by_relevance = np.zeros_like(centers), np.zeros(self.n_columns)
        for which, pull, distance in ((right, slope * minus, plus), (wrong, -slope * plus, minus)):
            gap = self.seen * (self.x - centers[which])
            weight = (pull / known)[:, np.newaxis]
            np.add.at(by_center, which, -2.0 * weight * features * gap)
            by_feature = (weight * gap**2).sum(axis=0)
            by_relevance += np.bincount(self.feature_owners, by_feature, self.n_columns)
            by_relevance -= (pull * distance / known) @ self.seen[:, first]
        by_logit = relevance * (by_relevance - relevance @ by_relevance)
        return float(s.sum()), np.concatenate([by_center.ravel(), by_logit])
