"""No training row sees its own y: fills, spreads and explanations of ``labels="cross"``."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import greyfill
from greyfill._grey.contributions import new_contributions
from greyfill._grey.cross_fit import predict_held_out, without_own_y
from greyfill._grey.donor_table import Queries
from greyfill._grey.grey_engine import FittedGrey, new_queries, posterior, predict
from greyfill._grey.predictor import ColumnPredictor
from greyfill._grey.uncertainty import HeldOutRows
from greyfill.table import Table


def mixed_table(n_classes: int = 3, n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Three numbers and a category that tell the class, with holes."""
    rng = np.random.default_rng(26)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 4)) + 1.5 * y[:, np.newaxis]
    X[:, 3] = (X[:, 3] > X[:, 3].mean()) + (X[:, 0] > 2)
    X[rng.random(X.shape) < 0.25] = np.nan
    X[:3, 1:] = np.nan
    X[4] = np.nan
    return X, y


def fitted_on(X: np.ndarray, y: Any, **params: Any) -> tuple[np.ndarray, FittedGrey]:
    imputer = greyfill.GreyImputer(n_cells=30, categorical_features=[3], **params)
    return imputer.fit_transform(X, y), imputer._fitted


def with_donors(fitted: FittedGrey, **changed: Any) -> FittedGrey:
    """The same panels, weights and features with other donors, and nothing computed before."""
    fresh = {"_features": {}, "_levels": {}, "_ranges": {}}
    donors = replace(fitted.donors, **changed, **fresh)
    return replace(fitted, donors=donors, _models={}, _held={})


@pytest.mark.parametrize("response", [False, True])
def test_a_training_row_is_filled_like_a_new_row_of_a_fit_without_it(response: bool) -> None:
    X, y = mixed_table()
    filled, fitted = fitted_on(X, y + 0.01 * np.arange(len(y)) if response else y)
    table, panel = fitted.donors.table, fitted.model(fitted.donors.y_column)[0].panel
    assert {candidate.k > 0 for candidate in panel} == {True, False}  # neighbors, and all rows
    for place, row in enumerate(fitted.rows[:40]):
        # The slow twin: the row is no donor of anything, y included, and comes as a new one.
        lacking = table.missing | (np.arange(table.n_rows) == place)[:, np.newaxis]
        others = with_donors(fitted, table=Table(table.values, lacking, table.columns))
        cells = np.nan_to_num(X[[row]])
        query = new_queries(others, Table(cells, np.isnan(X[[row]]), table.columns[:4]))
        expected = query.values[:, :4].copy()
        for j in np.flatnonzero(np.isnan(X[row])).tolist():
            expected[:, j] = fitted.donors.fills(j, predict(others, j, query))
        units = np.where(np.isnan(X[row]), fitted.scaler.unscale(expected)[0], X[row])
        assert filled[row] == pytest.approx(units, abs=1e-6)


@pytest.mark.parametrize(("labels", "knows_y"), [("none", False), ("own", True), ("cross", False)])
def test_held_out_cells_are_predicted_as_by_a_fit_without_their_row(
    labels: str, knows_y: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ColumnPredictor, "class_doubt", lambda self: 0.0)  # it sees all donors
    X, y = mixed_table(2)
    _, fitted = fitted_on(X, y, labels=labels)
    # The slow twin: every row is a fold of its own.
    held = HeldOutRows(fitted, np.arange(len(fitted.rows)))
    for target in range(4):
        rows, missing = held.like_holes(target, knows_y, 30)
        expected = held.forecast(target, rows, held.queries(target, rows, missing)).predicted
        queries = Queries.of(fitted.donors, rows).without(target)
        queries = replace(queries, missing=queries.missing | missing)
        found = predict_held_out(fitted, target, queries).predicted
        if labels == "cross":  # in the regressions of the other class the row is still there
            assert np.abs(found - expected).mean() < 0.01
        else:
            np.testing.assert_allclose(found, expected, atol=5e-3)  # penalties are of n donors


def test_a_label_that_changes_leaves_the_fills_of_its_row() -> None:
    X, y = mixed_table()
    _, fitted = fitted_on(X, y)
    table = fitted.donors.table
    moved = 0.0
    for place in np.flatnonzero(table.missing.any(axis=1))[:30].tolist():
        values, labels = table.values.copy(), fitted.donors.labels.copy()
        labels[place] = values[place, -1] = (labels[place] + 1) % 3
        flipped = with_donors(fitted, table=table.with_values(values), labels=labels)
        for j in np.flatnonzero(table.missing[place]).tolist():
            own, other = (
                predict(f, j, without_own_y(f, np.array([place]))).predicted
                for f in (fitted, flipped)
            )
            assert own == pytest.approx(other, abs=1e-9)
        # the same row as a new one meets itself among the donors, and its label with it
        query = Queries.of(fitted.donors, np.array([place])).without(fitted.donors.y_column)
        query = replace(query, own_rows=np.array([-1]))
        moved = max(moved, np.abs(posterior(fitted, query) - posterior(flipped, query)).max())
    assert moved > 0.1


@pytest.mark.parametrize("max_iter", [1, 3])
def test_no_label_touches_the_fills_of_donors(max_iter: int) -> None:
    X, y = mixed_table()
    found = []
    for labels in (y, np.random.default_rng(0).permutation(y)):
        _, fitted = fitted_on(X, labels, max_iter=max_iter)
        found.append(fitted.donors.table.values[np.argsort(fitted.rows), :4])
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def accuracy_of_fills(X: np.ndarray, y: np.ndarray, labels: str) -> float:
    """How well the nearest class mean of the others tells the class from the fills alone."""
    filled = greyfill.GreyImputer(labels=labels, n_cells=40).fit_transform(X, y)
    fills = np.where(np.isnan(X), filled, 0.0)
    right = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        gaps = [np.sum((fills[i] - fills[others & (y == c)].mean(axis=0)) ** 2) for c in (0, 1)]
        right.append(np.argmin(gaps) == y[i])
    return float(np.mean(right))


def test_fills_tell_no_label_that_the_columns_do_not_tell() -> None:
    found: dict[str, list[float]] = {"own": [], "cross": [], "none": []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 6)), rng.permutation(np.repeat([0, 1], 75))
        X[rng.random(X.shape) < 0.4] = np.nan
        for labels, accuracies in found.items():
            accuracies.append(accuracy_of_fills(X, y, labels))
    # 900 rows: the standard error of a share of one half is 0.017
    assert np.mean(found["own"]) > 0.60
    assert np.mean(found["cross"]) < 0.55
    assert np.mean(found["none"]) < 0.55


def test_the_name_of_earlier_versions_is_kept() -> None:
    X, y = mixed_table()
    imputer = greyfill.GreyImputer(labels="donors")
    assert clone(imputer).get_params()["labels"] == "donors"
    own, _ = fitted_on(X, y, labels="own")
    assert np.array_equal(fitted_on(X, y, labels="donors")[0], own)
    assert not np.array_equal(fitted_on(X, y)[0], own)
    assert greyfill.GreyImputer().labels == "cross"


@pytest.mark.parametrize("y", [None, np.zeros(90), np.full(90, np.nan)])
def test_without_classes_there_is_nothing_to_cross(y: Any) -> None:
    X, _ = mixed_table()
    filled, fitted = fitted_on(X, y)
    assert not fitted.crosses
    assert np.array_equal(filled, fitted_on(X, None, labels="none")[0])


@pytest.mark.parametrize("labels", ["cross", "own"])
@pytest.mark.parametrize("response", [False, True])
def test_an_explanation_gives_the_fill_that_is_shown(labels: str, response: bool) -> None:
    X, y = mixed_table()
    target = y + 0.01 * np.arange(len(y)) if response else y
    imputer = greyfill.GreyImputer(labels=labels, n_cells=30, categorical_features=[3])
    filled = imputer.fit_transform(X, target)
    for row, column in np.argwhere(np.isnan(X))[:60].tolist():
        shown = imputer.explain(row, column, n_donors=1_000)
        assert shown.value == pytest.approx(filled[row, column])
        assert sum(shown.weights) == pytest.approx(1.0)
        if labels == "cross" and column < 3:
            low, high = np.nanmin(X[:, column]), np.nanmax(X[:, column])
            made = np.clip(np.dot(shown.weights, shown.values), low, high)
            assert made == pytest.approx(filled[row, column], abs=1e-6)


def test_the_distances_of_an_explanation_are_grey_distances_of_its_columns() -> None:
    X, _ = mixed_table()
    imputer = greyfill.GreyImputer(labels="none", n_cells=30, categorical_features=[3]).fit(X)
    donors, target = imputer._fitted.donors.table, 0
    own = int(np.flatnonzero(~donors.missing.any(axis=1))[0])  # a new row that is like a donor
    new = X[[imputer._fitted.rows[own]]]
    new[0, target] = np.nan
    table = Table(np.nan_to_num(new), np.isnan(new), donors.columns[:4])
    found = new_contributions(imputer._fitted, table, target)
    apart = np.abs(donors.values[:, 1:] - donors.values[own, 1:])
    givers = np.flatnonzero(~donors.missing[:, target])
    low, offset = apart[givers, :2].min(), 0.5 * apart[givers, :2].max()
    expected = 1.0 - (low + offset) / (apart[found.donors, :2] + offset)
    assert found.columns.tolist() == [1, 2, 3]
    np.testing.assert_allclose(found.gaps[:, :2], expected, atol=1e-9)
    np.testing.assert_array_equal(found.gaps[:, 2], apart[found.donors, 2] > 0)
    assert found.distances[found.donors.tolist().index(own)] == pytest.approx(0.0, abs=1e-12)


def test_a_class_that_is_not_known_widens_the_spread() -> None:
    X, y = mixed_table()
    imputer = greyfill.GreyImputer(n_cells=30, categorical_features=[3]).fit(X, y)
    rows, columns, spreads = imputer.cell_spreads_
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [
        tuple(cell) for cell in np.argwhere(np.isnan(X)).tolist()
    ]
    within = np.sqrt(np.mean(imputer._fitted.choices[0].residuals ** 2))
    assert spreads[columns == 0].min() >= within
    assert spreads[(rows == 4) & (columns == 0)] > 1.2 * within  # nothing tells its class


def test_a_spread_joins_what_is_missed_within_the_classes_and_between_them() -> None:
    X, y = mixed_table()
    imputer = greyfill.GreyImputer(n_cells=30, categorical_features=[3]).fit(X, y)
    fitted, (rows, columns, spreads) = imputer._fitted, imputer.cell_spreads_
    within = float(np.mean(fitted.choices[0].residuals ** 2))
    for row, spread in zip(rows[columns == 0].tolist(), spreads[columns == 0], strict=True):
        query = without_own_y(fitted, np.flatnonzero(fitted.rows == row))
        found = [
            fitted.predict(0, query.with_labels(fitted.donors, label)).predicted[0, 0]
            for label in range(3)
        ]
        share = query.shares[0]
        between = share @ (np.array(found) - share @ found) ** 2
        assert spread**2 == pytest.approx(within + between, rel=0.02)  # without negligible classes


def test_rows_that_are_no_donors_do_not_see_their_label() -> None:
    X, y = mixed_table(2, 200)
    X[150:] = np.nan
    X[150:, 3] = 1.0  # all alike but for their label
    filled, fitted = fitted_on(X, y, max_donors=20)
    others = np.setdiff1d(np.arange(150, 200), fitted.rows)
    assert len(others) > 20
    assert np.ptp(filled[others], axis=0) == pytest.approx(np.zeros(4))


def test_a_response_that_is_not_known_widens_the_spread() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=120)
    X = np.column_stack([y + 0.05 * rng.normal(size=120), rng.normal(size=120)])
    X[:40, 0] = np.nan
    spreads = {
        labels: greyfill.GreyImputer(labels=labels).fit(X, y).cell_spreads_[2].mean()
        for labels in ("cross", "own")
    }
    assert spreads["cross"] > 3 * spreads["own"]
