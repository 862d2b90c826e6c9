"""Learning vector quantization on rows with holes, after the formulas of `LVQImputer`.

d⁺ is the distance to the nearest prototype of the row's own class, d⁻ to the nearest of another.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from greyfill._systems.fuzzy import means, memberships, partial_squares, start_centers
from greyfill._systems.layout import FeatureLayout, times
from greyfill.table import Floats, Ints, Table

SHARP = 1.05
"""The fuzziness of the clusters that prototypes begin with: nearly hard."""


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

    def class_distances(self, table: Table, n_classes: int) -> Floats:
        """d_λ to the nearest prototype of each class; infinite for a class without one."""
        squares, out = self.squares(table), np.full((table.n_rows, n_classes), np.inf)
        for label in np.unique(self.labels).tolist():
            out[:, label] = squares[:, self.labels == label].min(axis=1)
        return out

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
    parts = [_clusters(x[labels == c], seen[labels == c], n_each, rng) for c in np.unique(labels)]
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


def _clusters(x: Floats, seen: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Centers of nearly hard clusters of rows with holes."""
    centers = start_centers(x, seen, min(k, len(x)), rng)
    for _ in range(20):
        power = memberships(partial_squares(x, seen, centers), SHARP) ** SHARP
        centers = means(x, seen, power, centers)
    return centers


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
