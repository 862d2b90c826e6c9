"""Which rows may give: the donors part of a recipe."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from greyfill.exceptions import InvalidParameterError
from greyfill.table import Bools, Ints


@dataclass(frozen=True, eq=False)
class RowPool:
    """Rows that take and the rows that may give to them; ``label`` is −1 for a pool of all classes.

    ``fallback`` says that a class was too small and its rows take from all rows instead.
    """

    takers: Ints
    givers: Ints
    label: int = -1
    fallback: bool = False

    def among(self, rows: Ints) -> "RowPool":
        """The same pool with its givers numbered by their place in ``rows``, without takers."""
        return replace(self, takers=rows[:0], givers=np.searchsorted(rows, self.givers))


@dataclass(frozen=True)
class AllRows:
    """Every row may give to every other row.

    >>> import numpy as np
    >>> (pool,) = AllRows().pools(None, np.array([[False], [True], [False]]))
    >>> pool.givers
    array([0, 1, 2])
    """

    uses_labels: ClassVar[bool] = False

    def pools(self, labels: Ints | None, missing: Bools) -> list[RowPool]:
        """One pool of everything."""
        rows = np.arange(len(missing))
        return [RowPool(rows, rows)]


@dataclass(frozen=True)
class CompleteRows:
    """Only rows without a hole may give.

    >>> import numpy as np
    >>> (pool,) = CompleteRows().pools(None, np.array([[False], [True], [False]]))
    >>> pool.givers
    array([0, 2])
    """

    uses_labels: ClassVar[bool] = False

    def pools(self, labels: Ints | None, missing: Bools) -> list[RowPool]:
        """One pool: the complete rows give to all."""
        return [RowPool(np.arange(len(missing)), np.flatnonzero(~missing.any(axis=1)))]


@dataclass(frozen=True)
class SameClass:
    """Rows give within their class.

    Parameters
    ----------
    min_donors : int
        A class whose rows have fewer possible donors than this takes from all rows instead;
        such rows are counted in ``fallback_counts_``.

    >>> import numpy as np
    >>> labels, missing = np.array([0, 0, 1, 0, 1, 1]), np.zeros((6, 1), dtype=bool)
    >>> [pool.givers.tolist() for pool in SameClass().pools(labels, missing)]
    [[0, 1, 3], [2, 4, 5]]
    """

    uses_labels: ClassVar[bool] = True

    min_donors: int = 2

    def __post_init__(self) -> None:
        if self.min_donors < 1:
            raise InvalidParameterError(f"min_donors must be at least 1, not {self.min_donors!r}")

    def pools(self, labels: Ints | None, missing: Bools) -> list[RowPool]:
        """One pool for each class."""
        assert labels is not None
        return [self._pool(labels, label) for label in np.flatnonzero(np.bincount(labels)).tolist()]

    def _pool(self, labels: Ints, label: int) -> RowPool:
        rows = np.flatnonzero(labels == label)
        if len(rows) - 1 < self.min_donors:
            return RowPool(rows, np.arange(len(labels)), label, fallback=True)
        return RowPool(rows, rows, label)
