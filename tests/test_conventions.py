"""One ``except GreyfillError`` catches every refusal of every public estimator."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn.exceptions
from imputers.family import IMPUTERS, quick
from sklearn.impute import KNNImputer

import greyfill as gf
from greyfill import exceptions
from greyfill.checks import check_fitted, own_errors
from greyfill.evaluation import ClassMeanImputer, EncodedImputer, MeanImputer
from greyfill.exceptions import GreyfillError, InvalidDataError, InvalidTypeError
from greyfill.metrics import MixedNaiveBayes

HOLE = np.nan
X = np.random.default_rng(0).normal(size=(12, 3))
X[[0, 5], [1, 2]] = HOLE
Y = np.array([0, 1] * 6)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
ESTIMATORS: dict[str, Callable[[], Any]] = {
    **{imputer.__name__: lambda imputer=imputer: quick(imputer) for imputer in IMPUTERS},
    "GreyClassifier": lambda: gf.GreyClassifier(n_cells=10),
    "GreyRegressor": lambda: gf.GreyRegressor(n_cells=10),
    "MeanImputer": MeanImputer,
    "ClassMeanImputer": ClassMeanImputer,
    "EncodedImputer": lambda: EncodedImputer(KNNImputer()),
    "MixedNaiveBayes": MixedNaiveBayes,
}
METHODS = (
    "transform", "predict", "predict_proba", "predict_log_proba", "draw", "intervals",
)  # fmt: skip
ANSWERS: dict[str, tuple[Any, ...]] = {
    "explain": (0, "b"), "donors_of": (0, "b"), "get_feature_names_out": (), "save": ("x",),
    "score": (X, Y),
}  # fmt: skip
PROPERTIES = ("schema_", "report_", "indicator_", "log_loss_", "draws_")


class Odd:
    """What no table and no label can be."""


WRONG_X: dict[str, Any] = {
    "None": None,
    "a name": "table.csv",
    "a number": 3,
    "a set": {1, 2},
    "an object": Odd(),
    "a function": len,
    "no rows": [],
    "no columns": [[]],
    "one dimension": [1.0, 2.0],
    "three dimensions": np.zeros((2, 2, 2)),
    "unequal rows": [[1, 2], [3]],
    "a dict": {"a": [1]},
    "a sparse matrix": scipy.sparse.csr_matrix(np.eye(12, 3)),
    "complex": X + 1j,
    "infinity": np.where(np.isnan(X), np.inf, X),
    "beyond floats": np.array([[10**400, 1, 2]] * 12, dtype=object),
    "names of two types": FRAME.rename(columns={"a": 1}),
    "a series": FRAME["a"],
    "a lazy frame": pl.DataFrame(X).lazy(),
}
WRONG_Y: dict[str, Any] = {
    "short": [0, 1],
    "empty": [],
    "two columns": np.zeros((12, 2)),
    "a dict": {"a": 1},
    "a number": 3,
    "a name": "class",
    "unequal": [[1], [2, 3]] * 6,
    "sets": [{1}, {2}] * 6,
    "infinity": [np.inf] * 12,
    "a lazy frame": pl.DataFrame(Y).lazy(),
}
WRONG_CELLS = [(99, 0), (-1, 0), ("x", 0), (0, "q"), (0, 99), (0, 1.5), ([0], 1), (0, [1]),
               (slice(0, 2), 1), (None, None)]  # fmt: skip
WRONG_VALUES = [-7, "nonsense", None, [1], {}, 2.5, Odd(), HOLE, True, {"a": 1}, np.zeros(2)]

every = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())


@every
def test_unfitted(make: Callable[[], Any]) -> None:
    fresh = make()
    calls = [(name, (X,)) for name in METHODS] + list(ANSWERS.items())
    asked = [(name, args) for name, args in calls if hasattr(type(fresh), name)]
    assert asked
    for name, args in asked:
        with pytest.raises(sklearn.exceptions.NotFittedError) as caught:
            getattr(fresh, name)(*args)
        assert isinstance(caught.value, GreyfillError), name
        assert isinstance(caught.value, exceptions.NotFittedError)
    for name in PROPERTIES:
        if hasattr(type(fresh), name):
            with pytest.raises(exceptions.NotFittedError):
                getattr(fresh, name)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:Determining the data types")  # of a lazy frame, by scikit-learn
@every
def test_wrong_tables(make: Callable[[], Any]) -> None:
    fitted = make().fit(FRAME, Y)
    others = {
        "another width": FRAME[["a"]],
        "another name": FRAME.rename(columns={"a": "z"}),
        "another order": FRAME[["b", "a", "c"]],
        "text": FRAME.assign(a="word"),
    }
    for wrong in WRONG_X.values():
        with pytest.raises(GreyfillError):
            make().fit(wrong, Y)
    for name in METHODS:
        if hasattr(fitted, name):
            for wrong in (WRONG_X | others).values():
                with pytest.raises(GreyfillError):
                    getattr(fitted, name)(wrong)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # in scikit-learn
@pytest.mark.filterwarnings("ignore:Determining the data types")  # the same
@every
def test_wrong_labels(make: Callable[[], Any]) -> None:
    fitted = make().fit(FRAME, Y)
    for wrong in WRONG_Y.values():
        with pytest.raises(GreyfillError):
            make().fit(X, wrong)
        for name in ("draw", "intervals"):
            if hasattr(fitted, name):
                with pytest.raises(GreyfillError):
                    getattr(fitted, name)(FRAME, y=wrong)
        if hasattr(fitted, "score"):
            with pytest.raises(GreyfillError):
                fitted.score(FRAME, wrong)


@every
def test_wrong_questions(make: Callable[[], Any]) -> None:
    fitted = make().fit(FRAME, Y)
    with pytest.raises(exceptions.InvalidParameterError, match="nope"):
        make().set_params(nope=1)
    for name in ("explain", "donors_of"):
        for cell in WRONG_CELLS if hasattr(fitted, name) else ():
            with pytest.raises(GreyfillError):
                getattr(fitted, name)(*cell)
    if hasattr(fitted, "transform"):
        for wrong in ("spark", 3, ["pandas"]):
            with pytest.raises(GreyfillError):
                fitted.set_output(transform=wrong)
        for names in (["a"], 3, np.zeros((3, 3)), [1, 2, 3]):
            with pytest.raises(GreyfillError):
                fitted.get_feature_names_out(names)
        with pytest.raises(GreyfillError, match="fit_transform"):
            fitted.report_  # noqa: B018


@every
def test_wrong_values_of_parameters(make: Callable[[], Any], capsys: Any) -> None:
    """A parameter may allow a value; what it does not allow is refused by greyfill."""
    refused = 0
    for parameter in make().get_params(deep=False):
        for value in WRONG_VALUES:
            try:
                make().set_params(**{parameter: value}).fit(FRAME, Y)
            except GreyfillError:
                refused += 1
    assert refused


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if hasattr(gf, n)])
def test_files_that_cannot_be(name: str) -> None:
    fitted = ESTIMATORS[name]().fit(FRAME, Y)
    for path in (None, 3, "", "a\0b", b"x", "/nowhere/x"):
        with pytest.raises(GreyfillError):
            fitted.save(path)
        with pytest.raises(GreyfillError):
            gf.load(path)


def test_types_of_scikit_learn_are_kept() -> None:
    fitted = gf.KNNIImputer(2).fit(FRAME)
    with pytest.raises(InvalidTypeError, match="Sparse") as caught:
        fitted.transform(scipy.sparse.eye(3))
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(InvalidDataError, match="has 2 features, but KNNIImputer is expecting 3"):
        gf.KNNIImputer(2).fit(X).transform(X[:, :2])
    with pytest.raises(InvalidDataError, match="feature names should match"):
        fitted.transform(FRAME[["b", "a", "c"]])
    with pytest.raises(InvalidTypeError, match="column names are text, others are not"):
        gf.KNNIImputer(2).fit(WRONG_X["names of two types"])


def test_not_fitted_is_one_error_for_all(tmp_path: Path) -> None:
    with pytest.raises(exceptions.NotFittedError, match="GreyImputer instance is not fitted") as e:
        gf.GreyImputer().save(tmp_path / "x")
    assert type(pickle.loads(pickle.dumps(e.value))) is exceptions.NotFittedError
    assert isinstance(e.value, sklearn.exceptions.NotFittedError)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        exceptions.Nonsense  # noqa: B018
    with pytest.raises(InvalidTypeError, match="not an estimator"):
        check_fitted(3)


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), own_errors():
        raise KeyError("a mistake of our own")
