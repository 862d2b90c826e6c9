"""Tables and figures of the simulations, on results made up for the purpose."""

import polars as pl
import pytest

from greyfill.paper import figures
from greyfill.paper.grids import (
    Entry,
    above_complete,
    accuracy_grid,
    implied_shares,
    toy_information,
)
from greyfill.paper.printed import LABELS, TABLES, TOY_INFORMATION, table_of
from greyfill.paper.results import INFORMATION, RUNS, Results

ACCURACY = table_of("cubes", "accuracy")
RATE = ACCURACY.rates[0]
PAPER = {"cgknn": 95.0, "gknn": 90.0, "complete": 93.0}
HONEST = {"cgknn": 91.0, "gknn": 89.5}


def results_of(metrics, scenario="cubes", rate=RATE):
    """One seed with a figure for each metric and method."""
    rows = [
        (scenario, rate, 0, method, metric, value, None)
        for metric, found in metrics.items()
        for method, value in found.items()
    ]
    return Results(runs=pl.DataFrame(rows, schema=RUNS, orient="row"))


@pytest.fixture
def accuracies():
    return results_of({"accuracy_paper": PAPER, "accuracy_honest": HONEST})


def test_methods_above_the_complete_data_are_named(accuracies):
    (sentence,) = above_complete(accuracies, ACCURACY)
    assert "(93.00 %): under the paper's protocol CGKNN; under the honest one none." in sentence
    assert above_complete(results_of({"accuracy_paper": HONEST}), ACCURACY) == []


def test_accuracies_stand_beside_the_printed_ones_and_the_leak(accuracies):
    shown = accuracy_grid(accuracies, ACCURACY, "accuracy")
    assert shown.groups == [("", 1), (f"{100 * RATE:.0f} %", 4)]
    rows = {row[0].text: row[1:] for row in shown.rows}
    printed = ACCURACY.figures[RATE]["cgknn"]
    assert rows["CGKNN"] == (
        Entry(f"{printed:.2f}", strong=ACCURACY.bold[RATE] == "cgknn"),
        Entry("95.00", strong=True),
        Entry("91.00", strong=True),
        Entry("+4.00"),
    )
    assert [entry.text for entry in rows["GKNN"][1:]] == ["90.00", "89.50", "+0.50"]
    assert not rows["GKNN"][1].strong
    assert rows[LABELS["mice"]][1:] == (Entry("not available"), Entry("not available"), Entry(""))
    assert [entry.text for entry in rows[LABELS["complete"]]] == ["", "93.00", "", ""]


def test_accuracies_are_drawn_where_they_were_measured(accuracies):
    (axes,) = figures.accuracies(accuracies, ACCURACY).axes
    drawn = {round(float(x), 1) for line in axes.lines for x in line.get_xdata()}
    assert {95.0, 91.0, 90.0, 89.5, 93.0} <= drawn


def test_information_of_the_cubes_stands_beside_the_printed_one():
    bits = {**dict.fromkeys(TOY_INFORMATION, 0.25), "noise1": 0.01, "noise2": 0.02}
    rows = [("cubes", 0, name, value, value / 2) for name, value in bits.items()]
    results = Results(information=pl.DataFrame(rows, schema=INFORMATION, orient="row"))
    *relevant, last = toy_information(results).rows
    assert [row[0].text for row in relevant] == list(TOY_INFORMATION)
    assert [entry.text for entry in relevant[0][1:3]] == ["0.250", "0.125"]
    assert [entry.text for entry in last] == [
        "largest of 2 noise columns (noise2)", "0.020", "0.010", "almost 0",
    ]  # fmt: skip
    (axes,) = figures.information(results, "cubes").axes
    assert [bar.get_width() for bar in axes.patches] == list(bits.values())
    assert list(axes.lines[0].get_xdata()) == list(TOY_INFORMATION.values())


def test_printed_errors_of_voting_imply_shares_of_wrong_cells():
    voting = TABLES["voting"]
    rate = voting.rates[0]
    printed = voting.figures[rate]["cgknn"]
    results = results_of({"wrong_share": {"cgknn": 0.125}}, "voting", rate)
    ((_, rmse, hidden, all_cells, ours),) = implied_shares(results, voting).rows
    assert float(rmse.text) == printed
    assert float(hidden.text.removesuffix(" %")) == pytest.approx(100 * printed**2, abs=0.05)
    assert float(all_cells.text.removesuffix(" %")) == pytest.approx(
        100 * printed**2 / rate, abs=0.05
    )
    assert ours.text == "12.5 %"


def test_the_cubes_are_drawn_in_two_classes():
    (axes,) = figures.cubes(0).axes
    assert [label.get_text() for label in axes.get_legend().get_texts()] == ["class 1", "class 2"]
