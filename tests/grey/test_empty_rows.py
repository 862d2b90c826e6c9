"""Rows without any cell, or without those that tell: they decide nothing about the others."""

import numpy as np
import pytest

from greyfill import GreyImputer


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_rows_that_tell_nothing_rule_out_no_candidate(seed: int) -> None:
    """Two columns follow the class, and few rows lack both: once all fills were the mean."""
    rng = np.random.default_rng(seed)
    ill = rng.random(400) < 0.4
    crp = np.where(ill, 60, 8) + rng.normal(0, 15, 400)
    X = np.column_stack([crp, np.where(ill, 12, 7) + rng.normal(0, 1.5, 400)])
    X[rng.random(X.shape) < 0.1] = np.nan
    assert 0 < np.isnan(X).all(axis=1).sum() < 10
    imputer = GreyImputer().fit(X, np.where(ill, "ill", "well"))
    assert all(trust.explained > 0.3 for trust in imputer.trust_.values())
    well, sick = imputer.transform([[np.nan, 5.0], [np.nan, 14.0]])[:, 0]
    assert sick - well > 30


def test_neighbors_stay_where_a_row_lacks_what_they_go_by() -> None:
    """A parabola, which no regression on all rows follows; some rows have one of two cells."""
    x = np.random.default_rng(0).uniform(-1, 1, 200)
    X = np.column_stack([x, x**2])
    X[:12, 0] = X[12:24, 1] = np.nan
    imputer = GreyImputer(labels="none").fit(X)
    assert imputer.trust_["x1"].explained > 0.7
    ends, middle = imputer.transform([[-0.95, np.nan], [0.0, np.nan]])[:, 1]
    assert middle < 0.1
    assert ends > 0.8
