"""A figure as inline svg that takes its colors from the page."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from greyfill.report.drawing.canvas import IMPUTED, OBSERVED, QUIET

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
COLORS = {
    "#000000": "var(--ink)",
    OBSERVED: "var(--observed)",
    IMPUTED: "var(--imputed)",
    QUIET: "var(--quiet)",
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # the reader's own fonts: any script, small files
    "svg.hashsalt": "greyfill",
    "font.size": 9.0,
    "axes.linewidth": 0.7,
}
METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@contextmanager
def page_style() -> Iterator[None]:
    """Draw in the style of the page, whatever style the user has set for his own plots."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        # Letters stay letters in the file: what our fonts lack, the reader's may have.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def to_svg(drawn: Axes | Figure, title: str, prefix: str) -> str:
    """Inline svg of a figure that was drawn in `page_style`.

    ``title`` is read aloud in its place. ``prefix`` keeps its ids apart from those of the other
    figures on the page.
    """
    figure = drawn if isinstance(drawn, Figure) else drawn.figure
    assert isinstance(figure, Figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata=METADATA)
    root = ElementTree.fromstring(buffer.getvalue())
    _tidy(root, prefix)
    root.set("role", "img")
    root.set("aria-label", title)
    return _serialize(root)


def _tidy(root: ElementTree.Element, prefix: str) -> None:
    """Drop metadata, sizes and unused ids; prefix the used ones; name the colors."""
    for parent in root.iter():
        for child in [c for c in parent if c.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style")]:
            parent.remove(child)
    used = set(re.findall(r'[(="]#([\w.-]+)', ElementTree.tostring(root, encoding="unicode")))
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    for element in root.iter():
        _tidy_element(element, used, prefix)


def _tidy_element(element: ElementTree.Element, used: set[str], prefix: str) -> None:
    own = element.attrib.pop("id", None)
    if own in used:
        element.set("id", f"{prefix}-{own}")
    link = element.attrib.pop(f"{{{XLINK}}}href", None) or element.attrib.pop("href", None)
    if link is not None:
        element.set("href", f"#{prefix}-{link[1:]}" if link.startswith("#") else link)
    clip = element.get("clip-path")
    if clip is not None:
        element.set("clip-path", clip.replace("url(#", f"url(#{prefix}-"))
    style = element.get("style")
    if style is not None:
        style = re.sub(r"font: ([\d.]+)px [^;]*", r"font-size: \1px", style)
        style = re.sub(r"url\(#", f"url(#{prefix}-", style)
        element.set("style", re.sub(r"#[0-9a-f]{6}\b", _named_color, style))


def _named_color(match: re.Match[str]) -> str:
    return COLORS.get(match.group(), match.group())


def _serialize(root: ElementTree.Element) -> str:
    """Elements without a namespace prefix, as a html page wants them."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)
