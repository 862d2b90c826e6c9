"""The report as an object: its numbers, its page, a file."""

import html
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greyfill.checks import check_choice
from greyfill.exceptions import InvalidParameterError
from greyfill.files import put
from greyfill.report.pages import to_markdown
from greyfill.report.summary import Summary, summarize


def to_json(summary: Summary) -> str:
    """The summary as one line of JSON."""
    return json.dumps(summary, ensure_ascii=False, allow_nan=False) + "\n"


def _to_html(summary: Summary) -> str:
    from greyfill.report.pages import to_html

    return to_html(summary)


RENDERERS: dict[str, Callable[[Summary], str]] = {
    "html": _to_html,
    "markdown": to_markdown,
    "json": to_json,
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
    check_choice("format", format, tuple(RENDERERS))
    return RENDERERS[format](summary)


FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}
FRAME_HEIGHT = 720


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


def make_report(imputer: Any, X: Any, filled: Any, y: Any = None, *, raw_rows: int = 0) -> Report:
    """Describe what an imputer did to a table; the parameters are those of `summarize`.

    >>> from greyfill import KNNIImputer
    >>> X = [[1.0, 2.0], [1.1, None], [5.0, 6.0]]
    >>> imputer = KNNIImputer(n_neighbors=1)
    >>> make_report(imputer, X, imputer.fit_transform(X))
    <Report of KNNIImputer: 1 holes in 3 × 2 cells>
    """
    return Report(summarize(imputer, X, filled, y, raw_rows=raw_rows))
