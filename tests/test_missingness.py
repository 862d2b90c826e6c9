"""Masks meet their rate and mechanism; Little's test has its size and power."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.special import expit
from scipy.stats import kstest
from sklearn.linear_model import Ridge

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.missingness import hide, little_test, mar, mcar, missingness_test, nmar
from greyfill.missingness.mechanisms import Draw, solve_intercept
from greyfill.table import Column, Kind, Table

MECHANISMS = {"mcar": mcar, "mar": mar, "nmar": nmar}


def numeric_table(values, missing=None, names="abcdefgh"):
    values = np.asarray(values, dtype=float)
    missing = np.zeros(values.shape, bool) if missing is None else np.asarray(missing)
    columns = tuple(Column(names[j], Kind.NUMERIC) for j in range(values.shape[1]))
    return Table(np.where(missing, 0.0, values), missing, columns)


def mixed_table(n, seed, rate=0.0):
    rng = np.random.default_rng(seed)
    values = np.column_stack(
        [rng.normal(size=n), rng.gamma(2.0, size=n), rng.integers(0, 3, n), rng.integers(0, 4, n)]
    )
    missing = rng.random((n, 4)) < rate
    columns = (
        Column("size", Kind.NUMERIC),
        Column("cost", Kind.NUMERIC),
        Column("color", Kind.CATEGORICAL, 3),
        Column("grade", Kind.ORDINAL, 4),
    )
    return Table(np.where(missing, 0.0, values), missing, columns)


tables = st.builds(
    mixed_table,
    n=st.integers(20, 60),
    seed=st.integers(0, 2**16),
    rate=st.sampled_from([0.0, 0.1, 0.3]),
)
mechanisms = st.sampled_from(sorted(MECHANISMS))
rates = st.floats(0.0, 0.45)
seeds = st.integers(0, 2**16)


# -- every mechanism -------------------------------------------------------------------------


@given(tables, mechanisms, rates, seeds)
@settings(max_examples=60, deadline=None)
def test_exact_masks_hit_the_rate_and_only_observed_cells(table, name, rate, seed):
    mask = MECHANISMS[name](table, rate, random_state=seed)
    assert not (mask & table.missing).any()
    eligible = (~table.missing).sum(axis=0)
    assert mask.sum(axis=0).tolist() == [round(rate * int(n)) for n in eligible]


@given(tables, mechanisms, rates, st.booleans(), seeds)
@settings(max_examples=60, deadline=None)
def test_no_row_or_column_is_emptied_and_seeds_repeat(table, name, rate, exact, seed):
    first = MECHANISMS[name](table, rate, exact=exact, random_state=seed)
    second = MECHANISMS[name](table, rate, exact=exact, random_state=seed)
    hidden = hide(table, first)
    assert np.array_equal(first, second)
    assert not (hidden.missing.all(axis=1) & ~table.missing.all(axis=1)).any()
    assert not hidden.missing.all(axis=0).any()


@pytest.mark.parametrize("name", MECHANISMS)
def test_bernoulli_masks_meet_the_rate_in_expectation(name):
    table = mixed_table(4000, seed=1, rate=0.1)
    mask = MECHANISMS[name](table, 0.2, exact=False, random_state=2)
    eligible = (~table.missing).sum(axis=0)
    # sd of a share of 0.2 among 3600 cells is sqrt(0.16 / 3600) = 0.0067; allow four of them
    assert np.abs(mask.sum(axis=0) / eligible - 0.2).max() < 0.027
    assert not (mask & table.missing).any()
    assert len(set(mask.sum(axis=0).tolist())) > 1


@pytest.mark.parametrize("name", MECHANISMS)
def test_only_chosen_columns_get_holes(name):
    table = mixed_table(50, seed=3)
    mask = MECHANISMS[name](table, 0.3, ["cost", 3], random_state=0)
    assert mask.sum(axis=0).tolist() == [0, 15, 0, 15]


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.7, float("nan"), "0.2"])
def test_bad_rates_are_named(name, rate):
    with pytest.raises(InvalidParameterError, match=str(rate)):
        MECHANISMS[name](mixed_table(20, 0), rate)


@pytest.mark.parametrize("name", MECHANISMS)
def test_bad_columns_are_named(name):
    table = mixed_table(20, 0)
    with pytest.raises(InvalidParameterError, match=r"'weight'.*size, cost, color, grade"):
        MECHANISMS[name](table, 0.1, ["cost", "weight"])
    with pytest.raises(InvalidParameterError, match=r"\[9\]"):
        MECHANISMS[name](table, 0.1, [9])
    with pytest.raises(InvalidParameterError, match=r"\['cost'\]"):
        MECHANISMS[name](table, 0.1, "cost")
    with pytest.raises(InvalidParameterError, match="empty"):
        MECHANISMS[name](table, 0.1, [])


# -- keep_one ----------------------------------------------------------------------------------


@given(st.integers(2, 4), st.integers(2, 12), seeds)
@settings(max_examples=60, deadline=None)
def test_the_highest_feasible_rate_is_met(p, n, seed):
    # n rows of p cells can lose n(p-1) cells, that is rate (p-1)/p in each column, when p | n
    table = numeric_table(np.zeros((n * p, p)))
    mask = mcar(table, (p - 1) / p, random_state=seed)
    assert (mask.sum(axis=1) == p - 1).all()
    assert (mask.sum(axis=0) == n * (p - 1)).all()


def a_mask_exists(draw, open_cells, observed):
    """Each row that could lose all is matched with a cell to keep; n - holes are kept a column."""
    slots = open_cells.sum(axis=0) - draw.counts(open_cells)
    rows = (observed & open_cells).any(axis=1) & ~(observed & ~open_cells).any(axis=1)
    cells = np.repeat(open_cells[rows], slots, axis=1)
    matched = maximum_bipartite_matching(csr_array(cells.astype(int)), perm_type="column")
    return bool((matched >= 0).all())


@given(st.integers(2, 5), st.integers(3, 12), st.floats(0.3, 0.8), st.booleans(), seeds)
@settings(max_examples=300, deadline=None)
def test_a_rate_is_refused_only_where_no_mask_exists(p, n, rate, some_closed, seed):
    rng = np.random.default_rng(seed)
    observed = rng.random((n, p)) < 0.7
    open_cells = observed & (rng.random((n, p)) < (0.9 if some_closed else 1.0))
    draw = Draw(rate)
    if not a_mask_exists(draw, open_cells, observed):
        with pytest.raises(InvalidParameterError, match="keep_one=False"):
            draw.holes(rng.normal(size=(n, p)), open_cells, open_cells, observed, rng)
        return
    mask = draw.holes(rng.normal(size=(n, p)), open_cells, open_cells, observed, rng)
    assert not (mask & ~open_cells).any()
    assert (mask.sum(axis=0) == draw.counts(open_cells)).all()
    assert ((observed & ~mask).any(axis=1) | ~observed.any(axis=1)).all()


def test_holes_are_passed_on_where_no_row_takes_them_at_once():
    table = mixed_table(20, seed=496, rate=0.3)
    mask = mar(table, 0.4375, random_state=496)
    assert (hide(table, mask).missing.all(axis=1) == table.missing.all(axis=1)).all()


def test_an_impossible_rate_is_refused():
    # 10 rows of 2 cells, 6 holes a column: 12 holes, but only 10 rows can lose one
    with pytest.raises(InvalidParameterError, match="keep_one=False"):
        mcar(numeric_table(np.zeros((10, 2))), 0.6)
    mask = mcar(numeric_table(np.zeros((10, 2))), 0.6, keep_one=False, random_state=0)
    assert mask.sum(axis=0).tolist() == [6, 6]


def test_the_last_cell_of_a_column_stays():
    table = numeric_table(np.zeros((3, 2)), [[False, False], [False, True], [False, True]])
    assert mcar(table, 0.9, ["b"], random_state=0).sum() == 0
    assert mcar(table, 0.9, ["b"], keep_one=False, random_state=0).sum() == 1


def test_bernoulli_puts_back_what_would_be_lost():
    table = numeric_table(np.zeros((200, 2)))
    mask = mcar(table, 0.9, exact=False, random_state=0)
    assert (mask.sum(axis=1) <= 1).all()
    assert mcar(table, 0.9, exact=False, keep_one=False, random_state=0).all(axis=1).any()


# -- mechanisms --------------------------------------------------------------------------------


def test_mcar_is_uniform_over_cells():
    table = numeric_table(np.arange(20.0).reshape(10, 2))
    hits = sum(mcar(table, 0.3, random_state=seed).astype(int) for seed in range(1000))
    # each cell is hidden in about 300 of 1000 draws, sd sqrt(1000 * 0.3 * 0.7) = 14.5
    assert np.abs(hits - 300).max() < 65


def test_solved_intercept_gives_the_rate():
    scores = np.random.default_rng(0).normal(scale=3.0, size=500)
    for rate in (0.01, 0.2, 0.9):
        assert expit(scores + solve_intercept(scores, rate)).mean() == pytest.approx(rate, abs=1e-9)
    assert expit(scores + solve_intercept(scores, 1.0)).tolist() == [1.0] * 500
    assert expit(scores + solve_intercept(scores, 0.0)).tolist() == [0.0] * 500
    # two rows, eta = 0 and ln 3, c = 0: probabilities 1/2 and 3/4, mean 5/8
    assert solve_intercept(np.array([0.0, np.log(3.0)]), 5 / 8) == pytest.approx(0.0, abs=1e-9)


def test_mar_follows_its_logistic_model():
    x = np.repeat([0.0, 1.0], 20_000)
    table = numeric_table(np.column_stack([x, x]))
    mask = mar(table, 0.3, ["b"], coefficients=[1.0], exact=False, random_state=0)[:, 1]
    # z = -1 and +1, beta = 1: the log odds of the two halves differ by 2
    share = mask[:20_000].mean(), mask[20_000:].mean()
    odds = [np.log(s / (1 - s)) for s in share]
    assert odds[1] - odds[0] == pytest.approx(2.0, abs=0.1)
    assert mask.mean() == pytest.approx(0.3, abs=0.01)


def test_strength_is_the_deviation_of_the_scores():
    rng = np.random.default_rng(0)
    table = numeric_table(rng.normal(size=(20_000, 3)))
    weak = mar(table, 0.2, ["c"], strength=0.0, random_state=1)[:, 2]
    strong = mar(table, 0.2, ["c"], strength=3.0, random_state=1)[:, 2]

    def gap(mask):
        return np.abs(table.values[mask, :2].mean(axis=0) - table.values[~mask, :2].mean(axis=0))

    assert gap(weak).max() < 0.06
    assert gap(strong).max() > 0.5


@given(tables, st.floats(0.05, 0.45), st.booleans(), seeds)
@settings(max_examples=60, deadline=None)
def test_mar_ignores_the_values_it_hides(table, rate, exact, seed):
    """Eq (5), literally: other values in the hidden cells give the same mask."""
    mask = mar(table, rate, exact=exact, random_state=seed)
    values = table.values.copy()
    changed = np.random.default_rng(seed).integers(0, 3, values.shape)
    values[mask] = changed[mask]
    again = mar(table.with_values(values), rate, exact=exact, random_state=seed)
    assert np.array_equal(mask, again)


@given(tables, st.floats(0.05, 0.45), seeds)
@settings(max_examples=40, deadline=None)
def test_mar_with_predictors_ignores_every_other_column(table, rate, seed):
    mask = mar(table, rate, ["cost", "grade"], ["size"], random_state=seed)
    values = table.values.copy()
    values[:, 1:] = np.random.default_rng(seed).integers(0, 3, values[:, 1:].shape)
    again = mar(table.with_values(values), rate, ["cost", "grade"], ["size"], random_state=seed)
    assert np.array_equal(mask, again)
    assert not mask[:, [0, 2]].any()


def test_mar_depends_on_the_predictor_and_not_on_the_value_given_it():
    rng = np.random.default_rng(4)
    group = rng.integers(0, 2, 20_000).astype(float)
    value = group + rng.normal(size=20_000)
    table = Table(
        np.column_stack([group, value]),
        np.zeros((20_000, 2), bool),
        (Column("group", Kind.CATEGORICAL, 2), Column("value", Kind.NUMERIC)),
    )
    mask = mar(table, 0.3, ["value"], coefficients=[0.0, 2.0], random_state=5)[:, 1]
    assert mask[group == 1].mean() - mask[group == 0].mean() > 0.3
    for g in (0, 1):
        own = group == g
        assert value[own & mask].mean() == pytest.approx(value[own & ~mask].mean(), abs=0.06)


def test_mar_on_all_columns_depends_on_seen_cells():
    rng = np.random.default_rng(6)
    x = rng.normal(size=5000)
    table = numeric_table(np.column_stack([x, x + 0.1 * rng.normal(size=5000)]))
    mask = mar(table, 0.2, strength=4.0, random_state=7)
    assert mask.sum(axis=0).tolist() == [1000, 1000]
    assert not mask.all(axis=1).any()
    assert abs(x[mask[:, 0]].mean() - x[~mask[:, 0]].mean()) > 0.4


def test_mar_needs_a_cell_that_stays():
    with pytest.raises(InvalidParameterError, match="too high"):
        mar(numeric_table(np.arange(10.0)[:, None]), 0.1)
    with pytest.raises(InvalidParameterError, match="too high"):
        mar(numeric_table(np.arange(20.0).reshape(10, 2)), 0.8)


def test_mar_roles_are_checked():
    table = mixed_table(20, 0)
    with pytest.raises(InvalidParameterError, match=r"\['cost'\] cannot both"):
        mar(table, 0.1, ["cost"], ["cost", "size"])
    with pytest.raises(InvalidParameterError, match="every column is a predictor"):
        mar(table, 0.1, predictors=["size", "cost", "color", "grade"])
    with pytest.raises(InvalidParameterError, match="predictors"):
        mar(table, 0.1, predictors=["weight"])
    # size, cost and three colors are five parts
    with pytest.raises(InvalidParameterError, match=r"\(2, 1\).*\(5,\)"):
        mar(table, 0.1, ["grade"], coefficients=[1.0, 2.0])
    with pytest.raises(InvalidParameterError, match="inf"):
        mar(table, 0.1, strength=float("inf"))


def test_predictors_alone_leave_the_other_columns_as_targets():
    mask = mar(mixed_table(40, 0), 0.25, predictors=["size", "color"], random_state=0)
    assert mask.sum(axis=0).tolist() == [0, 10, 0, 10]


def test_nmar_hides_high_or_low_values():
    table = mixed_table(2000, seed=8)
    high = nmar(table, 0.2, ["size"], strength=2.0, random_state=0)[:, 0]
    low = nmar(table, 0.2, ["size"], strength=-2.0, random_state=0)[:, 0]
    size = table.values[:, 0]
    assert size[high].mean() > 0.7
    assert size[low].mean() < -0.7


def test_nmar_prefers_some_categories():
    table = mixed_table(3000, seed=9)
    mask = nmar(table, 0.2, ["color"], strength=2.0, random_state=1)[:, 2]
    shares = [mask[table.values[:, 2] == v].mean() for v in range(3)]
    assert max(shares) > 2 * min(shares)


def test_hide_marks_cells_and_leaves_the_table_alone():
    table = numeric_table([[1.0, 2.0], [3.0, 4.0]], [[False, True], [False, False]])
    hidden = hide(table, np.array([[True, False], [False, False]]))
    assert hidden.missing.tolist() == [[True, True], [False, False]]
    assert hidden.values.tolist() == [[0.0, 0.0], [3.0, 4.0]]
    assert table.values[0, 0] == 1.0
    with pytest.raises(InvalidDataError, match=r"\(1, 2\)"):
        hide(table, np.zeros((1, 2), bool))


# -- Little's test -----------------------------------------------------------------------------


def test_little_by_hand():
    """Column a complete, b missing in the last two rows: the likelihood factors as p(a) p(b | a).

    a: mean 31/6, variance 251/6 - (31/6)^2 = 545/36.
    b given a, from the four complete rows: slope 3/5, intercept 2.5 - 0.6 * 2.5 = 1,
    so the mean of b is 1 + 0.6 * 31/6 = 4.1.
    Complete rows: gap of a is 2.5 - 31/6 = -8/3, of b 2.5 - 4.1 = -1.6 = 0.6 * (-8/3): nothing is
    left given a, so they add 4 (8/3)^2 / (545/36). The two others add 2 (10.5 - 31/6)^2 / (545/36).
    """
    values = [[1, 2], [2, 1], [3, 4], [4, 3], [10, 0], [11, 0]]
    missing = np.zeros((6, 2), bool)
    missing[4:, 1] = True
    result = little_test(numeric_table(values, missing), tol=1e-12)
    expected = (4 * (8 / 3) ** 2 + 2 * (16 / 3) ** 2) / (545 / 36)
    assert result.statistic == pytest.approx(expected, rel=1e-6)
    assert (result.dof, result.n_patterns) == (1, 2)


def gaussian_table(seed, n=150):
    rng = np.random.default_rng(seed)
    return numeric_table(rng.normal(size=(n, 3)) @ [[1.0, 0.5, 0.2], [0.0, 1.0, 0.6], [0, 0, 1.0]])


def test_little_has_its_size_under_mcar():
    p_values = []
    for seed in range(120):
        table = gaussian_table(seed)
        p_values.append(little_test(hide(table, mcar(table, 0.15, random_state=seed))).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) < 0.05) < 0.13


@pytest.mark.parametrize("columns", [["b", "c"], None])
def test_little_rejects_strong_mar(columns):
    p_values = []
    for seed in range(10):
        table = gaussian_table(seed, n=400)
        mask = mar(table, 0.2, columns, strength=4.0, random_state=seed)
        p_values.append(little_test(hide(table, mask)).p_value)
    assert np.median(p_values) < 0.001


@given(st.integers(0, 1000), st.floats(0.01, 100.0), st.floats(-50.0, 50.0))
@settings(max_examples=20, deadline=None)
def test_little_ignores_units(seed, scale, shift):
    table = gaussian_table(seed, n=60)
    table = hide(table, mcar(table, 0.2, random_state=seed))
    moved = table.with_values(table.values * scale + shift)
    first, second = little_test(table, tol=1e-9), little_test(moved, tol=1e-9)
    assert first.statistic == pytest.approx(second.statistic, rel=1e-4)
    assert first.dof == second.dof


def test_little_survives_a_repeated_and_a_constant_column():
    table = gaussian_table(0)
    table = hide(table, mcar(table, 0.2, ["b", "c"], random_state=0))
    twice = np.array([0, 1, 2, 2])
    wide = Table(table.values[:, twice], table.missing[:, twice], gaussian_columns(4))
    plain, doubled = little_test(table, tol=1e-9), little_test(wide, tol=1e-9)
    assert doubled.statistic == pytest.approx(plain.statistic, rel=1e-4)
    assert doubled.dof == plain.dof
    constant = Table(
        np.column_stack([table.values, np.ones(table.n_rows)]),
        np.column_stack([table.missing, np.zeros(table.n_rows, bool)]),
        gaussian_columns(4),
    )
    assert little_test(constant, tol=1e-9).dof == plain.dof


def test_little_takes_a_rounded_constant_for_one():
    """The mean of ten 0.1 is not 0.1."""

    def of(constant):
        values = np.column_stack(
            [np.random.default_rng(0).normal(size=(20, 2)), np.full(20, constant)]
        )
        missing = np.zeros(values.shape, bool)
        missing[10:, 2] = missing[[0, 10], 0] = True
        return little_test(Table(np.where(missing, 0, values), missing, gaussian_columns(3)))

    assert of(0.1).dof == of(1.0).dof
    assert of(0.1).statistic == pytest.approx(of(1.0).statistic)


@pytest.mark.parametrize(("y", "n_classes"), [([0.5, np.nan, 1.0], 0), ([0, -1, 1], 2)])
def test_the_missingness_test_refuses_y_with_holes(y, n_classes):
    with pytest.raises(InvalidDataError, match="y has missing values"):
        missingness_test(np.eye(3, dtype=bool), np.array(y), n_classes)


def test_one_value_of_y_tells_nothing():
    found = missingness_test(np.random.default_rng(0).random((60, 2)) < 0.3, np.ones(60))
    assert (found.explained, found.p_value) == (0.0, 1.0)


def gaussian_columns(p):
    return tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(p))


def test_little_on_categories_does_not_depend_on_their_order():
    table = mixed_table(200, seed=10)
    table = hide(table, mcar(table, 0.2, random_state=0))
    turned = table.values.copy()
    turned[:, 2] = (turned[:, 2] + 1) % 3
    first, second = little_test(table), little_test(table.with_values(turned))
    assert first.statistic == pytest.approx(second.statistic, rel=1e-3)
    assert first.dof == second.dof
    assert 0.0 < first.p_value < 1.0


def test_little_without_a_question():
    assert little_test(gaussian_table(0)).p_value == 1.0
    assert little_test(gaussian_table(0)).dof == 0
    empty = numeric_table(np.zeros((3, 1)), np.ones((3, 1), bool))
    with pytest.raises(InvalidDataError, match="no observed cell"):
        little_test(empty)
    with pytest.raises(InvalidDataError, match=r"not ndarray.*greyfill\.frames\.encode"):
        little_test(np.eye(3))


def test_holes_that_tell_of_y_are_found_and_others_not() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    telling = rng.random((200, 3)) < 0.1 + 0.4 * y[:, None] * [1, 0, 0]
    found = missingness_test(telling, y, 2)
    assert found.p_value == 1 / 500
    assert found.explained > 0.05
    idle = [
        missingness_test(rng.random((100, 3)) < 0.3, y[:100], 2, n=99).p_value for _ in range(60)
    ]
    assert sum(p <= 0.1 for p in idle) <= 14  # of 60, 6 are expected; 15 have p < 0.001


@pytest.mark.parametrize("classifies", [True, False])
def test_the_missingness_test_is_a_cross_validated_ridge(classifies: bool) -> None:
    """The slow twin: scikit-learn's ridge on each fold of the same permutation of the rows."""
    rng = np.random.default_rng(3)
    missing, y = rng.random((90, 4)) < 0.3, np.arange(90) % 3
    response = y + 2.0 * missing[:, 0] + rng.normal(size=90)
    targets = np.eye(3)[y] if classifies else response[:, None]
    twin = np.random.default_rng(0)
    for _ in range(9):
        twin.permutation(90)
    fold_of = twin.permutation(90) % 5
    mask, lost, usual = missing.astype(float), 0.0, 0.0
    for fold in range(5):
        test = fold_of == fold
        model = Ridge(alpha=1.0).fit(mask[~test], targets[~test])
        predicted = model.predict(mask[test]).reshape(test.sum(), -1)
        lost += ((targets[test] - predicted) ** 2).sum()
        usual += ((targets[test] - targets[~test].mean(axis=0)) ** 2).sum()
    found = missingness_test(missing, y if classifies else response, 3 * classifies, n=9)
    assert found.explained == pytest.approx(1 - lost / usual)
