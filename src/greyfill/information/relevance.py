"""The information of every column of a table about a class or a column, and weights of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from greyfill.checks import check_choice
from greyfill.exceptions import InvalidDataError
from greyfill.information.cells import known_cells
from greyfill.information.distances import squared_distance_correlation
from greyfill.information.entropy import dense_codes, histogram_columns, without_rounding
from greyfill.information.forest import forest_importance
from greyfill.information.nearest import nearest_information
from greyfill.information.pairs import density_columns
from greyfill.information.parzen import parzen_columns
from greyfill.table import Bools, Floats, Ints, Table

RandomState = int | np.random.Generator | None


def class_information(
    table: Table,
    labels: Ints,
    *,
    measure: str = "parzen",
    n_permutations: int = 0,
    random_state: RandomState = 0,
) -> Floats:
    """Information I(X_j; Y) in bits of every column about the class, over its observed cells.

    Categories by histogram (19), numbers and ordinal codes by Parzen windows (24)–(29). A
    column with fewer than two observed cells tells nothing. ``n_permutations`` > 0 subtracts
    what chance alone would give (see `null_corrected`). Other ``MEASURES`` of relevance are
    "ksg", "distance_correlation" and "forest".

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind
    >>> values = np.array([[0.0, 5.0], [0.0, 6.0], [1.0, 5.0], [1.0, 6.0]])
    >>> columns = (Column("sex", Kind.CATEGORICAL, 2), Column("age", Kind.NUMERIC))
    >>> table = Table(values, np.zeros((4, 2), dtype=bool), columns)
    >>> class_information(table, np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    labels = np.asarray(labels)
    if labels.shape != (table.n_rows,):
        raise InvalidDataError(
            f"labels have shape {labels.shape}, but the table has {table.n_rows} rows"
        )
    codes = dense_codes(labels[None])[0]
    return _relevance(measure, table, codes, True, n_permutations, random_state)


def pair_information(
    table: Table,
    target: int,
    candidates: Ints | Bools | None = None,
    *,
    measure: str = "parzen",
    n_permutations: int = 0,
    random_state: RandomState = 0,
) -> Floats:
    """Information I(X_target; X_l) in bits of every column l, over jointly observed cells.

    Two categories by histogram (19), a number and a category by Parzen windows with the
    category as the class (24)–(29), two numbers by windows in the plane (22), or all by another
    of ``MEASURES``. It is 0 at the target itself and at columns that are not among the candidates
    (all, unless given).

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind
    >>> values = np.array([[0.0, 5.0, 1.0], [0.0, 5.0, 0.0], [1.0, 6.0, 1.0], [1.0, 6.0, 0.0]])
    >>> columns = tuple(Column(name, Kind.CATEGORICAL, 7) for name in "abc")
    >>> pair_information(Table(values, np.zeros((4, 3), dtype=bool), columns), target=0)
    array([0., 1., 0.])
    """
    n_columns = table.n_columns
    chosen = np.arange(n_columns) if candidates is None else np.arange(n_columns)[candidates]
    chosen = chosen[chosen != target]
    rows = known_cells(table)[:, target]
    others, values = table.select(chosen).rows(rows), table.values[rows, target]
    information = np.zeros(n_columns)
    by_levels = bool(table.is_categorical[target])
    information[chosen] = _relevance(
        measure, others, values, by_levels, n_permutations, random_state
    )
    return information


def null_corrected(
    estimate: Callable[[Ints], Floats],
    n_rows: int,
    n_permutations: int,
    random_state: RandomState = 0,
) -> Floats:
    """Information above what chance gives when one side is shuffled; 0 if not clearly above.

    I − mean(I₀) where I > mean(I₀) + 2 sd(I₀), else 0, with I₀ over random orders of the rows.
    ``estimate(order)`` gives the information with one side in that order. Estimates from few
    rows are biased upwards, and the more so the more levels a column has; this takes it out.

    >>> import numpy as np
    >>> from greyfill.information import histogram_information
    >>> a = np.repeat([0, 1], 50)
    >>> b = np.stack([a, np.arange(100) % 2, np.arange(100)])
    >>> def estimate(order):
    ...     return np.array([histogram_information(a[order], other) for other in b])
    >>> null_corrected(estimate, 100, 0).round(1)
    array([1., 0., 1.])
    >>> null_corrected(estimate, 100, 20).round(1)
    array([1., 0., 0.])
    """
    information = estimate(np.arange(n_rows))
    if n_permutations == 0:
        return information
    rng = np.random.default_rng(random_state)
    null = np.stack([estimate(rng.permutation(n_rows)) for _ in range(n_permutations)])
    excess = information - null.mean(axis=0)
    return without_rounding(np.where(excess > 2 * null.std(axis=0), excess, 0.0))


def normalize(information: Floats) -> Floats:
    """Weights that sum to 1, proportional to the information; equal if all of it is 0.

    λ_j = I_j / Σ_j' I_j'  (30)

    >>> import numpy as np
    >>> normalize(np.array([3.0, 1.0, 0.0])), normalize(np.zeros(2))
    (array([0.75, 0.25, 0.  ]), array([0.5, 0.5]))
    """
    total = information.sum()
    if total > 0:
        return np.asarray(information / total)
    return np.full(len(information), 1 / max(len(information), 1))


def _parzen(table: Table, target: Floats | Ints, is_categorical: bool) -> Floats:
    """Information of every column about a target without holes, as the paper estimates it."""
    if is_categorical:
        return _about_categories(table, target)
    return _about_numbers(table, target.astype(np.float64))


@dataclass(frozen=True)
class Measure:
    """How relevance is measured, and the most rows on which it is (a seeded sample of larger ones).

    ``estimate(table, target, is_categorical)`` gives one number a column; the target has no holes.
    """

    estimate: Callable[[Table, Floats | Ints, bool], Floats]
    most_rows: int | None = None


MEASURES: dict[str, Measure] = {
    "parzen": Measure(_parzen),
    "ksg": Measure(nearest_information, 5_000),
    "distance_correlation": Measure(squared_distance_correlation, 500),
    "forest": Measure(forest_importance, 5_000),
}
"""Measures of relevance by name; all but Parzen windows look at a sample of large tables."""


def find_measure(name: str) -> Measure:
    """The measure of this name.

    >>> find_measure("ksg").most_rows
    5000
    """
    check_choice("measure", name, tuple(MEASURES))
    return MEASURES[name]


def _relevance(
    name: str,
    table: Table,
    target: Floats | Ints,
    is_categorical: bool,
    n_permutations: int,
    random_state: RandomState,
) -> Floats:
    """A measure of every column about a target without holes, chance taken out where asked."""
    measure = find_measure(name)
    if measure.most_rows is not None and table.n_rows > measure.most_rows:
        rows = np.random.default_rng(0).choice(table.n_rows, measure.most_rows, replace=False)
        table, target = table.rows(rows), target[rows]
    return null_corrected(
        lambda order: measure.estimate(table, target[order], is_categorical),
        table.n_rows,
        n_permutations,
        random_state,
    )


def _about_categories(table: Table, labels: Floats | Ints) -> Floats:
    """Information of every column about one column of categories without holes."""
    values, known, category = table.values.T, known_cells(table).T, table.is_categorical
    number, information = ~category, np.zeros(table.n_columns)
    target = dense_codes(labels[None].astype(np.intp))
    codes = _codes(values[category], known[category])
    same = np.broadcast_to(target, (int(number.sum()), table.n_rows))
    information[category] = histogram_columns(codes, known[category], target[0])
    information[number] = parzen_columns(values[number], known[number], same)
    return information


def _about_numbers(table: Table, target: Floats) -> Floats:
    """Information of every column about one column of numbers without holes."""
    values, known, category = table.values.T, known_cells(table).T, table.is_categorical
    number, information = ~category, np.zeros(table.n_columns)
    codes = dense_codes(_codes(values[category], known[category]))
    same = np.broadcast_to(target, values.shape)
    information[category] = parzen_columns(same[category], known[category], codes)
    information[number] = density_columns(values[number], same[number], known[number])
    return information


def _codes(values: Floats, known: Bools) -> Ints:
    """Categories as integers; what a hole holds may be no category at all."""
    return np.where(known, values, 0.0).astype(np.intp)
