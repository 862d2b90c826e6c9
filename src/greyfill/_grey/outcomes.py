"""What is predicted of a column: a number, or the indicators of its levels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from greyfill.table import MANY_LEVELS, Floats, Ints, indicators

LEAST, LEAST_OF_MANY = 1e-2, 1e-4
"""Predicted indicators count at least as this much, where every level is listed and where not."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the columns of a prediction stand for.

    ``levels`` are codes in rising order: none for numbers, one row of them for all rows alike, or
    `MANY_LEVELS` for each row. Then a last column stands for the ``n_others`` levels that a row
    does not list, which are equally probable.
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
            return np.ascontiguousarray(values)[:, np.newaxis]  # compiled kernels take no other
        listed = indicators(values, self.levels)
        return np.column_stack([listed, 1.0 - listed.sum(axis=1)]) if self.n_others else listed

    def shares(self, predicted: Floats, sharpness: float = 1.0) -> Floats:
        """Probabilities from predicted indicators, p ∝ p̂^sharpness with p̂ at least 1e-2.

        The last of many levels is that of each level that is not listed; there p̂ is at least 1e-4.
        """
        least = LEAST_OF_MANY if self.n_others else LEAST
        powers = np.minimum(np.maximum(predicted, least), 1.0)  # np.clip takes thrice as long
        if sharpness != 1.0:
            powers **= sharpness
        shares: Floats = powers / np.add.reduce(powers, axis=-1, keepdims=True)
        if self.n_others:
            shares[..., -1] /= self.n_others
        return shares

    def loss(self, predicted: Floats, truth: Floats, loss: str, sharpness: float = 1.0) -> Floats:
        """The squared error, summed over all levels, or minus log of the probability of truth."""
        if loss == "log":
            return np.asarray(-np.log((self.shares(predicted, sharpness) * truth).sum(axis=-1)))
        squares = (predicted - truth) ** 2
        if self.n_others:
            each = predicted[..., -1] / self.n_others
            squares[..., -1] = each * predicted[..., -1] + truth[:, -1] * (1.0 - 2.0 * each)
        return np.asarray(squares.sum(axis=-1))

    def residuals(self, predicted: Floats, truth: Floats) -> Floats:
        """True minus predicted numbers, or one minus the probability of the true level."""
        if self.width == 1:
            return np.asarray((truth - predicted)[:, 0])
        return np.asarray(1.0 - (self.shares(predicted) * truth).sum(axis=1))

    def codes(self, places: Ints) -> Ints:
        """The level in a place of each row."""
        levels = np.broadcast_to(self.levels, (len(places), self.levels.shape[1]))
        return np.asarray(levels[np.arange(len(places)), places])


@dataclass(frozen=True, eq=False)
class Forecast:
    """Predictions for some rows, shape (row, outcome)."""

    predicted: Floats
    outcomes: Outcomes

    @classmethod
    def joined(cls, parts: "list[tuple[Ints, Forecast]]", n_rows: int) -> "Forecast":
        """Predictions of all rows, from those of some rows each."""
        outcomes = parts[0][1].outcomes
        predicted, levels = np.zeros((n_rows, outcomes.width)), outcomes.levels
        if outcomes.n_others:
            levels = np.zeros((n_rows, MANY_LEVELS), dtype=np.intp)
        for rows, part in parts:
            predicted[rows] = part.predicted
            if outcomes.n_others:
                levels[rows] = part.outcomes.levels
        return cls(predicted, Outcomes(levels, outcomes.n_others))

    def shares(self, sharpness: float = 1.0) -> Floats:
        """Probabilities of the outcomes; the last of many levels is that of each other level."""
        return self.outcomes.shares(self.predicted, sharpness)

    def residuals(self, values: Floats) -> Floats:
        """Residuals of the predictions from the true values."""
        return self.outcomes.residuals(self.predicted, self.outcomes.truth(values))

    def most_probable(self) -> Ints:
        """The most probable level of each row, the smallest code of ties."""
        n_listed = self.outcomes.levels.shape[1]
        return self.outcomes.codes(self.predicted[:, :n_listed].argmax(axis=1))

    def draw(self, levels: Ints, rng: Any) -> Ints:
        """A level of each row by its probability; ``levels`` are all of the column."""
        places = draw_places(np.clip(self.predicted, 0.0, None), rng)
        n_listed = self.outcomes.levels.shape[1]
        others = np.flatnonzero(places == n_listed)
        codes = self.outcomes.codes(np.minimum(places, n_listed - 1))
        if len(others):
            listed = np.searchsorted(levels, self.outcomes.levels[others])
            place = rng.integers(self.outcomes.n_others, size=len(others))
            for taken in listed.T:  # rising, so that the place moves past each listed level
                place += taken <= place
            codes[others] = levels[place]
        return codes


def draw_places(shares: Floats, rng: Any) -> Ints:
    """A column of each row by its share."""
    sums = np.cumsum(shares, axis=1)
    place = rng.random((len(shares), 1)) * sums[:, -1:]
    return np.asarray((place >= sums).sum(axis=1).clip(max=shares.shape[1] - 1), dtype=np.intp)


def class_doubt(truth: Floats, labels: Ints, n_classes: int) -> float:
    """How many rows a class must have, so that its own mean is as good as that of all rows.

    σ²_within / σ²_between, by the moments of a one-way layout, summed over the outcomes: the mean
    of n rows of a class errs by σ²_within / n, and that of all rows by σ²_between. Infinite where
    the means of the classes differ no more than by chance.
    """
    counts = np.bincount(labels, minlength=n_classes)
    n, present = len(labels), int((counts > 0).sum())
    if present < 2 or n <= present:
        return np.inf
    apart = truth - truth.mean(axis=0)
    sums = np.stack([np.bincount(labels, part, n_classes) for part in apart.T], axis=1)
    between = float((sums**2 / np.maximum(counts, 1)[:, np.newaxis]).sum())
    within = max(float((apart**2).sum()) - between, 0.0) / (n - present)
    variance = (between - (present - 1) * within) / (n - (counts**2).sum() / n)
    return within / variance if variance > 1e-12 * within else np.inf
