"""The report as an object: its numbers, and its text as html, Markdown or JSON."""

import base64
import hashlib
import html
import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greyfill import text
from greyfill.checks import check_choice
from greyfill.exceptions import InvalidParameterError
from greyfill.files import put
from greyfill.report.column_summary import describe_cells, missing_by_group, pattern_matrix
from greyfill.report.summary import Summary, summarize

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BY_CLASS, MOST_TRUSTED = 60, 8
MOST_WEIGHTS = 200
MOST_EMBEDDED = 300_000
FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}
FRAME_HEIGHT = 720
FILTERS: dict[str, Callable[..., Any]] = {
    "bare": lambda value: value if isinstance(value, int | float) else "",
    "count": text.count,
    "share": text.share,
    "number": text.number,
    "plural": text.plural,
    "shorten": text.shorten,
    "md": text.escape_markdown,
}


def render(summary: Summary, format: str = "html") -> str:
    """Render a summary as one self-contained text.

    Parameters
    ----------
    summary
        What `summarize` returned, also after a way through JSON.
    format
        ``"html"``: one page with its style, script and plots inside; ``"markdown"``: the tables;
        ``"json"``: all numbers.

    >>> from greyfill import KNNIImputer
    >>> imputer = KNNIImputer(n_neighbors=1)
    >>> _ = imputer.fit_transform([[1.0, 2.0], [1.1, None], [5.0, 6.0]])
    >>> render(imputer.report_.summary, "markdown").splitlines()[0]
    '# Imputation report: KNNIImputer'
    """
    check_choice("format", format, ("html", "markdown", "json"))
    if format == "json":
        return json.dumps(summary, ensure_ascii=False, allow_nan=False) + "\n"
    return _to_html(summary) if format == "html" else _to_markdown(summary)


def _to_html(summary: Summary) -> str:
    """The page; every name and value of the table is escaped."""
    from markupsafe import Markup

    from greyfill.report.svg import figures  # matplotlib is slow to import, and for pages only

    script = (files("greyfill.report") / "templates" / "page.js").read_text(encoding="utf-8")
    style = style_sheet()
    numbers = _embedded(summary)
    template = _environment().get_template("page.html.jinja")
    return template.render(
        **_shown(summary, figures),
        script=Markup(script),
        style=Markup(style),
        script_hash=_hash(script),
        style_hash=_hash(style),
        embedded=None if numbers is None else Markup(numbers),
    )


def _hash(text: str) -> str:
    """What lets a policy know a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def style_sheet() -> str:
    """The style of the page."""
    return _environment().get_template("page.css.jinja").render()


def _shown(summary: Summary, figures: Callable[..., Any]) -> dict[str, Any]:
    """What the sections of a page are made of."""
    columns = [column for column in summary["columns"] if column["filled"]]
    filled = sorted(columns, key=lambda column: -int(column["filled"]))
    return {
        "s": summary,
        "filled": filled,
        "figures": figures(summary, filled),
        "most_by_class": MOST_BY_CLASS,
        "most_trusted": MOST_TRUSTED,
    }


def render_part(summary: Summary, part: str) -> str:
    """Some sections of the page, to stand in another one: ``"numbers"`` or ``"plots"``.

    Numbers are there at once; plots take some seconds.
    """
    check_choice("part", part, ("numbers", "plots"))
    if part == "plots":
        from greyfill.report.svg import figures

        return _environment().get_template("plots.html.jinja").render(_shown(summary, figures))
    shown = _shown(summary, lambda *_: defaultdict(lambda: None))
    return _environment().get_template("numbers.html.jinja").render(shown)


def _to_markdown(summary: Summary) -> str:
    """The tables, for terminals, wikis and pull requests; every name and value is escaped."""
    columns = summary["relevance"]["columns"]
    weighed = [c for c in columns if (c["bits"], c["weight"]) != (None, None)]
    weighed.sort(key=lambda c: (-(c["weight"] or 0.0), -(c["bits"] or 0.0)))
    template = _environment().get_template("page.md.jinja")
    return template.render(s=summary, weighed=weighed[:MOST_WEIGHTS])


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("greyfill.report"),
        autoescape=select_autoescape(("html.jinja", "css.jinja")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(
        describe_cells=describe_cells,
        pattern_matrix=pattern_matrix,
        missing_by_group=missing_by_group,
        spread_in=text.spread_in,
        error_in=text.error_in,
        explained_in=text.explained_in,
    )
    return environment


def _embedded(summary: Summary) -> str | None:
    """The numbers for machines, unable to end their element; None where they are too many."""
    numbers = {name: part for name, part in summary.items() if name != "map"}
    line = json.dumps(numbers, allow_nan=False, separators=(",", ":"))
    if len(line) > MOST_EMBEDDED:
        return None
    for character in "<>&":
        line = line.replace(character, f"\\u{ord(character):04x}")
    return line


@dataclass(frozen=True, eq=False)
class Report:
    """What was imputed; in a notebook it shows itself.

    >>> from greyfill.datasets import load
    >>> from greyfill import GKNNImputer
    >>> iris = load("iris")
    >>> imputer = GKNNImputer(n_neighbors=3)
    >>> report = make_report(imputer, iris.X, imputer.fit_transform(iris.X, iris.y), iris.y)
    >>> report
    <Report of GKNNImputer: 0 holes in 150 × 4 cells>
    """

    summary: Summary = field(repr=False)

    def with_worth(self, found: Any) -> "Report":
        """The report with a section on whether imputing pays: what ``greyfill.worth`` gave."""
        return Report(self.summary | {"worth": found.numbers()})

    def render(self, format: str = "html") -> str:
        """The report as ``"html"``, ``"markdown"`` or ``"json"``."""
        return render(self.summary, format)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> Path:
        """Write the report to a file; an interrupted write leaves the old file as it was.

        Parameters
        ----------
        path
            Where to write.
        format
            ``"html"``, ``"markdown"`` or ``"json"``; by default as the ending of the path says.
        """
        target = Path(path)
        if format is None and target.suffix.lower() not in FORMATS:
            raise InvalidParameterError(
                f"{target.name!r} does not tell the format: end it in .html, .md or .json, or "
                "pass format="
            )
        text = self.render(format or FORMATS[target.suffix.lower()])
        put(os.path.abspath(target), [text.encode()], force=True)
        return target

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither touches the notebook's style."""
        page = html.escape(self.render("html"), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="Imputation report" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        table = self.summary["table"]
        return (
            f"<Report of {self.summary['method']}: {table['missing']:,} holes in "
            f"{table['rows']:,} × {table['columns']:,} cells>"
        )


def make_report(
    imputer: Any,
    X: Any,
    filled: Any,
    y: Any = None,
    *,
    raw_rows: int = 0,
    guesses: Sequence[str] = (),
    name: str = "",
    lines: Sequence[int] | None = None,
) -> Report:
    """Describe what an imputer did to a table; the parameters are those of `summarize`.

    >>> from greyfill import KNNIImputer
    >>> X = [[1.0, 2.0], [1.1, None], [5.0, 6.0]]
    >>> imputer = KNNIImputer(n_neighbors=1)
    >>> make_report(imputer, X, imputer.fit_transform(X))
    <Report of KNNIImputer: 1 holes in 3 × 2 cells>
    """
    found = summarize(
        imputer, X, filled, y, raw_rows=raw_rows, guesses=guesses, name=name, lines=lines
    )
    return Report(found)
