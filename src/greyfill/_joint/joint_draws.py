"""Draws under a joint normal distribution: of holes given θ, and of θ itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from greyfill._chained.design import row_keys, row_order, uniform
from greyfill._joint.joint_code import JointCode
from greyfill._joint.joint_normal import (
    EMSettings,
    FittedNormal,
    JointNormal,
    fit_blocks,
    fit_normal,
    pattern_groups,
)
from greyfill._joint.pattern_lasso import SparseNormal
from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Floats, Ints, Table

TRIES = 100
"""Draws of a row until its numbers lie within their bounds, as in Amelia; then they are cut off."""

Theta = tuple[JointNormal, ...]
"""One distribution for each block of columns."""

Limits = tuple[Floats, Floats]
"""The least and the largest number of each column."""

Noise = Callable[[int, Ints], tuple[Floats, Floats]]
"""For a try and some rows: normal numbers by design column, uniform ones by table column."""


def draw_holes_given(theta: Theta, z: Floats, hole: Bools, normals: Floats) -> Floats:
    """x̂_m + chol(C) ε in each hole, with ε from ``normals``."""
    drawn = z.copy()
    for normal in theta:
        part = normal.columns
        for known in normal.conditionals(z[:, part], pattern_groups(hole[:, part])):
            rows, columns = known.group.rows[:, np.newaxis], part[known.columns]
            root = np.linalg.cholesky(known.covariance)[known.group.of]
            error = (root * normals[rows, columns][:, np.newaxis, :]).sum(axis=2)
            drawn[rows, columns] = known.expected + error
    return drawn


@contextmanager
def invertible() -> Iterator[None]:
    """Say in words that rounding left a covariance without an inverse, or without a root."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise InvalidDataError(
            "the covariance of the columns is too uneven to be inverted; fit with prior=1.0 or more"
        ) from error


@dataclass(frozen=True, eq=False)
class FittedJoint:
    """The code of the columns and the θ of each imputation, or a single one that only fills."""

    code: JointCode
    thetas: tuple[tuple[JointNormal | SparseNormal, ...], ...]
    seed: int = 0

    @invertible()
    def fill(self, table: Table) -> Floats:
        """The expectation of each hole, or its likeliest level, under the first θ."""
        z, hole = self.code.encode(table)
        for normal in self.thetas[0]:
            part = normal.columns
            z[:, part] = normal.expect(z[:, part], hole[:, part])
        return self.code.decode(z, table)

    @invertible()
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
        rows = np.flatnonzero(table.missing.any(axis=1))
        if len(rows) == 0:
            return table.values.copy()
        part, values = table.rows(rows), table.values.copy()
        keys, q, p = row_keys(part, self.seed), len(self.code.mean), table.n_columns

        def noise(attempt: int, rows: Ints) -> tuple[Floats, Floats]:
            first = (c * TRIES + attempt) * (q + p)
            cells = uniform(keys[rows][:, np.newaxis], first + np.arange(q + p))
            return ndtri(cells[:, :q]), cells[:, q:]

        values[rows] = self.draw(part, c, bounds, noise)
        return values

    def draw_training(
        self, table: Table, c: int, bounds: Limits, rng: np.random.Generator
    ) -> Floats:
        """The training rows: equal rows have draws of their own."""
        q, p = len(self.code.mean), table.n_columns
        noise = lambda _, rows: (rng.standard_normal((len(rows), q)), rng.random((len(rows), p)))  # noqa: E731
        return self.draw(table, c, bounds, noise)


@dataclass(frozen=True)
class DrawSettings:
    """What a caller may set."""

    em: EMSettings
    n_imputations: int = 5
    n_iter: int = 0
    is_bootstrapped: bool = True
    seed: int = 0
    n_jobs: int | None = None


def fit_expectation(
    table: Table, settings: EMSettings, report: Callable[[str], None]
) -> tuple[FittedJoint, tuple[FittedNormal, ...]]:
    """EM over a table, whose rows are taken in the order of their keys."""
    table = table.rows(row_order(table))
    code = JointCode.learn(table)
    fitted = fit_blocks(*code.encode(table), code.blocks, settings, report)
    return FittedJoint(code, (tuple(one.theta for one in fitted),)), fitted


def fit_draws(
    table: Table, settings: DrawSettings, bounds: Limits, report: Callable[[str], None]
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
        start = tuple(f.theta for f in fit_blocks(z, hole, code.blocks, settings.em, report))
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_imputations)
    jobs = (delayed(draw_theta)(code, z, hole, start, settings, seed) for seed in seeds)
    thetas: list[Theta] = []
    most = 1
    for theta, steps in Parallel(n_jobs=settings.n_jobs, return_as="generator")(jobs):
        thetas.append(theta)
        most = max(most, steps)
        report(f"imputation {len(thetas)} of {len(seeds)}")
    fitted = FittedJoint(code, tuple(thetas), settings.seed)
    draws = []
    with threadpool_limits(limits=1, user_api="blas"):
        for c, seed in enumerate(seeds):
            values = np.empty_like(table.values)
            rng = np.random.default_rng(seed.spawn(1)[0])
            values[order] = fitted.draw_training(ordered, c, bounds, rng)
            draws.append(values)
    return fitted, draws, most


def draw_theta(
    code: JointCode,
    z: Floats,
    hole: Bools,
    start: Theta,
    settings: DrawSettings,
    seed: np.random.SeedSequence,
) -> tuple[Theta, int]:
    """The θ of one imputation, and the steps of EM or passes to it."""
    rng = np.random.default_rng(seed)
    with threadpool_limits(limits=1, user_api="blas"):
        if settings.n_iter:
            return augment_data(start, z, hole, settings, rng), settings.n_iter
        rows = drawn_rows(hole, rng) if settings.is_bootstrapped else np.arange(len(z))
        fits = [fit_normal(z[rows], hole[rows], part, settings.em) for part in code.blocks]
    steps = max((len(fit.log_likelihood) for fit in fits), default=1)
    return tuple(fit.theta for fit in fits), steps


def drawn_rows(hole: Bools, rng: np.random.Generator) -> Ints:
    """As many rows as there are, with replacement; again while a column has no observed cell."""
    for _ in range(TRIES):
        rows = rng.integers(0, len(hole), len(hole))
        if not hole[rows].all(axis=0).any():
            return rows
    return np.arange(len(hole))


def augment_data(
    theta: Theta, z: Floats, hole: Bools, settings: DrawSettings, rng: np.random.Generator
) -> Theta:
    """Draw holes given θ and θ given the holes, ``n_iter`` times (Tanner and Wong 1987)."""
    for _ in range(settings.n_iter):
        filled = draw_holes_given(theta, z, hole, rng.standard_normal(z.shape))
        theta = tuple(
            draw_posterior(normal.columns, filled[:, normal.columns], settings.em, rng)
            for normal in theta
        )
    return theta


def draw_posterior(
    columns: Ints, filled: Floats, settings: EMSettings, rng: np.random.Generator
) -> JointNormal:
    """Σ ~ W⁻¹(n − 1 + ν, S + νI),  μ ~ N(mean, Σ / n), with a prior of ν rows (Schafer 1997).

    By Bartlett's decomposition: with (S + νI)⁻¹ = LLᵀ and A lower triangular, A_ii² ~ χ²_{df − i}
    and A_ij ~ N(0, 1), Σ = (L A Aᵀ Lᵀ)⁻¹. There are at least q + 1 degrees of freedom.
    """
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
