"""Each part on its own."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from strategies import numeric_table

from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.k_selection import (
    best_k,
    classification_errors,
    stratified_folds,
    stratified_sample,
)
from greyfill._neighbors.schedule import Descent, Direct, Once, Trace, UntilStable, digest
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill._search import reference
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.neighbors import NAMED, NeighborImputer
from greyfill.table import Column, Ints, Kind, RangeScaler, Table

HOLE = np.nan


def mixed_table() -> Table:
    """A number and a category; class 1 has no observed number."""
    values = np.array([[1.0, 0], [3.0, 1], [0.0, 1], [0.0, 2], [0.0, 0]])
    missing = np.array([[0, 0], [0, 1], [1, 0], [1, 0], [1, 1]], dtype=bool)
    columns = (Column("size", Kind.NUMERIC), Column("color", Kind.CATEGORICAL, 3))
    return Table(np.where(missing, 0.0, values), missing, columns)


def test_global_start_is_mean_and_mode() -> None:
    filled, fallbacks = GlobalStart().fill(mixed_table(), None)
    # mean of 1 and 3; categories 0, 1, 2 are seen once each and the smallest code wins
    assert filled[:, 0].tolist() == [1.0, 3.0, 2.0, 2.0, 2.0]
    assert filled[:, 1].tolist() == [0.0, 0.0, 1.0, 2.0, 0.0]
    assert fallbacks == 0


def test_class_start_falls_back_to_all_classes_and_counts() -> None:
    filled, fallbacks = ClassStart().fill(mixed_table(), np.array([0, 0, 0, 1, 1]))
    # class 0: mean 2, mode of {0, 1} = 0; class 1: no number, so the overall mean 2; mode of {2}
    assert filled[:, 0].tolist() == [1.0, 3.0, 2.0, 2.0, 2.0]
    assert filled[:, 1].tolist() == [0.0, 0.0, 1.0, 2.0, 2.0]
    assert fallbacks == 2


@pytest.mark.parametrize(
    "part", [part for parts in NAMED.values() for part in parts.values()], ids=repr
)
def test_parts_are_values(part: Any) -> None:
    """Equal to a copy, fit for a set, and never changed."""
    assert {part, replace(part)} == {part}
    with pytest.raises(FrozenInstanceError):
        part.anything = 1


def test_scaler_maps_the_observed_range_to_the_unit_interval_and_back() -> None:
    table = numeric_table(np.array([[2.0, 5.0], [4.0, 5.0], [HOLE, 5.0], [10.0, HOLE]]))
    scaler = RangeScaler.learn(table)
    scaled = scaler.scale(table).values
    assert scaled[:, 0].tolist() == [0.0, 0.25, 0.0, 1.0]  # (x − 2) / 8, hole = 0
    assert scaled[:, 1].tolist() == [0.0, 0.0, 0.0, 0.0]  # a constant column has range 1
    assert scaler.unscale(np.array([[0.5, 0.0]])).tolist() == [[6.0, 5.0]]


def test_a_column_without_a_value_is_zero_on_both_scales() -> None:
    table = numeric_table(np.array([[np.nan, 1.0], [np.nan, 3.0]]))
    scaler = RangeScaler.learn(table)
    scaled = scaler.scale(table)
    assert scaled.values.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert scaler.unscale(scaled.values).tolist() == [[0.0, 1.0], [0.0, 3.0]]


def test_scaler_clips_what_lies_outside_the_learned_range() -> None:
    scaler = RangeScaler.learn(numeric_table(np.array([[0.0], [10.0]])))
    assert scaler.scale(numeric_table(np.array([[-5.0], [1e300]]))).values.tolist() == [
        [0.0],
        [1.0],
    ]


def test_scaler_does_not_overflow() -> None:
    table = numeric_table(np.array([[-1.7e308], [1.7e308], [0.0]]))
    scaler = RangeScaler.learn(table)
    assert scaler.scale(table).values[:, 0] == pytest.approx([0.0, 1.0, 0.5])
    assert np.isfinite(scaler.unscale(np.array([[0.0], [1.0]]))).all()


def test_pools_of_rows() -> None:
    missing = np.zeros((5, 2), dtype=bool)
    missing[1, 0] = True
    labels = np.array([0, 1, 0, 0, 1])
    (everyone,) = AllRows().pools(None, missing)
    assert everyone.givers.tolist() == [0, 1, 2, 3, 4]
    (complete,) = CompleteRows().pools(None, missing)
    assert (complete.takers.tolist(), complete.givers.tolist()) == (
        [0, 1, 2, 3, 4], [0, 2, 3, 4],
    )  # fmt: skip
    first, second = SameClass().pools(labels, missing)
    assert (first.takers.tolist(), first.givers.tolist(), first.fallback) == (
        [0, 2, 3], [0, 2, 3], False,
    )  # fmt: skip
    # class 1 has two rows, so each has one possible donor: fewer than min_donors = 2
    assert (second.takers.tolist(), second.givers.tolist(), second.fallback) == (
        [1, 4], [0, 1, 2, 3, 4], True,
    )  # fmt: skip


@pytest.mark.parametrize("distances", [[0.1, 0.2, 0.5], [0.0, 0.0, 0.3], [0.4, 0.4], [0.7]])
def test_weighted_fill_equals_reference(distances: list[float]) -> None:
    numbers, votes = WeightedFill().weigh(np.array([distances]))
    assert numbers[0] == pytest.approx(reference.inverse_square_weights(np.array(distances)))
    assert votes[0] == pytest.approx(reference.vote_weights(np.array(distances)))


def test_inverse_squares_survive_tiny_distances() -> None:
    numbers, _ = WeightedFill().weigh(np.array([[1e-200, 2e-200]]))
    assert numbers[0] == pytest.approx([0.8, 0.2])


def test_plain_fill_is_even() -> None:
    numbers, votes = PlainFill().weigh(np.array([[0.1, 0.2, 0.9, 1.0]]))
    assert numbers.tolist() == votes.tolist() == [[0.25] * 4]


class Passes:
    """A piece of work whose passes change by given amounts."""

    def __init__(self, changes: list[float], cells: list[float]) -> None:
        self.changes, self.cells = changes, cells
        self.cell = 0.0
        self.missing = np.ones((1, 1), dtype=bool)

    def one_pass(self) -> float:
        self.cell = self.cells.pop(0)
        return self.changes.pop(0)

    def state(self) -> bytes:
        return digest(np.array([self.cell]))

    def fill_for_good(self, takers: Ints) -> None:
        raise AssertionError("not a sequential schedule")


def quiet(message: str) -> None:
    pass


def test_stop_rule() -> None:
    # (15): stop at the first largest change below ε = 1e-4
    work = Passes([0.3, 2e-4, 9e-5, 1.0], [0.1, 0.2, 0.3, 0.4])
    assert UntilStable().run(work, quiet) == Trace((0.3, 2e-4, 9e-5), converged=True)


def test_passes_end_at_max_iter() -> None:
    work = Passes([0.5, 0.4, 0.3], [0.1, 0.2, 0.3])
    assert UntilStable(max_iter=2).run(work, quiet) == Trace((0.5, 0.4), converged=False)


def test_a_cycle_is_noticed() -> None:
    work = Passes([1.0] * 9, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    trace = UntilStable().run(work, quiet)
    assert not trace.converged
    assert len(trace.history) == 3  # states 0, 1, and 0 again


def test_a_damped_oscillation_is_no_cycle() -> None:
    """Cells that swing around their limit by less and less come to rest; no state comes back."""
    cells = [0.5 + 0.4 * (-0.95) ** t for t in range(400)]
    changes = [abs(b - a) for a, b in zip([0.0, *cells], cells, strict=False)]
    trace = UntilStable(max_iter=400).run(Passes(changes, cells), quiet)
    assert trace.converged
    assert trace.history[-1] < 1e-4


def test_rounding_noise_counts_as_rest() -> None:
    work = Passes([0.5, 4e-13], [0.1, 0.2])
    assert UntilStable(tol=0.0).run(work, quiet).converged


def test_once_is_one_pass() -> None:
    assert Once().run(Passes([0.7], [0.2]), quiet) == Trace((0.7,), converged=True)


def test_weights_sum_to_one_and_leave_the_target_out() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    values = rng.normal(size=(60, 3))
    values[:, 0] += 4 * labels
    table = numeric_table(values)
    assert EqualWeights().weigh(table, None, np.array([1])).tolist() == [[1 / 3] * 3]
    by_class = ClassInformation().weigh(table, labels, np.array([1]))[0]
    assert by_class.sum() == pytest.approx(1.0)
    assert by_class.argmax() == 0
    by_pair = PairInformation().weigh(table, None, np.array([0, 2]))
    assert by_pair.shape == (2, 3)
    assert by_pair[0, 0] == by_pair[1, 2] == 0.0
    assert by_pair.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_errors_of_every_k_at_once() -> None:
    # row 0 (class 0): votes 1 | 1,0 → 1 came first | 1,0,0 → 0; row 1 (class 1): always right
    errors = classification_errors(np.array([[1, 0, 0], [1, 1, 0]]), np.array([0, 1]))
    assert errors.tolist() == [0.5, 0.5, 0.0]


def test_largest_of_tied_k() -> None:
    assert best_k({1: 0.0, 2: 0.1, 3: 0.0, 4: 0.2}) == 3


def test_folds_are_stratified() -> None:
    labels = np.repeat([0, 1, 2], [50, 30, 7])
    folds = stratified_folds(labels, 10, random_state=0)
    for label, most in [(0, 5), (1, 3), (2, 1)]:
        counts = np.bincount(folds[labels == label], minlength=10)
        assert counts.max() - counts.min() <= 1
        assert counts.max() == most


def test_sample_keeps_the_class_shares() -> None:
    labels = np.repeat([0, 1], [9_000, 1_000])
    rows = stratified_sample(labels, 2_000, random_state=1)
    assert len(rows) == 2_000
    assert (labels[rows] == 1).sum() == 200
    assert stratified_sample(labels[:10], 2_000, random_state=1).tolist() == list(range(10))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grey(rho=0.0),
        lambda: Grey(rho=1.5),
        lambda: Grey(holes="none"),
        lambda: Heom(holes="maybe"),
        lambda: SameClass(min_donors=0),
        lambda: UntilStable(max_iter=0),
        lambda: UntilStable(tol=-1.0),
    ],
)
def test_bad_parameters_are_refused(make) -> None:
    with pytest.raises(InvalidParameterError):
        make()


@pytest.mark.parametrize(
    ("holes", "schedule", "words"),
    [("mask", Descent(), "needs holes='filled'"), ("filled", Direct(), "use holes='mask'")],
)
def test_schedules_refuse_distances_that_do_not_fit(holes: str, schedule: Any, words: str) -> None:
    imputer = NeighborImputer(
        2, distance=Heom(holes), weights="equal", donors="all_rows", start="global",
        schedule=schedule, labels="none",
    )  # fmt: skip
    with pytest.raises(InvalidParameterError, match=words):
        imputer.fit([[0.0, 1.0], [1.0, None], [2.0, 2.0]])


def test_distances_over_the_observed_columns_only() -> None:
    # Columns of weight 0.75 are observed and match perfectly: grade 0.75, distance 0.25 → 0.
    share = np.array([0.75])
    assert Grey().over_observed(np.array([[0.25, 0.625]]), share).tolist() == [[0.0, 0.5]]
    # HEOM: d² = 0.25 + 0.75·d_obs²; with d_obs = 0.5, d² = 0.4375
    assert Heom().over_observed(np.sqrt([[0.25, 0.4375]]), share)[0] == pytest.approx([0.0, 0.5])
