"""Words and numbers as a person reads them, and names made safe to print."""

import math
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

MOST_CHARACTERS = 200
BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$^:-])")

FALLBACKS = {
    "class_too_small": "found too few donors in the class of the row: donors came from all classes",
    "class_without_value": "met no observed value of the column in the class of the row: the start "
    "value came from all classes",
    "row_without_match": "met no donor with a telling value in common: the start value (mean or "
    "mode) stayed",
    "row_without_value": "stood in rows without any observed value: they got what is usual in the "
    "column",
    "no_donor": "found no donor at all: the start value (mean or mode) stayed",
}


class Note(str):
    """A sentence for the user, and what kind of note it is: none is known by its words.

    >>> note = Note("Left alone: 'id'.", "left alone")
    >>> note, note.kind, Note("Else.").kind
    ("Left alone: 'id'.", 'left alone', '')
    """

    kind: str

    def __new__(cls, text: str, kind: str = "") -> "Note":
        """The sentence."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note


def kind_of(note: str) -> str:
    """The kind of a note; none of a sentence that has no kind."""
    return note.kind if isinstance(note, Note) else ""


def clean(value: object, most: int = MOST_CHARACTERS) -> str:
    r"""A name or value as one line of printable text of bounded length.

    Control characters become spaces, what no file can hold becomes a replacement character, and
    the marks that reorder a line go; everything else stays, to be escaped by the renderer.

    >>> clean("a\nb\x00"), clean(""), clean("abcdef", most=4), clean("\ud800")
    ('a b', '(empty)', 'abc…', '�')
    """
    text = str(value)[: 4 * most]
    line = "".join(_printable(character) for character in text)
    return shorten(" ".join(line.split()) or "(empty)", most)


def _printable(character: str) -> str:
    if character in BIDI_CONTROLS:
        return ""
    category = unicodedata.category(character)
    if category == "Cs" or ord(character) & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return " " if category in ("Cc", "Zl", "Zp") else character


def shorten(text: str, most: int) -> str:
    """At most so many characters.

    >>> shorten("temperature", 6)
    'tempe…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def tidy(value: float) -> float | None:
    """Six digits of a number, or None where there is none.

    >>> tidy(2 / 3), tidy(float("nan"))
    (0.666667, None)
    """
    return float(f"{value:.6g}") if math.isfinite(value) else None


def count(number: int) -> str:
    """A whole number with separators: ``count(12345)`` is ``'12,345'``."""
    return f"{number:,}"


def share(part: float | None) -> str:
    """A share as percent.

    >>> share(0.123), share(0.0), share(0.0001), share(1.0), share(None)
    ('12.3 %', '0 %', '<0.1 %', '100 %', '–')
    """
    if part is None:
        return "–"
    if 0.0 < part < 0.001:
        return "<0.1 %"
    if 0.999 < part < 1.0:
        return ">99.9 %"
    return f"{100 * part:.1f} %" if part not in (0.0, 1.0) else f"{100 * part:.0f} %"


def number(value: float | None) -> str:
    """A number with four digits.

    >>> number(3.14159), number(1234567.0), number(1e-9), number(None)
    ('3.142', '1,234,567', '1e-09', '–')
    """
    if value is None:
        return "–"
    if 1e4 <= abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def value_in(value: float | None, unit: str) -> str:
    """A number of a column in the column's own unit; moments are seconds.

    >>> value_in(86_400.0, "date"), value_in(3_661.0, "time"), value_in(2.5, "number")
    ('1970-01-02', '01:01:01', '2.5')
    """
    if value is None or unit == "number":
        return number(value)
    if unit == "duration":
        return span(value)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)
    except OverflowError:
        return number(value)
    return moment.strftime({"date": "%Y-%m-%d", "time": "%H:%M:%S"}.get(unit, "%Y-%m-%d %H:%M"))


def spread_in(value: float | None, unit: str) -> str:
    """A standard deviation in the column's own unit."""
    return number(value) if value is None or unit == "number" else span(value)


def error_in(value: float | None, unit: str) -> str:
    """An error or a difference with its unit, where the column does not have that unit itself.

    >>> error_in(2.0, "days"), error_in(2.0, "units of the column")
    ('2 days', '2')
    >>> error_in(0.125, "share of wrong fills")
    '12.5 % wrong'
    """
    if value is not None and unit == "share of wrong fills":
        return f"{share(value)} wrong"
    return f"{number(value)} {unit}" if unit in ("days", "seconds", "ranks") else number(value)


def explained_in(value: float | None) -> str:
    """A share of the spread that is explained; less than nothing is nothing.

    What is just below a tenth, a half or the whole is not rounded up to it, since the words for
    trust change there.

    >>> explained_in(0.624), explained_in(-0.1), explained_in(None)
    ('62 %', '0 %', '–')
    >>> explained_in(0.0961), explained_in(0.1), explained_in(0.4999), explained_in(0.9995)
    ('9.6 %', '10 %', '49.9 %', '99.9 %')
    """
    if value is None:
        return "–"
    percent = 100 * max(value, 0.0)
    is_below = percent < round(percent) and round(percent) in (10, 50, 100)
    return f"{math.floor(10 * percent) / 10:.1f} %" if is_below else f"{percent:.0f} %"


def span(seconds: float) -> str:
    """A length of time in its largest fitting unit.

    >>> span(7_200.0), span(-86_400.0 * 3)
    ('2 h', '-3 d')
    """
    for unit, size in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if abs(seconds) >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds)} s"


def isolated(text: str) -> str:
    """Text that cannot turn the line around it, where it is written from right to left."""
    turns = any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)
    return f"\u2068{text}\u2069" if turns else text


def listed(names: list[str], most: int = 5) -> str:
    """Some names in quotes, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    '“a”, “b” and 1 more'
    """
    shown = ", ".join(f"“{isolated(shorten(name, 60))}”" for name in names[:most])
    rest = len(names) - most
    return f"{shown} and {count(rest)} more" if rest > 0 else shown


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "cell"), plural(2, "cell"), plural(0, "class", "classes")
    ('1 cell', '2 cells', '0 classes')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def escape_markdown(value: object, *, keep_emphasis: bool = False) -> str:
    r"""Text that stays in its cell of a Markdown table and does not become HTML.

    It is shown as it is; with ``keep_emphasis`` its own emphasis, code and links still work.

    >>> print(escape_markdown("a|b <b> *c*"))
    a\|b &lt;b&gt; \*c\*
    >>> print(escape_markdown("a|b <b> *c*", keep_emphasis=True))
    a\|b &lt;b> *c*
    """
    line = " ".join(str(value).split())
    if keep_emphasis:
        return line.replace("|", "\\|").replace("<", "&lt;")
    return MARKDOWN.sub(r"\\\1", line.translate(HTML))


OTHER_LABELS = (
    "The labels taught how to fill, but no row was filled by its own. So the filled table may "
    "train a classifier. To judge one by cross-validation, put the imputer into the pipeline all "
    "the same: rows of a test fold have taught the fills of the others."
)
OWN_LABELS = (
    "Rows were filled with the help of their own label. Do not train or cross-validate a "
    "classifier on the filled table: it would trust the fills too much. GreyImputer and the "
    "class-wise neighbor methods leave out a row's own label if labels is 'cross'."
)
"""What the use of labels means for whoever goes on with the filled table."""


def fallbacks(imputer: Any) -> list[dict[str, Any]]:
    """The cells of the training table that could not be filled by the rule, in words."""
    counts: dict[str, int] = getattr(imputer, "fallback_counts_", {})
    found = []
    for rule, n in counts.items():
        if n:
            words = FALLBACKS.get(rule, f"fell back: {clean(rule)}")
            text = f"{plural(int(n), 'cell')} {words}."
            found.append({"rule": clean(rule), "cells": int(n), "text": text})
    return found


def as_text(title: str, rows: list[list[str]], remarks: list[str]) -> str:
    """Columns padded to equal width.

    >>> print(as_text("two", [["method", "nrmse"], ["mean", "0.2"]], []))
    two
    method  nrmse
    mean    0.2
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([title, *(line.rstrip() for line in padded), *remarks])


def as_html(title: str, rows: list[list[str]], remarks: list[str]) -> str:
    """A plain HTML table, all text escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    notes = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}"
    )
