"""Kinds of claims, and how measured figures decide each of them."""

from dataclasses import dataclass
from math import ceil
from typing import Literal, Protocol

import polars as pl

from greyfill.evaluation.reproduction.paper import LABELS, METHODS
from greyfill.evaluation.reproduction.results import Cell, Results

TIE = 1e-9

Outcome = Literal["holds", "does not hold", "not measured"]


@dataclass(frozen=True)
class Verdict:
    """A claim, where the paper makes it, whether it holds in this run, and the figures."""

    source: str
    claim: str
    outcome: Outcome
    numbers: str


class Claim(Protocol):
    """A sentence of the paper that a run can decide."""

    @property
    def source(self) -> str:
        """Where the paper says it."""

    @property
    def text(self) -> str:
        """What the paper says."""

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Decide the claim, and tell the figures that did."""


def decide(claim: Claim, results: Results) -> Verdict:
    """Judge a claim by the results of a run."""
    outcome, numbers = claim.judge(results)
    return Verdict(claim.source, claim.text, outcome, numbers)


def outcome(holds: bool) -> Outcome:
    """Name a decision.

    >>> outcome(True), outcome(False)
    ('holds', 'does not hold')
    """
    return "holds" if holds else "does not hold"


NOT_MEASURED: tuple[Outcome, str] = ("not measured", "this run did not measure it")


@dataclass(frozen=True)
class Setting:
    """One column of a table of the paper: a setting, a rate, a metric, and which end is good."""

    scenario: str
    rate: float
    metric: str
    lower_is_better: bool = True

    def cells(self, results: Results) -> dict[str, Cell]:
        """The paper's methods that have a figure, best first."""
        found = {m: results.cell(self.scenario, self.rate, m, self.metric) for m in METHODS}
        known = {m: cell for m, cell in found.items() if cell is not None}
        sign = 1 if self.lower_is_better else -1
        return dict(sorted(known.items(), key=lambda item: sign * item[1].mean))

    @property
    def digits(self) -> int:
        """Decimals to show."""
        return 4 if self.lower_is_better else 2


@dataclass(frozen=True)
class Best:
    """A method has the best mean of all methods of the paper in one setting."""

    source: str
    text: str
    setting: Setting
    method: str = "cgknn"

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare means, and show the paired difference from the best of the others."""
        cells = self.setting.cells(results)
        others = [m for m in cells if m != self.method]
        if self.method not in cells or not others:
            return NOT_MEASURED
        rival, digits = others[0], self.setting.digits
        place, shared = standing(cells, self.method, self.setting.lower_is_better)
        text = (
            f"{LABELS[self.method]} {cells[self.method].show(digits)} (place {place} of "
            f"{len(cells)}{', shared' if shared else ''}), "
            f"{'next' if place == 1 else 'best'} {LABELS[rival]} "
            f"{cells[rival].show(digits)}{self._paired(results, rival)}{absent(cells)}"
        )
        return outcome(place == 1 and not shared), text

    def _paired(self, results: Results, rival: str) -> str:
        s = self.setting
        gap = results.difference(s.scenario, s.rate, (self.method, rival), s.metric)
        return paired(gap, s.digits)


@dataclass(frozen=True)
class AtMost:
    """The mean of a method is at or below a printed figure."""

    source: str
    text: str
    setting: Setting
    printed: float
    method: str = "cgknn"

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare the mean with the printed figure."""
        cell = self.setting.cells(results).get(self.method)
        if cell is None:
            return NOT_MEASURED
        text = f"{LABELS[self.method]} {cell.show()}, printed {self.printed:.4f}"
        return outcome(cell.mean <= self.printed), text


@dataclass(frozen=True)
class Beats:
    """A method has a better mean than one other row, such as *no imputation*."""

    source: str
    text: str
    setting: Setting
    other: str
    method: str = "cgknn"

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare two means, and show the paired difference."""
        s = self.setting
        mine, rival = (
            results.cell(s.scenario, s.rate, m, s.metric) for m in (self.method, self.other)
        )
        if mine is None or rival is None:
            return NOT_MEASURED
        gap = results.difference(s.scenario, s.rate, (self.method, self.other), s.metric)
        text = (
            f"{LABELS[self.method]} {mine.show(s.digits)}, "
            f"{LABELS[self.other]} {rival.show(s.digits)}{paired(gap, s.digits)}"
        )
        gain = (rival.mean - mine.mean) if s.lower_is_better else (mine.mean - rival.mean)
        return outcome(gain > TIE), text


@dataclass(frozen=True)
class Often:
    """A method takes a certain place in at least a share of several settings.

    ``place`` counts from the best (1) or, when negative, from the worst (−1).
    """

    source: str
    text: str
    settings: tuple[Setting, ...]
    printed: int
    method: str
    place: int
    share: float

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Count the settings in which the method takes the place."""
        ranked = [s.cells(results) for s in self.settings]
        ranked = [cells for cells in ranked if self.method in cells and len(cells) > 1]
        if not ranked:
            return NOT_MEASURED
        at = self.place - 1 if self.place > 0 else self.place
        count = sum(list(cells)[at] == self.method for cells in ranked)
        needed = ceil(self.share * len(ranked))
        text = (
            f"{count} of {len(ranked)} settings in this run ({needed} needed), {self.printed} of "
            f"{len(self.settings)} in the printed tables{absent(ranked[0])}"
        )
        return outcome(count >= needed), text


def paired(gap: Cell | None, digits: int) -> str:
    """Text of a paired difference with its standard error."""
    if gap is None or gap.n < 2:
        return ""
    note = ", within two standard errors" if abs(gap.mean) <= 2 * gap.error else ""
    return f"; difference {signed(gap.mean, digits)} ± {gap.error:.{digits}f} (s.e.){note}"


def standing(cells: dict[str, Cell], method: str, lower_is_better: bool) -> tuple[int, bool]:
    """Place of a method among all, 1 for the best, and whether another one shares it.

    >>> cells = {"a": Cell(0.1, 0, 1), "b": Cell(0.2, 0, 1), "c": Cell(0.2, 0, 1)}
    >>> standing(cells, "a", True), standing(cells, "c", True), standing(cells, "c", False)
    ((1, False), (2, True), (1, True))
    """
    sign = 1 if lower_is_better else -1
    gaps = [sign * (cells[m].mean - cells[method].mean) for m in cells if m != method]
    return 1 + sum(gap < -TIE for gap in gaps), any(abs(gap) <= TIE for gap in gaps)


def signed(value: float, digits: int = 2) -> str:
    """Write a difference with its sign.

    >>> signed(-0.5), signed(0.25), signed(-1e-9)
    ('−0.50', '+0.25', '+0.00')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def absent(cells: dict[str, Cell]) -> str:
    """Text that names the methods of the paper without a figure.

    >>> absent({method: Cell(0.1, 0.0, 1) for method in METHODS if method != "mice"})
    '; without MICE'
    """
    names = [LABELS[m] for m in METHODS if m not in cells]
    return f"; without {', '.join(names)}" if names else ""


def mean_accuracy(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean accuracy over the seeds after each number of passes."""
    return rows.group_by("passes").agg(pl.col("accuracy").mean()).sort("passes")
