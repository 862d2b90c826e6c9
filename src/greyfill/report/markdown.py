"""The report as Markdown tables, for terminals, wikis and pull requests."""

import re
from collections.abc import Iterable
from typing import Any

from greyfill.report import text
from greyfill.report.summarize import Summary
from greyfill.report.telling import tell

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
