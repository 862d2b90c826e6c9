"""Columns with more levels than can be predicted one by one, and levels that are only declared."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import greyfill
from greyfill._grey import grey_engine
from greyfill._grey.candidates import COMMON_RIDGE, Candidate, Plan
from greyfill._grey.contributions import new_contributions
from greyfill._grey.donor_table import Queries
from greyfill._grey.outcomes import Forecast, Outcomes
from greyfill._grey.passes import GreySettings
from greyfill._grey.predictor import Neighborhood
from greyfill._grey.selection import PanelChoice
from greyfill.table import MANY_LEVELS, Column, Kind, Table

pytestmark = pytest.mark.filterwarnings("ignore::greyfill.exceptions.IdentifierWarning")

N_LEVELS = 300


def towns(n_rows: int = 900, seed: int = 0) -> pd.DataFrame:
    """A town of many, two numbers that say where it is, and a letter; a fifth of the cells missing.

    Every town occurs three times.
    """
    rng = np.random.default_rng(seed)
    town = rng.permutation(np.arange(n_rows) % (n_rows // 3))
    table = pd.DataFrame(
        {
            "town": [f"town {i}" for i in town],
            "north": np.sin(town) + rng.normal(scale=1e-3, size=n_rows),
            "east": np.cos(town * 1.7) + rng.normal(scale=1e-3, size=n_rows),
            "letter": rng.choice(list("abc"), n_rows),
        }
    )
    return table.mask(rng.random(table.shape) < 0.2)


def fitted_towns(labels: np.ndarray | None = None) -> grey_engine.FittedGrey:
    """A donor table whose first column has 300 levels."""
    rng = np.random.default_rng(0)
    town = np.arange(900) % N_LEVELS
    values = np.column_stack([town, np.sin(town), rng.random(900)]).astype(float)
    missing = rng.random(values.shape) < [0.1, 0.1, 0.0]
    columns = (
        Column("town", Kind.CATEGORICAL, N_LEVELS),
        Column("north", Kind.NUMERIC),
        Column("noise", Kind.NUMERIC),
    )
    table = Table(np.where(missing, 0.0, values), missing, columns)
    settings = GreySettings(n_cells=20, max_iter=1)
    return grey_engine.fit_imputer(table, labels, None, settings)[1]


# ---------------------------------------------------------------------------- lists of levels


def test_votes_of_a_short_list_equal_the_votes_for_all_levels() -> None:
    donors = fitted_towns().donors
    panel = tuple(Candidate("equal", "soft", k, "inverse", np.inf, "values") for k in (5, 40))
    choice = PanelChoice(0, np.array([1, 2]), {"equal": np.array([0.5, 0.5])}, 0.0, panel)
    column = choice.predictor(donors, None)
    queries = Queries.of(donors, np.flatnonzero(donors.table.missing[:, 0]))
    forecast = choice.predict(column, queries)
    plan = Plan.of(panel)
    near = column.neighborhood(plan, queries, plan.everything)
    weights = [column.donor_weights(near, 0, c.k, c.kernel)[..., np.newaxis] for c in panel]
    truth = donors.truth(0)[near.rows[:, 0]]
    everything = [(w * truth[:, : w.shape[1]]).sum(axis=1) for w in weights]
    full = np.mean(everything, axis=0)  # one column for each of the levels
    listed = np.searchsorted(donors.levels(0), forecast.outcomes.levels)
    assert forecast.predicted.shape == (len(full), MANY_LEVELS + 1)
    np.testing.assert_allclose(
        forecast.predicted[:, :-1], np.take_along_axis(full, listed, 1), atol=1e-12
    )
    np.testing.assert_allclose(forecast.predicted[:, -1], 0.0, atol=1e-12)
    np.testing.assert_array_equal(forecast.most_probable(), donors.levels(0)[full.argmax(axis=1)])


def test_a_row_without_neighbors_lists_the_most_frequent_levels() -> None:
    before = fitted_towns().donors
    values = before.table.values.copy()
    values[:600, 0] = np.repeat([7.0, 250.0, 299.0], 200)
    values[600:, 0] = np.arange(N_LEVELS)
    table = before.table.with_values(values)
    donors = replace(before, table=table, _features={}, _levels={})
    choice = PanelChoice(0, np.array([1, 2]), {"equal": np.array([0.5, 0.5])}, 0.0, (COMMON_RIDGE,))
    forecast = choice.predict(choice.predictor(donors, None), Queries.of(donors, np.arange(4)))
    assert {7, 250, 299} <= set(forecast.outcomes.levels[0].tolist())
    assert set(forecast.most_probable()) <= {7, 250, 299}
    np.testing.assert_allclose(forecast.predicted.sum(axis=1), 1.0)


def test_losses_and_shares_of_a_list_are_those_of_all_levels() -> None:
    levels, rng = np.array([[1, 4, 6], [0, 2, 3]]), np.random.default_rng(0)
    outcomes = Outcomes(levels, n_others=5)
    found = rng.dirichlet(np.ones(4), size=2)
    values = np.array([4.0, 7.0])  # the second is not listed
    whole = np.repeat(found[:, -1:] / 5, 8, axis=1)
    np.put_along_axis(whole, levels, found[:, :-1], axis=1)
    truth = (np.arange(8) == values[:, np.newaxis]).astype(float)
    square = outcomes.loss(found, outcomes.truth(values), "square")
    np.testing.assert_allclose(square, ((whole - truth) ** 2).sum(axis=1))
    np.testing.assert_allclose(
        outcomes.residuals(found, outcomes.truth(values)), 1.0 - (whole * truth).sum(axis=1)
    )
    shares = outcomes.shares(found)
    np.testing.assert_allclose(shares[:, :-1].sum(axis=1) + 5 * shares[:, -1], 1.0)


def test_draws_reach_every_level_by_its_share() -> None:
    everything = np.array([2, 3, 5, 7, 11, 13])
    levels = np.tile([3, 7, 11], (60_000, 1))
    forecast = Forecast(np.tile([0.4, 0.0, 0.3, 0.3], (60_000, 1)), Outcomes(levels, n_others=3))
    drawn = forecast.draw(everything, np.random.default_rng(0))
    shares = [(drawn == code).mean() for code in everything]
    assert shares == pytest.approx([0.1, 0.4, 0.1, 0.0, 0.3, 0.1], abs=0.01)


def test_frequencies_leave_the_own_cell_out() -> None:
    fitted = fitted_towns()
    _, column = fitted.model(0)
    nobody = Neighborhood(np.zeros((1, 0, 0), dtype=np.intp), np.zeros((1, 0, 0)))
    outcomes = column.outcomes(nobody, 1)
    code = float(outcomes.levels[0, 0])
    with_own = column.overall_mean(outcomes)[0, 0] * len(column.donor_rows)
    without = column.overall_mean(outcomes, np.array([code]))[0, 0] * (len(column.donor_rows) - 1)
    assert with_own - without == pytest.approx(1.0)


# ---------------------------------------------------------------------------- tables


def test_towns_are_found_by_their_neighbors() -> None:
    X = towns()
    truth = towns()
    rng = np.random.default_rng(1)
    known = np.flatnonzero(X["town"].notna() & X["north"].notna() & X["east"].notna())
    hidden = rng.permutation(known)[:100]
    X.loc[hidden, "town"] = None
    filled = greyfill.GreyImputer().fit_transform(X)
    right = (filled.loc[hidden, "town"] == truth.loc[hidden, "town"]).mean()
    possible = truth.loc[hidden, "town"].isin(X["town"].dropna()).mean()
    assert right > 0.6 * possible


def test_memory_grows_with_the_rows_and_not_with_rows_times_levels() -> None:
    n = 3_000
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"name": [f"id{i}" for i in range(n)], "x": rng.normal(size=n)})
    X["y"] = X["x"] + rng.normal(size=n)
    X = X.mask(rng.random(X.shape) < 0.2)
    imputer = greyfill.GreyImputer(n_cells=40, max_iter=1)
    tracemalloc.start()
    imputer.fit(X)
    imputer.transform(X[:300])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    table_of_indicators = 8 * n * int(X["name"].nunique())
    assert peak < table_of_indicators
    assert imputer._fitted.donors.is_wide(0)


def test_declared_levels_that_do_not_occur_cost_nothing_and_change_nothing() -> None:
    rng = np.random.default_rng(0)
    levels = [f"level {i:05}" for i in range(20_000)]
    used = rng.choice(np.array(levels)[[5, 9_000, 19_999]], 24)
    X = pd.DataFrame({"x": rng.normal(size=24), "c": used, "d": rng.choice(["u", "v"], 24)})
    X = X.mask(rng.random(X.shape) < 0.2)
    few, many = X.copy(), X.copy()
    few["c"] = pd.Categorical(X["c"], categories=sorted(set(used)))
    many["c"] = pd.Categorical(X["c"], categories=levels)
    expected, imputer = greyfill.GreyImputer().fit(few), greyfill.GreyImputer().fit(many)
    assert imputer._fitted.donors.truth(1).shape == (24, 3)
    filled = imputer.transform(many)
    assert filled["c"].dtype == many["c"].dtype
    pd.testing.assert_frame_equal(
        filled.astype({"c": str}), expected.transform(few).astype({"c": str})
    )
    assert imputer._interval_lists(many) == expected._interval_lists(few)
    np.testing.assert_array_equal(imputer.cell_spreads_[2], expected.cell_spreads_[2])
    for one, other in zip(imputer.draw(many, 2), expected.draw(few, 2), strict=True):
        pd.testing.assert_frame_equal(one.astype({"c": str}), other.astype({"c": str}))


# ---------------------------------------------------------------------------- classes


def test_very_many_classes_are_a_column_like_others(tmp_path: Path) -> None:
    X = towns()
    known = X[X["town"].notna()]
    numbers, y = known.drop(columns="town"), known["town"]
    imputer = greyfill.GreyImputer(n_cells=40, max_iter=1).fit(numbers, y)
    assert not imputer._fitted.donors.splits
    assert imputer._fitted.donors.y_column in imputer._fitted.choices[0].predictors
    assert np.isfinite(imputer.log_loss_)
    batch = imputer.transform(numbers[:20])
    pd.testing.assert_frame_equal(
        pd.concat([imputer.transform(numbers[i : i + 1]) for i in range(20)]), batch
    )
    assert not imputer.draw(numbers[:20], 1, y[:20])[0].isna().any().any()
    imputer.save(tmp_path / "model")
    pd.testing.assert_frame_equal(greyfill.load(tmp_path / "model").transform(numbers[:20]), batch)


def test_rows_without_a_label_are_filled_as_of_their_likeliest_class() -> None:
    labels = np.arange(900) // 300
    fitted = fitted_towns(labels)
    rows = np.flatnonzero(fitted.donors.table.missing[:, 0])[:30]
    known = Queries.of(fitted.donors, rows)
    missing = known.missing.copy()
    missing[::2, -1] = True
    unknown = Queries(known.values, missing, known.labels, np.full(len(rows), -1), known.sources)
    forecast = grey_engine.predict(fitted, 0, unknown)
    likely = grey_engine.most_probable_class(fitted, unknown.part([0])).tolist()[0]
    alone = fitted.predict(0, unknown.part([0]).with_labels(fitted.donors, likely))
    np.testing.assert_array_equal(forecast.predicted[:1], alone.predicted)
    np.testing.assert_array_equal(forecast.outcomes.levels[:1], alone.outcomes.levels)


def test_an_explanation_is_of_the_likeliest_class() -> None:
    fitted = fitted_towns(np.arange(900) // 300)
    columns = fitted.donors.table.columns[:3]
    new = Table(np.array([[0.0, 0.4, 0.5]]), np.array([[True, False, False]]), columns)
    assert new_contributions(fitted, new, 0).shares.sum() == pytest.approx(1.0)


def test_a_classifier_of_very_many_classes() -> None:
    X = towns()
    known = X[X["town"].notna()]
    model = greyfill.GreyClassifier(n_cells=40).fit(known.drop(columns="town"), known["town"])
    shares = model.predict_proba(X.drop(columns="town")[:50])
    assert shares.shape == (50, known["town"].nunique())
    assert shares.min() > 0.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    expected = model.classes_[shares.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X.drop(columns="town")[:50]), expected)
    assert 0.0 < model.log_loss_ < np.log(N_LEVELS)
