"""What a report does not know is None, only where a summary says so, and every page renders it."""

import copy
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imputers.family import THOROUGH as IMPUTERS
from imputers.family import quick

import greyfill
from greyfill.exceptions import EmptyColumnWarning
from greyfill.report import make_report, render
from greyfill.report.summary import MAY_BE_NONE

TINY = {
    "one observed value": {"a": [1.0, None, None], "b": [1.0, 2.0, 3.0]},
    "one row": {"a": [1.0], "b": [None]},
    "one of each": {"a": [1.0, None], "b": [None, "u"]},
    "no value at all": {"a": [None, None], "b": [None, None]},
    "nothing observed": {"a": [None, None, None], "b": [None, "u", None]},
    "constant": {"a": [2.0, 2.0, None, 2.0], "b": ["u", "u", "u", None]},
    "two observed": {"a": [1.0, 2.0, None, None], "b": [None, None, 3.0, 4.0]},
    "only categories": {"a": ["u", "v", None, "u"], "b": [None, "p", "q", "p"]},
    "largest numbers": {"a": [-1.7e308, 1.7e308, None, 0.0], "b": [1.0, 2.0, 3.0, 5e-324]},
}

DRAWN = (
    greyfill.GreyImputer,
    greyfill.SKNNImputer,
    greyfill.MICEImputer,
    greyfill.MissForestImputer,
)
"""One of each way to tell of passes, donors and weights: pages take time."""


def places(part, path=()):
    """Every place of a summary: its path, and the path with ``*`` for the items of lists."""
    items = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in items:
        here = (*path, key)
        yield here, value
        if isinstance(value, dict | list):
            yield from places(value, here)


def pattern(path):
    if path[0] == "settings":
        return "settings.*" if len(path) > 1 else "settings"
    return ".".join("*" if isinstance(key, int) else key for key in path)


def without(summary, paths):
    """The summary with None in these places."""
    bare = copy.deepcopy(summary)
    for *way, last in paths:
        part = bare
        for key in way:
            part = part and part[key]
        if part is not None:
            part[last] = None
    return bare


@cache
def summaries():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = pd.DataFrame(
        {"n": rng.normal(size=24), "m": rng.normal(size=24), "c": np.array(["u", "v"])[y]}
    )
    X = X.mask(rng.random(X.shape) < 0.2)
    told = []
    for imputer in (
        greyfill.GreyImputer(n_cells=20, max_iter=2),
        greyfill.FWGKNNImputer("masked", max_iter=3),
        greyfill.MICEImputer(2, n_iter=2),
        greyfill.MissForestImputer(5, max_iter=2),
    ):
        report = make_report(imputer, X, imputer.fit_transform(X, y), y, raw_rows=2)
        told.append(report.summary)
    return told


def optional(summary):
    return [path for path, _ in places(summary) if pattern(path) in MAY_BE_NONE]


def test_reports_of_the_family_have_every_place_that_may_be_none():
    met = {pattern(path) for summary in summaries() for path in optional(summary)}
    assert met == MAY_BE_NONE


@pytest.fixture
def unsaved(monkeypatch):
    """Figures are drawn, but not written as svg, which takes most of the time of a page."""
    monkeypatch.setattr("greyfill.report.svg.to_svg", lambda *_: "<svg></svg>")


@pytest.mark.usefixtures("unsaved")
@pytest.mark.parametrize("place", sorted(MAY_BE_NONE))
def test_a_page_needs_no_place_that_may_be_none(place):
    told = next(s for s in summaries() if any(pattern(path) == place for path in optional(s)))
    bare = without(told, [path for path in optional(told) if pattern(path) == place])
    render(bare, "markdown")
    assert 'data-value="None"' not in render(bare, "html")


@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_page_needs_no_set_of_places_that_may_be_none(data):
    summary = data.draw(st.sampled_from(summaries()))
    paths = data.draw(st.lists(st.sampled_from(optional(summary)), unique=True))
    bare = without(summary, paths)
    render(bare, "html")
    render(bare, "markdown")


@pytest.mark.usefixtures("unsaved")
@pytest.mark.parametrize("table", TINY.values(), ids=TINY)
@pytest.mark.parametrize("imputer", IMPUTERS)
def test_tiny_tables_have_pages_and_none_only_where_it_may_be(imputer, table):
    X, y = pd.DataFrame(table), [*"pqpp"][: len(table["a"])]
    imputer = quick(imputer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyColumnWarning)
        filled = imputer.fit_transform(X, y)
    report = make_report(imputer, X, filled, y, raw_rows=4)
    nones = {pattern(path) for path, value in places(report.summary) if value is None}
    assert nones <= MAY_BE_NONE
    for form in ("markdown", "json", *(["html"] if type(imputer) in DRAWN else [])):
        report.render(form)
