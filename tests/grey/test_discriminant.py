"""Discriminants: equal to densities written out and to fits without a row; mixed where they pay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from persistence.archives import change_tree, node_at

import greyfill
from greyfill._grey.discriminant import (
    ClassNormals,
    ClassSquares,
    Discriminant,
    _variances,
)
from greyfill._grey.grey_engine import new_queries, posterior
from greyfill.exceptions import PersistenceError


def reference_scores(
    x: np.ndarray, missing: np.ndarray, rows: list[np.ndarray], variances: np.ndarray, how: Any
) -> np.ndarray:
    """The slow twin: log prior and log density of one row, class by class, where it is observed."""
    within = [(r - r.mean(axis=0)).T @ (r - r.mean(axis=0)) for r in rows]
    n, total, prior = sum(map(len, rows)), sum(within), how.ridge * np.diag(variances)
    out, seen = [], ~missing
    for r, squares in zip(rows, within, strict=True):
        whole = (total + prior) / (n + how.ridge)
        if how.lent < np.inf:
            whole = squares + how.lent * total + prior
            whole /= len(r) + how.lent * n + how.ridge
        covariance, e = whole[np.ix_(seen, seen)], (x - r.mean(axis=0))[seen]
        distance = e @ np.linalg.inv(covariance) @ e
        out.append(np.log(len(r)) - 0.5 * (distance + np.linalg.slogdet(covariance)[1]))
    return np.array(out)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    lent=st.sampled_from([np.inf, 0.1, 1.0]),
    rate=st.sampled_from([0.0, 0.4, 1.0]),
    ridge=st.sampled_from([0.1, 5.0]),
)
def test_scores_are_densities_of_what_is_observed(
    seed: int, lent: float, rate: float, ridge: float
) -> None:
    rng = np.random.default_rng(seed)
    n, width, how = 24, int(rng.integers(1, 6)), Discriminant("values", lent, ridge)
    x, y = rng.normal(size=(n, width)), np.arange(n) % 3
    missing, variances = rng.random(x.shape) < rate, rng.uniform(0.2, 1.0, width)
    rows = [x[y == c] for c in range(3)]
    normals = ClassNormals.learn(ClassSquares.of(rows), variances, how)
    new, left = normals.scores(x, missing), normals.scores(x, missing, y)
    for i in range(n):
        others = [x[(y == c) & (np.arange(n) != i)] for c in range(3)]
        for found, given_rows in ((new[i], rows), (left[i], others)):
            expected = reference_scores(x[i], missing[i], given_rows, variances, how)
            assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-8)
        assert (normals.scores(x[[i]], missing[[i]]) == new[i]).all()  # to the last bit


def test_a_class_without_other_rows_has_no_probability() -> None:
    rows = [np.array([[0.0], [1.0]]), np.array([[5.0]]), np.zeros((0, 1))]
    normals = ClassNormals.learn(ClassSquares.of(rows), np.ones(1), Discriminant("values", 0.3))
    x, seen = np.array([[5.0]]), np.zeros((1, 1), dtype=bool)
    assert (normals.scores(x, seen)[0] > -600).tolist() == [True, True, False]
    assert (normals.scores(x, seen, np.array([1]))[0] > -600).tolist() == [True, False, False]


def side_by_side(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that hardly tell three classes alone, and tell them apart together."""
    rng = np.random.default_rng(3)
    y, along = np.arange(n) % 3, rng.normal(size=n)
    X = np.stack([along, along + 0.4 * y + 0.06 * rng.normal(size=n), rng.normal(size=n)], axis=1)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def test_it_joins_where_classes_lie_side_by_side_and_not_on_noise() -> None:
    X, y = side_by_side()
    model = greyfill.GreyClassifier().fit(X, y)
    choice = model._fitted.model(3)[0]
    assert choice.discriminant is not None
    assert "discriminant" in model.selection_["panel"][0]
    without = replace(choice, discriminant=None)
    alone = replace(model._fitted, choices={3: without}, _models={}, _held={})
    new, truth = side_by_side(300)
    losses = []
    for fitted in (model._fitted, alone):
        table = model._open_new(new)[0]
        shares = posterior(fitted, new_queries(fitted, table))
        losses.append(-np.log(shares[np.arange(300), truth]).mean())
    assert losses[0] < 0.9 * losses[1]
    numbers = np.random.default_rng(0).normal(size=(150, 3))
    shares = greyfill.GreyClassifier().fit(numbers, y).predict_proba(numbers[:40] * 3)
    assert np.abs(shares - 1 / 3).max() < 0.3


def test_only_models_of_the_class_have_one() -> None:
    X, y = side_by_side(60)
    assert greyfill.GreyClassifier().fit(X, y)._fitted.choices[3].discriminant is not None
    assert greyfill.GreyImputer().fit(X, y)._fitted.choices[3].discriminant is None


def test_one_row_is_as_in_a_batch_and_from_a_file(tmp_path: Path) -> None:
    X, y = side_by_side()
    model = greyfill.GreyClassifier().fit(X, y)
    batch, path = model.predict_proba(X), tmp_path / "model.greyfill"
    for row in range(0, 150, 11):
        assert (model.predict_proba(X[[row]]) == batch[[row]]).all()
    assert (greyfill.GreyClassifier(n_jobs=2).fit(X, y).predict_proba(X) == batch).all()
    model.save(path)
    assert (greyfill.load(path).predict_proba(X) == batch).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("form", "roots"), ("lent", 0.0), ("ridge", 0.0), ("temper", -1.0), ("weight", 2.0)],
)
def test_a_discriminant_that_does_not_exist_is_refused(
    tmp_path: Path, name: str, value: Any
) -> None:
    path = tmp_path / "model.greyfill"
    greyfill.GreyClassifier().fit(*side_by_side()).save(path)

    def change(tree: Any) -> None:
        node_at(tree, "_fitted.choices.3.discriminant")["fields"][name] = value

    change_tree(path, change)
    with pytest.raises(PersistenceError, match=r"model\.greyfill: "):
        greyfill.load(path)


def test_only_the_class_has_a_discriminant(tmp_path: Path) -> None:
    X, y = side_by_side()
    model, path = tmp_path / "class.greyfill", tmp_path / "model.greyfill"
    greyfill.GreyClassifier().fit(X, y).save(model)
    greyfill.GreyImputer().fit(X, y).save(path)
    given: list[Any] = []
    change_tree(model, lambda tree: given.append(node_at(tree, "_fitted.choices.3.discriminant")))

    def change(tree: Any) -> None:
        node_at(tree, "_fitted.choices.0")["fields"]["discriminant"] = given[0]

    change_tree(path, change)
    with pytest.raises(PersistenceError, match="a discriminant of no class"):
        greyfill.load(path)


def test_variances_of_indicators_are_those_of_the_donors() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice(3, 200, p=[0.6, 0.3, 0.1]), rng.normal(size=200)])
    donors = greyfill.GreyImputer(categorical_features=[0]).fit(X)._fitted.donors
    places, _ = donors.feature_map.places(np.array([0]))
    found = _variances(donors.feature_map.columns[0])
    assert found == pytest.approx(donors.features[0][:, places].var(axis=0), rel=1e-6)
