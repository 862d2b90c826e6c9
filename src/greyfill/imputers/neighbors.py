"""The methods of the literature: each is a docstring and the recipe that makes it.

The parts of a recipe stand in the order of the README's table: distance, column weights, donors,
fill, start, passes.
"""

from typing import Any

from greyfill._neighbors.distance import Grey, Heom
from greyfill._neighbors.donors import AllRows, CompleteRows, SameClass
from greyfill._neighbors.filling import PlainFill, WeightedFill
from greyfill._neighbors.recipe import Recipe
from greyfill._neighbors.schedule import Direct, Once, Sequential
from greyfill._neighbors.start import ClassStart, GlobalStart
from greyfill._neighbors.weighting import ClassInformation, EqualWeights, PairInformation
from greyfill.exceptions import InvalidParameterError
from greyfill.imputers.family import NeighborFamily
from greyfill.information import MEASURES

PERMUTATIONS = 20
"""Shuffles that weights of a named measure are corrected by."""

NAMED: dict[str, dict[str, Any]] = {
    "distance": {"grey": Grey(), "heom": Heom()},
    "weights": {
        "equal": EqualWeights(),
        "class": ClassInformation(),
        "pair": PairInformation(),
        **{name: ClassInformation(PERMUTATIONS, 0, name) for name in MEASURES},
        **{f"pair_{name}": PairInformation(PERMUTATIONS, 0, name) for name in MEASURES},
    },
    "donors": {"same_class": SameClass(), "all_rows": AllRows(), "complete_rows": CompleteRows()},
    "fill": {"weighted": WeightedFill(), "plain": PlainFill()},
    "start": {"class": ClassStart(), "global": GlobalStart()},
    "schedule": {"direct": Direct(), "once": Once(), "sequential": Sequential()},
}
"""Parts by sort and name; a measure's own name means relevance to the class, chance taken out."""


def named_part(sort: str, part: Any) -> Any:
    """The part of this name; what is no name stays as it is.

    >>> named_part("weights", "ksg")
    ClassInformation(n_permutations=20, random_state=0, measure='ksg', bandwidth_factor=1.0)
    """
    if not isinstance(part, str):
        return part
    if part not in NAMED[sort]:
        raise InvalidParameterError(
            f"{sort} must be a part or one of {tuple(NAMED[sort])}, not {part!r}"
        )
    return NAMED[sort][part]


class CGKNNImputer(NeighborFamily):
    """Class-weighted grey k-nearest-neighbor imputation (Choudhury and Kosorok 2020).

    Donors of the same class, nearest by the grey relational grade with columns weighted by their
    mutual information with the class, give their values by 1/d² (numbers) or falling votes
    (categories); repeated until stable.

    GRG(a, b) = Σ_j λ_j GRC(a_j, b_j), λ_j = I(X_j; Y) / Σ I   (30), (35)

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> y = np.array(["a", "a", "a", "b", "b", "b"])
    >>> CGKNNImputer(n_neighbors=1).fit_transform(X, y)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    def _recipe(self) -> Recipe:
        return Recipe(
            Grey(), ClassInformation(), SameClass(), WeightedFill(), ClassStart(), self._passes()
        )


class FWGKNNImputer(NeighborFamily):
    """Feature-weighted grey k-nearest-neighbor imputation (Pan et al. 2015).

    Like CGKNN, but for a hole in column j the other columns are weighted by their mutual
    information with column j: λ_l ∝ I(X_j; X_l).

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> y = np.array(["a", "a", "a", "b", "b", "b"])
    >>> FWGKNNImputer(n_neighbors=1).fit_transform(X, y)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    def _recipe(self) -> Recipe:
        return Recipe(
            Grey(), PairInformation(), SameClass(), WeightedFill(), ClassStart(), self._passes()
        )


class GKNNImputer(NeighborFamily):
    """Grey k-nearest-neighbor imputation within classes (Zhang 2012): plain mean and mode.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> y = np.array(["a", "a", "a", "b", "b", "b"])
    >>> GKNNImputer(n_neighbors=2).fit_transform(X, y)[[1, 4], [1, 0]]
    array([2.1, 5. ])
    """

    def _recipe(self) -> Recipe:
        return Recipe(
            Grey(), EqualWeights(), SameClass(), PlainFill(), ClassStart(), self._passes()
        )


class GBNNImputer(NeighborFamily):
    """Grey-based nearest-neighbor imputation over all rows (Huang and Lee 2004).

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> GBNNImputer(n_neighbors=2).fit_transform(X)[[1, 4], [1, 0]]
    array([2.1, 5. ])
    """

    def _recipe(self) -> Recipe:
        return Recipe(Grey(), EqualWeights(), AllRows(), PlainFill(), GlobalStart(), self._passes())


class MIKNNImputer(NeighborFamily):
    """Mutual-information k-nearest-neighbor imputation (García-Laencina et al. 2009).

    d²(a, b) = Σ_j λ_j d_j², λ_j = I(X_j; Y) / Σ I   (30), (31)

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> y = np.array(["a", "a", "a", "b", "b", "b"])
    >>> MIKNNImputer(n_neighbors=1).fit_transform(X, y)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    def _recipe(self) -> Recipe:
        return Recipe(
            Heom(), ClassInformation(), AllRows(), WeightedFill(), GlobalStart(), self._passes()
        )


class IKNNImputer(NeighborFamily):
    """Iterated k-nearest-neighbor imputation (Brás and Menezes 2007), Algorithm 1 of the paper.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> IKNNImputer(n_neighbors=1).fit_transform(X)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    def _recipe(self) -> Recipe:
        return Recipe(
            Heom(), EqualWeights(), AllRows(), WeightedFill(), GlobalStart(), self._passes()
        )


class SKNNImputer(NeighborFamily):
    """Sequential k-nearest-neighbor imputation (Kim et al. 2004).

    Complete rows give first. Rows with few holes are filled before rows with many, and a filled
    row gives to those after it.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> SKNNImputer(n_neighbors=1).fit_transform(X)[[1, 4], [1, 0]]
    array([2., 5.])
    """

    def _recipe(self) -> Recipe:
        return Recipe(
            Heom(), EqualWeights(), CompleteRows(), WeightedFill(), GlobalStart(), Sequential()
        )


class KNNIImputer(NeighborFamily):
    """Plain k-nearest-neighbor imputation (Troyanskaya et al. 2001; Batista and Monard 2003).

    One pass; donors whose value is missing give the mean or mode of the column.

    Parameters
    ----------
    fill : PlainFill or WeightedFill, default="plain"
        Or "plain", the mean and mode of the sources; "weighted", the mean by 1/d² and the falling
        votes of (11)–(14), the refinement that the paper describes.

    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> KNNIImputer(n_neighbors=2).fit_transform(X)[[1, 4], [1, 0]]
    array([2.1, 5. ])
    """

    fill: Any = "plain"

    def _recipe(self) -> Recipe:
        fill = named_part("fill", self.fill)
        return Recipe(Heom(), EqualWeights(), AllRows(), fill, GlobalStart(), Once()).checked()


class NeighborImputer(NeighborFamily):
    """A neighbor imputer of your own parts; a part that is None is that of CGKNN.

    A part is an object or a name.

    Parameters
    ----------
    distance : Grey or Heom, optional
        Or "grey", "heom".
    weights : ClassInformation, PairInformation or EqualWeights, optional
        Or "class", "pair", "equal"; or the relevance to the class by another measure, with what
        chance would give taken out: "parzen", "ksg", "distance_correlation", "forest"; or the
        relevance to each column with holes: "pair_parzen", "pair_ksg" and so on.
    donors : SameClass, AllRows or CompleteRows, optional
        Or "same_class", "all_rows", "complete_rows".
    fill : WeightedFill or PlainFill, optional
        Or "weighted", "plain".
    start : ClassStart or GlobalStart, optional
        Or "class", "global".
    schedule : UntilStable, Direct, Once or Sequential, optional
        Or "direct", "once", "sequential".

    >>> import numpy as np
    >>> from greyfill import EqualWeights, Grey, PlainFill
    >>> X = np.array([[1.0, 2.0], [1.1, np.nan], [0.9, 2.2], [5.0, 8.0], [np.nan, 8.2], [5.1, 7.9]])
    >>> y = np.array(["a", "a", "a", "b", "b", "b"])
    >>> imputer = NeighborImputer(
    ...     2, distance=Grey(rho=0.3), weights=EqualWeights(), fill=PlainFill()
    ... )
    >>> imputer.fit_transform(X, y)[[1, 4], [1, 0]]
    array([2.1, 5. ])
    """

    distance: Any = None
    weights: Any = None
    donors: Any = None
    fill: Any = None
    start: Any = None
    schedule: Any = None

    def _recipe(self) -> Recipe:
        return Recipe(
            distance=named_part("distance", self.distance) or Grey(),
            weights=named_part("weights", self.weights) or ClassInformation(),
            donors=named_part("donors", self.donors) or SameClass(),
            fill=named_part("fill", self.fill) or WeightedFill(),
            start=named_part("start", self.start) or ClassStart(),
            schedule=named_part("schedule", self.schedule) or self._passes(),
        ).checked()
