"""A model on each draw, pooled: against hand-made numbers, statsmodels and ``greyfill.pool``."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import t as student
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import greyfill
from greyfill import pool, with_draws
from greyfill.exceptions import InvalidDataError, InvalidParameterError

UNPENALIZED = LogisticRegression(C=np.inf)


def frames(n: int = 60, m: int = 3) -> tuple[list[pd.DataFrame], np.ndarray]:
    """Tables that differ in a few cells, as draws do."""
    rng = np.random.default_rng(0)
    x, sex = rng.normal(size=n), np.where(rng.random(n) < 0.5, "f", "m")
    y = x + (sex == "m") + rng.normal(size=n)
    draws = []
    for _ in range(m):
        drawn = x.copy()
        drawn[:15] += rng.normal(size=15)
        draws.append(pd.DataFrame({"x": drawn, "sex": sex}))
    return draws, y


def test_hand_made_numbers_are_pooled_by_pool() -> None:
    estimates, errors = [[1.0, -2.0], [1.2, -2.1], [1.4, -1.9]], [[0.2, 0.3]] * 3
    results = iter(
        SimpleNamespace(params=pd.Series(e, ["a", "b"]), bse=pd.Series(s), df_resid=30)
        for e, s in zip(estimates, errors, strict=True)
    )
    found = with_draws([[[0.0]]] * 3, lambda table: next(results), level=0.9)
    expected = pool(estimates, np.square(errors), df_complete=30)
    assert found.table["term"].to_list() == ["a", "b"]
    for name, values in (
        ("estimate", expected.estimate),
        ("std_error", expected.std_error),
        ("df", expected.df),
        ("fmi", expected.fraction_missing),
        ("low", expected.interval(0.9)[0]),
        ("high", expected.interval(0.9)[1]),
        ("p_value", 2 * student.sf(np.abs(expected.estimate / expected.std_error), expected.df)),
    ):
        np.testing.assert_array_equal(found.table[name], values)
    assert "pooled over 3 draws; intervals of 90%" in repr(found)


def test_least_squares_by_the_equations() -> None:
    draws, y = frames()
    found = with_draws(draws, LinearRegression(), y)
    assert found.table["term"].to_list() == ["(intercept)", "x", "sex[m]"]
    fits = []
    for draw in draws:
        Z = np.column_stack([np.ones(60), draw["x"], draw["sex"] == "m"]).astype(float)
        beta, rest, *_ = np.linalg.lstsq(Z, y, rcond=None)
        fits.append((beta, np.diag(np.linalg.inv(Z.T @ Z)) * rest[0] / 57))
    expected = pool([b for b, _ in fits], [v for _, v in fits], df_complete=57)
    np.testing.assert_allclose(found.pooled.estimate, expected.estimate)
    np.testing.assert_allclose(found.pooled.std_error, expected.std_error)
    np.testing.assert_allclose(found.pooled.df, expected.df)


def test_the_same_as_statsmodels_in_any_library() -> None:
    api = pytest.importorskip("statsmodels.api")
    draws, y = frames()
    whole = [draw.assign(y=y) for draw in draws]
    ours = with_draws(draws, LinearRegression(), y)
    theirs = with_draws(whole, "y ~ x + sex")
    polars = with_draws([pl.from_pandas(draw) for draw in whole], "y ~ x + sex")
    figures = ["estimate", "std_error", "df", "fmi", "p_value"]
    both = dict(zip(theirs.table["term"], theirs.table.select(figures).rows(), strict=True))
    np.testing.assert_allclose(ours.table.select(figures).rows()[1], both["x"])
    np.testing.assert_allclose(ours.table.select(figures).rows()[2], both["sex[T.m]"])
    assert polars.table.equals(theirs.table)
    classes = (y > y.mean()).astype(int)
    logistic = with_draws(draws, UNPENALIZED, classes)

    def fitted(draw: pd.DataFrame) -> Any:
        Z = np.column_stack([np.ones(60), draw["x"], draw["sex"] == "m"]).astype(float)
        return api.Logit(classes, Z).fit(disp=False)

    found = with_draws(draws, fitted)
    for name in figures:
        np.testing.assert_allclose(logistic.table[name], found.table[name], rtol=1e-4)


def test_what_fill_gave_is_drawn() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=60), "z": rng.normal(size=60)})
    y = frame["x"] + rng.normal(size=60)
    holed = frame.with_columns(pl.when(pl.int_range(60) < 20).then(None).otherwise("x").alias("x"))
    filled = greyfill.fill(holed.with_columns(y=y), target="y")
    columns = pl.col("x", "z")

    def model(table: pl.DataFrame) -> Any:
        Z = table.select(columns).to_numpy()
        beta, rest, *_ = np.linalg.lstsq(Z, y.to_numpy(), rcond=None)
        errors = np.sqrt(np.diag(np.linalg.inv(Z.T @ Z)) * rest[0] / 58)
        return SimpleNamespace(params=beta, bse=errors, df_resid=58)

    found = with_draws(filled, model, n_draws=4)
    assert found.pooled.n_imputations == 4
    assert found.table["term"].to_list() == ["b0", "b1"]
    assert found.table["fmi"][0] > 0.05  # a third of x was missing


@pytest.mark.parametrize("library", ["polars", "pandas", "numpy"])
def test_a_model_of_what_fill_gave_takes_the_columns_that_were_used(library: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = x + rng.normal(size=80)
    holed = [None if i % 4 == 0 else float(v) for i, v in enumerate(x)]
    frame = pl.DataFrame({"x": holed, "empty": pl.Series([None] * 80, dtype=pl.Float64)})
    if library == "numpy":
        filled = greyfill.fill(frame.to_numpy(), y)
    else:
        names = pl.Series([f"p{i}" if i % 9 else None for i in range(80)])
        whole = frame.with_columns(name=names, y=y)
        filled = greyfill.fill(whole.to_pandas() if library == "pandas" else whole, "y")
    found = with_draws(filled, LinearRegression(), n_draws=4).table
    assert found["term"].to_list() == ["(intercept)", "x0" if library == "numpy" else "x"]
    assert 0.6 < found["estimate"][1] < 1.2
    assert found.equals(with_draws(filled, LinearRegression(), y, n_draws=4).table)
    blind = greyfill.fill(frame if library == "polars" else frame.to_numpy())
    with pytest.raises(InvalidParameterError, match=r"got no target.*greyfill.fill\(table, y\)"):
        with_draws(blind, LinearRegression(), y)


def test_the_model_of_a_filled_table_knows_what_was_said_of_its_columns() -> None:
    rng = np.random.default_rng(5)
    x, code = rng.normal(size=90), np.arange(90) % 3
    frame = pl.DataFrame(
        {
            "x": [None if i % 5 == 0 else float(v) for i, v in enumerate(x)],
            "code": code + 10,
            "size": [("s", "m", "l")[c] for c in rng.permutation(code)],
            "sex": [("f", "F ", "m")[c] for c in rng.permutation(code)],
            "name": [f"p{i}" if i % 9 else None for i in range(90)],
            "y": 2 * (code == 1) + x,
        }
    )
    filled = greyfill.fill(
        frame, "y", fill=["name"], fold=["sex"], categorical_features=["code"],
        ordinal_features={"size": ["s", "m", "l"]}, n_cells=20,
    )  # fmt: skip
    found = with_draws(filled, LinearRegression(), n_draws=2).table
    spelled = f"sex[{'F ' if 'F ' in found['term'][5] else 'm'}]"
    assert found["term"].to_list() == [
        "(intercept)", "x", "code[11]", "code[12]", "size", spelled,
    ]  # fmt: skip
    assert 1.5 < found["estimate"][2] < 2.5


def test_y_among_the_columns_is_refused() -> None:
    draws, y = frames()
    with pytest.raises(InvalidDataError, match="'again' of the draws is y itself"):
        with_draws([draw.assign(again=y) for draw in draws], LinearRegression(), y)


@pytest.mark.parametrize("model", [LinearRegression(), UNPENALIZED])
def test_dates_and_large_numbers_are_coefficients_as_others(model: Any) -> None:
    draws, y = frames()
    y = y if isinstance(model, LinearRegression) else (y > np.median(y)).astype(int)
    day = np.random.default_rng(3).permutation(60)
    dated = [draw.assign(day=np.datetime64("2020-01-01") + day.astype("m8[D]")) for draw in draws]
    in_days = [draw.assign(day=18262.0 + day) for draw in draws]
    found, plain = (with_draws(tables, model, y).table for tables in (dated, in_days))
    for name, ratio in (("estimate", 86400e6), ("std_error", 86400e6), ("p_value", 1.0)):
        scaled = found[name] * pl.Series([*[1.0] * (len(found) - 1), ratio])
        np.testing.assert_allclose(scaled, plain[name], rtol=1e-5)


def test_levels_without_a_row_are_no_coefficients() -> None:
    draws, y = frames()
    known = with_draws(draws, LinearRegression(), y).table
    levels = ["a", *sorted(draws[0]["sex"].unique()), "z"]
    declared = [draw.assign(sex=pd.Categorical(draw["sex"], levels)) for draw in draws]
    assert with_draws(declared, LinearRegression(), y).table.equals(known)


@pytest.mark.parametrize(
    ("draws", "model", "y", "message"),
    [
        ([[[1.0]]], LinearRegression(), [1.0], "two or more"),
        ("draws", LinearRegression(), None, "two or more"),
        (None, LinearRegression(), None, "needs y"),
        (None, Ridge(), "y", "model is Ridge"),
        (None, LogisticRegression(), "classes", "penalized"),
        (None, lambda table: LinearRegression(), None, "has fit"),
    ],
)
def test_what_cannot_be_pooled_is_refused(draws: Any, model: Any, y: Any, message: str) -> None:
    tables, response = frames()
    known = {"y": response, "classes": np.arange(60) % 2}.get(y, y) if isinstance(y, str) else y
    with pytest.raises(InvalidParameterError, match=message):
        with_draws(tables if draws is None else draws, model, known)


def test_classes_that_are_told_apart_have_no_coefficients() -> None:
    draws, y = frames()
    apart = [draw.assign(x=np.where(y > 0, draw["x"] + 9, draw["x"])) for draw in draws]
    with pytest.raises(InvalidDataError, match=r"apart without an error.*leave a column out"):
        with_draws([*draws, *apart[:1]], UNPENALIZED, y > 0)


def test_tables_without_a_fit_are_refused() -> None:
    draws, y = frames()
    with pytest.raises(InvalidDataError, match="3 classes"):
        with_draws(draws, UNPENALIZED, np.arange(60) % 3)
    with pytest.raises(InvalidDataError, match="59, of which 0"):
        with_draws(draws, LinearRegression(), y[1:])
    with pytest.raises(InvalidDataError, match="'x' of a draw has holes"):
        with_draws([draw.mask(draw["x"] > 1) for draw in draws], LinearRegression(), y)
    with pytest.raises(InvalidDataError, match="cannot be told apart"):
        with_draws([draw.assign(twice=2 * draw["x"]) for draw in draws], LinearRegression(), y)
    fits = iter([["a"], ["b"], ["a"]])
    with pytest.raises(InvalidDataError, match="draw 1 has other coefficients"):
        with_draws(draws, lambda d: SimpleNamespace(params=pd.Series([1.0], next(fits)), bse=[1.0]))


@pytest.mark.parametrize("sure", ["a", "z"])
def test_a_level_of_one_class_alone_has_no_coefficient(sure: str) -> None:
    rng = np.random.default_rng(0)
    level = np.where(np.arange(60) < 5, sure, "b")
    y = np.where(level == sure, 1, rng.permutation(60) % 2)
    tables = [pd.DataFrame({"x": rng.normal(size=60), "g": level}) for _ in range(2)]
    with pytest.raises(InvalidDataError, match=r"^'g\[.\]' of a draw: .*Merge a level"):
        with_draws(tables, UNPENALIZED, y)


def test_strong_effects_that_are_finite_are_told() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-25 * x))
    found = with_draws([x[:, None], x[:, None]], UNPENALIZED, y).table
    assert found["estimate"][1] == pytest.approx(25, rel=0.2)
    assert found["std_error"][1] < 4


@pytest.mark.parametrize("model", [LinearRegression(), UNPENALIZED])
@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_beyond_floats_are_refused_in_words(model: Any, unit: float) -> None:
    draws, y = frames()
    y = y if isinstance(model, LinearRegression) else (y > np.median(y)).astype(int)
    tiny = [draw.assign(x=draw["x"] * unit) for draw in draws]
    with pytest.raises(InvalidDataError, match="column 'x' are so small or so large"):
        with_draws(tiny, model, y)
