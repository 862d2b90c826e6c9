"""Mutual information by nearest neighbors: no bandwidth, no bins."""

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from greyfill.information.cells import known_cells
from greyfill.information.entropy import histogram_information, without_rounding
from greyfill.table import Bools, Floats, Ints, Table

NEIGHBORS = 3
"""Neighbors of each point; few keep the bias low, as the authors advise."""


def nearest_information(table: Table, target: Floats | Ints, is_categorical: bool) -> Floats:
    """Information in bits of every column about a target without holes, over its known cells.

    Two numbers: Kraskov, Stögbauer and Grassberger (2004); a number and a category: Ross (2014);
    both as scikit-learn computes them, with three neighbors. Two categories by histogram (19).
    A column with fewer than five known cells tells nothing.

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
    usable = _usable(values if by_levels else target, by_levels or into_levels)
    values, target = values[usable], target[usable]
    if len(values) < NEIGHBORS + 2:
        return 0.0
    measure = mutual_info_classif if into_levels else mutual_info_regression
    nats = measure(
        values[:, np.newaxis],
        target.astype(np.intp) if into_levels else target,
        discrete_features=bool(by_levels),
        n_neighbors=NEIGHBORS,
        random_state=0,
    )
    return float(nats[0]) / float(np.log(2.0))


def _usable(codes: Floats | Ints, are_levels: bool) -> Bools:
    """Rows whose level occurs more than once; a level of one row has no neighbor inside."""
    if not are_levels:
        return np.ones(len(codes), dtype=bool)
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(counts[place.ravel()] > 1)
