"""Plots of a summary as inline svg, in the colors and fonts of the page around them."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from greyfill.report import charts
from greyfill.report.charts import IMPUTED, OBSERVED, QUIET
from greyfill.report.overimputation import overimpute
from greyfill.report.summary import Summary
from greyfill.report.tips import tip_elements
from greyfill.text import plural, share

MOST_CHARTS = 24
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
TITLES = {
    "values": "Observed and imputed values of",
    "held out": "Left-out cells against their fills in",
    "map": "Map of the holes: columns down, rows across",
    "bits": "Bars: information of each column about the class",
    "weights": "Bars: weight of each column in the distance",
    "k": "Curve: error of every number of donors that was tried",
    "passes": "Curve: change in every pass",
}


def figures(summary: Summary, filled: list[dict[str, Any]]) -> dict[str, Any]:
    """All plots of a page, None where there is nothing to see; ``filled`` is drawn by column."""
    columns, equal = summary["relevance"]["columns"], summary["relevance"]["equal"]
    has_bits = any(c["bits"] is not None for c in columns)
    has_weights = any(c["weight"] is not None for c in columns) and not equal
    by_column = [c for c in filled if not c["identifier"]][:MOST_CHARTS]
    with page_style():
        plots: dict[str, Any] = {
            "map": charts.missing_map(summary) if summary["table"]["missing"] else None,
            "bits": charts.relevance(summary, what="bits") if has_bits else None,
            "weights": charts.relevance(summary, what="weight") if has_weights else None,
            "k": charts.k_curve(summary) if summary["k"]["scores"] else None,
            "passes": charts.convergence(summary) if summary["convergence"]["series"] else None,
        }
        found: dict[str, Any] = {
            name: None if plot is None else Markup(to_svg(plot, TITLES[name], name))
            for name, plot in plots.items()
        }
        found["charts"] = []
        for n, c in enumerate(by_column):
            title = f"{TITLES['values']} {c['name']}"
            svg = to_svg(charts.column_figure(c), title, f"d{n}")
            found["charts"].append((c["name"], Markup(svg)))
        found["overimputed"] = []
        for n, c in enumerate(summary.get("overimputed", ())):
            cells = f"{plural(c['cells'], 'cell')}, limits of 90 % hold {share(c['inside'])}"
            cells = cells.replace(" %", "\u00a0%")  # no line begins with the sign
            drawn = overimpute(summary, c["name"])
            svg = to_svg(drawn, f"{TITLES['held out']} {c['name']}: {cells}", f"o{n}")
            found["overimputed"].append((c["name"], cells, Markup(svg)))
    return found


@contextmanager
def page_style() -> Iterator[None]:
    """Draw in the style of the page, whatever style the user has set for other plots."""
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
    root.extend(tip_elements(figure))
    for element in root.iter():  # html wants elements without a namespace prefix
        element.tag = element.tag.rpartition("}")[2]
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


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
    style = element.attrib.pop("style", None)
    if style is not None:  # as attributes: a page may forbid styles within its elements
        style = re.sub(r"font: ([\d.]+)px [^;]*", r"font-size: \1px", style)
        style = style.replace("url(#", f"url(#{prefix}-")
        style = re.sub(r"#[0-9a-f]{6}\b", lambda m: COLORS.get(m.group(), m.group()), style)
        for name, value in (part.split(":", 1) for part in style.split(";") if ":" in part):
            element.set(name.strip(), value.strip())
    element.attrib.pop("font-family", None)  # the page's own, by its style sheet
