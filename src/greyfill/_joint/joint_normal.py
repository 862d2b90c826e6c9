"""One normal distribution for all columns: patterns of holes, EM, and a lasso for each pattern."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from greyfill._search.jit import exact
from greyfill.table import Bools, Floats, Ints

JITTER = 1e-8
"""Variance added to each standardized column before Σ is inverted, lest collinear ones break it."""

CELLS_AT_ONCE = 2_000_000
"""Cells of the matrices of rows that are held at once."""

SWEEPS, STILL = 200, 1e-7
"""Rounds of coordinate descent, and the step below which a regression is solved."""

ROWS_PER_COLUMN = 10
"""prior="auto" is 0 where rows are so many times the design columns."""


@dataclass(frozen=True, eq=False)
class PatternGroup:
    """Rows with the same number of holes; ``of`` is the pattern of each row."""

    rows: Ints
    of: Ints
    patterns: Ints

    @property
    def columns(self) -> Ints:
        """Those of the holes of each row."""
        return np.asarray(self.patterns[self.of])


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
class JointNormal:
    """θ = (μ, Σ) of some design columns."""

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

    def conditionals(
        self, z: Floats, groups: list[PatternGroup]
    ) -> Iterator[tuple[PatternGroup, Floats, Floats, Floats]]:
        """Each group, the x̂ and log-density of its rows, whose holes are 0 in z, and C by pattern.

        x̂_m = μ_m − K_mm⁻¹ K_mo (x_o − μ_o),  C = K_mm⁻¹,  K = Σ⁻¹

        which equals μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o) and Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om, and inverts the few
        columns with holes in place of the many without. Every row has the bits that it has alone.
        """
        k = self.precision
        for group in groups:
            block = k[group.patterns[:, :, np.newaxis], group.patterns[:, np.newaxis, :]]
            covariance = np.linalg.inv(block)
            covariance = (covariance + covariance.transpose(0, 2, 1)) / 2
            away = z[group.rows] - self.mean
            np.put_along_axis(away, group.columns, 0.0, axis=1)
            pull = (k[group.columns] * away[:, np.newaxis, :]).sum(axis=2)
            shift = (covariance[group.of] * pull[:, np.newaxis, :]).sum(axis=2)
            fit = ((pull * shift).sum(axis=1) + np.linalg.slogdet(covariance)[1][group.of]) / 2
            yield group, self.mean[group.columns] - shift, fit, covariance

    def expect(self, z: Floats, hole: Bools) -> Floats:
        """The rows with the expectation in each hole."""
        filled = z.copy()
        for group, expected, *_ in self.conditionals(z, pattern_groups(hole)):
            filled[group.rows[:, np.newaxis], group.columns] = expected
        return filled

    def draw(self, z: Floats, hole: Bools, normals: Floats) -> Floats:
        """The rows with x̂_m + chol(C) ε in each hole, with ε from ``normals``."""
        drawn = z.copy()
        for group, expected, _, covariance in self.conditionals(z, pattern_groups(hole)):
            root, cells = np.linalg.cholesky(covariance), (group.rows[:, np.newaxis], group.columns)
            error = (root[group.of] * normals[cells][:, np.newaxis, :]).sum(axis=2)
            drawn[cells] = expected + error
        return drawn

    def redraw(
        self, filled: Floats, settings: "JointSettings", rng: np.random.Generator
    ) -> "JointNormal":
        """Σ ~ W⁻¹(n − 1 + ν, S + νI),  μ ~ N(mean, Σ / n), with a prior of ν rows (Schafer 1997).

        By Bartlett's decomposition: with (S + νI)⁻¹ = LLᵀ, A lower triangular, A_ii² ~ χ²_{df − i}
        and A_ij ~ N(0, 1), Σ = (L A Aᵀ Lᵀ)⁻¹. There are at least q + 1 degrees of freedom.
        """
        filled = filled[:, self.columns]
        n, q = filled.shape
        prior, mean = settings.prior_rows(n, q), filled.mean(axis=0)
        scatter = (filled - mean).T @ (filled - mean) + (prior + 1e-8 * n) * np.eye(q)
        a = np.tril(rng.standard_normal((q, q)), -1)
        freedom = max(n - 1.0 + prior, q + 1.0)
        a[np.diag_indices(q)] = np.sqrt(rng.chisquare(freedom - np.arange(q)))
        # Σ = U Uᵀ with U = chol(S) A⁻ᵀ, since S = chol(S) chol(S)ᵀ and L = chol(S)⁻ᵀ.
        root = np.linalg.cholesky(scatter) @ np.linalg.inv(a).T
        covariance = root @ root.T
        mean = mean + root @ rng.standard_normal(q) / np.sqrt(n)
        return JointNormal(self.columns, mean, (covariance + covariance.T) / 2)


@dataclass(frozen=True)
class JointSettings:
    """What a caller may set: when steps or passes end, the prior in rows, and what is drawn."""

    max_iter: int = 500
    tol: float = 1e-4
    prior: float | str = "auto"
    n_imputations: int = 5
    n_iter: int = 0
    bootstrap: bool = True
    seed: int = 0
    n_jobs: int | None = None

    def prior_rows(self, n_rows: int, n_columns: int) -> float:
        """The rows that the prior counts for."""
        if not isinstance(self.prior, str):
            return float(self.prior)
        return float(n_columns) if n_rows < ROWS_PER_COLUMN * n_columns else 0.0


Theta = tuple[JointNormal, ...]
"""One distribution for each block of columns."""

EMFit = tuple[JointNormal, list[float], bool]
"""The θ that EM ended with, the log-likelihood before each step, and whether it converged."""


def fit_normal(z: Floats, hole: Bools, columns: Ints, settings: JointSettings) -> EMFit:
    """EM over some design columns (Dempster, Laird and Rubin 1977), by the steps of `EMImputer`.

    With a prior of ν rows Σ is (nΣ + νI) / (n + ν + q + 2), as in Amelia.
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
            return theta, history, True
    return theta, history, False


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
    for group, expected, density, covariance in theta.conditionals(z, groups):
        filled[group.rows[:, np.newaxis], group.columns] = expected
        likelihood += float(density.sum())
        places = group.patterns[:, :, np.newaxis] * q + group.patterns[:, np.newaxis, :]
        counts = np.bincount(group.of, minlength=len(places))[:, np.newaxis, np.newaxis]
        extra += np.bincount(places.ravel(), (covariance * counts).ravel(), q * q)
    return filled.sum(axis=0), filled.T @ filled + extra.reshape(q, q), likelihood


def fit_em(z: Floats, hole: Bools, blocks: list[Ints], settings: JointSettings) -> list[EMFit]:
    """EM over each block of columns."""
    with threadpool_limits(limits=1, user_api="blas"):
        return [fit_normal(z, hole, columns, settings) for columns in blocks]


@exact
def descend(gram, targets, penalty, beta):
    """Improve each β in place: the argmin of ½ βᵀGβ − βᵀt + λ |β|₁, coordinate by coordinate."""
    for k in range(len(targets)):
        slope = targets[k] - gram @ beta[k]
        for _ in range(SWEEPS):
            largest = 0.0
            for i in range(len(slope)):
                if gram[i, i] <= 0.0:
                    continue
                pull = slope[i] + gram[i, i] * beta[k, i]
                new = np.sign(pull) * max(abs(pull) - penalty, 0.0) / gram[i, i]
                step = new - beta[k, i]
                if step != 0.0:
                    for j in range(len(slope)):
                        slope[j] -= gram[j, i] * step
                    beta[k, i] = new
                    largest = max(largest, abs(step))
            if largest < STILL:
                break


def regress(
    cov: Floats, holes: Ints, seen: Ints, penalty: float, memory: Floats
) -> tuple[Floats, Floats]:
    """Coefficients (hole, seen column) and the covariance of what they leave unexplained.

    ``memory`` has coefficients of each column on all others, from which descent starts.
    """
    gram, cross = cov[np.ix_(seen, seen)], cov[np.ix_(holes, seen)]
    beta = memory[np.ix_(holes, seen)]
    descend(gram, cross, penalty, beta)
    left = cross - beta @ gram
    return beta, cov[np.ix_(holes, holes)] - cross @ beta.T - beta @ left.T


@dataclass(frozen=True, eq=False)
class SparseNormal:
    """Moments of the filled training rows over some design columns, and the penalty.

    ``memory`` are coefficients to start from; where descent ends does not depend on them.
    """

    columns: Ints
    mean: Floats
    covariance: Floats
    memory: Floats
    penalty: float

    def expect(self, z: Floats, hole: Bools) -> Floats:
        """The rows with the prediction in each hole, each on its own."""
        filled = z.copy()
        for rows in rows_by_pattern(hole):
            holes, seen = np.flatnonzero(hole[rows[0]]), np.flatnonzero(~hole[rows[0]])
            beta, _ = regress(self.covariance, holes, seen, self.penalty, self.memory)
            away = z[np.ix_(rows, seen)] - self.mean[seen]
            shift = (beta[np.newaxis] * away[:, np.newaxis, :]).sum(axis=2)
            filled[np.ix_(rows, holes)] = self.mean[holes] + shift
        return filled


def rows_by_pattern(hole: Bools) -> list[Ints]:
    """The rows of each pattern with holes."""
    packed = np.packbits(hole, axis=1)
    _, of = np.unique(packed, axis=0, return_inverse=True)
    rows = np.argsort(of.ravel(), kind="stable")
    parts = np.split(rows, np.flatnonzero(np.diff(of.ravel()[rows])) + 1)
    return [part for part in parts if len(part) and hole[part[0]].any()]


def fit_sparse(
    z: Floats, hole: Bools, columns: Ints, penalty: float, settings: JointSettings
) -> tuple[SparseNormal, int]:
    """Passes of `MissPALassoImputer` until no fill moves by more than ``tol``; and how many."""
    z, hole = z[:, columns], hole[:, columns]
    parts, (n, q) = rows_by_pattern(hole), z.shape
    filled, memory = z.copy(), np.zeros((q, q))
    spread = [np.zeros((int(hole[rows[0]].sum()),) * 2) for rows in parts]
    first, second = filled.sum(axis=0), filled.T @ filled
    passes = 0
    while passes < settings.max_iter:
        passes, moved = passes + 1, 0.0
        for k, rows in enumerate(parts):
            holes, seen = np.flatnonzero(hole[rows[0]]), np.flatnonzero(~hole[rows[0]])
            square = np.ix_(holes, holes)
            first -= filled[rows].sum(axis=0)
            second -= filled[rows].T @ filled[rows]
            second[square] -= spread[k]
            others = n - len(rows)
            mean, cov = first / max(others, 1), second / max(others, 1)
            cov -= np.outer(mean, mean)
            beta, rest = regress(cov, holes, seen, penalty, memory)
            memory[np.ix_(holes, seen)] = beta
            new = mean[holes] + (z[np.ix_(rows, seen)] - mean[seen]) @ beta.T
            moved = max(moved, float(np.abs(new - filled[np.ix_(rows, holes)]).max()))
            filled[np.ix_(rows, holes)] = new
            spread[k] = len(rows) * rest
            first += filled[rows].sum(axis=0)
            second += filled[rows].T @ filled[rows]
            second[square] += spread[k]
        if moved < settings.tol:
            break
    mean = first / n
    return SparseNormal(columns, mean, second / n - np.outer(mean, mean), memory, penalty), passes
