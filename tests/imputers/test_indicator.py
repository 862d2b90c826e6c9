"""`indicator_`: scikit-learn's MissingIndicator, for the tables and the holes of greyfill."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from imputers.containers import CONTAINERS, Container, labels
from imputers.family import THOROUGH as IMPUTERS
from imputers.family import quick
from sklearn import config_context, impute
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import greyfill as gf
from greyfill.exceptions import GreyfillError, InvalidDataError

HOLE = np.nan
MIXED = pl.DataFrame(
    {
        "age": [31, 45, -1, 52, 38],
        "sex": ["f", "?", "m", "f", None],
        "pay": [1.5, 2.5, 3.5, 4.5, 5.5],
        "seen": [None, None, None, None, None],
    }
)
HOLES = np.array([[0, 0, 1, 0, 0], [0, 1, 0, 0, 1], [1, 1, 1, 1, 1]], dtype=bool).T


def mixed(**params: Any) -> Any:
    """An imputer of the mixed table, whose columns age, sex and seen have holes."""
    settings = {"missing_values": ["?", -1], "keep_empty_features": True, "add_indicator": True}
    return gf.KNNIImputer(2, **settings, **params).fit(MIXED)


@pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
def test_it_tells_the_flags_of_transform(imputer: Any) -> None:
    X = np.arange(24.0).reshape(8, 3)
    X[[0, 5], [0, 2]] = HOLE
    new = X[:3].copy()
    new[2] = HOLE
    fitted = quick(imputer, add_indicator=True).fit(X, [0, 1] * 4)
    indicator = fitted.indicator_
    assert isinstance(indicator, impute.MissingIndicator)
    assert indicator.features_.tolist() == [0, 2]
    np.testing.assert_array_equal(fitted.transform(new)[:, 3:], indicator.transform(new))
    names = fitted.get_feature_names_out().tolist()
    assert indicator.get_feature_names_out().tolist() == names[3:]
    assert fitted.set_params(add_indicator=False).fit(X, [0, 1] * 4).indicator_ is None


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_every_container(container: Container) -> None:
    X = container.make()
    indicator = gf.KNNIImputer(2, add_indicator=True).fit(X, labels()).indicator_
    holes = container.holes(X)
    np.testing.assert_array_equal(indicator.features_, np.flatnonzero(holes.any(axis=0)))
    np.testing.assert_array_equal(indicator.transform(X), holes[:, indicator.features_])


def test_holes_are_those_of_the_imputer() -> None:
    imputer = mixed()
    indicator = imputer.indicator_
    assert indicator.features_.tolist() == [0, 1, 3]
    assert indicator.missing_values == ["?", -1]
    np.testing.assert_array_equal(indicator.transform(MIXED), HOLES)
    np.testing.assert_array_equal(imputer.transform(MIXED)[:, 4:].to_numpy(), HOLES)


def test_no_hole_in_fit_is_an_indicator_without_columns() -> None:
    indicator = gf.KNNIImputer(1, add_indicator=True).fit([[1.0], [2.0]]).indicator_
    assert indicator.transform([[HOLE], [3.0]]).shape == (2, 0)


def test_copies_and_files_keep_it(tmp_path: Path) -> None:
    imputer, path = mixed(), tmp_path / "model.greyfill"
    imputer.save(path)
    assert b"indicator_" not in path.read_bytes()
    for twin in (gf.load(path), pickle.loads(pickle.dumps(imputer)), clone(imputer).fit(MIXED)):
        np.testing.assert_array_equal(twin.indicator_.transform(MIXED), HOLES)
    alone = pickle.loads(pickle.dumps(imputer.indicator_))
    np.testing.assert_array_equal(alone.transform(MIXED), HOLES)


def test_output_is_chosen_as_in_scikit_learn() -> None:
    indicator = mixed().indicator_
    names = ["missingindicator_age", "missingindicator_sex", "missingindicator_seen"]
    for library, frame in [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]:
        with config_context(transform_output=library):
            told = mixed().indicator_.transform(MIXED)
            plain = mixed().indicator_.set_output(transform="default").transform(MIXED)
        assert type(plain) is np.ndarray
        assert type(told) is frame
        assert list(told.columns) == names
    flags = indicator.set_output(transform="pandas").transform(MIXED.to_pandas()[::2])
    assert flags.index.tolist() == [0, 2, 4]


def test_a_clone_learns_anew_by_every_parameter() -> None:
    indicator = clone(mixed().indicator_)
    with pytest.raises(NotFittedError):
        indicator.transform(MIXED)
    columns = ["sex", "pay"]
    assert indicator.fit_transform(MIXED[columns]).ravel().tolist() == HOLES[:, 1].tolist()
    assert indicator.get_feature_names_out().tolist() == ["missingindicator_sex"]
    every = indicator.set_params(features="all", sparse=True).fit_transform(MIXED[columns])
    assert every.toarray().tolist() == [[hole, False] for hole in HOLES[:, 1].tolist()]
    strict = indicator.set_params(features="missing-only", error_on_new=True).fit(MIXED[["age"]])
    assert strict.transform(MIXED[["age"]]).sum() == 1
    whole = clone(strict).fit(MIXED[:2, ["age"]])
    with pytest.raises(InvalidDataError, match="no missing values in fit"):
        whole.transform(MIXED[["age"]])


def test_errors_are_of_greyfill() -> None:
    indicator = mixed().indicator_
    for wrong in (MIXED[["age"]], MIXED.rename({"age": "years"}), None):
        with pytest.raises(GreyfillError):
            indicator.transform(wrong)
    for names in (["a"], 3):
        with pytest.raises(GreyfillError):
            indicator.get_feature_names_out(names)
    with pytest.raises(GreyfillError):
        clone(indicator).set_params(features="some").fit(MIXED)
    with pytest.raises(GreyfillError):
        gf.KNNIImputer().indicator_  # noqa: B018


def test_flags_of_an_array_of_texts_are_digits() -> None:
    X = np.array([["a", "?"], ["b", "x"], ["a", "x"]])
    filled = gf.KNNIImputer(1, missing_values="?", add_indicator=True).fit_transform(X)
    assert filled[:, 2].tolist() == ["1", "0", "0"]
