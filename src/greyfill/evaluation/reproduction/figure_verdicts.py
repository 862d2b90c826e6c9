"""Kinds of claims about more than one column of a table: information, passes, time, trends."""

from dataclasses import dataclass

import polars as pl

from greyfill.evaluation.reproduction.paper import LABELS, TOY_INFORMATION
from greyfill.evaluation.reproduction.results import Cell, Results
from greyfill.evaluation.reproduction.verdicts import (
    NOT_MEASURED,
    TIE,
    Outcome,
    Setting,
    absent,
    mean_accuracy,
    outcome,
    paired,
    signed,
)

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
