"""Bagged draws: what is averaged, that a row counts alone, and what its holes cost."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from imputers.family import quick
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from greyfill import BaggedDraws, CGKNNImputer, GreyImputer
from greyfill.exceptions import InvalidDataError, InvalidParameterError, PersistenceError
from greyfill.imputers.bagged import on_columns
from greyfill.persistence import save
from greyfill.table import Column, Kind


def bagged(estimator: Any = None, n_draws: int = 3, **params: Any) -> BaggedDraws:
    return BaggedDraws(quick(GreyImputer, **params), estimator, n_draws)


@pytest.mark.heavy
@parametrize_with_checks([bagged(n_draws=2), bagged(Ridge(), n_draws=2)])
def test_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=n) + y,
            "level": rng.normal(size=n) - y,
            "sex": np.where(rng.random(n) < 0.3 + 0.4 * y, "f", "m"),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.25), np.array(["ill", "well"])[y]


@pytest.mark.parametrize("estimator", [None, HistGradientBoostingClassifier(max_iter=5)])
def test_one_row_gives_the_same_as_a_batch_in_any_library(estimator: Any) -> None:
    X, y = mixed()
    model = bagged(estimator).fit(X, y)
    batch = model.predict_proba(X.iloc[:8])
    alone = np.vstack([model.predict_proba(X.iloc[[i]]) for i in range(8)])
    np.testing.assert_array_equal(batch, alone)
    np.testing.assert_allclose(batch.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= {"ill", "well"}
    of_polars = bagged(estimator).fit(pl.from_pandas(X), y)
    np.testing.assert_allclose(of_polars.predict_proba(pl.from_pandas(X.iloc[:8])), batch)


def test_the_mean_over_all_models_and_draws_by_hand() -> None:
    X, y = mixed()
    X = X[["dose", "level"]].to_numpy()
    model = bagged(LogisticRegression(), n_draws=2).fit(X, y)
    imputer = quick(GreyImputer, keep_empty_features=True).fit(X, y)
    numbers = (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC))
    models = [
        on_columns(LogisticRegression(), numbers).fit(drawn, y) for drawn in imputer.draw(X, 2, y)
    ]
    row = int(np.flatnonzero(np.isnan(X).any(axis=1))[0])
    draws = imputer._draw(X[row : row + 1], 2, alone=True)
    by_draw = np.array([np.mean([m.predict_proba(d) for m in models], axis=0)[0] for d in draws])
    p = by_draw.mean(axis=0)
    np.testing.assert_allclose(model.predict_proba(X[row : row + 1])[0], p)
    share = by_draw.var(axis=0).sum() / (p * (1 - p)).sum()
    np.testing.assert_allclose(model.variance_share(X[row : row + 1]), [share])


def test_only_holes_cause_variance() -> None:
    X, y = mixed()
    model = bagged(n_draws=5).fit(X, y)
    share, has_holes = model.variance_share(X), X.isna().any(axis=1).to_numpy()
    assert (share[~has_holes] == 0.0).all()
    assert ((share >= 0.0) & (share <= 1.0)).all()
    assert share[has_holes].max() > 0.0


def test_a_regressor_knows_how_far_y_scatters() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X @ [2.0, 1.0, 0.0] + rng.normal(size=120) * 0.5
    X[rng.random(X.shape) < 0.15] = np.nan
    model = bagged(LinearRegression(), n_draws=8).fit(X, y)
    assert is_regressor(model)
    assert not is_classifier(model)
    assert not hasattr(model, "predict_proba")
    assert 0.15 < model.noise_ < 0.5  # the truth is 0.25
    assert model.score(X, y) > 0.7
    told, idle = model.variance_share([[np.nan, 0.0, 0.0], [0.0, 0.0, np.nan]])
    assert told > 0.5  # this column carries y
    assert idle < 0.1  # that one tells nothing of it


def test_an_indicator_is_one_more_column() -> None:
    X, y = mixed()
    plain, flagged = bagged(n_draws=2).fit(X, y), bagged(n_draws=2, add_indicator=True).fit(X, y)
    widths = [m.estimators_[0][0].transform(np.zeros((1, n))).shape[1] for m, n in
              ((plain, 3), (flagged, 6))]  # fmt: skip
    assert widths == [4, 7]
    assert flagged.predict_proba(X.iloc[:3]).shape == (3, 2)


def test_a_level_that_fit_never_saw_is_no_error() -> None:
    X, y = mixed()
    new = X.iloc[:2].assign(sex=["x", None])
    assert np.isfinite(bagged(n_draws=2).fit(X, y).predict_proba(new)).all()


def test_copies_and_saving() -> None:
    X, y = mixed(30)
    model = bagged(n_draws=2).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(
        clone(model).set_params(n_draws=1).fit(X, y).predict(X).shape, (30,)
    )
    with pytest.raises(PersistenceError, match="BaggedDraws"):
        save(model, "nowhere.greyfill")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BaggedDraws(CGKNNImputer()), "cannot draw new rows"),
        (BaggedDraws(estimator=LinearSVC()), "no predict_proba"),
        (BaggedDraws(estimator=Ridge), "pass a classifier or a regressor"),
        (BaggedDraws(n_draws=0), "n_draws"),
    ],
)
def test_parts_that_cannot_work_are_refused(model: BaggedDraws, message: str) -> None:
    X, y = mixed()
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(X, y)


def test_rows_without_a_label_and_a_continuous_y_are_refused() -> None:
    X, y = mixed()
    with pytest.raises(InvalidDataError, match="NaN"):
        bagged().fit(X, [None, *y[1:]])
    with pytest.raises(InvalidDataError, match="continuous"):
        bagged().fit(X, np.linspace(0, 1, 60))
    with pytest.raises(InvalidDataError, match="different rows"):
        bagged().fit(X, y[:5])
