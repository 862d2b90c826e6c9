"""The error of every k that was tried, and the change in every pass."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from greyfill.report.drawing.canvas import (
    FONT_SIZE,
    IMPUTED,
    OBSERVED,
    QUIET,
    SERIES,
    axes_of,
    blank,
    section,
    sober,
)
from greyfill.report.text import shorten

SIZE = (4.0, 2.4)


def k_curve(source: Any, ax: Axes | None = None) -> Axes:
    """The error of every k that was tried; the k in use is marked.

    Parameters
    ----------
    source
        A report, its summary, or a fitted imputer.
    ax
        Where to draw; a new figure by default.

    >>> from greyfill import IKNNImputer
    >>> from greyfill.datasets import load
    >>> k_curve(IKNNImputer("masked").fit(load("iris").X)).get_xlabel()
    'number of donors k'
    """
    told = section(source, "k")
    ax = axes_of(ax, *SIZE)
    points = [(s["k"], s["error"]) for s in told["scores"] if s["error"] is not None]
    if not points:
        return blank(ax, "k was given, not chosen" if told["chosen"] else "a method without a k")
    ax.plot(*zip(*points, strict=True), color=OBSERVED, marker="o", markersize=3, linewidth=1.4)
    chosen = [(k, error) for k, error in points if k == told["chosen"]]
    for k, error in chosen:
        ax.plot(k, error, "o", color=IMPUTED, markersize=7, zorder=3)
        ax.annotate(
            f"k = {k}",
            (k, error),
            xytext=(0, -14),
            textcoords="offset points",
            ha="center",
            fontsize=FONT_SIZE,
        )
    ax.margins(y=0.18)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.4g}"))
    ax.set_xlabel("number of donors k", fontsize=FONT_SIZE)
    ax.set_ylabel("error", fontsize=FONT_SIZE)
    sober(ax)
    return ax


def convergence(source: Any, ax: Axes | None = None) -> Axes:
    """The change in every pass on a logarithmic scale, or the drift of chained means.

    Parameters
    ----------
    source
        A report, its summary, or a fitted imputer.
    ax
        Where to draw; a new figure by default.

    >>> from greyfill import IKNNImputer
    >>> imputer = IKNNImputer(n_neighbors=2).fit([[1.0, None], [1.1, None], [1.2, 7.0], [5.0, 9.0]])
    >>> convergence(imputer).get_xlabel()
    'pass'
    """
    told = section(source, "convergence")
    ax = axes_of(ax, *SIZE)
    if not told["series"]:
        return blank(ax, "one pass, nothing to follow")
    is_change = told["kind"] == "change"
    for series, color in zip(told["series"], SERIES, strict=False):
        passes = range(1, len(series["values"]) + 1)
        values = [float("nan") if v is None or (is_change and v <= 0) else v
                  for v in series["values"]]  # fmt: skip
        label = shorten(series["name"], 14)
        ax.plot(passes, values, color=color, marker="o", markersize=3.5, linewidth=1.4, label=label)
    if is_change:
        _log_scale(ax, told)
    else:
        ax.axhline(0.0, color=QUIET, linewidth=0.8)
    if len(told["series"]) > 1:
        legend = ax.legend(
            frameon=False, fontsize=FONT_SIZE - 1, ncols=3, loc="lower left",
            bbox_to_anchor=(0.0, 1.0), handlelength=1.2, columnspacing=1.0, borderaxespad=0.2,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)
    longest = max(len(series["values"]) for series in told["series"])
    ax.set_xlim(0.5, longest + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("pass", fontsize=FONT_SIZE)
    ax.set_ylabel(
        "change in the pass" if is_change else "mean, in sd from last pass", fontsize=FONT_SIZE
    )
    sober(ax)
    return ax


def _log_scale(ax: Axes, told: dict[str, Any]) -> None:
    """Decades as plain numbers, and the tolerance; a change of exactly 0 has no place here."""
    positive = [v for s in told["series"] for v in s["values"] if v is not None and v > 0]
    if not positive:
        ax.set_ylim(-0.05, 1.0)
        for series in told["series"]:
            ax.plot(range(1, len(series["values"]) + 1), series["values"], "o", color=OBSERVED)
        return
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    low, high = min(positive), max(positive)
    if told["tol"] and told["tol"] > 1e-12 and len(positive) > 1:
        ax.axhline(told["tol"], color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)))
        ax.annotate(
            "tol", (0.0, told["tol"]), xycoords=("axes fraction", "data"), xytext=(3, 3),
            textcoords="offset points", fontsize=FONT_SIZE - 1,
        )  # fmt: skip
        low = min(low, told["tol"])
    ax.set_ylim(low / 3, high * 3)
