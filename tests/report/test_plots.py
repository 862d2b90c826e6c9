"""Plots on axes of the user: the numbers are drawn, dollars stay dollars, pyplot is not touched."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report.tables import nasty_report, tiny
from sklearn.exceptions import NotFittedError

import greyfill
from greyfill import plots
from greyfill.datasets import load
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.report import make_report


@pytest.fixture(scope="module")
def fitted():
    iris = load("iris")
    X = iris.X.to_numpy().copy()
    X[::7, 2] = np.nan
    imputer = greyfill.CGKNNImputer("cv")
    return imputer, make_report(imputer, X, imputer.fit_transform(X, iris.y), iris.y)


@pytest.mark.parametrize("name", [name for name in plots.__all__ if name != "sensitivity"])
def test_draws_on_the_given_axes_or_on_new_ones(fitted, name):
    draw = getattr(plots, name)
    ax = Figure().add_subplot()
    assert draw(fitted[1], ax=ax) is ax
    assert isinstance(draw(fitted[1].summary), Axes)


@pytest.mark.parametrize("name", ["relevance", "k_curve", "convergence"])
def test_a_fitted_imputer_is_enough(fitted, name):
    assert isinstance(getattr(plots, name)(fitted[0]), Axes)


def test_a_plot_of_the_table_needs_the_table():
    with pytest.raises(InvalidDataError, match="make_report"):
        plots.missing_map(object())


@pytest.mark.parametrize("name", ["relevance", "k_curve", "convergence", "missing_map"])
def test_an_imputer_that_is_not_fitted_has_nothing_to_show(name):
    with pytest.raises(NotFittedError):
        getattr(plots, name)(greyfill.CGKNNImputer())


def test_every_plot_of_the_page_tells_its_values(fitted):
    page = fitted[1].render()
    svgs = [part.partition("</svg>")[0] for part in page.split('role="img"')[1:]]
    assert len(svgs) > 4
    assert all('class="tip"' in svg and "<title>" in svg for svg in svgs)
    column = fitted[1].summary["columns"][2]
    n, bins = column["missing"], len(column["bins"])
    assert f"<title>x2: {n} holes, {100 * n / 150:.1f} %</title>" in page
    assert page.count("of the observed,") <= 4 * bins  # all rows and three classes


def test_bars_are_the_weights_in_falling_order(fitted):
    imputer = fitted[0]
    bars = plots.relevance(imputer).patches
    widths = [bar.get_width() for bar in bars]
    assert np.allclose(widths, np.sort(imputer.feature_weights_)[::-1], rtol=1e-5)


def test_curve_of_k_has_every_score_and_marks_the_choice(fitted):
    imputer = fitted[0]
    curve, mark = plots.k_curve(imputer).lines
    assert dict(zip(*map(np.ndarray.tolist, curve.get_data()), strict=True)) == pytest.approx(
        imputer.k_scores_, rel=1e-5
    )
    assert mark.get_xdata()[0] == imputer.n_neighbors_


def test_convergence_is_logarithmic(fitted):
    ax = plots.convergence(fitted[0])
    assert ax.get_yscale() == "log"
    positive = [v for v in fitted[0].history_ if v > 0]
    assert np.allclose(ax.lines[0].get_ydata()[: len(positive)], positive, rtol=1e-5)


def test_convergence_of_chains_has_a_line_for_each_column():
    X = pd.DataFrame({"$a$": [1.0, 2.0, None, 4.0, 5.0], "b": [2.0, None, 3.0, 5.0, 6.0]})
    ax = plots.convergence(greyfill.MICEImputer(1, n_iter=3).fit(X))
    assert ax.get_yscale() == "linear"
    names = ax.get_legend().get_texts()
    assert sorted(text.get_text() for text in names) == ["$a$", "b"]
    assert not any(text.get_parse_math() for text in names)
    *drifts, zero = ax.lines
    assert [len(line.get_xdata()) for line in drifts] == [3, 3]
    assert list(zero.get_ydata()) == [0.0, 0.0]


def test_distribution_of_a_class(fitted):
    ax = plots.distributions(fitted[1], "x2", group="setosa")
    assert "imputed" in ax.get_title(loc="right")
    with pytest.raises(InvalidParameterError, match="'x9' is not in the report"):
        plots.distributions(fitted[1], "x9")


def test_distribution_of_a_column_without_holes_has_no_imputed_part():
    X = pd.DataFrame({"n": [1.0, 2.5, 4.0], "c": ["u", "v", "u"], "h": [1.0, None, 3.0]})
    imputer = greyfill.KNNIImputer(1)
    report = make_report(imputer, X, imputer.fit_transform(X))
    # stairs of the observed numbers, or a bar for each observed level, and nothing beside them
    drawn = {name: len(plots.distributions(report, name).patches) for name in X}
    assert drawn == {"n": 1, "c": 2, "h": 2}


def test_dollars_are_no_mathematics():
    ax = plots.missing_map(nasty_report())
    labels = [text for text in ax.get_yticklabels() if "$" in text.get_text()]
    assert labels
    assert not any(text.get_parse_math() for text in labels)


def test_nothing_to_draw_is_said():
    imputer = tiny()[0]
    assert "given" in plots.k_curve(imputer).texts[0].get_text()
    chain = greyfill.MICEImputer(1, n_iter=1).fit([[1.0, 2.0], [None, 3.0], [2.0, 4.0]])
    assert "no weights" in plots.relevance(chain).texts[0].get_text()
    whole = greyfill.MICEImputer(1, n_iter=1).fit([[1.0, 2.0], [3.0, 4.0]])
    assert "one pass" in plots.convergence(whole).texts[0].get_text()
    without_k = greyfill.GreyImputer().fit([[1.0, None], [2.0, 3.0]])
    assert "without a k" in plots.k_curve(without_k).texts[0].get_text()


def test_the_plot_of_shifts_needs_shifts(fitted):
    with pytest.raises(InvalidDataError, match=r"greyfill\.sensitivity found"):
        plots.sensitivity(fitted[1])


def test_greyfill_imports_no_matplotlib_and_plots_no_pyplot():
    code = (
        "import sys, greyfill; assert 'matplotlib' not in sys.modules; "
        "import greyfill.plots; assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def holding_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    X = pd.DataFrame({"x": x, "y$": x + 0.3 * rng.normal(size=120), "c": np.where(x > 0, "u", "v")})
    X = X.mask(rng.random(X.shape) < 0.15)
    imputer = greyfill.GreyImputer(n_cells=60)
    return imputer, make_report(imputer, X, imputer.fit_transform(X)), X


def test_left_out_cells_against_their_fills(holding_out):
    imputer, _report, X = holding_out
    ax = plots.overimpute(imputer, "y$")
    inside, outside = (line for line in ax.lines if line.get_marker() in "os")
    truth = np.concatenate([inside.get_xdata(), outside.get_xdata()])
    fills = np.concatenate([inside.get_ydata(), outside.get_ydata()])
    assert 50 <= len(truth) <= 60
    assert np.isin(truth.round(5), X["y$"].dropna().round(5)).mean() > 0.9
    assert np.corrcoef(truth, fills)[0, 1] > 0.8
    limits = ax.collections[0].get_segments()
    for x, (low, high) in zip(inside.get_xdata(), limits, strict=True):
        assert low[1] <= x <= high[1]
    for x, (low, high) in zip(outside.get_xdata(), ax.collections[1].get_segments(), strict=True):
        assert not low[1] <= x <= high[1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("true value", "fill")


def test_left_out_levels_are_counted(holding_out):
    imputer, report, _ = holding_out
    for source in (imputer, report, report.summary):
        ax = plots.overimpute(source, "c")
        counts = [int(text.get_text()) for text in ax.texts]
        entry = next(e for e in report.summary["overimputed"] if e["name"] == "c")
        assert sum(counts) == entry["cells"]
        assert ax.get_ylabel() == "true value"


def test_left_out_cells_of_others_are_refused(holding_out, fitted):
    with pytest.raises(InvalidDataError, match="CGKNNImputer holds no cells out"):
        plots.overimpute(fitted[0])
    with pytest.raises(NotFittedError):
        plots.overimpute(greyfill.GreyImputer())
    with pytest.raises(InvalidParameterError, match="no column 'z'"):
        plots.overimpute(holding_out[0], "z")
    with pytest.raises(InvalidParameterError, match="'z' is not in the report"):
        plots.overimpute(holding_out[1], "z")
    texts = plots.overimpute(fitted[1]).texts
    assert texts[0].get_text() == "no held-out cells to show"
