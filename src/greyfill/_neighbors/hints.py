"""What the search of one part of a pool may know about the other parts."""

from dataclasses import dataclass

from greyfill.table import Floats, Ints


@dataclass(frozen=True, eq=False)
class Hints:
    """What other parts of a pool tell the search of one part.

    ``extremes`` are Δmin and Δmax of each query over all parts; None where this part is all.
    ``limits`` are distances beyond which a donor cannot be among the k nearest of all parts.
    """

    extremes: Floats | None = None
    limits: Floats | None = None

    @property
    def are_none(self) -> bool:
        """Whether there is nothing to know."""
        return self.extremes is None and self.limits is None

    def only(self, part: Ints) -> "Hints":
        """The same for some of the queries.

        >>> import numpy as np
        >>> Hints(limits=np.array([0.1, 0.2])).only(np.array([1])).limits
        array([0.2])
        """
        return Hints(*(None if h is None else h[part] for h in (self.extremes, self.limits)))


NO_HINTS = Hints()
