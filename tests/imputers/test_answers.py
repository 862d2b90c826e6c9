"""What a self-tuned imputer says beside its fills: draws, limits, reasons, in words and units."""

import datetime as dt
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes

import greyfill
from greyfill._grey.uncertainty import similar_rows
from greyfill.exceptions import InvalidDataError, InvalidParameterError


def two_classes(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The class alone tells the first column, 10 apart; the second is noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.column_stack([10 * y + rng.normal(size=n), rng.normal(size=n)]), y


def told_apart() -> tuple[greyfill.GreyImputer, np.ndarray, np.ndarray, np.ndarray]:
    """A fitted imputer, and new rows of which only the noise is observed."""
    X, y = two_classes()
    X[np.random.default_rng(1).random(200) < 0.3, 0] = np.nan
    imputer = greyfill.GreyImputer(n_cells=100).fit(X, y)
    truth, labels = two_classes(seed=2)
    return imputer, truth[:, 0], np.column_stack([np.full(200, np.nan), truth[:, 1]]), labels


def share_inside(found: dict, truth: np.ndarray) -> float:
    low, high = np.array(found["low"]), np.array(found["high"])
    return float(np.mean((low <= truth[found["rows"]]) & (truth[found["rows"]] <= high)))


def test_intervals_hold_whether_or_not_the_class_is_told() -> None:
    imputer, truth, rows, labels = told_apart()
    known, unknown = imputer._interval_lists(rows, labels), imputer._interval_lists(rows)
    assert share_inside(known, truth) > 0.8
    assert share_inside(unknown, truth) > 0.8
    assert np.mean(np.array(known["high"]) - known["low"]) < 5  # 3.3 sd of the noise
    assert np.mean(np.array(unknown["high"]) - unknown["low"]) > 10  # both classes are possible


def test_each_row_is_told_its_own_label_or_none() -> None:
    imputer, _, rows, labels = told_apart()
    some = labels.astype(object)
    some[:100] = None
    mixed = imputer._interval_lists(rows, some)["low"]
    assert mixed[:100] == imputer._interval_lists(rows)["low"][:100]
    assert mixed[100:] == imputer._interval_lists(rows, labels)["low"][100:]
    drawn = imputer.draw(rows, 1, some)[0][:, 0]
    assert np.abs(drawn[100:] - 10 * labels[100:]).max() < 5
    assert 0.3 < (np.abs(drawn[:100]) < 5).mean() < 0.7  # a class is drawn, never the middle
    assert np.abs(drawn[:100] - 5).min() > 1


def test_columns_that_are_missing_together() -> None:
    """What is known of one from the other is of no use where both are holes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=300), rng.normal(size=300)])
    both = rng.random(300) < 0.3
    holed = X.copy()
    holed[both, :2] = np.nan
    imputer = greyfill.GreyImputer(n_cells=100).fit(holed)
    drawn = imputer.draw(holed, 1)[0][both]
    assert 0.75 < drawn[:, 0].std() < 1.25
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.9
    found = imputer._interval_lists(holed)
    first = {name: part[: both.sum()] for name, part in found.items()}
    assert set(first["columns"]) == {"x0"}
    assert share_inside(first, X[:, 0]) > 0.8


def test_a_continuous_y_is_told_to_draws_and_intervals() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=150)
    X = np.column_stack([y + 0.1 * rng.normal(size=150), rng.normal(size=150)])
    holes = rng.random(150) < 0.3
    X[holes, 0] = np.nan
    imputer = greyfill.GreyImputer(n_cells=60).fit(X, y)
    assert np.corrcoef(imputer.draw(X, 1, y)[0][holes, 0], y[holes])[0, 1] > 0.9
    assert np.corrcoef(imputer.draw(X, 1)[0][holes, 0], y[holes])[0, 1] < 0.5
    widths = [
        np.mean(np.array(found["high"]) - found["low"])
        for found in (imputer._interval_lists(X, y + 1e-3), imputer._interval_lists(X))
    ]
    assert widths[0] < 0.4 * widths[1]
    with pytest.raises(InvalidDataError, match="y must hold numbers"):
        imputer.draw(X, 1, ["a"] * 150)
    with pytest.raises(InvalidDataError, match="X has 150, y has 3"):
        imputer.draw(X, 1, [1.0, 2.0, 3.0])


def test_rows_without_a_continuous_y_do_not_mislead() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    X = np.column_stack([y + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    holes = rng.random(200) < 0.3
    hidden = X[:, 0].copy()
    X[holes, 0] = np.nan
    known = np.where(np.arange(200) % 2, y, np.nan)
    filled = greyfill.GreyImputer(labels="own", n_cells=60).fit_transform(X, known)[:, 0]
    asked = holes & ~np.isnan(known)
    assert np.sqrt(np.mean((filled - hidden)[asked] ** 2)) < 0.25  # 0.39 if unknown were the least
    assert greyfill.GreyImputer(n_cells=60).fit(X, known).selection_.keys() == {"x0"}


def test_many_whole_numbers_are_no_classes() -> None:
    X, y = load_diabetes(return_X_y=True)  # 214 values of y in 442 rows, all whole
    X, y = X[:150, :3].copy(), y[:150]
    X[::5, 0] = np.nan
    few, many = greyfill.GreyImputer(n_cells=20), greyfill.GreyImputer(n_cells=20)
    many.fit(X, y)
    assert np.isnan(many.log_loss_)
    assert "same class" not in str(many.selection_)
    few.fit(X, np.digitize(y, np.quantile(y, [0.3, 0.6])))
    assert 0 < few.log_loss_ < 1.5 * np.log(3)
    assert "same class" in str(few.selection_)


def mixed_frame(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    step = rng.integers(0, 100, n)
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(step, unit="D"),
            "count": pd.array(step // 10, dtype="Int64"),
            "size": pd.Categorical.from_codes(step // 34, ["S", "M", "L"], ordered=True),
            "kind": np.where(step > 50, "late", "early"),
            "noise": rng.normal(size=n),
        }
    )
    for place, name in enumerate(frame.columns[:4]):
        frame.loc[place * 3 : place * 3 + 2, name] = None
    return frame


def test_answers_are_in_the_units_of_the_column() -> None:
    frame = mixed_frame()
    imputer = greyfill.GreyImputer(n_cells=40)
    filled = imputer.fit_transform(frame)
    filled["day"] = filled["day"].dt.round("us")  # pandas 2 keeps nanoseconds
    found = imputer._interval_lists(frame)
    limits = {}
    for name, low, high in zip(found["columns"], found["low"], found["high"], strict=True):
        limits[name] = low, high
    assert all(isinstance(limit, dt.datetime) for limit in limits["day"])
    assert all(type(limit) is int and 0 <= limit <= 9 for limit in limits["count"])
    assert set(limits["size"]) <= {"S", "M", "L"}
    assert limits["kind"] == (None, None)
    for name, row in (("day", 0), ("count", 3), ("size", 6), ("kind", 9)):
        why = imputer.explain(row, name)
        assert why.value == filled[name].iloc[row]
        assert why.values == filled[name].iloc[why.rows].tolist()
    moved = imputer.explain(0, "day")
    assert moved.unit == "days"
    assert max(abs(effect) for effect in moved.effects.values()) < 100
    assert f"gives {moved.values[0]}, weight" in str(moved)
    level = replace(imputer.explain(9, "kind"), effects={"day": 0.25})
    assert "day moved its probability by +0.25" in str(level)
    units = {name: chosen["unit"] for name, chosen in imputer.selection_.items()}
    ranks = {"size": "ranks", "kind": "probability"}
    assert units == {"day": "days", "count": "units of the column", **ranks}
    assert imputer.selection_["day"]["error"] < 30  # counts tell the day to about three


def test_an_explanation_shows_itself_and_the_class() -> None:
    X, y = two_classes(120)
    X[:20, 0] = np.nan
    imputer = greyfill.GreyImputer(labels="own", n_cells=60).fit(X, y)
    why = imputer.explain(3, "x0", n_donors=2)
    assert repr(why).startswith("row 3, column 'x0': ")
    assert why.gaps["y"] == [0.0, 0.0]  # donors of its own class
    soft = [line for line in imputer.selection_["x0"]["panel"] if "ridge" in line and "any" in line]
    assert ("y" in why.effects) == bool(soft)


def test_distances_by_hand() -> None:
    """Δmin = 0.1 and Δmax = 0.9 on the scale of x: 1 − (0.1 + 0.45)/(|gap| + 0.45)."""
    X = np.column_stack([np.linspace(0, 1, 11), np.arange(11.0) ** 2])
    X[1, 1] = np.nan
    imputer = greyfill.GreyImputer().fit(X)
    found = imputer.donors_of(1, 1)
    for row, distance in zip(found["rows"], found["distances"], strict=True):
        assert distance == pytest.approx(1 - 0.55 / (abs(X[row, 0] - 0.1) + 0.45))


def test_held_rows_that_lack_least_are_taken() -> None:
    asked = np.array([[True, False, False], [True, True, False]])
    held = np.array([[False, True, False], [False, False, True], [False] * 3])
    held = np.repeat(held, [3, 5, 2], axis=0)  # a fifth of the rows lacks nothing
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = similar_rows(asked, held, lambda: rng)
        assert first in (8, 9)
        assert second in (0, 1, 2, 8, 9)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_tiny_tables_have_answers(n: int) -> None:
    X = np.column_stack([np.arange(n) * 1.0, np.arange(n) * 2.0, np.arange(n) % 2])
    X[0, 1:] = np.nan
    for y in (None, np.arange(n) % 2, np.arange(n) + 0.5):
        imputer = greyfill.GreyImputer(categorical_features=[2], keep_empty_features=True)
        imputer.fit(X, y)
        for told in (y, None):
            assert np.isfinite(imputer.draw(X, 2, told)).all()
            assert len(imputer._interval_lists(X, told)["rows"]) == (2 if n > 1 else 0)


def test_saved_and_pickled_imputers_answer_alike(tmp_path) -> None:
    frame = pl.from_pandas(mixed_frame())
    y = np.arange(90) % 2
    imputer = greyfill.GreyImputer(n_cells=20).fit(frame, y)
    imputer.save(tmp_path / "model.greyfill")
    for twin in (greyfill.load(tmp_path / "model.greyfill"), pickle.loads(pickle.dumps(imputer))):
        assert all(map(pl.DataFrame.equals, twin.draw(frame, 2, y), imputer.draw(frame, 2, y)))
        assert twin._interval_lists(frame) == imputer._interval_lists(frame)
        assert str(twin.explain(0, "day")) == str(imputer.explain(0, "day"))
        assert twin.log_loss_ == imputer.log_loss_


def test_another_seed_draws_other_tables() -> None:
    X, y = two_classes(80)
    X[:30, 0] = np.nan
    imputer = greyfill.GreyImputer(n_cells=20).fit(X, y)
    first = imputer.draw(X, 3, y)
    assert np.array_equal(first[1], imputer.draw(X, 2, y)[1])
    assert not np.array_equal(first[0], imputer.set_params(random_state=1).draw(X, 1, y)[0])


def test_donors_of_a_date_give_dates() -> None:
    frame = mixed_frame()
    imputer = greyfill.IKNNImputer(n_neighbors=3).fit(frame)
    found = imputer.donors_of(0, "day")
    known = [
        (row, value) for row, value in zip(found["rows"], found["values"], strict=True) if row > 2
    ]
    assert known
    assert all(value == frame["day"].iloc[row] for row, value in known)


@pytest.mark.parametrize("labels", ["cross", "own", "none"])
def test_new_rows_are_explained_as_transform_fills_them(labels: str) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 3)) + y[:, None]
    X[:, 2] = X[:, 0] - X[:, 1] + 0.1 * X[:, 2]
    X[::7, 2] = np.nan
    imputer = greyfill.GreyImputer(labels=labels).fit(X, y)
    new = np.array([[0.1, 0.4, 0.2], [0.3, -0.2, np.nan]])
    why = imputer.explain(1, 2, 80, X=new)
    assert why.value == pytest.approx(imputer.transform(new)[1, 2])
    assert np.dot(why.weights, why.values) == pytest.approx(why.value)
    with pytest.raises(InvalidParameterError, match="was observed"):
        imputer.explain(0, 2, X=new)
    with pytest.raises(InvalidParameterError, match="no row 2"):
        imputer.explain(2, 2, X=new)
