"""Draws under a joint normal distribution: of holes given θ, and of θ itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from greyfill._chained.design import row_keys, row_order, uniform
from greyfill._joint.joint_code import JointCode
from greyfill._joint.joint_normal import (
    FittedNormal,
    JointNormal,
    JointSettings,
    SparseNormal,
    fit_blocks,
    fit_sparse,
    pattern_groups,
)
from greyfill.table import Bools, Floats, Ints, Table

TRIES = 100
"""Draws of a row until its numbers lie within their bounds, as in Amelia; then they are cut off."""

Theta = tuple[JointNormal, ...]
"""One distribution for each block of columns."""

Report = Callable[[str], None]
Limits = tuple[Floats, Floats]
"""The least and the largest number of each column."""

Noise = Callable[[int, Ints], tuple[Floats, Floats]]
"""For a try and some rows: normal numbers by design column, uniform ones by table column."""


def draw_holes_given(theta: Theta, z: Floats, hole: Bools, normals: Floats) -> Floats:
    """x̂_m + chol(C) ε in each hole, with ε from ``normals``."""
    drawn = z.copy()
    for normal in theta:
        part = normal.columns
        groups = pattern_groups(hole[:, part])
        for group, expected, _, covariance in normal.conditionals(z[:, part], groups):
            rows, columns = group.rows[:, np.newaxis], part[group.columns]
            root = np.linalg.cholesky(covariance)[group.of]
            error = (root * normals[rows, columns][:, np.newaxis, :]).sum(axis=2)
            drawn[rows, columns] = expected + error
    return drawn


@dataclass(frozen=True, eq=False)
class FittedJoint:
    """The code of the columns and the θ of each imputation, or a single one that only fills."""

    code: JointCode
    thetas: tuple[tuple[JointNormal | SparseNormal, ...], ...]
    seed: int = 0

    def fill(self, table: Table) -> Floats:
        """The expectation of each hole, or its likeliest level, under the first θ."""
        z, hole = self.code.encode(table)
        for normal in self.thetas[0]:
            part = normal.columns
            z[:, part] = normal.expect(z[:, part], hole[:, part])
        return self.code.decode(z, table)

    def draw(self, table: Table, c: int, bounds: Limits, noise: Noise) -> Floats:
        """The table with a draw in each hole under θ c; rows out of bounds are drawn again."""
        z, hole = self.code.encode(table)
        values, rows = table.values.copy(), np.flatnonzero(table.missing.any(axis=1))
        (low, high), theta = bounds, cast(Theta, self.thetas[c])
        for attempt in range(TRIES):
            if len(rows) == 0:
                break
            normals, uniforms = noise(attempt, rows)
            drawn = draw_holes_given(theta, z[rows], hole[rows], normals)
            values[rows] = self.code.decode(drawn, table.rows(rows), uniforms)
            outside = table.missing[rows] & ((values[rows] < low) | (values[rows] > high))
            rows = rows[outside.any(axis=1)]
        return np.where(table.missing, np.clip(values, low, high), values)

    def draw_new(self, table: Table, c: int, bounds: Limits) -> Floats:
        """New rows, each on its own: the noise of a cell depends on the seed and the row."""
        keys, q, p = row_keys(table, self.seed), len(self.code.mean), table.n_columns

        def noise(attempt: int, rows: Ints) -> tuple[Floats, Floats]:
            first = (c * TRIES + attempt) * (q + p)
            cells = uniform(keys[rows][:, np.newaxis], first + np.arange(q + p))
            return ndtri(cells[:, :q]), cells[:, q:]

        return self.draw(table, c, bounds, noise)


def fit_expectation(
    table: Table, settings: JointSettings, report: Report
) -> tuple[FittedJoint, tuple[FittedNormal, ...]]:
    """EM over a table, whose rows are taken in the order of their keys."""
    table = table.rows(row_order(table))
    code = JointCode.learn(table)
    fitted = fit_blocks(*code.encode(table), code.blocks, settings)
    for part, steps in ((one.theta.columns, one.log_likelihood) for one in fitted):
        report(f"EM over {len(part)} columns: {len(steps)} steps to {steps[-1]:.6g}")
    return FittedJoint(code, (tuple(one.theta for one in fitted),)), fitted


def fit_lasso(table: Table, penalty: float, settings: JointSettings) -> tuple[FittedJoint, int]:
    """MissPALasso over a table, whose rows are taken in the order of their keys; the passes."""
    table = table.rows(row_order(table))
    code = JointCode.learn(table)
    z, hole = code.encode(table)
    fitted = [fit_sparse(z, hole, part, penalty, settings) for part in code.blocks]
    passes = max((done for _, done in fitted), default=0)
    return FittedJoint(code, (tuple(normal for normal, _ in fitted),)), passes


def fit_draws(
    table: Table, settings: JointSettings, bounds: Limits, report: Report
) -> tuple[FittedJoint, list[Floats], int]:
    """The θ of each imputation, the table as each draws it, and the most steps of EM.

    With ``n_iter`` = 0 each θ is EM's of rows drawn with replacement (EMB); else it is that of a
    chain of data augmentation, started at EM's θ of all rows.
    """
    order = row_order(table)
    ordered = table.rows(order)
    code = JointCode.learn(ordered)
    z, hole = code.encode(ordered)
    start: Theta = ()
    if settings.n_iter:
        start = tuple(fit.theta for fit in fit_blocks(z, hole, code.blocks, settings))
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_imputations)
    jobs = (delayed(draw_theta)(code, z, hole, start, settings, seed) for seed in seeds)
    thetas: list[Theta] = []
    most = 1
    for theta, steps in Parallel(n_jobs=settings.n_jobs, return_as="generator")(jobs):
        thetas.append(theta)
        most = max(most, steps)
        report(f"imputation {len(thetas)} of {len(seeds)}")
    fitted = FittedJoint(code, tuple(thetas), settings.seed)
    q, p = len(code.mean), table.n_columns

    def drawn(c: int, seed: np.random.SeedSequence) -> Floats:
        rng, values = np.random.default_rng(seed.spawn(1)[0]), np.empty_like(table.values)
        noise = lambda _, rows: (rng.standard_normal((len(rows), q)), rng.random((len(rows), p)))  # noqa: E731
        values[order] = fitted.draw(ordered, c, bounds, noise)
        return values

    with threadpool_limits(limits=1, user_api="blas"):
        return fitted, [drawn(c, seed) for c, seed in enumerate(seeds)], most


def draw_theta(
    code: JointCode,
    z: Floats,
    hole: Bools,
    start: Theta,
    settings: JointSettings,
    seed: np.random.SeedSequence,
) -> tuple[Theta, int]:
    """The θ of one imputation, and the steps of EM or passes to it."""
    rng = np.random.default_rng(seed)
    if settings.n_iter:
        return augment_data(start, z, hole, settings, rng), settings.n_iter
    rows = drawn_rows(hole, rng) if settings.bootstrap else np.arange(len(z))
    fits = fit_blocks(z[rows], hole[rows], code.blocks, settings)
    return tuple(f.theta for f in fits), max((len(f.log_likelihood) for f in fits), default=1)


def drawn_rows(hole: Bools, rng: np.random.Generator) -> Ints:
    """As many rows as there are, with replacement; again while a column has no observed cell."""
    for _ in range(TRIES):
        rows = rng.integers(0, len(hole), len(hole))
        if not hole[rows].all(axis=0).any():
            return rows
    return np.arange(len(hole))


def augment_data(
    theta: Theta, z: Floats, hole: Bools, settings: JointSettings, rng: np.random.Generator
) -> Theta:
    """Draw holes given θ and θ given the holes, ``n_iter`` times (Tanner and Wong 1987)."""
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(settings.n_iter):
            filled = draw_holes_given(theta, z, hole, rng.standard_normal(z.shape))
            theta = tuple(draw_posterior(n.columns, filled, settings, rng) for n in theta)
    return theta


def draw_posterior(
    columns: Ints, filled: Floats, settings: JointSettings, rng: np.random.Generator
) -> JointNormal:
    """Σ ~ W⁻¹(n − 1 + ν, S + νI),  μ ~ N(mean, Σ / n), with a prior of ν rows (Schafer 1997).

    By Bartlett's decomposition: with (S + νI)⁻¹ = LLᵀ and A lower triangular, A_ii² ~ χ²_{df − i}
    and A_ij ~ N(0, 1), Σ = (L A Aᵀ Lᵀ)⁻¹. There are at least q + 1 degrees of freedom.
    """
    filled = filled[:, columns]
    n, q = filled.shape
    prior = settings.prior_rows(n, q)
    mean = filled.mean(axis=0)
    scatter = (filled - mean).T @ (filled - mean) + (prior + 1e-8 * n) * np.eye(q)
    freedom = max(n - 1.0 + prior, q + 1.0)
    a = np.tril(rng.standard_normal((q, q)), -1)
    a[np.diag_indices(q)] = np.sqrt(rng.chisquare(freedom - np.arange(q)))
    # Σ = U Uᵀ with U = chol(S) A⁻ᵀ, since S = chol(S) chol(S)ᵀ and L = chol(S)⁻ᵀ.
    root = np.linalg.cholesky(scatter) @ np.linalg.inv(a).T
    covariance = root @ root.T
    mean = mean + root @ rng.standard_normal(q) / np.sqrt(n)
    return JointNormal(columns, mean, (covariance + covariance.T) / 2)
