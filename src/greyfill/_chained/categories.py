"""Elementary methods for categories: logistic, multinomial and proportional-odds regression."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from greyfill._chained.augmenting import augment
from greyfill._chained.likelihood import logistic, multinomial, proportional_odds
from greyfill._chained.linear import Line, Standard
from greyfill._chained.numbers import Constant, Model
from greyfill.table import Floats


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


def fit_logreg(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Logistic regression with a draw of its coefficients (R's ``logreg``).

    β* ~ N(β̂, (X'WX)⁻¹), W = diag(w p̂ (1 − p̂))
    """
    levels, level = np.unique(y, return_inverse=True)
    if len(levels) < 2:
        return Constant(float(levels[0]))
    standard = Standard.learn(x)
    coefficients, factor = logistic(augment(standard.apply(x), level, 2))
    noise = rng.standard_normal(len(coefficients))
    drawn = coefficients + solve_triangular(factor, noise, lower=True, trans="T")
    return Binary(levels, standard.line(drawn[0], drawn[1:]))


def fit_polyreg(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Multinomial logistic regression, without a draw of coefficients (R's ``polyreg``)."""
    levels, level = np.unique(y, return_inverse=True)
    if len(levels) < 2:
        return Constant(float(levels[0]))
    standard = Standard.learn(x)
    found = multinomial(augment(standard.apply(x), level, len(levels)), len(levels))
    return Multinomial(levels, tuple(standard.line(row[0], row[1:]) for row in found))


def fit_polr(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """Proportional-odds regression, without a draw of coefficients (R's ``polr``)."""
    levels, level = np.unique(y, return_inverse=True)
    if len(levels) < 2:
        return Constant(float(levels[0]))
    standard = Standard.learn(x)
    rows = augment(standard.apply(x), level, len(levels))
    thresholds, slope = proportional_odds(rows, len(levels))
    return Ordered(levels, thresholds, standard.line(0.0, slope))


def fit_mode(x: Floats, y: Floats, rng: np.random.Generator) -> Model:
    """The most frequent category, the smallest code of ties."""
    levels, counts = np.unique(y, return_counts=True)
    return Constant(float(levels[counts.argmax()]))
