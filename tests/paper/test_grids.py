"""Tables and figures of the simulations, on results made up for the purpose."""

from functools import partial

import polars as pl
import pytest

from greyfill.paper import figures
from greyfill.paper.grids import (
    Entry,
    above_complete,
    accuracy_grid,
    error_grid,
    implied_shares,
    rulings,
    start_seconds,
    toy_information,
    words_by_reading,
)
from greyfill.paper.printed import LABELS, TABLES, TOY_INFORMATION, table_of
from greyfill.paper.results import INFORMATION, RUNS, TIMINGS, Results
from greyfill.paper.runs import NEIGHBORS, Reading
from greyfill.paper.verdicts import Claim, Setting, best

ACCURACY = table_of("cubes", "accuracy")
RATE = ACCURACY.rates[0]
PAPER = {"cgknn": 95.0, "gknn": 90.0, "complete": 93.0}
HONEST = {"cgknn": 91.0, "gknn": 89.5}


def results_of(metrics, scenario="cubes", rate=RATE, reading=None, seeds=(0.0,)):
    """A figure for each metric and method, shifted from seed to seed."""
    rows = [
        (scenario, rate, seed, method, (reading or Reading()).key(method), metric, value + shift,
         None)
        for metric, found in metrics.items()
        for method, value in found.items()
        for seed, shift in enumerate(seeds)
    ]  # fmt: skip
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
    results = results_of({"range-hidden": {"cgknn": 0.125**0.5}}, "voting", rate)
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


@pytest.fixture
def read_twice():
    """Errors of the neighbor methods under three readings, those of two seeds in step."""
    errors = {
        Reading(): (0.2, 0.08, 0.15, 0.06, 0.05),
        Reading("smallest"): (0.2, 0.09, 0.15, 0.11, 0.12),
        Reading(holes="filled"): (0.2, 0.3, 0.04, 0.06, 0.4),
    }
    parts = []
    for reading, found in errors.items():
        figures = {
            "units-hidden": dict(zip(NEIGHBORS, found, strict=True)),
            "tied_k": {"cgknn": 49.0},
        }
        parts.append(results_of(figures, reading=reading, seeds=(-0.001, 0.001)).runs)
    return Results(runs=pl.concat(parts))


def test_rulings_show_every_reading_and_who_wins_in_it(read_twice):
    table = TABLES["table1"]
    rows = {row[0].text: row[1:] for row in rulings(read_twice, table, RATE, "units-hidden").rows}
    at = {name: [entry.text for entry in row] for name, row in rows.items()}
    cgknn = NEIGHBORS.index("cgknn")
    mask, smallest, filled, sources, printed = at.values()
    assert [row[cgknn][:6] for row in at.values()] == [
        "0.0500",
        "0.1200",
        "0.4000",
        "0.0500",
        "0.1283",
    ]
    assert [row[-2] for row in at.values()] == ["1 of 5", "3 of 5", "5 of 5", "2 of 5", "1 of 5"]
    assert mask[-1] == "49"
    assert printed[-1] == ""
    gknn = NEIGHBORS.index("gknn")
    assert sources[gknn] == filled[gknn]  # by its source, GKNN takes fills as observed
    assert sources[gknn + 1] == mask[gknn + 1]  # FWGKNN does not
    assert smallest != mask


def test_rivals_stand_in_both_readings(read_twice):
    shown = error_grid(read_twice, TABLES["table1"], "units-hidden", "errors")
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in shown.rows}
    assert rows["GKNN"] == ["0.1500 ± 0.0010", "0.1443", "worse (+4 %)"]
    assert rows["GKNN, holes as filled"] == ["0.0400 ± 0.0010", "0.1443", "better (−72 %)"]
    assert {name for name in rows if "filled" in name} == {
        "IKNN, holes as filled", "MI-KNN, holes as filled", "GKNN, holes as filled",
    }  # fmt: skip
    other = Results(runs=read_twice.runs, reading=Reading(holes="sources"))
    rows = {
        r[0].text: r[1].text for r in error_grid(other, TABLES["table1"], "units-hidden", "").rows
    }
    assert rows["GKNN"] == "0.0400 ± 0.0010"
    assert rows["GKNN, holes by mask"] == "0.1500 ± 0.0010"
    assert rows["CGKNN"] == "0.0500 ± 0.0010"


def test_words_are_counted_under_each_reading(read_twice):
    claim = Claim("", "", partial(best, Setting("cubes", RATE, "units-hidden")))
    counts = [
        [entry.text for entry in row[1:]] for row in words_by_reading(read_twice, [claim]).rows
    ]
    assert counts == [list("1000"), list("0010"), list("0010"), list("0010")]


@pytest.mark.parametrize(("quick", "ratio"), [(0.001, "3.0"), (0.0, "not available")])
def test_times_of_a_clock_with_coarse_steps(quick, ratio):
    rows = [("iris", 0, "cgknn", 4, quick), ("iris", 0, "fwgknn", 4, 0.003)]
    results = Results(timings=pl.DataFrame(rows, schema=TIMINGS, orient="row"))
    assert start_seconds(results).rows[0][-1].text.startswith(ratio)
