"""A summary as a page, as Markdown, or as JSON."""

import json
from collections.abc import Callable

from greyfill.checks import check_choice
from greyfill.report.markdown import to_markdown
from greyfill.report.summarize import Summary


def to_json(summary: Summary) -> str:
    """The summary as one line of JSON."""
    return json.dumps(summary, ensure_ascii=False, allow_nan=False) + "\n"


def _to_html(summary: Summary) -> str:
    from greyfill.report.page import to_html  # only a page with pictures needs matplotlib

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
