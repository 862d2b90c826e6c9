"""Rules that decide a claim of the paper by measured figures, two-sided, by two standard errors.

A rule takes what the claim is about and the results of a run; it returns one of four words, and the
figures behind it with their standard errors (s.e.).

============  ==================================  =============================================
word          a printed figure                    an order, a difference or a count
============  ==================================  =============================================
reproduced    ours is within two s.e. of it       as claimed, by more than two s.e.
better        beyond, on the good side            –
worse         beyond, on the bad side             the opposite of the claim, by more than two s.e.
undecided     within, but two s.e. are wide       within two s.e.
============  ==================================  =============================================

To two s.e. half a unit of the last printed digit is added; they are wide beyond a tenth of the
printed figure. An order among several holds if it holds against each, and fails if it fails against
one. Without a second seed there is no s.e., and all is undecided.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite
from typing import Literal

import numpy as np
import polars as pl

from greyfill.paper.printed import LABELS, METHODS, TOY_INFORMATION
from greyfill.paper.results import Cell, Results
from greyfill.table import Bools, Floats

TIE = 1e-9  # means this near differ by rounding alone
WIDE = 0.1  # of a printed figure: an interval that tells nothing
N_RESAMPLES = 1000
OURS = "cgknn"
RIVALS = ("fwgknn", "gknn")
SETTLED_PASS, SETTLED_POINTS = 3, 0.5
NOISE_BITS = 0.05
HALF = 2.0  # FWGKNN's time over CGKNN's, for "much less"

Outcome = Literal["reproduced", "better", "worse", "undecided", "not measured"]
Judgement = tuple[Outcome, str]
Rule = Callable[[Results], Judgement]

WORDS: tuple[Outcome, ...] = ("reproduced", "better", "worse", "undecided")
NOT_MEASURED: Judgement = ("not measured", "this run did not measure it")


@dataclass(frozen=True)
class Verdict:
    """A claim, where the paper makes it, one word on it, the figures, and whether we added it."""

    source: str
    claim: str
    outcome: Outcome
    numbers: str
    is_ours: bool = False


@dataclass(frozen=True)
class Claim:
    """A sentence, where it stands, the rule that decides it, and whether we added it."""

    source: str
    text: str
    rule: Rule
    is_ours: bool = False

    def decide(self, results: Results) -> Verdict:
        """Judge by the results of a run."""
        return Verdict(self.source, self.text, *self.rule(results), self.is_ours)


@dataclass(frozen=True)
class Setting:
    """One column of a table of the paper: a setting, a rate, a metric, and which end is good."""

    scenario: str
    rate: float
    metric: str
    lower_is_better: bool = True

    def by_seed(self, results: Results, methods: Iterable[str] = METHODS) -> pl.DataFrame:
        """A row for each seed, a column for each method that has a figure."""
        found = results.by_seed(self.scenario, self.rate, self.metric, methods).drop("seed")
        return found.select(name for name in found.columns if found[name].count())

    @property
    def sign(self) -> int:
        """1 where low figures are good, else −1."""
        return 1 if self.lower_is_better else -1

    @property
    def digits(self) -> int:
        """Decimals to show, and those of the printed figures."""
        return 4 if self.lower_is_better else 2


def word(gap: float, error: float) -> Outcome:
    """Judge a difference that is positive where the claim is right.

    >>> word(0.3, 0.1), word(0.2, 0.1), word(-0.3, 0.1), word(0.3, float("nan"))
    ('reproduced', 'undecided', 'worse', 'undecided')
    """
    if not isfinite(error) or abs(gap) <= max(2 * error, TIE):
        return "undecided"
    return "reproduced" if gap > 0 else "worse"


def figure_word(cell: Cell, printed: float, digits: int, sign: int = 1) -> Outcome:
    """Judge a mean beside a printed figure; with ``sign`` 0 neither side is good.

    >>> figure_word(Cell(0.0585, 0.004, 20), 0.1283, 4), figure_word(Cell(0.103, 0.01, 20), 0.1, 4)
    ('better', 'reproduced')
    >>> figure_word(Cell(0.103, 0.01, 2), 0.1, 4), figure_word(Cell(0.12, 0.01, 20), 0.1, 4)
    ('undecided', 'worse')
    """
    gap, reach = cell.mean - printed, 2 * cell.error + 0.5 * 10.0**-digits
    if not isfinite(reach):
        return "undecided"
    if abs(gap) <= reach + TIE:
        return "reproduced" if 2 * cell.error <= WIDE * printed else "undecided"
    return "better" if sign * gap < 0 else "worse"


def joint_word(words: Iterable[Outcome]) -> Outcome:
    """Judge a claim of several parts, all of which it needs.

    >>> joint_word(["reproduced", "undecided"]), joint_word(["undecided", "worse"])
    ('undecided', 'worse')
    """
    found = set(words)
    return next((w for w in ("worse", "undecided") if w in found), "reproduced")


def best(setting: Setting, results: Results) -> Judgement:
    """CGKNN has the best mean of all methods of the paper in one setting."""
    values = setting.by_seed(results)
    outcome, text = _against_each(values, setting)
    return outcome, text if outcome == "not measured" else text + absent(values.columns)


def beats(setting: Setting, other: str, results: Results) -> Judgement:
    """CGKNN has a better mean than one other row, such as *no imputation*."""
    return _against_each(setting.by_seed(results, [OURS, other]), setting)


def _against_each(values: pl.DataFrame, setting: Setting) -> Judgement:
    """CGKNN is better than every other column, seed by seed; shown is the nearest of them."""
    if OURS not in values.columns:
        return NOT_MEASURED
    gaps = {m: Cell.of(setting.sign * (values[m] - values[OURS])) for m in values.columns}
    known = {m: gap for m, gap in gaps.items() if gap is not None and m != OURS}
    if not known:
        return NOT_MEASURED
    nearest = min(known, key=lambda m: _in_errors(known[m]))
    place = 1 + sum(gap.mean < -TIE for gap in known.values())
    gap, digits = known[nearest], setting.digits
    shown = {m: Cell.of(values[m]) for m in (OURS, nearest)}
    figures = ", ".join(f"{LABELS[m]} {cell.show(digits)}" for m, cell in shown.items() if cell)
    text = (
        f"{figures}; advantage of {LABELS[OURS]} {signed(gap.mean, digits)} ± "
        f"{gap.error:.{digits}f}"
    )
    text += f" (place {place} of {1 + len(known)})" if len(known) > 1 else ""
    return joint_word(word(gap.mean, gap.error) for gap in known.values()), text


def _in_errors(gap: Cell) -> float:
    """A difference in standard errors; whichever sign it has where there is none."""
    return gap.mean / gap.error if gap.error > 0 else gap.mean * np.inf if gap.mean else 0.0


def printed_figure(setting: Setting, printed: float, results: Results) -> Judgement:
    """The mean of CGKNN is a printed figure."""
    cell = results.cell(setting.scenario, setting.rate, OURS, setting.metric)
    if cell is None:
        return NOT_MEASURED
    text = f"{LABELS[OURS]} {cell.show()}, printed {printed:.4f} ({change(cell.mean, printed)})"
    return figure_word(cell, printed, setting.digits, setting.sign), text


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
    The standard error of the count is that of seeds drawn again with replacement; half a setting
    less than needed is the line between enough and too few.
    """
    tables = [setting.by_seed(results).drop_nulls() for setting in settings]
    tables = [t for t in tables if method in t.columns and t.width > 1 and t.height]
    if not tables:
        return NOT_MEASURED
    needed, n = ceil(share * len(tables)), max(t.height for t in tables)
    drawn = np.random.default_rng(0).random((N_RESAMPLES, n))
    drawn = np.vstack([(np.arange(n) + 0.5) / n, drawn])  # the first are the seeds as they are
    counts = np.sum([_takes_place(t, method, place, drawn) for t in tables], axis=0)
    count, error = int(counts[0]), float(counts[1:].std()) if n > 1 else float("nan")
    text = (
        f"{count} ± {error:.1f} of {len(tables)} settings in this run ({needed} needed), {printed} "
        f"of {len(settings)} in the printed tables{absent(tables[0].columns)}"
    )
    return word(count - needed + 0.5, error), text


def _takes_place(values: pl.DataFrame, method: str, place: int, drawn: Floats) -> Bools:
    """Whether a method takes a place by the means over the seeds at each row of quantiles."""
    seeds = (drawn[:, : values.height] * values.height).astype(int)
    means = values.to_numpy()[seeds].mean(axis=1)
    return np.asarray(means.argsort(axis=1)[:, place] == values.columns.index(method))


def growing_advantage(low: Setting, high: Setting, results: Results) -> Judgement:
    """The mean of all other methods lies further from CGKNN's at the second setting."""
    gaps, shown = [], []
    for setting in (low, high):
        values = setting.by_seed(results)
        if OURS not in values.columns or values.width < 2:
            return NOT_MEASURED
        gaps.append(values.drop(OURS).mean_horizontal(ignore_nulls=False) - values[OURS])
        shown.append(f"{signed(float(gaps[-1].to_numpy().mean()), 4)} at {percent(setting.rate)}")
    growth = Cell.of(gaps[1] - gaps[0]) if len(gaps[0]) == len(gaps[1]) else None
    if growth is None:
        return NOT_MEASURED
    text = (
        f"mean of the others less {LABELS[OURS]}: {', '.join(shown)}; growth "
        f"{signed(growth.mean, 4)} ± {growth.error:.4f}{absent(values.columns)}"
    )
    return word(growth.mean, growth.error), text


def toy_bits(results: Results) -> Judgement:
    """The information of each printed column of the cubes is as printed, in bits."""
    bits = results.toy_information("bits")
    if not bits:
        return NOT_MEASURED
    text = ", ".join(
        f"{name} {bits[name].show(3)} bits (printed {printed:.2f})"
        for name, printed in TOY_INFORMATION.items()
    )
    return joint_word(figure_word(bits[n], p, 2, 0) for n, p in TOY_INFORMATION.items()), text


def toy_order(results: Results) -> Judgement:
    """The printed columns of the cubes rank as printed, and noise lies below ``NOISE_BITS``."""
    rows = results.information.filter(scenario="cubes").select("seed", "column", "bits")
    if rows.is_empty():
        return NOT_MEASURED
    bits = rows.pivot("column", index="seed", values="bits").drop("seed")
    names = list(TOY_INFORMATION)
    gaps = {f"{a} less {b}": Cell.of(bits[a] - bits[b]) for a, b in pairwise(names)}
    top = max(bits.drop(names).columns, key=lambda name: float(bits[name].mean()))  # type: ignore[arg-type]
    gaps[f"{NOISE_BITS} less the largest noise column"] = Cell.of(NOISE_BITS - bits[top])
    known = {what: gap for what, gap in gaps.items() if gap is not None}
    text = ", ".join(f"{what} {gap.show(3)} bits" for what, gap in known.items())
    return joint_word(word(gap.mean, gap.error) for gap in known.values()), text


def final_best(rate: float, protocol: str, results: Results) -> Judgement:
    """CGKNN has the highest accuracy on Iris after the last pass."""
    rows = results.passes.filter(rate=rate, protocol=protocol)
    rows = rows.filter(pl.col("passes") == pl.col("passes").max())
    values = rows.pivot("method", index="seed", values="accuracy").drop("seed")
    if not {OURS, *RIVALS} <= set(values.columns):
        return NOT_MEASURED
    return _against_each(values, Setting("iris", rate, "accuracy", lower_is_better=False))


def settles_fast(results: Results) -> Judgement:
    """CGKNN's mean accuracy stays near its last value from an early pass on, at every rate."""
    rows = results.passes.filter(protocol="paper", method=OURS)
    shown, words = [], []
    for rate in sorted(rows["rate"].unique()):
        curves = rows.filter(rate=rate).pivot("passes", index="seed", values="accuracy")
        *early, last = sorted((name for name in curves.columns if name != "seed"), key=int)
        gaps = [Cell.of(curves[p] - curves[last]) for p in early if int(p) >= SETTLED_PASS]
        known = [gap for gap in gaps if gap is not None]
        if not known:
            return NOT_MEASURED
        gap = max(known, key=lambda gap: abs(gap.mean))
        words.append(word(SETTLED_POINTS - abs(gap.mean), gap.error))
        shown.append(f"{signed(gap.mean)} ± {gap.error:.2f} at {percent(rate)}")
    text = f"largest difference from the last pass: {', '.join(shown)}"
    return (joint_word(words), text) if words else NOT_MEASURED


def starts_faster(results: Results) -> Judgement:
    """CGKNN needs at most half of FWGKNN's time for its column weights, in every setting."""
    ratios = start_ratios(results)
    if not ratios:
        return NOT_MEASURED
    text = ", ".join(f"{name} {ratio.show(1)}" for name, ratio in ratios.items())
    words = (word(ratio.mean - HALF, ratio.error) for ratio in ratios.values())
    return joint_word(words), f"time of FWGKNN ÷ time of CGKNN: {text}"


def start_ratios(results: Results) -> dict[str, Cell]:
    """Time for the weights of FWGKNN over that of CGKNN, repeat by repeat, by setting."""
    rows = results.timings.pivot("method", index=["scenario", "repeat"], values="seconds")
    if rows.is_empty():
        return {}
    groups = rows.group_by("scenario", maintain_order=True)
    found = {str(name): Cell.of(own["fwgknn"] / own["cgknn"]) for (name,), own in groups}
    return {name: cell for name, cell in found.items() if cell is not None}


def absent(found: Iterable[str]) -> str:
    """Text that names the methods of the paper without a figure.

    >>> absent(method for method in METHODS if method != "mice")
    '; without MICE'
    """
    there = set(found)
    names = [LABELS[m] for m in METHODS if m not in there]
    return f"; without {', '.join(names)}" if names else ""


def change(ours: float, printed: float) -> str:
    """How far a figure lies from the printed one.

    >>> change(0.15, 0.1), change(0.0999, 0.1), change(0.42, 0.1)
    ('+50 %', '−0.1 %', '×4.2')
    """
    percents = 100 * (ours / printed - 1)
    if percents >= 100:
        return f"×{ours / printed:.1f}"
    return f"{signed(percents, 0 if abs(percents) >= 1 else 1)} %"


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
