"""Chained forests: trees against scikit-learn, the stop rule, out-of-bag errors, new rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from greyfill._chained import missforest
from greyfill._chained.forest import PROJECTIONS, Forest, Tree, _target, grow
from greyfill._chained.missforest import differences, overall_error
from greyfill._chained.tree_walk import vote
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.chained import MissForestImputer
from greyfill.table import Column, Kind, Table

HOLE = np.nan


def curved(n: int = 200, seed: int = 0) -> np.ndarray:
    """Columns that depend on each other, but not linearly."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-2, 2, n)
    columns = [t, t**2, np.sin(2 * t), rng.normal(size=n)]
    return np.column_stack(columns) + 0.1 * rng.normal(size=(n, 4))


def holed(complete: np.ndarray, rate: float = 0.15, seed: int = 1) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(complete.shape) < rate, HOLE, complete)


def mixed(n: int = 80, rate: float = 0.2) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    u = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "u": u,
            "v": 100 * u**2 + rng.normal(size=n),
            "kind": np.array(["a", "b", "c"])[np.digitize(u, [-0.5, 0.5])],
            "size": pd.Categorical(
                np.array(["S", "M", "L"])[np.digitize(u, [-1.0, 1.0])],
                ["S", "M", "L"],
                ordered=True,
            ),
        }
    )
    return frame.mask(rng.random(frame.shape) < rate)


# ---------------------------------------------------------------------------- forests


def test_flat_trees_predict_as_scikit_learns() -> None:
    x = curved().astype(np.float32)
    y = x[:, 1].astype(np.float64)
    trees = [
        DecisionTreeRegressor(random_state=seed, max_features=2).fit(x[:150], y[:150])
        for seed in range(5)
    ]
    forest = Forest.flatten([Tree.of(t.tree_, t.tree_.value[:, 0, 0]) for t in trees])
    np.testing.assert_allclose(forest.predict(x), np.mean([t.predict(x) for t in trees], axis=0))
    alone = np.concatenate([forest.predict(x[[i]]) for i in range(200)])
    np.testing.assert_array_equal(alone, forest.predict(x))


def test_forest_errs_as_scikit_learns_forest() -> None:
    x = curved(400).astype(np.float32)
    y = x[:, 1].astype(np.float64)
    x = np.delete(x, 1, axis=1)
    grown = grow(x, y, False, n_estimators=100, max_features=2, seed=0)
    reference = RandomForestRegressor(
        100, max_features=2, min_samples_split=4, oob_score=True, random_state=0
    ).fit(x, y)
    assert grown.oob_error == pytest.approx((1 - reference.oob_score_) * y.var(), rel=0.15)
    level = np.digitize(y, [0.5, 1.5]).astype(float)
    grown = grow(x, level, True, n_estimators=100, max_features=2, seed=0)
    judge = RandomForestClassifier(100, max_features=2, oob_score=True, random_state=0)
    assert grown.oob_error == pytest.approx(1 - judge.fit(x, level).oob_score_, abs=0.03)


def test_a_forest_without_predictors_or_differences_is_a_leaf() -> None:
    empty = np.zeros((4, 0), dtype=np.float32)
    y = np.array([2.0, 2.0, 5.0, 7.0])
    for is_class, expected in ((True, 2.0), (False, 4.0)):
        grown = grow(empty, y, is_class, n_estimators=3, max_features=1, seed=0)
        assert grown.forest.predict(empty).tolist() == [expected] * 4


# ---------------------------------------------------------------------------- the stop rule


def test_differences_by_type() -> None:
    columns = (Column("x", Kind.NUMERIC), Column("c", Kind.CATEGORICAL, 3))
    missing = np.array([[True, True], [False, True]])
    new, old = np.array([[3.0, 1.0], [4.0, 2.0]]), np.array([[1.0, 1.0], [4.0, 0.0]])
    moved = differences(new, old, Table(new, missing, columns))
    assert moved == pytest.approx({"numeric": 4 / 25, "categorical": 0.5})
    levels = Table(new[:, 1:], missing[:, 1:], columns[1:])
    assert differences(new[:, 1:], old[:, 1:], levels) == {"categorical": 0.5}


@pytest.mark.parametrize(
    ("script", "n_passes", "result"),
    [
        ([0.5, 0.3, 0.4], 3, 2),  # rose in the third pass: the second table
        ([0.5, 0.5], 2, 1),
        ([0.5, 0.4, 0.3, 0.2], 4, 4),  # never rose: the last
    ],
)
def test_the_table_before_the_difference_rises(
    script: list, n_passes: int, result: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = iter(script)
    passes: list[missforest.ForestPass] = []
    one_pass = missforest.ForestTable.one_pass

    def recorded(self, values, number):
        passes.append(one_pass(self, values, number))
        return passes[-1]

    monkeypatch.setattr(missforest.ForestTable, "one_pass", recorded)
    monkeypatch.setattr(missforest, "differences", lambda *_: {"numeric": next(steps)})
    values = holed(curved(40))
    table = Table(
        np.nan_to_num(values), np.isnan(values), tuple(Column(c, Kind.NUMERIC) for c in "abcd")
    )
    settings = missforest.ForestSettings(n_estimators=2, max_iter=4)
    fitted = missforest.run_forests(table, settings, lambda _: None)
    assert len(fitted.history) == n_passes
    assert fitted.state is passes[result - 1]
    assert fitted.converged == (n_passes < 4)


def test_one_type_may_rise_as_long_as_the_other_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = iter([(0.5, 0.5), (0.6, 0.4), (0.7, 0.3), (0.8, 0.3)])
    names = ("numeric", "categorical")
    monkeypatch.setattr(
        missforest, "differences", lambda *_: dict(zip(names, next(steps), strict=True))
    )
    model = MissForestImputer(n_estimators=2).fit(mixed())
    assert model.n_iter_ == 4
    assert model.converged_


# ---------------------------------------------------------------------------- errors


def one_hole_in_some_rows(complete: np.ndarray, rate: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(1)
    rows = np.flatnonzero(rng.random(len(complete)) < rate)
    X = complete.copy()
    X[rows, rng.integers(0, complete.shape[1], len(rows))] = HOLE
    return X


def test_out_of_bag_error_is_close_to_the_true_error() -> None:
    complete = curved(600)[:, :3]
    X = one_hole_in_some_rows(complete)
    holes = np.isnan(X)
    model = MissForestImputer(n_estimators=50)
    filled = model.fit_transform(X)
    true = np.sqrt(((filled - complete)[holes] ** 2).mean() / complete[holes].var(ddof=1))
    assert model.oob_error_["NRMSE"] == pytest.approx(true, rel=0.3)
    assert set(model.oob_errors_) == {"x0", "x1", "x2"}
    for j, name in enumerate(("x0", "x1", "x2")):
        rms = np.sqrt(((filled - complete)[holes[:, j], j] ** 2).mean())
        assert model.oob_errors_[name] == pytest.approx(rms, rel=0.6)


def test_overall_error_is_rs_formula() -> None:
    columns = (
        Column("x", Kind.NUMERIC),
        Column("z", Kind.NUMERIC),
        Column("c", Kind.CATEGORICAL, 2),
    )
    values = np.array([[1.0, 10.0, 0.0], [2.0, 40.0, 1.0], [0.0, 20.0, 1.0]])
    missing = values == 0.0
    found = overall_error(Table(values, missing, columns), {0: 0.5, 1: 4.0, 2: 0.25})
    spread = np.var([1.0, 2.0, 10.0, 40.0, 20.0], ddof=1)
    assert found["NRMSE"] == pytest.approx(np.sqrt((0.25 + 16.0) / 2 / spread))
    assert found["PFC"] == 0.25


def test_forests_beat_the_mean_where_lines_cannot() -> None:
    complete = curved(400)[:, :3]
    X = one_hole_in_some_rows(complete)
    holes = np.isnan(X)
    model = MissForestImputer(n_estimators=20).fit(X)
    for filled in (model.fit_transform(X), model.transform(X)):
        assert ((filled - complete)[holes] ** 2).mean() < 0.2 * complete[holes].var()


def test_mixed_types() -> None:
    frame = mixed()
    model = MissForestImputer(n_estimators=20)
    filled = model.fit_transform(frame)
    assert not filled.isna().to_numpy().any()
    assert filled.dtypes.tolist() == frame.dtypes.tolist()
    assert set(model.oob_error_) == {"NRMSE", "PFC"}
    assert set(model.history_[0]) == {"numeric", "categorical"}
    assert 0 < model.oob_error_["PFC"] < 0.4


# ---------------------------------------------------------------------------- repetition


def test_jobs_and_pickling_change_nothing() -> None:
    frame = mixed()
    model = MissForestImputer(n_estimators=7, max_iter=2)
    filled, served = model.fit_transform(frame), model.transform(frame)
    threads = MissForestImputer(n_estimators=7, max_iter=2, n_jobs=2)
    pd.testing.assert_frame_equal(threads.fit_transform(frame), filled)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.transform(frame), served)
    other = MissForestImputer(n_estimators=7, max_iter=2, random_state=1).fit_transform(frame)
    assert not other.equals(filled)


def test_one_row_as_in_a_batch_also_in_columns_without_holes_in_fit() -> None:
    model = MissForestImputer(n_estimators=10, max_iter=3).fit(holed(curved(60)))
    whole = MissForestImputer(n_estimators=10, max_iter=3).fit(curved(60))
    new = holed(curved(50, seed=5), rate=0.5)
    for fitted in (model, whole):
        batch = fitted.transform(new)
        assert np.isfinite(batch).all()
        for row in range(50):
            assert fitted.transform(new[[row]]).tobytes() == batch[[row]].tobytes()


# ---------------------------------------------------------------------------- odd shapes


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, HOLE]],
        [[1.0], [HOLE], [3.0]],
        [[HOLE, 5.0], [2.0, HOLE]],
        [[1.0, HOLE], [1.0, 4.0], [1.0, HOLE], [HOLE, HOLE]],
        [["a", 1.0], [None, 2.0], ["a", None]],
        [[1e300, -1e300], [HOLE, 1e300], [-1e300, HOLE], [1e-300, 0.0]],
    ],
)
@pytest.mark.filterwarnings("ignore::greyfill.exceptions.EmptyColumnWarning")
def test_tiny_tables(X: list) -> None:
    model = MissForestImputer(n_estimators=3, max_iter=2)
    table = pd.DataFrame(X)
    for filled in (model.fit_transform(table), model.transform(table)):
        assert np.isfinite(filled.select_dtypes("number").to_numpy()).all()
        assert not filled.isna().to_numpy().any()


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    X = holed(rng.normal(size=(20, 300)))
    model = MissForestImputer(n_estimators=2, max_iter=1)
    assert np.isfinite(model.fit_transform(X)).all()
    assert model.n_iter_ == 1


def test_wrong_parameters() -> None:
    for params in ({"n_estimators": 0}, {"max_iter": "many"}, {"max_features": -1}):
        with pytest.raises(InvalidParameterError, match="must be an integer, at least 1"):
            MissForestImputer(**params).fit(curved(10))


def test_an_empty_table_has_attributes_too() -> None:
    model = MissForestImputer(keep_empty_features=True).fit(np.full((3, 2), HOLE))
    assert model.oob_error_ == {}


# ---------------------------------------------------------------------------- very many levels


def test_votes_are_counted_as_by_hand() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (200, 7)).astype(float)
    counted = rng.random(values.shape) < 0.6
    counted[0] = False
    expected = [
        np.bincount(codes[some].astype(int)).argmax() if some.any() else np.nan
        for codes, some in zip(values, counted, strict=True)
    ]
    np.testing.assert_array_equal(vote(values, counted, 6), expected)


def test_many_levels_are_told_apart_without_an_indicator_each() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(1_200) % 400 + 10_000.0  # codes of levels that are few among those declared
    x = (y + rng.normal(scale=0.1, size=1_200))[:, np.newaxis].astype(np.float32)
    assert _target(y, np.unique(y), rng).shape == (1_200, PROJECTIONS)
    grown = grow(x, y, True, n_estimators=20, max_features=1, seed=0)
    assert grown.oob_error < 0.2
    assert set(grown.forest.predict(x)) <= set(y)
