"""The report as Markdown tables, for terminals, wikis and pull requests."""

import base64
import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import matplotlib
from jinja2 import Environment, StrictUndefined
from jinja2.loaders import PackageLoader
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from greyfill import text
from greyfill.report.charts import (
    IMPUTED,
    OBSERVED,
    QUIET,
    convergence,
    k_curve,
    missing_map,
    relevance,
)
from greyfill.report.column_summary import tell
from greyfill.report.histograms import column_figure
from greyfill.report.summary import Summary

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


MOST_CHARTS = 24
MOST_BY_CLASS = 60
MOST_EMBEDDED = 300_000
FILTERS = {
    "bare": lambda value: value if isinstance(value, int | float) else "",
    "count": text.count,
    "share": text.share,
    "number": text.number,
    "plural": text.plural,
    "shorten": text.shorten,
}


def to_html(summary: Summary) -> str:
    """Render the page; every name and value of the table is escaped."""
    script = _script()
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            s=summary,
            filled=_most_filled(summary),
            figures=_figures(summary),
            passes_caption=_passes_caption(summary["convergence"]),
            most_by_class=MOST_BY_CLASS,
            script=Markup(script),
            script_hash=_digest(script),
            embedded=_embedded(summary),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("greyfill.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(
        tell=tell,
        value_in=text.value_in,
        spread_in=text.spread_in,
        error_in=text.error_in,
    )
    return environment


def _most_filled(summary: Summary) -> list[dict[str, Any]]:
    """The columns with imputed cells, most first."""
    filled = [column for column in summary["columns"] if column["filled"]]
    return sorted(filled, key=lambda column: -int(column["filled"]))


def _figures(summary: Summary) -> dict[str, Any]:
    """All plots as svg; None where there is nothing to see."""
    told = summary["relevance"]["columns"]
    has_bits = any(c["bits"] is not None for c in told)
    has_weights = any(c["weight"] is not None for c in told) and not summary["relevance"]["equal"]
    with page_style():
        plots: dict[str, Any] = {
            "map": missing_map(summary) if summary["table"]["missing"] else None,
            "bits": relevance(summary, what="bits") if has_bits else None,
            "weights": relevance(summary, what="weight") if has_weights else None,
            "k": k_curve(summary) if summary["k"]["scores"] else None,
            "passes": convergence(summary) if summary["convergence"]["series"] else None,
        }
        drawn = {
            name: Markup(to_svg(plot, TITLES[name], name))
            for name, plot in plots.items()
            if plot is not None
        }
        charts = [
            (
                c["name"],
                Markup(to_svg(column_figure(c), f"{TITLES['values']} {c['name']}", f"d{n}")),
            )
            for n, c in enumerate(_drawn(summary))
        ]
    return dict.fromkeys(plots) | drawn | {"charts": charts}


def _drawn(summary: Summary) -> list[dict[str, Any]]:
    """The columns whose values are drawn."""
    return [c for c in _most_filled(summary) if not c["identifier"]][:MOST_CHARTS]


def _passes_caption(told: dict[str, Any]) -> str:
    if told["kind"] == "drift":
        return (
            "The mean of the imputed values in each pass, in standard deviations from the last "
            "pass; the columns with the most holes."
        )
    if len(told["series"]) > 1:
        return "The change from pass to pass, of numbers and of categories."
    return (
        "The largest change of a cell in each pass, on a scale from 0 to 1; a changed category "
        "counts as 1."
    )


TITLES = {
    "values": "Observed and imputed values of",
    "map": "Map of the holes: columns down, rows across",
    "bits": "Bars: information of each column about the class",
    "weights": "Bars: weight of each column in the distance",
    "k": "Curve: error of every number of donors that was tried",
    "passes": "Curve: change in every pass",
}


@cache
def _script() -> str:
    return (files("greyfill.report") / "templates" / "page.js").read_text(encoding="utf-8")


def _digest(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _embedded(summary: Summary) -> Markup | None:
    """The numbers for machines, unable to end their element; None where they are too many."""
    numbers = {name: part for name, part in summary.items() if name != "map"}
    line = json.dumps(numbers, allow_nan=False, separators=(",", ":"))
    if len(line) > MOST_EMBEDDED:
        return None
    for character in "<>&":
        line = line.replace(character, f"\\u{ord(character):04x}")
    return Markup(line)


SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$^:-])")


def to_markdown(summary: Summary) -> str:
    """Render the tables of a summary; every name and value is escaped."""
    parts = [
        f"# Imputation report: {escape(summary['method'])}",
        _overview(summary),
        *_list("Read this first", [c["text"] for c in summary["cautions"]]),
        "## What was imputed",
        _columns(summary),
        *_by_class(summary),
        "## Missing together",
        _patterns(summary),
        *_relevance(summary),
        *_selection(summary),
        *_uncertain(summary),
        "## Settings and versions",
        _pairs("setting", summary["settings"]),
        _pairs("package", summary["versions"]),
        *_list("What this page leaves out", summary["limits"]),
    ]
    return "\n\n".join(parts) + "\n"


def escape(value: Any) -> str:
    r"""Text that Markdown and html show as it is, also inside a table.

    >>> escape("a|b <b> $x$ *c*")
    'a\\|b &lt;b&gt; \\$x\\$ \\*c\\*'
    """
    safe = str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return SPECIAL.sub(r"\\\1", safe)


def _overview(summary: Summary) -> str:
    table, k = summary["table"], summary["k"]["chosen"]
    size = f"{text.count(table['rows'])} rows × {text.count(table['columns'])} columns"
    holes = f"{text.plural(table['missing'], 'hole')} ({text.share(table['share'])})"
    donors = f", {text.plural(k, 'donor')} a cell" if k else ""
    return f"{size}; {holes}, {text.count(table['filled'])} filled{donors}."


def _columns(summary: Summary) -> str:
    head = ("column", "kind", "holes", "share", "filled", "observed", "imputed")
    return _table(
        head,
        (
            (c["name"], c["kind"], text.count(c["missing"]), text.share(c["share"]),
             text.count(c["filled"]), tell(c["observed"], c), tell(c["imputed"], c))
            for c in summary["columns"]
        ),
    )  # fmt: skip


def _by_class(summary: Summary) -> list[str]:
    rows = [
        (c["name"], part["name"], text.count(part["missing"]), tell(part["observed"], c),
         tell(part["imputed"], c))
        for c in summary["columns"]
        if c["filled"]
        for part in c.get("classes", [])
    ]  # fmt: skip
    if not rows:
        return []
    return ["## By class", _table(("column", "class", "holes", "observed", "imputed"), rows)]


def _patterns(summary: Summary) -> str:
    rows = (
        (pattern_name(p), text.count(p["rows"]), text.share(p["share"]))
        for p in summary["patterns"]["top"]
    )
    return _table(("columns", "rows", "share"), rows)


def pattern_name(pattern: dict[str, Any]) -> str:
    """The columns of a pattern in a few words."""
    shown = [text.shorten(name, 40) for name in pattern["columns"][:12]]
    rest = pattern["n_columns"] - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "") or "(nothing missing)"


def _relevance(summary: Summary) -> list[str]:
    told = [c for c in summary["relevance"]["columns"] if (c["bits"], c["weight"]) != (None, None)]
    told.sort(key=lambda c: (-(c["weight"] or 0.0), -(c["bits"] or 0.0)))
    rows = [(c["name"], text.number(c["bits"]), text.number(c["weight"])) for c in told[:200]]
    head = ("column", "information about the class, bits", "weight")
    return ["## What each column tells", _table(head, rows)] if rows else []


def _selection(summary: Summary) -> list[str]:
    rows = [
        (c["name"], text.error_in(c["error"], c["unit"]), " · ".join(c["panel"]))
        for c in summary["selection"]
    ]
    head = ("column", "error on left-out cells", "filled by the mean of")
    return ["## How each column is filled", _table(head, rows)] if rows else []


def _uncertain(summary: Summary) -> list[str]:
    rows = [
        (c["row"], c["column"], c["value"], text.share(c["uncertainty"]))
        for c in summary["uncertain"]["cells"]
    ]
    head = ("row", "column", "filled with", "disagreement")
    return ["## The most uncertain cells", _table(head, rows)] if rows else []


def _pairs(head: str, pairs: dict[str, Any]) -> str:
    return _table((head, "value"), pairs.items())


def _list(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "\n".join(f"- {escape(line)}" for line in lines)] if lines else []


def _table(head: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> str:
    lines = [head, ("---",) * len(head)]
    body = [f"| {' | '.join(map(str, line))} |" for line in lines]
    return "\n".join(body + [f"| {' | '.join(escape(cell) for cell in row)} |" for row in rows])
