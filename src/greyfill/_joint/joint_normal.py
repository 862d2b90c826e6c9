"""One normal distribution for all columns: patterns of holes, expectations, and EM."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from greyfill.table import Bools, Floats, Ints

JITTER = 1e-8
"""Variance that is added to each standardized column before Σ is inverted: collinear columns
cannot break it."""

CELLS_AT_ONCE = 2_000_000
"""Cells of the matrices of rows that are held at once."""

ROWS_PER_COLUMN = 10
"""prior="auto" is 0 where rows are so many times the design columns."""


@dataclass(frozen=True, eq=False)
class PatternGroup:
    """Rows with the same number of holes, at most; ``columns[of]`` are those of each row."""

    rows: Ints
    of: Ints
    columns: Ints


def pattern_groups(hole: Bools) -> list[PatternGroup]:
    """Rows with holes by their number of holes, in groups that memory can hold."""
    packed, of = np.unique(np.packbits(hole, axis=1), axis=0, return_inverse=True)
    patterns = np.unpackbits(packed, axis=1, count=hole.shape[1]).astype(bool)
    counts, groups = patterns.sum(axis=1), []
    for m in np.unique(counts[counts > 0]).tolist():
        members = np.flatnonzero(counts == m)
        columns = np.nonzero(patterns[members])[1].reshape(-1, m)
        rows = np.flatnonzero(counts[of.ravel()] == m)
        place = np.searchsorted(members, of.ravel()[rows])
        size = max(CELLS_AT_ONCE // (m * hole.shape[1]), 1)
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            used, where = np.unique(place[part], return_inverse=True)
            groups.append(PatternGroup(rows[part], where, columns[used]))
    return groups


@dataclass(frozen=True, eq=False)
class Conditional:
    """What is known of the holes of a group: by row their expectation, by pattern their covariance.

    x̂_m = μ_m − K_mm⁻¹ K_mo (x_o − μ_o),  C = K_mm⁻¹,  K = Σ⁻¹

    which equals μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o) and Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om, and inverts the few
    columns with holes in place of the many without.
    """

    group: PatternGroup
    columns: Ints
    """Those of the holes of each row."""
    expected: Floats
    covariance: Floats
    log_density: Floats


@dataclass(frozen=True, eq=False)
class JointNormal:
    """θ = (μ, Σ) of some design columns.

    >>> theta = JointNormal(np.arange(2), np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> row, hole = np.array([[2.0, 0.0]]), np.array([[False, True]])
    >>> theta.expect(row, hole).round(6)
    array([[2., 1.]])
    """

    columns: Ints
    mean: Floats
    covariance: Floats
    _late: dict[str, Floats] = field(default_factory=dict, repr=False)

    @property
    def precision(self) -> Floats:
        """K, the inverse of Σ."""
        if "precision" not in self._late:
            with threadpool_limits(limits=1, user_api="blas"):  # the same bits on every machine
                inverse = np.linalg.inv(self.covariance + JITTER * np.eye(len(self.mean)))
            self._late["precision"] = (inverse + inverse.T) / 2
        return self._late["precision"]

    def conditionals(self, z: Floats, groups: list[PatternGroup]) -> Iterator[Conditional]:
        """Each group of rows, whose holes are 0 in z; every row has the bits that it has alone."""
        k = self.precision
        for group in groups:
            columns = group.columns[group.of]
            block = k[group.columns[:, :, np.newaxis], group.columns[:, np.newaxis, :]]
            covariance = np.linalg.inv(block)
            covariance = (covariance + covariance.transpose(0, 2, 1)) / 2
            away = z[group.rows] - self.mean
            np.put_along_axis(away, columns, 0.0, axis=1)
            pull = (k[columns] * away[:, np.newaxis, :]).sum(axis=2)
            shift = (covariance[group.of] * pull[:, np.newaxis, :]).sum(axis=2)
            fit = ((pull * shift).sum(axis=1) + np.linalg.slogdet(covariance)[1][group.of]) / 2
            yield Conditional(group, columns, self.mean[columns] - shift, covariance, fit)

    def expect(self, z: Floats, hole: Bools) -> Floats:
        """The rows with the expectation in each hole."""
        filled = z.copy()
        for part in self.conditionals(z, pattern_groups(hole)):
            filled[part.group.rows[:, np.newaxis], part.columns] = part.expected
        return filled


@dataclass(frozen=True, eq=False)
class FittedNormal:
    """The θ that EM ended with, and how it got there."""

    theta: JointNormal
    log_likelihood: tuple[float, ...]
    converged: bool


@dataclass(frozen=True)
class EMSettings:
    """When EM stops, and the weight of the prior in rows (−1: as many as needed)."""

    max_iter: int = 500
    tol: float = 1e-4
    prior: float = -1.0

    def prior_rows(self, n_rows: int, n_columns: int) -> float:
        """The rows that the prior counts for.

        >>> EMSettings().prior_rows(30, 5), EMSettings().prior_rows(100, 5)
        (5.0, 0.0)
        """
        if self.prior >= 0.0:
            return self.prior
        return float(n_columns) if n_rows < ROWS_PER_COLUMN * n_columns else 0.0


def fit_normal(z: Floats, hole: Bools, columns: Ints, settings: EMSettings) -> FittedNormal:
    """EM over some design columns (Dempster, Laird and Rubin 1977).

    E: x̂ and C as `Conditional` has them;  M: μ = mean x̂,  Σ = n⁻¹ Σ (x̂x̂ᵀ + C) − μμᵀ. With a prior
    of ν rows Σ is (nΣ + νI) / (n + ν + q + 2), as in Amelia.
    """
    z, hole = z[:, columns], hole[:, columns]
    groups, prior, (n, q) = pattern_groups(hole), settings.prior_rows(*z.shape), z.shape
    theta = JointNormal(columns, np.zeros(q), np.eye(q))
    history: list[float] = []
    for step in range(settings.max_iter):
        first, second, likelihood = expected_moments(theta, z, hole, groups)
        history.append(likelihood)
        scatter = second - n * np.outer(first / n, first / n)
        scatter = (scatter + scatter.T) / 2
        rows = n + prior + q + 2 if prior > 0.0 else n
        new = JointNormal(columns, first / n, (scatter + prior * np.eye(q)) / rows)
        moved = max(
            np.abs(new.mean - theta.mean).max(), np.abs(new.covariance - theta.covariance).max()
        )
        theta = new
        if moved < settings.tol or (not groups and step):
            return FittedNormal(theta, tuple(history), True)
    return FittedNormal(theta, tuple(history), False)


def expected_moments(
    theta: JointNormal, z: Floats, hole: Bools, groups: list[PatternGroup]
) -> tuple[Floats, Floats, float]:
    """The expectation step: Σ x̂, Σ (x̂x̂ᵀ + C), and the log-likelihood of what is observed.

    log L = −½ Σ_i [|o| log 2π + log |Σ| + log |K_mm| + dᵀKd − pᵀCp],  d = x_o − μ_o, p = K_mo d
    """
    filled, q = z.copy(), z.shape[1]
    extra = np.zeros(q * q)
    away = np.where(hole, 0.0, z - theta.mean)
    likelihood = -0.5 * float(((away @ theta.precision) * away).sum())
    likelihood += 0.5 * len(z) * float(np.linalg.slogdet(theta.precision)[1])
    likelihood -= 0.5 * float((~hole).sum()) * np.log(2.0 * np.pi)
    for part in theta.conditionals(z, groups):
        filled[part.group.rows[:, np.newaxis], part.columns] = part.expected
        likelihood += float(part.log_density.sum())
        cells = part.group.columns
        places = cells[:, :, np.newaxis] * q + cells[:, np.newaxis, :]
        counts = np.bincount(part.group.of, minlength=len(cells))[:, np.newaxis, np.newaxis]
        extra += np.bincount(places.ravel(), (part.covariance * counts).ravel(), q * q)
    return filled.sum(axis=0), filled.T @ filled + extra.reshape(q, q), likelihood


def fit_blocks(
    z: Floats, hole: Bools, blocks: list[Ints], settings: EMSettings, report: Callable[[str], None]
) -> tuple[FittedNormal, ...]:
    """EM over each block of columns."""
    fitted = []
    for columns in blocks:
        with threadpool_limits(limits=1, user_api="blas"):
            fitted.append(fit_normal(z, hole, columns, settings))
        steps = fitted[-1].log_likelihood
        report(f"EM over {len(columns)} columns: {len(steps)} steps to {steps[-1]:.6g}")
    return tuple(fitted)
