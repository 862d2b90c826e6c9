"""Tables for the tests of the report: a tiny one, and one that wants to break the page."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import greyfill
from greyfill.exceptions import IdentifierWarning
from greyfill.report import Report, make_report

NASTY_NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "😀👩‍👩‍👧 emoji",
    "عمود من اليمين إلى اليسار",
    "x" * 200,
    "$x$ and $\\frac{1}{2}",
    "{{1234*5678}}{% raw %}",
    "</script><script>alert(3)</script>",
    "a\nb\x00c\u202ereversed",
    "]]><!-- & &amp; -->",
    "",
    "url(#a) #0072b2",
    "日本語の列名がとても長い場合の表示",
    "a|b `c` *d* [e](javascript:alert(4))",
    "no character \uffff",
]
NASTY_VALUES = [
    "<b>bold</b>",
    "</script><svg onload=alert(5)>",
    "\"quotes\" and 'quotes'",
    "😀",
    "مرحبا",
    "z" * 300,
    "$a$ $b$",
    "{{1+1}} | pipe",
]


def tiny() -> tuple[Any, Any, Any, Any]:
    """A fitted imputer, a table of four rows, what it was filled with by hand, and classes."""
    X = pd.DataFrame({"age": [1.0, 3.0, np.nan, 5.0], "sex": ["a", "b", "b", None]})
    filled = pd.DataFrame({"age": [1.0, 3.0, 4.0, 5.0], "sex": ["a", "b", "b", "a"]})
    y = ["p", "p", "q", "q"]
    return greyfill.KNNIImputer(n_neighbors=1).fit(X, y), X, filled, y


@cache
def nasty_report(n_rows: int = 120, raw_rows: int = 4) -> Report:
    """A report whose every name and value is an attack or an oddity."""
    rng = np.random.default_rng(0)
    y = rng.choice(["<script>alert('y')</script>", '"><img src=x onerror=alert(6)>'], n_rows)
    X = pd.DataFrame(
        {
            name: rng.normal(size=n_rows) if j % 2 else rng.choice(NASTY_VALUES, n_rows)
            for j, name in enumerate(NASTY_NAMES)
        }
    )
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n_rows), "D")
    X["lasted"] = pd.to_timedelta(rng.integers(0, 10_000, n_rows), unit="s")
    X["who"] = [f"person {i}" for i in range(n_rows)]
    sizes = pd.CategoricalDtype(["S", "M", "L"], ordered=True)
    X["size"] = pd.Series(rng.choice(["S", "M", "L"], n_rows), dtype=sizes)
    X = X.mask(rng.random(X.shape) < 0.15)
    imputer = greyfill.FWGKNNImputer(5, max_iter=5)
    with pytest.warns(IdentifierWarning, match="'who'"):
        filled = imputer.fit_transform(X, y)
    return make_report(imputer, X, filled, y, raw_rows=raw_rows)


@cache
def nasty_page() -> str:
    """The page of `nasty_report`."""
    return nasty_report().render("html")
