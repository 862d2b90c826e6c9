"""What a report tells of an imputer that tunes every column."""

import re

import numpy as np
import pandas as pd

import greyfill
from greyfill.report import make_report, summarize


def tuned_table():
    """A number that follows another, a category that follows the class, and holes in both."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    x = rng.normal(size=80)
    X = pd.DataFrame(
        {"<b>x</b>": x, "twice": 2 * x + 0.1 * rng.normal(size=80), "kind": np.array(["u", "v"])[y]}
    )
    X.loc[:9, "twice"] = np.nan
    X.loc[10:14, "kind"] = None
    imputer = greyfill.GreyImputer(n_cells=30)
    return imputer, X, imputer.fit_transform(X, y), y


def test_every_column_with_holes_says_how_it_is_filled():
    imputer, X, filled, y = tuned_table()
    twice, kind = summarize(imputer, X, filled, y)["selection"]
    assert (twice["name"], kind["name"]) == ("twice", "kind")
    assert 0 < twice["error"] < 0.5  # 0.1 is noise, the column itself spreads by about 2
    assert twice["panel"] == imputer.selection_["twice"]["panel"]
    assert twice["tried"] == len(imputer.selection_["twice"]["tried"]) > 20


def test_uncertain_cells_tell_donors_and_what_moved_them():
    imputer, X, filled, y = tuned_table()
    cells = summarize(imputer, X, filled, y)["uncertain"]["cells"]
    cell = next(c for c in cells if c["column"] == "twice")
    strongest = cell["effects"][0]
    assert strongest["name"] == "<b>x</b>"
    mean = X["twice"].mean()
    whole = filled.loc[cell["row"], "twice"] - mean  # a regression starts at the donors' mean
    assert 0.5 < sum(e["effect"] for e in cell["effects"]) / whole < 1.1  # nearness does the rest
    assert len(cell["donors"]) == 10
    assert all(X["twice"].notna()[donor["row"]] for donor in cell["donors"])


def test_relevance_is_told_for_each_column_to_fill():
    imputer, X, filled, y = tuned_table()
    targets = summarize(imputer, X, filled, y)["relevance"]["targets"]
    assert [target["name"] for target in targets] == ["twice", "kind"]
    assert targets[0]["top"][0]["name"] == "<b>x</b>"
    np.testing.assert_allclose(imputer.feature_weights_.sum(axis=1), 1.0)
    assert imputer.feature_weights_[0, 1] == 0.0  # a column tells nothing about itself


def test_page_and_markdown_show_it_escaped():
    report = make_report(*tuned_table())
    page, lines = report.render("html"), report.render("markdown")
    assert "How each column is filled" in page
    assert page.count("How it was chosen, passes") == 2  # the way there, and the heading
    assert "Choice of k" not in page
    assert "What the columns added" in page
    assert not re.search(r"<b>x</b>", page)
    assert "## How each column is filled" in lines
