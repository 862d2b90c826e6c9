"""The engine against a literal transcription of Algorithm 2, and its promises."""

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import numeric_table

from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.engine import RecipeSettings, run_recipe
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.new_rows import fill_new_rows
from greyfill._neighbors.provenance import donors_of
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Once, Sequential, UntilStable
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill._search import reference
from greyfill.exceptions import InvalidDataError
from greyfill.information import class_information, normalize, pair_information
from greyfill.table import Column, Floats, Ints, Kind, Table

CGKNN = Recipe(Grey(), ClassInformation(), SameClass(), WeightedFill(), ClassStart(), UntilStable())


def literal_cgknn(table: Table, labels: Ints, k: int, tol: float = 1e-4) -> Floats:
    """Algorithm 2 with loops only: scale, start in the class, weigh, iterate until stable."""
    observed = ~table.missing
    values = table.values.copy()
    is_categorical = table.is_categorical
    lows, ranges = np.zeros(table.n_columns), np.ones(table.n_columns)
    for j in np.flatnonzero(~is_categorical):
        column = values[observed[:, j], j]
        lows[j] = column.min()
        ranges[j] = column.max() - column.min() or 1.0
    values = (values - lows) / ranges
    weights = normalize(class_information(Table(values, table.missing, table.columns), labels))
    for i, j in zip(*np.nonzero(table.missing), strict=True):
        peers = values[observed[:, j] & (labels == labels[i]), j]
        values[i, j] = (
            np.bincount(peers.astype(int)).argmax() if is_categorical[j] else peers.mean()
        )
    for _ in range(100):
        new = values.copy()
        for i in np.flatnonzero(table.missing.any(axis=1)):
            members = np.flatnonzero(labels == labels[i])
            own = int(np.flatnonzero(members == i)[0])
            distances = reference.grey_distances(
                values[i], table.missing[i], values[members], table.missing[members],
                is_categorical, weights, 0.5, own,
            )  # fmt: skip
            places, nearest = reference.nearest(distances, k, own)
            for j in np.flatnonzero(table.missing[i]):
                given_values = values[members[places], j]
                new[i, j] = (
                    reference.vote(given_values, reference.vote_weights(nearest))
                    if is_categorical[j]
                    else reference.average(given_values, reference.inverse_square_weights(nearest))
                )
        change = np.abs(new - values)
        change[:, is_categorical] = change[:, is_categorical] > 0
        values = new
        if change.max() < tol:
            break
    return values * ranges + lows


def random_table(seed: int, n: int = 36) -> tuple[Table, Ints]:
    """Two classes, two numbers and two categories, with holes; no row is empty."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    values = np.column_stack(
        [
            rng.normal(labels, 1.0),
            rng.uniform(-5, 5, n),
            rng.integers(0, 3, n),
            (rng.random(n) < 0.2 + 0.6 * labels),
        ]
    ).astype(float)
    missing = rng.random(values.shape) < 0.2
    missing[missing.all(axis=1)] = False
    missing[:6] = False
    columns = (
        Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC),
        Column("c", Kind.CATEGORICAL, 3), Column("d", Kind.CATEGORICAL, 2),
    )  # fmt: skip
    return Table(np.where(missing, 0.0, values), missing, columns), labels


@given(seed=st.integers(0, 10**6), k=st.integers(1, 8))
def test_engine_equals_the_algorithm_as_written(seed: int, k: int) -> None:
    table, labels = random_table(seed)
    filled, fitted = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=k))
    if fitted.trace.converged and not fitted.fallbacks.get("row_without_match"):
        assert filled == pytest.approx(literal_cgknn(table, labels, k), abs=1e-9)


def test_two_passes_by_hand() -> None:
    """One hole whose only donor in reach has a hole itself: the fill travels in passes.

    Column x decides the neighbors. Row 1's nearest is row 0 (value known: 10), row 2's nearest is
    row 1 (unknown). Start: mean of 10 and 30 = 20. Pass 1: row 1 ← 10, row 2 ← 20 (row 1's old
    fill). Pass 2: row 2 ← 10. Pass 3 changes nothing.
    """
    x = np.array([0.0, 0.1, 0.25, 1.0])
    z = np.array([10.0, np.nan, np.nan, 30.0])
    recipe = Recipe(Heom(), EqualWeights(), AllRows(), WeightedFill(), GlobalStart(), UntilStable())
    filled, fitted = run_recipe(
        recipe, numeric_table(np.column_stack([x, z])), None, RecipeSettings(n_neighbors=1)
    )
    # HEOM counts the hole as distance 1, so row 2 is as far from row 1 (0.15² + 1) as from no one
    # nearer: rows 0 (0.25² + 1) and 3 (0.75² + 1) follow.
    assert filled[:, 1].tolist() == [10.0, 10.0, 10.0, 30.0]
    # on the [0, 1] scale 20 → 10 is a change of 0.5
    assert fitted.trace.history == (0.5, 0.5, 0.0)


def test_once_gives_the_start_fill_of_donors_with_a_hole() -> None:
    x = np.array([0.0, 0.1, 0.25, 1.0])
    z = np.array([10.0, np.nan, np.nan, 30.0])
    recipe = Recipe(Heom(), EqualWeights(), AllRows(), PlainFill(), GlobalStart(), Once())
    filled, _ = run_recipe(
        recipe, numeric_table(np.column_stack([x, z])), None, RecipeSettings(n_neighbors=1)
    )
    assert filled[:, 1].tolist() == [10.0, 10.0, 20.0, 30.0]


def test_sequential_uses_rows_it_has_filled() -> None:
    """Row 2 (two holes) is nearest to row 1, which was filled before it."""
    rows = np.array([[0.0, 0.0, 10.0], [0.2, 0.2, np.nan], [0.3, np.nan, np.nan], [1.0, 1.0, 30.0]])
    recipe = Recipe(
        Heom(), EqualWeights(), CompleteRows(), WeightedFill(), GlobalStart(), Sequential()
    )
    filled, fitted = run_recipe(recipe, numeric_table(rows), None, RecipeSettings(n_neighbors=1))
    assert filled[1, 2] == 10.0  # from row 0, the nearest complete row
    assert filled[2].tolist() == [0.3, 0.2, 10.0]  # both from row 1
    assert not fitted.donors.missing.any()


def test_small_class_takes_from_all_rows_and_is_counted() -> None:
    values = np.array([[0.0, 1.0], [0.1, 2.0], [0.2, 3.0], [0.9, np.nan], [0.8, 8.0]])
    labels = np.array([0, 0, 0, 1, 0])
    filled, fitted = run_recipe(CGKNN, numeric_table(values), labels, RecipeSettings(n_neighbors=1))
    assert filled[3, 1] == 8.0
    assert fitted.fallbacks["class_too_small"] == 1
    assert fitted.fallbacks["class_without_value"] == 1


def test_row_without_any_value_keeps_the_start_fill_and_is_counted() -> None:
    values = np.array([[0.0, 1.0], [0.5, 2.0], [1.0, 3.0], [np.nan, np.nan]])
    filled, fitted = run_recipe(
        CGKNN, numeric_table(values), np.zeros(4, dtype=int), RecipeSettings(n_neighbors=2)
    )
    assert filled[3].tolist() == [0.5, 2.0]
    assert fitted.fallbacks["row_without_match"] == 2


def test_rows_without_a_label_are_filled_like_new_rows() -> None:
    table, labels = random_table(3)
    unknown = np.arange(30, 36)
    partly = labels.copy()
    partly[unknown] = -1
    filled, _ = run_recipe(CGKNN, table, partly, RecipeSettings(n_neighbors=3))
    known = np.arange(30)
    _, fitted = run_recipe(CGKNN, table.rows(known), labels[:30], RecipeSettings(n_neighbors=3))
    assert filled[unknown].tolist() == fill_new_rows(fitted, table.rows(unknown), None).tolist()


@pytest.mark.parametrize("holes", ["mask", "filled"])
@pytest.mark.parametrize("unlabeled", ["soft", "all"])
def test_one_row_is_filled_as_in_a_batch(holes: str, unlabeled: str) -> None:
    table, labels = random_table(4)
    new, _ = random_table(5)
    recipe = Recipe(
        Grey(holes=holes), ClassInformation(), SameClass(), WeightedFill(), ClassStart(),
        UntilStable(),
    )  # fmt: skip
    _, fitted = run_recipe(
        recipe, table, labels, RecipeSettings(n_neighbors=3, unlabeled=unlabeled)
    )
    batch = fill_new_rows(fitted, new, None)
    for row in range(new.n_rows):
        assert fill_new_rows(fitted, new.rows(np.array([row])), None).tolist() == [
            batch[row].tolist()
        ]


def test_soft_fill_follows_the_class_posterior() -> None:
    """Two far classes with z = 0 and z = 10: a row well inside one of them gets its value."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 0.1, 50), rng.normal(1, 0.1, 50)])
    z = np.repeat([0.0, 10.0], 50)
    labels = np.repeat([0, 1], 50)
    _, fitted = run_recipe(
        CGKNN, numeric_table(np.column_stack([x, z])), labels, RecipeSettings(n_neighbors=5)
    )
    rows = numeric_table(np.array([[0.0, np.nan], [1.0, np.nan]]))
    assert fill_new_rows(fitted, rows, None)[:, 1] == pytest.approx([0.0, 10.0])


def test_a_column_without_holes_in_fit_gets_its_weights_when_a_new_row_needs_them() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3))
    values[:, 2] += values[:, 1]
    values[0, 0] = np.nan
    recipe = Recipe(Heom(), PairInformation(), AllRows(), PlainFill(), GlobalStart(), Once())
    _, fitted = run_recipe(recipe, numeric_table(values), None, RecipeSettings(1))
    near = values[7] + [0.0, 0.0, np.nan]
    assert fill_new_rows(fitted, numeric_table(near[np.newaxis]), 1)[0, 2] == pytest.approx(
        values[7, 2]
    )
    expected = normalize(pair_information(fitted.donors, 2))
    assert fitted.column_weights(2).tolist() == expected.tolist()
    assert expected[1] > expected[0] > expected[2] == 0.0


class Counting(Heom):
    """Remembers how many rows each search asked for."""

    searched: ClassVar[list[int]] = []

    def search(self, pool: Any, queries: Floats, *rest: Any) -> tuple[Ints, Floats]:
        self.searched.append(len(queries))
        return super().search(pool, queries, *rest)


@pytest.mark.parametrize("holes", ["mask", "filled"])
def test_donors_are_searched_anew_in_each_pass_only_where_fills_count(holes: str) -> None:
    recipe = Recipe(
        Counting(holes), EqualWeights(), AllRows(), PlainFill(), GlobalStart(), UntilStable()
    )
    values = np.random.default_rng(0).normal(size=(30, 4))
    values[np.random.default_rng(1).random(values.shape) < 0.2] = np.nan
    Counting.searched.clear()
    _, fitted = run_recipe(recipe, numeric_table(values), None, RecipeSettings(3))
    passes = len(fitted.trace.history)
    assert passes > 2
    assert len(Counting.searched) == (1 if holes == "mask" else passes)


@pytest.mark.parametrize(
    ("schedule", "fewest", "most"), [(Once(), 1, 1), (UntilStable(tol=0.0), 2, 99)]
)
def test_new_rows_are_filled_as_often_as_the_schedule_says(
    schedule: Any, fewest: int, most: int
) -> None:
    recipe = Recipe(
        Counting("filled"), EqualWeights(), AllRows(), PlainFill(), GlobalStart(), schedule
    )
    rng = np.random.default_rng(0)
    _, fitted = run_recipe(recipe, numeric_table(rng.normal(size=(9, 3))), None, RecipeSettings(2))
    Counting.searched.clear()
    filled = fill_new_rows(fitted, numeric_table(np.array([[2.0, np.nan, np.nan]])), 1)
    start = fitted.scaler.unscale(fitted.centers[np.newaxis])
    assert filled[0, 1:].tolist() != start[0, 1:].tolist()
    assert fewest <= len(Counting.searched) <= most
    assert set(Counting.searched) == {1}  # none for nobody once the row is stable


def test_one_row_has_nobody_to_choose_k_from() -> None:
    recipe = Recipe(Heom(), EqualWeights(), AllRows(), PlainFill(), GlobalStart(), Once())
    filled, fitted = run_recipe(
        recipe, numeric_table(np.array([[1.0, 2.0]])), None, RecipeSettings("masked")
    )
    assert (fitted.n_neighbors, fitted.k_scores) == (1, {1: 0.0})
    assert filled.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(("n_columns", "step"), [(3, 1), (20, 1), (21, 2), (40, 2), (41, 3)])
def test_cells_are_hidden_in_at_most_twenty_columns_where_there_are_no_holes(
    n_columns: int, step: int
) -> None:
    asked: list[list[int]] = []

    class Recorder(EqualWeights):
        def weigh(self, table: Table, labels: Ints | None, targets: Ints) -> Floats:
            asked.append(targets.tolist())
            return super().weigh(table, labels, targets)

    recipe = Recipe(Heom(), Recorder(), AllRows(), PlainFill(), GlobalStart(), Once())
    whole = numeric_table(np.random.default_rng(0).normal(size=(6, n_columns)))
    run_recipe(recipe, whole, None, RecipeSettings("masked"))
    assert asked == [[], list(range(0, n_columns, step))]


def test_k_by_hidden_cells_prefers_a_local_fill_where_the_curve_bends() -> None:
    x = np.linspace(0, 1, 200)
    z = np.sin(12 * x)
    z[::10] = np.nan
    recipe = Recipe(Heom(), EqualWeights(), AllRows(), WeightedFill(), GlobalStart(), UntilStable())
    _, fitted = run_recipe(
        recipe, numeric_table(np.column_stack([x, z])), None, RecipeSettings("masked")
    )
    assert fitted.n_neighbors < 10
    assert fitted.k_scores[fitted.n_neighbors] == min(fitted.k_scores.values())


def test_filled_holes_search_again_in_every_pass() -> None:
    table, labels = random_table(8)
    recipe = Recipe(
        Grey(holes="filled"), ClassInformation(), SameClass(), WeightedFill(), ClassStart(),
        UntilStable(),
    )  # fmt: skip
    by_fill, _ = run_recipe(recipe, table, labels, RecipeSettings(n_neighbors=3))
    by_mask, _ = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=3))
    assert np.isfinite(by_fill).all()
    assert not np.allclose(by_fill, by_mask)


def test_a_cap_on_donors_keeps_a_sample_of_each_class() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [300, 60])
    values = rng.normal(labels[:, np.newaxis], 1.0, (360, 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    table = numeric_table(values)
    filled, fitted = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=3, max_donors=40))
    assert np.bincount(fitted.labels).tolist() == [40, 40]
    assert fitted.donors.n_rows == 80
    assert [len(pool.givers) for pool in fitted.pools] == [40, 40]
    assert np.isfinite(filled).all()
    again, _ = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=3, max_donors=40))
    assert filled.tolist() == again.tolist()
    new = fill_new_rows(fitted, table, None)
    assert np.isfinite(new).all()


def test_a_cap_that_keeps_everybody_changes_nothing() -> None:
    table, labels = random_table(11)
    free, _ = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=3))
    capped, _ = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=3, max_donors=1_000))
    assert free.tolist() == capped.tolist()


def test_spread_and_donors_of_a_cell_by_hand() -> None:
    """Two donors, 0.1 and 0.3 away from x: by HEOM the hole counts 1 in both distances."""
    x = np.array([0.4, 0.5, 0.2, 1.0, 0.0])
    z = np.array([np.nan, 10.0, 20.0, 30.0, 0.0])
    recipe = Recipe(Heom(), EqualWeights(), AllRows(), PlainFill(), GlobalStart(), Once())
    filled, fitted = run_recipe(
        recipe, numeric_table(np.column_stack([x, z])), None, RecipeSettings(n_neighbors=2)
    )
    rows, columns, spread = fitted.spreads
    assert (rows.tolist(), columns.tolist()) == ([0], [1])
    # values 10 and 20 are 1/3 and 2/3 on the [0, 1] scale of 0 … 30: deviation 1/6
    assert spread.tolist() == pytest.approx([1 / 6])
    donors = donors_of(fitted, 0, 1)
    assert donors.rows.tolist() == [1, 2]
    # d² = (0.1² + 1)/2 and (0.2² + 1)/2 with weights of a half
    assert donors.distances == pytest.approx([np.sqrt(1.01 / 2), np.sqrt(1.04 / 2)])
    assert donors.values == pytest.approx([10.0, 20.0])
    assert donors.weights.tolist() == [0.5, 0.5]
    assert filled[0, 1] == pytest.approx(15.0)
    with pytest.raises(InvalidDataError, match="observed"):
        donors_of(fitted, 1, 1)
    with pytest.raises(InvalidDataError, match="row 99"):
        donors_of(fitted, 99, 1)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_donors_explain_the_fill(seed: int, k: int) -> None:
    table, labels = random_table(seed)
    filled, fitted = run_recipe(CGKNN, table, labels, RecipeSettings(n_neighbors=k))
    if not fitted.trace.converged:  # categories that cycle: the fill is that of the pass before
        return
    for row, column, spread in zip(*fitted.spreads, strict=True):
        donors = donors_of(fitted, row, column)
        if table.is_categorical[column]:
            share = donors.weights[donors.values == filled[row, column]].sum()
            assert spread == pytest.approx(1.0 - share, abs=1e-9)
        else:
            # the last pass moved no cell by 1e-4 of its range
            width = float(np.ptp(table.values[~table.missing[:, column], column]))
            assert filled[row, column] == pytest.approx(
                donors.values @ donors.weights, abs=2e-4 * width
            )
