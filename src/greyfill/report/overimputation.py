"""The overimputation plot: held-out observed values against what would have been filled."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator

from greyfill.checks import check_fitted
from greyfill.exceptions import InvalidDataError
from greyfill.report.charts import (
    FAINTEST,
    FONT_SIZE,
    IMPUTED,
    OBSERVED,
    QUIET,
    Entry,
    axes_of,
    blank,
    drawn_size,
    name_rows,
    named_entry,
    quiet_frame,
    section,
    values_as,
)
from greyfill.report.held_out import overimputed
from greyfill.report.tips import Tip, add_tips
from greyfill.text import plural, shorten, value_in

SIZE = (3.4, 2.7)
LETTERS = 30
"""Names of levels that fit beside each other."""


def overimpute(source: Any, column: str | None = None, ax: Axes | None = None) -> Axes:
    """Held-out observed cells of a column against their fills, as if they had been missing.

    Numbers with their 90 % intervals, of another color where the truth is outside: a good fill
    lies on the diagonal, a fill by the mean on a level line. Of levels it is told how often each
    true one (down) got which fill (across).

    Parameters
    ----------
    source
        A report, its summary, or a fitted `GreyImputer`.
    column
        A name; by default the column with the most filled cells.
    ax
        Where to draw; a new figure by default.

    >>> import numpy as np
    >>> from greyfill import GreyImputer
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> X = np.column_stack([x, 2 * x + 1])
    >>> X[0, 1] = np.nan
    >>> overimpute(GreyImputer().fit(X), "x1").get_ylabel()
    'fill'
    """
    entries = (
        _held_out(source, column) if hasattr(source, "fit") else section(source, "overimputed")
    )
    ax = axes_of(ax, *SIZE)
    if not entries:
        return blank(ax, "no held-out cells to show")
    entry = entries[0] if column is None else named_entry(entries, column)
    _matrix(ax, entry) if entry["levels"] else _points(ax, entry)
    ax.set_xlabel("true value" if entry["truth"] else "fill", fontsize=FONT_SIZE)
    ax.set_ylabel("fill" if entry["truth"] else "true value", fontsize=FONT_SIZE)
    return ax


def _held_out(imputer: Any, column: str | None) -> list[Entry]:
    """The held-out cells of one column, by default of the one that was filled most."""
    check_fitted(imputer)
    if not hasattr(imputer, "_held_out_cells"):
        raise InvalidDataError(
            f"{type(imputer).__name__} holds no cells out; GreyImputer does, and has this plot"
        )
    counts = imputer.imputed_counts_
    return overimputed(imputer, [imputer._find_cell(0, column or max(counts, key=counts.get))[0]])


def _points(ax: Axes, entry: Entry) -> None:
    """Each cell with its interval, and the diagonal of fills that never miss."""
    sides = [entry[name] for name in ("truth", "fill", "low", "high")]
    size = drawn_size([value for side in sides for value in side])
    truth, fill, low, high = (np.array(side) / size for side in sides)
    inside = (low <= truth) & (truth <= high)
    for here, color, mark in ((inside, OBSERVED, "o"), (~inside, IMPUTED, "s")):
        ax.vlines(truth[here], low[here], high[here], color=color, alpha=0.35, linewidth=0.9)
        ax.plot(truth[here], fill[here], mark, color=color, markersize=3, linestyle="none")
    told = [[value_in(value, entry["unit"]) for value in side] for side in sides]
    add_tips(ax, (
        Tip(f"true {told[0][n]}, filled {told[1][n]}, limits {told[2][n]} … {told[3][n]}",
            (truth[n], truth[n]), (fill[n], fill[n]), not inside[n])
        for n in np.argsort(truth, kind="stable").tolist()
    ))  # fmt: skip
    ends = min(truth.min(), low.min()), max(truth.max(), high.max())
    ax.plot(ends, ends, color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(4 if entry["unit"] in ("number", "duration") else 2))
        axis.set_major_formatter(values_as(entry["unit"], size, ends[1] - ends[0]))
    quiet_frame(ax)


def _matrix(ax: Axes, entry: Entry) -> None:
    """Counts of fills for each true level, the stronger the color the larger their share."""
    counts = np.array(entry["counts"])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = np.empty((*counts.shape, 4))
    right = np.eye(len(counts), dtype=bool)
    image[..., :3] = np.where(right[..., np.newaxis], to_rgb(OBSERVED), to_rgb(IMPUTED))
    image[..., 3] = np.where(counts > 0, FAINTEST + 0.6 * shares, 0.0)
    ax.imshow(image, aspect="auto", interpolation="none")
    for (row, place), n in np.ndenumerate(counts):
        if n:
            pair = f"true {entry['levels'][row]}, filled {entry['levels'][place]}"
            box = (place - 0.5, place + 0.5), (row - 0.5, row + 0.5)
            add_tips(ax, [Tip(f"{pair}: {plural(int(n), 'cell')}", *box, is_miss=row != place)])
            ax.text(place, row, str(n), ha="center", va="center", fontsize=FONT_SIZE - 1)
    name_rows(ax, entry["levels"], 14)
    ax.set_ylim(len(counts) - 0.5, -0.5)
    is_crowded = sum(min(len(name), 14) for name in entry["levels"]) > LETTERS
    names = [shorten(name, 10 if is_crowded else 14) for name in entry["levels"]]
    turn = 90 if is_crowded else 0
    ax.set_xticks(range(len(counts)), labels=names, parse_math=False, rotation=turn)
    quiet_frame(ax)
    ax.tick_params(length=0, labelsize=FONT_SIZE - 1)
