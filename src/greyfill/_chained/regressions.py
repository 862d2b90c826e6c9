"""The regressions behind the elementary methods.

A Bayesian linear regression with a draw of its coefficients, and the maximum likelihood of three
regressions of categories (logistic, multinomial, proportional odds) on weighted rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from greyfill.table import Floats, Ints, indicators

RIDGE = 1e-5
"""Share of the diagonal that is added to X'X, as in R's mice: collinear columns cannot break it."""

TINY = float(np.finfo(np.float64).tiny)


def rowwise_dot(x: Floats, slope: Floats) -> Floats:
    """Return x · slope, summed row by row: one row gives the bits that it gives in a batch.

    A BLAS product does not promise that.
    """
    return np.asarray(np.multiply(x, slope, order="C").sum(axis=1))


@dataclass(frozen=True, eq=False)
class Line:
    """offset + x · slope.

    >>> Line(1.0, np.array([2.0, 0.0])).predict(np.array([[3.0, 9.0]]))
    array([7.])
    """

    offset: float
    slope: Floats

    def predict(self, x: Floats) -> Floats:
        """The value for each row of x."""
        return self.offset + rowwise_dot(x, self.slope)


@dataclass(frozen=True, eq=False)
class Standard:
    """x with mean 0 and standard deviation 1 in each column; columns must vary."""

    mean: Floats
    deviation: Floats

    @classmethod
    def learn(cls, x: Floats) -> "Standard":
        """From the rows that a model is fitted to."""
        deviation = x.std(axis=0)
        return cls(x.mean(axis=0), np.where(deviation > 0.0, deviation, 1.0))

    def apply(self, x: Floats) -> Floats:
        """The columns of x, standardized."""
        return np.asarray((x - self.mean) / self.deviation)

    def line(self, offset: float, slope: Floats) -> Line:
        """A line in standardized columns, as a line in the columns as they came."""
        raw = slope / self.deviation
        return Line(float(offset - self.mean @ raw), raw)


@dataclass(frozen=True, eq=False)
class Regression:
    """The least-squares line, a draw (β*, σ*) from its posterior, and the residuals' σ*.

    σ*² = RSS / χ²_df,  β* ~ N(β̂, σ*² (Z'Z + ridge · diag Z'Z)⁻¹),  df = max(n − k − 1, 1)

    (van Buuren 2018, algorithm 3.1). Z is centered, so the intercept is drawn on its own.
    """

    fitted: Line
    drawn: Line
    sigma: float


def draw_regression(x: Floats, y: Floats, rng: np.random.Generator) -> Regression:
    """Fit y on x and an intercept, and draw from the posterior."""
    n, k = x.shape
    standard = Standard.learn(x)
    z = standard.apply(x)
    mean = float(y.mean())
    gram = z.T @ z
    squares = gram.diagonal()  # none is left of a column whose cells differ by less than 1e-154
    gram[np.diag_indices(k)] = np.where(squares > TINY, squares * (1.0 + RIDGE), 1.0)
    root = np.linalg.inv(np.linalg.cholesky(gram)).T  # root · root' is the inverse of gram
    slope = root @ (root.T @ (z.T @ (y - mean)))
    rss = float(((y - mean - z @ slope) ** 2).sum())
    sigma = float(np.sqrt(rss / rng.chisquare(max(n - k - 1, 1))))
    shift = root @ rng.standard_normal(k)
    offset = mean + sigma * rng.standard_normal() / np.sqrt(n)
    return Regression(
        standard.line(mean, slope), standard.line(offset, slope + sigma * shift), sigma
    )


@dataclass(frozen=True, eq=False)
class Weighted:
    """Rows of standardized predictors, the place of their level, and their weights."""

    z: Floats
    level: Ints
    weight: Floats


def augment(z: Floats, level: Ints, n_levels: int) -> Weighted:
    """Add 2·k·K rows of total weight k + 1: every level at half a deviation around each mean.

    ``z`` has k standardized columns, so the rows are ±½ in one column and 0 in the others, moved
    inside the range of the data. Every level then occurs on both sides of every predictor, and no
    coefficient can run to infinity, while the data keep a weight of n against k + 1.

    >>> rows = augment(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2)
    >>> rows.z.ravel(), rows.weight
    (array([-1. ,  1. ,  0.5, -0.5,  0.5, -0.5]), array([1. , 1. , 0.5, 0.5, 0.5, 0.5]))
    """
    n, k = z.shape
    if k == 0:
        return Weighted(z, level, np.ones(n))
    n_rows = 2 * k * n_levels
    rows = np.zeros((n_rows, k))
    rows[np.arange(n_rows), np.repeat(np.arange(k), 2 * n_levels)] = np.tile(
        [0.5, -0.5], k * n_levels
    )
    rows = np.clip(rows, z.min(axis=0), z.max(axis=0))
    levels = np.tile(np.repeat(np.arange(n_levels), 2), k)
    weight = np.concatenate([np.ones(n), np.full(n_rows, (k + 1) / n_rows)])
    return Weighted(np.vstack([z, rows]), np.concatenate([level, levels]), weight)


NEWTON_STEPS = 25
LBFGS_STEPS = 100
"""As in R's glm and multinom."""

Loss = Callable[[Floats], tuple[float, Floats]]
"""Minus the log-likelihood and its gradient."""


def logistic(rows: Weighted) -> tuple[Floats, Floats]:
    """Maximum likelihood by Newton's method: coefficients, intercept first, and chol(X'WX)."""
    x = np.column_stack([np.ones(len(rows.z)), rows.z])
    sign = np.where(rows.level > 0, 1.0, -1.0)
    beta = np.zeros(x.shape[1])
    loss, factor = _logistic_loss(x, sign, rows.weight, beta), _logistic_factor(x, rows, beta)
    for _ in range(NEWTON_STEPS):
        gradient = x.T @ (rows.weight * sign * expit(-sign * (x @ beta)))
        step = cho_solve((factor, True), gradient)
        new = _logistic_loss(x, sign, rows.weight, beta + step)
        while new > loss and np.abs(step).max() > 1e-10:
            step = step / 2
            new = _logistic_loss(x, sign, rows.weight, beta + step)
        beta, settled, loss = beta + step, loss - new < 1e-10 * (1.0 + abs(loss)), new
        factor = _logistic_factor(x, rows, beta)
        if settled:
            break
    return beta, factor


def _logistic_loss(x: Floats, sign: Floats, weight: Floats, beta: Floats) -> float:
    return float(-(weight * log_expit(sign * (x @ beta))).sum())


def _logistic_factor(x: Floats, rows: Weighted, beta: Floats) -> Floats:
    p = expit(x @ beta)
    information = x.T @ (x * (rows.weight * p * (1.0 - p))[:, np.newaxis])
    diagonal = np.diag_indices(len(beta))
    information[diagonal] = information[diagonal] * (1.0 + RIDGE) + 1e-10
    return np.asarray(np.linalg.cholesky(information))


def multinomial(rows: Weighted, n_levels: int) -> Floats:
    """Maximum likelihood: a row of coefficients, intercept first, for each level but the first."""
    x = np.column_stack([np.ones(len(rows.z)), rows.z])
    target = indicators(rows.level, np.arange(n_levels))

    def loss(flat: Floats) -> tuple[float, Floats]:
        logits = np.zeros_like(target)
        logits[:, 1:] = x @ flat.reshape(n_levels - 1, -1).T
        logits -= logsumexp(logits, axis=1, keepdims=True)
        wrong = rows.weight[:, np.newaxis] * (np.exp(logits) - target)
        value = -(rows.weight * logits[np.arange(len(x)), rows.level]).sum()
        return float(value), (wrong[:, 1:].T @ x).ravel()

    start = np.zeros((n_levels - 1) * x.shape[1])
    return _minimized(loss, start).reshape(n_levels - 1, -1)


def proportional_odds(rows: Weighted, n_levels: int) -> tuple[Floats, Floats]:
    """Maximum likelihood of P(level ≤ l) = expit(θ_l − zβ): thresholds θ and slopes β.

    θ_l = θ_1 + Σ exp(δ) keeps the thresholds in order; L-BFGS works on (θ_1, δ, β).
    """
    n_gaps = n_levels - 2

    def unpack(flat: Floats) -> tuple[Floats, Floats]:
        gaps = np.exp(np.clip(flat[1 : 1 + n_gaps], -30.0, 30.0))
        return flat[0] + np.concatenate([[0.0], np.cumsum(gaps)]), flat[1 + n_gaps :]

    def loss(flat: Floats) -> tuple[float, Floats]:
        thresholds, slope = unpack(flat)
        edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
        score = rows.z @ slope
        below, above = expit(edges[rows.level] - score), expit(edges[rows.level + 1] - score)
        p = np.maximum(above - below, 1e-300)
        slope_above = rows.weight * above * (1.0 - above) / p
        slope_below = rows.weight * below * (1.0 - below) / p
        by_edge = np.bincount(rows.level, slope_below, n_levels + 1)
        by_edge -= np.bincount(rows.level + 1, slope_above, n_levels + 1)
        inner = by_edge[1:-1]
        by_gap = np.cumsum(inner[::-1])[::-1][1:] * np.diff(thresholds)
        by_slope = rows.z.T @ (slope_above - slope_below)
        value = -(rows.weight * np.log(p)).sum()
        return float(value), np.concatenate([[inner.sum()], by_gap, by_slope])

    # Start where the thresholds fit the shares of the levels, and slopes are zero.
    shares = np.bincount(rows.level, rows.weight, n_levels)
    below = np.cumsum(shares)[:-1] / shares.sum()
    start = np.log(below / (1.0 - below))
    gaps = np.log(np.maximum(np.diff(start), 1e-6))
    return unpack(_minimized(loss, np.concatenate([start[:1], gaps, np.zeros(rows.z.shape[1])])))


def _minimized(loss: Loss, start: Floats) -> Floats:
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": LBFGS_STEPS})
    return np.asarray(found.x)
