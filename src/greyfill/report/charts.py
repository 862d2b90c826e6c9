"""Plots of a report on matplotlib axes, each drawn from one section of its summary."""

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
)

from greyfill.checks import check_fitted
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.report import evidence
from greyfill.report.tips import Tip, add_tips
from greyfill.table import Floats
from greyfill.text import count, number, plural, share, shorten, value_in

# Okabe and Ito's blue and vermilion: told apart by every kind of color vision, on white and black.
OBSERVED = "#0072b2"
IMPUTED = "#d55e00"
QUIET = "#808a95"
SERIES = (OBSERVED, IMPUTED, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a00", QUIET)
FONT_SIZE = 9.0
CURVE_SIZE = (4.0, 2.4)
FAINTEST = 0.16
MOST_LABELS = 60
MOST_BARS = 30
MOST_PANELS = 5
LONG = 4 * 86_400.0
"""Moments over more seconds than these are marked by their dates alone."""
DRAWN = (1e-200, 1e200)
"""Numbers beyond these are drawn as shares of the largest: matplotlib squares and adds them."""
Entry = dict[str, Any]


def section(source: Any, name: str) -> Any:
    """One section of a summary, from a summary, a report, or a fitted imputer."""
    source = getattr(source, "summary", source)
    if isinstance(source, dict):
        return source[name]
    if not hasattr(source, "fit"):
        raise InvalidDataError(
            f"{type(source).__name__} is no report: pass imputer.report_, its summary, a fitted "
            "imputer, or make_report(imputer, X, filled, y) to this plot"
        )
    check_fitted(source)
    if name == "relevance":
        return evidence.relevance(source, evidence.column_names(source))
    if name == "k":
        return evidence.k_curve(source)
    if name == "convergence":
        return evidence.convergence(source)
    if hasattr(source, "report_"):
        return section(source.report_, name)
    raise InvalidDataError(
        "an imputer does not keep its table; pass make_report(imputer, X, filled, y) to this plot"
    )


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or new ones on a figure of this size in inches."""
    return ax or Figure(figsize=(width, height), layout="constrained").add_subplot()


def without_math(texts: Iterable[Text]) -> None:
    """Let ``$`` be a dollar in these labels."""
    for text in texts:
        text.set_parse_math(False)


def quiet_frame(ax: Axes, side: str = "left") -> None:
    """Leave out the frame lines above and opposite of ``side``, and draw the others in grey."""
    ax.spines[["top", "right" if side == "left" else "left"]].set_visible(False)
    ax.spines[[side, "bottom"]].set_color(QUIET)
    ax.tick_params(color=QUIET, labelsize=FONT_SIZE)


def name_rows(ax: Axes, names: list[str], most: int) -> None:
    """Bars from the top down, each with a name of at most so many letters."""
    ax.set_yticks(range(len(names)), labels=[shorten(n, most) for n in names], parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def blank(ax: Axes, words: str) -> Axes:
    """Axes that only say why there is nothing to see."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, parse_math=False)
    return ax


def note(ax: Axes, words: str, point: Any, offset: Any, size: float, **options: Any) -> Text:
    """Words beside a point, at a distance in points."""
    return ax.annotate(
        words, point, xytext=offset, textcoords="offset points", fontsize=size, **options
    )


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
    holes = section(source, "map")
    shares, edges, names = np.array(holes["shares"]), holes["edges"], holes["columns"]
    n_columns, n_bins = shares.shape
    ax = axes_of(ax, 4.8, 0.7 + min(0.19 * max(n_columns, 3), 0.19 * MOST_LABELS))
    image = np.empty((*shares.shape, 4))  # one color, as opaque as the share
    image[..., :3] = to_rgb(IMPUTED)
    image[..., 3] = np.where(shares > 0, FAINTEST + (1 - FAINTEST) * shares, 0.0)
    ax.imshow(image, aspect="auto", interpolation="none")
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
    quiet_frame(ax)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize=FONT_SIZE - 1)
    totals = (shares @ np.diff(edges)).round().astype(int).tolist()
    words = [f"{shorten(n, 40)}: {plural(t, 'hole')}, {share(t / max(edges[-1], 1))}"
             for n, t in zip(names, totals, strict=True)]  # fmt: skip
    add_tips(ax, (Tip(w, (-0.5, n_bins - 0.5), (j - 0.5, j + 0.5)) for j, w in enumerate(words)))
    return ax


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
        words = number(float(f"{length:.2g}"))
        note(ax, words, (length, place), (3, 0), FONT_SIZE - 1, va="center")
        tell = Tip(
            f"{shorten(bars[place]['name'], 40)}: {words}", (0.0, max(length, 1e-9)), _row(place)
        )
        add_tips(ax, [tell])
    name_rows(ax, [c["name"] for c in bars], 22)
    ax.set_xlim(0.0, max(*lengths, 0.0) * 1.12 or 1.0)
    unit = "bits about the class" if what == "bits" else "weight λ in the distance"
    ax.set_xlabel(unit, fontsize=FONT_SIZE)
    quiet_frame(ax)
    ax.spines["left"].set_visible(False)
    return ax


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
    choice = section(source, "k")
    ax = axes_of(ax, *CURVE_SIZE)
    points = [(s["k"], s["error"]) for s in choice["scores"] if s["error"] is not None]
    if not points:
        return blank(ax, "k was given, not chosen" if choice["chosen"] else "a method without a k")
    ax.plot(*zip(*points, strict=True), color=OBSERVED, marker="o", markersize=3, linewidth=1.4)
    for k, error in points:
        add_tips(ax, [Tip(f"k = {k}: error {number(error)}", (k, k), (error, error))])
        if k == choice["chosen"]:
            ax.plot(k, error, "o", color=IMPUTED, markersize=7, zorder=3)
            note(ax, f"k = {k}", (k, error), (0, -14), FONT_SIZE, ha="center")
    ax.margins(y=0.18)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.4g}"))
    ax.set_xlabel("number of donors k", fontsize=FONT_SIZE)
    ax.set_ylabel("error", fontsize=FONT_SIZE)
    quiet_frame(ax)
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
    passes = section(source, "convergence")
    ax = axes_of(ax, *CURVE_SIZE)
    if not passes["series"]:
        return blank(ax, "one pass, nothing to follow")
    is_change = passes["kind"] == "change"
    for series, color in zip(passes["series"], SERIES, strict=False):
        numbers = range(1, len(series["values"]) + 1)
        values = [float("nan") if v is None or (is_change and v <= 0) else v
                  for v in series["values"]]  # fmt: skip
        ax.plot(numbers, values, color=color, marker="o", markersize=3.5, linewidth=1.4,
                label=shorten(series["name"], 14))  # fmt: skip
        known = [(n, v) for n, v in zip(numbers, values, strict=True) if not math.isnan(v)]
        words = shorten(series["name"], 40)
        add_tips(ax, (Tip(f"{words}, pass {n}: {number(v)}", (n, n), (v, v)) for n, v in known))
    if is_change:
        _log_scale(ax, passes)
    else:
        ax.axhline(0.0, color=QUIET, linewidth=0.8)
    if len(passes["series"]) > 1:
        legend = ax.legend(
            frameon=False, fontsize=FONT_SIZE - 1, ncols=3, loc="lower left",
            bbox_to_anchor=(0.0, 1.0), handlelength=1.2, columnspacing=1.0, borderaxespad=0.2,
        )  # fmt: skip
        without_math(legend.get_texts())
    longest = max(len(series["values"]) for series in passes["series"])
    ax.set_xlim(0.5, longest + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("pass", fontsize=FONT_SIZE)
    unit = "change in the pass" if is_change else "mean, in sd from last pass"
    ax.set_ylabel(unit, fontsize=FONT_SIZE)
    quiet_frame(ax)
    return ax


def _log_scale(ax: Axes, passes: Entry) -> None:
    """Decades as plain numbers, and the tolerance; a change of exactly 0 has no place here."""
    positive = [v for s in passes["series"] for v in s["values"] if v is not None and v > 0]
    if not positive:
        ax.set_ylim(-0.05, 1.0)
        for series in passes["series"]:
            ax.plot(range(1, len(series["values"]) + 1), series["values"], "o", color=OBSERVED)
        return
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    low, high, tol = min(positive), max(positive), passes["tol"]
    if tol and tol > 1e-12 and len(positive) > 1:
        ax.axhline(tol, color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)))
        places = ("axes fraction", "data")
        note(ax, "tol", (0.0, tol), (3, 3), FONT_SIZE - 1, xycoords=places)
        low = min(low, tol)
    ax.set_ylim(low / 3, high * 3)


def distributions(
    source: Any, column: str | None = None, ax: Axes | None = None, *, group: str | None = None
) -> Axes:
    """The shares of observed (area or bars) and imputed (line or bars) values of one column.

    Parameters
    ----------
    source
        A report, or its summary.
    column
        A name; by default the column with the most imputed cells.
    ax
        Where to draw; a new figure by default.
    group
        The name of a class; all rows by default.

    >>> from greyfill import KNNIImputer
    >>> imputer = KNNIImputer(n_neighbors=1)
    >>> _ = imputer.fit_transform([[1.0, 2.0], [1.1, None], [5.0, 6.0]])
    >>> ax = distributions(imputer.report_, "x1")
    """
    columns = section(source, "columns")
    entry = named_entry(columns, column) if column else max(columns, key=lambda c: c["filled"])
    part = entry if group is None else named_entry(entry.get("classes", []), group)
    ax = axes_of(ax, 3.6, 1.7 if entry["edges"] else 0.7 + 0.3 * len(entry["bins"]))
    _panel(ax, entry, part)
    title = entry["name"] if group is None else group
    ax.set_title(shorten(title, 24), loc="left", y=1.0, fontsize=FONT_SIZE, parse_math=False)
    ax.set_title(_counts(part), loc="right", y=1.0, fontsize=FONT_SIZE - 2, color=QUIET)
    return ax


def column_figure(entry: Entry) -> Figure:
    """All rows and the largest classes of a column with imputed cells, one panel each."""
    groups = [c for c in entry.get("classes", []) if c["imputed"]["count"]]
    largest = sorted(groups, key=lambda c: -int(c["imputed"]["count"]))[: MOST_PANELS - 1]
    parts = [entry | {"name": "All rows"}, *(c for c in groups if c in largest)]
    figure, axes = _stacked(entry, len(parts))
    for ax, part in zip(axes, parts, strict=True):
        _panel(ax, entry, part)
        name, places = shorten(part["name"], 24), ("figure fraction", "axes fraction")
        without_math([note(ax, name, (0.017, 1.0), (0, 4), FONT_SIZE, xycoords=places)])
        ax.set_title(_counts(part), loc="right", y=1.0, pad=4, fontsize=FONT_SIZE - 2, color=QUIET)
    return figure


def _panel(ax: Axes, entry: Entry, part: Entry) -> None:
    """The cells of a column, or of a class of it."""
    draw = _steps if entry["edges"] else _bars
    draw(ax, entry, _shares(part["observed"]), _shares(part["imputed"]))
    quiet_frame(ax)


def _row(place: int) -> tuple[float, float]:
    return place - 0.5, place + 0.5


def _both(what: str, observed: float, imputed: float) -> str:
    shares = share(float(observed)), share(float(imputed))
    return f"{shorten(what, 24)}: {shares[0]} of the observed, {shares[1]} of the imputed"


def _counts(part: Entry) -> str:
    seen, filled = count(part["observed"]["count"]), count(part["imputed"]["count"])
    return f"{seen} observed, {filled} imputed"


def _stacked(entry: Entry, n_panels: int) -> tuple[Figure, list[Axes]]:
    """Panels of fixed size in inches: a layout engine would take most of the time of a page."""
    bins = entry["bins"]
    panel, gap, foot, width = 0.45 if entry["edges"] else 0.1 + 0.2 * len(bins), 0.3, 0.24, 3.5
    height = n_panels * (panel + gap) + foot
    left = 0.06 if entry["edges"] else 0.12 + 0.07 * max(_letters(shorten(b, 16)) for b in bins)
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=left / width, right=1 - 0.2 / width, bottom=foot / height, top=1 - gap / height,
        hspace=gap / panel,
    )  # fmt: skip
    return figure, list(figure.subplots(n_panels, sharex=True, squeeze=False)[:, 0])


def _letters(label: str) -> int:
    """The width of a label in Latin letters."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in label)


def named_entry(entries: list[Entry], name: str) -> Entry:
    """The column or class of this name."""
    for entry in entries:
        if entry["name"] == name:
            return entry
    known = ", ".join(repr(entry["name"]) for entry in entries[:10])
    raise InvalidParameterError(f"{name!r} is not in the report, which knows {known}")


def _shares(side: Entry) -> Floats:
    return np.asarray(np.array(side["histogram"]) / max(side["count"], 1))


def drawn_size(values: list[float]) -> float:
    """What values are divided by to be drawn."""
    largest = max(map(abs, values))
    return 1.0 if DRAWN[0] < largest < DRAWN[1] or largest == 0 else largest


def _steps(ax: Axes, entry: Entry, observed: Floats, imputed: Floats) -> None:
    size, unit = drawn_size(entry["edges"]), entry["unit"]
    edges = [edge / size for edge in entry["edges"]]
    ax.stairs(observed, edges, fill=True, color=OBSERVED, alpha=0.35)
    if imputed.any():
        ax.stairs(imputed, edges, color=IMPUTED, linewidth=1.6)
    ax.set_ylim(0.0, max(observed.max(), imputed.max(), 1e-9) * 1.08)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ends = [value_in(edge, unit) for edge in entry["edges"]]
    add_tips(ax, (
        Tip(_both(f"{a} … {b}", seen, filled), (left, right))
        for a, b, left, right, seen, filled in zip(
            ends, ends[1:], edges, edges[1:], observed, imputed, strict=False
        )
        if seen or filled
    ))  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(4 if unit in ("number", "duration") else 2))
    ax.xaxis.set_major_formatter(values_as(unit, size, edges[-1] - edges[0]))


def values_as(unit: str, size: float, length: float) -> FuncFormatter:
    """Ticks of an axis of such a length in values of a unit, each so many times what is drawn."""
    if unit == "datetime" and length > LONG:
        unit = "date"

    def tick(value: float, _: int) -> str:
        is_large = unit == "number" and abs(value * size) >= 1e6
        return f"{value * size:.3g}" if is_large else value_in(value * size, unit)

    return FuncFormatter(tick)


def _bars(ax: Axes, entry: Entry, observed: Floats, imputed: Floats) -> None:
    places = np.arange(len(entry["bins"]))
    ax.barh(places - 0.2, observed, height=0.36, color=OBSERVED, alpha=0.6)
    if imputed.any():
        ax.barh(places + 0.2, imputed, height=0.36, color=IMPUTED)
    name_rows(ax, entry["bins"], 16)
    cells = enumerate(zip(entry["bins"], observed, imputed, strict=True))
    add_tips(ax, (Tip(_both(*cell), (0.0, 1.0), _row(place)) for place, cell in cells))
    ax.set_xlim(0.0, 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
