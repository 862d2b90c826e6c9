"""Bayesian linear regression: what predictive mean matching and normal draws stand on."""

from dataclasses import dataclass

import numpy as np

from greyfill.table import Floats

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
