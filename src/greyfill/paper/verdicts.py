"""Kinds of claims, and how measured figures decide each of them."""

from dataclasses import dataclass
from math import ceil
from typing import Literal, Protocol

import polars as pl

from greyfill.paper.printed import LABELS, METHODS, TOY_INFORMATION
from greyfill.paper.results import Cell, Results

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


RIVALS = ("fwgknn", "gknn")


@dataclass(frozen=True)
class GrowingAdvantage:
    """The mean of all other methods lies further from a method's at the second setting."""

    source: str
    text: str
    settings: tuple[Setting, Setting]
    method: str = "cgknn"

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare the two gaps."""
        both = [s.cells(results) for s in self.settings]
        if any(self.method not in cells or len(cells) < 2 for cells in both):
            return NOT_MEASURED
        gaps = [self._gap(cells) for cells in both]
        text = ", ".join(
            f"{signed(gap, 4)} at {100 * s.rate:.0f} %"
            for gap, s in zip(gaps, self.settings, strict=True)
        )
        numbers = f"mean of the others less {LABELS[self.method]}: {text}{absent(both[0])}"
        return outcome(gaps[1] > gaps[0]), numbers

    def _gap(self, cells: dict[str, Cell]) -> float:
        others = [cell.mean for method, cell in cells.items() if method != self.method]
        return sum(others) / len(others) - cells[self.method].mean


@dataclass(frozen=True)
class ToyInformation:
    """The information of each printed column of the cubes is as printed, within ``slack`` bits."""

    source: str
    text: str
    slack: float = 0.05

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare bits, and show normalized weights beside them."""
        cells = toy_information(results, "bits")
        if not cells:
            return NOT_MEASURED
        weights = toy_information(results, "weight")
        text = ", ".join(
            f"{name} {cells[name].mean:.2f} bits (weight {weights[name].mean:.2f}, printed "
            f"{printed:.2f})"
            for name, printed in TOY_INFORMATION.items()
        )
        near = (
            abs(cells[n].mean - printed) <= self.slack for n, printed in TOY_INFORMATION.items()
        )
        return outcome(all(near)), text


@dataclass(frozen=True)
class ToyOrder:
    """The printed columns of the cubes rank as printed, and noise lies below ``ceiling`` bits."""

    source: str
    text: str
    ceiling: float = 0.05

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Rank the mean bits of all columns."""
        cells = toy_information(results, "bits")
        if not cells:
            return NOT_MEASURED
        ranked = sorted(cells, key=lambda name: -cells[name].mean)
        noise = max(cell.mean for name, cell in cells.items() if name not in TOY_INFORMATION)
        text = (
            f"order {' > '.join(ranked[: len(TOY_INFORMATION)])}; "
            f"the largest mean of a noise column is {noise:.4f} bits"
        )
        agrees = ranked[: len(TOY_INFORMATION)] == list(TOY_INFORMATION)
        return outcome(agrees and noise < self.ceiling), text


@dataclass(frozen=True)
class FinalBest:
    """CGKNN has the highest accuracy on Iris after the last pass."""

    source: str
    text: str
    rate: float
    protocol: str

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare with FWGKNN and GKNN, seed by seed."""
        finals = {m: results.final(self.rate, m, self.protocol) for m in ("cgknn", *RIVALS)}
        cells = {m: Cell.of(rows["accuracy"]) for m, rows in finals.items()}
        known = {m: cell for m, cell in cells.items() if cell is not None}
        if len(known) < len(finals):
            return NOT_MEASURED
        rival = max(RIVALS, key=lambda m: known[m].mean)
        both = finals["cgknn"].join(finals[rival], on="seed", suffix="_rival")
        gap = Cell.of(both["accuracy"] - both["accuracy_rival"])
        text = ", ".join(f"{LABELS[m]} {cell.show(2)}" for m, cell in known.items())
        holds = known["cgknn"].mean - known[rival].mean > TIE
        return outcome(holds), f"{text}; against {LABELS[rival]}{paired(gap, 2)}"


@dataclass(frozen=True)
class SettlesFast:
    """CGKNN's mean accuracy stays near its last value from an early pass on, at every rate."""

    source: str
    text: str
    at_most: int = 3
    within: float = 0.5

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Find the pass from which the mean accuracy stays within ``within`` points."""
        rows = results.passes.filter(pl.col("protocol") == "paper")
        found = {
            (rate, m): settled(rows.filter(pl.col("rate") == rate, pl.col("method") == m), self)
            for rate in sorted(rows["rate"].unique())
            for m in ("cgknn", *RIVALS)
        }
        rates = {rate for rate, _ in found}
        if not rates or any(passes is None for passes in found.values()):
            return NOT_MEASURED
        text = "; ".join(
            f"at {100 * rate:.0f} %: "
            + ", ".join(f"{LABELS[m]} from pass {found[rate, m]} on" for m in ("cgknn", *RIVALS))
            for rate in sorted(rates)
        )
        return outcome(all((found[rate, "cgknn"] or 0) <= self.at_most for rate in rates)), text


@dataclass(frozen=True)
class StartsFaster:
    """CGKNN needs less time for its column weights than FWGKNN, in every setting."""

    source: str
    text: str

    def judge(self, results: Results) -> tuple[Outcome, str]:
        """Compare medians over repeats."""
        ratios = start_ratios(results)
        if not ratios:
            return NOT_MEASURED
        text = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
        holds = all(ratio > 1 for ratio in ratios.values())
        return outcome(holds), f"time of FWGKNN ÷ time of CGKNN: {text}"


def toy_information(results: Results, what: str) -> dict[str, Cell]:
    """Mean and sd over the seeds of ``bits`` or ``weight`` of each column of the cubes."""
    rows = results.information.filter(pl.col("scenario") == "cubes")
    grouped = {
        str(name): Cell.of(rows.filter(pl.col("column") == name)[what])
        for name in rows["column"].unique(maintain_order=True)
    }
    return {name: cell for name, cell in grouped.items() if cell is not None}


def settled(rows: pl.DataFrame, rule: SettlesFast) -> int | None:
    """First pass from which the mean accuracy stays near its last value."""
    means = mean_accuracy(rows)
    if means.is_empty():
        return None
    last = means["accuracy"][-1]
    far = means.filter((pl.col("accuracy") - last).abs() > rule.within)["passes"]
    later = means.filter(pl.col("passes") > (far.max() if len(far) else -1))["passes"]
    return int(later[0])


def start_ratios(results: Results) -> dict[str, float]:
    """Median seconds for the weights of FWGKNN over those of CGKNN, by setting."""
    medians = results.timings.group_by("scenario", "method", maintain_order=True).agg(
        pl.col("seconds").median()
    )
    seconds = {(s, m): value for s, m, value in medians.iter_rows()}
    names = results.timings["scenario"].unique(maintain_order=True)
    return {name: seconds[name, "fwgknn"] / seconds[name, "cgknn"] for name in names}
