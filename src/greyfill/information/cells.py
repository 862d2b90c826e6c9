"""Which cells of a table can be measured at all."""

import numpy as np

from greyfill.table import Bools, Kind, Table


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
