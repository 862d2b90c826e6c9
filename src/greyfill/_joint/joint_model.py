"""A joint model of a table: what it sees and the way back, how it is fitted, and what it draws."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from scipy.special import ndtri
from scipy.stats import binom

from greyfill._chained.design import Design, row_keys, row_order, uniform
from greyfill._chained.draws import settle
from greyfill._joint.joint_normal import JointSettings, SparseNormal, Theta, fit_em, fit_sparse
from greyfill.blas import one_blas_thread
from greyfill.exceptions import InvalidDataError
from greyfill.table import Bools, Column, Floats, Ints, Kind, SymmetricScaler, Table

MOST_TOGETHER = 200
"""Design columns of one distribution; a table of more has several, which ignore each other."""

REMAINDER = -1
TRIES = 100
"""Draws of a row until its numbers lie within their bounds, as in Amelia; then they are cut off."""

Report = Callable[[str], None]
Limits = tuple[Floats, Floats]
"""The least and the largest number of each column."""

Noise = Callable[[int, Ints], tuple[Floats, Floats]]
"""For a try and some rows: normal numbers by design column, uniform ones by table column."""


@dataclass(frozen=True, eq=False)
class JointCode:
    """The columns of a `Design` with mean 0 and deviation 1 over their observed cells.

    A category of k levels has k − 1 indicators, and what they leave of 1 goes to the reference, the
    first level; of more than 20 levels the most frequent have one, and the reference is the most
    frequent of the others. ``references`` are −1 where every observed level has an indicator.
    """

    columns: tuple[Column, ...]
    design: Design
    mean: Floats
    deviation: Floats
    references: Ints

    @classmethod
    def learn(cls, table: Table) -> "JointCode":
        """From the observed cells of a table."""
        design = Design.learn(table)
        encoded = design.encode(table.values)
        hole = np.repeat(table.missing | table.unseen, np.diff(design.edges), axis=1)
        n = np.maximum((~hole).sum(axis=0), 1)
        mean = np.where(hole, 0.0, encoded).sum(axis=0) / n
        constant = np.ptp(np.where(hole, mean, encoded), axis=0) == 0.0
        spread = np.sqrt(np.where(hole, 0.0, (encoded - mean) ** 2).sum(axis=0) / n)
        references = [_reference(table, design, j) for j in range(table.n_columns)]
        deviation = np.where(constant, 0.0, spread)
        return cls(table.columns, design, mean, deviation, np.array(references, dtype=np.intp))

    def encode(self, table: Table) -> tuple[Floats, Bools]:
        """Standardized cells, 0 in holes, and where holes are; an unseen level counts as one."""
        hole = np.repeat(table.missing | table.unseen, np.diff(self.design.edges), axis=1)
        divisor = np.where(self.deviation > 0.0, self.deviation, 1.0)
        return np.where(hole, 0.0, (self.design.encode(table.values) - self.mean) / divisor), hole

    @property
    def blocks(self) -> list[Ints]:
        """The design columns that vary, by distribution; what may not predict has its own."""
        varying = np.flatnonzero(self.deviation > 0.0)
        owner = np.repeat(np.arange(len(self.columns)), np.diff(self.design.edges))[varying]
        predicts = np.array([column.predicts for column in self.columns])[owner]
        rest = varying[predicts]
        together = np.array_split(rest, -(-len(rest) // MOST_TOGETHER)) if len(rest) else []
        return together + [varying[owner == j] for j in np.unique(owner[~predicts])]

    def decode(self, z: Floats, table: Table, noise: Floats | None = None) -> Floats:
        """The table with values of z in its holes; levels by ``noise`` in (0, 1), or likeliest."""
        values = table.values.copy()
        for j in np.flatnonzero(table.missing.any(axis=0)).tolist():
            rows, block = np.flatnonzero(table.missing[:, j]), self.design.block(j)
            part = z[rows, block] * self.deviation[block] + self.mean[block]
            is_class = self.columns[j].kind is Kind.CATEGORICAL
            decode = self._decode_levels if is_class else self._decode_numbers
            values[rows, j] = decode(j, part, None if noise is None else noise[rows, j])
        return values

    def _decode_numbers(self, j: int, part: Floats, u: Floats | None) -> Floats:
        column, scaler = self.columns[j], self.design.scaler
        values = SymmetricScaler(scaler.center[j], scaler.half_range[j]).unscale(part[:, 0])
        if column.kind is Kind.ORDINAL and u is not None and scaler.low is not None:
            low, high = scaler.low[j], scaler.high[j]  # type: ignore[index]
            share = np.clip((values - low) / max(high - low, 1.0), 0.0, 1.0)
            values = low + np.clip(binom.ppf(u, max(high - low, 0.0), share), 0.0, high - low)
        return settle(column, values)

    def _decode_levels(self, j: int, part: Floats, u: Floats | None) -> Floats:
        """Codes of levels; those that were never observed are never given."""
        indicated = self.design.levels[j]
        assert indicated is not None
        levels = np.append(indicated, max(self.references[j], 0)).astype(np.float64)
        scores = np.column_stack([part, 1.0 - part.sum(axis=1)])
        possible = np.append(self.design.shares[j] > 0.0, self.references[j] != REMAINDER)
        best = np.where(possible, scores, -np.inf).argmax(axis=1)
        if u is None:
            return np.asarray(levels[best])
        sums = np.cumsum(np.where(possible, np.clip(scores, 0.0, 1.0), 0.0), axis=1)
        place = (u[:, np.newaxis] * sums[:, -1:] >= sums).sum(axis=1)
        # Where no possible level has a chance, the likeliest of them is taken.
        place = np.where(sums[:, -1] <= 0.0, best, np.minimum(place, len(levels) - 1))
        return np.asarray(levels[place])


def _reference(table: Table, design: Design, j: int) -> int:
    """The most frequent level without an indicator; −1 where none is observed, or of a number."""
    indicated = design.levels[j]
    if indicated is None:
        return REMAINDER
    codes = table.values[~table.missing[:, j], j].astype(np.intp)
    counts = np.bincount(codes[codes >= 0], minlength=table.columns[j].n_levels or 1)
    counts[indicated] = 0
    return int(counts.argmax()) if counts.any() else REMAINDER


def draw_holes(theta: Theta, z: Floats, hole: Bools, normals: Floats) -> Floats:
    """A draw of each hole, block by block."""
    drawn = z.copy()
    for part, normal in ((normal.columns, normal) for normal in theta):
        drawn[:, part] = normal.draw(z[:, part], hole[:, part], normals[:, part])
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
    thetas: tuple[Theta | tuple[SparseNormal, ...], ...]
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
            drawn = draw_holes(theta, z[rows], hole[rows], normals)
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
) -> tuple[FittedJoint, list[list[float]], bool]:
    """EM over rows in the order of their keys; likelihoods by block, and whether it converged."""
    table = table.rows(row_order(table))
    code = JointCode.learn(table)
    fits = fit_em(*code.encode(table), code.blocks, settings)
    for theta, steps, _ in fits:
        report(f"EM over {len(theta.mean)} columns: {len(steps)} steps to {steps[-1]:.6g}")
    fitted = FittedJoint(code, (tuple(theta for theta, *_ in fits),))
    return fitted, [steps for _, steps, _ in fits], all(ended for *_, ended in fits)


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
        start = tuple(theta for theta, *_ in fit_em(z, hole, code.blocks, settings))
    seeds = SeedSequence(settings.seed).spawn(settings.n_imputations)
    jobs = (delayed(draw_theta)(code.blocks, z, hole, start, settings, seed) for seed in seeds)
    thetas: list[Theta] = []
    most = 1
    for theta, steps in Parallel(n_jobs=settings.n_jobs, return_as="generator")(jobs):
        thetas.append(theta)
        most = max(most, steps)
        report(f"imputation {len(thetas)} of {len(seeds)}")
    fitted = FittedJoint(code, tuple(thetas), settings.seed)
    q, p = len(code.mean), table.n_columns

    def drawn(c: int, seed: SeedSequence) -> Floats:
        rng, values = np.random.default_rng(seed.spawn(1)[0]), np.empty_like(table.values)
        noise = lambda _, rows: (rng.standard_normal((len(rows), q)), rng.random((len(rows), p)))  # noqa: E731
        values[order] = fitted.draw(ordered, c, bounds, noise)
        return values

    with one_blas_thread():
        return fitted, [drawn(c, seed) for c, seed in enumerate(seeds)], most


def draw_theta(
    blocks: list[Ints], z: Floats, hole: Bools, theta: Theta, how: JointSettings, seed: SeedSequence
) -> tuple[Theta, int]:
    """The θ of one imputation, and the steps of EM or passes to it.

    EM's of rows drawn with replacement, again while a column has no observed cell; or from a first
    θ draws of holes given θ and of θ given the holes, in turns (Tanner and Wong 1987).
    """
    rng, rows = np.random.default_rng(seed), np.arange(len(z))
    with one_blas_thread():
        for _ in range(how.n_iter):
            filled = draw_holes(theta, z, hole, rng.standard_normal(z.shape))
            theta = tuple(n.redraw(filled, how, rng) for n in theta)
    if how.n_iter:
        return theta, how.n_iter
    for _ in range(TRIES if how.bootstrap else 0):
        drawn = rng.integers(0, len(z), len(z))
        if not hole[drawn].all(axis=0).any():
            rows = drawn
            break
    fits = fit_em(z[rows], hole[rows], blocks, how)
    return tuple(theta for theta, *_ in fits), max((len(s) for _, s, _ in fits), default=1)
