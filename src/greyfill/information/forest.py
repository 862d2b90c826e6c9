"""Relevance as a random forest sees it: all columns at once, interactions included."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from greyfill.information.cells import known_cells
from greyfill.table import Floats, Ints, Table

TREES = 50
LEAF = 3
"""Rows in a leaf; deeper trees would explain noise."""


def forest_importance(table: Table, target: Floats | Ints, is_categorical: bool) -> Floats:
    """Share of every column in the impurity that a random forest removes (Breiman 2001).

    Shares sum to 1 whether or not there is anything to learn, and favor columns with many values;
    only compared with shuffled targets do they tell relevance (Altmann et al. 2010: see
    `null_corrected`). Unlike the other measures it credits columns that tell only in combination,
    and divides the credit between columns that tell the same. Trees send holes to the better
    side, so that a column also counts if its holes are telling. Categories are split by code.

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
    forest = RandomForestClassifier if is_categorical else RandomForestRegressor
    model = forest(n_estimators=TREES, min_samples_leaf=LEAF, max_features="sqrt", random_state=0)
    found[measured] = model.fit(cells[:, measured], target).feature_importances_
    return found
