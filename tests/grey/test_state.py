"""What `fit` leaves is all there is: no later call tunes a column or changes a fitted imputer."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import greyfill
from greyfill._grey import grey_engine


def training(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A number and a category follow a first number; holes only in a fourth column."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": x,
            "curve": np.abs(x) + 0.05 * rng.normal(size=n),
            "kind": np.where(x + 0.3 * rng.normal(size=n) > 0, "u", "v"),
            "holed": 2 * x + rng.normal(size=n),
        }
    )
    frame.loc[::6, "holed"] = np.nan
    return frame, np.where(x > 0.2, "ill", "well")


def new_rows() -> pd.DataFrame:
    """Every column has holes, each row one of them."""
    rows = training(40, seed=1)[0]
    return rows.mask(np.arange(40)[:, np.newaxis] % 4 == np.arange(4))


@pytest.fixture(params=["tuned in fit", "too large to tune"])
def columns_without_holes(request, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "too large to tune":
        monkeypatch.setattr(grey_engine, "TUNED_CELLS", 0)
    return request.param


def uses(imputer: greyfill.GreyImputer) -> list[Any]:
    """Everything that a fitted imputer can be used for."""
    rows, y = new_rows(), np.resize(["ill", "well"], 40) if imputer._classes else None
    return [
        imputer.transform(rows),
        imputer.transform(rows[3:4]),
        *imputer.draw(rows, 2),
        *imputer.draw(rows, 1, y),
        pd.DataFrame(imputer._interval_lists(rows)),
        pd.DataFrame(imputer._interval_lists(rows, y)),
        pd.Series([repr(imputer.explain(0, "holed")), imputer.log_loss_]),
    ]


@pytest.mark.parametrize("has_classes", [True, False])
def test_no_use_changes_what_was_fitted(
    columns_without_holes: str, has_classes: bool, tmp_path: Path
) -> None:
    X, y = training()
    imputer = greyfill.GreyImputer(n_cells=30).fit(X, y if has_classes else None)
    pickled, engine = pickle.dumps(imputer), pickle.dumps(imputer._fitted)
    imputer.save(tmp_path / "before")
    before = uses(imputer)
    imputer.save(tmp_path / "after")
    assert pickle.dumps(imputer._fitted) == engine
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    for twin in (imputer, pickle.loads(pickled), greyfill.load(tmp_path / "before")):
        for one, other in zip(uses(twin), before, strict=True):
            (pd.testing.assert_frame_equal if one.ndim == 2 else pd.testing.assert_series_equal)(
                one, other, check_exact=True
            )


def test_columns_without_holes_are_predicted_well(columns_without_holes: str) -> None:
    X, _ = training(300)
    imputer = greyfill.GreyImputer(n_cells=60).fit(X)
    assert list(imputer.selection_) == ["holed"]
    rows = training(200, seed=1)[0].fillna(0.0)
    curve = imputer.transform(rows.assign(curve=np.nan))["curve"]
    kind = imputer.transform(rows.assign(kind=None))["kind"]
    allowed = 0.25 if columns_without_holes == "tuned in fit" else 0.7
    assert np.std(curve - rows["curve"]) < allowed * np.std(rows["curve"])
    assert (kind == rows["kind"]).mean() > 0.85
    found = pd.DataFrame(imputer._interval_lists(rows.assign(curve=np.nan)))
    inside = (found["low"] <= rows["curve"]) & (rows["curve"] <= found["high"])
    assert inside.mean() > 0.8
    assert (found["high"] - found["low"]).median() < 0.8 * np.ptp(X["curve"])


def test_columns_with_holes_only_in_rows_without_a_label_are_tuned_on_all_cells() -> None:
    X, y = training()
    X.loc[:4, "x"] = np.nan
    labels = np.where(np.arange(90) < 5, None, y)
    fitted = greyfill.GreyImputer(n_cells=70).fit(X, labels)._fitted
    sizes = {j: len(fitted.choices[j].residuals) for j in (0, 1)}
    assert sizes == {0: 70, 1: grey_engine.FEW_CELLS}


def test_a_fitted_donor_table_is_not_rewritten() -> None:
    X, y = training()
    donors = greyfill.GreyImputer(n_cells=20).fit(X, y)._fitted.donors
    with pytest.raises(AssertionError, match="not rewritten"):
        donors.fill(np.array([0]), 0, np.array([0.5]))
