"""The ways to fill a column, and which of them are alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill.table import MANY_LEVELS, Floats, Ints, indicators

EVERYONE = 0
"""Stands for k = all donors of the scope."""

KS = (5, 10, 20, 40, 80)
KERNELS = ("uniform", "inverse")
LOCAL_KS = (20, 40, 80)
LOCAL_RIDGES = (1e-2, 1e-1, 1.0)
COMMON_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
LARGE_RIDGES = (1e-4, 1e-2, 1.0)

FORM_NAMES = {"values": "ridge", "scores": "ridge of ranks"}


@dataclass(frozen=True, order=True)
class Candidate:
    """One way to predict a column from the rows that know it.

    Parameters
    ----------
    relevance : "pair", "mixed" or "equal"
        Weights of the other columns in the grey distance and in the regression.
    scope : "split" or "soft"
        Donors of the same class, or of all classes with the class as one more column.
    k : int
        Number of nearest donors; 0 means all of the scope.
    kernel : "uniform" or "inverse"
        Donors count alike, or by 1/d².
    ridge : float
        The penalty of the regression on the donors; infinite leaves their weighted mean.
    form : "values" or "scores"
        Numbers enter the regression as they are, or as normal scores of their ranks.
    """

    relevance: str
    scope: str
    k: int
    kernel: str
    ridge: float
    form: str

    @property
    def family(self) -> tuple[str, str, str, str]:
        """Candidates of one family differ only in k, kernel and ridge."""
        return self.kind, self.form, self.relevance, self.scope

    @property
    def kind(self) -> str:
        """One regression for all, a mean of neighbors, or a regression on neighbors."""
        if self.k == EVERYONE:
            return "common"
        return "mean" if np.isinf(self.ridge) else "local"

    def __str__(self) -> str:
        """A line for people."""
        many = "all donors" if self.k == EVERYONE else f"the {self.k} nearest donors"
        whose = "of the same class" if self.scope == "split" else "of any class"
        how = "mean of" if np.isinf(self.ridge) else f"{FORM_NAMES[self.form]} {self.ridge:g} on"
        near = ", the nearer the more" if self.kernel == "inverse" else ""
        return f"{how} {many} {whose}{near}; {self.relevance} weights"


LEAST, LEAST_OF_MANY = 1e-2, 1e-4
"""Predicted indicators count at least as this much, where every level is listed and where not."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the columns of a prediction stand for.

    ``levels`` are codes in rising order: none for numbers, one row of them for all rows alike, or
    `MANY_LEVELS` for each row. Then a last column stands for the ``n_others`` levels that a row
    does not list, which are equally likely.
    """

    levels: Ints
    n_others: int = 0

    @property
    def width(self) -> int:
        """Number of columns."""
        return max(int(self.levels.shape[1]), 1) + (self.n_others > 0)

    def part(self, index: Any) -> "Outcomes":
        """Those of some rows."""
        return Outcomes(self.levels[index], self.n_others) if self.n_others else self

    def truth(self, values: Floats) -> Floats:
        """Numbers as they are, or the indicators of codes."""
        if self.levels.shape[1] == 0:
            return values[:, np.newaxis]
        listed = indicators(values, self.levels)
        return np.column_stack([listed, 1.0 - listed.sum(axis=1)]) if self.n_others else listed

    def shares(self, found: Floats, sharpness: float = 1.0) -> Floats:
        """Probabilities from predicted indicators, p ∝ p̂^sharpness with p̂ at least 1e-2.

        The last of many levels is that of each level that is not listed; there p̂ is at least 1e-4.
        """
        powers = np.clip(found, LEAST_OF_MANY if self.n_others else LEAST, 1.0) ** sharpness
        shares = np.asarray(powers / powers.sum(axis=-1, keepdims=True))
        if self.n_others:
            shares[..., -1] /= self.n_others
        return shares

    def loss(self, found: Floats, truth: Floats, loss: str, sharpness: float = 1.0) -> Floats:
        """The squared error, summed over all levels, or minus log of the probability of truth."""
        if loss == "log":
            return np.asarray(-np.log((self.shares(found, sharpness) * truth).sum(axis=-1)))
        squares = (found - truth) ** 2
        if self.n_others:
            each = found[..., -1] / self.n_others
            squares[..., -1] = each * found[..., -1] + truth[:, -1] * (1.0 - 2.0 * each)
        return np.asarray(squares.sum(axis=-1))

    def residuals(self, found: Floats, truth: Floats) -> Floats:
        """True minus predicted numbers, or one minus the probability of the true level."""
        if self.width == 1:
            return np.asarray((truth - found)[:, 0])
        return np.asarray(1.0 - (self.shares(found) * truth).sum(axis=1))

    def codes(self, places: Ints) -> Ints:
        """The level in a place of each row."""
        levels = np.broadcast_to(self.levels, (len(places), self.levels.shape[1]))
        return np.asarray(levels[np.arange(len(places)), places])


@dataclass(frozen=True, eq=False)
class Forecast:
    """Predictions for some rows, shape (row, outcome)."""

    found: Floats
    outcomes: Outcomes

    @classmethod
    def joined(cls, parts: "list[tuple[Ints, Forecast]]", n_rows: int) -> "Forecast":
        """Predictions of all rows, from those of some rows each."""
        outcomes = parts[0][1].outcomes
        found, levels = np.zeros((n_rows, outcomes.width)), outcomes.levels
        if outcomes.n_others:
            levels = np.zeros((n_rows, MANY_LEVELS), dtype=np.intp)
        for rows, part in parts:
            found[rows] = part.found
            if outcomes.n_others:
                levels[rows] = part.outcomes.levels
        return cls(found, Outcomes(levels, outcomes.n_others))

    def shares(self, sharpness: float = 1.0) -> Floats:
        """Probabilities of the outcomes; the last of many levels is that of each other level."""
        return self.outcomes.shares(self.found, sharpness)

    def residuals(self, values: Floats) -> Floats:
        """What is missed, if these values are true."""
        return self.outcomes.residuals(self.found, self.outcomes.truth(values))

    def likeliest(self) -> Ints:
        """The likeliest level of each row, the smallest code of ties."""
        return self.outcomes.codes(self.found[:, : self.outcomes.levels.shape[1]].argmax(axis=1))

    def drawn(self, everything: Ints, rng: np.random.Generator) -> Ints:
        """A level of each row by its share; ``everything`` are all levels of the column."""
        places = pick(np.clip(self.found, 0.0, None), rng)
        n_listed = self.outcomes.levels.shape[1]
        others = np.flatnonzero(places == n_listed)
        codes = self.outcomes.codes(np.minimum(places, n_listed - 1))
        if len(others):
            listed = np.searchsorted(everything, self.outcomes.levels[others])
            place = rng.integers(self.outcomes.n_others, size=len(others))
            for taken in listed.T:  # rising, so that the place moves past each listed level
                place += taken <= place
            codes[others] = everything[place]
        return codes


def pick(shares: Floats, rng: np.random.Generator) -> Ints:
    """A column of each row by its share."""
    sums = np.cumsum(shares, axis=1)
    place = rng.random((len(shares), 1)) * sums[:, -1:]
    return np.asarray((place >= sums).sum(axis=1).clip(max=shares.shape[1] - 1), dtype=np.intp)
