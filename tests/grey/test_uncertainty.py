"""Held-out cells, limits and draws: what they promise for each kind of row."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import greyfill
from greyfill._grey.calibration import ENOUGH, Scores
from greyfill._grey.selection import PanelChoice
from greyfill._grey.uncertainty import Calibration, HeldOutRows, is_beyond, overimpute


def mixed_table(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A number and a category follow another number, all with holes; two classes follow it, too."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    table = {"a": x, "b": x + 0.5 * rng.normal(size=n), "c": np.where(x > 0, "u", "v")}
    labels = np.where(x + 0.5 * rng.normal(size=n) > 0, "ill", "well")
    return pd.DataFrame(table).mask(rng.random((n, 3)) < 0.2), labels


@pytest.mark.parametrize("has_classes", [True, False])
def test_held_out_cells_are_observed_ones_and_lie_within_their_limits(has_classes: bool) -> None:
    X, y = mixed_table()
    fitted = greyfill.GreyImputer(n_cells=120).fit(X, y if has_classes else None)._fitted
    for j in range(3):
        found = overimpute(fitted, j, level=0.8)
        table = fitted.donors.table
        assert len(found.rows) == len(np.unique(found.rows)) == 120
        assert not table.missing[found.rows, j].any()
        np.testing.assert_array_equal(found.truth, table.values[found.rows, j])
        if j == 2:
            inside = [code in held for code, held in zip(found.truth, found.sets, strict=True)]
            right = found.truth == found.predicted
            assert found.probabilities[right].min() >= 0.5 >= found.probabilities[~right].max()
        else:
            inside = (found.low <= found.truth) & (found.truth <= found.high)
            assert len(found.sets) == len(found.probabilities) == 0
        assert np.mean(inside) >= 0.78
        assert np.corrcoef(found.truth, found.predicted)[0, 1] > 0.6


def test_a_held_out_cell_is_predicted_without_its_own_row() -> None:
    X, y = mixed_table()
    fitted = greyfill.GreyImputer(n_cells=120).fit(X, y)._fitted
    before = overimpute(fitted, 0)
    fitted.donors.table.values[before.rows[0], 0] += 100.0
    after = overimpute(fitted, 0)
    assert after.truth[0] == before.truth[0] + 100.0
    assert after.predicted[0] == before.predicted[0]


# ---------------------------------------------------------------------------- classes and places


def two_noises(n: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A column with holes, of noise 0.3 or 2 by class, beside another; the truth; the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    whole = np.column_stack([np.array([0.3, 2.0])[y] * rng.normal(size=n), rng.normal(size=n)])
    X = whole.copy()
    X[rng.random(n) < 0.4, 0] = np.nan
    return X, whole, y


def inside(found: dict, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the holes in the first column, whether its limits hold the truth, and widths."""
    rows, low, high = (np.array(found[name]) for name in ("rows", "low", "high"))
    return rows, (low <= truth[rows]) & (truth[rows] <= high), high - low


def test_limits_hold_in_each_class_and_are_as_wide_as_its_noise() -> None:
    covered, widths = np.zeros((2, 3)), np.zeros((2, 3))
    for seed in range(3):
        X, whole, y = two_noises(seed=seed)
        found = greyfill.GreyImputer().fit(X, y)._interval_lists(X, y)
        rows, holds, width = inside(found, whole[:, 0])
        for label in (0, 1):
            covered[label, seed] = holds[y[rows] == label].mean()
            widths[label, seed] = width[y[rows] == label].mean()
    assert (np.abs(covered.mean(axis=1) - 0.9) < 0.05).all()
    np.testing.assert_allclose(widths.mean(axis=1), 2 * 1.645 * np.array([0.3, 2.0]), rtol=0.2)


def test_each_class_has_the_quantile_of_its_own_residuals() -> None:
    rng = np.random.default_rng(1)
    n = 500
    y = np.arange(n) % 2
    noise = np.where(y == 1, rng.choice([-1.0, 1.0], size=n), rng.laplace(size=n))
    whole = np.column_stack([noise, rng.normal(size=n)])  # both have the mean |noise| 1
    X = whole.copy()
    X[rng.random(n) < 0.4, 0] = np.nan
    rows, holds, widths = inside(greyfill.GreyImputer().fit(X, y)._interval_lists(X, y), noise)
    assert holds[y[rows] == 1].mean() > 0.85
    assert abs(holds[y[rows] == 0].mean() - 0.9) < 0.06
    assert widths[y[rows] == 1].mean() < 2.8
    assert widths[y[rows] == 0].mean() > 3.8


def test_limits_without_a_class_are_between_those_of_the_classes() -> None:
    X, whole, y = two_noises()
    imputer = greyfill.GreyImputer().fit(X, y)
    rows, holds, without = inside(imputer._interval_lists(X), whole[:, 0])
    _, _, known = inside(imputer._interval_lists(X, y), whole[:, 0])
    assert abs(holds.mean() - 0.9) < 0.05
    assert known[y[rows] == 0].max() < np.median(without) < known[y[rows] == 1].max()


def test_draws_scatter_as_much_as_their_class() -> None:
    X, _, y = two_noises()
    drawn = np.concatenate(
        [t[np.isnan(X[:, 0]), 0] for t in greyfill.GreyImputer().fit(X, y).draw(X, 5, y)]
    )
    labels = np.tile(y[np.isnan(X[:, 0])], 5)
    assert 0.25 < drawn[labels == 0].std() < 0.36
    assert 1.7 < drawn[labels == 1].std() < 2.3


def test_limits_and_draws_follow_noise_that_grows() -> None:
    n, held, wide, scattered = 900, np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, w = rng.random(n), rng.normal(size=n)
        v = x + (0.1 + 0.9 * x) * rng.normal(size=n)
        X = np.column_stack([np.where(rng.random(n) < 0.4, np.nan, v), x, w])
        imputer = greyfill.GreyImputer().fit(X)
        rows, holds, widths = inside(imputer._interval_lists(X), v)
        drawn = np.array([table[rows, 0] - x[rows] for table in imputer.draw(X, 3)])
        for i, end in enumerate((x[rows] < 0.25, x[rows] > 0.75)):
            held[seed, i], wide[seed, i] = holds[end].mean(), widths[end].mean()
            scattered[seed, i] = drawn[:, end].std()
    assert ((held.mean(axis=0) > 0.82) & (held.mean(axis=0) <= 0.98)).all()
    assert (wide[:, 1] > 2.5 * wide[:, 0]).all()
    assert (scattered[:, 1] > 2.0 * scattered[:, 0]).all()


def test_sets_hold_each_true_level() -> None:
    hits: dict[float, list[bool]] = {0.0: [], 1.0: [], 2.0: []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=500)
        level = np.digitize(x + 0.7 * rng.normal(size=500), [-0.3, 0.3]).astype(float)
        X = np.column_stack([np.where(rng.random(500) < 0.4, np.nan, level), x])
        imputer = greyfill.GreyImputer(categorical_features=[0]).fit(X)
        found = imputer._interval_lists(X)
        assert np.mean([len(levels) for levels in found["levels"]]) < 2.6
        for row, levels in zip(found["rows"], found["levels"], strict=True):
            hits[level[row]].append(level[row] in levels)
    assert min(np.mean(some) for some in hits.values()) > 0.84


def test_limits_of_one_row_are_those_of_the_batch() -> None:
    X, y = mixed_table()
    imputer = greyfill.GreyImputer(n_cells=60).fit(X, y)
    for known in (y, None):
        whole = pd.DataFrame(imputer._interval_lists(X, known)).set_index(["rows", "columns"])
        for row in range(0, 60, 7):
            one = imputer._interval_lists(X.iloc[[row]], None if known is None else known[[row]])
            for column, *limits in zip(*list(one.values())[1:], strict=True):
                assert limits == whole.loc[(row, column)].where(lambda s: s.notna(), None).tolist()


# ---------------------------------------------------------------------------- scores


@given(
    scores=st.lists(st.integers(0, 30), min_size=0, max_size=90),
    seed=st.integers(0, 99),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.95]),
)
def test_quantiles_of_a_group_are_those_of_split_conformal(scores, seed, level) -> None:
    values = np.array(scores, dtype=float)
    groups = np.random.default_rng(seed).choice([2, 5], size=len(values), p=[0.4, 0.6])
    found = Scores.of(values, groups)
    for group, quantile in zip((2, 5, 9), found.of_groups(np.array([2, 5, 9]), level), strict=True):
        own = values[groups == group] if (groups == group).sum() >= ENOUGH else None
        if group == 9 or not (groups == group).any():
            own = values  # nothing of its own
        if own is None:
            continue
        needed = int(np.ceil(round((len(own) + 1) * level, 9)))
        expected = np.sort(own)[needed - 1] if needed <= len(own) else np.inf
        assert quantile == expected
    certain = np.eye(6)[[2, 5]]
    np.testing.assert_array_equal(
        found.mixed(certain, level), found.of_groups(np.array([2, 5]), level)
    )


def test_a_small_group_is_joined_by_others_and_a_mixture_lies_between() -> None:
    scores = Scores.of(np.append(np.full(100, 1.0), np.full(10, 5.0)), np.repeat([0, 1], [100, 10]))
    assert scores.of_groups(np.array([0, 1, 7]), 0.9).tolist() == [1.0, 5.0, 1.0]
    assert scores.of_groups(np.array([1]), 0.6).tolist() == [1.0]  # 20 of 30 cells are others'
    assert scores.mixed(np.array([[0.95, 0.05], [0.5, 0.5]]), 0.9).tolist() == [1.0, 5.0]


def test_what_a_choice_of_panels_flatters_is_added() -> None:
    choice = PanelChoice(
        0, np.zeros(0, int), {}, 0.0, (), error=4.0, residuals=np.array([3.0, -3.0])
    )
    assert choice.optimism == 1.5
    assert replace(choice, residuals=np.array([1.0])).optimism == 1.0
    assert replace(choice, residuals=np.zeros(0)).optimism == 1.0
    X, _, y = two_noises()
    imputer = greyfill.GreyImputer().fit(X, y)
    found = imputer._fitted.choices[0]
    doubled = replace(found, error=float(np.mean(found.residuals**2)) / 4)  # an optimism of 2
    other = replace(
        imputer._fitted, choices={**imputer._fitted.choices, 0: doubled}, _models={}, _held={}
    )
    narrow, wide = (overimpute(fitted, 0) for fitted in (imputer._fitted, other))
    inner = (wide.low > 0) & (wide.high < 1)
    chose = len(found.residuals) / len(imputer._fitted.donors.observed_rows(0))
    assert 0.5 < chose <= 1.0
    ratio = (1.0 + chose) / (1.0 + chose * (found.optimism - 1.0))
    np.testing.assert_allclose(
        (wide.high - wide.low)[inner], ratio * (narrow.high - narrow.low)[inner]
    )
    hole = np.isnan(X[:, 0])
    imputer._fitted._held.clear()
    before = imputer.draw(X, 1, y)[0][hole, 0].std()
    imputer._fitted = other
    assert imputer.draw(X, 1, y)[0][hole, 0].std() > 1.4 * before


def test_the_ends_of_the_range_count_as_missed() -> None:
    X, _, _ = two_noises(100)
    fitted = greyfill.GreyImputer().fit(X)._fitted
    scores = Calibration.of(HeldOutRows.of(fitted), 0, True).scores.scores
    assert np.isinf(scores).tolist() == [False] * (len(scores) - 2) + [True] * 2
    x = np.array([0.0, 0.5, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(is_beyond(x, x), [True, False, False, False, False])
    assert not is_beyond(x[:0], x[:0]).any()
