"""The information of every column of a table about a class or a column, and weights of it."""

from collections.abc import Callable

import numpy as np

from greyfill.exceptions import InvalidDataError
from greyfill.information.entropy import dense_codes, histogram_columns, without_rounding
from greyfill.information.pairs import density_columns
from greyfill.information.parzen import parzen_columns
from greyfill.table import Bools, Floats, Ints, Kind, Table

RandomState = int | np.random.Generator | None


def class_information(
    table: Table, labels: Ints, *, n_permutations: int = 0, random_state: RandomState = 0
) -> Floats:
    """Information I(X_j; Y) in bits of every column about the class, over its observed cells.

    Categories by histogram (19), numbers and ordinal codes by Parzen windows (24)–(29). A
    column with fewer than two observed cells tells nothing. ``n_permutations`` > 0 subtracts
    what chance alone would give (see `null_corrected`).

    >>> import numpy as np
    >>> from greyfill.table import Column
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
    return null_corrected(
        lambda order: _about_categories(table, codes[order]),
        table.n_rows,
        n_permutations,
        random_state,
    )


def pair_information(
    table: Table,
    target: int,
    candidates: Ints | Bools | None = None,
    *,
    n_permutations: int = 0,
    random_state: RandomState = 0,
) -> Floats:
    """Information I(X_target; X_l) in bits of every column l, over jointly observed cells.

    Two categories by histogram (19), a number and a category by Parzen windows with the
    category as the class (24)–(29), two numbers by windows in the plane (22). It is 0 at the
    target itself and at columns that are not among the candidates (all, unless given).

    >>> import numpy as np
    >>> from greyfill.table import Column
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
    about = _about_categories if table.is_categorical[target] else _about_numbers
    information[chosen] = null_corrected(
        lambda order: about(others, values[order]), len(values), n_permutations, random_state
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


def known_cells(table: Table) -> Bools:
    """Observed cells whose value means something: a code of −1 is a level nobody knows.

    >>> import numpy as np
    >>> from greyfill.table import Column
    >>> values, missing = np.array([[-1.0], [0.0]]), np.array([[False], [False]])
    >>> known_cells(Table(values, missing, (Column("sex", Kind.CATEGORICAL, 1),))).ravel()
    array([False,  True])
    """
    holds_codes = np.array([c.kind is not Kind.NUMERIC for c in table.columns], dtype=bool)
    return np.asarray(~table.missing & ~(holds_codes & (table.values < 0)))


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
