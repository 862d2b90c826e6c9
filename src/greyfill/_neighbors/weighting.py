"""How much each column counts in a distance: the weights part of a recipe."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from greyfill.checks import is_number
from greyfill.exceptions import InvalidParameterError
from greyfill.information import class_information, find_measure, normalize, pair_information
from greyfill.table import Floats, Ints, Table


@dataclass(frozen=True)
class EqualWeights:
    """λ_j = 1/p, equation (33).

    >>> from greyfill import NeighborImputer
    >>> imputer = NeighborImputer(1, weights=EqualWeights())
    >>> imputer.fit([[1.0, 2.0], [3.0, 4.0]], [0, 1]).feature_weights_
    array([0.5, 0.5])
    """

    uses_labels: ClassVar[bool] = False
    by_target: ClassVar[bool] = False

    def weigh(self, table: Table, labels: Ints | None, targets: Ints) -> Floats:
        """One row of weights for all target columns."""
        return np.full((1, table.n_columns), 1.0 / table.n_columns)


@dataclass(frozen=True)
class _Information:
    n_permutations: int = 0
    random_state: int = 0
    measure: str = "parzen"
    bandwidth_factor: float = 1.0

    def __post_init__(self) -> None:
        find_measure(self.measure)
        if not is_number(self.bandwidth_factor) or not 1e-3 <= self.bandwidth_factor <= 1e3:
            raise InvalidParameterError(
                "bandwidth_factor must be a number between 0.001 and 1000, not "
                f"{self.bandwidth_factor!r}"
            )

    @property
    def _options(self) -> dict[str, Any]:
        names = ("measure", "n_permutations", "random_state", "bandwidth_factor")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class ClassInformation(_Information):
    """λ_j = I(X_j; Y) / Σ I, equations (24)–(30).

    Parameters
    ----------
    n_permutations : int
        With a positive number, subtract from each I the mean of that many values under permuted
        labels, and set to zero what does not stand out from them by two standard deviations.
    random_state : int
        Seed of the permutations.
    measure : "parzen", "ksg", "distance_correlation" or "forest"
        What stands for I: mutual information by Parzen windows (the paper) or by nearest neighbors,
        the squared distance correlation, or the importance in a random forest, which means
        little without permutations.
    bandwidth_factor : float
        Width of the Parzen windows, as a multiple of the paper's rule. Smaller windows, or "ksg",
        suit columns of narrow clusters, which the rule smooths away.

    The first column tells the class, the second does not:

    >>> from greyfill import NeighborImputer
    >>> X = [["u", "s"], ["u", "t"], ["v", "s"], ["v", "t"]]
    >>> imputer = NeighborImputer(1, weights=ClassInformation())
    >>> imputer.fit(X, [0, 0, 1, 1]).feature_weights_
    array([1., 0.])
    """

    uses_labels: ClassVar[bool] = True
    by_target: ClassVar[bool] = False

    def weigh(self, table: Table, labels: Ints | None, targets: Ints) -> Floats:
        """One row of weights for all target columns."""
        assert labels is not None
        return normalize(class_information(table, labels, **self._options))[np.newaxis]


@dataclass(frozen=True)
class PairInformation(_Information):
    """For target column j, λ_l ∝ I(X_j; X_l) with λ_j = 0 (Pan et al. 2015).

    Parameters
    ----------
    n_permutations, random_state, measure, bandwidth_factor
        As in `ClassInformation`, with the target column in place of the class.

    For the hole in the first column, the second tells all and the third nothing:

    >>> from greyfill import NeighborImputer
    >>> X = [[None, "s", "p"], ["u", "s", "p"], ["u", "s", "q"], ["v", "t", "p"], ["v", "t", "q"]]
    >>> imputer = NeighborImputer(1, weights=PairInformation())
    >>> imputer.fit(X, [0, 0, 1, 0, 1]).feature_weights_
    array([[0., 1., 0.]])
    """

    uses_labels: ClassVar[bool] = False
    by_target: ClassVar[bool] = True

    def weigh(self, table: Table, labels: Ints | None, targets: Ints) -> Floats:
        """One row of weights for each target column."""
        rows = [normalize(pair_information(table, int(j), **self._options)) for j in targets]
        return np.array(rows).reshape(len(targets), table.n_columns)
