"""Errors by hand, distances by hand, and a naive Bayes that agrees with scikit-learn's two."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.metrics import (
    MixedNaiveBayes,
    distribution_distances,
    imputation_errors,
    total_variation,
)
from greyfill.table import Column, Kind, Table

COLUMNS = (
    Column("age", Kind.NUMERIC),
    Column("same", Kind.NUMERIC),
    Column("color", Kind.CATEGORICAL, 3),
    Column("grade", Kind.ORDINAL, 3),
)
nan = float("nan")


@pytest.fixture
def truth():
    values = np.array(
        [[10.0, 7.0, 0.0, 0.0], [20.0, 7.0, 1.0, 1.0], [30.0, 7.0, 2.0, 2.0], [50.0, 7.0, 0.0, 2.0]]
    )
    missing = np.zeros((4, 4), bool)
    missing[0, 1] = True
    return Table(np.where(missing, 0.0, values), missing, COLUMNS)


@pytest.fixture
def filled(truth):
    values = truth.values.copy()
    values[1] = [28.0, 7.5, 1.0, 2.0]
    values[2, [0, 2]] = [26.0, 0.0]
    return values


@pytest.fixture
def mask():
    mask = np.zeros((4, 4), bool)
    mask[1] = True
    mask[2, [0, 2]] = True
    return mask


# -- errors ------------------------------------------------------------------------------------


def test_errors_by_hand(truth, filled, mask):
    errors = imputation_errors(truth, filled, mask)
    # age: gaps 8 and -4, range 40: 0.2 and 0.1.  same: gap 0.5, constant, range 1: 0.5.
    # color: right and wrong: 0 and 1.  grade: one level off, range 2: 0.5.
    squares = 0.2**2 + 0.1**2 + 0.5**2 + 0.0 + 1.0 + 0.5**2
    assert errors.nrmse == pytest.approx(np.sqrt(squares / 6))
    assert errors.nrmse_all_cells == pytest.approx(np.sqrt(squares / 16))
    # numeric cells in units: 64 + 16 + 0.25 over three cells
    assert errors.rmse == pytest.approx(np.sqrt(80.25 / 3))
    # levels: color right, color wrong, grade wrong
    assert errors.wrong_share == pytest.approx(2 / 3)
    assert errors.n_cells == 6


def test_errors_of_each_column_by_hand(truth, filled, mask):
    by_column = imputation_errors(truth, filled, mask).by_column
    assert list(by_column) == ["age", "same", "color", "grade"]
    age = by_column["age"]
    assert age.rmse == pytest.approx(np.sqrt((64 + 16) / 2))
    assert age.nrmse == pytest.approx(age.rmse / 40)
    assert age.nrmse_all_cells == pytest.approx(age.nrmse * np.sqrt(2 / 4))
    assert np.isnan(age.wrong_share)
    assert by_column["color"].wrong_share == 0.5
    assert by_column["color"].nrmse == pytest.approx(np.sqrt(0.5))
    assert np.isnan(by_column["color"].rmse)
    assert np.isnan(by_column["grade"].rmse)
    assert by_column["grade"].by_column == {}


def test_all_cell_reading_of_categories_is_root_of_rate_times_error_share():
    codes = np.zeros((10, 2))
    table = Table(codes, np.zeros((10, 2), bool), (COLUMNS[2], Column("sex", Kind.CATEGORICAL, 2)))
    mask = np.zeros((10, 2), bool)
    mask[:2] = True
    filled = codes.copy()
    filled[0, 0] = 1.0
    # 4 of 20 cells masked (rate 0.2), 1 of 4 wrong (share 0.25)
    errors = imputation_errors(table, filled, mask)
    assert errors.nrmse_all_cells == pytest.approx(np.sqrt(0.2 * 0.25))


def test_columns_without_masked_cells_are_left_out(truth, filled, mask):
    mask[:, 1:] = False
    errors = imputation_errors(truth, filled, mask)
    assert list(errors.by_column) == ["age"]
    assert np.isnan(errors.wrong_share)


def test_distances_of_columns_without_masked_cells_are_left_out(truth, filled, mask):
    mask[:, 1:] = False
    assert list(distribution_distances(truth, filled, mask)) == ["age"]


def test_an_empty_mask_has_no_error(truth, filled):
    errors = imputation_errors(truth, filled, np.zeros((4, 4), bool))
    assert np.isnan(errors.nrmse)
    assert errors.nrmse_all_cells == 0.0
    assert errors.n_cells == 0


@pytest.mark.parametrize("measure", [imputation_errors, distribution_distances])
def test_cells_without_truth_or_fill_are_refused(measure, truth, filled, mask):
    with pytest.raises(InvalidDataError, match=r"natural holes.*'same' \(1\)"):
        measure(truth, filled, mask | truth.missing)
    filled[2, 2] = nan
    with pytest.raises(InvalidDataError, match=r"without a finite fill in columns 'color' \(1\)"):
        measure(truth, filled, mask)
    with pytest.raises(InvalidDataError, match="do not fit"):
        measure(truth, filled[:2], mask)
    with pytest.raises(InvalidDataError, match="boolean"):
        measure(truth, filled, mask.astype(int))


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = 12
    values = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, (n, 2)).astype(float)])
    missing = rng.random((n, 4)) < 0.2
    truth = Table(np.where(missing, 0.0, values), missing, COLUMNS)
    mask = (rng.random((n, 4)) < 0.5) & ~missing
    mask[0, 0], missing[0, 0] = True, False
    filled = np.where(mask, rng.permutation(values), truth.values)
    return truth, filled, mask


@given(st.integers(0, 2**16))
@settings(max_examples=50, deadline=None)
def test_errors_read_only_masked_cells_and_vanish_on_the_truth(seed):
    truth, filled, mask = random_case(seed)
    noise = np.where(mask, filled, nan)
    assert (
        imputation_errors(truth, filled, mask).nrmse == imputation_errors(truth, noise, mask).nrmse
    )
    perfect = imputation_errors(truth, truth.values, mask)
    assert perfect.nrmse == perfect.nrmse_all_cells == perfect.rmse == 0.0
    assert set(distribution_distances(truth, truth.values, mask).values()) == {0.0}


@given(st.integers(0, 2**16), st.floats(0.01, 100.0), st.floats(-10.0, 10.0))
@settings(max_examples=50, deadline=None)
def test_scaled_errors_ignore_units(seed, scale, shift):
    truth, filled, mask = random_case(seed)

    def moved(values):
        return np.column_stack([values[:, :2] * scale + shift, values[:, 2:]])

    other = truth.with_values(moved(truth.values))
    first = imputation_errors(truth, filled, mask)
    second = imputation_errors(other, moved(filled), mask)
    assert second.nrmse == pytest.approx(first.nrmse)
    assert second.rmse == pytest.approx(first.rmse * scale, abs=1e-9)
    assert distribution_distances(other, moved(filled), mask) == pytest.approx(
        distribution_distances(truth, filled, mask), abs=1e-9
    )


# -- distributions -----------------------------------------------------------------------------


def test_distances_by_hand(truth, filled, mask):
    distances = distribution_distances(truth, filled, mask)
    # age: {20, 30} against {28, 26}, sorted pairs differ by 6 and 2, mean 4, range 40
    # color: {1, 2} against {1, 0}: half of |1/2| + |1/2|
    expected = {"age": 0.1, "same": 0.5, "color": 0.5, "grade": 0.5}
    assert distances == pytest.approx(expected)


def test_total_variation_is_one_for_disjoint_values():
    assert total_variation(np.array([0.0, 1.0]), np.array([2.0, 2.0, 3.0])) == pytest.approx(1.0)


# -- naive Bayes -------------------------------------------------------------------------------


@parametrize_with_checks([MixedNaiveBayes(), MixedNaiveBayes(alpha=0.5, var_smoothing=1e-6)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@given(st.integers(0, 2**16), st.floats(1e-10, 1e-3))
@settings(max_examples=25, deadline=None)
def test_numbers_agree_with_gaussian_nb(seed, var_smoothing):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)) * [1.0, 10.0, 0.1], rng.integers(0, 3, 40)
    ours = MixedNaiveBayes(var_smoothing=var_smoothing).fit(X, y)
    theirs = GaussianNB(var_smoothing=var_smoothing).fit(X, y)
    new = rng.normal(size=(10, 3))
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(new), theirs.predict_joint_log_proba(new), rtol=1e-9
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@given(st.integers(0, 2**16), st.floats(0.1, 3.0))
@settings(max_examples=25, deadline=None)
def test_categories_agree_with_categorical_nb(seed, alpha):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (40, 3)), rng.integers(0, 3, 40)
    ours = MixedNaiveBayes(categorical_features=[True] * 3, alpha=alpha).fit(X, y)
    theirs = CategoricalNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9)


MIXED_X = np.array([[1.0, 0.0], [3.0, 0.0], [nan, 1.0], [5.0, nan], [7.0, 1.0], [9.0, 2.0]])
MIXED_Y = np.array(["a", "a", "a", "b", "b", "b"])


def mixed_model():
    return MixedNaiveBayes(categorical_features=[1], var_smoothing=1e-12).fit(MIXED_X, MIXED_Y)


def test_mixed_rows_by_hand():
    # class a: numbers 1, 3 (mean 2, variance 1), categories 0, 0, 1
    # class b: numbers 5, 7, 9 (mean 7, variance 8/3), categories 1, 2
    a = 0.5 * norm.pdf(4.0, 2.0, 1.0) * (1 + 1) / (3 + 3)
    b = 0.5 * norm.pdf(4.0, 7.0, np.sqrt(8 / 3)) * (1 + 1) / (2 + 3)
    proba = mixed_model().predict_proba([[4.0, 1.0]])
    np.testing.assert_allclose(proba, [[a / (a + b), b / (a + b)]], rtol=1e-6)


def test_missing_cells_are_left_out():
    a, b = norm.pdf(4.0, 2.0, 1.0), norm.pdf(4.0, 7.0, np.sqrt(8 / 3))
    model = mixed_model()
    proba = model.predict_proba([[4.0, nan], [nan, nan], [nan, 0.0]])
    # nothing observed: the prior.  category 0: 3/6 against 1/5
    expected = [a / (a + b), 0.5, (3 / 6) / (3 / 6 + 1 / 5)]
    np.testing.assert_allclose(proba[:, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("code", [-1.0, 3.0, 99.0, 0.5])
def test_unseen_categories_have_the_smoothed_mass(code):
    # 1 / (3 + 3) against 1 / (2 + 3)
    proba = mixed_model().predict_proba([[nan, code]])
    np.testing.assert_allclose(proba[0, 0], (1 / 6) / (1 / 6 + 1 / 5))


def test_a_class_without_an_observed_cell_takes_the_overall_moments():
    X = [[nan, 0.0], [nan, 0.0], [1.0, 0.0], [3.0, 1.0]]
    model = MixedNaiveBayes([1]).fit(X, [0, 0, 1, 1])
    assert model.theta_[:, 0].tolist() == [2.0, 2.0]
    empty = MixedNaiveBayes([1]).fit([[nan, nan], [nan, nan]], [0, 1])
    np.testing.assert_allclose(empty.predict_proba([[5.0, 2.0]]), [[0.5, 0.5]])


def test_constant_numbers_do_not_divide_by_zero():
    proba = MixedNaiveBayes().fit([[1.0], [1.0], [1.0]], [0, 0, 1]).predict_proba([[1.0]])
    np.testing.assert_allclose(proba, [[2 / 3, 1 / 3]])


def test_bad_parameters_are_named():
    for wrong in ({"alpha": 0.0}, {"var_smoothing": -1.0}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            MixedNaiveBayes(**wrong).fit(MIXED_X, MIXED_Y)
    for features in ([2], [-1], [True], ["x"]):
        with pytest.raises(InvalidParameterError, match="mask or positions over 2 columns"):
            MixedNaiveBayes(categorical_features=features).fit(MIXED_X, MIXED_Y)
    with pytest.raises(InvalidDataError, match="column 0 is categorical"):
        MixedNaiveBayes(categorical_features=[0]).fit([[0.5], [1.0]], [0, 1])
