"""How an estimate and the accuracy move with the imputed cells of a column."""

from typing import Any

from matplotlib.axes import Axes

from greyfill.exceptions import InvalidDataError
from greyfill.report.drawing.canvas import (
    FONT_SIZE,
    IMPUTED,
    OBSERVED,
    QUIET,
    axes_of,
    plain,
    sober,
)
from greyfill.report.text import shorten

SIZE = (5.4, 3.2)


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
    ax = axes_of(ax, *SIZE)
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
