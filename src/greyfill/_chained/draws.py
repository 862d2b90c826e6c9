"""The elementary methods: fitted models that draw, and how they are fitted.

Every ``fit`` takes predictors, values and a generator; what it returns draws a value for each row
from one uniform number. Further ones, and their names, are in `methods`.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit, ndtr, ndtri

from greyfill._chained.regressions import (
    Line,
    Standard,
    Weighted,
    augment,
    draw_regression,
    logistic,
    multinomial,
    proportional_odds,
)
from greyfill.table import (
    Column,
    Floats,
    Ints,
    Kind,
    SymmetricScaler,
    Table,
    most_frequent,
)

N_DONORS = 5
"""How many observed rows compete to give their value, as in R's mice."""

MOST_BEYOND = 0.1
"""Holes whose prediction lies beyond those of all donors, above the share that chance gives."""

MAX_KEPT_DONORS = 5_000
"""A fitted match keeps at most this many donors for new rows, evenly spread over predictions."""


class Model(Protocol):
    """A fitted elementary method."""

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """One value for each row of x, from one number in [0, 1) for each row."""


@dataclass(frozen=True, eq=False)
class Constant:
    """The same value everywhere."""

    value: float

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """The value, for each row."""
        return np.full(len(x), self.value)


@dataclass(frozen=True, eq=False)
class Sample:
    """An observed value at random."""

    observed: Floats

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """One observed value for each row."""
        return np.asarray(self.observed[pick(noise, len(self.observed))])


@dataclass(frozen=True, eq=False)
class MeanMatch:
    """Type-1 predictive mean matching: the value of one of the 5 donors nearest in prediction.

    |ŷ_i(β̂) − ŷ_new(β*)| ranks the donors i. Donors with equal predictions share their places, so
    ties are broken at random and not by row number.
    """

    line: Line
    spots: Floats
    starts: Ints
    donors: Floats

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """The value of one donor for each row."""
        target = self.line.predict(x)
        counts = np.diff(self.starts)
        near = self._nearest_spots(target)
        places = np.cumsum(np.where(near >= 0, counts[near], 0), axis=1)
        k = min(N_DONORS, len(self.donors))
        place = noise * k
        chosen = (places <= np.minimum(np.floor(place), k - 1)[:, np.newaxis]).sum(axis=1)
        spot = np.take_along_axis(near, chosen[:, np.newaxis], axis=1)[:, 0]
        inside = pick(place - np.floor(place), counts[spot])
        return np.asarray(self.donors[self.starts[spot] + inside])

    def _nearest_spots(self, target: Floats) -> Ints:
        """The 5 nearest different predictions, nearest first; −1 where there are fewer."""
        right = np.searchsorted(self.spots, target)
        window = right[:, np.newaxis] + np.arange(-N_DONORS, N_DONORS)
        inside = (window >= 0) & (window < len(self.spots))
        gap = np.abs(self.spots[np.where(inside, window, 0)] - target[:, np.newaxis])
        gap[~inside] = np.inf
        order = np.argsort(gap, axis=1, kind="stable")[:, :N_DONORS]
        return np.asarray(np.take_along_axis(np.where(inside, window, -1), order, axis=1))


@dataclass(frozen=True, eq=False)
class Normal:
    """x · β* + σ* ε, in units of the column."""

    line: Line
    sigma: float
    scaler: SymmetricScaler

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """A normal value around the prediction for each row; within the scaler's limits, if any."""
        center, u = self.line.predict(x), noise
        if self.scaler.low is not None and self.scaler.high is not None and self.sigma > 0.0:
            ends = (self.scaler.scale(np.array(end)) for end in (self.scaler.low, self.scaler.high))
            first, last = (ndtr((end - center) / self.sigma) for end in ends)
            u = first + noise * (last - first)
        error = ndtri(np.clip(u, 1e-16, 1.0 - 1e-16))  # a noise of 0 is −∞ deviations away
        return self.scaler.unscale(center + self.sigma * error)


def fit_sample(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """A value of another row, at random."""
    return Sample(y)


def fit_mean(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """The mean of the column."""
    return Constant(float((y / len(y)).sum()))


def fit_norm(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Bayesian linear regression with normal errors (R's ``norm``)."""
    scaler = SymmetricScaler.unlimited(y)
    regression = draw_regression(x, scaler.scale(y), rng)
    return Normal(regression.drawn, regression.sigma, scaler)


def fit_norm_nob(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Least squares with residual noise, without a draw of coefficients (R's ``norm.nob``)."""
    predicted = fit_norm_predict(x, y, rng)
    error = predicted.scaler.scale(y) - predicted.line.predict(x)
    freedom = max(len(y) - x.shape[1] - 1, 1)
    return replace(predicted, sigma=float(np.sqrt((error**2).sum() / freedom)))


def fit_norm_predict(x: Floats, y: Floats, rng: np.random.Generator) -> Normal:
    """Least squares without noise (R's ``norm.predict``)."""
    scaler = SymmetricScaler.unlimited(y)
    return Normal(draw_regression(x, scaler.scale(y), rng).fitted, 0.0, scaler)


def truncated(model: Model, low: float, high: float) -> Model:
    """A normal model whose draws lie between two numbers; another as it is."""
    if not isinstance(model, Normal):
        return model
    limits = np.array(low), np.array(high)
    return replace(model, scaler=replace(model.scaler, low=limits[0], high=limits[1]))


def fit_pmm(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Predictive mean matching of numbers (R's ``pmm``)."""
    return match(x, SymmetricScaler.unlimited(y).scale(y), y, rng)


def lie_beyond(x: Floats, y: Floats, holes: Floats) -> bool:
    """Whether many ``holes`` are predicted beyond all donors.

    No donor has a value for such holes, so that matching would pull all of them to the last ones.
    """
    line = draw_regression(x, y, np.random.default_rng(0)).fitted
    predicted, wanted = line.predict(x), line.predict(holes)
    beyond = int(((wanted < predicted.min()) | (wanted > predicted.max())).sum())
    by_chance = 2.0 / (len(y) + 1.0)
    return beyond >= N_DONORS and beyond > (MOST_BEYOND + by_chance) * len(holes)


def fit_category_pmm(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Predictive mean matching of categories, each replaced by a number that x predicts best.

    As R's ``quantify``: the numbers are the category means on the first canonical variate of x,
    the v of largest v'Bv / v'Tv, with B the scatter of the category means and T that of all rows.
    """
    if x.shape[1] == 0:
        return Sample(y)
    levels, index = np.unique(y, return_inverse=True)
    z = Standard.learn(x).apply(x)
    counts = np.bincount(index, minlength=len(levels))
    sums = np.zeros((len(levels), z.shape[1]))
    np.add.at(sums, index, z)
    means = sums / counts[:, np.newaxis]
    total = z.T @ z + 1e-5 * len(z) * np.eye(z.shape[1])
    half = np.linalg.inv(np.linalg.cholesky(total))
    between = half @ (sums.T @ means) @ half.T
    direction = half.T @ np.linalg.eigh((between + between.T) / 2)[1][:, -1]
    return match(x, (means @ direction)[index], y, rng)


def match(x: Floats, y: Floats, given: Floats, rng: np.random.Generator) -> MeanMatch:
    """Match on the regression of y; donors give ``given``."""
    regression = draw_regression(x, y, rng)
    predicted = regression.fitted.predict(x)
    order = np.argsort(predicted, kind="stable")
    return _lay_out(regression.drawn, predicted[order], given[order])


def thinned(model: Model) -> Model:
    """The model with a bounded number of donors."""
    if not isinstance(model, MeanMatch) or len(model.donors) <= MAX_KEPT_DONORS:
        return model
    kept = np.linspace(0, len(model.donors) - 1, MAX_KEPT_DONORS).round().astype(np.intp)
    predicted = np.repeat(model.spots, np.diff(model.starts))
    return _lay_out(model.line, predicted[kept], model.donors[kept])


def pick(noise: Floats, n: Ints | int) -> Ints:
    """Numbers in [0, 1) as places 0 … n − 1.

    >>> pick(np.array([0.0, 0.49, 0.99]), 2)
    array([0, 0, 1])
    """
    return np.asarray(np.minimum(np.floor(noise * n), n - 1).astype(np.intp))


def _lay_out(line: Line, predicted: Floats, donors: Floats) -> MeanMatch:
    """Sorted donors with equal predictions side by side."""
    spots, starts = np.unique(predicted, return_index=True)
    return MeanMatch(line, spots, np.append(starts, len(donors)).astype(np.intp), donors)


@dataclass(frozen=True, eq=False)
class Levels:
    """Draw a level by P(level ≤ l), which a subclass computes."""

    levels: Floats

    def cumulative(self, x: Floats) -> Floats:
        """P(level ≤ l) for each row and each level but the last."""
        raise NotImplementedError

    def draw(self, x: Floats, noise: Floats) -> Floats:
        """The first level whose cumulative probability exceeds the noise."""
        place = (noise[:, np.newaxis] >= self.cumulative(x)).sum(axis=1)
        return np.asarray(self.levels[place])


@dataclass(frozen=True, eq=False)
class Binary(Levels):
    """P(second level) = expit(line), with coefficients drawn from their posterior."""

    line: Line

    def cumulative(self, x: Floats) -> Floats:
        """P(first level)."""
        return np.asarray(expit(-self.line.predict(x)))[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Multinomial(Levels):
    """P(level l) ∝ exp(line_l), the first line being 0."""

    lines: tuple[Line, ...]

    def cumulative(self, x: Floats) -> Floats:
        """Partial sums of the probabilities."""
        logits = np.column_stack([np.zeros(len(x)), *(line.predict(x) for line in self.lines)])
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        sums = np.cumsum(odds, axis=1)
        return np.asarray(sums[:, :-1] / sums[:, -1:])


@dataclass(frozen=True, eq=False)
class Ordered(Levels):
    """P(level ≤ l) = expit(θ_l − line), the line without an intercept."""

    thresholds: Floats
    line: Line

    def cumulative(self, x: Floats) -> Floats:
        """P(level ≤ l) for all levels but the last."""
        return np.asarray(expit(self.thresholds - self.line.predict(x)[:, np.newaxis]))


def _levels(x: Floats, y: Floats) -> tuple[Floats, Standard, Weighted]:
    """The levels of y, the scale of x, and the rows that a regression of levels is fitted to."""
    levels, level = np.unique(y, return_inverse=True)
    standard = Standard.learn(x)
    return levels, standard, augment(standard.apply(x), level, len(levels))


def fit_logreg(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Logistic regression with a draw of its coefficients (R's ``logreg``).

    β* ~ N(β̂, (X'WX)⁻¹), W = diag(w p̂ (1 − p̂))
    """
    levels, standard, rows = _levels(x, y)
    if len(levels) < 2:
        return Constant(float(levels[0]))
    coefficients, factor = logistic(rows)
    noise = rng.standard_normal(len(coefficients))
    drawn = coefficients + solve_triangular(factor, noise, lower=True, trans="T")
    return Binary(levels, standard.line(drawn[0], drawn[1:]))


def fit_polyreg(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Multinomial logistic regression, without a draw of coefficients (R's ``polyreg``)."""
    levels, standard, rows = _levels(x, y)
    if len(levels) < 2:
        return Constant(float(levels[0]))
    found = multinomial(rows, len(levels))
    return Multinomial(levels, tuple(standard.line(row[0], row[1:]) for row in found))


def fit_polr(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Proportional-odds regression, without a draw of coefficients (R's ``polr``)."""
    levels, standard, rows = _levels(x, y)
    if len(levels) < 2:
        return Constant(float(levels[0]))
    thresholds, slope = proportional_odds(rows, len(levels))
    return Ordered(levels, thresholds, standard.line(0.0, slope))


def fit_mode(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """The most frequent category, the smallest code of ties."""
    return Constant(most_frequent(y))


def settle(column: Column, values: Floats) -> Floats:
    """Values that the column can hold: ordinal ranks are rounded to a level."""
    if column.kind is not Kind.ORDINAL:
        return values
    return np.clip(np.rint(values), 0.0, max(column.n_levels - 1, 0))


def typical_values(table: Table) -> Floats:
    """Mean of numbers, rounded mean rank of ordinals, mode of categories (smallest of ties)."""
    observed = ~table.missing
    counts = np.maximum(observed.sum(axis=0), 1)
    with np.errstate(over="ignore"):  # thirds of the largest float add up to more than it
        typical = np.where(observed, table.values / counts, 0.0).sum(axis=0)
    largest = np.where(observed, np.abs(table.values), 0.0).max(axis=0, initial=0.0)
    typical = np.clip(typical, -largest, largest)
    for j, column in enumerate(table.columns):
        if column.kind is Kind.CATEGORICAL:
            typical[j] = most_frequent(table.values[observed[:, j], j])
        else:
            typical[j] = settle(column, typical[j])
    return np.asarray(typical)
