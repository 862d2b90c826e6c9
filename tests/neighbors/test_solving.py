"""The limit of the passes as a linear system: its premises, and that the passes lead there."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import numeric_table

from greyfill import NeighborImputer
from greyfill._neighbors import engine
from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, SameClass
from greyfill._neighbors.engine import NumberMap, RecipeSettings, TrainingWork, run_recipe
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.links import Links, Prepared
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Direct, UntilStable
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights
from greyfill.exceptions import InvalidParameterError
from greyfill.table import Column, Floats, Ints, Kind, Table

TO_THE_END = UntilStable(tol=1e-13, max_iter=20_000)
CGKNN = (Grey(), ClassInformation(), SameClass(), WeightedFill(), ClassStart())
IKNN = (Heom(), EqualWeights(), AllRows(), WeightedFill(), GlobalStart())
GBNN = (Grey(), EqualWeights(), AllRows(), PlainFill(), GlobalStart())


def holey_table(seed: int, rate: float) -> tuple[Table, Ints]:
    """Three classes, three numbers and a category; half of the cells may be holes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    labels = np.arange(n) % 3
    values = rng.normal(size=(n, 4)) + labels[:, np.newaxis] * rng.normal(size=4)
    values[:, 3] = rng.integers(0, 3, n)
    missing = rng.random(values.shape) < rate
    missing[:3] = False
    columns = (*(Column(name, Kind.NUMERIC) for name in "abc"), Column("d", Kind.CATEGORICAL, 3))
    return Table(np.where(missing, 0.0, values), missing, columns), labels


tables = st.builds(holey_table, st.integers(0, 10**6), st.sampled_from([0.1, 0.3, 0.5]))


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # passes may go round in a circle
@given(table=tables, k=st.integers(1, 8), parts=st.sampled_from([CGKNN, IKNN, GBNN]))
def test_direct_solution_is_where_the_passes_lead(table, k: int, parts) -> None:
    cells, labels = table
    walked, by_passes = run_recipe(
        Recipe(*parts, TO_THE_END), cells, labels, RecipeSettings(n_neighbors=k)
    )
    solved, directly = run_recipe(
        Recipe(*parts, Direct()), cells, labels, RecipeSettings(n_neighbors=k)
    )
    assert solved[:, 3].tolist() == walked[:, 3].tolist() or not by_passes.trace.converged
    assume(by_passes.trace.converged)
    assert directly.trace.converged
    assert solved == pytest.approx(walked, abs=1e-8)
    assert directly.fallbacks == by_passes.fallbacks


def map_of(table: Table, labels: Ints, k: int, parts) -> NumberMap:
    """The affine map of one pass of a method over a table."""
    recipe = Recipe(*parts, Direct())
    start, _ = recipe.start.fill(table, labels)
    targets = np.flatnonzero(table.missing.any(axis=0))
    everyone = np.ones(table.n_rows, dtype=bool)
    weights = recipe.weights.weigh(table, labels, targets)
    prepared = Prepared(recipe, table, start, labels, weights, targets, everyone)
    work = TrainingWork(prepared, k)
    work.one_pass()
    return NumberMap.of(work._links, work.values, table.is_categorical)


@given(table=tables, k=st.integers(1, 8), parts=st.sampled_from([CGKNN, IKNN, GBNN]))
def test_premises_of_the_proof(table, k: int, parts) -> None:
    """Rows of weights sum to 1, closed sets are stochastic, and the rest contracts."""
    numbers = map_of(*table, k, parts)
    weights = numbers.among.toarray()
    assert (weights >= 0.0).all()
    assert weights.sum(axis=1) + numbers.outside == pytest.approx(1.0)
    in_one_column = numbers.columns[:, np.newaxis] == numbers.columns
    assert not weights[~in_one_column].any()
    closed, label = numbers.closed_sets()
    assert weights[closed].sum(axis=1) == pytest.approx(1.0)
    elsewhere = label[closed][:, np.newaxis] != label
    assert not weights[closed][elsewhere].any()
    open_holes = weights[~closed][:, ~closed]
    radius = np.abs(np.linalg.eigvals(open_holes)).max(initial=0.0)
    assert radius < 1.0 - 1e-12


@given(table=tables, k=st.integers(1, 8), parts=st.sampled_from([CGKNN, IKNN, GBNN]))
def test_open_holes_are_those_that_reach_a_given_value(table, k: int, parts) -> None:
    """Walking along positive weights from an open hole ends outside or in a closed set."""
    numbers = map_of(*table, k, parts)
    closed, _ = numbers.closed_sets()
    reaches = (numbers.outside > 0.0) | closed
    for _ in range(len(reaches)):
        reaches |= numbers.among.toarray() @ reaches > 0.0
    assert reaches.all()
    assert not (closed & (numbers.outside > 0.0)).any()


def chain(weights: list[list[float]], outside: list[float], given: list[float]) -> NumberMap:
    """A map written down by hand, for holes of one column with values 0, 1, 2 …."""
    n = len(weights)
    return NumberMap(
        rows=np.arange(n),
        columns=np.zeros(n, dtype=np.intp),
        now=np.arange(n, dtype=float),
        among=sparse.csr_array(np.array(weights)),
        outside=np.array(outside),
        given=np.array(given),
    )


def test_two_holes_between_two_values_by_hand() -> None:
    # x = ½·0 + ½y and y = ½x + ½·1 give x = 1/3, y = 2/3
    numbers = chain([[0.0, 0.5], [0.5, 0.0]], [0.5, 0.5], [0.0, 0.5])
    assert numbers.solve() == pytest.approx([1 / 3, 2 / 3])


def test_a_closed_set_settles_on_its_stationary_mean() -> None:
    # π = π P for P = [[½, ½], [1, 0]] is (2/3, 1/3); the values 0 and 1 become 1/3. The third
    # hole takes half from the first and half from an observed 1: ½·1/3 + ½ = 2/3.
    numbers = chain(
        [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]], [0.0, 0.0, 0.5], [0.0, 0.0, 0.5]
    )
    assert numbers.solve() == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert numbers.closed_sets()[0].tolist() == [True, True, False]


def test_holes_that_swap_get_the_mean_of_the_circle() -> None:
    numbers = chain([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0], [0.0, 0.0])
    assert numbers.solve().tolist() == [0.5, 0.5]


def test_a_singular_system_leaves_the_guess() -> None:
    guess = np.array([0.25, 0.75])
    swap = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert engine._solve(swap, np.zeros(2), guess) is guess


def test_faint_donors_count_as_none() -> None:
    """Two holes whose only other donor weighs 1e-13 take from each other alone."""
    links = Links(
        rows=np.array([0, 1]),
        slots=np.array([0, 1]),
        columns=np.array([0, 0]),
        donors=np.array([[1, 2], [0, 2]]),
        distances=np.ones((2, 2)),
        number_weights=np.array([[1.0, 1e-13], [1.0, 1e-13]]),
        vote_weights=np.ones((2, 2)),
    )
    values = np.array([[0.2], [0.4], [1.0]])
    numbers = NumberMap.of([links], values, np.array([False]))
    assert numbers.outside.tolist() == [0.0, 0.0]
    assert numbers.solve() == pytest.approx([0.3, 0.3])


def test_large_systems_have_the_same_answer(monkeypatch) -> None:
    table, labels = holey_table(7, 0.5)
    numbers = map_of(table, labels, 5, IKNN)
    factored = numbers.solve()
    monkeypatch.setattr(engine, "FACTORED", 0)
    assert numbers.solve() == pytest.approx(factored, abs=1e-10)


def test_direct_by_hand() -> None:
    """The fill that travels two passes (see the engine's tests) arrives at once."""
    x = np.array([0.0, 0.1, 0.25, 1.0])
    z = np.array([10.0, np.nan, np.nan, 30.0])
    table: Floats = np.column_stack([x, z])
    recipe = Recipe(Heom(), EqualWeights(), AllRows(), WeightedFill(), GlobalStart(), Direct())
    filled, fitted = run_recipe(recipe, numeric_table(table), None, RecipeSettings(n_neighbors=1))
    assert filled[:, 1].tolist() == [10.0, 10.0, 10.0, 30.0]
    # from the start fill 20 to 10 is 0.5 on the [0, 1] scale; the pass that checks moves nothing
    assert fitted.trace.history == (0.5, 0.0)
    assert fitted.trace.converged


def test_categories_that_swap_are_reported() -> None:
    """Each other's nearest donors, in two classes with different modes: the votes swap forever."""
    rows = np.array([[0.0, np.nan], [0.1, np.nan], [0.9, 0.0], [1.0, 1.0]], dtype=object)
    rows[2, 1], rows[3, 1] = "u", "v"
    imputer = NeighborImputer(
        1, weights=EqualWeights(), donors=AllRows(), start=ClassStart(), schedule=Direct(),
        categorical_features=[1],
    )  # fmt: skip
    imputer.fit_transform(rows, ["p", "q", "p", "q"])
    assert not imputer.converged_


def test_donors_that_move_are_refused() -> None:
    imputer = NeighborImputer(distance=Grey(holes="filled"), schedule=Direct())
    with pytest.raises(InvalidParameterError, match="holes='mask'"):
        imputer.fit(np.array([[1.0, np.nan], [2.0, 3.0]]), [0, 1])
