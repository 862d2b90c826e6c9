"""Verdicts on results made up for the purpose."""

from functools import partial

import polars as pl
import pytest

from greyfill.paper import ReproductionPlan, tally
from greyfill.paper.claims import claims
from greyfill.paper.grids import characteristics
from greyfill.paper.printed import METHODS
from greyfill.paper.results import INFORMATION, PASSES, RUNS, TIMINGS, Cell, Results
from greyfill.paper.runs import Reading
from greyfill.paper.verdicts import (
    WORDS,
    Claim,
    Setting,
    beats,
    best,
    figure_word,
    final_best,
    growing_advantage,
    often,
    printed_figure,
    settles_fast,
    starts_faster,
    toy_bits,
    toy_order,
    word,
)

LOW, HIGH = Setting("cubes", 0.1, "units-hidden"), Setting("cubes", 0.2, "units-hidden")
ACCURACY = Setting("cubes", 0.1, "accuracy_paper", lower_is_better=False)


def judged(rule, *about):
    """The verdict on a claim that this rule decides."""
    *given, results = about
    return Claim("where", "what", partial(rule, *given)).decide(results)


def results_of(figures, setting=LOW, shifts=(-0.01, 0.01)):
    """Seeds around each mean, in step; a figure may be a pair of its own values."""
    rows = []
    for method, found in figures.items():
        values = found if isinstance(found, tuple) else [found + shift for shift in shifts]
        about = setting.scenario, setting.rate
        reading = Reading().key(method)
        rows += [
            (*about, seed, method, reading, setting.metric, value, None)
            for seed, value in enumerate(values)
        ]
    return Results(runs=pl.DataFrame(rows, schema=RUNS, orient="row"))


def joined(*parts):
    return Results(runs=pl.concat([part.runs for part in parts]))


def others(value):
    return {method: value for method in METHODS if method != "cgknn"}


@pytest.mark.parametrize(
    ("mean", "error", "outcome"),
    [
        (0.0641, 0.001, "better"),  # half of the printed error is not "as printed"
        (0.1287, 0.001, "reproduced"),  # 0.3 % above, within two s.e.
        (0.1279, 0.001, "reproduced"),
        (0.1302, 0.001, "reproduced"),
        (0.1304, 0.001, "worse"),
        (0.1262, 0.001, "better"),
        (0.1287, 0.010, "undecided"),  # agreement that a wide interval would give to anything
        (0.1600, 0.010, "worse"),
        (0.1283, float("nan"), "undecided"),
    ],
)
def test_a_printed_figure_is_judged_on_both_sides(mean, error, outcome):
    assert figure_word(Cell(mean, 2 * error, 4), 0.1283, 4) == outcome


def test_rounding_of_the_printed_figure_counts():
    exact = Cell(0.12834, 0.0, 4)
    assert figure_word(exact, 0.1283, 4) == "reproduced"
    assert figure_word(exact, 0.1282, 4) == "worse"
    assert figure_word(Cell(0.42, 0.0, 4), 0.40, 2, sign=0) == "worse"
    assert figure_word(Cell(0.38, 0.0, 4), 0.40, 2, sign=0) == "worse"  # neither side is good
    assert figure_word(Cell(95.0, 0.02, 4), 90.0, 2, sign=-1) == "better"


def test_a_difference_must_exceed_two_standard_errors():
    assert [word(gap, 0.5) for gap in (1.01, 1.0, 0.0, -1.0, -1.01)] == [
        "reproduced", "undecided", "undecided", "undecided", "worse",
    ]  # fmt: skip
    assert word(1e-12, 0.0) == "undecided"


def test_lowest_error_is_reproduced():
    verdict = judged(best, LOW, results_of({**others(0.3), "cgknn": 0.2}))
    assert verdict.outcome == "reproduced"
    assert "CGKNN 0.2000 ± 0.0100" in verdict.numbers
    assert "advantage of CGKNN +0.1000 ± 0.0000 (place 1 of 7)" in verdict.numbers


def test_one_clearly_better_rival_makes_it_worse():
    verdict = judged(best, LOW, results_of({**others(0.3), "cgknn": 0.2, "gknn": 0.15}))
    assert verdict.outcome == "worse"
    assert "GKNN 0.1500 ± 0.0100; advantage of CGKNN −0.0500" in verdict.numbers
    assert "(place 2 of 7)" in verdict.numbers


def test_one_better_rival_outweighs_others_that_cannot_be_told():
    mixed = {**others(0.3), "cgknn": 0.2, "gknn": 0.15, "mice": (0.25, 0.17)}
    assert judged(best, LOW, results_of(mixed)).outcome == "worse"


def test_differences_are_paired_by_seed():
    rival = (0.25, 0.17)  # as good in the mean, and as spread as in step, but not paired
    near = results_of({**others(0.3), "cgknn": (0.19, 0.21), "gknn": rival})
    assert judged(best, LOW, near).outcome == "undecided"
    paired = results_of({**others(0.9), "cgknn": (0.10, 0.30), "gknn": (0.11, 0.31)})
    assert judged(best, LOW, paired).outcome == "reproduced"


def test_highest_accuracy_looks_the_other_way():
    results = results_of({**others(90.0), "cgknn": 95.0}, ACCURACY)
    assert judged(best, ACCURACY, results).outcome == "reproduced"
    assert judged(beats, ACCURACY, "gknn", results).outcome == "reproduced"
    lower = results_of({**others(90.0), "cgknn": 85.0}, ACCURACY)
    assert judged(beats, ACCURACY, "gknn", lower).outcome == "worse"


def test_tie_is_undecided():
    results = results_of({**others(90.0), "cgknn": 90.0 + 1e-12}, ACCURACY)
    assert judged(best, ACCURACY, results).outcome == "undecided"
    assert judged(beats, ACCURACY, "gknn", results).outcome == "undecided"


def test_one_seed_decides_nothing():
    results = results_of({**others(0.3), "cgknn": 0.2}, shifts=(0.0,))
    assert judged(best, LOW, results).outcome == "undecided"
    assert judged(printed_figure, LOW, 0.2, results).outcome == "undecided"
    assert judged(often, "cgknn", 0, (LOW,), 1, 1.0, results).outcome == "undecided"


def test_missing_methods_are_named():
    verdict = judged(best, LOW, results_of({"cgknn": 0.1, "gknn": 0.2}))
    assert verdict.outcome == "reproduced"
    assert "without MICE, MissForest, IKNN, MI-KNN, FWGKNN" in verdict.numbers


def test_claims_of_the_paper_and_ours_are_counted_apart():
    everything = [claim for found in claims(ReproductionPlan.full()).values() for claim in found]
    ours = [claim for claim in everything if claim.is_ours]
    assert (len(everything) - len(ours), len(ours)) == (43, 17)
    assert all("honest" in claim.text or "read as root" in claim.text for claim in ours)
    verdicts = [claim.decide(Results()) for claim in everything]
    assert {verdict.outcome for verdict in verdicts} == {"not measured"}
    assert [v.is_ours for v in verdicts] == [c.is_ours for c in everything]
    assert tally(verdicts) == "0 reproduced, 0 better, 0 worse, 0 undecided, 60 not measured"


def test_a_convention_of_ones_own_is_what_is_judged():
    plan = ReproductionPlan(("iris",), (0.1,), range(2), ("cgknn",), 0, 0, convention="sd-table")
    found = claims(plan)["iris"]
    own = results_of({"cgknn": 0.0509}, Setting("iris", 0.05, "sd-table"), shifts=(-1e-6, 1e-6))
    assert found[0].decide(own).outcome == "reproduced"
    other = results_of({"cgknn": 0.0509}, Setting("iris", 0.05, "range-hidden"))
    assert found[0].decide(other).outcome == "not measured"


def test_printed_figure_shows_its_standard_error():
    verdict = judged(printed_figure, LOW, 0.19, results_of({"cgknn": 0.2}, shifts=(-0.002, 0.002)))
    assert verdict.outcome == "worse"
    assert verdict.numbers == "CGKNN 0.2000 ± 0.0020, printed 0.1900 (+5 %)"


def test_places_are_counted_from_both_ends():
    first = results_of({"mice": 0.3, "missforest": 0.2, "cgknn": 0.1}, LOW)
    second = results_of({"mice": 0.2, "missforest": 0.3, "cgknn": 0.1}, HIGH)
    results = joined(first, second)
    both = (LOW, HIGH)
    first = judged(often, "cgknn", 0, both, 4, 1.0, results)
    assert first.outcome == "reproduced"
    assert first.numbers.startswith("2 ± 0.0 of 2 settings in this run (2 needed), 4 of 2 in the")
    worst = judged(often, "mice", -1, both, 4, 0.501, results)
    assert (worst.outcome, worst.numbers[:12]) == ("worse", "1 ± 0.0 of 2")
    assert judged(often, "mice", -2, both, 4, 0.5, results).outcome == "reproduced"


def test_a_count_that_other_seeds_would_change_is_undecided():
    seeds = tuple(0.2 + 0.05 * (-1) ** seed for seed in range(8))
    close = results_of({"mice": seeds, "cgknn": tuple(0.399 - value for value in seeds)})
    verdict = judged(often, "cgknn", 0, (LOW,), 1, 1.0, close)
    assert verdict.outcome == "undecided"
    assert verdict.numbers.startswith("1 ± 0.5 of 1")


def test_growing_advantage():
    near = results_of({**others(0.3), "cgknn": 0.2}, LOW)
    far = results_of({**others(0.5), "cgknn": 0.2}, HIGH)
    verdict = judged(growing_advantage, LOW, HIGH, joined(near, far))
    assert verdict.outcome == "reproduced"
    assert "+0.1000 at 10 %, +0.3000 at 20 %; growth +0.2000 ± 0.0000" in verdict.numbers
    assert judged(growing_advantage, HIGH, LOW, joined(near, far)).outcome == "worse"
    same = results_of({**others(0.3), "cgknn": 0.2}, HIGH)
    assert judged(growing_advantage, LOW, HIGH, joined(near, same)).outcome == "undecided"


def information(**bits):
    rows = [
        ("cubes", seed, name, value + shift, value)
        for name, value in bits.items()
        for seed, shift in enumerate((-0.001, 0.001))
    ]
    return Results(information=pl.DataFrame(rows, schema=INFORMATION, orient="row"))


def test_information_of_the_toy():
    printed = information(x1=0.402, x2=0.28, x3=0.21, x4=0.001)
    assert judged(toy_bits, printed).outcome == "reproduced"
    assert judged(toy_order, printed).outcome == "reproduced"
    other = information(x1=0.9, x2=0.2, x3=0.3, x4=0.001)
    assert judged(toy_bits, other).outcome == "worse"
    assert judged(toy_order, other).outcome == "worse"
    noisy = information(x1=0.402, x2=0.28, x3=0.21, x4=0.06)
    assert judged(toy_order, noisy).outcome == "worse"


def curves(step=0.0, **accuracies):
    rows = [
        (0.05, seed, method, "paper", passes, value + seed * (1 + step * passes))
        for method, values in accuracies.items()
        for passes, value in enumerate(values)
        for seed in (0, 1)
    ]
    return Results(passes=pl.DataFrame(rows, schema=PASSES, orient="row"))


def test_last_pass_decides_figure_7():
    results = curves(cgknn=(80, 95), fwgknn=(97, 94), gknn=(80, 90))
    verdict = judged(final_best, 0.05, "paper", results)
    assert verdict.outcome == "reproduced"
    assert "advantage of CGKNN +1.00 ± 0.00 (place 1 of 3)" in verdict.numbers
    assert judged(final_best, 0.05, "honest", results).outcome == "not measured"
    behind = curves(cgknn=(80, 93), fwgknn=(97, 94), gknn=(80, 90))
    assert judged(final_best, 0.05, "paper", behind).outcome == "worse"


def test_settling():
    slow, quick = (80.0, 85.0, 90.0, 92.0, 94.0, 94.0), (80.0, 94.0, 91.0, 94.1, 94.0, 94.0)
    fast = judged(settles_fast, curves(cgknn=quick, fwgknn=slow, gknn=slow))
    assert fast.outcome == "reproduced"
    assert fast.numbers == "largest difference from the last pass: +0.10 ± 0.00 at 5 %"
    late = judged(settles_fast, curves(cgknn=slow, fwgknn=quick, gknn=quick))
    assert late.outcome == "worse"
    assert judged(settles_fast, curves(step=0.2, cgknn=quick)).outcome == "undecided"


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [((3.0, 3.1), "reproduced"), ((1.5, 1.6), "worse"), ((1, 4), "undecided")],
)
def test_time_to_start(seconds, outcome):
    rows = [("iris", repeat, "cgknn", 4, 1.0) for repeat in (0, 1)]
    rows += [("iris", repeat, "fwgknn", 4, float(time)) for repeat, time in enumerate(seconds)]
    results = Results(timings=pl.DataFrame(rows, schema=TIMINGS, orient="row"))
    assert judged(starts_faster, results).outcome == outcome


def test_every_verdict_carries_one_of_four_words_and_a_standard_error():
    plan = ReproductionPlan.full(2)
    rows = []
    for claim in [claim for found in claims(plan).values() for claim in found]:
        setting = next((a for a in getattr(claim.rule, "args", ()) if isinstance(a, Setting)), None)
        if setting:
            rows.append(results_of({**others(0.3), "cgknn": 0.2, "none": 0.4}, setting))
    results = joined(*rows)
    results = Results(runs=results.runs.unique())
    for found in claims(plan).values():
        for claim in found:
            verdict = claim.decide(results)
            if verdict.outcome != "not measured":
                assert verdict.outcome in WORDS
                assert "±" in verdict.numbers


def test_table_5_is_explained_by_the_class_column():
    verdicts = {row[0].text: row[-1].text for row in characteristics().rows}
    assert verdicts["Iris, counted"] == "agrees"
    assert verdicts["Voting, counted"] == "differs"
    assert verdicts["Voting, counted, one vote less"] == "agrees if the class column counts"
    assert verdicts["Hepatitis, counted"] == "agrees if the class column counts"


def test_cells():
    assert Cell.of([]) is None
    assert Cell.of([float("nan")]) is None
    assert Cell.of([0.5]).show() == "0.5000"
    assert Cell.of([1.0, 3.0]).error == 1.0
