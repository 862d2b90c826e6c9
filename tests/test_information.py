"""Entropy and mutual information: by hand, against slow twins, and by their properties."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris

from greyfill._neighbors.weighting import ClassInformation
from greyfill.exceptions import InvalidDataError, InvalidParameterError
from greyfill.information import (
    EXACT_ROWS,
    binned_density_information,
    binned_parzen_information,
    class_information,
    density_information,
    entropy,
    exact_density_information,
    exact_parzen_information,
    histogram_information,
    normalize,
    null_corrected,
    pair_information,
    parzen_information,
)
from greyfill.information.measures import above_chance
from greyfill.information.parzen import on_grid
from greyfill.table import Column, Kind, Table

N, C, O = Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL  # noqa: E741


def make_table(*columns, kinds, missing=None):
    values = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    missing = np.zeros(values.shape, dtype=bool) if missing is None else missing
    described = tuple(
        Column(f"x{j}", kind, 0 if kind is N else int(values[:, j].max()) + 1)
        for j, kind in enumerate(kinds)
    )
    return Table(values, missing, described)


# --- slow twins, written from the equations ------------------------------------------------


def sample_sd(x):
    mean = sum(x) / len(x)
    return math.sqrt(sum((v - mean) ** 2 for v in x) / (len(x) - 1))


def phi(distance, h):
    return math.exp(-0.5 * (distance / h) ** 2) / (h * math.sqrt(2 * math.pi))


def slow_parzen(x, labels):
    """Eqs (24)-(29), literally."""
    n, classes = len(x), sorted(set(labels))
    h = 1.06 * sample_sd(x) * n ** (-1 / 5)
    prior = {y: sum(1 for v in labels if v == y) / n for y in classes}
    h_y = -sum(p * math.log2(p) for p in prior.values())
    h_y_x = 0.0
    for at in x:
        density = sum(phi(at - v, h) for v in x) / n  # (26)
        for y in classes:
            members = [v for v, label in zip(x, labels, strict=True) if label == y]
            likelihood = sum(phi(at - v, h) for v in members) / len(members)  # (27)
            posterior = likelihood * prior[y] / density  # (28)
            if posterior > 0:
                h_y_x -= posterior * math.log2(posterior) / n  # (29)
    return max(0.0, h_y - h_y_x)


def slow_density(x, y):
    """Eq (22) as an average over the observations, literally."""
    n = len(x)
    hx, hy = sample_sd(x) * n ** (-1 / 6), sample_sd(y) * n ** (-1 / 6)
    total = 0.0
    for a, b in zip(x, y, strict=True):
        p_x = sum(phi(a - v, hx) for v in x) / n
        p_y = sum(phi(b - w, hy) for w in y) / n
        p_xy = sum(phi(a - v, hx) * phi(b - w, hy) for v, w in zip(x, y, strict=True)) / n
        total += math.log2(p_xy / (p_x * p_y)) / n
    return max(0.0, total)


def slow_histogram(a, b):
    """Eq (19), literally."""
    n, total = len(a), 0.0
    for u in set(a):
        for v in set(b):
            p_uv = sum(1 for i, k in zip(a, b, strict=True) if (i, k) == (u, v)) / n
            p_u, p_v = a.count(u) / n, b.count(v) / n
            total += p_uv * math.log2(p_uv / (p_u * p_v)) if p_uv else 0.0
    return total


# --- strategies ----------------------------------------------------------------------------

codes = st.integers(0, 3)
# Values on a lattice: either equal or well apart, so that scaling cannot change what is equal.
numbers = st.integers(-1000, 1000).map(lambda k: k / 8)


@st.composite
def columns_of(draw, first, second, min_size=2, max_size=30):
    n = draw(st.integers(min_size, max_size))
    a = draw(st.lists(first, min_size=n, max_size=n))
    b = draw(st.lists(second, min_size=n, max_size=n))
    return np.array(a), np.array(b)


# --- entropy and histogram -----------------------------------------------------------------


def test_entropy_by_hand():
    # −(1/2 log 1/2 + 2 · 1/4 log 1/4) = 1/2 + 1/2 + 1/2
    assert entropy(np.array([0, 0, 1, 2]), 3) == pytest.approx(1.5)
    assert entropy(np.array([0, 0, 1, 2]), 9) == pytest.approx(1.5)
    assert entropy(np.array([1, 1, 1]), 2) == 0.0


def test_histogram_information_by_hand():
    # The table [[3, 1], [1, 3]] / 8: every margin is 1/2.
    a = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    b = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    expected = 2 * 3 / 8 * math.log2((3 / 8) / (1 / 4)) + 2 * 1 / 8 * math.log2((1 / 8) / (1 / 4))
    assert histogram_information(a, b) == pytest.approx(expected)


@given(columns_of(codes, codes, min_size=1))
def test_histogram_information_is_its_slow_twin(pair):
    a, b = pair
    expected = slow_histogram(a.tolist(), b.tolist())
    assert histogram_information(a, b) == pytest.approx(expected, abs=1e-9)


@given(columns_of(codes, codes, min_size=1))
def test_histogram_information_is_symmetric_and_bounded(pair):
    a, b = pair
    information = histogram_information(a, b)
    assert information == pytest.approx(histogram_information(b, a), abs=1e-12)
    assert 0 <= information <= min(entropy(a, 4), entropy(b, 4)) + 1e-12


def test_histogram_information_of_identifiers_is_the_entropy():
    many = np.random.default_rng(0).permutation(3000) * 1_000_003
    assert histogram_information(many, many) == pytest.approx(math.log2(3000))


# --- a number and a category ---------------------------------------------------------------


def test_parzen_information_by_hand():
    # Points 0, 1 (class 0) and 3 (class 1), h = 1.
    near, far, between = math.exp(-0.5), math.exp(-4.5), math.exp(-2.0)
    to_class_0 = [1 + near, near + 1, far + between]
    to_class_1 = [far, between, 1.0]
    posterior = [a / (a + b) for a, b in zip(to_class_0, to_class_1, strict=True)]
    h_y_x = -sum(p * math.log2(p) + (1 - p) * math.log2(1 - p) for p in posterior) / 3
    h_y = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    x, labels = np.array([0.0, 1.0, 3.0]), np.array([0, 0, 1])
    assert parzen_information(x, labels, bandwidth=1.0) == pytest.approx(h_y - h_y_x)


def test_default_bandwidth_is_silvermans_with_the_sample_deviation():
    x, labels = np.array([0.0, 1.0, 2.0, 5.0]), np.array([0, 1, 0, 1])
    sd = math.sqrt((4 + 1 + 0 + 9) / 3)  # mean 2, ddof = 1
    expected = parzen_information(x, labels, bandwidth=1.06 * sd * 4 ** (-0.2))
    assert parzen_information(x, labels) == pytest.approx(expected, rel=1e-12)


@given(columns_of(numbers, codes, max_size=15))
def test_exact_parzen_is_its_slow_twin(pair):
    x, labels = pair
    expected = slow_parzen(x.tolist(), labels.tolist()) if np.ptp(x) > 0 else 0.0
    assert exact_parzen_information(x, labels) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(columns_of(numbers, codes))
def test_parzen_information_is_bounded_by_the_class_entropy(pair):
    x, labels = pair
    for evaluate in (exact_parzen_information, binned_parzen_information):
        assert 0 <= evaluate(x, labels) <= entropy(labels, 4) + 1e-12


@given(
    columns_of(numbers, codes),
    st.sampled_from([1e-300, 1e-3, 1.0, 7.0, 1e290, -1.0, -1e290]),
    st.integers(-50, 50),
)
def test_parzen_information_ignores_scale_and_origin(pair, scale, origin):
    x, labels = pair
    expected = exact_parzen_information(x, labels)
    for evaluate, tolerance in (
        (exact_parzen_information, 1e-7),
        (binned_parzen_information, 1e-3),
    ):
        moved = evaluate((x + origin) * scale, labels)
        assert moved == pytest.approx(expected, rel=tolerance, abs=tolerance / 10)


def columns_with_shapes(n=3000):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n)
    noise = rng.normal(size=n)
    shapes = {
        "normal": 0.7 * y + noise,
        "weak": 0.1 * y + noise,
        "lognormal": np.exp(0.7 * y + noise),
        "very skewed": np.exp(2 * (0.7 * y + noise)),
        "heavy tails": y + rng.standard_t(2.5, n),
        "one far outlier": np.where(np.arange(n) == 0, 1e9, y + noise),
        "few integers": np.round(y + noise),
        "separated": 100 * y + noise,
    }
    return y, shapes


LABELS, SHAPES = columns_with_shapes()


@pytest.mark.parametrize("shape", SHAPES)
def test_binned_parzen_agrees_with_exact(shape):
    exact = exact_parzen_information(SHAPES[shape], LABELS)
    assert binned_parzen_information(SHAPES[shape], LABELS) == pytest.approx(exact, rel=1e-3)


@settings(max_examples=50)
@given(columns_of(numbers, codes))
def test_binned_parzen_agrees_with_exact_on_any_few_points(pair):
    exact = exact_parzen_information(*pair)
    assert binned_parzen_information(*pair) == pytest.approx(exact, rel=1e-3, abs=1e-4)


def test_a_grid_that_would_be_too_long_has_a_longer_step():
    u = np.linspace(0.0, 1000.0, 501)  # two windows apart, so that there is no gap to close
    position, density = on_grid(u, 4, 100)
    assert density == pytest.approx(98 / 1000)
    assert position == pytest.approx(u * density)


def test_many_rows_are_binned_and_few_are_exact():
    x, y = SHAPES["normal"], LABELS
    few = slice(0, EXACT_ROWS)
    assert parzen_information(x, y) == binned_parzen_information(x, y)
    assert parzen_information(x[few], y[few]) == exact_parzen_information(x[few], y[few])


@pytest.mark.parametrize("bandwidth", [1e-320, 1e-30, 1e-4, 1e300])
@pytest.mark.parametrize("evaluate", [exact_parzen_information, binned_parzen_information])
def test_extreme_bandwidths_stay_within_the_bounds(evaluate, bandwidth):
    y, x = LABELS[:300], SHAPES["normal"][:300] * 1e-20
    assert 0 <= evaluate(x, y, bandwidth) <= entropy(y, 3) + 1e-12


def test_a_tiny_window_separates_distinct_points_and_a_wide_one_none():
    x, y = np.arange(6.0), np.array([0, 1, 0, 1, 0, 1])
    assert parzen_information(x, y, 1e-3) == pytest.approx(1.0)
    assert parzen_information(x, y, 1e6) == pytest.approx(0.0, abs=1e-9)


def test_constant_and_tiny_columns_tell_nothing():
    y = np.array([0, 1, 1])
    for evaluate in (exact_parzen_information, binned_parzen_information):
        assert evaluate(np.full(3, 0.1), y) == 0.0
        assert evaluate(np.array([0.1]), y[:1]) == 0.0
        assert evaluate(np.array([]), y[:0]) == 0.0
    for evaluate in (exact_density_information, binned_density_information):
        assert evaluate(np.full(3, 0.1), y.astype(float)) == 0.0
        assert evaluate(y.astype(float), np.full(3, 0.1)) == 0.0
        assert evaluate(np.array([0.1]), np.array([0.2])) == 0.0


def test_bad_arguments_are_named():
    with pytest.raises(InvalidDataError, match="one length"):
        parzen_information(np.zeros(3), np.zeros(2, dtype=int))
    with pytest.raises(InvalidDataError, match="observed cells"):
        parzen_information(np.array([0.0, np.nan]), np.array([0, 1]))
    with pytest.raises(InvalidParameterError, match="bandwidth"):
        parzen_information(np.array([0.0, 1.0]), np.array([0, 1]), bandwidth=0.0)
    with pytest.raises(InvalidDataError, match="equal columns"):
        density_information(np.zeros(3), np.zeros(2))
    with pytest.raises(InvalidDataError, match="jointly observed"):
        density_information(np.array([0.0, np.inf]), np.zeros(2))
    with pytest.raises(InvalidDataError, match="4 rows"):
        class_information(make_table([0, 1, 2, 3], kinds=[N]), np.array([0, 1]))


# --- two numbers ---------------------------------------------------------------------------


def test_density_information_by_hand():
    # Two points at distance d in both columns: sd = d/√2, h = sd · 2^(−1/6).
    k = math.exp(-0.5 * (math.sqrt(2) * 2 ** (1 / 6)) ** 2)
    expected = math.log2(2 * (1 + k * k) / (1 + k) ** 2)
    x, y = np.array([0.0, 1.0]), np.array([5.0, -2.0])
    assert density_information(x, y) == pytest.approx(expected)


@given(columns_of(numbers, numbers, max_size=15))
def test_exact_density_is_its_slow_twin(pair):
    x, y = pair
    varied = np.ptp(x) > 0 and np.ptp(y) > 0
    expected = slow_density(x.tolist(), y.tolist()) if varied else 0.0
    assert exact_density_information(x, y) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(columns_of(numbers, numbers), st.sampled_from([1e-300, 3.0, -1e290]))
def test_density_information_is_symmetric_and_scale_free(pair, scale):
    x, y = pair
    information = exact_density_information(x, y)
    assert information >= 0
    assert exact_density_information(y, x) == pytest.approx(information, abs=1e-9)
    assert exact_density_information(x * scale, y) == pytest.approx(information, abs=1e-7)


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", ["weak", "lognormal", "heavy tails"])
def test_binned_density_agrees_with_exact(first, second):
    x, y = SHAPES[first][:1500], SHAPES[second][:1500]
    exact = exact_density_information(x, y)
    assert binned_density_information(x, y) == pytest.approx(exact, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9])
def test_density_information_of_gaussian_pairs(rho):
    # Windows of h = n^(−1/6) = 0.28 sd blur the pair: both variances grow to s = 1 + h², so the
    # smoothed density has ρ' = ρ/s. Averaged over the true pair, its log ratio is
    # −½ log₂(1 − ρ'²) + ½ [2/s − 2(1 − ρρ') / (s (1 − ρ'²))] / ln 2. Each point's own window
    # adds about 0.035 bits at n = 2000 (all there is at ρ = 0), and the standard error of a mean
    # of 2000 log ratios is below 0.03 bits: 0.06 is two of them.
    n = 2000
    rng = np.random.default_rng(3)
    x, noise = rng.normal(size=(2, n))
    y = rho * x + math.sqrt(1 - rho**2) * noise
    variance = 1 + n ** (-1 / 3)
    blurred = rho / variance
    forms = 2 / variance - 2 * (1 - rho * blurred) / (variance * (1 - blurred**2))
    expected = -0.5 * math.log2(1 - blurred**2) + 0.5 * forms / math.log(2)
    assert density_information(x, y) == pytest.approx(expected + 0.035, abs=0.06)
    assert density_information(x, y) == pytest.approx(-0.5 * math.log2(1 - rho**2), abs=0.15)


# --- tables --------------------------------------------------------------------------------


@pytest.fixture
def mixed():
    """Number, category, ordinal and noise about three classes, a fifth of the cells missing."""
    rng = np.random.default_rng(0)
    n = 120
    y = rng.integers(0, 3, n)
    number = y + rng.normal(size=n)
    category = np.where(rng.random(n) < 0.7, y, rng.integers(0, 3, n))
    order = np.clip(y + rng.integers(-1, 2, n), 0, 3)
    noise = rng.normal(size=n)
    missing = rng.random((n, 4)) < 0.2
    return make_table(number, category, order, noise, kinds=[N, C, O, N], missing=missing), y


def seen(table, *columns):
    """The jointly observed cells of the columns."""
    rows = ~table.missing[:, columns].any(axis=1)
    return (table.values[rows, j] for j in columns), rows


def test_class_information_of_each_column_is_that_of_its_observed_cells(mixed):
    table, y = mixed
    information = class_information(table, y)
    for j, column in enumerate(table.columns):
        (x,), rows = seen(table, j)
        if column.kind is C:
            expected = histogram_information(x.astype(int), y[rows])
        else:
            expected = exact_parzen_information(x, y[rows])
        assert information[j] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("target", range(4))
def test_pair_information_of_each_pair_is_that_of_jointly_observed_cells(mixed, target):
    table, _ = mixed
    information = pair_information(table, target)
    assert information[target] == 0.0
    for other in set(range(4)) - {target}:
        (x, z), _ = seen(table, target, other)
        kinds = [table.columns[target].kind is C, table.columns[other].kind is C]
        if kinds == [False, False]:
            expected = exact_density_information(x, z)
        else:
            number, category = (z, x) if kinds[0] else (x, z)
            expected = exact_parzen_information(number, category.astype(int))
        assert information[other] == pytest.approx(expected, rel=1e-9)


def test_pair_information_of_categories_is_the_histogram():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 50))
    expected = [0.0, histogram_information(a, b)]
    assert pair_information(make_table(a, b, kinds=[C, C]), 0) == pytest.approx(expected)


def test_what_a_hole_holds_is_ignored(mixed):
    table, y = mixed
    junk = table.with_values(np.where(table.missing, -1e300, table.values))
    assert np.array_equal(class_information(table, y), class_information(junk, y))
    for target in range(4):
        assert np.array_equal(pair_information(table, target), pair_information(junk, target))


def test_many_rows_give_nearly_the_same_as_exact_sums(monkeypatch, mixed):
    table, y = mixed
    exact = [class_information(table, y), *(pair_information(table, j) for j in range(4))]
    monkeypatch.setattr("greyfill.information.parzen.EXACT_ROWS", 1)
    binned = [class_information(table, y), *(pair_information(table, j) for j in range(4))]
    assert np.array(binned) == pytest.approx(np.array(exact), rel=1e-2, abs=1e-3)


def test_small_blocks_give_the_same(monkeypatch, mixed):
    table, y = mixed
    whole = [class_information(table, y), *(pair_information(table, j) for j in range(4))]
    monkeypatch.setattr(sys.modules["greyfill.information.entropy"], "BLOCK_CELLS", 1000)
    parts = [class_information(table, y), *(pair_information(table, j) for j in range(4))]
    assert np.array(parts) == pytest.approx(np.array(whole), rel=1e-9)


def test_only_candidates_are_computed(mixed):
    table, _ = mixed
    every = pair_information(table, 0)
    some = pair_information(table, 0, np.array([0, 2]))
    assert some == pytest.approx([0.0, 0.0, every[2], 0.0])
    by_mask = pair_information(table, 0, np.array([True, False, True, False]))
    assert np.array_equal(some, by_mask)


def test_columns_without_enough_cells_tell_nothing():
    missing = np.array([[True, True, False, False]] + [[True, True, True, False]] * 3)
    values = [[0, 1, 2, 3], [0, 1, 0, 1], [0, 1, 2, 3], [0, 5, 6, 9]]
    table = make_table(*values, kinds=[N, C, N, N], missing=missing)
    information = class_information(table, np.array([0, 1, 0, 1]))
    assert information[:3].tolist() == [0.0, 0.0, 0.0]
    for target in range(3):
        assert pair_information(table, target).tolist() == [0.0] * 4


def test_one_class_or_constant_columns_tell_nothing(mixed):
    table, y = mixed
    assert class_information(table, np.zeros_like(y)).tolist() == [0.0] * 4
    constant = make_table(np.full(9, 0.1), np.zeros(9), kinds=[N, C])
    assert class_information(constant, np.arange(9) % 3).tolist() == [0.0, 0.0]


def test_unseen_categories_count_as_holes():
    y = np.array([0, 0, 1, 1, 0])
    table = make_table([0, 0, 1, 1, -1], kinds=[C])
    assert class_information(table, y) == pytest.approx([1.0])


@given(
    hnp.arrays(float, (12, 3), elements=numbers),
    hnp.arrays(bool, (12, 3)),
    hnp.arrays(int, 12, elements=codes),
)
def test_class_information_is_bounded_and_ignores_row_order(values, missing, y):
    table = Table(values, missing, tuple(Column(name, N) for name in "abc"))
    information = class_information(table, y)
    assert (information >= 0).all()
    assert (information <= 2 + 1e-12).all()
    turned = class_information(table.rows(np.arange(12)[::-1]), y[::-1])
    assert turned == pytest.approx(information, abs=1e-9)


def test_petals_tell_more_than_sepals():
    iris = load_iris()
    table = make_table(*iris.data.T, kinds=[N] * 4)
    for corrected in (0, 20):
        sepal_length, sepal_width, *petals = class_information(
            table, iris.target, n_permutations=corrected
        )
        assert min(petals) > sepal_length > sepal_width


# --- null correction and weights -----------------------------------------------------------


def test_null_correction_by_hand():
    # Under shuffling the estimates are 1, 3, 1, 3 …: mean 2, sd 1, so 4 is not above 2 + 2 · 1.
    draws = iter([[5.0, 4.0, 1.0]] + [[1.0] * 3, [3.0] * 3] * 5)
    corrected = null_corrected(lambda order: np.array(next(draws)), 7, 10)
    assert corrected.tolist() == [3.0, 0.0, 0.0]


def test_noise_is_mostly_corrected_to_zero():
    rng = np.random.default_rng(0)
    n = 60
    y = rng.integers(0, 2, n)
    numeric, categorical = rng.normal(size=(100, n)), rng.integers(0, 4, (100, n))
    signal = y + 0.3 * rng.normal(size=n)
    table = make_table(*numeric, *categorical, signal, kinds=[N] * 100 + [C] * 100 + [N])
    raw = class_information(table, y)
    corrected = class_information(table, y, n_permutations=20)
    assert (raw[:200] > 0).mean() > 0.9
    assert (corrected[:200] == 0).mean() > 0.85
    assert 0.4 < corrected[200] < raw[200]


@pytest.mark.parametrize("target", [0, 1])
def test_pair_information_is_corrected_alike(target):
    rng = np.random.default_rng(0)
    n = 80
    a = rng.integers(0, 3, n)
    noise = rng.normal(size=(20, n))
    table = make_table(a + 0.2 * rng.normal(size=n), a, *noise, kinds=[N, C] + [N] * 20)
    corrected = pair_information(table, target, n_permutations=20)
    assert corrected[1 - target] > 0.5
    assert (corrected[2:] == 0).mean() > 0.7


def test_the_null_is_reproducible(mixed):
    table, y = mixed
    first = class_information(table, y, n_permutations=5, random_state=1)
    assert np.array_equal(first, class_information(table, y, n_permutations=5, random_state=1))
    assert not np.array_equal(first, class_information(table, y, n_permutations=5, random_state=2))
    assert np.array_equal(
        pair_information(table, 0, n_permutations=5),
        pair_information(table, 0, n_permutations=5, random_state=0),
    )
    assert np.array_equal(
        class_information(table, y, n_permutations=5),
        class_information(table, y, n_permutations=5, random_state=0),
    )


@given(hnp.arrays(float, st.integers(1, 9), elements=st.floats(0, 10)))
def test_weights_sum_to_one_and_keep_ratios(information):
    weights = normalize(information)
    assert weights.sum() == pytest.approx(1.0)
    assert weights * information.sum() == pytest.approx(information)


def test_no_information_gives_equal_weights():
    assert normalize(np.zeros(4)).tolist() == [0.25] * 4


def test_narrower_windows_see_clusters_that_the_rule_smooths_away() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    clusters = 2 * rng.integers(4, size=400) + y + 0.05 * rng.normal(size=400)
    columns = (Column("a", Kind.NUMERIC), Column("b", Kind.CATEGORICAL, 2))
    for n in (400, 900):  # exact sums, and sums on a grid
        rows = np.resize(np.arange(400), n)
        table = Table(np.column_stack([clusters, y])[rows], np.zeros((n, 2), dtype=bool), columns)
        by_rule, by_narrow = (
            class_information(table, y[rows], bandwidth_factor=factor) for factor in (1.0, 0.1)
        )
        assert by_rule[0] < 0.3
        assert by_narrow[0] > 0.9
        assert by_rule[1] == by_narrow[1]
        narrow = pair_information(table, 0, bandwidth_factor=0.1)
        assert narrow[1] > 0.9 > pair_information(table, 0)[1]
        numbers = Table(np.column_stack([clusters, clusters])[rows], table.missing, columns[:1] * 2)
        close = pair_information(numbers, 0, bandwidth_factor=0.1)[1]
        assert close > pair_information(numbers, 0)[1] + 0.5


@pytest.mark.parametrize("wrong", [0, -1.0, "wide", float("nan"), True])
def test_windows_of_no_width_are_refused(wrong) -> None:
    with pytest.raises(InvalidParameterError, match="bandwidth_factor must be a number between"):
        ClassInformation(bandwidth_factor=wrong)


def test_what_is_above_chance_does_not_depend_on_the_columns_beside_it():
    rng = np.random.default_rng(0)
    for _ in range(300):
        null = rng.random((20, 3))
        information = null.max(axis=0) + rng.random(3)
        alone = [above_chance(information[[j]], null[:, [j]])[0] for j in range(3)]
        assert above_chance(information, null).tolist() == alone
