"""Chained equations: chains, draws, traces, labels, and new rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import greyfill
from greyfill._chained.chain import combine
from greyfill._chained.design import MAX_INDICATORS, Design, choose_predictors, row_keys, uniform
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.imputers.chained import MICEImputer
from greyfill.table import Column, Kind, Table

HOLE = np.nan


def correlated(n: int = 80, p: int = 4, seed: int = 0, rate: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + 0.3 * rng.normal(size=(n, p))
    return np.where(rng.random((n, p)) < rate, HOLE, X)


def mixed(n: int = 60, seed: int = 0, rate: float = 0.2) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    u = rng.normal(size=n) + y
    frame = pd.DataFrame(
        {
            "u": u,
            "kind": np.array(["a", "b", "c"])[np.where(rng.random(n) < 0.8, y, 0)],
            "flag": pd.array(u > 1, dtype="boolean"),
            "size": pd.Categorical(
                np.array(["S", "M", "L"])[np.digitize(u, [0.0, 1.5])], ["S", "M", "L"], ordered=True
            ),
        }
    )
    return frame.mask(rng.random(frame.shape) < rate), y


def as_table(values: np.ndarray, *columns: Column) -> Table:
    missing = np.isnan(values)
    named = columns or tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(values.shape[1]))
    return Table(np.where(missing, 0.0, values), missing, named)


# ---------------------------------------------------------------------------- design


def test_unseen_and_rare_categories_in_the_design() -> None:
    codes = np.repeat(np.arange(30.0), np.arange(30) + 1)[:, np.newaxis]
    table = as_table(codes, Column("c", Kind.CATEGORICAL, 30))
    design = Design.learn(table)
    assert design.width == MAX_INDICATORS
    encoded = design.encode(codes)
    assert encoded.sum() == (codes >= 30 - MAX_INDICATORS).sum()
    np.testing.assert_allclose(design.encode(np.array([[-1.0]]))[0], encoded.mean(axis=0))


def test_predictors_are_the_most_correlated_columns() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 30))
    values[:, [7, 19]] += 3 * values[:, [0]]
    table = as_table(values)
    chosen = choose_predictors(table, Design.learn(table), np.array([0]), 2)
    assert chosen[0].tolist() == [7, 19]
    everything = choose_predictors(table, Design.learn(table), np.array([3]), 29)
    assert everything[3].tolist() == [j for j in range(30) if j != 3]


def test_noise_is_uniform_and_depends_on_content_only() -> None:
    values = np.random.default_rng(0).normal(size=(2000, 3))
    keys = row_keys(as_table(values), 5)
    np.testing.assert_array_equal(row_keys(as_table(values[::-1]), 5), keys[::-1])
    assert (row_keys(as_table(values), 6) != keys).all()
    u, v = uniform(keys, 0), uniform(keys, 1)
    assert 0 < u.min() < 0.01
    assert 0.99 < u.max() < 1
    assert abs(u.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(u, v)[0, 1]) < 0.08


# ---------------------------------------------------------------------------- imputations


def test_draws_are_tables_like_the_input() -> None:
    frame, _ = mixed()
    model = MICEImputer(4).fit(frame)
    assert len(model.draws_) == 4
    for draw in model.draws_:
        assert draw.dtypes.tolist() == frame.dtypes.tolist()
        assert not draw.isna().to_numpy().any()
        seen = frame.notna().to_numpy()
        assert (draw.astype(str).to_numpy()[seen] == frame.astype(str).to_numpy()[seen]).all()
        assert draw["u"].isin(frame["u"]).all()
    assert not model.draws_[0].equals(model.draws_[1])
    assert isinstance(
        MICEImputer(2, n_iter=1).fit(pl.DataFrame({"u": [1.0, None, 2.0]})).draws_[0], pl.DataFrame
    )


def test_the_table_is_the_mean_and_vote_of_the_draws() -> None:
    frame, _ = mixed()
    model = MICEImputer(5)
    filled = model.fit_transform(frame)
    draws = model.draws_
    np.testing.assert_allclose(filled["u"], np.mean([d["u"] for d in draws], axis=0))
    kinds = np.array([d["kind"] for d in draws])
    for row, found in enumerate(filled["kind"]):
        values, counts = np.unique(kinds[:, row], return_counts=True)
        assert found in values[counts == counts.max()]
    ranks = np.mean([d["size"].cat.codes for d in draws], axis=0)
    np.testing.assert_array_equal(filled["size"].cat.codes, np.rint(ranks))
    first = MICEImputer(5, combine="draw").fit_transform(frame)
    pd.testing.assert_frame_equal(first, draws[0])


def test_equal_votes_go_to_the_first_draw() -> None:
    draws = [np.array([[2.0, 7.25]]), np.array([[0.0, 7.25]]), np.array([[1.0, 7.25]])]
    columns = (Column("c", Kind.CATEGORICAL, 3), Column("x", Kind.NUMERIC))
    assert combine(draws, columns).tolist() == [[2.0, 7.25]]


def test_draws_do_not_follow_later_changes_of_the_input() -> None:
    X = correlated()
    model = MICEImputer(2, n_iter=1).fit(X)
    first = model.draws_[0]
    X[:] = 0.0
    np.testing.assert_array_equal(model.draws_[0], first)


def test_traces_hold_mean_and_deviation_of_the_imputed_values() -> None:
    X = correlated()
    X[:, 2] = np.nan_to_num(X[:, 2])
    model = MICEImputer(3, n_iter=4).fit(X)
    assert set(model.history_) == {"x0", "x1", "x3"}
    assert model.history_["x1"]["mean"].shape == (3, 4)
    assert model.n_iter_ == 4
    for c, draw in enumerate(model.draws_):
        imputed = draw[np.isnan(X[:, 1]), 1]
        assert model.history_["x1"]["mean"][c, -1] == pytest.approx(imputed.mean())
        assert model.history_["x1"]["sd"][c, -1] == pytest.approx(imputed.std(ddof=1))


def test_imputation_beats_the_mean_and_keeps_the_correlation() -> None:
    complete = correlated(n=300, rate=0.0)
    holes = np.random.default_rng(1).random(complete.shape) < 0.2
    X = np.where(holes, HOLE, complete)
    model = MICEImputer().fit(X)
    for filled in (model.fit_transform(X), model.transform(X)):
        error = (filled - complete)[holes]
        assert (error**2).mean() < 0.4 * complete[holes].var()
    between = np.corrcoef(complete.T) - np.corrcoef(model.draws_[0].T)
    assert np.abs(between).max() < 0.08


def test_methods_by_column() -> None:
    frame, _ = mixed()
    model = MICEImputer(2, methods={"u": "norm", "kind": "sample", "size": "polyreg"})
    filled = model.fit_transform(frame)
    assert model.methods_ == {"u": "norm", "kind": "sample", "flag": "logreg", "size": "polyreg"}
    assert not filled["u"][frame["u"].isna()].isin(frame["u"]).any()
    plain = MICEImputer(1, methods={"u": "mean", "kind": "mean", "flag": "pmm", "size": "pmm"})
    filled = plain.fit_transform(frame)
    np.testing.assert_allclose(filled["u"][frame["u"].isna()], frame["u"].mean())
    assert (filled["kind"][frame["kind"].isna()] == frame["kind"].mode()[0]).all()
    defaults = MICEImputer(1, n_iter=1).fit(frame).methods_
    assert defaults == {"u": "pmm", "kind": "polyreg", "flag": "logreg", "size": "polr"}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"methods": {"kind": "norm"}}, r"'norm' does not fit 'kind', a categorical column of 3"),
        ({"methods": {"kind": "logreg"}}, r"'logreg' does not fit"),
        ({"methods": {"nobody": "pmm"}}, r"columns that X does not have: \['nobody'\]"),
        ({"methods": "polyreg"}, "methods must be one of"),
        ({"combine": "median"}, "combine must be one of"),
        ({"labels": "donors"}, "labels must be one of"),
        ({"n_imputations": 0}, "n_imputations must be an integer, at least 1"),
        ({"n_iter": 1.5}, "n_iter must be an integer, at least 1"),
        ({"max_predictors": "few"}, "max_predictors must be an integer, at least 1 or 'auto'"),
    ],
)
def test_wrong_parameters(params: dict, message: str) -> None:
    frame, _ = mixed()
    with pytest.raises(InvalidParameterError, match=message):
        MICEImputer(**params).fit(frame)


# ---------------------------------------------------------------------------- repetition


def test_jobs_and_pickling_change_nothing() -> None:
    frame, _ = mixed()
    model = MICEImputer(2, n_iter=2)
    filled, served = model.fit_transform(frame), model.transform(frame)
    pd.testing.assert_frame_equal(MICEImputer(2, n_iter=2, n_jobs=2).fit_transform(frame), filled)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.transform(frame), served)
    pd.testing.assert_frame_equal(again.draws_[1], model.draws_[1])
    other = MICEImputer(2, n_iter=2, random_state=1).fit_transform(frame)
    assert not other.equals(filled)


def test_one_row_as_in_a_batch_also_with_many_columns() -> None:
    X = correlated(n=100, p=40, rate=0.3)
    model = MICEImputer(2, n_iter=2, methods={"x3": "norm"}).fit(X)
    new = correlated(n=60, p=40, seed=9, rate=0.5)
    batch = model.transform(new)
    for row in range(60):
        assert model.transform(new[[row]]).tobytes() == batch[[row]].tobytes()


def test_equal_rows_are_filled_equally_and_columns_without_holes_in_fit_too() -> None:
    frame, _ = mixed(rate=0.0)
    model = MICEImputer(3, n_iter=2).fit(frame)
    new = mixed(seed=4, rate=0.5)[0]
    filled = model.transform(pd.concat([new, new], ignore_index=True))
    pd.testing.assert_frame_equal(filled.iloc[:60], filled.iloc[60:].reset_index(drop=True))
    assert not filled.isna().to_numpy().any()


# ---------------------------------------------------------------------------- labels


def test_labels_help_the_training_rows_only() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    complete = np.column_stack([10.0 * y, rng.normal(size=200)]) + rng.normal(size=(200, 2))
    X = complete.copy()
    X[:60, 0] = HOLE
    blind, seeing = MICEImputer(2), MICEImputer(2, labels="predictor")
    errors = [
        np.abs(model.fit_transform(X, y) - complete)[:60, 0].mean() for model in (blind, seeing)
    ]
    assert errors[1] < 0.4 * errors[0]
    np.testing.assert_array_equal(seeing.transform(X), blind.transform(X))
    assert set(seeing.history_) == {"x0"}
    assert seeing.draws_[0].shape == X.shape


def test_missing_labels_are_drawn_too() -> None:
    frame, y = mixed()
    y = np.where(np.arange(60) % 4 == 0, HOLE, y)
    filled = MICEImputer(2, n_iter=2, labels="predictor").fit_transform(frame, y)
    assert not filled.isna().to_numpy().any()
    with pytest.raises(InvalidDataError, match="every label in y is missing"):
        MICEImputer(labels="predictor").fit(frame, np.full(60, HOLE))
    with pytest.raises(InvalidDataError, match="requires y"):
        MICEImputer(labels="predictor").fit(frame)


def test_chains_of_their_own_let_a_class_scatter_as_it_does() -> None:
    rng = np.random.default_rng(0)
    y = np.append(np.arange(400) % 2, [2] * 20)  # the last class is too small for its own
    X = np.column_stack([np.array([0.3, 2.0, 1.0])[y] * rng.normal(size=420), rng.normal(size=420)])
    holes = rng.random(420) < 0.4
    X[holes, 0] = HOLE
    spreads = {}
    for labels in ("predictor", "separate"):
        model = MICEImputer(5, n_iter=1, labels=labels).fit(X, y)
        drawn = np.stack([table[:, 0] for table in model.draws_])
        spreads[labels] = [drawn[:, holes & (y == label)].std() for label in (0, 1)]
        assert not np.isnan(drawn).any()
    assert spreads["predictor"][0] > 0.6
    np.testing.assert_allclose(spreads["separate"], [0.3, 2.0], rtol=0.15)
    filled = model.fit_transform(X, y)
    np.testing.assert_array_equal(filled[~holes], X[~holes])
    np.testing.assert_allclose(filled[holes, 0], np.mean(model.draws_, axis=0)[holes, 0])
    np.testing.assert_array_equal(model.transform(X), MICEImputer(5, n_iter=1).fit(X).transform(X))


# ---------------------------------------------------------------------------- beyond the donors


def hidden_by(strength: float, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """z = 2 x + noise, hidden the more often the larger x is; with its truth."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    z = 2 * x + rng.normal(size=n)
    hidden = rng.random(n) < 1 / (1 + np.exp(-strength * x))
    return np.column_stack([x, np.where(hidden, HOLE, z)]), z


def test_numbers_are_matched_unless_many_holes_lie_beyond_the_donors() -> None:
    X, _ = hidden_by(0.0)
    chosen, matched = MICEImputer(2).fit(X), MICEImputer(2, methods="pmm").fit(X)
    assert chosen.methods_ == {"x0": "pmm", "x1": "pmm"}
    np.testing.assert_array_equal(chosen.transform(X), matched.transform(X))
    np.testing.assert_array_equal(chosen.draws_, matched.draws_)


def test_holes_beyond_the_donors_are_drawn_by_norm(tmp_path) -> None:
    X, z = hidden_by(8.0)
    chosen = MICEImputer(5).fit(X)
    assert chosen.methods_ == {"x0": "pmm", "x1": "norm"}
    np.testing.assert_array_equal(chosen.draws_, MICEImputer(5, methods="norm").fit(X).draws_)
    means = {
        method: np.mean(
            [table[:, 1].mean() for table in MICEImputer(5, methods=method).fit(X).draws_]
        )
        for method in ("auto", "pmm")
    }
    assert abs(means["auto"] - z.mean()) < 0.2 < z.mean() - means["pmm"]
    chosen.save(tmp_path / "model")
    loaded = greyfill.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(X), chosen.transform(X))
    few = X[~np.isnan(X[:, 1])]
    few[few[:, 0].argsort()[-4:], 1] = HOLE  # four holes at the end are no pattern
    assert MICEImputer(2).fit(few).methods_["x1"] == "pmm"


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
@pytest.mark.parametrize("method", ["pmm", "norm", "sample", "mean"])
@pytest.mark.filterwarnings("ignore::greyfill.exceptions.EmptyColumnWarning")
def test_tiny_tables(X: list, method: str) -> None:
    table = pd.DataFrame(X)
    model = MICEImputer(2, n_iter=2, methods={str(len(table.columns) - 1): method})
    table.columns = table.columns.astype(str)
    for filled in (model.fit_transform(table), model.transform(table)):
        numbers = filled.select_dtypes("number").to_numpy()
        assert np.isfinite(numbers).all()
        assert not filled.isna().to_numpy().any()


def test_more_columns_than_rows() -> None:
    X = correlated(n=20, p=600)
    for cap in ("auto", 50):
        model = MICEImputer(1, n_iter=1, max_predictors=cap)
        filled = model.fit_transform(X)
        assert np.isfinite(filled).all()
        assert np.isfinite(model.transform(X[:2])).all()
        widest = max(len(m.predictors) for m in model._chains.chains[0].models.values())
        assert widest <= (6 if cap == "auto" else 50)


def test_a_column_of_many_categories() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 70, 400)
    frame = pd.DataFrame({"city": [f"c{i}" for i in codes], "x": codes + rng.normal(size=400)})
    frame.loc[:30, "city"] = None
    frame.loc[40:60, "x"] = None
    model = MICEImputer(1, n_iter=2)
    filled = model.fit_transform(frame)
    assert model.methods_["city"] == "pmm"
    found = filled["city"].str[1:].astype(int)[:31]
    assert np.abs(found - codes[:31]).mean() < 12


def test_an_empty_table_has_attributes_too() -> None:
    model = MICEImputer(2, keep_empty_features=True).fit(np.full((3, 2), HOLE))
    assert model.history_ == {}
    assert len(model.draws_) == 2
