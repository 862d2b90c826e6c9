"""The relevance of every column of a table to a class or a column, and weights made of it.

Four measures of one shape, ``estimate(table, target, is_categorical)``: `window_information`,
`squared_distance_correlation`, `nearest_information` and `forest_importance`. `class_information`
and `pair_information` apply one of them, and `null_corrected` takes out what chance gives.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from greyfill.checks import check_choice
from greyfill.exceptions import InvalidDataError
from greyfill.information.entropy import (
    dense_codes,
    histogram_columns,
    histogram_information,
    known_cells,
    without_rounding,
)
from greyfill.information.parzen import density_columns, parzen_columns
from greyfill.table import Bools, Floats, Ints, Table

RandomState = int | np.random.Generator | None

# Neighbors of each point; few keep the bias low, as the authors advise.
NEIGHBORS = 3
TREES = 50
# Rows in a leaf; deeper trees would explain noise.
LEAF = 3


def window_information(
    table: Table, target: Floats | Ints, is_categorical: bool, bandwidth_factor: float = 1.0
) -> Floats:
    """Information in bits of every column about a target without holes, as the paper has it.

    Two categories by histogram (19), a number and a category by Parzen windows (24)–(29), two
    numbers by windows in the plane (22).
    """
    values, known, category = table.values.T, known_cells(table).T, table.is_categorical
    number, information = ~category, np.zeros(table.n_columns)
    # What a hole holds may be no category at all.
    codes = np.where(known[category], values[category], 0.0).astype(np.intp)
    if is_categorical:
        labels = dense_codes(target[None].astype(np.intp))
        same = np.broadcast_to(labels, (int(number.sum()), table.n_rows))
        information[category] = histogram_columns(codes, known[category], labels[0])
        information[number] = parzen_columns(values[number], known[number], same, bandwidth_factor)
    else:
        numbers = np.broadcast_to(target.astype(np.float64), values.shape)
        codes = dense_codes(codes)
        information[category] = parzen_columns(
            numbers[category], known[category], codes, bandwidth_factor
        )
        information[number] = density_columns(
            values[number], numbers[number], known[number], bandwidth_factor
        )
    return information


def squared_distance_correlation(
    table: Table, target: Floats | Ints, is_categorical: bool
) -> Floats:
    """Bias-corrected squared distance correlation of every column with a target without holes.

    R*(X, Y) = ⟨A, B⟩ / √(⟨A, A⟩ ⟨B, B⟩), ⟨A, B⟩ = Σ_{i≠k} A_ik B_ik, where A and B are the
    U-centered distances |x_i − x_k| of numbers, or 0 and 1 for equal and unequal categories
    (Székely and Rizzo 2014). Over the known cells of each column; negative values, which occur by
    chance where columns are independent, count as 0. Time and memory grow with the square of
    the number of rows.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind
    >>> x = np.arange(8.0)[:, np.newaxis]
    >>> table = Table(x, np.zeros((8, 1), dtype=bool), (Column("a", Kind.NUMERIC),))
    >>> squared_distance_correlation(table, 5.0 - 2.0 * x[:, 0], False).round(6)
    array([1.])
    """
    known, categories = known_cells(table), table.is_categorical
    whole = centered_distances(target, is_categorical)
    found = np.zeros(table.n_columns)
    for j, rows in enumerate(known.T):
        others = whole if rows.all() else centered_distances(target[rows], is_categorical)
        own = centered_distances(table.values[rows, j], bool(categories[j]))
        scale = np.sqrt(_product(own, own) * _product(others, others))
        found[j] = _product(own, others) / scale if scale > 0.0 else 0.0
    return without_rounding(found)


def centered_distances(values: Floats | Ints, are_levels: bool) -> Floats:
    """U-centered distances: rows and columns sum to 0 and the diagonal is 0.

    A_ik = a_ik − Σ_l a_il / (n − 2) − Σ_l a_lk / (n − 2) + Σ a / ((n − 1)(n − 2)),  i ≠ k

    Fewer than four rows cannot be centered so; then all is 0. Numbers are first divided by their
    range, which cancels in a correlation.

    >>> import numpy as np
    >>> centered_distances(np.array([0.0, 1.0, 3.0, 7.0]), False).sum(axis=0).round(12) + 0.0
    array([0., 0., 0., 0.])
    """
    n = len(values)
    if n < 4:
        return np.zeros((n, n))
    if are_levels:
        apart = (values[:, np.newaxis] != values).astype(np.float64)
    else:
        half = np.asarray(values, dtype=np.float64) / 2.0  # a range of 2e308 would overflow
        width = half.max() - half.min()
        scaled = (half - half.min()) / (width if width > 0.0 else 1.0)
        apart = np.abs(scaled[:, np.newaxis] - scaled)
    sums = apart.sum(axis=0)
    apart -= sums / (n - 2)
    apart -= sums[:, np.newaxis] / (n - 2)
    apart += sums.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


def _product(a: Floats, b: Floats) -> float:
    """⟨A, B⟩, on one thread: for matrices this small BLAS would spend its time on waking others."""
    return float(np.einsum("ik,ik->", a, b))


def nearest_information(table: Table, target: Floats | Ints, is_categorical: bool) -> Floats:
    """Information in bits of every column about a target without holes, over its known cells.

    Two numbers: Kraskov, Stögbauer and Grassberger (2004); a number and a category: Ross (2014);
    both as scikit-learn computes them, with three neighbors. Two categories by histogram (19).
    A column with fewer than five known cells has 0.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> columns = (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC))
    >>> table = Table(x, np.zeros((300, 2), dtype=bool), columns)
    >>> (nearest_information(table, (x[:, 0] > 0).astype(int), True) > 0.5).tolist()
    [True, False]
    """
    known, categories = known_cells(table), table.is_categorical
    found = [
        _information(table.values[rows, j], categories[j], target[rows], is_categorical)
        for j, rows in enumerate(known.T)
    ]
    return without_rounding(np.array(found, dtype=np.float64).reshape(table.n_columns))


def _information(
    values: Floats, by_levels: bool, target: Floats | Ints, into_levels: bool
) -> float:
    """Bits that one column without holes shares with the target."""
    if by_levels and into_levels:
        return histogram_information(values.astype(np.intp), target.astype(np.intp))
    if by_levels or into_levels:  # a level of one row has no neighbor inside
        levels = values if by_levels else target
        _, place, counts = np.unique(levels, return_inverse=True, return_counts=True)
        usable = counts[place.ravel()] > 1
        values, target = values[usable], target[usable]
    if len(values) < NEIGHBORS + 2:
        return 0.0
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    measure = mutual_info_classif if into_levels else mutual_info_regression
    nats = measure(
        values[:, np.newaxis],
        target.astype(np.intp) if into_levels else target,
        discrete_features=bool(by_levels),
        n_neighbors=NEIGHBORS,
        random_state=0,
    )
    return float(nats[0]) / float(np.log(2.0))


def forest_importance(table: Table, target: Floats | Ints, is_categorical: bool) -> Floats:
    """Share of every column in the impurity that a random forest removes (Breiman 2001).

    Shares sum to 1 whether or not there is anything to learn, and favor columns with many values;
    only compared with shuffled targets do they show relevance (Altmann et al. 2010: see
    `null_corrected`). Unlike the other measures it credits columns that matter in combination only,
    and divides the credit between columns with the same content. Trees send holes to the better
    side, so that a column also counts if its holes are informative. Categories are split by code.

    >>> import numpy as np
    >>> from greyfill.table import Column, Kind
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> columns = (Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC))
    >>> table = Table(x, np.zeros((200, 2), dtype=bool), columns)
    >>> forest_importance(table, (x[:, 1] > 0).astype(int), True).round(1)
    array([0., 1.])
    """
    cells = np.where(known_cells(table), table.values, np.nan)
    measured = np.flatnonzero(~np.isnan(cells).all(axis=0))
    found = np.zeros(table.n_columns)
    if len(measured) == 0 or len(np.unique(target)) < 2:
        return found
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if is_categorical else RandomForestRegressor
    model = forest(n_estimators=TREES, min_samples_leaf=LEAF, max_features="sqrt", random_state=0)
    found[measured] = model.fit(cells[:, measured], target).feature_importances_
    return found


def class_information(
    table: Table,
    labels: Ints,
    *,
    measure: str = "parzen",
    n_permutations: int = 0,
    random_state: RandomState = 0,
    bandwidth_factor: float = 1.0,
) -> Floats:
    """Information I(X_j; Y) in bits of every column about the class, over its observed cells.

    Categories by histogram (19), numbers and ordinal codes by Parzen windows (24)–(29). A
    column with fewer than two observed cells has 0. ``n_permutations`` > 0 subtracts
    what chance alone would give (see `null_corrected`). Other ``MEASURES`` of relevance are
    "ksg", "distance_correlation" and "forest". Parzen windows are ``bandwidth_factor`` times as
    wide as the rule h = 1.06 sd n^(−1/5) has them, which oversmooths columns of clusters.

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
    how = n_permutations, random_state, bandwidth_factor
    return _relevance(measure, table, codes, True, *how)


def pair_information(
    table: Table,
    target: int,
    candidates: Ints | Bools | None = None,
    *,
    measure: str = "parzen",
    n_permutations: int = 0,
    random_state: RandomState = 0,
    bandwidth_factor: float = 1.0,
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
        measure, others, values, by_levels, n_permutations, random_state, bandwidth_factor
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
    return without_rounding(above_chance(information, null))


def above_chance(information: Floats, null: Floats) -> Floats:
    """I − mean(I₀) where I > mean(I₀) + 2 sd(I₀), else 0; the rows of ``null`` are the I₀.

    >>> import numpy as np
    >>> above_chance(np.array([1.0, 0.3]), np.array([[0.1, 0.1], [0.3, 0.3]]))
    array([0.8, 0. ])
    """
    if len(information) == 1:  # numpy adds a lone column in another order than one of several
        return above_chance(np.repeat(information, 2), np.repeat(null, 2, axis=1))[:1]
    excess = information - null.mean(axis=0)
    return np.where(excess > 2 * null.std(axis=0), excess, 0.0)


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


@dataclass(frozen=True)
class Measure:
    """How relevance is measured, and the most rows on which it is (a seeded sample of larger ones).

    ``estimate(table, target, is_categorical)`` gives one number a column; the target has no holes.
    """

    estimate: Callable[..., Floats]
    most_rows: int | None = None


MEASURES: dict[str, Measure] = {
    "parzen": Measure(window_information),
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
    bandwidth_factor: float,
) -> Floats:
    """A measure of every column about a target without holes, corrected by ``n_permutations``."""
    measure = find_measure(name)
    if measure.most_rows is not None and table.n_rows > measure.most_rows:
        rows = np.random.default_rng(0).choice(table.n_rows, measure.most_rows, replace=False)
        table, target = table.rows(rows), target[rows]
    options = {"bandwidth_factor": bandwidth_factor} if name == "parzen" else {}
    return null_corrected(
        lambda order: measure.estimate(table, target[order], is_categorical, **options),
        table.n_rows,
        n_permutations,
        random_state,
    )
