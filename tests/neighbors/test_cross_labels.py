"""``labels="cross"``: training rows of class-wise methods filled like new rows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import greyfill
from greyfill._neighbors.new_rows import FittedRecipe, _shares, class_shares, fill_new_rows
from greyfill.table import Column, Kind, Table

COLUMNS = (*(Column(name, Kind.NUMERIC) for name in "abc"), Column("d", Kind.CATEGORICAL, 3))


def classes_with_holes(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two large classes and one of four rows."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [(n - 4) // 2, n - 4 - (n - 4) // 2, 4])
    X = rng.normal(size=(n, 4)) + y[:, np.newaxis]
    X[:, 3] = np.clip(np.rint(X[:, 3]), 0, 2)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X, y


def crossed(method: Any, X: np.ndarray, y: np.ndarray, **params: Any) -> tuple[np.ndarray, Any]:
    imputer = method(labels="cross", categorical_features=[3], **params)
    return imputer.fit_transform(X, y), imputer


def without(fitted: FittedRecipe, place: int) -> FittedRecipe:
    """The same weights and k with one donor less."""
    kept = np.delete(np.arange(fitted.donors.n_rows), place)
    pools = tuple(
        replace(pool, givers=np.searchsorted(kept, pool.givers[pool.givers != place]))
        for pool in fitted.pools
    )
    return replace(
        fitted, donors=fitted.donors.rows(kept), rows=fitted.rows[kept],
        labels=fitted.labels[kept], pools=pools, _layouts={}, _late_weights={},
    )  # fmt: skip


@pytest.mark.parametrize("k", [3, 15])
@pytest.mark.parametrize("unlabeled", ["soft", "all"])
@pytest.mark.parametrize("method", [greyfill.CGKNNImputer, greyfill.GKNNImputer])
def test_a_training_row_is_filled_like_a_new_row_among_the_others(
    method: Any, unlabeled: str, k: int
) -> None:
    X, y = classes_with_holes()
    filled, imputer = crossed(method, X, y, n_neighbors=k, unlabeled=unlabeled)
    table = Table(np.nan_to_num(X), np.isnan(X), COLUMNS)
    for place, row in enumerate(imputer._fitted.rows.tolist()):
        others = without(imputer._fitted, place)
        expected = fill_new_rows(others, table.rows(np.array([row])), None)[0]
        assert filled[row] == pytest.approx(expected, abs=1e-12)


def test_donors_of_a_crossed_cell_give_its_fill() -> None:
    X, y = classes_with_holes()
    filled, imputer = crossed(greyfill.CGKNNImputer, X, y, n_neighbors=5)
    rows, columns, spreads = imputer.cell_spreads_
    assert len(rows) == np.isnan(X[~np.isnan(X).all(axis=1)]).sum()
    for row, column, spread in zip(rows.tolist(), columns.tolist(), spreads.tolist(), strict=True):
        found = imputer.donors_of(row, column)
        assert row not in found["rows"]
        assert sum(found["weights"]) == pytest.approx(1.0)
        if column < 3:
            assert np.dot(found["weights"], found["values"]) == pytest.approx(filled[row, column])
            assert spread >= 0.0


def test_only_what_a_label_decides_is_crossed() -> None:
    X, y = classes_with_holes()
    for method, differs in ((greyfill.MIKNNImputer, False), (greyfill.GKNNImputer, True)):
        crossed_fills, _ = crossed(method, X, y, n_neighbors=5)
        plain = method(n_neighbors=5, categorical_features=[3]).fit_transform(X, y)
        assert np.array_equal(crossed_fills, plain) is not differs


def test_a_class_with_a_single_donor_takes_from_the_others() -> None:
    X, y = classes_with_holes()
    filled, imputer = crossed(greyfill.CGKNNImputer, X, y, n_neighbors=5, max_donors=1)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    assert (filled >= low).all()
    assert (filled <= high).all()
    assert len(imputer._fitted.rows) == 3


def test_fills_do_not_tell_labels_that_the_columns_do_not_tell() -> None:
    gaps = {}
    for labels in ("donors", "cross"):
        found = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(100, 5)), rng.permutation(np.repeat([0, 1], 50))
            X[rng.random(X.shape) < 0.4] = np.nan
            filled = greyfill.CGKNNImputer(10, labels=labels).fit_transform(X, y)
            fills = np.where(np.isnan(X), filled, np.nan)
            means = [np.nanmean(fills[y == c], axis=0) for c in (0, 1)]
            found.append(np.abs(means[0] - means[1]).mean())
        gaps[labels] = np.mean(found)
    # 20 fills of a class vary by about 0.3 in each column: so far their means lie apart by chance
    assert gaps["cross"] < 0.12 < gaps["donors"]


def test_rows_are_of_their_class_alone_where_it_is_known() -> None:
    X, y = classes_with_holes()
    fitted = crossed(greyfill.CGKNNImputer, X, y, n_neighbors=5)[1]._fitted
    values, missing, own = np.nan_to_num(X), np.isnan(X), np.full(len(X), -1)
    values[0], missing[0] = 0.0, True  # without a cell: as frequent as the classes are
    shares = class_shares(fitted, values, missing, own, None)
    assert shares[0] == pytest.approx(np.bincount(fitted.labels) / len(fitted.labels))
    labels = np.where(np.arange(len(y)) % 3 == 0, -1, y)
    found = _shares(fitted, values, missing, own, labels, None)
    np.testing.assert_array_equal(found[labels < 0], shares[labels < 0])
    np.testing.assert_array_equal(found[labels >= 0], np.eye(3)[y[labels >= 0]])
