"""The joint engine against its equations, its twins and what must never happen."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from greyfill import EMBImputer, EMImputer, MICEImputer, MissPALassoImputer, NormImputer, pool
from greyfill._joint.joint_model import MOST_TOGETHER, JointCode
from greyfill._joint.joint_normal import (
    JITTER,
    JointNormal,
    JointSettings,
    fit_normal,
    fit_sparse,
    regress,
)
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Kind, Table


def holed(n: int = 200, p: int = 4, seed: int = 0, rate: float = 0.2) -> tuple[Any, Any]:
    """Correlated normal columns with holes, and without."""
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=(n, p))
    hole = rng.random((n, p)) < rate
    hole[0] = False
    return np.where(hole, np.nan, whole), whole


def slow_expectation(mean: Any, cov: Any, row: Any, hole: Any) -> tuple[Any, Any, float]:
    """x̂, C and the log-density of what is observed, as the textbook has them."""
    cov, seen = cov + JITTER * np.eye(len(mean)), ~hole
    away = row[seen] - mean[seen]
    weights = np.linalg.solve(cov[np.ix_(seen, seen)], cov[np.ix_(seen, hole)])
    expected = mean[hole] + weights.T @ away
    rest = cov[np.ix_(hole, hole)] - cov[np.ix_(hole, seen)] @ weights
    inverse = np.linalg.inv(cov[np.ix_(seen, seen)])
    density = -0.5 * (seen.sum() * np.log(2 * np.pi) + away @ inverse @ away)
    return expected, rest, density - 0.5 * np.linalg.slogdet(cov[np.ix_(seen, seen)])[1]


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), rate=st.sampled_from([0.1, 0.5, 0.9]))
def test_one_step_is_that_of_the_textbook(seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    q, n = int(rng.integers(1, 7)), 12
    root, mean = rng.normal(size=(q, q)), rng.normal(size=q)
    theta = JointNormal(np.arange(q), mean, root @ root.T + 0.1 * np.eye(q))
    hole = rng.random((n, q)) < rate
    z = np.where(hole, 0.0, rng.normal(size=(n, q)))
    filled, second, likelihood = z.copy(), np.zeros((q, q)), 0.0
    for i in range(n):
        expected, rest, density = slow_expectation(mean, theta.covariance, z[i], hole[i])
        filled[i, hole[i]] = expected
        second[np.ix_(hole[i], hole[i])] += rest
        likelihood += density
    np.testing.assert_allclose(theta.expect(z, hole), filled, rtol=1e-6, atol=1e-7)
    _, history, _ = fit_normal(z, hole, np.arange(q), JointSettings(max_iter=1, prior=0))
    start = JointNormal(np.arange(q), np.zeros(q), np.eye(q))
    assert history[0] == pytest.approx(
        sum(slow_expectation(start.mean, start.covariance, z[i], hole[i])[2] for i in range(n))
    )


def test_the_likelihood_never_falls_and_theta_is_the_truth() -> None:
    X, _ = holed(3000, 3)
    model = EMImputer(prior=0, tol=1e-7).fit(X)
    assert model.converged_
    assert (np.diff(model.log_likelihood_) >= -1e-6).all()
    assert len(model.log_likelihood_) == model.n_iter_ > 3
    theta = model._fitted.thetas[0][0]
    scale = model._fitted.code.deviation * model._fitted.code.design.scaler.half_range
    rng = np.random.default_rng(0)
    rng.normal(size=(3000, 3))
    mixing = rng.normal(size=(3, 3))
    truth = mixing.T @ mixing + np.eye(3)
    np.testing.assert_allclose(theta.covariance * np.outer(scale, scale), truth, atol=0.35)


def test_regression_on_one_complete_column_is_least_squares() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    y = 2 * x + rng.normal(size=50)
    holes = np.arange(50) < 15
    X = np.column_stack([x, np.where(holes, np.nan, y)])
    slope, offset = np.polyfit(x[~holes], y[~holes], 1)
    filled = EMImputer(prior=0, tol=1e-10).fit_transform(X)
    np.testing.assert_allclose(filled[holes, 1], offset + slope * x[holes], rtol=1e-5)


def test_a_category_goes_to_its_likeliest_level_and_the_rest_to_the_first() -> None:
    x = np.repeat([0.0, 1.0, 2.0], 20)
    frame = pd.DataFrame({"x": x, "c": pd.array(np.repeat(["a", "b", "c"], 20), dtype="string")})
    frame["is_b"] = (x == 1.0) * 1.0
    frame.loc[[0, 20, 40], "c"] = None
    filled = EMImputer(prior=0).fit_transform(frame)
    assert filled.loc[[0, 20, 40], "c"].tolist() == ["a", "b", "c"]


def test_levels_that_nobody_has_are_never_drawn() -> None:
    rng = np.random.default_rng(0)
    levels = ["never", "a", "b"]
    cells = pd.Categorical(rng.choice(["a", "b"], 60), categories=levels)
    frame = pd.DataFrame({"x": rng.normal(size=60), "c": cells})
    frame.loc[::3, "c"] = None
    for imputer in (EMBImputer(5), NormImputer(5, n_iter=3)):
        assert all("never" not in set(draw["c"]) for draw in imputer.fit(frame).draws_)


def test_more_columns_than_fit_together_are_cut_into_blocks() -> None:
    columns = tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(MOST_TOGETHER + 50))
    values = np.random.default_rng(0).normal(size=(5, len(columns)))
    code = JointCode.learn(Table(values, np.zeros(values.shape, bool), columns))
    assert [len(block) for block in code.blocks] == [125, 125]


def test_lasso_is_that_of_scikit_learn_and_follows_its_conditions() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    X -= X.mean(axis=0)
    cov = X.T @ X / 80
    holes, seen = np.array([0, 3]), np.array([1, 2, 4, 5])
    for penalty in (0.0, 0.02, 0.1, 5.0):
        beta, rest = regress(cov, holes, seen, penalty, np.zeros((6, 6)))
        slope = cov[np.ix_(holes, seen)] - beta @ cov[np.ix_(seen, seen)]
        assert np.abs(slope).max() <= penalty + 1e-6
        np.testing.assert_allclose(slope[beta != 0], penalty * np.sign(beta[beta != 0]), atol=1e-6)
        error = X[:, holes] - X[:, seen] @ beta.T
        np.testing.assert_allclose(rest, error.T @ error / 80, atol=1e-9)
        if penalty > 0.0:
            other = Lasso(penalty, fit_intercept=False, tol=1e-10).fit(X[:, seen], X[:, holes])
            np.testing.assert_allclose(beta, other.coef_, atol=1e-5)


def test_no_penalty_is_em_and_a_large_one_the_mean() -> None:
    X, _ = holed(1000, 4)
    em = EMImputer(prior=0, tol=1e-8).fit_transform(X)
    free = MissPALassoImputer(penalty=0, tol=1e-6, max_iter=200).fit_transform(X)
    hole, spread = np.isnan(X), np.nanstd(X, axis=0)
    assert np.abs((free - em) / spread)[hole].max() < 0.02  # a pattern does not teach itself
    strict = MissPALassoImputer(penalty=100.0, tol=1e-9, max_iter=500).fit_transform(X)
    means = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    np.testing.assert_allclose(strict[hole], means[hole], atol=1e-6)


def test_the_penalty_is_chosen_by_hidden_cells_and_helps_where_columns_abound() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(40, 2))
    whole = factors @ rng.normal(size=(2, 60)) + 0.5 * rng.normal(size=(40, 60))
    X = np.where(rng.random(whole.shape) < 0.1, np.nan, whole)
    model = MissPALassoImputer(max_iter=10)
    filled, hole = model.fit_transform(X), np.isnan(X)
    assert model.penalty_ == min(model.penalty_errors_, key=model.penalty_errors_.__getitem__)
    mean = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    errors = [np.sqrt(((fill - whole)[hole] ** 2).mean()) for fill in (filled, mean)]
    assert errors[0] < 0.6 * errors[1]


def test_passes_do_not_let_a_pattern_teach_itself() -> None:
    z = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 0.0]])
    hole = np.array([[False, False], [False, False], [False, True]])
    normal, _ = fit_sparse(z, hole, np.arange(2), 0.0, JointSettings(max_iter=1))
    filled = normal.mean * 3 - z[:2].sum(axis=0)
    np.testing.assert_allclose(filled, [2.0, 2.0], atol=1e-6)  # the line of the other two rows


def means_and_variances(imputer: Any, X: Any) -> Any:
    draws = imputer.fit(X).draws_
    return pool([d.mean(axis=0) for d in draws], [d.var(axis=0, ddof=1) / len(d) for d in draws])


def test_draws_agree_with_each_other_and_with_chained_regressions() -> None:
    X, whole = holed(400, 3, rate=0.3)
    found = {
        imputer: means_and_variances(imputer, X)
        for imputer in (
            EMBImputer(20, random_state=1), NormImputer(20, n_iter=20),
            MICEImputer(20, n_iter=10, methods="norm"),
        )
    }  # fmt: skip
    for pooled in found.values():
        assert (np.abs(pooled.estimate - whole.mean(axis=0)) < 3 * pooled.std_error).all()
    errors = np.array([pooled.std_error for pooled in found.values()])
    assert (errors.max(axis=0) / errors.min(axis=0) < 1.25).all()
    middle = np.array([pooled.estimate for pooled in found.values()])
    assert (np.ptp(middle, axis=0) < errors.min(axis=0)).all()


def test_without_bootstrap_theta_is_that_of_em() -> None:
    X, _ = holed()
    drawn = EMBImputer(2, bootstrap=False, prior=0).fit(X)
    plain = EMImputer(prior=0).fit(X)._fitted.thetas[0][0]
    for theta in drawn._fitted.thetas:
        np.testing.assert_array_equal(theta[0].covariance, plain.covariance)
    boot = EMBImputer(2, prior=0).fit(X)._fitted.thetas
    assert not np.array_equal(boot[0][0].covariance, boot[1][0].covariance)


def test_draws_keep_within_bounds() -> None:
    X, _ = holed()
    low, high = np.nanquantile(X[:, 0], [0.3, 0.7])
    for imputer in (EMBImputer, NormImputer):
        model = imputer(3, bounds={"x0": (low, high)}).fit(X)
        for draw in [*model.draws_, model.transform(X)]:
            cells = draw[np.isnan(X[:, 0]), 0]
            assert ((cells >= low) & (cells <= high)).all()
        inside = [((d[np.isnan(X[:, 0]), 0] > low) & (d[np.isnan(X[:, 0]), 0] < high)).mean()
                  for d in model.draws_]  # fmt: skip
        assert min(inside) > 0.8  # drawn again, not cut off


def test_the_posterior_is_inverse_wishart() -> None:
    rng = np.random.default_rng(0)
    filled = rng.normal(size=(60, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    theta = JointNormal(np.arange(2), np.zeros(2), np.eye(2))
    draws = [theta.redraw(filled, JointSettings(prior=0), rng) for _ in range(3000)]
    away = filled - filled.mean(axis=0)
    expected = away.T @ away / (60 - 1 - 2 - 1)  # S / (df − q − 1)
    np.testing.assert_allclose(np.mean([d.covariance for d in draws], axis=0), expected, rtol=0.03)
    spread = np.var([d.mean for d in draws], axis=0)
    np.testing.assert_allclose(spread, np.diag(expected) / 60, rtol=0.1)


@pytest.mark.parametrize(
    ("imputer", "words"),
    [
        (EMImputer(prior=-1), "prior must be a number, at least 0 or 'auto'"),
        (MissPALassoImputer(penalty="big"), "penalty must be a number, at least 0 or 'auto'"),
        (EMBImputer(bootstrap="no"), "bootstrap must be True or False"),
        (NormImputer(n_iter=0), "n_iter must be an integer"),
        (EMBImputer(combine="median"), "combine must be one of"),
    ],
)
def test_strange_settings_are_refused(imputer: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        imputer.fit(holed()[0])


def test_a_prior_is_there_where_rows_are_few() -> None:
    assert JointSettings().prior_rows(30, 5) == 5.0
    assert JointSettings().prior_rows(100, 5) == 0.0
    assert JointSettings(prior=2).prior_rows(30, 5) == 2.0
