"""The pure parts of the program that measures what GreyImputer costs."""

from collections.abc import Callable
from math import isnan, nan
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

HOME = Path(__file__).parents[2] / "benchmarks"
INTRODUCTION = "# Performance\n\nWords.\n"


@pytest.fixture(scope="module")
def cost(load_program: Callable[[str], ModuleType]) -> ModuleType:
    return load_program("grey_cost")


@pytest.fixture
def page(cost):
    return cost.grey_page


def test_the_ratio_says_how_many_times_as_much_the_earlier_version_takes(page):
    assert page.ratio({"GreyImputer": 2.0, "before": 8.0}) == 4.0
    assert isnan(page.ratio({"GreyImputer": 2.0}))
    assert page.mean_ratio([2.0, nan, 8.0]) == pytest.approx(4.0)
    assert isnan(page.mean_ratio([nan]))


def test_fills_are_shown_with_ratios_and_their_mean_over_the_bar(page):
    found = {
        "a": {"GreyImputer": 1.0, "before": 2.0, "peer": 30.0},
        "b": {"GreyImputer": 0.05, "before": 0.4},
        "c": {"GreyImputer": 1.0, "before": 100.0, "peer": 3.0},
    }
    lines = page.fills_section(found, {("b", "peer"): "over 120 s"}, ("a", "b", "absent"), ())
    assert "| seconds | GreyImputer | before | peer | before / now |" in lines
    assert "| a | 1.00 | 2.00 | 30.0 | 2.0× |" in lines
    assert "| b | 0.050 | 0.40 | over 120 s | 8.0× |" in lines
    assert lines[-1] == "Before / now: geometric mean over a, b: **4.0×**."


def test_a_contestant_that_failed_everywhere_is_shown(page):
    lines = page.fills_section({"a": {"GreyImputer": 1.0}}, {("a", "peer"): "over 60 s"}, (), ())
    assert "| a | 1.00 | over 60 s |" in lines


def test_without_an_earlier_version_no_ratio_is_shown(page):
    text = "\n".join(page.fills_section({"a": {"GreyImputer": 1.0}}, {}, ("a",), ("A note.",)))
    assert "| seconds | GreyImputer |\n| --- | ---: |\n| a | 1.00 |" in text
    assert "A note." in text
    assert "*Before*" not in text


def test_the_mean_over_rows_joins_arrays_and_pandas(page):
    found = {
        "a": {"transform, numpy": {"GreyImputer": 1.0, "before": 2.0}},
        "b": {
            "predict_proba": {"GreyImputer": 1.0, "before": 3.0},
            "transform, pandas": {"GreyImputer": 1.0, "before": 8.0},
        },
    }
    lines = page.rows_section(found, ("a", "b"), ())
    assert "| ms | transform, numpy | transform, pandas | predict_proba |" in lines
    assert "| b | – | 1.00 (8.0×) | 1.00 (3.0×) |" in lines
    assert any(line.endswith("numpy or pandas, before / now: geometric mean over a, b: **4.0×**.")
               for line in lines)  # fmt: skip


def test_errors_are_compared_case_by_case(page):
    cases = [{"GreyImputer": 0.1, "before": 0.2}, {"GreyImputer": 0.4, "before": 0.1}]
    lines = page.errors_section({"a": cases}, [0, 1], ["20 % MCAR"])
    assert "| a | 0.2500 | 0.1500 | 1.414 |" in lines
    assert lines[-1] == "Geometric mean of the ratios of 1 tables: **1.4142**."


def contestants(cost, answers, order):
    """Each gives one answer after the other, and fails when it has none left."""

    def contestant(name):
        def run():
            order.append(name)
            if not answers[name]:
                raise cost.PeerError("no answer within 120 s of computing")
            return {"seconds": answers[name].pop(0)}

        return run

    return {name: contestant(name) for name in answers}


def test_contestants_take_turns_and_the_least_counts(cost):
    answers = {"quick": [3.0, 1.0, 2.0], "slow": [99.0], "broken": [5.0]}
    order = []
    least, failed = cost.in_turns(contestants(cost, answers, order))
    assert order == ["quick", "slow", "broken", "quick", "broken", "quick"]
    assert least == {"quick": {"seconds": 1.0}, "slow": {"seconds": 99.0}}
    assert {name: cost._briefly(text) for name, text in failed.items()} == {"broken": "over 120 s"}


def test_the_quicker_version_has_no_more_tries_than_the_slower(cost):
    answers = {"GreyImputer": [9.0, 1.0], "before": [99.0], "peer": [3.0, 2.0, 1.0]}
    order = []
    least, _ = cost.in_turns(contestants(cost, answers, order))
    assert order == ["GreyImputer", "before", "peer", "peer", "peer"]
    assert least["GreyImputer"] == {"seconds": 9.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--accuracy"], "name its --before"),
        (["--tables", "iris", "nowhere"], "no nowhere among"),
        (["--accuracy", "--before", "python", "--tables", "1000 × 20"], "no 1000 × 20 among"),
    ],
)
def test_options_that_do_not_go_together_are_refused(cost, capsys, given, words):
    with pytest.raises(SystemExit):
        cost.parsed(given)
    assert words in capsys.readouterr().err


def test_options_are_read(cost):
    options = cost.parsed(["--before", "python", "--accuracy", "--seeds", "0..2"])
    assert (options.before, options.accuracy, options.seeds) == ("python", True, [0, 1, 2])
    assert not cost.parsed([]).large


def test_tables_of_the_folder_are_left_out_with_a_note(cost, monkeypatch):
    monkeypatch.delenv("GREYFILL_DATA", raising=False)
    names, notes = cost.available(["iris", "voting", "100 × 5"])
    assert names == ["iris", "100 × 5"]
    assert notes == ["Left out, since `GREYFILL_DATA` is not set: voting."]


def test_a_made_up_table_has_the_rank_and_the_holes_that_it_promises(cost):
    case = cost.Made(200, 30).case("200 × 30")
    assert case.table.missing.mean() == pytest.approx(0.2, abs=0.01)
    singular = np.linalg.svd(case.data.table.values, compute_uv=False)
    assert singular[5] > 3 * singular[6]


def test_sections_are_put_anew_or_in_front_in_their_order(cost, tmp_path):
    from sections import again, kept

    path = tmp_path / "page.md"
    path.write_text(INTRODUCTION + "\n## Others\n\nold\n")
    order = ("First", "Second")
    again(path, ["## Second", "", "2"], order)
    again(path, ["## First", "", "1"], order)
    again(path, ["## Others", "", "new"], order)
    again(path, ["## Second", "", "two"], order)
    assert path.read_text() == (
        INTRODUCTION + "\n## First\n\n1\n\n## Second\n\ntwo\n\n## Others\n\nnew\n"
    )
    assert kept(path, order) == [["## First", "", "1"], ["## Second", "", "two"]]
    assert kept(tmp_path / "absent.md", order) == []
