"""The simple peers by hand, and the contract that they share with the imputers."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from imputers.containers import CONTAINERS, Container, labels
from sklearn.impute import KNNImputer
from sklearn.utils.estimator_checks import parametrize_with_checks

from greyfill.evaluation import ClassMeanImputer, EncodedImputer, MeanImputer
from greyfill.exceptions import InvalidDataError, InvalidParameterError

HOLE = np.nan
PEERS = [
    MeanImputer(),
    ClassMeanImputer(),
    EncodedImputer(KNNImputer(n_neighbors=3, keep_empty_features=True)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(PEERS)
def test_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("peer", PEERS, ids=str)
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_fills_holes_and_nothing_else(peer: Any, container: Container) -> None:
    X = container.make()
    filled = peer.fit_transform(X, labels())
    before, after, holes = container.texts(X), container.texts(filled), container.holes(X)
    assert container.shape(filled) == container.shape(X)
    assert not container.holes(filled).any()
    assert all(after[i][j] == before[i][j] for i, j in zip(*np.nonzero(~holes), strict=True))
    alone = [container.rows(peer.transform(container.take(X, [i])))[0] for i in range(16)]
    assert repr(alone) == repr(container.rows(peer.transform(X)))


def test_mean_and_mode_by_hand() -> None:
    X = pl.DataFrame({"a": [1.0, 3.0, None], "b": ["u", "v", "v"], "c": [None, "x", "x"]})
    assert MeanImputer().fit_transform(X).rows() == [(1, "u", "x"), (3, "v", "x"), (2, "v", "x")]


def test_class_mean_by_hand() -> None:
    X = pl.DataFrame(
        {"a": [1.0, 3.0, None, 10.0, None, None], "b": ["u", "u", None, "v", "v", None]}
    )
    y = ["p", "p", "p", "q", "q", None]
    filled = ClassMeanImputer().fit_transform(X, y)
    # class p: mean 2, mode u; class q: 10, v; no label: mean (1 + 3 + 10) / 3, first of the modes
    assert filled["a"].to_list() == [1, 3, 2, 10, 10, pytest.approx(14 / 3)]
    assert filled["b"].to_list() == ["u", "u", "u", "v", "v", "u"]


def test_class_mean_knows_no_labels_in_transform() -> None:
    imputer = ClassMeanImputer().fit(np.array([[0.0], [0.0], [6.0]]), [0, 0, 1])
    assert imputer.transform(np.array([[HOLE]])).item() == 2.0


def test_class_mean_needs_labels() -> None:
    with pytest.raises(InvalidDataError, match="requires y"):
        ClassMeanImputer().fit(np.array([[0.0], [HOLE]]))


def test_encoded_imputer_scales_numbers() -> None:
    # unscaled, column b would decide and row 2 give 9; on [0, 1] row 1 is nearer
    X = np.array([[0.0, 100.0, HOLE], [0.1, 130.0, 5.0], [1.0, 101.0, 9.0], [0.9, 200.0, 9.0]])
    plain = KNNImputer(n_neighbors=1).fit_transform(X)[0, 2]
    scaled = EncodedImputer(KNNImputer(n_neighbors=1)).fit_transform(X)[0, 2]
    assert (plain, scaled) == (9.0, 5.0)


def test_encoded_imputer_without_estimator() -> None:
    with pytest.raises(InvalidParameterError, match="estimator"):
        EncodedImputer().fit(np.array([[1.0], [HOLE]]))
