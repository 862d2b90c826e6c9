"""The parts of the accuracy benchmark that could favor a method if they were wrong."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

HOME = Path(__file__).parents[2] / "benchmarks/accuracy"


def module(path: str) -> ModuleType:
    """A file of the benchmark, which is no package, under a name that nothing else has."""
    name = f"accuracy_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, HOME / path)
    assert spec is not None
    assert spec.loader is not None
    loaded = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


encoding, ranking, store, distribution = (
    module(p) for p in ("peers/encoding.py", "ranking.py", "store.py", "distribution.py")
)
NAN = np.nan


@pytest.fixture
def job():
    """A number, a category of three levels (2 is the most frequent) and one of two."""
    cells = [[10.0, 0, 1], [30.0, 2, 0], [NAN, 2, NAN], [20.0, 1, 1], [10.0, NAN, 1]]
    kinds = ("numeric", "categorical", "categorical")
    return encoding.Job(np.array(cells), kinds, (0, 3, 2), np.array([0, 0, 1, 1, 1]), 0)


def test_a_peer_is_spared_columns_of_one_value_or_none(job):
    cells = np.column_stack([job.cells, np.full(5, NAN), [7.0, NAN, 7.0, 7.0, NAN]])
    more = replace(
        job, cells=cells, kinds=(*job.kinds, "numeric", "numeric"), n_levels=(0, 3, 2, 0, 0)
    )
    given = []

    def fill(asked):
        given.append(asked)
        return np.where(np.isnan(asked.cells), 1.0, asked.cells)

    filled = encoding.spared(fill)(more)
    assert np.array_equal(given[0].cells, job.cells, equal_nan=True)
    assert given[0].kinds == job.kinds
    assert np.array_equal(filled[:, :3], fill(job))
    assert np.isnan(filled[:, 3]).all()
    assert (filled[:, 4] == 7.0).all()


def test_matrix_scales_numbers_and_spreads_wide_categories(job):
    cells = encoding.Matrix(job).cells
    np.testing.assert_array_equal(cells[:, 0], [0.0, 1.0, NAN, 0.5, 0.0])
    assert cells.shape == (5, 1 + 3 + 1)
    np.testing.assert_array_equal(cells[:, 1:4].sum(axis=1), [1, 1, 1, 1, NAN])
    assert cells[1, 1] == 1  # the most frequent level comes first


def test_matrix_takes_fills_back_to_units_and_levels(job):
    matrix = encoding.Matrix(job)
    output = np.nan_to_num(matrix.cells, nan=0.25)
    output[4, 1:4] = [0.2, 0.3, 0.5]  # levels 2, 0, 1
    filled = matrix.decoded(output)
    assert filled[2, 0] == 15.0
    assert filled[4, 1] == 1
    seen = ~np.isnan(job.cells)
    np.testing.assert_array_equal(filled[seen], job.cells[seen])


def test_equal_indicators_give_the_more_frequent_level(job):
    matrix = encoding.Matrix(job)
    assert matrix.decoded(np.nan_to_num(matrix.cells, nan=0.3))[4, 1] == 2


@pytest.mark.parametrize(("indicators", "level"), [([0.4, 0.3], 2), ([0.6, 0.3], 0), ([0, 0.9], 1)])
def test_the_base_level_is_taken_unless_another_exceeds_a_half(job, indicators, level):
    matrix = encoding.Matrix(job, base=True)
    output = np.nan_to_num(matrix.cells, nan=0.0)
    output[4, 1:3] = indicators
    assert matrix.decoded(output)[4, 1] == level


def test_the_class_becomes_the_last_column(job):
    given = job.with_class()
    np.testing.assert_array_equal(given.cells[:, -1], [0, 0, 1, 1, 1])
    assert given.kinds[-1] == "categorical"
    assert given.n_levels == (0, 3, 2, 2)


def rows(method, errors):
    """Results of a method on one table: errors by scenario and seed, None where it failed."""
    for scenario, by_seed in errors.items():
        for seed, error in enumerate(by_seed):
            row = {"method": method, "label": "", "table": "t", "scenario": scenario, "seed": seed}
            yield row | ({"error": "failed"} if error is None else {"nrmse": error})


@pytest.fixture
def board():
    found = [
        *rows("ours", {"a": [1.0, 3.0], "b": [2.0, 2.0]}),
        *rows("early", {"a": [2.0, None], "b": [1.0, 3.0]}),
        *rows("broken", {"a": [9.0, 9.0], "b": [None, None]}),
    ]
    return ranking.board(found, range(2), ["t"], scenarios=("a", "b"))


def test_a_duel_compares_the_seeds_that_both_have(board):
    duels = {duel.rival: duel for duel in ranking.duels(board, "ours")}
    assert (duels["early"].n_cases, duels["early"].wins) == (2, 1)
    assert duels["early"].ratio == pytest.approx((1.0 / 2.0 * 2.0 / 2.0) ** 0.5)
    assert (duels["broken"].n_cases, duels["broken"].wins) == (1, 1)


def test_ranks_are_among_methods_with_every_case(board):
    assert board.ranks() == {"ours": 1.25, "early": 1.75}


def test_a_table_counts_once_however_many_scenarios_it_has(board):
    units = board.by_table()
    assert units.cases == [("t",)]
    assert units.means()[0, :2].tolist() == [2.0, 2.0]  # early: the mean of 2, 1 and 3
    (duel,) = ranking.duels(units.only(["ours", "early"]), "ours")
    assert (duel.n_cases, duel.wins) == (1, 1)  # (1 + 2 + 2) / 3 against (2 + 1 + 3) / 3
    assert duel.ratio == pytest.approx(5 / 6)


def test_tests_are_over_tables():
    errors = {"ours": 1.0, "theirs": 2.0}
    found = [
        row | {"table": table}
        for table in "abcdef"
        for method, error in errors.items()
        for row in rows(method, {"s": [error, error], "t": [error, error]})
    ]
    board = ranking.board(found, range(2), "abcdef", scenarios=("s", "t"))
    (duel,) = ranking.duels(board.by_table(), "ours")
    assert (duel.n_cases, duel.p_value) == (6, 2 / 2**6)


def test_the_best_rival_is_the_one_we_do_worst_against(board):
    first, second = ranking.best_rivals(board, "ours", ["early", "broken"])
    assert (first.name, first.ratio) == ("early", 0.5)
    assert (second.name, second.ratio) == ("early", 1.0)


def result(**changes):
    key = {"task": "cells", "method": "m", "label": "", "table": "t", "scenario": "a", "seed": 0}
    return key | {"nrmse": 1.0} | changes


def test_the_store_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "results.jsonl"
    first = store.Store(path)
    first.add(result())
    first.add(result(nrmse=2.0))
    again = store.Store(path)
    assert again.has(result())
    assert not again.has(result(seed=1))
    assert [row["nrmse"] for row in again] == [2.0]
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 2


def test_one_state_of_a_method_is_chosen(tmp_path):
    found = store.Store(tmp_path / "results.jsonl")
    for row in (result(label="v1"), result(label="v2", nrmse=3.0), result(method="peer")):
        found.add(row)
    chosen = found.with_state("m", "v2")
    assert [(row["method"], row["label"], row["nrmse"]) for row in chosen] == [
        ("m", "", 3.0),
        ("peer", "", 1.0),
    ]


def test_energy_distance_is_nought_for_equal_tables_and_sees_a_fill_at_the_mean():
    rng = np.random.default_rng(0)
    truth, again = rng.normal(size=(2, 300, 2))
    assert distribution.energy_distance(truth, truth[::-1]) == pytest.approx(0.0, abs=1e-6)
    at_mean = np.where(rng.random(truth.shape) < 0.4, 0.0, truth)
    assert distribution.energy_distance(truth, at_mean) > distribution.energy_distance(truth, again)


def test_energy_distance_of_two_points():
    """Points at 0 and d: √(2 d), as the definition has it."""
    assert distribution.energy_distance(np.zeros((1, 1)), np.full((1, 1), 8.0)) == 4.0


def test_crps_of_one_draw_is_its_error_and_more_draws_are_paid_for_their_spread():
    gaps = distribution.Gaps(np.array([False, True]), np.array([10.0, 1.0]))
    truth = np.array([5.0, 1.0])
    one = distribution.crps(np.array([[7.0, 0.0]]), truth, gaps)
    np.testing.assert_allclose(one, [0.2, 1.0])
    two = distribution.crps(np.array([[7.0, 0.0], [3.0, 1.0]]), truth, gaps)
    np.testing.assert_allclose(two, [0.2 - 0.4 / 2, 0.5 - 1 / 2])


def test_crps_is_lowest_for_draws_from_the_truth():
    rng = np.random.default_rng(0)
    truth, draws = rng.normal(size=4000), rng.normal(size=(5, 4000))
    gaps = distribution.Gaps(np.zeros(4000, dtype=bool), np.ones(4000))
    scores = [distribution.crps(draws * sd, truth, gaps).mean() for sd in (0.5, 1.0, 2.0)]
    assert scores[1] == min(scores)
    assert scores[1] == pytest.approx(1 / np.sqrt(np.pi), rel=0.03)  # of a standard normal
