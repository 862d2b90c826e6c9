"""The measures of relevance: by hand, against slow twins, and by what all of them promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import mutual_info_classif
from strategies import numeric_table

from greyfill import ClassInformation, NeighborImputer, PairInformation, load
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.neighbors import NAMED, named_part
from greyfill.information import (
    MEASURES,
    class_information,
    forest_importance,
    histogram_information,
    nearest_information,
    pair_information,
    squared_distance_correlation,
)
from greyfill.table import Column, Kind, Table

ALL = tuple(MEASURES)


def mixed(n: int, seed: int = 0) -> tuple[Table, np.ndarray]:
    """A telling number, noise, a telling category and a noisy one, with holes; two classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    values = np.column_stack(
        [
            rng.normal(2.0 * labels, 1.0),
            rng.normal(size=n),
            np.where(rng.random(n) < 0.85, labels, 1 - labels),
            rng.integers(0, 8, n),
        ]
    ).astype(float)
    missing = rng.random(values.shape) < 0.15
    kinds = (Kind.NUMERIC, Kind.NUMERIC, Kind.CATEGORICAL, Kind.CATEGORICAL)
    columns = tuple(
        Column(f"x{j}", kind, 0 if kind is Kind.NUMERIC else 8) for j, kind in enumerate(kinds)
    )
    return Table(np.where(missing, 0.0, values), missing, columns), labels


@pytest.mark.parametrize("measure", ALL)
def test_permutations_leave_what_tells_and_silence_noise(measure: str) -> None:
    table, labels = mixed(250)
    found = class_information(table, labels, measure=measure, n_permutations=10)
    assert (found[[0, 2]] > 0.03).all()
    assert found[[1, 3]].sum() < 0.1 * found.sum()


@pytest.mark.parametrize("measure", ALL)
def test_pairs_find_the_column_that_belongs_to_a_number_and_to_a_category(measure: str) -> None:
    rng = np.random.default_rng(1)
    n = 200
    number = rng.normal(size=n)
    values = np.column_stack(
        [number, np.sign(number) > 0, rng.normal(size=n), rng.integers(0, 2, n)]
    ).astype(float)
    kinds = (Kind.NUMERIC, Kind.CATEGORICAL, Kind.NUMERIC, Kind.CATEGORICAL)
    columns = tuple(
        Column(f"x{j}", kind, 0 if kind is Kind.NUMERIC else 2) for j, kind in enumerate(kinds)
    )
    table = Table(values, np.zeros(values.shape, dtype=bool), columns)
    for target, partner in ((0, 1), (1, 0)):
        found = pair_information(table, target, measure=measure, n_permutations=15)
        assert found.argmax() == partner
        assert found[target] == 0.0
        assert found[partner] > 0.8 * found.sum()


@pytest.mark.parametrize("measure", ALL)
def test_holes_and_unknown_levels_have_no_say(measure: str) -> None:
    """What a hole holds, or which unknown level a cell has, changes nothing."""
    table, labels = mixed(120)
    other = np.where(table.missing, 77.0, table.values)
    found = class_information(table, labels, measure=measure)
    assert found.tolist() == class_information(
        Table(other, table.missing, table.columns), labels, measure=measure
    ).tolist()  # fmt: skip


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_tiny_tables_are_measured_without_complaint(measure: str, n: int) -> None:
    rng = np.random.default_rng(n)
    table = numeric_table(rng.normal(size=(n, 2)), rng.random((n, 2)) < 0.3)
    found = class_information(table, np.arange(n) % 2, measure=measure, n_permutations=3)
    assert np.isfinite(found).all()
    assert (found >= 0.0).all()
    assert np.isfinite(pair_information(table, 0, measure=measure)).all()


def test_a_constant_column_tells_nothing() -> None:
    table = numeric_table(np.column_stack([np.full(40, 3.0), np.arange(40.0)]))
    labels = np.repeat([0, 1], 20)
    for measure in ALL:
        assert class_information(table, labels, measure=measure)[0] == pytest.approx(0.0, abs=0.05)


def test_nearest_neighbors_find_the_information_of_normal_columns() -> None:
    # I = −½ log₂(1 − ρ²) for two normal columns with correlation ρ
    rng = np.random.default_rng(0)
    x = rng.normal(size=4_000)
    y = 0.8 * x + 0.6 * rng.normal(size=4_000)
    (found,) = nearest_information(numeric_table(x[:, np.newaxis]), y, False)
    assert found == pytest.approx(-0.5 * math.log2(1 - 0.64), abs=0.05)


def test_nearest_neighbors_of_a_number_that_names_the_class() -> None:
    # two classes far apart: one bit
    x = np.concatenate([np.linspace(0, 1, 200), np.linspace(9, 10, 200)])
    (found,) = nearest_information(numeric_table(x[:, np.newaxis]), np.repeat([0, 1], 200), True)
    assert found == pytest.approx(1.0, abs=0.02)


def test_nearest_neighbors_are_three_as_in_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=60), np.arange(60) % 2
    x += labels
    (found,) = nearest_information(numeric_table(x[:, np.newaxis]), labels, True)
    (nats,) = mutual_info_classif(
        x[:, np.newaxis], labels, discrete_features=False, n_neighbors=3, random_state=0
    )
    assert found == pytest.approx(nats / math.log(2))
    few = numeric_table(x[:4, np.newaxis])
    assert nearest_information(few, np.array([0.0, 1.0, 2.0, 3.0]), False).tolist() == [0.0]
    five = np.arange(5.0)
    assert nearest_information(numeric_table(five[:, np.newaxis]), five, False)[0] > 0.0


def test_leaves_of_the_forest_hold_three_rows() -> None:
    """So no tree can divide five rows, and some trees seven: a draw has six of them or all."""
    for n_rows, expected in ((5, 0.0), (7, 1.0)):
        x = np.arange(float(n_rows))
        (found,) = forest_importance(numeric_table(x[:, np.newaxis]), x, False)
        assert found == expected


def test_two_categories_are_counted() -> None:
    table, labels = mixed(80)
    rows = ~table.missing[:, 3]
    expected = histogram_information(table.values[rows, 3].astype(int), labels[rows])
    assert nearest_information(table, labels, True)[3] == pytest.approx(expected)


def slow_distance_correlation(x, y) -> float:
    """Definition 2 of Székely and Rizzo (2014), with loops."""
    n = len(x)

    def centered(v):
        a = [[abs(v[i] - v[k]) for k in range(n)] for i in range(n)]
        sums, total = [sum(row) for row in a], sum(map(sum, a))
        return [
            [
                0.0
                if i == k
                else a[i][k] - sums[i] / (n - 2) - sums[k] / (n - 2) + total / ((n - 1) * (n - 2))
                for k in range(n)
            ]
            for i in range(n)
        ]

    def product(a, b):
        return sum(a[i][k] * b[i][k] for i in range(n) for k in range(n)) / (n * (n - 3))

    a, b = centered(x), centered(y)
    return max(product(a, b) / math.sqrt(product(a, a) * product(b, b)), 0.0)


@given(seed=st.integers(0, 10**6), n=st.integers(4, 15), scale=st.sampled_from([1e-9, 1.0, 1e200]))
def test_distance_correlation_equals_its_definition(seed: int, n: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=n)
    (found,) = squared_distance_correlation(numeric_table(scale * x[:, np.newaxis]), y, False)
    assert found == pytest.approx(slow_distance_correlation(x.tolist(), y.tolist()), abs=1e-9)


def test_distance_correlation_of_equal_categories_is_one() -> None:
    codes = np.arange(12) % 3
    column = Column("a", Kind.CATEGORICAL, 3)
    table = Table(codes[:, np.newaxis].astype(float), np.zeros((12, 1), dtype=bool), (column,))
    # names of levels do not matter
    assert squared_distance_correlation(table, (codes + 1) % 3, True) == pytest.approx([1.0])


def test_only_the_forest_sees_what_tells_in_combination() -> None:
    """An exclusive or: neither column alone says anything about the class."""
    rng = np.random.default_rng(0)
    values = rng.uniform(-1, 1, (500, 4))
    labels = (values[:, 0] * values[:, 1] > 0).astype(int)
    table = numeric_table(values)
    by_forest = class_information(table, labels, measure="forest", n_permutations=10)
    assert by_forest[:2].sum() == by_forest.sum() > 0.0
    by_windows = class_information(table, labels, measure="parzen", n_permutations=10)
    assert by_windows.sum() < 0.02


def test_large_tables_are_sampled() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(2_000) % 2
    table = numeric_table(
        np.column_stack([labels + rng.normal(size=2_000), rng.normal(size=2_000)])
    )
    found = class_information(table, labels, measure="distance_correlation")
    assert found[0] > 10 * found[1]
    rows = np.random.default_rng(0).choice(2_000, MEASURES["distance_correlation"].most_rows, False)
    on_sample = squared_distance_correlation(table.rows(rows), labels[rows], True)
    assert found.tolist() == on_sample.tolist()


def test_parts_by_name_and_by_object_weigh_alike() -> None:
    table, labels = mixed(100)
    X = np.where(table.missing, np.nan, table.values)
    by_name = NeighborImputer(5, weights="ksg", schedule="direct").fit(X, labels)
    part = ClassInformation(n_permutations=20, measure="ksg")
    by_object = NeighborImputer(5, weights=part, schedule="direct").fit(X, labels)
    assert by_name.feature_weights_.tolist() == by_object.feature_weights_.tolist()
    assert NeighborImputer(5, weights="pair_forest")._recipe().weights == PairInformation(
        20, 0, "forest"
    )


def test_named_parts_survive_a_file(tmp_path) -> None:
    table, labels = mixed(60)
    X = np.where(table.missing, np.nan, table.values)
    imputer = NeighborImputer(3, weights="distance_correlation", schedule="direct").fit(X, labels)
    imputer.save(tmp_path / "imputer.greyfill")
    again = load(tmp_path / "imputer.greyfill")
    assert again.get_params() == imputer.get_params()
    assert again.transform(X).tolist() == imputer.transform(X).tolist()


@pytest.mark.parametrize("sort", list(NAMED))
def test_unknown_names_list_the_known_ones(sort: str) -> None:
    with pytest.raises(InvalidParameterError, match=next(iter(NAMED[sort]))):
        named_part(sort, "nonsense")


def test_unknown_measures_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="ksg"):
        ClassInformation(measure="nonsense")
    with pytest.raises(InvalidParameterError, match="ksg"):
        PairInformation(measure="nonsense")
