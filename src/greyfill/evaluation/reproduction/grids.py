"""Tables of text for the pages: one heading, one row for each method."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from greyfill.evaluation.reproduction.paper import LABELS, METHODS, PrintedTable
from greyfill.evaluation.reproduction.results import Cell, Results
from greyfill.evaluation.reproduction.runs import REFERENCES
from greyfill.evaluation.reproduction.verdicts import TIE, signed


@dataclass(frozen=True)
class Entry:
    """One cell of a table: its text, whether it is the best of its column, good or bad news."""

    text: str
    strong: bool = False
    tone: str = ""


@dataclass(frozen=True)
class Grid:
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
) -> Grid:
    """Build a table; plain text becomes an entry."""
    entries = (
        tuple(cell if isinstance(cell, Entry) else Entry(cell) for cell in row) for row in rows
    )
    return Grid(caption, tuple(columns), tuple(entries), prose)


def error_grid(results: Results, table: PrintedTable, metric: str, caption: str) -> Grid:
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


def accuracy_grid(results: Results, table: PrintedTable, caption: str) -> Grid:
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
