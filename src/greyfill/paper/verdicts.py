"""Rules that decide a claim of the paper by measured figures.

A rule takes what the claim is about and the results of a run; it returns an outcome and the
figures behind it. A verdict compares means over the seeds, and a tie is no advantage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
import polars as pl

from greyfill.paper.printed import LABELS, METHODS, TOY_INFORMATION
from greyfill.paper.results import Cell, Results

TIE = 1e-9  # means this near differ by rounding alone
OURS = "cgknn"
RIVALS = ("fwgknn", "gknn")

Outcome = Literal["holds", "does not hold", "not measured"]
Judgement = tuple[Outcome, str]
Rule = Callable[[Results], Judgement]

NOT_MEASURED: Judgement = ("not measured", "this run did not measure it")


@dataclass(frozen=True)
class Verdict:
    """A claim, where the paper makes it, whether it holds in this run, and the figures."""

    source: str
    claim: str
    outcome: Outcome
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and the rule that decides it."""

    source: str
    text: str
    rule: Rule

    def decide(self, results: Results) -> Verdict:
        """Judge by the results of a run."""
        return Verdict(self.source, self.text, *self.rule(results))


@dataclass(frozen=True)
class Setting:
    """One column of a table of the paper: a setting, a rate, a metric, and which end is good."""

    scenario: str
    rate: float
    metric: str
    lower_is_better: bool = True

    def cell(self, results: Results, method: str) -> Cell | None:
        """Mean and sd of a method."""
        return results.cell(self.scenario, self.rate, method, self.metric)

    def cells(self, results: Results) -> dict[str, Cell]:
        """The paper's methods that have a figure, best first."""
        found = {m: self.cell(results, m) for m in METHODS}
        known = {m: cell for m, cell in found.items() if cell is not None}
        return dict(sorted(known.items(), key=lambda item: self.sign * item[1].mean))

    def paired(self, results: Results, other: str) -> str:
        """The difference of CGKNN from another method, seed by seed, as text."""
        gap = results.difference(self.scenario, self.rate, (OURS, other), self.metric)
        return paired(gap, self.digits)

    @property
    def sign(self) -> int:
        """1 where low figures are good, else −1."""
        return 1 if self.lower_is_better else -1

    @property
    def digits(self) -> int:
        """Decimals to show."""
        return 4 if self.lower_is_better else 2


def _outcome(holds: bool) -> Outcome:
    return "holds" if holds else "does not hold"


def best(setting: Setting, results: Results) -> Judgement:
    """CGKNN has the best mean of all methods of the paper in one setting."""
    cells = setting.cells(results)
    others = [m for m in cells if m != OURS]
    if OURS not in cells or not others:
        return NOT_MEASURED
    rival, digits = others[0], setting.digits
    place, shared = standing(cells, OURS, setting.sign)
    text = (
        f"{LABELS[OURS]} {cells[OURS].show(digits)} (place {place} of "
        f"{len(cells)}{', shared' if shared else ''}), "
        f"{'next' if place == 1 else 'best'} {LABELS[rival]} "
        f"{cells[rival].show(digits)}{setting.paired(results, rival)}{absent(cells)}"
    )
    return _outcome(place == 1 and not shared), text


def at_most(setting: Setting, printed: float, results: Results) -> Judgement:
    """The mean of CGKNN is at or below a printed figure."""
    cell = setting.cell(results, OURS)
    if cell is None:
        return NOT_MEASURED
    return _outcome(cell.mean <= printed), f"{LABELS[OURS]} {cell.show()}, printed {printed:.4f}"


def beats(setting: Setting, other: str, results: Results) -> Judgement:
    """CGKNN has a better mean than one other row, such as *no imputation*."""
    mine, rival = setting.cell(results, OURS), setting.cell(results, other)
    if mine is None or rival is None:
        return NOT_MEASURED
    text = (
        f"{LABELS[OURS]} {mine.show(setting.digits)}, "
        f"{LABELS[other]} {rival.show(setting.digits)}{setting.paired(results, other)}"
    )
    return _outcome(setting.sign * (rival.mean - mine.mean) > TIE), text


def often(
    method: str,
    place: int,
    settings: tuple[Setting, ...],
    printed: int,
    share: float,
    results: Results,
) -> Judgement:
    """A method takes a place in at least a share of several settings.

    ``place`` is 0 for the best, −1 for the worst; ``printed`` is the count in the paper's tables.
    """
    ranked = [setting.cells(results) for setting in settings]
    ranked = [cells for cells in ranked if method in cells and len(cells) > 1]
    if not ranked:
        return NOT_MEASURED
    count = sum(list(cells)[place] == method for cells in ranked)
    needed = ceil(share * len(ranked))
    text = (
        f"{count} of {len(ranked)} settings in this run ({needed} needed), {printed} of "
        f"{len(settings)} in the printed tables{absent(ranked[0])}"
    )
    return _outcome(count >= needed), text


def growing_advantage(low: Setting, high: Setting, results: Results) -> Judgement:
    """The mean of all other methods lies further from CGKNN's at the second setting."""
    gaps, shown = [], []
    for setting in (low, high):
        cells = setting.cells(results)
        others = [cell.mean for method, cell in cells.items() if method != OURS]
        if OURS not in cells or not others:
            return NOT_MEASURED
        gaps.append(sum(others) / len(others) - cells[OURS].mean)
        shown.append(f"{signed(gaps[-1], 4)} at {percent(setting.rate)}")
    text = f"mean of the others less {LABELS[OURS]}: {', '.join(shown)}"
    return _outcome(gaps[1] > gaps[0]), text + absent(low.cells(results))


def toy_bits(results: Results, slack: float = 0.05) -> Judgement:
    """The information of each printed column of the cubes is as printed, within ``slack`` bits."""
    bits, weights = results.toy_information("bits"), results.toy_information("weight")
    if not bits:
        return NOT_MEASURED
    text = ", ".join(
        f"{name} {bits[name].mean:.2f} bits (weight {weights[name].mean:.2f}, printed "
        f"{printed:.2f})"
        for name, printed in TOY_INFORMATION.items()
    )
    near = (abs(bits[name].mean - printed) <= slack for name, printed in TOY_INFORMATION.items())
    return _outcome(all(near)), text


def toy_order(results: Results, ceiling: float = 0.05) -> Judgement:
    """The printed columns of the cubes rank as printed, and noise lies below ``ceiling`` bits."""
    cells = results.toy_information("bits")
    if not cells:
        return NOT_MEASURED
    ranked = sorted(cells, key=lambda name: -cells[name].mean)[: len(TOY_INFORMATION)]
    noise = max(cell.mean for name, cell in cells.items() if name not in TOY_INFORMATION)
    text = f"order {' > '.join(ranked)}; the largest mean of a noise column is {noise:.4f} bits"
    return _outcome(ranked == list(TOY_INFORMATION) and noise < ceiling), text


def final_best(rate: float, protocol: str, results: Results) -> Judgement:
    """CGKNN has the highest accuracy on Iris after the last pass."""
    finals = {
        m: results.curve(rate, m, protocol).filter(pl.col("passes") == pl.col("passes").max())
        for m in (OURS, *RIVALS)
    }
    cells = {m: Cell.of(rows["accuracy"]) for m, rows in finals.items()}
    known = {m: cell for m, cell in cells.items() if cell is not None}
    if len(known) < len(finals):
        return NOT_MEASURED
    rival = max(RIVALS, key=lambda m: known[m].mean)
    both = finals[OURS].join(finals[rival], on="seed", suffix="_rival")
    gap = Cell.of(both["accuracy"] - both["accuracy_rival"])
    text = ", ".join(f"{LABELS[m]} {cell.show(2)}" for m, cell in known.items())
    holds = known[OURS].mean - known[rival].mean > TIE
    return _outcome(holds), f"{text}; against {LABELS[rival]}{paired(gap, 2)}"


def settles_fast(results: Results, at_most: int = 3, within: float = 0.5) -> Judgement:
    """CGKNN's mean accuracy stays near its last value from an early pass on, at every rate."""
    rates = sorted(results.passes.filter(protocol="paper")["rate"].unique())
    shown, early = [], []
    for rate in rates:
        curves = {m: results.mean_curve(rate, m, "paper") for m in (OURS, *RIVALS)}
        if any(curve.is_empty() for curve in curves.values()):
            return NOT_MEASURED
        since = {m: settled(curve, within) for m, curve in curves.items()}
        early.append(since[OURS] <= at_most)
        names = ", ".join(f"{LABELS[m]} from pass {passes} on" for m, passes in since.items())
        shown.append(f"at {percent(rate)}: {names}")
    return (_outcome(all(early)), "; ".join(shown)) if rates else NOT_MEASURED


def settled(means: pl.DataFrame, within: float) -> int:
    """First pass from which the mean accuracy stays near its last value."""
    far = np.flatnonzero((means["accuracy"] - means["accuracy"][-1]).abs() > within)
    return int(means["passes"][int(far[-1]) + 1 if len(far) else 0])


def starts_faster(results: Results) -> Judgement:
    """CGKNN needs less time for its column weights than FWGKNN, in every setting."""
    ratios = start_ratios(results)
    if not ratios:
        return NOT_MEASURED
    text = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    holds = all(ratio > 1 for ratio in ratios.values())
    return _outcome(holds), f"time of FWGKNN ÷ time of CGKNN: {text}"


def start_ratios(results: Results) -> dict[str, float]:
    """Median seconds for the weights of FWGKNN over those of CGKNN, by setting."""
    times = results.median_times()
    return {name: found["fwgknn"][1] / found["cgknn"][1] for name, found in times.items()}


def standing(cells: dict[str, Cell], method: str, sign: int = 1) -> tuple[int, bool]:
    """Place of a method among all, 1 for the best, and whether another one shares it.

    >>> cells = {"a": Cell(0.1, 0, 1), "b": Cell(0.2, 0, 1), "c": Cell(0.2, 0, 1)}
    >>> standing(cells, "a"), standing(cells, "c"), standing(cells, "c", sign=-1)
    ((1, False), (2, True), (1, True))
    """
    gaps = [sign * (cells[m].mean - cells[method].mean) for m in cells if m != method]
    return 1 + sum(gap < -TIE for gap in gaps), any(abs(gap) <= TIE for gap in gaps)


def paired(gap: Cell | None, digits: int) -> str:
    """Text of a paired difference with its standard error."""
    if gap is None or gap.n < 2:
        return ""
    note = ", within two standard errors" if abs(gap.mean) <= 2 * gap.error else ""
    return f"; difference {signed(gap.mean, digits)} ± {gap.error:.{digits}f} (s.e.){note}"


def absent(cells: dict[str, Cell]) -> str:
    """Text that names the methods of the paper without a figure.

    >>> absent({method: Cell(0.1, 0.0, 1) for method in METHODS if method != "mice"})
    '; without MICE'
    """
    names = [LABELS[m] for m in METHODS if m not in cells]
    return f"; without {', '.join(names)}" if names else ""


def signed(value: float, digits: int = 2) -> str:
    """Write a difference with its sign.

    >>> signed(-0.5), signed(0.25), signed(-1e-9)
    ('−0.50', '+0.25', '+0.00')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def percent(rate: float) -> str:
    """Write a rate as text.

    >>> percent(0.05)
    '5 %'
    """
    return f"{100 * rate:.0f} %"
