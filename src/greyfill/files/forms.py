"""Texts that stand for dates, times or numbers, but in a form that is not read as such."""

from dataclasses import dataclass

import polars as pl

from greyfill.files import patterns

NEARLY_ALL = 0.95
"""The share of the different texts of a column that must have a form."""


@dataclass(frozen=True)
class Form:
    """What texts look like, and what to write instead."""

    name: str
    pattern: str
    remedy: str


_PLAIN = r"[0-9]+([.,][0-9]+)?"
_GROUPED = r"[0-9]{1,3}([,.' ][0-9]{3})+([.,][0-9]+)?"
_AMOUNT = rf"({_GROUPED}|{_PLAIN})"
_CURRENCY = "([$€£¥]|USD|EUR|GBP|CHF|JPY)"
_SMALL = "(0?[1-9]|[12][0-9]|3[01])"
"""The number of a day or a month."""
_TIME = r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?( ?[AaPp][Mm])?"

FORMS = (
    Form(
        "dates in another form",
        rf"^({_SMALL}[./-]{_SMALL}[./-]([0-9]{{4}}|[0-9]{{2}})|"
        rf"[0-9]{{4}}[./-]{_SMALL}[./-]{_SMALL})([T ]{_TIME}.*)?$",
        "To have them read as dates, write them as YYYY-MM-DD",
    ),
    Form(
        "times of day",
        rf"^{_TIME}$",
        "To have them read as numbers, write plain ones, such as minutes since midnight",
    ),
    Form(
        "percentages",
        rf"^[+-]?{_PLAIN} ?%$",
        "To have them read as numbers, write plain ones, such as 74",
    ),
    Form(
        "amounts",
        rf"^[+-]?({_CURRENCY} ?[+-]?{_AMOUNT}|{_AMOUNT}( ?{_CURRENCY})?)$",
        "To have them read as numbers, write plain ones, such as 1234.5",
    ),
)


def form_of(texts: pl.Series) -> Form | None:
    """The form that nearly all different texts of a column have, if there is one.

    Numbers that are written plainly have none, though there may be some among amounts.

    >>> form_of(pl.Series(["28/01/2020", "04/02/2020"])).name
    'dates in another form'
    >>> form_of(pl.Series(["$1,234", "$87", "512"])).name
    'amounts'
    >>> form_of(pl.Series(["007", "008"]))
    """
    words = patterns.bare(texts.drop_nulls()).unique()
    if not len(words) or words.str.contains(patterns.number(".")).all():
        return None
    return next((f for f in FORMS if _share(words, f.pattern) >= NEARLY_ALL), None)


def _share(words: pl.Series, pattern: str) -> float:
    return float(words.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]
