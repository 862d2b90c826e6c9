"""What all plots share: colors, axes without pyplot, and labels that are never mathematics."""

from collections.abc import Callable, Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from greyfill.conventions import check_fitted
from greyfill.exceptions import InvalidDataError
from greyfill.report import facts

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
        "k": lambda: facts.k_curve(source),
        "convergence": lambda: facts.convergence(source),
        "relevance": lambda: facts.relevance(source, facts.column_names(source)),
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
