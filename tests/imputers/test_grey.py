"""The self-tuning imputer, and the models that predict without imputing first."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import greyfill
from greyfill.exceptions import InvalidDataError, InvalidParameterError


def holed(X: np.ndarray, rate: float = 0.2, seed: int = 0) -> np.ndarray:
    holes = np.random.default_rng(seed).random(X.shape) < rate
    return np.where(holes, np.nan, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([greyfill.GreyClassifier(n_cells=20), greyfill.GreyRegressor(n_cells=20)])
def test_estimator_checks(estimator, check) -> None:
    check(estimator)


def test_a_line_is_found() -> None:
    rng = np.random.default_rng(0)
    x = np.append(rng.uniform(-1, 1, size=20), rng.normal(size=100))
    X = np.column_stack([x, 3 * x + 1, rng.normal(size=120)])
    hidden = X[:20, 1].copy()
    X[:20, 1] = np.nan
    imputer = greyfill.GreyImputer()
    filled = imputer.fit_transform(X)
    assert np.abs(filled[:20, 1] - hidden).max() < 0.05 * np.ptp(X[20:, 1])
    assert imputer.selection_["x1"]["error"] < 0.05 * np.ptp(X[20:, 1])
    assert any("ridge" in line for line in imputer.selection_["x1"]["panel"])


def test_noise_is_filled_by_something_near_the_mean() -> None:
    X = np.random.default_rng(1).normal(size=(200, 3))
    hidden = X[:50, 0].copy()
    X[:50, 0] = np.nan
    filled = greyfill.GreyImputer().fit_transform(X)[:50, 0]
    error = np.sqrt(np.mean((filled - hidden) ** 2))
    by_mean = np.sqrt(np.mean((np.nanmean(X[:, 0]) - hidden) ** 2))
    assert error < 1.1 * by_mean


def test_classes_help_in_training_rows_and_their_probabilities_in_new_ones() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.column_stack([y * 10 + rng.normal(size=200), y * 5 + rng.normal(size=200)])
    X[::4, 0] = np.nan
    imputer = greyfill.GreyImputer().fit(X, y)
    low, high = imputer.transform([[np.nan, 0.0], [np.nan, 5.0]])[:, 0]
    assert abs(low) < 2
    assert abs(high - 10) < 2


def test_a_continuous_target_helps() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=150)
    X = np.column_stack([y + 0.05 * rng.normal(size=150), rng.normal(size=150)])
    hidden = X[:40, 0].copy()
    X[:40, 0] = np.nan
    with_y = greyfill.GreyImputer(labels="own").fit_transform(X, y)[:40, 0]
    without = greyfill.GreyImputer(labels="none").fit_transform(X, y)[:40, 0]
    assert np.abs(with_y - hidden).mean() < 0.3 * np.abs(without - hidden).mean()


def test_labels_none_never_looks_at_y() -> None:
    X, y = load_iris(return_X_y=True)
    X = holed(X)
    blind = greyfill.GreyImputer(labels="none", n_cells=30)
    assert np.array_equal(blind.fit_transform(X, y), blind.fit_transform(X, y[::-1]))


def test_threads_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    X = holed(X)
    one = greyfill.GreyImputer(n_cells=30).fit_transform(X, y)
    assert np.array_equal(one, greyfill.GreyImputer(n_cells=30, n_jobs=2).fit_transform(X, y))


def test_wrong_parameters_are_named() -> None:
    X = [[1.0, np.nan], [2.0, 3.0]]
    for params, word in (
        ({"labels": "x"}, "labels"),
        ({"n_cells": 3}, "n_cells"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1}, "tol"),
        ({"n_cells": "many"}, "n_cells.*'many'"),
        ({"max_iter": None}, "max_iter.*None"),
        ({"tol": "small"}, "tol.*'small'"),
        ({"n_jobs": "all"}, "n_jobs.*-1 for all cores.*'all'"),
        ({"random_state": -1}, "random_state.*-1"),
    ):
        with pytest.raises(InvalidParameterError, match=word):
            greyfill.GreyImputer(**params).fit(X)


def test_classifier_reads_rows_with_holes() -> None:
    X, y = load_iris(return_X_y=True)
    X = holed(X)
    scores = cross_val_score(greyfill.GreyClassifier(), X, y, cv=5)
    assert scores.mean() > 0.85  # one third of the rows are of each class
    model = greyfill.GreyClassifier().fit(X, y)
    shares = model.predict_proba(np.full((1, 4), np.nan))
    assert shares == pytest.approx(np.full((1, 3), 1 / 3), abs=0.05)  # nothing known: the prior
    assert 0 < model.log_loss_ < np.log(3)


def test_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    truth = 1 / (1 + np.exp(-2 * X[:, 0]))
    y = (rng.random(600) < truth).astype(int)
    shares = cross_val_predict(
        greyfill.GreyClassifier(), holed(X, 0.1), y, cv=3, method="predict_proba"
    )[:, 1]
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        inside = (shares >= low) & (shares <= high)
        assert abs(y[inside].mean() - shares[inside].mean()) < 0.1


@pytest.mark.heavy
def test_regressor_reads_rows_with_holes() -> None:
    X, y = load_diabetes(return_X_y=True)
    ours = cross_val_score(greyfill.GreyRegressor(), holed(X, 0.1), y, cv=3).mean()
    complete = cross_val_score(LinearRegression(), X, y, cv=3).mean()
    assert ours > complete - 0.12


def test_models_are_saved_and_pickled(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    X = holed(X[::3])
    for model, ask in (
        (
            greyfill.GreyClassifier(n_cells=20).fit(X, np.array(list("uvw"))[y[::3]]),
            "predict_proba",
        ),
        (greyfill.GreyRegressor(n_cells=20).fit(X, y[::3]), "predict"),
    ):
        model.save(tmp_path / "model.greyfill")
        for twin in (greyfill.load(tmp_path / "model.greyfill"), pickle.loads(pickle.dumps(model))):
            assert np.array_equal(getattr(twin, ask)(X), getattr(model, ask)(X))
            assert twin.selection_ == model.selection_


def test_a_regressor_tells_its_error_in_the_units_of_y() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = 1000 * x + 100 * rng.normal(size=200)
    chosen = greyfill.GreyRegressor().fit(x[:, np.newaxis], y).selection_
    assert 80 < chosen["error"] < 130  # the noise
    assert 80 < min(chosen["tried"].values()) < 130


def test_models_stand_in_a_search_and_in_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    X = holed(X[::3])
    pipeline = make_pipeline(StandardScaler(), greyfill.GreyClassifier())
    search = GridSearchCV(pipeline, {"greyclassifier__n_cells": [15, 30]}, cv=2).fit(X, y[::3])
    assert search.best_score_ > 0.7
    assert search.predict_proba(X[:3]).shape == (3, 3)


def test_models_refuse_missing_labels_and_empty_tables() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    with pytest.raises(InvalidDataError, match="y contains NaN"):
        greyfill.GreyClassifier().fit(X, ["a", None, "b", "a"])
    with pytest.raises(InvalidDataError, match="y contains NaN"):
        greyfill.GreyRegressor().fit(X, [1.0, np.nan, 2.0, 3.0])
    with pytest.raises(InvalidDataError, match="no column"):
        greyfill.GreyClassifier().fit(np.full((4, 1), np.nan), list("abab"))


def test_models_name_each_other_for_the_other_sort_of_target() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    with pytest.raises(InvalidDataError, match=r"Unknown label type: continuous.*GreyRegressor"):
        greyfill.GreyClassifier().fit(X, [0.5, 1.5, 2.25, 3.5])
    with pytest.raises(InvalidDataError, match=r"y holds 'ill'.*GreyClassifier"):
        greyfill.GreyRegressor().fit(X, ["ill", "well", "ill", "well"])
    with pytest.raises(InvalidParameterError, match=r"n_cells.*'few'"):
        greyfill.GreyClassifier(n_cells="few").fit(X, list("abab"))


def three_columns(n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = np.arange(n) % 2
    X = np.column_stack([rng.normal(size=n) + y, rng.normal(size=n), np.arange(n) % 3])
    X[:, 1] += X[:, 0]
    return X, y, rng.random(X.shape) < 0.2


def test_draws_differ_in_holes_and_only_there() -> None:
    X, y, holes = three_columns()
    imputer = greyfill.GreyImputer(categorical_features=[2], n_cells=60)
    holed_X = np.where(holes, np.nan, X)
    imputer.fit(holed_X, y)
    for labels in (y, None):
        first, second = imputer.draw(holed_X, 2, y=labels)
        assert np.array_equal(first[~holes], X[~holes])
        assert np.isfinite(first).all()
        assert (first[holes] != second[holes]).mean() > 0.5
        assert set(np.unique(first[:, 2])) <= {0.0, 1.0, 2.0}
    again = imputer.draw(holed_X, 2, y=y)
    assert np.array_equal(again[0], imputer.draw(holed_X, 2, y=y)[0])


def test_draws_keep_the_spread_that_single_fills_lose() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    X[:200, 0] = np.nan
    imputer = greyfill.GreyImputer()
    filled = imputer.fit_transform(X)[:200, 0]
    drawn = imputer.draw(X, 1)[0][:200, 0]
    assert filled.std() < 0.5
    assert 0.8 < drawn.std() < 1.2


@pytest.mark.heavy
def test_pooled_draws_cover_a_mean() -> None:
    inside = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=200)
        X = np.column_stack([x, x + rng.normal(size=200)])
        X[rng.random(200) < 0.4, 1] = np.nan
        imputer = greyfill.GreyImputer(n_cells=60).fit(X)
        tables = imputer.draw(X, 5)
        means = [t[:, 1].mean() for t in tables]
        variances = [t[:, 1].var(ddof=1) / 200 for t in tables]
        low, high = greyfill.pool(means, variances).interval(0.95)
        inside += bool(low <= 0 <= high)
    assert inside >= 16


def test_intervals_hold_what_they_promise() -> None:
    X, y, holes = three_columns(600)
    imputer = greyfill.GreyImputer(categorical_features=[2])
    holed_X = np.where(holes, np.nan, X)
    imputer.fit(holed_X, y)
    found = imputer._interval_lists(holed_X, y, level=0.8)
    assert len(found["rows"]) == holes.sum()
    inside = []
    for row, name, low, high, levels in zip(*found.values(), strict=True):
        truth = X[row, int(name[1:])]
        inside.append(truth in levels if levels is not None else low <= truth <= high)
    assert 0.72 < np.mean(inside) < 0.92


def test_an_explanation_adds_up() -> None:
    X, y, holes = three_columns()
    holes[0, 0] = True
    holed_X = np.where(holes, np.nan, X)
    imputer = greyfill.GreyImputer(labels="own", categorical_features=[2], max_iter=1)
    filled = imputer.fit_transform(holed_X, y)
    shown = imputer.explain(0, "x0", n_donors=10_000)
    assert sum(shown.weights) + shown.others == pytest.approx(1.0)
    assert np.dot(shown.weights, shown.values) == pytest.approx(filled[0, 0], abs=0.05)
    assert all(not np.isnan(holed_X[row, 0]) for row in shown.rows)
    assert "row 0, column 'x0'" in str(shown)
    donors = imputer.donors_of(0, "x0")
    assert (donors["rows"], donors["weights"]) == (shown.rows, shown.weights)
    with pytest.raises(InvalidParameterError, match="'x0' was observed"):
        imputer.explain(int(np.flatnonzero(~holes[:, 0])[0]), "x0")
    with pytest.raises(InvalidParameterError, match=r"row 10000 is not among .*max_donors.*X=X"):
        imputer.explain(10_000, "x0")
    with pytest.raises(InvalidParameterError, match=r"n_donors.*0"):
        imputer.explain(0, "x0", n_donors=0)
    with pytest.raises(InvalidParameterError, match=r"no column 0\.5"):
        imputer.explain(0, 0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="no column"):
        imputer.explain(0, "nope")


def test_draws_and_intervals_refuse_what_fit_never_saw() -> None:
    X, y, holes = three_columns()
    holed_X = np.where(holes, np.nan, X)
    imputer = greyfill.GreyImputer(n_cells=20).fit(holed_X, y)
    with pytest.raises(InvalidDataError, match="never saw"):
        imputer.draw(holed_X, 1, y=y + 5)
    blind = greyfill.GreyImputer(n_cells=20).fit(holed_X)
    for tell in (blind.draw, blind.intervals):
        with pytest.raises(InvalidDataError, match=r"fit got none.*fit\(X, y\)"):
            tell(holed_X, y=y)
    assert len(blind.intervals(holed_X, [None] * len(y))) == holes.sum()
    blind.set_params(labels="none").fit(holed_X, y).draw(holed_X, 1, y)
    with pytest.raises(InvalidParameterError, match="level"):
        imputer._interval_lists(holed_X, level=2)
    with pytest.raises(InvalidParameterError, match="n must"):
        imputer.draw(holed_X, 0)
    with pytest.raises(InvalidParameterError, match=r"n must be an integer.*'5'"):
        imputer.draw(holed_X, "5")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match=r"level.*'90 %'"):
        imputer._interval_lists(holed_X, level="90 %")  # type: ignore[arg-type]
