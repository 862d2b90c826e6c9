"""How the imputers behave among scikit-learn's tools, and what their parameters mean."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from imputers.family import NEIGHBOR_IMPUTERS
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import greyfill as gf
from greyfill.exceptions import InvalidDataError, InvalidParameterError, TargetColumnWarning

HOLE = np.nan

neighbors = pytest.mark.parametrize(
    "imputer", NEIGHBOR_IMPUTERS, ids=lambda imputer: imputer.__name__
)


def iris_with_holes(rate: float = 0.1, step: int = 3) -> tuple[Any, Any]:
    """Every third row of iris, with holes."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::step], y[::step]
    holes = np.random.default_rng(0).random(X.shape) < rate
    return np.where(holes, HOLE, X), y


def iris_frame() -> tuple[pd.DataFrame, Any]:
    X, y = iris_with_holes()
    return pd.DataFrame(X, columns=["sepal l", "sepal w", "petal l", "petal w"]), y


# ---------------------------------------------------------------------------- containers out


@neighbors
def test_set_output(imputer: Any) -> None:
    X, y = iris_with_holes()
    plain = imputer(n_neighbors=3).fit_transform(X, y)
    for library, frame in [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]:
        model = imputer(n_neighbors=3).set_output(transform=library)
        for filled in (model.fit_transform(X, y), clone(model).fit(X, y).transform(X)):
            assert type(filled) is frame
            assert list(filled.columns) == ["x0", "x1", "x2", "x3"]
        np.testing.assert_array_equal(model.fit_transform(X, y).to_numpy(), plain)
    back = model.set_output(transform="default")
    assert type(back.fit_transform(X, y)) is np.ndarray
    assert type(model.set_output(transform=None).transform(X)) is np.ndarray


def test_set_output_between_frames() -> None:
    frame, y = iris_frame()
    frame.index = [f"flower {i}" for i in range(len(frame))]
    model = gf.CGKNNImputer(3)
    filled = model.fit_transform(frame, y)
    to_polars = model.set_output(transform="polars").fit_transform(frame, y)
    assert type(to_polars) is pl.DataFrame
    assert to_polars.columns == list(frame.columns)
    np.testing.assert_array_equal(to_polars.to_numpy(), filled.to_numpy())
    to_pandas = clone(model).set_output(transform="pandas").fit_transform(frame, y)
    pd.testing.assert_frame_equal(to_pandas, filled)  # index and all


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_global_output_and_who_overrules_it(library: str) -> None:
    X, y = iris_with_holes()
    model = gf.CGKNNImputer(3)
    with sklearn.config_context(transform_output=library):
        assert type(model.fit_transform(X, y)).__module__.startswith(library)
        assert type(model.set_output(transform="default").transform(X)) is np.ndarray
    with pytest.raises(InvalidParameterError, match=r"transform.*'spark'"):
        model.set_output(transform="spark")


@pytest.mark.parametrize("library", ["default", "pandas", "polars"])
def test_indicator(library: str) -> None:
    X, y = iris_with_holes(rate=0.0)
    X[[0, 7], [1, 3]] = HOLE  # only columns 1 and 3 have holes in fit
    model = gf.CGKNNImputer(3, add_indicator=True).set_output(transform=library)
    names = ["x0", "x1", "x2", "x3", "missingindicator_x1", "missingindicator_x3"]
    new = X[:4].copy()
    new[2, 3] = new[1, 0] = HOLE
    filled, served = model.fit_transform(X, y), model.transform(new)
    assert model.get_feature_names_out().tolist() == names
    for before, after in [(X, filled), (new, served)]:
        if library != "default":
            assert list(after.columns) == names
        cells = np.asarray(after)
        assert cells.shape == (len(before), 6)
        np.testing.assert_array_equal(cells[:, 4:].astype(bool), np.isnan(before)[:, [1, 3]])
    given = model.get_feature_names_out(["a", "b", "c", "d"]).tolist()
    assert given == ["a", "b", "c", "d", "missingindicator_b", "missingindicator_d"]


def test_indicator_of_empty_columns() -> None:
    frame, y = iris_frame()
    frame["void"] = HOLE
    model = gf.CGKNNImputer(3, add_indicator=True, keep_empty_features=True)
    filled = model.fit_transform(frame, y)
    assert list(filled.columns) == model.get_feature_names_out().tolist()
    assert filled["missingindicator_void"].all()
    assert (filled["void"] == 0.0).all()


def test_indicator_does_not_overwrite_a_column() -> None:
    table = {"a": [1.0, None, 2.0], "missingindicator_a": [1.0, 2.0, 3.0]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        with pytest.raises(InvalidDataError, match=r"'missingindicator_a'.*Rename"):
            gf.KNNIImputer(1, add_indicator=True).fit(frame)
        assert gf.KNNIImputer(1).fit_transform(frame).shape == (3, 2)


def test_names_out() -> None:
    frame, y = iris_frame()
    model = gf.CGKNNImputer(3)
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()
    with pytest.raises(NotFittedError):
        model.transform(frame)
    model.fit(frame, y)
    assert model.get_feature_names_out().tolist() == list(frame.columns)
    with pytest.raises(InvalidParameterError, match="feature_names_in_"):
        model.get_feature_names_out(["a", "b", "c", "d"])
    with pytest.raises(InvalidParameterError, match=r"\(4\), got 2"):
        gf.CGKNNImputer(3).fit(frame.to_numpy(), y).get_feature_names_out(["a", "b"])


# ---------------------------------------------------------------------------- scikit-learn's tools


def test_grid_search_over_parts() -> None:
    X, y = iris_with_holes()
    pipeline = Pipeline([("fill", gf.NeighborImputer(3)), ("classify", GaussianNB())])
    grid = {
        "fill__distance": [gf.Grey(0.3), gf.Heom()],
        "fill__fill": [gf.PlainFill(), gf.WeightedFill()],
        "fill__n_neighbors": [2, np.int64(5)],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 8
    assert scores.min() > 0.8  # iris is easy; a mixed-up row order would show
    assert search.best_estimator_["fill"].distance in grid["fill__distance"]
    assert search.predict(X).shape == y.shape


def test_pipeline_gives_labels_in_fit_and_none_in_predict() -> None:
    frame, y = iris_frame()
    species = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = make_pipeline(gf.CGKNNImputer(3), StandardScaler(), GaussianNB())
    assert cross_val_score(pipeline, frame, species, cv=3).mean() > 0.8
    pipeline.set_output(transform="pandas").fit(frame, species)
    assert pipeline[:-1].get_feature_names_out().tolist() == list(frame.columns)
    assert list(pipeline[:-1].transform(frame).columns) == list(frame.columns)


@pytest.mark.parametrize("library", ["default", "pandas", "polars"])
def test_column_transformer(library: str) -> None:
    frame, y = iris_frame()
    frame["color"] = pd.array(["red", None, "blue", "red", "blue"] * 10, dtype="string")
    union = ColumnTransformer(
        [
            ("sepals", gf.CGKNNImputer(3), ["sepal l", "sepal w"]),
            ("rest", gf.KNNIImputer(3, add_indicator=True), ["petal l", "color"]),
        ],
        verbose_feature_names_out=False,
    ).set_output(transform=library)
    data = pl.from_pandas(frame) if library == "polars" else frame
    filled = union.fit_transform(data, y)
    names = ["sepal l", "sepal w", "petal l", "color",
             "missingindicator_petal l", "missingindicator_color"]  # fmt: skip
    assert union.get_feature_names_out().tolist() == names
    assert filled.shape == (50, 6)
    if library != "default":
        assert list(filled.columns) == names
    assert not pd.isna(np.asarray(filled, dtype=object)).any()


def test_who_needs_labels() -> None:
    needing = {i.__name__ for i in NEIGHBOR_IMPUTERS if get_tags(i()).target_tags.required}
    assert needing == {
        "CGKNNImputer", "FWGKNNImputer", "GKNNImputer", "MIKNNImputer", "NeighborImputer",
    }  # fmt: skip
    # without the class, feature–feature weights and all donors are left: no labels needed
    assert not get_tags(gf.FWGKNNImputer(labels="weights")).target_tags.required
    assert get_tags(gf.CGKNNImputer(labels="weights")).target_tags.required
    for imputer in NEIGHBOR_IMPUTERS:
        tags = get_tags(imputer(labels="none"))
        assert not tags.target_tags.required
        assert tags.input_tags.allow_nan
        assert tags.input_tags.string
        assert tags.input_tags.categorical


@neighbors
def test_copies_of_a_model_give_the_same(imputer: Any) -> None:
    frame, y = iris_frame()
    model = imputer(n_neighbors=3).fit(frame, y)
    size = len(pickle.dumps(model))
    other = frame.iloc[::-1].reset_index(drop=True).mask(frame < 2.5)
    expected = model.transform(other)
    assert len(pickle.dumps(model)) < 1.1 * size  # the search layout is not stored
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        pd.testing.assert_frame_equal(twin.transform(other), expected, check_exact=True)
        assert twin.get_params() == model.get_params()


@neighbors
def test_threads_may_share_a_model(imputer: Any) -> None:
    X, y = iris_with_holes()
    model = imputer(n_neighbors=3).fit(X, y)
    expected = model.transform(X)
    for _ in range(3):
        fresh = pickle.loads(pickle.dumps(model))  # has not prepared anything yet
        gate = Barrier(4)

        def serve(_: int, fresh: Any = fresh, gate: Barrier = gate) -> Any:
            gate.wait()
            return fresh.transform(X)

        with ThreadPoolExecutor(4) as pool:
            for filled in pool.map(serve, range(4)):
                np.testing.assert_array_equal(filled, expected)


@pytest.mark.parametrize(
    "imputer", [gf.CGKNNImputer, gf.FWGKNNImputer, gf.SKNNImputer, gf.KNNIImputer]
)
def test_jobs_do_not_change_a_bit(imputer: Any) -> None:
    """More rows with holes than one block of work, more donors than one block of the search."""
    rng = np.random.default_rng(0)
    y = np.arange(2_600) % 2
    X = rng.normal(size=(2_600, 4)) + y[:, np.newaxis]
    X = np.where(rng.random(X.shape) < 0.1, HOLE, X)
    alone, together = imputer(4, n_jobs=1), imputer(4, n_jobs=2)
    assert alone.fit_transform(X, y).tobytes() == together.fit_transform(X, y).tobytes()
    assert alone.transform(X).tobytes() == together.transform(X).tobytes()
    row = int(np.isnan(X).any(axis=1).argmax())
    assert alone.transform(X[[row]]).tobytes() == alone.transform(X)[row].tobytes()


# ---------------------------------------------------------------------------- fitted attributes


@neighbors
def test_fitted_attributes(imputer: Any) -> None:
    frame, y = iris_frame()
    model = imputer().fit(frame, y)
    assert type(model.n_neighbors_) is int
    assert model.k_scores_.keys() == set(range(1, len(model.k_scores_) + 1))
    assert all(type(score) is float and 0 <= score <= 1 for score in model.k_scores_.values())
    least = min(model.k_scores_.values())
    assert model.n_neighbors_ == max(k for k, score in model.k_scores_.items() if score == least)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert type(model.n_iter_) is int
    assert type(model.converged_) is bool
    assert model.n_iter_ == max(len(model.history_), 1)
    assert all(type(change) is float and 0 <= change <= 1 for change in model.history_)
    assert model.imputed_counts_ == frame.isna().sum().to_dict()
    assert isinstance(model.fallback_counts_, dict)
    weights = np.atleast_2d(model.feature_weights_)
    assert weights.shape[1] == 4
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_weights_for_each_target() -> None:
    frame, y = iris_frame()
    frame["petal w"] = frame["petal w"].fillna(1.0)  # no holes: no weights
    frame.insert(0, "void", HOLE)
    model = gf.FWGKNNImputer(3, keep_empty_features=True).fit(frame, y)
    assert model.weighted_columns_.tolist() == [1, 2, 3]
    assert model.feature_weights_.shape == (3, 5)
    assert model.feature_weights_[:, 0].tolist() == [0.0] * 3  # an empty column tells nothing
    own = model.feature_weights_[[0, 1, 2], model.weighted_columns_]
    assert own.tolist() == [0.0] * 3
    # petal length tells most about sepal length: the well-known correlation of iris, r = 0.87
    assert model.feature_weights_[0].argmax() in (3, 4)
    refitted = model.set_params(labels="none", n_neighbors=2).fit(frame)
    assert refitted.feature_weights_.shape == (3, 5)


def test_stop_rule_parameters() -> None:
    X, y = iris_with_holes(rate=0.3)
    one = gf.IKNNImputer(3, max_iter=1).fit(X, y)
    assert (one.n_iter_, one.converged_) == (1, False)
    lax = gf.IKNNImputer(3, tol=1.0).fit(X, y)
    assert (lax.n_iter_, lax.converged_) == (1, True)
    strict = gf.IKNNImputer(3, tol=1e-10, max_iter=1000).fit(X, y)
    assert strict.converged_
    assert strict.history_[-1] < 1e-10 <= strict.history_[-2]
    assert strict.history_[0] == one.history_[0] == lax.history_[0]


def test_fallbacks_are_counted() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.repeat([0, 1, 2], [6, 5, 1])
    X[11, :2] = HOLE  # the only row of its class: two cells with donors of other classes,
    X[6:11, 2] = HOLE  # and class 1 knows nothing of column 2: five cells
    # the lonely row also knows nothing of its class in columns 0 and 1
    model = gf.GKNNImputer(2).fit(X, y)
    assert model.fallback_counts_ == {"class_too_small": 2, "class_without_value": 7}
    X, y = rng.normal(size=(12, 3)), np.repeat([0, 1], 6)
    X[4] = HOLE
    assert gf.GKNNImputer(2).fit(X, y).fallback_counts_ == {"row_without_match": 3}
    assert gf.GBNNImputer(2).fit(X).fallback_counts_ == {"row_without_match": 3}
    X[np.arange(12), np.arange(12) % 3] = HOLE
    X[4] = [HOLE, 1.0, HOLE]  # no complete row: eleven rows have one hole and find no donor
    assert gf.SKNNImputer(2).fit(X).fallback_counts_ == {"no_donor": 11}


def test_k_of_separated_classes() -> None:
    """Far clusters of ten classify without error while their own nine others outvote the rest."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 10)
    X = rng.normal(size=(20, 2), scale=0.1) + 100.0 * y[:, np.newaxis]
    model = gf.KNNIImputer("cv").fit(X, y)
    # Ten folds take one row of each class, so nine donors of the own class are left, and nine of
    # the other: the own class comes first and ties go to who came first, so all 18 are right.
    assert model.k_scores_ == dict.fromkeys(range(1, 19), 0.0)
    assert model.n_neighbors_ == 18


@pytest.mark.parametrize("imputer", [gf.SKNNImputer, gf.FWGKNNImputer, gf.KNNIImputer])
def test_k_is_also_chosen_on_a_complete_table(imputer: Any) -> None:
    """Cells are hidden for the purpose, so a table without holes serves as well."""
    X, _ = iris_with_holes(rate=0.0)
    model = imputer("masked", labels="none").fit(X)
    assert len(model.k_scores_) == 49  # all other rows
    assert min(model.k_scores_.values()) > 0.0
    assert model.k_scores_[model.n_neighbors_] < model.k_scores_[49]


@pytest.mark.parametrize("rule", ["cv", "masked"])
def test_random_state(rule: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), np.arange(400) % 2
    X[::9] = HOLE

    def scores(random_state: Any) -> Any:
        return gf.KNNIImputer(rule, random_state=random_state).fit(X, y).k_scores_

    assert scores(0) == scores(0) == scores(np.int64(0))
    assert scores(0) != scores(1)
    assert scores(np.random.RandomState(5)) == scores(np.random.RandomState(5))
    assert scores(None).keys() == scores(0).keys()
    with pytest.raises(InvalidParameterError, match=r"random_state.*'often'"):
        scores("often")


def test_another_fit_forgets_the_table_that_was_filled() -> None:
    A = pd.DataFrame({"a": [1.0, 2.0, 3.0, HOLE], "b": [1.0, 2.0, 3.0, 4.0]}, index=list("pqsr"))
    imputer = gf.KNNIImputer(1)
    imputer.fit_transform(A)
    assert imputer.donors_of("r", "a")["rows"] == [2]
    imputer.fit(A.iloc[::-1])
    with pytest.raises(NotFittedError):
        imputer.report_  # noqa: B018
    with pytest.raises(InvalidParameterError, match="row must be an integer"):
        imputer.donors_of("r", "a")


def test_seeds_may_be_of_any_size() -> None:
    X, _ = iris_with_holes()
    filled = [gf.MICEImputer(n_iter=1, random_state=2**33 + s).fit_transform(X) for s in (0, 0, 1)]
    assert (filled[0] == filled[1]).all()
    assert (filled[0] != filled[2]).any()


@pytest.mark.parametrize("seed", [np.random.RandomState(0), None, np.int64(0)])
def test_models_take_any_seed(seed: Any) -> None:
    X, y = iris_with_holes()
    assert gf.GreyClassifier(n_cells=20, random_state=seed).fit(X, y).score(X, y) > 0.9


@neighbors
def test_verbose_speaks_on_stderr_only(imputer: Any, capsys: Any) -> None:
    X, y = iris_with_holes()
    model = imputer(n_neighbors=3, verbose=1).fit(X, y)
    model.transform(X)
    heard = capsys.readouterr()
    assert heard.out == ""
    if model.history_ and imputer is not gf.KNNIImputer:
        assert len(heard.err.splitlines()) == model.n_iter_
        assert f"[{imputer.__name__}]" in heard.err
    imputer(verbose=1).fit(X, y)
    assert "] k = " in capsys.readouterr().err
    imputer(n_neighbors=3).fit(X, y).transform(X)
    quiet = capsys.readouterr()
    assert quiet.out == quiet.err == ""


def test_verbose_tells_how_far_a_long_search_is(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr("greyfill._neighbors.links.REPORT_SECONDS", 0.0)
    X = np.random.default_rng(0).random((600, 3))
    X[:, 0] = np.where(np.arange(600) % 2, np.nan, X[:, 0])
    gf.KNNIImputer(n_neighbors=3, verbose=1).fit(X)
    told = [line for line in capsys.readouterr().err.splitlines() if "donors" in line]
    assert [line.split()[4] for line in told] == ["256", "300"]
    assert all("of 300 rows" in line for line in told)


# ---------------------------------------------------------------------------- use of labels


def twins_in_another_class() -> tuple[Any, Any]:
    """Row 0 of class 0 lacks its last cell, which is near 0 in class 0 and near 9 in class 1.

    Its exact match in the first column is row 4, of class 1.
    """
    X = [[0.5, HOLE], [0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [0.5, 9.0], [0.9, 9.0], [0.8, 9.0]]
    return np.array(X), np.array([0, 0, 0, 0, 1, 1, 1])


def test_labels_choose_donors_or_not() -> None:
    X, y = twins_in_another_class()
    for imputer in (gf.CGKNNImputer, gf.GKNNImputer, gf.FWGKNNImputer):
        assert imputer(1).fit_transform(X, y)[0, 1] == 0.0  # its own class has nothing else
        assert imputer(1, labels="none").fit_transform(X, y)[0, 1] == 9.0
        assert imputer(1, labels="weights").fit_transform(X, y)[0, 1] == 9.0


def test_labels_weigh_columns_or_not() -> None:
    X, y = iris_with_holes()
    weights = {use: gf.CGKNNImputer(3, labels=use).fit(X, y).feature_weights_
               for use in ("donors", "weights", "none")}  # fmt: skip
    np.testing.assert_array_equal(weights["donors"], weights["weights"])
    assert weights["none"].tolist() == [0.25] * 4
    assert weights["donors"][2:].min() > weights["donors"][:2].max()  # petals tell the species


@neighbors
def test_without_use_labels_change_nothing(imputer: Any) -> None:
    X, y = iris_with_holes()
    shuffled = np.random.default_rng(1).permutation(y)
    first, second = imputer(labels="none").fit(X, y), imputer(labels="none").fit(X, shuffled)
    np.testing.assert_array_equal(first.transform(X), second.transform(X))
    np.testing.assert_array_equal(first.fit_transform(X, y), second.fit_transform(X, shuffled))
    assert first.k_scores_ == second.k_scores_


def two_clusters() -> tuple[Any, Any]:
    """Twelve rows around (0, 0) with value 0, twelve around (10, 10) with value 1."""
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 12)
    return np.column_stack([rng.normal(size=(24, 2), scale=0.3) + 10 * y[:, np.newaxis], y]), y


@pytest.mark.parametrize("imputer", [gf.CGKNNImputer, gf.GKNNImputer, gf.NeighborImputer])
def test_unlabeled_rows_soft_or_all(imputer: Any) -> None:
    """Each class has one value, 0 or 1, so the soft fill *is* the probability of class 1."""
    X, y = two_clusters()
    new = np.array([[0.0, 0.0, HOLE], [4.0, 4.0, HOLE], [10.0, 10.0, HOLE]])

    def fills(unlabeled: str, rows: Any) -> Any:
        model = imputer(3, unlabeled=unlabeled, round_to_grid=False)
        return model.fit(X[rows], y[rows]).transform(new)[:, 2]

    everyone = np.arange(24)
    # the ten nearest are all of the nearer class, and so are the three nearest
    assert fills("soft", everyone) == pytest.approx([0.0, 0.0, 1.0])
    assert fills("all", everyone) == pytest.approx([0.0, 0.0, 1.0])
    # with six rows a class, four of the ten nearest are of the other class
    few = np.flatnonzero(everyone % 12 < 6)
    shares = fills("soft", few)
    assert 0.0 < shares[0] < shares[1] < 0.5 < shares[2] < 1.0
    assert fills("all", few) == pytest.approx([0.0, 0.0, 1.0])


def test_unlabeled_categories_are_voted() -> None:
    X, y = two_clusters()
    kinds = pd.array(np.where(y == 1.0, "hi", "lo"), dtype="string")
    frame = pd.DataFrame({"x": X[:, 0], "kind": kinds})
    new = pd.DataFrame({"x": [0.0, 4.0, 7.0, 10.0], "kind": pd.array([None] * 4, dtype="string")})
    for rule in ("soft", "all"):
        model = gf.CGKNNImputer(3, unlabeled=rule).fit(frame, y)
        assert model.transform(new)["kind"].tolist() == ["lo", "lo", "hi", "hi"]


# ---------------------------------------------------------------------------- parts

HEOM = {"distance": gf.Heom(), "donors": gf.AllRows(), "start": gf.GlobalStart()}
EVEN = {"weights": gf.EqualWeights()}
PLAIN = {"fill": gf.PlainFill()}
PRESETS: dict[Any, dict[str, Any]] = {
    gf.KNNIImputer: HEOM | EVEN | PLAIN | {"schedule": gf.Once()},
    gf.SKNNImputer: HEOM | EVEN | {"donors": gf.CompleteRows(), "schedule": gf.Sequential()},
    gf.IKNNImputer: HEOM | EVEN,
    gf.MIKNNImputer: HEOM,
    gf.GBNNImputer: EVEN | PLAIN | {"donors": gf.AllRows(), "start": gf.GlobalStart()},
    gf.GKNNImputer: EVEN | PLAIN,
    gf.FWGKNNImputer: {"weights": gf.PairInformation()},
    gf.CGKNNImputer: {},
}


@pytest.mark.parametrize(
    ("preset", "parts"), PRESETS.items(), ids=lambda p: getattr(p, "__name__", "")
)
def test_presets_are_made_of_parts(preset: Any, parts: dict[str, Any]) -> None:
    X, y = iris_with_holes(rate=0.2)
    own = gf.NeighborImputer(3, **parts)
    filled = own.fit_transform(X, y)
    np.testing.assert_array_equal(filled, preset(3).fit_transform(X, y))
    for other, other_parts in PRESETS.items():
        if other_parts != parts:
            rest = other(3).fit_transform(X, y)
            assert not np.array_equal(rest, filled), other  # so the parts do matter


@pytest.mark.parametrize("holes", ["mask", "filled"])
@pytest.mark.parametrize("donors", [gf.AllRows(), gf.CompleteRows(), gf.SameClass(min_donors=30)])
@pytest.mark.parametrize("schedule", [gf.Once(), gf.Sequential(), gf.UntilStable(1e-3, 20)])
@pytest.mark.parametrize("weights", [gf.PairInformation(), gf.ClassInformation(5), None])
def test_parts_combine_freely(holes: str, donors: Any, schedule: Any, weights: Any) -> None:
    X, y = iris_with_holes(rate=0.2, step=5)
    model = gf.NeighborImputer(
        3, distance=gf.Grey(holes=holes), donors=donors, schedule=schedule, weights=weights
    )
    for filled in (model.fit_transform(X, y), model.transform(X)):
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    batch = model.transform(X)
    for row in (0, 7, 19):
        np.testing.assert_array_equal(model.transform(X[[row]]), batch[[row]])


BAD_PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"n_neighbors": 0}, r"n_neighbors.*0"),
    ({"n_neighbors": -3}, r"n_neighbors.*-3"),
    ({"n_neighbors": 2.0}, r"n_neighbors.*integer.*2\.0"),
    ({"n_neighbors": True}, r"n_neighbors.*True"),
    ({"n_neighbors": None}, r"n_neighbors.*None"),
    ({"n_neighbors": "best"}, r"n_neighbors.*'cv'.*'best'"),
    ({"labels": "class"}, r"labels.*'donors'.*'class'"),
    ({"labels": None}, r"labels.*None"),
    ({"unlabeled": "hard"}, r"unlabeled.*'soft'.*'hard'"),
    ({"max_iter": 0}, r"max_iter.*0"),
    ({"max_iter": 2.5}, r"max_iter.*integer.*2\.5"),
    ({"max_iter": None}, r"max_iter.*None"),
    ({"tol": -1.0}, r"tol.*-1"),
    ({"tol": "small"}, r"tol.*'small'"),
    ({"tol": HOLE}, r"tol.*nan"),
    ({"random_state": -1}, r"random_state.*-1"),
    ({"categorical_features": ["petal x"]}, r"categorical_features.*'petal x'"),
    ({"categorical_features": [4]}, r"categorical_features.*4"),
    ({"categorical_features": [True, False]}, r"categorical_features.*mask of 2.*4"),
    ({"ordinal_features": ["petal x"]}, r"ordinal_features.*'petal x'"),
]


@pytest.mark.parametrize(("params", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_named(params: dict[str, Any], message: str) -> None:
    frame, y = iris_frame()
    model = gf.CGKNNImputer().set_params(**params)  # nothing is checked before fit
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(frame, y)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("distance", 0.5), ("distance", gf.Grey), ("weights", gf.Grey()), ("donors", 3),
        ("donors", gf.ClassStart()), ("fill", gf.Heom()), ("start", gf.AllRows()),
        ("start", 1.0), ("schedule", 10), ("schedule", gf.WeightedFill),
    ],
)  # fmt: skip
def test_what_is_no_part_is_refused(name: str, part: Any) -> None:
    X, y = iris_with_holes()
    with pytest.raises(InvalidParameterError, match=rf"{name} must be a part such as \w+\(\)"):
        gf.NeighborImputer(3, **{name: part}).fit(X, y)


@pytest.mark.parametrize(("name", "part"), [("donors", "all"), ("start", "mean")])
def test_a_name_of_no_part_is_refused(name: str, part: str) -> None:
    X, y = iris_with_holes()
    with pytest.raises(InvalidParameterError, match=rf"{name} must be a part or one of .*'{part}'"):
        gf.NeighborImputer(3, **{name: part}).fit(X, y)


def test_cross_validated_k_needs_classes() -> None:
    X, y = iris_with_holes()
    for model, target in [
        (gf.KNNIImputer("cv"), None),
        (gf.KNNIImputer("cv"), np.linspace(0.1, 0.9, 50)),
        (gf.KNNIImputer("cv", labels="none"), y),
    ]:
        with pytest.raises(InvalidParameterError, match=r"'cv'.*no classes"):
            model.fit(X, target)


def test_other_arguments_are_refused() -> None:
    X, y = iris_with_holes()
    with pytest.raises(InvalidParameterError, match="sample_weight"):
        gf.CGKNNImputer(3).fit_transform(X, y, sample_weight=y)


def test_column_of_labels() -> None:
    frame, y = iris_frame()
    expected = gf.CGKNNImputer(3).fit_transform(frame, y)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        filled = gf.CGKNNImputer(3).fit_transform(frame, pd.DataFrame({"species": y}))
    pd.testing.assert_frame_equal(filled, expected)


def test_infinite_label_is_refused() -> None:
    X, y = iris_with_holes()
    with pytest.raises(InvalidDataError, match=r"y.*infinity.*row 3"):
        gf.CGKNNImputer(3).fit(X, np.where(np.arange(50) == 3, np.inf, y))


# ---------------------------------------------------------------------------- kinds of columns


def near_pairs(values: list[Any], **kinds: Any) -> pd.DataFrame:
    """The last row's value is missing; its two nearest donors are rows 0 and 1."""
    return pd.DataFrame({"x": [1.0, 1.2, *np.linspace(50, 60, len(values) - 3), 1.1],
                         "value": pd.Series(values, **kinds)})  # fmt: skip


def fill_last(frame: pd.DataFrame, **params: Any) -> Any:
    """The value of the last row by plain averages or votes of two donors."""
    filled = gf.KNNIImputer(2, **params).fit_transform(frame)
    assert filled["value"].dtype == frame["value"].dtype
    return filled["value"].iloc[-1]


@pytest.mark.parametrize(
    ("donors", "expected"), [((1, 2), 2), ((2, 3), 2), ((1, 4), 2), ((-3, -2), -2), ((7, 8), 8)]
)
def test_integers_are_rounded_half_to_even(donors: tuple[int, int], expected: int) -> None:
    frame = near_pairs([*donors, 30, 40, 50, None], dtype="Int64")
    assert fill_last(frame) == expected


def test_integers_stay_integers_in_arrays() -> None:
    X = np.array([[10, 1], [12, 3], [500, 90], [600, 95], [11, -999]])
    filled = gf.KNNIImputer(2, missing_values=-999).fit_transform(X)
    assert filled.dtype == X.dtype
    assert filled[4].tolist() == [11, 2]  # (1 + 3) / 2
    assert X[4, 1] == -999


def test_booleans_are_voted() -> None:
    assert bool(fill_last(near_pairs([True, True, False, False, False, None], dtype="boolean")))
    assert not fill_last(near_pairs([False, False, True, True, True, None], dtype="boolean"))
    mixed = near_pairs([True, False, True, False, False, None], dtype=object)
    assert type(fill_last(mixed)) is bool  # one vote each


def test_dates_are_averaged() -> None:
    days = [date(2024, 2, 28), date(2024, 3, 1), *[date(2020, 1, d) for d in (1, 2, 3)], None]
    column = pl.DataFrame({"x": [1.0, 1.2, 50.0, 55.0, 60.0, 1.1], "value": days})
    filled = gf.KNNIImputer(2).fit_transform(column)
    assert filled.schema == column.schema
    assert filled["value"][5] == date(2024, 2, 29)
    moments = near_pairs([pd.Timestamp("2024-01-01 10:00"), pd.Timestamp("2024-01-01 11:00"),
                          *[pd.Timestamp("2020-01-01 00:01")] * 3, None])  # fmt: skip
    assert fill_last(moments) == pd.Timestamp("2024-01-01 10:30")  # to the minute, as all are


def test_ordinals_are_averaged_by_rank() -> None:
    sizes = ["S", "L", "S", "M", "L", None]
    ordered = pd.CategoricalDtype(["S", "M", "L"], ordered=True)
    assert fill_last(near_pairs(sizes, dtype=ordered)) == "M"  # ranks 0 and 2: 1
    text = near_pairs(sizes, dtype="string")
    by_name = {"value": ["S", "M", "L"]}
    assert fill_last(text, ordinal_features=by_name) == "M"
    assert fill_last(text, ordinal_features=["value"]) == "M"  # sorted: L, M, S
    assert fill_last(text) in ("S", "L")  # one vote each
    with pytest.raises(InvalidParameterError, match=r"'value'.*row 3 holds 'M'"):
        fill_last(text, ordinal_features={"value": ["S", "L"]})
    with pytest.raises(InvalidParameterError, match=r"both.*'value'"):
        fill_last(text, ordinal_features=by_name, categorical_features=["value"])


@pytest.mark.parametrize(
    "given", [["value"], [1], [-1], [False, True], np.array([False, True]), ("value",)], ids=str
)
def test_categorical_features_by_name_index_or_mask(given: Any) -> None:
    codes = near_pairs([1.0, 4.0, 7.0, 7.0, 7.0, HOLE])
    assert fill_last(codes, round_to_grid=False) == 2.5
    assert fill_last(codes, categorical_features=given) in (1.0, 4.0)
    if "value" not in given:
        array = gf.KNNIImputer(2, categorical_features=given).fit_transform(codes.to_numpy())
        assert array[5, 1] in (1.0, 4.0)


@pytest.mark.parametrize("sign", ["?", ["?", "NA"]], ids=str)
def test_missing_values_may_have_a_sign(sign: Any) -> None:
    text = np.array([["a", "p"], ["a", "p"], ["b", "q"], ["b", "q"], ["b", "?"], ["?", "p"]])
    model = gf.KNNIImputer(2, missing_values=sign)
    for X in (text, text.astype(object)):
        filled = model.fit_transform(X)
        assert filled.dtype == X.dtype
        assert filled[4:].tolist() == [["b", "q"], ["a", "p"]]
    assert model.imputed_counts_ == {"x0": 1, "x1": 1}
    assert model.transform(np.array([["b", "?"]], dtype=object)).tolist() == [["b", "q"]]
    frame = pl.DataFrame({"u": text[:, 0], "v": text[:, 1]})
    filled = model.fit_transform(frame)
    assert filled.rows()[4:] == [("b", "q"), ("a", "p")]
    column = pd.DataFrame(text, columns=["u", "v"]).astype("category")
    after = gf.KNNIImputer(2, missing_values=sign).fit_transform(column)
    assert after.iloc[4:].to_numpy().tolist() == [["b", "q"], ["a", "p"]]


def test_numbers_and_text_as_missing_values() -> None:
    frame = pd.DataFrame({"n": [1.0, 2.0, -999.0, 4.0], "t": ["a", "", "b", "b"]})
    model = gf.KNNIImputer(1, missing_values=[-999, ""])
    filled = model.fit_transform(frame)
    assert model.imputed_counts_ == {"n": 1, "t": 1}
    assert filled["n"].between(1, 4).all()
    assert set(filled["t"]) == {"a", "b"}
    untouched = frame.loc[[0, 3]]
    pd.testing.assert_frame_equal(filled.loc[[0, 3]], untouched)


def test_scale_of_a_column_does_not_matter() -> None:
    """Numbers are scaled inside, so units change nothing but the unit of the fills."""
    X, y = iris_with_holes()
    units = np.array([1.0, 1024.0, 2.0**-40, 4.0])  # powers of two: exact
    np.testing.assert_allclose(
        gf.CGKNNImputer(3, round_to_grid=False).fit_transform(X * units, y) / units,
        gf.CGKNNImputer(3, round_to_grid=False).fit_transform(X, y),
        rtol=1e-9,
    )


def test_values_beyond_the_training_range() -> None:
    X, y = iris_with_holes()
    model = gf.CGKNNImputer(3).fit(X, y)
    new = np.array([[1e308, HOLE, -1e308, 0.0], [HOLE, HOLE, HOLE, 1e-320]])
    filled = model.transform(new)
    assert filled[0, [0, 2, 3]].tolist() == [1e308, -1e308, 0.0]
    assert np.nanmin(X[:, 1]) <= filled[0, 1] <= np.nanmax(X[:, 1])
    assert np.isfinite(filled).all()


def test_labels_that_only_weigh_do_not_choose_k() -> None:
    X, y = iris_with_holes()
    imputer = gf.CGKNNImputer(labels="weights").fit(X, y)
    blind = gf.CGKNNImputer("masked", labels="weights").fit(X, y)
    assert imputer.k_scores_ == blind.k_scores_


def test_a_bad_parameter_does_not_break_the_display() -> None:
    imputer = gf.CGKNNImputer(labels="everything")
    assert "everything" in repr(imputer)
    assert isinstance(imputer._repr_html_(), str)


def test_report_of_the_last_fill_shows_itself() -> None:
    X, y = iris_with_holes()
    imputer = gf.CGKNNImputer(3)
    with pytest.raises(NotFittedError):
        _ = imputer.report_
    imputer.fit(X, y)
    with pytest.raises(AttributeError, match="fit_transform"):
        _ = imputer.report_
    imputer.fit_transform(X, y)
    assert "<iframe" in imputer.report_._repr_html_()
    assert not hasattr(pickle.loads(pickle.dumps(imputer)), "_reported")


def test_who_gave_to_a_cell() -> None:
    X = np.array([[1.0, 5.0], [1.1, HOLE], [1.3, 7.0], [9.0, 0.0], [9.5, 1.0], [9.1, 0.5]])
    imputer = gf.CGKNNImputer(1).fit(X, [0, 0, 0, 1, 1, 1])
    donors = imputer.donors_of(1, "x1")
    assert donors["rows"] == [0]
    assert donors["values"] == pytest.approx([5.0])
    assert donors["weights"] == [1.0]
    rows, columns, spread = imputer.cell_spreads_
    assert (rows.tolist(), columns.tolist(), spread.tolist()) == ([1], [1], [0.0])
    with pytest.raises(InvalidParameterError, match="nowhere"):
        imputer.donors_of(1, "nowhere")


# ---------------------------------------------------------------------------- the target in X


def labeled(library: Any) -> Any:
    X, y = iris_frame()
    return library(X.assign(kind=np.array(["a", "b", "c"])[y]).to_dict("list"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "model",
    [gf.CGKNNImputer(), gf.GreyImputer(n_cells=20), gf.GreyClassifier(n_cells=20)],
    ids=type,
)
def test_a_target_left_among_the_features_is_told(library: Any, model: Any) -> None:
    table = labeled(library)
    for y in (table["kind"], table[["kind"]]):
        with pytest.warns(TargetColumnWarning, match="X has a column 'kind', which is the name"):
            clone(model).fit(table, y)


def test_other_names_are_no_target() -> None:
    table = labeled(pd.DataFrame)
    X = table.drop(columns="kind")
    gf.CGKNNImputer().fit(X, table["kind"])  # a warning would be an error
    gf.CGKNNImputer().fit(X.set_axis(range(4), axis=1), table["kind"].rename(0))
    gf.CGKNNImputer().fit(
        pl.from_pandas(X).rename({"sepal l": ""}), pl.Series(table["kind"].tolist())
    )
