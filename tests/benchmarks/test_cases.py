"""Cases of the accuracy page: what strong MAR hides, and how draws and natural holes are judged."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from greyfill.evaluation.trials import Data
from greyfill.missingness import hide
from greyfill.table import Column, Kind, Table


@pytest.fixture(scope="module")
def cases(load_program: Callable[[str], ModuleType]) -> ModuleType:
    return load_program("cases")


@pytest.fixture
def table() -> Table:
    """Four numbers with a common factor, a category that goes with it, and some natural holes."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(300, 1))
    numbers = factor + 0.7 * rng.normal(size=(300, 4))
    missing = np.zeros((300, 5), dtype=bool)
    missing[:20, 1] = True
    columns = [Column(f"x{j}", Kind.NUMERIC) for j in range(4)]
    cells = np.where(missing, 0.0, np.hstack([numbers, factor > 0]))
    return Table(cells, missing, (*columns, Column("level", Kind.CATEGORICAL, 2)))


def case(cases: ModuleType, table: Table, scenario: str, seed: int = 0):
    draw, rate = cases.ALL[scenario]
    mask = draw(table, rate, random_state=np.random.default_rng(seed))
    return cases.Case(Data("made", table, None), hide(table, mask), mask)


def test_strong_mar_hides_cells_that_lie_far_from_the_shown_ones(
    cases: ModuleType, table: Table
) -> None:
    shifts = {s: np.mean([case(cases, table, s, i).shift() for i in range(3)]) for s in cases.ALL}
    assert shifts["mar20strong"] > 0.5
    assert shifts["mar20strong"] > 2 * shifts["mar20"]
    made = case(cases, table, "mar20strong")
    assert not (made.mask & table.missing).any()
    assert made.mask.mean(axis=0) == pytest.approx([0.2, 0.2 * 280 / 300, 0.2, 0.2, 0.2], abs=0.01)


def test_a_right_fill_has_no_error_in_any_measure(cases: ModuleType, table: Table) -> None:
    made = case(cases, table, "mcar20")
    right = np.where(table.missing, 5.0, table.values)  # whatever is put into a natural hole
    judged = made.judge(right)
    assert (judged["nrmse"], judged["energy"]) == (0.0, 0.0)
    assert made.judge_draws([right, right]) == {"crps": 0.0, "energy": 0.0}


def test_draws_are_judged_by_cell_and_as_tables(cases: ModuleType, table: Table) -> None:
    made = case(cases, table, "mcar20")
    rng, spread = np.random.default_rng(1), table.values[:, :4].std(axis=0)

    def drawn(shift: float):
        cells = table.values.copy()
        cells[:, :4] += shift + 0.3 * spread * rng.normal(size=(300, 4))
        return np.where(made.mask, cells, table.values)

    near, far = (made.judge_draws([drawn(shift) for _ in range(5)]) for shift in (0.0, 2.0))
    assert near["crps"] < far["crps"]
    assert near["energy"] < far["energy"]


def test_the_center_of_draws_is_a_mean_or_a_vote(cases: ModuleType) -> None:
    columns = (Column("number", Kind.NUMERIC), Column("level", Kind.CATEGORICAL, 3))
    table = Table(np.zeros((2, 2)), np.zeros((2, 2), dtype=bool), columns)
    made = cases.Case(Data("made", table, None), table, table.missing)
    draws = np.array([[[1.0, 2.0], [4.0, 2.0]], [[2.0, 2.0], [4.0, 1.0]], [[6.0, 0.0], [4.0, 0.0]]])
    np.testing.assert_array_equal(made.center(draws), [[3.0, 2.0], [4.0, 0.0]])


class OneAnswer:
    """A worker that was asked once, for so many draws."""

    def fill(self, case, seed, draws=0):
        self.draws = draws
        filled = case.table.values
        return (np.stack([filled] * draws) if draws else filled), {"seconds": 1.0}


@pytest.mark.parametrize(
    ("method", "task", "found"),
    [
        ("R mice", "cells", {"draws", "cells"}),
        ("miceforest", "cells", {"cells"}),
        ("miceforest", "draws", {"draws"}),
    ],
)
def test_a_fill_that_is_the_center_of_draws_takes_one_run(
    load_program: Callable[[str], ModuleType], method: str, task: str, found: set[str]
) -> None:
    run, worker = load_program("run"), OneAnswer()
    key = {"task": task, "method": method, "table": "iris", "scenario": "mcar20", "seed": 0}
    rows = {row["task"]: row for row in run.judged(key, worker)}
    assert set(rows) == found == set(run.tasks(key))
    assert (worker.draws > 0) == ("draws" in found)
    assert all(("nrmse" in row) == (name == "cells") for name, row in rows.items())
    assert all(("crps" in row) == (name == "draws") for name, row in rows.items())
