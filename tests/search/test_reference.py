"""Hand-computed cases that pin the equations; the arithmetic stands beside each expectation."""

import math

import numpy as np
import pytest

from greyfill._search import reference

NUMBERS = np.array([False, False])
MIXED = np.array([False, True, False])


def test_heom_of_numbers_categories_and_holes() -> None:
    query = np.array([0.2, 1.0, 0.0])
    query_missing = np.array([False, False, True])
    donors = np.array([[0.5, 1.0, 0.9], [0.2, 2.0, 0.1], [0.0, 1.0, 0.3]])
    donors_missing = np.zeros((3, 3), dtype=bool)
    donors_missing[2, 0] = True
    distances = reference.heom_distances(
        query, query_missing, donors, donors_missing, MIXED, np.ones(3)
    )
    # (7)–(10): the third column is missing in the query, so it adds 1 to every square.
    expected = [
        math.sqrt(0.3**2 + 0 + 1),  # number differs by 0.3, same category
        math.sqrt(0 + 1 + 1),  # same number, other category
        math.sqrt(1 + 0 + 1),  # the donor's number is missing: 1
    ]
    assert distances == pytest.approx(expected)


def test_weighted_heom() -> None:
    # (31): d² = 0.75·0.4² + 0.25·0.8² = 0.12 + 0.16 = 0.28
    distance = reference.heom_distances(
        np.array([0.0, 0.0]), np.zeros(2, bool), np.array([[0.4, 0.8]]), np.zeros((1, 2), bool),
        NUMBERS, np.array([0.75, 0.25]),
    )  # fmt: skip
    assert distance == pytest.approx([math.sqrt(0.28)])


def test_heom_never_exceeds_one_in_a_column() -> None:
    distance = reference.heom_distances(
        np.array([7.0]), np.zeros(1, bool), np.array([[0.5]]), np.zeros((1, 1), bool),
        np.array([False]), np.ones(1),
    )  # fmt: skip
    assert distance == pytest.approx([1.0])


def test_grey_extremes_leave_out_the_row_itself_and_holes() -> None:
    rows = np.array([[0.5, 0.2], [0.9, 0.3], [0.1, 0.0]])
    missing = np.array([[False, False], [False, False], [False, True]])
    low, high = reference.grey_extremes(rows[0], missing[0], rows, missing, NUMBERS, own_row=0)
    # |0.5−0.9| = 0.4, |0.2−0.3| = 0.1, |0.5−0.1| = 0.4; the last row's second cell is a hole.
    assert low == pytest.approx(0.1)
    assert high == pytest.approx(0.4)
    # a query that is none of the donors leaves out nobody: |0.9−0.9| = 0 and |0.9−0.1| = 0.8
    assert reference.grey_extremes(rows[1], missing[1], rows, missing, NUMBERS) == (0.0, 0.8)


def test_grey_grade_by_hand() -> None:
    rows = np.array([[0.5, 0.2], [0.9, 0.3], [0.1, 0.0]])
    missing = np.array([[False, False], [False, False], [False, True]])
    distances = reference.grey_distances(
        rows[0], missing[0], rows, missing, NUMBERS, np.array([0.6, 0.4]), rho=0.5, own_row=0
    )
    # (32) with Δmin = 0.1, Δmax = 0.4, ρΔmax = 0.2: numerator 0.3
    # row 1: 0.3/(0.4+0.2) = 0.5 and 0.3/(0.1+0.2) = 1.0; GRG = 0.6·0.5 + 0.4·1.0 = 0.7
    # row 2: 0.3/(0.4+0.2) = 0.5 and a hole = 0;          GRG = 0.6·0.5 = 0.3
    assert distances[1:] == pytest.approx([1 - 0.7, 1 - 0.3])
    distances = reference.grey_distances(
        rows[1], missing[1], rows, missing, NUMBERS, np.array([0.6, 0.4]), rho=0.5
    )
    # a query that is none of the donors: Δmin = 0, Δmax = 0.8, numerator 0.4
    # row 0: 0.4/(0.4+0.4) = 0.5 and 0.4/(0.1+0.4) = 0.8; GRG = 0.6·0.5 + 0.4·0.8 = 0.62
    assert distances[:2] == pytest.approx([1 - 0.62, 0.0])


def test_grey_categories_count_zero_or_one() -> None:
    distances = reference.grey_distances(
        np.array([0.0, 1.0, 0.0]), np.zeros(3, bool),
        np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]), np.zeros((2, 3), bool),
        MIXED, np.array([0.25, 0.5, 0.25]), rho=0.5,
    )  # fmt: skip
    # Δmax = 0, so numbers have coefficient 1: grades 0.25+0.5+0.25 = 1 and 0.25+0+0.25 = 0.5
    assert distances.tolist() == [0.0, 0.5]


def test_grey_of_rows_without_common_cells_is_one() -> None:
    distances = reference.grey_distances(
        np.array([0.3, 0.0]), np.array([False, True]), np.array([[0.0, 0.4]]),
        np.array([[True, False]]), NUMBERS, np.array([0.5, 0.5]), rho=0.5,
    )  # fmt: skip
    assert distances.tolist() == [1.0]


def test_nearest_breaks_ties_by_row_number() -> None:
    rows, distances = reference.nearest(np.array([0.3, 0.1, 0.1, 0.0]), k=3, own_row=3)
    assert rows.tolist() == [1, 2, 0]
    assert distances.tolist() == [0.1, 0.1, 0.3]


def test_inverse_square_weights() -> None:
    # (11), (36): 1/0.1² : 1/0.2² = 100 : 25 = 0.8 : 0.2
    assert reference.inverse_square_weights(np.array([0.1, 0.2])) == pytest.approx([0.8, 0.2])
    # exact matches share the weight alone
    assert reference.inverse_square_weights(np.array([0.0, 0.0, 0.2])).tolist() == [0.5, 0.5, 0.0]


def test_weighted_average() -> None:
    # 0.8·10 + 0.2·20 = 12, not 12/k: the factor 1/k of (11) is a misprint
    weights = reference.inverse_square_weights(np.array([0.1, 0.2]))
    assert reference.average(np.array([10.0, 20.0]), weights) == pytest.approx(12.0)


def test_vote_weights() -> None:
    # (12): (0.5−0.1)/0.4 = 1, (0.5−0.2)/0.4 = 0.75, 0
    assert reference.vote_weights(np.array([0.1, 0.2, 0.5])) == pytest.approx([1.0, 0.75, 0.0])
    assert reference.vote_weights(np.array([0.3, 0.3])).tolist() == [1.0, 1.0]


def test_vote_takes_the_largest_sum_and_ties_go_to_the_nearest() -> None:
    # (13), (14): category 4 has 1.0, category 7 has 0.75 + 0.5 = 1.25
    assert reference.vote(np.array([4.0, 7.0, 7.0]), np.array([1.0, 0.75, 0.5])) == 7.0
    assert reference.vote(np.array([4.0, 7.0]), np.array([1.0, 1.0])) == 4.0


@pytest.mark.parametrize("rho", [None, 0.5])
def test_donors_at_the_same_distance_tie_whatever_the_order_of_the_sums(rho: float | None) -> None:
    """Mirror images around the query differ only in the order in which equal terms are added."""
    query = np.array([0.2, 0.7, 0.4])
    steps = np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.2], [0.2, 0.1, 0.3], [0.3, 0.2, 0.1]])
    donors, whole = query + steps, np.zeros((4, 3), bool)
    parts = (query, np.zeros(3, bool), donors, whole, np.zeros(3, bool), np.full(3, 1 / 3))
    distances = (
        reference.heom_distances(*parts) if rho is None else reference.grey_distances(*parts, rho)
    )
    assert len(set(distances.tolist())) == 1
