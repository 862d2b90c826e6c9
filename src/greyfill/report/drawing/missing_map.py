"""Where the holes are: columns down, rows across."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import FixedLocator

from greyfill.report.drawing.canvas import FONT_SIZE, IMPUTED, QUIET, axes_of, section, sober
from greyfill.report.text import count, shorten
from greyfill.table import Floats

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
