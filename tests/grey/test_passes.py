"""The passes of ``fit``: which panels fill, and what an early choice leaves to a later one."""

from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import greyfill
from greyfill._grey import passes
from greyfill._grey.candidates import COMMON_RIDGE, UNTUNED, Candidate
from greyfill._grey.passes import GreySettings, run_passes
from greyfill._grey.predictor import ColumnPredictor
from greyfill._grey.selection import (
    CellTrial,
    EarlyChoice,
    Round,
    _survivors,
    choose_early,
    choose_panel,
)
from greyfill.progress import Clock
from greyfill.table import Column, Kind, Table


def mixed(n: int = 160, seed: int = 0) -> tuple[Table, np.ndarray]:
    """Three related numbers and a category with holes, and two classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    common = rng.normal(size=n) + y
    values = common[:, np.newaxis] + 0.4 * rng.normal(size=(n, 4))
    values[:, 3] = np.digitize(values[:, 3], [0.0, 1.0])
    columns = [*(Column(f"x{j}", Kind.NUMERIC) for j in range(3)), Column("c", Kind.CATEGORICAL, 3)]
    return Table(values, rng.random((n, 4)) < 0.2, tuple(columns)), y


def panels_of_passes(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> list[set[Any]]:
    """The panels by which each pass fills."""
    table, y = mixed()
    seen, one_pass = [], passes._one_pass

    def watched(donors: Any, choices: Any, given: Any) -> Any:
        seen.append({choice.panel for choice in choices.values()})
        return one_pass(donors, choices, given)

    monkeypatch.setattr(passes, "_one_pass", watched)
    run_passes(table, y, None, GreySettings(**settings), Clock(None))
    return seen


def test_a_plain_pass_then_early_panels_then_the_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, early, last = panels_of_passes(monkeypatch)
    assert plain == {(COMMON_RIDGE,)}
    assert len(early) > 1  # each column has its own
    assert len(last) > 1
    assert early != last


def test_donors_that_may_not_see_y_are_filled_by_plain_passes_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert panels_of_passes(monkeypatch, crosses=True) == [{(COMMON_RIDGE,)}, {UNTUNED}]


@pytest.mark.parametrize(("max_iter", "n_passes"), [(1, 1), (2, 2)])
def test_few_passes_have_no_early_panels(
    max_iter: int, n_passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "choose_early", lambda *_: pytest.fail("an early choice"))
    assert len(panels_of_passes(monkeypatch, max_iter=max_iter)) == n_passes


def trial_of(target: int) -> tuple[ColumnPredictor, np.random.Generator]:
    table, y = mixed()
    filled = run_passes(table, y, None, GreySettings(max_iter=1), Clock(None))
    return filled.choices[target].predictor(filled.donors, None), np.random.default_rng(0)


@pytest.mark.parametrize("target", [0, 3])
def test_what_an_early_choice_left_is_compared_alone(
    target: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    predictor, rng = trial_of(target)
    early = choose_early(predictor, 250, rng)
    assert 1 < len(early.left) < len(early.choice.errors)
    compared = []
    whole = CellTrial.round

    def watched(trial: CellTrial, which: Any, *rest: Any) -> Any:
        compared.append(tuple(trial.plan.candidates[i] for i in which))
        return whole(trial, which, *rest)

    monkeypatch.setattr(CellTrial, "round", watched)
    choice = choose_panel(predictor, 250, rng, early=early)
    assert compared == [early.left]
    assert set(choice.panel) <= set(early.left)
    tried = dict(choice.errors)
    assert set(tried) == set(dict(early.choice.errors))  # nothing that was tried is forgotten
    assert any(tried[c] != dict(early.choice.errors)[c] for c in early.left)


def test_without_time_the_early_panel_stays() -> None:
    predictor, rng = trial_of(0)
    early = choose_early(predictor, 250, rng)
    assert choose_panel(predictor, 250, rng, until=monotonic() - 1.0, early=early) is early.choice


def test_a_candidate_that_is_no_longer_there_is_passed_over() -> None:
    predictor, rng = trial_of(0)
    early = choose_early(predictor, 250, rng)
    gone = Candidate("equal", "soft", 7, "uniform", np.inf, "values")
    again = EarlyChoice(early.choice, (gone, *early.left))
    one, other = (
        choose_panel(predictor, 250, np.random.default_rng(1), early=e) for e in (early, again)
    )
    assert one.panel == other.panel
    only = EarlyChoice(early.choice, (gone,))  # then all are compared as if for the first time
    assert len(choose_panel(predictor, 250, rng, early=only).errors) > 1


def test_a_short_time_is_kept_with_own_labels_too() -> None:
    table, y = mixed()
    X = np.where(table.missing, np.nan, table.values)[:, :3]
    hurried = greyfill.GreyImputer(labels="own", time_budget=1e-6).fit(X, y)
    for described in hurried.selection_.values():
        assert described["left_out"] == ["means of neighbors", "regressions on neighbors"]


def test_spreads_are_what_is_missed_of_numbers_and_the_doubt_of_categories() -> None:
    table, _ = mixed()
    cells = np.where(table.missing, np.nan, table.values)
    imputer = greyfill.GreyImputer(labels="none", categorical_features=[3]).fit(cells)
    _, columns, spreads = imputer.cell_spreads_
    for column in range(3):
        usual = np.sqrt(np.mean(imputer._fitted.choices[column].residuals ** 2))
        assert spreads[columns == column] == pytest.approx(usual)
    doubts = spreads[columns == 3]  # of three levels the likeliest has at least a third
    assert 0.0 <= doubts.min() < doubts.max() <= 2 / 3


def test_survivors_are_within_two_standard_errors_of_the_best() -> None:
    best = np.zeros(100)
    near, far = (np.where(np.arange(100) < half, 0.3, -0.3) for half in (55, 70))
    losses = np.stack([best, near, far])  # 0.03 and 0.12 behind; two standard errors are 0.06
    plan = SimpleNamespace(kinds=np.ones(3, dtype=int), families=np.arange(3))
    early = Round(plan, np.arange(3), None, None, None, losses)
    assert _survivors(early).tolist() == [0, 1]
