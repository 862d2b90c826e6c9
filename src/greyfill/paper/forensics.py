"""What the printed RMSE and MI can be: how they grow, which convention meets them, what recurs.

An error over hidden cells measures how well a cell is restored. Divided by all cells, the same sum
of squares grows with the number of holes, so the root grows like the root of the rate.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from greyfill.information import normalize, parzen_information
from greyfill.paper.grids import NOT_AVAILABLE, TextGrid, grid
from greyfill.paper.printed import (
    LABELS,
    METHODS,
    TABLES,
    TOY_INFORMATION,
    PrintedTable,
    repeated_figures,
)
from greyfill.paper.results import Cell, Results
from greyfill.paper.runs import CONVENTIONS, SCENARIOS
from greyfill.paper.verdicts import percent, signed
from greyfill.table import Floats

ERROR_TABLES = tuple(table for table in TABLES.values() if table.measure == "rmse")
"""Two of simulations, then those of UCI."""

WINDOWS = (1.06, 0.80, 0.60, 0.50, 0.45, 0.40, 0.35, 0.30, 0.20)
"""Bandwidths of the Parzen window in sd · n^(−1/5); the first is the default."""

WINDOW_SEEDS = 5


def slope(rates: tuple[float, ...], errors: Floats) -> Floats:
    """Exponent b of errors that grow like rate^b, by least squares in logarithms, for each row.

    >>> slope((0.05, 0.10, 0.20), np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.4]])).round(9).tolist()
    [0.0, 1.0]
    """
    steps = np.log(rates) - np.mean(np.log(rates))
    return np.asarray(np.log(errors) @ steps / (steps @ steps))


def printed_exponent(table: PrintedTable, method: str, rates: tuple[float, ...] = ()) -> float:
    """Exponent of a method's printed figures, at all rates of the table or at some.

    >>> round(printed_exponent(TABLES["iris"], "cgknn"), 2)
    0.49
    """
    chosen = rates or table.rates
    return float(slope(chosen, np.array([table.figures[rate][method] for rate in chosen])))


def measured_exponent(
    results: Results, table: PrintedTable, method: str, divisor: str
) -> Cell | None:
    """Exponent of our errors over "hidden" cells or over the whole "table", seed by seed."""
    scale = SCENARIOS[table.scenario].convention.partition("-")[0]
    by_rate = [
        results.by_seed(table.scenario, rate, f"{scale}-{divisor}", [method])
        .rename({method: f"{rate}"})
        for rate in table.rates
    ]  # fmt: skip
    joined = by_rate[0]
    for other in by_rate[1:]:
        joined = joined.join(other, "seed")
    return Cell.of(slope(table.rates, joined.drop("seed").drop_nulls().to_numpy()))


def exponents(results: Results) -> TextGrid:
    """Exponents by table and method: printed, printed from rate to rate, and ours twice."""
    rows = []
    for table in ERROR_TABLES:
        name = table.short
        rows.append([f"{name}, printed", *(f"{printed_exponent(table, m):.2f}" for m in METHODS)])
        for step in pairwise(table.rates) if len(table.rates) > 2 else ():
            steps = [f"{printed_exponent(table, m, step):.2f}".replace("-", "−") for m in METHODS]
            rows.append([f"{name}, printed, {percent(step[0])} → {percent(step[1])}", *steps])
        for divisor, words in (("hidden", "over hidden cells"), ("table", "over all cells")):
            cells = [measured_exponent(results, table, m, divisor) for m in METHODS]
            shown = [cell.show(2) if cell else NOT_AVAILABLE for cell in cells]
            rows.append([f"{name}, ours {words}", *shown])
    caption = "Exponent b of errors that grow like rate to the power b"
    return grid(caption, ["figures", *METHODS.values()], rows)


def log_ratios(results: Results, table: PrintedTable, metric: str) -> Floats:
    """Logarithms of our mean errors over the printed ones, of all methods at all measured rates."""
    found = []
    for rate in results.rates(table):
        cells = {m: results.cell(table.scenario, rate, m, metric) for m in METHODS}
        found += [np.log(c.mean / table.figures[rate][m]) for m, c in cells.items() if c]
    return np.array(found)


def factor(logarithms: Floats) -> float:
    """The factor by which figures are missed: the root mean square logarithm, exponentiated.

    >>> round(factor(np.log([2.0, 0.5, 2.0])), 6)
    2.0
    """
    return float(np.exp(np.sqrt(np.mean(logarithms**2))))


@dataclass(frozen=True, eq=False)
class Misses:
    """Logarithmic ratios of our errors to the printed ones, by table; a note on each table."""

    label: str
    tables: tuple[Floats, ...]
    notes: tuple[str, ...] = ("",) * len(ERROR_TABLES)

    @property
    def uci(self) -> Floats:
        """Those of the UCI tables together."""
        return np.concatenate(self.tables[2:])

    @property
    def largest(self) -> float:
        """The largest factor among the UCI figures."""
        return float(np.exp(np.abs(self.uci).max()))

    def row(self) -> list[str]:
        """Factors of each table, of the UCI figures with the largest of them, and of all."""
        pairs = zip(self.tables, self.notes, strict=True)
        together = factor(self.uci), self.largest, factor(np.concatenate(self.tables))
        shown = [f"{factor(logs):.2f}{note}" for logs, note in pairs]
        return [self.label, *shown, *(f"{value:.2f}" for value in together)]


def misses(results: Results) -> list[Misses]:
    """One of each convention; last, of each table the convention that suits it best."""
    found = [
        Misses(name, tuple(log_ratios(results, table, name) for table in ERROR_TABLES))
        for name in CONVENTIONS
    ]
    best = [min(found, key=lambda m: factor(m.tables[i])) for i in range(len(ERROR_TABLES))]
    tables = tuple(chosen.tables[i] for i, chosen in enumerate(best))
    notes = tuple(f" ({chosen.label})" for chosen in best)
    return [*found, Misses("best for each table, in hindsight", tables, notes)]


def conventions(found: list[Misses]) -> TextGrid:
    """By which factor each convention misses the printed figures."""
    sums = f"{len(found[0].uci)} UCI figures", f"all {sum(map(len, found[0].tables))} figures"
    heads = [*(table.short for table in ERROR_TABLES), sums[0], "largest of these", sums[1]]
    caption = "Factor by which our errors miss the printed ones, under each convention"
    return grid(caption, ["convention", *heads], [one.row() for one in found])


def windows(seeds: range) -> TextGrid:
    """Weights of the relevant columns of the cubes at several widths of the Parzen window."""
    weights = np.array(
        [[_weights(seed, width) for seed in seeds[:WINDOW_SEEDS]] for width in WINDOWS]
    )
    printed = np.array(list(TOY_INFORMATION.values()))
    rows = [["printed", *(f"{value:.2f}" for value in printed), ""]]
    for width, found in zip(WINDOWS, weights[:, :, : len(printed)], strict=True):
        cells = [Cell.of(column) for column in found.T]
        far = float(np.abs(found.mean(axis=0) - printed).max())
        rows.append([f"{width:.2f}", *(cell.show(3) for cell in cells if cell), f"{far:.3f}"])
    caption = "Weights of the columns of the cubes by the width of the Parzen window"
    heads = ["width ÷ (sd · n^−1/5)", *TOY_INFORMATION, "largest difference"]
    return grid(caption, heads, rows)


def _weights(seed: int, width: float) -> Floats:
    table, labels = SCENARIOS["cubes"].draw(seed)
    scale = width * len(labels) ** -0.2
    bits = [parzen_information(x, labels, scale * float(x.std())) for x in table.values.T]
    return normalize(np.array(bits))


def oddities() -> TextGrid:
    """List printed figures that cannot all be right: bold but not best, or printed twice."""
    rows = []
    for table in TABLES.values():
        for rate, bold in table.bold.items():
            best, row = table.best(rate), table.figures[rate]
            if bold != best:
                text = (
                    f"{LABELS[bold]} is bold with {row[bold]:.4f}, but {LABELS[best]} has "
                    f"{row[best]:.4f} ({signed(row[best] - row[bold], 4)})"
                )
                rows.append([f"{table.short}, {percent(rate)}", text])
    for (figure, rate, method), places in repeated_figures().items():
        where = f"{' and '.join(places)}, {percent(rate)}"
        rows.append([where, f"{LABELS[method]} has the same figure in both, {figure:.4f}"])
    caption = "Figures that stand out in the paper's own tables"
    return grid(caption, ["where", "what"], rows, prose=True)
