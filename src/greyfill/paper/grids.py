"""Tables of text for the pages: one heading, one row for each method."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from greyfill.paper.printed import (
    LABELS,
    METHODS,
    TABLE_5,
    TOY_INFORMATION,
    Characteristics,
    PrintedTable,
    repeated_figures,
    tables,
)
from greyfill.paper.results import Cell, Results, Size, size
from greyfill.paper.runs import CURVES, REFERENCES, paper_settings
from greyfill.paper.scenarios import DROPPED_VOTE, scenario
from greyfill.paper.verdicts import TIE, signed, start_ratios
from greyfill.paper.verdicts import toy_information as toy_cells


@dataclass(frozen=True)
class Entry:
    """One cell of a table: its text, whether it is the best of its column, good or bad news."""

    text: str
    strong: bool = False
    tone: str = ""


@dataclass(frozen=True)
class TextGrid:
    """A table with two lines of headings: groups of columns, and columns; of prose or numbers."""

    caption: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Entry, ...], ...]
    prose: bool = False

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Neighboring columns with the same group, and their number."""
        return [(name, len(list(found))) for name, found in groupby(g for g, _ in self.columns)]

    @property
    def flat(self) -> list[str]:
        """Headings in one line."""
        return [" ".join(filter(None, heading)) for heading in self.columns]


def grid(
    caption: str,
    columns: Iterable[tuple[str, str]],
    rows: Iterable[Iterable[Entry | str]],
    *,
    prose: bool = False,
) -> TextGrid:
    """Build a table; plain text becomes an entry."""
    entries = (
        tuple(cell if isinstance(cell, Entry) else Entry(cell) for cell in row) for row in rows
    )
    return TextGrid(caption, tuple(columns), tuple(entries), prose)


def error_grid(results: Results, table: PrintedTable, metric: str, caption: str) -> TextGrid:
    """RMSE of every method beside its printed figure."""
    rates = measured(results, table)
    methods = [*METHODS, *REFERENCES]
    blocks = [_error_block(results, table, rate, metric, methods) for rate in rates]
    heads = [(percent(rate), name) for rate in rates for name in ("ours", "paper", "verdict")]
    rows = [[Entry(LABELS[m]), *(e for block in blocks for e in block[m])] for m in methods]
    return grid(caption, [("", "method"), *heads], rows)


def _error_block(
    results: Results, table: PrintedTable, rate: float, metric: str, methods: list[str]
) -> dict[str, list[Entry]]:
    """The three columns of one rate."""
    cells = {m: results.cell(table.scenario, rate, m, metric) for m in methods}
    ranked = [cell.mean for m, cell in cells.items() if cell and m in METHODS]
    block = {}
    for method, cell in cells.items():
        printed = table.figures[rate].get(method)
        best = cell is not None and method in METHODS and cell.mean - min(ranked) <= TIE
        block[method] = [
            Entry(cell.show() if cell else "not available", strong=best),
            Entry("" if printed is None else f"{printed:.4f}", strong=method == table.bold[rate]),
            _cell_verdict(cell, printed),
        ]
    return block


def _cell_verdict(cell: Cell | None, printed: float | None) -> Entry:
    """Tell whether the mean is at or below the printed figure, and by how much it differs."""
    if cell is None or printed is None:
        return Entry("")
    percents = 100 * (cell.mean / printed - 1)
    change = f"{signed(percents, 0 if abs(percents) >= 1 else 1)} %"
    if cell.mean <= printed:
        return Entry(f"at or below ({change})", tone="good")
    return Entry(f"above ({change})", tone="bad")


def accuracy_grid(results: Results, table: PrintedTable, caption: str) -> TextGrid:
    """Accuracy of every method under both protocols beside its printed figure."""
    rates = measured(results, table)
    methods = [*table.figures[table.rates[0]], *REFERENCES, "complete"]
    names = ("paper", "ours, paper's protocol", "ours, honest", "leak")
    blocks = [_accuracy_block(results, table, rate, methods) for rate in rates]
    heads = [(percent(rate), name) for rate in rates for name in names]
    rows = [[Entry(LABELS[m]), *(e for block in blocks for e in block[m])] for m in methods]
    return grid(caption, [("", "method"), *heads], rows)


def _accuracy_block(
    results: Results, table: PrintedTable, rate: float, methods: list[str]
) -> dict[str, list[Entry]]:
    """The four columns of one rate; the leak is the difference of the two protocols."""
    block: dict[str, list[Entry]] = {}
    found = {
        protocol: {
            m: results.cell(table.scenario, rate, m, f"accuracy_{protocol}") for m in methods
        }
        for protocol in ("paper", "honest")
    }
    for method in methods:
        printed = table.figures[rate].get(method)
        paper, honest = found["paper"][method], found["honest"][method]
        block[method] = [
            Entry("" if printed is None else f"{printed:.2f}", strong=method == table.bold[rate]),
            _accuracy(paper, method, _top(found["paper"])),
            _accuracy(honest, method, _top(found["honest"])),
            Entry(signed(paper.mean - honest.mean) if paper and honest else ""),
        ]
    if "complete" in block:
        block["complete"][2] = Entry("")
    return block


def above_complete(results: Results, table: PrintedTable) -> list[str]:
    """Name, for each rate, the methods that end up more accurate than the data without holes."""
    sentences = []
    for rate in measured(results, table):
        complete = results.cell(table.scenario, rate, "complete", "accuracy_paper")
        if complete is None:
            continue
        found = {}
        for protocol in ("paper", "honest"):
            cells = {
                m: results.cell(table.scenario, rate, m, f"accuracy_{protocol}")
                for m in (*METHODS, *REFERENCES)
            }
            above = [LABELS[m] for m, cell in cells.items() if cell and cell.mean > complete.mean]
            found[protocol] = ", ".join(above) or "none"
        sentences.append(
            f"At {percent(rate)}, more accurate than the data before holes were made "
            f"({complete.mean:.2f} %): under the paper's protocol {found['paper']}; under the "
            f"honest one {found['honest']}."
        )
    return sentences


def _top(cells: dict[str, Cell | None]) -> float:
    """Highest mean among the paper's methods."""
    means = (cell.mean for method, cell in cells.items() if cell and method in METHODS)
    return max(means, default=float("nan"))


def _accuracy(cell: Cell | None, method: str, top: float) -> Entry:
    if cell is None:
        return Entry("not available")
    return Entry(cell.show(2), strong=method in METHODS and top - cell.mean <= TIE)


def measured(results: Results, table: PrintedTable) -> list[float]:
    """Rates of a printed table that the run measured."""
    return [rate for rate in table.rates if rate in results.measured(table.scenario)]


def percent(rate: float) -> str:
    """Write a rate as text.

    >>> percent(0.05)
    '5 %'
    """
    return f"{100 * rate:.0f} %"


COUNTED = {
    "iris": (("iris", ()),),
    "voting": (("votes", ()), ("votes", (DROPPED_VOTE,))),
    "hepatitis": (("hepatitis", ()),),
}
HEADS = (
    ("", "table"),
    ("", "instances"),
    ("", "features"),
    ("", "classes"),
    ("", "type"),
    ("missing", "cells"),
    ("missing", "% of feature cells"),
    ("missing", "% with the class column"),
    ("missing", "% printed"),
    ("", "verdict"),
)


def characteristics() -> TextGrid:
    """Build Table 5: a printed row, then a row for each way to count the table."""
    rows: list[list[Entry]] = []
    for name, printed in TABLE_5.items():
        rows.append(_printed_row(scenario(name).title, printed))
        for bundled, dropped in COUNTED[name]:
            found = size(bundled, dropped)
            title = f"{scenario(name).title}, counted{', one vote less' if dropped else ''}"
            rows.append(_counted_row(title, found, printed))
    return grid("Table 5: characteristics of the UCI tables", HEADS, rows)


def agreement(found: Size, printed: Characteristics) -> str:
    """Tell in which way of counting a table meets its printed row.

    >>> agreement(size("hepatitis"), TABLE_5["hepatitis"])
    'agrees if the class column counts'
    >>> agreement(size("votes"), TABLE_5["voting"])
    'differs'
    """
    same = (found.instances, found.features, found.classes, found.feature_type) == (
        printed.instances,
        printed.features,
        printed.classes,
        printed.feature_type,
    )
    if same and round(found.missing, 2) == printed.missing:
        return "agrees"
    if same and round(found.missing_with_class, 2) == printed.missing:
        return "agrees if the class column counts"
    return "differs"


def _printed_row(title: str, printed: Characteristics) -> list[Entry]:
    sizes = (printed.instances, printed.features, printed.classes, printed.feature_type)
    blanks = ("", "", "", f"{printed.missing:.2f}", "")
    return [Entry(str(text)) for text in (f"{title}, paper", *sizes, *blanks)]


def _counted_row(title: str, found: Size, printed: Characteristics) -> list[Entry]:
    verdict = agreement(found, printed)
    cells = (title, found.instances, found.features, found.classes, found.feature_type)
    shares = (found.missing_cells, f"{found.missing:.2f}", f"{found.missing_with_class:.2f}", "")
    tone = "bad" if verdict == "differs" else "good"
    return [*(Entry(str(text)) for text in (*cells, *shares)), Entry(verdict, tone=tone)]


def toy_information(results: Results) -> TextGrid:
    """Show the printed information of the cubes beside ours."""
    bits, weights = toy_cells(results, "bits"), toy_cells(results, "weight")
    rows = [
        [name, bits[name].show(3), weights[name].show(3), f"{printed:.2f}"]
        for name, printed in TOY_INFORMATION.items()
    ]
    noise = [name for name in bits if name not in TOY_INFORMATION]
    top = max(noise, key=lambda name: bits[name].mean)
    rows.append([f"largest of {len(noise)} noise columns ({top})", bits[top].show(3),
                 weights[top].show(3), "almost 0"])  # fmt: skip
    heads = [("", "column"), ("ours", "bits"), ("ours", "weight"), ("", "paper")]
    return grid("Information of the columns of the cubes, before holes are made", heads, rows)


def implied_shares(results: Results, table: PrintedTable) -> TextGrid:
    """Turn printed RMSE into the share of wrong categories that each reading implies.

    Over hidden cells RMSE² is that share; over all cells RMSE² = rate · share.
    """
    rows = []
    for rate in measured(results, table):
        printed = table.figures[rate]["cgknn"]
        ours = results.cell(table.scenario, rate, "cgknn", "wrong_share")
        rows.append(
            [
                percent(rate),
                f"{printed:.4f}",
                f"{100 * printed**2:.1f} %",
                f"{100 * printed**2 / rate:.1f} %",
                f"{100 * ours.mean:.1f} %" if ours else "not available",
            ]
        )
    heads = (
        ("", "rate"),
        ("", "printed RMSE of CGKNN"),
        ("wrong cells that it implies", "if over hidden cells"),
        ("wrong cells that it implies", "if over all cells"),
        ("", "wrong cells, ours"),
    )
    return grid("What the printed figures of Voting would mean", heads, rows)


def final_accuracies(results: Results) -> TextGrid:
    """Figure 7 in numbers: start fill, one pass, and the last pass."""
    rates = sorted(results.passes["rate"].unique())
    last = int(results.passes["passes"].max())  # type: ignore[arg-type]
    kinds = (("paper", 0), ("paper", 1), ("paper", last), ("honest", 1), ("honest", last))
    rows = [
        [
            f"{percent(rate)}, {LABELS[m]}",
            *(_final_accuracy(results, rate, m, *kind) for kind in kinds),
        ]
        for rate in rates
        for m in CURVES
    ]
    names = ("start fill", "pass 1", f"pass {last}", "pass 1", f"pass {last}")
    heads = [(f"{p} protocol", n) for (p, _), n in zip(kinds, names, strict=True)]
    return grid("Accuracy (%) on Iris after some passes", [("", "rate, method"), *heads], rows)


def _final_accuracy(results: Results, rate: float, method: str, protocol: str, passes: int) -> str:
    rows = results.passes.filter(
        pl.col("rate").eq(rate),
        pl.col("method").eq(method),
        pl.col("protocol").eq(protocol),
        pl.col("passes").eq(passes),
    )
    cell = Cell.of(rows["accuracy"])
    return cell.show(2) if cell else "not available"


def start_seconds(results: Results) -> TextGrid:
    """Milliseconds for the weights of both methods, and their ratio."""
    medians = results.timings.group_by("scenario", "method", "targets", maintain_order=True).agg(
        pl.col("seconds").median()
    )
    found = {(s, m): (t, 1000 * seconds) for s, m, t, seconds in medians.iter_rows()}
    rows = [
        [
            scenario(name).title,
            str(found[name, "cgknn"][0]),
            f"{found[name, 'cgknn'][1]:.1f}",
            f"{found[name, 'fwgknn'][1]:.1f}",
            f"{ratio:.1f}",
        ]
        for name, ratio in start_ratios(results).items()
    ]
    heads = [("", "table"), ("", "columns with holes"), ("milliseconds", "CGKNN"),
             ("milliseconds", "FWGKNN"), ("", "FWGKNN ÷ CGKNN")]  # fmt: skip
    return grid("Time to compute the column weights", heads, rows)


def oddities() -> TextGrid:
    """List printed figures that cannot all be right: bold but not best, or printed twice."""
    rows = []
    for table in tables().values():
        for rate, bold in table.bold.items():
            best, row = table.best(rate), table.figures[rate]
            if bold != best:
                rows.append(
                    [
                        f"{table.short}, {percent(rate)}",
                        f"{LABELS[bold]} is bold with {row[bold]:.4f}, but {LABELS[best]} has "
                        f"{row[best]:.4f} ({signed(row[best] - row[bold], 4)})",
                    ]
                )
    for (figure, rate, method), places in repeated_figures().items():
        where = f"{' and '.join(places)}, {percent(rate)}"
        rows.append([where, f"{LABELS[method]} has the same figure in both, {figure:.4f}"])
    heads = (("", "where"), ("", "what"))
    return grid("Figures that stand out in the paper's own tables", heads, rows, prose=True)


def settings() -> TextGrid:
    """Tell how each method of the paper was set; parameters that are not named do not matter."""
    telling = ("n_neighbors", "max_iter", "n_imputations", "n_iter", "combine", "n_estimators",
               "labels")  # fmt: skip
    rows = []
    for method, label in METHODS.items():
        try:
            parameters = paper_settings(method).get_params(deep=False)
        except AttributeError:  # a method that this version lacks
            parameters = {}
        text = ", ".join(f"{key}={parameters[key]!r}" for key in telling if key in parameters)
        rows.append([label, text or "not available"])
    heads = (("", "method"), ("", "parameters"))
    return grid("Settings of the methods", heads, rows, prose=True)
