"""The imputers, in scikit-learn's conventions."""

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
    "MIKNNImputer",
    "NeighborImputer",
    "SKNNImputer",
]
