"""Maximum likelihood of the three regressions of categories, on weighted rows."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from greyfill._chained.augmenting import Weighted
from greyfill._chained.linear import RIDGE
from greyfill.table import Floats

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
    target = np.zeros((len(x), n_levels))
    target[np.arange(len(x)), rows.level] = 1.0

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

    return unpack(_minimized(loss, _start_thresholds(rows, n_levels)))


def _start_thresholds(rows: Weighted, n_levels: int) -> Floats:
    """The thresholds that fit the shares of the levels, and slopes of zero."""
    shares = np.bincount(rows.level, rows.weight, n_levels)
    below = np.cumsum(shares)[:-1] / shares.sum()
    thresholds = np.log(below / (1.0 - below))
    gaps = np.log(np.maximum(np.diff(thresholds), 1e-6))
    return np.concatenate([thresholds[:1], gaps, np.zeros(rows.z.shape[1])])


def _minimized(loss: Loss, start: Floats) -> Floats:
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": LBFGS_STEPS})
    return np.asarray(found.x)
