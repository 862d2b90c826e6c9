"""Observed against imputed values of one column, over all rows or within a class."""

import unicodedata
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from greyfill.exceptions import InvalidParameterError
from greyfill.report.charts import FONT_SIZE, IMPUTED, OBSERVED, QUIET, axes_of, section, sober
from greyfill.table import Floats
from greyfill.text import count, shorten, value_in

MOST_PANELS = 5
LONG = 4 * 86_400.0
DRAWN = (1e-200, 1e200)
"""Numbers beyond these are drawn as shares of the largest: matplotlib squares and adds them."""
Entry = dict[str, Any]


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
    columns: Any = section(source, "columns")
    entry = _named(columns, column) if column else max(columns, key=lambda c: c["filled"])
    part = entry if group is None else _named(entry.get("classes", []), group)
    is_number = bool(entry["edges"])
    ax = axes_of(ax, 3.6, 1.7 if is_number else 0.7 + 0.3 * len(entry["bins"]))
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
        left = ax.annotate(
            shorten(part["name"], 24), (0.017, 1.0), xytext=(0, 4), textcoords="offset points",
            xycoords=("figure fraction", "axes fraction"), fontsize=FONT_SIZE,
        )  # fmt: skip
        left.set_parse_math(False)
        ax.set_title(_counts(part), loc="right", y=1.0, pad=4, fontsize=FONT_SIZE - 2, color=QUIET)
    return figure


def _panel(ax: Axes, entry: Entry, part: Entry) -> None:
    """The cells of a column, or of a class of it."""
    draw = _steps if entry["edges"] else _bars
    draw(ax, entry, _shares(part["observed"]), _shares(part["imputed"]))
    sober(ax)


def _counts(part: Entry) -> str:
    seen, filled = count(part["observed"]["count"]), count(part["imputed"]["count"])
    return f"{seen} observed, {filled} imputed"


def _stacked(entry: Entry, n_panels: int) -> tuple[Figure, list[Axes]]:
    """Panels of fixed size in inches: a layout engine would take most of the time of a page."""
    bins = entry["bins"]
    panel, gap, foot, width = 0.45 if entry["edges"] else 0.1 + 0.2 * len(bins), 0.3, 0.24, 3.5
    height = n_panels * (panel + gap) + foot
    left = 0.06 if entry["edges"] else 0.12 + 0.07 * max(_letters(shown_bin(b)) for b in bins)
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=left / width, right=1 - 0.2 / width, bottom=foot / height, top=1 - gap / height,
        hspace=gap / panel,
    )  # fmt: skip
    return figure, list(figure.subplots(n_panels, sharex=True, squeeze=False)[:, 0])


def _letters(label: str) -> int:
    """The width of a label in Latin letters."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in label)


def shown_bin(label: str) -> str:
    """A category as short as a chart needs it."""
    return shorten(label, 16)


def _named(entries: list[Entry], name: str) -> Entry:
    for entry in entries:
        if entry["name"] == name:
            return entry
    known = ", ".join(repr(entry["name"]) for entry in entries[:10])
    raise InvalidParameterError(f"{name!r} is not in the report, which knows {known}")


def _shares(side: Entry) -> Floats:
    return np.asarray(np.array(side["histogram"]) / max(side["count"], 1))


def _steps(ax: Axes, entry: Entry, observed: Floats, imputed: Floats) -> None:
    largest, unit = max(map(abs, entry["edges"])), entry["unit"]
    size = 1.0 if DRAWN[0] < largest < DRAWN[1] else largest
    edges = [edge / size for edge in entry["edges"]]
    ax.stairs(observed, edges, fill=True, color=OBSERVED, alpha=0.35)
    if imputed.any():
        ax.stairs(imputed, edges, color=IMPUTED, linewidth=1.6)
    ax.set_ylim(0.0, max(observed.max(), imputed.max(), 1e-9) * 1.08)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    is_long = unit == "datetime" and edges[-1] - edges[0] > LONG
    ax.xaxis.set_major_locator(MaxNLocator(4 if unit in ("number", "duration") else 2))
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda v, _: _tick(v * size, "date" if is_long else unit))
    )


def _tick(value: float, unit: str) -> str:
    """A number on an axis: short, even where it is large."""
    is_large = unit == "number" and abs(value) >= 1e6
    return f"{value:.3g}" if is_large else value_in(value, unit)


def _bars(ax: Axes, entry: Entry, observed: Floats, imputed: Floats) -> None:
    places = np.arange(len(entry["bins"]))
    ax.barh(places - 0.2, observed, height=0.36, color=OBSERVED, alpha=0.6)
    if imputed.any():
        ax.barh(places + 0.2, imputed, height=0.36, color=IMPUTED)
    ax.set_yticks(places, labels=[shown_bin(b) for b in entry["bins"]], parse_math=False)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    ax.tick_params(axis="y", length=0)
