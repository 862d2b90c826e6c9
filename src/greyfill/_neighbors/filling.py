"""How k donors become one value: the fill part of a recipe."""

from dataclasses import dataclass

import numpy as np

from greyfill.table import Floats


@dataclass(frozen=True)
class PlainFill:
    """The mean of the donors' numbers, the mode of their categories.

    >>> import numpy as np
    >>> numbers, votes = PlainFill().weigh(np.array([[0.1, 0.2, 0.4, 0.5]]))
    >>> numbers
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    def weigh(self, distances: Floats) -> tuple[Floats, Floats]:
        """Weights of the donors for numbers (rows sum to 1) and for votes; nearest donor first."""
        weights = np.full(distances.shape, 1.0 / distances.shape[1])
        return weights, weights


@dataclass(frozen=True)
class WeightedFill:
    """Numbers by w = 1/d², (11) and (36); categories by α = (d_k − d)/(d_k − d_1), (12)–(14).

    Donors at distance 0 share the weight of a number alone. When all distances are equal, all
    votes are. The nearest donor always has α = 1, so the votes never add up to nothing.

    >>> import numpy as np
    >>> numbers, votes = WeightedFill().weigh(np.array([[0.1, 0.2, 0.5]]))
    >>> numbers.round(3), votes
    (array([[0.775, 0.194, 0.031]]), array([[1.  , 0.75, 0.  ]]))
    """

    def weigh(self, distances: Floats) -> tuple[Floats, Floats]:
        """Weights of the donors for numbers (rows sum to 1) and for votes; nearest donor first."""
        first, last = distances[:, :1], distances[:, -1:]
        exact = distances == 0.0
        closeness = np.where(exact, 1.0, distances)
        np.square(np.divide(first, closeness, out=closeness), out=closeness)
        np.copyto(closeness, exact, where=exact.any(axis=1, keepdims=True))
        closeness /= closeness.sum(axis=1, keepdims=True)
        votes = last - distances
        votes /= np.where(last > first, last - first, 1.0)
        np.copyto(votes, 1.0, where=last <= first)
        return closeness, votes
