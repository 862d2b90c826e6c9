"""How much each column tells: bars, as in the figures of the paper."""

from typing import Any

from matplotlib.axes import Axes

from greyfill.report.drawing.canvas import FONT_SIZE, OBSERVED, axes_of, blank, section, sober
from greyfill.report.text import number, shorten

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
