"""How printed errors grow, and which convention meets them."""

import numpy as np
import polars as pl
import pytest

from greyfill.paper import figures
from greyfill.paper.forensics import (
    ERROR_TABLES,
    WINDOWS,
    conventions,
    exponents,
    factor,
    measured_exponent,
    misses,
    printed_exponent,
    windows,
)
from greyfill.paper.printed import METHODS, TABLES, TOY_INFORMATION
from greyfill.paper.results import RUNS, Results
from greyfill.paper.runs import CONVENTIONS, NEIGHBORS, SCENARIOS, Reading

HEPATITIS_BASELINES = ("mice", "missforest", "iknn")


def made_results(error):
    """Two seeds of every figure; ``error`` gives it from table, rate, method and convention."""
    rows = [
        (table.scenario, rate, seed, m, Reading().key(m), name, error(table, rate, m, name), None)
        for table in ERROR_TABLES
        for rate in table.rates
        for m in METHODS
        for name in CONVENTIONS
        for seed in (0, 1)
    ]
    return Results(runs=pl.DataFrame(rows, schema=RUNS, orient="row"))


def test_exponents_of_the_printed_figures():
    def spread(name, methods=tuple(METHODS)):
        found = [printed_exponent(TABLES[name], m) for m in methods]
        return round(min(found), 2), round(max(found), 2)

    assert spread("iris") == (0.48, 0.61)
    assert spread("table3") == (0.37, 0.61)
    assert spread("hepatitis", HEPATITIS_BASELINES) == (0.51, 0.55)
    assert printed_exponent(TABLES["iris"], "cgknn", (0.05, 0.10)) == pytest.approx(0.90, abs=0.005)
    assert printed_exponent(TABLES["iris"], "cgknn", (0.10, 0.20)) == pytest.approx(0.08, abs=0.005)


def test_errors_over_hidden_cells_are_told_from_those_over_all():
    results = made_results(lambda t, rate, m, name: rate**0.5 if name.endswith("table") else 0.2)
    for table in ERROR_TABLES:
        assert measured_exponent(results, table, "cgknn", "hidden").mean == pytest.approx(0)
        assert measured_exponent(results, table, "cgknn", "table").mean == pytest.approx(0.5)
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in exponents(results).rows}
    assert rows["RMSE of Iris, ours over all cells"] == ["0.50 ± 0.00"] * len(METHODS)
    assert rows["RMSE of Iris, printed"][-1] == "0.49"
    assert rows["RMSE of Iris, printed, 5 % → 10 %"][-1] == "0.90"
    panels = figures.exponents(results).axes
    drawn = [np.asarray(line.get_xdata(), dtype=float) for line in panels[2].lines]
    assert any(np.allclose(x, 0.5) and len(x) == len(METHODS) for x in drawn)
    assert any(len(x) == len(METHODS) and x[-1] == pytest.approx(0.487, abs=1e-3) for x in drawn)


def test_factors_single_out_the_convention_that_was_used():
    def error(table, rate, method, name):
        right = "units-table" if table.scenario == "iris" else "range-table"
        return table.figures[rate][method] * (1 if name == right else 3)

    found = misses(made_results(error))
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in conventions(found).rows}
    assert list(rows)[:-1] == list(CONVENTIONS)
    assert rows["range-table"][:5] == ["1.00", "1.00", "3.00", "1.00", "1.00"]
    assert rows["units-table"][:5] == ["3.00", "3.00", "1.00", "3.00", "3.00"]
    assert rows["best for each table, in hindsight"][2:] == [
        "1.00 (units-table)", "1.00 (range-table)", "1.00 (range-table)", "1.00", "1.00", "1.00",
    ]  # fmt: skip
    assert rows["range-hidden"][5:] == ["3.00", "3.00", "3.00"]
    assert len(found[0].uci) == 63


def test_largest_miss_is_of_the_uci_figures():
    odd = ("iris", 0.20, "cgknn")
    results = made_results(
        lambda t, rate, m, name: t.figures[rate][m] * (0.25 if (t.scenario, rate, m) == odd else 1)
    )
    one = misses(results)[0]
    assert one.largest == pytest.approx(4.0)
    assert one.row()[-2] == "4.00"
    assert factor(one.uci) == pytest.approx(np.exp(np.log(4.0) / 63**0.5))


def test_printed_information_is_met_as_weights_in_a_narrow_window():
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in windows(range(5)).rows}
    far = {float(name): float(row[-1]) for name, row in rows.items() if name != "printed"}
    assert list(far) == list(WINDOWS)
    assert min(far, key=far.get) in (0.40, 0.45)
    assert far[0.40] < 0.015
    assert far[1.06] > 0.15
    assert rows["printed"][:3] == [f"{value:.2f}" for value in TOY_INFORMATION.values()]


def test_conventions_differ_by_scale_and_divisor():
    case = SCENARIOS["gaussian"].case(0.20, seed=0)
    errors = case.errors(case.truth.values + np.where(case.mask, 0.3, 0.0))
    hidden, n = case.mask.sum(), len(case.mask)
    assert errors["units-hidden"] == pytest.approx(0.3)
    assert errors["units-columns"] == pytest.approx(0.3 * (hidden / (2 * n)) ** 0.5)
    assert errors["units-table"] == pytest.approx(0.3 * (hidden / (5 * n)) ** 0.5)
    sizes = case.truth.values.std(axis=0)[3:]
    weights = case.mask.sum(axis=0)[3:] / hidden
    assert errors["sd-hidden"] == pytest.approx(0.3 * np.sqrt(np.sum(weights / sizes**2)))
    spans = np.ptp(case.truth.values, axis=0)[3:]
    assert errors["range-hidden"] == pytest.approx(0.3 * np.sqrt(np.sum(weights / spans**2)))


def test_a_wrong_category_counts_one_in_every_scale():
    case = SCENARIOS["voting"].case(0.10, seed=0)
    wrong = np.where(case.mask, 1 - case.truth.values, case.truth.values)
    errors = case.errors(wrong)
    assert {errors[f"{scale}-hidden"] for scale in ("units", "range", "sd")} == {1.0}
    assert errors["range-table"] == pytest.approx(np.sqrt(case.mask.mean()))


def test_readings_name_what_they_change():
    assert {Reading(holes="sources").key(m) for m in NEIGHBORS} == {
        "largest/mask",
        "largest/filled",
    }
    assert Reading("smallest").key("cgknn") == "smallest/mask"
