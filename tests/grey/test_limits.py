"""Less time, fewer donors, more columns or more rows: what `fit` does then, and what it tells."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import greyfill
from greyfill._grey import grey_engine, predictor, selection
from greyfill._grey.candidates import COMMON_RIDGE, Candidate, Plan
from greyfill._grey.donor_table import Queries
from greyfill._grey.outcomes import Outcomes
from greyfill._grey.relevance import MAX_PREDICTORS
from greyfill._grey.selection import Round
from greyfill.exceptions import InvalidParameterError
from greyfill.progress import RESERVED, Clock, Progress


def table(n: int = 120, p: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlated columns with holes, the same without, and two classes that shift all of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    common = rng.normal(size=(n, 1)) + 3.0 * y[:, np.newaxis]
    whole = common + 0.5 * rng.normal(size=(n, p))
    return np.where(rng.random((n, p)) < 0.2, np.nan, whole), whole, y


# ---------------------------------------------------------------------------- time


def test_without_time_only_the_first_kinds_are_tried_and_that_is_told() -> None:
    X, whole, y = table()
    hurried = greyfill.GreyImputer(time_budget=1e-6).fit(X, y)
    for described in hurried.selection_.values():
        assert described["left_out"] == ["means of neighbors", "regressions on neighbors"]
        assert all("all donors of any class" in name for name in described["tried"])
    filled = hurried.transform(X)
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    holes = np.isnan(X)
    assert np.std((filled - whole)[holes]) < 0.6 * np.std(whole[holes])


@pytest.mark.parametrize("seconds", [None, 1e6])
def test_with_time_enough_nothing_is_left_out(seconds: float | None) -> None:
    X, _, y = table()
    patient = greyfill.GreyImputer(time_budget=seconds).fit(X, y)
    unlimited = greyfill.GreyImputer().fit(X, y)
    assert all("left_out" not in described for described in patient.selection_.values())
    np.testing.assert_array_equal(patient.transform(X), unlimited.transform(X))


def test_columns_share_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clock, "now", staticmethod(lambda: 100.0))
    clock = Clock(20.0)
    assert clock.until(4) == 105.0
    assert clock.until(1) == 120.0
    monkeypatch.setattr(Clock, "now", staticmethod(lambda: 101.0))
    clock.end_pass()  # it took a second
    clock.reserve(1)
    assert clock.until(1) == 120.0 - RESERVED


@pytest.mark.parametrize(("n_passes", "kept"), [(1, 0.6), (2, 1.2), (50, 5.95)])
def test_at_most_half_of_the_time_is_kept_for_passes(
    n_passes: int, kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "now", staticmethod(lambda: 100.0))
    clock = Clock(12.0)
    monkeypatch.setattr(Clock, "now", staticmethod(lambda: 100.1))
    clock.end_pass()  # 6 × 0.1 s for each pass with panels
    clock.reserve(n_passes)
    assert clock.until(1) == pytest.approx(112.0 - kept)


def test_without_a_limit_nothing_is_kept() -> None:
    clock = Clock(None)
    clock.end_pass()
    clock.reserve(3)
    assert clock.until(5) == np.inf


@pytest.mark.parametrize("wrong", [0, -1.0, "long", float("nan"), True])
def test_a_time_that_is_no_time_is_refused(wrong: Any) -> None:
    X, _, y = table(20)
    with pytest.raises(InvalidParameterError, match="time_budget must be a positive number"):
        greyfill.GreyImputer(time_budget=wrong).fit(X, y)


# ---------------------------------------------------------------------------- donors


def test_a_sample_of_donors_fills_all_rows_with_the_help_of_their_labels() -> None:
    X, _, y = table(600)
    imputer = greyfill.GreyImputer(labels="own", max_donors=60)
    filled = imputer.fit_transform(X, y)
    donors = imputer._fitted.rows
    assert [(y[donors] == label).sum() for label in (0, 1)] == [60, 60]
    assert not np.isnan(filled).any()
    others = np.setdiff1d(np.arange(600), donors)
    X[others[:40]] = np.nan  # nothing but the label tells where these rows lie
    filled = imputer.fit_transform(X, y)
    means = [filled[others[:40]][y[others[:40]] == label].mean() for label in (0, 1)]
    assert means[1] - means[0] > 2.0


def test_the_sample_follows_the_seed_and_not_the_order_of_the_rows() -> None:
    X, _, y = table(200)
    order = np.random.default_rng(5).permutation(200)
    first = greyfill.GreyImputer(max_donors=30).fit(X, y)
    again = greyfill.GreyImputer(max_donors=30).fit(X[order], y[order])
    other = greyfill.GreyImputer(max_donors=30, random_state=1).fit(X, y)
    assert set(order[again._fitted.rows]) == set(first._fitted.rows)
    assert set(other._fitted.rows) != set(first._fitted.rows)


def test_the_scale_of_a_measured_target_is_that_of_all_rows() -> None:
    X, _, _ = table(300)
    y = np.linspace(0.0, 1.0, 300)
    imputer = greyfill.GreyImputer(max_donors=40).fit(X, y)
    donors = imputer._fitted
    np.testing.assert_allclose(donors.donors.table.values[:, -1], y[donors.rows])


# ---------------------------------------------------------------------------- rows and columns


def test_a_pool_of_many_donors_gives_what_the_sweep_of_few_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, _, y = table(150)
    fitted = greyfill.GreyImputer().fit(X, y)._fitted
    panel = tuple(
        Candidate("equal", scope, k, kernel, ridge, "values")
        for scope in ("split", "soft")
        for k, kernel, ridge in ((7, "inverse", np.inf), (20, "uniform", 0.1), (0, "uniform", 0.1))
    )
    queries = Queries.of(fitted.donors, np.arange(60)).without(1)
    rows = fitted.donors.observed_rows(1)
    column = predictor.ColumnPredictor(
        fitted.donors, 1, rows, np.array([0, 2, 3]), {"equal": np.full(3, 1 / 3)}, 0.4
    )
    _, swept = column.predict(panel, queries, leave_out=True)
    monkeypatch.setattr(predictor, "SWEPT", 0)
    _, searched = replace(column, _made={}).predict(panel, queries, leave_out=True)
    np.testing.assert_allclose(searched, swept, atol=1e-9)
    assert np.isfinite(swept).all()


def test_blocks_of_rows_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, y = table(150)
    expected = greyfill.GreyImputer().fit_transform(X, y)
    for module in (selection, grey_engine):
        monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    for n_jobs in (1, 3):
        imputer = greyfill.GreyImputer(n_jobs=n_jobs)
        np.testing.assert_array_equal(imputer.fit_transform(X, y), expected)
        np.testing.assert_array_equal(
            imputer.transform(X), np.vstack([imputer.transform(X[i : i + 1]) for i in range(150)])
        )


def test_of_many_columns_the_correlated_ones_predict() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, MAX_PREDICTORS + 30))
    X[:, 70] = X[:, 3] + 0.1 * rng.normal(size=60)
    truth = X[:10, 70].copy()
    X[:10, 70] = np.nan
    imputer = greyfill.GreyImputer()
    filled = imputer.fit_transform(X)[:10, 70]
    predictors = imputer._fitted.choices[70].predictors
    assert len(predictors) == MAX_PREDICTORS
    assert 3 in predictors
    assert 70 not in predictors
    assert np.abs(filled - truth).max() < 0.8


# ---------------------------------------------------------------------------- the race


def test_regressions_that_are_clearly_worse_meet_no_other_cell() -> None:
    ridges = (0.1, 0.2, 0.3, 0.4)
    names = [replace(COMMON_RIDGE, ridge=ridge) for ridge in ridges]
    far = replace(COMMON_RIDGE, scope="split")
    mean = Candidate("equal", "soft", 5, "uniform", np.inf, "values")
    noise = np.random.default_rng(0).normal(scale=0.5, size=40)
    noise, cells = noise - noise.mean(), np.linspace(1.0, 2.0, 40)
    losses = [cells + gap + noise * (gap > 0) for gap in (0.0, 0.02, 0.04, 0.06)]
    losses += [cells + 9.0, cells + 0.01 + noise]
    plan = Plan.of((*names, far, mean))
    numbers = Outcomes(np.zeros((1, 0), int))
    early = Round(plan, plan.everything, numbers, cells, cells, np.stack(losses))
    assert selection._survivors(early).tolist() == [0, 1, 5]


def test_what_left_early_is_still_listed_with_its_error() -> None:
    X, _, y = table(400)
    described = greyfill.GreyImputer().fit(X, y).selection_["x0"]
    assert len(described["tried"]) > 60
    assert set(described["panel"]) <= set(described["tried"])


# ---------------------------------------------------------------------------- progress

OTHERS = "panels of other columns"


@pytest.mark.parametrize(
    ("labels", "stages"),
    [
        ("own", ["early panels", "pass 2 of 3", "panels", "pass 3 of 3", OTHERS]),
        ("cross", ["pass 2 of 3", "panels", OTHERS, "training rows"]),
    ],
)
def test_progress_counts_the_columns_of_every_pass(labels: str, stages: list[str]) -> None:
    X, _, y = table()
    seen: list[Progress] = []
    greyfill.GreyImputer(labels=labels, progress=seen.append, n_jobs=2).fit(X, y)
    ended = {step.stage: step for step in seen if step.done == step.total}
    assert list(ended) == ["pass 1 of 3", *stages]
    assert ended["panels"].total == 4
    assert all(step.seconds >= 0.0 for step in seen)


def test_an_error_in_the_callback_ends_the_work_and_changes_nothing() -> None:
    X, _, y = table()
    imputer = greyfill.GreyImputer().fit(X, y)
    before = imputer.transform(X)

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    imputer.set_params(progress=stop)
    with pytest.raises(KeyboardInterrupt):
        imputer.fit(X[::-1], y)
    np.testing.assert_array_equal(imputer.transform(X), before)


def test_the_callback_is_cloned_and_not_saved(tmp_path: Path) -> None:
    X, _, y = table()
    seen: list[Progress] = []

    def remember(progress: Progress) -> None:
        seen.append(progress)

    imputer = greyfill.GreyImputer(progress=remember).fit(X, y)
    assert seen
    imputer.save(tmp_path / "model")
    assert greyfill.load(tmp_path / "model").progress is None
    assert clone(imputer).progress is remember
