"""The plot of a sensitivity analysis: an estimate over the shifts of imputed cells."""

from typing import Any

from matplotlib.axes import Axes

from greyfill.exceptions import InvalidDataError
from greyfill.report.charts import (
    FONT_SIZE,
    IMPUTED,
    OBSERVED,
    QUIET,
    axes_of,
    note,
    quiet_frame,
    without_math,
)
from greyfill.text import shorten

SHIFT_SIZE = (5.4, 3.2)


def sensitivity(source: Any, ax: Axes | None = None) -> Axes:
    """The estimate and its interval over the shifts, and where they tip; the accuracy on the right.

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
    estimates = source.table["estimate"].to_list()
    ax.plot(deltas, estimates, color=OBSERVED, marker="o", markersize=3.5, linewidth=1.6)
    _mark_tipping_point(ax, source, "estimate", source.tipping_point)
    if source.table["low"].null_count() == 0:
        limits = source.table["low"].to_list(), source.table["high"].to_list()
        ax.fill_between(deltas, *limits, color=OBSERVED, alpha=0.18, linewidth=0)
        _mark_tipping_point(ax, source, "interval", source.interval_tipping_point)
    unit = "standard deviations" if source.level is None else f"log odds of {source.level}"
    where = "" if source.within is None else f", class {shorten(source.within, 16)}"
    ax.set_xlabel(f"shift δ of the imputed cells of {shorten(source.column, 24)}{where} ({unit})",
                  fontsize=FONT_SIZE)  # fmt: skip
    ax.set_ylabel(shorten(source.target, 44), fontsize=FONT_SIZE, color=OBSERVED)
    without_math([ax.xaxis.label, ax.yaxis.label])
    ax.margins(y=0.15)
    quiet_frame(ax)
    _draw_accuracy(ax, deltas, source.table["accuracy"].to_list())
    return ax


def _mark_tipping_point(ax: Axes, source: Any, what: str, delta: float | None) -> None:
    """A diamond, and words towards the middle on the side that the line leaves free."""
    if delta is None:
        return
    deltas, estimates = source.table["delta"], source.table["estimate"]
    rising, to_the_left = estimates[0] < estimates[-1], delta > (deltas[0] + deltas[-1]) / 2
    fill, line = ("full", 0) if what == "estimate" else ("none", 13)  # words one below the other
    ax.plot(delta, source.threshold, "D", color=IMPUTED, markersize=7, zorder=4, fillstyle=fill)
    offset = (-8 if to_the_left else 8, 8 + line if rising == to_the_left else -15 - line)
    note(ax, f"{what} tips at δ = {delta:.3g}", (delta, source.threshold), offset, FONT_SIZE,
         ha="right" if to_the_left else "left", color=IMPUTED, zorder=5)  # fmt: skip


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
    quiet_frame(right, "right")
