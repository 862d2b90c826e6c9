"""What is told of a place in a plot where a pointer or the keyboard is: its values, in words."""

from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary
from xml.etree.ElementTree import Element, SubElement

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from greyfill.text import shorten

RADIUS, MOST_LETTERS = 4.0, 90
_known: WeakKeyDictionary[Axes, list["Tip"]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Tip:
    """A place in the units of its axes, a point or a box of some width, and what is told there.

    Without ``y`` it is as high as the axes. ``is_miss`` marks a point that an interval misses.
    """

    text: str
    x: tuple[float, float]
    y: tuple[float, float] | None = None
    is_miss: bool = False


def add_tips(ax: Axes, tips: Iterable[Tip]) -> None:
    """Tell these on the page where the axes are drawn; a figure of a user's own has no use for it.

    >>> ax = Figure().add_subplot()
    >>> add_tips(ax, [Tip("here", (0.5, 0.5), (0.5, 0.5))])
    >>> [(e.tag, e[0].text) for e in tip_elements(ax.figure)]
    [('circle', 'here')]
    """
    _known.setdefault(ax, []).extend(tips)


def tip_elements(figure: Figure) -> list[Element]:
    """Shapes without color over a figure that was drawn as svg, each with a title."""
    size, height = 72.0 / figure.dpi, figure.bbox.height
    found = []
    for ax in figure.axes:
        for tip in _known.get(ax, ()):
            low, high = (0.0, 0.0) if tip.y is None else tip.y
            (x0, y0), (x1, y1) = ax.transData.transform([(tip.x[0], low), (tip.x[1], high)])
            if tip.y is None:
                y0, y1 = ax.bbox.y0, ax.bbox.y1
            x0, x1 = sorted((size * x0, size * x1))
            y0, y1 = sorted((size * (height - y0), size * (height - y1)))
            is_point = x0 == x1
            places = {"cx": x0, "cy": y0, "r": RADIUS} if is_point else {
                "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0}  # fmt: skip
            words = {name: f"{place:.1f}" for name, place in places.items()}
            kind = "tip miss" if tip.is_miss else "tip"
            element = Element("circle" if is_point else "rect", {"class": kind, **words})
            SubElement(element, "title").text = shorten(tip.text, MOST_LETTERS)
            found.append(element)
    return found
