"""How an estimate and the accuracy move with the imputed cells of a column."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from greyfill.checks import check_fitted
from greyfill.exceptions import InvalidDataError
from greyfill.report import evidence
from greyfill.table import Floats
from greyfill.text import count, number, shorten

# Okabe and Ito's blue and vermilion: told apart by every kind of color vision, on white and black.
OBSERVED = "#0072b2"
IMPUTED = "#d55e00"
QUIET = "#808a95"
SERIES = (OBSERVED, IMPUTED, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a00", QUIET)
FONT_SIZE = 9.0


def section(source: Any, name: str) -> dict[str, Any]:
    """One section of a summary, from a summary, a report, or a fitted imputer."""
    source = getattr(source, "summary", source)
    if isinstance(source, dict):
        found: dict[str, Any] = source[name]
        return found
    if not hasattr(source, "fit"):
        raise InvalidDataError(
            f"{type(source).__name__} is no report: pass imputer.report_, its summary, a fitted "
            "imputer, or make_report(imputer, X, filled, y) to this plot"
        )
    check_fitted(source)
    told: dict[str, Callable[[], dict[str, Any]]] = {
        "k": lambda: evidence.k_curve(source),
        "convergence": lambda: evidence.convergence(source),
        "relevance": lambda: evidence.relevance(source, evidence.column_names(source)),
    }
    if name in told:
        return told[name]()
    if hasattr(source, "report_"):
        return section(source.report_, name)
    raise InvalidDataError(
        "an imputer does not keep its table; pass make_report(imputer, X, filled, y) to this plot"
    )


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or new ones on a figure of this size in inches."""
    if ax is None:
        ax = Figure(figsize=(width, height), layout="constrained").add_subplot()
    return ax


def plain(texts: Iterable[Text]) -> None:
    """Let ``$`` be a dollar in these labels."""
    for text in texts:
        text.set_parse_math(False)


def sober(ax: Axes) -> None:
    """Leave out the frame lines that tell nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(QUIET)
    ax.tick_params(color=QUIET, labelsize=FONT_SIZE)


def blank(ax: Axes, words: str) -> Axes:
    """Axes that only say why there is nothing to see."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, parse_math=False)
    return ax


FAINTEST = 0.16
MOST_LABELS = 60


def missing_map(source: Any, ax: Axes | None = None) -> Axes:
    """A map of the holes: the stronger the color, the more of a bin of rows is missing.

    Parameters
    ----------
    source
        A report, or its summary.
    ax
        Where to draw; a new figure by default.

    >>> from greyfill import KNNIImputer
    >>> imputer = KNNIImputer(n_neighbors=1)
    >>> _ = imputer.fit_transform([[1.0, 2.0], [1.1, None], [5.0, 6.0]])
    >>> ax = missing_map(imputer.report_)
    """
    told = section(source, "map")
    shares, edges, names = np.array(told["shares"]), told["edges"], told["columns"]
    n_columns, n_bins = shares.shape
    ax = axes_of(ax, 4.8, 0.7 + min(0.19 * max(n_columns, 3), 0.19 * MOST_LABELS))
    ax.imshow(_ink(shares), aspect="auto", interpolation="none")
    step = math.ceil(n_columns / MOST_LABELS)
    places = range(0, n_columns, step)
    ax.set_yticks(places, labels=[shorten(names[j], 22) for j in places], parse_math=False)
    ticks = np.unique(np.linspace(0, n_bins, 5).astype(int))
    ax.set_xticks(ticks - 0.5, labels=[count(edges[t]) for t in ticks])
    if n_columns <= MOST_LABELS:
        ax.yaxis.set_minor_locator(FixedLocator((np.arange(n_columns + 1) - 0.5).tolist()))
        ax.grid(which="minor", axis="y", color=QUIET, alpha=0.25, linewidth=0.5)
        ax.tick_params(which="minor", length=0)
    ax.set_xlabel("rows, first to last", fontsize=FONT_SIZE)
    sober(ax)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize=FONT_SIZE - 1)
    return ax


def _ink(shares: Floats) -> Floats:
    """One color, as opaque as the share; even a single hole can be seen."""
    image = np.empty((*shares.shape, 4))
    image[..., :3] = to_rgb(IMPUTED)
    image[..., 3] = np.where(shares > 0, FAINTEST + (1 - FAINTEST) * shares, 0.0)
    return image


MOST_BARS = 30


def relevance(source: Any, ax: Axes | None = None, *, what: str | None = None) -> Axes:
    """Bars of the columns' information about the class, or of their weights in the distance.

    Parameters
    ----------
    source
        A report, its summary, or a fitted imputer.
    ax
        Where to draw; a new figure by default.
    what
        ``"bits"`` (information about the class) or ``"weight"``; by default bits where known.

    >>> from greyfill import KNNIImputer
    >>> imputer = KNNIImputer(n_neighbors=1).fit([[1.0, 2.0], [1.1, None], [5.0, 6.0]])
    >>> relevance(imputer).get_xlabel()
    'weight λ in the distance'
    """
    columns = section(source, "relevance")["columns"]
    if what is None:
        what = "bits" if any(c["bits"] is not None for c in columns) else "weight"
    known = [c for c in columns if c[what] is not None]
    bars = sorted(known, key=lambda c: -float(c[what]))[:MOST_BARS]
    ax = axes_of(ax, 4.2, 0.75 + 0.21 * max(len(bars), 3))
    if not bars:
        return blank(ax, "no weights and no classes to tell of")
    lengths, places = [float(c[what]) for c in bars], range(len(bars))
    ax.barh(places, lengths, color=OBSERVED, height=0.68)
    for place, length in zip(places, lengths, strict=True):
        ax.annotate(
            number(float(f"{length:.2g}")),
            (length, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE - 1,
        )
    ax.set_yticks(places, labels=[shorten(c["name"], 22) for c in bars], parse_math=False)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_xlim(0.0, max(*lengths, 0.0) * 1.12 or 1.0)
    unit = "bits about the class" if what == "bits" else "weight λ in the distance"
    ax.set_xlabel(unit, fontsize=FONT_SIZE)
    sober(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


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


SHIFT_SIZE = (5.4, 3.2)


def sensitivity(source: Any, ax: Axes | None = None) -> Axes:
    """The estimate over the shifts, its threshold and tipping point; the accuracy on the right.

    Parameters
    ----------
    source
        What ``greyfill.sensitivity`` found.
    ax
        Where to draw; a new figure by default.

    Examples
    --------
    >>> import greyfill
    >>> X = [[0.0, 1.0], [0.5, None], [4.0, 5.0], [4.5, 5.5]] * 5
    >>> imputer = greyfill.CGKNNImputer(n_neighbors=2)
    >>> found = greyfill.sensitivity(imputer, X, [0, 0, 1, 1] * 5, 1, [-1, 1], classifier=None)
    >>> axes = sensitivity(found)
    """
    if not hasattr(source, "tipping_point"):
        raise InvalidDataError("this plot draws what greyfill.sensitivity found; pass its result")
    ax = axes_of(ax, *SHIFT_SIZE)
    deltas = source.table["delta"].to_list()
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    ax.axhline(source.threshold, color=QUIET, linewidth=0.8, linestyle="--")
    ax.plot(
        deltas, source.table["estimate"].to_list(), color=OBSERVED, marker="o", markersize=3.5,
        linewidth=1.6,
    )  # fmt: skip
    if source.tipping_point is not None:
        _mark_tipping_point(ax, source)
    unit = "standard deviations" if source.level is None else f"log odds of {source.level}"
    where = "" if source.within is None else f", class {shorten(source.within, 16)}"
    ax.set_xlabel(f"shift δ of the imputed cells of {shorten(source.column, 24)}{where} ({unit})",
                  fontsize=FONT_SIZE)  # fmt: skip
    ax.set_ylabel(shorten(source.target, 44), fontsize=FONT_SIZE, color=OBSERVED)
    plain([ax.xaxis.label, ax.yaxis.label])
    ax.margins(y=0.15)
    sober(ax)
    _draw_accuracy(ax, deltas, source.table["accuracy"].to_list())
    return ax


def _mark_tipping_point(ax: Axes, source: Any) -> None:
    """A diamond, and words towards the middle on the side that the line leaves free."""
    delta, deltas, estimates = source.tipping_point, source.table["delta"], source.table["estimate"]
    rising, to_the_left = estimates[0] < estimates[-1], delta > (deltas[0] + deltas[-1]) / 2
    ax.plot(delta, source.threshold, "D", color=IMPUTED, markersize=7, zorder=4)
    ax.annotate(
        f"tips at δ = {delta:.3g}", (delta, source.threshold),
        xytext=(-8 if to_the_left else 8, 8 if rising == to_the_left else -15),
        ha="right" if to_the_left else "left", textcoords="offset points", fontsize=FONT_SIZE,
        color=IMPUTED, zorder=5,
    )  # fmt: skip


def _draw_accuracy(ax: Axes, deltas: list[float], accuracy: list[float | None]) -> None:
    """The accuracy on an axis of its own, so wide that one row more or less is no cliff."""
    if accuracy[0] is None:
        return
    known = [value for value in accuracy if value is not None]
    right = ax.twinx()
    right.plot(deltas, known, color=IMPUTED, marker="s", markersize=3, linewidth=1.2, alpha=0.75)
    middle = (min(known) + max(known)) / 2.0
    reach = max(max(known) - min(known), 0.1)
    right.set_ylim(middle - reach, middle + reach)
    right.set_ylabel("honest accuracy", fontsize=FONT_SIZE, color=IMPUTED)
    right.spines[["top", "left"]].set_visible(False)
    right.spines[["right", "bottom"]].set_color(QUIET)
    right.tick_params(color=QUIET, labelsize=FONT_SIZE)
