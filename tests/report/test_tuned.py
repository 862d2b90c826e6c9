"""What a report tells of an imputer that tunes every column."""

import re

import numpy as np
import pandas as pd

import greyfill
from greyfill.report import make_report, render, summarize
from greyfill.report.evidence import still_moving


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
    mean = X["twice"].mean()
    of_twice = [c for c in cells if c["column"] == "twice"]
    cell = max(of_twice, key=lambda c: abs(filled.loc[c["row"], "twice"] - mean))
    strongest = cell["effects"][0]
    assert strongest["name"] == "<b>x</b>"
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


def trusted_table():
    """Like `tuned_table`, with a hostile name on a column that nothing explains."""
    imputer, X, _, y = tuned_table()
    rng = np.random.default_rng(1)
    X["<i>noise|"] = np.where(np.arange(80) < 20, np.nan, rng.normal(size=80))
    return imputer, X, imputer.fit_transform(X, y), y


def test_trust_comes_first_in_every_format():
    imputer, X, filled, y = trusted_table()
    report = make_report(imputer, X, filled, y)
    trust = report.summary["trust"]
    assert next(c["column"] for c in trust["columns"]) == "<i>noise|"
    assert trust["columns"][0]["word"] == "no better than a guess"
    assert trust["columns"][-1]["word"] == "good"
    assert trust["sentences"][0].startswith("“<i>noise|” is missing in 25.0 % of the rows")
    page, text = report.render("html"), report.render("markdown")
    assert (
        page.index('id="trust"') < page.index('aria-label="Overview"') < page.index('id="columns"')
    )
    assert "“&lt;i&gt;noise|” is missing in 25.0 % of the rows" in page
    assert "<i>noise" not in page
    assert text.index("How far to trust") < text.index("## What was imputed")
    assert "| &lt;i&gt;noise\\| | no better than a guess | " in text
    assert "±" in page[page.index('id="trust"') : page.index('aria-label="Overview"')]


def test_trust_counts_the_holes_of_the_table_at_hand():
    imputer, X, _, _y = trusted_table()
    some = X.iloc[15:25]
    trust = summarize(imputer, some, imputer.transform(some), None)["trust"]
    holes = {c["column"]: c["holes"] for c in trust["columns"]}
    assert holes == {"<i>noise|": 5}
    assert "50.0 % of the rows" in trust["sentences"][0]


def test_only_the_worst_columns_are_on_the_first_screen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 11))
    X[rng.random(X.shape) < 0.1] = np.nan
    imputer = greyfill.GreyImputer(n_cells=20)
    page = make_report(imputer, X, imputer.fit_transform(X)).render("html")
    section = page[page.index('id="trust"') : page.index('aria-label="Overview"')]
    shown, rest = section.split("<details>")
    assert shown.count('<th scope="row">') == 8
    assert rest.count('<th scope="row">') == 3
    assert "3 more columns" in rest


def test_left_out_cells_are_drawn_with_words_for_those_who_cannot_see_them():
    imputer, X, filled, y = trusted_table()
    report = make_report(imputer, X, filled, y)
    noise, twice, kind = report.summary["overimputed"]
    assert (noise["name"], twice["name"], kind["name"]) == ("<i>noise|", "twice", "kind")
    observed = X["twice"].dropna()
    assert len(twice["truth"]) == len(twice["fill"]) == len(twice["low"]) == twice["cells"] <= 100
    assert all(np.isclose(observed, value, rtol=1e-5).any() for value in twice["truth"])
    assert np.corrcoef(twice["truth"], twice["fill"])[0, 1] > 0.98
    assert np.sum(kind["counts"]) == kind["cells"]
    assert kind["levels"] == ["u", "v"]
    assert 0.75 < noise["inside"] <= 1.0
    page = report.render("html")
    figures = re.findall(r'<svg [^>]*aria-label="Left-out cells[^"]*"', page)
    assert len(figures) == 3
    assert "&lt;i&gt;noise|: " in figures[0]
    assert any("observed values of one column" in limit for limit in report.summary["limits"])


def test_imputers_that_hold_nothing_out_say_nothing_of_trust():
    _, X, _, y = trusted_table()
    imputer = greyfill.CGKNNImputer(3)
    report = make_report(imputer, X, imputer.fit_transform(X, y), y)
    assert report.summary["trust"] is None
    assert report.summary["overimputed"] == []
    page = report.render("html")
    assert 'id="trust"' not in page
    assert 'id="overimputed"' not in page
    assert "How far to trust" not in report.render("markdown")


def test_reports_of_earlier_versions_still_render():
    imputer, X, filled, y = trusted_table()
    old = summarize(imputer, X, filled, y)
    del old["trust"], old["overimputed"], old["convergence"]["moving"]
    assert 'id="trust"' not in render(old, "html")
    assert "How far to trust" not in render(old, "markdown")


def test_unsettled_passes_are_told_where_they_matter_and_without_a_remedy_that_is_not_there():
    class Passes:
        converged_ = False
        history_ = [1.0, 0.04]  # noqa: RUF012

    passes = Passes()
    assert still_moving(passes) is None
    passes.history_ = [1.0, 0.06]
    assert still_moving(passes) == 0.06
    passes.converged_ = True
    assert still_moving(passes) is None
    passes.converged_, passes.history_ = False, [{"numeric": 0.0009, "categorical": 0.04}]
    assert still_moving(passes) is None
    passes.history_ = [{"numeric": 0.01, "categorical": 0.04}]
    assert still_moving(passes) == 0.1
    _, X, _, y = trusted_table()
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random((60, 4)) < 0.2, np.nan, rng.normal(size=(60, 4)))
    imputer = greyfill.IKNNImputer(3, max_iter=6, tol=0.0)
    report = make_report(imputer, numbers, imputer.fit_transform(numbers))
    assert report.summary["convergence"]["converged"] is False
    assert not any("without settling" in c["text"] for c in report.summary["cautions"])
    assert "nearly settled" in report.render("html")
    imputer = greyfill.CGKNNImputer(3, max_iter=1, tol=0.0)
    summary = summarize(imputer, X, imputer.fit_transform(X, y), y)
    texts = " ".join(c["text"] for c in summary["cautions"])
    assert "without settling" in texts
    assert "max_iter" not in texts


def test_estimates_are_sent_to_draws_that_know_y():
    imputer, X, filled, y = tuned_table()
    texts = " ".join(c["text"] for c in summarize(imputer, X, filled, y)["cautions"])
    assert "fit(X, y).draw(X, 20, y)" in texts
    assert "greyfill.pool" in texts
    assert "Draws made without y weaken" in texts
    texts = " ".join(c["text"] for c in summarize(imputer, X, filled)["cautions"])
    assert "draw(X, 20) and greyfill.pool" in texts
    assert "labels" not in texts
    other = greyfill.CGKNNImputer(3)
    told = summarize(other, X, other.fit_transform(X, y), y)["cautions"]
    assert not any("draw(" in c["text"] for c in told)
