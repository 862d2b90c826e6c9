"""Tables of text for the pages: one heading, one row for each method."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from itertools import groupby

import numpy as np

from greyfill import datasets, frames, targets
from greyfill.paper.printed import (
    LABELS,
    METHODS,
    TABLE_5,
    TOY_INFORMATION,
    Characteristics,
    PrintedTable,
)
from greyfill.paper.results import Cell, Results
from greyfill.paper.runs import (
    CURVES,
    DROPPED_VOTE,
    FILLED_BY_SOURCE,
    NEIGHBORS,
    PANEL,
    REFERENCES,
    SCENARIOS,
    Reading,
    paper_settings,
)
from greyfill.paper.verdicts import (
    TIE,
    WORDS,
    Claim,
    change,
    figure_word,
    percent,
    signed,
    start_ratios,
)

NOT_AVAILABLE = "not available"
HOLES = {"mask": "by mask", "filled": "as filled", "sources": "as each method's source has them"}
TONES = {"reproduced": "good", "better": "good", "worse": "bad"}


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
    heads: Iterable[str | tuple[str, str]],
    rows: Iterable[Iterable[Entry | str]],
    *,
    prose: bool = False,
) -> TextGrid:
    """Build a table; plain text becomes an entry, or a heading without a group."""
    columns = tuple(("", head) if isinstance(head, str) else head for head in heads)
    entries = (
        tuple(Entry(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
    )
    return TextGrid(caption, columns, tuple(entries), prose)


def error_grid(results: Results, table: PrintedTable, metric: str, caption: str) -> TextGrid:
    """RMSE of every method beside its printed figure; some rivals in a second reading of holes."""
    methods, rates = [*METHODS, *REFERENCES, *results.others], results.rates(table)
    rows: list[list[Entry | str]] = [[LABELS.get(m, m)] for m in methods]
    rivals = {
        m: "mask" if results.reading.is_filled(m) else "filled"
        for m in FILLED_BY_SOURCE
        if not results.runs.filter(method=m).is_empty()
    }
    rows += [[f"{LABELS[m]}, holes {HOLES[holes]}"] for m, holes in rivals.items()]
    for rate in rates:
        cells = _cells(results, table, rate, metric, methods)
        shown = [(m, _ours(cells, m), cells[m]) for m in methods]
        for m, holes in rivals.items():
            other = replace(results, reading=replace(results.reading, holes=holes))
            cell = other.cell(table.scenario, rate, m, metric)
            shown.append((m, Entry(cell.show() if cell else NOT_AVAILABLE), cell))
        for row, (m, ours, cell) in zip(rows, shown, strict=True):
            verdict = _cell_verdict(cell, table.figures[rate].get(m))
            row += [ours, _printed(table, rate, m), verdict]
    heads = [(percent(rate), name) for rate in rates for name in ("ours", "paper", "verdict")]
    return grid(caption, ["method", *heads], rows)


def rulings(results: Results, table: PrintedTable, rate: float, metric: str) -> TextGrid:
    """RMSE of the neighbor methods under each reading of two gaps in the paper, and as printed."""
    rows: list[list[Entry | str]] = []
    for reading in dict.fromkeys((*PANEL, Reading(holes="sources"), results.reading)):
        read = replace(results, reading=reading)
        cells = _cells(read, table, rate, metric, NEIGHBORS)
        ties = read.by_seed(table.scenario, rate, "tied_k", ["cgknn"])["cgknn"].drop_nulls()
        place = _place({m: cell.mean for m, cell in cells.items() if cell})
        shown = [_ours(cells, m) for m in NEIGHBORS]
        rows.append(
            [describe(reading), *shown, place, f"{np.median(ties):.0f}" if len(ties) else ""]
        )
    figures = {m: table.figures[rate][m] for m in NEIGHBORS}
    printed = [_printed(table, rate, m) for m in NEIGHBORS]
    rows.append(["printed", *printed, _place(figures), ""])
    heads = [
        "reading",
        *(LABELS[m] for m in NEIGHBORS),
        "place of CGKNN",
        "tied k of CGKNN, median",
    ]
    return grid(f"{table.short} at {percent(rate)} under each ruling", heads, rows)


def _place(means: dict[str, float]) -> str:
    if "cgknn" not in means:
        return ""
    return f"{1 + sum(mean < means['cgknn'] - TIE for mean in means.values())} of {len(means)}"


def describe(reading: Reading) -> str:
    """A reading in words.

    >>> describe(Reading("smallest", "sources"))
    "holes as each method's source has them, smallest of tied k"
    """
    return f"holes {HOLES[reading.holes]}, {reading.ties} of tied k"


def words_by_reading(results: Results, claims: Iterable[Claim]) -> TextGrid:
    """How many of some claims get each word under each reading."""
    judged, rows = list(claims), []
    for reading in dict.fromkeys((*PANEL, Reading(holes="sources"), results.reading)):
        read = replace(results, reading=reading)
        found = [claim.decide(read).outcome for claim in judged]
        rows.append([describe(reading), *(str(found.count(word)) for word in WORDS)])
    caption = "The paper's claims on RMSE, table by table, under each ruling"
    return grid(caption, ["reading", *WORDS], rows)


def accuracy_grid(results: Results, table: PrintedTable, caption: str) -> TextGrid:
    """Accuracy of every method under both protocols beside its printed figure, and the leak."""
    methods = [*table.figures[table.rates[0]], *REFERENCES, *results.others, "complete"]
    rates, names = results.rates(table), ("paper", "ours, paper's protocol", "ours, honest", "leak")
    rows: dict[str, list[Entry | str]] = {m: [LABELS.get(m, m)] for m in methods}
    for rate in rates:
        paper = _cells(results, table, rate, "accuracy_paper", methods)
        honest = _cells(results, table, rate, "accuracy_honest", methods)
        for m in methods:
            first, second = paper[m], honest[m]
            leak = signed(first.mean - second.mean) if first and second else ""
            inside = Entry("") if m == "complete" else _ours(honest, m, sign=-1)
            rows[m] += [_printed(table, rate, m), _ours(paper, m, sign=-1), inside, leak]
    heads = [(percent(rate), name) for rate in rates for name in names]
    return grid(caption, ["method", *heads], rows.values())


def _cells(
    results: Results, table: PrintedTable, rate: float, metric: str, methods: Iterable[str]
) -> dict[str, Cell | None]:
    return {m: results.cell(table.scenario, rate, m, metric) for m in methods}


def _ours(cells: dict[str, Cell | None], method: str, sign: int = 1) -> Entry:
    """Mean ± sd, bold for the best of the paper's methods: lowest error, or highest accuracy."""
    cell = cells[method]
    if cell is None:
        return Entry(NOT_AVAILABLE)
    ranked = [sign * found.mean for m, found in cells.items() if found and m in METHODS]
    best = method in METHODS and sign * cell.mean - min(ranked) <= TIE
    return Entry(cell.show(4 if sign > 0 else 2), strong=best)


def _printed(table: PrintedTable, rate: float, method: str) -> Entry:
    printed = table.figures[rate].get(method)
    digits = 4 if table.measure == "rmse" else 2
    text = "" if printed is None else f"{printed:.{digits}f}"
    return Entry(text, strong=method == table.bold[rate])


def _cell_verdict(cell: Cell | None, printed: float | None) -> Entry:
    """One word on a mean beside the printed figure, and by how much it differs."""
    if cell is None or printed is None:
        return Entry("")
    word = figure_word(cell, printed, 4)
    return Entry(f"{word} ({change(cell.mean, printed)})", tone=TONES.get(word, ""))


def above_complete(results: Results, table: PrintedTable) -> list[str]:
    """Name, for each rate, the methods that end up more accurate than the data without holes."""
    sentences = []
    for rate in results.rates(table):
        complete = results.cell(table.scenario, rate, "complete", "accuracy_paper")
        if complete is None:
            continue
        above = []
        for metric in ("accuracy_paper", "accuracy_honest"):
            cells = _cells(results, table, rate, metric, (*METHODS, *REFERENCES))
            names = [LABELS[m] for m, cell in cells.items() if cell and cell.mean > complete.mean]
            above.append(", ".join(names) or "none")
        sentences.append(
            f"At {percent(rate)}, more accurate than the data before holes were made "
            f"({complete.mean:.2f} %): under the paper's protocol {above[0]}; under the "
            f"honest one {above[1]}."
        )
    return sentences


def characteristics() -> TextGrid:
    """Build Table 5: a printed row, then a row for each way to count the table."""
    rows: list[list[Entry | str]] = []
    for name, printed in TABLE_5.items():
        title = SCENARIOS[name].title
        sizes = [str(size) for size in astuple(printed)[:-1]]
        rows.append([f"{title}, paper", *sizes, "", "", "", f"{printed.missing:.2f}", ""])
        for dropped in ((), (DROPPED_VOTE,)) if name == "voting" else ((),):
            found, cells, with_class = count("votes" if name == "voting" else name, dropped)
            sizes = [str(size) for size in astuple(found)[:-1]]
            shares = [str(cells), f"{found.missing:.2f}", f"{with_class:.2f}", ""]
            verdict = _agreement(found, with_class, printed)
            entry = Entry(verdict, tone="bad" if verdict == "differs" else "good")
            label = f"{title}, counted{', one vote less' if dropped else ''}"
            rows.append([label, *sizes, *shares, entry])
    names = ("cells", "% of feature cells", "% with the class column", "% printed")
    missing = [("missing", name) for name in names]
    return grid(
        "Table 5: characteristics of the UCI tables",
        ["table", "instances", "features", "classes", "type", *missing, "verdict"],
        rows,
    )


def count(name: str, drop: tuple[str, ...] = ()) -> tuple[Characteristics, int, float]:
    """Count a bundled table without some columns: its row of Table 5, and its missing cells.

    The last figure is their percentage of all cells including the class column.

    >>> count("hepatitis")
    (Characteristics(instances=155, features=19, classes=2, feature_type='Mixed (both)',
                     missing=5.67...), 167, 5.38...)
    """
    data = datasets.load(name)
    table = frames.encode(data.X.drop(*drop))[0]
    kinds = {"Categorical" if flag else "Continuous" for flag in table.is_categorical}
    kind = kinds.pop() if len(kinds) == 1 else "Mixed (both)"
    holes, n, p = int(table.missing.sum()), table.n_rows, table.n_columns
    n_classes = len(targets.encode_labels(data.y)[1])
    found = Characteristics(n, p, n_classes, kind, 100 * holes / (n * p))
    return found, holes, 100 * holes / (n * (p + 1))


def _agreement(found: Characteristics, with_class: float, printed: Characteristics) -> str:
    """In which way of counting a table agrees with its printed row."""
    same = replace(found, missing=printed.missing) == printed
    if same and round(found.missing, 2) == printed.missing:
        return "agrees"
    if same and round(with_class, 2) == printed.missing:
        return "agrees if the class column counts"
    return "differs"


def toy_information(results: Results) -> TextGrid:
    """Show the printed information of the cubes beside ours."""
    bits, weights = results.toy_information("bits"), results.toy_information("weight")
    noise = [name for name in bits if name not in TOY_INFORMATION]
    top = max(noise, key=lambda name: bits[name].mean)
    shown = {name: (name, f"{printed:.2f}") for name, printed in TOY_INFORMATION.items()}
    shown[top] = f"largest of {len(noise)} noise columns ({top})", "almost 0"
    rows = [
        [label, bits[name].show(3), weights[name].show(3), printed]
        for name, (label, printed) in shown.items()
    ]
    caption = "Information of the columns of the cubes, before holes are made"
    return grid(caption, ["column", ("ours", "bits"), ("ours", "weight"), "paper"], rows)


def implied_shares(results: Results, table: PrintedTable) -> TextGrid:
    """Turn printed RMSE into the share of wrong categories that each reading implies.

    Over hidden cells RMSE² is that share; over all cells RMSE² = rate · share.
    """
    rows = []
    for rate in results.rates(table):
        printed = table.figures[rate]["cgknn"]
        ours = Cell.of(
            results.by_seed(table.scenario, rate, "range-hidden", ["cgknn"])["cgknn"] ** 2
        )
        implied = [f"{100 * share:.1f} %" for share in (printed**2, printed**2 / rate)]
        wrong = f"{100 * ours.mean:.1f} %" if ours else NOT_AVAILABLE
        rows.append([percent(rate), f"{printed:.4f}", *implied, wrong])
    readings = [("wrong cells that it implies", f"if over {w} cells") for w in ("hidden", "all")]
    return grid(
        "What the printed figures of Voting would mean",
        ["rate", "printed RMSE of CGKNN", *readings, "wrong cells, ours"],
        rows,
    )


def final_accuracies(results: Results) -> TextGrid:
    """Figure 7 in numbers: start fill, one pass, and the last pass."""
    last = int(results.passes["passes"].max())  # type: ignore[arg-type]
    kinds = (("paper", 0), ("paper", 1), ("paper", last), ("honest", 1), ("honest", last))
    rows = []
    for rate in sorted(results.passes["rate"].unique()):
        for m in CURVES:
            cells = [
                Cell.of(results.curve(rate, m, protocol).filter(passes=passes)["accuracy"])
                for protocol, passes in kinds
            ]
            texts = [cell.show(2) if cell else NOT_AVAILABLE for cell in cells]
            rows.append([f"{percent(rate)}, {LABELS[m]}", *texts])
    heads = [(f"{p} protocol", f"pass {passes}" if passes else "start fill") for p, passes in kinds]
    return grid("Accuracy (%) on Iris after some passes", ["rate, method", *heads], rows)


def start_seconds(results: Results) -> TextGrid:
    """Milliseconds for the weights of both methods, and their ratio."""
    ratios, rows, slow = start_ratios(results), [], results.times("fwgknn")
    for name, (holed, quick) in results.times("cgknn").items():
        ratio = ratios.get(name)  # none where a clock of coarse steps told no time at all
        times = [quick.show(1), slow[name][1].show(1), ratio.show(1) if ratio else NOT_AVAILABLE]
        rows.append([SCENARIOS[name].title, str(holed), *times])
    heads = [("milliseconds", "CGKNN"), ("milliseconds", "FWGKNN")]
    return grid(
        "Time to compute the column weights",
        ["table", "columns with holes", *heads, "FWGKNN ÷ CGKNN"],
        rows,
    )


def settings(reading: Reading, trees: int) -> TextGrid:
    """Show how each method of the paper was set; parameters that are not named do not matter."""
    shown = ("n_neighbors", "distance", "max_iter", "n_imputations", "n_iter", "combine",
             "n_estimators", "labels")  # fmt: skip
    rows = []
    for method, label in METHODS.items():
        parameters = paper_settings(method, reading, trees).get_params(deep=False)
        text = ", ".join(f"{key}={parameters[key]!r}" for key in shown if key in parameters)
        rows.append([label, text])
    return grid("Settings of the methods", ["method", "parameters"], rows, prose=True)
