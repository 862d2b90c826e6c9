"""MissPALasso: the holes of each pattern by lasso regressions on the moments of the others."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from greyfill._chained.design import row_order
from greyfill._joint.joint_code import JointCode
from greyfill._search.jit import exact, exact_inner
from greyfill.table import Bools, Floats, Ints, Table

SWEEPS, STILL = 200, 1e-7
"""Rounds of coordinate descent, and the step below which a regression is solved."""

STEPS = (0.5, 0.25, 0.12, 0.06, 0.03, 0.01)
"""Penalties that are tried: correlations below them, roughly, count as nothing."""

HIDDEN_SHARE, MOST_HIDDEN, QUICK = 0.1, 1_000, 8
"""Cells that are hidden to choose the penalty, and passes over the patterns while it is chosen."""


@exact_inner
def descend(gram, target, penalty, beta):
    """Improve β in place: the argmin of ½ βᵀGβ − βᵀt + λ |β|₁, coordinate by coordinate."""
    slope = target - gram @ beta
    for _ in range(SWEEPS):
        largest = 0.0
        for i in range(len(beta)):
            if gram[i, i] <= 0.0:
                continue
            pull = slope[i] + gram[i, i] * beta[i]
            new = np.sign(pull) * max(abs(pull) - penalty, 0.0) / gram[i, i]
            step = new - beta[i]
            if step != 0.0:
                for j in range(len(beta)):
                    slope[j] -= gram[j, i] * step
                beta[i] = new
                largest = max(largest, abs(step))
        if largest < STILL:
            break


@exact
def regress(cov, holes, seen, penalty, memory, keep):
    """Coefficients (hole, seen column) and the covariance of what they leave unexplained.

    ``memory`` has the last coefficients of each column on all others, from which descent starts.
    """
    m, o = len(holes), len(seen)
    gram, beta = np.empty((o, o)), np.empty((m, o))
    for a in range(o):
        for b in range(o):
            gram[a, b] = cov[seen[a], seen[b]]
    rest, cross = np.empty((m, m)), np.empty((m, o))
    for k in range(m):
        for a in range(o):
            cross[k, a] = cov[holes[k], seen[a]]
            beta[k, a] = memory[holes[k], seen[a]]
        descend(gram, cross[k], penalty, beta[k])
        if keep:
            for a in range(o):
                memory[holes[k], seen[a]] = beta[k, a]
    left = cross - beta @ gram
    for k in range(m):
        for i in range(m):
            rest[k, i] = cov[holes[k], holes[i]]
            for a in range(o):
                rest[k, i] -= beta[i, a] * cross[k, a] + beta[k, a] * left[i, a]
    return beta, rest


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
        # Copies: what was loaded from a memory map cannot be written to, and is another type.
        cov, memory = np.array(self.covariance), np.array(self.memory)
        for rows in rows_by_pattern(hole):
            holes, seen = np.flatnonzero(hole[rows[0]]), np.flatnonzero(~hole[rows[0]])
            beta, _ = regress(cov, holes, seen, self.penalty, memory, False)
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


@dataclass(frozen=True)
class LassoSettings:
    """What a caller may set; a penalty below 0 is chosen by hidden cells."""

    penalty: float = -1.0
    max_iter: int = 50
    tol: float = 1e-3
    seed: int = 0


def fit_sparse(
    z: Floats, hole: Bools, columns: Ints, penalty: float, settings: LassoSettings
) -> tuple[SparseNormal, int]:
    """Pass over the patterns until no fill moves by more than ``tol``; and how many passes.

    For a pattern with holes M and observed columns O, on the moments of all rows but its own:
    β_j = argmin ½ βᵀ S_OO β − βᵀ S_Oj + λ |β|₁ for j in M,  x̂_M = μ_M + β (x_O − μ_O)
    """
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
            beta, rest = regress(cov, holes, seen, penalty, memory, True)
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


def fit_pattern_lasso(
    table: Table, settings: LassoSettings, report: Callable[[str], None]
) -> tuple[JointCode, tuple[SparseNormal, ...], int, dict[float, float]]:
    """The code of a table, its moments by block, the passes, and the error of each penalty."""
    table = table.rows(row_order(table))
    code = JointCode.learn(table)
    z, hole = code.encode(table)
    errors: dict[float, float] = {}
    if settings.penalty < 0.0:
        errors = penalty_errors(table, code, z, hole, settings, report)
    # Of penalties that hidden cells cannot tell apart, the largest is taken.
    best = min(errors, key=lambda penalty: (errors[penalty], -penalty)) if errors else STEPS[0]
    penalty = settings.penalty if settings.penalty >= 0.0 else best
    fitted = [fit_sparse(z, hole, part, penalty, settings) for part in code.blocks]
    passes = max((done for _, done in fitted), default=0)
    report(f"{passes} passes with a penalty of {penalty:g}")
    return code, tuple(normal for normal, _ in fitted), passes, errors


def penalty_errors(
    table: Table,
    code: JointCode,
    z: Floats,
    hole: Bools,
    settings: LassoSettings,
    report: Callable[[str], None],
) -> dict[float, float]:
    """The mean squared error of each penalty on hidden cells, in squared deviations."""
    observed = ~table.missing
    share = min(HIDDEN_SHARE, MOST_HIDDEN / max(int(observed.sum()), 1))
    chosen = observed & (np.random.default_rng(settings.seed).random(observed.shape) < share)
    chosen[:, (observed & ~chosen).sum(axis=0) < 2] = False  # a column keeps two cells at least
    hidden = np.repeat(chosen, np.diff(code.design.edges), axis=1) & ~hole
    parts = [part for part in code.blocks if hidden[:, part].any()]
    quick = LassoSettings(max_iter=QUICK, tol=settings.tol)
    masked, errors = np.where(hidden, 0.0, z), {}
    for penalty in STEPS if parts else ():
        wrong = 0.0
        for part in parts:
            normal, _ = fit_sparse(masked, hole | hidden, part, penalty, quick)
            rows = np.flatnonzero(hidden[:, part].any(axis=1))
            block = np.ix_(rows, part)
            filled = normal.expect(masked[block], (hole | hidden)[block])
            wrong += float(((filled - z[block])[hidden[block]] ** 2).sum())
        errors[penalty] = wrong / int(hidden.sum())
        report(f"penalty {penalty:g}: error {errors[penalty]:.4g} on {int(chosen.sum())} cells")
    return errors
