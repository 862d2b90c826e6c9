"""The imputers, in scikit-learn's conventions."""

from greyfill.imputers.chained import MICEImputer, MissForestImputer
from greyfill.imputers.neighbors import (
    CGKNNImputer,
    FWGKNNImputer,
    GBNNImputer,
    GKNNImputer,
    IKNNImputer,
    KNNIImputer,
    MIKNNImputer,
    NeighborImputer,
    SKNNImputer,
)

__all__ = [
    "CGKNNImputer",
    "FWGKNNImputer",
    "GBNNImputer",
    "GKNNImputer",
    "IKNNImputer",
    "KNNIImputer",
    "MICEImputer",
    "MIKNNImputer",
    "MissForestImputer",
    "NeighborImputer",
    "SKNNImputer",
]
