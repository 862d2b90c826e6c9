"""The family: every public imputer. A new one joins this list and inherits every check."""

from typing import Any

import greyfill

NEIGHBOR_IMPUTERS: list[Any] = [
    greyfill.CGKNNImputer,
    greyfill.FWGKNNImputer,
    greyfill.GKNNImputer,
    greyfill.GBNNImputer,
    greyfill.MIKNNImputer,
    greyfill.IKNNImputer,
    greyfill.SKNNImputer,
    greyfill.KNNIImputer,
    greyfill.NeighborImputer,
]

IMPUTERS: list[Any] = [*NEIGHBOR_IMPUTERS]
