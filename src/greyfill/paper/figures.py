"""The figures of the reproduction, each made from the results alone."""

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure

from greyfill.files import put
from greyfill.paper.forensics import ERROR_TABLES, measured_exponent, printed_exponent
from greyfill.paper.printed import LABELS, METHODS, TOY_INFORMATION, PrintedTable
from greyfill.paper.results import Cell, Results
from greyfill.paper.runs import CURVES, SCENARIOS
from greyfill.paper.verdicts import percent

OURS, PRINTED, THIRD, INK = "#1f5fa8", "#c9552b", "#6b8f3c", "#222222"

STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
}


def style(name: str) -> AbstractContextManager[None]:
    """Draw and save within the look of the page; ids in the SVG depend on the name alone."""
    return mpl.rc_context({**STYLE, "svg.hashsalt": name})


def blank(width: float, height: float) -> Figure:
    """Make an empty figure of a size in inches, without touching matplotlib's global state."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, name: str, folder: Path) -> str:
    """Write ``name``.svg, and return it, without date, prolog or fixed size."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    text = drawn.getvalue()
    text = text[text.index("<svg") :].strip()
    put(folder / f"{name}.svg", [text.encode()], force=True)
    return text


def cubes(seed: int) -> Figure:
    """Draw the four cubes in their three relevant columns (the paper's Figure 1)."""
    table, labels = SCENARIOS["cubes"].draw(seed)
    figure = blank(5.6, 4.6)
    axes: Any = figure.add_subplot(projection="3d")
    for label, color, marker in ((0, OURS, "o"), (1, PRINTED, "^")):
        x, y, z = table.values[labels == label, :3].T
        axes.scatter(x, y, z, s=11, color=color, marker=marker, alpha=0.7, linewidths=0,
                     depthshade=False, label=f"class {label + 1}")  # fmt: skip
    axes.set(xlabel="x1", ylabel="x2", zlabel="x3")
    axes.locator_params(nbins=5)
    axes.view_init(elev=20, azim=-55)
    axes.set_box_aspect(None, zoom=0.85)
    axes.legend(loc="upper left", bbox_to_anchor=(0.1, 0.95), markerscale=2)
    return figure


def information(results: Results, name: str) -> Figure:
    """Draw the information of each column about the class as bars, as in the paper's MI figures."""
    rows = results.information.filter(scenario=name)
    means = rows.group_by("column", maintain_order=True).agg(pl.col("bits").mean())
    columns, bits = means["column"].to_list(), means["bits"].to_numpy()
    figure = blank(6.4, 0.7 + 0.2 * len(columns))
    axes = figure.add_subplot()
    axes.barh(columns, bits, height=0.65, color=OURS, label="ours")
    if name == "cubes":
        axes.plot(list(TOY_INFORMATION.values()), list(TOY_INFORMATION), "D", mfc="white",
                  mec=PRINTED, ls="none", label="paper")  # fmt: skip
        axes.legend(loc="lower right")
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("mutual information with the class, in bits")
    return figure


Mark = tuple[str, str, str, str]  # metric or divisor, color, marker, label


def errors(results: Results, table: PrintedTable, metric: str) -> Figure:
    """Draw mean ± 2 s.e. of each method beside the printed figure, one panel for each rate."""
    marks = [(metric, OURS, "o", "ours, mean ± 2 s.e.")]
    return _by_rate(results, table, [*METHODS, "class_mean"], marks, "RMSE")


def accuracies(results: Results, table: PrintedTable) -> Figure:
    """Draw accuracies under both protocols beside the printed figure, one panel for each rate."""
    methods = [*table.figures[table.rates[0]], "class_mean", "complete"]
    marks = [
        ("accuracy_paper", OURS, "o", "ours, paper's protocol"),
        ("accuracy_honest", THIRD, "s", "ours, honest protocol"),
    ]
    return _by_rate(results, table, methods, marks, "accuracy, %")


def _by_rate(
    results: Results, table: PrintedTable, methods: list[str], marks: list[Mark], label: str
) -> Figure:
    figure, panels = _panels(results.rates(table), 0.27 * len(methods) + 1.1)
    for rate, axes in panels.items():
        for offset, (metric, *look) in enumerate(marks):
            cells = [results.cell(table.scenario, rate, method, metric) for method in methods]
            _dots(axes, cells, look, 0.16 * offset)
        _diamonds(axes, methods, [table.figures[rate].get(method, np.nan) for method in methods])
        axes.set(title=f"{percent(rate)} missing", xlabel=label)
    figure.axes[0].invert_yaxis()
    return _with_legend(figure)


def exponents(results: Results) -> Figure:
    """Draw how errors grow with the rate: exponents by table and method, printed and ours."""
    figure = blank(6.6, 7.4)
    panels = figure.subplots(3, 2, sharex=True, sharey=True).ravel()
    marks = [
        ("hidden", OURS, "o", "ours, over hidden cells"),
        ("table", THIRD, "s", "ours, divided by all cells"),
    ]
    for axes, table in zip(panels, ERROR_TABLES, strict=False):
        for x in (0.0, 0.5):
            axes.axvline(x, color="#999999", lw=1, ls="--")
        for divisor, *look in marks:
            _dots(axes, [measured_exponent(results, table, m, divisor) for m in METHODS], look)
        _diamonds(axes, list(METHODS), [printed_exponent(table, m) for m in METHODS])
        axes.set(title=table.short, xlabel="exponent b of rate to the power b")
        axes.xaxis.set_tick_params(labelbottom=True)
    panels[0].invert_yaxis()
    panels[-1].set_visible(False)
    return _with_legend(figure)


def _dots(axes: Any, cells: list[Cell | None], look: list[str], offset: float = 0.0) -> None:
    """Draw a mean ± 2 s.e. for each method that has one."""
    color, marker, label = look
    shown = [(place, cell) for place, cell in enumerate(cells) if cell is not None]
    axes.errorbar(
        [cell.mean for _, cell in shown],
        [place + offset for place, _ in shown],
        xerr=np.nan_to_num([2 * cell.error for _, cell in shown]),
        fmt=marker, ms=5, color=color, elinewidth=1.1, label=label,
    )  # fmt: skip


def _diamonds(axes: Any, methods: list[str], printed: list[float]) -> None:
    """Draw the printed figures, and name the methods."""
    places = np.arange(len(methods))
    axes.plot(printed, places, "D", mfc="white", mec=PRINTED, ls="none", label="paper, printed")
    axes.set_yticks(places, [LABELS[method] for method in methods])


def passes(results: Results) -> Figure:
    """Draw accuracy on Iris against passes under both protocols (the paper's Figure 7)."""
    figure, panels = _panels(sorted(results.passes["rate"].unique()), 3.2)
    looks = tuple(zip(CURVES, (OURS, PRINTED, THIRD), (-0.07, 0.0, 0.07), strict=True))
    for rate, axes in panels.items():
        for method, color, shift in looks:
            for protocol, line in (("paper", "o-"), ("honest", "s--")):
                means = results.mean_curve(rate, method, protocol)
                label = f"{LABELS[method]}, {protocol} protocol"
                x, y = means["passes"] + shift, means["accuracy"]
                axes.plot(x, y, line, ms=3.5, lw=1.3, color=color, label=label)
        axes.set(title=f"{percent(rate)} missing", xlabel="passes (0: start fill)")
        axes.xaxis.get_major_locator().set_params(integer=True)
    figure.axes[0].set_ylabel("naive Bayes accuracy, %")
    return _with_legend(figure)


def _panels(rates: list[float], height: float) -> tuple[Figure, dict[float, Any]]:
    """Make axes side by side, one for each rate."""
    figure = blank(3.0 * max(len(rates), 2) + 1.2, height)
    panels = figure.subplots(1, max(len(rates), 1), sharey=True, squeeze=False)[0]
    return figure, dict(zip(rates, panels, strict=False))


def _with_legend(figure: Figure) -> Figure:
    """Explain the marks of the first panel above all panels."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3)
    return figure
