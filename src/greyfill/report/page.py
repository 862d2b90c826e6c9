"""The page: one html file that needs nothing else and loads nothing."""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from jinja2.loaders import PackageLoader
from markupsafe import Markup

from greyfill.report import text
from greyfill.report.drawing import convergence, k_curve, missing_map, relevance
from greyfill.report.drawing.distributions import column_figure
from greyfill.report.drawing.svg import page_style, to_svg
from greyfill.report.summarize import Summary
from greyfill.report.telling import tell

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
