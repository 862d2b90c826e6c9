"""SRMI, regressions and IARI: orders, steady states, and the methods that they bring to MICE."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from greyfill import IARIImputer, MICEImputer, RegressionImputer, SRMIImputer, pool
from greyfill._chained import chain
from greyfill._chained.methods import fit_cart, fit_poisson, fit_two_part
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Kind, Table


def holed(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=n)})
    frame["z"] = frame["y"] - x + rng.normal(size=n)
    frame["f"] = pd.array(np.where(x + rng.normal(size=n) > 0, "yes", "no"), dtype="string")
    hole = rng.random(frame.shape) < [0.3, 0.2, 0.1, 0.2]
    return frame.mask(pd.DataFrame(hole, columns=frame.columns)), rng


def test_first_round_looks_at_known_columns_few_holes_first() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 4))
    missing = np.zeros((40, 4), bool)
    missing[:9, 0] = missing[:3, 2] = missing[:6, 3] = True
    table = Table(values, missing, tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(4)))
    cases = {
        True: {2: [1], 3: [1, 2], 0: [1, 2, 3]},
        False: {0: [1, 2, 3], 2: [0, 1, 3], 3: [0, 1, 2]},
    }
    for is_sequential, expected in cases.items():
        settings = chain.MiceSettings(1, 1, {}, is_sequential=is_sequential)
        models = chain.run_chains(table, settings, lambda _: None).chains[0].models
        assert {j: m.predictors.tolist() for j, m in models.items()} == expected
        assert list(models) == list(expected)


def pooled(imputer: Any, frame: Any) -> Any:
    draws = imputer.fit(frame).draws_
    tables = [d.assign(f=np.array(d["f"] == "yes", dtype=float)).to_numpy(float) for d in draws]
    return pool([t.mean(axis=0) for t in tables], [t.var(axis=0) / len(t) for t in tables])


def test_steady_state_is_that_of_mice() -> None:
    """Both draw from the same regressions; only the first round differs."""
    frame, _ = holed()
    ours = pooled(SRMIImputer(20, n_iter=5), frame)
    theirs = pooled(MICEImputer(20, n_iter=5, methods="norm", random_state=9), frame)
    noise = np.sqrt((ours.between + theirs.between) / 20)
    assert (np.abs(ours.estimate - theirs.estimate) < 4 * noise).all()
    assert (np.abs(np.log(ours.std_error / theirs.std_error)) < 0.15).all()
    assert SRMIImputer(2).fit(frame).methods_ == {"x": "norm", "y": "norm", "z": "norm",
                                                  "f": "logreg"}  # fmt: skip


def test_normal_draws_are_truncated_at_bounds() -> None:
    frame, _ = holed()
    model = SRMIImputer(3, n_iter=2, bounds={"x": (0.0, 0.5)}).fit(frame)
    hole = frame["x"].isna()
    cells = np.concatenate([d["x"][hole] for d in model.draws_])
    assert ((cells > 0.0) & (cells < 0.5)).all()  # none is cut off at an end
    assert 0.2 < cells.mean() < 0.3


def test_counts_and_two_parts() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    counts = rng.poisson(np.exp(0.5 + 0.8 * x[:, 0])).astype(float)
    noise = rng.random(2000)
    drawn = fit_poisson(x, counts, rng).draw(x, noise)
    assert set(drawn) <= set(range(11 * int(counts.max())))
    np.testing.assert_allclose(np.corrcoef(x[:, 0], drawn)[0, 1],
                               np.corrcoef(x[:, 0], counts)[0, 1], atol=0.06)  # fmt: skip
    assert drawn.mean() == pytest.approx(counts.mean(), rel=0.1)
    spent = np.where(rng.random(2000) < 0.4, 0.0, 5 + x[:, 0] + rng.normal(size=2000))
    drawn = fit_two_part(x, spent, rng).draw(x, noise)
    assert (drawn == 0.0).mean() == pytest.approx(0.4, abs=0.05)
    assert drawn[drawn != 0].mean() == pytest.approx(5, abs=0.15)
    frame = pd.DataFrame({"x": x[:, 0], "n": counts, "s": spent})
    frame.loc[::5, ["n", "s"]] = np.nan
    model = SRMIImputer(2, n_iter=2, methods={"n": "poisson", "s": "two-part"}).fit(frame)
    assert (model.draws_[0]["n"] % 1 == 0).all()
    with pytest.raises(InvalidParameterError, match=r"'poisson' does not fit 's'.*other numbers"):
        SRMIImputer(methods={"s": "poisson"}).fit(frame)


def test_cart_gives_values_of_the_leaf() -> None:
    x = np.repeat([0.0, 1.0], 50)[:, np.newaxis]
    y = np.concatenate([np.arange(50.0), 100 + np.arange(50.0)])
    rng = np.random.default_rng(0)
    drawn = fit_cart(x, y, rng).draw(x, rng.random(100))
    assert set(drawn) <= set(y)
    np.testing.assert_array_equal(drawn >= 100, y >= 100)
    frame, _ = holed(80)
    model = MICEImputer(2, n_iter=2, methods=dict.fromkeys(frame.columns, "cart")).fit(frame)
    assert set(model.draws_[0]["x"]) <= set(frame["x"].dropna())


def test_regression_predicts_with_and_without_noise() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = 3 * x + rng.normal(size=400)
    hole = np.arange(400) < 200
    X = np.column_stack([x, np.where(hole, np.nan, y)])
    slope, offset = np.polyfit(x[~hole], y[~hole], 1)
    plain = RegressionImputer().fit_transform(X)[hole, 1]
    np.testing.assert_allclose(plain, offset + slope * x[hole], atol=1e-3)
    noisy = RegressionImputer(noise=True).fit_transform(X)[hole, 1]
    assert np.std(noisy - plain) == pytest.approx(1.0, abs=0.15)
    frame, _ = holed()
    assert not RegressionImputer().fit_transform(frame).isna().to_numpy().any()
    assert not hasattr(RegressionImputer, "draws_")


def test_iari_orders_columns_by_importance_and_visits_each_once() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200), rng.normal(size=200) + 3 * y, rng.normal(size=200)])
    truth = X.copy()
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = truth[:, 2]
    seen: list[str] = []
    model = IARIImputer(20)
    with model._reporting_to(seen.append):
        model.fit(X, y)
    assert seen[2:] == ["column 1 of 2: x1", "column 2 of 2: x0"]  # with y: the informative first
    reads = {step.column: step.reads.tolist() for step in model._fitted.steps}
    first, second = (step.column for step in model._fitted.steps)
    assert reads == {first: [2], second: [2, first]}
    hole = np.isnan(X[:, 1])
    by_class = model.fit_transform(X, y)[hole, 1] - truth[hole, 1]
    without = model.transform(X)[hole, 1] - truth[hole, 1]
    assert (by_class**2).mean() < 0.8 * (without**2).mean()


def test_repair_takes_the_column_with_the_best_score() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    X = np.column_stack([x, rng.normal(size=150), x + 0.1 * rng.normal(size=150)])
    X[:20, 1] = X[20:50, 2] = np.nan
    assert IARIImputer(10, order="score").fit(X).order_ == ["x2", "x1"]
    assert IARIImputer(10).fit(X).order_ == ["x1", "x2"]  # fewest holes, without labels
