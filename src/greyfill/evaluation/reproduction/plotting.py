"""The look of all figures, and how they become SVG and PNG."""

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from greyfill.files import put

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
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, name: str, folder: Path) -> str:
    """Write ``name``.svg and ``name``.png, and return the SVG for a page."""
    folder.mkdir(parents=True, exist_ok=True)
    text = as_svg(figure)
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=130, metadata={"Software": None})
    put(folder / f"{name}.svg", [text.encode()], force=True)
    put(folder / f"{name}.png", [pixels.getvalue()], force=True)
    return text


def as_svg(figure: Figure) -> str:
    """Turn a figure into an SVG element without date, prolog or fixed size.

    >>> with style("empty"):
    ...     as_svg(blank(2, 1))[:4]
    '<svg'
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].strip()
