"""Verdicts on results made up for the purpose."""

from functools import partial

import polars as pl
import pytest

from greyfill.paper.claims import claims
from greyfill.paper.grids import characteristics
from greyfill.paper.printed import METHODS
from greyfill.paper.results import INFORMATION, PASSES, RUNS, TIMINGS, Cell, Results
from greyfill.paper.verdicts import (
    Claim,
    Setting,
    at_most,
    beats,
    best,
    final_best,
    growing_advantage,
    often,
    settles_fast,
    starts_faster,
    toy_bits,
    toy_order,
)

LOW, HIGH = Setting("cubes", 0.1, "rmse"), Setting("cubes", 0.2, "rmse")
ACCURACY = Setting("cubes", 0.1, "accuracy_paper", lower_is_better=False)


def judged(rule, *about):
    """The verdict on a claim that this rule decides."""
    *given, results = about
    return Claim("where", "what", partial(rule, *given)).decide(results)


def results_of(figures, setting=LOW):
    """Two seeds around each mean."""
    rows = [
        (setting.scenario, setting.rate, seed, method, setting.metric, mean + shift, None)
        for method, mean in figures.items()
        for seed, shift in enumerate((-0.01, 0.01))
    ]
    return Results(runs=pl.DataFrame(rows, schema=RUNS, orient="row"))


def joined(*parts):
    return Results(runs=pl.concat([part.runs for part in parts]))


def others(value):
    return {method: value for method in METHODS if method != "cgknn"}


def test_lowest_error_holds():
    results = results_of({**others(0.3), "cgknn": 0.2})
    verdict = judged(best, LOW, results)
    assert verdict.outcome == "holds"
    assert "CGKNN 0.2000 ± 0.0141 (place 1 of 7), next" in verdict.numbers
    assert "difference −0.1000 ± 0.0000" in verdict.numbers


def test_lowest_error_does_not_hold():
    results = results_of({**others(0.3), "cgknn": 0.2, "gknn": 0.15})
    verdict = judged(best, LOW, results)
    assert verdict.outcome == "does not hold"
    assert "(place 2 of 7), best GKNN 0.1500" in verdict.numbers


def test_highest_accuracy_looks_the_other_way():
    results = results_of({**others(90.0), "cgknn": 95.0}, ACCURACY)
    assert judged(best, ACCURACY, results).outcome == "holds"


def test_tie_is_no_advantage():
    results = results_of({**others(90.0), "cgknn": 90.0 + 1e-12}, ACCURACY)
    shared = judged(best, ACCURACY, results)
    assert shared.outcome == "does not hold"
    assert "place 1 of 7, shared" in shared.numbers
    assert judged(beats, ACCURACY, "gknn", results).outcome == "does not hold"


def test_missing_methods_are_named():
    verdict = judged(best, LOW, results_of({"cgknn": 0.1, "gknn": 0.2}))
    assert verdict.outcome == "holds"
    assert "without MICE, MissForest, IKNN, MI-KNN, FWGKNN" in verdict.numbers


def test_nothing_measured_is_said_so():
    everything = [claim for found in claims().values() for claim in found]
    assert len(everything) > 50
    assert {claim.decide(Results()).outcome for claim in everything} == {"not measured"}


@pytest.mark.parametrize(("printed", "outcome"), [(0.2, "holds"), (0.19, "does not hold")])
def test_at_most_printed(printed, outcome):
    results = results_of({"cgknn": 0.2})
    assert judged(at_most, LOW, printed, results).outcome == outcome


def test_places_are_counted_from_both_ends():
    first = results_of({"mice": 0.3, "missforest": 0.2, "cgknn": 0.1}, LOW)
    second = results_of({"mice": 0.2, "missforest": 0.3, "cgknn": 0.1}, HIGH)
    results = joined(first, second)
    both = (LOW, HIGH)
    first = judged(often, "cgknn", 0, both, 4, 1.0, results)
    assert first.outcome == "holds"
    assert first.numbers.startswith("2 of 2 settings in this run (2 needed), 4 of 2 in the printed")
    worst = judged(often, "mice", -1, both, 4, 0.501, results)
    assert (worst.outcome, worst.numbers[:6]) == ("does not hold", "1 of 2")
    assert judged(often, "mice", -2, both, 4, 0.5, results).outcome == "holds"


def test_growing_advantage():
    near = results_of({**others(0.3), "cgknn": 0.2}, LOW)
    far = results_of({**others(0.5), "cgknn": 0.2}, HIGH)
    verdict = judged(growing_advantage, LOW, HIGH, joined(near, far))
    assert verdict.outcome == "holds"
    assert "+0.1000 at 10 %, +0.3000 at 20 %" in verdict.numbers
    assert judged(growing_advantage, HIGH, LOW, joined(near, far)).outcome != "holds"


def information(**bits):
    rows = [("cubes", 0, name, value, value) for name, value in bits.items()]
    return Results(information=pl.DataFrame(rows, schema=INFORMATION, orient="row"))


def test_information_of_the_toy():
    printed = information(x1=0.42, x2=0.27, x3=0.2, x4=0.001)
    assert judged(toy_bits, printed).outcome == "holds"
    assert judged(toy_order, printed).outcome == "holds"
    other = information(x1=0.9, x2=0.2, x3=0.3, x4=0.001)
    assert judged(toy_bits, other).outcome == "does not hold"
    assert judged(toy_order, other).outcome == "does not hold"


def curves(**accuracies):
    rows = [
        (0.05, seed, method, "paper", passes, value + seed)
        for method, values in accuracies.items()
        for passes, value in enumerate(values)
        for seed in (0, 1)
    ]
    return Results(passes=pl.DataFrame(rows, schema=PASSES, orient="row"))


def test_last_pass_decides_figure_7():
    results = curves(cgknn=(80, 95), fwgknn=(97, 94), gknn=(80, 90))
    verdict = judged(final_best, 0.05, "paper", results)
    assert verdict.outcome == "holds"
    assert "against FWGKNN; difference +1.00" in verdict.numbers
    assert judged(final_best, 0.05, "honest", results).outcome == "not measured"


def test_settling():
    slow, quick = (80.0, 85.0, 90.0, 92.0, 94.0, 94.0), (80.0, 94.0, 94.2, 94.1, 94.0, 94.0)
    fast = judged(settles_fast, curves(cgknn=quick, fwgknn=slow, gknn=slow))
    assert fast.outcome == "holds"
    assert fast.numbers.startswith("at 5 %: CGKNN from pass 1 on, FWGKNN from pass 4 on")
    late = judged(settles_fast, curves(cgknn=slow, fwgknn=slow, gknn=slow))
    assert late.outcome == "does not hold"


@pytest.mark.parametrize(("seconds", "outcome"), [(2.0, "holds"), (0.5, "does not hold")])
def test_time_to_start(seconds, outcome):
    rows = [("iris", 0, "cgknn", 4, 1.0), ("iris", 0, "fwgknn", 4, seconds)]
    results = Results(timings=pl.DataFrame(rows, schema=TIMINGS, orient="row"))
    assert judged(starts_faster, results).outcome == outcome


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
