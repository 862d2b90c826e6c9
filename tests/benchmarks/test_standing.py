"""What the accuracy page says beside its figures: what ranks rest on, who is ahead, the limits."""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

TABLES = ("a", "b", "c")


@pytest.fixture(scope="module")
def standing(load_program: Callable[[str], ModuleType]) -> ModuleType:
    return load_program("standing")


def rows(method: str, *errors: float | None) -> Iterator[dict[str, object]]:
    """One error for each table, in both scenarios; None where the method failed."""
    for table, error in zip(TABLES, errors, strict=True):
        for scenario in ("s", "t"):
            row = {"method": method, "table": table, "scenario": scenario, "seed": 0}
            if error is not None:
                yield row | {"nrmse": error}


def board(standing: ModuleType, *found: Iterator[dict[str, object]]) -> object:
    every = [row for some in found for row in some]
    return standing.ranking.board(every, [0], TABLES, scenarios=("s", "t"))


def test_ranks_say_what_they_rest_on(standing: ModuleType) -> None:
    partly = [
        row for row in rows("partly", 3, 3, 3) if (row["table"], row["scenario"]) != ("a", "t")
    ]
    found = board(standing, rows("ours", 1, 1, 1), iter(partly), rows("late", 2, 2, None))
    text = "\n".join(standing.standing(found, "ours"))
    assert "| mean rank of 2 |" in text
    assert "over the 5 of 6 runs of ours (a table, a scenario, a seed; 3 of 3 tables)" in text
    assert "Without a rank, for want of a result on a table: late." in text
    whole = standing.standing(board(standing, rows("ours", 1, 1, 1), rows("late", 2, 2, 2)), "ours")
    assert "runs" not in "\n".join(whole)


def test_a_rival_that_is_clearly_ahead_is_named_once_more(standing: ModuleType) -> None:
    found = board(standing, rows("ours", 1.0, 1.005, 1.02), rows("theirs", 2.0, 1.0, 1.0))
    text = "\n".join(standing.against_best(found, "ours", ["theirs"]))
    assert "on 2 of 3 tables: b (1.005), c (1.020). It is behind by more than 1 % on c." in text
    assert "| a | 1.0000 | theirs | 2.0000 | 0.500 |" in text


def test_scenarios_stand_alone(standing: ModuleType) -> None:
    theirs = [row | {"nrmse": 0.5} if row["scenario"] == "t" else row for row in rows("b", 2, 2, 2)]
    found = board(standing, rows("ours", 1, 1, 1), iter(theirs), rows("late", 2, 2, None))
    text = standing.by_scenario(found, "ours", {"s": "first", "t": "second"})
    assert "| scenario | b |" in text
    assert "| first | 3 of 3, 0.500 |" in text
    assert "| second | 0 of 3, 2.000 |" in text


def test_limits_are_those_of_the_runs(load_program: Callable[[str], ModuleType]) -> None:
    section = load_program("errors_section")
    found = [
        {"method": "mean", "limit": 120.0},
        {"method": "R mice", "limit": 30.0},
        {"method": "R mice+y", "limit": 30.0},
        {"method": "GreyImputer"},
    ]
    assert section.limits(found) == "120 s of computing for a table (30 for R mice and R mice+y)"


def test_one_method_alone_has_no_rank(standing: ModuleType) -> None:
    found = board(standing, rows("ours", 1, 1, 1), rows("late", 2, 2, None))
    text = "\n".join(standing.standing(found, "ours", {"first": ["a"]}))
    assert "| method | tables | ours better on | ratio | p (Holm) |" in text
    assert "| late | 2 | 2 | 0.500 | 0.5000 |" in text
    assert "none is ranked" in text


def test_methods_that_failed_and_methods_that_were_not_run_are_told_apart(
    load_program: Callable[[str], ModuleType],
) -> None:
    section = load_program("errors_section")
    names = [*section.OURS, *section.PEERS]
    found = [{"method": name, "nrmse": 1.0} for name in names if name not in ("GKNN", "mean")]
    assert section.absent([*found, {"method": "mean", "error": "failed"}]) == [
        "Tried without a result: mean.",
        "Not run, for want of time: GKNN.",
    ]
