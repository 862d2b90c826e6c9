"""One contract for the whole family: what every imputer promises, whatever its method."""

import inspect
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imputers.containers import CONTAINERS, N_ROWS, Container, cycle, labels
from imputers.family import EXTRAPOLATING, NEIGHBOR_IMPUTERS, quick
from imputers.family import THOROUGH as IMPUTERS
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

import greyfill
from greyfill.exceptions import EmptyColumnWarning, InvalidDataError

HOLE = np.nan

family = pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda imputer: imputer.__name__)
neighbors = pytest.mark.parametrize(
    "imputer", NEIGHBOR_IMPUTERS, ids=lambda imputer: imputer.__name__
)


def make(imputer: Any, n_neighbors: int | str = 3, **params: Any) -> Any:
    """An imputer with few neighbors, where it has any."""
    if "n_neighbors" in inspect.signature(imputer).parameters:
        params["n_neighbors"] = n_neighbors
    return quick(imputer, **params)


@pytest.fixture(params=CONTAINERS.values(), ids=CONTAINERS.keys())
def container(request: Any) -> Container:
    return request.param


def needs_labels(imputer: Any) -> bool:
    return bool(get_tags(imputer()).target_tags.required)


def heeds_labels(imputer: Any) -> bool:
    """Whether y makes a difference, be it needed or only welcome."""
    welcome = (greyfill.GreyImputer, greyfill.IARIImputer, greyfill.C45Imputer)
    return needs_labels(imputer) or imputer in welcome


def numbers(n: int = 30, p: int = 4, seed: int = 0, rate: float = 0.15) -> tuple[Any, Any]:
    """Continuous columns that know the class, with holes; every row and column keeps a value."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    complete = rng.normal(size=(n, p)) + y[:, np.newaxis] * np.linspace(2, 0, p)
    X = np.where(rng.random((n, p)) < rate, HOLE, complete)
    X[np.arange(n), rng.integers(0, p, n)] = complete[np.arange(n), 0]
    X[0] = complete[0]
    return X, y


def mixed(n: int = 30, seed: int = 0, rate: float = 0.15) -> tuple[pd.DataFrame, Any]:
    """Two numbers, a text column and a boolean one, with holes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "u": rng.normal(size=n) + 2 * y,
            "v": rng.uniform(-50, 50, n),
            "color": pd.array(rng.choice(["blue", "green", "red"], n), dtype="string"),
            "flag": pd.array(rng.random(n) < 0.2 + 0.6 * y, dtype="boolean"),
        }
    )
    holes = rng.random(frame.shape) < rate
    holes[0] = False
    return frame.mask(pd.DataFrame(holes, columns=frame.columns)), y


def same_bits(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_frame(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Equal types, cells and labels; no tolerance."""
    shapes = CONTAINERS["pandas"].shape(a) == CONTAINERS["pandas"].shape(b)
    return shapes and CONTAINERS["pandas"].texts(a) == CONTAINERS["pandas"].texts(b)


# ---------------------------------------------------------------------------- containers


def check_restored(container: Container, given_table: Any, filled: Any) -> None:
    """Same shape, nothing missing, and each observed cell as it was, to the last bit."""
    assert container.shape(filled) == container.shape(given_table)
    assert not container.holes(filled).any()
    holes = container.holes(given_table)
    before, after = container.texts(given_table), container.texts(filled)
    changed = np.array(before) != np.array(after)
    np.testing.assert_array_equal(changed, holes)


@family
def test_container_is_kept_and_only_holes_are_written(imputer: Any, container: Container) -> None:
    table = container.make()
    before = container.texts(table)
    model = make(imputer)
    check_restored(container, table, model.fit_transform(table, labels()))
    check_restored(container, table, model.transform(table))
    assert container.texts(table) == before  # the input is not written to


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_of_columns_are_kept_as_they_are(library: Any) -> None:
    names = [" a ", "a", "A", "b\t", "", "ü", "u\u0308", "0", "x\n"]
    frame = library({name: [1.0, None, 3.0] for name in names})
    model = greyfill.KNNIImputer(n_neighbors=1)
    for filled in (model.fit_transform(frame), model.transform(frame)):
        columns = filled.column_names if isinstance(filled, pa.Table) else filled.columns
        assert list(columns) == names


@family
def test_one_row_gives_what_a_batch_gives(imputer: Any, container: Container) -> None:
    table = container.make()
    model = make(imputer).fit(table, labels())
    batch = container.texts(model.transform(table))
    for row in range(N_ROWS):
        alone = model.transform(container.take(table, [row]))
        assert container.texts(alone) == [batch[row]]


@pytest.mark.heavy
@family
def test_one_row_gives_what_a_batch_gives_in_a_wider_table(imputer: Any) -> None:
    """Sums over many columns and several blocks of rows must not depend on the batch either."""
    X, y = numbers(n=60, p=19, rate=0.2)
    X = np.column_stack([X, np.arange(60) % 3])
    model = make(imputer, n_neighbors=4, categorical_features=[19]).fit(X, y)
    rng = np.random.default_rng(5)
    new = np.where(rng.random((300, 20)) < 0.4, HOLE, np.tile(np.nan_to_num(X), (5, 1)))
    batch = model.transform(new)
    shuffled = rng.permutation(len(new))
    assert same_bits(model.transform(new[shuffled]), batch[shuffled])
    for row in range(0, len(new), 7):
        assert same_bits(model.transform(new[[row]]), batch[[row]])


def answers(model: Any, rows: pd.DataFrame) -> list[Any]:
    """What a fitted imputer or model says of each row, to the last bit."""
    if hasattr(model, "transform"):
        return CONTAINERS["pandas"].texts(model.transform(rows))
    said = [model.predict(rows)]
    said += [model.predict_proba(rows)] if hasattr(model, "predict_proba") else []
    return [tuple(part[i].tobytes() for part in said) for i in range(len(rows))]


@pytest.mark.parametrize(
    "estimator",
    [*IMPUTERS, greyfill.GreyClassifier, greyfill.GreyRegressor],
    ids=lambda estimator: estimator.__name__,
)
@pytest.mark.parametrize("is_blank_known", [True, False])
def test_a_row_without_an_observed_cell_gives_what_a_batch_gives(
    estimator: Any, is_blank_known: bool
) -> None:
    """Nothing is known of it, so nothing but what ``fit`` saw may count: no other new row."""
    frame, y = mixed()
    if is_blank_known:
        frame.iloc[[4, 11]] = None
    settings = {} if estimator.__name__.endswith("Imputer") else {"n_cells": 20}
    model = make(estimator, **settings).fit(frame, y)
    blank = frame.iloc[[0]].copy()
    blank.iloc[0] = None
    alone = answers(model, blank)
    far = frame.assign(u=frame["u"] + 1e3, color=frame["color"].fillna("red").iloc[0])
    for others in (blank, frame, far, far.iloc[:1], mixed(n=50, seed=4, rate=0.5)[0]):
        for batch, place in ((pd.concat([blank, others]), 0), (pd.concat([others, blank]), -1)):
            assert answers(model, batch)[place] == alone[0]


@family
def test_layout_in_memory_does_not_matter(imputer: Any) -> None:
    X, y = numbers()
    expected = make(imputer).fit_transform(X, y)
    frozen = X.copy()
    frozen.flags.writeable = False
    spread = np.full((60, 8), 9.0)
    spread[::2, ::2] = X
    for other in (np.asfortranarray(X), frozen, spread[::2, ::2], X[::-1][::-1]):
        model = make(imputer)
        np.testing.assert_array_equal(model.fit_transform(other, y), expected)
        np.testing.assert_array_equal(model.transform(other), model.transform(X))


# ---------------------------------------------------------------------------- repetition


@family
def test_refit_and_clone_give_the_same(imputer: Any) -> None:
    frame, y = mixed()
    other, other_y = mixed(n=20, seed=9)
    model = make(imputer)
    first, served = model.fit_transform(frame, y), model.transform(frame)
    model.fit(other, other_y)
    for again in (model, clone(model)):
        assert same_frame(again.fit_transform(frame, y), first)
        assert same_frame(again.transform(frame), served)


@family
def test_refit_on_another_table_forgets_the_first(imputer: Any) -> None:
    frame, y = mixed()
    X, classes = numbers(p=3)
    model = make(imputer, add_indicator=True).fit(X, classes)
    again, fresh = model.fit(frame, y), make(imputer, add_indicator=True).fit(frame, y)
    assert same_frame(again.transform(frame), fresh.transform(frame))
    assert again.imputed_counts_ == fresh.imputed_counts_
    assert vars(again).keys() == vars(fresh).keys()


@family
def test_transform_leaves_the_model_as_it_was(imputer: Any) -> None:
    frame, y = mixed()
    other, _ = mixed(n=50, seed=4, rate=0.5)
    model = make(imputer).fit(frame, y)
    first = model.transform(frame)
    model.transform(other)
    assert same_frame(model.transform(frame), first)


@family
@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_does_not_matter(imputer: Any, seed: int) -> None:
    """Without ties; sums in another order may differ in the last bits."""
    X, y = numbers(seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    straight, shuffled = make(imputer), make(imputer)
    filled = straight.fit_transform(X, y)
    np.testing.assert_allclose(shuffled.fit_transform(X[order], y[order]), filled[order], atol=1e-9)
    np.testing.assert_allclose(shuffled.transform(X), straight.transform(X), atol=1e-9)


@family
def test_fit_then_transform_of_a_complete_table_changes_nothing(imputer: Any) -> None:
    frame, y = mixed(rate=0.0)
    model = make(imputer)
    assert same_frame(model.fit_transform(frame, y), frame)
    assert same_frame(model.transform(frame), frame)
    assert sum(model.imputed_counts_.values()) == 0


@family
def test_model_of_a_complete_table_fills_new_rows(imputer: Any) -> None:
    frame, y = mixed(rate=0.0)
    holed, _ = mixed(rate=0.4)
    filled = make(imputer).fit(frame, y).transform(holed)
    assert not filled.isna().to_numpy().any()
    assert set(filled["color"]) <= {"blue", "green", "red"}


@family
def test_the_result_is_a_copy(imputer: Any) -> None:
    X, y = numbers(rate=0.0)
    before = X.copy()
    model = make(imputer, n_neighbors=2)
    model.fit_transform(X, y)[:] = -1.0
    model.transform(X)[:] = -1.0
    np.testing.assert_array_equal(X, before)
    X[:] = 0.0  # nor does the model hold on to the array of fit
    assert not np.isin(model.transform(np.full((1, 4), HOLE)), 0.0).any()


# ---------------------------------------------------------------------------- patterns of holes


def whole_rows_missing() -> tuple[Any, Any]:
    frame, y = mixed()
    frame.iloc[[3, 10, 29]] = None
    return frame, y


def every_row_but_one_missing() -> tuple[Any, Any]:
    frame, y = mixed(n=6)
    frame.iloc[1:] = None
    return frame, y


def no_complete_row() -> tuple[Any, Any]:
    X, y = numbers(rate=0.0)
    X[np.arange(30), np.arange(30) % 4] = HOLE
    return pd.DataFrame(X), y


def one_value_in_each_column() -> tuple[Any, Any]:
    X = np.full((8, 8), HOLE)
    np.fill_diagonal(X, np.arange(8.0))
    return pd.DataFrame(X), np.arange(8) % 2


def staircase() -> tuple[Any, Any]:
    X, y = numbers(n=12, p=6, rate=0.0)
    return pd.DataFrame(np.where(np.add.outer(np.arange(12), np.arange(6)) >= 12, HOLE, X)), y


def class_with_one_row() -> tuple[Any, Any]:
    frame, y = mixed(n=15)
    frame.iloc[7, :2] = None
    y[7] = 2
    return frame, y


def every_class_with_one_row() -> tuple[Any, Any]:
    frame, _ = mixed(n=9)
    return frame, np.arange(9)


def class_without_a_value_in_a_column() -> tuple[Any, Any]:
    frame, y = mixed()
    frame.loc[y == 1, ["u", "color"]] = None
    return frame, y


def class_without_any_value() -> tuple[Any, Any]:
    frame, y = mixed()
    frame.loc[y == 1] = None
    return frame, y


def single_class() -> tuple[Any, Any]:
    frame, y = mixed()
    return frame, np.zeros_like(y)


def all_categorical() -> tuple[Any, Any]:
    frame, y = mixed(rate=0.3)
    return frame[["color", "flag"]].assign(other=frame["color"].to_numpy()[::-1]), y


def all_numeric() -> tuple[Any, Any]:
    X, y = numbers(rate=0.3)
    return pd.DataFrame(X), y


def one_number() -> tuple[Any, Any]:
    frame, y = mixed(n=10, rate=0.3)
    return frame[["u"]], y


def one_category() -> tuple[Any, Any]:
    frame, y = mixed(n=10, rate=0.3)
    return frame[["color"]], y


def duplicated_rows() -> tuple[Any, Any]:
    frame, y = mixed(n=5)
    return frame.iloc[np.repeat(np.arange(5), 8)], np.repeat(y, 8)


def all_rows_equal() -> tuple[Any, Any]:
    frame = pd.DataFrame({"a": [2.5] * 8, "b": pd.array(["x"] * 8, dtype="string")})
    frame.iloc[2, 0] = frame.iloc[5, 1] = None
    return frame, np.arange(8) % 2


def constant_columns() -> tuple[Any, Any]:
    frame, y = mixed()
    frame["one"] = np.where(frame["v"] > 0, 7.25, HOLE)
    frame["same"] = frame["color"].where(frame["color"].isna(), "only")
    return frame, y


def labels_partly_missing() -> tuple[Any, Any]:
    frame, y = mixed()
    return frame, np.where(np.arange(30) % 3 == 0, HOLE, y)


def one_label_known() -> tuple[Any, Any]:
    frame, y = mixed()
    return frame, np.where(np.arange(30) == 4, y, HOLE)


def value_only_in_rows_without_label() -> tuple[Any, Any]:
    """No labelled row knows ``far`` or ``tint``, but others do."""
    frame, y = mixed()
    unknown = np.arange(30) >= 20
    frame["far"] = np.where(unknown, 1000.0 + np.arange(30), HOLE)
    frame["tint"] = pd.array(np.where(unknown, "pink", None), dtype="string")
    frame.loc[25, "tint"] = "azure"
    return frame, np.where(unknown, HOLE, y)


def one_row() -> tuple[Any, Any]:
    frame, y = mixed(n=1)
    return frame, y


def two_rows() -> tuple[Any, Any]:
    return pd.DataFrame({"a": [1.0, None], "b": [None, 2.0]}), np.array([0, 1])


def huge_and_tiny_numbers() -> tuple[Any, Any]:
    X, y = numbers(rate=0.2)
    return pd.DataFrame(X * [1e300, 1e-300, 1e-12, 1e12]), y


PATTERNS = [
    whole_rows_missing, every_row_but_one_missing, no_complete_row, one_value_in_each_column,
    staircase, class_with_one_row, every_class_with_one_row, class_without_a_value_in_a_column,
    class_without_any_value, single_class, all_categorical, all_numeric, one_number, one_category,
    duplicated_rows, all_rows_equal, constant_columns, labels_partly_missing, one_label_known,
    value_only_in_rows_without_label, one_row, two_rows, huge_and_tiny_numbers,
]  # fmt: skip


def check_filled(imputer: Any, frame: pd.DataFrame, filled: pd.DataFrame) -> None:
    """Observed cells untouched, no hole left, and each fill among or between observed values.

    Neighbors give averages of what was observed, which cannot leave its range.
    """
    assert CONTAINERS["pandas"].shape(filled) == CONTAINERS["pandas"].shape(frame)
    assert not filled.isna().to_numpy().any()
    for name in frame.columns:
        seen = frame[name].notna().to_numpy()
        observed, cells = frame[name][seen], filled[name]
        assert list(cells[seen]) == list(observed)
        if pd.api.types.is_float_dtype(frame[name]):
            assert np.isfinite(cells).all()
            if imputer in NEIGHBOR_IMPUTERS:
                assert cells.between(observed.min(), observed.max()).all()
        else:
            assert set(cells) <= set(observed)


@pytest.mark.heavy
@family
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_holes_in_every_pattern(imputer: Any, pattern: Callable[[], tuple[Any, Any]]) -> None:
    frame, y = pattern()
    model = make(imputer)
    check_filled(imputer, frame, model.fit_transform(frame, y))
    check_filled(imputer, frame, model.transform(frame))
    holes = frame.isna().sum()
    assert model.imputed_counts_ == {str(name): int(count) for name, count in holes.items()}


@pytest.mark.heavy
@neighbors
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_more_neighbors_than_rows_in_every_pattern(
    imputer: Any, pattern: Callable[[], tuple[Any, Any]]
) -> None:
    frame, y = pattern()
    model = make(imputer, n_neighbors=1000)
    check_filled(imputer, frame, model.fit_transform(frame, y))
    check_filled(imputer, frame, model.transform(frame))
    holes = int(frame.isna().to_numpy().sum())
    assert all(0 < count <= holes for count in model.fallback_counts_.values())


@pytest.mark.heavy
@neighbors
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_k_is_chosen_in_every_pattern(imputer: Any, pattern: Callable[[], tuple[Any, Any]]) -> None:
    frame, y = pattern()
    model = make(imputer, n_neighbors="auto")
    check_filled(imputer, frame, model.fit_transform(frame, y))
    assert 1 <= model.n_neighbors_ <= 50


@pytest.mark.heavy
@family
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.05, 0.4, 0.8]))
def test_holes_at_random(imputer: Any, seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    frame, y = mixed(n=int(rng.integers(2, 25)), seed=seed, rate=rate)
    frame["v"] = np.round(frame["v"], -1)  # ties
    y = np.where(rng.random(len(y)) < 0.2, HOLE, rng.integers(0, 3, len(y)))
    y[0] = 0  # at least one label
    model = make(imputer, n_neighbors=int(rng.integers(1, 6)))
    check_filled(imputer, frame, model.fit_transform(frame, y))
    check_filled(imputer, frame, model.transform(frame))


@family
def test_constant_column_is_filled_with_its_constant(imputer: Any) -> None:
    frame, y = constant_columns()
    model = make(imputer)
    for filled in (model.fit_transform(frame, y), model.transform(frame)):
        assert (filled["one"] == 7.25).all()
        assert (filled["same"] == "only").all()


@neighbors
def test_a_twin_gives_its_value(imputer: Any) -> None:
    """With k = 1 the donor is the row that agrees on every observed cell and has the same class."""
    X, y = numbers(n=20, rate=0.0)
    X, y = np.vstack([X, X[6]]), np.append(y, y[6])
    X[20, 2] = HOLE
    model = make(imputer, n_neighbors=1)
    assert model.fit_transform(X, y)[20, 2] == pytest.approx(X[6, 2])
    assert model.transform(X)[20, 2] == pytest.approx(X[6, 2])


@neighbors
def test_value_known_only_without_label_is_used(imputer: Any) -> None:
    frame, y = value_only_in_rows_without_label()
    filled = make(imputer).fit_transform(frame, y)
    assert filled["far"].between(1020.0, 1029.0).all()
    # nine of ten say "pink", so that is what a row without a better donor gets
    assert (filled["tint"][:20] == "pink").sum() > 10


# ---------------------------------------------------------------------------- empty columns


def with_empty_columns() -> tuple[pd.DataFrame, Any]:
    frame, y = mixed()
    frame.insert(1, "nothing", np.full(30, HOLE))
    frame["void"] = pd.array([None] * 30, dtype="string")
    return frame, y


@family
def test_empty_columns_are_dropped_with_a_warning(imputer: Any) -> None:
    frame, y = with_empty_columns()
    model = make(imputer)
    with pytest.warns(EmptyColumnWarning, match=r"2 column.*nothing.*void") as caught:
        filled = model.fit_transform(frame, y)
    assert [w.filename for w in caught] == [__file__]  # it points at the caller
    rest = frame.drop(columns=["nothing", "void"])
    check_filled(imputer, rest, filled)
    check_filled(imputer, rest, model.transform(frame))  # without a second warning
    assert model.get_feature_names_out().tolist() == ["u", "v", "color", "flag"]
    assert same_frame(filled, make(imputer).fit_transform(rest, y))
    assert model.imputed_counts_["nothing"] == 0


@family
def test_empty_columns_are_kept_on_request(imputer: Any) -> None:
    frame, y = with_empty_columns()
    model = make(imputer, keep_empty_features=True)
    filled, served = model.fit_transform(frame, y), model.transform(frame)
    for result in (filled, served):
        assert list(result.columns) == list(frame.columns)
        assert not result.isna().to_numpy().any()
        assert (result["nothing"] == 0.0).all()
    assert model.get_feature_names_out().tolist() == list(frame.columns)
    rest = [name for name in frame.columns if name not in ("nothing", "void")]
    without = make(imputer).fit_transform(frame[rest], y)
    assert same_frame(filled[rest], without)
    assert model.imputed_counts_["nothing"] == 30


@family
def test_column_empty_in_fit_but_not_in_transform(imputer: Any) -> None:
    frame, y = with_empty_columns()
    new = frame.assign(nothing=np.where(np.arange(30) < 15, 5.5, HOLE))
    kept = make(imputer, keep_empty_features=True).fit(frame, y).transform(new)
    assert kept["nothing"].tolist() == [5.5] * 15 + [0.0] * 15
    with pytest.warns(EmptyColumnWarning):
        model = make(imputer).fit(frame, y)
    assert "nothing" not in model.transform(new).columns


@family
def test_column_empty_in_transform_but_not_in_fit(imputer: Any) -> None:
    frame, y = mixed()
    new = frame.assign(u=HOLE, color=pd.array([None] * 30, dtype="string"))
    filled = make(imputer).fit(frame, y).transform(new)
    assert np.isfinite(filled["u"]).all()
    assert set(filled["color"]) <= {"blue", "green", "red"}


@family
@pytest.mark.parametrize("cell", [None, np.nan])
def test_a_row_from_json_comes_back_in_numbers(imputer: Any, cell: Any) -> None:
    """pandas makes an object column of a single None; a model behind the imputer needs numbers."""
    fitted = pd.DataFrame({"age": [30, 40, 50, 60], "dose": [1.0, 2.0, 3.0, 4.0]})
    fitted["smokes"] = [True, False, True, False]
    model = make(imputer).fit(fitted, [0, 0, 1, 1])
    row = pd.DataFrame([{"age": cell, "dose": cell, "smokes": None}])
    filled = model.transform(row.assign(age=41))
    assert filled.dtypes.to_dict() == {"age": "int64", "dose": "float64", "smokes": "bool"}
    whole = model.transform(row.astype(object))
    assert whole.dtypes.to_dict() == fitted.dtypes.to_dict()


@family
def test_a_failed_fit_changes_nothing(imputer: Any) -> None:
    good, y = np.array([[1.0, 2, 3], [2, HOLE, 4], [3, 4, 5], [4, 5, 7]]), [0, 0, 1, 1]
    bad = np.array([[1.0, np.inf], [2, 3]])
    model = make(imputer)
    with pytest.raises(InvalidDataError):
        model.fit(bad, [0, 1])
    with pytest.raises(NotFittedError):
        model.transform(good)
    before = model.fit(good, y).transform(good)
    with pytest.raises(InvalidDataError):
        model.fit(bad, [0, 1])
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.transform(good), before)


@family
def test_one_by_one(imputer: Any) -> None:
    y = [0]
    assert make(imputer, n_neighbors=2).fit_transform([[3.5]], y).tolist() == [[3.5]]
    model = make(imputer, n_neighbors=2).fit([[3.5]], y)
    assert model.transform([[HOLE]]).tolist() == [[3.5]]
    assert make(imputer, n_neighbors="auto").fit_transform(
        np.array([["a"]], dtype=object), y
    ).tolist() == [["a"]]


@family
def test_nothing_but_holes(imputer: Any) -> None:
    for X in (np.array([[HOLE]]), np.full((6, 3), HOLE)):
        y = np.arange(len(X)) % 2
        model = make(imputer, n_neighbors=2)
        with pytest.warns(EmptyColumnWarning):
            assert model.fit_transform(X, y).shape == (len(X), 0)
        assert model.transform(X).shape == (len(X), 0)
        assert model.get_feature_names_out().tolist() == []
        keeping = make(imputer, n_neighbors=2, keep_empty_features=True)
        assert (keeping.fit_transform(X, y) == 0.0).all()


@neighbors
def test_fitted_attributes_of_nothing_but_holes(imputer: Any) -> None:
    model = make(imputer, keep_empty_features=True).fit(np.full((6, 2), HOLE), np.arange(6) % 2)
    assert (model.n_neighbors_, model.k_scores_, model.fallback_counts_) == (3, {}, {})
    assert model.feature_weights_.tolist() == [0.0, 0.0]
    assert model.imputed_counts_ == {"x0": 6, "x1": 6}


@pytest.mark.heavy
@family
def test_ten_thousand_columns(imputer: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 10_000))
    rows, columns = rng.integers(0, 20, 6), rng.choice(10_000, 6, replace=False)
    holed = X.copy()
    holed[rows, columns] = HOLE
    model = make(imputer)
    for filled in (model.fit_transform(holed, np.arange(20) % 2), model.transform(holed)):
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(filled != X, np.isnan(holed))


# ---------------------------------------------------------------------------- categories


@family
def test_unseen_categories_pass_through(imputer: Any) -> None:
    frame, y = mixed()
    model = make(imputer).fit(frame, y)
    new = pd.DataFrame(
        {
            "u": [None, 0.5],
            "v": [1.0, None],
            "color": pd.array(["mauve", "beige"], dtype="string"),
            "flag": pd.array([None, True], dtype="boolean"),
        }
    )
    filled = model.transform(new)
    assert filled["color"].tolist() == ["mauve", "beige"]
    assert not filled.isna().to_numpy().any()


@neighbors
@pytest.mark.parametrize("role", ["categorical_features", "ordinal_features"])
@pytest.mark.parametrize("unlabeled", ["soft", "all"])
def test_unseen_category_is_a_mismatch_with_everybody(
    imputer: Any, role: str, unlabeled: str
) -> None:
    """As far from all donors as a hole is: the other cells are filled as if it were one."""
    frame, y = mixed(rate=0.0)
    model = make(imputer, unlabeled=unlabeled, **{role: ["color"]}).fit(frame, y)
    for unseen in ("a", "z"):  # before and after all known ones
        new = frame.iloc[:9].assign(color=unseen, u=HOLE)
        holed = new.assign(color=pd.array([None] * 9, dtype="string"))
        filled = model.transform(new)
        assert (filled["color"] == unseen).all()
        np.testing.assert_array_equal(filled["u"], model.transform(holed)["u"])


# ---------------------------------------------------------------------------- labels

TWO_CLASSES: dict[str, Callable[[list[int]], Any]] = {
    "list": list,
    "floats": lambda y: np.array(y, dtype=float),
    "bools": lambda y: np.array(y, dtype=bool),
    "strings": lambda y: np.where(np.array(y) == 1, "yes", "no"),
    "objects": lambda y: np.array(["b" if v else "a" for v in y], dtype=object),
    "negative": lambda y: np.array(y) * 10 - 5,
    "pandas with another index": lambda y: pd.Series(y, index=range(100, 100 + len(y))),
    "pandas nullable": lambda y: pd.Series(y, dtype="Int64"),
    "pandas category": lambda y: pd.Series(y).astype("category"),
    "pandas string": lambda y: pd.Series(["q" if v else "p" for v in y], dtype="string"),
    "polars int": pl.Series,
    "polars bool": lambda y: pl.Series([v == 1 for v in y]),
    "polars enum": lambda y: pl.Series(["q" if v else "p" for v in y], dtype=pl.Enum(["p", "q"])),
    "pyarrow": lambda y: pa.chunked_array([y]),
}


@cache
def filled_with_whole_labels(imputer: Any) -> tuple[Any, Any]:
    """What `fit_transform` and `transform` give when the classes are 0 and 1."""
    X, y = numbers()
    model = make(imputer)
    return model.fit_transform(X, y), model.transform(X)


@family
@pytest.mark.parametrize("spell", TWO_CLASSES.values(), ids=TWO_CLASSES.keys())
def test_labels_of_any_type(imputer: Any, spell: Callable[[list[int]], Any]) -> None:
    """Only which rows share a class matters, not how the class is called."""
    X, y = numbers()
    filled, served = filled_with_whole_labels(imputer)
    model = make(imputer)
    np.testing.assert_array_equal(model.fit_transform(X, spell(y.tolist())), filled)
    np.testing.assert_array_equal(model.transform(X), served)


@family
@pytest.mark.parametrize(
    "spell",
    [
        lambda y: np.array([HOLE if v < 0 else v for v in y]),
        lambda y: np.array([None if v < 0 else f"c{v}" for v in y], dtype=object),
        lambda y: pd.Series([pd.NA if v < 0 else v for v in y], dtype="Int64"),
        lambda y: pl.Series([None if v < 0 else v == 1 for v in y]),
    ],
    ids=["nan", "none", "pandas", "polars"],
)
def test_rows_without_a_label_are_filled_like_new_rows(
    imputer: Any, spell: Callable[[Any], Any]
) -> None:
    X, y = numbers()
    known = np.arange(30) % 5 != 0
    labels = spell(np.where(known, y, -1).tolist())
    filled = make(imputer).fit_transform(X, labels)
    assert np.isfinite(filled).all()
    if heeds_labels(imputer):
        taught = make(imputer)
        np.testing.assert_array_equal(filled[known], taught.fit_transform(X[known], y[known]))
        np.testing.assert_array_equal(filled[~known], taught.transform(X[~known]))
    else:
        np.testing.assert_array_equal(filled, make(imputer).fit_transform(X))


@family
def test_without_labels(imputer: Any) -> None:
    X, y = numbers()
    if needs_labels(imputer):
        with pytest.raises(InvalidDataError, match=r"requires y.*labels='none'"):
            make(imputer).fit(X)
        with pytest.raises(InvalidDataError, match="every label in y is missing"):
            make(imputer).fit(X, np.full(30, HOLE))
    else:
        expected = make(imputer).fit_transform(X)
        same = np.array_equal(make(imputer).fit_transform(X, y), expected)
        assert same is not heeds_labels(imputer)


@neighbors
def test_labels_can_be_switched_off(imputer: Any) -> None:
    X, y = numbers()
    blind = make(imputer, labels="none")
    filled = blind.fit_transform(X)
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(blind.fit_transform(X, np.roll(y, 1)), filled)
    np.testing.assert_array_equal(
        make(imputer, n_neighbors="auto", labels="none").fit_transform(X, np.roll(y, 1)),
        make(imputer, n_neighbors="auto", labels="none").fit_transform(X),
    )


@family
def test_continuous_labels(imputer: Any) -> None:
    X, _ = numbers()
    target = np.random.default_rng(1).normal(size=30)
    if needs_labels(imputer):
        with pytest.raises(InvalidDataError, match=r"y is continuous.*KBinsDiscretizer"):
            make(imputer).fit(X, target)
    else:
        same = np.array_equal(
            make(imputer).fit_transform(X, target), make(imputer).fit_transform(X)
        )
        assert same is (imputer is not greyfill.GreyImputer)  # others know no measurements


@neighbors
def test_continuous_labels_are_no_labels(imputer: Any) -> None:
    X, _ = numbers()
    target = np.random.default_rng(1).normal(size=30)
    blind = make(imputer, labels="none")
    np.testing.assert_array_equal(blind.fit_transform(X, target), blind.fit_transform(X))


@family
def test_labels_of_wrong_length(imputer: Any) -> None:
    X, y = numbers()
    with pytest.raises(InvalidDataError, match="X has 30, y has 29"):
        make(imputer).fit(X, y[:-1])
    with pytest.raises(InvalidDataError, match=r"1d array.*\(30, 2\)"):
        make(imputer).fit(X, np.column_stack([y, y]))


@family
def test_many_classes_raise_no_warning(imputer: Any) -> None:
    X, _ = numbers(n=60)
    classes = [f"class {i % 30}" for i in range(60)]
    assert np.isfinite(make(imputer, n_neighbors=2).fit_transform(X, classes)).all()


# ---------------------------------------------------------------------------- wrong tables


@family
def test_wrong_tables_are_refused(imputer: Any) -> None:
    frame, y = mixed()
    model = make(imputer).fit(frame, y)
    with pytest.raises(ValueError, match="same order"):
        model.transform(frame[["v", "u", "color", "flag"]])
    with pytest.raises(ValueError, match=r"now missing:\s+- color"):
        model.transform(frame[["u", "v", "flag"]])
    with pytest.raises(InvalidDataError, match="'u' holds text"):
        model.transform(frame.assign(u=pd.array(cycle(["a"]) + ["a"] * 14, dtype="string")))
    with pytest.raises(InvalidDataError, match=r"0 sample\(s\)"):
        model.transform(frame.iloc[:0])
    with pytest.raises(InvalidDataError, match=r"'v'.*infinite in row 3"):
        model.transform(frame.assign(v=frame["v"].where(frame.index != 3, np.inf)))
    X, y = numbers()
    with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
        make(imputer).fit(X, y).transform(X[:, :3])
    X[2, 1] = -np.inf
    with pytest.raises(InvalidDataError, match="'x1' is infinite in row 2"):
        make(imputer).fit(X, y)


@pytest.mark.parametrize("imputer", [greyfill.GreyImputer, greyfill.CGKNNImputer])
@pytest.mark.parametrize(
    "names", [[3, 2, 1, 0], pd.MultiIndex.from_product([["a", "b"], [0, 1]])], ids=["ints", "pairs"]
)
def test_columns_whose_names_are_no_text_are_compared(imputer: Any, names: Any) -> None:
    X, y = numbers()
    frame = pd.DataFrame(X, columns=names)
    model = make(imputer).fit(frame, y)
    assert model.transform(frame).columns.equals(frame.columns)
    np.testing.assert_array_equal(model.transform(X), model.transform(frame))
    with pytest.raises(InvalidDataError, match=r"Column 0 of X is .*, but fit saw .* there"):
        model.transform(frame[frame.columns[::-1]])
    with pytest.raises(InvalidDataError, match="Column 3 of X is 9"):
        model.transform(frame.set_axis([*frame.columns[:3], 9], axis=1))
    make(imputer).fit(X, y).transform(frame)  # an array has no names


@family
def test_rows_as_lists(imputer: Any) -> None:
    rows = [[1.0, "a"], [None, "b"], [3.0, None], [3.5, "b"]]
    filled = make(imputer, n_neighbors=1).fit_transform(rows, [0, 1, 1, 1])
    assert [filled[i, j] for i, j in [(0, 0), (2, 0), (3, 0)]] == [1.0, 3.0, 3.5]
    assert imputer in EXTRAPOLATING or 1.0 <= filled[1, 0] <= 3.5
    assert filled[2, 1] in ("a", "b")


@family
def test_no_warning_in_ordinary_use(imputer: Any) -> None:
    frame, y = mixed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(imputer, n_neighbors="auto").fit(frame, y).transform(frame)
